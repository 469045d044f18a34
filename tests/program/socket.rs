//! The socket: invalid HTTP, slow and vanishing clients, limits, and the end of a server
//! (docs/command-line.md, serve).

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::process::{Client, Folder, Running, read_once};
use serde_json::{Value, json};

/// How long an answer or an end may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A raw connection, which may send anything.
struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Wire {
    fn open(server: &Running) -> Wire {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Wire { stream, read: Vec::new() }
    }

    /// Opens a connection and sends; the server may close before it has read everything.
    fn sent(server: &Running, bytes: &[u8]) -> Wire {
        let mut wire = Wire::open(server);
        let _ = wire.stream.write_all(bytes);
        wire
    }

    /// Reads more; returns false at the end of the connection.
    fn more(&mut self) -> bool {
        let mut buffer = [0u8; 4096];
        match read_once(&self.stream, &mut buffer) {
            Ok(count) => {
                self.read.extend(&buffer[..count]);
                count > 0
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                panic!("nothing came for {PATIENCE:?}")
            }
            Err(_) => false,
        }
    }

    /// The status of the next answer; `None` if the connection ended instead.
    fn status(&mut self) -> Option<u16> {
        while !self.read.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            if !self.more() {
                return None;
            }
        }
        Some(std::str::from_utf8(&self.read[9..12]).unwrap().parse().unwrap())
    }

    /// The next answer: status and body.
    fn answer(&mut self) -> (u16, Value) {
        let status = self.status().unwrap();
        let end = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(self.read[..end].to_vec()).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        while self.read.len() < end + length {
            assert!(self.more(), "the answer was cut off");
        }
        let body = serde_json::from_slice(&self.read[end..end + length]).unwrap_or_default();
        self.read.drain(..end + length);
        (status, body)
    }

    /// Waits until the server closes the connection.
    fn ends(&mut self) {
        while self.more() {}
    }

    /// Whether anything comes within a short while.
    fn is_silent(&mut self) -> bool {
        self.stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let silent = read_once(&self.stream, &mut [0u8; 1])
            .is_err_and(|error| [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()));
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        silent
    }
}

fn head(method: &str, path: &str, key: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n{more}\r\n")
}

/// POST /kunden with a body.
fn post(key: &str, body: &str) -> String {
    let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    head("POST", "/api/v1/kunden", key, &more) + body
}

/// A company, and a server with these settings.
fn serve(folder: &Folder, settings: &str) -> (Running, String) {
    let key = folder.company("Mühle");
    let file = folder.write("partnerd.toml", settings);
    (folder.serve(&["--config", &file]), key)
}

fn customers(folder: &Folder) -> i64 {
    folder.database().query_row("select count(*) from kunde", [], |row| row.get(0)).unwrap()
}

/// Whether a status is in one of some ranges; a connection that ended without one never is.
fn fits(status: Option<u16>, expected: &Value) -> bool {
    expected.as_array().unwrap().iter().any(|range| {
        let (from, to) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
        status.is_some_and(|status| (from..=to).contains(&u64::from(status)))
    })
}

#[test]
fn raw_requests_are_answered_as_the_rfc_has_it() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "header_timeout = 2\nbody_timeout = 2\n");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/http_raw.json");
    let rows: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for row in rows.as_array().unwrap() {
        let text = row["raw"].as_str().unwrap().replace("{KEY}", &key);
        // One byte for each letter: some rows contain bytes that are not UTF-8.
        let bytes: Vec<u8> = text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
        let status = Wire::sent(&server, &bytes).status();
        assert!(
            fits(status, &row["erwartet"]),
            "{} ({}): {status:?}, expected {}",
            row["id"],
            row["regel"],
            row["erwartet"]
        );
    }
    // Control: valid HTTP does not match the expectations for invalid HTTP.
    let good = Wire::sent(&server, head("GET", "/api/v1", &key, "").as_bytes()).status();
    assert!(!fits(good, &json!([[400, 499]])) && !fits(None, &json!([[100, 599]])), "{good:?}");
    assert_eq!(server.client(&key).get("/api/v1/kunden").body["count"], 0);
}

#[test]
fn a_request_names_its_host_once() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let name = r#"{"name":"X"}"#;
    let length = format!("Content-Length: {}\r\n", name.len());
    let host = "Host: a\r\n";
    let cases = [
        ("no Host", length.clone(), 400),
        ("two Hosts", [host, host, &length].concat(), 400),
        ("a Host with a path", ["Host: a/b\r\n", &length].concat(), 400),
        ("a Host with a user", ["Host: u@a\r\n", &length].concat(), 400),
        ("a Host with a port of letters", ["Host: a:b\r\n", &length].concat(), 400),
        ("an address and a port", ["Host: [::1]:8080\r\n", &length].concat(), 201),
        ("a name and a port", ["Host: muehle_1.local:80\r\n", &length].concat(), 201),
        ("an empty Host", ["Host:\r\n", &length].concat(), 201),
        ("one Host", [host, &length].concat(), 201),
        ("the same length twice", [host, &length, &length].concat(), 201),
    ];
    for (what, headers, expected) in &cases {
        let request = format!("POST /api/v1/kunden HTTP/1.1\r\nX-API-Key: {key}\r\n{headers}\r\n{name}");
        let mut wire = Wire::sent(&server, request.as_bytes());
        let (status, body) = wire.answer();
        assert_eq!(status, *expected, "{what}: {body}");
        if status == 400 {
            assert_eq!(body["error"], "ANFRAGE_UNGUELTIG", "{what}");
            wire.ends();
        }
    }
    assert_eq!(customers(&folder), 5);
}

#[test]
fn a_body_that_is_announced_as_too_large_is_not_asked_for() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let more = "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ";
    let large = head("POST", "/api/v1/kunden", &key, &format!("{more}{}\r\n", (1 << 20) + 1));
    let mut wire = Wire::sent(&server, large.as_bytes());
    let (status, body) = wire.answer();
    assert_eq!((status, &body["error"]), (413, &json!("ZU_GROSS")));
    wire.ends();
    let good = head("POST", "/api/v1/kunden", &key, &format!("{more}14\r\n"));
    let mut wire = Wire::sent(&server, good.as_bytes());
    assert_eq!(wire.answer().0, 100);
    wire.stream.write_all(br#"{"name":"Hof"}"#).unwrap();
    assert_eq!(wire.answer().0, 201);
}

#[test]
fn slow_clients_are_cut_off() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "header_timeout = 1\nbody_timeout = 1\n");
    let half_body = head("POST", "/api/v1/kunden", &key, "Content-Length: 100\r\n") + r#"{"name":"#;
    let cases = [
        ("nothing", String::new()),
        ("half a head", "GET /api/v1 HTTP/1.1\r\nHost: a\r\n".to_owned()),
        ("half a line", "GE".to_owned()),
        ("half a body", half_body),
        (
            "a chunk without an end",
            head("POST", "/api/v1/kunden", &key, "Transfer-Encoding: chunked\r\n") + "2\r\n{",
        ),
    ];
    let mut wires: Vec<_> =
        cases.iter().map(|(name, sent)| (name, Wire::sent(&server, sent.as_bytes()))).collect();
    for (name, wire) in &mut wires {
        let status = wire.status();
        assert!([None, Some(408)].contains(&status), "{name}: {status:?}");
        wire.ends();
    }
    // Sending a byte now and then does not extend the timeout.
    let mut dripping = Wire::sent(&server, b"GET /api/v1 HTTP/1.1\r\nX: ");
    let until = Instant::now() + PATIENCE;
    while dripping.is_silent() && dripping.stream.write_all(b"a").is_ok() {
        assert!(Instant::now() < until, "a dripping head is never cut off");
    }
    assert_eq!(customers(&folder), 0);
    assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
}

#[test]
fn clients_that_hang_up_leave_nothing_in_halves() {
    let folder = Folder::new();
    let (mut server, key) = serve(&folder, "");
    for cut in 1..50 {
        let request = post(&key, r#"{"name":"Halb"}"#);
        drop(Wire::sent(&server, &request.as_bytes()[..request.len() * cut / 50]));
    }
    for _ in 0..20 {
        drop(Wire::sent(&server, post(&key, r#"{"name":"Ganz"}"#).as_bytes()));
    }
    let client = server.client(&key);
    assert_eq!(client.get("/api/v1/kunden?suche=halb").body["count"], 0);
    assert_eq!(client.post("/api/v1/kunden", &json!({"name": "Zuletzt"})).status, 201);
    server.signal("TERM");
    assert!(server.end().0.success());
    folder.result(&["check"]);
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let mut wire = Wire::open(&server);
    for number in 1001..1004 {
        wire.stream.write_all(post(&key, r#"{"name":"Hof"}"#).as_bytes()).unwrap();
        let (status, body) = wire.answer();
        assert_eq!((status, &body["kundennr"]), (201, &json!(format!("K-{number}"))));
    }
    let three = [post(&key, r#"{"name":"A"}"#), head("GET", "/api/v1/nichts", &key, ""), post(&key, "{}")];
    wire.stream.write_all(three.concat().as_bytes()).unwrap();
    assert_eq!(wire.answer().1["kundennr"], "K-1004");
    assert_eq!(wire.answer().1["error"], "NICHT_GEFUNDEN");
    assert_eq!(wire.answer().1["error"], "NAME_FEHLT");
    wire.stream.write_all(head("GET", "/api/v1/laender", &key, "Connection: close\r\n").as_bytes()).unwrap();
    assert_eq!(wire.answer().0, 200);
    wire.ends();
}

#[test]
fn odd_addresses_are_refused_and_never_a_fault() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let ask = |method: &str, path: &str, key: &str| {
        let (status, body) = Wire::sent(&server, head(method, path, key, "").as_bytes()).answer();
        (status, body["error"].as_str().unwrap_or_default().to_owned())
    };
    let parameters = [
        ("/api/v1/kunden?limit=1&limit=2", "PARAMETER_UNGUELTIG"),
        ("/api/v1/kunden?limit=1&limit=1", "PARAMETER_UNGUELTIG"),
        ("/api/v1/kunden?limit=1&li%6dit=2", "PARAMETER_UNGUELTIG"),
        ("/api/v1/kunden?suche=%zz", ""),
        ("/api/v1/kunden?suche=%", ""),
        ("/api/v1/kunden?suche=%f", ""),
        ("/api/v1/kunden?suche=%ff", ""),
        ("/api/v1/kunden?suche=%c3%28", ""),
        ("/api/v1/kunden?suche=%00", ""),
        ("/api/v1/kunden?%ff=1", ""),
        ("/api/v1/kunden?Limit=1", "UNBEKANNTER_PARAMETER"),
        ("/api/v1/kunden?limit=-1", "PARAMETER_UNGUELTIG"),
        ("/api/v1/kunden?limit=viele", "PARAMETER_UNGUELTIG"),
        ("/api/v1/kunden?limit[]=1", "UNBEKANNTER_PARAMETER"),
    ];
    for (path, code) in parameters {
        let (status, error) = ask("GET", path, &key);
        assert_eq!(status, 400, "{path}: {error}");
        assert!(code.is_empty() || error == code, "{path}: {error}");
    }
    let paths = [
        "/api/v1/kunden/../belege",
        "/api/v1/../../etc/passwd",
        "/..",
        "//api/v1/kunden",
        "/api//v1/kunden",
        "/api/v1/kunden//",
        "/api/v1/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/kunden%2f..%2fbelege",
        "/api/v1/KUNDEN",
        "/api/v1/kunden;a=1",
        "/api/v1/kunden/%00",
        "/api/v1/kunden/%ff",
        "/api/v1/kunden/1",
        "/api/v1/kunden/'",
        "/api/v1/kunden/%27%20or%201=1",
        "/api/v2/kunden",
    ];
    for path in paths {
        let (status, error) = ask("GET", path, &key);
        assert_eq!((status, error.as_str()), (404, "NICHT_GEFUNDEN"), "{path}");
    }
    for path in &paths[..5] {
        assert_eq!(ask("GET", path, "").0, 401, "{path}");
    }
    let (status, _) = ask("GET", "/api/v1/%zz", &key);
    assert!([400, 404].contains(&status), "{status}");
}

#[test]
fn a_port_in_use_and_a_database_in_use_are_said() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let other = Folder::new();
    let cases = [
        (&other, vec!["serve", "--listen", &server.address], server.address.as_str()),
        (&folder, vec!["serve", "--listen", "127.0.0.1:0"], "partnerd.db"),
        (&other, vec!["demo", "--listen", &server.address], server.address.as_str()),
    ];
    for (folder, arguments, named) in cases {
        let output = folder.run(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(said.contains(named) && said.trim().lines().count() == 1, "{arguments:?}: {said}");
    }
    assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
}

/// Posts customers one after the other until the server is gone; reports those that were confirmed.
fn post_until_the_end(client: &Client, thread: usize, confirmed: &Sender<String>) {
    for at in 0.. {
        let name = format!("Hof {thread}-{at}");
        match client.send("POST", "/api/v1/kunden", Some(&json!({"name": name}))) {
            Ok(answer) if answer.status == 201 => confirmed.send(name).unwrap(),
            // D19: 503 while it stops.
            Ok(answer) => assert_eq!(answer.status, 503, "{}", answer.body),
            Err(_) => return,
        }
    }
}

#[test]
fn a_stopping_server_finishes_what_runs_and_loses_nothing() {
    for (signal, settings) in [("TERM", ""), ("INT", "shutdown_timeout = 1\n")] {
        let folder = Folder::new();
        let (mut server, key) = serve(&folder, settings);
        // These requests never finish, and must not delay the stop.
        let idle = Wire::sent(&server, head("GET", "/api/v1/laender", &key, "").as_bytes());
        let half =
            Wire::sent(&server, head("POST", "/api/v1/kunden", &key, "Content-Length: 9\r\n").as_bytes());
        let (sender, receiver) = channel();
        let workers: Vec<_> = (0..8)
            .map(|thread| {
                let (client, sender) = (server.client(&key), sender.clone());
                std::thread::spawn(move || post_until_the_end(&client, thread, &sender))
            })
            .collect();
        drop(sender);
        let mut confirmed: BTreeSet<String> = receiver.iter().take(100).collect();
        server.signal(signal);
        let (status, rest) = server.end();
        assert_eq!((status.code(), rest.as_str()), (Some(0), ""), "{signal}");
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        confirmed.extend(receiver.iter());
        drop((idle, half));
        // Every connection is closed, that of the writer last, so everything is in one file.
        let left = ["partnerd.db-wal", "partnerd.db-shm"].map(|name| folder.file(name).exists());
        assert_eq!(left, [false, false], "{signal}");
        let connection = folder.database();
        let mut statement = connection.prepare("select name from kunde").unwrap();
        let stored = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let stored: BTreeSet<String> = stored.map(Result::unwrap).collect();
        assert_eq!(stored, confirmed, "{signal}");
        folder.result(&["check"]);
        assert!(TcpStream::connect(&server.address).is_err(), "{signal}");
        let again = folder.serve(&[]);
        assert_eq!(again.client(&key).get("/api/v1/kunden").body["count"], confirmed.len());
    }
}
