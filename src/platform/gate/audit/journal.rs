//! The journal: rows that must not wait for the disk go to append-only files beside the database,
//! written before the answer; a kill -9 loses nothing.
//!
//! A line is the row, its number and a seal over both and the number of the segment, with tabs between them: a
//! line that somebody else wrote, or took from another place, is not taken in. Without a secret a line is the row
//! alone.

use std::fs::{self, File};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant as Ticks};

use rusqlite::{Connection, OptionalExtension};

use super::row::Row;
use super::strangers::Strangers;
use crate::platform::db::file::files::{beside, broken, folder_of, private_options, remove_file};
use crate::platform::db::log;
use crate::platform::db::seals::seal::Secret;
use crate::platform::failure::{Result, locked};
use crate::rules::day::Instant;

/// A segment of the journal is taken in when it is this old.
const SEGMENT_AGE: Duration = Duration::from_secs(1);

/// A segment that is this large is complete: some 5,000 rows.
const SEGMENT_BYTES_MAX: u64 = 1 << 20;

/// Segments that are taken in at once: some 10,000 rows, a tenth of a second in which nobody else writes.
const SEGMENTS_TAKEN_IN_MAX: usize = 2;

/// Rows that waited in memory and are taken in at once.
const ROWS_TAKEN_IN_MAX: usize = 20_000;

/// What the name of a segment has between the database and its number.
const SEGMENT: &str = "audit-journal-";

/// Largest number of a segment; a file with a larger one is none of ours.
const SEGMENT_NUMBER_MAX: u64 = 1 << 62;

/// Rows that wait in memory when the journal cannot be written (full disk).
const ROWS_WAITING_MAX: usize = 100_000;

/// The journal: files `<database>-audit-journal-<n>`, of which the highest is written.
pub struct Journal {
    database: PathBuf,
    secret: Option<Secret>,
    state: Mutex<State>,
    strangers: Strangers,
}

#[derive(Default)]
struct State {
    segment: u64,
    file: Option<File>,
    bytes: u64,
    lines: u64,
    /// When the segment that was written last was begun.
    opened: Option<Ticks>,
    /// The last row was written in part: the next begins on a new line.
    torn: bool,
    /// Segments that are complete and not yet taken in.
    complete: Vec<u64>,
    /// Rows that could not be written.
    waiting: Vec<Row>,
    lost: u64,
}

impl Journal {
    /// Finds what an earlier run left behind; what it took in already is deleted. Without a secret every line that can
    /// be read is taken in.
    pub fn open(database: &Path, connection: &Connection, secret: Option<&Secret>) -> Result<Journal> {
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
        let state = Mutex::new(State { segment, complete, ..State::default() });
        let (database, secret) = (database.to_owned(), secret.cloned());
        Ok(Journal { database, secret, state, strangers: Strangers::default() })
    }

    /// Writes the row of a request without a valid key, or counts it.
    pub fn append_of_stranger(&self, row: Row, network: IpAddr, now: Instant) {
        if let Some(row) = self.strangers.listed(row, network, now) {
            self.append(row);
        }
    }

    /// Writes a row, so that it outlives the process.
    pub fn append(&self, row: Row) {
        // Written down before others have to wait for it.
        let line = row.line();
        let mut state = locked(&self.state);
        if let Err(error) = line.and_then(|line| self.write(&mut state, line)) {
            if state.waiting.is_empty() {
                log(&format!("the audit journal cannot be written, its rows wait in memory: {error}"));
            }
            if state.waiting.len() < ROWS_WAITING_MAX { state.waiting.push(row) } else { state.lost += 1 }
        }
    }

    fn write(&self, state: &mut State, mut line: Vec<u8>) -> std::io::Result<()> {
        if let Some(secret) = &self.secret {
            let number = state.lines + 1;
            let seal = secret.line(state.segment, number, &line);
            write!(line, "\t{number}\t")?;
            line.extend(seal);
        }
        line.push(b'\n');
        if state.torn {
            line.insert(0, b'\n');
        }
        let file = match &mut state.file {
            Some(file) => file,
            none => {
                state.opened = Some(Ticks::now());
                let segment = segment_path(&self.database, state.segment);
                none.insert(private_options().append(true).create(true).open(segment)?)
            }
        };
        let result = file.write_all(&line);
        match &result {
            Ok(()) => {
                state.lines += 1;
                (state.torn, state.bytes) = (false, state.bytes + line.len() as u64);
            }
            // What was written of it is taken back; where even that fails, the next row begins on
            // a line of its own.
            Err(_) => state.torn = file.set_len(state.bytes).is_err(),
        }
        if state.bytes >= SEGMENT_BYTES_MAX {
            state.complete_segment();
        }
        result
    }
}

impl State {
    fn complete_segment(&mut self) {
        self.complete.push(self.segment);
        self.segment += 1;
        (self.file, self.bytes, self.lines, self.torn) = (None, 0, 0, false);
    }
}

#[derive(Default)]
pub struct Ready {
    pub segments: Vec<u64>,
    /// Rows that could not be written.
    pub rows: Vec<Row>,
    /// How many were too many to be kept.
    pub lost: u64,
}

impl Ready {
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.rows.is_empty()
    }
}

impl Journal {
    /// Whether anything is ready, and whether it is time to look again; at a stop it always is.
    pub fn state(&self, at_stop: bool) -> (bool, bool) {
        let state = locked(&self.state);
        let ripe = at_stop || state.opened.is_none_or(|opened| opened.elapsed() >= SEGMENT_AGE);
        let waiting = !state.complete.is_empty() || !state.waiting.is_empty() || state.lost > 0;
        ((state.bytes > 0 && ripe) || waiting || self.strangers.are_due(at_stop), ripe)
    }

    /// Whether more is complete than was handed over at once.
    pub fn has_more(&self) -> bool {
        let state = locked(&self.state);
        !state.complete.is_empty() || !state.waiting.is_empty()
    }

    /// Closes the segment that is written, and hands over what is complete, the oldest first and not more than may
    /// be taken in at once.
    pub fn hand_over(&self) -> Ready {
        let mut state = locked(&self.state);
        if state.bytes > 0 {
            state.complete_segment();
        }
        let segments = state.complete.len().min(SEGMENTS_TAKEN_IN_MAX);
        let rows = state.waiting.len().min(ROWS_TAKEN_IN_MAX);
        let mut ready = Ready {
            segments: state.complete.drain(..segments).collect(),
            rows: state.waiting.drain(..rows).collect(),
            lost: std::mem::take(&mut state.lost),
        };
        ready.rows.extend(self.strangers.hand_over());
        ready
    }

    /// Takes back what could not be taken in.
    pub fn take_back(&self, ready: Ready) {
        let mut state = locked(&self.state);
        state.complete.splice(0..0, ready.segments);
        let rows = ready.rows.into_iter().filter_map(|row| self.strangers.take_back(row));
        state.waiting.splice(0..0, rows);
        state.lost += ready.lost;
    }

    /// Reads a line of a segment behind line `last`: its number, and the row; else why it is left out.
    pub fn read(&self, segment: u64, last: u64, line: &[u8]) -> std::result::Result<(u64, Row), String> {
        let parse = |row: &[u8]| {
            serde_json::from_slice(row).map_err(|error| format!("a damaged audit row was left out: {error}"))
        };
        let whole = line.strip_suffix(b"\n").unwrap_or(line);
        let parts = parts(whole);
        let Some(secret) = &self.secret else {
            return parse(parts.map_or(whole, |(row, ..)| row)).map(|row| (last + 1, row));
        };
        let Some((row, number, seal)) = parts else {
            return Err("an audit row without a seal is none of ours and was left out".to_owned());
        };
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        let sealed = number.filter(|number| *number > last && secret.line(segment, *number, row) == *seal);
        let Some(number) = sealed else {
            return Err("an audit row with a wrong seal is none of ours and was left out".to_owned());
        };
        if number != last + 1 {
            log(&format!("{}: audit rows before line {number} are missing", self.path(segment).display()));
        }
        parse(row).map(|row| (number, row))
    }

    /// Sets a segment aside whose rows could not all be read.
    pub fn set_aside(&self, segment: u64) {
        let (path, aside) = (self.path(segment), beside(&self.database, &format!("audit-damaged-{segment}")));
        match fs::rename(&path, &aside) {
            Ok(()) => log(&format!("the damaged audit rows were kept in {}", aside.display())),
            Err(error) => log(&format!("{} cannot be renamed: {error}", path.display())),
        }
    }

    pub fn delete(&self, segment: u64) {
        delete(&self.path(segment));
    }

    pub fn path(&self, segment: u64) -> PathBuf {
        segment_path(&self.database, segment)
    }
}

/// Numbers of the segments beside a database, ascending.
pub fn segments(database: &Path) -> Result<Vec<u64>> {
    let name = beside(database, SEGMENT);
    let prefix = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = folder_of(database);
    let entries = fs::read_dir(folder).map_err(broken(folder, "kann nicht gelesen werden"))?;
    let mut found: Vec<u64> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix(&prefix)?.parse().ok())
        .filter(|segment| *segment <= SEGMENT_NUMBER_MAX)
        .collect();
    found.sort_unstable();
    Ok(found)
}

/// The row, the number and the seal of a line.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (first, last) = (memchr::memchr(b'\t', line)?, memchr::memrchr(b'\t', line)?);
    Some((&line[..first], line.get(first + 1..last)?, &line[last + 1..]))
}

fn segment_path(database: &Path, segment: u64) -> PathBuf {
    beside(database, &format!("{SEGMENT}{segment}"))
}

fn delete(path: &Path) {
    if let Err(failure) = remove_file(path) {
        log(&failure.to_string());
    }
}
