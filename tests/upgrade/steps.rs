//! Upgrades from every older schema, whole and killed.

use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;
use serde_json::json;

use super::older::{OLD, Version, count, has_the_schema_of_a_new_one, kept, names, old, pairs, rows_now};
use crate::process::Folder;
use crate::programs::needs;

/// What an older version kept is worked on as if this one had.
fn work_goes_on(folder: &Folder) {
    let key = folder.result(&["key", "create", "--tenant", "Mühle", "--label", "test", "--all-scopes"]);
    let server = folder.serve(&[]);
    let client = server.client(key.trim());
    assert_eq!(client.get("/api/v1/kunden?limit=5").body["count"], 70);
    assert_eq!(client.get("/api/v1/kunden?suche=hof+67").body["data"][0]["kunden_id"], 67);
    assert_eq!(client.get("/api/v1/barverkaeufe?limit=5").body["count"], 2);
    // What an older version kept in the history is read as it was; what comes now has its positions apart.
    let document = "/api/v1/belege/00000000-0000-0000-0000-000000000001";
    assert_eq!(client.send("PUT", document, Some(&json!({"notizen": "neu"}))).unwrap().status, 200);
    let history = client.get(&format!("{document}/verlauf")).body["data"].clone();
    let before = "00000000-0000-0000-0000-000000000009";
    let old = json!({"kunde_id": before, "notizen": "alt", "positionen": [{"position": 1}]});
    assert_eq!((&history[0]["version"], &history[0]["beleg"]), (&json!(1), &old));
    let new = &history[1]["beleg"];
    assert_eq!((&history[1]["version"], &new["positionen"][0]["menge"]), (&json!(2), &json!("10.000")));
    assert_eq!((&new["notizen"], history.as_array().unwrap().len()), (&json!(null), 2));
    // Goods move once (D8): six of ten are invoiced, then four of seven were delivered before.
    for (menge, moved) in [(6, json!([])), (7, json!(["-3.000"]))] {
        let items = json!([{"artikelnr": "S", "menge": menge, "mwst_satz": 7}]);
        let answer =
            client.post("/api/v1/belege", &json!({"beleg_typ": "RE", "kunden_id": 1, "items": items}));
        assert_eq!(answer.status, 201, "{}", answer.body);
        let movements = answer.body["lagerbewegungen"].as_array().unwrap();
        let quantities: Vec<_> = movements.iter().map(|movement| movement["menge"].clone()).collect();
        assert_eq!(json!(quantities), moved, "an invoice of {menge}");
    }
}

#[test]
fn every_older_schema_is_upgraded_and_a_copy_of_it_is_kept() {
    for version in Version::all() {
        let folder = Folder::new();
        let database = folder.file("partnerd.db");
        version.make(&database);
        folder.result(&["migrate"]);
        folder.result(&["check"]);
        assert_eq!(
            pairs(&database),
            "paar 8 lieferung, paar 2 lieferung, rueckgabe 3 rueckgabe; RE2 4",
            "from {version:?}"
        );
        // The ninth customer had the document once.
        assert_eq!(
            count(&database, "beleg_frueherer_kunde where hex(kunde_id) like '%09'"),
            1,
            "from {version:?}"
        );
        has_the_schema_of_a_new_one(&database);
        assert_eq!(count(&database, "refinery_schema_history"), rows_now(), "from {version:?}");
        let kept = kept(&folder, version.next());
        assert_eq!((count(&kept, "tenant"), count(&kept, "refinery_schema_history")), (1, version.rows()));
        assert_eq!(count(&database, "tenant"), 1);
        // A second start has nothing to keep.
        folder.result(&["migrate"]);
        assert_eq!(names(&folder, "before").len(), 1);
        work_goes_on(&folder);
        folder.result(&["check"]);
    }
    // A new database has nothing to lose.
    let folder = Folder::new();
    folder.result(&["migrate"]);
    assert_eq!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains("before"))
            .count(),
        0
    );
}

/// Copies of other days stay, whatever the database is called; what a killed copy left goes.
#[test]
fn only_what_killed_copies_left_is_deleted() {
    let folder = Folder::new();
    old(&folder.file("lager-part-7.db"), 1);
    let kept = ["lager-part-7.db-before-v2-2026-01-01", "lager-part-7.db-before-v1-2025-01-01"];
    let left =
        ["lager-part-7.db-before-v2-2026-01-01-part-99", "lager-part-7.db-before-v2-2026-01-01-part-99-wal"];
    for name in kept.iter().chain(&left) {
        folder.write(name, "");
    }
    folder.result(&["--db", "lager-part-7.db", "migrate"]);
    assert!(kept.iter().all(|name| folder.file(name).exists()), "{:?}", names(&folder, ""));
    assert!(!left.iter().any(|name| folder.file(name).exists()), "{:?}", names(&folder, ""));
    assert_eq!(names(&folder, "before").len(), 3);
}

/// The system calls by which a migration changes files.
const CALLS: &str = "pwrite64,fsync,fdatasync,rename,unlink,ftruncate,openat";

/// Rows in the history of a database that was killed, which is left as it is.
fn looked_at(database: &Path) -> i64 {
    let folder = Folder::new();
    for part in ["partnerd.db", "partnerd.db-wal"] {
        let from = database.with_file_name(part);
        if from.exists() {
            std::fs::copy(from, folder.file(part)).unwrap();
        }
    }
    count(&folder.file("partnerd.db"), "refinery_schema_history")
}

/// An upgrade that is killed at any of its steps is carried on by the next start: until it is done the database is the
/// old one.
#[test]
fn an_upgrade_that_is_killed_at_any_step_is_carried_on() {
    needs!("strace");
    // All migrations, one after the other, and the last step from the old ones alone.
    for from in [1, OLD] {
        let whole = Folder::new();
        old(&whole.file("partnerd.db"), from);
        let trace = whole.file("trace");
        let strace = |folder: &Folder, more: &[&str]| -> Output {
            let mut command = Command::new("strace");
            command
                .current_dir(folder.path())
                .args(["-f", "-qq", "-e", &format!("trace={CALLS}")])
                .args(more);
            command.arg(env!("CARGO_BIN_EXE_partnerd")).arg("migrate").output().unwrap()
        };
        assert!(strace(&whole, &["-o", trace.to_str().unwrap()]).status.success());
        let calls = std::fs::read_to_string(&trace).unwrap().lines().count();
        assert!(calls > 40, "{calls} system calls from {from}");
        let (mut killed, mut left_old) = (0, 0);
        // About thirty of them, spread over all.
        for at in (1..=calls).step_by(calls.div_ceil(30)) {
            let folder = Folder::new();
            let database = folder.file("partnerd.db");
            old(&database, from);
            let inject = format!("inject={CALLS}:signal=KILL:when={at}");
            let output = strace(&folder, &["-o", "/dev/null", "-e", &inject]);
            killed += usize::from(!output.status.success());
            let rows = looked_at(&database);
            assert!(rows == i64::from(from) || rows == rows_now(), "{rows} rows after a kill at call {at}");
            left_old += usize::from(rows == i64::from(from));
            folder.result(&["migrate"]);
            let check = folder.run(&["check"]);
            assert!(
                check.status.success(),
                "killed at call {at}: {}",
                String::from_utf8_lossy(&check.stdout)
            );
            assert_eq!(count(&database, "tenant"), 1, "killed at call {at}");
            let kept = kept(&folder, 1);
            assert_eq!(count(&kept, "refinery_schema_history"), i64::from(from), "killed at call {at}");
        }
        assert!(killed >= 15, "only {killed} were killed from {from}");
        assert!(left_old >= 5, "only {left_old} were killed before the end from {from}");
    }
}

/// A migration is committed when it is proved, not before.
#[test]
fn a_migration_that_would_leave_broken_references_changes_nothing() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    old(&database, 1);
    let run = |sql: &str| Connection::open(&database).unwrap().execute_batch(sql).unwrap();
    run(
        "pragma foreign_keys = off; insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (9, 'RE', 2024, 1)",
    );
    let output = folder.run(&["migrate"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("1 broken references"), "{said}");
    assert_eq!(count(&database, "refinery_schema_history"), 1);
    run("delete from nummernkreis where tenant_id = 9");
    folder.result(&["migrate"]);
    folder.result(&["check"]);
    assert_eq!(count(&database, "refinery_schema_history"), rows_now());
}

/// The figures that SQLite plans with are those of this version, whatever an older one or another program left.
#[test]
fn a_start_puts_the_statistics_right() {
    let folder = Folder::new();
    folder.result(&["migrate"]);
    let all = "select group_concat(tbl || ' ' || idx || ' ' || stat, ';') from
        (select * from sqlite_stat1 order by tbl, idx)";
    let figures = || folder.database().query_row(all, [], |row| row.get::<_, Option<String>>(0)).unwrap();
    let right = figures();
    assert!(right.as_ref().is_some_and(|figures| figures.len() > 1_000), "{right:?}");
    for spoil in
        ["delete from sqlite_stat1", "insert into route (methode, muster) values ('A', 'B'); analyze"]
    {
        folder.database().execute_batch(spoil).unwrap();
        assert_ne!(figures(), right, "{spoil}");
        let mut server = folder.serve(&[]);
        server.signal("TERM");
        assert!(server.end().0.success());
        assert_eq!(figures(), right, "{spoil}");
    }
}

/// With PARTNERD_RECORD set the file is written anew.
#[test]
fn the_schema_is_the_one_that_is_written_down() {
    let folder = Folder::new();
    folder.result(&["migrate"]);
    let connection = folder.database();
    // Each table with what belongs to it. The history of migrations belongs to their runner.
    let statement = "select s.type, s.sql from sqlite_schema s join sqlite_schema t on t.name = s.tbl_name
        where s.sql is not null and t.name not like 'refinery%' and t.name not like 'sqlite%'
        order by t.rowid, s.type <> 'table', s.type, s.name";
    let mut statement = connection.prepare(statement).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut schema =
        "-- The schema after all migrations, as a database keeps it: to be read. The migrations make it.\n"
            .to_owned();
    for (kind, sql) in rows.map(Result::<(String, String), _>::unwrap) {
        let gap = if kind == "table" { "\n" } else { "" };
        schema.push_str(&format!("{gap}{sql};\n"));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/schema.sql");
    if std::env::var_os("PARTNERD_RECORD").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == schema,
        "PARTNERD_RECORD=1 cargo test --test upgrade schema writes migrations/schema.sql anew"
    );
}
