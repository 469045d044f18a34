//! Everything that one client can make the server hold or do is bounded, and others are served meanwhile:
//! bodies that never arrive, answers that nobody reads, connections without a request, heavy work (promises
//! P17, P19; D18).

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Client, Folder, Running, read_once};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};

/// Maximum memory of the server in MiB, whatever clients do.
const MEMORY: usize = 256;

/// How long an answer may take before a test fails; a busy machine answers late.
const PATIENCE: Duration = Duration::from_secs(600);

/// Starts a server with these settings; returns it with the key of a company that has an article without batches.
fn serve(folder: &Folder, settings: &str) -> (Running, String) {
    let key = folder.company("Mühle");
    let file = folder.write("partnerd.toml", settings);
    (folder.serve(&["--config", &file]), key)
}

fn second_key(folder: &Folder) -> String {
    let create = ["key", "create", "--tenant", "Mühle", "--label", "zweiter", "--all-scopes"];
    folder.result(&create).trim().to_owned()
}

fn connect(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// A connection that has sent this text.
fn sent(server: &Running, text: &str) -> TcpStream {
    let mut stream = connect(server);
    // The server may close before it has read everything.
    let _ = stream.write_all(text.as_bytes());
    stream
}

fn head(method: &str, path: &str, key: &str, more: &str) -> String {
    format!("{method} /api/v1/{path} HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n{more}\r\n")
}

/// The head of the next answer; empty if the connection ended instead.
fn head_of_answer(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match read_once(&mut *stream, &mut byte) {
            Ok(1) => head.push(byte[0]),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("no answer: {error}"),
        }
    }
    String::from_utf8(head).unwrap()
}

fn status(stream: &mut TcpStream) -> Option<u16> {
    head_of_answer(stream).get(9..12).map(|status| status.parse().unwrap())
}

/// Waits for something done by other threads or the server.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Incompressible bytes that begin like a PDF, as Base64 (RFC 4648).
fn pdf_as_base64(bytes: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 7u64;
    let mut text = "JVBERi0x".to_owned();
    while text.len() < bytes / 3 * 4 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push(char::from(LETTERS[(state >> 58) as usize]));
    }
    text
}

/// Creates a final document with a PDF of this size; returns its id.
fn document_with_pdf(client: &Client, bytes: usize) -> String {
    let customer = client.post("/api/v1/kunden", &json!({"name": "Müller"})).body["id"].clone();
    let item = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19});
    let beleg =
        client.post("/api/v1/belege", &json!({"beleg_typ": "RE", "kunden_id": customer, "items": [item]}));
    let id = beleg.body["id"].as_str().unwrap_or_else(|| panic!("{beleg:?}")).to_owned();
    let archived =
        client.post(&format!("/api/v1/belege/{id}/pdf"), &json!({"datei_base64": pdf_as_base64(bytes)}));
    assert_eq!(archived.status, 201, "{}", archived.body);
    id
}

#[test]
fn bodies_that_never_come_keep_nobody_else_out() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let (other, gone) = (second_key(&folder), second_key(&folder));
    let (one, two) = (server.client(&key), server.client(&other));
    let customer =
        one.post("/api/v1/kunden", &json!({"name": "Müller"})).body["id"].as_str().unwrap().to_owned();
    let path = format!("kunden/{customer}/dokumente");
    let upload = |key: &str| {
        let begun = head("POST", &path, key, &format!("Content-Length: {}\r\n", 14 << 20));
        sent(&server, &(begun + r#"{"dateiname": "a.pdf", "#))
    };
    let stalled: Vec<_> = (0..60).map(|_| upload(&key)).collect();
    // A deactivated key occupies nothing: its body is not waited for.
    let id = gone.split('_').nth(1).unwrap();
    folder.result(&["key", "deactivate", id]);
    let of_gone: Vec<_> = (0..60).map(|_| upload(&gone)).collect();
    let small = json!({"name": "Klein"});
    assert_eq!(
        [one.post("/api/v1/kunden", &small).status, two.post("/api/v1/kunden", &small).status],
        [201; 2]
    );
    let large = json!({"dateiname": "b.pdf", "inhalt_base64": pdf_as_base64(10 << 20)});
    assert_eq!(two.post(&format!("/api/v1/{path}"), &large).status, 201);
    drop((stalled, of_gone));
    // The key's own slots are free again once their clients are gone.
    let again = one.post(&format!("/api/v1/{path}"), &large);
    assert_eq!(again.status, 201, "{}", again.body);
    assert!(server.most_memory() < MEMORY, "{} MiB", server.most_memory());
}

#[test]
fn a_body_keeps_its_memory_until_its_work_is_done() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let other = server.client(&second_key(&folder));
    // While another program holds the write lock, no write is carried out.
    let database = folder.database();
    database.execute_batch("begin immediate").unwrap();
    let body = json!({"name": "X", "unbekannt": "y".repeat(900_000)}).to_string();
    let post = head("POST", "kunden", &key, &format!("Content-Length: {}\r\n", body.len())) + &body;
    // A key may use half of the 16 MiB.
    let mut waiting: Vec<_> = (0..12).map(|_| sent(&server, &post)).collect();
    waiting.iter().for_each(|stream| stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap());
    let mut refused = None;
    until("a refusal of one that found no room", || {
        let mut answer = [0; 1_000];
        let answered = waiting.iter_mut().position(|stream| stream.read(&mut answer).is_ok());
        refused = answered.map(|at| (at, String::from_utf8_lossy(&answer).into_owned()));
        answered.is_some()
    });
    let (at, answer) = refused.unwrap();
    // The reason is memory: after a while the writer, too, would answer 503.
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("zu viele große Anfragen"), "{answer}");
    waiting.remove(at);
    database.execute_batch("rollback").unwrap();
    let answers: Vec<_> = waiting
        .iter_mut()
        .map(|stream| {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            status(stream).unwrap()
        })
        .collect();
    assert!(answers.iter().filter(|status| **status == 201).count() >= 8, "{answers:?}");
    assert!(answers.iter().all(|status| [201, 503].contains(status)), "{answers:?}");
    assert_eq!(other.post("/api/v1/kunden", &json!({"name": "Y"})).status, 201);
}

/// A stream of 45 KB that claims the positions of 32 million objects, and as many real ones as fit into 8 MB.
#[test]
fn tables_of_objects_that_a_pdf_has_too_many_of_take_no_memory() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![0; 32 << 20]).unwrap();
    let packed = packed.finish().unwrap();
    let dict = "<</Type/XRef /Size 33554432 /W [1 0 0] /Filter/FlateDecode /Root 1 0 R";
    let stream = format!("9 0 obj {dict} /Length {}>> stream\n", packed.len());
    let bomb = [stream.as_bytes(), &packed, b"\nendstream endobj"].concat();
    let words = format!("xref\n0 2000000\n{}trailer<</Root 1 0 R>>", "0 0f".repeat(2_000_000));
    for table in [bomb, words.into_bytes()] {
        let end = b"\nstartxref\n9\n%%EOF\n";
        let file = [b"%PDF-1.7\n", &table[..], b"\n1 0 obj<</Type/Catalog>>endobj", end].concat();
        let answer = server
            .client(&key)
            .post("/api/v1/belege/einlesen", &json!({"datei_base64": STANDARD.encode(file)}));
        assert_eq!(answer.body["error"], "KEINE_RECHNUNG", "{}", answer.body);
        assert!(server.most_memory() < MEMORY, "{} MiB", server.most_memory());
    }
}

#[test]
fn answers_that_nobody_reads_have_a_bound() {
    let folder = Folder::new();
    let (mut server, key) = serve(&folder, "write_timeout = 600\n");
    let other = second_key(&folder);
    let id = document_with_pdf(&server.client(&key), 4 << 20);
    let get = |key: &str| head("GET", &format!("belege/{id}/pdf"), key, "");
    let mut unread: Vec<_> = (0..100).map(|_| sent(&server, &get(&key))).collect();
    let heads: Vec<_> = unread.iter_mut().map(head_of_answer).collect();
    let (served, refused): (Vec<_>, Vec<_>) =
        heads.iter().partition(|head| head.starts_with("HTTP/1.1 200 "));
    // A key may use half of the 64 MiB; each answer has 5.3 MiB.
    assert!((1..=6).contains(&served.len()), "{} of 100 were served", served.len());
    let is_busy =
        |head: &String| head.contains(" 503 ") && head.to_lowercase().contains("\r\nretry-after: 1\r\n");
    assert!(refused.into_iter().all(is_busy), "{heads:?}");
    assert!(server.most_memory() < MEMORY, "{} MiB", server.most_memory());
    // Another key has its own share, and short answers need none.
    assert_eq!(status(&mut sent(&server, &get(&other))), Some(200));
    assert_eq!(server.client(&key).get("/api/v1/laender").status, 200);
    drop(unread);
    server.kill();
    // A client that reads nothing, or a byte now and then, is cut off, which frees its memory.
    let file = folder.write("partnerd.toml", "write_timeout = 1\n");
    let server = folder.serve(&["--config", &file]);
    let mut slow: Vec<_> = (0..20).map(|_| sent(&server, &get(&key))).collect();
    slow.iter_mut().for_each(|stream| stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap());
    until("a place for an answer", || {
        slow.iter_mut().for_each(|stream| drop(stream.read(&mut [0; 1])));
        status(&mut sent(&server, &get(&key))) == Some(200)
    });
}

#[test]
fn what_does_not_shrink_is_not_compressed() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let id = document_with_pdf(&server.client(&key), 200_000);
    let ask = |path: &str| {
        let mut stream = sent(&server, &head("GET", path, &key, "Accept-Encoding: gzip\r\n"));
        head_of_answer(&mut stream).to_lowercase()
    };
    let pdf = ask(&format!("belege/{id}/pdf"));
    assert!(
        pdf.starts_with("http/1.1 200")
            && !pdf.contains("content-encoding")
            && pdf.contains("vary: accept, accept-encoding")
    );
    assert!(ask("laender").contains("content-encoding: gzip"));
}

#[test]
fn an_address_has_so_many_connections_and_the_oldest_without_an_answer_goes() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "max_connections = 30\nmax_connections_per_address = 20\n");
    let get = head("GET", "laender", &key, "");
    let mut silent: Vec<_> = (0..20).map(|_| sent(&server, "GET /api/v1 HTTP/1.1\r\n")).collect();
    let mut honest = sent(&server, &get);
    assert_eq!(status(&mut honest), Some(200));
    assert_eq!(status(&mut silent[0]), None, "the oldest had to go");
    let mut second = sent(&server, &get);
    assert_eq!((status(&mut second), status(&mut silent[1])), (Some(200), None));
    // A connection that was answered is kept.
    honest.write_all(get.as_bytes()).unwrap();
    until("the rest of the answer before", || head_of_answer(&mut honest).contains("200 OK"));
    // Another address has its own limit, until the total is reached.
    let of_others: Vec<_> = (0..10).map(|at| from_address(&server, [127, 0, 0, 2 + at], "GET ")).collect();
    let mut last = from_address(&server, [127, 0, 0, 99], &get);
    assert_eq!(status(&mut last), Some(200));
    assert_eq!(status(&mut silent[2]), None, "the oldest of all had to go");
    drop(of_others);
}

#[test]
fn where_all_were_answered_a_further_connection_is_closed() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "max_connections_per_address = 2\n");
    let get = head("GET", "laender", &key, "");
    let mut open: Vec<_> = (0..2).map(|_| sent(&server, &get)).collect();
    assert!(open.iter_mut().all(|stream| status(stream) == Some(200)));
    assert_eq!(status(&mut sent(&server, &get)), None);
    drop(open);
    until("a free place", || status(&mut sent(&server, &get)) == Some(200));
}

#[test]
fn a_proxy_of_ours_speaks_for_many() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "max_connections_per_address = 2\ntrusted_proxies = \"127.0.0.1\"\n");
    let get = head("GET", "laender", &key, "");
    let mut open: Vec<_> = (0..5).map(|_| sent(&server, &get)).collect();
    assert!(open.iter_mut().all(|stream| status(stream) == Some(200)));
}

/// A connection from one of the addresses of this machine.
fn from_address(server: &Running, address: [u8; 4], text: &str) -> TcpStream {
    let target: SocketAddr = server.address.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(IpAddr::from(address), 0)).unwrap();
        socket.connect(target).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    (&stream).write_all(text.as_bytes()).unwrap();
    stream
}

#[test]
fn a_head_has_at_most_16_kib() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let with = |length: usize| head("GET", "laender", &key, &format!("X-Lang: {}\r\n", "a".repeat(length)));
    assert_eq!(status(&mut sent(&server, &with(15 << 10))), Some(200));
    assert_eq!(status(&mut sent(&server, &with(17 << 10))), Some(431));
}

#[test]
fn who_sends_all_and_closes_its_half_gets_all_answers() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let mut stream = connect(&server);
    let requests: String = (0..20)
        .map(|at| {
            let body = format!(r#"{{"name":"Hof {at}"}}"#);
            head("POST", "kunden", &key, &format!("Content-Length: {}\r\n", body.len())) + &body
        })
        .collect();
    stream.write_all(requests.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 201 Created").count(), 20);
    assert_eq!(server.client(&key).get("/api/v1/kunden").body["count"], 20);
}

/// Counts the short reads served beside clients that send only large bodies, which take long to parse.
#[test]
fn work_on_large_bodies_does_not_stop_short_reads() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let other = server.client(&second_key(&folder));
    let customer =
        other.post("/api/v1/kunden", &json!({"name": "Müller"})).body["id"].as_str().unwrap().to_owned();
    let nested = format!("{}{}{}", "[".repeat(31), vec!["1"; 90_000].join(","), "]".repeat(31));
    let body = format!("{nested}{}", " ".repeat((4 << 20) - nested.len()));
    let post = head(
        "POST",
        &format!("kunden/{customer}/dokumente"),
        &key,
        &format!("Content-Length: {}\r\n", body.len()),
    ) + &body;
    let (reading, parsed) = (AtomicBool::new(true), AtomicUsize::new(0));
    let read = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while reading.load(Ordering::Relaxed) {
                    let status = status(&mut sent(&server, &post));
                    assert!([Some(400), Some(503)].contains(&status), "{status:?}");
                    parsed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        until("the first large body", || parsed.load(Ordering::Relaxed) >= 4);
        let before = parsed.load(Ordering::Relaxed);
        let read =
            (0..200).filter(|_| other.get(&format!("/api/v1/kunden/{customer}")).status == 200).count();
        reading.store(false, Ordering::Relaxed);
        (read, parsed.load(Ordering::Relaxed) - before)
    });
    assert_eq!(read.0, 200);
    // On the socket threads, each of these would have delayed a read.
    assert!(read.1 < 100, "{} large bodies beside 200 short reads", read.1);
}

/// A request whose end a proxy might see elsewhere is the last of its connection (RFC 9112 6.1, 6.3).
#[test]
fn nothing_is_smuggled_behind_a_coded_body() {
    let folder = Folder::new();
    let (server, key) = serve(&folder, "");
    let name = r#"{"name":"A"}"#;
    let chunked = format!("{:x}\r\n{name}\r\n0\r\n\r\n", name.len());
    let behind =
        head("POST", "kunden", &key, "Connection: close\r\nContent-Length: 12\r\n") + r#"{"name":"B"}"#;
    let answers = |headers: &str, body: &str| {
        let mut stream = sent(&server, &(head("POST", "kunden", &key, headers) + body + &behind));
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let statuses = text.split("HTTP/1.1 ").skip(1).map(|rest| rest[..3].parse::<u16>().unwrap());
        statuses.collect::<Vec<_>>()
    };
    let te = "Transfer-Encoding: chunked\r\n";
    let length = "Content-Length: 4\r\n";
    let table = [
        (te.to_owned(), &chunked[..], vec![201]),
        (format!("{length}{te}"), &chunked, vec![201]),
        (format!("{te}{length}"), &chunked, vec![201]),
        (format!("{te}{te}"), &chunked, vec![400]),
        ("Transfer-Encoding: gzip, chunked\r\n".to_owned(), &chunked, vec![400]),
        ("Transfer-Encoding: chunked, chunked\r\n".to_owned(), &chunked, vec![400]),
        ("Transfer-Encoding: CHUNKED\r\n".to_owned(), &chunked, vec![201]),
        ("Content-Length: 12\r\n".to_owned(), name, vec![201, 201]),
    ];
    for (headers, body, expected) in &table {
        assert_eq!(answers(headers, body), *expected, "{headers}");
    }
    let names: Value = server.client(&key).get("/api/v1/kunden").body;
    let smuggled = names["data"].as_array().unwrap().iter().filter(|kunde| kunde["name"] == "B").count();
    assert_eq!(smuggled, 1, "only behind a body whose length was plain");
}

/// If the system allows few open files, connections still make room for one another.
#[test]
fn no_more_connections_are_accepted_than_the_system_allows() {
    let folder = Folder::new();
    let key = folder.company("Mühle");
    let limited = |limits: &str| {
        let serve = format!("{limits}; exec {} serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_partnerd"));
        let mut command = std::process::Command::new("sh");
        command.current_dir(folder.path()).args(["-c", &serve]);
        Running::start(command)
    };
    let get = head("GET", "laender", &key, "");
    let server = limited("ulimit -n 164");
    let mut silent: Vec<_> = (0..100).map(|_| sent(&server, "GET ")).collect();
    assert_eq!(status(&mut sent(&server, &get)), Some(200));
    assert_eq!(status(&mut silent[0]), None, "the oldest had to go");
    drop((silent, server));
    // The soft limit is raised as far as allowed.
    let server = limited("ulimit -S -n 100");
    let mut open: Vec<_> = (0..150).map(|_| sent(&server, &get)).collect();
    assert!(open.iter_mut().all(|stream| status(stream) == Some(200)));
}
