//! Batches that purchases tell of.

use uuid::Uuid;

use crate::artikel::Artikel;
use crate::chargen::{self, NeueCharge};
use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::stammdaten::EingangQuelle;

/// What a purchase tells of a batch.
pub struct BatchInformation {
    /// The supplier's number.
    pub fremde_charge_nr: Option<String>,
    /// Best before.
    pub mhd: Option<Day>,
    /// ISO 3166-1 alpha-2.
    pub herkunftsland: Option<String>,
    /// Organic certificate.
    pub biozertifikat_id: Option<i64>,
}

impl BatchInformation {
    /// Whether it tells of anything.
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
    let known = match &info.fremde_charge_nr {
        Some(fremde) => chargen::find_fremde(tx, artikel.id, partner, fremde, info.mhd)?,
        None => None,
    };
    match known {
        Some(charge) => complete_charge(tx, charge, info).map(|()| charge),
        None => create_charge(tx, partner, artikel, info),
    }
}

/// A new batch of a purchase.
pub fn create_charge(
    tx: &WriteTx<'_>,
    partner: Uuid,
    artikel: &Artikel,
    info: &BatchInformation,
) -> Result<Uuid> {
    let neu = NeueCharge {
        charge_nr: None,
        artikel_id: artikel.id,
        partner_id: Some(partner),
        fremde_charge_nr: info.fremde_charge_nr.clone(),
        mhd: info.mhd,
        herkunftsland: info.herkunftsland.clone(),
        biozertifikat_id: info.biozertifikat_id,
        einheit: artikel.einheit.clone(),
        eingang_menge: Some(Quantity::ZERO),
        eingang_ep: None,
        eingang_quelle: EingangQuelle::Beleg,
        niederlassung_id: None,
        lagerhalle_id: None,
    };
    Ok(chargen::create(tx, &neu)?.0)
}

/// A known batch takes over what it lacked (D8).
pub fn complete_charge(tx: &WriteTx<'_>, charge: Uuid, info: &BatchInformation) -> Result<()> {
    let Some(charge) = chargen::find(tx, charge)? else { return Ok(()) };
    chargen::fill_in(tx, &charge, info.mhd, info.herkunftsland.as_deref(), info.biozertifikat_id)
}
