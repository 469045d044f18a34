//! Open connections: limited in total and per address; at a limit an old unanswered connection makes room.

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
    /// Connections without an answered request yet, oldest first.
    unanswered: BTreeMap<u64, Unanswered>,
    last_number: u64,
}

struct Unanswered {
    address: Option<IpAddr>,
    /// Ends the connection; `None` until its task has been started.
    task: Option<AbortHandle>,
}

impl Connections {
    pub fn new(total_max: usize, per_address_max: usize) -> Arc<Connections> {
        Arc::new(Connections { total_max, per_address_max, open: Mutex::default() })
    }

    /// Admits a new connection; one without an address stands for many clients and counts only towards the
    /// total. At a limit the oldest connection without an answered request is ended: one of the same address
    /// at the limit per address. Otherwise returns `None`: the new connection is rejected.
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

    /// Ends the oldest unanswered connection that `of_kind` accepts. Its slot is freed a moment later, when
    /// its task has ended.
    fn make_room(&mut self, of_kind: impl Fn(&Unanswered) -> bool) -> Option<()> {
        let fits = |connection: &Unanswered| connection.task.is_some() && of_kind(connection);
        let number = *self.unanswered.iter().find(|(_, connection)| fits(connection))?.0;
        self.unanswered.remove(&number)?.task?.abort();
        Some(())
    }
}

/// The slot of an open connection within the limits; freed when dropped.
pub struct ConnectionSlot {
    connections: Arc<Connections>,
    address: Option<IpAddr>,
    pub number: u64,
    is_answered: AtomicBool,
}

impl ConnectionSlot {
    /// Stops counting the connection towards the limits until the result is dropped, because its request
    /// waits for a change. The request passed the gate, so the connection can no longer be displaced.
    pub fn uncounted(&self) -> UncountedSlot<'_> {
        self.mark_answered();
        locked(&self.connections.open).leave(self.address);
        UncountedSlot(self)
    }

    /// Marks that a request was answered: the connection can no longer be displaced.
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

/// The slot of a connection that is not counted while its request waits.
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

    /// Opens a connection from an address that ends with `last`; returns its slot and its task.
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
