//! `cargo bench --bench instructions`: how many instructions the rules and whole requests take.
//!
//! On a noisy machine a change of a few per cent is not seen in time, but in instructions. Each piece
//! runs N and 2 N times in a process of its own under valgrind; the difference is what N runs take,
//! without all that goes before and after. `-- NAME` counts the pieces whose name contains it.

mod data;

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use partnerd::app::App;
use partnerd::db::system_clock;
use partnerd::gate::Policy;
use partnerd::http::answering::Answering;
use partnerd::http::call::{Body, Request};
use partnerd::http::json::Json;
use partnerd::rules::day::Day;
use partnerd::rules::fixed::{Money, Percent, Price, Quantity};
use partnerd::rules::{price, tax};
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
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [once, name, folder, times] = arguments.as_slice()
        && once == "--once"
    {
        let piece = PIECES.iter().find(|piece| piece.name == name).unwrap();
        return (piece.work)(Path::new(folder), times.parse().unwrap());
    }
    let wanted = arguments.first().map_or("", String::as_str);
    println!("| piece | instructions |\n|---|---|");
    for piece in PIECES.iter().filter(|piece| piece.name.contains(wanted)) {
        let [once, twice] = [piece.times, 2 * piece.times].map(|times| counted(piece, times));
        println!("| {} | {} |", piece.name, (twice - once) / piece.times as u64);
    }
}

/// How many instructions a process takes that does a piece of work some times, on a database of its own.
fn counted(piece: &Piece, times: usize) -> u64 {
    let folder = tempfile::TempDir::new().unwrap();
    let key = data::company(folder.path());
    let customer = data::fill(folder.path(), 1, 100);
    std::fs::write(folder.path().join("key"), key).unwrap();
    std::fs::write(folder.path().join("customer"), customer).unwrap();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--once", piece.name])
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

fn day() {
    black_box(Day::in_berlin(partnerd::rules::day::Instant::from_millis(black_box(1_795_260_000_000))));
}

/// Reads an array that stands so many levels down.
fn read_json(times: usize, levels: usize) {
    let body = format!("{}[{}0]{}", "[".repeat(levels), "1.25,".repeat(9_999), "]".repeat(levels));
    for _ in 0..times {
        black_box(Json::parse(black_box(body.as_bytes())).unwrap());
    }
}

fn get(folder: &Path, times: usize, path: &str, query: &str) {
    let customer = std::fs::read_to_string(folder.join("customer")).unwrap();
    requests(folder, times, "GET", &path.replace("{id}", &customer), query, "");
}

fn post(folder: &Path, times: usize) {
    requests(folder, times, "POST", "belege", "", &data::document(1, 0));
}

/// Sends requests to the gate of a service in this process, one after the other.
fn requests(folder: &Path, times: usize, method: &str, path: &str, query: &str, body: &str) {
    let clock = system_clock();
    let app = App::open(&folder.join("partnerd.db"), Arc::clone(&clock), &Policy::default()).unwrap();
    let key = std::fs::read_to_string(folder.join("key")).unwrap();
    let headers =
        HeaderMap::from_iter([("x-api-key".parse().unwrap(), HeaderValue::from_str(&key).unwrap())]);
    for _ in 0..times {
        let request = Request {
            id: Uuid::now_v7(),
            at: clock(),
            started: std::time::Instant::now(),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            method: method.to_owned(),
            path: format!("/api/v1/{path}"),
            query: query.to_owned(),
            headers: headers.clone(),
            malformed: None,
            body: Body::of(body.as_bytes().to_vec()),
        };
        let reply = Arc::clone(&app.gate).answer(request).wait().unwrap();
        assert!(reply.status < 300, "{}", String::from_utf8_lossy(&reply.body));
    }
    app.close();
}
