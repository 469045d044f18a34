//! What commands do where a database is missing or empty: none begins one by mistake (D40).

use std::collections::BTreeMap;
use std::process::Output;

use crate::process::{Folder, Running};

/// A state of the files: its name, and each file with its content.
type State = (&'static str, &'static [(&'static str, &'static str)]);

const STATES: &[State] = &[
    ("absent", &[]),
    ("0 bytes", &[("partnerd.db", "")]),
    ("secret alone", &[("partnerd.db-secret", "00")]),
    ("0 bytes and secret", &[("partnerd.db", ""), ("partnerd.db-secret", "00")]),
    ("log alone", &[("partnerd.db-wal", "frames")]),
    ("0 bytes and log", &[("partnerd.db", ""), ("partnerd.db-wal", "frames")]),
    ("empty log", &[("partnerd.db", ""), ("partnerd.db-wal", "")]),
    ("journal", &[("partnerd.db-audit-journal-3", "rows")]),
    ("before an upgrade", &[("partnerd.db-before-v2-2026-11-01", "copy")]),
    ("of another database", &[("other.db-secret", "00"), ("partnerd.dbx-before-v2", "x")]),
];

/// Whether a new database may be begun in a state.
fn may_begin(state: &str) -> bool {
    matches!(state, "absent" | "0 bytes" | "empty log" | "of another database")
}

const LOOKING: &[&[&str]] = &[
    &["check"],
    &["key", "list"],
    &["key", "create", "--tenant", "A", "--label", "x", "--all-scopes"],
    &["tenant", "list"],
    &["tenant", "show", "A"],
    &["user", "list"],
    &["audit", "list"],
    &["audit", "verify"],
    &["audit", "rollover"],
    &["backup", "copy.db"],
    &["migrate", "--status"],
    &["beleg", "abschliessen", "--tenant", "A", "RE-2026-00001"],
    &["bericht", "zm", "--tenant", "A", "--von", "2026-01-01", "--bis", "2026-01-31"],
];

const BEGINNING: &[&[&str]] = &[&["migrate"], &["tenant", "create", "A"]];

fn folder_of(state: State) -> Folder {
    let folder = Folder::new();
    state.1.iter().for_each(|(name, content)| drop(folder.write(name, content)));
    folder
}

/// All files but locks of 0 bytes, which any command may make.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    };
    entries.map(read).filter(|(name, content)| !(name.ends_with("lock") && content.is_empty())).collect()
}

#[track_caller]
fn refuses(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{what}: {said}");
    assert!(said.trim().lines().count() == 1 && said.contains("partnerd.db"), "{what}: {said}");
    assert!(["fehlt", "leer", "gibt es nicht"].iter().any(|word| said.contains(word)), "{what}: {said}");
}

#[test]
fn commands_that_begin_nothing_leave_the_files_as_they_are() {
    for state in STATES {
        let folder = folder_of(*state);
        let before = files(&folder);
        for command in LOOKING {
            refuses(&folder.run(command), &format!("{} with {}", command.join(" "), state.0));
            assert_eq!(files(&folder), before, "{} with {}", command.join(" "), state.0);
        }
    }
}

#[test]
fn a_database_is_begun_only_where_nothing_of_an_installation_lies() {
    for state in STATES {
        for command in BEGINNING {
            let folder = folder_of(*state);
            let (before, what) = (files(&folder), format!("{} with {}", command.join(" "), state.0));
            let output = folder.run(command);
            if may_begin(state.0) {
                assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            refuses(&output, &what);
            assert_eq!(files(&folder), before, "{what}");
        }
    }
}

#[test]
fn a_server_does_not_begin_anew_where_an_installation_was_and_doctor_calls_that_a_fault() {
    for state in STATES {
        let folder = folder_of(*state);
        let before = files(&folder);
        let doctor = folder.run(&["doctor"]);
        let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
        let command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
        let started = Running::try_start(command, std::process::Stdio::piped());
        if may_begin(state.0) {
            assert!(started.is_ok(), "{}", state.0);
            continue;
        }
        assert!(said.contains("Hier war eine Installation"), "{}: {said}", state.0);
        refuses(&started.err().unwrap(), state.0);
        assert_eq!(files(&folder), before, "{}", state.0);
    }
}

/// The newest records stand in the log alone: whatever is tried, it comes back with the file.
#[test]
fn a_log_with_the_newest_records_outlives_an_empty_file() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let server = folder.serve(&[]);
    for name in ["A", "B", "C"] {
        let made = server.client(&key).post("/api/v1/kunden", &serde_json::json!({"name": name}));
        assert_eq!(made.status, 201);
    }
    drop(server);
    let whole = std::fs::read(folder.file("partnerd.db")).unwrap();
    folder.write("partnerd.db", "");
    for command in LOOKING.iter().chain(BEGINNING) {
        refuses(&folder.run(command), &command.join(" "));
    }
    std::fs::write(folder.file("partnerd.db"), whole).unwrap();
    folder.result(&["check"]);
    let server = folder.serve(&[]);
    let list = server.client(&key).get("/api/v1/kunden");
    assert_eq!(list.body["data"].as_array().unwrap().len(), 3, "{:?}", list.body);
}
