//! Turns on the slow lane. Requests wait in a queue of their key or person.
//!
//! A running read is not interrupted, and may take long. So a key gets at most one thread, and a tenant all
//! but one: whatever one of them starts, another key and another tenant find a thread that is free or soon
//! will be.

use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::platform::db::readers::SLOW_THREADS;
use crate::platform::db::writer::fair_queue::{FairQueue, QueueBounds, QueueKey};
use crate::platform::failure::locked;

/// Requests that may wait for the slow lane; further ones are answered 503.
const REQUESTS_WAITING: QueueBounds = QueueBounds::of(1_024);

/// Threads that the requests of one tenant may occupy at once.
const COMPANY_THREADS_MAX: usize = SLOW_THREADS as usize - 1;

/// The queue keys of running reads, and the waiting requests.
struct State {
    running: Vec<QueueKey>,
    waiting: FairQueue<oneshot::Sender<Turn>>,
}

pub struct Turns(Mutex<State>);

impl Default for Turns {
    fn default() -> Turns {
        Turns(Mutex::new(State { running: Vec::new(), waiting: FairQueue::new(REQUESTS_WAITING) }))
    }
}

impl Turns {
    /// Returns a receiver for the request's turn; `None` if too many are waiting.
    pub fn wait(self: &Arc<Turns>, account: QueueKey) -> Option<oneshot::Receiver<Turn>> {
        let (tell, told) = oneshot::channel();
        let is_taken = locked(&self.0).waiting.add(account, tell).is_ok();
        self.go_on();
        is_taken.then_some(told)
    }

    /// Starts waiting requests in turn, as long as there are threads.
    fn go_on(self: &Arc<Turns>) {
        loop {
            let next = locked(&self.0).next();
            let Some((account, tell)) = next else { return };
            // If the request is gone, the unsent turn is dropped, which ends it.
            drop(tell.send(Turn { turns: Arc::clone(self), account }));
        }
    }
}

impl State {
    /// Takes the next request in turn.
    fn next(&mut self) -> Option<(QueueKey, oneshot::Sender<Turn>)> {
        let State { running, waiting } = self;
        if running.len() >= SLOW_THREADS as usize {
            return None;
        }
        let (account, request) = waiting.take(|firma, name| {
            let of_company = running.iter().filter(|account| account.firma == firma);
            !of_company.clone().any(|account| account.name == name)
                && of_company.count() < COMPANY_THREADS_MAX
        })?;
        running.push(account.clone());
        Some((account, request))
    }

    fn end(&mut self, account: &QueueKey) {
        if let Some(at) = self.running.iter().position(|running| running == account) {
            self.running.swap_remove(at);
        }
    }
}

/// The right to use a thread of the slow lane, held until dropped.
pub struct Turn {
    turns: Arc<Turns>,
    account: QueueKey,
}

impl Drop for Turn {
    fn drop(&mut self) {
        locked(&self.turns.0).end(&self.account);
        self.turns.go_on();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::platform::db::TenantId;

    fn account(firma: TenantId, name: &str) -> QueueKey {
        QueueKey { firma, name: name.to_owned() }
    }

    /// Returns the order in which requests get their turn: they all ask at once, and each that ends makes way
    /// for the next.
    fn served(asking: &[(TenantId, &str)]) -> Vec<String> {
        let turns = Arc::<Turns>::default();
        let waiting =
            asking.iter().map(|(firma, name)| (format!("{firma}{name}"), turns.wait(account(*firma, name))));
        let mut waiting: Vec<_> = waiting.map(|(name, told)| (name, told.unwrap())).collect();
        let (mut order, mut running) = (Vec::new(), VecDeque::new());
        loop {
            waiting.retain_mut(|(name, told)| match told.try_recv() {
                Ok(turn) => {
                    order.push(name.clone());
                    running.push_back(turn);
                    false
                }
                Err(_) => true,
            });
            if running.pop_front().is_none() {
                assert!(waiting.is_empty(), "{order:?}");
                return order;
            }
        }
    }

    #[test]
    fn companies_have_their_turn_one_after_the_other_and_so_have_the_keys_of_each() {
        for (asking, expected) in [
            // One key: in the order of arrival, one at a time.
            (&[(1, "a"), (1, "a"), (1, "a")][..], "1a 1a 1a"),
            // Another key, and another tenant, find a free thread.
            (&[(1, "a"), (1, "a"), (1, "b"), (1, "b"), (2, "a")], "1a 1b 2a 1a 1b"),
            // In a tenant with three keys, one key waits until another one ends.
            (&[(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "a")], "1a 1b 2a 1c 2a"),
            // After its turn a key moves behind the tenant's other keys, and the tenant behind the others.
            (&[(1, "a"), (1, "a"), (1, "a"), (1, "b"), (1, "b"), (1, "b"), (1, "c")], "1a 1b 1a 1b 1c 1a 1b"),
            (&[(1, "a"), (2, "a"), (3, "a"), (1, "b"), (1, "c"), (4, "a")], "1a 2a 3a 1b 4a 1c"),
            // However many came before.
            (&[(1, "a"), (1, "b"), (2, "x"), (1, "a"), (1, "a"), (1, "a"), (3, "y")], "1a 1b 2x 1a 3y 1a 1a"),
        ] {
            assert_eq!(served(asking).join(" "), expected);
        }
    }

    #[test]
    fn a_key_and_a_company_have_their_share_of_the_places_and_others_find_one() {
        let QueueBounds { all, company, key: own } = REQUESTS_WAITING;
        let turns = Arc::<Turns>::default();
        let mut waiting = Vec::new();
        let mut fill = |firma: TenantId, name: &str| {
            let before = waiting.len();
            waiting.extend(std::iter::from_fn(|| turns.wait(account(firma, name))));
            waiting.len() - before
        };
        // One request of each key, two of each tenant and three in total run on a thread and so do not count
        // as waiting.
        assert_eq!(fill(1, "a"), own + 1);
        assert_eq!(fill(1, "b"), company - own + 1);
        assert_eq!(fill(1, "c"), 0);
        assert_eq!(fill(2, "a"), all - company + 1);
        assert_eq!(fill(3, "a"), 0);
        // Requests that are gone make way and leave nothing behind.
        drop(waiting);
        let state = locked(&turns.0);
        assert!(state.waiting.is_empty() && state.running.is_empty());
    }
}
