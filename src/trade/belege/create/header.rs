//! The header of a document: its fields besides the items, and what the items need of it.

use uuid::Uuid;

use super::summen;
use crate::master::kunden::Kunde;
use crate::master::tenants::Einstellungen;
use crate::master::vertriebler;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::change::{Change, apply_each};
use crate::rules::day::DayTime;
use crate::rules::document::{BelegTyp, Rechnungsart};
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::tax::Satz;
use crate::trade::belege::eingabe::BelegChange;
use crate::trade::belege::model::{Beleg, Source};
use crate::trade::belege::sql;

/// The data that all items of one document share.
pub struct Context<'c> {
    /// Where the items are in the request.
    pub source: Source,
    /// The document. Its type determines what an item needs; its day of goods or service determines tax rates
    /// and the validity of certificates.
    pub beleg: &'c Beleg,
    pub kunde: &'c Kunde,
    /// Whether missing prices are taken from the article.
    pub auto_price: bool,
    pub einstellungen: &'c Einstellungen,
    pub saetze: &'c [Satz],
}

impl<'c> Context<'c> {
    /// For ordinary items; missing prices are taken from the article.
    pub fn of(
        beleg: &'c Beleg,
        kunde: &'c Kunde,
        einstellungen: &'c Einstellungen,
        saetze: &'c [Satz],
    ) -> Context<'c> {
        Context { source: Source::Items, beleg, kunde, auto_price: true, einstellungen, saetze }
    }
}

/// Applies the sent fields to a document. `before` is a blank document or the one to change; the caller has
/// checked its type, date and partner.
pub fn header(
    tx: &WriteTx<'_>,
    before: Beleg,
    kunde: &Kunde,
    said: BelegChange,
    hints: &mut Hints,
) -> Result<Beleg> {
    let gutschrift = said.gutschrift.apply(Some(before.is_written_for_supplier())).unwrap_or(false);
    check_gutschrift(before.beleg_typ, gutschrift)?;
    let mut beleg = Beleg {
        lieferdatum: said.lieferdatum.map(DayTime).apply(before.lieferdatum),
        leistung_von: said.leistung_von.map(DayTime).apply(before.leistung_von),
        leistung_bis: said.leistung_bis.map(DayTime).apply(before.leistung_bis),
        liefertermin: said.liefertermin.map(DayTime).apply(before.liefertermin),
        gueltig_bis: said.gueltig_bis.map(DayTime).apply(before.gueltig_bis),
        kunde_id: kunde.id,
        kunden_name: kunde.name.clone(),
        vb_id: vertriebler::resolve_change(tx, &said.vb_id, before.vb_id, hints)?,
        rechnungsart: Rechnungsart::of(before.beleg_typ, gutschrift),
        vorgaenger_beleg_id: predecessor(tx, &before, kunde, said.vorgaenger_beleg_id, hints)?,
        version: before.version + 1,
        updated_at: tx.now(),
        ..before
    };
    beleg.steuergruppen = summen::printed(&beleg, said.steuergruppen, hints)?;
    apply_each! { said => beleg:
        notizen, external_ref, fremdbelegnummer, kontaktperson, niederlassung_id, lagerhalle_id,
        zahlungsziel_tage, zahlungsbedingung, skonto_tage, skonto_prozent
    }
    Ok(beleg)
}

/// Returns the document that this one was made from, which must be of the same partner (D8). Changing the
/// partner drops the existing one.
fn predecessor(
    tx: &Tx<'_>,
    before: &Beleg,
    kunde: &Kunde,
    said: Change<Uuid>,
    hints: &mut Hints,
) -> Result<Option<Uuid>> {
    let is_sent = !said.is_keep();
    let Some(id) = said.apply(before.vorgaenger_beleg_id) else { return Ok(None) };
    if !is_sent && before.kunde_id == kunde.id {
        return Ok(Some(id));
    }
    let unknown = || Refusal::unknown(Code::BelegNichtGefunden, "vorgaenger_beleg_id", "Diesen Beleg");
    let named = sql::find(tx, id)?.ok_or_else(unknown)?;
    if named.kunde_id == kunde.id && id != before.id {
        return Ok(Some(id));
    }
    let message = "Der Vorgänger muss ein anderer Beleg desselben Partners sein.";
    refuse_if(is_sent, Code::BezugPasstNicht, "vorgaenger_beleg_id", message)?;
    let message = "Der Vorgänger war ein Beleg des bisherigen Partners; er ist entfernt.";
    hints.add_field(HintCode::FeldIgnoriert, "vorgaenger_beleg_id", message);
    Ok(None)
}

/// Refuses a Gutschrift of another type than ER: only an ER can be one, written by the company for its
/// supplier (self-billing, UStG § 14 (2); D24).
fn check_gutschrift(typ: BelegTyp, is_gutschrift: bool) -> Checked<()> {
    let message = "Nur eine ER kann eine Gutschrift an den Lieferanten sein. Bitte gutschrift weglassen \
        oder eine ER anlegen.";
    let is_other = is_gutschrift && !typ.ist_fremdrechnung();
    refuse_if(is_other, Code::FeldWiderspruch, "gutschrift", message)
}

/// Adds a hint if the partner had not agreed to Gutschriften on its day, which the law requires beforehand.
pub fn hint_not_agreed(beleg: &Beleg, kunde: &Kunde, hints: &mut Hints) {
    let when = match kunde.gutschrift_vereinbart_am {
        _ if !beleg.is_written_for_supplier() => return,
        Some(agreed) if agreed <= beleg.datum() => return,
        Some(agreed) => format!("erst ab dem {}", agreed.german()),
        None => "nicht".to_owned(),
    };
    let message = format!(
        "Mit {} ist {when} vereinbart, dass die Firma die Gutschriften schreibt (§ 14 Abs. 2 UStG). Bitte \
         gutschrift_vereinbart_am beim Lieferanten prüfen.",
        kunde.name
    );
    hints.add_field(HintCode::GutschriftNichtVereinbart, "gutschrift", message);
}
