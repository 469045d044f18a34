//! The gate: everything that happens to a request between the socket and the slice that answers it.
//!
//! `answer` performs the steps in the order of D19. `admission` has the checks, `lanes` the ways to the slow
//! lane and to the writer. `completion` is the last step of every request: its audit row, its log line, and
//! the client's remaining limits.
//!
//! `bulk` is many requests in one. `waiters` are requests that wait for a change of their tenant. `key`,
//! `key_changes`, `quota`, `ip_limit`, `address` and `idempotency` are the checks themselves, `verifying` is
//! the thread that hashes new keys, `shares` limits what the requests of a key may cost others, `turns`
//! distributes the slow lane, `cors` answers browsers, `audit` is the log of all requests, `administration`
//! that of the actions of people and commands, `metrics` the figures.

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
    /// The id of each route in the audit log.
    pub route_ids: Vec<i64>,
    pub readers: Readers,
    pub writer: WriterQueue,
    pub keys: Arc<Keys>,
    pub verifying: Verifying,
    /// Requests of each key today.
    pub quota: Arc<Quota>,
    /// Recent cost of the reads and bodies of each key.
    pub shares: Shares,
    /// Turns on the slow lane.
    pub turns: Arc<Turns>,
    pub waiters: Waiters,
    /// Memory for answers that clients have not taken yet.
    pub answers: Arc<Budget>,
    /// The same for clients without a key.
    pub answers_of_strangers: Arc<Budget>,
    /// Limits requests by address: those without a valid key, to critical routes, and to log in.
    pub ip_limit: IpLimit,
    /// Whether the configuration names a route as critical, in the order of the routes.
    pub critical: Vec<bool>,
    pub policy: Policy,
    pub metrics: Metrics,
    pub journal: Arc<Journal>,
    pub clock: Clock,
}

/// The configuration of the service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Networks of trusted proxies, whose X-Forwarded-For counts.
    pub proxies: Vec<IpNet>,
    /// Routes that one address may use only ten times a minute, such as `POST /api/v1/kunden`.
    pub critical_routes: Vec<String>,
    /// Whether everybody may read the metrics, not only this machine.
    pub public_metrics: bool,
    /// Origins of the web pages that may call the interface.
    pub origins: Origins,
    /// Backups that the server makes on its own.
    pub nightly: Option<Nightly>,
    /// Whether another program moves the write-ahead log into the database (Litestream).
    pub foreign_checkpoints: bool,
    /// Access to the web pages for people (D27).
    pub leitstand: Zugang,
}

/// The configuration of the web pages for people (D27).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zugang {
    /// From where they are accessible.
    pub modus: Modus,
    /// Names of this machine in the network, in lower case.
    pub hosts: Vec<String>,
    /// The certificate, if the server itself speaks TLS.
    pub certificate: Option<PathBuf>,
    /// Highest daily limit that the web pages may set; `None`: no limit.
    pub max_daily_limit: Option<u32>,
}

choice! {
    /// From where the web pages for people are accessible.
    #[derive(Default)]
    pub enum Modus {
        /// From this machine only.
        #[default]
        Lokal = "lokal",
        /// From the network.
        Netz = "netz",
        /// From nowhere.
        Aus = "aus",
    }
}

/// When and where the server makes backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nightly {
    pub folder: PathBuf,
    /// Earliest time of the day, in minutes since midnight in Berlin.
    pub minute: u32,
    pub keep: usize,
}

/// Memory for outgoing answers, in bytes; the share of a key is half of it, which is room for the largest
/// answer.
pub const ANSWERS_BYTES_MAX: usize = 64 << 20;

/// The same for clients without a key: room for a few copies of the interface's documentation page.
pub const STRANGER_ANSWERS_BYTES_MAX: usize = 8 << 20;

/// How long the writer may work on one thing before the service counts as not ready.
const WRITER_SILENCE_MAX: Duration = Duration::from_secs(10);

impl Gate {
    /// Returns the address of a request's client; trusts only configured proxies.
    pub fn address_of(&self, request: &Request) -> IpAddr {
        if access::address::is_of_unnamed_proxy(request.peer, &request.headers, &self.policy.proxies) {
            self.metrics.count_unnamed_proxy();
        }
        access::address::client(request.peer, &request.headers, &self.policy.proxies)
    }

    /// Whether a request originates on this machine, as far as can be known.
    pub fn is_local(&self, request: &Request) -> bool {
        access::address::is_local(request.peer, &request.headers, &self.policy.proxies)
    }

    /// Whether the service still works: neither the writer nor any read has been busy with one thing for
    /// `at_most` or longer. The read it tries may itself block. A failed write or a busy writer, for which
    /// [`ServiceStatus::ready`] says no, does not count: it may recover without a restart.
    pub fn works(&self, at_most: Duration) -> bool {
        // An error is an answer as well: a restart does not repair a disk.
        let _ = self.readers.read(Lane::Fast, look);
        self.writer.watch.silent() < at_most && self.readers.oldest() < at_most
    }
}

/// Runs the shortest possible read.
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
