//! A fair queue: each key has a queue of its own. Tenants take turns, and so do the keys of each tenant. A
//! client that sends much waits behind its own requests.

use std::collections::VecDeque;

use crate::platform::db::TenantId;

/// Identifies a queue: a tenant, and one of its API keys or persons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueKey {
    /// 0 if it belongs to no tenant.
    pub firma: TenantId,
    pub name: String,
}

impl QueueKey {
    /// The key of the service's own work.
    pub fn house() -> QueueKey {
        QueueKey { firma: 0, name: String::new() }
    }
}

/// How many entries may wait at once: in total, per tenant, and per key.
#[derive(Debug, Clone, Copy)]
pub struct QueueBounds {
    pub all: usize,
    pub company: usize,
    pub key: usize,
}

impl QueueBounds {
    /// Allows a tenant three quarters and a key half of `all`.
    pub const fn of(all: usize) -> QueueBounds {
        QueueBounds { all, company: all / 4 * 3, key: all / 2 }
    }
}

/// Queues by owner, in the order of their turns.
type Ring<K, Q> = VecDeque<(K, Q)>;

/// Waiting entries, by tenant and key.
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

    /// Adds an entry; returns it as the error if a bound is reached.
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

    /// Number of waiting entries whose owner satisfies `is_meant`.
    fn count(&self, is_meant: impl Fn((TenantId, &str)) -> bool) -> usize {
        let of_company = |(firma, accounts): &(TenantId, Ring<String, VecDeque<T>>)| -> usize {
            let meant = accounts.iter().filter(|(name, _)| is_meant((*firma, name)));
            meant.map(|(_, queue)| queue.len()).sum()
        };
        self.rings.iter().map(of_company).sum()
    }

    /// Takes the next entry among the keys that `may` accepts. Its tenant and key then move to the end of
    /// their rings.
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

/// Returns the queue of an owner; a new one gets the last turn.
fn queue_of<K: PartialEq, Q: Default>(ring: &mut Ring<K, Q>, whose: K) -> &mut Q {
    let known = ring.iter().position(|(known, _)| *known == whose);
    let at = known.unwrap_or(ring.len());
    if known.is_none() {
        ring.push_back((whose, Q::default()));
    }
    &mut ring[at].1
}
