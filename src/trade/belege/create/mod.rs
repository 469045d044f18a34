//! Creating a document (specification, POST /belege).

pub mod anteile;
pub mod bezug;
pub mod chargenpflicht;
pub mod dates;
pub mod fremdbeleg;
pub mod header;
pub mod ids;
pub mod items;
pub mod kontraktwahl;
pub mod lieferanten_nr;
pub mod lieferpreis;
pub mod partner;
pub mod satzdatum;
pub mod steuer;
pub mod steuerausweis;
pub mod summen;
pub mod uebernahme;
pub mod wareneingang;

use std::sync::Arc;

use serde_json::Value;
use uuid::Uuid;

use super::eingabe::{BelegChange, NewBeleg};
use super::lager::{self, Rebooking};
use super::model::{Beleg, BelegBestaetigung, BelegPosition, PositionBestaetigung, Source};
use super::out::ausfertigung::hint_nothing_corrected;
use super::{credited, fluss, lifecycle, sql};
use crate::goods::chargen::Bewegung;
use crate::goods::kontrakte::{self, Genannt, KontraktBezug};
use crate::master::kunden::{self, Kunde};
use crate::master::tenants::{self, Einstellungen};
use crate::master::{artikel, steuersaetze};
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::bytes::fingerprint;
use crate::rules::day::{Day, DayTime};
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle};
use crate::rules::error::{Code, Hints, refuse_if, required};
use crate::rules::fixed::Percent;
use crate::rules::number::Reihe;
use crate::rules::repeat::{Angelegt, Wiederholt};
use header::{Context, header, hint_not_agreed};
use summen::with_sums;

/// Earliest date of a document (D5).
const FIRST_DAY: Day = Day::new(2000, 1, 1);

/// POST /belege: creates a document, unless its external_ref is known (D19).
pub fn create(
    tx: &WriteTx<'_>,
    new: &NewBeleg,
    mut hints: Hints,
) -> Result<Angelegt<BelegBestaetigung, Beleg>> {
    if let Some(external_ref) = &new.external_ref
        && let Some(existing) = sql::find_by_external_ref(tx, external_ref)?
    {
        return Ok(Angelegt::Wiederholt(Box::new(repeated(tx, existing, new, hints)?)));
    }
    let (beleg, lagerbewegungen) = add(tx, new, Source::Items, &mut hints)?;
    Ok(Angelegt::Neu(confirmation(beleg, lagerbewegungen, hints)))
}

/// Creates and books a document; nothing is kept if a rule refuses it.
pub fn add(
    tx: &WriteTx<'_>,
    new: &NewBeleg,
    source: Source,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<Bewegung>)> {
    add_with(tx, new, (source, &[]), |_| Ok(()), hints)
}

/// Creates and books a document; `with` stores what belongs to it before it becomes final. `satz_tage` are the rate dates of its
/// positions where they are not that of the document.
pub fn add_with(
    tx: &WriteTx<'_>,
    new: &NewBeleg,
    (source, satz_tage): (Source, &[Day]),
    with: impl FnOnce(&Beleg) -> Result<()>,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<Bewegung>)> {
    let Prepared { kunde, einstellungen, mut beleg, mut positions } = prepare(tx, new, source, hints)?;
    for (position, tag) in positions.iter_mut().zip(satz_tage) {
        position.satz_datum = *tag;
    }
    let (typ, datum) = (beleg.beleg_typ, beleg.datum());
    let digest = compared(new, kunde.id, &positions)?;
    create_ordered_batches(tx, typ, kunde.id, &mut positions, hints)?;
    if beleg.steuergruppen.is_none() {
        beleg = with_sums(beleg, &positions, false, hints)?;
    }
    beleg.beleg_nummer = numbers::next(tx, Reihe::Beleg(typ), datum.year())?;
    sql::insert(tx, &beleg, digest, fluss::has_rest(typ, &positions))?;
    sql::insert_positions(tx, &positions)?;
    fluss::store(tx, &beleg, &positions, false, hints)?;
    hint_paper(tx, &beleg, &positions, &kunde, hints)?;
    let (kunde, einstellungen) = (&kunde, &*einstellungen);
    let unbooked = Unbooked {
        withdrawn: None,
        positions,
        kunde,
        source,
        einstellungen,
        has_new_items: true,
        says_groups: true,
    };
    let (mut beleg, positionen, bewegungen) = book(tx, beleg, unbooked, hints)?;
    with(&beleg)?;
    if new.abschliessen == Some(true) || einstellungen.abschluss_bei_anlage.contains(&typ) {
        beleg = lifecycle::finalise_new(tx, beleg, hints)?;
    }
    Ok((Beleg { positionen: Some(positionen), ..beleg }, bewegungen))
}

/// The input for booking a document whose header and positions are stored.
pub struct Unbooked<'u> {
    /// The previous version of the document, and its positions.
    pub withdrawn: Option<(&'u Beleg, &'u [BelegPosition])>,
    pub positions: Vec<BelegPosition>,
    pub kunde: &'u Kunde,
    pub source: Source,
    pub einstellungen: &'u Einstellungen,
    /// Whether the request sends the items anew, so that their tax rates are determined again.
    pub has_new_items: bool,
    /// Whether it sends the printed tax groups, which are compared at the rates of the deliveries.
    pub says_groups: bool,
}

/// Books a document; returns it with its sums and positions (including their pairs), and the movements.
pub fn book(
    tx: &WriteTx<'_>,
    mut beleg: Beleg,
    unbooked: Unbooked<'_>,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<BelegPosition>, Vec<Bewegung>)> {
    let Unbooked { withdrawn, mut positions, kunde, source, einstellungen, has_new_items, says_groups } =
        unbooked;
    let rebooking = Rebooking { withdrawn, beleg: &beleg, positions: &positions, source, einstellungen };
    let lager::Rebooked { bewegungen, has_met, moves_more_goods } = lager::rebook(tx, rebooking, hints)?;
    let has_more = moves_more_goods || partner::orders_more(&beleg, withdrawn, &positions)?;
    partner::check_goods(&beleg, kunde, has_more)?;
    let bills = has_new_items && bills_deliveries(&beleg, &positions, has_met);
    let lieferungen = if bills { sql::lieferungen(tx, beleg.id)? } else { Vec::new() };
    hint_deliveries(&positions, &lieferungen, hints);
    let follows = !lieferungen.is_empty()
        && satzdatum::follow_deliveries(
            tx,
            &beleg,
            kunde,
            einstellungen,
            &lieferungen,
            &mut positions,
            hints,
        )?;
    if follows || beleg.steuergruppen.is_some() {
        beleg = with_sums(beleg, &positions, says_groups, hints)?;
        sql::update(tx, &beleg)?;
    }
    uebernahme::hint_other_tax(&positions, hints);
    lieferpreis::hint_other_prices(&positions, &credited::invoices_of(tx, &beleg, &positions)?, hints);
    credited::hint_more_than_invoiced(tx, &beleg, &positions, withdrawn.is_some(), hints)?;
    fluss::add_ties(tx, &beleg, &mut positions, withdrawn.is_none() && !has_met)?;
    if has_met {
        satzdatum::hint_invoices_keep_rates(tx, &beleg, kunde, einstellungen, hints)?;
    }
    hint_contracts(tx, &beleg, &positions, source, hints)?;
    steuerausweis::hint_doubtful(tx, &beleg, kunde, &positions, hints)?;
    Ok((beleg, positions, bewegungen))
}

fn hint_deliveries(positions: &[BelegPosition], lieferungen: &[sql::Lieferung], hints: &mut Hints) {
    lieferpreis::hint_other_prices(positions, lieferungen, hints);
    satzdatum::hint_guessed(lieferungen, hints);
}

/// Whether a document may bill deliveries.
fn bills_deliveries(beleg: &Beleg, positions: &[BelegPosition], has_met: bool) -> bool {
    beleg.beleg_typ.ist_rechnung() && (has_met || uebernahme::names_any(positions))
}

pub struct Prepared {
    kunde: Kunde,
    einstellungen: Arc<Einstellungen>,
    pub beleg: Beleg,
    pub positions: Vec<BelegPosition>,
}

/// Builds the document of a request, or refuses it before anything is stored; checks everything except the
/// stock.
pub fn prepare(tx: &WriteTx<'_>, new: &NewBeleg, source: Source, hints: &mut Hints) -> Result<Prepared> {
    let typ = required(new.beleg_typ, "beleg_typ")?;
    let mut said = BelegChange::from(new.clone());
    let items = std::mem::take(&mut said.items).value();
    let items = required(items.filter(|items| !items.is_empty()), "items")?;
    let kunde = partner_of(tx, new)?.ok_or_else(kunden::missing)?;
    partner::hint_status(&kunde, hints);
    let einstellungen = tenants::load(tx)?;
    let datum = new.beleg_datum.unwrap_or_else(|| tx.today());
    check_date(tx, &einstellungen, datum)?;
    let beleg = header(tx, blank(tx, typ, datum, &kunde), &kunde, said, hints)?;
    let saetze = &steuersaetze::all(tx)?;
    let auto_price = new.auto_price.unwrap_or(true);
    let context = Context { source, auto_price, ..Context::of(&beleg, &kunde, &einstellungen, saetze) };
    let positions = items::resolve(tx, &context, items, &[], hints)?;
    // Booking asks it, too, but then the rows are written.
    partner::check_goods(&beleg, &kunde, partner::orders_more(&beleg, None, &positions)?)?;
    let beleg = uebernahme::with_predecessor(beleg, &positions);
    Ok(Prepared { kunde, einstellungen, beleg, positions })
}

fn partner_of(tx: &Tx<'_>, new: &NewBeleg) -> Result<Option<Kunde>> {
    kunden::named(tx, new.kunden_id.as_ref(), new.kundennummer.as_deref())
}

pub fn confirmation(beleg: Beleg, lagerbewegungen: Vec<Bewegung>, hinweise: Hints) -> BelegBestaetigung {
    BelegBestaetigung {
        id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        beleg_typ: beleg.beleg_typ,
        status: beleg.status,
        summe_netto: beleg.summe_netto,
        summe_mwst: beleg.summe_mwst,
        summe_brutto: beleg.summe_brutto,
        positionen: beleg.positionen.into_iter().flatten().map(PositionBestaetigung::from).collect(),
        lagerbewegungen,
        hinweise,
    }
}

/// Refuses dates before 2000, more than a year ahead, or in a locked period (D4, D5).
pub fn check_date(tx: &Tx<'_>, einstellungen: &Einstellungen, datum: Day) -> Result<()> {
    let message = "Das Belegdatum muss zwischen dem 01.01.2000 und heute in einem Jahr liegen.";
    let is_far = datum < FIRST_DAY || datum > tx.today().next_year();
    refuse_if(is_far, Code::DatumUngueltig, "beleg_datum", message)?;
    lifecycle::check_locked(einstellungen, datum)
}

/// Creates the batches that a purchase order describes, without stock (D8).
pub fn create_ordered_batches(
    tx: &WriteTx<'_>,
    typ: BelegTyp,
    partner: Uuid,
    positions: &mut [BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    for position in positions.iter_mut().filter(|p| typ.kuendigt_an() && p.charge_id.is_none()) {
        if let (true, Some(artikel_id)) = (position.states_batch(), position.artikel_id)
            && let Some(artikel) = artikel::find(tx, artikel_id)?
        {
            let mut own = Hints::default();
            let charge = lager::charge_for(tx, partner, &artikel, position, &mut own)?;
            lager::complete_charge(tx, charge, position, &mut own)?;
            hints.extend(own.below(&Source::Items.path(position.position)));
            position.charge_id = Some(charge);
        }
    }
    Ok(())
}

/// Adds hints where deliveries do not match the contracts of the items (D21g), or return goods that are settled (D29h).
fn hint_contracts(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    source: Source,
    hints: &mut Hints,
) -> Result<()> {
    let has_goods = beleg.beleg_typ.lagerrolle() != Lagerrolle::Keine;
    let counts = |position: &&BelegPosition| has_goods && !position.ep_netto.is_negative();
    let named = |position: &BelegPosition| {
        let BelegPosition { kontrakt_id, kontrakt_position_id, .. } = *position;
        kontrakt_id?;
        Some(Genannt {
            path: source.path(position.position),
            position: position.position,
            bezug: KontraktBezug { kontrakt_id, kontrakt_position_id },
            gewaehlt: position.kontrakt_gewaehlt,
            artikel: position.artikel_id?,
            liefert: !position.menge.is_negative(),
        })
    };
    let items: Vec<_> = positions.iter().filter(counts).filter_map(named).collect();
    kontrakte::hint_delivered(tx, beleg.id, &items, hints)?;
    lifecycle::abrechnung::hint_returned(tx, beleg, positions, hints)?;
    kontraktwahl::hint_unnamed(tx, beleg, positions, source, hints)
}

/// Adds hints about doubtful contents of a document.
pub fn hint_paper(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    kunde: &Kunde,
    hints: &mut Hints,
) -> Result<()> {
    fremdbeleg::hint_doubled(tx, beleg, hints)?;
    hint_not_agreed(beleg, kunde, hints);
    hint_nothing_corrected(tx, beleg, positions, hints)
}

/// Returns a blank document with date and the partner's terms of payment.
fn blank(tx: &WriteTx<'_>, typ: BelegTyp, datum: Day, kunde: &Kunde) -> Beleg {
    let blank = Beleg {
        id: tx.new_id(),
        beleg_typ: typ,
        status: BelegStatus::Offen,
        beleg_datum: DayTime(datum),
        created_at: tx.now(),
        ..Beleg::default()
    };
    partner::with_terms(blank, kunde)
}

fn repeated(tx: &Tx<'_>, existing: Beleg, new: &NewBeleg, hinweise: Hints) -> Result<Wiederholt<Beleg>> {
    let inhalt_abweichend = match sql::request_digest(tx, existing.id)? {
        Some(digest) => digest != digest_of_repeat(tx, new)?,
        None => true,
    };
    let record = fluss::with_positions(tx, existing)?;
    let nummer = record.beleg_nummer.clone();
    Ok(Wiederholt::of(record, &nummer, inhalt_abweichend, hinweise))
}

fn digest_of_repeat(tx: &Tx<'_>, new: &NewBeleg) -> Result<[u8; 32]> {
    let kunde = partner_of(tx, new).ok().flatten().map(|kunde| kunde.id);
    request_digest(new, kunde, |_, number| match artikel::find_by_number(tx, number)?.as_slice() {
        [artikel] => Ok(Some(artikel.id)),
        _ => Ok(None),
    })
}

/// Returns the digest of a new document; only a repeat with the same external_ref is ever compared with it.
fn compared(new: &NewBeleg, kunde: Uuid, positions: &[BelegPosition]) -> Result<Option<[u8; 32]>> {
    let digest = || request_digest(new, Some(kunde), |at, _| Ok(positions[at].artikel_id));
    new.external_ref.as_ref().map(|_| digest()).transpose()
}

/// Returns a digest of the meaning of a request, independent of its wording: partner and articles by id,
/// absent and null alike, numbers by value. `artikel_of` resolves the article number of an item, if it is
/// known.
fn request_digest(
    new: &NewBeleg,
    kunde: Option<Uuid>,
    artikel_of: impl Fn(usize, &str) -> Result<Option<Uuid>>,
) -> Result<[u8; 32]> {
    let mut value = serde_json::to_value(new)?;
    if let Some(kunde) = kunde {
        value["kunden_id"] = Value::String(kunde.to_string());
        value["kundennummer"] = Value::Null;
    }
    // A value equal to its default counts as absent.
    for (field, default) in [("auto_price", true), ("abschliessen", false), ("gutschrift", false)] {
        if value[field] == default {
            value[field] = Value::Null;
        }
    }
    for (at, item) in value["items"].as_array_mut().into_iter().flatten().enumerate() {
        item["id"] = Value::Null;
        if item["lager_buchen"] == true {
            item["lager_buchen"] = Value::Null;
        }
        if new.items.as_ref().is_some_and(|items| items[at].rabatt_prozent == Some(Percent::ZERO)) {
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
