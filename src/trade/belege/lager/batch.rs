//! Batches that purchases describe.

use uuid::Uuid;

use crate::goods::chargen::{self, Charge};
use crate::master::artikel::Artikel;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::stammdaten::EingangQuelle;
use crate::trade::belege::model::BelegPosition;

/// Returns the batch that a position of an order describes: the existing one with the supplier's number, or a
/// new one (D8).
pub fn charge_for(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    position: &BelegPosition,
    hints: &mut Hints,
) -> Result<Uuid> {
    let mhd = position.mhd.map(|day| day.0);
    let numbered = |fremde: &String| chargen::numbered(tx, artikel.id, partner, fremde, mhd);
    let numbered = position.fremde_charge_nr.as_ref().map(numbered).transpose()?.unwrap_or_default();
    match numbered.first() {
        Some(known) if !known.is_former => Ok(known.charge),
        former => new_charge(tx, partner, artikel, position, former.map(|former| former.charge), hints),
    }
}

/// Creates a batch that a purchase position describes; adds a hint if its number was another batch's until a
/// correction.
pub fn new_charge(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    position: &BelegPosition,
    former: Option<Uuid>,
    hints: &mut Hints,
) -> Result<Uuid> {
    if let (Some(id), Some(fremde)) = (former, &position.fremde_charge_nr)
        && let Some(former) = chargen::find(tx, id)?
    {
        let message = format!(
            "Unter {fremde} stand bis zu ihrer Berichtigung die Charge {}; diese Ware bekommt eine eigene.",
            former.charge_nr
        );
        hints.add_field(HintCode::ChargeNrFrueher, "fremde_charge_nr", message);
    }
    let new = Charge {
        artikel_id: artikel.id,
        partner_id: Some(partner),
        fremde_charge_nr: position.fremde_charge_nr.clone(),
        mhd: position.mhd,
        herkunftsland: position.herkunftsland.clone(),
        biozertifikat_id: position.biozertifikat_id,
        einheit: artikel.einheit.clone(),
        eingang_menge: Some(Quantity::ZERO),
        eingang_quelle: EingangQuelle::Beleg,
        ..Charge::default()
    };
    Ok(chargen::create(tx, new)?.id)
}

/// Fills in what a known batch lacks (D8); differing values stay, with a hint.
pub fn complete_charge(
    tx: &WriteTx<'_>,
    charge: Uuid,
    position: &BelegPosition,
    hints: &mut Hints,
) -> Result<()> {
    let Some(charge) = chargen::find(tx, charge)? else { return Ok(()) };
    let mut keeps = |feld: &str, is_other: bool| {
        if is_other {
            let message = format!(
                "Die Charge {} hat hier einen anderen Wert; er bleibt. Berichtigen: PUT /api/v1/chargen/{}.",
                charge.charge_nr, charge.id
            );
            hints.add_field(HintCode::FeldIgnoriert, feld, message);
        }
    };
    keeps("mhd", differ(&charge.mhd, &position.mhd));
    keeps("herkunftsland", differ(&charge.herkunftsland, &position.herkunftsland));
    keeps("biozertifikat_id", differ(&charge.biozertifikat_id, &position.biozertifikat_id));
    let complete = Charge {
        mhd: charge.mhd.or(position.mhd),
        herkunftsland: charge.herkunftsland.clone().or_else(|| position.herkunftsland.clone()),
        biozertifikat_id: charge.biozertifikat_id.or(position.biozertifikat_id),
        ..charge.clone()
    };
    if complete == charge { Ok(()) } else { chargen::update_master_data(tx, &complete) }
}

/// Whether both have a value and the values differ.
fn differ<T: PartialEq>(known: &Option<T>, told: &Option<T>) -> bool {
    known.is_some() && told.is_some() && known != told
}

pub fn batch_missing(typ: BelegTyp) -> Box<Refusal> {
    let what = match typ.seite() {
        Seite::Verkauf => "die charge_id",
        Seite::Einkauf => "fremde_charge_nr, mhd, herkunftsland, biozertifikat_id oder charge_id",
    };
    let advice =
        format_args!("Bitte {what} angeben; GET /api/v1/chargen/verfuegbar nennt die Chargen mit Bestand.");
    Refusal::field(Code::ChargeFehlt, "charge_id", ("Der Artikel wird in Chargen geführt.", advice))
}

pub fn batch_locked() -> Box<Refusal> {
    let what = "Bestand hat der Artikel nur in gesperrten Chargen.";
    Refusal::field(Code::ChargeFehlt, "charge_id", (what, "Bitte eine freigeben oder die charge_id angeben."))
}
