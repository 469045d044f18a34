//! Bounds the memory that clients can make the server hold: bytes of incoming bodies and of outgoing answers.
//! There is a total limit and a share for each account, so that one client cannot keep the others out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::platform::failure::locked;

/// A total number of units (bytes, requests), and a share of it for each account: a key, a person or an
/// address.
#[derive(Debug)]
pub struct Budget {
    total: usize,
    share: usize,
    taken: Mutex<Taken>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// An account that holds nothing has no entry.
    by_account: HashMap<String, usize>,
}

impl Budget {
    pub fn new(total: usize, share: usize) -> Arc<Budget> {
        Arc::new(Budget { total, share, taken: Mutex::default(), freed: Notify::new() })
    }

    /// Takes units for an account; `None` if they exceed the total or the account's share.
    pub fn take(self: &Arc<Budget>, account: &str, units: usize) -> Option<Permit> {
        let mut permit = Permit { budget: Arc::clone(self), account: account.into(), units: 0 };
        permit.grow(units).then_some(permit)
    }

    /// Takes units regardless of the limits: for things that can no longer be refused.
    pub fn take_anyway(self: &Arc<Budget>, account: &str, units: usize) -> Permit {
        locked(&self.taken).add(account, units);
        Permit { budget: Arc::clone(self), account: account.into(), units }
    }

    pub fn has_room(&self, account: &str) -> bool {
        let taken = locked(&self.taken);
        taken.all < self.total && taken.held_by(account) < self.share
    }

    /// Returns the units held by all accounts together.
    pub fn taken(&self) -> usize {
        locked(&self.taken).all
    }

    /// Completes when units are released after this call.
    pub fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }
}

impl Taken {
    fn held_by(&self, account: &str) -> usize {
        self.by_account.get(account).copied().unwrap_or(0)
    }

    fn add(&mut self, account: &str, units: usize) {
        self.all += units;
        match self.by_account.get_mut(account) {
            Some(own) => *own += units,
            None => drop(self.by_account.insert(account.to_owned(), units)),
        }
    }

    fn give_back(&mut self, account: &str, units: usize) {
        self.all -= units;
        if let Some(own) = self.by_account.get_mut(account) {
            *own -= units;
            if *own == 0 {
                self.by_account.remove(account);
            }
        }
    }
}

/// Units held until dropped.
#[derive(Debug)]
pub struct Permit {
    budget: Arc<Budget>,
    account: Box<str>,
    units: usize,
}

impl Permit {
    /// Takes more units; returns false and takes nothing if they exceed a limit.
    pub fn grow(&mut self, units: usize) -> bool {
        let mut taken = locked(&self.budget.taken);
        let fits = taken.all + units <= self.budget.total
            && taken.held_by(&self.account) + units <= self.budget.share;
        if fits {
            taken.add(&self.account, units);
            self.units += units;
        }
        fits
    }

    pub fn shrink_to(&mut self, units: usize) {
        if units < self.units {
            locked(&self.budget.taken).give_back(&self.account, self.units - units);
            self.units = units;
            self.budget.freed.notify_waiters();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_gets_its_share_and_all_get_no_more_than_there_is() {
        let budget = Budget::new(10, 6);
        let mut first = budget.take("a", 4).unwrap();
        assert!(budget.take("a", 3).is_none() && first.grow(2) && !first.grow(1));
        assert!(!budget.has_room("a") && budget.has_room("b"));
        let second = budget.take("b", 4).unwrap();
        assert!(budget.take("b", 1).is_none() && budget.take("c", 1).is_none() && !budget.has_room("c"));
        first.shrink_to(1);
        assert!(budget.take("a", 5).is_some() && budget.take("a", 6).is_none());
        drop((first, second));
        drop(budget.take("c", 6).unwrap());
        assert!(locked(&budget.taken).by_account.is_empty());
        let overdrawn = budget.take_anyway("d", 20);
        assert!(budget.take("e", 1).is_none());
        drop(overdrawn);
        let taken = locked(&budget.taken);
        assert_eq!((taken.all, taken.by_account.len()), (0, 0));
    }
}
