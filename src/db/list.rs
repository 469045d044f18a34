//! Lists: a where clause built from the filters that are present, a page, and the count of all
//! rows that match, from one snapshot (D16). Each row is written as JSON as soon as it is read: a page
//! of 5,000 rows takes the memory of its text, and no more.

use rusqlite::Row;
use rusqlite::types::ToSql;
use serde::Serialize;

use super::readers::expect_rows;
use super::tx::Tx;
use crate::failure::{Failure, Result};
use crate::rules::error::{Code, Refusal};
use crate::rules::text::Search;

/// Largest page (D16; specification for barverkaeufe).
pub const MAX_LIMIT: u32 = 5_000;

/// Rows that a list without a limit gives at most (D16).
pub const MAX_UNLIMITED: i64 = 20_000;

/// Rows of a list have so many bytes at most: what one request can make the service hold in memory. A page of
/// 5,000 rows without long texts has 5 MiB.
const MAX_BYTES: usize = 32 << 20;

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Rows at most; none where the specification declares no limit and none was sent.
    pub limit: Option<u32>,
    /// Rows passed over.
    pub offset: i64,
}

/// A page of a list.
pub struct Listing {
    rows: Rows,
    /// All rows that match, whatever the page.
    pub count: i64,
    /// How many rows it has, where it ended before its limit because it had enough bytes.
    pub cut: Option<u32>,
}

impl Listing {
    /// A page with nothing on it, of so many rows.
    pub fn empty(count: i64) -> Listing {
        Listing { rows: Rows::default(), count, cut: None }
    }

    /// A page of rows that are there already, of so many.
    pub fn of<T: Serialize>(page: impl IntoIterator<Item = T>, count: usize) -> Result<Listing> {
        let mut listing = Listing::empty(i64::try_from(count).unwrap_or(i64::MAX));
        page.into_iter().try_for_each(|row| listing.rows.push(&row))?;
        Ok(listing)
    }

    /// As JSON in the wrapper of the specification: `{"data":[…],"count":…}`.
    pub fn wrapped(self) -> Vec<u8> {
        let Listing { rows: Rows { mut json, .. }, count, .. } = self;
        json.extend_from_slice(format!("],\"count\":{count}}}").as_bytes());
        json
    }

    /// As a JSON array.
    pub fn array(self) -> Vec<u8> {
        let Rows { mut json, .. } = self.rows;
        json.drain(..WRAPPER.len());
        json.push(b']');
        json
    }
}

/// What stands before the rows.
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
    /// Writes the next row.
    pub fn push(&mut self, row: &impl Serialize) -> Result<()> {
        if self.written > 0 {
            self.json.push(b',');
        }
        serde_json::to_writer(&mut self.json, row)
            .map_err(|error| Failure::Broken(format!("a row cannot be written: {error}")))?;
        self.written += 1;
        if self.json.len() <= MAX_BYTES {
            return Ok(());
        }
        let message = format!(
            "Die Liste hat mehr als {} MiB. Bitte weniger auf einmal lesen: mit limit und offset, oder mit Filtern wie von und bis.",
            MAX_BYTES >> 20
        );
        Err(Refusal::new(Code::ZuVieleTreffer, message).into())
    }
}

/// The conditions of a list.
pub struct Filter<'f> {
    sql: String,
    params: Vec<(&'f str, Box<dyn ToSql + 'f>)>,
    /// The ids are looked for first, as of a late page.
    ids_first: bool,
}

impl<'f> Filter<'f> {
    /// Begins with the tenant of the table `alias`.
    pub fn of(alias: &str) -> Filter<'f> {
        Filter { sql: format!("{alias}.tenant_id = :tenant"), params: Vec::new(), ids_first: false }
    }

    /// Adds a condition without a parameter.
    pub fn and(&mut self, condition: &str) {
        self.sql.push_str(" and ");
        self.sql.push_str(condition);
    }

    /// Adds a condition with its parameter, if there is a value.
    pub fn when<T: ToSql + 'f>(&mut self, condition: &str, name: &'f str, value: Option<T>) {
        if let Some(value) = value {
            self.and(condition);
            self.with(name, value);
        }
    }

    /// Adds the parameter of a condition.
    pub fn with<T: ToSql + 'f>(&mut self, name: &'f str, value: T) {
        self.params.push((name, Box::new(value)));
    }

    /// The page is looked for by ids alone, and only its rows are read: where an index that has the conditions
    /// does not have the order.
    pub fn ids_first(&mut self) {
        self.ids_first = true;
    }

    /// Adds that a column is one of some values; the values come from our own code.
    pub fn one_of(&mut self, column: &str, values: &[&str]) {
        if !values.is_empty() {
            self.and(&format!("{column} in ('{}')", values.join("', '")));
        }
    }

    /// Adds that a column of folded text contains each word in one of its spellings (D17).
    pub fn contains_words(&mut self, column: &str, text: Option<&str>) {
        self.words_are_found(text, |found_in| found_in(column));
    }

    /// The same, where `condition` says what must hold of each word: it is given the condition that a column
    /// contains the word.
    pub fn words_are_found(
        &mut self,
        text: Option<&str>,
        condition: impl Fn(&dyn Fn(&str) -> String) -> String,
    ) {
        let words = match Search::of(text) {
            Search::All => return,
            Search::Nothing => return self.and("false"),
            Search::Words(words) => words,
        };
        for (word, names) in words.into_iter().zip(SEARCH_PARAMS) {
            if word.spelled == word.stripped {
                self.and(&condition(&|column| format!("instr({column}, {}) > 0", names.0)));
            } else {
                let found_in = |column: &str| {
                    format!("(instr({column}, {}) > 0 or instr({column}, {}) > 0)", names.0, names.1)
                };
                self.and(&condition(&found_in));
                self.params.push((names.1, Box::new(word.stripped)));
            }
            self.params.push((names.0, Box::new(word.spelled)));
            self.ids_first = true;
        }
    }
}

/// Names of the parameters of searched words; further words are refused where the query is read.
const SEARCH_PARAMS: [(&str, &str); MAX_SEARCH_WORDS] = [
    (":wort1", ":wort1b"),
    (":wort2", ":wort2b"),
    (":wort3", ":wort3b"),
    (":wort4", ":wort4b"),
    (":wort5", ":wort5b"),
    (":wort6", ":wort6b"),
    (":wort7", ":wort7b"),
    (":wort8", ":wort8b"),
    (":wort9", ":wort9b"),
    (":wort10", ":wort10b"),
];

/// Words of a search at most.
pub const MAX_SEARCH_WORDS: usize = 10;

/// The parts of a list's statement.
pub struct ListSql {
    /// `select … from …` with joins.
    pub select: &'static str,
    /// `select count(*) from …`, without joins that filter nothing.
    pub count: &'static str,
    /// The table of `count`, if a late page looks for its ids first: in an index that has the conditions and
    /// the order, so that the rows passed over are never read.
    pub ids_first: Option<&'static str>,
    /// `order by …`, total.
    pub order: &'static str,
}

impl Tx<'_> {
    /// Every row that matches a filter.
    pub fn filtered<T>(
        &self,
        select: &str,
        filter: &Filter<'_>,
        rest: &str,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let params: Vec<(&str, &dyn ToSql)> =
            filter.params.iter().map(|(name, value)| (*name, &**value)).collect();
        self.all(&format!("{select} where {} {rest}", filter.sql), &params, map)
    }

    /// One page of a list and the count of all its rows; `write` reads a row and pushes it.
    pub fn list(
        &self,
        sql: &ListSql,
        filter: &Filter<'_>,
        page: Page,
        write: impl FnMut(&Row<'_>, &mut Rows) -> Result<()>,
    ) -> Result<Listing> {
        let params: Vec<(&str, &dyn ToSql)> =
            filter.params.iter().map(|(name, value)| (*name, &**value)).collect();
        let count: i64 =
            self.one(&format!("{} where {}", sql.count, filter.sql), &params, |row| row.get(0))?;
        self.page(sql, filter, page, count, write)
    }

    /// One page of a list whose rows are counted already.
    pub fn page(
        &self,
        sql: &ListSql,
        filter: &Filter<'_>,
        page: Page,
        count: i64,
        write: impl FnMut(&Row<'_>, &mut Rows) -> Result<()>,
    ) -> Result<Listing> {
        self.page_until(sql, filter, page, count, usize::MAX, write)
    }

    /// The same; the page ends with the row that makes `enough` bytes, and says so where rows are left.
    pub fn page_until(
        &self,
        sql: &ListSql,
        filter: &Filter<'_>,
        page: Page,
        count: i64,
        enough: usize,
        mut write: impl FnMut(&Row<'_>, &mut Rows) -> Result<()>,
    ) -> Result<Listing> {
        let ids_first = filter.ids_first;
        let mut params: Vec<(&str, &dyn ToSql)> =
            filter.params.iter().map(|(name, value)| (*name, &**value)).collect();
        if page.limit.is_none() && count > MAX_UNLIMITED {
            let message = format!(
                "Die Liste hat {count} Einträge, mehr als {MAX_UNLIMITED}. Bitte mit limit und offset seitenweise lesen."
            );
            return Err(Refusal::new(Code::ZuVieleTreffer, message).into());
        }
        let limit = page.limit.map_or(MAX_UNLIMITED, i64::from);
        if limit == 0 || page.offset >= count {
            return Ok(Listing::empty(count));
        }
        expect_rows(limit.min(count - page.offset));
        params.push((":limit", &limit));
        params.push((":offset", &page.offset));
        let (select, order, filter) = (sql.select, sql.order, &filter.sql);
        let statement = match sql.ids_first.filter(|_| page.offset > 0 || ids_first) {
            Some(table) => {
                let ids = sql.count.replace("count(*)", &format!("{table}.id"));
                let ids = format!("{ids} where {filter} {order} limit :limit offset :offset");
                format!("{select} where {table}.tenant_id = :tenant and {table}.id in ({ids}) {order}")
            }
            None => format!("{select} where {filter} {order} limit :limit offset :offset"),
        };
        let mut listing = Listing::empty(count);
        let rows = &mut listing.rows;
        self.each_while(&statement, &params, |row| {
            write(row, rows)?;
            Ok(rows.json.len() < enough)
        })?;
        let (written, left) = (i64::from(rows.written), (count - page.offset).min(limit));
        listing.cut = (written < left).then_some(rows.written);
        Ok(listing)
    }
}
