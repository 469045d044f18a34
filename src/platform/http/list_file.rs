//! A list as a file (D39): CSV for spreadsheet programs, with headings that an import knows.

use std::marker::PhantomData;

use super::param::{Param, ParamKind};
use super::query::Query;
use super::reply::Reply;
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::Record;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::listing::{LIST_BYTES_MAX, PageOf, too_long};
use crate::rules::day::Instant;
use crate::rules::field::{Tabular, Value};
use crate::rules::text::{marked, push_cell};

/// The parameter of a list that can be had as a file.
pub const FORMAT: Param =
    Param::new("format", ParamKind::OneOfOr(&["json", "csv"], "json"), "csv: alle Zeilen als Tabelle");

/// The rows of a list as UTF-8 with a byte order mark, separated by semicolons.
pub struct Table<T> {
    text: String,
    rows: PhantomData<T>,
}

/// Returns the list as a file of this name if the request asks for one. The file has all rows unless the request says
/// which; `read` reads them.
pub fn asked<T: Tabular>(
    query: &Query,
    name: &str,
    read: impl FnOnce(Page) -> Result<Table<T>>,
) -> Result<Option<Reply>> {
    if query.one_of(FORMAT.name)? != Some("csv") {
        return Ok(None);
    }
    let (page, cut) = query.page()?;
    let page = if query.has("limit") { page } else { Page { limit: None, ..page } };
    Ok(Some(Reply::csv(name, read(page)?.text.into_bytes()).with_cut_limit(cut)))
}

/// Answers with the file that the request asks for, else with a page as JSON, `Reply::list` or `Reply::array`.
macro_rules! listed {
    ($call:ident, $name:literal, $reply:path, |$page:ident| $read:expr) => {
        match $crate::platform::http::list_file::asked(&$call.query, $name, |$page| $read)? {
            Some(file) => Ok(file),
            None => {
                let ($page, cut) = $call.query.page()?;
                Ok($reply($read?, cut))
            }
        }
    };
}

pub(crate) use listed;

impl<T: Tabular> Table<T> {
    fn new() -> Table<T> {
        let mut table = Table { text: "\u{feff}".to_owned(), rows: PhantomData };
        table.write(T::headings().into_iter().map(str::to_owned));
        table
    }

    pub fn of(rows: &[T]) -> Result<Table<T>> {
        let mut table = Table::new();
        rows.iter().try_for_each(|row| table.push(row))?;
        Ok(table)
    }

    fn push(&mut self, row: &T) -> Result<()> {
        self.write(row.cells().into_iter().map(cell));
        if self.text.len() > LIST_BYTES_MAX { Err(too_long()) } else { Ok(()) }
    }

    fn write(&mut self, cells: impl Iterator<Item = String>) {
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.text.push(';');
            }
            push_cell(&mut self.text, &cell);
        }
        self.text.push_str("\r\n");
    }
}

impl<T: Record + Tabular> PageOf<T> for Table<T> {
    fn empty(_: i64) -> Table<T> {
        Table::new()
    }

    fn read(tx: &Tx<'_>, sql: &ListSql<'_>, filter: &Filter<'_>, page: Page, count: i64) -> Result<Table<T>> {
        let mut table = Table::new();
        tx.each_on_page(sql, filter, page, count, |row| table.push(&T::of_row(row)?).map(|()| true))?;
        Ok(table)
    }
}

/// A cell as a German spreadsheet program reads it.
fn cell(value: Value) -> String {
    let german = |number: String| number.replace('.', ",");
    match value {
        Value::Empty => String::new(),
        Value::Text(text) => marked(text),
        Value::Price(number) => german(number.to_string()),
        Value::Percent(number) => german(number.to_string()),
        Value::Decimal(number) => german(number.to_string()),
        Value::Money(number) => german(number.to_string()),
        Value::Integer(number) => number.to_string(),
        Value::YesNo(is_so) => if is_so { "ja" } else { "nein" }.to_owned(),
        Value::Day(day) => day.german(),
        Value::Instant(instant) => moment(instant),
    }
}

/// An instant as people read it, if it is read back as the same; else in UTC: in the hour that comes twice, and with
/// fractions of a second.
fn moment(instant: Instant) -> String {
    let german = instant.german();
    if Instant::of_local(&german) == Some(instant) { german } else { instant.to_string() }
}
