//! A page of a list and the count of all its rows, from one snapshot (D16): JSON for the wire, records for
//! the Leitstand. JSON is written row by row, so a page of 5,000 rows needs no more memory than its text.

pub mod verlauf;

use rusqlite::Row;
use serde::Serialize;

use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::{Record, serialize};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::error::{Code, Refusal};

/// Maximum bytes of a list (D16): bounds the memory that one request can make the service hold. A page of
/// 5,000 rows without long texts has 5 MiB.
pub const LIST_BYTES_MAX: usize = 32 << 20;

pub struct Listing {
    rows: Rows,
    /// Number of all matching rows, whatever the page.
    pub count: i64,
    /// Number of rows on the page, if it ended before its limit because it had enough bytes.
    pub cut: Option<u32>,
}

impl Listing {
    /// An empty page of a list with `count` rows.
    pub fn empty(count: i64) -> Listing {
        Listing { rows: Rows::default(), count, cut: None }
    }

    /// A page of existing rows, of a list with `count` rows.
    pub fn from_page<T: Serialize>(page: impl IntoIterator<Item = T>, count: usize) -> Result<Listing> {
        let mut listing = Listing::empty(i64::try_from(count).unwrap_or(i64::MAX));
        page.into_iter().try_for_each(|row| listing.rows.push(&row))?;
        Ok(listing)
    }

    /// Returns the list as JSON in the wrapper of the specification: `{"data":[…],"count":…}`.
    pub fn wrapped(self) -> Vec<u8> {
        let Listing { rows: Rows { mut json, .. }, count, .. } = self;
        json.extend_from_slice(format!("],\"count\":{count}}}").as_bytes());
        json
    }

    /// Returns the page as a JSON array.
    pub fn array(self) -> Vec<u8> {
        let Rows { mut json, .. } = self.rows;
        json.drain(..WRAPPER.len());
        json.push(b']');
        json
    }
}

const WRAPPER: &str = "{\"data\":";

/// The rows of a page, as JSON.
pub struct Rows {
    json: Vec<u8>,
    written: u32,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows { json: format!("{WRAPPER}[").into_bytes(), written: 0 }
    }
}

impl Rows {
    pub fn push(&mut self, row: &impl Serialize) -> Result<()> {
        self.row(|json| serialize(json, row))
    }

    /// Writes the next row; refuses a list that has become too long.
    pub fn row(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        if self.written > 0 {
            self.json.push(b',');
        }
        write(&mut self.json)?;
        self.written += 1;
        if self.json.len() <= LIST_BYTES_MAX {
            return Ok(());
        }
        Err(too_long())
    }
}

/// Refuses a list that has become too long.
pub fn too_long() -> Failure {
    let message = format!(
        "Die Liste hat mehr als {} MiB. Bitte weniger auf einmal lesen: mit limit und offset, oder mit Filtern \
         wie von und bis.",
        LIST_BYTES_MAX >> 20
    );
    Refusal::new(Code::ZuVieleTreffer, message).into()
}

/// A page of a list, as JSON ([`Listing`]) or as records ([`Records`]), whichever the caller needs.
pub trait PageOf<T>: Sized {
    /// An empty page of a list with `count` rows.
    fn empty(count: i64) -> Self;

    /// Reads the page of a list whose rows are already counted.
    fn read(tx: &Tx<'_>, sql: &ListSql<'_>, filter: &Filter<'_>, page: Page, count: i64) -> Result<Self>;
}

impl<T: Record + Serialize> PageOf<T> for Listing {
    fn empty(count: i64) -> Listing {
        Listing::empty(count)
    }

    fn read(tx: &Tx<'_>, sql: &ListSql<'_>, filter: &Filter<'_>, page: Page, count: i64) -> Result<Listing> {
        tx.written(sql, filter, page, count, usize::MAX, |row, rows| rows.row(|json| T::write(row, json)))
    }
}

/// The records of a page, and the number of all matching rows.
pub struct Records<T> {
    pub rows: Vec<T>,
    pub count: i64,
}

impl<T: Serialize> Records<T> {
    /// Returns the same page as JSON.
    pub fn listing(self) -> Result<Listing> {
        Listing::from_page(self.rows, usize::try_from(self.count).unwrap_or_default())
    }
}

impl<T: Record> PageOf<T> for Records<T> {
    fn empty(count: i64) -> Records<T> {
        Records { rows: Vec::new(), count }
    }

    fn read(
        tx: &Tx<'_>,
        sql: &ListSql<'_>,
        filter: &Filter<'_>,
        page: Page,
        count: i64,
    ) -> Result<Records<T>> {
        let mut rows = Vec::new();
        tx.each_on_page(sql, filter, page, count, |row| {
            rows.push(T::of_row(row)?);
            Ok(true)
        })?;
        Ok(Records { rows, count })
    }
}

impl Tx<'_> {
    /// Reads one page of a list and counts all its rows.
    pub fn list<T, P: PageOf<T>>(&self, sql: &ListSql<'_>, filter: &Filter<'_>, page: Page) -> Result<P> {
        P::read(self, sql, filter, page, self.count(sql, filter)?)
    }

    /// Reads one page as JSON, of a list whose rows are already counted; `write` reads a row and pushes it.
    /// The page ends with the row that reaches `enough` bytes; if rows are left, [`Listing::cut`] is set.
    pub fn written(
        &self,
        sql: &ListSql<'_>,
        filter: &Filter<'_>,
        page: Page,
        count: i64,
        enough: usize,
        mut write: impl FnMut(&Row<'_>, &mut Rows) -> Result<()>,
    ) -> Result<Listing> {
        let mut listing = Listing::empty(count);
        let (rows, expected) = (&mut listing.rows, page.rows_of(count));
        self.each_on_page(sql, filter, page, count, |row| {
            write(row, rows)?;
            if rows.written == 1 {
                // Reserves memory on the assumption that the other rows are about as long.
                let bytes = rows.json.len().saturating_mul(usize::try_from(expected).unwrap_or_default());
                rows.json.reserve(bytes.min(enough).min(LIST_BYTES_MAX));
            }
            Ok(rows.json.len() < enough)
        })?;
        listing.cut = (i64::from(rows.written) < expected).then_some(rows.written);
        Ok(listing)
    }
}
