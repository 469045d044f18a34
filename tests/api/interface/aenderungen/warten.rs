//! Requests that wait for a change (D28).

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use partnerd::rules::choice::Choice;
use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use super::{PATH, now, short};
use crate::harness::{Client, Server};
use crate::leitstand::person;
use crate::trade::lager::Mill;

/// How long requests wait in these tests. At its end each request looks once more, so nobody needs to wake it.
const WAITED: Duration = Duration::from_secs(30);

/// Sends a waiting request, and leaves its answer in the socket.
fn wait(server: &Server, client: &Client, query: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let key = client.key.as_ref().unwrap();
    write!(stream, "GET {PATH}?{query} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\n\r\n").unwrap();
    stream
}

/// Status and body of the answer on a socket, waiting for it if necessary.
fn answer(stream: &mut TcpStream) -> (u16, Value) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut text = Vec::new();
    let mut part = [0; 4096];
    loop {
        let read = match stream.read(&mut part) {
            // A pause of the machine ends a read with a timeout (signal(7)).
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.unwrap(),
        };
        text.extend_from_slice(&part[..read]);
        let shown = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = shown.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return (head[9..12].parse().unwrap(), body);
        }
        assert!(read > 0, "{shown}");
    }
}

/// How many requests wait now.
fn waiting(server: &Server) -> usize {
    let metrics = server.client(0, None).get("/metrics");
    let text = String::from_utf8(metrics.bytes).unwrap();
    let line = text.lines().find(|line| line.starts_with("partnerd_waiting_requests "));
    line.unwrap_or_else(|| panic!("{text}")).rsplit(' ').next().unwrap().parse().unwrap()
}

/// Waits until so many requests wait; gives up earlier than they time out, so that they cannot be gone for
/// that reason.
pub fn until_waiting(server: &Server, count: usize) {
    let until = Instant::now() + Duration::from_secs(20);
    while waiting(server) != count {
        assert!(Instant::now() < until, "{} wait", waiting(server));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The changes a waiting request was answered with.
fn told(stream: &mut TcpStream) -> Vec<[String; 3]> {
    let (status, body) = answer(stream);
    assert_eq!(status, 200, "{body}");
    short(body["data"].as_array().unwrap()).iter().map(|change| change.map(str::to_owned)).collect()
}

fn change(art: &str, nummer: &str, aktion: &str) -> Vec<[String; 3]> {
    vec![[art, nummer, aktion].map(str::to_owned)]
}

#[test]
fn a_write_wakes_who_waits_for_it_and_nobody_else() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let other = server.company("Andere");
    let cursor = now(&mill.client);
    let began = Instant::now();
    let mut from_now = wait(&server, &mill.client, "warten=30");
    let mut behind = wait(&server, &mill.client, &format!("seit={cursor}&warten=30"));
    let mut for_articles = wait(&server, &mill.client, "arten=artikel&warten=30");
    let mut of_other = wait(&server, &other, "warten=30");
    until_waiting(&server, 4);
    mill.client.post("/api/v1/kunden", json!({"name": "A", "kundennr": "A"})).is(201);
    assert_eq!(told(&mut from_now), change("kunde", "A", "angelegt"));
    assert_eq!(told(&mut behind), change("kunde", "A", "angelegt"));
    until_waiting(&server, 2);
    // Another process cannot wake a waiting request; the server looks once a second.
    server.import(&mill.client, "artikel", r#"[{"artikelnummer": "S", "preis": 12}]"#);
    assert_eq!(told(&mut for_articles), change("artikel", "S", "geaendert"));
    until_waiting(&server, 1);
    server.import(&other, "kunden", r#"[{"kundennr": "B", "name": "B"}]"#);
    assert_eq!(told(&mut of_other), change("kunde", "B", "angelegt"));
    assert!(began.elapsed() < WAITED, "only their time was over");
}

/// Whether writes wake waiting requests. Otherwise a request would only end at the look once a second, so no
/// two in a row could end within half a second. One such pair is enough: a busy machine may delay all others.
fn rings(server: &Server, mill: &Mill<'_>, mut write: impl FnMut(&str)) -> bool {
    let mut told_at = Vec::new();
    (0..30).any(|number| {
        let mut waiting = wait(server, &mill.client, "warten=30");
        until_waiting(server, 1);
        write(&format!("Nummer {number}"));
        assert_eq!(told(&mut waiting).len(), 1);
        told_at.push(Instant::now());
        told_at.windows(2).any(|two| two[1] - two[0] < Duration::from_millis(500))
    })
}

#[test]
fn a_write_by_key_and_one_by_form_ring_at_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let mut browser = person(&server, &["Anna", "--role", "verwalten"]);
    let form = format!("/leitstand/f/{}/partner/neu", mill.client.tenant);
    assert!(rings(&server, &mill, |name| _ = browser.fill(&form, &[("nachname_firma", name)]).is(303)));
    let key = &mill.client;
    assert!(rings(&server, &mill, |name| _ = key.post("/api/v1/kunden", json!({"name": name})).is(201)));
}

/// The end of a day comes without a request; the server looks once a second.
#[test]
fn a_document_that_becomes_final_at_the_end_of_its_day_wakes_who_waits_for_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let fracht = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 85}]);
    let rechnung = json!({"beleg_typ": "RE", "kundennummer": "K", "items": fracht});
    mill.client.post("/api/v1/kunden", json!({"name": "K", "kundennr": "K"}));
    let made = mill.client.post("/api/v1/belege", rechnung);
    let nummer = made.is(201)["beleg_nummer"].as_str().unwrap();
    let began = Instant::now();
    let mut waiting = wait(&server, &mill.client, "warten=30");
    until_waiting(&server, 1);
    server.set_clock("2026-07-11T10:00:00Z");
    assert_eq!(told(&mut waiting), change("beleg", nummer, "abgeschlossen"));
    assert!(began.elapsed() < WAITED, "only its time was over");
}

#[test]
fn a_wait_ends_with_its_time_and_counts_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let left = |client: &Client| {
        client.get(&format!("{PATH}?limit=1")).headers["x-ratelimit-remaining"].parse::<i64>().unwrap()
    };
    let before = left(&mill);
    let began = Instant::now();
    let answer = mill.get(&format!("{PATH}?warten=1"));
    assert_eq!(answer.is(200)["data"], json!([]));
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(left(&mill), before - 2);
}

#[test]
fn a_client_that_hangs_up_frees_its_place() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let gone = wait(&server, &mill, "warten=30");
    let mut half = wait(&server, &mill, "warten=30");
    until_waiting(&server, 2);
    drop(gone);
    until_waiting(&server, 1);
    // A client that only closes its sending half is answered at once.
    half.shutdown(Shutdown::Write).unwrap();
    assert_eq!(told(&mut half), Vec::<[String; 3]>::new());
    until_waiting(&server, 0);
}

#[test]
fn a_key_that_is_deactivated_while_it_waits_learns_nothing() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let other = server.key(mill.tenant, Scope::ALL);
    let mut waiting = wait(&server, &other, "warten=30");
    until_waiting(&server, 1);
    let id = other.key.as_ref().unwrap().split('_').nth(1).unwrap().to_owned();
    assert!(server.cli(&["key", "deactivate", &id]).status.success());
    mill.post("/api/v1/kunden", json!({"name": "A"})).is(201);
    let (status, body) = answer(&mut waiting);
    assert_eq!((status, &body["error"]), (401, &json!("API_KEY_DEAKTIVIERT")));
}

#[test]
fn a_stop_answers_who_waits() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let mut waits: Vec<_> = (0..3).map(|_| wait(&server, &mill, "warten=30")).collect();
    until_waiting(&server, 3);
    let began = Instant::now();
    server.restart();
    for stream in &mut waits {
        assert_eq!(told(stream), Vec::<[String; 3]>::new());
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}
