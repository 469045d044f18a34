//! Databases of older schemas, with data in them.

use std::path::{Path, PathBuf};

use partnerd::app::ADOPTIONS;
use partnerd::db::migrate::{fresh_schema, migrate_to, of_this_version, schema};
use partnerd::rules::day::Instant;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::process::Folder;

mod embedded {
    refinery::embed_migrations!("src/db/migrate/before");
}

/// Migrations that there were before they became one document.
pub const OLD: i32 = 18;

pub fn count(path: &Path, table: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
}

/// Seventy customers, one of whom got ten sacks that nobody invoiced yet, and a receipt of two lines.
pub const DATA: &str = "
    insert into tenant (name, angelegt_am) values ('Mühle', 0);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 70)
    insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, staat, status, ist_kunde,
      ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, kundennr_sort, such_text)
    select 1, unhex(printf('%032x', i)), i, 'K' || i, 'Hof ' || i, 'Hof ' || i, 'DE', 'aktiv', 1, 0, 0, 0, 0,
      'k' || i, printf('k%03d', i), 'hof ' || i from n;
    insert into artikel (tenant_id, id, artikelnummer, bezeichnung, einheit, preis, status, artikelnummer_key,
      artikelnummer_sort, such_text)
    values (1, unhex(printf('%032x', 1)), 'S', 'Sack', 'Stk', 1250000, 'aktiv', 's', 's', 'sack');
    insert into beleg (tenant_id, id, beleg_nummer, beleg_typ, status, beleg_datum, kunde_id, summe_netto, summe_mwst,
      summe_brutto, ist_gutschrift, angelegt_am, geaendert_am)
    values (1, unhex(printf('%032x', 1)), 'LS-2024-00001', 'LS', 'offen', '2024-05-06', unhex(printf('%032x', 1)), 1250,
      88, 1338, 0, 1714980000000, 1714980000000);
    insert into beleg_position (tenant_id, id, beleg_id, position, artikel_id, bezeichnung, menge, einheit, ep_netto,
      rabatt_prozent, mwst_satz, satz_gesendet, gesamtpreis, charge_gesendet, lager_buchen, lager_menge)
    values (1, unhex(printf('%032x', 2)), unhex(printf('%032x', 1)), 1, unhex(printf('%032x', 1)), 'Sack', 10000000, 'Stk',
      1250000, 0, 7000000, 0, 1250, 0, 1, 10000000);
    insert into lagerbewegung (tenant_id, id, artikel_id, beleg_id, menge, am)
    values (1, unhex(printf('%032x', 1)), unhex(printf('%032x', 1)), unhex(printf('%032x', 1)), -10000000, 1714980000000);
    insert into beleg_verlauf (tenant_id, beleg_id, version, am, aktion, beleg)
    values (1, unhex(printf('%032x', 1)), 1, 1714980000000, 'aendern',
      '{\"kunde_id\":\"00000000-0000-0000-0000-000000000009\",\"notizen\":\"alt\",\"positionen\":[{\"position\":1}]}');
    update beleg set version = 2;
    insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'LS', 2024, 1);
    insert into bon (tenant_id, id, bon_nr, bon_nr_sort, kassiert_am, datum, art, zahlart, zeilen)
    values (1, unhex(printf('%032x', 1)), '1', '1', 1714980000000, '2024-05-06', 'verkauf', 'bar', 2);
    insert into barverkauf (tenant_id, id, bon_id, position, bezeichnung, menge, einzelpreis, mwst_satz, gesamt, steuer)
    values (1, 1, unhex(printf('%032x', 1)), 1, 'Mehl', 1000000, 1250000, 7000000, 125, 8),
           (1, 2, unhex(printf('%032x', 1)), 2, 'Mehl', 1000000, 1250000, 7000000, 125, 8);";

/// The second customer got ten sacks, an invoice of eight and six was paired with them and moved the rest, and three
/// came back.
pub const PAIRS: &str = "
    with d(nr, typ, nummer) as (values (2, 'LS', 'LS-2024-00002'), (3, 'RE', 'RE-2024-00001'), (4, 'LS', 'LS-2024-00003'))
    insert into beleg (tenant_id, id, beleg_nummer, beleg_typ, status, beleg_datum, kunde_id, summe_netto, summe_mwst,
      summe_brutto, ist_gutschrift, angelegt_am, geaendert_am)
    select 1, unhex(printf('%032x', nr)), nummer, typ, 'offen', '2024-05-06', unhex(printf('%032x', 2)), 0, 0, 0, 0, 0, 0
    from d;
    with p(nr, beleg, position, menge) as (values (3, 2, 1, 10), (4, 3, 1, 8), (5, 3, 2, 6), (6, 4, 1, -3))
    insert into beleg_position (tenant_id, id, beleg_id, position, artikel_id, bezeichnung, menge, einheit, ep_netto,
      rabatt_prozent, mwst_satz, satz_gesendet, gesamtpreis, charge_gesendet, lager_buchen, lager_menge)
    select 1, unhex(printf('%032x', nr)), unhex(printf('%032x', beleg)), position, unhex(printf('%032x', 1)), 'Sack',
      menge * 1000000, 'Stk', 0, 0, 7000000, 0, 0, 0, 1, menge * 1000000 from p;
    with m(beleg, menge) as (values (2, -10), (3, -4), (4, 3))
    insert into lagerbewegung (tenant_id, id, artikel_id, beleg_id, menge, am)
    select 1, unhex(printf('%032x', beleg)), unhex(printf('%032x', 1)), unhex(printf('%032x', beleg)), menge * 1000000, 0
    from m;
    update nummernkreis set letzte = 3;
    insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'RE', 2024, 1);";

/// The pairs of the second customer, then what is open of him.
pub fn pairs(database: &Path) -> String {
    let connection = Connection::open(database).unwrap();
    let statement = "
        select (select group_concat(art || ' ' || (menge / 1000000) || ' ' || coalesce(bewegt_von, zurueck_von), ', ')
                from (select * from lager_paar where kunde_id = unhex(printf('%032x', 2)) order by id))
          || '; ' || (select group_concat(beleg_typ || position || ' ' || (menge / 1000000))
                from lager_offen where kunde_id = unhex(printf('%032x', 2)))";
    connection.query_row(statement, [], |row| row.get(0)).unwrap()
}

/// An empty database of one of the eighteen old schemas.
pub fn empty(path: &Path, version: i32) -> Connection {
    std::fs::write(path, "").unwrap();
    let mut connection = Connection::open(path).unwrap();
    connection.execute_batch("pragma application_id = 1886549092").unwrap();
    run_to(&mut connection, version);
    connection
}

fn run_to(connection: &mut Connection, version: i32) {
    let runner = embedded::migrations::runner().set_target(refinery::Target::Version(version));
    runner.run(connection).unwrap();
}

/// A database that the first of these versions filled, and a later one left as it was.
pub fn old(path: &Path, version: i32) {
    let mut connection = empty(path, 1);
    connection.execute_batch(DATA).unwrap();
    connection.execute_batch(PAIRS).unwrap();
    run_to(&mut connection, version);
    let runner = embedded::migrations::runner();
    let names =
        runner.get_migrations().iter().filter(|known| known.version() <= version).map(|known| known.name());
    let names: Vec<_> = names.collect();
    let adopted = ADOPTIONS.iter().filter(|adoption| names.contains(&adoption.migration));
    adopted.for_each(|adoption| (adoption.run)(&connection, Instant::from_millis(0)).unwrap());
}

/// A version that a database is upgraded from.
#[derive(Debug, Clone, Copy)]
pub struct Version {
    /// Of the old ones.
    old: i32,
    /// Of those that there are now; 0: it has none of them.
    now: usize,
}

impl Version {
    /// All that are older than this one.
    pub fn all() -> Vec<Version> {
        let old = (1..=OLD).map(|old| Version { old, now: 0 });
        old.chain((1..of_this_version().len()).map(|now| Version { old: OLD, now })).collect()
    }

    /// Makes a database with data.
    pub fn make(self, path: &Path) {
        old(path, self.old);
        if self.now > 0 {
            let copied = migrate_to(&of_this_version()[..self.now], path, Instant::from_millis(0), ADOPTIONS);
            copied.unwrap();
            std::fs::remove_file(path.with_file_name("partnerd.db-before-v1-1970-01-01")).unwrap();
        }
    }

    /// The first migration that it lacks.
    pub fn next(self) -> usize {
        self.now + 1
    }

    /// Rows in its history of migrations. Since the document there is one for the eyes of older versions.
    pub fn rows(self) -> i64 {
        if self.now == 0 { self.old.into() } else { self.now as i64 + 1 }
    }
}

/// Rows in the history of a database of this version.
pub fn rows_now() -> i64 {
    of_this_version().len() as i64 + 1
}

/// The schema is that of a new database, word by word; indexes and triggers of a table stand in the same order, which
/// decides between two that are as good.
pub fn has_the_schema_of_a_new_one(database: &Path) {
    let order = |connection: &Connection| -> Vec<(String, String)> {
        let order = "select tbl_name || ' ' || type, name from sqlite_schema
            where type <> 'table' and sql is not null order by 1, rowid";
        let mut statement = connection.prepare(order).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let new = Folder::new();
    new.result(&["migrate"]);
    let live = Connection::open(database).unwrap();
    let parts = schema(&live).unwrap();
    for (part, fresh) in parts.iter().zip(fresh_schema().unwrap()) {
        assert_eq!(part, &fresh);
    }
    assert_eq!(parts.len(), fresh_schema().unwrap().len());
    assert_eq!(order(&live), order(&new.database()));
}

/// Every row of every table, but for what the machinery keeps itself.
pub fn rows(database: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let connection = Connection::open(database).unwrap();
    let tables = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'
        and name not in ('refinery_schema_history', 'installation') order by 1";
    let mut statement = connection.prepare(tables).unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let rows = |table: &String| -> Vec<Vec<Value>> {
        let mut statement = connection.prepare(&format!("select * from {table} order by 1, 2")).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
        rows.unwrap().map(Result::unwrap).collect()
    };
    tables.iter().map(|table| (table.clone(), rows(table))).collect()
}

/// The names of files whose name has this part.
pub fn names(folder: &Folder, part: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(part)).collect()
}

/// The copy that was kept before a migration.
pub fn kept(folder: &Folder, version: usize) -> PathBuf {
    let found = names(folder, &format!("before-v{version}-"));
    assert_eq!(found.len(), 1, "{found:?}");
    folder.file(&found[0])
}
