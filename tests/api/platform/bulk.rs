//! Many records in one request (D28): each item is answered as if it had come alone.

use std::io::Write;
use std::net::TcpStream;

use partnerd::platform::gate::access::key::Grant;
use partnerd::rules::choice::Choice;
use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};
use crate::trade::lager::{Mill, buy};

fn post(client: &Client, place: &str, items: Value) -> Answer {
    client.post(&format!("/api/v1/{place}/stapel"), json!({"items": items}))
}

/// The statuses of the items, in order.
fn statuses(answer: &Answer) -> Vec<i64> {
    answer.is(200)["data"].as_array().unwrap().iter().map(|item| item["status"].as_i64().unwrap()).collect()
}

#[test]
fn items_are_answered_in_their_order_as_if_each_had_come_alone() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let kunden =
        [json!({"name": "A", "kundennr": "A"}), json!({}), json!({"name": "A2", "kundennr": "a"}), json!(7)];
    let answer = post(&mill.client, "kunden", json!(kunden));
    assert_eq!(statuses(&answer), [201, 400, 409, 400]);
    assert_eq!((&answer.body["angelegt"], &answer.body["abgelehnt"]), (&json!(1), &json!(3)));
    let codes = ["NAME_FEHLT", "KUNDENNR_BEREITS_VERGEBEN", "UNGUELTIGES_JSON"];
    for (at, code) in codes.into_iter().enumerate() {
        assert_eq!(answer.body["data"][at + 1]["antwort"]["error"], code);
    }
    let id = answer.body["data"][0]["antwort"]["id"].as_str().unwrap();
    mill.client.get(&format!("/api/v1/kunden/{id}")).is(200);
    // An item that fails after writing does not affect its neighbours; a repeated item returns the first one.
    let beleg = |external_ref: &str, menge: i64| {
        json!({"beleg_typ": "EL", "kundennummer": "Hof",
        "external_ref": external_ref, "items": [buy(menge, "C1")]})
    };
    let refused = json!({"beleg_typ": "EL", "kundennummer": "Hof",
        "items": [buy(5, "C2"), {"artikelnr": "W", "menge": 1, "charge_id": "0197f000-0000-7000-8000-000000000000"}]});
    let answer = post(&mill.client, "belege", json!([beleg("1", 5), refused, beleg("1", 5), beleg("2", 7)]));
    assert_eq!(statuses(&answer), [201, 400, 200, 201], "{}", answer.body);
    let id = |at: usize| answer.body["data"][at]["antwort"]["id"].clone();
    assert_eq!((id(0), answer.body["angelegt"].clone()), (id(2), json!(2)));
    assert_eq!(mill.stock("C1"), "12.000");
    let hof = mill.partner_id("Hof");
    let erst = json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": hof});
    assert_eq!(statuses(&post(&mill.client, "wiegungen", json!([erst, {"waage_id": 1}]))), [201, 400]);
    // The numbers have no gap, and the feed contains all of them.
    let told = mill.client.get("/api/v1/aenderungen?seit=alles&arten=beleg,wiegung");
    assert_eq!(told.is(200)["data"].as_array().unwrap().len(), 3);
}

#[test]
fn two_hundred_are_taken_and_no_more() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunden = |count: usize| (0..count).map(|at| json!({"name": format!("K{at}")})).collect::<Vec<_>>();
    let answer = post(&mill, "kunden", json!(kunden(200)));
    assert_eq!((statuses(&answer), &answer.body["angelegt"]), (vec![201; 200], &json!(200)));
    let numbers = answer.body["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["antwort"]["kunden_id"].as_i64().unwrap());
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=200).collect::<Vec<_>>());
    for (body, code) in [
        (json!({"items": kunden(201)}).to_string(), "WERT_UNGUELTIG"),
        (json!({"items": "x"}).to_string(), "FELD_UNGUELTIG"),
        (json!({"items": [], "mehr": 1}).to_string(), "FELD_UNGUELTIG"),
        (json!({"items": null}).to_string(), "FELD_FEHLT"),
        ("{}".to_owned(), "FELD_FEHLT"),
        (json!({"items": []}).to_string(), "FELD_FEHLT"),
        (" []".to_owned(), "UNGUELTIGES_JSON"),
        (json!([kunden(1)]).to_string(), "UNGUELTIGES_JSON"),
        (json!(kunden(1)).to_string(), "UNGUELTIGES_JSON"),
        ("{\"items\": [".to_owned(), "UNGUELTIGES_JSON"),
        (String::new(), "UNGUELTIGES_JSON"),
    ] {
        mill.send("POST", "/api/v1/kunden/stapel", &[], Some(body.as_bytes())).refused(400, code);
    }
    // The request may be as large as an upload, and each item as large as alone.
    let long = |bytes: usize| json!({"name": "A", "notizen": "x".repeat(bytes)});
    let answer = post(&mill, "kunden", json!([long(2 << 20), long(10)]));
    assert_eq!(statuses(&answer), [413, 201]);
    let answer = mill.post("/api/v1/kunden/stapel", json!({"items": vec![long(1 << 20); 15]}));
    answer.refused(413, "ZU_GROSS");
}

#[test]
fn a_client_that_hangs_up_stops_no_item() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunden: Vec<_> = (0..200).map(|at| json!({"name": format!("K{at}")})).collect();
    let body = json!({"items": kunden}).to_string();
    let key = mill.key.as_ref().unwrap();
    let length = body.len();
    let head = format!(
        "POST /api/v1/kunden/stapel HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Length: {length}\r\n\r\n"
    );
    TcpStream::connect(server.address).unwrap().write_all(format!("{head}{body}").as_bytes()).unwrap();
    // It is carried out in thirteen batches; the first ones may be visible before the last.
    while mill.get("/api/v1/kunden?limit=500").is(200)["data"].as_array().unwrap().len() < 200 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn each_item_is_one_of_the_day_s_requests_and_has_its_row() {
    let mut server = Server::start();
    let tenant = server.company("Mühle").tenant;
    let grant =
        Grant { scopes: Scope::ALL.iter().copied().collect(), daily_limit: Some(5), ..Grant::default() };
    let client = server.key_with(tenant, grant);
    let items: Vec<_> = (0..6).map(|at| json!({"name": format!("K{at}")})).collect();
    let answer = post(&client, "kunden", json!(items));
    // The request itself counts as one of them.
    assert_eq!(statuses(&answer), [201, 201, 201, 201, 429, 429]);
    assert_eq!(answer.body["data"][4]["antwort"]["error"], "TAGESLIMIT_ERREICHT");
    assert_eq!(answer.headers["x-ratelimit-remaining"], "0");
    client.get("/api/v1/kunden").refused(429, "TAGESLIMIT_ERREICHT");
    server.restart();
    let count = |pfad: &str, status: u16| {
        let from = "select count(*) from audit where methode = 'POST'";
        server.sql::<i64>(&format!("{from} and pfad = '/api/v1/{pfad}' and status = {status}"))
    };
    assert_eq!([count("kunden", 201), count("kunden", 429), count("kunden/stapel", 200)], [4, 2, 1]);
    let client = server.client(tenant, client.key);
    client.get("/api/v1/kunden").refused(429, "TAGESLIMIT_ERREICHT");
}

#[test]
fn an_idempotency_key_holds_for_each_item() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let send = |items: Value| {
        let body = json!({"items": items}).to_string();
        mill.send("POST", "/api/v1/kunden/stapel", &[("idempotency-key", "x")], Some(body.as_bytes()))
    };
    let first = send(json!([{"name": "A"}, {"name": "B"}]));
    let again = send(json!([{"name": "A"}, {"name": "B"}, {"name": "C"}]));
    assert_eq!((statuses(&first), statuses(&again)), (vec![201; 2], vec![201; 3]));
    assert_eq!(first.body["data"][1], again.body["data"][1]);
    assert_eq!(mill.get("/api/v1/kunden").is(200)["count"], 3);
    assert_eq!(statuses(&send(json!([{"name": "Anders"}]))), [409]);
    // A key that is invalid for any item is refused for all of them.
    for key in ["ö".to_owned(), String::new(), "x".repeat(252)] {
        let body = json!({"items": [{"name": "A"}]}).to_string();
        let headers = [("idempotency-key", key.as_str())];
        let refused = mill.send("POST", "/api/v1/kunden/stapel", &headers, Some(body.as_bytes()));
        refused.refused(400, "ANFRAGE_UNGUELTIG");
    }
    assert_eq!(mill.get("/api/v1/kunden").is(200)["count"], 3);
}
