//! Backups that the server makes by itself.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use partnerd::platform::gate::{Nightly, Policy};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Server, cli};
use crate::platform::log::longest_log;

fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until exactly these backups exist, beside files that belong to others.
fn wait_for(folder: &Path, backups: &[&str]) {
    let mut expected = [&["fremd.db", "test-part-7.db", "test-x-2026-07-09.db-part-7"], backups].concat();
    expected.sort_unstable();
    let until = Instant::now() + Duration::from_secs(120);
    while files(folder) != expected {
        assert!(Instant::now() < until, "{:?}, expected: {expected:?}", files(folder));
        sleep(Duration::from_millis(50));
    }
}

/// Returns when every running server has checked whether a backup is due: a server started after them has
/// made its own, and all check equally often.
fn looked_again(now: &str, minute: u32) {
    let place = TempDir::new().unwrap();
    let nightly = Nightly { folder: place.path().to_owned(), minute, keep: 1 };
    let _control = Server::start_with(now, Policy { nightly: Some(nightly), ..Policy::default() });
    let until = Instant::now() + Duration::from_secs(120);
    while !files(place.path()).iter().any(|name| name.ends_with(".db")) {
        assert!(Instant::now() < until, "{:?}", files(place.path()));
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_day_has_its_backup_and_the_oldest_go() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("neu");
    std::fs::create_dir(&folder).unwrap();
    // Files of others, however similar their names, and leftovers of a killed backup.
    for name in ["fremd.db", "test-part-7.db", "test-x-2026-07-09.db-part-7"] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    std::fs::write(folder.join("test-2026-07-09.db-part-4711"), "").unwrap();
    let nightly = Nightly { folder: folder.clone(), minute: 150, keep: 2 };
    // 02:29 in Berlin, summer time.
    let policy = Policy { nightly: Some(nightly), ..Policy::default() };
    let server = Server::start_with("2026-07-10T00:29:00Z", policy);
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    looked_again("2026-07-10T00:29:00Z", 149);
    assert_eq!(files(&folder).len(), 4, "it is not yet time");
    server.set_clock("2026-07-10T00:30:00Z");
    wait_for(&folder, &["test-2026-07-10.db"]);
    let first = std::fs::read(folder.join("test-2026-07-10.db")).unwrap();
    let restored = place.path().join("restored.db");
    let backup = folder.join("test-2026-07-10.db");
    assert!(cli(&restored, &["restore", backup.to_str().unwrap()]).status.success());
    // A day missed at its time is made up for.
    server.set_clock("2026-07-11T15:00:00Z");
    wait_for(&folder, &["test-2026-07-10.db", "test-2026-07-11.db"]);
    assert_eq!(std::fs::read(&backup).unwrap(), first, "a backup is never written again");
    // Winter time: 02:30 in Berlin is 01:30 UTC.
    server.set_clock("2026-11-20T01:30:00Z");
    wait_for(&folder, &["test-2026-07-11.db", "test-2026-11-20.db"]);
}

#[test]
fn a_folder_with_backups_of_another_database_of_the_same_name_is_left_alone() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let policy = || {
        let nightly = Nightly { folder: folder.clone(), minute: 0, keep: 2 };
        Policy { nightly: Some(nightly), ..Policy::default() }
    };
    let backups = |server: &Server| {
        let config = place.path().join("partnerd.toml");
        std::fs::write(&config, format!("backup_folder = {folder:?}\n")).unwrap();
        let output = cli(&server.database, &["--config", config.to_str().unwrap(), "--json", "doctor"]);
        let findings = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
        findings.as_array().unwrap().iter().find(|found| found["look"] == "backups").unwrap().to_string()
    };
    let first = Server::start_with("2026-07-10T10:00:00Z", policy());
    let own = ["test-2026-07-10.db", "test-2026-07-11.db"];
    let until = |expected: &[&str]| {
        let until = Instant::now() + Duration::from_secs(120);
        while files(&folder) != expected {
            assert!(Instant::now() < until, "{:?}, expected: {expected:?}", files(&folder));
            sleep(Duration::from_millis(50));
        }
    };
    until(&own[..1]);
    first.set_clock("2026-07-11T10:00:00Z");
    until(&own);
    let before = own.map(|name| std::fs::read(folder.join(name)).unwrap());
    assert!(backups(&first).contains("2 aufgehoben"), "{}", backups(&first));

    // Both are called test.db. The second one starts on the following days, when keeping two would delete one.
    let second = Server::start_with("2026-07-12T10:00:00Z", policy());
    std::fs::write(folder.join("test-2026-07-09.db-part-4711"), "").unwrap();
    looked_again("2026-07-12T10:00:00Z", 0);
    assert_eq!(files(&folder), ["test-2026-07-09.db-part-4711", own[0], own[1]]);
    assert_eq!(own.map(|name| std::fs::read(folder.join(name)).unwrap()), before);
    let said = backups(&second);
    assert!(said.contains("wrong") && said.contains("ist die Sicherung einer anderen Datenbank"), "{said}");
    assert!(backups(&first).contains("2 aufgehoben"));
    // The first one continues.
    first.set_clock("2026-07-13T10:00:00Z");
    until(&[own[1], "test-2026-07-13.db"]);
}

/// A backup holds no snapshot for long, and contains what was written while it was made.
#[test]
fn a_backup_beside_busy_writers_is_whole_and_the_log_stays_short() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let nightly = Nightly { folder: folder.clone(), minute: 150, keep: 2 };
    let policy = Policy { nightly: Some(nightly), ..Policy::default() };
    // A minute too early.
    let server = Server::start_with("2026-07-10T00:29:00Z", policy);
    let mill = server.company("Mühle");
    let until = Instant::now() + Duration::from_secs(600);
    // Data to copy.
    longest_log(&server, &mill, 100 << 20, || true);
    let before = mill.post("/api/v1/kunden", json!({"name": "Huber"})).id();
    server.set_clock("2026-07-10T00:30:00Z");
    let backup = folder.join("test-2026-07-10.db");
    let longest = longest_log(&server, &mill, 100 << 20, || backup.exists() || Instant::now() > until);
    assert!(backup.exists(), "{:?}", files(&folder));
    assert!(longest < 64 << 20, "{} MiB", longest >> 20);
    let restored = place.path().join("restored.db");
    let output = cli(&restored, &["restore", backup.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let check = cli(&restored, &["check"]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    let there = "select count(*) from kunde where tenant_id = ?1 and id = ?2";
    let id = uuid::Uuid::parse_str(&before).unwrap();
    let restored = rusqlite::Connection::open(&restored).unwrap();
    assert_eq!(restored.query_row(there, (mill.tenant, id), |row| row.get::<_, i64>(0)).unwrap(), 1);
}

/// Other files do not prevent the nightly backup: neither one dated ahead nor one that never ends.
#[test]
fn a_new_backup_is_kept_whatever_stands_beside_it() {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("backups");
    std::fs::create_dir(&folder).unwrap();
    let nightly = Nightly { folder: folder.clone(), minute: 0, keep: 1 };
    let policy = Policy { nightly: Some(nightly), ..Policy::default() };
    let server = Server::start_with("2026-07-10T10:00:00Z", policy);
    let until = |expected: &[&str]| {
        let until = Instant::now() + Duration::from_secs(120);
        while files(&folder) != expected {
            assert!(Instant::now() < until, "{:?}, expected: {expected:?}", files(&folder));
            sleep(Duration::from_millis(50));
        }
    };
    until(&["test-2026-07-10.db"]);
    // Made while the clock was wrong.
    std::fs::copy(folder.join("test-2026-07-10.db"), folder.join("test-2030-01-01.db")).unwrap();
    let foreign = rusqlite::Connection::open(folder.join("test-2026-07-01.db")).unwrap();
    let endless = "pragma application_id = 1886549092;
        create view installation as with recursive c (id) as (select 2 union all select id + 1 from c)
        select id, zeroblob(32) as mac_secret from c where id = 1";
    foreign.execute_batch(endless).unwrap();
    drop(foreign);
    server.set_clock("2026-07-11T10:00:00Z");
    until(&["test-2026-07-01.db", "test-2026-07-11.db", "test-2030-01-01.db"]);
    server.set_clock("2026-07-12T10:00:00Z");
    until(&["test-2026-07-01.db", "test-2026-07-12.db", "test-2030-01-01.db"]);
}
