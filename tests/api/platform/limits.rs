//! Limits of a key per day and of an address per minute (D20).

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::Policy;
use partnerd::platform::gate::access::key::Grant;
use partnerd::rules::choice::Choice;
use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, NOON, Server};

/// A key with its own daily limit.
fn limited(server: &Server, tenant: i64, daily_limit: u32) -> Client {
    let scopes = Scope::ALL.iter().copied().collect();
    server.key_with(tenant, Grant { scopes, daily_limit: Some(daily_limit), ..Grant::default() })
}

/// limit, remaining and reset of an answer.
fn allowance(answer: &Answer) -> [&str; 3] {
    ["limit", "remaining", "reset"].map(|name| answer.headers[&format!("x-ratelimit-{name}")].as_str())
}

/// How many of `requests` requests by 64 clients at once were answered, and how many refused.
fn hammer(client: &Client, requests: usize) -> (usize, usize) {
    let (left, answered, refused) = (AtomicUsize::new(requests), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let next =
            || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        while next() {
            let answer = client.get("/api/v1/kunden?limit=1");
            match answer.status {
                200 => answered.fetch_add(1, Ordering::SeqCst),
                _ => {
                    answer.refused(429, "TAGESLIMIT_ERREICHT");
                    refused.fetch_add(1, Ordering::SeqCst)
                }
            };
        }
    };
    thread::scope(|scope| (0..64).for_each(|_| drop(scope.spawn(work))));
    (answered.into_inner(), refused.into_inner())
}

#[test]
fn ten_thousand_a_day_are_exact_under_64_clients_and_across_a_restart() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    assert_eq!(hammer(&mill, 6_000), (6_000, 0));
    server.restart();
    let mill = server.client(mill.tenant, mill.key.clone());
    assert_eq!(hammer(&mill, 6_000), (4_000, 2_000));
    server.restart();
    let mill = server.client(mill.tenant, mill.key.clone());
    mill.get("/api/v1/laender").refused(429, "TAGESLIMIT_ERREICHT");
    let counted = "select count(*) from audit where key_id is not null and status";
    assert_eq!(server.sql::<i64>(&format!("{counted} <> 429")), 10_000);
    assert!(server.sql::<i64>(&format!("{counted} = 429")) >= 2_000);
}

#[test]
fn a_request_that_did_not_pass_the_key_check_is_not_counted_after_a_restart_either() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let left = |client: &Client| client.get("/api/v1/laender").headers["x-ratelimit-remaining"].clone();
    let before: u32 = left(&mill).parse().unwrap();
    let id = mill.key.clone().unwrap().split('_').nth(1).unwrap().to_owned();
    assert!(server.cli(&["key", "deactivate", &id]).status.success());
    mill.get("/api/v1/laender").refused(401, "API_KEY_DEAKTIVIERT");
    assert!(server.cli(&["key", "activate", &id]).status.success());
    server.restart();
    let mill = server.client(mill.tenant, mill.key.clone());
    assert_eq!(left(&mill), (before - 1).to_string());
}

#[test]
fn every_keyed_answer_says_what_is_left() {
    let server = Server::start_at("2026-07-10T23:59:30.250Z");
    let mill = server.company("Mühle");
    let reader = server.key(mill.tenant, &[Scope::KundenRead]);
    let answers = [
        reader.get("/api/v1/kunden"),
        reader.get("/api/v1/kunden/x"),
        reader.get("/api/v1/nichts"),
        reader.put("/api/v1/kunden", json!({})),
        reader.post("/api/v1/kunden", json!({})),
        reader.get("/api/v1/kunden?foo=1"),
    ];
    let statuses = [200, 404, 404, 405, 403, 400];
    for (at, (answer, status)) in answers.iter().zip(statuses).enumerate() {
        let remaining = (9_999 - at).to_string();
        assert_eq!((answer.status, allowance(answer)), (status, ["10000", remaining.as_str(), "30"]));
        assert_eq!(answer.headers.get("retry-after"), None);
    }
    let created = mill.post("/api/v1/kunden", json!({"name": "Müller"}));
    assert_eq!((created.status, allowance(&created)), (201, ["10000", "9999", "30"]));
    for open in [server.client(mill.tenant, None).get("/api/v1"), mill.get("/api/v1")] {
        assert_eq!(open.headers.get("x-ratelimit-limit"), None, "an open path is not counted");
    }
    let nobody = server.client(mill.tenant, None).get("/api/v1/kunden");
    assert_eq!(nobody.headers.get("x-ratelimit-limit"), None);
}

#[test]
fn the_limit_of_a_key_ends_at_midnight_utc_and_refusals_are_not_counted() {
    let server = Server::start_at("2026-10-24T23:58:00Z");
    let mill = server.company("Mühle");
    let (three, other) = (limited(&server, mill.tenant, 3), limited(&server, mill.tenant, 3));
    for left in ["2", "1", "0"] {
        assert_eq!(allowance(&three.get("/api/v1/laender?limit=1")), ["3", left, "120"]);
    }
    for _ in 0..5 {
        let refused = three.get("/api/v1/laender");
        refused.refused(429, "TAGESLIMIT_ERREICHT");
        assert_eq!(
            (allowance(&refused), refused.headers["retry-after"].as_str()),
            (["3", "0", "120"], "120")
        );
    }
    three.post("/api/v1/kunden", json!({"name": "Müller"})).refused(429, "TAGESLIMIT_ERREICHT");
    three.get("/api/v1/nichts").refused(429, "TAGESLIMIT_ERREICHT");
    other.get("/api/v1/laender").is(200);
    // Midnight in Berlin was two hours ago; midnight in UTC counts.
    server.set_clock("2026-10-25T00:00:00Z");
    let next = three.get("/api/v1/laender");
    assert_eq!((next.status, allowance(&next)), (200, ["3", "2", "86400"]));
    // The hour that occurs twice in Berlin occurs once in UTC.
    server.set_clock("2026-10-25T01:30:00Z");
    assert_eq!(allowance(&three.get("/api/v1/laender")), ["3", "1", "81000"]);
    // In spring Berlin skips an hour, UTC does not.
    let spring = limited(&server, mill.tenant, 9);
    for (at, left) in [("2027-03-28T00:59:59Z", "82801"), ("2027-03-28T01:00:00Z", "82800")] {
        server.set_clock(at);
        assert_eq!(spring.get("/api/v1/laender").headers["x-ratelimit-reset"], left);
    }
    // After a clock is put back, the counts of the previous day still apply.
    server.set_clock("2026-10-24T23:59:59Z");
    three.get("/api/v1/laender").refused(429, "TAGESLIMIT_ERREICHT");
}

#[test]
fn the_list_of_keys_says_what_each_was_used_for() {
    let mut server = Server::start_at(&partnerd::platform::db::system_clock()().to_string());
    let mill = server.company("Mühle");
    let three = limited(&server, mill.tenant, 3);
    (0..5).for_each(|_| drop(three.get("/api/v1/laender")));
    mill.get("/api/v1/laender").is(200);
    server.restart();
    let output = server.cli(&["--json", "key", "list"]);
    let keys: Value = serde_json::from_slice(&output.stdout).unwrap();
    let used = |key: &Value| (key["daily_limit"].as_u64(), key["requests_today"].as_u64());
    let mut shown: Vec<_> = keys.as_array().unwrap().iter().map(used).collect();
    shown.sort_unstable();
    assert_eq!(shown, [(Some(3), Some(3)), (Some(10_000), Some(1))]);
    assert!(keys[1]["last_used"].as_str().is_some_and(|at| at.ends_with('Z')), "{keys}");
}

/// A server behind a proxy on the same machine, which passes on the addresses of clients.
fn behind_proxy(critical: &[&str]) -> Server {
    let critical_routes = critical.iter().map(|route| (*route).to_owned()).collect();
    let proxies = vec!["127.0.0.1/32".parse().unwrap()];
    Server::start_with(NOON, Policy { proxies, critical_routes, ..Policy::default() })
}

fn from(client: &Client, address: &str, path: &str) -> Answer {
    client.send("GET", path, &[("X-Forwarded-For", address)], None)
}

#[test]
fn the_eleventh_request_without_a_key_in_a_minute_is_429() {
    let server = behind_proxy(&[]);
    let mill = server.company("Mühle");
    let nobody = server.client(mill.tenant, None);
    let wrong = server.client(mill.tenant, Some("ak_0123456789ab_falsch".to_owned()));
    for at in 0..10 {
        let stranger = if at % 2 == 0 { &nobody } else { &wrong };
        assert_eq!(from(stranger, "198.51.100.7", "/api/v1/nichts").status, 401);
    }
    let refused = from(&nobody, "198.51.100.7", "/api/v1/kunden");
    refused.refused(429, "ZU_VIELE_ANFRAGEN");
    assert_eq!(refused.headers["retry-after"], "60");
    from(&wrong, "198.51.100.7", "/api/v1/kunden").refused(429, "ZU_VIELE_ANFRAGEN");
    // Open paths and valid keys from the same address are unaffected; another address has its own ten.
    from(&nobody, "198.51.100.7", "/api/v1").is(200);
    from(&mill, "198.51.100.7", "/api/v1/kunden").is(200);
    from(&nobody, "198.51.100.8", "/api/v1/kunden").refused(401, "API_KEY_FEHLT");
    server.set_clock("2026-07-10T10:00:59Z");
    let refused = from(&nobody, "198.51.100.7", "/api/v1/kunden");
    assert_eq!((refused.status, refused.headers["retry-after"].as_str()), (429, "1"));
    server.set_clock("2026-07-10T10:01:00Z");
    from(&nobody, "198.51.100.7", "/api/v1/kunden").refused(401, "API_KEY_FEHLT");
}

#[test]
fn an_ipv6_network_is_one_address_and_strangers_are_not_believed() {
    let server = behind_proxy(&[]);
    let mill = server.company("Mühle");
    let nobody = server.client(mill.tenant, None);
    for host in 0..10 {
        from(&nobody, &format!("2001:db8:1:2::{host:x}"), "/api/v1/kunden").refused(401, "API_KEY_FEHLT");
    }
    from(&nobody, "2001:db8:1:2:ffff::1", "/api/v1/kunden").refused(429, "ZU_VIELE_ANFRAGEN");
    from(&nobody, "2001:db8:1:3::1", "/api/v1/kunden").refused(401, "API_KEY_FEHLT");
    // Without a trusted proxy the header is ignored.
    let direct = Server::start();
    let mill = direct.company("Mühle");
    let nobody = direct.client(mill.tenant, None);
    for host in 0..10 {
        from(&nobody, &format!("198.51.100.{host}"), "/api/v1/kunden").refused(401, "API_KEY_FEHLT");
    }
    from(&nobody, "198.51.100.77", "/api/v1/kunden").refused(429, "ZU_VIELE_ANFRAGEN");
}

#[test]
fn the_configuration_names_further_critical_routes() {
    let server = behind_proxy(&["GET /api/v1/kunden/{id}"]);
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Müller"})).id();
    let path = format!("/api/v1/kunden/{id}");
    for _ in 0..10 {
        from(&mill, "198.51.100.7", &path).is(200);
    }
    from(&mill, "198.51.100.7", &path).refused(429, "ZU_VIELE_ANFRAGEN");
    from(&mill, "198.51.100.7", "/api/v1/kunden").is(200);
    from(&mill, "198.51.100.8", &path).is(200);
    mill.put(&path, json!({"ort": "Hof"})).is(200);
}

#[test]
fn a_flood_is_one_audit_row_an_address_and_minute() {
    let mut server = behind_proxy(&[]);
    let mill = server.company("Mühle");
    let nobody = server.client(mill.tenant, None);
    for _ in 0..35 {
        from(&nobody, "198.51.100.7", "/api/v1/kunden");
    }
    for _ in 0..12 {
        from(&nobody, "198.51.100.8", "/api/v1/kunden");
    }
    server.restart();
    let nobody = server.client(mill.tenant, None);
    server.set_clock("2026-07-10T10:00:30Z");
    // A new process starts counting again: ten more requests get 401.
    for _ in 0..15 {
        from(&nobody, "198.51.100.7", "/api/v1/kunden");
    }
    server.restart();
    server.set_clock("2026-07-10T10:02:00Z");
    server.restart();
    let rows = |address: &str, what: &str| {
        server.sql::<i64>(&format!("select {what} from audit where adresse = '{address}' and status = 429"))
    };
    assert_eq!((rows("198.51.100.7", "count(*)"), rows("198.51.100.7", "sum(anzahl)")), (1, 30));
    assert_eq!((rows("198.51.100.8", "count(*)"), rows("198.51.100.8", "sum(anzahl)")), (1, 2));
    let refused = "select count(*) from audit where status = 401 and anzahl = 1";
    assert_eq!(server.sql::<i64>(refused), 30);
    assert_eq!(server.sql::<i64>("select count(*) from audit_flut"), 0);
}

/// The MAC of a key is checked first: even a stored hash that matches does not help, as it is not looked at.
#[test]
fn a_key_whose_mac_fails_costs_no_hash() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let whole = mill.key.clone().unwrap();
    let last = if whole.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &whole[..whole.len() - 1]);
    let keep_hash_of = |text: &str| {
        let hash = Argon2::default().hash_password(text.as_bytes()).unwrap().to_string();
        let id = whole.split('_').nth(1).unwrap();
        let kept = open_writer(&server.database).unwrap();
        assert_eq!(
            kept.execute("update api_key set hash = ?1 where id = ?2", [hash.as_str(), id]).unwrap(),
            1
        );
    };
    keep_hash_of(&mistyped);
    assert_eq!(server.client(mill.tenant, Some(mistyped)).get("/api/v1/kunden").status, 401);
    assert_eq!(mill.get("/api/v1/kunden").status, 401, "the hash of a whole key is looked at");
    keep_hash_of(&whole);
    mill.get("/api/v1/kunden").is(200);
}

/// Waits until the database has counted this many requests of floods. Requests still in the journal when
/// their minute ends get another row in the log.
fn wait_for_floods(server: &Server, requests: i64) {
    let last = Instant::now() + Duration::from_secs(120);
    while server.sql::<i64>("select coalesce(sum(anzahl), 0) from audit_flut") < requests {
        assert!(Instant::now() < last, "the journal is not taken in");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The log's rows for a key that stand for several requests, oldest first.
fn counted(server: &Server, client: &Client) -> String {
    let key = client.key.as_ref().unwrap().split('_').nth(1).unwrap();
    server.sql(&format!(
        "select group_concat(zeile, ', ') from (select anzahl || ' of ' || adresse as zeile from audit
           where key_id = '{key}' and anzahl > 1 order by am, adresse)"
    ))
}

#[test]
fn a_key_that_goes_on_far_beyond_its_limit_is_counted_and_no_longer_listed() {
    let mut server = behind_proxy(&[]);
    let mill = server.company("Mühle");
    let runaway = limited(&server, mill.tenant, 1);
    assert_eq!(hammer(&runaway, 10_101), (1, 10_100));
    let beyond = |address: &str, times: usize| {
        for _ in 0..times {
            from(&runaway, address, "/api/v1/kunden").refused(429, "TAGESLIMIT_ERREICHT");
        }
    };
    beyond("198.51.100.8", 3);
    beyond("2001:db8:1:2::1", 1);
    beyond("2001:db8:1:2:ffff::1", 1);
    wait_for_floods(&server, 105);
    server.set_clock("2026-07-10T10:01:00Z");
    beyond("127.0.0.1", 5);
    // Another key from the same address gets a row for each request.
    let id = mill.post("/api/v1/kunden", json!({"name": "Müller"})).id();
    mill.get(&format!("/api/v1/kunden/{id}")).is(200);
    server.expect_no_audit_rows();
    server.set_clock("2026-07-10T10:03:00Z");
    server.restart();
    // The first ten thousand refusals are listed.
    let key = runaway.key.as_ref().unwrap().split('_').nth(1).unwrap();
    let listed = format!("select count(*) from audit where key_id = '{key}' and anzahl = 1 and status");
    assert_eq!(server.sql::<i64>(&format!("{listed} = 200")), 1);
    assert_eq!(server.sql::<i64>(&format!("{listed} = 429")), 10_000);
    let expected = "100 of 127.0.0.1, 3 of 198.51.100.8, 2 of 2001:db8:1:2::, 5 of 127.0.0.1";
    assert_eq!(counted(&server, &runaway), expected);
    let others = format!("select count(*) from audit where key_id <> '{key}' and status in (200, 201)");
    assert_eq!(server.sql::<i64>(&format!("{others} and anzahl = 1 and adresse = '127.0.0.1'")), 2);
}

#[test]
fn a_flood_from_an_ipv6_network_is_one_row_and_others_in_it_have_rows_of_their_own() {
    let mut server = behind_proxy(&[]);
    let mill = server.company("Mühle");
    let nobody = server.client(mill.tenant, None);
    for host in 0..10 {
        from(&nobody, &format!("2001:db8:1:2::{host:x}"), "/api/v1/kunden").refused(401, "API_KEY_FEHLT");
    }
    for host in 0..20 {
        let address = format!("2001:db8:1:2:{host:x}::1");
        from(&nobody, &address, "/api/v1/kunden").refused(429, "ZU_VIELE_ANFRAGEN");
    }
    let own = [("X-Forwarded-For", "2001:db8:1:2::abcd")];
    let id = mill.send("POST", "/api/v1/kunden", &own, Some(br#"{"name": "Hof"}"#)).id();
    mill.send("GET", &format!("/api/v1/kunden/{id}"), &own, None).is(200);
    wait_for_floods(&server, 20);
    server.set_clock("2026-07-10T10:02:00Z");
    server.restart();
    let rows = "select group_concat(zeile, ', ') from
        (select anzahl || ' of ' || adresse as zeile from audit where status = 429)";
    assert_eq!(server.sql::<String>(rows), "20 of 2001:db8:1:2::");
    let listed = "select count(*) from audit where anzahl = 1 and status";
    assert_eq!(server.sql::<i64>(&format!("{listed} = 401")), 10);
    let own = format!("{listed} in (200, 201) and adresse = '2001:db8:1:2::abcd'");
    assert_eq!(server.sql::<i64>(&own), 2);
    assert_eq!(server.sql::<i64>("select count(*) from audit_flut"), 0);
}

/// Sends the same request from this many threads at once; returns the statuses.
fn at_once(client: &Client, threads: usize) -> Vec<u16> {
    let begin = Barrier::new(threads);
    let ask = || {
        begin.wait();
        client.send_unchecked("GET", "/api/v1/kunden", &[], None).status
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn all_of_many_first_requests_with_one_key_are_answered() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    assert_eq!(at_once(&mill, 320), [200; 320]);
    // After a restart no key has been verified yet.
    server.restart();
    let mill = server.client(mill.tenant, mill.key.clone());
    assert_eq!(at_once(&mill, 320), [200; 320]);
}

#[test]
fn a_deactivated_key_that_hammers_keeps_no_other_key_out() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let off = server.key(mill.tenant, &[Scope::KundenRead]);
    let id = off.key.as_ref().unwrap().split('_').nth(1).unwrap().to_owned();
    assert!(server.cli(&["key", "deactivate", &id]).status.success());
    let fresh: Vec<_> = (0..5).map(|_| server.key(mill.tenant, &[Scope::KundenRead])).collect();
    let stop = AtomicBool::new(false);
    let hammer = || {
        for _ in (0..1_000).take_while(|_| !stop.load(Ordering::SeqCst)) {
            let status = off.send_unchecked("GET", "/api/v1/kunden", &[], None).status;
            assert!([401, 429].contains(&status), "{status}");
        }
    };
    thread::scope(|scope| {
        (0..300).for_each(|_| drop(scope.spawn(hammer)));
        let statuses: Vec<_> =
            fresh.iter().map(|key| key.send_unchecked("GET", "/api/v1/kunden", &[], None).status).collect();
        stop.store(true, Ordering::SeqCst);
        assert_eq!(statuses, [200; 5]);
    });
}
