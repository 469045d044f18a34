//! The later life of a document: finalising, settling, cancelling (D4).

pub mod abrechnung;
pub mod change;
pub mod tagesende;
pub mod verlauf;

use super::create::header::hint_not_agreed;
use super::create::{dates, fremdbeleg, lieferanten_nr, satzdatum, steuerausweis};
use super::lager::{self, Rebooking};
use super::model::{Ablehnung, Beleg, BelegPosition, Source, StatusBestaetigung, StornoBestaetigung};
use super::out::{ausfertigung, nachweis};
use super::{credited, fluss, offen, sql};
use crate::goods::chargen::Bewegung;
use crate::master::tenants::{self, Einstellungen};
use crate::master::{artikel, kunden};
use crate::platform::db::seals::evidence::Subject;
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Result, or_refusal};
use crate::rules::day::{Day, DayTime};
use crate::rules::document::{BelegAktion, BelegStatus, Lagerrolle};
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::number::Reihe;
use crate::rules::tax::Gedruckt;

/// Refuses documents and changes in a locked period (D4).
pub fn check_locked(einstellungen: &Einstellungen, datum: Day) -> Result<()> {
    let Some(locked) = einstellungen.gesperrt_bis else { return Ok(()) };
    let message =
        format_args!("Der Zeitraum bis {locked} ist gesperrt. Bitte ein späteres Belegdatum wählen.");
    Ok(refuse_if(datum <= locked, Code::ZeitraumGesperrt, "beleg_datum", message)?)
}

/// Makes an open document final: freezes its sheet and e-invoice, and adds it to the polling list. Leaves a
/// final document unchanged, so that two concurrent calls both succeed.
pub fn finalise(tx: &WriteTx<'_>, beleg: Beleg, hints: &mut Hints) -> Result<Beleg> {
    match beleg.status {
        BelegStatus::Storniert => {
            let message = "Der Beleg ist storniert und lässt sich nicht mehr abschließen.";
            return Err(Refusal::new(Code::BelegStorniert, message).into());
        }
        BelegStatus::Abgeschlossen | BelegStatus::Erledigt => return Ok(beleg),
        BelegStatus::Offen => {}
    }
    dates::hint_contradicted(tx, &beleg, &sql::positions(tx, beleg.id)?, hints)?;
    hint_doubtful(tx, &beleg, hints)?;
    finalise_new(tx, beleg, hints)
}

/// Makes a document final whose doubts were said just now, when it was created.
pub fn finalise_new(tx: &WriteTx<'_>, beleg: Beleg, hints: &mut Hints) -> Result<Beleg> {
    let beleg = ausfertigung::freeze(tx, beleg, hints)?;
    let beleg = move_to(tx, beleg, BelegStatus::Abgeschlossen, BelegAktion::Abschliessen, None)?;
    nachweis::keep(tx, Subject::Document(beleg.id))?;
    lieferanten_nr::learn(tx, &beleg)?;
    abrechnung::update_receipts(tx, &sql::deliveries_met(tx, beleg.id)?)?;
    abrechnung::follow(tx, beleg.id)?;
    Ok(beleg)
}

fn hint_doubtful(tx: &Tx<'_>, beleg: &Beleg, hints: &mut Hints) -> Result<()> {
    let Some(kunde) = kunden::find(tx, beleg.kunde_id)? else { return Ok(()) };
    hint_not_agreed(beleg, &kunde, hints);
    fremdbeleg::hint_doubled(tx, beleg, hints)?;
    if beleg.beleg_typ.ist_rechnung() {
        satzdatum::hint_guessed(&sql::lieferungen(tx, beleg.id)?, hints);
    }
    steuerausweis::hint_doubtful(tx, beleg, &kunde, &sql::positions(tx, beleg.id)?, hints)
}

/// Returns the hints and refusals of finalising a document, without doing it (D21h).
pub fn try_to_finalise(tx: &WriteTx<'_>, beleg: Beleg, mut hinweise: Hints) -> Result<StatusBestaetigung> {
    let (id, beleg_nummer, status) = (beleg.id, beleg.beleg_nummer.clone(), beleg.status);
    let refusal = or_refusal(tx.undone(|| finalise(tx, beleg, &mut hinweise)))?.err();
    let named = |refusal: Box<Refusal>| {
        let Refusal { code, message, feld, .. } = *refusal;
        Ablehnung { error: code, feld, message }
    };
    let ablehnungen = refusal.map(named).into_iter().collect();
    Ok(StatusBestaetigung { id, beleg_nummer, status, ablehnungen: Some(ablehnungen), hinweise })
}

/// Sets the next status and stores the previous version in the history; creates an event, visible to pollers
/// if the document is, or was, final.
fn move_to(
    tx: &WriteTx<'_>,
    beleg: Beleg,
    status: BelegStatus,
    aktion: BelegAktion,
    storno_grund: Option<String>,
) -> Result<Beleg> {
    verlauf::write(tx, &beleg, aktion)?;
    let ereignis_am = match (beleg.status, status) {
        (BelegStatus::Offen, BelegStatus::Storniert) => None,
        _ => Some(sql::next_event(tx)?),
    };
    let (version, updated_at) = (beleg.version + 1, tx.now());
    let beleg = Beleg { status, storno_grund, ereignis_am, version, updated_at, ..beleg };
    sql::update(tx, &beleg)?;
    Ok(beleg)
}

/// Marks a final document as settled, that is paid. `closed`: no counterpart will come, so its open
/// quantities are closed (D8). Does nothing if it is already so.
pub fn settle(tx: &WriteTx<'_>, beleg: Beleg, closed: bool, hints: &mut Hints) -> Result<Beleg> {
    if !matches!(beleg.status, BelegStatus::Abgeschlossen | BelegStatus::Erledigt) {
        let message = format!("Der Beleg ist {}; erledigt werden abgeschlossene.", beleg.status.as_str());
        return Err(Refusal::new(Code::BelegNichtAbgeschlossen, message).into());
    }
    let ohne_gegenbeleg = closed || beleg.ohne_gegenbeleg;
    if !ohne_gegenbeleg {
        hint_open(tx, &beleg, hints)?;
    }
    if beleg.status == BelegStatus::Erledigt && ohne_gegenbeleg == beleg.ohne_gegenbeleg {
        return Ok(beleg);
    }
    let settled = move_to(tx, beleg, BelegStatus::Erledigt, BelegAktion::Erledigen, None)?;
    let settled = Beleg { ohne_gegenbeleg, ..settled };
    sql::update(tx, &settled)?;
    Ok(settled)
}

/// Adds a hint with the quantities of a document that still have no counterpart (D4).
fn hint_open(tx: &Tx<'_>, beleg: &Beleg, hints: &mut Hints) -> Result<()> {
    for (artikel, menge) in offen::open_of(tx, beleg)? {
        let artikel = artikel::must_have(tx, artikel)?;
        let message = format!(
            "Ohne Gegenbeleg sind noch {menge} {} {}. Kommt keiner mehr, bitte auch das sagen (ohne_gegenbeleg).",
            artikel.einheit.as_deref().unwrap_or_default(),
            artikel.bezeichnung
        );
        hints.add(HintCode::MengeOffen, message);
    }
    Ok(())
}

/// Cancels a document and reverses its movements. A final invoice gets a counter document; other documents
/// only change their status.
pub fn cancel(
    tx: &WriteTx<'_>,
    old: Beleg,
    grund: String,
    mut hinweise: Hints,
) -> Result<StornoBestaetigung> {
    if old.status == BelegStatus::Storniert || old.storno_von_beleg_id.is_some() {
        let message = "Ein stornierter Beleg und ein Stornobeleg lassen sich nicht stornieren.";
        return Err(Refusal::new(Code::BelegNichtStornierbar, message).into());
    }
    let needs_counter = old.status != BelegStatus::Offen && old.beleg_typ.ist_rechnung();
    let einstellungen = tenants::load(tx)?;
    if !needs_counter {
        check_cancelled_in_locked(&einstellungen, &old)?;
    }
    let positions = sql::positions(tx, old.id)?;
    refuse_followed(tx, &old)?;
    hint_named_by_final(tx, &old, &mut hinweise)?;
    let beleg = move_to(tx, old.clone(), BelegStatus::Storniert, BelegAktion::Storno, Some(grund))?;
    let lagerbewegungen = withdraw(tx, (&old, &positions), &beleg, &einstellungen, &mut hinweise)?;
    abrechnung::follow(tx, beleg.id)?;
    lager::price_batches(tx, beleg.id)?;
    let counter = || counter_document(tx, &beleg, positions, &mut hinweise);
    let counter = needs_counter.then(counter).transpose()?;
    Ok(StornoBestaetigung {
        id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        status: beleg.status,
        storno_beleg_id: counter.as_ref().map(|counter| counter.id),
        storno_beleg_nummer: counter.map(|counter| counter.beleg_nummer),
        lagerbewegungen,
        hinweise,
    })
}

/// Refuses to cancel a document of a locked period that would leave no counter document, and names the way that is open.
fn check_cancelled_in_locked(einstellungen: &Einstellungen, old: &Beleg) -> Result<()> {
    let Some(locked) = einstellungen.gesperrt_bis.filter(|locked| old.datum() <= *locked) else {
        return Ok(());
    };
    let advice = match old.beleg_typ.lagerrolle() {
        Lagerrolle::Rechnung => {
            "Bitte den Beleg erst abschließen: Der Storno eines abgeschlossenen ist von heute."
        }
        Lagerrolle::Lieferung => "Bitte die Ware mit einem Beleg von heute zurückgeben (negative Menge).",
        Lagerrolle::Keine => "Er bindet nichts; soll er weg, bitte erst gesperrt_bis zurücknehmen.",
    };
    let what = format!("Der Zeitraum bis {locked} ist gesperrt.");
    Err(Refusal::field(Code::ZeitraumGesperrt, "beleg_datum", (what, advice)).into())
}

/// Takes back what a cancelled document has moved, paired and named.
fn withdraw(
    tx: &WriteTx<'_>,
    old: (&Beleg, &[BelegPosition]),
    beleg: &Beleg,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Vec<Bewegung>> {
    fluss::withdraw(tx, beleg)?;
    let (withdrawn, positions, source) = (Some(old), &[], Source::Items);
    let rebooking = Rebooking { withdrawn, beleg, positions, source, einstellungen };
    Ok(lager::rebook(tx, rebooking, hints)?.bewegungen)
}

/// Refuses to cancel what later documents build on: a settlement that another one deducts (D29j), a delivery whose goods are
/// settled (D29h), and an invoice of which a credit that names it took something back, because both together would give it back twice (D4).
fn refuse_followed(tx: &Tx<'_>, old: &Beleg) -> Result<()> {
    abrechnung::check_last(tx, old.id)?;
    abrechnung::refuse_cancelled_delivery(tx, old)?;
    let credits = if old.beleg_typ.ist_rechnung() { credited::credits_of(tx, old)? } else { Vec::new() };
    if credits.is_empty() {
        return Ok(());
    }
    let what = format!("{} ist schon gutgeschrieben, mit {}.", old.beleg_nummer, credits.join(", "));
    let advice = "Bitte zuerst diese Gutschriften stornieren, oder den Rest gutschreiben.";
    Err(Refusal::new(Code::BelegNichtStornierbar, (what, advice)).into())
}

/// Adds a hint for each final document that still shows the old version of a delivery (D8).
pub fn hint_named_by_final(tx: &Tx<'_>, old: &Beleg, hints: &mut Hints) -> Result<()> {
    for nummer in sql::finals_that_name(tx, old)? {
        let message =
            format!("{nummer} ist abgeschlossen und nennt {}, wie er war. Bitte prüfen.", old.beleg_nummer);
        hints.add(HintCode::BelegNenntAltes, message);
    }
    Ok(())
}

/// Returns a copy of a document without its later history.
fn as_new(tx: &WriteTx<'_>, beleg: Beleg) -> Beleg {
    Beleg {
        status: BelegStatus::Offen,
        external_ref: None,
        pdf_url: None,
        blatt_am: None,
        firma_nr: None,
        erechnung_fehlt: None,
        storno_grund: None,
        ohne_gegenbeleg: false,
        ereignis_am: None,
        version: 1,
        created_at: tx.now(),
        updated_at: tx.now(),
        ..beleg
    }
}

/// Creates the counter document of an invoice: same type, today's date, a new number, negated quantities,
/// final from the start. Its movements are those of the cancellation itself.
fn counter_document(
    tx: &WriteTx<'_>,
    cancelled: &Beleg,
    positions: Vec<BelegPosition>,
    hints: &mut Hints,
) -> Result<Beleg> {
    let counter = Beleg {
        id: tx.new_id(),
        beleg_nummer: numbers::next(tx, Reihe::Beleg(cancelled.beleg_typ), tx.today().year())?,
        beleg_datum: DayTime(tx.today()),
        summe_netto: -cancelled.summe_netto,
        summe_mwst: -cancelled.summe_mwst,
        summe_brutto: -cancelled.summe_brutto,
        steuergruppen: cancelled.steuergruppen.as_ref().map(Gedruckt::negated),
        ist_gutschrift: true,
        storno_von_beleg_id: Some(cancelled.id),
        vorgaenger_beleg_id: Some(cancelled.id),
        ..as_new(tx, cancelled.clone())
    };
    let negated: Vec<_> = positions.into_iter().map(|position| negated(tx, &counter, position)).collect();
    sql::insert(tx, &counter, None, false)?;
    sql::insert_positions(tx, &negated)?;
    let counter = ausfertigung::freeze(tx, counter, hints)?;
    // It is final from the start: within this transaction nobody saw it open.
    let ereignis_am = Some(sql::next_event(tx)?);
    let counter = Beleg { status: BelegStatus::Abgeschlossen, ereignis_am, ..counter };
    sql::update(tx, &counter)?;
    nachweis::keep(tx, Subject::Document(counter.id))?;
    Ok(counter)
}

fn negated(tx: &WriteTx<'_>, counter: &Beleg, position: BelegPosition) -> BelegPosition {
    BelegPosition {
        id: tx.new_id(),
        beleg_id: counter.id,
        menge: -position.menge,
        gesamtpreis: -position.gesamtpreis,
        lager_menge: position.lager_menge.map(|menge| -menge),
        lager_buchen: false,
        wiegung_id: None,
        bezug_beleg_id: None,
        bezug_position_id: None,
        ..position
    }
}
