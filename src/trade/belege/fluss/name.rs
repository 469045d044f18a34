//! What may name what (D38).

use crate::rules::document::BelegTyp;

/// What an item does with the position that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Next {
    /// It goes on with it: a delivery of an order, an invoice of a delivery.
    Forward,
    /// A return takes goods back.
    Return,
    /// A credit takes an amount back.
    Credit,
}

impl Next {
    pub fn of(typ: BelegTyp, takes_back: bool) -> Next {
        match (takes_back, typ.ist_rechnung()) {
            (false, _) => Next::Forward,
            (true, false) => Next::Return,
            (true, true) => Next::Credit,
        }
    }
}

/// Whether an item of a type may name a position of another, by the signs of both (D38).
pub fn may_name(own: BelegTyp, takes_back: bool, other: BelegTyp, other_takes_back: bool) -> bool {
    use BelegTyp::{An, Au, Bs, El, Er, Ls, Re};
    matches!(
        (own, takes_back, other, other_takes_back),
        (Au, false, An, false)
            | (Ls, false, An | Au | Re, false)
            | (Re, false, An | Au | Ls, false)
            | (El, false, Bs | Er, false)
            | (Er, false, Bs | El, false)
            | (Ls, true, Ls, false)
            | (Ls, true, Re, _)
            | (El, true, El, false)
            | (El, true, Er, _)
            | (Re, true, Re, false)
            | (Re, true, Ls, true)
            | (Er, true, Er, false)
            | (Er, true, El, true)
    )
}
