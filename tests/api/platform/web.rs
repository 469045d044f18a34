//! Browsers and caches: compression, entity tags, pages of other origins, the documentation page.

use std::io::Read;

use flate2::read::GzDecoder;
use partnerd::platform::gate::{Origins, Policy};
use partnerd::platform::http::reply::Reply;
use partnerd::platform::http::route::Deprecation;
use serde_json::json;

use crate::harness::{Answer, Client, NOON, Server};

fn get(client: &Client, path: &str, headers: &[(&str, &str)]) -> Answer {
    client.send("GET", path, headers, None)
}

fn plain(answer: &Answer) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(answer.bytes.as_slice()).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn an_answer_is_compressed_where_that_is_asked_for_and_worth_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = "/api/v1/laender";
    let whole = get(&mill, path, &[]);
    assert!(!whole.headers.contains_key("content-encoding"));
    let asked = ["gzip", "br, gzip", "GZIP;q=0.5", "*", "deflate, *;q=0.1", "identity;q=0, gzip;q=1.0"];
    for asked in asked {
        let answer = get(&mill, path, &[("accept-encoding", asked)]);
        assert_eq!(answer.headers["content-encoding"], "gzip", "{asked}");
        assert_eq!(
            (plain(&answer), answer.headers["vary"].as_str()),
            (whole.bytes.clone(), "accept-encoding")
        );
        assert!(answer.bytes.len() * 3 < whole.bytes.len());
    }
    for refused in ["", "br", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "xgzip"] {
        let answer = get(&mill, path, &[("accept-encoding", refused)]);
        assert!(!answer.headers.contains_key("content-encoding"), "{refused}");
        assert_eq!((&answer.bytes, answer.headers["vary"].as_str()), (&whole.bytes, "accept-encoding"));
    }
    let small = get(&mill, "/api/v1/laender?limit=1", &[("accept-encoding", "gzip")]);
    assert!(small.bytes.len() < 1_024 && !small.headers.contains_key("content-encoding"));
    // A refusal is small; an answer to a write may be large.
    let items = vec![json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "0.001234567"}); 50];
    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items}).to_string();
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    let answer = mill.send("POST", "/api/v1/belege", &[("accept-encoding", "gzip")], Some(body.as_bytes()));
    assert_eq!(answer.headers["content-encoding"], "gzip");
    answer.is(201);
}

/// A compressed answer has its own tag; every form of the tag is recognised.
#[test]
fn what_a_client_has_already_is_not_sent_again() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Huber", "notizen": "x".repeat(2_000)})).id();
    let file = json!({"dateiname": "a.txt", "inhalt_base64": "QUJD"});
    let kunde = format!("/api/v1/kunden/{id}");
    let anhang = mill.post(&format!("{kunde}/dokumente"), file).id();
    let paths = [
        "/api/v1/laender".to_owned(),
        "/api/v1/artikelgruppen".to_owned(),
        format!("{kunde}/dokumente/{anhang}"),
        kunde.clone(),
        "/openapi.json".to_owned(),
        "/docs".to_owned(),
        "/docs/swagger-ui.css".to_owned(),
    ];
    for path in paths {
        for encoding in ["identity", "gzip"] {
            let first = get(&mill, &path, &[("accept-encoding", encoding)]);
            let tag = first.headers["etag"].as_str();
            for known in [tag.to_owned(), format!("\"other\", {tag}"), "*".to_owned()] {
                let again = get(&mill, &path, &[("accept-encoding", encoding), ("if-none-match", &known)]);
                assert_eq!((again.status, again.bytes.len()), (304, 0), "{path} {known}");
            }
            let other = get(&mill, &path, &[("if-none-match", "\"other\"")]);
            assert_eq!((other.status, other.bytes.is_empty()), (200, false), "{path}");
        }
    }
    // The tag of a compressed resource is valid for If-Match, too.
    let tag = get(&mill, &kunde, &[("accept-encoding", "gzip")]).headers["etag"].clone();
    assert!(tag.ends_with("-gzip\""), "{tag}");
    let change = |body: &str| mill.send("PUT", &kunde, &[("if-match", &tag)], Some(body.as_bytes()));
    change(r#"{"ort": "Ulm"}"#).is(200);
    change(r#"{"ort": "Aalen"}"#).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
}

#[test]
fn pages_of_other_origins_may_call_only_where_that_is_configured() {
    let page = "https://shop.example";
    let ask = [
        ("origin", page),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "x-api-key"),
    ];
    let closed = Server::start();
    let mill = closed.company("Mühle");
    let answer = get(&mill, "/api/v1/laender", &[("origin", page)]);
    assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")), "{:?}", answer.headers);
    closed.client(0, None).send("OPTIONS", "/api/v1/kunden", &ask, None).refused(401, "API_KEY_FEHLT");

    let origins = Origins(vec![page.to_owned(), "http://localhost:5173".to_owned()]);
    let open = Server::start_with(NOON, Policy { origins, ..Policy::default() });
    let mill = open.company("Mühle");
    let stranger = open.client(0, None);
    let preflight = stranger.send("OPTIONS", "/api/v1/kunden", &ask, None);
    assert_eq!((preflight.status, preflight.headers["access-control-allow-origin"].as_str()), (204, page));
    assert!(preflight.headers["access-control-allow-headers"].contains("x-api-key"));
    assert!(preflight.headers["access-control-allow-methods"].contains("PUT"));
    for (path, status) in
        [("/api/v1/laender", 200), ("/api/v1/gibt/es/nicht", 404), ("/api/v1/laender?x=1", 400)]
    {
        let answer = get(&mill, path, &[("origin", page)]);
        assert_eq!(
            (answer.status, answer.headers["access-control-allow-origin"].as_str()),
            (status, page),
            "{path}"
        );
        assert!(answer.headers["access-control-expose-headers"].contains("x-total-count"));
    }
    let written = mill.send("POST", "/api/v1/kunden", &[("origin", page)], Some(br#"{"name": "Huber"}"#));
    assert_eq!((written.status, written.headers["access-control-allow-origin"].as_str()), (201, page));
    let refused = get(&stranger, "/api/v1/kunden", &[("origin", page)]);
    assert_eq!((refused.status, refused.headers["access-control-allow-origin"].as_str()), (401, page));
    for other in ["https://shop.example.org", "http://shop.example", "https://shop.example:8443", "null", ""]
    {
        let answer = get(&mill, "/api/v1/laender", &[("origin", other), ("accept-encoding", "gzip")]);
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{other}");
        assert_eq!(answer.headers["vary"], "origin, accept-encoding");
        let ask = [("origin", other), ("access-control-request-method", "POST")];
        mill.send("OPTIONS", "/api/v1/kunden", &ask, None).refused(405, "METHODE_NICHT_ERLAUBT");
    }
}

#[test]
fn the_page_of_the_documentation_asks_nobody_else() {
    let server = Server::start();
    let reader = server.client(0, None);
    let page = get(&reader, "/docs", &[]);
    assert!(page.headers["content-security-policy"].starts_with("default-src 'none'; script-src 'self';"));
    let mut text = String::from_utf8(page.bytes).unwrap();
    // The files that the page loads, and those that its script imports.
    text += &String::from_utf8(get(&reader, "/docs/docs.js", &[]).bytes).unwrap();
    let files: Vec<&str> = text.split('"').filter(|part| part.starts_with("/docs/")).collect();
    assert_eq!(files.len(), 9, "{text}");
    assert!(!text.contains("http"), "{text}");
    for file in files {
        let whole = get(&reader, file, &[]);
        let compressed = get(&reader, file, &[("accept-encoding", "gzip")]);
        assert_eq!(whole.status, 200, "{file}");
        if compressed.headers.contains_key("content-encoding") {
            assert_eq!(plain(&compressed), whole.bytes, "{file}");
        }
        assert!(compressed.bytes.len() < 500_000, "{file} is large");
    }
    let license = get(&reader, "/docs/LICENSE", &[]);
    assert!(String::from_utf8(license.bytes).unwrap().contains("Apache License"));
    for missing in ["/docs/gibt-es-nicht.js", "/docs/..", "/docs/mod.rs"] {
        get(&reader, missing, &[]).refused(404, "NICHT_GEFUNDEN");
    }
}

/// No route is deprecated yet; the row of the table already supports it.
#[test]
fn a_deprecated_route_says_so() {
    let deprecation = Deprecation { since: 1_798_761_600, sunset: "Fri, 31 Dec 2027 23:59:59 GMT" };
    let reply = deprecation.shown_in(Reply::default());
    let expected =
        [("deprecation", "@1798761600".to_owned()), ("sunset", "Fri, 31 Dec 2027 23:59:59 GMT".to_owned())];
    assert_eq!(reply.headers, expected);
}
