//! The checks before the route of every request: key, path, method, scope, body, in the order of D19; and the
//! audit row it leaves.

use std::io::{Read, Write};
use std::net::TcpStream;

use partnerd::interface::routes;
use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::access::key::{self, Grant};
use partnerd::platform::http::route::{Access, Method};
use partnerd::rules::choice::Choice;
use partnerd::rules::day::Day;
use partnerd::rules::scope::{Scope, ScopeSet};
use serde_json::{Value, json};

use crate::harness::{Answer, Client, NOON, Server};

/// An id that no record has.
const NOBODY: &str = "0197f000-0000-7000-8000-000000000000";

/// The scope of each route with a key, from its row; empty means any valid key. The scopes are reviewed in
/// `docs/api.md`, and `tests/project/documents.rs` compares the two.
fn scopes() -> Vec<(String, &'static str)> {
    let keyed = routes::all().filter_map(|route| match route.access {
        Access::Open => None,
        Access::AnyKey => Some((route.name(), "")),
        Access::Scope(scope) => Some((route.name(), scope.as_str())),
    });
    keyed.collect()
}

/// Sets the server's clock this many minutes after noon: answers 401 are limited per minute (D20).
fn minute(server: &Server, minutes: usize) {
    let (hour, minute) = (10 + minutes / 60, minutes % 60);
    server.set_clock(&format!("2026-07-10T{hour:02}:{minute:02}:00Z"));
}

/// The public part of a client's key.
fn key_id(client: &Client) -> String {
    client.key.as_ref().unwrap().split('_').nth(1).unwrap().to_owned()
}

/// The answer without the parts that differ in each request.
fn anonymous(answer: &Answer) -> Value {
    let mut body = answer.body.clone();
    body.as_object_mut().unwrap().remove("request_id");
    body
}

/// The status of a request that no ordinary client sends.
fn raw(server: &Server, request: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(server.address).unwrap();
    // The server may answer before it has read everything.
    let _ = stream.write_all(request);
    let mut answer = [0u8; 12];
    stream.read_exact(&mut answer).unwrap();
    std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
}

/// Method, client, path and body of a request, and the expected status and code.
type Case<'c> = (&'c str, &'c Client, &'c str, &'c str, Option<&'c str>, u16, &'c str);

/// Method, path, status, key, tenant and subject of an audit row.
type AuditRow = (String, String, u16, Option<String>, Option<i64>, Option<uuid::Uuid>);

/// A compressed body could grow without bound, so it is refused; an uncompressed one needs no header.
#[test]
fn a_compressed_body_is_refused_and_401_says_what_is_missing() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let body = Some(&b"{\"name\": \"Huber\"}"[..]);
    for (coding, status) in [("identity", 201), ("", 201), ("gzip", 415), ("br, identity", 415)] {
        let answer = mill.send("POST", "/api/v1/kunden", &[("content-encoding", coding)], body);
        assert_eq!(answer.status, status, "{coding}: {answer:?}");
        assert_eq!(answer.body["error"] == "KODIERUNG_NICHT_UNTERSTUETZT", status == 415, "{coding}");
    }
    assert_eq!(mill.get("/api/v1/kunden").is(200)["count"], 2);
    for nobody in [server.client(mill.tenant, None), server.client(mill.tenant, Some("ak_x".to_owned()))] {
        let refused = nobody.get("/api/v1/kunden");
        assert_eq!((refused.status, refused.headers["www-authenticate"].as_str()), (401, "ApiKey"));
    }
}

/// Only a refusal makes the server verify a key again; a disk error says nothing about the key.
#[test]
fn a_fault_of_the_disk_does_not_make_a_key_be_verified_again() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let other_key = server.key(mill.tenant, &[]);
    mill.get("/api/v1/kunden").is(200);
    let other_process = open_writer(&server.database).unwrap();
    other_process.execute_batch("alter table api_key rename scopes to unreadable").unwrap();
    assert_eq!(mill.send_unchecked("GET", "/api/v1/kunden", &[], None).status, 500);
    other_process.execute_batch("alter table api_key rename unreadable to scopes").unwrap();
    let hash_of_other = "update api_key set hash = (select hash from api_key where id = ?1)";
    other_process.execute(hash_of_other, [key_id(&other_key)]).unwrap();
    mill.get("/api/v1/kunden").is(200);
    // Control: after a refusal the key is verified again, and fails because of the other key's hash.
    other_process.execute_batch("update api_key set aktiv = 0").unwrap();
    mill.get("/api/v1/kunden").refused(401, "API_KEY_DEAKTIVIERT");
    other_process.execute_batch("update api_key set aktiv = 1").unwrap();
    mill.get("/api/v1/kunden").refused(401, "API_KEY_UNGUELTIG");
}

#[test]
fn checks_come_in_the_order_of_d19() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let reader = server.key(mill.tenant, &[Scope::KundenRead]);
    let nobody = server.client(mill.tenant, None);
    let person = format!("/api/v1/kunden/{NOBODY}");
    let weighing = format!("/api/v1/wiegungen/{NOBODY}/zweitwiegung");
    let storno = format!("/api/v1/belege/{NOBODY}/storno");
    let upload = format!("/api/v1/kunden/{NOBODY}/dokumente");
    let wrong_type = r#"{"name": 1}"#;
    let cases: [Case<'_>; 16] = [
        ("key before path", &nobody, "GET", "/api/v1/nichts", None, 401, "API_KEY_FEHLT"),
        ("key before method", &nobody, "DELETE", "/api/v1/kunden", None, 401, "API_KEY_FEHLT"),
        ("key before body", &nobody, "POST", "/api/v1/kunden", Some("{"), 401, "API_KEY_FEHLT"),
        ("key outside the interface", &nobody, "PUT", "/", None, 401, "API_KEY_FEHLT"),
        ("path", &mill, "GET", "/api/v1/nichts", None, 404, "NICHT_GEFUNDEN"),
        ("path before method", &mill, "DELETE", "/api/v1/nichts", None, 404, "NICHT_GEFUNDEN"),
        ("path before scope", &reader, "POST", "/api/v1/nichts", Some("{"), 404, "NICHT_GEFUNDEN"),
        ("method", &mill, "DELETE", "/api/v1/kunden", None, 405, "METHODE_NICHT_ERLAUBT"),
        ("method before scope", &reader, "PUT", "/api/v1/belege", Some("{}"), 405, "METHODE_NICHT_ERLAUBT"),
        ("scope before JSON", &reader, "POST", "/api/v1/kunden", Some("{"), 403, "SCOPE_FEHLT"),
        ("scope before 404", &reader, "PUT", &person, Some("{}"), 403, "SCOPE_FEHLT"),
        ("JSON before 404", &mill, "PUT", &person, Some("{"), 400, "UNGUELTIGES_JSON"),
        ("types before 404", &mill, "PUT", &person, Some(wrong_type), 400, "FELD_UNGUELTIG"),
        ("404 before required fields", &mill, "PUT", &weighing, Some("{}"), 404, "NICHT_GEFUNDEN"),
        ("404 before grund", &mill, "POST", &storno, Some("{}"), 404, "NICHT_GEFUNDEN"),
        ("404 before dateiname", &mill, "POST", &upload, Some("{}"), 404, "NICHT_GEFUNDEN"),
    ];
    for (name, client, method, path, body, status, code) in cases {
        let answer = client.send(method, path, &[], body.map(str::as_bytes));
        assert_eq!((answer.status, answer.body["error"].as_str()), (status, Some(code)), "{name}");
        assert_eq!(answer.headers.contains_key("allow"), status == 405, "{name}");
    }
}

#[test]
fn a_missing_record_comes_before_if_match_and_that_before_required_fields() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let partner = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": partner});
    let weighing = mill.post("/api/v1/wiegungen", first).id();
    let second = |id: &str, body: &str| {
        let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
        mill.send("PUT", &path, &[("if-match", "\"999-0\"")], Some(body.as_bytes()))
    };
    second(NOBODY, "{}").refused(404, "NICHT_GEFUNDEN");
    second(&weighing, "{").refused(400, "UNGUELTIGES_JSON");
    second(&weighing, "{}").refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    let path = format!("/api/v1/wiegungen/{weighing}/zweitwiegung");
    mill.put(&path, json!({})).refused(400, "FELD_FEHLT");
}

#[test]
fn no_bad_key_says_what_is_wrong_with_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let good = mill.key.clone().unwrap();
    let connection = open_writer(&server.database).unwrap();
    let unknown = key::generate(&key::mac_secret(&connection).unwrap()).unwrap();
    let wrong = server.key(mill.tenant, Scope::ALL);
    connection
        .execute("update api_key set hash = ?1 where id = ?2", [&unknown.hash, &key_id(&wrong)])
        .unwrap();
    let last = if good.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &good[..good.len() - 1]);
    let middle = if good.as_bytes()[20] == b'a' { 'b' } else { 'a' };
    let swapped = format!("{}{middle}{}", &good[..20], &good[21..]);
    let cases = [
        ("unknown", unknown.text.clone()),
        ("wrong secret", wrong.key.clone().unwrap()),
        ("last letter mistyped", mistyped),
        ("letter in the middle mistyped", swapped),
        ("upper case", good.to_uppercase()),
        ("cut", good[..good.len() - 1].to_owned()),
        ("longer", format!("{good}0")),
        ("no prefix", good[3..].to_owned()),
        ("empty", String::new()),
        ("only the prefix", "ak_".to_owned()),
        ("another scheme", format!("Bearer {good}")),
        ("12 KB", format!("ak_{}", "a".repeat(12_000))),
    ];
    let mut answers = Vec::new();
    for (at, (name, key)) in cases.iter().enumerate() {
        minute(&server, at);
        let answer = server.client(mill.tenant, Some(key.clone())).get("/api/v1/kunden");
        assert_eq!((answer.status, &answer.body["error"]), (401, &json!("API_KEY_UNGUELTIG")), "{name}");
        answers.push((name, anonymous(&answer)));
    }
    for (name, answer) in &answers {
        assert_eq!(answer, &answers[0].1, "{name} is told apart from {}", answers[0].0);
    }
    mill.get("/api/v1/kunden").is(200);
}

#[test]
fn two_key_headers_and_bytes_beyond_ascii_are_no_key() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let good = mill.key.clone().unwrap();
    let nobody = server.client(mill.tenant, None);
    let twice = nobody.send("GET", "/api/v1/kunden", &[("x-api-key", &good), ("x-api-key", &good)], None);
    twice.refused(401, "API_KEY_UNGUELTIG");
    let head = |key: &str| format!("GET /api/v1/kunden HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n");
    assert_eq!(raw(&server, head(&good).as_bytes()), 200);
    assert_eq!(raw(&server, head(&format!("{good}ü")).as_bytes()), 401);
    let latin =
        [b"GET /api/v1/kunden HTTP/1.1\r\nHost: a\r\nX-API-Key: ak_\xfc_\xe4\r\n\r\n".as_slice()].concat();
    assert_eq!(raw(&server, &latin), 401);
    let huge = raw(&server, head(&format!("ak_{}", "a".repeat(64 << 10))).as_bytes());
    assert!((400..500).contains(&huge), "a key of 64 KB: {huge}");
}

#[test]
fn a_key_opens_its_routes_and_no_other() {
    let server = Server::start();
    let tenant = server.company("Mühle").tenant;
    let nobody = server.client(tenant, None);
    let scopeless = server.key(tenant, &[]);
    let of_scope = |scope: &Scope| {
        let others: Vec<Scope> = Scope::ALL.iter().copied().filter(|other| other != scope).collect();
        (server.key(tenant, &[*scope]), server.key(tenant, &others))
    };
    let clients: Vec<_> = Scope::ALL.iter().map(of_scope).collect();
    for (at, route) in routes::all().enumerate() {
        minute(&server, at);
        let path = route.pattern.replace("{id}", NOBODY).replace("{dok_id}", NOBODY);
        let body: Option<&[u8]> = (route.method != Method::Get).then_some(b"{}");
        let ask = |client: &Client| client.send(route.method.as_str(), &path, &[], body);
        if route.access == Access::Open {
            assert!(![401, 403].contains(&ask(&nobody).status), "{path}");
            continue;
        }
        ask(&nobody).refused(401, "API_KEY_FEHLT");
        match route.access {
            Access::Scope(scope) => {
                let (with, without) = &clients[Scope::ALL.iter().position(|s| *s == scope).unwrap()];
                ask(without).refused(403, "SCOPE_FEHLT");
                ask(&scopeless).refused(403, "SCOPE_FEHLT");
                assert!(![401, 403].contains(&ask(with).status), "{} {path}", route.method.as_str());
            }
            _ => assert_eq!(ask(&scopeless).status, 200, "{path}"),
        }
    }
}

/// The routes where the server's answer to a key differs from a table of routes and scopes.
fn deviations(table: &[(String, &str)], clients: &[(&str, Client)], refused: &[&Client]) -> Vec<String> {
    let mut found = Vec::new();
    for (route, scope) in table {
        let (method, pattern) = route.split_once(' ').unwrap();
        let path = pattern.replace("{id}", NOBODY).replace("{dok_id}", NOBODY);
        let body: Option<&[u8]> = (method != "GET").then_some(b"{}");
        for (own, client) in clients {
            let status = client.send(method, &path, &[], body).status;
            let opens = scope.is_empty() || *scope == *own;
            let as_expected = if opens { ![401, 403].contains(&status) } else { status == 403 };
            found.extend((!as_expected).then(|| format!("{route} with {own:?}: {status}")));
        }
        for client in refused {
            let status = client.send(method, &path, &[], body).status;
            // From the eleventh request in a minute, a stranger is told to wait.
            found.extend((![401, 429].contains(&status)).then(|| format!("{route} without a key: {status}")));
        }
    }
    found
}

#[test]
fn every_route_with_every_single_scope_answers_as_specified() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut clients: Vec<(&str, Client)> =
        Scope::ALL.iter().map(|scope| (scope.as_str(), server.key(mill.tenant, &[*scope]))).collect();
    clients.push(("none", server.key(mill.tenant, &[])));
    let (nobody, off) = (server.client(mill.tenant, None), server.key(mill.tenant, Scope::ALL));
    assert!(server.cli(&["key", "deactivate", &key_id(&off)]).status.success());
    let scopes = scopes();
    assert_eq!(deviations(&scopes, &clients, &[&nobody, &off]), Vec::<String>::new());
    // Control: a table with one wrong entry, and a key that is not deactivated.
    let swapped = |scope: &'static str| if scope == "kasse:read" { "kunden:read" } else { scope };
    let wrong: Vec<_> = scopes.iter().map(|(route, scope)| (route.clone(), swapped(scope))).collect();
    assert_eq!(deviations(&wrong, &clients, &[]).len(), 2, "one key too many, one too few");
    assert!(!deviations(&scopes[..1], &clients, &[&mill]).is_empty());
}

#[test]
fn a_deactivation_holds_from_the_next_request_on() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = key_id(&mill);
    mill.get("/api/v1/laender").is(200);
    for cycle in 0..50 {
        minute(&server, cycle);
        assert!(server.cli(&["key", "deactivate", &id]).status.success(), "cycle {cycle}");
        mill.get("/api/v1/laender").refused(401, "API_KEY_DEAKTIVIERT");
        assert!(server.cli(&["key", "activate", &id]).status.success(), "cycle {cycle}");
        mill.get("/api/v1/laender").is(200);
    }
}

/// A client without the whole key learns nothing about it; the audit log names a key only if it was whole (D19).
#[test]
fn only_who_holds_the_whole_key_is_told_that_it_is_deactivated() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let [off, wrong] = [0; 2].map(|_| server.key(mill.tenant, Scope::ALL));
    let other_hash =
        "update api_key set hash = (select hash from api_key where id <> ?1 limit 1) where id = ?1";
    open_writer(&server.database).unwrap().execute(other_hash, [&key_id(&wrong)]).unwrap();
    for key in [&off, &wrong] {
        assert!(server.cli(&["key", "deactivate", &key_id(key)]).status.success());
    }
    for _ in 0..2 {
        off.get("/api/v1/laender").refused(401, "API_KEY_DEAKTIVIERT");
        wrong.get("/api/v1/laender").refused(401, "API_KEY_UNGUELTIG");
    }
    // A restart moves the journal into the log.
    server.restart();
    let named = server.cli(&["--json", "audit", "list", "--status", "401", "--key", &key_id(&off)]);
    let rows: Value = serde_json::from_slice(&named.stdout).unwrap();
    assert_eq!(rows.as_array().map(Vec::len), Some(2), "{rows}");
    let unnamed = server.cli(&["--json", "audit", "list", "--status", "401", "--key", &key_id(&wrong)]);
    assert_eq!(serde_json::from_slice::<Value>(&unnamed.stdout).unwrap(), json!([]));
}

#[test]
fn who_holds_an_expired_key_is_told_so() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let valid_until = Day::parse_plain("2026-07-12");
    let grant = Grant { label: "kurz".to_owned(), scopes: ScopeSet::all(), valid_until, ..Grant::default() };
    let guest = server.key_with(mill.tenant, grant);
    guest.get("/api/v1/laender").is(200);
    server.set_clock("2026-07-13T12:00:00Z");
    let told = guest.get("/api/v1/laender");
    let message = told.refused(401, "API_KEY_ABGELAUFEN")["message"].as_str().unwrap();
    assert!(message.contains("2026-07-12"), "{message}");
    mill.get("/api/v1/laender").is(200);
    server.set_clock(NOON);
    guest.get("/api/v1/laender").is(200);
}

#[test]
fn the_front_page_needs_no_key_and_lists_every_route() {
    let server = Server::start();
    let nobody = server.client(0, None);
    let wrong = server.client(0, Some("ak_falsch".to_owned()));
    for client in [&nobody, &wrong] {
        let answer = client.get("/api/v1");
        let body = answer.is(200);
        assert_eq!((&body["version"], &body["stabilitaet"]), (&json!("1.0.0"), &json!("stable")));
        for field in ["api", "docs", "spec", "auth"] {
            assert!(body[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
        }
        let listed = body["endpoints"].as_array().unwrap();
        for route in routes::all() {
            let found = listed.iter().any(|line| {
                let line = line.as_str().unwrap();
                line.contains(route.method.as_str()) && line.split_whitespace().any(|w| w == route.pattern)
            });
            assert!(found, "{} {} is not listed", route.method.as_str(), route.pattern);
        }
    }
}

#[test]
fn head_is_get_without_the_body() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    for path in ["/api/v1", "/api/v1/kunden", "/api/v1/laender", "/api/v1/dokumente?since=2026-01-01"] {
        let head = mill.send("HEAD", path, &[], None);
        assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
    }
    let head = mill.send("HEAD", &format!("/api/v1/kunden/{id}"), &[], None);
    let get = mill.get(&format!("/api/v1/kunden/{id}"));
    assert_eq!((head.status, head.bytes.len()), (200, 0));
    assert_eq!(head.headers.get("etag"), get.headers.get("etag"));
    assert_eq!(mill.send("HEAD", &format!("/api/v1/kunden/{NOBODY}"), &[], None).status, 404);
}

#[test]
fn other_methods_are_named_in_allow() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for method in ["OPTIONS", "TRACE", "DELETE", "PATCH", "PUT", "get", "Post", "PROPFIND"] {
        let answer = mill.send(method, "/api/v1/kunden", &[], None);
        answer.refused(405, "METHODE_NICHT_ERLAUBT");
        let allow = answer.headers.get("allow").unwrap();
        let allowed: Vec<&str> = allow.split(',').map(str::trim).filter(|name| *name != "HEAD").collect();
        assert_eq!(allowed, ["GET", "POST"], "{method}");
    }
}

#[test]
fn every_answer_leaves_one_audit_row() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let reader = server.key(mill.tenant, &[Scope::KundenRead]);
    let nobody = server.client(0, None);
    let created = mill.post("/api/v1/kunden", json!({"name": "Hof"}));
    let id = created.id();
    let person = format!("/api/v1/kunden/{id}");
    let missing = format!("/api/v1/kunden/{NOBODY}");
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": id});
    let weighed = mill.post("/api/v1/wiegungen", first);
    let weighing = weighed.id();
    let second = format!("/api/v1/wiegungen/{weighing}/zweitwiegung");
    let (mut rows, all, people) = (Vec::new(), Some(&mill), "/api/v1/kunden");
    let mut row =
        |answer: Answer, client: Option<&Client>, method: &str, path: &str, subject: Option<&str>| {
            rows.push((
                answer,
                client.map(key_id),
                client.map(|c| c.tenant),
                method.to_owned(),
                path.to_owned(),
                subject.map(str::to_owned),
            ));
        };
    row(created, all, "POST", people, Some(&id));
    row(weighed, all, "POST", "/api/v1/wiegungen", Some(&weighing));
    row(mill.put(&second, json!({"gewicht_zweit_kg": 10})), all, "PUT", &second, Some(&weighing));
    row(mill.put(&person, json!({"ort": "Kyritz"})), all, "PUT", &person, Some(&id));
    row(mill.post(people, json!({})), all, "POST", people, None);
    row(mill.get("/api/v1/kunden?suche=geheim"), all, "GET", people, None);
    row(mill.get("/api/v1/nichts?x=1"), all, "GET", "/api/v1/nichts", None);
    row(mill.get(&missing), all, "GET", &missing, None);
    row(mill.send("DELETE", people, &[], None), all, "DELETE", people, None);
    row(mill.send("HEAD", people, &[], None), all, "HEAD", people, None);
    row(reader.post(people, json!({"name": "A"})), Some(&reader), "POST", people, None);
    row(nobody.get(people), None, "GET", people, None);
    row(nobody.get("/api/v1"), None, "GET", "/api/v1", None);
    server.restart();
    let connection = open_writer(&server.database).unwrap();
    let sql = "select methode, pfad, status, key_id, tenant_id, subjekt from audit where request_id = ?1";
    for (answer, key, tenant, method, path, subject) in rows {
        let request = uuid::Uuid::parse_str(&answer.headers["x-request-id"]).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let found: Vec<AuditRow> = statement
            .query_map([request], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let subject = subject.map(|id| uuid::Uuid::parse_str(&id).unwrap());
        assert_eq!(found, [(method, path, answer.status, key, tenant, subject)]);
    }
    let secret = "select count(*) from audit where pfad like '%geheim%' or pfad like '%?%'";
    assert_eq!(server.sql::<i64>(secret), 0);
}
