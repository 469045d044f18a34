//! A quantity of goods and the positions that refer to it.

use uuid::Uuid;

use crate::rules::day::Day;
use crate::rules::fixed::Quantity;

/// What a position does with goods (D8): deliveries and invoices move them, returns and credits take them
/// back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A positive quantity of an LS or EL.
    Delivery,
    /// A positive quantity of an RE or ER.
    Invoice,
    /// A negative quantity of an LS or EL.
    Return,
    /// A negative quantity of an RE or ER.
    Credit,
}

impl Role {
    /// All roles, in the order of [`Portion::places`].
    pub const ALL: [Role; 4] = [Role::Delivery, Role::Invoice, Role::Return, Role::Credit];

    pub fn takes_back(self) -> bool {
        matches!(self, Role::Return | Role::Credit)
    }
}

/// A position: its document, and its number in it from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PositionKey {
    pub beleg: Uuid,
    pub position: i64,
}

/// Sort key for the order of creation: documents by their id, and within one, returns and credits first (D8).
pub type Created = (Uuid, bool, i64);

pub fn created((role, place): (Role, PositionKey)) -> Created {
    (place.beleg, !role.takes_back(), place.position)
}

/// The state of a portion; it follows from the positions that refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortionKind {
    /// A delivery that is not matched with an invoice.
    OpenDelivery,
    /// An invoice that is not matched with a delivery: it moved the goods itself.
    OpenInvoice,
    Pair,
    /// A return took back an open delivery.
    Returned,
    /// A return took back what an invoice moved or met, and waits for its credit.
    InvoiceReturned,
    /// A return that took nothing back waits for its credit.
    WaitingReturn,
    WaitingCredit,
    Settled,
    /// A credit took back an invoice that a delivery covered: nothing moved.
    Credited,
    /// What an invoice says beyond the delivery that it names: nothing moved.
    Excess,
    /// A credit took that back: nothing moved, and nothing is open again.
    ExcessCredited,
}

/// How far the open goods of a position have come, in the order in which they are met (D38).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Stage {
    /// Nothing has been met or taken back.
    #[default]
    Untouched,
    Begun,
    /// Too little is left to be met, but by name or by exactly its quantity.
    Closed,
}

impl Stage {
    pub const ALL: [Stage; 3] = [Stage::Untouched, Stage::Begun, Stage::Closed];
}

/// A quantity of goods in one batch, and the positions that refer to it: which one moved it, which ones are
/// matched over it, which one took it back. All stock of documents and all pairs are derived from the
/// portions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Portion {
    /// Number in the store; 0 while it is not stored.
    pub id: i64,
    /// Number among the movements of its mover, because the goods of one position are matched in the order in
    /// which they moved; `None` before it is stored.
    pub nr: Option<i64>,
    pub places: [Option<PositionKey>; 4],
    /// The batch; `None` for articles without batches, and for credits that have moved nothing.
    pub charge: Option<Uuid>,
    /// The batch or number that one of its positions named ([`Named::id`]).
    pub named: Option<Uuid>,
    /// The quantity in the article's unit, positive.
    pub menge: Quantity,
    /// Of open goods: how far their position has come.
    pub stage: Stage,
    /// Of open goods: all of their position that was open when they were found.
    pub whole: Quantity,
    pub moved_by: Option<Role>,
    pub returned_by: Option<Role>,
    /// Whether its invoice says it beyond the delivery that it names: it moves nothing (D38).
    pub is_beyond: bool,
}

impl Portion {
    /// A portion of a single position that has moved nothing yet.
    pub fn new(role: Role, place: PositionKey, menge: Quantity) -> Portion {
        Portion { menge, ..Portion::default() }.with(role, Some(place))
    }

    pub fn place(&self, role: Role) -> Option<PositionKey> {
        self.places[role as usize]
    }

    pub fn has(&self, role: Role) -> bool {
        self.place(role).is_some()
    }

    /// Sets the position in a role, or removes it.
    pub fn with(mut self, role: Role, place: Option<PositionKey>) -> Portion {
        self.places[role as usize] = place;
        self
    }

    /// Marks it as moved by the position in this role, out of or into this batch.
    pub fn moved(mut self, role: Role, charge: Option<Uuid>) -> Portion {
        match role.takes_back() {
            true => self.returned_by = Some(role),
            false => self.moved_by = Some(role),
        }
        self.charge = charge;
        self
    }

    /// What remains of it for one of its positions alone, which has moved the goods or moves them now.
    pub fn alone(&self, role: Role, place: PositionKey) -> Portion {
        let alone = Portion::new(role, place, self.menge).moved(role, self.charge);
        let has_moved = self.movers().any(|mover| mover == (role, place));
        Portion { nr: self.nr.filter(|_| has_moved), ..alone }
    }

    pub fn positions(&self) -> impl Iterator<Item = (Role, PositionKey)> + '_ {
        Role::ALL.into_iter().filter_map(|role| Some((role, self.place(role)?)))
    }

    /// The position on whose behalf it is matched: a return or credit comes before the position it took back.
    pub fn leading(&self) -> (Role, PositionKey) {
        let nobody = PositionKey { beleg: Uuid::nil(), position: 0 };
        self.positions().last().unwrap_or((Role::Delivery, nobody))
    }

    pub fn is_older_than(&self, other: &Portion) -> bool {
        created(self.leading()) < created(other.leading())
    }

    /// The position that moved the goods, and the one that moved them back.
    pub fn movers(&self) -> impl Iterator<Item = (Role, PositionKey)> + '_ {
        let movers = [self.moved_by, self.returned_by].into_iter().flatten();
        movers.filter_map(|role| Some((role, self.place(role)?)))
    }

    pub fn kind(&self) -> PortionKind {
        let has = |role| self.has(role);
        match (has(Role::Delivery), has(Role::Invoice), has(Role::Return), has(Role::Credit)) {
            (_, _, true, true) => PortionKind::Settled,
            (_, true, false, true) if self.is_beyond => PortionKind::ExcessCredited,
            (_, true, false, true) if self.returned_by.is_none() => PortionKind::Credited,
            (_, _, false, true) => PortionKind::WaitingCredit,
            (_, true, true, false) => PortionKind::InvoiceReturned,
            (true, false, true, false) => PortionKind::Returned,
            (false, false, true, false) => PortionKind::WaitingReturn,
            (true, true, false, false) => PortionKind::Pair,
            (true, false, false, false) => PortionKind::OpenDelivery,
            (false, true, false, false) if self.is_beyond => PortionKind::Excess,
            (false, _, false, false) => PortionKind::OpenInvoice,
        }
    }
}

/// The batch that a position named when it was sent, by charge_id or fremde_charge_nr (D8); an inherited
/// batch does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Named {
    pub charge: Option<Uuid>,
    /// Placeholder for the supplier's number in a waiting credit that named it before any batch had it.
    pub number: Option<Uuid>,
    /// If no batch has that number: a batch that had it before it was corrected.
    pub former: Option<Uuid>,
}

impl Named {
    /// The name that a portion of the position keeps.
    pub fn id(self) -> Option<Uuid> {
        self.charge.or(self.number)
    }

    /// Whether a portion that keeps the name `other` may be matched: if both name a batch, it must be the
    /// same.
    pub fn fits(self, other: Option<Uuid>) -> bool {
        self.id().is_none() || other.is_none() || other == self.charge || other == self.number
    }
}

/// The documents in which a delivery or an invoice looks for counterparts (D8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Also old and closed documents, because a bezug_beleg_id narrows the search or the position takes goods
    /// back.
    Any,
    /// Documents dated in this span, both days included, unless a person said that no counterpart will come.
    Dated { from: Day, to: Day },
    /// None, because its own document is closed.
    Nothing,
}

/// A document, or one position of it, to which a search for a role is narrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Target {
    pub role: Role,
    pub beleg: Uuid,
    pub position: Option<i64>,
}

/// Search criteria for the portions of one partner and article.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Search {
    pub kind: PortionKind,
    pub named: Named,
    pub charge: Option<Option<Uuid>>,
    /// For waiting credits: only those that have moved, or only those that have not.
    pub has_moved: Option<bool>,
    pub bezug: Option<Target>,
    pub reach: Reach,
    pub newest_first: bool,
    /// Of open goods: only those of a position of which exactly this quantity is open.
    pub exactly: Option<Quantity>,
    /// Of open goods: only those of a position that has come so far.
    pub stage: Option<Stage>,
}

impl Search {
    pub fn oldest(kind: PortionKind, named: Named) -> Search {
        let reach = Reach::Any;
        let (charge, has_moved, bezug, newest_first) = (None, None, None, false);
        let (exactly, stage) = (None, None);
        Search { kind, named, charge, has_moved, bezug, reach, newest_first, exactly, stage }
    }
}
