//! What the service does by itself when a day is over in Berlin, and at its start for days that
//! it missed: documents become final, old audit rows are dropped, a backup is made.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::nightly::Schedule;
use super::sweep;
use crate::belege::{self, Behind};
use crate::db::TenantId;
use crate::db::batch::{Batch, Ended, Job};
use crate::db::readers::{Lane, Readers};
use crate::db::tx::{Tx, WriteTx};
use crate::db::vital::vital;
use crate::db::writer::WriterQueue;
use crate::db::{Clock, log};
use crate::failure::Result;
use crate::gate::Gate;
use crate::gate::audit::{Rollover, newest_head};
use crate::rules::day::Day;
use crate::tenants;

/// How often the clock is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often the end of the day is tried again; it does nothing where nothing is left to do.
const TRY_AGAIN: Duration = Duration::from_secs(60);

/// How long after the end of a UTC day its last rows come in at most, as a rule, in milliseconds: those of reads wait a
/// second in the journal.
const LATE_ROWS: i64 = 10_000;

const ROLLOVER_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Does at the start what midnight would have done.
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
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let now = Day::in_berlin((gate.clock)());
        // Once at midnight, and again and again: what failed the first time is not forgotten.
        if now > today || last_try.elapsed() >= TRY_AGAIN {
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

/// Drops what is older than it must be kept: rows of the log, changes, stored answers.
fn drop_old(gate: &Gate) {
    let now = (gate.clock)();
    Rollover::begin(&gate.writer, now);
    sweep::begin(&gate.readers, &gate.writer, now);
}

/// Writes to the log where the audit log of the last day that is over ends, once it has its last rows: there no SQL
/// reaches it. The day that was written.
fn log_head(gate: &Gate, logged: Option<i64>) -> Option<i64> {
    let late = crate::rules::day::Instant::from_millis((gate.clock)().millis() - LATE_ROWS);
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
    match readers.read(Lane::Slow, tenants::list) {
        Ok(tenants) => tenants.into_iter().for_each(|tenant| {
            writer.submit(Box::new(EndOfDay {
                tenant: tenant.id,
                writer: writer.clone(),
                behind: Behind::default(),
                next: None,
            }));
        }),
        Err(failure) => log(&format!("the end of the day was not carried out: {failure}")),
    }
}

/// Finalises some documents of a company, and comes again while there are more.
struct EndOfDay {
    tenant: TenantId,
    writer: WriterQueue,
    behind: Behind,
    /// Where to go on; none where nothing is left.
    next: Option<Behind>,
}

impl Job for EndOfDay {
    fn run(&mut self, batch: &Batch<'_>) {
        let behind = self.behind;
        match batch.whole(self.tenant, None, |tx| belege::finalise_past_days(tx, behind)) {
            Ok(next) => self.next = next,
            Err(failure) => {
                self.next = None;
                log(&format!("the end of the day was not carried out: {failure}"));
            }
        }
    }

    fn finish(self: Box<Self>, ended: Ended) {
        if let (Ended::Committed, Some(behind)) = (ended, self.next) {
            let EndOfDay { tenant, writer, .. } = *self;
            writer.submit(Box::new(EndOfDay { tenant, writer: writer.clone(), behind, next: None }));
        }
    }
}
