//! A change of a document while it is open (specification, PUT /belege/{id}; D4).

use super::create::{
    check_date, check_locked, confirmation, create_ordered_batches, hint_doubled_fremdbeleg,
    hint_overdelivered, with_sums,
};
use super::eingabe::{BelegEingabe, Items, Typ};
use super::items::{self, Context, Source};
use super::lager::{self, Change};
use super::model::{Beleg, BelegPosition};
use super::verlauf::{self, Aktion};
use super::{chargenpflicht, partner, sql};
use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::http::reply::Reply;
use crate::http::wire::{Int, LongText, Sent, Text, ignore};
use crate::kunden::{self, Kunde};
use crate::rules::day::{Day, DayTime};
use crate::rules::document::BelegStatus;
use crate::rules::error::{Code, HintCode, Hints, Refusal, required};
use crate::tenants::{self, Einstellungen};
use crate::{steuersaetze, vertriebler};

/// PUT /belege/{id}: what is absent stays, null clears, items replace all positions.
pub fn change(tx: &WriteTx<'_>, old: Beleg, mut eingabe: BelegEingabe, mut hints: Hints) -> Result<Reply> {
    check_required(&eingabe)?;
    check_open(&old, &eingabe)?;
    ignore(&mut eingabe.abschliessen, "abschliessen", &mut hints);
    if eingabe.external_ref.get().map(|Text(text)| text) != old.external_ref.as_ref() {
        ignore(&mut eingabe.external_ref, "external_ref", &mut hints);
    }
    let einstellungen = tenants::load(tx)?;
    check_locked(&einstellungen, old.datum())?;
    let items = std::mem::take(&mut eingabe.items).value();
    let kunde = partner_of(tx, &old, &eingabe, &mut hints)?;
    let new = header(tx, &old, &kunde, &eingabe, &einstellungen, &mut hints)?;
    let old_positions = sql::positions(tx, old.id)?;
    verlauf::write(tx, &old, Aktion::Aendern)?;
    let enters_again = items.is_some() || new.kunde_id != old.kunde_id;
    let (new, positions) = match items {
        Some(items) => with_new_positions(tx, new, &kunde, items, &eingabe, &einstellungen, &mut hints)?,
        None => {
            hint_kept_rates(&old, &new, &mut hints);
            let mut positions = old_positions.clone();
            if enters_again {
                forget_batches(&mut positions);
                chargenpflicht::check_batches(tx, new.beleg_typ, &einstellungen, &positions)?;
                create_ordered_batches(tx, new.beleg_typ, kunde.id, &mut positions, &mut hints)?;
                sql::replace_positions(tx, new.id, &positions)?;
            }
            (new, positions)
        }
    };
    sql::update(tx, &new)?;
    hint_doubled_fremdbeleg(tx, &new, &mut hints)?;
    if !enters_again {
        return confirmation(200, new, Vec::new(), hints);
    }
    let change = Change {
        withdrawn: Some((&old, &old_positions)),
        beleg: &new,
        positions: &positions,
        source: Source::Items,
        einstellungen: &einstellungen,
    };
    let bewegungen = lager::rebook(tx, change, &mut hints)?;
    hint_overdelivered(tx, new.beleg_typ, &positions, Source::Items, &mut hints)?;
    confirmation(200, new, bewegungen, hints)
}

/// What a document must have cannot be cleared; that is asked before its state (D19).
fn check_required(eingabe: &BelegEingabe) -> Result<()> {
    if !eingabe.items.is_absent() {
        required(eingabe.items.get().filter(|Items(items)| !items.is_empty()), "items")?;
    }
    if !eingabe.beleg_datum.is_absent() {
        required(eingabe.beleg_datum.get(), "beleg_datum")?;
    }
    Ok(())
}

/// Only an open document can be changed, and its type never.
fn check_open(old: &Beleg, eingabe: &BelegEingabe) -> Result<()> {
    if old.status != BelegStatus::Offen {
        let message = format!(
            "Der Beleg ist {}; ändern geht nur, solange er offen ist. Bitte stornieren und neu anlegen.",
            old.status.as_str()
        );
        return Err(Refusal::new(Code::BelegAbgeschlossen, message).into());
    }
    if eingabe.beleg_typ.get().is_some_and(|Typ(typ)| *typ != old.beleg_typ) {
        let message =
            format!("Der Beleg ist vom Typ {}; der Typ lässt sich nicht ändern.", old.beleg_typ.as_str());
        return Err(Refusal::field(Code::BelegTypNichtAenderbar, "beleg_typ", message).into());
    }
    Ok(())
}

/// The partner after the change. Both fields name the same thing: a value of one stands even if
/// the other is cleared.
fn partner_of(tx: &WriteTx<'_>, old: &Beleg, eingabe: &BelegEingabe, hints: &mut Hints) -> Result<Kunde> {
    let stays = eingabe.kunden_id.is_absent() && eingabe.kundennummer.is_absent();
    let kunde = if stays { kunden::find(tx, old.kunde_id)? } else { partner::resolve(tx, eingabe)? };
    let kunde = kunde.ok_or_else(kunden::missing)?;
    if kunde.id != old.kunde_id {
        partner::check_status(old.beleg_typ, &kunde, hints)?;
    }
    Ok(kunde)
}

fn header(
    tx: &WriteTx<'_>,
    old: &Beleg,
    kunde: &Kunde,
    eingabe: &BelegEingabe,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Beleg> {
    let datum = match eingabe.beleg_datum.get() {
        None => old.datum(),
        Some(sent) => new_date(tx, old, *sent, einstellungen)?,
    };
    let text = |sent: &Sent<Text>, old: &Option<String>| {
        sent.clone().or_keep(old.clone().map(Text)).map(|Text(text)| text)
    };
    let day =
        |sent: &Sent<Day>, old: Option<DayTime>| sent.clone().or_keep(old.map(|day| day.0)).map(DayTime);
    let vb_id = match &eingabe.vb_id {
        Sent::Absent => old.vb_id,
        Sent::Null => None,
        Sent::Value(vb_id) => vertriebler::resolve(tx, vb_id, hints)?,
    };
    let days = |sent: &Sent<_>, old: Option<i64>| sent.clone().or_keep(old.map(Int)).map(|Int(days)| days);
    let ids = |sent: &Sent<_>, old: Option<i64>| sent.clone().or_keep(old.map(Int)).map(|Int(id)| id);
    Ok(Beleg {
        beleg_datum: DayTime(datum),
        lieferdatum: day(&eingabe.lieferdatum, old.lieferdatum),
        leistung_von: day(&eingabe.leistung_von, old.leistung_von),
        leistung_bis: day(&eingabe.leistung_bis, old.leistung_bis),
        liefertermin: day(&eingabe.liefertermin, old.liefertermin),
        kunde_id: kunde.id,
        kunden_name: kunde.name.clone(),
        notizen: eingabe
            .notizen
            .clone()
            .or_keep(old.notizen.clone().map(LongText))
            .map(|LongText(text)| text),
        zahlungsziel_tage: days(&eingabe.zahlungsziel_tage, old.zahlungsziel_tage),
        zahlungsbedingung: text(&eingabe.zahlungsbedingung, &old.zahlungsbedingung),
        skonto_tage: days(&eingabe.skonto_tage, old.skonto_tage),
        skonto_prozent: eingabe.skonto_prozent.clone().or_keep(old.skonto_prozent),
        fremdbelegnummer: text(&eingabe.fremdbelegnummer, &old.fremdbelegnummer),
        kontaktperson: text(&eingabe.kontaktperson, &old.kontaktperson),
        niederlassung_id: ids(&eingabe.niederlassung_id, old.niederlassung_id),
        lagerhalle_id: ids(&eingabe.lagerhalle_id, old.lagerhalle_id),
        vb_id,
        version: old.version + 1,
        updated_at: tx.now(),
        ..old.clone()
    })
}

/// A new date stays in the year of the number (D4).
fn new_date(tx: &WriteTx<'_>, old: &Beleg, datum: Day, einstellungen: &Einstellungen) -> Result<Day> {
    check_date(tx, einstellungen, datum)?;
    if datum.year() != old.datum().year() {
        let message = "Das Belegdatum darf nicht in ein anderes Jahr wandern: die Nummer gehört zum Jahr.";
        return Err(Refusal::field(Code::DatumUngueltig, "beleg_datum", message).into());
    }
    Ok(datum)
}

fn with_new_positions(
    tx: &WriteTx<'_>,
    beleg: Beleg,
    kunde: &Kunde,
    items: Items,
    eingabe: &BelegEingabe,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<BelegPosition>)> {
    let context = Context {
        source: Source::Items,
        beleg_id: beleg.id,
        typ: beleg.beleg_typ,
        kunde,
        satz_datum: beleg.satz_datum(),
        auto_price: eingabe.auto_price.get().copied().unwrap_or(true),
        einstellungen,
        saetze: &steuersaetze::all(tx)?,
    };
    let mut positions = items::resolve(tx, &context, items.0, || tx.new_id(), hints)?;
    create_ordered_batches(tx, beleg.beleg_typ, kunde.id, &mut positions, hints)?;
    sql::replace_positions(tx, beleg.id, &positions)?;
    Ok((with_sums(beleg, &positions)?, positions))
}

/// Takes the batches from positions that inherited, chose or made them: those were the old partner's.
fn forget_batches(positions: &mut [BelegPosition]) {
    for position in positions.iter_mut().filter(|position| !position.charge_gesendet) {
        position.charge_id = None;
    }
}

/// Without items prices and rates stay, even if the partner or the day of the rates changed (D4).
fn hint_kept_rates(old: &Beleg, new: &Beleg, hints: &mut Hints) {
    if old.kunde_id != new.kunde_id || old.satz_datum() != new.satz_datum() {
        let message = "Preise und Steuersätze bleiben, wie sie sind. Zum Neuberechnen bitte items mitsenden.";
        hints.add(HintCode::SaetzeUnveraendert, message);
    }
}
