//! The header of a document: what a request says of it besides its items, and what they ask of it.

use super::eingabe::BelegChange;
use super::model::{Beleg, Source};
use super::{sql, summen};
use crate::db::tx::{Tx, WriteTx};
use uuid::Uuid;

use crate::failure::Result;
use crate::kunden::Kunde;
use crate::rules::change::{Change, apply_each};
use crate::rules::day::DayTime;
use crate::rules::document::{BelegTyp, Rechnungsart};
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal};
use crate::rules::tax::Satz;
use crate::tenants::Einstellungen;
use crate::vertriebler;

/// What the items of one document have in common.
pub struct Context<'c> {
    /// Where the request names them.
    pub source: Source,
    /// The document: its type says what an item needs; on the day of its goods or service its tax rates hold and
    /// certificates must be valid.
    pub beleg: &'c Beleg,
    pub kunde: &'c Kunde,
    /// Whether missing prices come from the article.
    pub auto_price: bool,
    pub einstellungen: &'c Einstellungen,
    pub saetze: &'c [Satz],
}

impl<'c> Context<'c> {
    /// Of items that are sent as such, whose prices come from the article where they are missing.
    pub fn of(
        beleg: &'c Beleg,
        kunde: &'c Kunde,
        einstellungen: &'c Einstellungen,
        saetze: &'c [Satz],
    ) -> Context<'c> {
        Context { source: Source::Items, beleg, kunde, auto_price: true, einstellungen, saetze }
    }
}

/// A document with what was said of it. `before` is a blank one or that which is changed; its type and date, and the
/// partner, the caller has checked.
pub fn header(
    tx: &WriteTx<'_>,
    before: Beleg,
    kunde: &Kunde,
    said: BelegChange,
    hints: &mut Hints,
) -> Result<Beleg> {
    let sent = said.gutschrift.apply(Some(before.is_written_for_supplier()));
    let gutschrift = is_gutschrift(before.beleg_typ, sent)?;
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

/// What the document was made from: one of the same partner (D8). One that was kept is dropped with its partner.
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
    match (named.kunde_id == kunde.id && id != before.id, is_sent) {
        (true, _) => Ok(Some(id)),
        (false, true) => {
            let message = "Der Vorgänger muss ein anderer Beleg desselben Partners sein.";
            Err(Refusal::field(Code::BezugPasstNicht, "vorgaenger_beleg_id", message).into())
        }
        (false, false) => {
            let message = "Der Vorgänger war ein Beleg des bisherigen Partners; er ist entfernt.";
            hints.add_field(HintCode::FeldIgnoriert, "vorgaenger_beleg_id", message);
            Ok(None)
        }
    }
}

/// Whether the company writes the document for its supplier (self-billing, UStG § 14 (2); D24), by what was sent: only an
/// ER can be such a Gutschrift.
fn is_gutschrift(typ: BelegTyp, sent: Option<bool>) -> Checked<bool> {
    match sent {
        Some(true) if !typ.ist_fremdrechnung() => {
            let message = "Nur eine ER kann eine Gutschrift an den Lieferanten sein. Bitte gutschrift weglassen oder \
                eine ER anlegen.";
            Err(Refusal::field(Code::FeldWiderspruch, "gutschrift", message))
        }
        sent => Ok(sent.unwrap_or(false)),
    }
}

/// The law asks that both agreed on a Gutschrift before.
pub fn hint_not_agreed(beleg: &Beleg, kunde: &Kunde, hints: &mut Hints) {
    if beleg.is_written_for_supplier() && kunde.gutschrift_vereinbart_am.is_none() {
        let message = format!(
            "Mit {} ist nicht vereinbart, dass die Firma die Gutschriften schreibt (§ 14 Abs. 2 UStG). Bitte beim \
             Lieferanten gutschrift_vereinbart_am eintragen.",
            kunde.name
        );
        hints.add_field(HintCode::GutschriftNichtVereinbart, "gutschrift", message);
    }
}
