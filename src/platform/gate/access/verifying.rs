//! Verifies keys on a thread of its own, one at a time: each takes 10 ms and 19 MiB. Requests with the same
//! key share one verification, so a client has one place in the queue, however many connections it has.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use super::key::{Digest32, Keys, PresentedKey};
use crate::platform::db::file::connection::prepare_reader;
use crate::platform::db::writer::critical::Worker;
use crate::platform::failure::{Failure, Result, locked, unpanicked};
use crate::platform::http::budget::{Budget, Permit};

/// Keys that may wait.
const KEYS_WAITING_MAX: usize = 1_024;

/// Requests that may wait, besides the first one of each key; further ones are answered 503.
const REQUESTS_WAITING_MAX: usize = 4_096;

/// Requests of one address (for IPv6 a /64) that may wait, besides the first one of each key.
const ADDRESS_REQUESTS_MAX: usize = 2_048;

/// Requests with one key that may wait: a client that starts with this many connections at once is answered.
const KEY_REQUESTS_MAX: usize = 512;

/// Sends the outcome of the verification to a request.
type Tell = oneshot::Sender<Result<()>>;

/// The waiting requests by the digest of their key, each with its permit from the budget of its address.
struct Unverified {
    by_key: HashMap<Digest32, Vec<(Permit, Tell)>>,
    places: Arc<Budget>,
}

impl Default for Unverified {
    fn default() -> Unverified {
        let places = Budget::new(REQUESTS_WAITING_MAX, ADDRESS_REQUESTS_MAX);
        Unverified { by_key: HashMap::new(), places }
    }
}

impl Unverified {
    /// Whether one more request may wait. The first one of a key always may: however many others wait from
    /// its address, the key is verified.
    fn has_room(&self, key: &Digest32, address: IpAddr) -> bool {
        let of_key = self.by_key.get(key).map_or(0, Vec::len);
        of_key == 0 || of_key < KEY_REQUESTS_MAX && self.places.has_room(&address.to_string())
    }

    fn add(&mut self, key: Digest32, address: IpAddr, tell: Tell) {
        let place = self.places.take_anyway(&address.to_string(), 1);
        self.by_key.entry(key).or_default().push((place, tell));
    }
}

/// The handle through which keys are submitted for verification.
pub struct Verifying {
    waiting: Arc<Mutex<Unverified>>,
    worker: Worker<PresentedKey>,
}

impl Verifying {
    /// Starts the thread; dropping the handle ends it.
    pub fn start(database: &Path, keys: Arc<Keys>) -> Result<Verifying> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(database, flags)?;
        prepare_reader(&connection)?;
        let waiting = Arc::<Mutex<Unverified>>::default();
        let of_thread = Arc::clone(&waiting);
        let worker =
            Worker::start("keys", KEYS_WAITING_MAX, move |key| verify(&connection, &keys, &key, &of_thread))?;
        Ok(Verifying { waiting, worker })
    }

    /// Waits until a key from this address is verified. Refuses an invalid key, or if too many are waiting.
    pub async fn verify(&self, key: &PresentedKey, address: IpAddr) -> Result<()> {
        let told = self.submit(key, address).ok_or_else(too_many)?;
        told.await.unwrap_or_else(|_| Err(too_many()))
    }

    fn submit(&self, key: &PresentedKey, address: IpAddr) -> Option<oneshot::Receiver<Result<()>>> {
        let mut waiting = locked(&self.waiting);
        let has_room = waiting.has_room(&key.digest, address);
        let is_new = !waiting.by_key.contains_key(&key.digest);
        if !has_room || is_new && !self.worker.submit(key.clone()) {
            return None;
        }
        let (tell, told) = oneshot::channel();
        waiting.add(key.digest, address, tell);
        Some(told)
    }
}

fn too_many() -> Failure {
    Failure::Busy("too many keys wait to be verified".into())
}

fn verify(connection: &Connection, keys: &Keys, key: &PresentedKey, waiting: &Mutex<Unverified>) {
    let begun = Instant::now();
    let holds = unpanicked(|| keys.verify(connection, key));
    let told = locked(waiting).by_key.remove(&key.digest).unwrap_or_default();
    let pause = begun.elapsed();
    for (_, tell) in told {
        let verified = match &holds {
            Ok(true) => Ok(()),
            Ok(false) => Err(super::key::invalid()),
            Err(failure) => Err(Failure::Busy(format!("a key was not verified: {failure}"))),
        };
        drop(tell.send(verified));
    }
    // The pause limits verification to half of one core, however many keys arrive.
    sleep(pause);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_room(waiting: &Unverified, key: u8, address: u8) -> bool {
        waiting.has_room(&[key; 32], IpAddr::from([10, 0, 0, address]))
    }

    /// Adds as many requests as may wait; returns their number.
    fn fill(waiting: &mut Unverified, key: u8, address: u8) -> usize {
        let mut added = 0;
        while has_room(waiting, key, address) {
            waiting.add([key; 32], IpAddr::from([10, 0, 0, address]), oneshot::channel().0);
            added += 1;
        }
        added
    }

    #[test]
    fn who_hammers_takes_no_place_of_another() {
        let mut waiting = Unverified::default();
        assert_eq!(fill(&mut waiting, 1, 1), KEY_REQUESTS_MAX);
        // The same key from another address has no more room; another key from the same address has.
        assert!(!has_room(&waiting, 1, 2));
        assert_eq!(
            (2..=4).map(|key| fill(&mut waiting, key, 1)).sum::<usize>(),
            ADDRESS_REQUESTS_MAX - KEY_REQUESTS_MAX
        );
        // The address is full: a new key still gets its one place.
        assert_eq!(fill(&mut waiting, 5, 1), 1);
        assert_eq!(fill(&mut waiting, 6, 2), KEY_REQUESTS_MAX);
        // Everything is full.
        assert!((7..40).map(|key| fill(&mut waiting, key, 3 + key / 4)).sum::<usize>() > 0);
        assert!(waiting.places.taken() >= REQUESTS_WAITING_MAX);
        assert_eq!(fill(&mut waiting, 99, 99), 1);
        // Answered requests leave nothing behind.
        waiting.by_key.clear();
        assert_eq!(waiting.places.taken(), 0);
    }
}
