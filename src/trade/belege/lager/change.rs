//! What is changed, and among which positions.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::master::tenants::Einstellungen;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::Role;
use crate::trade::belege::model::{Beleg, BelegPosition, Source};

/// Positions that may be paired with each other: of one partner and article, sales or purchases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gruppe {
    pub kunde: Uuid,
    pub artikel: Uuid,
    /// Sales (LS, RE) or purchases (EL, ER).
    pub seite: Seite,
}

/// What has moved: the quantity of each document, article and batch, with its sign in the stock.
pub type Movements = BTreeMap<(Uuid, Uuid, Option<Uuid>), Quantity>;

/// What is said of goods of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    /// They lie in this batch.
    Batch(Option<Uuid>),
    /// They have met this document.
    Met(Uuid),
}

/// Of how much more of its goods each fact holds after the request, for the positions of each other document that is
/// touched; a position stands with its article.
pub type Followed = BTreeMap<Uuid, BTreeMap<(Role, i64, Uuid), BTreeMap<Fact, Quantity>>>;

/// A document whose movements are booked anew.
#[derive(Clone, Copy)]
pub struct Rebooking<'r> {
    /// The document as it was, and its positions, which are withdrawn; none for a new one.
    pub withdrawn: Option<(&'r Beleg, &'r [BelegPosition])>,
    pub beleg: &'r Beleg,
    /// The positions that are entered; none when it is cancelled.
    pub positions: &'r [BelegPosition],
    /// Where the request names them.
    pub source: Source,
    pub einstellungen: &'r Einstellungen,
}

/// What positions of a type do with goods: those of a positive quantity, and those of a negative one.
pub fn roles(typ: BelegTyp) -> [Role; 2] {
    match typ.ist_rechnung() {
        false => [Role::Delivery, Role::Return],
        true => [Role::Invoice, Role::Credit],
    }
}

impl Gruppe {
    /// The type of document that has positions in this role.
    pub fn typ(self, role: Role) -> BelegTyp {
        match (self.seite, matches!(role, Role::Invoice | Role::Credit)) {
            (Seite::Verkauf, false) => BelegTyp::Ls,
            (Seite::Verkauf, true) => BelegTyp::Re,
            (Seite::Einkauf, false) => BelegTyp::El,
            (Seite::Einkauf, true) => BelegTyp::Er,
        }
    }
}
