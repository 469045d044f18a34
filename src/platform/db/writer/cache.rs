//! The writer's cache of master data, which rarely changes: without it a document of five articles would read
//! master data twelve times.
//!
//! An entry is valid until one of the cached tables changes. SQLite counts what other connections have
//! written (`pragma data_version`); the writer reads the count after its transaction has begun, when nobody
//! else can write until it ends. Triggers on the writer's own connection notice its own changes. After such a
//! change the cache is bypassed until the transaction ends, because the change may still be rolled back.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::platform::db::TenantId;
use crate::platform::failure::{Failure, Result};

/// Tables with cached rows: forms, imports and commands write them, but rarely.
const TABLES: &[&str] = &["artikel", "artikelgruppe", "firma", "staffelpreis", "steuersatz", "tenant"];

/// Maximum number of entries; beyond it the cache is emptied. An article takes up to 20 KiB, usually 300
/// bytes.
const ENTRIES_MAX: usize = 2_000;

/// Entries of one kind and tenant, by key.
type Entries = HashMap<Box<[u8]>, Arc<dyn Any + Send + Sync>>;

pub struct Cache {
    version: Cell<i64>,
    /// Set by the triggers: the current transaction has changed a cached table.
    changed: Arc<AtomicBool>,
    entries: RefCell<HashMap<(TenantId, &'static str), Entries>>,
    count: Cell<usize>,
}

impl Cache {
    pub fn new(connection: &Connection) -> Result<Cache> {
        let changed = Arc::<AtomicBool>::default();
        watch(connection, Arc::clone(&changed))?;
        Ok(Cache { version: Cell::default(), changed, entries: RefCell::default(), count: Cell::default() })
    }

    /// Drops all entries if a cached table may have changed since the previous transaction. A transaction
    /// must be open.
    pub fn drop_if_stale(&self, connection: &Connection) -> Result<()> {
        let version = connection.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        let changed = self.changed.swap(false, Ordering::Relaxed);
        if self.version.replace(version) != version || changed {
            self.clear();
        }
        Ok(())
    }

    /// Returns the entry of this kind, tenant and key; reads it if it is missing.
    pub fn get_or_read<T: Send + Sync + 'static>(
        &self,
        tenant: TenantId,
        kind: &'static str,
        key: &[u8],
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        if self.changed.load(Ordering::Relaxed) {
            return read().map(Arc::new);
        }
        let known = self.entries.borrow().get(&(tenant, kind)).and_then(|entries| entries.get(key)).cloned();
        if let Some(known) = known {
            let wrong = |_| Failure::Broken(format!("{kind} is cached as two types"));
            return known.downcast().map_err(wrong);
        }
        let new = Arc::new(read()?);
        if self.count.get() == ENTRIES_MAX {
            self.clear();
        }
        self.count.set(self.count.get() + 1);
        let mut entries = self.entries.borrow_mut();
        entries.entry((tenant, kind)).or_default().insert(key.into(), Arc::clone(&new) as _);
        Ok(new)
    }

    fn clear(&self) {
        self.entries.borrow_mut().clear();
        self.count.set(0);
    }
}

/// Sets `changed` whenever a statement of this connection changes a row of a cached table. Uses temporary
/// triggers, which only this connection sees: SQLite's update hook ignores tables without rowid, such as
/// articles.
fn watch(connection: &Connection, changed: Arc<AtomicBool>) -> Result<()> {
    connection.create_scalar_function("master_data_changed", 0, FunctionFlags::SQLITE_UTF8, move |_| {
        changed.store(true, Ordering::Relaxed);
        Ok(None::<i64>)
    })?;
    for (table, change) in
        TABLES.iter().flat_map(|table| ["insert", "update", "delete"].map(|to| (table, to)))
    {
        connection.execute_batch(&format!(
            "create temp trigger {table}_{change} after {change} on main.{table} begin select \
             master_data_changed(); end"
        ))?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates the tables that the cache watches.
    pub fn create_tables(connection: &Connection) {
        for table in TABLES {
            connection
                .execute_batch(&format!("create table {table} (preis primary key) without rowid"))
                .unwrap();
        }
    }

    /// Reads the only row of a table through the cache, as a transaction does.
    struct Asked<'c> {
        cache: &'c Cache,
        connection: &'c Connection,
    }

    impl Asked<'_> {
        fn begin(&self) {
            self.connection.execute_batch("begin immediate").unwrap();
            self.cache.drop_if_stale(self.connection).unwrap();
        }

        fn price(&self, tenant: TenantId) -> Option<i64> {
            let statement = "select max(preis) from artikel";
            let read = || Ok(self.connection.query_row(statement, [], |row| row.get(0))?);
            *self.cache.get_or_read(tenant, "artikel", b"W", read).unwrap()
        }

        fn run(&self, sql: &str) {
            self.connection.execute_batch(sql).unwrap();
        }
    }

    #[test]
    fn what_another_connection_wrote_is_read_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let [ours, other] = [(); 2].map(|()| Connection::open(folder.path().join("test.db")).unwrap());
        ours.execute_batch("pragma journal_mode = wal").unwrap();
        create_tables(&ours);
        let cache = Cache::new(&ours).unwrap();
        let asked = Asked { cache: &cache, connection: &ours };
        for (price, seen) in [(1, None), (2, Some(1)), (3, Some(2))] {
            asked.begin();
            assert_eq!((asked.price(1), asked.price(2)), (seen, seen));
            asked.run("commit");
            other.execute("replace into artikel values (?1)", [price]).unwrap();
        }
    }

    #[test]
    fn an_entry_is_kept_until_a_statement_of_ours_changes_a_cached_table() {
        let connection = Connection::open_in_memory().unwrap();
        create_tables(&connection);
        connection.execute_batch("create table beleg (a); insert into artikel values (1)").unwrap();
        let cache = Cache::new(&connection).unwrap();
        let read_anew = || *cache.get_or_read(1, "artikel", b"W", || Ok(Some(-1_i64))).unwrap() == Some(-1);
        let asked = Asked { cache: &cache, connection: &connection };
        for table in TABLES {
            for change in ["insert into {} values (5)", "update {} set preis = preis + 10", "delete from {}"]
            {
                asked.begin();
                asked.price(1);
                asked.run("insert into beleg values (1); update beleg set a = 2; delete from beleg; commit");
                asked.begin();
                assert!(!read_anew(), "{table}");
                asked.run(&change.replace("{}", table));
                assert!(read_anew(), "{table}: {change}");
                asked.run("commit");
            }
        }
    }

    #[test]
    fn what_was_rolled_back_is_remembered_by_nobody() {
        let connection = Connection::open_in_memory().unwrap();
        create_tables(&connection);
        connection.execute_batch("insert into artikel values (1)").unwrap();
        let cache = Cache::new(&connection).unwrap();
        let asked = Asked { cache: &cache, connection: &connection };
        for (undone, after) in [("rollback", ""), ("rollback to change; release change", "commit")] {
            asked.begin();
            assert_eq!(asked.price(1), Some(1));
            asked.run("savepoint change; update artikel set preis = 2");
            assert_eq!(asked.price(1), Some(2), "a transaction sees what it has changed");
            asked.run(undone);
            if after.is_empty() {
                asked.begin();
            }
            assert_eq!(asked.price(1), Some(1), "{undone}");
            asked.run("commit");
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let connection = Connection::open_in_memory().unwrap();
        create_tables(&connection);
        let cache = Cache::new(&connection).unwrap();
        for key in 0..ENTRIES_MAX * 2 + 1 {
            cache.get_or_read(1, "artikel", &key.to_be_bytes(), || Ok(key)).unwrap();
        }
        assert_eq!(cache.entries.borrow().values().map(HashMap::len).sum::<usize>(), 1);
        assert!(cache.get_or_read(1, "artikel", &(ENTRIES_MAX * 2).to_be_bytes(), || Ok("text")).is_err());
    }
}
