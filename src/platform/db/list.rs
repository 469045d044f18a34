//! SQL of lists: a where clause built from the filters that are present, one page, and the count of all
//! matching rows (D16).

use std::fmt::{self, Display, Formatter};

use rusqlite::Row;
use rusqlite::types::ToSql;

use super::readers::expect_rows;
use super::record::Record;
use super::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::text::Search;

/// Largest page (D16; specification for barverkaeufe).
pub const MAX_LIMIT: u32 = 5_000;

/// The requested part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Maximum number of rows; `None` (all) if the specification declares no limit and none was sent.
    pub limit: Option<u32>,
    pub offset: i64,
}

impl Page {
    /// How many of `count` rows are on this page.
    pub fn rows_of(self, count: i64) -> i64 {
        self.most().min(count - self.offset).max(0)
    }

    /// The page's part of a complete list.
    pub fn of<T>(self, rows: &[T]) -> &[T] {
        let rest = rows.get(usize::try_from(self.offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let most = self.limit.and_then(|limit| usize::try_from(limit).ok());
        most.and_then(|most| rest.get(..most)).unwrap_or(rest)
    }

    /// Maximum number of rows on the page.
    fn most(self) -> i64 {
        self.limit.map_or(i64::MAX, i64::from)
    }
}

pub struct Filter<'f> {
    sql: String,
    params: Vec<(&'f str, Box<dyn ToSql + 'f>)>,
    /// Whether to look up the page's ids first, as for a late page.
    ids_first: bool,
}

impl<'f> Filter<'f> {
    /// Starts with the tenant condition on the table `alias`.
    pub fn of(alias: &str) -> Filter<'f> {
        Filter { sql: format!("{alias}.tenant_id = :tenant"), params: Vec::new(), ids_first: false }
    }

    /// The tenant's rows of the table `alias` in which a column has this value.
    pub fn equal<T: ToSql + 'f>(alias: &str, column: &str, value: T) -> Filter<'f> {
        let mut filter = Filter::of(alias);
        filter.when(&format!("{alias}.{column} = :value"), ":value", Some(value));
        filter
    }

    pub fn and(&mut self, condition: &str) {
        self.sql.push_str(" and ");
        self.sql.push_str(condition);
    }

    /// Adds a condition with its parameter if there is a value.
    pub fn when<T: ToSql + 'f>(&mut self, condition: &str, name: &'f str, value: Option<T>) {
        if let Some(value) = value {
            self.and(condition);
            self.with(name, value);
        }
    }

    /// Adds a parameter of a condition.
    pub fn with<T: ToSql + 'f>(&mut self, name: &'f str, value: T) {
        self.params.push((name, Box::new(value)));
    }

    fn params(&self) -> Vec<(&str, &dyn ToSql)> {
        self.params.iter().map(|(name, value)| (*name, &**value)).collect()
    }

    /// Finds the ids of the page first and then reads only their rows: for conditions whose index is not in the
    /// order of the list.
    pub fn ids_first(&mut self) {
        self.ids_first = true;
    }

    /// Requires a column to be one of some values; the values come from our own code.
    pub fn one_of(&mut self, column: &str, values: &[&str]) {
        if !values.is_empty() {
            self.and(&format!("{column} in ('{}')", values.join("', '")));
        }
    }

    /// Requires a column of folded text to contain each word in one of its spellings (D17).
    pub fn contains_words(&mut self, column: &str, text: Option<&str>) {
        self.words_are_found(text, |found_in| found_in(column));
    }

    /// Like [`Self::contains_words`], with a `condition` built for each word: it gets a function that returns
    /// the SQL "this column contains the word".
    pub fn words_are_found(
        &mut self,
        text: Option<&str>,
        condition: impl Fn(&dyn Fn(&str) -> String) -> String,
    ) {
        let words = match Search::parse(text) {
            Search::All => return,
            Search::Nothing => return self.and("false"),
            Search::Words(words) => words,
        };
        for ((word, spelled), stripped) in words.into_iter().zip(SPELLED).zip(STRIPPED) {
            if word.spelled == word.stripped {
                self.and(&condition(&|column| format!("instr({column}, {spelled}) > 0")));
            } else {
                let found_in = |column: &str| {
                    format!("(instr({column}, {spelled}) > 0 or instr({column}, {stripped}) > 0)")
                };
                self.and(&condition(&found_in));
                self.params.push((stripped, Box::new(word.stripped)));
            }
            self.params.push((spelled, Box::new(word.spelled)));
            self.ids_first = true;
        }
    }
}

/// Parameter names of the searched words: as spelled, and without diacritics. Parsing the query refuses
/// further words.
const SPELLED: [&str; MAX_SEARCH_WORDS] =
    [":wort1", ":wort2", ":wort3", ":wort4", ":wort5", ":wort6", ":wort7", ":wort8", ":wort9", ":wort10"];
const STRIPPED: [&str; MAX_SEARCH_WORDS] = [
    ":wort1b", ":wort2b", ":wort3b", ":wort4b", ":wort5b", ":wort6b", ":wort7b", ":wort8b", ":wort9b",
    ":wort10b",
];

pub const MAX_SEARCH_WORDS: usize = 10;

/// The parts of a list's statement; `Display` gives `select … from …`.
pub struct ListSql<'s> {
    pub columns: &'s str,
    /// `from …` with joins.
    pub from: &'s str,
    /// `select count(*) from …`, without joins that filter nothing.
    pub count: &'s str,
    /// The table of `count`, if a late page looks up its ids first, in an index that has both the conditions
    /// and the order: so the skipped rows are never read.
    pub ids_first: Option<&'static str>,
    /// `order by …`, a total order.
    pub order: &'static str,
}

impl Display for ListSql<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "select {} {}", self.columns, self.from)
    }
}

/// An order that a client can request: the value of `sortierung` and its `order by …`, a total order.
pub type Order = (&'static str, &'static str);

/// The values of `sortierung` that a list accepts.
pub const fn names<const N: usize>(orders: [Order; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = orders[at].0;
        at += 1;
    }
    names
}

impl<'s> ListSql<'s> {
    /// The same list in the requested order, if there was one. If no index has that order, only ids are
    /// sorted, and only as many are kept as the page needs.
    pub fn in_order(self, orders: &[Order], wanted: Option<&str>, filter: &mut Filter<'_>) -> ListSql<'s> {
        match orders.iter().find(|(name, _)| Some(*name) == wanted) {
            Some((_, order)) if *order != self.order => {
                filter.ids_first();
                ListSql { order, ..self }
            }
            _ => self,
        }
    }
}

impl ListSql<'_> {
    fn page(&self, filter: &Filter<'_>, page: Page) -> String {
        let ListSql { count, ids_first, order, .. } = self;
        let filtered = &filter.sql;
        match ids_first.filter(|_| page.offset > 0 || filter.ids_first) {
            Some(table) => {
                let ids = count.replace("count(*)", &format!("{table}.id"));
                let ids = format!("{ids} where {filtered} {order} limit :limit offset :offset");
                format!("{self} where {table}.tenant_id = :tenant and {table}.id in ({ids}) {order}")
            }
            None => format!("{self} where {filtered} {order} limit :limit offset :offset"),
        }
    }
}

impl Tx<'_> {
    /// Returns every row that matches a filter.
    pub fn filtered<T>(
        &self,
        select: impl Display,
        filter: &Filter<'_>,
        rest: &str,
        map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.all(&format!("{select} where {} {rest}", filter.sql), &filter.params(), map)
    }

    /// Returns the row of a list in which a column, qualified with its table, has this value.
    pub fn find_by<T: Record>(
        &self,
        sql: &ListSql<'_>,
        column: &str,
        value: &dyn ToSql,
    ) -> Result<Option<T>> {
        let alias = column.split('.').next().unwrap_or_default();
        let statement = format!("{sql} where {alias}.tenant_id = :tenant and {column} = :value");
        self.optional(&statement, &[(":value", value)], T::of_row)
    }

    pub fn count(&self, sql: &ListSql<'_>, filter: &Filter<'_>) -> Result<i64> {
        self.one(&format!("{} where {}", sql.count, filter.sql), &filter.params(), |row| row.get(0))
    }

    /// Visits the rows of a page one by one until `visit` returns false. `count` is the number of all
    /// matching rows.
    pub fn each_on_page(
        &self,
        sql: &ListSql<'_>,
        filter: &Filter<'_>,
        page: Page,
        count: i64,
        visit: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let expected = page.rows_of(count);
        if expected == 0 {
            return Ok(());
        }
        expect_rows(expected);
        let limit = page.most();
        let mut params = filter.params();
        params.push((":limit", &limit));
        params.push((":offset", &page.offset));
        self.each_while(&sql.page(filter, page), &params, visit)
    }
}
