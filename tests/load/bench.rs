//! `cargo bench --bench load`: what a request costs, against a bare hyper server in the same run.
//!
//! Builds a database (10,000 customers, 1,000,000 receipt lines), drives the real executable over
//! loopback, and prints a table. Speeds of one machine at one moment say little: read the ratios.
//! `-- --seconds N` says how long each round takes (2), `-- --scale N` makes the tables N times as
//! large, `--binary FILE` measures another executable, `-- NAME` runs the workloads whose name and connections contain it.

mod client;
mod data;

use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use client::{Load, Seen};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
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
    let key = data::company(folder.path());
    let customer = data::fill(folder.path(), scale, 100_000);
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
    let document = data::document();
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
