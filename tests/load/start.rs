//! The startup time of the service, and its memory.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::Bench;
use crate::client::{Load, answer};
use crate::server::{Server, Service};

/// Starts of each kind; the median counts.
const STARTS: usize = 5;

/// Answers requested at once.
const AT_ONCE: usize = 16;

/// A figure and its meaning.
pub type Figure = (&'static str, String);

/// From the start of the process to the first 200 of /healthz.
pub fn starts(bench: &Bench) -> Vec<Figure> {
    if !bench.wants("start", 1) {
        return Vec::new();
    }
    let cold = times(|| {
        forget(bench);
        start(&bench.service)
    });
    let warm = times(|| start(&bench.service));
    vec![
        ("start to first answer, files not in memory", cold),
        ("start to first answer, files in memory", warm),
    ]
}

fn times(mut one: impl FnMut() -> Duration) -> String {
    let mut durations: Vec<f64> = (0..STARTS).map(|_| one().as_secs_f64() * 1e3).collect();
    durations.sort_by(f64::total_cmp);
    format!("{:.0} ms ({:.0}–{:.0})", durations[STARTS / 2], durations[0], durations[STARTS - 1])
}

fn start(service: &Service) -> Duration {
    let begun = Instant::now();
    let server = service.start();
    server.get("/healthz");
    let taken = begun.elapsed();
    server.stop();
    taken
}

/// Drops the database and the executable from the page cache: dd's nocache needs no root.
fn forget(bench: &Bench) {
    let database = bench.service.folder.join("partnerd.db");
    for path in [&database, &bench.service.binary] {
        let input = format!("if={}", path.display());
        let dropped = Command::new("dd").args([&input, "iflag=nocache", "count=0", "status=none"]).status();
        assert!(dropped.unwrap().success());
    }
}

/// Resident memory of a fresh server: idle, and the additional peak of large answers.
pub fn memory(bench: &Bench) -> Vec<Figure> {
    if !bench.wants("memory", 1) {
        return Vec::new();
    }
    let server = bench.service.start();
    server.get("/healthz");
    let idle = server.memory("VmRSS");
    let request = bench.get("barverkaeufe?von=2025-03-03&limit=5000");
    // Rows in SQLite's cache must not count as memory of one request.
    for page in 0..100 {
        let small = bench.get(&format!("barverkaeufe?von=2025-03-03&limit=50&offset={}", page * 50));
        answer(&server.address, &small);
    }
    let (one, size) = peak(&server, 1, &request);
    let (many, _) = peak(&server, AT_ONCE, &request);
    server.stop();
    let per_answer = |peak: f64| format!("{peak:.0} KiB, {:.1} times the answer", peak / size);
    vec![
        ("resident after start", mib(idle)),
        ("peak that an answer of 5,000 receipt lines adds", per_answer(one)),
        ("peak that 16 such answers at once add, each", per_answer(many / AT_ONCE as f64)),
    ]
}

/// The peak of additional memory, and the size of the answer, in KiB.
fn peak(server: &Server, connections: usize, request: &str) -> (f64, f64) {
    let before = server.memory("VmRSS");
    server.forget_peak();
    let size = answer(&server.address, request).len() as f64 / 1024.0;
    if connections > 1 {
        Load::same(connections, request).run(&server.address, Duration::from_millis(500));
    }
    (server.memory("VmHWM") - before, size)
}

/// The state of the server after all workloads, and how long it takes to stop.
pub fn afterwards(bench: &Bench, server: Server) -> Vec<Figure> {
    let peak = ["VmHWM", "VmRSS"].map(|line| server.memory(line));
    let size =
        |name: &str| std::fs::metadata(bench.service.folder.join(name)).map_or(0.0, |file| file.len() as f64);
    let wal = size("partnerd.db-wal") / 1024.0;
    let stopped = server.stop();
    vec![
        ("resident at most, over all workloads", mib(peak[0])),
        ("resident after all workloads", mib(peak[1])),
        ("write-ahead log after all workloads", mib(wal)),
        ("database", mib(size("partnerd.db") / 1024.0)),
        ("stop, from SIGTERM to the end", format!("{:.0} ms", stopped.as_secs_f64() * 1e3)),
    ]
}

fn mib(kib: f64) -> String {
    format!("{:.1} MiB", kib / 1024.0)
}

/// Prints the figures.
pub fn table(figures: &[Figure]) {
    println!("## Start and memory\n\n| what | figure |\n|---|---|");
    figures.iter().for_each(|(what, figure)| println!("| {what} | {figure} |"));
}
