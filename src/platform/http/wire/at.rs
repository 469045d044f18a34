//! The current position in a body, and how a field at that position is read.

use std::cell::RefCell;

use super::cell::{Decimal, Numbers, shown_in_percent};
use crate::platform::http::json::Json;
use crate::rules::error::{Checked, Code, HintCode, Hints, Message, Refusal};
use crate::rules::field::Said;

pub struct At<'h> {
    path: String,
    hints: &'h mut Hints,
    unknown_fields_refused: bool,
    is_import: bool,
    /// The decimal separator of the cells, when reading a table.
    pub decimal: Option<Decimal>,
    /// Whether the spreadsheet counts its days from 1904, not from 1900.
    pub is_1904: bool,
    numbers: Option<&'h RefCell<Numbers>>,
}

impl<'h> At<'h> {
    pub fn top(hints: &'h mut Hints, unknown_fields_refused: bool) -> At<'h> {
        At {
            path: String::new(),
            hints,
            unknown_fields_refused,
            is_import: false,
            decimal: None,
            is_1904: false,
            numbers: None,
        }
    }

    /// Starts at the top of a row of an import, where null and blank mean absent. In a table every cell is
    /// text, and numbers and days may be German.
    pub fn row(hints: &'h mut Hints, decimal: Option<Decimal>) -> At<'h> {
        At { is_import: true, decimal, ..At::top(hints, false) }
    }

    /// Starts at the top of a row of an import, to collect only the number cells and the value read from each
    /// cell.
    pub fn survey(hints: &'h mut Hints, decimal: Option<Decimal>, numbers: &'h RefCell<Numbers>) -> At<'h> {
        At { numbers: Some(numbers), ..At::row(hints, decimal) }
    }

    pub fn see_number(&self, number: &str) {
        if let Some(numbers) = self.numbers {
            numbers.borrow_mut().see(&self.path, number);
        }
    }

    /// Records the value read from a cell, if somebody wants to know.
    pub fn was_read(&self, value: impl FnOnce() -> String) {
        if let Some(numbers) = self.numbers.filter(|_| self.is_import) {
            numbers.borrow_mut().values.insert(self.path.clone(), value());
        }
    }

    pub fn is_tabular(&self) -> bool {
        self.decimal.is_some()
    }

    pub fn field<T>(&mut self, name: &str, read: impl FnOnce(&mut At<'_>) -> T) -> T {
        let here = self.path.len();
        let dot = if here == 0 { "" } else { "." };
        self.path.extend([dot, name]);
        let value = read(self);
        self.path.truncate(here);
        value
    }

    pub fn element<T>(&mut self, index: usize, read: impl FnOnce(&mut At<'_>) -> T) -> T {
        let here = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let value = read(self);
        self.path.truncate(here);
        value
    }

    pub fn refuse<T>(&self, code: Code, message: impl Into<Message>) -> Checked<T> {
        Err(match self.path.is_empty() {
            true => Refusal::new(code, message),
            false => Refusal::field(code, &self.path, message),
        })
    }

    pub fn hint(&mut self, code: HintCode, message: impl Into<String>) {
        self.hints.add_field(code, self.path.clone(), message);
    }

    pub fn hints(&mut self) -> &mut Hints {
        self.hints
    }

    /// Reports an unknown field: a hint, or a refusal if the client or the tenant asks for it.
    pub fn unknown(&mut self) -> Checked<()> {
        if self.unknown_fields_refused {
            return self.refuse(Code::UnbekanntesFeld, "Dieses Feld gibt es nicht. Bitte den Namen prüfen.");
        }
        self.hint(HintCode::UnbekanntesFeld, "Dieses Feld gibt es nicht; es wurde nicht übernommen.");
        Ok(())
    }
}

/// How a field is read: which input is valid, and which value it becomes.
pub trait FromJson {
    /// The value of the field once it is read, independent of JSON.
    type Value;

    const FIELDS: &'static [&'static str] = &[];

    /// Whether a number that a spreadsheet shows as a percentage fits.
    const IS_PERCENTAGE: bool = false;

    /// Returns what the record says of a field of the body.
    fn said(_field: &str) -> Option<Said> {
        None
    }

    /// Reads a value that is not null.
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Self::Value>;
}

/// Reads a field of a body into an `Option`, for which null equals absence, or a
/// [`Change`](crate::rules::change::Change), which null clears (D18). A blank text is null (D39).
pub fn field<T, F>(json: &Json<'_>, at: &mut At<'_>) -> Checked<F>
where
    T: FromJson,
    F: Default + From<Option<T::Value>>,
{
    let is_null = match json {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        _ => false,
    };
    match is_null {
        true if at.is_import => Ok(F::default()),
        true => Ok(F::from(None)),
        false if !T::IS_PERCENTAGE && is_shown_in_percent(json) => at.refuse(
            Code::FeldUngueltig,
            "Diese Zelle hat in der Tabelle das Format Prozent, die Spalte ist aber keine. Bitte als Zahl formatieren.",
        ),
        false => Ok(F::from(Some(T::from_json(json, at)?))),
    }
}

fn is_shown_in_percent(json: &Json<'_>) -> bool {
    matches!(json, Json::Number(digits) if shown_in_percent(digits).is_some())
}
