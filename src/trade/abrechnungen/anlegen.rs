//! Previewing a settlement, storing it as a document (D29g), and correcting one by replacing it (D29j).

use serde_json::Value;
use uuid::Uuid;

use super::model::{
    Abrechnung, AbrechnungAngelegt, AbrechnungMitPosten, AbrechnungsVorschau, Korrektur, NewAbrechnung,
    VorschauPosition,
};
use super::positionen::{Positionen, check_sum, items};
use super::rechnen::{Berechnet, Note, settlement};
use super::sql;
use super::veraltet;
use crate::papers::blatt::numbers::german;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::bytes::fingerprint;
use crate::rules::day::Day;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::{Money, Percent};
use crate::rules::price::line_total;
use crate::rules::repeat::{Angelegt, Wiederholt};
use crate::rules::settlement::Abrechnungsart;
use crate::rules::tax::Summen;
use crate::rules::verweis::Verweis;
use crate::trade::belege::{self, Beleg, NewBeleg, NewItem};

/// Payment deadline in days after a delivery (AgrarOLkG § 11).
const ZAHLUNGSFRIST: i64 = 60;

/// POST …/vorschau: settles and undoes it, so that it refuses what the settlement would refuse; returns all rows and sums.
pub fn preview(tx: &WriteTx<'_>, new: &NewAbrechnung, hinweise: &Hints) -> Result<AbrechnungsVorschau> {
    let new = &NewAbrechnung { external_ref: None, ..new.clone() };
    let (berechnet, items) = {
        let mut unsaid = Hints::default();
        let berechnet = settlement(tx, new, &mut unsaid)?;
        let Positionen { items, .. } = items(&berechnet, &mut unsaid)?;
        (berechnet, items)
    };
    let (summen, positionen) = summed(new, &berechnet, &items, &mut Hints::default())?;
    let hinweise = tx.undone(|| add(tx, new, None, hinweise.clone()))?.hinweise;
    Ok(AbrechnungsVorschau {
        art: berechnet.art,
        partner_id: berechnet.kunde.id,
        summe_netto: summen.netto,
        summe_mwst: summen.mwst,
        summe_brutto: summen.brutto,
        positionen,
        annahmescheine: berechnet.notes.into_iter().map(|note| note.posten).collect(),
        hinweise,
    })
}

/// Sums the items and shows them as positions; refuses a negative sum unless the request allows it.
fn summed(
    new: &NewAbrechnung,
    berechnet: &Berechnet,
    items: &[NewItem],
    hints: &mut Hints,
) -> Result<(Summen, Vec<VorschauPosition>)> {
    let positionen = items.iter().map(shown).collect::<Result<Vec<_>>>()?;
    let of_rate =
        |position: &VorschauPosition| (position.gesamtpreis, position.mwst_satz.unwrap_or_default());
    let summen = Summen::of(positionen.iter().map(of_rate))?;
    // A supplement takes off no advance, so what is below 0 exceeds none.
    let has_advance = berechnet.art != Abrechnungsart::Nachverguetung
        || berechnet.notes.iter().any(|note| !note.abschlaege.is_empty());
    check_sum(summen.netto, new.negativ_zulassen == Some(true), has_advance, hints)?;
    Ok((summen, positionen))
}

fn shown(item: &NewItem) -> Result<VorschauPosition> {
    let (menge, ep_netto) = (item.menge.unwrap_or_default(), item.ep_netto.unwrap_or_default());
    Ok(VorschauPosition {
        bezeichnung: item.bezeichnung.clone().or_else(|| item.bezeichnung2.clone()),
        menge,
        einheit: item.einheit.clone(),
        ep_netto,
        mwst_satz: item.mwst_satz,
        gesamtpreis: line_total(menge, ep_netto, Percent::ZERO)?,
    })
}

/// POST /abrechnungen: creates a settlement, unless its external_ref is known (D19).
pub fn create(
    tx: &WriteTx<'_>,
    new: &NewAbrechnung,
    hinweise: Hints,
) -> Result<Angelegt<AbrechnungAngelegt, AbrechnungMitPosten>> {
    if let Some(external_ref) = &new.external_ref
        && let Some(beleg) = belege::find_by_external_ref(tx, external_ref)?
    {
        return Ok(Angelegt::Wiederholt(Box::new(repeated(tx, &beleg, new, hinweise)?)));
    }
    add(tx, new, None, hinweise).map(Angelegt::Neu)
}

fn repeated(
    tx: &Tx<'_>,
    beleg: &Beleg,
    new: &NewAbrechnung,
    hinweise: Hints,
) -> Result<Wiederholt<AbrechnungMitPosten>> {
    let taken = || {
        let what = format_args!("Diese external_ref gehört zum Beleg {}.", beleg.beleg_nummer);
        Refusal::field(Code::FeldWiderspruch, "external_ref", (what, "Bitte eine andere senden."))
    };
    let known = veraltet::of_document(tx, beleg.id)?.ok_or_else(taken)?;
    let (_, digest) = sql::request(tx, known.id)?;
    let nummer = known.beleg_nummer.clone();
    let record = with_notes(tx, known)?;
    Ok(Wiederholt::of(record, &nummer, digest != digest_of(new)?, hinweise))
}

fn digest_of(new: &NewAbrechnung) -> Result<[u8; 32]> {
    Ok(fingerprint(serde_json::to_value(new)?))
}

pub fn with_notes(tx: &Tx<'_>, abrechnung: Abrechnung) -> Result<AbrechnungMitPosten> {
    let annahmescheine = sql::posten(tx, abrechnung.id)?;
    Ok(AbrechnungMitPosten { abrechnung, annahmescheine })
}

/// Adds hints on days and advances that are doubtful.
fn hint_doubts(tx: &Tx<'_>, new: &NewAbrechnung, berechnet: &Berechnet, hints: &mut Hints) -> Result<()> {
    hint_late(tx, new, berechnet, hints);
    hint_days(tx, new, berechnet, hints);
    hint_advances(berechnet, hints)
}

fn add(
    tx: &WriteTx<'_>,
    new: &NewAbrechnung,
    korrektur_von: Option<Uuid>,
    mut hinweise: Hints,
) -> Result<AbrechnungAngelegt> {
    let mut berechnet = settlement(tx, new, &mut hinweise)?;
    let mut lagerbewegungen = berechnet.deliver(tx, &mut hinweise)?;
    let Positionen { items, satz_tage, firsts } = items(&berechnet, &mut hinweise)?;
    summed(new, &berechnet, &items, &mut hinweise)?;
    hint_doubts(tx, new, &berechnet, &mut hinweise)?;
    let (art, id) = (berechnet.art, tx.new_id());
    let (anfrage, digest) = (asked(new, &berechnet)?, digest_of(new)?);
    let beleg = document(new, &berechnet, items);
    let store = |beleg: &Beleg| {
        let neu = sql::Neu { id, beleg: beleg.id, art, anfrage: &anfrage, digest, korrektur_von };
        sql::insert(tx, &neu, berechnet.notes.iter().zip(&firsts).map(kept))
    };
    let mut of_document = Hints::default();
    let (beleg, moved) = belege::bill(tx, &beleg, &satz_tage, store, &mut of_document)?;
    belege::price_batches(tx, beleg.id)?;
    // The paid weight differs from the weighed one by design, so this hint is dropped.
    hinweise.extend(of_document.without(HintCode::GewichtWiderspruch).without_fields());
    lagerbewegungen.extend(moved);
    Ok(AbrechnungAngelegt {
        id,
        art,
        beleg_id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        status: beleg.status,
        summe_netto: beleg.summe_netto,
        summe_mwst: beleg.summe_mwst,
        summe_brutto: beleg.summe_brutto,
        annahmescheine: berechnet.notes.into_iter().map(|note| note.posten).collect(),
        lagerbewegungen,
        storniert: None,
        hinweise,
    })
}

fn kept<'n>((note, position): (&'n Note, &i64)) -> sql::NeuerPosten<'n> {
    sql::NeuerPosten { posten: &note.posten, position: *position, kontrakt_id: note.schein.kontrakt_id }
}

/// Returns the request that a correction repeats: the same receipts, named by id even if they were selected
/// by a filter.
fn asked(new: &NewAbrechnung, berechnet: &Berechnet) -> Result<String> {
    let ids = berechnet.notes.iter().map(|note| note.schein.id).collect();
    let same =
        NewAbrechnung { annahmeschein_ids: Some(ids), auswahl: None, external_ref: None, ..new.clone() };
    Ok(serde_json::to_string(&same)?)
}

fn document(new: &NewAbrechnung, berechnet: &Berechnet, items: Vec<NewItem>) -> NewBeleg {
    let days = || berechnet.notes.iter().map(|note| note.tag);
    NewBeleg {
        beleg_typ: Some(BelegTyp::Er),
        gutschrift: Some(true),
        kunden_id: Some(Verweis::Id(berechnet.kunde.id)),
        beleg_datum: new.beleg_datum,
        leistung_von: days().min(),
        leistung_bis: days().max(),
        external_ref: new.external_ref.clone(),
        zahlungsziel_tage: new.zahlungsziel_tage,
        notizen: new.notizen.clone(),
        abschliessen: new.abschliessen,
        items: Some(items),
        ..NewBeleg::default()
    }
}

/// Adds a hint if non-perishable goods are paid later than 60 days after delivery (AgrarOLkG § 11 (2), (3)).
fn hint_late(tx: &Tx<'_>, new: &NewAbrechnung, berechnet: &Berechnet, hints: &mut Hints) {
    let Some(first) = berechnet.notes.iter().map(|note| note.tag).min() else { return };
    let term = new.zahlungsziel_tage.or(berechnet.kunde.zahlungsziel_tage).unwrap_or_default();
    let due = Day::of_number(new.beleg_datum.unwrap_or_else(|| tx.today()).number() + term);
    let last = Day::of_number(first.number() + ZAHLUNGSFRIST);
    if berechnet.art == Abrechnungsart::End && due > last {
        let message = format!(
            "Die erste Lieferung vom {} wäre bis {} zu bezahlen (60 Tage, AgrarOLkG § 11); fällig wird am {}.",
            first.german(),
            last.german(),
            due.german()
        );
        hints.add_field(HintCode::Zahlungsfrist60Tage, "zahlungsziel_tage", message);
    }
}

/// Adds hints for goods that come after the document or are still to come.
fn hint_days(tx: &Tx<'_>, new: &NewAbrechnung, berechnet: &Berechnet, hints: &mut Hints) {
    let (today, datum) = (tx.today(), new.beleg_datum.unwrap_or_else(|| tx.today()));
    for note in &berechnet.notes {
        let (nummer, tag) = (&note.posten.belegnummer, note.tag);
        if tag > today {
            let message = format!(
                "{nummer} ist erst für den {} angekündigt. Bitte das Lieferdatum prüfen.",
                tag.german()
            );
            hints.add(HintCode::LieferdatumZukunft, message);
        } else if datum < tag {
            let message = format!(
                "Die Gutschrift ist vom {}, die Ware von {nummer} kam erst am {}. Bitte das Belegdatum prüfen.",
                datum.german(),
                tag.german()
            );
            hints.add_field(HintCode::BelegVorLieferung, "beleg_datum", message);
        }
    }
}

/// Adds a hint if the advances on goods of known price are together above their value (D29i).
fn hint_advances(berechnet: &Berechnet, hints: &mut Hints) -> Result<()> {
    if berechnet.art != Abrechnungsart::Abschlag {
        return Ok(());
    }
    let (mut wert, mut before, mut now) = (Money::ZERO, Money::ZERO, Money::ZERO);
    for note in &berechnet.notes {
        let Some(known) = note.wert else { continue };
        wert = wert.plus(known)?;
        now = now.plus(note.posten.betrag)?;
        for abschlag in &note.abschlaege {
            before = before.plus(abschlag.betrag)?;
        }
    }
    if before.plus(now)? > wert {
        let message = format!(
            "Die Ware ist nach den bisher bekannten Preisen {} EUR wert; angezahlt sind {} EUR, mit diesem Abschlag von {} \
             EUR mehr als ihr Wert. Bitte prüfen.",
            german(wert, 2),
            german(before, 2),
            german(now, 2)
        );
        hints.add_field(HintCode::AbschlagUebersteigtWare, "abschlag", message);
    }
    Ok(())
}

/// POST …/korrektur: cancels the settlement and creates it again with the newest values, both or neither.
pub fn correct(
    tx: &WriteTx<'_>,
    old: &Abrechnung,
    grund: String,
    said: &Korrektur,
    hints: Hints,
) -> Result<AbrechnungAngelegt> {
    let (anfrage, _) = sql::request(tx, old.id)?;
    let new = NewAbrechnung::stored(&anfrage)?;
    let beleg = belege::found(tx, old.beleg_id)?;
    let cancelled = belege::cancel(tx, beleg, grund, hints)?;
    // The replacement is dated today, and is final if the cancelled one was.
    let abschliessen = Some(old.status != BelegStatus::Offen);
    let new = NewAbrechnung {
        beleg_datum: None::<Day>,
        abschliessen,
        negativ_zulassen: said.negativ_zulassen.or(new.negativ_zulassen),
        rest_preis_je_t: said.rest_preis_je_t.or(new.rest_preis_je_t),
        ..new
    };
    let made = add(tx, &new, Some(old.id), cancelled.hinweise)?;
    let storniert = cancelled.storno_beleg_nummer.or(Some(cancelled.beleg_nummer));
    Ok(AbrechnungAngelegt { storniert, ..made })
}

/// Previews the settlement that a request body describes (D29k).
pub fn previewed(tx: &WriteTx<'_>, body: &Value) -> Result<AbrechnungsVorschau> {
    let (new, hints) = NewAbrechnung::said(body)?;
    preview(tx, &new, &hints)
}

/// Creates the settlement that a request body describes.
pub fn settle(tx: &WriteTx<'_>, body: &Value) -> Result<AbrechnungAngelegt> {
    let (new, hints) = NewAbrechnung::said(body)?;
    add(tx, &new, None, hints)
}
