//! Requests that wait for a change of their company (D28): how many there may be, and who wakes them.
//!
//! A request that writes rings when it is committed. The end of a day and other processes (an import, the command line)
//! write without ringing, so once a second somebody looks whether the feed of a company that is waited for has grown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;

use crate::db::readers::{Lane, Readers};
use crate::db::{TenantId, feed, log};
use crate::http::budget::{Budget, Permit};
use crate::http::route::Wait;

/// Requests that wait at once at most, beside the limits of connections (D28).
pub const PLACES: usize = 1_000;

/// The share of a key: half of them.
const PLACES_OF_KEY: usize = PLACES / 2;

/// Pause between two looks of one request: a company that writes all the time without what it waits for must not keep
/// it looking.
const PAUSE: Duration = Duration::from_millis(250);

/// Who waits, by company.
pub struct Waiters {
    /// How many requests wait now.
    pub count: Gauge,
    places: Arc<Budget>,
    bells: Mutex<HashMap<TenantId, Bell>>,
}

/// What those who wait for a company listen to.
struct Bell {
    rings: watch::Sender<()>,
    /// The newest change when it was last looked at.
    newest: i64,
}

impl Default for Waiters {
    fn default() -> Waiters {
        Waiters {
            count: Gauge::default(),
            places: Budget::new(PLACES, PLACES_OF_KEY),
            bells: Mutex::default(),
        }
    }
}

impl Waiters {
    /// A place to wait at for a change of a company, on the account of a key or a person; none where there are too many
    /// already.
    pub fn place(&self, account: &str, tenant: TenantId, wait: Wait) -> Option<Waited> {
        let permit = self.places.take(account, 1)?;
        self.count.inc();
        let place = Place { count: self.count.clone(), _permit: permit };
        let mut bells = self.lock();
        let new = || Bell { rings: watch::Sender::default(), newest: wait.newest };
        let bell = bells.entry(tenant).or_insert_with(new);
        let mut bell = bell.rings.subscribe();
        // What was committed between the look before and now did not ring here: it looks once more.
        bell.mark_changed();
        let now = Instant::now();
        let until = now + Duration::from_secs(wait.seconds);
        Some(Waited { until, cursor: wait.cursor, not_before: now, is_over: false, bell, _place: place })
    }

    /// Wakes those who wait for a company.
    pub fn ring(&self, tenant: TenantId) {
        if let Some(bell) = self.lock().get(&tenant) {
            bell.rings.send_replace(());
        }
    }

    /// Wakes those whose company has changes that nobody rang for.
    pub fn look(&self, readers: &Readers) {
        let awaited = |bell: &Bell| bell.rings.receiver_count() > 0;
        let waited_for: Vec<TenantId> =
            self.lock().iter().filter(|(_, bell)| awaited(bell)).map(|(tenant, _)| *tenant).collect();
        if waited_for.is_empty() {
            return;
        }
        let found = readers.read(Lane::Slow, |connection| {
            waited_for
                .iter()
                .map(|tenant| Ok((*tenant, feed::newest(connection, *tenant)?)))
                .collect::<Result<_, _>>()
        });
        let newest: Vec<(TenantId, i64)> = match found {
            Ok(newest) => newest,
            Err(failure) => return log(&format!("whether there are changes is not known: {failure}")),
        };
        let mut bells = self.lock();
        for (tenant, newest) in newest {
            let Some(bell) = bells.get_mut(&tenant).filter(|bell| bell.newest != newest) else { continue };
            bell.newest = newest;
            bell.rings.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, Bell>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits: what its earlier looks came to.
pub struct Waited {
    /// Until when it waits.
    pub until: Instant,
    /// Where its next look begins.
    pub cursor: String,
    /// When its next look may be.
    pub not_before: Instant,
    /// Its next look is the last one.
    pub is_over: bool,
    /// Rings when its company has changed.
    pub bell: watch::Receiver<()>,
    _place: Place,
}

/// The place of a request that waits; free again when this is dropped.
struct Place {
    count: Gauge,
    _permit: Permit,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.count.dec();
    }
}

impl Waited {
    /// The same before its next look: what rang so far is seen by it.
    pub fn again(mut self, is_over: bool) -> Waited {
        self.bell.mark_unchanged();
        Waited { is_over, ..self }
    }

    /// The same after a look that found nothing.
    pub fn go_on(self, wait: Wait) -> Waited {
        Waited { cursor: wait.cursor, not_before: Instant::now() + PAUSE, ..self }
    }
}
