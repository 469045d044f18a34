//! The change that a request makes to a document, and the group of positions that it can pair.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::master::tenants::Einstellungen;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::Role;
use crate::trade::belege::model::{Beleg, BelegPosition, Source};

/// Positions that may be paired with each other: of one partner, one article, and either sales or purchases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gruppe {
    pub kunde: Uuid,
    pub artikel: Uuid,
    /// Sales (LS, RE) or purchases (EL, ER).
    pub seite: Seite,
}

/// Moved quantities by document, article and batch, with their sign in the stock.
pub type Movements = BTreeMap<(Uuid, Uuid, Option<Uuid>), Quantity>;

/// A fact about goods of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairingFact {
    /// They are in this batch.
    Batch(Option<Uuid>),
    /// They are paired with this document.
    Met(Uuid),
}

/// Changes to other documents, by document, position (with its article) and fact: how much more of the
/// position's goods the fact applies to after the request.
pub type AffectedPositions = BTreeMap<Uuid, BTreeMap<(Role, i64, Uuid), BTreeMap<PairingFact, Quantity>>>;

/// A document whose movements are booked again.
#[derive(Clone, Copy)]
pub struct Rebooking<'r> {
    /// The previous version of the document and its positions, which are withdrawn; `None` for a new
    /// document.
    pub withdrawn: Option<(&'r Beleg, &'r [BelegPosition])>,
    pub beleg: &'r Beleg,
    /// The positions to enter; empty for a cancellation.
    pub positions: &'r [BelegPosition],
    /// Where the request has the positions.
    pub source: Source,
    pub einstellungen: &'r Einstellungen,
}

/// Returns the roles of a type's positions: first of those with a positive, then of those with a negative
/// quantity.
pub fn roles(typ: BelegTyp) -> [Role; 2] {
    match typ.ist_rechnung() {
        false => [Role::Delivery, Role::Return],
        true => [Role::Invoice, Role::Credit],
    }
}

impl Gruppe {
    /// Returns the type of the documents whose positions have this role.
    pub fn typ(self, role: Role) -> BelegTyp {
        match (self.seite, matches!(role, Role::Invoice | Role::Credit)) {
            (Seite::Verkauf, false) => BelegTyp::Ls,
            (Seite::Verkauf, true) => BelegTyp::Re,
            (Seite::Einkauf, false) => BelegTyp::El,
            (Seite::Einkauf, true) => BelegTyp::Er,
        }
    }
}
