//! `cargo bench --bench load`: what a request costs, against a bare hyper server in the same run.
//!
//! Builds a database (10,000 customers, 1,000,000 receipt lines), drives the real executable over
//! loopback, and prints a table. Speeds of one machine at one moment say little: read the ratios.
//! `-- --seconds N` says how long each round takes (2), `-- --scale N` makes the tables N times as
//! large, `--binary FILE` measures another executable, `-- NAME` runs the workloads whose name and connections contain it.

mod client;

use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use client::{Load, Seen};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// Rounds of each workload; the middle one counts.
const ROUNDS: usize = 3;

/// What the bare server answers: about as long as a customer.
const FIXED: &[u8] = &[b'x'; 300];

/// A workload: its name, connections, and the request.
struct Workload {
    name: &'static str,
    connections: usize,
    request: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.first().is_some_and(|argument| argument == "bare") {
        return bare();
    }
    let number = |flag: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == flag);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let (seconds, scale) = (number("--seconds", 2), number("--scale", 1));
    let wanted = arguments.iter().find(|argument| argument.starts_with(|c: char| c.is_alphabetic()));
    let folder = TempDir::new().unwrap();
    let key = company(folder.path());
    let customer = fill(folder.path(), scale);
    let bare = Server::start(Command::new(std::env::current_exe().unwrap()).arg("bare"));
    let other = arguments.iter().skip_while(|argument| *argument != "--binary").nth(1);
    let mut command = Command::new(other.map_or(env!("CARGO_BIN_EXE_partnerd"), String::as_str));
    command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder.path());
    command.env("PARTNERD_LOG_LEVEL", "warn");
    let server = Server::start(&mut command);
    println!(
        "{} customers, {} receipt lines, {ROUNDS} rounds of {seconds} s, {} cores\n",
        10_000 * scale,
        1_000_000 * scale,
        cores()
    );
    println!(
        "| workload | connections | requests/s | of bare hyper | p99 ms | server CPU µs | times bare hyper |"
    );
    println!("|---|---|---|---|---|---|---|");
    for workload in workloads(&key, &customer, scale) {
        let name = format!("{} {}", workload.name, workload.connections);
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let time = Duration::from_secs(seconds);
            theirs.push(bare.measure("GET / HTTP/1.1\r\nhost: x\r\n\r\n", workload.connections, time));
            ours.push(server.measure(&workload.request, workload.connections, time));
        }
        let (ours, theirs) = (middle(ours), middle(theirs));
        println!(
            "| {} | {} | {:.0} | {:.2} | {:.2} | {:.0} | {:.1} |",
            workload.name,
            workload.connections,
            ours.rate,
            ours.rate / theirs.rate,
            ours.p99.as_secs_f64() * 1e3,
            ours.cpu_us,
            ours.cpu_us / theirs.cpu_us
        );
    }
}

fn workloads(key: &str, customer: &str, scale: u64) -> Vec<Workload> {
    let get = |name, connections, path: &str| {
        let request = format!("GET /api/v1/{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\n\r\n");
        Workload { name, connections, request }
    };
    let post = |name, connections, path: &str, body: &str| {
        let length = body.len();
        let head = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-length: {length}"
        );
        Workload { name, connections, request: format!("{head}\r\n\r\n{body}") }
    };
    let item = |number| format!(r#"{{"artikelnr": "S{number}", "menge": 3}}"#);
    let items = (1..=5).map(item).collect::<Vec<_>>().join(",");
    let document = format!(r#"{{"beleg_typ": "LS", "kunden_id": 1, "items": [{items}]}}"#);
    let late = 900_000 * scale;
    vec![
        get("one customer by id", 64, &format!("kunden/{customer}")),
        get("100 customers with count", 16, "kunden?limit=100"),
        get("suche, rare word", 16, "kunden?suche=zwirbel7777"),
        get("suche, every third", 16, "kunden?suche=raiffeisen&limit=100"),
        get("500 receipt lines of a day", 8, "barverkaeufe?von=2025-03-03&bis=2025-03-03&limit=500"),
        get("5,000 receipt lines", 4, "barverkaeufe?von=2025-03-03&limit=5000"),
        get("first page of receipt lines", 16, "barverkaeufe?limit=50"),
        get("page at 90 % of receipt lines", 16, &format!("barverkaeufe?limit=50&offset={late}")),
        get("GET /dokumente, nothing new", 16, "dokumente?since=2100-01-01"),
        post("POST /belege, 5 positions", 1, "belege", &document),
        post("POST /belege, 5 positions", 16, "belege", &document),
        post("POST /belege, 5 positions", 64, "belege", &document),
        post("POST /belege, 5 positions", 256, "belege", &document),
    ]
}

/// What one round came to.
struct Round {
    rate: f64,
    p99: Duration,
    cpu_us: f64,
}

fn middle(mut rounds: Vec<Round>) -> Round {
    rounds.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    rounds.swap_remove(rounds.len() / 2)
}

/// A server in a process of its own.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts a program whose first line ends with its address.
    fn start(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Server { child, address }
    }

    fn measure(&self, request: &str, connections: usize, time: Duration) -> Round {
        let load = Load { address: self.address.clone(), request: request.to_owned(), connections };
        load.run(Duration::from_millis(300));
        let before = cpu(self.child.id());
        let Seen { mut durations, elapsed } = load.run(time);
        let used = cpu(self.child.id()) - before;
        durations.sort_unstable();
        let count = durations.len() as f64;
        Round {
            rate: count / elapsed.as_secs_f64(),
            p99: durations[durations.len() * 99 / 100],
            cpu_us: used.as_secs_f64() * 1e6 / count,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU that a process has used, user and system (proc(5): a hundredth of a second each).
fn cpu(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A hyper server that does nothing else.
fn bare() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("bare hyper on http://{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let _ = stream.set_nodelay(true);
            let answer = service_fn(|_: Request<hyper::body::Incoming>| async {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(FIXED))))
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer),
            );
        }
    });
}

/// A company with a hundred articles, and a key without a limit.
fn company(folder: &Path) -> String {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partnerd"));
        let output = command.current_dir(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    run(&["tenant", "create", "Mühle"]);
    let article = |number| {
        format!(
            r#"{{"artikelnummer": "S{number}", "bezeichnung": "Sack", "einheit": "Stk", "preis": "1.25"}}"#
        )
    };
    let articles = (1..=100).map(article).collect::<Vec<_>>().join(",");
    std::fs::write(folder.join("a.json"), format!("[{articles}]")).unwrap();
    run(&["import", "artikel", "a.json", "--tenant", "Mühle"]);
    let limit = i32::MAX.to_string();
    run(&["key", "create", "--tenant", "Mühle", "--label", "load", "--all-scopes", "--daily-limit", &limit])
}

/// Fills the tables; the id of a customer.
fn fill(folder: &Path, scale: u64) -> String {
    let connection = Connection::open(folder.join("partnerd.db")).unwrap();
    let (customers, receipts) = (10_000 * scale, 100_000 * scale);
    // Ids as uuid v7 has them: the time first, so that they grow.
    connection
        .execute_batch(&format!(
            "pragma synchronous = off;
             begin;
             with recursive n(i) as (select 1 union all select i + 1 from n where i < {customers})
             insert into kunde (tenant_id, id, kunden_id, kundennr, name, nachname_firma, ort, plz, strasse, staat, status,
               ist_kunde, ist_lieferant, ist_spediteur, angelegt_am, geaendert_am, kundennr_key, kundennr_sort, such_text)
             select 1, unhex(printf('%012x7000800000000000%04x', 1700000000000 + i, i % 65536)), i, 'K-' || i,
               'Kunde ' || i, case i % 3 when 0 then 'Raiffeisen ' || i else 'Hof ' || i end, 'Ort ' || (i % 500), '93183',
               'Weg ' || i, 'DE', 'aktiv', 1, 0, 0, 1700000000000, 1700000000000, 'k-' || i, printf('k-%010d', i),
               case i % 3 when 0 then 'raiffeisen ' || i else 'hof ' || i end || ' kunde ' || i || ' zwirbel' || i
             from n;
             with recursive n(i) as (select 0 union all select i + 1 from n where i < {receipts} - 1)
             insert into bon (tenant_id, id, bon_nr, bon_nr_sort, kassiert_am, datum, art, zahlart, zeilen)
             select 1, unhex(printf('%012x7000800000000000%04x', 1700000000000 + i, i % 65536)), '' || i, printf('%010d', i),
               (1735689600 + (i * 1000 / {receipts}) * 86400) * 1000, date('2025-01-01', '+' || (i * 1000 / {receipts}) || ' days'),
               'verkauf', 'bar', 10 from n;
             with recursive n(i) as (select 0 union all select i + 1 from n where i < {receipts} * 10 - 1)
             insert into barverkauf (tenant_id, id, bon_id, position, bezeichnung, menge, einzelpreis, mwst_satz, gesamt, steuer)
             select 1, i + 1, unhex(printf('%012x7000800000000000%04x', 1700000000000 + i / 10, (i / 10) % 65536)), i % 10 + 1,
               'Weizenmehl 405', 1000000, 1250000, 7000000, 125, 8 from n;
             commit;"
        ))
        .unwrap();
    let id: String = connection
        .query_row("select lower(hex(id)) from kunde where kunden_id = 5000", [], |row| row.get(0))
        .unwrap();
    format!("{}-{}-{}-{}-{}", &id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..])
}
