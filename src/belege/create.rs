//! A new document (specification, POST /belege).

use serde_json::Value;
use uuid::Uuid;

use super::eingabe::{BelegEingabe, Typ};
use super::items::{self, Context, Source};
use super::lager::{self, BatchInformation, Change};
use super::model::{Beleg, BelegBestaetigung, BelegPosition, BelegWiederholt};
use super::{lifecycle, partner, sql};
use crate::chargen::Bewegung;
use crate::db::error::{Failure, Result};
use crate::db::numbers;
use crate::db::tx::{Tx, WriteTx};
use crate::http::reply::Reply;
use crate::http::wire::{Int, LongText, Sent, Text};
use crate::kunden::{self, Kunde};
use crate::rules::bytes::fingerprint;
use crate::rules::day::{Day, DayTime};
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle};
use crate::rules::error::{Code, HintCode, Hints, Refusal, required};
use crate::rules::fixed::{Money, Percent};
use crate::rules::number::Reihe;
use crate::rules::tax::Summen;
use crate::tenants::{self, Einstellungen};
use crate::{artikel, kontrakte, steuersaetze, vertriebler};

/// First day a document can be dated (D5).
const FIRST_DAY: Day = Day::new(2000, 1, 1);

/// POST /belege, or the answer to a repeated external_ref (D19).
pub fn create(tx: &WriteTx<'_>, eingabe: BelegEingabe, mut hints: Hints) -> Result<Reply> {
    if let Some(Text(external_ref)) = eingabe.external_ref.get()
        && let Some(existing) = sql::find_by_external_ref(tx, external_ref)?
    {
        return repeated(tx, existing, &eingabe, hints);
    }
    let (beleg, lagerbewegungen) = add(tx, eingabe, Source::Items, &mut hints)?;
    confirmation(201, beleg, lagerbewegungen, hints)
}

/// Adds a document and books it; nothing is kept when a rule refuses it.
pub fn add(
    tx: &WriteTx<'_>,
    eingabe: BelegEingabe,
    source: Source,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<Bewegung>)> {
    let Typ(typ) = required(eingabe.beleg_typ.get().copied(), "beleg_typ")?;
    let items = required(eingabe.items.get().filter(|items| !items.0.is_empty()).cloned(), "items")?;
    let kunde = partner::resolve(tx, &eingabe)?.ok_or_else(kunden::missing)?;
    partner::check_status(typ, &kunde, hints)?;
    let einstellungen = tenants::load(tx)?;
    let datum = eingabe.beleg_datum.get().copied().unwrap_or_else(|| tx.today());
    check_date(tx, &einstellungen, datum)?;
    let beleg = header(tx, typ, &kunde, datum, &eingabe, hints)?;
    let saetze = steuersaetze::all(tx)?;
    let context = Context {
        source,
        beleg_id: beleg.id,
        typ,
        kunde: &kunde,
        satz_datum: beleg.satz_datum(),
        auto_price: eingabe.auto_price.get().copied().unwrap_or(true),
        einstellungen: &einstellungen,
        saetze: &saetze,
    };
    let mut positions = items::resolve(tx, &context, items.0, || tx.new_id(), hints)?;
    // A repeat names the external_ref again; without one nothing is ever compared with the request.
    let digest = match beleg.external_ref {
        Some(_) => Some(request_digest(&eingabe, Some(kunde.id), |at, _| Ok(positions[at].artikel_id))?),
        None => None,
    };
    create_ordered_batches(tx, typ, kunde.id, &mut positions, hints)?;
    let mut beleg = with_sums(beleg, &positions)?;
    beleg.beleg_nummer = numbers::next(tx, Reihe::Beleg(typ), datum.year())?;
    sql::insert(tx, &beleg, digest)?;
    sql::insert_positions(tx, &positions)?;
    hint_doubled_fremdbeleg(tx, &beleg, hints)?;
    let change = Change {
        withdrawn: None,
        beleg: &beleg,
        positions: &positions,
        source,
        einstellungen: &einstellungen,
    };
    let bewegungen = lager::rebook(tx, change, hints)?;
    hint_overdelivered(tx, typ, &positions, source, hints)?;
    let final_at_once =
        eingabe.abschliessen.get() == Some(&true) || einstellungen.abschluss_bei_anlage.contains(&typ);
    if final_at_once {
        beleg = lifecycle::finalise(tx, beleg)?;
    }
    Ok((beleg, bewegungen))
}

/// The answer to POST and PUT.
pub fn confirmation(
    status: u16,
    beleg: Beleg,
    lagerbewegungen: Vec<Bewegung>,
    hinweise: Hints,
) -> Result<Reply> {
    let bestaetigung = BelegBestaetigung {
        id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        beleg_typ: beleg.beleg_typ,
        status: beleg.status,
        summe_netto: beleg.summe_netto,
        summe_mwst: beleg.summe_mwst,
        summe_brutto: beleg.summe_brutto,
        lagerbewegungen,
        hinweise,
    };
    Ok(Reply::json(status, &bestaetigung)?.about(beleg.id))
}

/// Dates are between 2000 and a year from today, and not in a locked period (D4, D5).
pub fn check_date(tx: &Tx<'_>, einstellungen: &Einstellungen, datum: Day) -> Result<()> {
    if datum < FIRST_DAY || datum > tx.today().next_year() {
        let message = "Das Belegdatum muss zwischen dem 01.01.2000 und heute in einem Jahr liegen.";
        return Err(Refusal::field(Code::DatumUngueltig, "beleg_datum", message).into());
    }
    check_locked(einstellungen, datum)
}

/// A locked period takes no documents and no changes (D4).
pub fn check_locked(einstellungen: &Einstellungen, datum: Day) -> Result<()> {
    match einstellungen.gesperrt_bis {
        Some(locked) if datum <= locked => {
            let message =
                format!("Der Zeitraum bis {locked} ist gesperrt. Bitte ein späteres Belegdatum wählen.");
            Err(Refusal::field(Code::ZeitraumGesperrt, "beleg_datum", message).into())
        }
        _ => Ok(()),
    }
}

/// The document with the sums of its positions.
pub fn with_sums(beleg: Beleg, positions: &[BelegPosition]) -> Result<Beleg> {
    let summen = Summen::of(positions.iter().map(|position| (position.gesamtpreis, position.mwst_satz)))?;
    Ok(Beleg {
        summe_netto: summen.netto,
        summe_mwst: summen.mwst,
        summe_brutto: summen.brutto,
        ist_gutschrift: beleg.beleg_typ.ist_rechnung() && summen.netto.is_negative(),
        ..beleg
    })
}

/// A purchase order makes the batches it tells of, without stock (D8).
pub fn create_ordered_batches(
    tx: &WriteTx<'_>,
    typ: BelegTyp,
    partner: Uuid,
    positions: &mut [BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    for position in positions.iter_mut().filter(|p| typ.kuendigt_an() && p.charge_id.is_none()) {
        let info = BatchInformation::of(position);
        if let (true, Some(artikel_id)) = (info.tells(), position.artikel_id)
            && let Some(artikel) = artikel::find(tx, artikel_id)?
        {
            let charge = lager::charge_for(tx, partner, &artikel, &info)?;
            let mut own = Hints::default();
            lager::complete_charge(tx, charge, &info, &mut own)?;
            hints.extend(own.below(&Source::Items.path(position.position)));
            position.charge_id = Some(charge);
        }
    }
    Ok(())
}

/// More was delivered on a contract than was agreed (D21g).
pub fn hint_overdelivered(
    tx: &Tx<'_>,
    typ: BelegTyp,
    positions: &[BelegPosition],
    source: Source,
    hints: &mut Hints,
) -> Result<()> {
    let delivers = |position: &BelegPosition| {
        typ.lagerrolle() != Lagerrolle::Keine
            && position.artikel_id.is_some()
            && !position.menge.is_negative()
            && !position.ep_netto.is_negative()
    };
    let delivered = positions.iter().filter(|position| delivers(position));
    let named =
        delivered.filter_map(|position| Some((source.path(position.position), position.kontrakt_id?)));
    kontrakte::hint_overdelivered(tx, named, hints)
}

/// Two purchase invoices of a supplier with the same number of his (D5).
pub fn hint_doubled_fremdbeleg(tx: &Tx<'_>, beleg: &Beleg, hints: &mut Hints) -> Result<()> {
    let may_be_doubled = beleg.beleg_typ.ist_fremdrechnung() && beleg.fremdbelegnummer.is_some();
    if may_be_doubled && sql::has_fremdbeleg(tx, beleg)? {
        let message = "Von diesem Lieferanten gibt es schon eine Eingangsrechnung mit dieser Nummer.";
        hints.add_field(HintCode::FremdbelegDoppelt, "fremdbelegnummer", message);
    }
    Ok(())
}

fn header(
    tx: &WriteTx<'_>,
    typ: BelegTyp,
    kunde: &Kunde,
    datum: Day,
    eingabe: &BelegEingabe,
    hints: &mut Hints,
) -> Result<Beleg> {
    let text = |sent: &Sent<Text>| sent.get().map(|Text(text)| text.clone());
    let day = |sent: &Sent<Day>| sent.get().copied().map(DayTime);
    let vb_id = match eingabe.vb_id.get() {
        Some(vb_id) => vertriebler::resolve(tx, vb_id, hints)?,
        None => None,
    };
    Ok(Beleg {
        id: tx.new_id(),
        beleg_nummer: String::new(),
        beleg_typ: typ,
        status: BelegStatus::Offen,
        beleg_datum: DayTime(datum),
        lieferdatum: day(&eingabe.lieferdatum),
        leistung_von: day(&eingabe.leistung_von),
        leistung_bis: day(&eingabe.leistung_bis),
        summe_netto: Money::ZERO,
        summe_mwst: Money::ZERO,
        summe_brutto: Money::ZERO,
        kunde_id: kunde.id,
        notizen: eingabe.notizen.get().map(|LongText(text)| text.clone()),
        zahlungsziel_tage: eingabe.zahlungsziel_tage.get().map(|Int(d)| *d).or(kunde.zahlungsziel_tage),
        zahlungsbedingung: text(&eingabe.zahlungsbedingung),
        skonto_tage: eingabe.skonto_tage.get().map(|Int(days)| *days).or(kunde.skonto_tage),
        skonto_prozent: eingabe.skonto_prozent.get().copied().or(kunde.skonto_prozent),
        external_ref: text(&eingabe.external_ref),
        fremdbelegnummer: text(&eingabe.fremdbelegnummer),
        ist_gutschrift: false,
        lieferadresse_id: None,
        liefertermin: day(&eingabe.liefertermin),
        kontaktperson: text(&eingabe.kontaktperson),
        niederlassung_id: eingabe.niederlassung_id.get().map(|Int(id)| *id),
        lagerhalle_id: eingabe.lagerhalle_id.get().map(|Int(id)| *id),
        vb_id,
        storno_von_beleg_id: None,
        storno_grund: None,
        pdf_url: None,
        created_at: tx.now(),
        updated_at: tx.now(),
        kunden_name: kunde.name.clone(),
        positionen: None,
        ereignis_am: None,
        version: 1,
    })
}

fn repeated(tx: &Tx<'_>, existing: Beleg, eingabe: &BelegEingabe, mut hinweise: Hints) -> Result<Reply> {
    let inhalt_abweichend = match sql::request_digest(tx, existing.id)? {
        Some(digest) => digest != digest_of_repeat(tx, eingabe)?,
        None => true,
    };
    if inhalt_abweichend {
        hinweise.add_different_repeat(&existing.beleg_nummer);
    }
    let id = existing.id;
    let beleg = sql::with_positions(tx, existing)?;
    Ok(Reply::ok(&BelegWiederholt { beleg, idempotent: true, inhalt_abweichend, hinweise })?.about(id))
}

fn digest_of_repeat(tx: &Tx<'_>, eingabe: &BelegEingabe) -> Result<[u8; 32]> {
    let kunde = partner::resolve(tx, eingabe).ok().flatten().map(|kunde| kunde.id);
    request_digest(eingabe, kunde, |_, number| match artikel::find_by_number(tx, number)?.as_slice() {
        [artikel] => Ok(Some(artikel.id)),
        _ => Ok(None),
    })
}

/// A digest of what a request says, whatever words it says it with: the partner and the articles
/// as their ids, absent and null alike, numbers by value. `artikel_of` says which article the number of
/// an item means, if it is known.
fn request_digest(
    eingabe: &BelegEingabe,
    kunde: Option<Uuid>,
    artikel_of: impl Fn(usize, &str) -> Result<Option<Uuid>>,
) -> Result<[u8; 32]> {
    let broken = |error| Failure::Broken(format!("a request cannot be written: {error}"));
    let mut value = serde_json::to_value(eingabe).map_err(broken)?;
    if let Some(kunde) = kunde {
        value["kunden_id"] = Value::String(kunde.to_string());
        value["kundennummer"] = Value::Null;
    }
    // What is the default anyway is as good as not sent.
    for (field, default) in [("auto_price", true), ("abschliessen", false)] {
        if value[field] == default {
            value[field] = Value::Null;
        }
    }
    for (at, item) in value["items"].as_array_mut().into_iter().flatten().enumerate() {
        if item["lager_buchen"] == true {
            item["lager_buchen"] = Value::Null;
        }
        if eingabe.items.get().is_some_and(|items| items.0[at].rabatt_prozent.get() == Some(&Percent::ZERO)) {
            item["rabatt_prozent"] = Value::Null;
        }
        let Some(number) = item["artikelnr"].as_str() else { continue };
        if !item["artikel_id"].is_null() {
            item["artikelnr"] = Value::Null;
        } else if let Some(id) = artikel_of(at, number)? {
            item["artikel_id"] = Value::String(id.to_string());
            item["artikelnr"] = Value::Null;
        }
    }
    Ok(fingerprint(value))
}
