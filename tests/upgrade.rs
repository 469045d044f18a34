//! Upgrades with the real executable (P11): a database of every older schema, one that is killed at
//! its steps, one that is newer.

mod process;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use process::Folder;
use rusqlite::Connection;

mod embedded {
    refinery::embed_migrations!("migrations");
}

fn count(path: &Path, table: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap()
}

/// A database as an older version left it, with a company in it.
fn older(path: &Path, version: i32) {
    std::fs::write(path, "").unwrap();
    let mut connection = Connection::open(path).unwrap();
    connection.execute_batch("pragma application_id = 1886549092").unwrap();
    let runner = embedded::migrations::runner().set_target(refinery::Target::Version(version));
    runner.run(&mut connection).unwrap();
    connection.execute("insert into tenant (name, angelegt_am) values ('Mühle', 0)", []).unwrap();
}

fn names(folder: &Folder, part: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(part)).collect()
}

/// The copy that was kept before a migration.
fn kept(folder: &Folder, version: i32) -> PathBuf {
    let found = names(folder, &format!("before-v{version}-"));
    assert_eq!(found.len(), 1, "{found:?}");
    folder.file(&found[0])
}

fn versions() -> i32 {
    embedded::migrations::runner().get_migrations().iter().map(|known| known.version()).max().unwrap()
}

#[test]
fn every_older_schema_is_upgraded_and_a_copy_of_it_is_kept() {
    for version in 1..versions() {
        let folder = Folder::new();
        let database = folder.file("partnerd.db");
        older(&database, version);
        folder.result(&["migrate"]);
        folder.result(&["check"]);
        let kept = kept(&folder, version + 1);
        assert_eq!(
            (count(&kept, "tenant"), count(&kept, "refinery_schema_history")),
            (1, i64::from(version))
        );
        assert_eq!(count(&database, "tenant"), 1);
        // A second start has nothing to keep.
        folder.result(&["migrate"]);
        assert_eq!(names(&folder, "before").len(), 1);
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
    older(&folder.file("lager-part-7.db"), 1);
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

/// An upgrade that is killed at any of its steps is carried on by the next start.
#[test]
fn an_upgrade_that_is_killed_at_any_step_is_carried_on() {
    let from = versions() - 1;
    let whole = Folder::new();
    older(&whole.file("partnerd.db"), from);
    let trace = whole.file("trace");
    let strace = |folder: &Folder, more: &[&str]| -> Output {
        let mut command = Command::new("strace");
        command.current_dir(folder.path()).args(["-f", "-qq", "-e", &format!("trace={CALLS}")]).args(more);
        command.arg(env!("CARGO_BIN_EXE_partnerd")).arg("migrate").output().unwrap()
    };
    assert!(strace(&whole, &["-o", trace.to_str().unwrap()]).status.success());
    let calls = std::fs::read_to_string(&trace).unwrap().lines().count();
    assert!(calls > 40, "{calls} system calls");
    let mut killed = 0;
    // About forty of them, spread over all.
    for at in (1..=calls).step_by(calls.div_ceil(40)) {
        let folder = Folder::new();
        let database = folder.file("partnerd.db");
        older(&database, from);
        let inject = format!("inject={CALLS}:signal=KILL:when={at}");
        let output = strace(&folder, &["-o", "/dev/null", "-e", &inject]);
        killed += usize::from(!output.status.success());
        folder.result(&["migrate"]);
        folder.result(&["check"]);
        assert_eq!(count(&database, "tenant"), 1, "killed at call {at}");
        let kept = kept(&folder, from + 1);
        assert_eq!(count(&kept, "refinery_schema_history"), i64::from(from), "killed at call {at}");
    }
    assert!(killed >= 20, "only {killed} were killed");
}
