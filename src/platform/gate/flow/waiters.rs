//! Requests that wait for a change of their tenant (D28): how many there may be, and how they are woken.
//!
//! A request that writes notifies them after its commit. The work at the end of a day and other processes (an
//! import, the command line) write without notifying, so once a second the service checks whether the feed of
//! any awaited tenant has grown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::platform::db::readers::{Lane, Readers};
use crate::platform::db::{TenantId, feed, log};
use crate::platform::failure::{Failure, Result, locked};
use crate::platform::http::budget::{Budget, Permit};
use crate::platform::http::client::Client;
use crate::platform::http::route::Wait;
use crate::rules::error::{Code, Refusal};

/// Requests that may wait at once, besides the limits of connections (D28).
pub const WAITERS_MAX: usize = 1_000;

/// The share of a key: half of them.
const KEY_WAITERS_MAX: usize = WAITERS_MAX / 2;

/// The share of a tenant, across all its keys: three quarters.
const COMPANY_WAITERS_MAX: usize = WAITERS_MAX / 4 * 3;

/// Minimum pause between two looks of one request: a tenant that keeps writing other things must not keep it
/// looking.
const LOOK_PAUSE: Duration = Duration::from_millis(250);

pub struct Waiters {
    places: Arc<Budget>,
    /// Waiting requests, limited by tenant.
    of_companies: Arc<Budget>,
    /// The channel to the requests that wait for a tenant; it holds the number of the newest change that
    /// [`Waiters::look`] found.
    notifies: Mutex<HashMap<TenantId, watch::Sender<i64>>>,
}

impl Default for Waiters {
    fn default() -> Waiters {
        let [places, of_companies] =
            [KEY_WAITERS_MAX, COMPANY_WAITERS_MAX].map(|share| Budget::new(WAITERS_MAX, share));
        Waiters { places, of_companies, notifies: Mutex::default() }
    }
}

impl Waiters {
    /// Waits for a change of a tenant after a look that found nothing, charged to `account`, a key or a
    /// person. Refuses if too many are waiting. `waiting` is `None` before the first time.
    pub async fn wait(
        &self,
        waiting: &mut Option<WaitingRequest>,
        account: &str,
        tenant: TenantId,
        wait: Wait,
        client: &Client,
    ) -> Result<Looked> {
        let waiting = match waiting {
            Some(waiting) => {
                waiting.not_before = Instant::now() + LOOK_PAUSE;
                waiting
            }
            None => waiting.insert(self.begin(account, tenant, &wait).ok_or_else(too_many)?),
        };
        let WaitingRequest { notify, not_before, until, .. } = waiting;
        let is_last = !client.listens_until(notify, *not_before, *until).await;
        // The next look sees every change so far, so earlier notifications are dropped.
        notify.mark_unchanged();
        Ok(Looked { cursor: wait.cursor, is_last })
    }

    fn begin(&self, account: &str, tenant: TenantId, wait: &Wait) -> Option<WaitingRequest> {
        let places = [self.places.take(account, 1)?, self.of_companies.take(&tenant.to_string(), 1)?];
        let mut notifies = locked(&self.notifies);
        let mut notify =
            notifies.entry(tenant).or_insert_with(|| watch::Sender::new(wait.newest)).subscribe();
        // A change committed between the last look and now sent no notification here, so the request looks
        // once more.
        notify.mark_changed();
        let now = Instant::now();
        let until = now + Duration::from_secs(wait.seconds);
        Some(WaitingRequest { until, not_before: now, notify, _places: places })
    }

    /// Returns how many requests wait now.
    pub fn count(&self) -> usize {
        self.places.taken()
    }

    /// Wakes the requests that wait for a tenant.
    pub fn notify(&self, tenant: TenantId) {
        if let Some(notify) = locked(&self.notifies).get(&tenant) {
            notify.send_modify(|_| ());
        }
    }

    /// Wakes the requests whose tenant has changes since the last call. A change that was already notified
    /// wakes them a second time, because the notification does not carry its number.
    pub fn look(&self, readers: &Readers) {
        let awaited = |notify: &watch::Sender<i64>| notify.receiver_count() > 0;
        let waited_for: Vec<TenantId> = locked(&self.notifies)
            .iter()
            .filter(|(_, notify)| awaited(notify))
            .map(|(tenant, _)| *tenant)
            .collect();
        if waited_for.is_empty() {
            return;
        }
        let found = readers.read(Lane::Slow, |connection| {
            waited_for
                .iter()
                .map(|tenant| Ok((*tenant, feed::newest(connection, *tenant)?)))
                .collect::<Result<Vec<_>>>()
        });
        let newest = match found {
            Ok(newest) => newest,
            Err(failure) => return log(&format!("whether there are changes is not known: {failure}")),
        };
        let notifies = locked(&self.notifies);
        for (tenant, newest) in newest {
            let Some(notify) = notifies.get(&tenant).filter(|notify| *notify.borrow() != newest) else {
                continue;
            };
            // Otherwise a request that looks on a kept snapshot would miss the change, and nobody would
            // notify it again.
            readers.begin_anew();
            notify.send_replace(newest);
        }
    }
}

fn too_many() -> Failure {
    let message =
        "Es warten schon zu viele Anfragen auf Änderungen. Bitte später wiederholen, oder ohne warten.";
    Refusal::new(Code::NichtVerfuegbar, message).into()
}

pub struct WaitingRequest {
    until: Instant,
    /// Earliest time of its next look.
    not_before: Instant,
    /// Receives a notification when its tenant has changed.
    notify: watch::Receiver<i64>,
    _places: [Permit; 2],
}

/// The outcome of a look of a waiting request.
#[derive(Clone)]
pub struct Looked {
    /// The position where its next look begins.
    pub cursor: String,
    /// Whether the next look is the last one.
    pub is_last: bool,
}
