//! A made-up future migration, since there was none yet, to show that the machinery works.

use std::path::{Path, PathBuf};
use std::process::Command;

use partnerd::platform::db::migrate::{MIGRATIONS, Migration, Step, migrate_to, status_of};
use partnerd::platform::failure::Failure;
use partnerd::rules::day::Instant;
use rusqlite::Connection;
use serde_json::json;

use crate::process::Folder;

/// A silo for each company, with the number of its customers.
const SILO: &str = "
    create table silo (
      tenant_id integer not null references tenant (id),
      id        integer not null,
      kunden    integer not null,
      primary key (tenant_id, id)
    ) strict, without rowid;
    alter table artikel add column silo_id integer;
    create index artikel_silo on artikel (tenant_id, silo_id);
    insert into silo select id, 1, (select count(*) from kunde where tenant_id = tenant.id) from tenant;";

/// Migrations of this version.
pub const NOW: i64 = MIGRATIONS.len() as i64;

/// The future one.
pub const NEXT: i64 = NOW + 1;

/// Passes the database to a process that only upgrades it.
const DATABASE: &str = "PARTNERD_TEST_UPGRADES";

/// The migrations of this version and the future one.
fn migrations(sql: &'static str) -> Vec<Migration> {
    [MIGRATIONS, &[Migration { name: "silo", sql }]].concat()
}

fn upgrade(path: &Path, sql: &'static str) -> Result<Vec<Step>, Failure> {
    migrate_to(&migrations(sql), path, Instant::from_millis(0))
}

fn applied(steps: &[Step]) -> Vec<bool> {
    steps.iter().map(|step| step.applied).collect()
}

/// The first number in the result of a statement.
pub fn number(path: &Path, sql: &str) -> i64 {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The number of migrations of a database.
pub fn version(path: &Path) -> i64 {
    number(path, "select max(version) from migration")
}

/// The files whose name contains this part.
pub fn names(folder: &Folder, part: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(part)).collect()
}

/// The copy kept before a migration.
pub fn kept(folder: &Folder, version: i64) -> PathBuf {
    let found = names(folder, &format!("before-v{version}-"));
    assert_eq!(found.len(), 1, "{found:?}");
    folder.file(&found[0])
}

/// Creates a mill with two customers, one of whom got goods that are not invoiced yet.
pub fn mill() -> Folder {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    folder.import(
        "Mühle",
        "artikel",
        &json!([{"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk"}]),
    );
    folder.import(
        "Mühle",
        "kunden",
        &json!([{"kundennr": "1", "name": "Hof"}, {"kundennr": "2", "name": "Gut"}]),
    );
    let mut server = folder.serve(&[]);
    let items = json!([{"artikelnr": "S", "menge": 10, "ep_netto": "1.25", "mwst_satz": 7}]);
    let answer = server
        .client(&key)
        .post("/api/v1/belege", &json!({"beleg_typ": "LS", "kundennummer": "1", "items": items}));
    assert_eq!(answer.status, 201, "{}", answer.body);
    server.signal("TERM");
    assert!(server.end().0.success());
    folder
}

/// Copies the files to another folder.
pub fn same(of: &Folder) -> Folder {
    let folder = Folder::new();
    for name in names(of, "partnerd.db") {
        std::fs::copy(of.file(&name), folder.file(&name)).unwrap();
    }
    folder
}

/// A process that upgrades a database to the future migration, like an executable that contains it;
/// optionally run by `program` with these arguments.
pub fn upgrading(folder: &Folder, program: &[&str]) -> Command {
    let this = std::env::current_exe().unwrap();
    let arguments = ["--exact", "upgrade::to_come::a_process_that_upgrades", "--ignored", "--test-threads=1"];
    let mut command = match program {
        [] => Command::new(this),
        [program, before @ ..] => {
            let mut command = Command::new(program);
            command.args(before).arg(this);
            command
        }
    };
    command.current_dir(folder.path()).args(arguments).env(DATABASE, folder.file("partnerd.db"));
    command
}

#[test]
#[ignore = "the tests run it, in a process of its own"]
fn a_process_that_upgrades() {
    if let Some(database) = std::env::var_os(DATABASE) {
        upgrade(Path::new(&database), SILO).unwrap();
    }
}

#[test]
fn a_migration_to_come_is_applied_with_a_copy_of_what_was_there() {
    let folder = mill();
    let database = folder.file("partnerd.db");
    let before = status_of(&migrations(SILO), &database).unwrap();
    assert_eq!(applied(&before), [vec![true; MIGRATIONS.len()], vec![false]].concat());
    let next = before.last().unwrap();
    assert_eq!((next.version, next.name.as_str()), (NEXT, "silo"));

    let after = upgrade(&database, SILO).unwrap();
    assert!(after.iter().all(|step| step.applied));
    assert_eq!(status_of(&migrations(SILO), &database).unwrap(), after);
    assert_eq!(number(&database, "select kunden from silo"), 2);
    assert_eq!(number(&database, "select count(*) from sqlite_stat1 where idx = 'artikel_silo'"), 1);
    assert_eq!(version(&database), NEXT);
    let copy = kept(&folder, NEXT);
    assert_eq!((number(&copy, "select count(*) from kunde"), version(&copy)), (2, NOW));
    assert_eq!(number(&copy, "select count(*) from sqlite_schema where name = 'silo'"), 0);
    // A second time there is nothing to do.
    upgrade(&database, SILO).unwrap();
    assert_eq!((number(&database, "select count(*) from silo"), names(&folder, "before").len()), (1, 1));

    // This version of partnerd recognises it as newer, and the copy as its own.
    for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["check"], &["doctor"]] {
        let output = folder.run(command);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        let newer =
            format!("die Datenbank hat Stand {NEXT}, dieses partnerd kennt {NOW}: das neuere Programm");
        assert!(said.contains(&newer), "{command:?}: {said}");
    }
    assert_eq!(version(&database), NEXT);
    folder.result(&["restore", copy.to_str().unwrap()]);
    folder.result(&["check"]);
}

#[test]
fn a_new_database_gets_all_in_one_step() {
    let folder = Folder::new();
    let database = folder.file("partnerd.db");
    assert!(upgrade(&database, SILO).unwrap().iter().all(|step| step.applied));
    assert_eq!((version(&database), number(&database, "select count(*) from silo")), (NEXT, 0));
    assert_eq!(names(&folder, "before").len(), 0, "it had nothing to lose");
}

#[test]
fn a_migration_that_fails_leaves_the_database_as_it_was() {
    const ORPHAN: &str =
        "insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (9, 'RE', 2026, 1)";
    let mill = mill();
    for (sql, why) in [(ORPHAN, "1 Verweise ins Leere"), ("creat", "syntax error")] {
        let folder = same(&mill);
        let database = folder.file("partnerd.db");
        let failure = upgrade(&database, sql).unwrap_err();
        assert!(format!("{failure:?}").contains(why), "{failure:?}");
        assert_eq!(version(&database), NOW, "{why}");
        assert_eq!(number(&database, "select count(*) from nummernkreis where tenant_id = 9"), 0);
        folder.result(&["migrate"]);
        folder.result(&["check"]);
    }
}

/// A released migration is never edited; if it was, applying the next one reports that.
#[test]
fn a_database_that_was_made_by_another_text_is_not_upgraded() {
    let folder = mill();
    let database = folder.file("partnerd.db");
    let change = |sql: &str| Connection::open(&database).unwrap().execute_batch(sql).unwrap();
    change("update migration set checksum = '0'");
    let failure = upgrade(&database, SILO).unwrap_err();
    assert!(format!("{failure:?}").contains("applied migration V1__schema is different"), "{failure:?}");
    assert_eq!(version(&database), NOW);
}

/// Copies of other days stay, whatever the database is called; leftovers of a killed copy are deleted.
#[test]
fn only_what_killed_copies_left_is_deleted() {
    let folder = Folder::new();
    let database = folder.file("lager-part-7.db");
    folder.result(&["--db", "lager-part-7.db", "migrate"]);
    let kept = ["lager-part-7.db-before-v2-2026-01-01", "lager-part-7.db-before-v1-2025-01-01"];
    let left =
        ["lager-part-7.db-before-v2-2026-01-01-part-99", "lager-part-7.db-before-v2-2026-01-01-part-99-wal"];
    for name in kept.iter().chain(&left) {
        folder.write(name, "");
    }
    upgrade(&database, SILO).unwrap();
    assert!(kept.iter().all(|name| folder.file(name).exists()), "{:?}", names(&folder, ""));
    assert!(!left.iter().any(|name| folder.file(name).exists()), "{:?}", names(&folder, ""));
    assert_eq!(names(&folder, "before").len(), 3);
}

/// For a moment a copy has two names, its own and that of the part; if killed then, the next upgrade finds both.
#[test]
fn a_killed_copy_that_has_its_name_leaves_no_part() {
    let folder = mill();
    let copy = format!("partnerd.db-before-v{NEXT}-1970-01-01");
    folder.result(&["backup", &copy]);
    std::fs::hard_link(folder.file(&copy), folder.file(&format!("{copy}-part-7"))).unwrap();
    upgrade(&folder.file("partnerd.db"), SILO).unwrap();
    assert_eq!(names(&folder, "before"), [copy]);
}
