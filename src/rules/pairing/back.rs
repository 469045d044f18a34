//! What takes goods back: returns and credits (D8).

use super::candidates::Course;
use super::portion::{Portion, PortionKind, Role, Search};
use super::{Pairing, SentPosition, Store, difference};
use crate::rules::fixed::Quantity;

impl<S: Store> Pairing<S> {
    /// Enters a return, in the steps of D8. One that took back an invoice only looks for its credit.
    pub(super) fn enter_return(
        &mut self,
        entry: &SentPosition,
        mut own: Portion,
        course: &mut Course,
    ) -> Result<(), S::Error> {
        let charge = own.charge;
        let credits =
            Search { charge: Some(charge), ..Search::oldest(PortionKind::WaitingCredit, entry.named) };
        let moved = Search { has_moved: Some(true), ..credits };
        let moved = entry.narrowed(moved, &[Role::Credit, Role::Invoice]);
        let pairs = Search { kind: PortionKind::Pair, newest_first: true, ..credits };
        let pairs = entry.narrowed(pairs, &[Role::Delivery, Role::Invoice]);
        let is_free = !own.has(Role::Invoice);
        let named = pairs.and_then(|pairs| pairs.bezug);
        loop {
            if is_free {
                self.lower_deliveries(entry, &mut own, course)?;
            }
            self.settle_credits(&mut own, moved)?;
            if is_free {
                self.return_invoices(entry, &mut own)?;
            }
            // What names its goods takes them back before it settles with a credit that took back nothing.
            self.return_goods(entry, &mut own, pairs.filter(|_| is_free && named.is_some()))?;
            if !is_free || !self.release(entry, named, Some(charge), own.menge)? {
                break;
            }
        }
        own = own.moved(Role::Return, charge);
        let bezug = entry.bezug_to(Role::Credit);
        self.settle_credits(
            &mut own,
            Some(Search { charge: None, has_moved: Some(false), bezug, ..credits }),
        )?;
        self.return_goods(entry, &mut own, pairs.filter(|_| is_free && named.is_none()))?;
        self.keep_rest(entry, own, named.is_some())
    }

    /// Keeps what a return brings back beyond what it met; of what it names, that is more than was there.
    fn keep_rest(&mut self, entry: &SentPosition, own: Portion, names_goods: bool) -> Result<(), S::Error> {
        if own.menge.is_zero() {
            return Ok(());
        }
        if names_goods {
            let beyond = self.beyond.entry(entry.place).or_default();
            *beyond = Quantity::from_units(beyond.units().saturating_add(own.menge.units()));
        }
        self.store.add(own)
    }

    /// Takes back what invoices moved themselves, and waits for its credit.
    fn return_invoices(&mut self, entry: &SentPosition, own: &mut Portion) -> Result<(), S::Error> {
        let invoices = Search::oldest(PortionKind::OpenInvoice, entry.named);
        let invoices = Search { charge: Some(own.charge), newest_first: true, ..invoices };
        self.return_goods(entry, own, entry.narrowed(invoices, &[Role::Invoice]))
    }

    /// Takes back goods of invoices that a search finds, and waits for its credit.
    fn return_goods(
        &mut self,
        entry: &SentPosition,
        own: &mut Portion,
        goods: Option<Search>,
    ) -> Result<(), S::Error> {
        let (Some(goods), charge) = (goods, own.charge) else { return Ok(()) };
        while let Some((found, menge)) = self.take(&goods, own)? {
            let named = own.named.or(found.named);
            let returned = Portion { menge, named, ..found }.with(Role::Return, Some(entry.place));
            self.store.add(returned.moved(Role::Return, charge))?;
        }
        Ok(())
    }

    /// Settles a return with the credits that a search finds.
    fn settle_credits(&mut self, own: &mut Portion, credits: Option<Search>) -> Result<(), S::Error> {
        let Some(credits) = credits else { return Ok(()) };
        while let Some((credit, menge)) = self.take(&credits, own)? {
            self.settle(own, &credit, menge)?;
        }
        Ok(())
    }

    /// Lowers open deliveries by a return: those that it names, else in the order of [`Course`], the newest first.
    fn lower_deliveries(
        &mut self,
        entry: &SentPosition,
        own: &mut Portion,
        course: &mut Course,
    ) -> Result<(), S::Error> {
        let deliveries = Search::oldest(PortionKind::OpenDelivery, entry.named);
        let deliveries = Search { charge: Some(own.charge), ..deliveries };
        let Some(deliveries) = entry.narrowed(deliveries, &[Role::Delivery]) else { return Ok(()) };
        let deliveries = Search { newest_first: deliveries.bezug.is_none(), ..deliveries };
        while let Some((open, menge)) = self.take_next(&deliveries, course, own)? {
            let returned = Portion { menge, ..open }.with(Role::Return, Some(entry.place));
            self.store.add(returned.moved(Role::Return, own.charge))?;
        }
        Ok(())
    }

    /// Enters a credit, in the steps of D8. If it took back an invoice, it only pairs with returns that took back none.
    pub(super) fn enter_credit(&mut self, entry: &SentPosition, mut own: Portion) -> Result<(), S::Error> {
        let search = |kind| Search::oldest(kind, entry.named);
        let is_free = !own.has(Role::Invoice);
        let returned = entry.narrowed(search(PortionKind::InvoiceReturned), &[Role::Return, Role::Invoice]);
        self.settle_returns(&mut own, returned.filter(|_| is_free))?;
        let (charge, bezug) = (own.returned_by.map(|_| own.charge), entry.bezug_to(Role::Return));
        let waiting = Search { charge, bezug, ..search(PortionKind::WaitingReturn) };
        self.settle_returns(&mut own, Some(waiting))?;
        // A credit that names a batch takes back only what moved in it; a batch that does not exist holds no
        // goods.
        let is_there = entry.named.charge.is_some() || entry.named.number.is_none();
        let charge = entry.named.charge.map(Some);
        let invoices = Search { charge, newest_first: true, ..search(PortionKind::OpenInvoice) };
        let invoices = entry.narrowed(invoices, &[Role::Invoice]).filter(|_| is_free && is_there);
        if let Some(invoices) = invoices {
            self.credit_invoices(entry, &mut own, invoices)?;
        }
        if own.menge.is_zero() { Ok(()) } else { self.store.add(own) }
    }

    /// Settles a credit with the returns that a search finds.
    fn settle_returns(&mut self, own: &mut Portion, returns: Option<Search>) -> Result<(), S::Error> {
        let Some(returns) = returns else { return Ok(()) };
        while let Some((waiting, menge)) = self.take(&returns, own)? {
            self.settle(&waiting, own, menge)?;
        }
        Ok(())
    }

    /// Takes back what invoices moved themselves, then what deliveries cover; last what other credits took back of the
    /// invoice that this one names and they do not.
    fn credit_invoices(
        &mut self,
        entry: &SentPosition,
        own: &mut Portion,
        invoices: Search,
    ) -> Result<(), S::Error> {
        loop {
            while let Some((open, menge)) = self.take(&invoices, own)? {
                let (charge, named) = (open.charge, own.named.or(open.named));
                let waiting = Portion { menge, named, ..open }.with(Role::Credit, Some(entry.place));
                self.store.add(waiting.moved(Role::Credit, charge))?;
                self.moved_back.insert(entry.place);
            }
            let pairs = Search { kind: PortionKind::Pair, ..invoices };
            while let Some((pair, menge)) = self.take(&pairs, own)? {
                self.credit_pair(entry, pair, menge)?;
            }
            self.credit_excess(entry, own, invoices)?;
            if !self.release(entry, invoices.bezug, invoices.charge, own.menge)? {
                return Ok(());
            }
            let returned = Search { charge: None, kind: PortionKind::InvoiceReturned, ..invoices };
            self.settle_returns(own, Some(returned))?;
        }
    }

    /// Takes back what the invoice that a credit names says beyond its delivery: nothing moves, and no return will come.
    fn credit_excess(
        &mut self,
        entry: &SentPosition,
        own: &mut Portion,
        invoices: Search,
    ) -> Result<(), S::Error> {
        let excess = Search { charge: None, kind: PortionKind::Excess, ..invoices };
        while excess.bezug.is_some()
            && let Some((found, menge)) = self.take(&excess, own)?
        {
            self.store.add(Portion { menge, ..found }.with(Role::Credit, Some(entry.place)))?;
        }
        Ok(())
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
    /// the younger one is reversed. What either took back stays tied to both; if both took something back, what the one
    /// took that does not keep its movement is there again.
    fn settle(&mut self, returned: &Portion, credit: &Portion, menge: Quantity) -> Result<(), S::Error> {
        let return_keeps = match (returned.returned_by, credit.returned_by) {
            (Some(_), Some(_)) => returned.is_older_than(credit),
            (_, credit_moved) => credit_moved.is_none(),
        };
        let (kept, other) = if return_keeps { (returned, credit) } else { (credit, returned) };
        let role = if return_keeps { Role::Return } else { Role::Credit };
        let goods = if other.has(Role::Invoice) && !kept.has(Role::Invoice) { other } else { kept };
        // A settled portion is no longer searched by name; it keeps the name of the credit for when the
        // credit is freed.
        let settled = Portion { menge, named: credit.named, ..goods.clone() }
            .with(Role::Return, returned.place(Role::Return))
            .with(Role::Credit, credit.place(Role::Credit));
        self.store.add(settled.moved(role, kept.charge))?;
        if !kept.has(Role::Invoice) {
            return Ok(());
        }
        match (other.place(Role::Delivery), other.place(Role::Invoice)) {
            (Some(_), Some(_)) => {
                let pair = Portion { menge, returned_by: None, ..other.clone() };
                self.store.add(pair.with(Role::Return, None).with(Role::Credit, None))?;
            }
            (None, Some(invoice)) => {
                let open = self.alone(other, Role::Invoice, invoice)?;
                self.set_free(Portion { menge, ..open });
            }
            _ => {}
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
