//! What the writer remembers of master data from one request to the next.
//!
//! A document of five articles asked twelve times for what hardly ever changes. While no other connection has
//! written, what was read still holds: SQLite counts that (`pragma data_version`), and the writer asks when a
//! transaction has begun, so that nobody else can write until it ends. What the writer wrote itself is not
//! counted: so it is not allowed to write what it remembers.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::error::{Failure, Result};
use super::tx::TenantId;

/// Tables of which something is remembered: written by the command line alone.
const TABLES: &[&str] = &["artikel", "artikelgruppe", "staffelpreis", "steuersatz", "tenant"];

/// Things remembered at most; then all are forgotten. An article has up to 20 KiB, as a rule 300 bytes.
const AT_MOST: usize = 2_000;

/// Things of one kind of one company, by their key.
type Things = HashMap<Box<[u8]>, Arc<dyn Any + Send + Sync>>;

/// What a connection remembers.
pub struct Memory {
    version: Cell<i64>,
    things: RefCell<HashMap<(TenantId, &'static str), Things>>,
    count: Cell<usize>,
}

impl Memory {
    /// The memory of a connection. From now on each of its statements fails that would write what is remembered.
    pub fn of(connection: &Connection) -> Result<Memory> {
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
        Ok(Memory { version: Cell::default(), things: RefCell::default(), count: Cell::default() })
    }

    /// Forgets everything when another connection has written. A transaction must have begun.
    pub fn look(&self, connection: &Connection) -> Result<()> {
        let version = connection.prepare_cached("pragma data_version")?.query_row([], |row| row.get(0))?;
        if self.version.replace(version) != version {
            self.forget();
        }
        Ok(())
    }

    /// What is remembered of this kind of a company under a key, or else what is read now.
    pub fn get<T: Send + Sync + 'static>(
        &self,
        tenant: TenantId,
        kind: &'static str,
        key: &[u8],
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let known = self.things.borrow().get(&(tenant, kind)).and_then(|things| things.get(key)).cloned();
        if let Some(known) = known {
            let wrong = |_| Failure::Broken(format!("{kind} is remembered as two types"));
            return known.downcast().map_err(wrong);
        }
        let new = Arc::new(read()?);
        if self.count.get() == AT_MOST {
            self.forget();
        }
        self.count.set(self.count.get() + 1);
        let mut things = self.things.borrow_mut();
        things.entry((tenant, kind)).or_default().insert(key.into(), Arc::clone(&new) as _);
        Ok(new)
    }

    fn forget(&self) {
        self.things.borrow_mut().clear();
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

    fn price(memory: &Memory, tenant: TenantId, connection: &Connection) -> i64 {
        connection.execute_batch("begin immediate").unwrap();
        memory.look(connection).unwrap();
        let read = || Ok(connection.query_row("select preis from artikel", [], |row| row.get::<_, i64>(0))?);
        let price = *memory.get(tenant, "artikel", b"W", read).unwrap();
        connection.execute_batch("commit").unwrap();
        price
    }

    #[test]
    fn what_another_connection_wrote_is_read_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let [ours, other] = [(); 2].map(|()| database(&folder.path().join("test.db")));
        other.execute_batch("create table artikel (preis); insert into artikel values (1)").unwrap();
        let memory = Memory::of(&ours).unwrap();
        assert_eq!(price(&memory, 1, &ours), 1);
        // Written behind its back: it is remembered indeed, and of each company apart.
        ours.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).unwrap();
        ours.execute_batch("update artikel set preis = 2").unwrap();
        assert_eq!((price(&memory, 1, &ours), price(&memory, 2, &ours)), (1, 2));
        other.execute_batch("update artikel set preis = 3").unwrap();
        assert_eq!((price(&memory, 1, &ours), price(&memory, 2, &ours)), (3, 3));
    }

    #[test]
    fn what_is_remembered_cannot_be_written() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table artikel (a); create table beleg (a)").unwrap();
        Memory::of(&connection).unwrap();
        for statement in ["insert into {} values (1)", "update {} set a = 1", "delete from {}"] {
            let on = |table: &str| connection.execute(&statement.replace("{}", table), []);
            assert!(on("beleg").is_ok(), "{statement}");
            assert!(on("artikel").unwrap_err().to_string().contains("not authorized"), "{statement}");
        }
    }

    #[test]
    fn no_more_is_remembered_than_there_is_room_for() {
        let memory = Memory::of(&Connection::open_in_memory().unwrap()).unwrap();
        for key in 0..AT_MOST * 2 + 1 {
            memory.get(1, "artikel", &key.to_be_bytes(), || Ok(key)).unwrap();
        }
        assert_eq!(memory.things.borrow().values().map(HashMap::len).sum::<usize>(), 1);
        assert!(memory.get(1, "artikel", &(AT_MOST * 2).to_be_bytes(), || Ok("text")).is_err());
    }
}
