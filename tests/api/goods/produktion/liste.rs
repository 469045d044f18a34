//! The list of production orders, and who may read and write them (specification; D3, D16).

use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use super::{PATH, UNKNOWN, id_of, miller, miller_with, order, post, put};
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

fn list(mill: &Mill<'_>, query: &str) -> Answer {
    mill.client.get(&format!("{PATH}?{query}"))
}

/// The last digits of the order numbers.
fn numbers(answer: &Answer) -> String {
    let rows = answer.is(200).as_array().unwrap();
    rows.iter().map(|row| row["pa_nummer"].as_str().unwrap().chars().last().unwrap()).collect()
}

/// Creates six orders: 1 and 5 without a date, the others on three days; 2 uses recipe 2, 3 and 5 use recipe 1.
fn six_orders(mill: &Mill<'_>) {
    let rows = [
        (Value::Null, Value::Null, "schwebend"),
        (json!("2026-07-02"), json!(2), "geplant"),
        (json!("2026-07-03"), json!(1), "storniert"),
        (json!("2026-07-02"), Value::Null, "erledigt"),
        (Value::Null, json!(1), "in_bearbeitung"),
        (json!("2026-07-01"), Value::Null, "in_bearbeitung"),
    ];
    for (day, rezeptur, status) in rows {
        let new = post(mill, json!({"produktions_datum": day, "rezeptur_id": rezeptur}));
        if new.is(201)["status"] != status {
            put(mill, &new.id(), status, json!({})).is(200);
        }
    }
}

#[test]
fn orders_are_filtered_and_the_latest_day_stands_first() {
    let server = Server::start();
    let mill = miller(&server);
    six_orders(&mill);
    let [wheat, flour, sacks, rye] = ["W", "M", "S", "R"].map(|number| mill.artikel_id(number));
    let rows = [
        (String::new(), "324615"),
        ("status=schwebend".to_owned(), "1"),
        ("status=geplant".to_owned(), "2"),
        ("status=in_bearbeitung".to_owned(), "65"),
        ("status=erledigt".to_owned(), "4"),
        ("status=storniert".to_owned(), "3"),
        ("datum_von=2026-07-02".to_owned(), "324"),
        ("datum_bis=2026-07-02".to_owned(), "246"),
        ("datum_von=2026-07-02&datum_bis=2026-07-02".to_owned(), "24"),
        ("datum_von=2026-07-03&datum_bis=2026-07-02".to_owned(), ""),
        (format!("artikel_id={wheat}"), "35"),
        (format!("artikel_id={flour}"), "35"),
        (format!("artikel_id={sacks}"), "2"),
        (format!("artikel_id={rye}"), ""),
        (format!("artikel_id={UNKNOWN}"), ""),
        (format!("artikel_id={wheat}&status=in_bearbeitung"), "5"),
    ];
    for (query, expected) in rows {
        let answer = list(&mill, &query);
        assert_eq!(numbers(&answer), expected, "{query}");
        assert_eq!(answer.headers["x-total-count"], expected.len().to_string(), "{query}");
    }
    for (query, page) in [("limit=2", "32"), ("limit=2&offset=4", "15"), ("offset=5", "5"), ("limit=0", "")] {
        let answer = list(&mill, query);
        assert_eq!(
            (numbers(&answer).as_str(), answer.headers["x-total-count"].as_str()),
            (page, "6"),
            "{query}"
        );
    }
    assert_eq!(list(&mill, "limit=9000").headers["x-limit"], "5000");
}

#[test]
fn what_cannot_be_filtered_by_is_refused() {
    let server = Server::start();
    let mill = miller(&server);
    for query in ["status=fertig", "artikel_id=W", "limit=-1", "limit=alle", "offset=-1"] {
        assert_eq!(list(&mill, query).status, 400, "{query}");
    }
    for query in ["datum_von=gestern", "datum_bis=2026-02-30"] {
        list(&mill, query).refused(400, "DATUM_UNGUELTIG");
    }
    for query in ["von=2026-07-01", "rezeptur_id=1", "suche=x"] {
        list(&mill, query).refused(400, "UNBEKANNTER_PARAMETER");
    }
}

#[test]
fn a_list_without_a_limit_gives_all_and_only_of_the_company() {
    let server = Server::start();
    let mill = miller(&server);
    let other = miller_with(&server, "Andere", &[]);
    for _ in 0..110 {
        post(&mill, json!({})).is(201);
    }
    let theirs = order(&other, 1);
    assert_eq!(list(&mill, "").is(200).as_array().unwrap().len(), 110);
    let listed: Vec<_> = list(&other, "").is(200).as_array().unwrap().clone();
    assert_eq!((listed.len(), &listed[0]["id"]), (1, &theirs["id"]));
    assert_eq!(theirs["pa_nummer"], "PA-2026-00001", "each company counts by itself");
    // An article of another company counts as unknown.
    let foreign = format!("artikel_id={}", other.artikel_id("W"));
    assert_eq!(list(&mill, &foreign).is(200), &json!([]));
}

#[test]
fn reading_and_writing_need_a_scope_each() {
    let server = Server::start();
    let mill = miller(&server);
    let tenant = mill.client.tenant;
    let read = server.key(tenant, &[Scope::ProduktionRead]);
    let write = server.key(tenant, &[Scope::ProduktionWrite]);
    let others = server.key(tenant, &[Scope::ChargenRead, Scope::ChargenWrite, Scope::ArtikelRead]);
    let id = write.post(PATH, json!({})).id();
    let (one, status) = (format!("{PATH}/{id}"), format!("{PATH}/{id}/status"));
    let body = json!({"status": "geplant"});
    for client in [&write, &others] {
        client.get(PATH).refused(403, "SCOPE_FEHLT");
        client.get(&one).refused(403, "SCOPE_FEHLT");
    }
    for client in [&read, &others] {
        client.post(PATH, json!({})).refused(403, "SCOPE_FEHLT");
        client.put(&status, body.clone()).refused(403, "SCOPE_FEHLT");
    }
    assert_eq!(read.get(&one).is(200)["status"], "schwebend");
    assert_eq!(read.get(PATH).is(200)[0]["id"], json!(id));
    write.put(&status, body.clone()).is(200);
    server.client(tenant, None).put(&status, and(body, json!({}))).refused(401, "API_KEY_FEHLT");
    mill.client.send("PUT", &one, &[], Some(b"{}")).refused(405, "METHODE_NICHT_ERLAUBT");
    assert_eq!(id_of(&read.get(&one).body), id);
}
