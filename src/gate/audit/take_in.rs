//! Takes the journal into the table, with the writer's batches, each segment exactly once.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};

use super::journal::{Journal, Ready};
use super::{Row, flood};
use crate::db::error::{Failure, Result};
use crate::db::writer::Housekeeping;
use crate::db::{Clock, log};
use crate::gate::quota::Quota;

/// The writer's side of the journal.
pub struct TakeIn {
    journal: Arc<Journal>,
    quota: Arc<Quota>,
    clock: Clock,
    /// What the running batch has taken in.
    taken: Ready,
    /// Floods wait in the database for the end of their minute.
    has_floods: bool,
}

impl TakeIn {
    /// The writer's side of a journal.
    pub fn new(journal: Arc<Journal>, quota: Arc<Quota>, clock: Clock) -> TakeIn {
        TakeIn { journal, quota, clock, taken: Ready::default(), has_floods: true }
    }

    /// Takes in what an earlier run left behind, before the first request is answered.
    pub fn catch_up(&mut self, connection: &mut Connection) -> Result<()> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.in_batch(&transaction)?;
        transaction.commit()?;
        self.after(true);
        Ok(())
    }
}

impl Housekeeping for TakeIn {
    fn pending(&self, at_stop: bool) -> bool {
        let (is_ready, ripe) = self.journal.state(at_stop);
        is_ready || (ripe && (self.has_floods || self.quota.is_unsaved()))
    }

    fn in_batch(&mut self, connection: &Connection) -> Result<()> {
        self.taken = self.journal.hand_over();
        for segment in &self.taken.segments {
            take_in(connection, &self.journal.path(*segment))?;
        }
        self.taken.rows.iter().try_for_each(|row| row.store(connection))?;
        self.has_floods = flood::close_past(connection, (self.clock)())?;
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
        if committed {
            taken.segments.iter().for_each(|segment| self.journal.delete(*segment));
        } else {
            self.journal.take_back(taken);
        }
    }
}

/// Rows of a segment; a last line that was cut off by a power cut is no row.
fn take_in(connection: &Connection, segment: &Path) -> Result<()> {
    let bytes = match fs::read(segment) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::Broken(format!("{}: {error}", segment.display()))),
    };
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Row>(line) {
            Ok(row) => insert_or_leave_out(connection, row, segment)?,
            Err(error) => log(&format!("{}: a damaged audit row was left out: {error}", segment.display())),
        }
    }
    Ok(())
}

/// A row that the table refuses (its route is that of another version) goes in without its
/// route, or not at all: it must not keep the others out.
fn insert_or_leave_out(connection: &Connection, row: Row, segment: &Path) -> Result<()> {
    let refused = |result: &Result<()>| {
        matches!(result, Err(Failure::Sql(error))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation))
    };
    let result = row.store(connection);
    if !refused(&result) {
        return result;
    }
    let result = Row { route_id: None, ..row }.store(connection);
    if refused(&result) {
        log(&format!("{}: an audit row that does not fit was left out", segment.display()));
        return Ok(());
    }
    result
}
