//! The open connections, limited in all and for each address, and which is ended when there are too many.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

pub struct Connections {
    total: usize,
    per_address: usize,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Those on which no request was answered yet, the oldest first.
    fresh: BTreeMap<u64, Fresh>,
    last_number: u64,
}

struct Fresh {
    address: Option<IpAddr>,
    /// Ends it; not known for a moment.
    task: Option<AbortHandle>,
}

impl Connections {
    pub fn new(total: usize, per_address: usize) -> Arc<Connections> {
        Arc::new(Connections { total, per_address, open: Mutex::default() })
    }

    /// A place for a new connection; one without an address speaks for many and counts towards the total alone. At a
    /// limit the oldest connection on which no request was ever answered is ended: one of the same address at the limit
    /// of an address. Otherwise the new connection is rejected.
    pub fn place(self: &Arc<Connections>, address: Option<IpAddr>) -> Option<Place> {
        let mut open = self.lock();
        let of_address = address.and_then(|address| open.by_address.get(&address).copied()).unwrap_or(0);
        if of_address >= self.per_address {
            open.make_room(|fresh| fresh.address == address)?;
        } else if open.count >= self.total {
            open.make_room(|_| true)?;
        }
        open.enter(address);
        open.last_number += 1;
        let number = open.last_number;
        open.fresh.insert(number, Fresh { address, task: None });
        Some(Place { connections: Arc::clone(self), address, number, has_answered: false.into() })
    }

    pub fn served_by(&self, number: u64, task: AbortHandle) {
        if let Some(fresh) = self.lock().fresh.get_mut(&number) {
            fresh.task = Some(task);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn enter(&mut self, address: Option<IpAddr>) {
        self.count += 1;
        if let Some(address) = address {
            *self.by_address.entry(address).or_default() += 1;
        }
    }

    fn leave(&mut self, address: Option<IpAddr>) {
        self.count -= 1;
        let Some(address) = address else { return };
        if let Some(count) = self.by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&address);
            }
        }
    }

    /// Ends the oldest fresh connection of a kind. Its place is free when it has gone, a moment later.
    fn make_room(&mut self, of_kind: impl Fn(&Fresh) -> bool) -> Option<()> {
        let number = *self.fresh.iter().find(|(_, fresh)| fresh.task.is_some() && of_kind(fresh))?.0;
        self.fresh.remove(&number)?.task?.abort();
        Some(())
    }
}

/// The place of an open connection; free again when this is dropped.
pub struct Place {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
    pub number: u64,
    has_answered: AtomicBool,
}

impl Place {
    /// Its request waits for a change: it passed the gate, so the connection need not make room any more, and it counts
    /// for none of the limits.
    pub fn aside(&self) -> Aside<'_> {
        self.has_answered();
        self.connections.lock().leave(self.address);
        Aside(self)
    }

    /// A request was answered: the connection need not make room any more.
    pub fn has_answered(&self) {
        if !self.has_answered.swap(true, Ordering::Relaxed) {
            self.connections.lock().fresh.remove(&self.number);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.fresh.remove(&self.number);
        open.leave(self.address);
    }
}

/// A connection whose request waits counts for none of the limits; it does again when this is dropped.
pub struct Aside<'p>(&'p Place);

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        self.0.connections.lock().enter(self.0.address);
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::{Builder, Runtime};
    use tokio::task::JoinHandle;

    use super::*;

    fn runtime() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    /// A connection from an address that ends in this, and who serves it.
    fn open(connections: &Arc<Connections>, last: u8) -> Option<(Place, JoinHandle<()>)> {
        let place = connections.place(Some(IpAddr::from([10, 0, 0, last])))?;
        let task = tokio::spawn(std::future::pending());
        connections.served_by(place.number, task.abort_handle());
        Some((place, task))
    }

    #[test]
    fn the_oldest_that_was_never_answered_makes_room() {
        runtime().block_on(async {
            let connections = Connections::new(4, 2);
            let was_ended = async |task: &JoinHandle<()>| {
                tokio::task::yield_now().await;
                task.is_finished()
            };
            let (old, busy) = (open(&connections, 1).unwrap(), open(&connections, 1).unwrap());
            busy.0.has_answered();
            let new = open(&connections, 1).unwrap();
            assert!(was_ended(&old.1).await && !was_ended(&busy.1).await && !was_ended(&new.1).await);
            drop(old);
            new.0.has_answered();
            assert!(open(&connections, 1).is_none(), "both were answered");
            let others = [open(&connections, 2).unwrap(), open(&connections, 3).unwrap()];
            let third = open(&connections, 4).unwrap();
            assert!(was_ended(&others[0].1).await && !was_ended(&others[1].1).await);
            drop((busy, others));
            assert!(open(&connections, 1).is_some() && !was_ended(&third.1).await);
            drop((new, third));
            let open = connections.lock();
            assert_eq!((open.count, open.by_address.len()), (0, 0));
        });
    }

    #[test]
    fn one_that_speaks_for_many_has_room_until_all_is_full() {
        let connections = Connections::new(3, 1);
        let places: Vec<_> = (0..3).map(|_| connections.place(None).unwrap()).collect();
        places.iter().for_each(Place::has_answered);
        assert!(connections.place(None).is_none());
    }
}
