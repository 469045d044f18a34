//! The declared page sizes apply if no limit is sent, and a limit above the maximum is cut (specification,
//! Limits; D16). `tests/project/description.rs` compares the declarations with the specification.

use partnerd::platform::http::param::ParamKind;
use partnerd::platform::http::route::Route;
use serde_json::{Value, json};

use super::complete::named;
use crate::harness::{Client, Server};

/// Routes with a page size, further required parameters, and the rows returned without a limit.
fn defaults() -> Vec<(&'static str, &'static str, usize)> {
    let default = |route: &Route| {
        let mut sizes = route.query.iter().filter_map(|param| match param.kind {
            ParamKind::Limit(size) => size,
            _ => None,
        });
        sizes.next_back().map(|size| size as usize)
    };
    let besides = |name| match name {
        "/chargen/verfuegbar" => "artikelnr=W",
        "/aenderungen" => "seit=alles",
        "/berichte/belege" => "von=2026-07-01&bis=2026-07-01",
        _ => "",
    };
    let sized = named().filter_map(|(name, route)| Some((name, besides(name), default(route)?)));
    sized.collect()
}

/// Rows of a list: more than the largest default.
const MANY: usize = 501;

/// A JSON file with that many rows.
fn file(rows: usize, row: impl Fn(usize) -> Value) -> String {
    Value::Array((0..rows).map(row).collect()).to_string()
}

/// Creates a company with more records of each kind than a page shows.
fn crowded(server: &Server) -> Client {
    let client = server.company("Viele");
    let files = [
        ("kunden", file(MANY, |n| json!({"kundennr": format!("K-{n}"), "name": "Kunde"}))),
        ("artikel", json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg"}]).to_string()),
        ("artikel", file(MANY, |n| json!({"artikelnummer": format!("A-{n}"), "bezeichnung": "Artikel"}))),
        (
            "chargen",
            file(MANY, |n| json!({"artikelnummer": "W", "charge_nr": format!("C-{n}"), "bestand": 1})),
        ),
        (
            "barverkaeufe",
            file(MANY, |n| {
                json!({"bon_nr": format!("B-{n}"), "kassiert_at": "2026-07-01T10:00:00Z",
                    "bezeichnung": "Mehl", "menge": 1, "einzelpreis": 2, "mwst_satz": 7})
            }),
        ),
    ];
    for (kind, file) in files {
        server.import(&client, kind, &file);
    }
    let partner = client.get("/api/v1/kunden?limit=1").is(200)["data"][0]["id"].clone();
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 1, "partner_id": partner});
    let quote = json!({"beleg_typ": "AN", "kundennummer": "K-1",
        "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1}]});
    for _ in 0..101 {
        client.post("/api/v1/wiegungen", weighing.clone()).is(201);
    }
    for _ in 0..51 {
        client.post("/api/v1/belege", quote.clone()).is(201);
    }
    let note = json!({"kundennummer": "K-1", "artikelnr": "W", "anliefermenge_kg": 1000, "preis_je_t": 200});
    let note = client.post("/api/v1/annahmescheine", note).id();
    let advance = json!({"art": "abschlag", "annahmeschein_ids": [note], "abschlag": {"prozent": 1}});
    for _ in 0..51 {
        client.post("/api/v1/abrechnungen", advance.clone()).is(201);
    }
    let advised = [
        ("datev_berater", "1001"),
        ("datev_mandant", "1"),
        ("datev_ab", "2026-01-01"),
        ("abschluss_bei_anlage", "RE"),
    ];
    server.set(&client, &advised);
    server.import(&client, "konten", "fall;satz;konto\nerloes;7;8300\n");
    for _ in 0..51 {
        let invoice = json!({"beleg_typ": "RE", "kundennummer": "K-1", "beleg_datum": "2026-07-01",
            "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1}]});
        client.post("/api/v1/belege", invoice).is(201);
        client.post("/api/v1/datev/stapel", json!({"bis": "2026-07-01"})).is(201);
    }
    client
}

#[test]
fn without_a_limit_a_list_gives_the_declared_page() {
    let server = Server::start();
    let client = crowded(&server);
    let defaults = defaults();
    assert!(defaults.len() >= 7, "{defaults:?}");
    for (route, more, default) in defaults {
        let rows = |query: &str| {
            let answer = client.get(&format!("/api/v1{route}?{query}"));
            let body = answer.is(200);
            let rows = body.as_array().or_else(|| body["data"].as_array()).unwrap().clone();
            let cursor = body.get("cursor").map(|cursor| format!("seit={}", cursor.as_str().unwrap()));
            (rows, answer.headers.get("x-limit").cloned(), cursor)
        };
        let (all, cut, _) = rows(&format!("{more}&limit=5001"));
        assert!(all.len() > default, "{route} has too few rows");
        assert_eq!(cut.as_deref(), Some("5000"), "{route}");
        let (page, cut, cursor) = rows(more);
        assert_eq!((page.as_slice(), cut), (&all[..default], None), "{route}");
        let (next, ..) = rows(&cursor.unwrap_or_else(|| format!("{more}&offset={default}")));
        assert_eq!(next[0], all[default], "{route}: the next page follows");
    }
}
