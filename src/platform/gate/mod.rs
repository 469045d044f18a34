//! The gate: what happens to every request between the socket and the slice that answers it.
//!
//! `answer` says in the order of D19 what happens to it. `admission` has the checks, `lanes` the ways to the slow lane
//! and to the writer. `completion` is the last step of every request: its audit row, its line in the log, what the
//! client is told of its limits.
//!
//! `stapel` is many requests in one. `waiters` are requests that wait for a change of their company. `key`, `key_changes`,
//! `quota`, `ip_limit`, `address` and `idempotency` are the checks themselves, `verifying` the thread that hashes new keys,
//! `shares` what reads of a key may cost others, `turns` whose turn it is on the slow lane, `cors` what browsers ask,
//! `audit` the log of all requests, `administration` that of what people and commands did, `metrics` the figures.

pub mod access;
pub mod administration;
pub mod audit;
pub mod flow;
pub mod metrics;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use rusqlite::Connection;

use crate::choice;
use crate::platform::db::Clock;
use crate::platform::db::readers::{Lane, Readers};
use crate::platform::db::writer::WriterQueue;
use crate::platform::failure::Result;
use crate::platform::http::budget::Budget;
use crate::platform::http::request::Request;
use crate::platform::http::route::ServiceStatus;
use crate::platform::http::router::Router;
pub use access::cors::Origins;
use access::ip_limit::IpLimit;
use access::key::Keys;
use access::quota::Quota;
use access::verifying::Verifying;
use audit::Journal;
use flow::shares::Shares;
use flow::turns::Turns;
use flow::waiters::Waiters;
use metrics::Metrics;

pub struct Gate {
    pub router: Router,
    /// The number of each route in the audit log.
    pub route_ids: Vec<i64>,
    pub readers: Readers,
    pub writer: WriterQueue,
    pub keys: Arc<Keys>,
    pub verifying: Verifying,
    /// What each key has used of its day.
    pub quota: Arc<Quota>,
    /// What the reads and the bodies of each key have cost lately.
    pub shares: Shares,
    /// Whose turn it is on the slow lane.
    pub turns: Arc<Turns>,
    pub waiters: Waiters,
    /// Memory for answers that clients have not taken yet.
    pub answers: Arc<Budget>,
    /// The same for those without a key.
    pub answers_of_strangers: Arc<Budget>,
    /// Requests of each address that are limited: without a valid key, to critical routes, and to log in.
    pub ip_limit: IpLimit,
    /// Which routes the configuration names as critical, in the order of the routes.
    pub critical: Vec<bool>,
    pub policy: Policy,
    pub metrics: Metrics,
    pub journal: Arc<Journal>,
    pub clock: Clock,
}

/// What the configuration says of the service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Networks of proxies whose X-Forwarded-For counts.
    pub proxies: Vec<IpNet>,
    /// Routes that one address may use ten times a minute, as `POST /api/v1/kunden`.
    pub critical_routes: Vec<String>,
    /// Everybody may read the metrics, not only this machine.
    pub public_metrics: bool,
    /// Web pages that may call the interface.
    pub origins: Origins,
    /// Backups that the server makes by itself.
    pub nightly: Option<Nightly>,
    /// Another program moves the write-ahead log into the database (Litestream).
    pub foreign_checkpoints: bool,
    /// From where the pages for people can be used (D27).
    pub leitstand: Zugang,
}

/// What the configuration says of the pages for people (D27).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zugang {
    /// From where they can be used.
    pub modus: Modus,
    /// Names of this machine in the network, in lower case.
    pub hosts: Vec<String>,
    /// The certificate, where the server speaks TLS itself.
    pub certificate: Option<PathBuf>,
    /// Requests a day that they may give a key at most; none: as many as there can be.
    pub max_daily_limit: Option<u32>,
}

choice! {
    /// From where the pages for people can be used.
    #[derive(Default)]
    pub enum Modus {
        /// From this machine alone.
        #[default]
        Lokal = "lokal",
        /// From the network.
        Netz = "netz",
        /// From nowhere.
        Aus = "aus",
    }
}

/// When the server makes backups, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nightly {
    pub folder: PathBuf,
    /// From when on in the day, in minutes since midnight in Berlin.
    pub minute: u32,
    pub keep: usize,
}

/// Memory for answers on their way out, in bytes, and the share of a key: half of it, which is room for the largest.
pub const ANSWERS_BYTES_MAX: usize = 64 << 20;

/// The same for clients without a key: a few of the page that explains the interface.
pub const STRANGER_ANSWERS_BYTES_MAX: usize = 8 << 20;

/// How long the writer may be at work without looking around before the service is not ready.
const WRITER_SILENCE_MAX: Duration = Duration::from_secs(10);

impl Gate {
    /// Where a request comes from, as far as proxies of ours are believed.
    pub fn address_of(&self, request: &Request) -> IpAddr {
        if access::address::is_of_unnamed_proxy(request.peer, &request.headers, &self.policy.proxies) {
            self.metrics.count_unnamed_proxy();
        }
        access::address::client(request.peer, &request.headers, &self.policy.proxies)
    }

    /// Whether a request begins on this machine, as far as that can be known.
    pub fn is_local(&self, request: &Request) -> bool {
        access::address::is_local(request.peer, &request.headers, &self.policy.proxies)
    }

    /// Whether the service still works: neither the writer nor a read has been at one piece of work for so long. The read
    /// that it tries itself may block. A failed write or a busy writer, for which [`ServiceStatus::ready`] says no, does
    /// not count: it may pass without a restart.
    pub fn works(&self, at_most: Duration) -> bool {
        // An error is an answer as well: a restart mends no disk.
        let _ = self.readers.read(Lane::Fast, look);
        self.writer.watch.silent() < at_most && self.readers.oldest() < at_most
    }
}

/// The shortest read there is.
fn look(connection: &Connection) -> Result<bool> {
    Ok(connection.prepare_cached("select 1 from installation")?.exists([])?)
}

impl ServiceStatus for Gate {
    fn ready(&self) -> std::result::Result<(), String> {
        let read = self.readers.read(Lane::Fast, look);
        read.map_err(|failure| format!("the database cannot be read: {failure}"))?;
        if self.writer.watch.has_failed() {
            return Err("the last write failed: is the disk full?".to_owned());
        }
        let silent = self.writer.watch.silent();
        if silent > WRITER_SILENCE_MAX {
            return Err(format!("the writer has been busy for {} seconds", silent.as_secs()));
        }
        Ok(())
    }

    fn metrics(&self) -> String {
        self.metrics.text(self.readers.oldest(), self.waiters.count())
    }

    fn shows_metrics_to(&self, request: &Request) -> bool {
        self.policy.public_metrics
            || self.is_local(request) && access::address::names_this_machine(&request.headers)
    }
}
