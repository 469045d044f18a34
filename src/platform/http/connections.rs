//! The open connections, limited in all and for each address, and which is ended when there are too many.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::task::AbortHandle;

use crate::platform::failure::locked;

pub struct Connections {
    total_max: usize,
    per_address_max: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    count: usize,
    by_address: HashMap<IpAddr, usize>,
    /// Those on which no request was answered yet, the oldest first.
    unanswered: BTreeMap<u64, Unanswered>,
    last_number: u64,
}

struct Unanswered {
    address: Option<IpAddr>,
    /// Ends it; not known for a moment.
    task: Option<AbortHandle>,
}

impl Connections {
    pub fn new(total_max: usize, per_address_max: usize) -> Arc<Connections> {
        Arc::new(Connections { total_max, per_address_max, open: Mutex::default() })
    }

    /// The slot of a new connection; one without an address speaks for many and counts towards the total alone. At a
    /// limit the oldest connection on which no request was ever answered is ended: one of the same address at the limit
    /// of an address. Otherwise the new connection is rejected.
    pub fn admit(self: &Arc<Connections>, address: Option<IpAddr>) -> Option<ConnectionSlot> {
        let mut open = locked(&self.open);
        let of_address = address.and_then(|address| open.by_address.get(&address).copied()).unwrap_or(0);
        if of_address >= self.per_address_max {
            open.make_room(|connection| connection.address == address)?;
        } else if open.count >= self.total_max {
            open.make_room(|_| true)?;
        }
        open.enter(address);
        open.last_number += 1;
        let number = open.last_number;
        open.unanswered.insert(number, Unanswered { address, task: None });
        Some(ConnectionSlot { connections: Arc::clone(self), address, number, is_answered: false.into() })
    }

    pub fn served_by(&self, number: u64, task: AbortHandle) {
        if let Some(connection) = locked(&self.open).unanswered.get_mut(&number) {
            connection.task = Some(task);
        }
    }
}

impl OpenConnections {
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

    /// Ends the oldest connection of a kind that was never answered. Its slot is free when it has gone, a moment later.
    fn make_room(&mut self, of_kind: impl Fn(&Unanswered) -> bool) -> Option<()> {
        let fits = |connection: &Unanswered| connection.task.is_some() && of_kind(connection);
        let number = *self.unanswered.iter().find(|(_, connection)| fits(connection))?.0;
        self.unanswered.remove(&number)?.task?.abort();
        Some(())
    }
}

/// What an open connection takes of the limits, until this is dropped.
pub struct ConnectionSlot {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
    pub number: u64,
    is_answered: AtomicBool,
}

impl ConnectionSlot {
    /// Its request waits for a change: it passed the gate, so the connection need not make room any more, and it counts
    /// for none of the limits until what is given back is dropped.
    pub fn uncounted(&self) -> UncountedSlot<'_> {
        self.mark_answered();
        locked(&self.connections.open).leave(self.address);
        UncountedSlot(self)
    }

    /// A request was answered: the connection need not make room any more.
    pub fn mark_answered(&self) {
        if !self.is_answered.swap(true, Ordering::Relaxed) {
            locked(&self.connections.open).unanswered.remove(&self.number);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut open = locked(&self.connections.open);
        open.unanswered.remove(&self.number);
        open.leave(self.address);
    }
}

/// The slot of a connection whose request waits.
pub struct UncountedSlot<'s>(&'s ConnectionSlot);

impl Drop for UncountedSlot<'_> {
    fn drop(&mut self) {
        locked(&self.0.connections.open).enter(self.0.address);
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
    fn open(connections: &Arc<Connections>, last: u8) -> Option<(ConnectionSlot, JoinHandle<()>)> {
        let slot = connections.admit(Some(IpAddr::from([10, 0, 0, last])))?;
        let task = tokio::spawn(std::future::pending());
        connections.served_by(slot.number, task.abort_handle());
        Some((slot, task))
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
            busy.0.mark_answered();
            let new = open(&connections, 1).unwrap();
            assert!(was_ended(&old.1).await && !was_ended(&busy.1).await && !was_ended(&new.1).await);
            drop(old);
            new.0.mark_answered();
            assert!(open(&connections, 1).is_none(), "both were answered");
            let others = [open(&connections, 2).unwrap(), open(&connections, 3).unwrap()];
            let third = open(&connections, 4).unwrap();
            assert!(was_ended(&others[0].1).await && !was_ended(&others[1].1).await);
            drop((busy, others));
            assert!(open(&connections, 1).is_some() && !was_ended(&third.1).await);
            drop((new, third));
            let open = locked(&connections.open);
            assert_eq!((open.count, open.by_address.len()), (0, 0));
        });
    }

    #[test]
    fn one_that_speaks_for_many_has_room_until_all_is_full() {
        let connections = Connections::new(3, 1);
        let slots: Vec<_> = (0..3).map(|_| connections.admit(None).unwrap()).collect();
        slots.iter().for_each(ConnectionSlot::mark_answered);
        assert!(connections.admit(None).is_none());
    }
}
