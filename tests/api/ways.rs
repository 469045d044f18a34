//! Which thread does what for a request, as the socket sees it: it is handed one step after the other.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use partnerd::db::connection::open_writer;
use partnerd::db::system_clock;
use partnerd::gate::Policy;
use partnerd::gate::key::{self, Grant};
use partnerd::http::answering::{Answering, Next};
use partnerd::http::reply::Reply;
use partnerd::http::request::{Body, Request};
use partnerd::rules::choice::Choice;
use partnerd::rules::scope::Scope;
use partnerd::service;
use partnerd::tenants;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use crate::lanes::fill;

/// A service without a socket, and a key that nobody has verified yet.
struct Service {
    app: service::Service,
    key: String,
    _folder: TempDir,
}

impl Service {
    fn with_articles(articles: i64) -> Service {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        let app = service::Service::open(&database, system_clock(), &Policy::default()).unwrap();
        let connection = open_writer(&database).unwrap();
        let now = system_clock()();
        let tenant = tenants::create(&connection, "Mühle", false, now).unwrap();
        let new = key::generate(&key::mac_secret(&connection).unwrap()).unwrap();
        let grant = Grant {
            label: "test".to_owned(),
            scopes: Scope::ALL.iter().copied().collect(),
            ..Grant::default()
        };
        key::insert(&connection, tenant, &new, &grant, now).unwrap();
        fill(&database, tenant, articles);
        Service { app, key: new.text, _folder: folder }
    }

    fn outcome(&self, method: &str, path: &str, query: &str, body: Body) -> Next {
        Arc::clone(&self.app.gate).answer(Request {
            id: Uuid::now_v7(),
            at: system_clock()(),
            started: std::time::Instant::now(),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            local: IpAddr::V4(Ipv4Addr::LOCALHOST),
            method: method.to_owned(),
            path: format!("/api/v1/{path}"),
            query: query.to_owned(),
            headers: [("x-api-key".parse().unwrap(), self.key.parse().unwrap())].into_iter().collect(),
            malformed: None,
            body,
        })
    }

    fn get(&self, path: &str, query: &str) -> Reply {
        self.outcome("GET", path, query, Body::from_bytes(Vec::new())).wait().unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Reply {
        self.outcome("POST", path, "", Body::from_bytes(body.to_string().into_bytes())).wait().unwrap()
    }
}

fn body(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

/// What comes after somebody else was at a request is left to the socket; its answer.
fn left_to_the_socket(outcome: Next, status: u16) -> Value {
    let rest = match outcome {
        Next::Later(told) => told.blocking_recv().unwrap(),
        Next::Heavy(_, work) => work.run(),
        Next::Done(_) | Next::Here(_) | Next::Body(_) | Next::Wait(_) => panic!("nobody else was at it"),
    };
    assert!(matches!(rest, Next::Here(_)), "the row of the log is for a thread of the socket to write");
    let reply = rest.wait().unwrap();
    assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
    body(&reply)
}

#[test]
fn who_lets_others_go_first_or_verifies_keys_does_nothing_else() {
    let service = Service::with_articles(1_500);
    let get = |path: &str, query: &str| service.outcome("GET", path, query, Body::from_bytes(Vec::new()));
    // The thread that verifies keys.
    assert_eq!(left_to_the_socket(get("laender", "limit=1"), 200)["data"].as_array().unwrap().len(), 1);
    // The slow lane, to which a long list goes.
    assert!(matches!(get("artikel", "limit=100"), Next::Done(_)));
    assert_eq!(left_to_the_socket(get("artikel", "limit=5000"), 200)["count"], 1_500);
    // Long work: a large body, and a route with files.
    let Next::Body(wanted) = service.outcome("POST", "kunden", "", Body::Awaited) else {
        panic!("the body is to be read")
    };
    let customer = json!({"name": "A"}).to_string() + &" ".repeat(70_000);
    let customer = left_to_the_socket(wanted.go_on(Body::from_bytes(customer.into_bytes())), 201);
    assert_eq!(customer["kunden_id"], 1);
    let pdf = left_to_the_socket(get(&format!("belege/{}/pdf", Uuid::nil()), ""), 404);
    assert_eq!(pdf["error"], "NICHT_GEFUNDEN");
    service.app.close();
}

#[test]
fn a_write_is_answered_whatever_its_key_has_not_read_yet() {
    let service = Service::with_articles(5_000);
    let customer = service.post("kunden", &json!({"name": "Hof"}));
    // Each unknown field is noted in the answer, with its name.
    let unknown = "x".repeat(150);
    let items = vec![json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1, unknown: 1}); 1_000];
    let document = json!({"beleg_typ": "AN", "kundennummer": body(&customer)["kundennr"], "items": items});
    let answer = service.post("belege", &document);
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    let (bytes, small) = (answer.body.len(), service.get("artikel", "limit=60").body.len());
    assert!(small > 16 << 10 && bytes > small, "{small} and {bytes} bytes");
    drop(answer);
    // Answers that nobody takes, until not even a small list finds room.
    let mut unread = Vec::new();
    for limit in [5_000, 500, 60] {
        loop {
            let reply = service.get("artikel", &format!("limit={limit}"));
            match reply.status {
                503 => break,
                _ => unread.push(reply),
            }
            assert!(unread.len() < 1_000);
        }
    }
    // It was carried out, so it must be told; afterwards there is still no room.
    let answer = service.post("belege", &document);
    assert!(answer.status == 201 && answer.held.is_some(), "{}", answer.status);
    assert_eq!(service.post("belege", &document).status, 503);
    assert_eq!(service.get("kunden", "limit=1").status, 200);
    drop((answer, unread));
    assert_eq!(service.get("artikel", "limit=5000").status, 200);
    service.app.close();
}
