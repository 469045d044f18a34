//! What the rules for items ask of their document.

use super::model::{Beleg, Source};
use crate::kunden;
use crate::rules::tax::Satz;
use crate::tenants::Einstellungen;

pub struct Context<'c> {
    /// Where the request names them.
    pub source: Source,
    /// The document: its type says what an item needs; on the day of its goods or service its tax rates hold and
    /// certificates must be valid.
    pub beleg: &'c Beleg,
    pub kunde: &'c kunden::Kunde,
    /// Whether missing prices come from the article.
    pub auto_price: bool,
    pub einstellungen: &'c Einstellungen,
    pub saetze: &'c [Satz],
}
