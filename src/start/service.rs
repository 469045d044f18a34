//! The service on one database: the gate, the Leitstand, and the threads that they need.

use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;

use rusqlite::Connection;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;

use crate::interface::routes;
use crate::leitstand::PAGES;
use crate::leitstand::kit::front::Front;
use crate::leitstand::kit::server::Leitstand;
use crate::leitstand::operations::restoring::{Order, Restored};
use crate::operations::midnight::{self, Midnight};
use crate::operations::nightly::Schedule;
use crate::operations::z3::Ueberlassungen;
use crate::operations::{backups, sealing};
use crate::platform::db::file::connection::open_writer;
use crate::platform::db::file::files::beside;
use crate::platform::db::file::german::in_german;
use crate::platform::db::file::lock::{self, Lock};
use crate::platform::db::migrate::{migrate, refuse_foreign};
use crate::platform::db::readers::checkpoint::{self, Checkpoints};
use crate::platform::db::readers::snapshot_gate::SnapshotGate;
use crate::platform::db::readers::{self, Readers};
use crate::platform::db::seals::seal::Secret;
use crate::platform::db::writer::Writer;
use crate::platform::db::{Clock, log};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::key::{Keys, mac_secret};
use crate::platform::gate::access::quota::Quota;
use crate::platform::gate::access::verifying::Verifying;
use crate::platform::gate::audit::{Journal, TakeIn, newest_of_both, number_routes, of_clock};
use crate::platform::gate::metrics::Metrics;
use crate::platform::gate::{ANSWERS_BYTES_MAX, Gate, Modus, Policy, STRANGER_ANSWERS_BYTES_MAX};
use crate::platform::http::budget::Budget;
use crate::platform::http::router::Router;
use crate::platform::http::server::{Limits, serve};
use crate::rules::day::Instant;

/// A running service on a database. It holds the lock that keeps a second one away.
pub struct Service {
    pub gate: Arc<Gate>,
    front: Arc<Front>,
    writer: Writer,
    midnight: Midnight,
    ueberlassungen: Ueberlassungen,
    clock: Clock,
    _lock: Lock,
}

impl Service {
    /// Opens or creates the database, migrates it to this version, and starts the threads.
    pub fn open(database: &Path, clock: Clock, policy: &Policy) -> Result<Service> {
        let database = &*lock::resolved(database);
        let lock = lock::for_server(database)?;
        let (mut connection, secret) = open_current(database, &clock, policy)?;
        let routes: Vec<_> = routes::all().collect();
        let route_ids = number_routes(&connection, &routes)?;
        let keys = Arc::new(Keys::new(mac_secret(&connection)?));
        let (journal, quota, take_in) = open_journal(database, &mut connection, secret.as_ref(), &clock)?;
        let newest = newest_row(&connection, &clock)?;
        let snapshot_gate = Arc::<SnapshotGate>::default();
        let checkpoints = start_checkpoints(database, policy, &snapshot_gate)?;
        let writer =
            Writer::start(connection, checkpoints, Arc::clone(&clock), take_in).map_err(no_thread)?;
        let commits = Arc::clone(&writer.queue().watch.commits);
        let readers = Readers::open(database, threads() + HEAVY_THREADS, snapshot_gate, commits)?;
        let gate = Arc::new(Gate {
            critical: routes.iter().map(|route| policy.critical_routes.contains(&route.name())).collect(),
            router: Router::new(routes.into_iter()),
            route_ids,
            readers,
            writer: writer.queue(),
            verifying: Verifying::start(database, Arc::clone(&keys))?,
            keys,
            quota,
            answers: Budget::new(ANSWERS_BYTES_MAX, ANSWERS_BYTES_MAX / 2),
            answers_of_strangers: Budget::new(STRANGER_ANSWERS_BYTES_MAX, STRANGER_ANSWERS_BYTES_MAX / 2),
            shares: Default::default(),
            turns: Default::default(),
            ip_limit: Default::default(),
            policy: policy.clone(),
            metrics: Metrics::new(beside(database, "wal"), &writer.queue()),
            waiters: Default::default(),
            journal,
            clock: Arc::clone(&clock),
        });
        let front = front(&gate, database)?;
        let midnight = start_midnight(&gate, database, newest)?;
        let ueberlassungen = Ueberlassungen::start(Arc::clone(&gate), database).map_err(no_thread)?;
        Ok(Service { gate, front, writer, midnight, ueberlassungen, clock, _lock: lock })
    }

    pub fn serve(
        &self,
        listener: TcpListener,
        limits: Limits,
        tls: Option<TlsAcceptor>,
        stop: impl Future<Output = ()>,
    ) -> impl Future<Output = ()> {
        let stop = Arc::clone(&self.front).end(stop);
        serve(listener, Arc::clone(&self.front), Arc::clone(&self.clock), limits, tls, stop)
    }

    /// Lets the pages accept orders to restore a backup; the caller carries out the order that
    /// [`Service::close`] returns. `last` is the result of the previous order, for the pages to show.
    pub fn take_orders(&self, last: Option<Restored>) {
        self.front.leitstand.iter().for_each(|leitstand| leitstand.restoring().take_orders(last.clone()));
    }

    /// Finishes queued work and closes the database. Returns the order to restore, if that is why the service
    /// ends. No request may run any more.
    pub fn close(self) -> Option<Order> {
        let Service { gate, front, writer, midnight, ueberlassungen, clock: _, _lock } = self;
        front.leitstand.iter().for_each(|leitstand| leitstand.stop());
        let order = front.leitstand.as_ref().and_then(|leitstand| leitstand.restoring().order());
        midnight.stop();
        ueberlassungen.stop();
        // Closing the last connection removes the write-ahead log, unless that connection is read-only. If a
        // long read still runs, or a request waits for its key, the log remains for the next start.
        drop((front, gate));
        writer.stop();
        order
    }
}

/// Returns when the newest row of both logs was written; logs a warning if the clock disagrees with it.
fn newest_row(connection: &Connection, clock: &Clock) -> Result<Option<Instant>> {
    let newest = newest_of_both(connection)?;
    // Rows written at a wrong time get the wrong day.
    if let Some((_, sentence)) = newest.and_then(|newest| of_clock(newest, clock())) {
        log(&sentence);
    }
    Ok(newest)
}

fn start_midnight(gate: &Arc<Gate>, database: &Path, newest: Option<Instant>) -> Result<Midnight> {
    let (writer, clock) = (gate.writer.clone(), Arc::clone(&gate.clock));
    let schedule = Schedule::new(writer, database, gate.policy.nightly.clone(), clock);
    Midnight::start(Arc::clone(gate), schedule, newest).map_err(no_thread)
}

fn front(gate: &Arc<Gate>, database: &Path) -> Result<Arc<Front>> {
    backups::remove_copies(database)?;
    let is_wanted = gate.policy.leitstand.modus != Modus::Aus;
    let leitstand = || Leitstand::new(Arc::clone(gate), PAGES, database);
    let leitstand = is_wanted.then(leitstand).transpose()?;
    Ok(Arc::new(Front { gate: Arc::clone(gate), leitstand: leitstand.map(Arc::new) }))
}

/// Opens or creates a database for the writer: migrated to this version, sealed, with past days completed.
fn open_current(database: &Path, clock: &Clock, policy: &Policy) -> Result<(Connection, Option<Secret>)> {
    checkpoint::settle(database, !policy.foreign_checkpoints)?;
    migrate(database, clock())?;
    let mut connection = open_writer(database)?;
    refuse_foreign(&connection, database)?;
    let secret = sealing::settle(&mut connection, database, clock)?;
    if policy.foreign_checkpoints {
        connection.execute_batch("pragma wal_autocheckpoint = 0")?;
    }
    if let Err(failure) = midnight::catch_up(&mut connection, clock) {
        log(&format!("the end of the last day was not carried out: {failure}"));
    }
    Ok((connection, secret))
}

/// Opens the journal of the request log, moves its old rows into their table, and loads the counts of the quota.
fn open_journal(
    database: &Path,
    connection: &mut Connection,
    secret: Option<&Secret>,
    clock: &Clock,
) -> Result<(Arc<Journal>, Arc<Quota>, Box<TakeIn>)> {
    let journal = Arc::new(Journal::open(database, connection, secret)?);
    let quota = Arc::new(Quota::default());
    let mut take_in = Box::new(TakeIn::new(Arc::clone(&journal), Arc::clone(&quota), Arc::clone(clock)));
    take_in.catch_up(connection)?;
    quota.load(connection, clock())?;
    Ok((journal, quota, take_in))
}

/// Starts the thread that moves the write-ahead log into the database, unless another program does that.
fn start_checkpoints(
    database: &Path,
    policy: &Policy,
    snapshot_gate: &Arc<SnapshotGate>,
) -> Result<Option<Checkpoints>> {
    let start = || Checkpoints::start(database, Arc::clone(snapshot_gate));
    (!policy.foreign_checkpoints).then(start).transpose()
}

fn no_thread(error: std::io::Error) -> Failure {
    Failure::Broken(format!("ein Thread lässt sich nicht starten: {}", in_german(&error)))
}

/// Threads for work of many milliseconds: Base64, digests, parsing and compressing large bodies.
const HEAVY_THREADS: u32 = 2;

/// Builds the threads that read sockets and, in place, the database. An idle thread holds no snapshot.
pub fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads() as usize)
        .max_blocking_threads(HEAVY_THREADS as usize)
        .on_thread_park(readers::end_snapshot)
        .enable_all()
        .build()
}

fn threads() -> u32 {
    available_parallelism().map_or(2, |count| u32::try_from(count.get()).unwrap_or(2)).max(2)
}
