//! Following the feed: beside 64 writers, over 90 days, after a company was emptied.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{PATH, fill, follow, now, page, short};
use crate::harness::Server;
use crate::trade::lager::{Mill, and, buy};

const WRITERS: usize = 64;
/// Documents per writer: each is created, and changed once.
const DOCUMENTS: usize = 8;

#[test]
fn goods_that_stay_at_another_price_change_what_their_batch_says() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let at = |price: &str| and(buy(5, "L-1"), json!({"ep_netto": price}));
    let el = mill.post("EL", at("2.00")).id();
    for (price, rows) in [("2.50", 2), ("2.50", 1)] {
        let cursor = now(&mill.client);
        mill.put(&el, at(price)).is(200);
        let (told, _) = follow(&mill.client, &cursor);
        assert_eq!(told.len(), rows, "{told:?}");
        assert_eq!(told.iter().any(|change| change["art"] == "charge"), rows == 2, "{told:?}");
    }
}

#[test]
fn beside_64_writers_each_change_comes_once_in_the_order_of_commits() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let mut cursor = now(&mill.client);
    let (told, working) = (&mut Vec::<Value>::new(), &AtomicUsize::new(WRITERS));
    let mill = &mill;
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            let client = mill.client.clone();
            scope.spawn(move || {
                for _ in 0..DOCUMENTS {
                    let items = json!([{"artikelnr": "S", "menge": 1}]);
                    let body = json!({"beleg_typ": "AU", "kundennummer": "Kd", "items": items});
                    let id = client.post("/api/v1/belege", body).id();
                    client.put(&format!("/api/v1/belege/{id}"), json!({"notizen": "x"})).is(200);
                }
                working.fetch_sub(1, Ordering::SeqCst);
            });
        }
        loop {
            // A writer still at work before this page was read may add more changes.
            let is_over = working.load(Ordering::SeqCst) == 0;
            let (data, next) = page(&mill.client, &cursor, 7);
            if is_over && data.is_empty() {
                break;
            }
            told.extend(data);
            cursor = next;
        }
    });
    let documents = WRITERS * DOCUMENTS;
    assert_eq!(told.len(), 2 * documents);
    let mut versions: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for change in told.iter() {
        let versions = versions.entry(change["id"].as_str().unwrap()).or_default();
        versions.push(change["version"].as_i64().unwrap());
    }
    assert_eq!(versions.len(), documents);
    assert!(versions.values().all(|versions| *versions == [1, 2]));
    // The writer assigns the numbers, so they grow with the commits.
    let made: Vec<&str> =
        told.iter().filter(|change| change["version"] == 1).map(|c| c["nummer"].as_str().unwrap()).collect();
    assert!(made.is_sorted());
    // Reading everything at once returns the same as following the feed bit by bit.
    let all = follow(&mill.client, "alles").0;
    assert_eq!(all[all.len() - told.len()..], told[..]);
}

#[test]
fn what_is_older_than_90_days_goes_in_steps_and_old_cursors_with_it() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let other = server.company("Andere");
    other.post("/api/v1/kunden", json!({"name": "Fremd"})).is(201);
    let start = page(&mill, "alles", 0).1;
    mill.post("/api/v1/kunden", json!({"name": "A"})).is(201);
    let old = now(&mill);
    fill(&server, &mill, 12_000, "2026-07-10T10:00:00Z");
    let newest_old = now(&mill);
    server.set_clock("2026-08-10T10:00:00Z");
    mill.post("/api/v1/kunden", json!({"name": "B"})).is(201);
    let young = now(&mill);
    server.set_clock("2026-10-08T09:00:00Z");
    server.expect_no_audit_rows();
    server.restart();
    let (mill, other) =
        (server.client(mill.tenant, mill.key.clone()), server.client(other.tenant, other.key.clone()));
    let rows = |tenant: i64| format!("select count(*) from aenderung where tenant_id = {tenant}");
    // On the ninetieth day all rows still exist.
    assert_eq!(server.sql::<i64>(&rows(mill.tenant)), 12_002);
    // A clock months ahead of the log is trusted once a request has used it.
    mill.get("/api/v1/laender").is(200);
    server.set_clock("2026-10-08T11:00:00Z");
    server.restart();
    let (mill, other) =
        (server.client(mill.tenant, mill.key.clone()), server.client(other.tenant, other.key));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while server.sql::<i64>(&rows(mill.tenant)) > 1 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(short(&follow(&mill, "alles").0), [["kunde", "K-1002", "angelegt"]]);
    for expired in [&start, &old] {
        mill.get(&format!("{PATH}?seit={expired}")).refused(410, "CURSOR_ABGELAUFEN");
    }
    // Nothing is missing after the last row that was dropped.
    assert_eq!(short(&follow(&mill, &newest_old).0), [["kunde", "K-1002", "angelegt"]]);
    assert_eq!(follow(&mill, &young).0, Vec::<Value>::new());
    // The newest row of a company is kept, so that its number is not given again.
    let before = now(&other);
    other.post("/api/v1/kunden", json!({"name": "Neu"})).is(201);
    assert_eq!(short(&follow(&other, &before).0), [["kunde", "K-1002", "angelegt"]]);
}

#[test]
fn an_emptied_test_company_begins_a_new_feed() {
    let server = Server::start();
    server.cli(&["tenant", "create", "Probe", "--test"]);
    let tenant: i64 = server.sql("select id from tenant where name = 'Probe'");
    let client = server.key(tenant, partnerd::rules::choice::Choice::ALL);
    client.post("/api/v1/kunden", json!({"name": "A"})).is(201);
    let before = now(&client);
    assert!(server.cli(&["tenant", "reset", "Probe"]).status.success());
    client.get(&format!("{PATH}?seit={before}")).refused(410, "CURSOR_ABGELAUFEN");
    assert_eq!(follow(&client, "alles").0, Vec::<Value>::new());
    server.set_clock("2026-07-10T10:00:01Z");
    client.post("/api/v1/kunden", json!({"name": "B"})).is(201);
    // As many rows as before, but different ones.
    client.get(&format!("{PATH}?seit={before}")).refused(410, "CURSOR_ABGELAUFEN");
}
