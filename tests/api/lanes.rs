//! Two lanes of readers: a statement that takes long changes lanes by itself, and short reads do
//! not wait for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partnerd::db::connection::open_writer;
use serde_json::json;

use crate::harness::Server;

/// Articles of the company: a search walks all of them.
const ARTICLES: i64 = 150_000;

/// Thousands of SQLite's steps that a statement may take in place (`db::readers`).
const STEPS_IN_PLACE: usize = 100;

/// Gives a company so many articles.
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

/// Thousands of steps of a search that finds nothing.
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
    let last = Instant::now() + Duration::from_secs(20);
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
    // In one lane eight clients would search eight times while a ninth reads once.
    assert!(long < 4 * short, "{short} short reads, {long} long ones");
}
