//! The chain of the log, and adding rows at its end.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};

use super::row::Row;
use crate::platform::db::seals::chain::{Appending, Chain};
use crate::platform::failure::Result;

/// The checksum of a row also covers its route by its name: the number alone could come to mean another.
pub const CHAIN: Chain = Chain {
    table: "audit",
    name: "Kette der Anfragen",
    insert: "insert into audit (nr, pruefsumme, mac, am, request_id, key_id, tenant_id, adresse, methode, \
         route_id, pfad,
          status, dauer_us, bytes_ein, bytes_aus, subjekt, anzahl, person, code)
        values (?1, ?2, kurzsiegel('audit', ?1, ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
          ?18)",
    rows: "select a.nr, a.pruefsumme, a.mac is kurzsiegel('audit', a.nr, a.pruefsumme), a.tag, a.am, a.request_id,
          a.key_id, a.tenant_id, a.adresse, a.methode, a.route_id, a.pfad, a.status, a.dauer_us, a.bytes_ein,
          a.bytes_aus, a.subjekt, a.anzahl, a.person, a.code, r.methode || ' ' || r.muster
        from audit a left join route r on r.id = a.route_id order by a.nr",
};

impl Row {
    pub fn insert(&self, connection: &Connection) -> Result<()> {
        let mut adding = Adding::to(connection);
        adding.add(self)?;
        adding.end()
    }
}

/// The log while rows are added to it, within one transaction; [`Adding::end`] must be called.
pub struct Adding<'c> {
    pub(super) connection: &'c Connection,
    /// None before the first row.
    log: Option<Appending<'c>>,
    routes: HashMap<i64, Option<String>>,
}

impl<'c> Adding<'c> {
    pub fn to(connection: &'c Connection) -> Adding<'c> {
        Adding { connection, log: None, routes: HashMap::new() }
    }

    /// Adds a row. One that is refused leaves no gap.
    pub fn add(&mut self, row: &Row) -> Result<()> {
        if let Some(id) = row.route_id
            && !self.routes.contains_key(&id)
        {
            let name = "select methode || ' ' || muster from route where id = ?1";
            let mut name = self.connection.prepare_cached(name)?;
            self.routes.insert(id, name.query_row([id], |row| row.get(0)).optional()?);
        }
        let route = row.route_id.and_then(|id| self.routes.get(&id)?.as_deref());
        let log = match self.log.take() {
            Some(log) => log,
            None => CHAIN.begin_to_append(self.connection)?,
        };
        self.log.insert(log).add(
            &[
                &row.am,
                &row.request_id,
                &row.key_id,
                &row.tenant_id,
                &row.adresse,
                &row.methode,
                &row.route_id,
                &row.pfad,
                &row.status,
                &row.dauer_us,
                &row.bytes_ein,
                &row.bytes_aus,
                &row.subjekt,
                &row.anzahl,
                &row.person,
                &row.code,
            ],
            &[&route],
        )
    }

    pub fn end(self) -> Result<()> {
        self.log.map_or(Ok(()), Appending::end)
    }
}
