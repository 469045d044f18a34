//! Databases of the eighteen old schemas become one of the document, or stay as they are.

use std::path::Path;

use partnerd::app::ADOPTIONS;
use partnerd::db::migrate::migrate;
use partnerd::rules::day::Instant;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::older::{OLD, count, empty, has_the_schema_of_a_new_one, names, old, rows};
use crate::process::Folder;

/// The text of what a command said when it was refused.
fn refused(folder: &Folder, command: &[&str]) -> String {
    let output = folder.run(command);
    assert_eq!(output.status.code(), Some(1), "{command:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// All statements of a schema and the history of migrations.
fn state(database: &Path) -> Vec<String> {
    let connection = Connection::open(database).unwrap();
    let state = "select type || name || coalesce(sql, '') from sqlite_schema
        union all select version || name || checksum from refinery_schema_history order by 1";
    let mut statement = connection.prepare(state).unwrap();
    let lines = statement.query_map([], |row| row.get(0)).unwrap();
    lines.map(Result::unwrap).collect()
}

/// Without what the executable adds afterwards: the beginning of its seals.
fn migrate_alone(path: &Path) {
    migrate(path, Instant::from_millis(0), ADOPTIONS).unwrap();
}

#[test]
fn the_document_keeps_every_row_of_the_last_old_schema() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    old(&database, OLD);
    let filled = || rows(&database).into_iter().filter(|(_, rows)| !rows.is_empty()).collect::<Vec<_>>();
    let before = filled();
    assert!(before.len() > 10, "the scene needs data");
    migrate_alone(&database);
    // Later migrations add columns at the end of a row, tables in which no row is, and one that they fill.
    let mut after = filled();
    after.retain(|(table, _)| table != "beleg_frueherer_kunde");
    for ((table, before), (same, after)) in before.iter().zip(&after) {
        assert_eq!((table, before.len()), (same, after.len()));
        let is_kept = |(before, after): (&Vec<Value>, &Vec<Value>)| after.starts_with(before);
        assert!(before.iter().zip(after).all(is_kept), "a row of {table} is another");
    }
    assert_eq!(before.len(), after.len());
}

#[test]
fn a_new_database_begins_with_the_rows_that_the_old_migrations_left() {
    let folder = Folder::new();
    let (upgraded, new) = (folder.file("upgraded.db"), folder.file("new.db"));
    drop(empty(&upgraded, OLD));
    migrate_alone(&upgraded);
    migrate_alone(&new);
    assert_eq!(rows(&upgraded), rows(&new));
    assert_eq!(count(&new, "steuersatz_vorlage"), 12);
}

#[test]
fn an_old_database_that_another_program_changed_is_refused_and_stays_as_it_is() {
    let cases = [
        (
            OLD,
            "create index fremd on kunde (plz)",
            "drop index fremd",
            "a index fremd, which partnerd did not make",
        ),
        (OLD, "drop trigger beleg_nie_loeschen", "", "no trigger beleg_nie_loeschen"),
        (
            OLD,
            "alter table bon add column fremd text",
            "alter table bon drop column fremd",
            "another table bon",
        ),
        (1, "create view fremd as select 1", "drop view fremd", "a view fremd"),
        (5, "drop index beleg_kette", "", "no index beleg_kette"),
        (
            OLD,
            "update refinery_schema_history set checksum = '7' where version = 3",
            "",
            "V3__lager_offen is different",
        ),
        (
            OLD,
            "insert into refinery_schema_history select 19, 'zukunft', applied_on, '1' from refinery_schema_history limit 1",
            "delete from refinery_schema_history where version = 19",
            "the database has schema 19, this partnerd knows 18: use the newer partnerd",
        ),
    ];
    for (version, change, undo, named) in cases {
        let folder = Folder::new();
        let database = folder.file("partnerd.db");
        old(&database, version);
        let run = |sql: &str| Connection::open(&database).unwrap().execute_batch(sql).unwrap();
        run(change);
        let before = (state(&database), rows(&database));
        for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["tenant", "list"]] {
            let said = refused(&folder, command);
            assert!(said.contains(named), "{change}: {said}");
        }
        assert!((state(&database), rows(&database)) == before, "{change} left its traces");
        if !undo.is_empty() {
            run(undo);
            folder.result(&["migrate"]);
            has_the_schema_of_a_new_one(&database);
        }
    }
}

#[test]
fn a_backup_of_an_old_schema_is_restored_as_one_of_this_version() {
    let folder = Folder::new();
    old(&folder.file("alt.db"), OLD);
    let before = rows(&folder.file("alt.db"));
    folder.result(&["restore", "alt.db"]);
    has_the_schema_of_a_new_one(&folder.file("partnerd.db"));
    assert_eq!(count(&folder.file("partnerd.db"), "kunde"), 70);
    folder.result(&["check"]);
    assert_eq!(rows(&folder.file("alt.db")), before, "the backup is as it was");
    assert_eq!(count(&folder.file("alt.db"), "refinery_schema_history"), i64::from(OLD));
    assert_eq!(names(&folder, "before-v").len(), 0, "the backup itself is the copy");
}

#[test]
fn the_status_of_an_old_database_is_that_it_lacks_the_document() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    old(&database, OLD);
    let status = || -> serde_json::Value {
        serde_json::from_str(&folder.result(&["--json", "migrate", "--status"])).unwrap()
    };
    let first = |applied: bool| serde_json::json!({"version": 1, "name": "schema", "applied": applied});
    assert_eq!(status()[0], first(false));
    assert_eq!(count(&database, "refinery_schema_history"), i64::from(OLD), "looking changes nothing");
    folder.result(&["migrate"]);
    assert_eq!(status()[0], first(true));
}

/// partnerd before 1.0 compares the largest version with the 18 that it knows.
#[test]
fn old_versions_take_a_database_with_the_document_for_a_newer_one() {
    let (upgraded, new) = (Folder::new(), Folder::new());
    old(&upgraded.file("partnerd.db"), OLD);
    for folder in [upgraded, new] {
        folder.result(&["migrate"]);
        let largest = "select max(version) from refinery_schema_history";
        let largest: i64 = folder.database().query_row(largest, [], |row| row.get(0)).unwrap();
        assert!(largest > i64::from(OLD), "{largest}");
    }
}
