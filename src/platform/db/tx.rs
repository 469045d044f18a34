//! A transaction that knows its tenant and its time.
//!
//! No function below takes a tenant as an argument and none reads the clock: both are here. This file binds
//! `:tenant` in every statement, so a statement only has to name it; likewise `:heute`, the day in Berlin.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::{FromSql, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Row, ffi, named_params};
use uuid::{ContextV7, Timestamp, Uuid};

use super::feed::followed::{self, Art, Written};
use super::writer::cache::Cache;
use super::{TenantId, all};
use crate::platform::failure::{Failure, Result};
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};

/// Named parameters of a statement, without `:tenant`.
pub type Params<'p> = &'p [(&'p str, &'p dyn ToSql)];

/// A read transaction of one tenant: one snapshot.
pub struct Tx<'c> {
    connection: &'c Connection,
    tenant: TenantId,
    now: Instant,
    cache: Option<&'c Cache>,
}

impl<'c> Tx<'c> {
    pub fn new(connection: &'c Connection, tenant: TenantId, now: Instant) -> Tx<'c> {
        Tx { connection, tenant, now, cache: None }
    }

    pub fn with_cache(self, cache: &'c Cache) -> Tx<'c> {
        Tx { cache: Some(cache), ..self }
    }

    /// For rows that are shared by all tenants.
    pub(super) fn connection(&self) -> &'c Connection {
        self.connection
    }

    /// The path of the database file; `None` for a database in memory.
    pub fn database(&self) -> Option<&'c Path> {
        self.connection.path().filter(|path| !path.is_empty()).map(Path::new)
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub fn now(&self) -> Instant {
        self.now
    }

    /// The day in Berlin at the time of the transaction.
    pub fn today(&self) -> Day {
        Day::in_berlin(self.now)
    }

    /// Returns the first row of a statement, if there is one.
    pub fn optional<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.bound(sql, params)?;
        let mut rows = statement.raw_query();
        Ok(rows.next()?.map(map).transpose()?)
    }

    /// Returns the only row of a statement that always has one.
    pub fn one<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.optional(sql, params, map)?.ok_or(Failure::Sql(rusqlite::Error::QueryReturnedNoRows))
    }

    pub fn exists(&self, sql: &str, params: Params<'_>) -> Result<bool> {
        Ok(self.optional(sql, params, |_| Ok(()))?.is_some())
    }

    pub fn all<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.each(sql, params, |row| {
            found.push(map(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Visits all rows of a statement, one by one.
    pub fn each(
        &self,
        sql: &str,
        params: Params<'_>,
        mut visit: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_while(sql, params, |row| visit(row).map(|()| true))
    }

    /// Visits the rows of a statement one by one until `visit` returns false.
    pub fn each_while(
        &self,
        sql: &str,
        params: Params<'_>,
        mut visit: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut statement = self.bound(sql, params)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if !visit(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns master data of this kind by its key: from the writer's cache if there is one, otherwise read
    /// now. `read` may only use tables that [`super::writer::cache`] watches.
    pub fn cached<T: Send + Sync + 'static>(
        &self,
        kind: &'static str,
        key: &[u8],
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        match self.cache {
            Some(cache) => cache.get_or_read(self.tenant, kind, key, read),
            None => read().map(Arc::new),
        }
    }

    fn bound(&self, sql: &str, params: Params<'_>) -> Result<CachedStatement<'c>> {
        forbid_scan(self.connection, sql)?;
        let mut statement = self.connection.prepare_cached(sql)?;
        if let Some(at) = statement.parameter_index(":tenant")? {
            statement.raw_bind_parameter(at, self.tenant)?;
        }
        if let Some(at) = statement.parameter_index(":heute")? {
            statement.raw_bind_parameter(at, self.today())?;
        }
        for (name, value) in params {
            let at = statement.parameter_index(name)?;
            let at = at.ok_or_else(|| rusqlite::Error::InvalidParameterName((*name).to_owned()))?;
            statement.raw_bind_parameter(at, value)?;
        }
        Ok(statement)
    }
}

fn is_still_referred_to(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_CONSTRAINT_FOREIGNKEY)
}

/// Panics in debug builds if a statement on a tenant's data scans a whole table: with ten times the data, or
/// ten tenants, it would take ten times as long. Every test checks the plan of every statement it runs, each
/// statement once.
fn forbid_scan(connection: &Connection, sql: &str) -> Result<()> {
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = || SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.to_owned());
    if cfg!(debug_assertions) && is_new() {
        let mut plan = connection.prepare(&format!("explain query plan {sql}"))?;
        let mut steps = plan.raw_query();
        let mut brought = Vec::new();
        while let Some(step) = steps.next()? {
            let step: String = step.get("detail")?;
            let inner = step.strip_prefix("CO-ROUTINE ").or_else(|| step.strip_prefix("MATERIALIZE "));
            brought.extend(inner.map(|name| format!("SCAN {name}")));
            assert!(!walks_a_table(&step) || brought.contains(&step), "{step} walks a whole table: {sql}");
        }
    }
    Ok(())
}

/// Whether a step of a query plan scans a table or its index, rather than rows the statement produces itself.
fn walks_a_table(step: &str) -> bool {
    // The only virtual tables are table-valued functions such as json_each.
    let brought = |of: &str| of.starts_with('(') || of == "CONSTANT ROW" || of.contains(" VIRTUAL TABLE ");
    step.strip_prefix("SCAN ").is_some_and(|of| !brought(of))
}

/// Generates version 7 UUIDs that increase in the order of their creation.
static IDS: Mutex<ContextV7> = Mutex::new(ContextV7::new());

/// A write transaction of one tenant; its changes become durable when the whole batch commits.
pub struct WriteTx<'c> {
    tx: Tx<'c>,
    key_id: Option<&'c str>,
    /// The followed records that were written, each once.
    written: RefCell<Vec<Written>>,
}

impl<'c> WriteTx<'c> {
    /// Runs the work of one request, or of one step of a command, and writes its changes to the feed. There
    /// is no other way to write, so the feed misses no change.
    pub fn carry_out<T>(
        tx: Tx<'c>,
        key_id: Option<&'c str>,
        work: impl FnOnce(&WriteTx<'c>) -> Result<T>,
    ) -> Result<T> {
        let tx = WriteTx { tx, key_id, written: RefCell::default() };
        let done = work(&tx)?;
        followed::add(tx.connection, tx.tenant, tx.now, &tx.written.take())?;
        Ok(done)
    }

    /// Runs work, rolls it back and returns its result.
    pub fn undone<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let written = self.written.borrow().len();
        self.connection.execute_batch("savepoint trial")?;
        let done = work();
        let undone = self.connection.execute_batch("rollback to trial; release trial");
        self.written.borrow_mut().truncate(written);
        // Some failures roll back the whole transaction; then no savepoint is left.
        let done = done?;
        undone?;
        Ok(done)
    }

    /// The API key that writes; `None` is the command line.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id
    }

    /// Returns a new id, larger than all earlier ones.
    pub fn new_id(&self) -> Uuid {
        let millis = self.now.millis().unsigned_abs();
        let nanos = (millis % 1000) as u32 * 1_000_000;
        Uuid::new_v7(Timestamp::from_unix(&IDS, millis / 1000, nanos))
    }

    /// Marks a record as changed when the change is not in its own row.
    pub fn changed(&self, table: &'static str, id: Uuid) {
        self.note(table, id, false);
    }

    fn note(&self, table: &'static str, id: Uuid, is_new: bool) {
        let Some(art) = Art::parse(table) else { return };
        let mut written = self.written.borrow_mut();
        if !written.iter().any(|before| (before.art, before.id) == (art, id)) {
            written.push(Written { art, id, is_new });
        }
    }

    /// Runs a statement and returns the number of rows it changed.
    pub fn execute(&self, sql: &str, params: Params<'_>) -> Result<usize> {
        let mut statement = self.bound(sql, params)?;
        Ok(statement.raw_execute()?)
    }

    pub fn insert(&self, table: &'static str, columns: Params<'_>) -> Result<()> {
        self.insert_all(table, &[()], |(), store| store(columns))
    }

    /// Inserts a row of this tenant, or updates the row with the same `key`.
    pub fn upsert(&self, table: &'static str, key: &[&str], columns: Params<'_>) -> Result<()> {
        let mut sql = insert_statement(table, columns);
        sql.extend([" on conflict (tenant_id, ", &key.join(", "), ") do update set "]);
        let names = columns.iter().map(|(name, _)| name.trim_start_matches(':'));
        let sets: Vec<_> = names
            .filter(|name| !key.contains(name))
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        sql.push_str(&sets.join(", "));
        let mut statement = self.connection.prepare_cached(&sql)?;
        bind_row(&mut statement, self.tenant, columns)?;
        statement.raw_execute()?;
        Ok(())
    }

    /// Inserts rows of this tenant. `columns` passes the columns of a row to its callback; all rows must have
    /// the same columns.
    pub fn insert_all<R>(
        &self,
        table: &'static str,
        rows: &[R],
        columns: impl Fn(&R, &mut dyn FnMut(Params<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = None;
        let is_followed = Art::parse(table).is_some();
        for row in rows {
            columns(row, &mut |columns| {
                let statement = match &mut statement {
                    Some(statement) => statement,
                    None => {
                        let sql = insert_statement(table, columns);
                        statement.insert(self.connection.prepare_cached(&sql)?)
                    }
                };
                bind_row(statement, self.tenant, columns)?;
                statement.raw_execute()?;
                if is_followed && let Some(id) = id_among(columns) {
                    self.note(table, id, true);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Deletes a followed record. If other rows refer to it, the record stays and their tables are returned.
    pub fn delete(&self, art: Art, id: Uuid) -> Result<Vec<String>> {
        let last = followed::last(self.connection, self.tenant, art, id)?;
        let last = last.ok_or_else(|| Failure::Broken(format!("there is no {} to delete", art.as_str())))?;
        let statement = format!("delete from {} where tenant_id = :tenant and id = :id", art.as_str());
        match self.execute(&statement, named_params! {":id": id}) {
            Err(Failure::Sql(error)) if is_still_referred_to(&error) => return self.referring(art, id),
            deleted => deleted?,
        };
        self.written.borrow_mut().retain(|written| (written.art, written.id) != (art, id));
        followed::add_deleted(self.connection, self.tenant, self.now, (art, id), last)?;
        Ok(Vec::new())
    }

    /// Returns the tables with rows that refer to a record.
    pub fn referring(&self, art: Art, id: Uuid) -> Result<Vec<String>> {
        let mut referring = Vec::new();
        for (table, column) in references(self.connection, art)? {
            let statement =
                format!("select 1 from {table} where tenant_id = :tenant and {column} = :id limit 1");
            if self.exists(&statement, named_params! {":id": id})? {
                referring.push(table);
            }
        }
        Ok(referring)
    }

    /// Updates columns of one row of this tenant; fails if the row does not exist.
    pub fn update(&self, table: &'static str, id: Uuid, columns: Params<'_>) -> Result<()> {
        let sets: Vec<_> =
            columns.iter().map(|(name, _)| format!("{} = {name}", name.trim_start_matches(':'))).collect();
        let sql = format!("update {table} set {} where tenant_id = :tenant and id = :id", sets.join(", "));
        let params: Vec<(&str, &dyn ToSql)> =
            columns.iter().copied().chain([(":id", &id as &dyn ToSql)]).collect();
        self.note(table, id, false);
        match self.execute(&sql, &params)? {
            1 => Ok(()),
            rows => Err(Failure::Broken(format!("update of {table} changed {rows} rows instead of one"))),
        }
    }
}

/// Returns the tables with a foreign key to the id of a record, each with the referring column.
fn references(connection: &Connection, art: Art) -> Result<Vec<(String, String)>> {
    let statement = "select m.name, f.\"from\" from sqlite_schema m, pragma_foreign_key_list(m.name) f
        where m.type = 'table' and f.\"table\" = ?1 and f.\"to\" = 'id' order by m.name";
    Ok(all(connection, statement, [art.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// The id among the columns of a row; some tables have no id.
fn id_among(columns: Params<'_>) -> Option<Uuid> {
    let (_, value) = columns.iter().find(|(name, _)| *name == ":id")?;
    match value.to_sql().ok()? {
        ToSqlOutput::Borrowed(value) => Uuid::column_result(value).ok(),
        ToSqlOutput::Owned(value) => Uuid::column_result(ValueRef::from(&value)).ok(),
        _ => None,
    }
}

/// Binds the values of [`insert_statement`] by position: looking up thirty names costs more than inserting
/// the row.
fn bind_row(statement: &mut CachedStatement<'_>, tenant: TenantId, columns: Params<'_>) -> Result<()> {
    statement.raw_bind_parameter(1, tenant)?;
    for (place, (_, value)) in (2..).zip(columns) {
        statement.raw_bind_parameter(place, value)?;
    }
    Ok(())
}

fn insert_statement(table: &str, columns: Params<'_>) -> String {
    let mut sql = String::with_capacity(64 + 32 * columns.len());
    sql.extend(["insert into ", table, "(tenant_id"]);
    columns.iter().for_each(|(name, _)| sql.extend([",", name.trim_start_matches(':')]));
    sql.push_str(")values(?");
    columns.iter().for_each(|_| sql.push_str(",?"));
    sql.push(')');
    sql
}

impl<'c> Deref for WriteTx<'c> {
    type Target = Tx<'c>;
    fn deref(&self) -> &Tx<'c> {
        &self.tx
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_in_whatever_their_number() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table t (tenant_id, a, b)").unwrap();
        let tx = Tx::new(&connection, 7, Instant::from_millis(0));
        let tx = WriteTx { tx, key_id: None, written: RefCell::default() };
        for count in [0, 1, 7, 8, 9, 20] {
            let rows: Vec<i64> = (0..count).collect();
            let store_row = |row: &i64, store: &mut dyn FnMut(Params<'_>) -> Result<()>| {
                store(&[(":b", &(row * 10)), (":a", row)])
            };
            tx.insert_all("t", &rows, store_row).unwrap();
            let found = connection.prepare("select tenant_id, a, b from t order by rowid").unwrap();
            let found: Vec<(i64, i64, i64)> = { found }
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap()
                .collect::<rusqlite::Result<_>>()
                .unwrap();
            assert_eq!(found, rows.iter().map(|row| (7, *row, row * 10)).collect::<Vec<_>>());
            connection.execute_batch("delete from t").unwrap();
        }
    }

    #[test]
    #[should_panic(expected = "walks a whole table")]
    fn a_statement_that_walks_a_whole_table_is_seen() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table t (a)").unwrap();
        let tx = Tx::new(&connection, 1, Instant::from_millis(0));
        let _ = tx.all("select a from t where a = 1", &[], |row| row.get::<_, i64>(0));
    }
}
