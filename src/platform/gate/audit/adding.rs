//! Adding rows at the ends of the chains. The head of a day is read before the first of its rows and written
//! after the last, however many come in between. A head is sealed anew only where its seal before holds: else what was
//! altered meanwhile would be sealed with it.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

use super::chain::{DAY, Pruefsumme, beginning, link, log_seal, log_seal_of, route_name};
use super::row::Row;
use crate::platform::failure::Result;
use crate::rules::day::Instant;

/// Where the rows of a day end: number and checksum of the last one, and whether the seal of its head held.
#[derive(Clone, Copy)]
struct End {
    number: i64,
    pruefsumme: Pruefsumme,
    holds: bool,
}

impl Row {
    pub fn insert(&self, connection: &Connection) -> Result<()> {
        let mut adding = Adding::to(connection)?;
        adding.add(self)?;
        adding.end()
    }
}

/// The log while rows are added to it, within one transaction; [`Adding::end`] must be called.
pub struct Adding<'c> {
    pub(super) connection: &'c Connection,
    insert: CachedStatement<'c>,
    /// The last row of each day that rows were added to.
    ends: BTreeMap<i64, End>,
    routes: HashMap<Option<i64>, Option<String>>,
}

impl<'c> Adding<'c> {
    pub fn to(connection: &'c Connection) -> Result<Adding<'c>> {
        let insert = connection.prepare_cached(
            "insert into audit (tag, lfd_nr, am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad,
               status, dauer_us, bytes_ein, bytes_aus, subjekt, anzahl, pruefsumme, person, code, mac)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
               kurzsiegel('audit', ?1, ?2, ?17))",
        )?;
        Ok(Adding { connection, insert, ends: BTreeMap::new(), routes: HashMap::new() })
    }

    /// Adds a row, chained to the one before it on its day. A row that is refused leaves no gap.
    pub fn add(&mut self, row: &Row) -> Result<()> {
        let tag = Instant::from_millis(row.am).utc_day();
        let last = match self.ends.get(&tag) {
            Some(last) => Some(*last),
            None => self.stored_end(tag)?,
        };
        let (end, first) = match last {
            Some(end) => (end, None),
            None => {
                let (vortag, log_holds) = self.last_day()?;
                let end = End { number: 0, pruefsumme: beginning(tag, vortag), holds: true };
                (end, Some((vortag, log_holds)))
            }
        };
        let pruefsumme = self.append(row, tag, end)?;
        if let Some((vortag, log_holds)) = first {
            begin_day(self.connection, tag, vortag, end.pruefsumme, log_holds)?;
        }
        self.ends.insert(tag, End { number: end.number + 1, pruefsumme, ..end });
        Ok(())
    }

    /// Inserts a row after the one that its day ends with; its checksum.
    fn append(&mut self, row: &Row, tag: i64, end: End) -> Result<Pruefsumme> {
        let number = end.number + 1;
        if !self.routes.contains_key(&row.route_id) {
            self.routes.insert(row.route_id, route_name(self.connection, row.route_id)?);
        }
        let route = self.routes.get(&row.route_id).and_then(Option::as_deref);
        let pruefsumme = link(end.pruefsumme, tag, number, row, route);
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
            row.person,
            row.code,
        ])?;
        Ok(pruefsumme)
    }

    /// Moves the heads of the days on to the rows that were added.
    pub fn end(self) -> Result<()> {
        for (tag, End { number, pruefsumme, holds }) in self.ends {
            self.connection
                .prepare_cached(
                    "update audit_tag set letzte_nr = ?2, pruefsumme = ?3, mac = iif(?4,
                       siegel('audit_tag', tag, vortag, ?2, ?3, ab_nr, ab_pruefsumme, mac_ab_nr), null)
                     where tag = ?1",
                )?
                .execute(params![tag, number, pruefsumme, holds])?;
        }
        Ok(())
    }

    fn stored_end(&self, tag: i64) -> Result<Option<End>> {
        let head = format!("select letzte_nr, pruefsumme, mac is {DAY} from audit_tag where tag = ?1");
        let end = |row: &rusqlite::Row<'_>| {
            Ok(End { number: row.get(0)?, pruefsumme: row.get(1)?, holds: row.get(2)? })
        };
        Ok(self.connection.prepare_cached(&head)?.query_row([tag], end).optional()?)
    }

    /// The day that was begun last, and whether the seal of the log holds that says so.
    fn last_day(&self) -> Result<(Option<i64>, bool)> {
        let last = format!("select letzter_tag, mac is {} from audit_kopf where id = 1", log_seal());
        let found = self.connection.query_row(&last, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(found.unwrap_or((None, false)))
    }
}

/// Begins the chain of a day; its head is sealed with its first row. The head of the log is sealed anew where it was.
pub fn begin_day(
    connection: &Connection,
    tag: i64,
    vortag: Option<i64>,
    before: Pruefsumme,
    log_holds: bool,
) -> Result<()> {
    connection.execute(
        "insert into audit_tag (tag, vortag, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme)
         values (?1, ?2, 0, ?3, 0, ?3)",
        params![tag, vortag, before],
    )?;
    connection.execute(
        &format!(
            "insert into audit_kopf (id, letzter_tag) values (1, ?1)
             on conflict (id) do update set letzter_tag = ?1, mac = iif(?2, {}, null)",
            log_seal_of("?1", "geloescht_bis")
        ),
        params![tag, log_holds],
    )?;
    Ok(())
}
