//! Backups made, downloaded, verified and deleted in the Leitstand.

use std::cell::Cell;
use std::fs;
use std::time::Duration;

use partnerd::operations::backup::backup;
use partnerd::operations::backups::prove_running;
use partnerd::operations::check;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::system_clock;
use partnerd::platform::failure::Failure;
use partnerd::platform::gate::{Nightly, Policy};
use partnerd::start::service::Service;

use super::{Browser, Shown, person};
use crate::harness::Server;

const HERE: &str = "/leitstand/sicherung";

/// The page of a job once it is done.
pub fn ended(browser: &mut Browser, work: &str) -> Shown {
    for _ in 0..6_000 {
        let shown = browser.get(work);
        if shown.is(200).header("refresh").is_empty() {
            return shown;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{work} does not end");
}

/// Sends a form that starts a job, and waits for its end.
pub fn carried_out(browser: &mut Browser, form: &str, page: &str) -> Shown {
    let token = browser.get(page).hidden("token").unwrap();
    let work = browser.post(form, &[("token", &token)]).is(303).header("location").to_owned();
    assert!(work.starts_with("/leitstand/arbeit/"), "{work}");
    ended(browser, &work)
}

#[test]
fn a_backup_is_made_downloaded_proved_and_deleted() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", serde_json::json!({"name": "Huber"})).is(201);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    assert!(browser.get(HERE).is(200).text.contains("class=\"empty\""));
    let made = carried_out(&mut browser, HERE, HERE);
    assert!(made.text.contains("fertig und geprüft"), "{}", made.text);
    assert!(browser.get("/leitstand/arbeit").text.contains("fertig"));

    let folder = server.database.parent().unwrap();
    let file = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.to_string_lossy().contains("-von-hand-")).unwrap();
    let id = file.file_stem().unwrap().to_str().unwrap().split_once("-von").unwrap().1;
    let one = format!("{HERE}/von{id}");
    assert!(browser.get(HERE).text.contains(&one));
    assert!(browser.get(&one).is(200).text.contains(file.to_str().unwrap()));

    let download = browser.get_bytes(&format!("{one}/datei"));
    assert_eq!(download, fs::read(&file).unwrap());
    let proved = carried_out(&mut browser, &format!("{one}/pruefen"), &one);
    assert!(proved.text.contains("ist in Ordnung"), "{}", proved.text);
    let database = carried_out(&mut browser, &format!("{HERE}/pruefen"), HERE);
    assert!(database.text.contains("ist in Ordnung"), "{}", database.text);

    // Later damage is found.
    let backup = rusqlite::Connection::open(&file).unwrap();
    let index = "select name from sqlite_schema where type = 'index' and sql is not null limit 1";
    let index: String = backup.query_row(index, [], |row| row.get(0)).unwrap();
    backup.execute_batch(&format!("drop index {index}")).unwrap();
    drop(backup);
    let broken = carried_out(&mut browser, &format!("{one}/pruefen"), &one);
    assert!(broken.text.contains("ist beschädigt"), "{}", broken.text);

    // A disk may hang, so the file is deleted outside of the transaction that records who deleted it.
    let form = format!("{one}/loeschen");
    let deleted = carried_out(&mut browser, &form, &form);
    assert!(deleted.text.contains("ist gelöscht"), "{}", deleted.text);
    assert!(!file.exists());
    browser.get(&one).is(404);
    let log = browser.get("/leitstand/protokoll?ergebnis=aenderungen");
    assert!(log.text.contains(&format!("Sicherung „{}“ gelöscht", file.display())), "{}", log.text);
}

#[test]
fn the_page_says_how_backups_are_made_at_night_and_what_restoring_takes() {
    let server = Server::start();
    server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let page = browser.get(HERE);
    for text in ["backup_folder = &quot;", "backup_time = ", "backup_keep = ", "/etc/partnerd/partnerd.toml"]
    {
        assert!(page.is(200).text.contains(text), "{text}: {}", page.text);
    }
    carried_out(&mut browser, HERE, HERE);
    let one = browser
        .get(HERE)
        .text
        .split(&format!("href=\"{HERE}/"))
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    // A process that cannot restore by itself names the command, and accepts no order.
    let restore = format!("{HERE}/{one}/zurueckspielen");
    let shown = browser.get(&restore);
    assert!(shown.is(200).text.contains(" restore /") && shown.hidden("token").is_none(), "{}", shown.text);
    let token = browser.get(HERE).hidden("token").unwrap();
    browser.post(&restore, &[("token", &token), ("passwort", super::PASSWORD)]).is(400);
    let nightly = Nightly { folder: server.database.parent().unwrap().to_owned(), minute: 150, keep: 14 };
    let server =
        Server::start_with("2026-07-10T23:00:00Z", Policy { nightly: Some(nightly), ..Policy::default() });
    let page = person(&server, &["Erika", "--role", "verwalten"]).get(HERE);
    for text in ["noch keine", "heute ab 02:30 Uhr", "die neuesten 14 bleiben"] {
        assert!(page.is(200).text.contains(text), "{text}: {}", page.text);
    }
}

#[test]
fn of_a_backup_that_is_given_up_nothing_is_left() {
    let server = Server::start();
    server.company("Mühle");
    let folder = tempfile::TempDir::new().unwrap();
    let (target, clock) = (folder.path().join("given-up.db"), system_clock());
    for last in ["die Datenbank wird kopiert", "Seiten und Indizes"] {
        let began = |step: &str| match step == last {
            true => Err(Failure::Broken("nobody wants it".to_owned())),
            false => Ok(()),
        };
        let failure = backup(&server.database, &target, &clock, began).unwrap_err();
        assert_eq!(failure.to_string(), "nobody wants it", "{last}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(left.is_empty(), "{last}: {left:?}");
    }
}

#[test]
fn while_the_database_is_proved_its_log_can_be_emptied() {
    let folder = tempfile::TempDir::new().unwrap();
    let database = folder.path().join("test.db");
    fs::write(database.with_file_name("test.db-pruefung-1-part-17"), "left").unwrap();
    let service = Service::open(&database, system_clock(), &Policy::default()).unwrap();
    let other = open_writer(&database).unwrap();
    other.busy_timeout(Duration::from_millis(100)).unwrap();
    let steps = Cell::new(0);
    let began = |_: &str| {
        // A reader with a snapshot from before this keeps the log from starting over.
        other.execute_batch("create table passing (a); drop table passing").unwrap();
        let blocked = other.query_row("pragma wal_checkpoint(restart)", [], |row| row.get(0));
        steps.set(steps.get() + usize::from(blocked == Ok(0)));
        Ok(())
    };
    let lines = prove_running(&service.gate.writer, &database, &system_clock(), began).unwrap();
    assert!(lines.iter().all(|line| line.violations == 0), "{lines:?}");
    assert_eq!(steps.get(), check::steps() + 1);
    let names = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().contains("pruefung")).collect();
    assert!(left.is_empty(), "{left:?}");
    drop(other);
    service.close();
}

#[test]
fn only_who_keeps_all_companies_sees_backups_and_of_this_database_alone() {
    let server = Server::start();
    server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    // Another installation: tests that begin at the same instant share one.
    let other = Server::start_at("2026-07-10T10:00:01Z");
    other.company("Andere");
    let folder = server.database.parent().unwrap();
    let stem = server.database.file_stem().unwrap().to_str().unwrap();
    let foreign = folder.join(format!("{stem}-2026-07-01.db"));
    other.cli(&["backup", foreign.to_str().unwrap()]);
    assert!(foreign.exists());
    browser.get(&format!("{HERE}/2026-07-01/datei")).is(404);
    for id in ["2026-07-02", "..", "von-hand-x", "%2e%2e"] {
        browser.get(&format!("{HERE}/{id}/datei")).is(404);
    }
    let mut paul = person(&server, &["Paul", "--role", "verwalten", "--tenant", "1"]);
    paul.get(HERE).is(403);
    paul.get(&format!("{HERE}/2026-07-01/datei")).is(403);
}

#[test]
fn a_form_without_a_page_says_why_it_is_refused() {
    let server = Server::start();
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let token = browser.get(HERE).hidden("token").unwrap();
    let form = format!("{HERE}/2026-07-01/pruefen");
    assert_eq!(browser.get(&form).is(303).header("location"), HERE);
    let refused = browser.post(&form, &[("token", &token)]);
    assert!(refused.is(404).text.contains("Diese Sicherung"), "{}", refused.text);
    assert_eq!(refused.header("location"), "");
}

#[test]
fn the_work_of_somebody_else_is_not_seen() {
    let server = Server::start();
    server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let token = browser.get(HERE).hidden("token").unwrap();
    let work = browser.post(HERE, &[("token", &token)]).is(303).header("location").to_owned();
    let mut paul = person(&server, &["Paul", "--role", "verwalten"]);
    paul.get(&work).is(404);
    ended(&mut browser, &work);
}
