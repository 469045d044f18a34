//! Situations in which an administrator was once sent the wrong way: each is produced for real, and doctor,
//! the start and the commands name its cause and the remedy.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use partnerd::platform::db::system_clock;
use partnerd::rules::day::Day;
use rusqlite::config::DbConfig;
use serde_json::{Value, json};

use crate::commands::said;
use crate::commands::testfirma::trade;
use crate::process::Folder;

/// Asserts that a text contains these words.
#[track_caller]
fn names(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not named: {text}");
    }
}

/// State and findings of a subject in doctor's output.
fn looked(output: &Output, look: &str) -> (String, String) {
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<_> = findings.iter().filter(|finding| finding["look"] == look).collect();
    let text =
        |name: &str| found.iter().map(|found| found[name].as_str().unwrap()).collect::<Vec<_>>().join("\n");
    (text("state"), text("finding"))
}

fn doctor(folder: &Folder, more: &[&str]) -> Output {
    folder.run(&[&["--json"], more, &["doctor"]].concat())
}

/// A reader that holds a snapshot, so that an idle server cannot empty its log; it leaves the log as it is.
fn reader(folder: &Folder) -> rusqlite::Connection {
    let reader = folder.database();
    reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    reader.execute_batch("begin").unwrap();
    reader.query_row("select count(*) from kunde", [], |_| Ok(())).unwrap();
    reader
}

fn customers(folder: &Folder) -> i64 {
    folder.database().query_row("select count(*) from kunde", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_log_that_is_deleted_beneath_a_server_is_saved_by_stopping_it_in_order() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let mut server = folder.serve(&[]);
    let client = server.client(&key);
    let add = |name: &str| assert_eq!(client.post("/api/v1/kunden", &json!({"name": name})).status, 201);
    let held = reader(&folder);
    add("vorher");
    fs::remove_file(folder.file("partnerd.db-wal")).unwrap();
    add("nachher");
    let (state, finding) = looked(&doctor(&folder, &[]), "database");
    assert_eq!(state, "wrong");
    names(
        &finding,
        &["partnerd.db-wal", "während der Server läuft", "ist heil", "ordentlich anhalten", "nie abschießen"],
    );
    assert!(!finding.contains("Sicherung"), "{finding}");
    // A command would create another log, and two programs would write to one database.
    names(&said(&folder.run(&["tenant", "create", "Neu"]), 1), &["partnerd.db-wal", "ordentlich anhalten"]);
    assert!(!folder.file("partnerd.db-wal").exists());
    drop(held);
    server.signal("TERM");
    assert!(server.end().0.success());
    folder.result(&["check"]);
    assert_eq!(customers(&folder), 2);
    assert_eq!(looked(&doctor(&folder, &[]), "database").0, "ok");
}

#[test]
fn a_log_that_is_deleted_after_a_crash_is_missed() {
    for both in [false, true] {
        let folder = Folder::new();
        let key = folder.company("Mühle");
        let mut server = folder.serve(&[]);
        let held = reader(&folder);
        for name in ["a", "b", "c", "d", "e"] {
            assert_eq!(server.client(&key).post("/api/v1/kunden", &json!({"name": name})).status, 201);
        }
        server.kill();
        drop(held);
        // Control: while the log exists, nothing is missing.
        assert_eq!(looked(&doctor(&folder, &[]), "database").0, "ok");
        fs::remove_file(folder.file("partnerd.db-wal")).unwrap();
        let words = ["partnerd.db-wal", "abgestürzt", "fehlt jetzt", "audit verify --against"];
        if both {
            let (state, finding) = looked(&doctor(&folder, &[]), "database");
            assert_eq!(state, "wrong");
            names(&finding, &words);
            names(&folder.log_of_start(&[]), &words);
        } else {
            names(&String::from_utf8(folder.run(&["check"]).stderr).unwrap(), &words);
        }
        assert_eq!(customers(&folder), 0);
        // From now on everything looks intact; only this file tells of it.
        folder.result(&["check"]);
        let (state, finding) = looked(&doctor(&folder, &[]), "files");
        assert_eq!(state, "wrong");
        names(&finding, &words);
        fs::remove_file(folder.file("partnerd.db-wal-lost")).unwrap();
        assert_eq!(looked(&doctor(&folder, &[]), "files").0, "ok");
    }
}

/// Runs a copy of the program as a user who owns nothing here.
fn as_nobody(place: &Path, program: &Path, arguments: &[&str]) -> Output {
    loop {
        let ran = Command::new(program).current_dir(place).args(arguments).uid(65_534).output();
        match ran {
            // A process that another test starts at this moment may have the copy open for a while.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            ran => return ran.unwrap(),
        }
    }
}

#[test]
fn a_folder_of_another_user_is_not_taken_for_none() {
    let folder = Folder::new();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        return;
    }
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    let daten = folder.file("daten");
    fs::create_dir(&daten).unwrap();
    folder.result(&["--db", "daten/partnerd.db", "tenant", "create", "Mühle"]);
    fs::set_permissions(&daten, Permissions::from_mode(0o700)).unwrap();
    let program = folder.file("partnerd");
    fs::copy(env!("CARGO_BIN_EXE_partnerd"), &program).unwrap();
    let run = |arguments: &[&str]| {
        as_nobody(folder.path(), &program, &[&["--db", "daten/partnerd.db"], arguments].concat())
    };
    for command in [
        &["tenant", "list"][..],
        &["migrate", "--status"],
        &["migrate"],
        &["backup", "b.db"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["check"],
    ] {
        let complaint = said(&run(command), 1);
        names(&complaint, &["daten/partnerd.db", "keine Berechtigung", "sudo -u root"]);
        assert!(!complaint.contains("gibt es nicht"), "{command:?}: {complaint}");
    }
    let (state, finding) = looked(&run(&["--json", "doctor"]), "database");
    assert_eq!(state, "wrong");
    names(&finding, &["daten/partnerd.db", "sudo -u root"]);
}

#[test]
fn a_damaged_backup_is_named_with_what_to_do_now() {
    let folder = Folder::new();
    folder.company("Mühle");
    fs::create_dir(folder.file("sicherungen")).unwrap();
    let today = Day::in_berlin((system_clock())());
    let backup = format!("sicherungen/partnerd-{today}.db");
    folder.result(&["backup", &backup]);
    let config = folder.write("p.toml", "backup_folder = \"sicherungen\"");
    let looks = || looked(&doctor(&folder, &["--config", &config]), "backups");
    assert_eq!(looks().0, "ok");
    // A page in the middle, then the whole file.
    let whole = fs::read(folder.file(&backup)).unwrap();
    let mut page = whole.clone();
    page[8_192..12_288].fill(0x5a);
    for (bytes, what) in [(page, "page"), (vec![7; 8_192], "all"), (whole[..6_000].to_vec(), "cut off")] {
        fs::write(folder.file(&backup), bytes).unwrap();
        let (state, finding) = looks();
        assert!(state.contains("wrong"), "{what}: {state} {finding}");
        names(&finding, &[&backup, "beschädigt", "partnerd backup", "Platte prüfen"]);
        let before = fs::read(folder.file("partnerd.db")).unwrap();
        let complaint = said(&folder.run(&["restore", &backup]), 1);
        names(&complaint, &[&backup, "ältere Sicherung", "bleibt, wie sie ist"]);
        assert_eq!(fs::read(folder.file("partnerd.db")).unwrap(), before, "{what}");
    }
}

#[test]
fn a_missing_file_of_settings_is_named_as_such() {
    let folder = Folder::new();
    for command in ["config", "doctor", "serve"] {
        let complaint = said(&folder.run(&["--config", "etc/partnerd.toml", command]), 1);
        names(&complaint, &["etc/partnerd.toml", "Einstellungsdatei", "gibt es nicht", "--config"]);
    }
    fs::create_dir(folder.file("ordner")).unwrap();
    names(&said(&folder.run(&["--config", "ordner", "config"]), 1), &["ordner", "keine Datei"]);
}

#[test]
fn a_clock_before_or_after_the_log_is_doubted() {
    let folder = Folder::new();
    folder.company("Mühle");
    let clock = || looked(&doctor(&folder, &[]), "clock");
    assert_eq!(clock().0, "ok");
    let newest = |millis: i64| {
        let dated = format!("update verwaltung set am = {millis}");
        let connection = folder.database();
        connection.execute_batch("drop trigger if exists verwaltung_nie_aendern").unwrap();
        connection.execute_batch(&dated).unwrap();
    };
    // 2100, then 2024: a clock that is behind, and one that ran ahead.
    for (millis, year, state, word) in [
        (4_102_444_800_000, "2100", "wrong", "Uhr dieses Rechners stellen"),
        (1_704_067_200_000, "2024", "warning", "ruhte der Betrieb"),
    ] {
        newest(millis);
        let (found, finding) = clock();
        assert_eq!(found, state, "{finding}");
        names(&finding, &[year, word, "Uhr dieses Rechners stellen"]);
    }
}

#[test]
fn other_names_of_the_database_are_counted() {
    let folder = Folder::new();
    folder.company("Mühle");
    assert_eq!(looked(&doctor(&folder, &[]), "names").0, "");
    fs::hard_link(folder.file("partnerd.db"), folder.file("kopie.db")).unwrap();
    let (state, finding) = looked(&doctor(&folder, &[]), "names");
    assert_eq!(state, "warning");
    names(&finding, &["2 Namen", "Hardlinks", "find / -xdev -samefile", "partnerd backup"]);
}

#[test]
fn a_proxy_that_no_setting_names_is_seen() {
    let folder = Folder::new();
    folder.company("Mühle");
    for (settings, state) in [("", "warning"), ("trusted_proxies = \"127.0.0.1\"", "")] {
        let config = folder.write("p.toml", settings);
        let server = folder.serve(&["--config", &config]);
        let listen = folder.write("doctor.toml", &format!("{settings}\nlisten = \"{}\"", server.address));
        let looks = || looked(&doctor(&folder, &["--config", &listen]), "trusted_proxies");
        assert_eq!(looks().0, "", "nothing was passed on yet");
        let mut proxy = TcpStream::connect(&server.address).unwrap();
        proxy
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 192.0.2.9\r\nconnection: close\r\n\r\n")
            .unwrap();
        proxy.read_to_string(&mut String::new()).unwrap();
        let (found, finding) = looks();
        assert_eq!(found, state, "{settings}: {finding}");
        if !state.is_empty() {
            names(&finding, &["Proxy", "trusted_proxies = \"127.0.0.1\"", "neu starten"]);
        }
    }
}

#[test]
fn a_folder_for_backups_on_the_disk_of_the_database_is_doubted() {
    let folder = Folder::new();
    folder.company("Mühle");
    fs::create_dir(folder.file("sicherungen")).unwrap();
    let looks = |place: &str| {
        let config = folder.write("p.toml", &format!("backup_folder = {place:?}"));
        looked(&doctor(&folder, &["--config", &config]), "backup_folder")
    };
    let (state, finding) = looks("sicherungen");
    assert_eq!(state, "warning");
    names(&finding, &["sicherungen", "derselben Platte", "anderen Platte"]);
    // Shared memory is another disk, if the folder exists.
    let memory = Path::new("/dev/shm");
    let device = |path: &Path| fs::metadata(path).map(|metadata| metadata.dev());
    if device(memory).is_ok_and(|device_of_memory| device(folder.path()).unwrap() != device_of_memory) {
        assert_eq!(looks("/dev/shm").0, "");
    }
}

#[test]
fn what_the_system_and_sqlite_say_is_said_in_german() {
    let folder = Folder::new();
    let server = folder.serve(&[]);
    trade(&folder, "Mühle", &server.client(&folder.company("Mühle")));
    folder.write("datei", "kein Ordner");
    fs::create_dir(folder.file("ordner")).unwrap();
    folder.write("text.db", &"Das ist keine Datenbank. ".repeat(400));
    folder.result(&["backup", "ganz.db"]);
    let mut bytes = fs::read(folder.file("ganz.db")).unwrap();
    bytes[100..4_096].fill(0x5a);
    fs::write(folder.file("kaputt.db"), bytes).unwrap();
    let (long, taken) = ("a".repeat(300), server.address.clone());
    let pdf = |out| vec!["beleg", "pdf", "RE-1", "--tenant", "Mühle", "--out", out];
    let number = folder.database().query_row("select beleg_nummer from beleg", [], |row| row.get(0));
    let number: String = number.unwrap();
    let table: [(&str, Vec<&str>, &str); 12] = [
        ("", vec!["--config", "datei/p.toml", "config"], "kein Ordner"),
        ("", vec!["--config", &long, "config"], "der Name ist zu lang"),
        ("", pdf("/dev/full"), "die Platte ist voll"),
        ("", pdf("ordner"), "ein Ordner, keine Datei"),
        ("", pdf("fehlt/a.pdf"), "den Ordner fehlt gibt es nicht"),
        ("", vec!["--db", "fehlt/neu.db", "serve"], "den Ordner fehlt gibt es nicht"),
        ("", vec!["--db", "text.db", "tenant", "list"], "keine Datenbank"),
        ("", vec!["--db", "kaputt.db", "tenant", "list"], "beschädigt"),
        ("", vec!["--db", "neu.db", "serve", "--listen", &taken], "schon belegt"),
        ("", vec!["--db", "neu.db", "serve", "--listen", "192.0.2.1:80"], "keine Adresse dieses Rechners"),
        ("exec 3>&- 4>&-; ulimit -n 5; ", vec!["tenant", "list"], "die Datei lässt sich nicht öffnen"),
        ("trap '' XFSZ; ulimit -f 400; ", vec!["backup", "halb.db"], "die Platte liest oder schreibt nicht"),
    ];
    for (limit, arguments, words) in table {
        let arguments: Vec<_> =
            arguments.into_iter().map(|word| if word == "RE-1" { &number } else { word }).collect();
        let script = format!("{limit}exec \"$0\" \"$@\"");
        let complaint = said(&folder.by_shell(&script, &arguments).output().unwrap(), 1);
        names(&complaint, &[words]);
        let english = [" the ", "No such", "os error", "SQLite", "database", "unerwartet"];
        assert!(!english.iter().any(|english| complaint.contains(english)), "{arguments:?}: {complaint}");
    }
}
