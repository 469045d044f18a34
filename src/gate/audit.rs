//! The audit log: one row for every answered request.
//!
//! A write's row commits with the write. The rows of reads and refusals must not wait for the
//! disk: they go to an append-only journal beside the database, written before the answer (a
//! kill -9 loses nothing), which the writer takes into the table, each segment exactly once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Ticks};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, named_params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::quota::Quota;
use crate::db::error::{Failure, Result};
use crate::db::log;
use crate::db::migrate::beside;
use crate::db::writer::Housekeeping;
use crate::http::route::Route;

/// A segment of the journal is taken in when it is this old or large.
const SEGMENT_AGE: Duration = Duration::from_secs(1);
const SEGMENT_BYTES: u64 = 1 << 20;

/// Rows that wait in memory when the journal cannot be written (full disk).
const MAX_WAITING: usize = 100_000;

/// One row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Row {
    pub am: i64,
    pub request_id: Uuid,
    pub key_id: Option<String>,
    pub tenant_id: Option<i64>,
    pub adresse: String,
    pub methode: String,
    pub route_id: Option<i64>,
    pub pfad: String,
    pub status: u16,
    pub dauer_us: i64,
    pub bytes_ein: usize,
    pub bytes_aus: usize,
    pub subjekt: Option<Uuid>,
}

const MILLIS_PER_DAY: i64 = 86_400_000;

impl Row {
    /// Adds the row to the table.
    pub fn insert(&self, connection: &Connection) -> Result<()> {
        let statement = "insert into audit (tag, lfd_nr, am, request_id, key_id, tenant_id, adresse, methode,
               route_id, pfad, status, dauer_us, bytes_ein, bytes_aus, subjekt)
             values (:tag, (select coalesce(max(lfd_nr), 0) + 1 from audit where tag = :tag), :am, :request_id,
               :key_id, :tenant_id, :adresse, :methode, :route_id, :pfad, :status, :dauer_us, :bytes_ein,
               :bytes_aus, :subjekt)";
        connection.prepare_cached(statement)?.execute(named_params! {
            ":tag": self.am.div_euclid(MILLIS_PER_DAY),
            ":am": self.am,
            ":request_id": self.request_id,
            ":key_id": self.key_id,
            ":tenant_id": self.tenant_id,
            ":adresse": self.adresse,
            ":methode": self.methode,
            ":route_id": self.route_id,
            ":pfad": self.pfad,
            ":status": self.status,
            ":dauer_us": self.dauer_us,
            ":bytes_ein": self.bytes_ein as i64,
            ":bytes_aus": self.bytes_aus as i64,
            ":subjekt": self.subjekt,
        })?;
        Ok(())
    }
}

/// Gives every route its number in the audit log, in the order of the table.
pub fn number_routes(connection: &Connection, routes: &[&'static Route]) -> Result<Vec<i64>> {
    let number = |route: &&'static Route| {
        let key = (route.method.as_str(), route.pattern);
        connection
            .execute("insert into route (methode, muster) values (?1, ?2) on conflict do nothing", key)?;
        let id = "select id from route where methode = ?1 and muster = ?2";
        Ok(connection.query_row(id, key, |row| row.get(0))?)
    };
    routes.iter().map(number).collect()
}

/// The journal: files `<database>-audit-<n>`, of which the highest is written.
pub struct Journal {
    database: PathBuf,
    state: Mutex<State>,
}

struct State {
    /// Number of the segment that is written.
    segment: u64,
    file: Option<File>,
    bytes: u64,
    opened: Ticks,
    /// The last row was written in part: the next begins on a new line.
    torn: bool,
    /// Segments that are complete and not yet taken in.
    complete: Vec<u64>,
    /// Rows that could not be written.
    waiting: Vec<Row>,
    lost: u64,
}

impl Journal {
    /// Finds what an earlier run left behind; what it took in already is deleted.
    pub fn open(database: &Path, connection: &Connection) -> Result<Journal> {
        let taken_in: Option<i64> = connection
            .query_row("select letztes_segment from audit_journal where id = 1", [], |row| row.get(0))
            .optional()?;
        let taken_in = taken_in.unwrap_or(0).unsigned_abs();
        let (old, complete): (Vec<u64>, Vec<u64>) =
            segments(database)?.into_iter().partition(|segment| *segment <= taken_in);
        for segment in old {
            delete(&segment_path(database, segment));
        }
        let segment = complete.last().copied().unwrap_or(taken_in) + 1;
        let state = State {
            segment,
            file: None,
            bytes: 0,
            opened: Ticks::now(),
            torn: false,
            complete,
            waiting: Vec::new(),
            lost: 0,
        };
        Ok(Journal { database: database.to_owned(), state: Mutex::new(state) })
    }

    /// Writes a row, so that it outlives the process.
    pub fn append(&self, row: Row) {
        let mut state = self.lock();
        if let Err(error) = self.write(&mut state, &row) {
            if state.waiting.is_empty() {
                log(&format!("the audit journal cannot be written, its rows wait in memory: {error}"));
            }
            if state.waiting.len() < MAX_WAITING { state.waiting.push(row) } else { state.lost += 1 }
        }
    }

    fn write(&self, state: &mut State, row: &Row) -> std::io::Result<()> {
        let mut line = if state.torn { vec![b'\n'] } else { Vec::with_capacity(320) };
        serde_json::to_writer(&mut line, row)?;
        line.push(b'\n');
        let file = match &mut state.file {
            Some(file) => file,
            none => {
                let mut options = File::options();
                options.append(true).create(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                state.opened = Ticks::now();
                none.insert(options.open(segment_path(&self.database, state.segment))?)
            }
        };
        let result = file.write_all(&line);
        match &result {
            Ok(()) => (state.torn, state.bytes) = (false, state.bytes + line.len() as u64),
            // What was written of it is taken back; where even that fails, the next row begins on
            // a line of its own.
            Err(_) => state.torn = file.set_len(state.bytes).is_err(),
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the journal into the table, with the writer's batches.
pub struct TakeIn {
    journal: Arc<Journal>,
    quota: Arc<Quota>,
    /// What the running batch has taken in.
    segments: Vec<u64>,
    rows: Vec<Row>,
}

impl TakeIn {
    /// The writer's side of a journal.
    pub fn new(journal: Arc<Journal>, quota: Arc<Quota>) -> TakeIn {
        TakeIn { journal, quota, segments: Vec::new(), rows: Vec::new() }
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
        let state = self.journal.lock();
        let ripe = at_stop || state.bytes >= SEGMENT_BYTES || state.opened.elapsed() >= SEGMENT_AGE;
        (state.bytes > 0 && ripe)
            || !state.complete.is_empty()
            || !state.waiting.is_empty()
            || state.lost > 0
            || (ripe && self.quota.is_unsaved())
    }

    fn in_batch(&mut self, connection: &Connection) -> Result<()> {
        {
            let mut state = self.journal.lock();
            if state.bytes > 0 {
                let segment = state.segment;
                state.complete.push(segment);
                state.segment += 1;
                (state.file, state.bytes, state.torn) = (None, 0, false);
            }
            self.segments = std::mem::take(&mut state.complete);
            self.rows = std::mem::take(&mut state.waiting);
            if state.lost > 0 {
                log(&format!("{} audit rows were lost while the disk was full", state.lost));
                state.lost = 0;
            }
        }
        for segment in &self.segments {
            take_in(connection, &segment_path(&self.journal.database, *segment))?;
        }
        self.rows.iter().try_for_each(|row| row.insert(connection))?;
        self.quota.save(connection)?;
        if let Some(last) = self.segments.last() {
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
        let segments = std::mem::take(&mut self.segments);
        let rows = std::mem::take(&mut self.rows);
        if committed {
            segments.iter().for_each(|segment| delete(&segment_path(&self.journal.database, *segment)));
            return;
        }
        let mut state = self.journal.lock();
        state.complete.splice(0..0, segments);
        state.waiting.splice(0..0, rows);
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
    let result = row.insert(connection);
    if !refused(&result) {
        return result;
    }
    let result = Row { route_id: None, ..row }.insert(connection);
    if refused(&result) {
        log(&format!("{}: an audit row that does not fit was left out", segment.display()));
        return Ok(());
    }
    result
}

/// Numbers of the segments beside a database, ascending.
pub fn segments(database: &Path) -> Result<Vec<u64>> {
    let name = beside(database, "audit-");
    let prefix = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = match database.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let entries = fs::read_dir(folder)
        .map_err(|error| Failure::Broken(format!("{} cannot be read: {error}", folder.display())))?;
    let mut found: Vec<u64> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok())
        .collect();
    found.sort_unstable();
    Ok(found)
}

fn segment_path(database: &Path, segment: u64) -> PathBuf {
    beside(database, &format!("audit-{segment}"))
}

fn delete(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        log(&format!("{} cannot be deleted: {error}", path.display()));
    }
}
