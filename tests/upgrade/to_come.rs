//! The next migration, made up: until there is one it shows that the machinery works.

use std::path::Path;

use partnerd::app::ADOPTIONS;
use partnerd::db::migrate::{Adoption, Step, migrate_to, of_this_version, status_of};
use partnerd::failure::Failure;
use partnerd::rules::day::Instant;
use refinery::Migration;
use rusqlite::Connection;

use super::older::{count, kept, names, old, pairs, rows_now};
use crate::process::Folder;

const SQL: &str = "
    create table silo (
      tenant_id integer not null references tenant (id),
      id        integer not null,
      kunden    integer not null,
      primary key (tenant_id, id)
    ) strict, without rowid;
    alter table artikel add column silo_id integer;
    create index artikel_silo on artikel (tenant_id, silo_id);";

/// A silo for each company, with the number of its customers.
const SILOS: Adoption = Adoption {
    migration: "silo",
    run: |connection, _| {
        let silos = "insert into silo select id, 1, (select count(*) from kunde where tenant_id = tenant.id) from tenant";
        Ok(connection.execute_batch(silos)?)
    },
};

/// The migrations of this version and the one to come.
fn migrations(sql: &str) -> Vec<Migration> {
    let mut migrations = of_this_version();
    migrations.push(Migration::unapplied(&format!("V{}__silo", migrations.len() + 1), sql).unwrap());
    migrations
}

fn upgrade(path: &Path, sql: &str, silos: Adoption) -> Result<Vec<Step>, Failure> {
    migrate_to(&migrations(sql), path, Instant::from_millis(0), &[ADOPTIONS, &[silos]].concat())
}

fn applied(steps: &[Step]) -> Vec<bool> {
    steps.iter().map(|step| step.applied).collect()
}

fn number(path: &Path, sql: &str) -> i64 {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_migration_to_come_is_applied_with_a_copy_of_what_was_there() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    old(&database, 1);
    folder.result(&["migrate"]);
    std::fs::remove_file(kept(&folder, 1)).unwrap();
    let next = of_this_version().len() + 1;
    let before = status_of(&migrations(SQL), &database).unwrap();
    assert_eq!(applied(&before), [vec![true; next - 1], vec![false]].concat());
    assert_eq!((before[next - 1].version, before[next - 1].name.as_str()), (next as i64, "silo"));

    let after = upgrade(&database, SQL, SILOS).unwrap();
    assert_eq!(applied(&after), vec![true; next]);
    assert_eq!(status_of(&migrations(SQL), &database).unwrap(), after);
    assert_eq!(number(&database, "select kunden from silo"), 70);
    assert_eq!(number(&database, "select count(*) from sqlite_stat1 where idx = 'artikel_silo'"), 1);
    assert_eq!(count(&database, "refinery_schema_history"), rows_now() + 1);
    let copy = kept(&folder, next);
    assert_eq!((count(&copy, "kunde"), count(&copy, "refinery_schema_history")), (70, rows_now()));
    assert_eq!(number(&copy, "select count(*) from sqlite_schema where name = 'silo'"), 0);
    // A second time there is nothing to do.
    upgrade(&database, SQL, SILOS).unwrap();
    assert_eq!((count(&database, "silo"), names(&folder, "before").len()), (1, 1));

    // partnerd of this version knows it for newer, and the copy for its own.
    let known = next - 1;
    for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["check"], &["doctor"]] {
        let output = folder.run(command);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        let newer =
            format!("the database has schema {next}, this partnerd knows {known}: use the newer partnerd");
        assert!(said.contains(&newer), "{command:?}: {said}");
    }
    assert_eq!(count(&database, "refinery_schema_history"), rows_now() + 1);
    folder.result(&["restore", copy.to_str().unwrap()]);
    folder.result(&["check"]);
}

#[test]
fn an_old_database_gets_all_in_one_step() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    old(&database, 5);
    assert!(upgrade(&database, SQL, SILOS).unwrap().iter().all(|step| step.applied));
    assert_eq!((number(&database, "select kunden from silo"), names(&folder, "before").len()), (70, 1));
    assert_eq!(pairs(&database), "paar 8 lieferung, paar 2 lieferung, rueckgabe 3 rueckgabe; RE2 4");
    assert_eq!(count(&kept(&folder, 1), "refinery_schema_history"), 5);
}

#[test]
fn a_migration_that_fails_leaves_the_database_as_it_was() {
    let fails = Adoption { migration: "silo", run: |_, _| Err(Failure::Broken("no silo".to_owned())) };
    let orphan = format!("{SQL} insert into silo values (9, 1, 0);");
    let cases =
        [("no silo", SQL, fails), ("1 broken references", &orphan, SILOS), ("syntax error", "creat", SILOS)];
    for (why, sql, adoption) in cases {
        // With the document, and with an old schema that would have got it in the same step.
        for is_old in [false, true] {
            let folder = Folder::new();
            let database = folder.file("partnerd.db");
            old(&database, 18);
            if !is_old {
                folder.result(&["migrate"]);
            }
            let rows = count(&database, "refinery_schema_history");
            let failure = upgrade(&database, sql, adoption).unwrap_err();
            assert!(format!("{failure:?}").contains(why), "{failure:?}");
            assert_eq!(count(&database, "refinery_schema_history"), rows, "{why}");
            assert_eq!(
                number(&database, "select count(*) from sqlite_schema where name = 'silo'"),
                0,
                "{why}"
            );
            folder.result(&["migrate"]);
            folder.result(&["check"]);
        }
    }
}
