//! Whose turn it is on the slow lane. Requests wait in a queue of their key, or of their person; companies have their turn
//! one after the other, and so have the keys of each. Whoever sends many waits for those of their own.
//!
//! A read that runs is not interrupted, and may take long. So a key has one thread at most and a company all but one: of
//! whatever one of them began, another key, and another company, finds a thread that is free or soon will be.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot;

use crate::db::TenantId;
use crate::db::readers::SLOW_THREADS;
use crate::failure::locked;

/// Requests that wait for the slow lane at most; further ones are answered 503.
const REQUESTS_WAITING_MAX: usize = 1_024;

/// The share of a company: three quarters.
const COMPANY_REQUESTS_MAX: usize = REQUESTS_WAITING_MAX / 4 * 3;

/// The share of a key: half of all.
const KEY_REQUESTS_MAX: usize = REQUESTS_WAITING_MAX / 2;

/// Threads that the requests of a company have at once at most.
const COMPANY_THREADS_MAX: usize = SLOW_THREADS as usize - 1;

/// Who waits: a company, and of it a key or a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub firma: TenantId,
    pub name: String,
}

/// Queues, by whose they are, in the order in which they have their turn.
type Ring<K, Q> = VecDeque<(K, Q)>;

type Requests = VecDeque<oneshot::Sender<Turn>>;

/// Accounts whose reads run, and the requests that wait, by company and account.
#[derive(Default)]
struct State {
    running: Vec<Account>,
    waiting: Ring<TenantId, Ring<String, Requests>>,
}

#[derive(Default)]
pub struct Turns(Mutex<State>);

impl Turns {
    /// Tells a request when it has its turn; none where too many wait already.
    pub fn wait(self: &Arc<Turns>, account: Account) -> Option<oneshot::Receiver<Turn>> {
        let (tell, told) = oneshot::channel();
        let is_taken = locked(&self.0).add(account, tell);
        self.go_on();
        is_taken.then_some(told)
    }

    /// Has those begin whose turn it is, as long as there are threads for them.
    fn go_on(self: &Arc<Turns>) {
        loop {
            let next = locked(&self.0).next();
            let Some((account, tell)) = next else { return };
            // A request that is no longer there gives its turn back.
            drop(tell.send(Turn { turns: Arc::clone(self), account }));
        }
    }
}

impl State {
    /// Has a request wait; false where there is no room for it.
    fn add(&mut self, account: Account, request: oneshot::Sender<Turn>) -> bool {
        let has_room = self.count(|_| true) < REQUESTS_WAITING_MAX
            && self.count(|(firma, _)| firma == account.firma) < COMPANY_REQUESTS_MAX
            && self.count(|whose| whose == (account.firma, &account.name)) < KEY_REQUESTS_MAX;
        if has_room {
            queue_of(queue_of(&mut self.waiting, account.firma), account.name).push_back(request);
        }
        has_room
    }

    /// How many requests of these wait.
    fn count(&self, is_meant: impl Fn((TenantId, &str)) -> bool) -> usize {
        let of_company = |(firma, keys): &(TenantId, Ring<String, Requests>)| -> usize {
            let meant = keys.iter().filter(|(name, _)| is_meant((*firma, name)));
            meant.map(|(_, requests)| requests.len()).sum()
        };
        self.waiting.iter().map(of_company).sum()
    }

    /// Takes the request whose turn it is. Its account is last in both rings afterwards.
    fn next(&mut self) -> Option<(Account, oneshot::Sender<Turn>)> {
        if self.running.len() >= SLOW_THREADS as usize {
            return None;
        }
        let running = &self.running;
        let may_run = |(firma, keys): &(TenantId, Ring<String, Requests>)| {
            let of_company = running.iter().filter(|account| account.firma == *firma);
            let is_idle =
                |(name, _): &(String, Requests)| !of_company.clone().any(|account| account.name == *name);
            let at = keys.iter().position(is_idle)?;
            (of_company.clone().count() < COMPANY_THREADS_MAX).then_some(at)
        };
        let (at, of_key) =
            self.waiting.iter().enumerate().find_map(|(at, company)| Some((at, may_run(company)?)))?;
        let (firma, mut keys) = self.waiting.remove(at)?;
        let (name, mut requests) = keys.remove(of_key)?;
        let request = requests.pop_front()?;
        let account = Account { firma, name: name.clone() };
        if !requests.is_empty() {
            keys.push_back((name, requests));
        }
        if !keys.is_empty() {
            self.waiting.push_back((firma, keys));
        }
        self.running.push(account.clone());
        Some((account, request))
    }

    fn end(&mut self, account: &Account) {
        if let Some(at) = self.running.iter().position(|running| running == account) {
            self.running.swap_remove(at);
        }
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

/// A thread of the slow lane, until this is dropped.
pub struct Turn {
    turns: Arc<Turns>,
    account: Account,
}

impl Drop for Turn {
    fn drop(&mut self) {
        locked(&self.turns.0).end(&self.account);
        self.turns.go_on();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(firma: TenantId, name: &str) -> Account {
        Account { firma, name: name.to_owned() }
    }

    /// Who has a turn, in order: `at_once` begin while `asking` come, and each that ends makes way for the next.
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
            // One key: in the order in which they came, one at a time.
            (&[(1, "a"), (1, "a"), (1, "a")][..], "1a 1a 1a"),
            // Another key, and another company, find a thread that is free.
            (&[(1, "a"), (1, "a"), (1, "b"), (1, "b"), (2, "a")], "1a 1b 2a 1a 1b"),
            // Of a company with three keys one waits until another of it ends.
            (&[(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "a")], "1a 1b 2a 1c 2a"),
            // Who was served goes behind the other keys of the company, and the company behind the others.
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
        let turns = Arc::<Turns>::default();
        let mut waiting = Vec::new();
        let mut fill = |firma: TenantId, name: &str| {
            let before = waiting.len();
            waiting.extend(std::iter::from_fn(|| turns.wait(account(firma, name))));
            waiting.len() - before
        };
        // One of each key, two of each company and three of all have a thread and no place.
        assert_eq!(fill(1, "a"), KEY_REQUESTS_MAX + 1);
        assert_eq!(fill(1, "b"), COMPANY_REQUESTS_MAX - KEY_REQUESTS_MAX + 1);
        assert_eq!(fill(1, "c"), 0);
        assert_eq!(fill(2, "a"), REQUESTS_WAITING_MAX - COMPANY_REQUESTS_MAX + 1);
        assert_eq!(fill(3, "a"), 0);
        // Who is no longer there makes way, and nothing is left of them.
        drop(waiting);
        let state = locked(&turns.0);
        assert!(state.waiting.is_empty() && state.running.is_empty());
    }
}
