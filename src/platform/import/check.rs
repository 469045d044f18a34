//! Checks the rows of a file as far as possible without a database; reports up to [`MISTAKES_MAX`] mistakes
//! at once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{Display, Formatter};
use std::hash::{BuildHasher, RandomState};

use super::Import;
use super::file::Rows;
use super::table::excerpt;
use crate::platform::http::json::Json;
use crate::platform::http::wire::FromJson;
use crate::rules::day::Day;
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::text::{case_key, shown};

pub const MISTAKES_MAX: usize = 100;

#[derive(Debug, Clone)]
pub enum MistakePlace {
    Line(u32),
    Sheet(String),
    Receipt(String, usize),
}

/// A mistake: its place, the value found there, and the violated rule.
#[derive(Debug, Clone)]
pub struct Mistake {
    pub place: MistakePlace,
    pub column: Option<String>,
    /// The column's name in the file, followed by ours if that differs.
    pub heading: Option<String>,
    pub value: Option<String>,
    pub message: String,
    /// `None` if the value is only suspicious.
    pub code: Option<Code>,
}

impl Mistake {
    /// Creates the mistake of a refused row, given its index and its content.
    pub fn of_row(rows: &Rows, at: usize, row: &Json<'_>, refusal: &Refusal) -> Mistake {
        let feld = refusal.feld.as_deref().map(|feld| column_of(row, feld));
        let value = feld.and_then(|feld| cell(row, feld)).and_then(shown_value);
        let heading = feld.map(|feld| rows.shown_column(feld));
        Mistake { value, heading, ..Mistake::at(MistakePlace::Line(rows.line(at)), refusal) }
    }

    /// Describes place and value: `Zeile 7, Spalte iban, Wert DE00`.
    pub fn place_in_words(&self) -> String {
        let place = match &self.place {
            MistakePlace::Line(line) => format!("Zeile {line}"),
            MistakePlace::Sheet(name) => format!("Blatt {name}"),
            MistakePlace::Receipt(receipt, line) => format!("Bon {receipt}, Zeile {line}"),
        };
        let column = self.heading.as_ref().map(|column| format!(", Spalte {column}")).unwrap_or_default();
        let value = self.value.as_ref().map(|value| format!(", Wert {value}")).unwrap_or_default();
        place + &column + &value
    }

    /// Creates a suspicion about a row, or about one of its cells.
    pub fn of_cell(
        rows: &Rows,
        at: usize,
        cell: Option<&(Cow<'_, str>, Json<'_>)>,
        message: String,
    ) -> Mistake {
        let column = cell.map(|(field, _)| shown(field).into_owned());
        let heading = cell.map(|(field, _)| rows.shown_column(field));
        let value = cell.and_then(|(_, value)| shown_value(value));
        Mistake { place: MistakePlace::Line(rows.line(at)), column, heading, value, message, code: None }
    }

    pub fn of_receipt(receipt: &str, line: usize, refusal: &Refusal) -> Mistake {
        Mistake::at(MistakePlace::Receipt(receipt.to_owned(), line), refusal)
    }

    fn at(place: MistakePlace, refusal: &Refusal) -> Mistake {
        let column = refusal.feld.as_ref().map(|feld| shown(feld).into_owned());
        Mistake {
            place,
            heading: column.clone(),
            column,
            value: None,
            message: refusal.message.to_string(),
            code: Some(refusal.code),
        }
    }
}

fn shown_value(value: &Json<'_>) -> Option<String> {
    match value {
        Json::String(text) => Some(excerpt(text)),
        Json::Number(text) => Some((*text).to_owned()),
        _ => None,
    }
}

/// For the command line: the place, then the rule on a line of its own.
impl Display for Mistake {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:\n  {}", self.place_in_words(), self.message)?;
        self.code.map_or(Ok(()), |code| write!(f, " ({})", code.as_str()))
    }
}

#[derive(Default)]
pub struct Mistakes {
    listed: Vec<Mistake>,
    more: usize,
}

impl Mistakes {
    pub fn add(&mut self, mistake: Mistake) {
        if self.listed.len() < MISTAKES_MAX { self.listed.push(mistake) } else { self.more += 1 }
    }

    pub fn is_full(&self) -> bool {
        self.more > 0
    }

    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub fn listed(&self) -> &[Mistake] {
        &self.listed
    }

    /// Returns all mistakes as one text for the command line; `None` if there are none.
    pub fn text(&self) -> Option<String> {
        let more = (self.more > 0).then(|| "Es gibt noch mehr davon.".to_owned());
        let lines: Vec<String> = self.listed.iter().map(ToString::to_string).chain(more).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Returns a field's column: `x` for an item `x[0]` if one cell holds the whole list.
fn column_of<'f>(row: &Json<'_>, feld: &'f str) -> &'f str {
    let column = feld.split('[').next().unwrap_or(feld);
    if matches!(cell(row, column), Some(Json::String(_))) { column } else { feld }
}

fn cell<'r, 'j>(row: &'r Json<'j>, name: &str) -> Option<&'r Json<'j>> {
    let Json::Object(members) = row else { return None };
    members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Returns the refusal of each cell of a row, which may be several.
fn of_cells(refusal: Refusal) -> Vec<Refusal> {
    if refusal.fehler.is_empty() {
        return vec![refusal];
    }
    let cells = refusal.fehler.into_iter();
    cells.map(|cell| *Refusal::field(cell.error, cell.feld, cell.message)).collect()
}

/// Checks all cells, and that no two rows are the same record.
pub fn check(kind: &Import, rows: &Rows, mistakes: &mut Mistakes) {
    let mut known = KnownKeys { keys: kind.keys, hasher: RandomState::new(), rows: HashMap::new() };
    for at in 0..rows.len() {
        let written = rows.written(at);
        let mut found = if rows.decimal.is_some() { doubtful(&written) } else { Vec::new() };
        let row = rows.read(written);
        if let Err(refusal) = (kind.check)(&row, &mut rows.at(&mut Hints::default())) {
            found.extend(of_cells(*refusal));
        }
        if let Some(earlier) = known.add(rows, at, &row) {
            let key = known.key_of(&row).unwrap_or(&[]);
            let message = format!(
                "Zeile {} nennt denselben Datensatz ({}). Bitte eine der beiden Zeilen weglassen.",
                rows.line(earlier),
                key.join(", ")
            );
            let column = key.first().copied().unwrap_or_default();
            found.push(*Refusal::field(Code::FeldWiderspruch, column, message));
        }
        for refusal in &found {
            mistakes.add(Mistake::of_row(rows, at, &row, refusal));
        }
        if mistakes.is_full() {
            return;
        }
    }
}

/// Returns the cells that a spreadsheet spoilt: errors, formulas, truncated numbers.
fn doubtful(row: &Json<'_>) -> Vec<Refusal> {
    let Json::Object(members) = row else { return Vec::new() };
    let wrong = members.iter().filter_map(|(name, value)| match value {
        Json::String(text) => Some(*Refusal::field(Code::FeldUngueltig, name.as_ref(), spoilt(text.trim())?)),
        _ => None,
    });
    wrong.collect()
}

fn spoilt(text: &str) -> Option<&'static str> {
    const ERRORS: &str = "#REF! #BEZUG! #NAME? #VALUE! #WERT! #DIV/0! #N/A #NV #NUM! #ZAHL! #NULL! #SPILL! \
        #ÜBERLAUF! #CALC!";
    if ERRORS.split(' ').any(|error| text.eq_ignore_ascii_case(error)) || text.starts_with("Err:5") {
        return Some(
            "Hier steht der Fehler einer Formel. Bitte die Formel berichtigen oder die Zelle leeren.",
        );
    }
    if text.starts_with('=') {
        return Some("Hier steht eine Formel und nicht ihr Wert. Bitte den Wert einsetzen.");
    }
    let (mantissa, exponent) = text.split_once(['E', 'e'])?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = digits(&mantissa.trim_start_matches('-').replacen([',', '.'], "", 1));
    let cut = exponent.strip_prefix(['+', '-']).is_some_and(digits);
    (is_number && cut).then_some(
        "Hier hat die Tabelle eine Zahl gekürzt. Bitte die Spalte als Text formatieren und neu eingeben.",
    )
}

struct KnownKeys {
    keys: &'static [&'static [&'static str]],
    hasher: RandomState,
    rows: HashMap<u64, u32>,
}

impl KnownKeys {
    /// Returns the key that identifies a row: the first one whose first column the row has.
    fn key_of(&self, row: &Json<'_>) -> Option<&'static [&'static str]> {
        self.keys.iter().copied().find(|key| key.first().is_some_and(|first| cell(row, first).is_some()))
    }

    fn key(&self, rows: &Rows, row: &Json<'_>) -> Option<Vec<String>> {
        let key = self.key_of(row)?;
        let mut values = vec![key.join(",")];
        values.extend(
            key.iter().map(|name| cell(row, name).map(|value| same(rows, name, value)).unwrap_or_default()),
        );
        Some(values)
    }

    fn add(&mut self, rows: &Rows, at: usize, row: &Json<'_>) -> Option<usize> {
        let key = self.key(rows, row)?;
        let hash = self.hasher.hash_one(&key);
        let earlier = *self.rows.entry(hash).or_insert(at as u32) as usize;
        let is_same = earlier != at && self.key(rows, &rows.row(earlier)).as_ref() == Some(&key);
        is_same.then_some(earlier)
    }
}

fn same(rows: &Rows, name: &str, value: &Json<'_>) -> String {
    let mut hints = Hints::default();
    let mut at = rows.at(&mut hints);
    match name {
        "ab_menge" | "id" | "version" => {
            Quantity::from_json(value, &mut at).map(|number| format!("{number:?}")).unwrap_or_default()
        }
        "gueltig_von" => Day::from_json(value, &mut at).map(|day| day.to_string()).unwrap_or_default(),
        _ => match value {
            Json::String(text) => case_key(text),
            Json::Number(digits) => (*digits).to_owned(),
            _ => String::new(),
        },
    }
}
