//! What a contract over "circa" a quantity takes beyond it (D21g).

use super::model::Kontrakt;
use crate::master::tenants;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::fixed::{Quantity, divide_rounded};

/// Words of mengenart that mean that the quantity is approximate.
const CIRCA: [&str; 3] = ["circa", "ca", "ca."];

/// Per cent beyond an agreed quantity that count as agreed.
#[derive(Clone, Copy)]
pub struct Toleranz(i64);

impl Toleranz {
    /// Returns the tolerance of a contract: that of the company if its quantity is approximate, else none.
    pub fn of(tx: &Tx<'_>, kontrakt: &Kontrakt) -> Result<Toleranz> {
        let art = kontrakt.mengenart.as_deref().unwrap_or_default().trim().to_lowercase();
        let prozent = tenants::load(tx)?.kontrakt_toleranz_prozent.0;
        Ok(Toleranz(if CIRCA.contains(&art.as_str()) { prozent } else { 0 }))
    }

    /// Returns what may come beyond an agreed quantity.
    pub fn beyond(self, menge: Quantity) -> Result<Quantity> {
        let product = i128::from(menge.units()) * i128::from(self.0);
        Ok(Quantity::from_wide(divide_rounded(product, 100))?)
    }
}
