//! Idempotency-Key: a repeated POST gets the same answer, and is carried out once (D19).

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

fn post(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    post_text(client, path, key, &body.to_string())
}

fn post_text(client: &Client, path: &str, key: &str, body: &str) -> Answer {
    client.send("POST", path, &[("Idempotency-Key", key)], Some(body.as_bytes()))
}

fn count(client: &Client, path: &str) -> Value {
    client.get(path).is(200)["count"].clone()
}

const KUNDEN: &str = "/api/v1/kunden";

#[test]
fn the_same_key_and_body_give_the_stored_answer_also_after_a_restart() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let first =
        post(&mill, KUNDEN, "a-1", &json!({"name": "Müller", "plz": "01234", "zahlungsziel_tage": 30}));
    first.is(201);
    let again = r#" {"zahlungsziel_tage": 30.0, "plz": "01234", "name": "Müller"} "#;
    let second = post_text(&mill, KUNDEN, "a-1", again);
    assert_eq!((second.status, &second.bytes), (201, &first.bytes));
    assert_eq!(second.headers.get("idempotency-replayed").map(String::as_str), Some("true"));
    assert_eq!(first.headers.get("idempotency-replayed"), None);
    server.restart();
    let mill = server.client(mill.tenant, mill.key.clone());
    let third = post_text(&mill, KUNDEN, "a-1", again);
    assert_eq!((third.status, &third.bytes), (201, &first.bytes));
    assert_eq!(count(&mill, KUNDEN), 1);
    server.restart();
    let subjects = "select count(*) from audit where subjekt = (select id from kunde) and status = 201";
    assert_eq!(server.sql::<i64>(subjects), 3);
}

#[test]
fn another_body_or_path_under_the_same_key_is_a_conflict_whatever_is_wrong_with_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    post(&mill, KUNDEN, "a", &json!({"name": "Müller"})).is(201);
    for body in [r#"{"name":"Meier"}"#, r#"{"name":7}"#, "{}", "[]", "{", r#"{"name":"Müller","plz":null}"#]
    {
        post_text(&mill, KUNDEN, "a", body).refused(409, "IDEMPOTENZ_KONFLIKT");
    }
    post_text(&mill, "/api/v1/chargen", "a", r#"{"name":"Müller"}"#).refused(409, "IDEMPOTENZ_KONFLIKT");
    post_text(&mill, KUNDEN, "b", "{").refused(400, "UNGUELTIGES_JSON");
    assert_eq!(count(&mill, KUNDEN), 1);
}

#[test]
fn only_successes_are_kept() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let body = json!({"name": "Müller", "kundennr": "7"});
    post(&mill, KUNDEN, "a", &json!({})).refused(400, "NAME_FEHLT");
    let first = post(&mill, KUNDEN, "a", &body);
    first.is(201);
    post(&mill, KUNDEN, "b", &body).refused(409, "KUNDENNR_BEREITS_VERGEBEN");
    let free = json!({"name": "Müller", "kundennr": "8"});
    post(&mill, KUNDEN, "b", &free).is(201);
    assert_eq!(post(&mill, KUNDEN, "a", &body).bytes, first.bytes);
    assert_eq!(count(&mill, KUNDEN), 2);
}

#[test]
fn two_parallel_first_calls_are_done_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for round in 0..10 {
        let key = format!("r-{round}");
        let answers: Vec<Answer> = thread::scope(|scope| {
            let call = || post(&mill, KUNDEN, &key, &json!({"name": "Müller"}));
            let calls: Vec<_> = (0..4).map(|_| scope.spawn(call)).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| answer.status == 201 && answer.bytes == answers[0].bytes));
        assert_eq!(count(&mill, KUNDEN), round + 1);
    }
}

#[test]
fn a_key_belongs_to_one_api_key_and_one_company() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let second_key = server.key(mill.tenant, partnerd::rules::choice::Choice::ALL);
    let ids = [&mill, &second_key, &other].map(|client| {
        let answer = post(client, KUNDEN, "a", &json!({"name": "Müller"}));
        answer.is(201);
        answer.id()
    });
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    assert_eq!((count(&mill, KUNDEN), count(&other, KUNDEN)), (json!(2), json!(1)));
}

#[test]
fn answers_are_kept_for_seven_days_and_then_dropped() {
    let mut server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = server.company("Mühle");
    let body = json!({"name": "Müller"});
    let first = post(&mill, KUNDEN, "a", &body);
    first.is(201);
    server.set_clock("2026-07-17T09:59:59Z");
    assert_eq!(post(&mill, KUNDEN, "a", &body).bytes, first.bytes);
    server.set_clock("2026-07-17T10:00:01Z");
    post(&mill, KUNDEN, "b", &body).is(201);
    post(&mill, KUNDEN, "a", &json!({"name": "Meier"})).is(201);
    assert_eq!(count(&mill, KUNDEN), 3);
    // Both expire by themselves, whether or not a key is sent again.
    server.restart_at("2026-07-25T10:00:00Z");
    server.client(mill.tenant, mill.key).get(KUNDEN).is(200);
    server.restart();
    let until = Instant::now() + Duration::from_secs(60);
    while server.sql::<i64>("select count(*) from idempotenz") > 0 {
        assert!(Instant::now() < until, "old answers are still there");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_post_takes_the_key_and_nothing_else_does() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunde = post(&mill, KUNDEN, "k", &json!({"name": "Müller"})).id();
    let item = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5});
    let beleg = json!({"beleg_typ": "RE", "kunden_id": kunde, "items": [item]});
    let id = post(&mill, "/api/v1/belege", "1", &beleg).id();
    let rows = [
        ("/api/v1/belege".to_owned(), beleg),
        (format!("/api/v1/belege/{id}/abschliessen"), json!({})),
        (format!("/api/v1/belege/{id}/storno"), json!({"grund": "falsch"})),
        (format!("/api/v1/kunden/{kunde}/dokumente"), json!({"dateiname": "a.txt", "inhalt_base64": "QQ=="})),
        ("/api/v1/produktionsauftraege".to_owned(), json!({})),
        ("/api/v1/wiegungen".to_owned(), json!({"waage_id": 1, "gewicht_erst_kg": 5, "partner_id": kunde})),
    ];
    for (at, (path, body)) in rows.iter().enumerate() {
        let key = (at + 1).to_string();
        let first = post(&mill, path, &key, body);
        assert!(matches!(first.status, 200 | 201), "{path}: {}", first.body);
        assert_eq!(post(&mill, path, &key, body).bytes, first.bytes, "{path}");
    }
    assert_eq!(count(&mill, "/api/v1/belege"), 2, "the invoice and its counter document");
    let change = |plz: &str| {
        let body = json!({"plz": plz}).to_string();
        mill.send("PUT", &format!("{KUNDEN}/{kunde}"), &[("Idempotency-Key", "p")], Some(body.as_bytes()))
    };
    change("1").is(200);
    assert_eq!(change("2").is(200)["plz"], "2", "a PUT repeats itself anyway");
}

#[test]
fn a_key_that_is_none_is_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let body = json!({"name": "Müller"});
    for key in ["", "   ", &"x".repeat(256)] {
        post(&mill, KUNDEN, key, &body).refused(400, "ANFRAGE_UNGUELTIG");
    }
    let twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")];
    let text = body.to_string();
    mill.send("POST", KUNDEN, &twice, Some(text.as_bytes())).refused(400, "ANFRAGE_UNGUELTIG");
    post(&mill, KUNDEN, &"x".repeat(255), &body).is(201);
    let reader = server.key(mill.tenant, &[partnerd::rules::scope::Scope::KundenRead]);
    post(&reader, KUNDEN, &"x".repeat(255), &body).refused(403, "SCOPE_FEHLT");
}
