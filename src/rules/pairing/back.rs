//! What takes goods back: returns and credits (D8).

use super::candidates::Course;
use super::portion::{Portion, PortionKind, Role, Search};
use super::{Pairing, SentPosition, Store, difference};
use crate::rules::fixed::Quantity;

impl<S: Store> Pairing<S> {
    /// Enters a return, in the five steps of D8. One that took back an invoice only looks for its credit.
    pub(super) fn enter_return(
        &mut self,
        entry: &SentPosition,
        mut own: Portion,
        course: &mut Course,
    ) -> Result<(), S::Error> {
        let charge = own.charge;
        let in_its_batch = |kind, role| Search {
            charge: Some(charge),
            bezug: entry.bezug_to(role),
            ..Search::oldest(kind, entry.named)
        };
        let is_free = !own.has(Role::Invoice);
        if is_free {
            let deliveries = in_its_batch(PortionKind::OpenDelivery, Role::Delivery);
            self.lower_deliveries(entry, &mut own, deliveries, course)?;
        }
        let moved =
            Search { has_moved: Some(true), ..in_its_batch(PortionKind::WaitingCredit, Role::Credit) };
        while let Some((credit, menge)) = self.take(&moved, &mut own)? {
            self.settle(&own, &credit, menge)?;
        }
        if is_free {
            let invoices =
                Search { newest_first: true, ..in_its_batch(PortionKind::OpenInvoice, Role::Invoice) };
            while let Some((open, menge)) = self.take(&invoices, &mut own)? {
                let named = own.named.or(open.named);
                let waiting = Portion { menge, named, ..open }.with(Role::Return, Some(entry.place));
                self.store.add(waiting.moved(Role::Return, charge))?;
            }
        }
        own = own.moved(Role::Return, charge);
        let unmoved = Search { charge: None, has_moved: Some(false), ..moved };
        while let Some((credit, menge)) = self.take(&unmoved, &mut own)? {
            self.settle(&own, &credit, menge)?;
        }
        if own.menge.is_zero() { Ok(()) } else { self.store.add(own) }
    }

    /// Lowers open deliveries by a return: those that it names, else in the order of [`Course`], the newest first.
    fn lower_deliveries(
        &mut self,
        entry: &SentPosition,
        own: &mut Portion,
        deliveries: Search,
        course: &mut Course,
    ) -> Result<(), S::Error> {
        let deliveries = Search { newest_first: deliveries.bezug.is_none(), ..deliveries };
        while let Some((open, menge)) = self.take_next(&deliveries, course, own)? {
            let returned = Portion { menge, ..open }.with(Role::Return, Some(entry.place));
            self.store.add(returned.moved(Role::Return, own.charge))?;
        }
        Ok(())
    }

    /// Enters a credit, in the four steps of D8. If it took back an invoice, it only pairs with returns.
    pub(super) fn enter_credit(&mut self, entry: &SentPosition, mut own: Portion) -> Result<(), S::Error> {
        let bezug =
            |role| Search { bezug: entry.bezug_to(role), ..Search::oldest(PortionKind::Pair, entry.named) };
        let charge = own.returned_by.map(|_| own.charge);
        let returns = Search { kind: PortionKind::WaitingReturn, charge, ..bezug(Role::Return) };
        while let Some((waiting, menge)) = self.take(&returns, &mut own)? {
            self.settle(&waiting, &own, menge)?;
        }
        // A credit that names a batch takes back only what moved in it; a batch that does not exist holds no
        // goods.
        let is_there = entry.named.charge.is_some() || entry.named.number.is_none();
        if !own.has(Role::Invoice) && is_there {
            let invoices = Search {
                kind: PortionKind::OpenInvoice,
                charge: entry.named.charge.map(Some),
                newest_first: true,
                ..bezug(Role::Invoice)
            };
            while let Some((open, menge)) = self.take(&invoices, &mut own)? {
                let (charge, named) = (open.charge, own.named.or(open.named));
                let waiting = Portion { menge, named, ..open }.with(Role::Credit, Some(entry.place));
                self.store.add(waiting.moved(Role::Credit, charge))?;
                self.moved_back.insert(entry.place);
            }
            let pairs = Search { kind: PortionKind::Pair, ..invoices };
            while let Some((pair, menge)) = self.take(&pairs, &mut own)? {
                self.credit_pair(entry, pair, menge)?;
            }
        }
        if own.menge.is_zero() { Ok(()) } else { self.store.add(own) }
    }

    /// Credits a pair: its delivery, which now holds the movement, is open again, and nothing moves.
    fn credit_pair(&mut self, entry: &SentPosition, pair: Portion, menge: Quantity) -> Result<(), S::Error> {
        if let Some(delivery) = pair.place(Role::Delivery) {
            let named = self.store.entry(Role::Delivery, delivery, pair.charge)?.named.id();
            let open = self.alone(&pair, Role::Delivery, delivery)?;
            self.store.add(Portion { named, menge, ..open })?;
        }
        let credited = Portion { menge, moved_by: None, ..pair };
        self.store.add(credited.with(Role::Delivery, None).with(Role::Credit, Some(entry.place)))
    }

    /// Settles a return with a credit: one of them has moved the goods back. If both have, the movement of
    /// the younger one is reversed, and an invoice that it took back is open again.
    fn settle(&mut self, returned: &Portion, credit: &Portion, menge: Quantity) -> Result<(), S::Error> {
        let return_keeps = match (returned.returned_by, credit.returned_by) {
            (Some(_), Some(_)) => returned.is_older_than(credit),
            (_, credit_moved) => credit_moved.is_none(),
        };
        let (kept, other) = if return_keeps { (returned, credit) } else { (credit, returned) };
        let role = if return_keeps { Role::Return } else { Role::Credit };
        // A settled portion is no longer searched by name; it keeps the name of the credit for when the
        // credit is freed.
        let settled = Portion { menge, named: credit.named, ..kept.clone() }
            .with(Role::Return, returned.place(Role::Return))
            .with(Role::Credit, credit.place(Role::Credit));
        self.store.add(settled.moved(role, kept.charge))?;
        if let Some(invoice) = other.place(Role::Invoice) {
            let open = self.alone(other, Role::Invoice, invoice)?;
            self.set_free(Portion { menge, ..open });
        }
        Ok(())
    }

    /// Takes as much of the next portion found as `own` can match; returns the portion and the quantity
    /// taken.
    fn take(&mut self, search: &Search, own: &mut Portion) -> Result<Option<(Portion, Quantity)>, S::Error> {
        let found = if own.menge.is_zero() { None } else { self.store.first(search)? };
        self.take_of(found, own)
    }

    fn take_next(
        &mut self,
        search: &Search,
        course: &mut Course,
        own: &mut Portion,
    ) -> Result<Option<(Portion, Quantity)>, S::Error> {
        let found = if own.menge.is_zero() { None } else { course.next(search, &mut self.store)? };
        self.take_of(found, own)
    }

    fn take_of(
        &mut self,
        found: Option<Portion>,
        own: &mut Portion,
    ) -> Result<Option<(Portion, Quantity)>, S::Error> {
        let Some(found) = found else { return Ok(None) };
        if !self.store.may_match(own, &found)? {
            return Ok(None);
        }
        let menge = found.menge.min(own.menge);
        self.store.take(&found, menge)?;
        own.menge = difference(own.menge, menge);
        Ok(Some((found, menge)))
    }
}
