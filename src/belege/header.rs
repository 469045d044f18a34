//! The header of a document: what a request says of it, besides its items.

use super::eingabe::BelegChange;
use super::gutschrift;
use super::model::Beleg;
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::kunden::Kunde;
use crate::rules::day::DayTime;
use crate::rules::document::Rechnungsart;
use crate::rules::error::Hints;
use crate::vertriebler;

/// A document with what was said of it. `before` is a blank one or that which is changed; its type and date, and the
/// partner, the caller has checked.
pub fn header(
    tx: &WriteTx<'_>,
    before: Beleg,
    kunde: &Kunde,
    said: BelegChange,
    hints: &mut Hints,
) -> Result<Beleg> {
    let gutschrift = gutschrift::asked(before.beleg_typ, said.gutschrift.apply(Some(before.gutschrift)))?;
    Ok(Beleg {
        lieferdatum: said.lieferdatum.map(DayTime).apply(before.lieferdatum),
        leistung_von: said.leistung_von.map(DayTime).apply(before.leistung_von),
        leistung_bis: said.leistung_bis.map(DayTime).apply(before.leistung_bis),
        liefertermin: said.liefertermin.map(DayTime).apply(before.liefertermin),
        kunde_id: kunde.id,
        kunden_name: kunde.name.clone(),
        notizen: said.notizen.apply(before.notizen),
        zahlungsziel_tage: said.zahlungsziel_tage.apply(before.zahlungsziel_tage),
        zahlungsbedingung: said.zahlungsbedingung.apply(before.zahlungsbedingung),
        skonto_tage: said.skonto_tage.apply(before.skonto_tage),
        skonto_prozent: said.skonto_prozent.apply(before.skonto_prozent),
        external_ref: said.external_ref.apply(before.external_ref),
        fremdbelegnummer: said.fremdbelegnummer.apply(before.fremdbelegnummer),
        kontaktperson: said.kontaktperson.apply(before.kontaktperson),
        niederlassung_id: said.niederlassung_id.apply(before.niederlassung_id),
        lagerhalle_id: said.lagerhalle_id.apply(before.lagerhalle_id),
        vb_id: vertriebler::resolve_change(tx, &said.vb_id, before.vb_id, hints)?,
        rechnungsart: Rechnungsart::of(before.beleg_typ, gutschrift),
        gutschrift,
        version: before.version + 1,
        updated_at: tx.now(),
        ..before
    })
}
