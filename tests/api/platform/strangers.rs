//! Requests without a valid key cannot fill the log (D20), and the journal has its own bounds.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::db::migrate::migrate;
use partnerd::platform::db::system_clock;
use partnerd::platform::db::writer::Housekeeping;
use partnerd::platform::gate::Policy;
use partnerd::platform::gate::access::quota::Quota;
use partnerd::platform::gate::audit::{self, Journal, Row, TakeIn};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

use crate::harness::{Answer, Client, NOON, Server};

fn from(client: &Client, address: &str, path: &str) -> Answer {
    client.send("GET", path, &[("X-Forwarded-For", address)], None)
}

/// The log's rows for requests without a key: those that stand for several, and the number of those that
/// stand for one.
fn rows(server: &Server, address: &str) -> (String, i64) {
    let of = format!("from audit where key_id is null and adresse = '{address}'");
    let counted = format!(
        "select coalesce(group_concat(anzahl || ' since ' || substr(datetime(am / 1000, 'unixepoch'), 12), ', '
           order by am), '') {of} and anzahl > 1"
    );
    (server.sql(&counted), server.sql(&format!("select count(*) {of} and anzahl = 1")))
}

/// Waits until the database has counted this many requests; a minute that ends meanwhile gets two rows.
fn wait_for_counts(server: &Server, requests: i64) {
    let last = Instant::now() + Duration::from_secs(120);
    let counted = "select coalesce(sum(anzahl), 0) from (select anzahl from audit where anzahl > 1
        union all select anzahl from audit_flut)";
    while server.sql::<i64>(counted) < requests {
        assert!(Instant::now() < last, "the counts are not taken in");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_stranger_has_sixty_rows_a_minute_and_one_that_counts_the_others() {
    let proxies = vec!["127.0.0.1/32".parse().unwrap()];
    let mut server = Server::start_with(NOON, Policy { proxies, ..Policy::default() });
    let mill = server.company("Mühle");
    let nobody = server.client(0, None);
    for _ in 0..200 {
        from(&nobody, "198.51.100.7", "/api/v1").is(200);
    }
    // Each address is counted apart; an IPv6 network counts as one.
    for _ in 0..60 {
        from(&nobody, "198.51.100.8", "/api/v1").is(200);
    }
    for host in 0..65 {
        let address = format!("2001:db8:1:2::{host:x}");
        from(&nobody, &address, "/api/v1?x=1").refused(400, "UNBEKANNTER_PARAMETER");
    }
    // Refused first for the missing key, then for coming too often: ten rows and one.
    for _ in 0..200 {
        assert!([401, 429].contains(&from(&nobody, "198.51.100.9", "/api/v1/kunden").status));
    }
    // Requests with a key from the same address get a row each, whatever the result.
    for _ in 0..70 {
        from(&mill, "198.51.100.7", "/api/v1/kunden?x=1").refused(400, "UNBEKANNTER_PARAMETER");
    }
    wait_for_counts(&server, 140 + 5 + 190);
    server.set_clock("2026-07-10T10:01:00Z");
    for _ in 0..62 {
        from(&nobody, "198.51.100.7", "/api/v1").is(200);
    }
    wait_for_counts(&server, 140 + 5 + 190 + 2);
    server.set_clock("2026-07-10T10:03:00Z");
    server.restart();
    assert_eq!(rows(&server, "198.51.100.7"), ("140 since 10:00:00, 2 since 10:01:00".to_owned(), 120));
    assert_eq!(rows(&server, "198.51.100.8"), (String::new(), 60));
    assert_eq!(rows(&server, "2001:db8:1:2::"), ("5 since 10:00:00".to_owned(), 1));
    let network = "select count(*) from audit where adresse like '2001:db8:1:2::%'";
    assert_eq!(server.sql::<i64>(network), 61);
    assert_eq!(rows(&server, "198.51.100.9"), ("190 since 10:00:00".to_owned(), 10));
    let of_key = "select count(*) from audit where key_id is not null and status = 400 and anzahl = 1";
    assert_eq!(server.sql::<i64>(of_key), 70);
}

/// A row of some 400 bytes.
fn row(number: u128) -> Row {
    Row {
        am: 1_795_260_000_000,
        request_id: Uuid::from_u128(number),
        key_id: Some("8c688b50b1b5".to_owned()),
        adresse: "198.51.100.7".to_owned(),
        methode: "GET".to_owned(),
        pfad: "x".repeat(300),
        status: 404,
        anzahl: 1,
        ..Row::default()
    }
}

fn count(connection: &Connection) -> i64 {
    let statement = "select count(distinct request_id) from audit";
    let rows = connection.query_row("select count(*) from audit", [], |row| row.get(0)).unwrap();
    assert_eq!(connection.query_row(statement, [], |row| row.get::<_, i64>(0)).unwrap(), rows);
    rows
}

#[test]
fn segments_and_what_is_taken_in_at_once_have_a_bound() {
    const ROWS: u128 = 30_000;
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("test.db");
    migrate(&database, (system_clock())()).unwrap();
    let mut connection = open_writer(&database).unwrap();
    let journal = Arc::new(Journal::open(&database, &connection, None).unwrap());
    (0..ROWS).for_each(|number| journal.append(row(number)));
    let segments = audit::segments(&database).unwrap();
    assert!(segments.len() > 10, "{segments:?}");
    for segment in segments {
        let bytes = std::fs::metadata(journal.path(segment)).unwrap().len();
        assert!(bytes < (1 << 20) + 1_000, "{bytes} bytes");
    }
    let mut take_in = TakeIn::new(Arc::clone(&journal), Arc::new(Quota::default()), system_clock());
    let mut batches = Vec::new();
    while batches.is_empty() || take_in.has_more() {
        let transaction = connection.transaction().unwrap();
        let before = count(&transaction);
        take_in.in_batch(&transaction).unwrap();
        batches.push(count(&transaction) - before);
        transaction.commit().unwrap();
        take_in.after(true);
    }
    assert_eq!((batches.iter().sum::<i64>(), batches.len()), (ROWS as i64, 7), "{batches:?}");
    assert_eq!(audit::segments(&database).unwrap(), [0; 0]);
    // Everything that a killed server left behind is moved in before the next one answers.
    (ROWS..2 * ROWS).for_each(|number| journal.append(row(number)));
    drop((take_in, journal));
    audit::catch_up(&mut connection, &database, None, system_clock()).unwrap();
    assert_eq!(count(&connection), 2 * ROWS as i64);
    assert_eq!(audit::segments(&database).unwrap(), [0; 0]);
}

#[test]
fn what_cannot_be_taken_in_stays_where_it_is() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("test.db");
    migrate(&database, (system_clock())()).unwrap();
    let mut connection = open_writer(&database).unwrap();
    let journal = Arc::new(Journal::open(&database, &connection, None).unwrap());
    let mut take_in = TakeIn::new(Arc::clone(&journal), Arc::new(Quota::default()), system_clock());
    (0..100).for_each(|number| journal.append(row(number)));
    let stranger = |number| Row { key_id: None, ..row(number) };
    let network = "198.51.100.7".parse().unwrap();
    (100..170).for_each(|number| journal.append_of_stranger(stranger(number), network, (system_clock())()));
    let transaction = connection.transaction().unwrap();
    take_in.in_batch(&transaction).unwrap();
    drop(transaction);
    take_in.after(false);
    assert!(!take_in.has_more() && take_in.pending(true));
    let transaction = connection.transaction().unwrap();
    take_in.in_batch(&transaction).unwrap();
    transaction.commit().unwrap();
    take_in.after(true);
    // A hundred and sixty, and the row that counts ten: its minute has long ended.
    assert_eq!(count(&connection), 161);
    let counted = "select sum(anzahl) from audit where anzahl > 1";
    assert_eq!(connection.query_row(counted, [], |row| row.get::<_, i64>(0)).unwrap(), 10);
}
