//! Pairing of goods: every quantity moves exactly once, and pairs are stored facts (D8).
//!
//! All movements and matches of positions are stored as portions of goods ([`Portion`]). A new position is
//! matched with stored portions. Withdrawing a position frees the portions matched with it, which then look
//! for other partners as new ones would. Portions that this does not affect are never read.

mod back;
mod candidates;
mod portion;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use candidates::Course;
pub use portion::{
    Created, Named, Portion, PortionKind, PositionKey, Reach, Role, Search, Stage, Target, created,
};

use super::fixed::Quantity;

/// A position as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct SentPosition {
    pub role: Role,
    pub place: PositionKey,
    pub named: Named,
    /// Whether this is a supplier's delivery that says something about its batch, be it only a best-before
    /// date.
    pub states_batch: bool,
    pub bezug: Option<Bezug>,
    /// Whether it names something that moves no goods: an order.
    pub names_order: bool,
    pub reach: Reach,
}

/// A document, or one position of it, that a position names. It narrows the search in those steps that look for a role
/// that this has (D8).
#[derive(Debug, Clone, Copy)]
pub struct Bezug {
    pub beleg: Uuid,
    /// Its position, if one is named.
    pub position: Option<i64>,
    /// Its role by positive and by negative quantities; `None` if it has no such positions.
    pub roles: [Option<Role>; 2],
}

impl Bezug {
    pub fn to(self, role: Role) -> Target {
        Target { role, beleg: self.beleg, position: self.position }
    }
}

impl SentPosition {
    /// What narrows the search for this role.
    fn bezug_to(&self, role: Role) -> Option<Target> {
        self.bezug.filter(|bezug| bezug.roles.contains(&Some(role))).map(|bezug| bezug.to(role))
    }

    /// Narrows a search to what it names, by the first of the roles that this has; `None` if it names something else, for
    /// what takes back by name takes nothing from others (D38).
    fn narrowed(&self, search: Search, roles: &[Role]) -> Option<Search> {
        let bezug = roles.iter().find_map(|role| self.bezug_to(*role));
        (bezug.is_some() || self.bezug.is_none()).then_some(Search { bezug, ..search })
    }
}

/// The portions of one partner and article, of sales or of purchases.
pub trait Store {
    type Error;
    fn first(&mut self, search: &Search) -> Result<Option<Portion>, Self::Error>;
    /// What was met, or taken back, of that which a position names; made last, and by nobody who named it. `charge`: only
    /// what lies in this batch.
    fn proposed(
        &mut self,
        entry: &SentPosition,
        target: &Target,
        charge: Option<Option<Uuid>>,
    ) -> Result<Option<Portion>, Self::Error>;
    /// The positions of the other role that were made from the same order as a delivery or an invoice (D38).
    fn of_same_order(&mut self, entry: &SentPosition) -> Result<Vec<Target>, Self::Error>;
    /// How much of a return waits for its credit, or the other way round.
    fn waits(&mut self, entry: &SentPosition) -> Result<Quantity, Self::Error>;
    /// What a return or a credit that names nothing took back of an invoice, and for which it waits for a position like
    /// this.
    fn waiting(&mut self, entry: &SentPosition) -> Result<Option<Portion>, Self::Error>;
    /// Whether `own` may be matched with these goods.
    fn may_match(&mut self, own: &Portion, found: &Portion) -> Result<bool, Self::Error>;
    fn take(&mut self, portion: &Portion, menge: Quantity) -> Result<(), Self::Error>;
    /// Stores a portion under a new id. If it has no `nr`, gives it the next number among the movements of the
    /// position that moved it.
    fn add(&mut self, portion: Portion) -> Result<(), Self::Error>;
    /// The highest number among the stored portions of a position.
    fn last_nr(&mut self, role: Role, place: PositionKey) -> Result<Option<i64>, Self::Error>;
    /// Returns a position as it was sent; `batch` is the batch in which its goods lay, or which it named.
    fn entry(
        &mut self,
        role: Role,
        place: PositionKey,
        batch: Option<Uuid>,
    ) -> Result<SentPosition, Self::Error>;
    /// Whether these are purchases, whose deliveries state a batch.
    fn are_purchases(&self) -> bool;
    /// Splits a quantity that a new position moves itself among the batches it comes from or goes to.
    fn batches_for(
        &mut self,
        entry: &SentPosition,
        menge: Quantity,
    ) -> Result<Vec<(Option<Uuid>, Quantity)>, Self::Error>;
}

pub struct Pairing<S> {
    pub store: S,
    /// Credits that moved goods back.
    pub moved_back: BTreeSet<PositionKey>,
    /// What deliveries, invoices and returns say beyond what they name.
    pub beyond: BTreeMap<PositionKey, Quantity>,
    /// Freed portions, which enter again position by position, in the order of creation.
    freed: BTreeMap<Created, Vec<Portion>>,
    /// For each position that took over movements, the number of the last of them.
    taken_over: BTreeMap<Created, i64>,
}

impl<S: Store> Pairing<S> {
    pub fn new(store: S) -> Pairing<S> {
        let (moved_back, beyond) = (BTreeSet::new(), BTreeMap::new());
        Pairing { store, moved_back, beyond, freed: BTreeMap::new(), taken_over: BTreeMap::new() }
    }

    /// Removes all positions of a document, given its portions, and then matches their former partners anew.
    pub fn withdraw(&mut self, beleg: Uuid, portions: &[Portion]) -> Result<(), S::Error> {
        // Free first: while all portions are in the store, it knows the last number of each position.
        portions.iter().try_for_each(|portion| self.free(portion.clone(), beleg))?;
        portions.iter().try_for_each(|portion| self.store.take(portion, portion.menge))?;
        self.let_freed_enter()
    }

    /// Enters a new position with its positive quantity.
    pub fn enter(&mut self, entry: &SentPosition, menge: Quantity) -> Result<(), S::Error> {
        let own = Portion { named: entry.named.id(), ..Portion::new(entry.role, entry.place, menge) };
        match entry.role {
            Role::Delivery | Role::Invoice => self.enter_forward(entry, own, &mut Course::of(menge))?,
            Role::Return => {
                for (charge, menge) in self.store.batches_for(entry, menge)? {
                    let named = own.named.and(charge);
                    let own = Portion { charge, named, menge, ..own.clone() };
                    self.enter_return(entry, own, &mut Course::of(menge))?;
                }
            }
            Role::Credit => self.enter_credit(entry, own)?,
        }
        if entry.role.takes_back() && entry.bezug.is_some() {
            self.release_waiting(entry)?;
        }
        self.let_freed_enter()
    }

    /// Removes the positions of a document from a portion. What was tied over it and still holds stays tied.
    fn free(&mut self, portion: Portion, beleg: Uuid) -> Result<(), S::Error> {
        let (gone, left): (Vec<_>, Vec<_>) = portion.positions().partition(|(_, place)| place.beleg == beleg);
        let roles: Vec<_> = left.iter().map(|(role, _)| *role).collect();
        match *roles {
            // A return and a credit that have settled each other stay matched.
            [.., Role::Return, Role::Credit] | [Role::Delivery, Role::Invoice | Role::Return] => {
                let rest = self.without(&portion, &gone)?;
                self.store.add(rest)?;
            }
            [Role::Delivery, Role::Invoice, Role::Credit] => {
                let (credit, place) = left[2];
                let rest = self.without(&portion, &[gone.as_slice(), &left[2..]].concat())?;
                self.store.add(rest)?;
                self.set_one_free(&portion, credit, place)?;
            }
            // The position that took back the goods of an invoice stays with the invoice, and waits again.
            [.., Role::Invoice, role] if portion.returned_by == Some(role) => {
                let rest = self.without(&portion, &gone)?;
                self.set_free(rest);
            }
            [Role::Invoice] if portion.is_beyond => self.store.add(portion.with(Role::Credit, None))?,
            _ => left.into_iter().try_for_each(|(role, place)| self.set_one_free(&portion, role, place))?,
        }
        Ok(())
    }

    /// What remains of a portion without some of its positions. If they moved the goods, its delivery or its invoice
    /// takes the movement over.
    fn without(&mut self, portion: &Portion, gone: &[(Role, PositionKey)]) -> Result<Portion, S::Error> {
        let mut rest = gone.iter().fold(portion.clone(), |rest, (role, _)| rest.with(*role, None));
        // A return takes the movement over that its credit had made.
        rest.returned_by = match rest.returned_by {
            Some(role) if rest.has(role) => Some(role),
            Some(_) if rest.has(Role::Return) => Some(Role::Return),
            _ => None,
        };
        if rest.moved_by.is_none_or(|role| rest.has(role)) {
            return Ok(rest);
        }
        let movers = [Role::Delivery, Role::Invoice].into_iter();
        let mover = movers.filter_map(|role| Some((role, rest.place(role)?))).next();
        rest.moved_by = mover.map(|(role, _)| role);
        if let Some((role, place)) = mover {
            rest.nr = self.alone(portion, role, place)?.nr;
        }
        Ok(rest)
    }

    /// Sets a quantity of one of its positions free.
    fn set_one_free(&mut self, portion: &Portion, role: Role, place: PositionKey) -> Result<(), S::Error> {
        let alone = match role {
            Role::Credit => Portion { named: portion.named, ..Portion::new(role, place, portion.menge) },
            _ => self.alone(portion, role, place)?,
        };
        self.set_free(alone);
        Ok(())
    }

    fn let_freed_enter(&mut self) -> Result<(), S::Error> {
        while let Some((_, mut portions)) = self.freed.pop_first() {
            // Portions of a delivery or an invoice enter in the order in which they were moved, those of a
            // return or a credit in the order in which they were freed.
            portions.sort_by_key(|portion| portion.nr.filter(|_| !portion.leading().0.takes_back()));
            let mut course = self.course_of(&portions);
            portions.into_iter().try_for_each(|portion| self.enter_again(portion, &mut course))?;
        }
        Ok(())
    }

    /// What is set free of a delivery or an invoice is met as a whole, into however many portions it is divided.
    fn course_of(&self, portions: &[Portion]) -> Course {
        match portions.first() {
            Some(first) if !first.leading().0.takes_back() => {
                let units = portions.iter().map(|portion| portion.menge.units()).sum();
                Course::of(Quantity::from_units(units))
            }
            _ => Course::default(),
        }
    }

    fn enter_again(&mut self, portion: Portion, course: &mut Course) -> Result<(), S::Error> {
        let (role, place) = portion.leading();
        let batch = portion.charge.or(portion.named);
        let mut entry = self.store.entry(role, place, batch)?;
        // A credit that named a number without a batch keeps the number, like the part of it that still
        // waits.
        if role == Role::Credit && portion.named.is_some() && portion.named == entry.named.number {
            entry.named.charge = None;
        }
        let mut named = entry.named.id();
        if let (Some(invoice), true) = (portion.place(Role::Invoice), role.takes_back()) {
            named = named.or(self.store.entry(Role::Invoice, invoice, batch)?.named.id());
        }
        let own = Portion { named, ..portion };
        match role {
            Role::Delivery | Role::Invoice => self.enter_forward(&entry, own, course),
            Role::Return => self.enter_return(&entry, own, course),
            Role::Credit => self.enter_credit(&entry, own),
        }
    }

    fn set_free(&mut self, portion: Portion) {
        self.freed.entry(created(portion.leading())).or_default().push(portion);
    }

    /// What remains of a portion for one delivery, invoice or return alone. A movement that a delivery or an
    /// invoice takes over is numbered after all its own movements.
    fn alone(&mut self, portion: &Portion, role: Role, place: PositionKey) -> Result<Portion, S::Error> {
        let alone = portion.alone(role, place);
        if alone.nr.is_some() || role.takes_back() {
            return Ok(alone);
        }
        let position = created((role, place));
        let last = match self.taken_over.get(&position) {
            Some(last) => Some(*last),
            None => {
                let set_free = self.freed.get(&position).into_iter().flatten();
                let set_free = set_free.filter_map(|portion| portion.nr).max();
                self.store.last_nr(role, place)?.max(set_free)
            }
        };
        let nr = last.map_or(0, |last| last + 1);
        self.taken_over.insert(position, nr);
        Ok(Portion { nr: Some(nr), ..alone })
    }

    /// Enters a delivery or an invoice: it is matched with open counterparts, in the order of [`Course`]; the rest
    /// moves and stays open. Matched goods lie in the batch of the position that is more certain of it.
    fn enter_forward(
        &mut self,
        entry: &SentPosition,
        mut own: Portion,
        course: &mut Course,
    ) -> Result<(), S::Error> {
        let (kind, counterpart) = match entry.role {
            Role::Delivery => (PortionKind::OpenInvoice, Role::Invoice),
            _ => (PortionKind::OpenDelivery, Role::Delivery),
        };
        // If the named document only takes goods back, nothing is found.
        let bezug = entry.bezug.map(|bezug| bezug.to(counterpart));
        let search = Search { bezug, reach: entry.reach, ..Search::oldest(kind, entry.named) };
        // The batch in which its goods lie or will lie; the outer `None` while that is unknown.
        let mut batch = own.moved_by.map(|_| own.charge);
        let whole = own.menge;
        let of_order = if entry.names_order { self.store.of_same_order(entry)? } else { Vec::new() };
        for target in of_order {
            let search = Search { bezug: Some(target), reach: Reach::Any, ..search };
            self.meet(entry, &search, course, &mut own, &mut batch)?;
        }
        self.meet(entry, &search, course, &mut own, &mut batch)?;
        if own.menge.is_zero() {
            return Ok(());
        }
        if own.moved_by.is_some() {
            return self.store.add(own);
        }
        if search.bezug.is_some() && own.menge != whole {
            self.beyond.insert(entry.place, own.menge);
        }
        // What an invoice says beyond the delivery that it names moves nothing.
        if search.bezug.is_some() && entry.role == Role::Invoice {
            return self.store.add(Portion { is_beyond: true, ..own });
        }
        let parts = match batch {
            Some(charge) => vec![(charge, own.menge)],
            None => self.store.batches_for(entry, own.menge)?,
        };
        for (charge, menge) in parts {
            let named = own.named.and(charge);
            self.store.add(Portion { menge, named, ..own.clone() }.moved(entry.role, charge))?;
        }
        Ok(())
    }

    /// Matches a delivery or an invoice with what a search finds, as long as it finds anything.
    fn meet(
        &mut self,
        entry: &SentPosition,
        search: &Search,
        course: &mut Course,
        own: &mut Portion,
        batch: &mut Option<Option<Uuid>>,
    ) -> Result<(), S::Error> {
        loop {
            let Some(open) = self.next_open(entry, search, course, own, *batch)? else {
                if self.release(entry, search.bezug, None, own.menge)? { continue } else { return Ok(()) }
            };
            let menge = open.menge.min(own.menge);
            self.store.take(&open, menge)?;
            self.match_open(entry, Portion { menge, ..own.clone() }, &open, batch)?;
            own.menge = difference(own.menge, menge);
        }
    }

    /// Releases what a proposal has taken of that which a position names, up to a quantity: it is there again, and whoever
    /// had it looks for something else. What is named goes before what was proposed (D38).
    fn release(
        &mut self,
        entry: &SentPosition,
        target: Option<Target>,
        charge: Option<Option<Uuid>>,
        menge: Quantity,
    ) -> Result<bool, S::Error> {
        let Some(target) = target.filter(|_| !menge.is_zero()) else { return Ok(false) };
        let Some(found) = self.store.proposed(entry, &target, charge)? else { return Ok(false) };
        self.take_from(found, entry.role, menge)?;
        Ok(true)
    }

    /// Sets free what waits, without a name, for a position that took something back by name (D38): it looks again, and
    /// finds this position.
    fn release_waiting(&mut self, entry: &SentPosition) -> Result<(), S::Error> {
        let other = if entry.role == Role::Return { Role::Credit } else { Role::Return };
        let mut menge = self.store.waits(entry)?;
        while !menge.is_zero()
            && let Some(found) = self.store.waiting(entry)?
        {
            let taken = self.take_from(found, other, menge)?;
            menge = difference(menge, taken);
        }
        Ok(())
    }

    /// Takes up to a quantity of a portion from the position in a role, which looks for something else.
    fn take_from(&mut self, found: Portion, role: Role, menge: Quantity) -> Result<Quantity, S::Error> {
        let Some(place) = found.place(role) else { return Ok(Quantity::ZERO) };
        let menge = found.menge.min(menge);
        self.store.take(&found, menge)?;
        let found = Portion { menge, ..found };
        let others: Vec<_> = found.positions().filter(|(other, _)| *other != role).collect();
        let rest = match *others {
            [(other, of)] => {
                let named = self.store.entry(other, of, found.charge)?.named.id();
                Portion { named, ..self.alone(&found, other, of)? }
            }
            _ => self.without(&found, &[(role, place)])?,
        };
        self.store.add(rest)?;
        self.set_one_free(&found, role, place)?;
        Ok(menge)
    }

    /// The next open counterpart, except that a delivery takes the part of an invoice in its own batch first.
    fn next_open(
        &mut self,
        entry: &SentPosition,
        search: &Search,
        course: &mut Course,
        own: &Portion,
        batch: Option<Option<Uuid>>,
    ) -> Result<Option<Portion>, S::Error> {
        if own.menge.is_zero() {
            return Ok(None);
        }
        let Some(first) = course.next(search, &mut self.store)? else { return Ok(None) };
        let batch = batch.or(entry.named.charge.map(Some));
        let is_next = entry.role == Role::Invoice || batch.is_none_or(|batch| batch == first.charge);
        let next = if is_next {
            first
        } else {
            let invoice = first.leading().1.beleg;
            let position = search.bezug.and_then(|bezug| bezug.position);
            let bezug = Some(Target { role: Role::Invoice, beleg: invoice, position });
            let in_its_batch = Search { charge: batch, bezug, ..*search };
            self.store.first(&in_its_batch)?.unwrap_or(first)
        };
        Ok(if self.store.may_match(own, &next)? { Some(next) } else { None })
    }

    /// Matches `own` with an equal part of `open`: the position that is more certain of the batch keeps the
    /// movement.
    fn match_open(
        &mut self,
        entry: &SentPosition,
        own: Portion,
        open: &Portion,
        batch: &mut Option<Option<Uuid>>,
    ) -> Result<(), S::Error> {
        let own_certainty = self.certainty_of(&own, own.charge.is_some() || entry.states_batch);
        let open_certainty = self.certainty_of(open, open.charge.is_some());
        if own_certainty > open_certainty && batch.is_none() {
            let told = self.store.batches_for(entry, own.menge)?;
            *batch = told.first().map(|(charge, _)| *charge);
        }
        let own_keeps = match own_certainty.cmp(&open_certainty) {
            word if word.is_ne() && *batch != Some(open.charge) => word.is_gt(),
            _ => keeps(&own, open),
        };
        let named = own.named.map(|named| batch.flatten().unwrap_or(named)).or(open.named);
        let own = own.moved(entry.role, batch.flatten());
        let (kept, other) = if own_keeps { (&own, open) } else { (open, &own) };
        let pair = Portion { menge: own.menge, named, ..kept.clone() };
        self.store.add(other.positions().fold(pair, |pair, (role, place)| pair.with(role, Some(place))))
    }

    /// How certain the batch of an open portion's position is.
    fn certainty_of(&self, portion: &Portion, states_batch: bool) -> Certainty {
        let is_delivery = portion.leading().0 == Role::Delivery;
        match portion.named {
            Some(_) => Certainty::Named,
            None if is_delivery && states_batch && self.store.are_purchases() => Certainty::Told,
            None => Certainty::Assumed,
        }
    }
}

/// How certain a position is of the batch of its goods (D8). If a delivery and an invoice are matched, the
/// goods lie in the batch of the more certain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Not certain: fefo chose the batch, or it followed from an earlier match.
    Assumed,
    /// A supplier's delivery with only a best-before date or an origin.
    Told,
    Named,
}

/// Whether the movement of `own` stands rather than that of `open`. If both have moved, the younger one is
/// reversed.
fn keeps(own: &Portion, open: &Portion) -> bool {
    match (own.moved_by, open.moved_by) {
        (Some(_), Some(_)) => own.is_older_than(open),
        (own_moved, _) => own_moved.is_some(),
    }
}

/// Subtracts quantities; the result is in range, because both are positive and in range.
fn difference(from: Quantity, taken: Quantity) -> Quantity {
    Quantity::from_units(from.units() - taken.units())
}
