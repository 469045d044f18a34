//! The audit log by the command line: shown, proved, dropped (specification, Limits; P12).

use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, Instant};

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::seals::seal::Secret;
use partnerd::platform::gate::audit::{Journal, Row};
use partnerd::platform::gate::{Nightly, Policy};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{Client, Server, cli};

/// A server that answered some requests on three days, of several companies and strangers.
fn busy(days: &[&str]) -> Server {
    let mut server = Server::start_at(&format!("{}T10:00:00Z", days[0]));
    let (mill, other) = (server.company("Mühle"), server.company("=Böse"));
    let keys = [mill.key.clone(), other.key.clone()];
    for day in days {
        server.set_clock(&format!("{day}T10:00:00Z"));
        let client = |at: usize| server.client(0, keys[at].clone());
        for (at, client) in [client(0), client(1)].iter().enumerate() {
            client.post("/api/v1/kunden", json!({"name": format!("Kunde {at}")})).is(201);
            client.get("/api/v1/kunden").is(200);
            client.get("/api/v1/kunden/x").refused(404, "NICHT_GEFUNDEN");
        }
        server.client(0, None).get("/api/v1/=geheim?key=x").refused(401, "API_KEY_FEHLT");
        server.restart();
    }
    server
}

const DAYS: [&str; 3] = ["2026-07-08", "2026-07-09", "2026-07-10"];

fn verify(server: &Server) -> Output {
    server.cli(&["audit", "verify"])
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

/// A copy of the database in which a statement was run, and what `audit verify` says of it.
pub fn tampered(server: &Server, statement: &str) -> (bool, String) {
    let copy = server.database.with_file_name("copy.db");
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(copy.with_file_name(format!("copy.db{ending}")));
    }
    open_writer(&server.database).unwrap().execute("vacuum into ?1", [copy.to_str().unwrap()]).unwrap();
    let connection = Connection::open(&copy).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    drop(connection);
    let output = cli(&copy, &["audit", "verify"]);
    (output.status.success(), text(&output.stderr))
}

/// What is said of a row of the chain of requests.
pub fn of_row(number: i64, what: &str) -> String {
    format!("Zeile {number} der Kette der Anfragen wurde {what}")
}

fn removed(rows: &str, when: &str) -> String {
    format!("Zeile {rows} der Kette der Anfragen wurde entfernt{when}")
}

/// A change of the head of the chain of requests.
fn head(change: &str) -> String {
    format!("update kette set {change} where name = 'audit'")
}

#[test]
fn whatever_is_altered_removed_or_inserted_is_named() {
    let server = busy(&DAYS);
    assert_eq!(text(&verify(&server).stdout), "21 Zeilen, keine geändert, entfernt oder eingefügt\n");
    let control = tampered(&server, "create table harmless (x); update kunde set ort = 'Hof'");
    assert!(control.0, "the copy itself is whole: {}", control.1);
    // Seven rows a day: the second day begins with row 8.
    let second = "tag = (select min(tag) + 1 from audit)";
    let copy_row = |number: &str| {
        format!(
            "insert into audit (nr, am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, code,
               dauer_us, bytes_ein, bytes_aus, subjekt, anzahl, person, pruefsumme, mac)
             select {number}, am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, \
                  code, dauer_us,
               bytes_ein, bytes_aus, subjekt, anzahl, person, pruefsumme, mac from audit where nr = 10"
        )
    };
    let mut cases = vec![
        ("delete from audit where nr = 10".to_owned(), removed("10", " (nach einer vom 2026-07-09)")),
        ("delete from audit where nr = 1".to_owned(), removed("1", "")),
        ("delete from audit where nr = 8".to_owned(), removed("8", " (nach einer vom 2026-07-08)")),
        ("delete from audit where nr = 21".to_owned(), removed("21", " (nach einer vom 2026-07-10)")),
        (format!("delete from audit where {second}"), removed("8 bis 14", " (nach einer vom 2026-07-08)")),
        ("delete from audit where nr > 14".to_owned(), removed("15 bis 21", " (nach einer vom 2026-07-09)")),
        ("delete from audit".to_owned(), removed("1 bis 21", "")),
        (copy_row("22"), of_row(22, "eingefügt (vom 2026-07-09)")),
        (copy_row("99"), of_row(99, "eingefügt (vom 2026-07-09)")),
        (copy_row("0"), of_row(0, "eingefügt (vom 2026-07-09)")),
        (
            "update audit set nr = 99 where nr = 10; update audit set nr = 10 where nr = 11;
             update audit set nr = 11 where nr = 99"
                .to_owned(),
            of_row(10, "geändert (vom 2026-07-09)"),
        ),
        (
            "update route set muster = '/x' where muster = '/api/v1/kunden/{id}'".to_owned(),
            "der Kette der Anfragen wurde geändert (vom 2026-07-08)".to_owned(),
        ),
        (
            "delete from kette where name = 'audit'".to_owned(),
            "das Ende der Kette der Anfragen wurde entfernt".to_owned(),
        ),
        (
            "update kette set ab_tag = 99999 where name = 'audit'".to_owned(),
            "Tage, die noch nicht vorbei sind, wurden gelöscht".to_owned(),
        ),
        (
            format!("update kette set ab_tag = {} where name = 'verwaltung'", i64::MAX),
            "Tage, die noch nicht vorbei sind, wurden gelöscht".to_owned(),
        ),
        (head("pruefsumme = zeroblob(32)"), "das Ende der Kette der Anfragen wurde geändert".to_owned()),
        (head("pruefsumme = zeroblob(31)"), "das Ende der Kette der Anfragen wurde geändert".to_owned()),
        (head("letzte_nr = 20"), of_row(21, "eingefügt (vom 2026-07-10)")),
        (head("letzte_nr = 22"), removed("22", " (nach einer vom 2026-07-10)")),
        (head("ab_nr = 1"), of_row(1, "eingefügt (vom 2026-07-08)")),
        (head(&format!("ab_nr = {}", i64::MAX)), of_row(1, "eingefügt (vom 2026-07-08)")),
        (head("ab_pruefsumme = randomblob(32)"), of_row(1, "geändert (vom 2026-07-08)")),
    ];
    let columns = [
        "am = am + 1",
        "request_id = randomblob(16)",
        "key_id = 'x'",
        "tenant_id = 7",
        "adresse = '::1'",
        "methode = 'PUT'",
        "route_id = 2",
        "pfad = pfad || '/'",
        "status = 200 + (status = 200)",
        "dauer_us = dauer_us + 1",
        "bytes_ein = bytes_ein + 1",
        "bytes_aus = bytes_aus + 1",
        "subjekt = randomblob(16)",
        "anzahl = 2",
        "code = 'SCOPE_FEHLT'",
        "person = 7",
        "pruefsumme = randomblob(32)",
    ];
    for change in columns {
        let altered = of_row(10, "geändert (vom 2026-07-09)");
        cases.push((format!("update audit set {change} where nr = 10"), altered));
    }
    for (statement, expected) in &cases {
        let (whole, said) = tampered(&server, statement);
        assert!(!whole && said.contains(expected), "{statement}: {said}, expected: {expected}");
    }
}

#[test]
fn old_rows_are_dropped_after_they_were_written_to_a_file_and_the_rest_is_still_proved() {
    let server = busy(&["2026-01-10", "2026-01-11", "2026-07-10"]);
    server.expect_no_audit_rows();
    // The server drops what is older than 90 days when it begins.
    let until = Instant::now() + Duration::from_secs(120);
    while server.sql::<i64>("select count(*) from audit") > 7 {
        assert!(Instant::now() < until, "old rows are never dropped");
        sleep(Duration::from_millis(20));
    }
    assert_eq!(text(&verify(&server).stdout), "7 Zeilen, keine geändert, entfernt oder eingefügt\n");
    let file = server.database.with_file_name("old.jsonl");
    let file = file.to_str().unwrap();
    let rollover = server.cli(&["--json", "audit", "rollover", "--days", "1", "--export", file]);
    assert_eq!(
        serde_json::from_slice::<Value>(&rollover.stdout).unwrap(),
        json!({"dropped": 7, "exported": 7})
    );
    let exported = std::fs::read_to_string(file).unwrap();
    let rows: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 7);
    assert!(
        rows.iter().all(|row| row["day"] == "2026-07-10" && row["checksum"].as_str().unwrap().len() == 64)
    );
    assert_eq!(rows.iter().filter(|row| row["route"] == "/api/v1/kunden" && row["status"] == 201).count(), 2);
    assert_eq!(text(&verify(&server).stdout), "0 Zeilen, keine geändert, entfernt oder eingefügt\n");
    let again = server.cli(&["audit", "rollover", "--days", "1", "--export", file]);
    assert!(!again.status.success() && text(&again.stderr).contains("gibt es schon"), "never overwritten");
}

#[test]
fn a_day_that_is_dropped_in_part_is_still_proved() {
    let server = busy(&DAYS);
    let dropped = "update kette set ab_nr = 4, ab_pruefsumme = (select pruefsumme from audit where nr = 4)
           where name = 'audit';
         delete from audit where nr <= 4";
    assert!(tampered(&server, dropped).0);
    let further = format!("{dropped}; delete from audit where nr = 5");
    assert!(tampered(&server, &further).1.contains(&removed("5", "")));
}

/// What is kept for a time: days of the log, changes, stored answers.
fn kept(server: &Server) -> [i64; 3] {
    let before = "tag < strftime('%s', '2026-07-11') / 86400";
    [
        server.sql(&format!("select count(distinct tag) from audit where {before}")),
        server.sql("select count(*) from aenderung where am < strftime('%s', '2026-07-11') * 1000"),
        server.sql("select count(*) from idempotenz"),
    ]
}

#[test]
fn a_clock_that_is_a_year_ahead_for_a_while_costs_nothing() {
    let place = tempfile::TempDir::new().unwrap();
    let nightly = Nightly { folder: place.path().to_owned(), minute: 0, keep: 9 };
    let policy = Policy { nightly: Some(nightly), ..Policy::default() };
    let mut server = Server::start_with("2026-07-06T10:00:00Z", policy);
    let mill = server.company("Mühle");
    let once = |client: &Client| {
        let headers = [("Idempotency-Key", "once")];
        client.send("POST", "/api/v1/kunden", &headers, Some(br#"{"name": "A"}"#))
    };
    let first = once(&mill).id();
    for day in 7..=10 {
        server.set_clock(&format!("2026-07-{day:02}T10:00:00Z"));
        mill.post("/api/v1/kunden", json!({"name": "B"})).is(201);
    }
    let cursor = mill.get("/api/v1/aenderungen?seit=alles&limit=1").is(200)["cursor"].clone();
    let before = kept(&server);
    assert_eq!(before, [5, 5, 1]);

    server.restart_at("2027-07-10T10:00:00Z");
    let mill = server.client(mill.tenant, mill.key);
    mill.get("/api/v1/kunden").is(200);
    // The backup of that night begins behind what would be dropped, and passes the writer behind it.
    let backup = || {
        std::fs::read_dir(place.path())
            .unwrap()
            .any(|entry| entry.unwrap().file_name().to_str().unwrap().ends_with("2027-07-10.db"))
    };
    let until = Instant::now() + Duration::from_secs(120);
    while !backup() {
        assert!(Instant::now() < until, "there is no backup of that night");
        sleep(Duration::from_millis(20));
    }
    assert_eq!(kept(&server), before);

    server.restart_at("2026-07-11T10:00:00Z");
    let mill = server.client(mill.tenant, mill.key);
    assert_eq!(once(&mill).id(), first);
    mill.get(&format!("/api/v1/aenderungen?seit={}", cursor.as_str().unwrap())).is(200);
    assert_eq!(kept(&server), before);
    assert!(verify(&server).status.success());
    let copy = place.path().join("copy.db");
    assert!(server.cli(&["backup", copy.to_str().unwrap()]).status.success());

    // The control: a year later, when somebody has asked, the log loses its two oldest days, and all that is
    // kept for less goes but the newest change, from which they are numbered on.
    server.expect_no_audit_rows();
    server.restart_at("2027-08-10T10:00:00Z");
    server.client(mill.tenant, mill.key.clone()).get("/api/v1/kunden").is(200);
    server.restart();
    let until = Instant::now() + Duration::from_secs(120);
    while kept(&server) != [3, 1, 0] {
        assert!(Instant::now() < until, "nothing is dropped: {:?}", kept(&server));
        sleep(Duration::from_millis(20));
    }
}

/// A row that a stranger causes.
pub fn row(path: &str) -> Row {
    Row {
        am: 1_783_677_600_000,
        request_id: uuid::Uuid::now_v7(),
        methode: "GET".to_owned(),
        pfad: path.to_owned(),
        status: 401,
        anzahl: 1,
        ..Row::default()
    }
}

/// Writes a segment of the journal with these rows as a server that was killed left it.
pub fn write_segment(server: &Server, number: u64, rows: Vec<Row>) {
    let before = server.database.with_file_name(format!("test.db-audit-journal-{}", number - 1));
    std::fs::write(&before, "").unwrap();
    let secret = Secret::read(&server.database).unwrap().unwrap();
    let connection = open_writer(&server.database).unwrap();
    let journal = Journal::open(&server.database, &connection, Some(&secret)).unwrap();
    std::fs::remove_file(before).unwrap();
    rows.into_iter().for_each(|row| journal.append(row));
}

#[test]
fn only_segments_of_the_journal_are_taken_in_and_damaged_ones_are_kept() {
    let mut server = busy(&DAYS[2..]);
    server.expect_no_audit_rows();
    let file = |name: &str| server.database.with_file_name(format!("test.db-audit-{name}"));
    let export = file("20261121");
    let arguments = ["audit", "rollover", "--days", "1", "--export", export.to_str().unwrap()];
    assert!(server.cli(&arguments).status.success());
    assert_eq!(std::fs::read_to_string(&export).unwrap().lines().count(), 7);
    let line = "{\"am\": 1783677600000, \"request_id\": \"00000000-0000-7000-8000-000000000009\", \
        \"adresse\": \"::1\", \"methode\": \"GET\", \"pfad\": \"/x\", \"status\": 401, \"dauer_us\": 1, \
        \"bytes_ein\": 0, \"bytes_aus\": 0, \"anzahl\": 1}\n";
    let foreign = ["7", "20270101", "journal-alt", "journal-18446744073709551615"].map(file);
    foreign.iter().for_each(|path| std::fs::write(path, line).unwrap());
    let exported = std::fs::read(&export).unwrap();
    let (damaged, kept) = (file("journal-900"), file("damaged-900"));
    write_segment(&server, 900, vec![row("/x")]);
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes.extend(b"{\"am\": none of ours\n");
    std::fs::write(&damaged, &bytes).unwrap();
    server.restart();
    server.restart();
    assert_eq!(std::fs::read(export).unwrap(), exported);
    assert!(foreign.iter().all(|path| std::fs::read_to_string(path).unwrap() == line));
    assert_eq!((damaged.exists(), std::fs::read(kept).unwrap()), (false, bytes));
    assert_eq!(
        server.sql::<i64>("select count(*) from audit where pfad = '/x'"),
        1,
        "the row that was whole"
    );
    assert!(verify(&server).status.success());
}

fn list(server: &Server, more: &[&str]) -> Vec<Value> {
    let output = server.cli(&[&["--json", "audit", "list"], more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_log_is_shown_newest_first_and_filtered() {
    let server = busy(&DAYS);
    let all = list(&server, &[]);
    assert_eq!(all.len(), 21);
    assert_eq!((&all[0]["day"], &all[20]["day"]), (&json!("2026-07-10"), &json!("2026-07-08")));
    let row = all.iter().find(|row| row["status"] == 201).unwrap();
    assert_eq!((&row["method"], &row["route"]), (&json!("POST"), &json!("/api/v1/kunden")));
    assert_eq!((&row["address"], &row["count"]), (&json!("127.0.0.1"), &json!(1)));
    assert!(row["subject"].is_string() && row["request_id"].is_string() && row["bytes_in"] != 0, "{row}");
    let stranger = all.iter().find(|row| row["status"] == 401).unwrap();
    assert_eq!(stranger["path"], "/api/v1/=geheim", "the query is not kept");
    let key = row["key_id"].as_str().unwrap();
    let rows = [
        (vec!["--status", "401"], 3),
        (vec!["--since", "2026-07-10"], 7),
        (vec!["--tenant", "Mühle"], 9),
        (vec!["--key", key], 9),
        (vec!["--key", key, "--status", "404", "--since", "2026-07-09"], 2),
        (vec!["--limit", "4"], 4),
    ];
    for (filter, expected) in rows {
        assert_eq!(list(&server, &filter).len(), expected, "{filter:?}");
    }
    for unknown in [["--since", "gestern"], ["--key", "niemand"]] {
        assert!(!server.cli(&[&["audit", "list"], &unknown[..]].concat()).status.success(), "{unknown:?}");
    }
    let csv = text(&server.cli(&["audit", "list", "--csv"]).stdout);
    assert!(csv.starts_with("at,status,method,path,key,tenant,address,ms,count,code,"), "{csv}");
    assert!(csv.contains(",'=Böse,") && !csv.contains(",=Böse,"), "{csv}");
    let table = text(&server.cli(&["audit", "list"]).stdout);
    assert_eq!(table.lines().count(), 22, "{table}");
}

/// The rows that a server that was killed left in its journal are there when anybody looks.
#[test]
fn what_a_dead_server_left_behind_is_shown() {
    let server = busy(&DAYS[2..]);
    let segment = |client: &Client| client.get("/api/v1/kunden").headers["x-request-id"].clone();
    let mill = server.company("Dritte");
    let id = segment(&mill);
    let journal = server.database.with_file_name("test.db-audit-journal-900");
    let row = json!([
        1_783_677_600_000_i64,
        "ffffffff-0000-7000-8000-000000000009",
        null,
        null,
        "127.0.0.1",
        "GET",
        null,
        "/x",
        401,
        1,
        0,
        0,
        null,
        1,
        false,
        null,
        null
    ]);
    let copy = server.database.with_file_name("dead.db");
    drop(mill);
    open_writer(&server.database).unwrap().execute("vacuum into ?1", [copy.to_str().unwrap()]).unwrap();
    std::fs::write(journal.with_file_name("dead.db-audit-journal-900"), format!("{row}\n")).unwrap();
    let output = cli(&copy, &["--json", "audit", "list", "--limit", "1"]);
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(rows[0]["path"], "/x", "{rows} {id}");
    assert!(cli(&copy, &["audit", "verify"]).status.success());
}

/// Text that steers a terminal, or is a formula wherever a spreadsheet thinks that a cell begins.
#[test]
fn what_others_wrote_is_shown_harmless() {
    let mut server = Server::start();
    let name = "Böse;=1+1,@x\t-2\u{202e}\u{1b}[2J\nERROR";
    let mill = server.company(name);
    mill.get("/api/v1/;=2,@y").refused(404, "NICHT_GEFUNDEN");
    server.restart();
    let csv = text(&server.cli(&["audit", "list", "--csv"]).stdout);
    assert!(csv.contains("'=1+1") && csv.contains("'=2"), "{csv}");
    for cell in csv.split([';', ',', '\t', '\n', '\r']) {
        assert!(!cell.trim_start_matches('"').starts_with(['=', '+', '-', '@']), "{cell:?} in {csv}");
    }
    for table in [&["key", "list"][..], &["audit", "list"], &["tenant", "list"]] {
        let table = text(&server.cli(table).stdout);
        let steers = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!table.contains(steers), "{table:?}");
        assert!(table.contains("\\u202e\\u001b[2J\\u000aERROR"), "{table}");
    }
    let id = mill.key.as_ref().unwrap().split('_').nth(1).unwrap();
    assert_eq!(server.cli(&["key", "deactivate", id]).status.code(), Some(0));
    let refused =
        text(&server.cli(&["key", "create", "--tenant", "\u{2066}", "--label", "x", "--all-scopes"]).stderr);
    assert!(refused.contains("die Firma \\u2066 gibt es nicht:"), "{refused}");
}
