//! What the service does by itself when a day is over in Berlin, and at its start for days that
//! it missed: documents become final, old audit rows are dropped, a backup is made.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::nightly::Schedule;
use crate::belege::{self, Behind};
use crate::db::readers::{Lane, Readers};
use crate::db::tx::{Tx, WriteTx};
use crate::db::vital::vital;
use crate::db::writer::WriterQueue;
use crate::db::{Clock, TenantId, feed, log, steps};
use crate::failure::Result;
use crate::gate::Gate;
use crate::gate::audit::{begin_rollover, newest_head};
use crate::gate::idempotency;
use crate::rules::day::{self, Day};
use crate::tenants;

const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often the end of the day is tried again; with nothing left to do that is cheap.
const RETRY_EVERY: Duration = Duration::from_secs(60);

/// How long after the end of a UTC day its last rows come in at most, as a rule, in milliseconds: those of reads wait a
/// second in the journal.
const LATE_ROWS_MILLIS_MAX: i64 = 10_000;

const ROLLOVER_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

pub fn catch_up(connection: &mut Connection, clock: &Clock) -> Result<()> {
    for tenant in tenants::list(connection)? {
        let mut next = Some(Behind::default());
        while let Some(behind) = next {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let tx = Tx::new(&transaction, tenant.id, clock());
            next = WriteTx::carry_out(tx, None, |tx| belege::finalise_past_days(tx, behind))?;
            transaction.commit()?;
        }
    }
    Ok(())
}

pub struct Midnight {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Midnight {
    pub fn start(gate: std::sync::Arc<Gate>, schedule: Schedule) -> std::io::Result<Midnight> {
        let (stop, stopped) = channel();
        let thread = vital("midnight", move || wait(&gate, schedule, &stopped))?;
        Ok(Midnight { stop, thread })
    }

    pub fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

fn wait(gate: &Gate, mut schedule: Schedule, stopped: &Receiver<()>) {
    let mut today = Day::in_berlin((gate.clock)());
    let mut last_try = Instant::now();
    let mut last_rollover = Instant::now();
    let mut logged = None;
    drop_old(gate);
    while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        let now = Day::in_berlin((gate.clock)());
        // Once at midnight, and again and again: what failed the first time is not forgotten.
        if now > today || last_try.elapsed() >= RETRY_EVERY {
            end_of_day(&gate.readers, &gate.writer);
            last_try = Instant::now();
        }
        today = now;
        logged = log_head(gate, logged);
        schedule.look();
        gate.waiters.look(&gate.readers);
        // By the machine's running time: a clock that jumps does not drop a year of days.
        if last_rollover.elapsed() >= ROLLOVER_EVERY {
            drop_old(gate);
            last_rollover = Instant::now();
        }
    }
}

fn drop_old(gate: &Gate) {
    let now = (gate.clock)();
    begin_rollover(&gate.writer, now);
    drop_expired(&gate.readers, &gate.writer, now);
}

/// Writes to the log where the audit log of the last day that is over ends, once it has its last rows: there no SQL
/// reaches it. The day that was written.
fn log_head(gate: &Gate, logged: Option<i64>) -> Option<i64> {
    let late = day::Instant::from_millis((gate.clock)().millis() - LATE_ROWS_MILLIS_MAX);
    let today = late.utc_day();
    if logged == Some(today) {
        return logged;
    }
    match gate.readers.read(Lane::Slow, |connection| newest_head(connection, today)) {
        Ok(Some(head)) => tracing::info!("the audit log of {head}"),
        Ok(None) => {}
        Err(failure) => log(&format!("the head of the last day is not known: {failure}")),
    }
    Some(today)
}

fn end_of_day(readers: &Readers, writer: &WriterQueue) {
    let failed = "the end of the day was not carried out";
    for tenant in all_tenants(readers, failed) {
        steps::begin(writer, failed.to_owned(), Behind::default(), move |batch, behind| {
            batch.whole(tenant, None, |tx| belege::finalise_past_days(tx, behind))
        });
    }
}

/// Drops some of what a company has from before an instant; how many.
type DropSome = fn(&Connection, TenantId, day::Instant) -> Result<usize>;

/// Changes for pollers (D28), and answers to requests that may come again (D19), with the days for which they are kept.
const EXPIRING: [(&str, i64, DropSome); 2] =
    [("changes", feed::DAYS, feed::drop_some), ("stored answers", idempotency::DAYS, idempotency::drop_some)];

fn drop_expired(readers: &Readers, writer: &WriterQueue, now: day::Instant) {
    for tenant in all_tenants(readers, "nothing old was dropped") {
        for (what, days, drop_some) in EXPIRING {
            let before = day::Instant::from_millis(now.millis() - days * day::Instant::MILLIS_PER_DAY);
            steps::begin(writer, format!("old {what} were not dropped"), (), move |batch, ()| {
                let dropped = batch.apart(|connection| drop_some(connection, tenant, before))?;
                Ok((dropped > 0).then_some(()))
            });
        }
    }
}

/// None where they cannot be read; `failed` is what the log says of that.
fn all_tenants(readers: &Readers, failed: &str) -> impl Iterator<Item = TenantId> {
    let tenants = readers.read(Lane::Slow, tenants::list);
    let tenants = tenants.inspect_err(|failure| log(&format!("{failed}: {failure}"))).unwrap_or_default();
    tenants.into_iter().map(|tenant| tenant.id)
}
