//! Takes the journal into the table, with the writer's batches, each segment exactly once.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};
use uuid::Uuid;

use super::adding::Adding;
use super::flood;
use super::journal::{Journal, Ready};
use super::row::Row;
use crate::platform::db::writer::Housekeeping;
use crate::platform::db::{Clock, log};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::quota::Quota;
use crate::rules::day::Instant;

/// The writer's side of the journal.
pub struct TakeIn {
    journal: Arc<Journal>,
    quota: Arc<Quota>,
    clock: Clock,
    /// What the running batch has taken in.
    taken: Ready,
    /// Those of its segments that had rows which cannot be read.
    damaged: Vec<u64>,
    /// Floods wait in the database for the end of their minute.
    has_floods: bool,
    /// There was more than is taken in at once.
    has_more: bool,
    /// The process before this one may have ended because a commit failed.
    is_start: bool,
}

impl TakeIn {
    pub fn new(journal: Arc<Journal>, quota: Arc<Quota>, clock: Clock) -> TakeIn {
        let (taken, damaged) = (Ready::default(), Vec::new());
        let (has_floods, has_more, is_start) = (true, false, false);
        TakeIn { journal, quota, clock, taken, damaged, has_floods, has_more, is_start }
    }

    /// Takes in what an earlier run left behind, before the first request is answered.
    pub fn catch_up(&mut self, connection: &mut Connection) -> Result<()> {
        self.is_start = true;
        loop {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            self.in_batch(&transaction)?;
            transaction.commit()?;
            self.after(true);
            if !self.has_more() {
                break;
            }
        }
        self.is_start = false;
        Ok(())
    }
}

impl Housekeeping for TakeIn {
    fn pending(&self, at_stop: bool) -> bool {
        let (is_ready, ripe) = self.journal.state(at_stop);
        is_ready || (ripe && (self.has_floods || self.quota.is_unsaved()))
    }

    fn has_more(&self) -> bool {
        self.has_more
    }

    fn in_batch(&mut self, connection: &Connection) -> Result<()> {
        self.taken = self.journal.hand_over();
        self.damaged.clear();
        let there = if self.is_start { self.there_already(connection)? } else { HashSet::new() };
        let mut adding = Adding::to(connection);
        for segment in &self.taken.segments {
            if take_in(&mut adding, &self.journal, *segment, &there)? {
                self.damaged.push(*segment);
            }
        }
        self.taken.rows.iter().try_for_each(|row| flood::store(&mut adding, row))?;
        if self.taken.lost > 0 {
            adding.add(&lost_rows(self.taken.lost, (self.clock)()))?;
        }
        self.has_floods = flood::close_past(&mut adding, connection, (self.clock)())?;
        adding.end()?;
        self.quota.save(connection)?;
        if let Some(last) = self.taken.segments.last() {
            connection
                .prepare_cached(
                    "insert into audit_journal (id, letztes_segment) values (1, ?1)
                     on conflict (id) do update set letztes_segment = ?1",
                )?
                .execute([*last as i64])?;
        }
        Ok(())
    }

    fn after(&mut self, committed: bool) {
        let taken = std::mem::take(&mut self.taken);
        // Where nothing comes in, as on a full disk, there is nothing to go on with.
        self.has_more = committed && !taken.is_empty() && self.journal.has_more();
        if committed {
            for segment in &taken.segments {
                match self.damaged.contains(segment) {
                    true => self.journal.set_aside(*segment),
                    false => self.journal.delete(*segment),
                }
            }
        } else {
            self.journal.take_back(taken);
        }
    }
}

impl TakeIn {
    /// Requests that the journal has as answered 503 and the table as done: a commit that failed came back with the
    /// write-ahead log, and with it their rows.
    fn there_already(&self, connection: &Connection) -> Result<HashSet<Uuid>> {
        let mut answered = BTreeMap::<i64, HashSet<Uuid>>::new();
        for segment in &self.taken.segments {
            let rows = lines(&self.journal, *segment)?.into_iter().filter_map(|line| line.ok());
            for row in rows.filter(|row| row.status == 503) {
                answered.entry(Instant::from_millis(row.am).utc_day()).or_default().insert(row.request_id);
            }
        }
        let mut there = HashSet::new();
        for (day, answered) in answered {
            let mut rows = connection.prepare("select request_id from audit where tag = ?1")?;
            for id in rows.query_map([day], |row| row.get(0))? {
                there.extend(answered.get(&id?));
            }
        }
        Ok(there)
    }
}

/// The rows of a segment, each or why it is none; one that is gone is empty. A last line without its end was cut off
/// by a power cut and is no row.
fn lines(journal: &Journal, number: u64) -> Result<Vec<std::result::Result<Row, String>>> {
    let segment = journal.path(number);
    let bytes = match fs::read(&segment) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| Failure::Broken(format!("{}: {error}", segment.display())))?,
    };
    let mut last = 0;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.trim_ascii() != b"");
    let rows = lines.filter_map(|line| match journal.read(number, last, line) {
        Ok((at, row)) => {
            last = at;
            Some(Ok(row))
        }
        Err(_) if !line.ends_with(b"\n") => None,
        Err(why) => Some(Err(why)),
    });
    Ok(rows.collect())
}

/// Takes in the rows of a segment but those that are `there`; whether some could not be read.
fn take_in(adding: &mut Adding<'_>, journal: &Journal, number: u64, there: &HashSet<Uuid>) -> Result<bool> {
    let segment = journal.path(number);
    let mut damaged = false;
    for row in lines(journal, number)? {
        match row {
            Ok(row) if there.contains(&row.request_id) => {}
            Ok(row) => insert_or_leave_out(adding, row, &segment)?,
            Err(why) => {
                damaged = true;
                log(&format!("{}: {why}", segment.display()));
            }
        }
    }
    Ok(damaged)
}

/// The row that says how many rows were lost while the disk was full (promise P8).
fn lost_rows(lost: u64, now: Instant) -> Row {
    log(&format!("{lost} audit rows were lost while the disk was full"));
    Row {
        am: now.millis(),
        pfad: "rows lost while the disk was full".to_owned(),
        status: 503,
        anzahl: i64::try_from(lost).unwrap_or(i64::MAX),
        ..Row::default()
    }
}

/// A row that the table refuses (its route is that of another version) goes in without its
/// route, or not at all: it must not keep the others out.
fn insert_or_leave_out(adding: &mut Adding<'_>, row: Row, segment: &Path) -> Result<()> {
    let refused = |result: &Result<()>| {
        matches!(result, Err(Failure::Sql(error))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation))
    };
    let result = flood::store(adding, &row);
    if !refused(&result) {
        return result;
    }
    let result = flood::store(adding, &Row { route_id: None, ..row });
    if refused(&result) {
        log(&format!("{}: an audit row that does not fit was left out", segment.display()));
        return Ok(());
    }
    result
}
