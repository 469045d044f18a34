//! Adding rows at the ends of the chains. The head of a day is read before the first of its rows and written
//! after the last, however many come in between.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::chain::{Pruefsumme, beginning, link, route_name};
use super::{Row, flood};
use crate::db::error::Result;
use crate::rules::day::Instant;

/// The log while rows are added to it, within one transaction; [`Adding::end`] must be called.
pub struct Adding<'c> {
    connection: &'c Connection,
    insert: CachedStatement<'c>,
    /// The last row of each day that rows were added to: its number and checksum.
    ends: BTreeMap<i64, (i64, Pruefsumme)>,
    /// The names of routes.
    routes: HashMap<Option<i64>, Option<String>>,
}

impl<'c> Adding<'c> {
    /// Begins.
    pub fn to(connection: &'c Connection) -> Result<Adding<'c>> {
        let insert = connection.prepare_cached(
            "insert into audit (tag, lfd_nr, am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad,
               status, dauer_us, bytes_ein, bytes_aus, subjekt, anzahl, pruefsumme)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        )?;
        Ok(Adding { connection, insert, ends: BTreeMap::new(), routes: HashMap::new() })
    }

    /// Adds a row, or counts it as one of a flood.
    pub fn store(&mut self, row: &Row) -> Result<()> {
        if row.flut { flood::count(self.connection, row) } else { self.add(row) }
    }

    /// Adds a row, chained to the one before it on its day. A row that is refused leaves no gap.
    pub fn add(&mut self, row: &Row) -> Result<()> {
        let tag = Instant::from_millis(row.am).utc_day();
        let last = match self.ends.get(&tag) {
            Some(last) => Some(*last),
            None => self.stored_end(tag)?,
        };
        let (number, before, first) = match last {
            Some((number, pruefsumme)) => (number + 1, pruefsumme, None),
            None => {
                let vortag = self.last_day()?;
                let before = beginning(tag, vortag);
                (1, before, Some(vortag))
            }
        };
        if !self.routes.contains_key(&row.route_id) {
            self.routes.insert(row.route_id, route_name(self.connection, row.route_id)?);
        }
        let route = self.routes.get(&row.route_id).and_then(Option::as_deref);
        let pruefsumme = link(before, tag, number, row, route);
        self.insert.execute(params![
            tag,
            number,
            row.am,
            row.request_id,
            row.key_id,
            row.tenant_id,
            row.adresse,
            row.methode,
            row.route_id,
            row.pfad,
            row.status,
            row.dauer_us,
            row.bytes_ein,
            row.bytes_aus,
            row.subjekt,
            row.anzahl,
            pruefsumme,
        ])?;
        if let Some(vortag) = first {
            self.begin_day(tag, vortag, before)?;
        }
        self.ends.insert(tag, (number, pruefsumme));
        Ok(())
    }

    /// Moves the heads of the days on to the rows that were added.
    pub fn end(self) -> Result<()> {
        for (tag, (number, pruefsumme)) in self.ends {
            self.connection
                .prepare_cached("update audit_tag set letzte_nr = ?2, pruefsumme = ?3 where tag = ?1")?
                .execute(params![tag, number, pruefsumme])?;
        }
        Ok(())
    }

    fn stored_end(&self, tag: i64) -> Result<Option<(i64, Pruefsumme)>> {
        let head = "select letzte_nr, pruefsumme from audit_tag where tag = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.connection.prepare_cached(head)?.query_row([tag], row).optional()?)
    }

    /// The day that was begun last.
    fn last_day(&self) -> Result<Option<i64>> {
        let last = "select letzter_tag from audit_kopf where id = 1";
        Ok(self.connection.query_row(last, [], |row| row.get(0)).optional()?)
    }

    fn begin_day(&self, tag: i64, vortag: Option<i64>, before: Pruefsumme) -> Result<()> {
        self.connection.execute(
            "insert into audit_tag (tag, vortag, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme)
             values (?1, ?2, 0, ?3, 0, ?3)",
            params![tag, vortag, before],
        )?;
        self.connection.execute(
            "insert into audit_kopf (id, letzter_tag) values (1, ?1)
             on conflict (id) do update set letzter_tag = ?1",
            [tag],
        )?;
        Ok(())
    }
}
