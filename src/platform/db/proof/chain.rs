//! A chain of rows in a table of its own: each has `sha256(the one before ‖ its number ‖ its columns)`, so that none can
//! be altered, removed or inserted without breaking what stands behind it. Its head, a row of `kette`, says between which
//! rows the chain lies. It is sealed anew only where its seal holds: else what was altered meanwhile would be sealed with
//! it.

use std::sync::LazyLock;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest as _, Sha256};

use super::seal::Content;
use crate::platform::db::record::record;
use crate::platform::failure::{Failure, Result};
use crate::rules::bytes::hex;

pub type Digest = [u8; 32];

const SEAL: &str = "siegel('kette', name, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, mac_ab_nr)";

pub struct Chain {
    pub table: &'static str,
    /// What people call it: a German noun that is feminine.
    pub name: &'static str,
    /// Inserts a row: ?1 is the number, ?2 the checksum, the columns follow.
    pub insert: &'static str,
    /// The rows in order: number, checksum, whether the seal of the row is ours, then the columns as they are inserted.
    pub rows: &'static str,
}

record! {
    /// Between which rows a chain lies.
    pub struct Head from kette as k {
        last: i64 = "letzte_nr",
        pruefsumme: Digest,
        /// The last row that was dropped; 0: none.
        dropped: i64 = "ab_nr",
        dropped_pruefsumme: Digest = "ab_pruefsumme",
        /// Rows up to this one are older than the seals.
        unsealed: i64 = "mac_ab_nr",
        /// Its seal is ours.
        holds: bool = "mac is siegel('kette', name, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, mac_ab_nr)",
    }
}

static HEAD: LazyLock<String> =
    LazyLock::new(|| format!("select {} from kette k where name = ?1", Head::COLUMNS));

impl Chain {
    pub fn append(&self, connection: &Connection, columns: &[&dyn ToSql]) -> Result<()> {
        let head = self.sealed_head(connection)?;
        let head = head.ok_or_else(|| Failure::Broken(format!("das Ende der {} fehlt", self.name)))?;
        let number = head.last + 1;
        let mut content = Content::with_room();
        content.number(number);
        let mut insert = connection.prepare_cached(self.insert)?;
        for (at, column) in (3..).zip(columns) {
            match column.to_sql()? {
                ToSqlOutput::Borrowed(value) => content.value(value),
                ToSqlOutput::Owned(value) => content.value(ValueRef::from(&value)),
                _ => return Err(Failure::Broken(format!("eine Spalte der {} hat keinen Wert", self.name))),
            }
            insert.raw_bind_parameter(at, column)?;
        }
        let pruefsumme = link(head.pruefsumme, &content);
        insert.raw_bind_parameter(1, number)?;
        insert.raw_bind_parameter(2, pruefsumme)?;
        insert.raw_execute()?;
        connection
            .prepare_cached(
                "update kette set letzte_nr = ?2, pruefsumme = ?3, mac = iif(?4,
                   siegel('kette', name, ?2, ?3, ab_nr, ab_pruefsumme, mac_ab_nr), null) where name = ?1",
            )?
            .execute(params![self.table, number, pruefsumme, head.holds])?;
        Ok(())
    }

    fn sealed_head(&self, connection: &Connection) -> Result<Option<Head>> {
        Ok(connection.prepare_cached(&HEAD)?.query_row([self.table], Head::read).optional()?)
    }

    /// Number and checksum of the last row.
    fn end(&self, connection: &Connection) -> Result<Option<(i64, Digest)>> {
        let end = "select letzte_nr, pruefsumme from kette where name = ?1 and letzte_nr > 0";
        Ok(connection.query_row(end, [self.table], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// Where the chain ends, as a person writes it down.
    pub fn end_in_words(&self, connection: &Connection) -> Result<Option<String>> {
        let words = |(last, pruefsumme): (i64, Digest)| {
            format!("{} Zeile {last} Prüfsumme {}", self.name, hex(&pruefsumme))
        };
        Ok(self.end(connection)?.map(words))
    }

    /// Drops the rows up to this one. What is left can still be proved.
    pub fn drop_until(&self, connection: &Connection, number: i64) -> Result<()> {
        let head = format!(
            "update kette set ab_nr = ?2, ab_pruefsumme = neu, mac = iif(mac is {SEAL},
               siegel('kette', name, letzte_nr, pruefsumme, ?2, neu, mac_ab_nr), null)
             from (select pruefsumme as neu from {} where nr = ?2) where name = ?1",
            self.table
        );
        connection.execute(&head, params![self.table, number])?;
        connection.execute(&format!("delete from {} where nr <= ?1", self.table), [number])?;
        Ok(())
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
            Some(_) => "geändert",
            None => "entfernt",
        };
        Ok(Some(format!("die {} bis Zeile {last} wurde seit der Sicherung {what}", self.name)))
    }

    /// The first thing that is wrong with the chain, in words, else how many rows it has. Seals are looked at where it
    /// `is_sealed` with the secret of this connection. `look` is shown each row that is as it was written, with its
    /// columns from [`FIRST`] on, and says what is wrong with what the row is about.
    pub fn verify(
        &self,
        connection: &Connection,
        is_sealed: bool,
        mut look: impl FnMut(&Row<'_>) -> Result<Option<String>>,
    ) -> Result<std::result::Result<i64, String>> {
        let name = self.name;
        let Ok(head) = self.sealed_head(connection) else {
            return Ok(Err(format!("das Ende der {name} wurde geändert")));
        };
        let Some(head) = head else { return Ok(Err(format!("das Ende der {name} wurde entfernt"))) };
        let mut statement = connection.prepare(self.rows)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        let (mut before, mut last) = (head.dropped_pruefsumme, head.dropped);
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            if number != last + 1 {
                return Ok(Err(format!("Zeile {} der {name} wurde entfernt", last + 1)));
            }
            let content = content_of(row, number, columns)?;
            let has_seal = number <= head.unsealed || !is_sealed || row.get(2)?;
            (before, last) = (link(before, &content), number);
            // A value of another type than ours was altered, too.
            if row.get(1).ok() != Some(before) || !has_seal {
                return Ok(Err(format!("Zeile {number} der {name} wurde geändert")));
            }
            if let Some(what) = look(row)? {
                return Ok(Err(what));
            }
        }
        if last < head.last {
            return Ok(Err(format!("Zeile {} der {name} wurde entfernt", last + 1)));
        }
        let is_whole = (last, before) == (head.last, head.pruefsumme) && (head.holds || !is_sealed);
        Ok(is_whole.then(|| last - head.dropped).ok_or_else(|| format!("das Ende der {name} wurde geändert")))
    }
}

/// The first column of a row behind number, checksum and seal.
pub const FIRST: usize = 3;

/// Lets all chains be sealed from here on: what is there already is proved by checksums alone.
pub fn begin(connection: &Connection) -> Result<()> {
    connection.execute("update kette set mac_ab_nr = letzte_nr", [])?;
    connection.execute(&format!("update kette set mac = {SEAL}"), [])?;
    Ok(())
}

/// What the checksum of a row covers.
fn content_of(row: &Row<'_>, number: i64, columns: usize) -> Result<Content> {
    let mut content = Content::with_room();
    content.number(number);
    (FIRST..columns).try_for_each(|at| row.get_ref(at).map(|value| content.value(value)))?;
    Ok(content)
}

fn link(before: Digest, content: &Content) -> Digest {
    Sha256::new().chain_update(before).chain_update(content.as_bytes()).finalize().into()
}
