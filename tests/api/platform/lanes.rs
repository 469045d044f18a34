//! The two lanes of readers: a long statement moves to the slow lane by itself, and short reads do not wait for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partnerd::platform::db::file::connection::open_writer;
use serde_json::json;

use crate::harness::{Client, Server};

/// Articles of the company; a search examines all of them.
const ARTICLES: i64 = 150_000;

/// Thousands of SQLite steps that a statement may take in place (`db::readers`).
const STEPS_IN_PLACE: usize = 100;

/// Gives a company this many articles.
pub fn fill(database: &Path, tenant: i64, articles: i64) {
    let connection = open_writer(database).unwrap();
    connection
        .execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?2)
             insert into artikel (tenant_id, id, artikelnummer, bezeichnung, status, artikelnummer_key,
               artikelnummer_sort, such_text)
             select ?1, unhex(printf('%032x', i)), 'X-' || i, 'Korn ' || i, 'aktiv', 'x-' || i, printf('x-%09d', i),
               'korn ' || i from n",
            [tenant, articles],
        )
        .unwrap();
}

/// Thousands of steps of a search without hits.
fn steps_of_a_search(server: &Server, tenant: i64) -> usize {
    let connection = open_writer(&server.database).unwrap();
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1_000, Some(count)).unwrap();
    let search = "select count(*) from artikel where tenant_id = ?1 and instr(such_text, 'nirgends') > 0";
    let found: i64 = connection.query_row(search, [tenant], |row| row.get(0)).unwrap();
    assert_eq!(found, 0);
    looks.load(Ordering::Relaxed)
}

#[test]
fn a_server_that_rests_empties_its_log() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let customer = mill.post("/api/v1/kunden", json!({"name": "A"})).id();
    for _ in 0..20 {
        mill.get(&format!("/api/v1/kunden/{customer}")).is(200);
    }
    let log = server.database.with_extension("db-wal");
    let last = Instant::now() + Duration::from_secs(120);
    while std::fs::metadata(&log).unwrap().len() > 0 {
        assert!(Instant::now() < last, "the write-ahead log is not emptied");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_long_search_changes_lanes_and_short_reads_do_not_wait_for_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("/api/v1/kunden/{}", mill.post("/api/v1/kunden", json!({"name": "A"})).id());
    fill(&server.database, mill.tenant, ARTICLES);
    assert!(
        steps_of_a_search(&server, mill.tenant) > STEPS_IN_PLACE,
        "the search is too short for this test"
    );
    let searching = AtomicBool::new(true);
    let (short, long) = std::thread::scope(|scope| {
        let searches: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut answered = 0;
                    while searching.load(Ordering::Relaxed) {
                        let answer = mill.get("/api/v1/artikel?suche=nirgends");
                        assert_eq!(answer.is(200)["count"], 0);
                        answered += 1;
                    }
                    answered
                })
            })
            .collect();
        let short = (0..200).filter(|_| mill.get(&path).status == 200).count();
        searching.store(false, Ordering::Relaxed);
        (short, searches.into_iter().map(|search| search.join().unwrap()).sum::<usize>())
    });
    assert_eq!(short, 200);
    assert!(long >= 8, "each searching client was answered at least once, {long} in all");
    // With a single lane, eight clients would search eight times while a ninth reads once.
    assert!(long < 4 * short, "{short} short reads, {long} long ones");
}

/// How many requests have moved to the slow lane so far.
fn slow(client: &Client) -> usize {
    let metrics = String::from_utf8(client.get("/metrics").bytes).unwrap();
    let line = metrics.lines().find_map(|line| line.strip_prefix("partnerd_slow_lane_total "));
    line.unwrap_or_else(|| panic!("no figure in {metrics}")).parse().unwrap()
}

/// The clock of the server stands still, so that a key regains no credit.
#[test]
fn who_searches_on_and_on_beside_others_does_so_on_the_slow_lane() {
    let server = Server::start();
    let [mill, other] = ["Mühle", "Händler"].map(|name| {
        let client = server.company(name);
        fill(&server.database, client.tenant, 3_000);
        client
    });
    let customer = format!("/api/v1/kunden/{}", mill.post("/api/v1/kunden", json!({"name": "A"})).id());
    let looks = steps_of_a_search(&server, mill.tenant);
    assert!((10..STEPS_IN_PLACE).contains(&looks), "a search takes {looks} thousand steps");
    let search =
        |client: &Client| assert_eq!(client.get("/api/v1/artikel?suche=nirgends").is(200)["count"], 0);
    // More than `CREDIT_TICKS` (`platform::gate::shares`).
    (0..2_000 / looks).for_each(|_| search(&mill));
    assert_eq!(slow(&mill), 0, "as long as nobody else asks for anything");
    other.get("/api/v1/kunden/x").refused(404, "NICHT_GEFUNDEN");
    search(&mill);
    search(&mill);
    assert_eq!(slow(&mill), 2, "beside others");
    (0..5).for_each(|_| search(&other));
    for _ in 0..50 {
        mill.get(&customer).is(200);
    }
    assert_eq!(slow(&mill), 2, "searches of others, and short reads");
    server.set_clock("2026-07-10T10:00:03Z");
    other.get("/api/v1/kunden/x").refused(404, "NICHT_GEFUNDEN");
    search(&mill);
    assert_eq!(slow(&mill), 2, "when it is paid back");
}

/// The same for bodies: each megabyte is regained in 51 ms.
#[test]
fn who_uploads_on_and_on_beside_others_waits() {
    let server = Server::start();
    let [mill, other] = ["Mühle", "Händler"].map(|name| server.company(name));
    let customers = [&mill, &other].map(|client| client.post("/api/v1/kunden", json!({"name": "A"})).id());
    let upload = |client: &Client, customer: &str| {
        let begun = Instant::now();
        let file = json!({"dateiname": "a.bin", "inhalt_base64": "QUJD".repeat(1 << 20)});
        client.post(&format!("/api/v1/kunden/{customer}/dokumente"), file).is(201);
        begun.elapsed()
    };
    for _ in 0..8 {
        upload(&mill, &customers[0]);
    }
    upload(&other, &customers[1]);
    let taken = upload(&mill, &customers[0]);
    assert!(taken >= Duration::from_millis(1_400), "{taken:?}");
}

/// Work between the steps of a statement counts, too: of 40,000 texts of customers, the second word is only
/// searched in those that contain the first.
#[test]
fn a_search_of_customers_changes_lanes_by_the_texts_that_it_looks_at() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let connection = open_writer(&server.database).unwrap();
    let texts: String = (0..40_000).map(|at| format!("{at}\u{1f}hof\u{1e}")).collect();
    let statement = "insert into kunde_suche (tenant_id, block, anzahl, texte) values (?1, 9, 1, ?2)";
    connection.execute(statement, (mill.tenant, texts)).unwrap();
    for (words, expected) in [("nirgends", 0), ("hof%20nirgends", 1), ("nirgends%20hof", 1)] {
        assert_eq!(mill.get(&format!("/api/v1/kunden?suche={words}")).is(200)["count"], 0);
        assert_eq!(slow(&mill), expected, "{words}");
    }
    connection.execute("delete from kunde_suche", []).unwrap();
}
