//! After `kill -9` everything answered is stored exactly once, and nothing in halves; and how often the disk
//! is synced for that.

mod stapel;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant, SystemTime};

use crate::process::{Answer, Client, Folder, Running};
use crate::programs::needs;
use serde_json::{Value, json};

const THREADS: usize = 8;
const ROUNDS: usize = 5;
/// Documents per thread and round: 1,000 in all.
const DOCUMENTS: usize = 25;
const OPENING_STOCK: i64 = 100_000;

/// Creates a company with two partners, wheat, and a batch A1 of it; returns its key.
fn mill(folder: &Folder) -> String {
    let key = folder.company("Mühle");
    let article = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30",
        "ep_netto": "0.20", "chargenpflichtig": true}]);
    folder.import("Mühle", "artikel", &article);
    folder.import(
        "Mühle",
        "kunden",
        &json!([
        {"kundennr": "L-1", "nachname_firma": "Hof", "kunden_id": 1, "partner_typen": ["lieferant"]},
        {"kundennr": "K-1", "nachname_firma": "Bäcker", "kunden_id": 2}]),
    );
    let batch = json!([{"artikelnummer": "W", "charge_nr": "A1", "bestand": OPENING_STOCK}]);
    folder.import("Mühle", "chargen", &batch);
    key
}

/// The body of a document: every third is a delivery into its own batch, the others are invoices out of A1.
fn document(reference: &str, at: usize, batch: &Value) -> Value {
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "12.50", "mwst_satz": 19});
    if at.is_multiple_of(3) {
        let item = json!({"artikelnr": "W", "menge": 10 + at, "fremde_charge_nr": reference});
        let items = [item, freight];
        return json!({"beleg_typ": "EL", "kunden_id": 1, "external_ref": reference, "items": items});
    }
    let items: Vec<Value> =
        (1..=at % 4 + 1).map(|menge| json!({"artikelnr": "W", "menge": menge, "charge_id": batch})).collect();
    let items = [items, vec![freight]].concat();
    json!({"beleg_typ": "RE", "kunden_id": 2, "external_ref": reference, "items": items})
}

/// What a client saw.
struct Seen {
    /// The reference and body of the document; `None` for a read.
    sent: Option<(String, Value)>,
    answer: Answer,
}

/// Sends documents with reads in between, until all are sent or the server is gone.
fn work(client: &Client, round: usize, thread: usize, batch: &Value, seen: &Sender<Seen>) {
    for at in 0..DOCUMENTS {
        let reference = format!("R{round}-{thread}-{at}");
        let body = document(&reference, at, batch);
        let Ok(answer) = client.send("POST", "/api/v1/belege", Some(&body)) else { return };
        seen.send(Seen { sent: Some((reference, body)), answer }).unwrap();
        if at % 5 == 0 {
            let Ok(answer) = client.send("GET", "/api/v1/belege?limit=1", None) else { return };
            seen.send(Seen { sent: None, answer }).unwrap();
        }
    }
}

/// Lets the threads work on a server and kills it after this many answers.
fn round(folder: &Folder, key: &str, round: usize, answers: usize) -> Vec<Seen> {
    let mut server = folder.serve(&[]);
    let batch = batch_id(&server.client(key));
    let (sender, seen): (Sender<Seen>, Receiver<Seen>) = channel();
    let workers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (client, batch, sender) = (server.client(key), batch.clone(), sender.clone());
            std::thread::spawn(move || work(&client, round, thread, &batch, &sender))
        })
        .collect();
    drop(sender);
    let mut all: Vec<Seen> = seen.iter().take(answers).collect();
    server.kill();
    all.extend(seen.iter());
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert!(all.len() < THREADS * DOCUMENTS, "the server was killed when all was done");
    all
}

/// The id of batch A1.
fn batch_id(client: &Client) -> Value {
    let batches = client.get("/api/v1/chargen").body;
    batches.as_array().unwrap().iter().find(|batch| batch["charge_nr"] == "A1").unwrap()["id"].clone()
}

/// Asserts that a document is stored as sent and confirmed.
fn assert_stored(client: &Client, sent: &Value, confirmed: &Value) {
    let stored = client.get(&format!("/api/v1/belege/{}", confirmed["id"].as_str().unwrap()));
    assert_eq!(stored.status, 200, "{confirmed}");
    for field in ["beleg_nummer", "summe_brutto"] {
        assert_eq!(stored.body[field], confirmed[field], "{confirmed}");
    }
    assert_eq!(stored.body["external_ref"], sent["external_ref"]);
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap();
    let quantities = |items: &Value| -> Vec<f64> {
        items.as_array().unwrap().iter().map(|item| number(&item["menge"])).collect()
    };
    assert_eq!(quantities(&stored.body["positionen"]), quantities(&sent["items"]), "{confirmed}");
}

#[test]
fn what_was_answered_outlives_kill_9() {
    let folder = Folder::new();
    let key = mill(&folder);
    let mut seen = Vec::new();
    for at in 0..ROUNDS {
        seen.extend(round(&folder, &key, at, 40 + 25 * at));
        let check = folder.run(&["check"]);
        assert!(check.status.success(), "round {at}: {}", String::from_utf8_lossy(&check.stdout));
    }
    assert!(seen.iter().all(|seen| [200, 201].contains(&seen.answer.status)));
    let mut server = folder.serve(&[]);
    let client = server.client(&key);
    for (_, body) in seen.iter().filter_map(|seen| seen.sent.as_ref()) {
        // Sending the same reference again finds the document, which exists once.
        assert_eq!(client.post("/api/v1/belege", body).status, 200, "{}", body["external_ref"]);
    }
    for seen in &seen {
        if let Some((_, body)) = &seen.sent {
            assert_eq!(seen.answer.status, 201);
            assert_stored(&client, body, &seen.answer.body);
        }
    }
    let answered: BTreeMap<_, _> = seen.iter().filter_map(|seen| seen.sent.clone()).collect();
    send_the_rest(&client, &answered);
    server.signal("TERM");
    assert!(server.end().0.success());
    assert_sums(&folder);
    assert_audit(&folder, &seen);
    folder.result(&["check"]);
}

/// Posts receipts, every second one with its delivery, and settles each, until the server is gone.
fn settle(client: &Client, mark: &str, settled: &Sender<Value>) {
    for at in 0..100 {
        let note = json!({"kunden_id": 1, "artikelnr": "W", "anliefermenge_kg": 1_000 + at, "preis_je_t": 200,
            "fremde_charge_nr": format!("{mark}-{at}"), "el_erzeugen": at % 2 == 0});
        let Ok(note) = client.send("POST", "/api/v1/annahmescheine", Some(&note)) else { return };
        let end = json!({"art": "end", "annahmeschein_ids": [note.body["id"]], "abschliessen": true});
        let Ok(answer) = client.send("POST", "/api/v1/abrechnungen", Some(&end)) else { return };
        assert_eq!(answer.status, 201, "{}", answer.body);
        settled.send(answer.body["id"].clone()).unwrap();
    }
}

/// Receipts and settlements of which only one half exists.
const HALVES: &str =
    "select (select count(*) from annahmeschein s where (s.status = 'abgerechnet') <> exists (
      select 1 from abrechnung a join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
      where a.tenant_id = s.tenant_id and a.id = s.abrechnung_id and b.status = 'abgeschlossen'))
    + (select count(*) from abrechnung a where not exists (select 1 from abrechnung_annahme x
      where x.tenant_id = a.tenant_id and x.abrechnung_id = a.id))
    + (select count(*) from beleg b where b.beleg_typ = 'ER' and not exists (select 1 from abrechnung a
      where a.tenant_id = b.tenant_id and a.beleg_id = b.id))";

#[test]
fn no_note_is_settled_without_its_gutschrift() {
    let folder = Folder::new();
    let key = mill(&folder);
    let mut answered: Vec<Value> = Vec::new();
    for round in 0..3 {
        let mut server = folder.serve(&[]);
        let (sender, settled) = channel();
        let workers: Vec<_> = (0..4)
            .map(|thread| {
                let (client, sender) = (server.client(&key), sender.clone());
                std::thread::spawn(move || settle(&client, &format!("N{round}-{thread}"), &sender))
            })
            .collect();
        drop(sender);
        answered.extend(settled.iter().take(20 + 13 * round));
        server.kill();
        answered.extend(settled.iter());
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let check = folder.run(&["check"]);
        assert!(check.status.success(), "round {round}: {}", String::from_utf8_lossy(&check.stdout));
        let halves = folder.database().query_row(HALVES, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(halves, 0, "round {round}");
    }
    let server = folder.serve(&[]);
    let client = server.client(&key);
    for id in &answered {
        let shown = client.get(&format!("/api/v1/abrechnungen/{}", id.as_str().unwrap()));
        assert_eq!((shown.status, &shown.body["status"]), (200, &json!("abgeschlossen")), "{}", shown.body);
    }
}

/// Sends everything that was never answered, as any client would; then there are 1,000 documents.
fn send_the_rest(client: &Client, answered: &BTreeMap<String, Value>) {
    let batch = batch_id(client);
    for (round, thread, at) in (0..ROUNDS * THREADS * DOCUMENTS)
        .map(|n| (n / (THREADS * DOCUMENTS), n / DOCUMENTS % THREADS, n % DOCUMENTS))
    {
        let reference = format!("R{round}-{thread}-{at}");
        if !answered.contains_key(&reference) {
            let answer = client.post("/api/v1/belege", &document(&reference, at, &batch));
            assert!([200, 201].contains(&answer.status), "{reference}: {}", answer.body);
        }
    }
}

/// Asserts that all documents exist, without gaps, and that the stock matches them.
fn assert_sums(folder: &Folder) {
    let connection = folder.database();
    let value = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let all = (ROUNDS * THREADS * DOCUMENTS) as i64;
    assert_eq!(value("select count(*) from beleg"), all);
    assert_eq!(value("select count(distinct external_ref) from beleg"), all);
    for series in ["RE", "EL"] {
        let sql = format!(
            "select count(*) - max(cast(substr(beleg_nummer, 9) as integer)) from beleg
            where beleg_typ = '{series}'"
        );
        assert_eq!(value(&sql), 0, "gap in {series}");
    }
    let invoiced: usize =
        (0..DOCUMENTS).filter(|at| at % 3 != 0).map(|at| (1..=at % 4 + 1).sum::<usize>()).sum();
    let left = OPENING_STOCK - (ROUNDS * THREADS * invoiced) as i64;
    assert_eq!(value("select bestand / 1000000 from charge where charge_nr = 'A1'"), left);
    let delivered: usize = (0..DOCUMENTS).step_by(3).map(|at| 10 + at).sum();
    let received = "select sum(bestand) / 1000000 from charge where charge_nr <> 'A1'";
    assert_eq!(value(received), (ROUNDS * THREADS * delivered) as i64);
    let moved = "select (select sum(menge) from lagerbewegung) - (select sum(bestand) from charge)";
    assert_eq!(value(moved), 0);
}

/// Asserts that every answered request has exactly one audit row, and no request has two.
fn assert_audit(folder: &Folder, seen: &[Seen]) {
    let connection = folder.database();
    let mut statement = connection.prepare("select request_id from audit").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, uuid::Uuid>(0)).unwrap();
    let rows: Vec<String> = rows.map(|id| id.unwrap().to_string()).collect();
    let distinct: BTreeSet<&String> = rows.iter().collect();
    assert_eq!(distinct.len(), rows.len(), "a request has two audit rows");
    for seen in seen {
        assert!(distinct.contains(&seen.answer.request_id), "no audit row of {}", seen.answer.request_id);
    }
}

#[test]
fn a_killed_server_leaves_reads_in_the_audit_log_too() {
    let folder = Folder::new();
    let key = mill(&folder);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut server = folder.serve(&[]);
        let client = server.client(&key);
        for path in ["/api/v1/kunden", "/api/v1/nichts", "/api/v1", "/api/v1/belege?typ=XX"] {
            seen.push(Seen { sent: None, answer: client.get(path) });
        }
        server.kill();
    }
    let mut server = folder.serve(&[]);
    server.signal("TERM");
    assert!(server.end().0.success());
    assert_audit(&folder, &seen);
}

/// How often the server synced the disk between two instants, from the output of strace.
fn syncs(trace: &str, from: SystemTime, to: SystemTime) -> usize {
    let seconds = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs_f64();
    let during = |line: &&str| {
        let mut words = line.split_whitespace();
        let at: f64 = words.nth(1).and_then(|at| at.parse().ok()).unwrap_or(0.0);
        (seconds(from)..=seconds(to)).contains(&at)
            && words.next().is_some_and(|call| call.starts_with("fsync(") || call.starts_with("fdatasync("))
    };
    trace.lines().filter(during).count()
}

/// Starts a server under strace, which writes the calls named by `options` to trace.txt; stderr goes to errors.txt.
fn straced(folder: &Folder, options: &[&str]) -> Running {
    // -D: the server stays our own child, strace runs beside it.
    let mut command = Command::new("strace");
    command.args(["-D", "-f", "-ttt", "-o", "trace.txt"]).args(options);
    command.args(["sh", "-c", "exec \"$0\" serve --listen 127.0.0.1:0 2>errors.txt"]);
    command.arg(env!("CARGO_BIN_EXE_partnerd"));
    Running::start({
        command.current_dir(folder.path());
        command
    })
}

#[test]
fn simultaneous_documents_share_their_syncs() {
    needs!("strace");
    const CLIENTS: usize = 64;
    let folder = Folder::new();
    let key = mill(&folder);
    let mut server = straced(&folder, &["-e", "trace=fsync,fdatasync"]);
    let batch = batch_id(&server.client(&key));
    let barrier = Arc::new(Barrier::new(CLIENTS + 1));
    let workers: Vec<_> = (0..CLIENTS)
        .map(|at| {
            let (client, barrier) = (server.client(&key), Arc::clone(&barrier));
            let body = document(&format!("S{at}"), at, &batch);
            std::thread::spawn(move || {
                // The connection is open and the key verified before it begins.
                assert_eq!(client.get("/api/v1/laender").status, 200);
                barrier.wait();
                client.post("/api/v1/belege", &body)
            })
        })
        .collect();
    let from = SystemTime::now();
    barrier.wait();
    let answers: Vec<Answer> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    let to = SystemTime::now();
    assert!(answers.iter().all(|answer| answer.status == 201));
    server.signal("TERM");
    assert!(server.end().0.success());
    let until = Instant::now() + Duration::from_secs(120);
    let trace = loop {
        let trace = std::fs::read_to_string(folder.file("trace.txt")).unwrap();
        if trace.contains("exited with 0") || Instant::now() > until {
            break trace;
        }
        std::thread::yield_now();
    };
    let syncs = syncs(&trace, from, to);
    assert!((1..20).contains(&syncs), "{syncs} syncs for {CLIENTS} documents");
    folder.result(&["check"]);
}

/// A company on a server that has started once before, so that later failures hit the writer.
fn mill_that_has_served(folder: &Folder) -> (String, Value) {
    let key = mill(folder);
    let mut server = folder.serve(&[]);
    let batch = batch_id(&server.client(&key));
    server.signal("TERM");
    assert!(server.end().0.success());
    (key, batch)
}

/// The path of the write-ahead log, as passed to strace.
fn log_of(folder: &Folder) -> String {
    std::fs::canonicalize(folder.path()).unwrap().join("partnerd.db-wal").to_str().unwrap().to_owned()
}

/// If nobody knows whether a commit is on the disk, the answer says so and the process ends; what the log
/// restores exists once, with one audit row.
#[test]
fn a_commit_that_the_disk_refuses_to_sync_ends_the_process_and_doubles_nothing() {
    needs!("strace");
    let folder = Folder::new();
    let (key, batch) = mill_that_has_served(&folder);
    let log = log_of(&folder);
    // Each thread counts its own calls; the thread that starts the server syncs the log fewer times.
    let inject = "inject=fsync,fdatasync:error=EIO:when=12+";
    let mut server = straced(&folder, &["-P", &log, "-e", "trace=fsync,fdatasync", "-e", inject]);
    let (sender, seen): (Sender<Seen>, Receiver<Seen>) = channel();
    let workers: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (client, batch, sender) = (server.client(&key), batch.clone(), sender.clone());
            std::thread::spawn(move || work(&client, 0, thread, &batch, &sender))
        })
        .collect();
    drop(sender);
    let seen: Vec<Seen> = seen.iter().collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let (status, _) = server.end();
    let said = std::fs::read_to_string(folder.file("errors.txt")).unwrap();
    assert_eq!(status.code(), Some(74), "{said}");
    assert!(said.contains("the disk failed at a commit"), "{said}");
    let answered = |code: &str| seen.iter().filter(|seen| seen.answer.body["error"] == code).count();
    assert!(answered("AUSGANG_UNBEKANNT") > 0 && seen.iter().any(|seen| seen.answer.status == 201), "{said}");
    let mut server = folder.serve(&[]);
    let client = server.client(&key);
    let mut came_back = 0;
    for seen in &seen {
        let Some((_, body)) = &seen.sent else { continue };
        let again = client.post("/api/v1/belege", body);
        match seen.answer.body["error"].as_str() {
            None => assert_eq!(again.status, 200, "{}", again.body),
            Some("AUSGANG_UNBEKANNT") => came_back += usize::from(again.status == 200),
            _ => assert_eq!((seen.answer.status, again.status), (503, 201), "{}", seen.answer.body),
        }
    }
    assert!(came_back > 0, "the scene needs a log that brings something back");
    server.signal("TERM");
    assert!(server.end().0.success());
    assert_audit(&folder, &seen);
    folder.result(&["check"]);
}

/// A full disk leads to an answer: nothing is stored, nothing ends, and the service notices by itself when
/// there is room.
#[test]
fn a_full_disk_is_an_answer_and_the_service_goes_on_when_there_is_room() {
    needs!("strace");
    let folder = Folder::new();
    let (key, batch) = mill_that_has_served(&folder);
    let log = log_of(&folder);
    // Writing the log fails ten times, for any thread.
    let inject = "inject=pwrite64:error=ENOSPC:when=300..309";
    let mut server = straced(&folder, &["-P", &log, "-e", "trace=pwrite64", "-e", inject]);
    let client = server.client(&key);
    let ready = || client.get("/readyz").status;
    assert_eq!(ready(), 200);
    let mut seen = Vec::new();
    for at in 0..100 {
        let body = document(&format!("V{at}"), at, &batch);
        let answer = client.post("/api/v1/belege", &body);
        let status = answer.status;
        seen.push(Seen { sent: Some((format!("V{at}"), body)), answer });
        if status != 201 {
            break;
        }
    }
    let refused = seen.last().unwrap();
    assert_eq!((refused.answer.status, &refused.answer.body["error"]), (503, &json!("NICHT_VERFUEGBAR")));
    assert_eq!(ready(), 503);
    assert_eq!(client.get("/api/v1/belege?limit=1").status, 200, "reading goes on");
    let page = client.text("/leitstand/anmelden");
    assert!(page.contains("Ist die Platte voll?"), "who cannot log in is told why: {page}");
    let until = Instant::now() + Duration::from_secs(120);
    while ready() != 200 {
        assert!(Instant::now() < until, "it does not notice that there is room");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (_, body) = refused.sent.as_ref().unwrap();
    let again = client.post("/api/v1/belege", body);
    assert_eq!(again.status, 201, "nothing was stored the first time: {}", again.body);
    seen.push(Seen { sent: None, answer: again });
    server.signal("TERM");
    assert!(server.end().0.success());
    assert_audit(&folder, &seen);
    folder.result(&["check"]);
}
