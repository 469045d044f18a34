//! The service's daily work, done when a day ends in Berlin, and at startup for days it missed: finalises
//! documents, drops old audit rows, makes a backup.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::nightly::Schedule;
use crate::master::tenants;
use crate::platform::db::file::steps;
use crate::platform::db::readers::{Lane, Readers};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::db::writer::WriterQueue;
use crate::platform::db::writer::critical::spawn_critical;
use crate::platform::db::{Clock, TenantId, feed, log};
use crate::platform::failure::{Result, locked};
use crate::platform::gate::Gate;
use crate::platform::gate::audit::{self, begin_rollover};
use crate::platform::gate::flow::idempotency;
use crate::rules::day::{self, Day};
use crate::trade::belege::{self, ResumePosition};

const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How often the end of the day is continued where it stopped; cheap if nothing is left to do.
const RETRY_EVERY: Duration = Duration::from_secs(60);

const ROLLOVER_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a clock that jumped ahead must keep that time before anything is dropped by it.
const CLOCK_HOLDS: Duration = Duration::from_secs(6 * 60 * 60);

/// How far the end of the day got for each company.
type GotTo = Arc<Mutex<HashMap<TenantId, ResumePosition>>>;

pub fn catch_up(connection: &mut Connection, clock: &Clock) -> Result<()> {
    for tenant in tenants::list(connection)? {
        let mut next = Some(ResumePosition::default());
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
    /// `newest` is the instant of the newest row of both logs.
    pub fn start(
        gate: Arc<Gate>,
        schedule: Schedule,
        newest: Option<day::Instant>,
    ) -> std::io::Result<Midnight> {
        let (stop, stopped) = channel();
        let thread = spawn_critical("midnight", move || wait(&gate, schedule, newest, &stopped))?;
        Ok(Midnight { stop, thread })
    }

    pub fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

/// Decides when old rows are dropped: once a day by the machine's monotonic clock, and not while the wall
/// clock has jumped ahead.
struct Rollover {
    /// Last known wall-clock time and the monotonic time at which it was read; `None` if nothing is known
    /// yet.
    expected: Option<(day::Instant, Instant)>,
    due: Instant,
}

impl Rollover {
    fn new(newest: Option<day::Instant>, ticks: Instant) -> Rollover {
        Rollover { expected: newest.map(|newest| (newest, ticks)), due: ticks }
    }

    /// Whether it is time, and the clock is at most a day ahead of what is expected (P20). A clock further
    /// ahead must first keep its time for `CLOCK_HOLDS`.
    fn is_due(&mut self, now: day::Instant, ticks: Instant) -> bool {
        if ticks < self.due {
            return false;
        }
        let passed = |since| i64::try_from(ticks.duration_since(since).as_millis()).unwrap_or(i64::MAX);
        let is_ahead = |(expected, since): &(day::Instant, Instant)| {
            now.millis().saturating_sub(expected.millis()).saturating_sub(passed(*since))
                > day::Instant::MILLIS_PER_DAY
        };
        let has_jumped = self.expected.as_ref().is_none_or(is_ahead);
        if let (true, Some((expected, _))) = (has_jumped, self.expected) {
            let hours = CLOCK_HOLDS.as_secs() / 3600;
            log(&format!(
                "the clock says {now}, long after {expected}: nothing old is dropped for {hours} hours"
            ));
        }
        self.expected = Some((now, ticks));
        self.due = ticks + if has_jumped { CLOCK_HOLDS } else { ROLLOVER_EVERY };
        !has_jumped
    }
}

fn wait(gate: &Gate, mut schedule: Schedule, newest: Option<day::Instant>, stopped: &Receiver<()>) {
    let mut today = Day::in_berlin((gate.clock)());
    let got_to = GotTo::default();
    let mut last_try = Instant::now();
    let mut rollover = Rollover::new(newest, Instant::now());
    let mut logged = None;
    drop_old(gate, &mut rollover);
    while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
        let now = Day::in_berlin((gate.clock)());
        // Documents that stayed open at midnight are tried again the next day.
        if now > today {
            locked(&got_to).clear();
        }
        // Runs at midnight and then every `RETRY_EVERY`, so that a failure is retried.
        if now > today || last_try.elapsed() >= RETRY_EVERY {
            end_of_day(&gate.readers, &gate.writer, &got_to);
            last_try = Instant::now();
        }
        today = now;
        logged = log_head(gate, logged);
        schedule.look();
        gate.waiters.look(&gate.readers);
        drop_old(gate, &mut rollover);
    }
}

fn drop_old(gate: &Gate, rollover: &mut Rollover) {
    let now = (gate.clock)();
    if !rollover.is_due(now, Instant::now()) {
        return;
    }
    begin_rollover(&gate.writer, now);
    drop_expired(&gate.readers, &gate.writer, now);
}

/// Logs where the audit log ends, at the start and after each UTC day: no SQL statement can change the service's log.
/// Returns the day on which it was logged.
fn log_head(gate: &Gate, logged: Option<i64>) -> Option<i64> {
    let today = (gate.clock)().utc_day();
    if logged == Some(today) {
        return logged;
    }
    match gate.readers.read(Lane::Slow, |connection| audit::CHAIN.end_in_words(connection)) {
        Ok(Some(end)) => tracing::info!("the audit log ends with: {end}"),
        Ok(None) => {}
        Err(failure) => log(&format!("the end of the audit log is not known: {failure}")),
    }
    Some(today)
}

fn end_of_day(readers: &Readers, writer: &WriterQueue, got_to: &GotTo) {
    let failed = "the end of the day was not carried out";
    for tenant in all_tenants(readers, failed) {
        let behind = locked(got_to).get(&tenant).copied().unwrap_or_default();
        let got_to = Arc::clone(got_to);
        steps::begin(writer, failed.to_owned(), behind, move |batch, behind| {
            // Everything before this position is committed.
            locked(&got_to).insert(tenant, behind);
            batch.whole(tenant, None, |tx| belege::finalise_past_days(tx, behind))
        });
    }
}

/// Drops some of a company's rows from before an instant; returns how many.
type DropSome = fn(&Connection, TenantId, day::Instant) -> Result<usize>;

/// Changes for pollers (D28) and stored answers for repeated requests (D19), with the days for which they are
/// kept.
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

/// Returns no tenants if they cannot be read, and logs that with the text `failed`.
fn all_tenants(readers: &Readers, failed: &str) -> impl Iterator<Item = TenantId> {
    let tenants = readers.read(Lane::Slow, tenants::list);
    let tenants = tenants.inspect_err(|failure| log(&format!("{failed}: {failure}"))).unwrap_or_default();
    tenants.into_iter().map(|tenant| tenant.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumps_ahead_drops_nothing_before_it_has_held() {
        const HOUR: i64 = 60 * 60 * 1_000;
        // Per step: hours of running time, hours by which the clock is ahead of the newest row plus that
        // time, and whether old rows are dropped.
        let stories: [&[(u64, i64, bool)]; 5] = [
            &[(0, 1, true), (1, 1, false), (23, 1, false), (24, 1, true), (48, 1, true)],
            &[(0, 8_760, false), (5, 8_760, false), (6, 8_760, true), (29, 8_760, false), (30, 8_760, true)],
            &[(0, 8_760, false), (1, 0, false), (6, 0, true)],
            &[(0, 0, true), (12, 8_760, false), (24, 8_760, false), (30, 8_760, true)],
            &[(0, 0, true), (24, -8_760, true), (48, 0, false), (54, 0, true)],
        ];
        let (newest, begun) = (day::Instant::from_millis(1_783_677_600_000), Instant::now());
        for story in stories {
            let mut rollover = Rollover::new(Some(newest), begun);
            for (hours, ahead, expected) in story {
                let now = day::Instant::from_millis(newest.millis() + (*hours as i64 + ahead) * HOUR);
                let ticks = begun + Duration::from_secs(hours * 60 * 60);
                assert_eq!(rollover.is_due(now, ticks), *expected, "{story:?} after {hours} hours");
            }
        }
        assert!(!Rollover::new(None, begun).is_due(newest, begun), "nothing is known of the time before");
    }
}
