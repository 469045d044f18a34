//! SQLite alone: the cost of a read without anything around it. One thread runs the server's statements, kept
//! prepared, and writes the JSON of the answer directly from the rows.
//!
//! The bytes must equal the server's answer, else the comparison is void.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Statement, ToSql};
use serde::ser::{SerializeSeq, Serializer};

use crate::fields::{Field, Record};

/// A read: what it selects, and the form of its answer.
pub struct Read {
    pub fields: &'static [Field],
    /// The statement, or that of a page; its parameters are numbered, the first is the company.
    pub rows: String,
    pub form: Form,
}

/// How an answer contains its rows.
pub enum Form {
    /// One row.
    Single,
    /// An array; with the statement that counts all rows, for a header.
    Array(String),
    /// An object of rows and their count; with the statement that counts.
    Listing(String),
    /// The same, but counting days instead of rows: the statement that returns days with their rows, and how
    /// many rows are skipped. The page then begins at a day, which is `?2`.
    Days(String, i64),
}

/// A separate connection.
pub struct Alone {
    connection: Connection,
}

impl Alone {
    /// Opens the database as the server does for reading.
    pub fn open(folder: &Path) -> Alone {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(folder.join("partnerd.db"), flags).unwrap();
        connection
            .execute_batch(
                "pragma busy_timeout = 10000; pragma query_only = on; pragma trusted_schema = off;
                 pragma cell_size_check = on; pragma temp_store = memory;",
            )
            .unwrap();
        Alone { connection }
    }

    /// The CPU time of one read in microseconds, and the body it makes.
    pub fn measure(&self, read: &Read, time: Duration) -> (f64, Vec<u8>) {
        let mut prepared = Prepared::of(&self.connection, read);
        let mut body = Vec::new();
        prepared.once(&mut body);
        let (begun, before, mut count) = (Instant::now(), thread_cpu(), 0);
        while begun.elapsed() < time {
            prepared.once(&mut body);
            count += 1;
        }
        ((thread_cpu() - before).as_secs_f64() * 1e6 / f64::from(count), body)
    }
}

/// The statements of a read, prepared once.
struct Prepared<'c> {
    begin: Statement<'c>,
    end: Statement<'c>,
    count: Option<Statement<'c>>,
    rows: Statement<'c>,
    read: &'c Read,
}

impl<'c> Prepared<'c> {
    fn of(connection: &'c Connection, read: &'c Read) -> Prepared<'c> {
        let prepare = |sql: &str| connection.prepare(sql).unwrap();
        let count = match &read.form {
            Form::Single => None,
            Form::Array(count) | Form::Listing(count) | Form::Days(count, _) => Some(prepare(count)),
        };
        Prepared { begin: prepare("begin"), end: prepare("rollback"), count, rows: prepare(&read.rows), read }
    }

    /// Reads, and writes the body again. Two statements share a snapshot; a single one has its own.
    fn once(&mut self, body: &mut Vec<u8>) {
        body.clear();
        let Prepared { begin, end, count, rows, read } = self;
        let Some(count) = count else {
            let mut rows = rows.query([]).unwrap();
            let record = Record { row: rows.next().unwrap().unwrap(), fields: read.fields };
            return serde_json::to_writer(body, &record).unwrap();
        };
        begin.execute([]).unwrap();
        match &read.form {
            Form::Days(_, offset) => {
                let (all, day, offset) = way(count, *offset);
                listing(body, rows, &[&day, &offset], read.fields, all);
            }
            Form::Listing(_) => {
                let all = count.query_row([], |row| row.get(0)).unwrap();
                listing(body, rows, &[], read.fields, all);
            }
            Form::Array(_) | Form::Single => {
                let _: i64 = count.query_row([], |row| row.get(0)).unwrap();
                array(&mut serde_json::Serializer::new(body), rows, &[], read.fields);
            }
        }
        end.execute([]).unwrap();
    }
}

/// The number of all rows, the day on which a page begins, and how many rows of that day come before it.
fn way(days: &mut Statement<'_>, offset: i64) -> (i64, String, i64) {
    let (mut all, mut day, mut left) = (0, None, offset);
    let mut rows = days.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let lines: i64 = row.get(1).unwrap();
        all += lines;
        if offset >= all {
            left = offset - all;
        } else if day.is_none() {
            day = Some(row.get(0).unwrap());
        }
    }
    (all, day.unwrap(), left)
}

fn listing(
    body: &mut Vec<u8>,
    rows: &mut Statement<'_>,
    params: &[&dyn ToSql],
    fields: &'static [Field],
    all: i64,
) {
    body.extend_from_slice(b"{\"data\":");
    array(&mut serde_json::Serializer::new(&mut *body), rows, params, fields);
    body.extend_from_slice(format!(",\"count\":{all}}}").as_bytes());
}

fn array(
    serializer: &mut serde_json::Serializer<&mut Vec<u8>>,
    rows: &mut Statement<'_>,
    params: &[&dyn ToSql],
    fields: &'static [Field],
) {
    let mut array = serializer.serialize_seq(None).unwrap();
    let mut rows = rows.query(params).unwrap();
    while let Some(row) = rows.next().unwrap() {
        array.serialize_element(&Record { row, fields }).unwrap();
    }
    array.end().unwrap();
}

/// CPU time used by this thread (proc(5): the first figure, in nanoseconds).
fn thread_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}
