//! Changing a document while it is open (specification, PUT /belege/{id}; D4).

use uuid::Uuid;

use super::{abrechnung, check_locked, verlauf};
use crate::goods::chargen::Bewegung;
use crate::goods::waage;
use crate::master::kunden::{self, Kunde};
use crate::master::steuersaetze;
use crate::master::tenants::{self, Einstellungen};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::change::Change;
use crate::rules::day::{Day, DayTime};
use crate::rules::document::{BelegAktion, BelegStatus};
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::trade::belege::create::anteile::{self, hint_contradictions};
use crate::trade::belege::create::header::{Context, header};
use crate::trade::belege::create::items::{self, bind_contract};
use crate::trade::belege::create::summen::with_sums;
use crate::trade::belege::create::{
    Unbooked, book, chargenpflicht, check_date, confirmation, create_ordered_batches, dates, hint_paper,
    partner, satzdatum, steuerausweis, uebernahme,
};
use crate::trade::belege::eingabe::{BelegChange, NewItem};
use crate::trade::belege::model::{Beleg, BelegBestaetigung, BelegPosition, Source};
use crate::trade::belege::{fluss, lifecycle, sql};

/// PUT /belege/{id}: absent fields stay, null clears, items replace all positions.
pub fn change(
    tx: &WriteTx<'_>,
    old: Beleg,
    mut change: BelegChange,
    mut hints: Hints,
) -> Result<BelegBestaetigung> {
    let einstellungen = &tenants::load(tx)?;
    check_open(&old, einstellungen, &mut change, &mut hints)?;
    let says_groups = change.steuergruppen.get().is_some();
    let old_positions = sql::positions(tx, old.id)?;
    let said = Said::of(&mut change, &old, &old_positions);
    let kunde = &partner_of(tx, &old, &change, &mut hints)?;
    let new = new_header(tx, &old, kunde, change, einstellungen, &mut hints)?;
    let has_new_items = said.is_some();
    let enters_again = has_new_items || new.kunde_id != old.kunde_id;
    keep_version(tx, &old, &new, enters_again, &mut hints)?;
    let before = (&old, &old_positions[..]);
    let positions = positions_after(tx, &new, kunde, said, before, einstellungen, &mut hints)?;
    let new = uebernahme::with_predecessor(new, &positions);
    let groups_wait_for_rates = enters_again && new.steuergruppen.is_some();
    let new = if groups_wait_for_rates { new } else { with_sums(new, &positions, says_groups, &mut hints)? };
    sql::update(tx, &new)?;
    if enters_again {
        set_names_free(tx, before, (&new, &positions), &mut hints)?;
    }
    hint_paper(tx, &new, &positions, kunde, &mut hints)?;
    let (new, positionen, bewegungen) = if enters_again {
        let (source, withdrawn) = (Source::Items, Some(before));
        let unbooked =
            Unbooked { withdrawn, positions, kunde, source, einstellungen, has_new_items, says_groups };
        book(tx, new, unbooked, &mut hints)?
    } else {
        with_old_pairs(tx, new, kunde, positions, einstellungen, &mut hints)?
    };
    if !has_new_items && (dates::are_moved(&old, &new) || old.kunde_id != new.kunde_id) {
        satzdatum::hint_kept_rates(tx, &new, kunde, einstellungen, &positionen, &mut hints)?;
    }
    dates::hint_moved(tx, &old, &new, &positionen, &mut hints)?;
    Ok(confirmation(Beleg { positionen: Some(positionen), ..new }, bewegungen, hints))
}

/// Sets names on a document free that fit no more: of positions that are gone, of another partner, beyond a quantity that
/// is smaller now.
fn set_names_free(
    tx: &WriteTx<'_>,
    (old, before): (&Beleg, &[BelegPosition]),
    (new, after): (&Beleg, &[BelegPosition]),
    hints: &mut Hints,
) -> Result<()> {
    fluss::release(tx, new, new.kunde_id != old.kunde_id, hints)?;
    fluss::shorten(tx, new, [before, after], hints)
}

/// Returns a document whose goods do not move, with the existing pairs on its positions.
fn with_old_pairs(
    tx: &Tx<'_>,
    new: Beleg,
    kunde: &Kunde,
    mut positions: Vec<BelegPosition>,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<BelegPosition>, Vec<Bewegung>)> {
    satzdatum::hint_invoices_keep_rates(tx, &new, kunde, einstellungen, hints)?;
    steuerausweis::hint_doubtful(tx, &new, kunde, &positions, hints)?;
    fluss::add_ties(tx, &new, &mut positions, false)?;
    Ok((new, positions, Vec::new()))
}

/// Applies the sent fields to the document; with a new partner it takes that partner's terms unless some were
/// sent (D18).
fn new_header(
    tx: &WriteTx<'_>,
    old: &Beleg,
    kunde: &Kunde,
    change: BelegChange,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Beleg> {
    let beleg_datum = new_date(tx, old, change.beleg_datum.get().copied(), einstellungen)?;
    let before = Beleg { beleg_datum, ..old.clone() };
    let before = if kunde.id == old.kunde_id { before } else { partner::with_terms(before, kunde) };
    header(tx, before, kunde, change, hints)
}

/// Stores the previous version, remembers its partner, and adds hints for final documents that reference it.
/// With `enters_again` (other positions or another partner), refuses to change a settlement (D29g).
fn keep_version(
    tx: &WriteTx<'_>,
    old: &Beleg,
    new: &Beleg,
    enters_again: bool,
    hints: &mut Hints,
) -> Result<()> {
    if enters_again {
        abrechnung::refuse_other_positions(tx, old.id)?;
    }
    if enters_again || dates::are_moved(old, new) {
        lifecycle::hint_named_by_final(tx, old, hints)?;
    }
    verlauf::write(tx, old, BelegAktion::Aendern)?;
    if new.kunde_id != old.kunde_id {
        sql::add_former_partner(tx, old)?;
    }
    Ok(())
}

/// Refuses to clear mandatory fields; checked before the status (D19).
fn check_required(change: &BelegChange) -> Result<()> {
    if !change.items.is_keep() {
        required(change.items.get().filter(|items| !items.is_empty()), "items")?;
    }
    if !change.beleg_datum.is_keep() {
        required(change.beleg_datum.get(), "beleg_datum")?;
    }
    Ok(())
}

/// Refuses to change a document that is not open, or lies in a locked period, and to change the type of any document; ignores
/// what only POST takes.
fn check_open(
    old: &Beleg,
    einstellungen: &Einstellungen,
    change: &mut BelegChange,
    hints: &mut Hints,
) -> Result<()> {
    check_required(change)?;
    if old.status != BelegStatus::Offen {
        let message = format!(
            "Der Beleg ist {}; ändern geht nur, solange er offen ist. Bitte stornieren und neu anlegen.",
            old.status.as_str()
        );
        return Err(Refusal::new(Code::BelegAbgeschlossen, message).into());
    }
    let message =
        format_args!("Der Beleg ist vom Typ {}; der Typ lässt sich nicht ändern.", old.beleg_typ.as_str());
    let is_other = change.beleg_typ.get().is_some_and(|typ| *typ != old.beleg_typ);
    refuse_if(is_other, Code::BelegTypNichtAenderbar, "beleg_typ", message)?;
    ignore_fields_of_creation(old, change, hints);
    check_locked(einstellungen, old.datum())
}

/// Ignores fields that only POST accepts, with a hint; repeating the same external_ref needs none.
fn ignore_fields_of_creation(old: &Beleg, change: &mut BelegChange, hints: &mut Hints) {
    change.abschliessen.ignore("abschliessen", hints);
    if change.external_ref.get() != old.external_ref.as_ref() {
        change.external_ref.ignore("external_ref", hints);
    }
}

/// Returns the partner after the change. `kunden_id` or `kundennummer` names it: clearing one leaves the other
/// valid.
fn partner_of(tx: &WriteTx<'_>, old: &Beleg, change: &BelegChange, hints: &mut Hints) -> Result<Kunde> {
    let kunde = match (&change.kunden_id, &change.kundennummer) {
        (Change::Keep, Change::Keep) => kunden::find(tx, old.kunde_id)?,
        (kunden_id, nummer) => kunden::named(tx, kunden_id.get(), nummer.get().map(String::as_str))?,
    };
    let kunde = kunde.ok_or_else(kunden::missing)?;
    if kunde.id != old.kunde_id {
        partner::hint_status(&kunde, hints);
    }
    Ok(kunde)
}

/// Returns the date after the change; a new date must be in the year of the number (D4).
fn new_date(
    tx: &WriteTx<'_>,
    old: &Beleg,
    datum: Option<Day>,
    einstellungen: &Einstellungen,
) -> Result<DayTime> {
    let Some(datum) = datum else { return Ok(old.beleg_datum) };
    check_date(tx, einstellungen, datum)?;
    let message = "Das Belegdatum darf nicht in ein anderes Jahr wandern: die Nummer gehört zum Jahr.";
    refuse_if(datum.year() != old.datum().year(), Code::DatumUngueltig, "beleg_datum", message)?;
    Ok(DayTime(datum))
}

/// The items of a change, and the positions that they replace.
struct Said<'p> {
    items: Vec<NewItem>,
    auto_price: bool,
    before: &'p [BelegPosition],
    partner_before: Uuid,
}

impl<'p> Said<'p> {
    fn of(change: &mut BelegChange, old: &Beleg, before: &'p [BelegPosition]) -> Option<Said<'p>> {
        let items = std::mem::take(&mut change.items).value()?;
        let auto_price = change.auto_price.get().copied().unwrap_or(true);
        Some(Said { items, auto_price, before, partner_before: old.kunde_id })
    }
}

/// The positions that are sent, or those of before, which enter again for another partner; refuses others where the goods
/// are settled (D29h).
fn positions_after(
    tx: &WriteTx<'_>,
    new: &Beleg,
    kunde: &Kunde,
    said: Option<Said<'_>>,
    before: (&Beleg, &[BelegPosition]),
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Vec<BelegPosition>> {
    let (old, kept) = before;
    let positions = match said {
        Some(said) => new_positions(tx, new, kunde, said, einstellungen, hints)?,
        None if new.kunde_id != old.kunde_id => handed_over(tx, new, kunde, kept, einstellungen, hints)?,
        None => kept.to_vec(),
    };
    abrechnung::refuse_changed_delivery(tx, before, (new, &positions))?;
    Ok(positions)
}

fn new_positions(
    tx: &WriteTx<'_>,
    beleg: &Beleg,
    kunde: &Kunde,
    said: Said<'_>,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Vec<BelegPosition>> {
    let saetze = &steuersaetze::all(tx)?;
    let context = Context { auto_price: said.auto_price, ..Context::of(beleg, kunde, einstellungen, saetze) };
    let mut positions = items::resolve(tx, &context, said.items, said.before, hints)?;
    for position in &mut positions {
        let Some(before) = said.before.iter().find(|before| before.id == position.id) else { continue };
        if repeats_inherited_batch(position, before) {
            position.charge_gesendet = false;
            // Otherwise it was the old partner's batch, or that of another number.
            let is_same =
                said.partner_before == kunde.id && position.fremde_charge_nr == before.fremde_charge_nr;
            position.charge_id = position.charge_id.filter(|_| is_same);
        }
    }
    create_ordered_batches(tx, beleg.beleg_typ, kunde.id, &mut positions, hints)?;
    sql::replace_positions(tx, beleg.id, &positions)?;
    fluss::store(tx, beleg, &positions, true, hints)?;
    Ok(positions)
}

/// Whether the client only sends back the batch that the position inherited (D8). If it leaves out the
/// supplier's number, it names the batch by id.
fn repeats_inherited_batch(position: &BelegPosition, before: &BelegPosition) -> bool {
    let leaves_out_number = before.fremde_charge_nr.is_some() && position.fremde_charge_nr.is_none();
    position.charge_id == before.charge_id
        && position.artikel_id == before.artikel_id
        && !before.charge_gesendet
        && !leaves_out_number
}

/// Returns the kept positions of a document for its new partner, checked like new ones. They lose the batches
/// that they inherited, chose or created, and their references: those belonged to the old partner (D18).
fn handed_over(
    tx: &WriteTx<'_>,
    new: &Beleg,
    kunde: &Kunde,
    before: &[BelegPosition],
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<Vec<BelegPosition>> {
    let mut positions = before.to_vec();
    let context = Context::of(new, kunde, einstellungen, &[]);
    let weighed: Vec<_> = positions.iter().filter_map(|position| position.wiegung_id).collect();
    for position in &mut positions {
        position.charge_id = position.charge_id.filter(|_| position.charge_gesendet);
        let mut own = Hints::default();
        hand_over(tx, &context, &weighed, position, &mut own)?;
        hints.extend(own.below(&Source::Items.path(position.position)));
    }
    chargenpflicht::check_batches(tx, new.beleg_typ, einstellungen, &positions)?;
    create_ordered_batches(tx, new.beleg_typ, new.kunde_id, &mut positions, hints)?;
    sql::replace_positions(tx, new.id, &positions)?;
    fluss::store(tx, new, &positions, true, hints)?;
    Ok(positions)
}

/// Checks the references of a kept position again; `weighed`: the weighings that the document names.
fn hand_over(
    tx: &Tx<'_>,
    context: &Context<'_>,
    weighed: &[Uuid],
    position: &mut BelegPosition,
    hints: &mut Hints,
) -> Result<()> {
    bind_contract(tx, context, position, hints)?;
    if let Some(id) = position.wiegung_id {
        let wiegung = waage::finished(tx, id, position.artikel_id)?;
        wiegung.hint_other_partner(context.kunde.id, hints);
        let is_shared = anteile::is_shared(tx, context, id, weighed)?;
        let (menge, einheit) = (position.menge, position.einheit.as_deref());
        hint_contradictions(&wiegung, context.beleg.beleg_typ, menge, einheit, is_shared, hints)?;
    }
    position.bezug_position_id = None;
    if position.bezug_beleg_id.take().is_some() {
        let message = "Der Bezug war ein Beleg des bisherigen Partners; er ist entfernt.";
        hints.add_field(HintCode::FeldIgnoriert, "bezug_beleg_id", message);
    }
    Ok(())
}
