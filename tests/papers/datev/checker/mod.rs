//! A checker of DATEV's format (EXTF), independent of the program that writes it: it knows what DATEV
//! publishes about its files and what others found out by importing, and nothing of partnerd. As no program
//! of DATEV runs here, it stands in for DATEV's test program.
//!
//! It reads category 21 (Buchungsstapel, versions 12 and 13) and 16 (Debitoren/Kreditoren, version 5).
//! [`check`] reports everything that is wrong; [`steuer::recompute`] returns the net and tax that DATEV makes
//! of the lines.

// Not every binary with this module uses all of it.
#![allow(dead_code)]

pub mod konten;
pub mod kopf;
pub mod raw;
pub mod stamm;
pub mod stapel;
pub mod steuer;

use std::fmt;

use kopf::Kopf;
use raw::Field;

/// DATEV's own samples; their second line contains the official names of the columns.
pub const SAMPLE_STAPEL: &[u8] = include_bytes!("../../../data/datev/EXTF_Buchungsstapel.csv");
pub const SAMPLE_STAMM: &[u8] = include_bytes!("../../../data/datev/EXTF_DebKred_Stamm.csv");

/// Deviations of DATEV's own samples from its rules. Files of partnerd are allowed none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lenient {
    /// Columns 19, 44 and 108 are numbers, but are written as `""` in some lines.
    EmptyNumberQuoted,
    /// A quote inside a text is not doubled.
    QuoteNotDoubled,
    /// An Umsatz of whole euros without `,00`.
    WholeEuros,
    /// Key 20, the old reversal, on an automatic account.
    Key20,
    /// Column 118 is `""` and means 0.
    GeneralumkehrEmpty,
}

impl Lenient {
    pub const SAMPLE_STAPEL: &[Lenient] = &[
        Lenient::EmptyNumberQuoted,
        Lenient::QuoteNotDoubled,
        Lenient::WholeEuros,
        Lenient::Key20,
        Lenient::GeneralumkehrEmpty,
    ];
}

/// A fault and its place: line and column count from 1, column 0 is the line as a whole.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub column: usize,
    pub reason: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "line {}, column {}: {}", self.line, self.column, self.reason)
    }
}

/// A record of the file, without the quotes.
#[derive(Debug)]
pub struct Record {
    pub line: usize,
    fields: Vec<Field>,
}

impl Record {
    /// The content of a column; columns count from 1.
    pub fn get(&self, column: usize) -> &str {
        &self.fields[column - 1].text
    }
}

#[derive(Debug)]
pub struct File {
    pub kopf: Kopf,
    pub records: Vec<Record>,
}

/// Collects the faults of one line.
pub struct Faults<'a> {
    all: &'a mut Vec<Fault>,
    line: usize,
}

impl Faults<'_> {
    pub fn add(&mut self, column: usize, reason: impl Into<String>) {
        self.all.push(Fault { line: self.line, column, reason: reason.into() });
    }

    /// Reports a broken rule unless it holds.
    pub fn expect(&mut self, holds: bool, column: usize, reason: impl Into<String>) {
        if !holds {
            self.add(column, reason);
        }
    }
}

/// Maximum number of records in a file.
pub const MAX_RECORDS: usize = 99_999;

/// Returns the file, or everything that is wrong with it.
pub fn check(file: &[u8], lenient: &[Lenient]) -> Result<File, Vec<Fault>> {
    let mut faults = Vec::new();
    let lines = raw::lines(file, &mut faults);
    let checked = content(&lines, lenient, &mut faults);
    match checked {
        Some(file) if faults.is_empty() => Ok(file),
        _ => Err(faults),
    }
}

fn content(lines: &[&[u8]], lenient: &[Lenient], all: &mut Vec<Fault>) -> Option<File> {
    let (Some(first), Some(names)) = (lines.first(), lines.get(1)) else {
        Faults { all, line: 1 }.add(0, "header or names of the columns are missing");
        return None;
    };
    let fields = raw::fields(first, &[], &mut Faults { all, line: 1 })?;
    let kopf = kopf::check(&fields, &mut Faults { all, line: 1 })?;
    let columns = official_names(&kopf);
    same_names(names, &columns, &mut Faults { all, line: 2 });
    let count = lines.len() - 2;
    if count > MAX_RECORDS {
        Faults { all, line: 0 }.add(0, format!("{count} records are more than {MAX_RECORDS}"));
        return None;
    }
    let mut records = Vec::new();
    for (index, line) in lines.iter().enumerate().skip(2) {
        let mut faults = Faults { all, line: index + 1 };
        let Some(fields) = raw::fields(line, lenient, &mut faults) else { continue };
        if fields.len() != columns.len() {
            faults.add(0, format!("{} fields instead of {}", fields.len(), columns.len()));
            continue;
        }
        let record = Record { line: index + 1, fields };
        match kopf.kategorie {
            21 => stapel::check(&record, &kopf, lenient, &mut faults),
            _ => stamm::check(&record, &kopf, &mut faults),
        }
        records.push(record);
    }
    Some(File { kopf, records })
}

/// The names of the columns, from DATEV's sample; version 13 has one more than the sample of version 12.
fn official_names(kopf: &Kopf) -> Vec<String> {
    let sample = if kopf.kategorie == 21 { SAMPLE_STAPEL } else { SAMPLE_STAMM };
    let lines = raw::lines(sample, &mut Vec::new());
    let mut names: Vec<_> = raw::decoded(lines[1]).split(';').map(str::to_owned).collect();
    if kopf.version == 13 {
        names.push("Abw. Skontokonto".to_owned());
    }
    names
}

fn same_names(line: &[u8], columns: &[String], faults: &mut Faults) {
    let line = raw::decoded(line);
    let names: Vec<_> = line.split(';').collect();
    faults.expect(
        names.len() == columns.len(),
        0,
        format!("{} names instead of {}", names.len(), columns.len()),
    );
    for (index, (name, official)) in names.iter().zip(columns).enumerate() {
        if name != official {
            faults.add(index + 1, format!("the column is called {name} instead of {official}"));
            return;
        }
    }
}

/// Checks that texts are quoted and numbers are not, with valid characters.
fn quoted_as_typed(
    record: &Record,
    is_text: impl Fn(usize) -> bool,
    may_be_quoted: impl Fn(usize) -> bool,
    faults: &mut Faults,
) {
    for (index, field) in record.fields.iter().enumerate() {
        let column = index + 1;
        match (is_text(column), field.quoted) {
            (true, false) => faults.add(column, "a text without quotes"),
            (false, true) if field.text.is_empty() && may_be_quoted(column) => {}
            (false, true) => faults.add(column, "a number in quotes"),
            (true, true) => {}
            (false, false) => faults.expect(is_number(&field.text), column, "not a number"),
        }
    }
}

/// Digits, with decimals after a comma; an empty text is a number that is not given.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    match unsigned.split_once(',') {
        Some((whole, decimals)) => digits(whole) && digits(decimals),
        None => text.is_empty() || digits(unsigned),
    }
}

/// Parses a number of digits only, at least one and at most this many.
fn digits(text: &str, most: usize) -> Option<u64> {
    let fits = !text.is_empty() && text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}
