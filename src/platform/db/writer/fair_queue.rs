//! Who waits, and whose turn it is: of what waits each account has a queue of its own. Companies have their turn one after
//! the other, and so have the accounts of each. Whoever sends much waits behind their own.

use std::collections::VecDeque;

use crate::platform::db::TenantId;

/// Who waits: a company, and of it a key or a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueKey {
    /// 0 where it is no company's.
    pub firma: TenantId,
    pub name: String,
}

impl QueueKey {
    /// The service itself.
    pub fn house() -> QueueKey {
        QueueKey { firma: 0, name: String::new() }
    }
}

/// How many may wait at once: of all, of a company, and of an account.
#[derive(Debug, Clone, Copy)]
pub struct QueueBounds {
    pub all: usize,
    pub company: usize,
    pub key: usize,
}

impl QueueBounds {
    /// Three quarters for a company, half of all for an account.
    pub const fn of(all: usize) -> QueueBounds {
        QueueBounds { all, company: all / 4 * 3, key: all / 2 }
    }
}

/// Queues, by whose they are, in the order in which they have their turn.
type Ring<K, Q> = VecDeque<(K, Q)>;

/// What waits, by company and account.
pub struct FairQueue<T> {
    places: QueueBounds,
    rings: Ring<TenantId, Ring<String, VecDeque<T>>>,
}

impl<T> FairQueue<T> {
    pub fn new(places: QueueBounds) -> FairQueue<T> {
        FairQueue { places, rings: Ring::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.rings.is_empty()
    }

    /// Has something wait; gives it back where there is no place for it.
    pub fn add(&mut self, key: QueueKey, waits: T) -> Result<(), T> {
        let QueueBounds { all, company, key: own } = self.places;
        let has_place = self.count(|_| true) < all
            && self.count(|(firma, _)| firma == key.firma) < company
            && self.count(|whose| whose == (key.firma, &key.name)) < own;
        if !has_place {
            return Err(waits);
        }
        queue_of(queue_of(&mut self.rings, key.firma), key.name).push_back(waits);
        Ok(())
    }

    /// How much of these waits.
    fn count(&self, is_meant: impl Fn((TenantId, &str)) -> bool) -> usize {
        let of_company = |(firma, accounts): &(TenantId, Ring<String, VecDeque<T>>)| -> usize {
            let meant = accounts.iter().filter(|(name, _)| is_meant((*firma, name)));
            meant.map(|(_, queue)| queue.len()).sum()
        };
        self.rings.iter().map(of_company).sum()
    }

    /// Takes what has its turn, of those accounts that may. Its account is last in both rings afterwards.
    pub fn take(&mut self, may: impl Fn(TenantId, &str) -> bool) -> Option<(QueueKey, T)> {
        let of_company = |(firma, accounts): &(TenantId, Ring<String, VecDeque<T>>)| {
            accounts.iter().position(|(name, _)| may(*firma, name))
        };
        let (at, of_account) =
            self.rings.iter().enumerate().find_map(|(at, company)| Some((at, of_company(company)?)))?;
        let (firma, mut accounts) = self.rings.remove(at)?;
        let (name, mut queue) = accounts.remove(of_account)?;
        let taken = queue.pop_front()?;
        let key = QueueKey { firma, name: name.clone() };
        if !queue.is_empty() {
            accounts.push_back((name, queue));
        }
        if !accounts.is_empty() {
            self.rings.push_back((firma, accounts));
        }
        Some((key, taken))
    }
}

/// The queue of an account; a new one has its turn last.
fn queue_of<K: PartialEq, Q: Default>(ring: &mut Ring<K, Q>, whose: K) -> &mut Q {
    let known = ring.iter().position(|(known, _)| *known == whose);
    let at = known.unwrap_or(ring.len());
    if known.is_none() {
        ring.push_back((whose, Q::default()));
    }
    &mut ring[at].1
}
