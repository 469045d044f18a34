//! The effect of hostile clients on honest ones, and what they make the server hold: its memory and its write-ahead
//! log (promises P7, P17). They have their own key, or none. As a comparison, plain endless loops show the effect of
//! the machine alone: if all its cores are busy, a woken thread waits for a tick of the scheduler.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};

use crate::client::Load;
use crate::data::another_key;
use crate::server::{Round, Server, WARM};
use crate::writes::documents;
use crate::{Bench, middle};

/// Connections of the honest clients that read, and of those that write.
const READING: usize = 8;
const WRITING: usize = 4;

/// How long a hostile client waits for anything before it starts over.
const PATIENCE: Duration = Duration::from_secs(5);

/// What each of some hostile connections sends, and what it does then.
#[derive(Clone)]
struct Client {
    connections: usize,
    /// Sent at once, from a separate address for every so many connections.
    sends: Arc<[u8]>,
    per_address: usize,
    then: Then,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Reads the answer and sends again.
    Again,
    /// Reads nothing, and keeps the connection as long as it lasts.
    Keeps,
    /// Reads a byte now and then.
    Drips,
    /// Has no connection: an endless loop of the load client.
    Loops,
}

/// The result of a run.
struct Attacked {
    reads: f64,
    writes: f64,
    wal: u64,
    memory: f64,
}

/// Measures everything requested and prints a table.
pub fn table(bench: &Bench) {
    let is_wanted = |name: &str| bench.wants(&format!("Hostile clients: {name}"), READING);
    let attacks: Vec<_> = attacks(bench).into_iter().filter(|(name, _)| is_wanted(name)).collect();
    if attacks.is_empty() {
        return;
    }
    println!("## Hostile clients\n");
    println!(
        "p99 of {READING} honest connections that read one customer, and of {WRITING} that write documents, as \
         times of the same without them.\n"
    );
    println!(
        "| hostile clients | p99 of reads | p99 of writes | write-ahead log at most, MiB | memory at most, MiB |"
    );
    println!("|---|---|---|---|---|");
    for (name, clients) in &attacks {
        let reading = || Load::same(READING, &bench.get(&format!("kunden/{}", bench.customer)));
        let rounds = (0..bench.rounds).map(|_| attacked(bench, clients, &reading())).collect::<Vec<_>>();
        let wal = rounds.iter().map(|round| round.wal).max().unwrap_or(0) >> 20;
        let memory = rounds.iter().map(|round| round.memory).fold(0.0, f64::max) / 1024.0;
        let Attacked { reads, writes, .. } = middle(rounds, |round| round.reads);
        println!("| {name} | {reads:.1} | {writes:.1} | {wal} | {memory:.0} |");
    }
    println!();
}

/// A long list of one key beside 500 that another key requests at once.
pub fn lists(bench: &Bench) {
    if !bench.wants("Long lists of one key", 1) {
        return;
    }
    println!("## Long lists of one key\n");
    println!(
        "| hostile clients | p99 of a long list of another key, as times of the same without them |\n|---|---|"
    );
    let path = "barverkaeufe?limit=5000";
    let key = another_key(&bench.service.folder, "Mühle");
    let sends = bench.get(path).replace(&bench.key, &key).into_bytes().into();
    let many = Client { connections: 500, sends, per_address: 400, then: Then::Again };
    let reading = || Load::same(1, &bench.get(path));
    let rounds = (0..bench.rounds).map(|_| attacked(bench, std::slice::from_ref(&many), &reading()));
    let Attacked { reads, .. } = middle(rounds.collect(), |round| round.reads);
    println!("| 500 long lists of one key | {reads:.1} |\n");
}

fn attacks(bench: &Bench) -> Vec<(&'static str, Vec<Client>)> {
    let key = another_key(&bench.service.folder, "Mühle");
    let head = |method: &str, path: &str, more: &str| {
        format!("{method} /api/v1/{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n{more}\r\n")
    };
    let client = |connections, sends: String, then| Client {
        connections,
        sends: sends.into_bytes().into(),
        per_address: 400,
        then,
    };
    let post =
        |path: &str, body: &str| head("POST", path, &format!("content-length: {}\r\n", body.len())) + body;
    let attachments = format!("kunden/{}/dokumente", bench.customer);
    let upload = post(
        &attachments,
        &format!(r#"{{"dateiname": "a.bin", "inhalt_base64": "{}"}}"#, "QUJD".repeat(300_000)),
    );
    let long = client(6, head("GET", "barverkaeufe?zahlart=bar&limit=5000&offset=400000", ""), Then::Again);
    let uploads = client(4, upload, Then::Again);
    let stalled = client(
        300,
        head("POST", &attachments, &format!("content-length: {}\r\n", 14 << 20)) + &"x".repeat(300_000),
        Then::Keeps,
    );
    let many = head("GET", "barverkaeufe?limit=5000", "");
    let unread = client(300, many.clone(), Then::Keeps);
    let dripping = client(100, many, Then::Drips);
    let partial = client(4_000, format!("GET /api/v1 HTTP/1.1\r\nx: {}", "a".repeat(12_000)), Then::Keeps);
    let strangers = client(32, "GET /api/v1 HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), Then::Again);
    let guessing = client(
        32,
        "GET /api/v1/kunden HTTP/1.1\r\nhost: x\r\nx-api-key: ak_000000000000_0\r\n\r\n".to_owned(),
        Then::Again,
    );
    let nested = format!("{}{}{}", "[".repeat(31), vec!["1"; 90_000].join(","), "]".repeat(31));
    let nested = client(4, post(&attachments, &format!("{nested}{}", " ".repeat(13 << 20))), Then::Again);
    let marks = client(4, head("GET", "kunden?suche=%CC%81%20a", ""), Then::Again);
    let line = vec![r#"{"artikelnr": "S1", "menge": 1}"#; 750].join(",");
    let document = |typ: &str, items: &str| {
        format!(r#"{{"beleg_typ": "{typ}", "kunden_id": "{}", "items": [{items}]}}"#, bench.customer)
    };
    let (delivery, invoice) = (document("LS", &line), document("RE", r#"{"artikelnr": "S1", "menge": 750}"#));
    let pile = format!(r#"{{"items": [{delivery}, {invoice}]}}"#);
    let piles = client(4, post("belege/stapel", &pile), Then::Again);
    let loops =
        |loops| vec![Client { connections: loops, sends: Arc::new([]), per_address: 1, then: Then::Loops }];
    let bombs = vec![nested];
    let searches = vec![marks];
    let all = vec![long.clone(), uploads.clone(), stalled.clone(), unread.clone(), dripping.clone()];
    let all = [all, vec![partial.clone(), strangers.clone(), guessing.clone()], bombs.clone()].concat();
    let all = [all, searches.clone(), vec![piles.clone()]].concat();
    vec![
        ("none, but an endless loop", loops(1)),
        ("none, but two endless loops", loops(2)),
        ("long lists beside uploads", vec![long, uploads]),
        ("uploads that stall", vec![stalled]),
        ("answers that nobody reads", vec![unread, dripping]),
        ("partial heads", vec![partial]),
        ("floods without a key", vec![strangers, guessing]),
        ("bodies that take long", bombs),
        ("searches that find everything", searches),
        ("invoices over piles of deliveries", vec![piles]),
        ("all of them together", all),
    ]
}

/// Runs these reads, and writes, beside hostile clients.
fn attacked(bench: &Bench, clients: &[Client], reading: &Load) -> Attacked {
    let server = bench.service.start();
    let writing = documents(&bench.key, WRITING, bench.customers());
    let measure = || [server.measure(reading, bench.time), server.measure(&writing, bench.time)];
    let before = measure();
    server.forget_peak();
    let (running, wal) = (AtomicBool::new(true), AtomicU64::new(0));
    let log = bench.service.folder.join("partnerd.db-wal");
    let with = std::thread::scope(|scope| {
        scope.spawn(|| watch(&log, &wal, &running));
        for _ in 0..clients
            .iter()
            .filter(|client| client.then == Then::Loops)
            .map(|client| client.connections)
            .sum()
        {
            scope.spawn(|| {
                while running.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        scope.spawn(|| attack(&server, clients, &running));
        std::thread::sleep(3 * WARM);
        let with = measure();
        running.store(false, Ordering::Relaxed);
        with
    });
    let times = |at: usize| p99(&with[at]) / p99(&before[at]);
    Attacked { reads: times(0), writes: times(1), wal: wal.into_inner(), memory: server.memory("VmHWM") }
}

fn p99(round: &Round) -> f64 {
    round.p99.as_secs_f64()
}

/// Records the maximum size of the write-ahead log.
fn watch(log: &PathBuf, longest: &AtomicU64, running: &AtomicBool) {
    while running.load(Ordering::Relaxed) {
        let length = std::fs::metadata(log).map_or(0, |log| log.len());
        longest.fetch_max(length, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs the hostile clients until told to stop.
fn attack(server: &Server, clients: &[Client], running: &AtomicBool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let address: std::net::SocketAddr = server.address.parse().unwrap();
        let mut others = 0;
        for client in clients.iter().filter(|client| client.then != Then::Loops) {
            for at in 0..client.connections {
                let from = [127, 0, 1 + (others / 250) as u8, 1 + (others % 250) as u8];
                others += usize::from((at + 1) % client.per_address == 0);
                let client = client.clone();
                tokio::spawn(async move {
                    loop {
                        // Whatever the server does with it, it comes again.
                        let _ = once(&client, from, address).await;
                        sleep(Duration::from_millis(10)).await;
                    }
                });
            }
            others += 1;
        }
        while running.load(Ordering::Relaxed) {
            sleep(Duration::from_millis(20)).await;
        }
    });
}

/// One connection, until it ends.
async fn once(client: &Client, from: [u8; 4], address: std::net::SocketAddr) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((std::net::IpAddr::from(from), 0).into())?;
    let mut stream = socket.connect(address).await?;
    loop {
        let _ = timeout(PATIENCE, stream.write_all(&client.sends)).await;
        match client.then {
            Then::Again => {
                if !timeout(PATIENCE, is_answered(&mut stream)).await.unwrap_or(Ok(false))? {
                    return Ok(());
                }
            }
            Then::Keeps | Then::Loops => sleep(PATIENCE * 4).await,
            Then::Drips => {
                for _ in 0..200 {
                    sleep(Duration::from_millis(100)).await;
                    if stream.read(&mut [0; 1]).await? == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Reads a whole answer; returns false if the connection was closed.
async fn is_answered(stream: &mut TcpStream) -> std::io::Result<bool> {
    let (mut buffer, mut head, mut whole) = (Vec::with_capacity(64 << 10), 0, usize::MAX);
    while buffer.len() < whole {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(false);
        }
        if head == 0
            && let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n")
        {
            head = end + 4;
            let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
            let length = text.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            whole = head + length.and_then(|length| length.parse().ok()).unwrap_or(0);
        }
    }
    Ok(true)
}
