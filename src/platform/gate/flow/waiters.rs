//! Requests that wait for a change of their company (D28): how many there may be, and who wakes them.
//!
//! A request that writes rings when it is committed. The end of a day and other processes (an import, the command line)
//! write without ringing, so once a second somebody looks whether the feed of a company that is waited for has grown.

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

/// Requests that wait at once at most, beside the limits of connections (D28).
pub const WAITERS_MAX: usize = 1_000;

/// The share of a key: half of them.
const KEY_WAITERS_MAX: usize = WAITERS_MAX / 2;

/// The share of a company, whoever of it waits: three quarters.
const COMPANY_WAITERS_MAX: usize = WAITERS_MAX / 4 * 3;

/// Pause between two looks of one request: a company that writes all the time without what it waits for must not keep
/// it looking.
const LOOK_PAUSE: Duration = Duration::from_millis(250);

pub struct Waiters {
    places: Arc<Budget>,
    /// The same places by company.
    of_companies: Arc<Budget>,
    /// What those who wait for a company listen to; it holds the number of the newest change that
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
    /// Waits for a change of a company, on the account of a key or a person, after a look that found nothing; refused where
    /// too many wait already. `waiting` is none before the first time.
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
        // The next look sees every change up to here, so earlier rings are dropped.
        notify.mark_unchanged();
        Ok(Looked { cursor: wait.cursor, is_last })
    }

    fn begin(&self, account: &str, tenant: TenantId, wait: &Wait) -> Option<WaitingRequest> {
        let places = [self.places.take(account, 1)?, self.of_companies.take(&tenant.to_string(), 1)?];
        let mut notifies = locked(&self.notifies);
        let mut notify =
            notifies.entry(tenant).or_insert_with(|| watch::Sender::new(wait.newest)).subscribe();
        // What was committed between the look before and now did not ring here: it looks once more.
        notify.mark_changed();
        let now = Instant::now();
        let until = now + Duration::from_secs(wait.seconds);
        Some(WaitingRequest { until, not_before: now, notify, _places: places })
    }

    /// How many requests wait now.
    pub fn count(&self) -> usize {
        self.places.taken()
    }

    /// Wakes those who wait for a company.
    pub fn notify(&self, tenant: TenantId) {
        if let Some(notify) = locked(&self.notifies).get(&tenant) {
            notify.send_modify(|_| ());
        }
    }

    /// Wakes those whose company has changes since the look before. A change that was rung for wakes them a second time,
    /// because who rings does not know its number.
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
            // Else one that looks on a kept snapshot would miss what nobody rings for a second time.
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
    /// When its next look may be.
    not_before: Instant,
    /// Rings when its company has changed.
    notify: watch::Receiver<i64>,
    _places: [Permit; 2],
}

/// What the look of a request that waits came to.
#[derive(Clone)]
pub struct Looked {
    /// Where its next look begins.
    pub cursor: String,
    /// The next look is the last one.
    pub is_last: bool,
}
