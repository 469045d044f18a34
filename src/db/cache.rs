//! The writer's cache of master data, which hardly ever changes: a document of five articles would otherwise ask for
//! it twelve times.
//!
//! An entry holds as long as no other connection has written. SQLite counts that (`pragma data_version`), and the
//! writer asks for the count when its transaction has begun, so that nobody else can write until it ends. The count
//! leaves out what the writer itself has written, so it is not allowed to write the tables that are cached.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::TenantId;
use crate::failure::{Failure, Result};

/// Tables of which rows are cached: no request of the interface writes them. Commands and pages for people do, each on
/// a connection of its own.
const TABLES: &[&str] = &["artikel", "artikelgruppe", "firma", "staffelpreis", "steuersatz", "tenant"];

/// Entries at most; then all are dropped. An article has up to 20 KiB, as a rule 300 bytes.
const MAX_ENTRIES: usize = 2_000;

/// Entries of one kind and company, by their key.
type Entries = HashMap<Box<[u8]>, Arc<dyn Any + Send + Sync>>;

/// The cache of a connection.
pub struct Cache {
    version: Cell<i64>,
    entries: RefCell<HashMap<(TenantId, &'static str), Entries>>,
    count: Cell<usize>,
}

impl Cache {
    /// An empty cache. From now on each statement of the connection fails that would write a cached table.
    pub fn new(connection: &Connection) -> Result<Cache> {
        connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
            AuthAction::Insert { table_name }
            | AuthAction::Update { table_name, .. }
            | AuthAction::Delete { table_name }
                if TABLES.contains(&table_name) =>
            {
                Authorization::Deny
            }
            _ => Authorization::Allow,
        }))?;
        Ok(Cache { version: Cell::default(), entries: RefCell::default(), count: Cell::default() })
    }

    /// Drops all entries if another connection has written. A transaction must have begun.
    pub fn drop_if_stale(&self, connection: &Connection) -> Result<()> {
        let version = connection.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        if self.version.replace(version) != version {
            self.clear();
        }
        Ok(())
    }

    /// The entry of this kind and company under a key, read now if there is none.
    pub fn get_or_read<T: Send + Sync + 'static>(
        &self,
        tenant: TenantId,
        kind: &'static str,
        key: &[u8],
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let known = self.entries.borrow().get(&(tenant, kind)).and_then(|entries| entries.get(key)).cloned();
        if let Some(known) = known {
            let wrong = |_| Failure::Broken(format!("{kind} is cached as two types"));
            return known.downcast().map_err(wrong);
        }
        let new = Arc::new(read()?);
        if self.count.get() == MAX_ENTRIES {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn database(path: &std::path::Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("pragma journal_mode = wal").unwrap();
        connection
    }

    fn price(cache: &Cache, tenant: TenantId, connection: &Connection) -> i64 {
        connection.execute_batch("begin immediate").unwrap();
        cache.drop_if_stale(connection).unwrap();
        let read = || Ok(connection.query_row("select preis from artikel", [], |row| row.get::<_, i64>(0))?);
        let price = *cache.get_or_read(tenant, "artikel", b"W", read).unwrap();
        connection.execute_batch("commit").unwrap();
        price
    }

    #[test]
    fn what_another_connection_wrote_is_read_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let [ours, other] = [(); 2].map(|()| database(&folder.path().join("test.db")));
        other.execute_batch("create table artikel (preis); insert into artikel values (1)").unwrap();
        let cache = Cache::new(&ours).unwrap();
        assert_eq!(price(&cache, 1, &ours), 1);
        // Written behind its back: it is cached indeed, and of each company apart.
        ours.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).unwrap();
        ours.execute_batch("update artikel set preis = 2").unwrap();
        assert_eq!((price(&cache, 1, &ours), price(&cache, 2, &ours)), (1, 2));
        other.execute_batch("update artikel set preis = 3").unwrap();
        assert_eq!((price(&cache, 1, &ours), price(&cache, 2, &ours)), (3, 3));
    }

    #[test]
    fn cached_tables_cannot_be_written() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table artikel (a); create table beleg (a)").unwrap();
        Cache::new(&connection).unwrap();
        for statement in ["insert into {} values (1)", "update {} set a = 1", "delete from {}"] {
            let on = |table: &str| connection.execute(&statement.replace("{}", table), []);
            assert!(on("beleg").is_ok(), "{statement}");
            assert!(on("artikel").unwrap_err().to_string().contains("not authorized"), "{statement}");
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let cache = Cache::new(&Connection::open_in_memory().unwrap()).unwrap();
        for key in 0..MAX_ENTRIES * 2 + 1 {
            cache.get_or_read(1, "artikel", &key.to_be_bytes(), || Ok(key)).unwrap();
        }
        assert_eq!(cache.entries.borrow().values().map(HashMap::len).sum::<usize>(), 1);
        assert!(cache.get_or_read(1, "artikel", &(MAX_ENTRIES * 2).to_be_bytes(), || Ok("text")).is_err());
    }
}
