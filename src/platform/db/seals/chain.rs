//! A chain of rows in a table of its own: each has `sha256(the one before ‖ its number ‖ its columns)`, so
//! that none can be altered, removed or inserted without breaking what stands behind it. Its head, a row of
//! `kette`, says between which rows the chain lies. It is sealed anew only where its seal holds: else what was
//! altered meanwhile would be sealed with it.
//!
//! There are three: the log of requests (`gate::audit`), the administration log (`gate::administration`) and the
//! evidence (`evidence`).

use std::sync::LazyLock;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};
use sha2::{Digest as _, Sha256};

use super::seal::Content;
use crate::platform::db::record::record;
use crate::platform::failure::{Failure, Result};
use crate::rules::bytes::hex;
use crate::rules::day::Day;

pub type Digest = [u8; 32];

/// What a proof comes to: how many rows were looked at, or the first thing that is wrong, in words.
pub type Proof = std::result::Result<i64, String>;

const SEAL: &str = "siegel('kette', name, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, ab_tag, mac_ab_nr)";

pub struct Chain {
    pub table: &'static str,
    /// What people call it: a German noun that is feminine.
    pub name: &'static str,
    /// Inserts a row: ?1 is the number, ?2 the checksum, the columns follow.
    pub insert: &'static str,
    /// The rows in order: number, checksum, whether the seal of the row is ours, its UTC day (null: it has none), then
    /// what its checksum covers in the order of [`Appending::add`].
    pub rows: &'static str,
}

/// The first column of a row behind number, checksum, seal and day.
pub const FIRST: usize = 4;

/// Rows that are dropped in one transaction: some milliseconds.
const DROPPED_AT_ONCE: i64 = 5_000;

record! {
    /// Between which rows a chain lies.
    #[derive(Clone, Copy)]
    pub struct Head from kette as k {
        last: i64 = "letzte_nr",
        pruefsumme: Digest,
        /// The last row that was dropped; 0: none.
        dropped: i64 = "ab_nr",
        dropped_pruefsumme: Digest = "ab_pruefsumme",
        /// Dropped rows came before the end of this UTC day.
        dropped_day: Option<i64> = "ab_tag",
        /// Rows up to this one are older than the seals.
        unsealed: i64 = "mac_ab_nr",
        /// Its seal is ours.
        holds: bool = "mac is siegel('kette', name, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, ab_tag, mac_ab_nr)",
    }
}

static HEAD: LazyLock<String> =
    LazyLock::new(|| format!("select {} from kette k where name = ?1", Head::COLUMNS));

/// A chain while rows are added to it, within one transaction: its head is read before the first and written behind the
/// last, however many there are. [`Appending::end`] must be called.
pub struct Appending<'c> {
    chain: &'c Chain,
    connection: &'c Connection,
    insert: CachedStatement<'c>,
    head: Head,
}

impl Appending<'_> {
    /// Adds a row with these columns. Its checksum also covers what stands `beside` it in another table. A row that is
    /// refused leaves no gap.
    pub fn add(&mut self, columns: &[&dyn ToSql], beside: &[&dyn ToSql]) -> Result<()> {
        let number = self.head.last.saturating_add(1);
        let mut content = Content::with_room();
        content.number(number);
        for column in columns.iter().chain(beside) {
            match column.to_sql()? {
                ToSqlOutput::Borrowed(value) => content.value(value),
                ToSqlOutput::Owned(value) => content.value(ValueRef::from(&value)),
                _ => {
                    let name = self.chain.name;
                    return Err(Failure::Broken(format!("eine Spalte der {name} hat keinen Wert")));
                }
            }
        }
        let pruefsumme = link(self.head.pruefsumme, &content);
        self.insert.raw_bind_parameter(1, number)?;
        self.insert.raw_bind_parameter(2, pruefsumme)?;
        for (at, column) in (3..).zip(columns) {
            self.insert.raw_bind_parameter(at, column)?;
        }
        self.insert.raw_execute()?;
        self.head = Head { last: number, pruefsumme, ..self.head };
        Ok(())
    }

    pub fn end(self) -> Result<()> {
        self.chain.write(self.connection, &self.head)
    }
}

impl Chain {
    pub fn append(&self, connection: &Connection, columns: &[&dyn ToSql]) -> Result<()> {
        let mut appending = self.begin_to_append(connection)?;
        appending.add(columns, &[])?;
        appending.end()
    }

    pub fn begin_to_append<'c>(&'c self, connection: &'c Connection) -> Result<Appending<'c>> {
        let head = self.head(connection)?;
        let head = head.ok_or_else(|| Failure::Broken(format!("das Ende der {} fehlt", self.name)))?;
        let insert = connection.prepare_cached(self.insert)?;
        Ok(Appending { chain: self, connection, insert, head })
    }

    pub fn head(&self, connection: &Connection) -> Result<Option<Head>> {
        Ok(connection.prepare_cached(&HEAD)?.query_row([self.table], Head::read).optional()?)
    }

    /// Writes the head, sealed where it held.
    fn write(&self, connection: &Connection, head: &Head) -> Result<()> {
        let Head { last, pruefsumme, dropped, dropped_pruefsumme, dropped_day, holds, .. } = head;
        connection
            .prepare_cached(
                "update kette set letzte_nr = ?2, pruefsumme = ?3, ab_nr = ?4, ab_pruefsumme = ?5, ab_tag = ?6,
                   mac = iif(?7, siegel('kette', name, ?2, ?3, ?4, ?5, ?6, mac_ab_nr), null) where name = ?1",
            )?
            .execute(params![self.table, last, pruefsumme, dropped, dropped_pruefsumme, dropped_day, holds])?;
        Ok(())
    }

    /// Number and checksum of the last row: in a backup of the last one that it has from the database.
    fn end(&self, connection: &Connection) -> Result<Option<(i64, Digest)>> {
        let end = "select * from (
              select letzte_nr, pruefsumme from kette_kopie where name = ?1
              union all select letzte_nr, pruefsumme from kette where name = ?1 limit 1)
            where letzte_nr > 0";
        Ok(connection.query_row(end, [self.table], |row| row.try_into()).optional()?)
    }

    /// Where the chain ends, as a person writes it down.
    pub fn end_in_words(&self, connection: &Connection) -> Result<Option<String>> {
        let words = |(last, pruefsumme): (i64, Digest)| {
            format!("{} Zeile {last} Prüfsumme {}", self.name, hex(&pruefsumme))
        };
        Ok(self.end(connection)?.map(words))
    }

    /// Drops the oldest of the rows up to this one, all of which came before the end of a UTC day; how many.
    /// What is left can still be proved.
    pub fn drop_some(&self, connection: &Connection, until: i64, day: i64) -> Result<i64> {
        let Some(head) = self.head(connection)? else { return Ok(0) };
        let number = until.min(head.dropped.saturating_add(DROPPED_AT_ONCE));
        let pruefsumme = format!("select pruefsumme from {} where nr = ?1", self.table);
        let pruefsumme = connection.query_row(&pruefsumme, [number], |row| row.get(0)).optional()?;
        let Some(dropped_pruefsumme) = pruefsumme else { return Ok(0) };
        let dropped_day = head.dropped_day.max(Some(day));
        self.write(connection, &Head { dropped: number, dropped_pruefsumme, dropped_day, ..head })?;
        connection.execute(&format!("delete from {} where nr <= ?1", self.table), [number])?;
        Ok(number - head.dropped)
    }

    /// The first thing that a backup has of the chain and the database has not, in words.
    pub fn against(&self, connection: &Connection, backup: &Connection) -> Result<Option<String>> {
        let Some((last, kept)) = self.end(backup)? else { return Ok(None) };
        let now = format!(
            "select pruefsumme from {} where nr = ?2 union all
             select iif(ab_nr > ?2, ?3, ab_pruefsumme) from kette where name = ?1 and ab_nr >= ?2",
            self.table
        );
        let now: Option<Digest> =
            connection.query_row(&now, params![self.table, last, kept], |row| row.get(0)).optional()?;
        let what = match now {
            Some(now) if now == kept => return Ok(None),
            Some(_) => "geändert".to_owned(),
            None => {
                let left = self.end(connection)?.map_or(0, |(last, _)| last);
                format!("ab Zeile {} entfernt", left.saturating_add(1))
            }
        };
        Ok(Some(format!("die {} bis Zeile {last} wurde seit der Sicherung {what}", self.name)))
    }

    /// Proves the chain. Seals are looked at where it `is_sealed` with the secret of this connection. `look` is shown
    /// each row that is as it was written, with its columns from [`FIRST`] on, and says what is wrong with what the row
    /// is about.
    pub fn verify(
        &self,
        connection: &Connection,
        is_sealed: bool,
        mut look: impl FnMut(&Row<'_>) -> Result<Option<String>>,
    ) -> Result<Proof> {
        let end = |what: &str| format!("das Ende der {} wurde {what}", self.name);
        let Ok(head) = self.head(connection) else { return Ok(Err(end("geändert"))) };
        let Some(head) = head else { return Ok(Err(end("entfernt"))) };
        let mut statement = connection.prepare(self.rows)?;
        let mut rows = statement.query([])?;
        let mut last = Seen { number: head.dropped, pruefsumme: head.dropped_pruefsumme, day: None };
        while let Some(row) = rows.next()? {
            let mut wrong = self.follow(&mut last, row, &head, is_sealed)?;
            if wrong.is_none() {
                wrong = look(row)?;
            }
            if let Some(wrong) = wrong {
                return Ok(Err(wrong));
            }
        }
        if last.number < head.last {
            return Ok(Err(self.removed(&last, head.last)));
        }
        let is_end = (last.number, last.pruefsumme) == (head.last, head.pruefsumme);
        if is_end && (head.holds || !is_sealed) {
            return Ok(Ok(head.last - head.dropped));
        }
        let Head { last, dropped, .. } = head;
        let what = format!("geändert: vielleicht fehlen Zeilen nach Zeile {last} oder bis Zeile {dropped}");
        Ok(Err(end(&what)))
    }

    /// Goes on to the next row; what is wrong with it, in words.
    fn follow(&self, last: &mut Seen, row: &Row<'_>, head: &Head, is_sealed: bool) -> Result<Option<String>> {
        let number: i64 = row.get(0)?;
        // A value of another type than ours was altered, too.
        let day = row.get(3).unwrap_or(None);
        let was = |what: &str| {
            let day = in_words(" (vom ", day);
            Ok(Some(format!("Zeile {number} der {} wurde {what}{day}", self.name)))
        };
        if number <= last.number || number > head.last {
            return was("eingefügt");
        }
        if number > last.number.saturating_add(1) {
            return Ok(Some(self.removed(last, number - 1)));
        }
        let mut content = Content::with_room();
        content.number(number);
        for at in FIRST..row.as_ref().column_count() {
            content.value(row.get_ref(at)?);
        }
        let pruefsumme = link(last.pruefsumme, &content);
        let has_seal = number <= head.unsealed || !is_sealed || row.get(2)?;
        if row.get(1) != Ok(pruefsumme) || !has_seal {
            return was("geändert");
        }
        *last = Seen { number, pruefsumme, day };
        Ok(None)
    }

    /// The rows behind this one up to another are gone.
    fn removed(&self, last: &Seen, until: i64) -> String {
        let first = last.number.saturating_add(1);
        let rows = if first == until { first.to_string() } else { format!("{first} bis {until}") };
        format!("Zeile {rows} der {} wurde entfernt{}", self.name, in_words(" (nach einer vom ", last.day))
    }
}

/// The row that a proof saw last.
struct Seen {
    number: i64,
    pruefsumme: Digest,
    day: Option<i64>,
}

fn in_words(before: &str, day: Option<i64>) -> String {
    day.map_or_else(String::new, |day| format!("{before}{})", Day::of_number(day)))
}

/// Lets all chains be sealed from here on: what is there already is proved by checksums alone.
pub fn begin(connection: &Connection) -> Result<()> {
    connection.execute("update kette set mac_ab_nr = letzte_nr", [])?;
    connection.execute(&format!("update kette set mac = {SEAL}"), [])?;
    Ok(())
}

/// Notes in a copy where the chains end that it has from the database, before it takes in more by itself.
pub fn note_copied(copy: &Connection) -> Result<()> {
    forget_copied(copy)?;
    copy.execute("insert into kette_kopie select name, letzte_nr, pruefsumme from kette", [])?;
    Ok(())
}

/// A copy becomes the database: what it has is its own.
pub fn forget_copied(connection: &Connection) -> Result<()> {
    connection.execute("delete from kette_kopie", [])?;
    Ok(())
}

fn link(before: Digest, content: &Content) -> Digest {
    Sha256::new().chain_update(before).chain_update(content.as_bytes()).finalize().into()
}
