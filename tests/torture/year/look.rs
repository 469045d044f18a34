//! Checks after a day: everything answered is there, nothing too old, and resources have not grown.

use std::path::Path;

use partnerd::operations::check::check;
use partnerd::platform::db::Clock;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::seals::seal::Secret;
use partnerd::rules::day::Day;
use rusqlite::Connection;

use super::day::Counts;
use super::server::KEEP;
use crate::process::{Client, Folder, most_memory};

/// Days for which the log and the changes are kept, and answers for repeated requests (specification, Limits; D19).
const LOG_DAYS: i64 = 90;
const ANSWER_DAYS: i64 = 7;

/// The write-ahead log stays below this (P7).
const LOG_BYTES_MAX: u64 = 64 << 20;

/// Days over which the growth of the file is measured.
const WINDOW: i64 = 30;

/// Maximum growth of memory after the first window, in MiB: until then each thread of the system's allocator
/// gets its own arena, in a service that is restarted every day.
const MEMORY_GROWTH_MAX: usize = 64;

/// Maximum growth of the bytes read for the same requests, per document: lists count the entries of an index,
/// and a row of a document is several times as long.
const READ_PER_DOCUMENT_MAX: u64 = 200;

pub fn names(folder: &Folder) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

/// No unfinished copy, no copy from before a restore, and no more backups than are kept.
pub fn has_nothing_left(folder: &Folder) -> Result<(), String> {
    let names = names(folder);
    let backups = std::fs::read_dir(folder.file("nachts")).unwrap().count();
    match names.iter().find(|name| name.contains("-part") || name.contains("-before-")) {
        Some(left) => Err(format!("{left} is left")),
        None if backups > KEEP => Err(format!("{backups} files where {KEEP} backups are kept")),
        None => Ok(()),
    }
}

pub fn is_whole(database: &Path, clock: &Clock) -> Result<(), String> {
    let failed = |failure: partnerd::platform::failure::Failure| failure.to_string();
    let secret = Secret::read(database).map_err(failed)?;
    let mut connection = open_writer(database).map_err(failed)?;
    let lines = check(&mut connection, secret.as_ref(), clock, |_| Ok(())).map_err(failed)?;
    match lines.into_iter().find(|line| line.violations > 0) {
        Some(line) => Err(format!("{}: {:?}", line.rule, line.finding)),
        None => Ok(()),
    }
}

fn number(connection: &Connection, sql: &str) -> Result<i64, String> {
    connection.query_row(sql, [], |row| row.get(0)).map_err(|error| format!("{sql}: {error}"))
}

pub fn counted(database: &Path, expected: &Counts) -> Result<(), String> {
    let connection = Connection::open(database).map_err(|error| error.to_string())?;
    let rows = |of: &str| number(&connection, &format!("select count(*) from {of}"));
    let found = Counts {
        deliveries: rows("beleg where beleg_typ = 'EL'")?,
        invoices: rows("beleg where beleg_typ = 'RE'")?,
        weighings: rows("wiegung")?,
    };
    if found == *expected { Ok(()) } else { Err(format!("{found:?} are there, answered were {expected:?}")) }
}

/// The log may have a day more: rows to be dropped are determined at the start.
pub fn old_is_dropped(database: &Path, today: i64) -> Result<(), String> {
    let connection = Connection::open(database).map_err(|error| error.to_string())?;
    let oldest = |what: &str, sql: &str, days: i64| {
        let age = today - number(&connection, sql)?;
        if age <= days + 1 { Ok(()) } else { Err(format!("{what} of {age} days ago: {days} are kept")) }
    };
    oldest("audit rows", "select min(tag) from audit", LOG_DAYS)?;
    oldest("changes", "select coalesce(min(am), 9e15) / 86400000 from aenderung", LOG_DAYS)?;
    oldest("stored answers", "select coalesce(min(am), 9e15) / 86400000 from idempotenz", ANSWER_DAYS)
}

/// Measurements, to be compared with those of the beginning.
#[derive(Default)]
pub struct Measures {
    /// Bytes of the file and number of documents at the end of each day.
    days: Vec<(u64, i64)>,
    first_memory: Option<usize>,
    longest_log: u64,
    /// Bytes read for the same requests, after the first window and today.
    first_read: Option<u64>,
    last_read: u64,
}

impl Measures {
    /// Measures beside the running server.
    pub fn of_running(&mut self, client: &Client, database: &Path) -> Result<(), String> {
        let log = std::fs::metadata(database.with_file_name("partnerd.db-wal")).map_or(0, |log| log.len());
        self.longest_log = self.longest_log.max(log);
        let before = bytes_read();
        for path in ["/api/v1/belege?limit=50", "/api/v1/kunden?suche=L-100", "/api/v1/chargen?limit=50"] {
            if client.get(path).status != 200 {
                return Err(format!("{path} is not answered"));
            }
        }
        self.last_read = bytes_read() - before;
        if self.longest_log > LOG_BYTES_MAX {
            return Err(format!("the write-ahead log has {} MiB", self.longest_log >> 20));
        }
        Ok(())
    }

    pub fn of_day(&mut self, database: &Path, counts: &Counts, day: i64) -> Result<(), String> {
        let bytes = std::fs::metadata(database).map_err(|error| error.to_string())?.len();
        self.days.push((bytes, counts.documents()));
        let memory = most_memory(std::process::id()).unwrap_or_default();
        if day == WINDOW {
            self.first_memory = Some(memory);
        }
        if day == WINDOW {
            self.first_read = Some(self.last_read);
        }
        if day % WINDOW == 0 && day > 0 {
            self.say(database, day, memory)?;
        }
        if self.first_memory.is_some_and(|first| memory > first + MEMORY_GROWTH_MAX) {
            return Err(format!("{memory} MiB of memory, after {WINDOW} days {:?}", self.first_memory));
        }
        self.grows_no_faster(day)
    }

    /// Checks that the file grows only by new data: per document no more than in the first month, when the
    /// log was new, too. The same holds for the bytes read.
    fn grows_no_faster(&self, day: i64) -> Result<(), String> {
        if day < 2 * WINDOW {
            return Ok(());
        }
        let first = self.bytes_per_document(WINDOW);
        let last = self.bytes_per_document(day);
        if last > first {
            return Err(format!("a document takes {last} bytes, at first {first}"));
        }
        let before = self.days[usize::try_from(WINDOW).unwrap_or_default()].1;
        let new = u64::try_from(self.days[self.days.len() - 1].1 - before).unwrap_or_default();
        let most = self.first_read.unwrap_or_default() + READ_PER_DOCUMENT_MAX * new;
        if self.last_read > most {
            return Err(format!(
                "{} bytes are read for three questions, {most} are expected",
                self.last_read
            ));
        }
        Ok(())
    }

    /// Growth per document in the days up to this one.
    fn bytes_per_document(&self, day: i64) -> u64 {
        let at = |day: i64| self.days[usize::try_from(day).unwrap_or_default()];
        let ((from, before), (to, after)) = (at(day - WINDOW), at(day));
        to.saturating_sub(from) / u64::try_from(after - before).unwrap_or(1).max(1)
    }

    /// Prints a line for people; nothing is asserted about it.
    fn say(&self, database: &Path, day: i64, memory: usize) -> Result<(), String> {
        let connection = Connection::open(database).map_err(|error| error.to_string())?;
        let rows = number(&connection, "select count(*) from audit")?;
        let (bytes, documents) = self.days[self.days.len() - 1];
        eprintln!(
            "day {day}: {documents} documents, {} KiB, {} bytes for each of the last {WINDOW} days, {rows} \
             audit rows, write-ahead log {} KiB at most, {memory} MiB of memory, {} KiB read for three \
             questions (day {WINDOW}: {} KiB)",
            bytes >> 10,
            self.bytes_per_document(day),
            self.longest_log >> 10,
            self.last_read >> 10,
            self.first_read.unwrap_or_default() >> 10,
        );
        Ok(())
    }
}

/// Bytes that this process has read, from files and connections (proc(5)).
fn bytes_read() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok());
    read.unwrap_or_default()
}

/// A day as `2026-10-25`.
pub fn text_of_day(day: i64) -> String {
    let noon = partnerd::rules::day::Instant::from_millis((day * 24 + 12) * 3_600_000);
    Day::in_berlin(noon).to_string()
}

/// Whether it is summer time in Berlin at 22:30 UTC of a day: from the last Sunday of March to the day before
/// the last Sunday of October.
pub fn is_summer(day: i64) -> bool {
    let text = text_of_day(day);
    let month_and_day = &text[5..];
    // 1970-01-01 was a Thursday.
    let since_sunday = (day + 4).rem_euclid(7);
    let of_month: i64 = text[8..].parse().unwrap_or_default();
    let last_sunday_is_over = |days: i64| of_month - since_sunday > days - 7;
    match &month_and_day[..2] {
        "03" => last_sunday_is_over(31),
        "10" => !last_sunday_is_over(31),
        month => ("04"..="09").contains(&month),
    }
}
