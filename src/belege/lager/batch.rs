//! Batches that purchases tell of.

use uuid::Uuid;

use crate::artikel::Artikel;
use crate::belege::model::BelegPosition;
use crate::chargen::{self, NeueCharge};
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::stammdaten::EingangQuelle;

pub struct BatchInformation {
    pub fremde_charge_nr: Option<String>,
    pub mhd: Option<Day>,
    /// ISO 3166-1 alpha-2.
    pub herkunftsland: Option<String>,
    pub biozertifikat_id: Option<i64>,
}

impl BatchInformation {
    pub fn of(position: &BelegPosition) -> BatchInformation {
        BatchInformation {
            fremde_charge_nr: position.fremde_charge_nr.clone(),
            mhd: position.mhd.map(|day| day.0),
            herkunftsland: position.herkunftsland.clone(),
            biozertifikat_id: position.biozertifikat_id,
        }
    }

    pub fn tells(&self) -> bool {
        self.fremde_charge_nr.is_some()
            || self.mhd.is_some()
            || self.herkunftsland.is_some()
            || self.biozertifikat_id.is_some()
    }
}

/// A batch that a purchase tells of: the known one of the supplier's number, or a new one (D8).
pub fn charge_for(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    info: &BatchInformation,
) -> Result<Uuid> {
    let find = |fremde| chargen::find_fremde(tx, artikel.id, partner, fremde, info.mhd);
    let known = info.fremde_charge_nr.as_deref().map(find).transpose()?.flatten();
    known.map_or_else(|| create_charge(tx, partner, artikel, info), Ok)
}

fn create_charge(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    info: &BatchInformation,
) -> Result<Uuid> {
    let neu = NeueCharge {
        artikel_id: artikel.id,
        partner_id: Some(partner),
        fremde_charge_nr: info.fremde_charge_nr.clone(),
        mhd: info.mhd,
        herkunftsland: info.herkunftsland.clone(),
        biozertifikat_id: info.biozertifikat_id,
        einheit: artikel.einheit.clone(),
        eingang_menge: Some(Quantity::ZERO),
        eingang_quelle: EingangQuelle::Beleg,
        ..NeueCharge::default()
    };
    Ok(chargen::create(tx, &neu)?.0)
}

/// A known batch takes over what it lacked (D8); what it knows otherwise stays, with a hint.
pub fn complete_charge(
    tx: &WriteTx<'_>,
    charge: Uuid,
    info: &BatchInformation,
    hints: &mut Hints,
) -> Result<()> {
    let Some(charge) = chargen::find(tx, charge)? else { return Ok(()) };
    let known_mhd = charge.mhd.map(|day| day.0);
    let mut keeps = |feld: &str, is_other: bool| {
        if is_other {
            let message = format!(
                "Die Charge {} hat hier einen anderen Wert; er bleibt. Berichtigen: PUT /api/v1/chargen/{}.",
                charge.charge_nr, charge.id
            );
            hints.add_field(HintCode::FeldIgnoriert, feld, message);
        }
    };
    keeps("mhd", differ(&known_mhd, &info.mhd));
    keeps("herkunftsland", differ(&charge.herkunftsland, &info.herkunftsland));
    keeps("biozertifikat_id", differ(&charge.biozertifikat_id, &info.biozertifikat_id));
    chargen::fill_in(tx, &charge, info.mhd, info.herkunftsland.as_deref(), info.biozertifikat_id)
}

/// Whether both say something, and not the same.
fn differ<T: PartialEq>(known: &Option<T>, told: &Option<T>) -> bool {
    known.is_some() && told.is_some() && known != told
}

pub fn batch_missing(typ: BelegTyp) -> Box<Refusal> {
    let what = match typ.seite() {
        Seite::Verkauf => "die charge_id",
        Seite::Einkauf => "fremde_charge_nr, mhd, herkunftsland, biozertifikat_id oder charge_id",
    };
    let message = format!(
        "Der Artikel wird in Chargen geführt. Bitte {what} angeben; GET /api/v1/chargen/verfuegbar nennt die Chargen mit Bestand."
    );
    Refusal::field(Code::ChargeFehlt, "charge_id", message)
}
