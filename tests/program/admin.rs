//! The administrators' commands: backup and restore (P10), doctor, completions. A copy of a busy database is
//! whole and contains everything answered before it began; nothing is overwritten or left half done.

mod bounds;
mod browser;
mod second;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::process::Folder;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

#[track_caller]
fn refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is not named: {said}");
    }
}

fn count(path: &Path, table: &str) -> usize {
    let connection = Connection::open(path).unwrap();
    let count: i64 =
        connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap();
    usize::try_from(count).unwrap()
}

#[test]
fn a_backup_of_a_busy_database_has_all_that_was_answered_before() {
    let folder = Folder::new();
    let server = folder.serve(&[]);
    let key = folder.company("Mühle");
    let client = server.client(&key);
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Huber"})).status, 201);
    let (done, written, read) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let client = client.clone();
            let (done, written, read) = (&done, &written, &read);
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "1.00"}]);
                    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
                    assert_eq!(client.post("/api/v1/belege", &body).status, 201);
                    written.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(client.get("/api/v1/laender?limit=1").status, 200);
                    read.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        for round in 0..10 {
            let (written, read) = (written.load(Ordering::SeqCst), read.load(Ordering::SeqCst));
            let (copy, other) = (format!("b{round}.db"), format!("r{round}.db"));
            let printed = folder.result(&["--json", "backup", &copy]);
            let counted: Value = serde_json::from_str(&printed).unwrap();
            let documents = count(&folder.file(&copy), "beleg");
            assert_eq!(counted[0]["documents"], documents);
            assert!(documents >= written, "{documents} of {written} documents");
            let rows = count(&folder.file(&copy), "audit");
            assert!(rows > written + read, "{rows} of {} audit rows", written + read + 1);
            // A single file without side files.
            for ending in ["-wal", "-shm", "-part", "-part-audit-journal-1"] {
                assert!(!folder.file(&format!("{copy}{ending}")).exists(), "{copy}{ending}");
            }
            folder.result(&["--db", &other, "restore", &copy]);
            folder.result(&["--db", &other, "check"]);
            assert_eq!(count(&folder.file(&other), "beleg"), documents);
        }
        done.store(true, Ordering::SeqCst);
    });
    assert!(written.load(Ordering::SeqCst) > 20, "nobody wrote meanwhile");
}

#[test]
fn a_restored_database_serves_and_what_was_there_before_is_kept() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let add = |name: &str| {
        let mut server = folder.serve(&[]);
        let answer = server.client(&key).post("/api/v1/kunden", &json!({"name": name}));
        assert_eq!(answer.status, 201, "{}", answer.body);
        server.kill();
    };
    add("Huber");
    folder.result(&["backup", "gut.db"]);
    // Rows that a killed server left in its log and its journal are kept, too.
    add("Maier");
    folder.result(&["restore", "gut.db"]);
    let names = |path: &Path| -> Vec<String> {
        let connection = Connection::open(path).unwrap();
        let mut statement = connection.prepare("select name from kunde order by kunden_id").unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    assert_eq!(names(&folder.file("partnerd.db")), ["Huber"]);
    let kept: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.to_str().unwrap().contains("-before-restore-") && !path.to_str().unwrap().contains("journal")
        })
        .collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(names(&kept[0]), ["Huber", "Maier"]);
    folder.result(&["check"]);
    let server = folder.serve(&[]);
    assert_eq!(server.client(&key).get("/api/v1/kunden").body["count"], 1);
    assert_eq!(std::fs::metadata(folder.file("gut.db")).unwrap().len() % 4_096, 0, "the backup is as it was");
}

#[test]
fn what_cannot_be_backed_up_or_restored_is_refused_and_changes_nothing() {
    let folder = Folder::new();
    refused(&folder.run(&["backup", "b.db"]), &["gibt es nicht", "--db"]);
    folder.company("Mühle");
    folder.result(&["backup", "gut.db"]);
    refused(&folder.run(&["backup", "gut.db"]), &["gut.db", "gibt es schon"]);
    refused(&folder.run(&["backup", "gibt/es/nicht.db"]), &["gibt/es/nicht.db"]);
    refused(&folder.run(&["restore", "nichts.db"]), &["gibt es nicht", "nichts.db"]);
    refused(&folder.run(&["restore", "partnerd.db"]), &["ist die Datenbank selbst"]);
    let before = std::fs::read(folder.file("partnerd.db")).unwrap();
    std::fs::write(folder.file("text.db"), "kein Backup").unwrap();
    Connection::open(folder.file("fremd.db")).unwrap().execute_batch("create table x (y)").unwrap();
    let tampered = |name: &str, statement: &str| {
        std::fs::copy(folder.file("gut.db"), folder.file(name)).unwrap();
        Connection::open(folder.file(name)).unwrap().execute_batch(statement).unwrap();
    };
    tampered(
        "krumm.db",
        "insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'RE', 2026, 7)",
    );
    tampered("neu.db", "update migration set version = 999 where version = 1");
    folder.write("text.db-audit-journal-9", "");
    let mut torn = std::fs::read(folder.file("gut.db")).unwrap();
    torn.truncate(torn.len() / 2);
    std::fs::write(folder.file("halb.db"), torn).unwrap();
    let cases = [
        ("text.db", "keine Sicherung von partnerd"),
        ("fremd.db", "keine Sicherung von partnerd"),
        ("krumm.db", "Nummern der Belege ohne Lücke"),
        ("neu.db", "das neuere Programm"),
        ("halb.db", "partnerd: "),
    ];
    for (file, why) in cases {
        refused(&folder.run(&["restore", file]), &[why]);
        assert_eq!(std::fs::read(folder.file("partnerd.db")).unwrap(), before, "{file}");
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = names.filter(|name| name.to_str().unwrap().contains("restore-part")).collect();
        assert!(left.is_empty(), "{file}: {left:?}");
    }
    // Control: the unmodified backup can be restored, so only the tampering makes the difference.
    folder.result(&["--db", "anders.db", "restore", "gut.db"]);
    let _server = folder.serve(&[]);
    refused(
        &folder.run(&["restore", "gut.db"]),
        &["wird schon von einem anderen partnerd benutzt", "zuerst anhalten"],
    );
}

/// The files that a killed server left beside a database belong to it, be it the source of a restore or the
/// database replaced by it. They are never taken for files of the restored one.
#[test]
fn nothing_that_stands_beside_a_database_is_lost_or_taken_for_another() {
    let folder = Folder::new();
    folder.company("Alt");
    folder.result(&["backup", "alt.db"]);
    let mut server = folder.serve(&[]);
    // A reader pins the log: otherwise the server might move all of it into the database before it is killed.
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let reader = Connection::open_with_flags(folder.file("partnerd.db"), read_only).unwrap();
    reader.execute_batch("begin; select count(*) from audit").unwrap();
    assert_eq!(server.client(&folder.company("Neu")).get("/api/v1/laender").status, 200);
    server.kill();
    drop(reader);
    assert!(std::fs::metadata(folder.file("partnerd.db-wal")).unwrap().len() > 0, "the scene needs a log");
    let companies = |database: &str| folder.result(&["--db", database, "tenant", "list"]).lines().count() - 1;
    folder.result(&["--db", "andere.db", "restore", "partnerd.db"]);
    assert_eq!(companies("andere.db"), 2, "the log of the source is part of it");
    assert_eq!(count(&folder.file("andere.db"), "audit"), 1, "and so is its journal");
    // The database file is deleted, its log is not.
    std::fs::remove_file(folder.file("partnerd.db")).unwrap();
    folder.result(&["restore", "alt.db"]);
    assert_eq!(companies("partnerd.db"), 1);
    folder.result(&["check"]);
}

/// A restore that is killed at any step leaves either the old company or the new one, whole, and the next
/// restore succeeds.
#[test]
fn a_restore_that_is_killed_at_any_step_leaves_one_of_both() {
    crate::programs::needs!("strace");
    let calls =
        "pwrite64,fsync,fdatasync,rename,link,linkat,unlink,ftruncate,openat,copy_file_range,sendfile";
    let scene = || {
        let folder = Folder::new();
        folder.company("Neu");
        folder.result(&["backup", "neu.db"]);
        folder.result(&["tenant", "create", "Zwei"]);
        // Rows that a killed server left in its log and journal.
        let mut server = folder.serve(&[]);
        let key = folder.company("Drei");
        assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
        server.kill();
        folder
    };
    let strace = |folder: &Folder, more: &[&str]| {
        let mut command = Command::new("strace");
        command.current_dir(folder.path()).args(["-f", "-qq", "-e", &format!("trace={calls}")]).args(more);
        command.arg(env!("CARGO_BIN_EXE_partnerd")).args(["restore", "neu.db"]).output().unwrap()
    };
    let whole = scene();
    assert!(strace(&whole, &["-o", "trace"]).status.success());
    // strace counts the calls of each kind separately.
    let mut counts = BTreeMap::<String, usize>::new();
    for line in std::fs::read_to_string(whole.file("trace")).unwrap().lines() {
        let call = line.split_whitespace().nth(1).and_then(|call| call.split('(').next()).unwrap_or_default();
        *counts.entry(call.to_owned()).or_default() += 1;
    }
    let companies = |folder: &Folder| folder.result(&["tenant", "list"]).lines().count() - 1;
    assert_eq!(companies(&whole), 1);
    let (mut old, mut new) = (0, 0);
    for (call, count) in counts {
        // A sample of the steps, and the last ones, where files are renamed.
        let some = (1..=count).step_by(count.div_ceil(4));
        for at in some.chain(count.saturating_sub(1).max(1)..=count) {
            let folder = scene();
            let inject = format!("inject={call}:signal=KILL:when={at}");
            strace(&folder, &["-o", "/dev/null", "-e", &inject]);
            let found = companies(&folder);
            folder.result(&["check"]);
            match found {
                3 => old += 1,
                1 => new += 1,
                other => panic!("{other} companies after a kill at {call} {at} of {count}"),
            }
            folder.result(&["restore", "neu.db"]);
            assert_eq!(companies(&folder), 1, "killed at {call} {at}");
        }
    }
    assert!(old >= 10 && new >= 3, "{old} times the old one, {new} times the new one");
}

#[test]
fn a_file_that_somebody_has_open_is_not_exchanged() {
    let folder = Folder::new();
    folder.company("Mühle");
    folder.result(&["backup", "gut.db"]);
    let held = partnerd::platform::db::file::lock::for_use(&folder.file("partnerd.db")).unwrap();
    refused(&folder.run(&["restore", "gut.db"]), &["ein anderer Befehl von partnerd arbeitet mit"]);
    drop(held);
    // Simulates a program that ignores our locks.
    let connection = folder.database();
    connection.execute_batch("begin; select count(*) from tenant").unwrap();
    let _: i64 = connection.query_row("select count(*) from tenant", [], |row| row.get(0)).unwrap();
    refused(&folder.run(&["restore", "gut.db"]), &["ein anderes Programm hat", "offen"]);
    drop(connection);
    folder.result(&["restore", "gut.db"]);
    folder.result(&["check"]);
}

#[test]
fn a_backup_in_which_something_is_broken_is_kept_under_another_name() {
    let folder = Folder::new();
    folder.company("Mühle");
    let wrong = "insert into nummernkreis (tenant_id, reihe, jahr, letzte) values (1, 'RE', 2026, 7)";
    folder.database().execute_batch(wrong).unwrap();
    refused(&folder.run(&["backup", "b.db"]), &["Nummern der Belege ohne Lücke", "b.db-not-proved"]);
    assert!(!folder.file("b.db").exists());
    assert_eq!(count(&folder.file("b.db-not-proved"), "tenant"), 1);
}

/// If several backups use one name, exactly one is made, and it is whole.
#[test]
fn backups_to_one_name_do_not_disturb_each_other() {
    let folder = Folder::new();
    folder.company("Mühle");
    let made = std::thread::scope(|scope| {
        let run = || folder.run(&["backup", "eins.db"]).status.success();
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(run)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).filter(|made| *made).count()
    });
    assert_eq!(made, 1);
    folder.result(&["--db", "r.db", "restore", "eins.db"]);
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.map(|name| name.into_string().unwrap()).any(|name| name.contains("-part-")));
}

/// Starts a server that should be refused; if it is not, stops it after a while.
fn serve_in_vain(folder: &Folder, database: &str) -> Output {
    let serve = ["120", env!("CARGO_BIN_EXE_partnerd"), "--db", database, "serve", "--listen", "127.0.0.1:0"];
    Command::new("timeout").args(serve).current_dir(folder.path()).output().unwrap()
}

#[test]
fn a_schema_that_another_program_changed_is_not_served() {
    let folder = Folder::new();
    folder.company("Mühle");
    let index =
        "select name, sql from sqlite_schema where type = 'index' and tbl_name = 'beleg' and sql is not null";
    let (index, made): (String, String) =
        folder.database().query_row(index, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let trigger = "create trigger fremd after insert on kunde begin delete from bon; end";
    let cases = [
        (trigger, "drop trigger fremd", "„trigger fremd“"),
        ("create view fremd as select 1", "drop view fremd", "„view fremd“"),
        (&format!("drop index {index}"), &made, &format!("kein „index {index}“")),
        ("alter table kunde add column fremd integer", "", "ein anderes „table kunde“"),
    ];
    for (change, undo, named) in cases {
        drop(folder.serve(&[]));
        folder.database().execute_batch(change).unwrap();
        refused(
            &serve_in_vain(&folder, "partnerd.db"),
            &["partnerd.db", named, "das zurücknehmen", "partnerd restore"],
        );
        folder.database().execute_batch(undo).unwrap();
    }
}

/// Root maintains the machine, while the service runs as another user, who must be able to open its locks.
#[test]
fn what_a_command_leaves_beside_a_database_belongs_to_its_owner() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = Folder::new();
    folder.result(&["tenant", "create", "Mühle"]);
    let locks = ["lock", "use-lock", "migrate-lock"].map(|lock| folder.file(&format!("partnerd.db-{lock}")));
    for lock in &locks {
        let _ = std::fs::remove_file(lock);
    }
    // Only root can change the owner; for any other user both owners are the same.
    let _ = chown(folder.file("partnerd.db"), Some(65_534), Some(65_534));
    folder.result(&["migrate"]);
    folder.result(&["backup", "b.db"]);
    drop(folder.serve(&[]));
    let owner = |path: &Path| std::fs::metadata(path).unwrap().uid();
    for lock in &locks {
        assert_eq!(owner(lock), owner(&folder.file("partnerd.db")), "{}", lock.display());
    }
}

/// The state and the finding that `doctor` prints for a subject.
fn looked(output: &Output, look: &str) -> (String, String) {
    let findings = serde_json::from_slice::<Value>(&output.stdout).unwrap();
    let found = findings.as_array().unwrap().iter().find(|finding| finding["look"] == look);
    let found = found.unwrap_or_else(|| panic!("no look at {look}: {findings}"));
    (found["state"].as_str().unwrap().to_owned(), found["finding"].as_str().unwrap().to_owned())
}

#[test]
fn doctor_names_what_is_wrong_and_what_to_do() {
    let folder = Folder::new();
    let doctor = |more: &[&str]| folder.run(&[&["--json"], more, &["doctor"]].concat());
    // Any free port, since something on this machine may use the default one.
    let any_port = folder.command(&["--json", "doctor"]).env("PARTNERD_LISTEN", "127.0.0.1:0").output();
    let fresh = any_port.unwrap();
    assert!(fresh.status.success(), "{}", String::from_utf8_lossy(&fresh.stderr));
    assert_eq!(looked(&fresh, "database").0, "warning");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it leaves nothing behind");
    let key = folder.company("Mühle");
    let healthy = doctor(&[]);
    for look in ["SQLite", "rights", "disk", "drive", "database", "owner", "pages", "clock"] {
        let (state, finding) = looked(&healthy, look);
        assert_eq!(state, "ok", "{look}: {finding}");
    }
    std::fs::set_permissions(folder.file("partnerd.db"), Permissions::from_mode(0o644)).unwrap();
    let (state, finding) = looked(&doctor(&[]), "owner");
    assert!(state == "warning" && finding.contains("chmod 600"), "{finding}");

    let listen =
        |address: &str, more: &str| folder.write("p.toml", &format!("listen = \"{address}\"\n{more}"));
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let config = listen(&other.local_addr().unwrap().to_string(), "backup_folder = \"fehlt\"");
    let output = doctor(&["--config", &config]);
    assert_eq!(output.status.code(), Some(1));
    let (state, finding) = looked(&output, "port");
    assert!(state == "wrong" && finding.contains("--listen"), "{finding}");
    let (state, finding) = looked(&output, "backups");
    assert!(state == "wrong" && finding.contains("backup_folder"), "{finding}");

    let server = folder.serve(&[]);
    assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
    let config = listen(&server.address, "");
    let (state, finding) = looked(&doctor(&["--config", &config]), "port");
    assert!(state == "ok" && finding.contains("ein Server läuft"), "{finding}");
    drop(server);
    folder.result(&["audit", "verify"]);
    let ahead = "update audit set am = 4102444800000";
    folder.database().execute_batch(ahead).unwrap();
    let (state, finding) = looked(&doctor(&[]), "clock");
    assert!(
        state == "wrong" && finding.contains("die Uhr dieses Rechners stellen") && finding.contains("2100"),
        "{finding}"
    );
    let said = folder.log_of_start(&[]);
    assert!(said.contains("die Uhr dieses Rechners stellen") && said.contains("2100"), "{said}");
    std::fs::write(folder.file("partnerd.db"), vec![7; 8_192]).unwrap();
    let output = doctor(&[]);
    refused_table(&output);
    let (state, finding) = looked(&output, "database");
    assert!(state == "wrong" && finding.contains("partnerd restore"), "{finding}");
}

#[test]
fn doctor_changes_nothing() {
    let folder = Folder::new();
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    folder.write("leer.db", "");
    rusqlite::Connection::open(folder.file("fremd.db"))
        .and_then(|other| other.execute_batch("create table notiz (text); insert into notiz values ('x')"))
        .unwrap();
    for (file, word) in [("leer.db", "ist leer"), ("fremd.db", "eines anderen Programms")] {
        let (before, beside) = (std::fs::read(folder.file(file)).unwrap(), names());
        let output = folder.run(&["--json", "--db", file, "doctor"]);
        let (state, finding) = looked(&output, "database");
        assert!(state == "wrong" && finding.contains(word), "{finding}");
        assert_eq!(std::fs::read(folder.file(file)).unwrap(), before, "{file}");
        assert_eq!(names(), beside);
    }
    // A killed server left everything in the log beside the database, where it stays.
    let mut server = folder.serve(&[]);
    // While a reader holds a snapshot of the log, an idle server does not empty it.
    let reader = folder.database();
    reader.execute_batch("begin").unwrap();
    reader.query_row("select count(*) from kunde", [], |_| Ok(())).unwrap();
    let key = folder.company("Mühle");
    assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
    server.kill();
    let both = || ["partnerd.db", "partnerd.db-wal"].map(|file| std::fs::read(folder.file(file)).unwrap());
    let before = both();
    assert!(!before[1].is_empty());
    assert_eq!(looked(&folder.run(&["--json", "doctor"]), "pages").0, "ok");
    assert!(both() == before);
}

/// Asserts a table on stdout and one sentence on stderr.
fn refused_table(output: &Output) {
    assert_eq!((output.status.code(), output.stderr.split(|byte| *byte == b'\n').count()), (Some(1), 2));
}

#[test]
fn the_shell_and_man_are_told_every_command() {
    let folder = Folder::new();
    let man = folder.result(&["man"]);
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let completions = folder.result(&["completions", shell]);
        for command in ["serve", "backup", "restore", "doctor", "openapi"] {
            assert!(completions.contains(command), "{shell} {command}");
            assert!(man.contains(command), "{command}");
        }
    }
    std::fs::create_dir(folder.file("man1")).unwrap();
    assert_eq!(folder.result(&["man", "--folder", "man1"]), "");
    let page = |name: &str| std::fs::read_to_string(folder.file("man1").join(name)).unwrap();
    // Every page named on the first page exists.
    let first = page("partnerd.1").replace('\\', "");
    let named: Vec<_> = first.lines().filter_map(|line| line.strip_suffix("(1)")).collect();
    assert!(named.contains(&"partnerd-backup") && named.len() > 14, "{named:?}");
    named.iter().for_each(|name| assert!(page(&format!("{name}.1")).contains("Beispiele:"), "{name}"));
    assert!(page("partnerd-key-create.1").contains("daily"));
    refused(&folder.run(&["man", "--folder", "fehlt"]), &["fehlt"]);
}

#[test]
fn the_help_of_every_command_has_an_example() {
    let folder = Folder::new();
    let help = folder.result(&["help"]);
    let commands = help.split("Befehle:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let names: Vec<&str> =
        names.filter(|name| name.chars().all(char::is_lowercase) && *name != "help").collect();
    assert!(names.len() > 14, "{names:?}");
    for name in names {
        let help = folder.result(&["help", name]);
        let below = help.split("Befehle:\n").nth(1).map(|rest| rest.split("\n\n").next().unwrap());
        let below = below.into_iter().flat_map(str::lines).filter_map(|line| line.split_whitespace().next());
        for path in [vec![name]].into_iter().chain(below.map(|below| vec![name, below])) {
            if path.last() == Some(&"help") {
                continue;
            }
            let help = folder.result(&[&["help"], &path[..]].concat());
            let example = help.split("Beispiele:\n").nth(1).unwrap_or_else(|| panic!("{path:?}: no example"));
            let is_one = example.trim_start().starts_with("partnerd ");
            assert!(is_one && example.contains(&path.join(" ")), "{example}");
        }
    }
}
