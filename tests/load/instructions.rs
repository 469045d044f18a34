//! `cargo bench --bench instructions`: the number of instructions that the rules and whole requests take.
//!
//! On a noisy machine, a change of a few per cent does not show in time, but in instructions. Each piece runs
//! N and 2 N times in its own process under valgrind; the difference is the cost of N runs, without
//! everything before and after. `-- NAME` counts the pieces whose name contains it.

#[path = "../erechnung/beispiele.rs"]
mod beispiele;
mod data;
mod lines;

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use lines::{History, IN_ONE_BATCH, OPERATIONS, Operation};
use partnerd::platform::db::system_clock;
use partnerd::platform::gate::Policy;
use partnerd::platform::http::answering::Answering;
use partnerd::platform::http::client::Client;
use partnerd::platform::http::json::Json;
use partnerd::platform::http::request::{Body, Request};
use partnerd::rules::day::Day;
use partnerd::rules::fixed::{Money, Percent, Price, Quantity};
use partnerd::rules::{price, tax};
use partnerd::start::service::Service;
use uuid::Uuid;

/// A piece of work: its name, how often it runs, and what it does.
struct Piece {
    name: &'static str,
    times: usize,
    work: fn(&Path, usize),
}

const PIECES: &[Piece] = &[
    Piece { name: "total of a line", times: 10_000, work: |_, times| repeat(times, line_total) },
    Piece { name: "tax of five lines", times: 10_000, work: |_, times| repeat(times, sums) },
    Piece { name: "day in Berlin", times: 10_000, work: |_, times| repeat(times, day) },
    Piece { name: "six e-invoices", times: 200, work: e_invoices },
    Piece { name: "JSON of 10,000 numbers", times: 20, work: |_, times| read_json(times, 0) },
    Piece {
        name: "JSON of 10,000 numbers, 31 levels down",
        times: 20,
        work: |_, times| read_json(times, 30),
    },
    Piece {
        name: "GET one customer",
        times: 500,
        work: |folder, times| get(folder, times, "kunden/{id}", ""),
    },
    Piece {
        name: "GET 100 customers",
        times: 20,
        work: |folder, times| get(folder, times, "kunden", "limit=100"),
    },
    Piece {
        name: "GET suche, rare word",
        times: 5,
        work: |f, times| get(f, times, "kunden", "suche=zwirbel777"),
    },
    Piece {
        name: "GET 500 receipt lines",
        times: 5,
        work: |f, times| get(f, times, "barverkaeufe", "limit=500"),
    },
    Piece { name: "POST /belege, 5 positions", times: 200, work: post },
    Piece {
        name: "RE of 5 positions, final: of a company without master data",
        times: 100,
        work: |folder, times| finalise(folder, times, &[]),
    },
    Piece {
        name: "RE of 5 positions, final: with its sheet",
        times: 100,
        work: |folder, times| finalise(folder, times, &[data::COMPLETE, &["e_rechnung=aus"]].concat()),
    },
    Piece {
        name: "RE of 5 positions, final: with sheet and e-invoice",
        times: 100,
        work: |folder, times| finalise(folder, times, data::COMPLETE),
    },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [once, name, folder, times] = arguments.as_slice()
        && once == "--once"
    {
        let (folder, times) = (Path::new(folder), times.parse().unwrap());
        return match PIECES.iter().find(|piece| piece.name == name) {
            Some(piece) => (piece.work)(folder, times),
            None => operate(folder, times, name),
        };
    }
    let wanted = arguments.first().map_or("", String::as_str);
    let pieces: Vec<_> = PIECES.iter().filter(|piece| piece.name.contains(wanted)).collect();
    if !pieces.is_empty() {
        let folder = tempfile::TempDir::new().unwrap();
        let key = data::company(folder.path(), "Mühle");
        let customer = data::fill(folder.path(), 1, 100);
        std::fs::write(folder.path().join("key"), key).unwrap();
        std::fs::write(folder.path().join("customer"), customer).unwrap();
        println!("| piece | instructions |\n|---|---|");
        for piece in pieces {
            println!("| {} | {} |", piece.name, instructions(piece.name, folder.path(), piece.times));
        }
    }
    for batches in [0, 200] {
        long_histories(batches, wanted);
    }
}

/// Lines of the two compared partners.
const LINES: [u64; 2] = [200, 200_000];

/// Requests of a kind, each to its own deal: at most a third of the existing deals.
const OF_A_KIND: usize = 6;

/// The cost of requests for a partner with many lines of an article, compared with one with few.
fn long_histories(batches: u64, wanted: &str) {
    let in_one_batch = if batches == 0 { &[] } else { IN_ONE_BATCH };
    let operations = OPERATIONS.iter().chain(in_one_batch);
    let operations: Vec<_> = operations.filter(|operation| operation.name.contains(wanted)).collect();
    if operations.is_empty() {
        return;
    }
    let folders = LINES.map(|lines| {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("key"), data::company(folder.path(), "Mühle")).unwrap();
        std::fs::write(folder.path().join("history"), format!("{lines} {batches}")).unwrap();
        lines::fill(folder.path(), History { lines, batches });
        folder
    });
    let [few, many] = LINES;
    println!(
        "\n| one article in {batches} batches | {few} lines | {many} lines | times |\n|---|---|---|---|"
    );
    for Operation { name, .. } in operations {
        let [few, many] = folders.each_ref().map(|folder| instructions(name, folder.path(), OF_A_KIND));
        println!("| {name} | {few} | {many} | {:.2} |", many as f64 / few as f64);
    }
}

/// Carries out an operation several times, in the folder of a long history.
fn operate(folder: &Path, times: usize, name: &str) {
    let operation = OPERATIONS.iter().chain(IN_ONE_BATCH).find(|operation| operation.name == name).unwrap();
    let history = std::fs::read_to_string(folder.join("history")).unwrap();
    let (lines, batches) = history.split_once(' ').unwrap();
    let history = History { lines: lines.parse().unwrap(), batches: batches.parse().unwrap() };
    requests(folder, (0..times as u64).map(|at| (operation.request)(history, at)));
}

/// Counts of each process. Other threads of the service work now and then, which only adds: the least is right.
const COUNTS: usize = 3;

/// The instructions of a piece of work, each time on a copy of the folder.
fn instructions(name: &str, folder: &Path, times: usize) -> i64 {
    let least = |times| (0..COUNTS).map(|_| counted(name, folder, times)).min().unwrap();
    let [once, twice] = [times, 2 * times].map(least);
    (twice - once) / times as i64
}

/// The instructions of a process that repeats a piece of work.
fn counted(name: &str, template: &Path, times: usize) -> i64 {
    let folder = tempfile::TempDir::new().unwrap();
    for file in std::fs::read_dir(template).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--once", name])
        .arg(folder.path())
        .arg(times.to_string())
        .output()
        .expect("valgrind must be installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let line = said.lines().find_map(|line| line.split_once("Collected : ")).expect("a count");
    line.1.trim().parse().unwrap()
}

fn repeat(times: usize, work: fn()) {
    (0..times).for_each(|_| work());
}

fn line_total() {
    let (menge, preis) =
        (Quantity::from_units(black_box(1_234_567)), Price::from_units(black_box(7_654_321)));
    black_box(price::line_total(menge, preis, Percent::from_units(2_500_000)).unwrap());
}

fn sums() {
    let line = |at: i64| {
        (Money::from_units(black_box(1_999 + at)), Percent::from_units(7_000_000 + at % 2 * 12_000_000))
    };
    black_box(tax::Summen::of((0..5).map(line)).unwrap());
}

fn e_invoices(_: &Path, times: usize) {
    let documents = beispiele::all();
    for (_, document) in (0..times).flat_map(|_| &documents) {
        black_box(partnerd::papers::erechnung::erechnung(black_box(document)).unwrap());
    }
}

fn day() {
    black_box(Day::in_berlin(partnerd::rules::day::Instant::from_millis(black_box(1_795_260_000_000))));
}

/// Reads a JSON array nested this many levels deep.
fn read_json(times: usize, levels: usize) {
    let body = format!("{}[{}0]{}", "[".repeat(levels), "1.25,".repeat(9_999), "]".repeat(levels));
    for _ in 0..times {
        black_box(Json::parse(black_box(body.as_bytes())).unwrap());
    }
}

fn get(folder: &Path, times: usize, path: &str, query: &str) {
    let customer = std::fs::read_to_string(folder.join("customer")).unwrap();
    let path = format!("{}?{query}", path.replace("{id}", &customer));
    requests(folder, (0..times).map(|_| ("GET", path.clone(), String::new())));
}

fn post(folder: &Path, times: usize) {
    let document = data::document(1, 0);
    requests(folder, (0..times).map(|_| ("POST", "belege".to_owned(), document.clone())));
}

/// Creates final invoices for a company with these settings.
fn finalise(folder: &Path, times: usize, settings: &[&str]) {
    data::set(folder, "Mühle", settings);
    let document = data::document(1, 0).replace("\"LS\"", "\"RE\", \"abschliessen\": true");
    requests(folder, (0..times).map(|_| ("POST", "belege".to_owned(), document.clone())));
}

/// The other threads of a service look for work once within it; each opens a connection, which reads the schema.
const SETTLES_WITHIN: Duration = Duration::from_secs(5);

/// Sends requests, given as method, path and body, one after the other to the gate of a service in this process.
fn requests(folder: &Path, requests: impl Iterator<Item = (&'static str, String, String)>) {
    let clock = system_clock();
    let app = Service::open(&folder.join("partnerd.db"), Arc::clone(&clock), &Policy::default()).unwrap();
    std::thread::sleep(SETTLES_WITHIN);
    let runtime = partnerd::start::service::runtime().unwrap();
    let key = std::fs::read_to_string(folder.join("key")).unwrap();
    let headers =
        HeaderMap::from_iter([("x-api-key".parse().unwrap(), HeaderValue::from_str(&key).unwrap())]);
    for (method, path, body) in requests {
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        let request = Request {
            id: Uuid::now_v7(),
            at: clock(),
            started: std::time::Instant::now(),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            local: IpAddr::V4(Ipv4Addr::LOCALHOST),
            method: method.to_owned(),
            path: format!("/api/v1/{path}"),
            query: query.to_owned(),
            headers: headers.clone(),
            malformed: None,
            body: Body::from_bytes(body.into_bytes()),
        };
        let reply = runtime.block_on(Arc::clone(&app.gate).answer(request, &mut Client::within()));
        assert!(reply.status < 300, "{}", String::from_utf8_lossy(&reply.body));
    }
    drop(runtime);
    app.close();
}
