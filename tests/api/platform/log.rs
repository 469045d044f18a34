//! The write-ahead log stays short whatever clients do (P7).

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partnerd::platform::db::file::connection::open_writer;
use serde_json::json;

use crate::harness::{Client, Server};

/// Maximum size of the log in bytes.
const AT_MOST: u64 = 64 << 20;

/// Bytes of an attachment before Base64.
const ATTACHMENT: usize = 768 << 10;

/// Number of concurrent writers.
pub const WRITERS: usize = 16;

/// A Base64 text of this length, different for each number.
fn attachment(number: usize) -> String {
    let mut text = format!("{number:08}");
    text.push_str(&"QUJD".repeat(ATTACHMENT / 3 - 2));
    text
}

/// Lets clients upload attachments until so many bytes have arrived and `is_over`; returns the longest size
/// of the log.
pub fn longest_log(server: &Server, mill: &Client, bytes: usize, is_over: impl Fn() -> bool + Sync) -> u64 {
    let customer = mill.post("/api/v1/kunden", json!({"name": "Kunde"})).id();
    let path = format!("/api/v1/kunden/{customer}/dokumente");
    let (sent, longest, writing) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicUsize::new(WRITERS));
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                loop {
                    let number = sent.fetch_add(1, Ordering::SeqCst);
                    if number * ATTACHMENT > bytes && is_over() {
                        break;
                    }
                    let name = format!("{number}.bin");
                    mill.post(&path, json!({"dateiname": name, "inhalt_base64": attachment(number)})).is(201);
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        let log = server.database.with_extension("db-wal");
        while writing.load(Ordering::SeqCst) > 0 {
            longest.fetch_max(fs::metadata(&log).unwrap().len(), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    longest.into_inner()
}

/// Articles of the company: a search without hits examines all of them, for some tenths of a second.
fn fill(server: &Server, tenant: i64) {
    let connection = open_writer(&server.database).unwrap();
    connection
        .execute(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000)
             insert into artikel (tenant_id, id, artikelnummer, bezeichnung, status, artikelnummer_key,
               artikelnummer_sort, such_text)
             select ?1, unhex(printf('%032x', i)), 'X-' || i, 'Korn ' || i, 'aktiv', 'x-' || i, printf('x-%09d', i),
               'korn ' || i from n",
            [tenant],
        )
        .unwrap();
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
}

#[test]
fn long_lists_one_after_the_other_do_not_make_the_log_grow() {
    const READERS: usize = 6;
    let server = Server::start();
    let mill = server.company("Mühle");
    fill(&server, mill.tenant);
    let (reading, read) = (AtomicBool::new(true), [const { AtomicUsize::new(0) }; READERS]);
    let until = Instant::now() + Duration::from_secs(600);
    let longest = std::thread::scope(|scope| {
        for read in &read {
            let (mill, reading) = (&mill, &reading);
            scope.spawn(move || {
                while reading.load(Ordering::SeqCst) {
                    let answer = mill.send_unchecked("GET", "/api/v1/artikel?suche=nirgends", &[], None);
                    // A read that was stopped again and again is answered with 503, and the client tries again.
                    match answer.status {
                        200 => drop(read.fetch_add(1, Ordering::SeqCst)),
                        _ => drop(answer.refused(503, "NICHT_VERFUEGBAR")),
                    }
                }
            });
        }
        let longest = longest_log(&server, &mill, 250 << 20, || true);
        // A read that was stopped again and again gets its answer at the latest when nobody writes any more.
        while read.iter().any(|read| read.load(Ordering::SeqCst) == 0) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        reading.store(false, Ordering::SeqCst);
        longest
    });
    assert!(longest < AT_MOST, "{} MiB", longest >> 20);
    assert!(longest > 16 << 20, "the scene needs a long log, it had {} MiB", longest >> 20);
    let read = read.map(AtomicUsize::into_inner);
    assert!(read.iter().all(|read| *read > 0), "{read:?} answers");
}
