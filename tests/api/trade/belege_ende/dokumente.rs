//! GET /dokumente, the polling list of finalised documents (specification; D11).

use serde_json::{Value, json};

use super::{create, tell};
use crate::harness::{Answer, Server, data};
use crate::trade::lager::Mill;

fn poll(mill: &Mill<'_>, query: &str) -> Answer {
    let answer = mill.client.get(&format!("/api/v1/dokumente?{query}"));
    answer.is(200);
    answer
}

fn numbers(answer: &Answer) -> Vec<String> {
    let rows = answer.is(200).as_array().unwrap();
    rows.iter().map(|row| row["beleg_nummer"].as_str().unwrap().to_owned()).collect()
}

/// Creates a finalised document.
fn finalised(mill: &Mill<'_>, typ: &str) -> String {
    let id = create(mill, typ);
    mill.finalise(&id);
    id
}

#[test]
fn since_begins_at_midnight_in_berlin() {
    let server = Server::start_at("2026-01-01T10:00:00Z");
    let mut rows = data("golden.json")["since"].as_array().unwrap().clone();
    rows.sort_by_key(|row| row["ab_utc"].as_str().unwrap().to_owned());
    assert_eq!(rows.len(), 6);
    for row in rows {
        let (since, from) = (row["since"].as_str().unwrap(), row["ab_utc"].as_str().unwrap());
        let mill = Mill::with(&server, since, &[]);
        // Each of these instants is a full hour.
        let before = format!("{}{:02}:59:59.999Z", &from[..11], from[11..13].parse::<u8>().unwrap() - 1);
        for at in [before.as_str(), from] {
            server.set_clock(at);
            finalised(&mill, "AU");
        }
        let number = format!("AU-{}-00002", &from[..4]);
        for query in [format!("since={since}"), format!("since={from}")] {
            assert_eq!(numbers(&poll(&mill, &query)), [number.as_str()], "{query}");
        }
        assert_eq!(numbers(&poll(&mill, &format!("since={before}"))).len(), 2, "{before}");
        let berlin = from.replace('Z', "%2B00:00");
        assert_eq!(numbers(&poll(&mill, &format!("since={berlin}"))).len(), 1, "{berlin}");
    }
}

#[test]
fn since_is_required_and_is_a_day_or_an_instant() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for query in ["", "?typen=RE"] {
        mill.client.get(&format!("/api/v1/dokumente{query}")).refused(400, "PARAMETER_FEHLT");
    }
    for query in ["since=gestern", "since=10.07.2026", "since=2026-02-30", "since=2026-07-01&typen=RE,XX"] {
        assert_eq!(mill.client.get(&format!("/api/v1/dokumente?{query}")).status, 400, "{query}");
    }
}

#[test]
fn a_row_says_what_the_specification_names() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = finalised(&mill, "RE");
    let answer = poll(&mill, "since=2026-07-10");
    let expected = json!({"id": id, "beleg_typ": "RE", "beleg_nummer": "RE-2026-00001",
        "beleg_datum": "2026-07-10T00:00:00.000Z", "status": "abgeschlossen", "summe_netto": "20.00",
        "summe_mwst": "3.80", "summe_brutto": "23.80", "kunde_id": mill.partner_id("Kd"), "kunde_name": "Kd",
        "pdf_archiv_count": "0", "pdf_letztes": null, "pdf_url": null});
    assert_eq!(answer.body, json!([expected]), "a bare array");
    assert_eq!(answer.headers["x-total-count"], "1");
    server.set_clock("2026-07-10T11:00:00Z");
    tell(&mill, &id, "pdf", json!({"datei_base64": "JVBERi0xLjQgZWlucw=="})).is(201);
    let row = poll(&mill, "since=2026-07-10").body[0].clone();
    assert_eq!(
        (&row["pdf_archiv_count"], &row["pdf_letztes"]),
        (&json!("1"), &json!("2026-07-10T11:00:00.000Z"))
    );
    assert!(row["pdf_url"].as_str().unwrap().ends_with(&format!("/api/v1/belege/{id}/pdf")), "{row}");
}

#[test]
fn only_documents_that_were_final_once_are_listed_in_order_of_their_events() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let back_dated = json!({"beleg_typ": "AU", "kundennummer": "Kd", "beleg_datum": "2020-01-01",
        "items": [{"artikelnr": "S", "menge": 1}]});
    let first = finalised(&mill, "RE");
    let second = mill.client.post("/api/v1/belege", back_dated).id();
    let third = create(&mill, "LS");
    create(&mill, "RE");
    let never = create(&mill, "RE");
    mill.storno(&never).is(200);
    mill.finalise(&third);
    mill.finalise(&second);
    let all = |name: &str, expected: &[&str]| {
        assert_eq!(numbers(&poll(&mill, "since=2026-07-10")), expected, "{name}");
    };
    all("by event, never by date", &["RE-2026-00001", "LS-2026-00001", "AU-2020-00001"]);
    tell(&mill, &third, "pdf", json!({"datei_base64": "JVBERi0xLjQgZWlucw=="})).is(201);
    all("a PDF that came later", &["RE-2026-00001", "AU-2020-00001", "LS-2026-00001"]);
    mill.storno(&second).is(200);
    all("a cancelled one stays", &["RE-2026-00001", "LS-2026-00001", "AU-2020-00001"]);
    mill.storno(&first).is(200);
    let listed = numbers(&poll(&mill, "since=2026-07-10"));
    assert_eq!(listed[..2], ["LS-2026-00001", "AU-2020-00001"]);
    let mut counter = listed[2..].to_vec();
    counter.sort();
    assert_eq!(counter, ["RE-2026-00001", "RE-2026-00004"], "the counter document is final, too");
}

#[test]
fn typen_and_status_select() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["AN", "AU", "LS", "RE", "BS", "EL", "ER"] {
        finalised(&mill, typ);
    }
    let cancelled = finalised(&mill, "LS");
    mill.storno(&cancelled).is(200);
    let rows = [
        ("typen=RE", "RE1"),
        ("typen=VR,vl", "LS1 RE1 LS2"),
        ("typen=el,ER", "EL1 ER1"),
        ("typen=LS&status=storniert", "LS2"),
        ("status=abgeschlossen", "AN1 AU1 LS1 RE1 BS1 EL1 ER1"),
        ("status=offen", ""),
        ("limit=2&offset=1", "AU1 LS1"),
    ];
    for (query, expected) in rows {
        let answer = poll(&mill, &format!("since=2026-07-10&{query}"));
        let short: Vec<_> = numbers(&answer).iter().map(|n| n.replace("-2026-0000", "")).collect();
        assert_eq!(short.join(" "), expected, "{query}");
        let empty = expected.is_empty();
        assert_eq!(answer.headers.contains_key("x-next-since"), !empty, "{query}: absent on an empty page");
    }
    let page = poll(&mill, "since=2026-07-10&limit=2");
    assert_eq!(page.headers["x-total-count"], "8");
}

#[test]
fn the_next_since_brings_the_last_row_once_more_and_then_what_is_new() {
    let server = Server::start();
    let mill = Mill::of(&server);
    // The clock stands still, but the events still differ.
    let ids: Vec<String> = (0..4).map(|_| finalised(&mill, "RE")).collect();
    let next = |answer: &Answer| answer.headers["x-next-since"].clone();
    let page = poll(&mill, "since=2026-07-10&limit=2");
    assert_eq!(numbers(&page), ["RE-2026-00001", "RE-2026-00002"]);
    let page = poll(&mill, &format!("since={}&limit=2", next(&page)));
    assert_eq!(numbers(&page), ["RE-2026-00002", "RE-2026-00003"]);
    let page = poll(&mill, &format!("since={}", next(&page)));
    assert_eq!(numbers(&page), ["RE-2026-00003", "RE-2026-00004"]);
    let last = next(&page);
    let page = poll(&mill, &format!("since={last}"));
    assert_eq!((numbers(&page), next(&page)), (vec!["RE-2026-00004".to_owned()], last.clone()));
    // A clock that goes back loses no events.
    server.set_clock("2026-07-10T09:00:00Z");
    tell(&mill, &ids[0], "pdf", json!({"datei_base64": "JVBERi0xLjQgZWlucw=="})).is(201);
    finalised(&mill, "RE");
    let page = poll(&mill, &format!("since={last}"));
    assert_eq!(numbers(&page), ["RE-2026-00004", "RE-2026-00001", "RE-2026-00005"]);
    let empty = poll(&mill, "since=2026-07-11");
    assert_eq!((&empty.body, empty.headers.get("x-next-since")), (&json!([]), None));
}

#[test]
fn an_unchanged_list_is_not_sent_again() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = finalised(&mill, "RE");
    let path = "/api/v1/dokumente?since=2026-07-10";
    let etag = mill.client.get(path).headers["etag"].clone();
    assert!(etag.starts_with("W/\"") && etag.ends_with('"'), "{etag}");
    let again = |etag: &str| mill.client.send("GET", path, &[("if-none-match", etag)], None);
    let same = again(&etag);
    assert_eq!((same.status, same.bytes.len(), &same.headers["etag"]), (304, 0, &etag));
    let changes: [(&str, Value); 2] =
        [("pdf", json!({"datei_base64": "JVBERi0xLjQgZWlucw=="})), ("storno", json!({"grund": "x"}))];
    let mut seen = vec![etag];
    for (what, body) in changes {
        tell(&mill, &id, what, body).id();
        let answer = again(seen.last().unwrap());
        assert_eq!(answer.status, 200, "{what}");
        assert!(!seen.contains(&answer.headers["etag"]), "{what}");
        seen.push(answer.headers["etag"].clone());
    }
}
