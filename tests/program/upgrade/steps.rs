//! Upgrades in separate processes: killed at their steps, and many at once.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use rusqlite::Connection;

use super::to_come::{NEXT, NOW, kept, mill, names, number, same, upgrading, version};
use crate::process::Folder;
use crate::programs::needs;

/// The system calls by which a migration changes files.
const CALLS: &str = "pwrite64,fsync,fdatasync,rename,unlink,ftruncate,openat";

/// Runs a process undisturbed, then about thirty times in a fresh folder each, killed at calls spread over
/// all; `after` checks the folder of each, and is told whether it was killed.
fn kill_at_calls(
    fresh: impl Fn() -> Folder,
    run: impl Fn(&Folder, &[&str]) -> Command,
    after: impl Fn(&Folder, bool, usize),
) {
    let strace = |folder: &Folder, more: &[&str]| -> Output {
        let filter = format!("trace={CALLS}");
        run(folder, &[&["strace", "-f", "-qq", "-e", &filter], more].concat()).output().unwrap()
    };
    let whole = fresh();
    let trace = whole.file("trace");
    let output = strace(&whole, &["-o", trace.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = std::fs::read_to_string(&trace).unwrap().lines().count();
    assert!(calls > 40, "{calls} system calls");
    let mut killed = 0;
    for at in (1..=calls).step_by(calls.div_ceil(30)) {
        let folder = fresh();
        let inject = format!("inject={CALLS}:signal=KILL:when={at}");
        let was_killed = !strace(&folder, &["-o", "/dev/null", "-e", &inject]).status.success();
        killed += usize::from(was_killed);
        after(&folder, was_killed, at);
    }
    assert!(killed >= 15, "only {killed} were killed");
}

/// The number of migrations of a killed database, which is not changed by looking.
fn looked_at(folder: &Folder) -> i64 {
    version(&same(folder).file("partnerd.db"))
}

/// An upgrade killed at any step is continued by the next start; until it is done, the database is the old one.
#[test]
fn an_upgrade_that_is_killed_at_any_step_is_carried_on() {
    needs!("strace");
    let mill = mill();
    let left_old = std::cell::Cell::new(0);
    kill_at_calls(
        || same(&mill),
        upgrading,
        |folder, _, at| {
            let rows = looked_at(folder);
            assert!([NOW, NEXT].contains(&rows), "{rows} migrations after a kill at call {at}");
            if rows == NOW {
                left_old.set(left_old.get() + 1);
                folder.result(&["check"]);
            }
            assert!(upgrading(folder, &[]).output().unwrap().status.success(), "killed at call {at}");
            let database = folder.file("partnerd.db");
            assert_eq!((version(&database), number(&database, "select kunden from silo")), (NEXT, 2));
            // The previous database is whole, and this version works with it.
            let copy = kept(folder, NEXT);
            folder.result(&["restore", copy.to_str().unwrap()]);
            folder.result(&["check"]);
            assert_eq!(number(&database, "select count(*) from beleg"), 1, "killed at call {at}");
        },
    );
    assert!(left_old.get() >= 5, "only {} were killed before the end", left_old.get());
}

/// The same for creating a database.
#[test]
fn a_database_whose_making_is_killed_at_any_step_is_made_by_the_next_start() {
    needs!("strace");
    let migrate = |folder: &Folder, strace: &[&str]| {
        let mut command = Command::new(strace[0]);
        command
            .current_dir(folder.path())
            .args(&strace[1..])
            .arg(env!("CARGO_BIN_EXE_partnerd"))
            .arg("migrate");
        command
    };
    kill_at_calls(Folder::new, migrate, |folder, _, at| {
        folder.result(&["tenant", "create", "Mühle"]);
        folder.result(&["check"]);
        assert_eq!(version(&folder.file("partnerd.db")), NOW, "killed at call {at}");
        assert_eq!(names(folder, "before").len(), 0, "killed at call {at}");
    });
}

/// One of them upgrades, the others wait, on existing databases and on a new one.
#[test]
fn eight_upgrades_at_once_are_one() {
    let mill = mill();
    for folder in [same(&mill), same(&mill), Folder::new()] {
        let start = |_| upgrading(&folder, &[]).stdout(Stdio::null()).spawn().unwrap();
        let processes: Vec<_> = (0..8).map(start).collect();
        for mut process in processes {
            assert!(process.wait().unwrap().success());
        }
        let database = folder.file("partnerd.db");
        let companies = number(&database, "select count(*) from tenant");
        assert_eq!((version(&database), number(&database, "select count(*) from silo")), (NEXT, companies));
        assert_eq!(names(&folder, "before-v").len() as i64, companies, "a new one has nothing to lose");
    }
}

/// The planner statistics of SQLite are those of this version, whatever an older one or another program left.
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

/// Such a database has the migration history of another program, and its own schema.
#[test]
fn a_database_from_before_1_0_is_refused_and_stays_as_it_is() {
    let folder = Folder::new();
    let make = |path: &Path| {
        let history = "pragma application_id = 1886549092;
            create table refinery_schema_history (version integer primary key, name text, applied_on text, \
            checksum text);
            insert into refinery_schema_history values (1, 'schema', '', '0'), (1000, \
            'not_for_partnerd_before_1_0', '', '0');
            create table installation (id integer primary key);";
        Connection::open(path).unwrap().execute_batch(history).unwrap();
    };
    make(&folder.file("partnerd.db"));
    make(&folder.file("alt.db"));
    let before = std::fs::read(folder.file("partnerd.db")).unwrap();
    let commands = [
        &["migrate"][..],
        &["migrate", "--status"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["tenant", "list"],
        &["check"],
        &["doctor"],
        &["backup", "copy.db"],
        &["--db", "neu.db", "restore", "alt.db"],
    ];
    for command in commands {
        let output = folder.run(command);
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        let sentence =
            "stammt von einer Version vor 1.0: ihre Daten mit jener ausgeben und in eine neue Datenbank";
        assert!(said.contains(sentence), "{command:?}: {said}");
    }
    for left in ["neu.db", "copy.db"] {
        assert!(!folder.file(left).exists(), "{left}");
    }
    let connection = folder.database();
    let tables: i64 =
        connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 2);
    assert_eq!(std::fs::read(folder.file("partnerd.db")).unwrap().len(), before.len());
}
