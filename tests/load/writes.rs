//! The cost of writes: transactions, disk syncs, and the effect of more clients at once.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::client::{Load, Script};
use crate::data::document;
use crate::reads::BARE;
use crate::server::{Round, Server, fsync};
use crate::{Bench, middle};

/// What is written, and by how many connections.
struct Workload {
    name: &'static str,
    connections: usize,
    load: Load,
}

/// One round, with the writer's activity meanwhile.
struct Written {
    round: Round,
    per_commit: f64,
    fsync_ms: f64,
}

/// The requested workloads, each with the disk syncs that a piece of work takes besides its commit.
pub struct Writes {
    workloads: Vec<(Workload, Option<f64>)>,
}

impl Writes {
    /// Counts the syncs, on separate servers: nobody else may have the database open.
    pub fn prepare(bench: &Bench) -> Writes {
        let workloads = workloads(bench).into_iter();
        let wanted = workloads.filter(|write| bench.wants(write.name, write.connections));
        let counted = wanted.map(|write| {
            let further = further_syncs(bench, &write.load);
            (write, further)
        });
        Writes { workloads: counted.collect() }
    }

    /// Measures everything and prints a table. A weighing is two requests; the others are one.
    pub fn table(self, bench: &Bench, server: &Server, bare: &Server) {
        if self.workloads.is_empty() {
            return;
        }
        println!("## Writes\n");
        println!(
            "| workload | connections | written/s | of 1 connection | p50 ms | p99 ms | p99 in fsyncs | server \
             CPU µs | times bare hyper | requests per commit | fsyncs each |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        let mut single = None;
        for (Workload { name, connections, load }, further) in self.workloads {
            let fixed = Load::same(connections, BARE);
            let (mut rounds, mut bares) = (Vec::new(), Vec::new());
            for _ in 0..bench.rounds {
                bares.push(bare.measure(&fixed, bench.time));
                rounds.push(written(bench, server, &load));
            }
            let bare = middle(bares, |round| round.rate);
            let Written { round, per_commit, fsync_ms } = middle(rounds, |written| written.round.rate);
            let [p50, p99] = [round.p50, round.p99].map(|time| time.as_secs_f64() * 1e3);
            if connections == 1 {
                single = Some((name, round.rate));
            }
            let of_single = single.filter(|(same, _)| *same == name).map(|(_, rate)| round.rate / rate);
            println!(
                "| {name} | {connections} | {:.0} | {} | {p50:.2} | {p99:.2} | {:.1} | {:.0} | {:.1} | \
                 {per_commit:.1} | {} |",
                round.rate,
                of_single.map_or("–".into(), |of_single| format!("{of_single:.1}")),
                p99 / fsync_ms,
                round.cpu_us,
                round.cpu_us / bare.cpu_us,
                further.map_or("–".into(), |further| format!(
                    "{:.3}",
                    load.steps as f64 / per_commit + further
                )),
            );
        }
        println!();
    }
}

/// Disk syncs per piece of work besides its commit, that is of checkpoints: counted by strace, if installed.
/// It stops the server only at these calls; even so fewer requests share a commit, so the commits themselves
/// are not counted here.
fn further_syncs(bench: &Bench, load: &Load) -> Option<f64> {
    let trace = bench.service.folder.join("syncs");
    let server = bench.service.start_traced(&trace)?;
    let pieces = load.run(&server.address, bench.time).durations.len();
    let [_, commits] = batches(&server);
    server.stop();
    // strace outlives the server by a moment.
    let text = loop {
        let text = std::fs::read_to_string(&trace).unwrap();
        if text.trim_end().ends_with("+++ exited with 0 +++") {
            break text;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let syncs = text.lines().filter(|line| line.contains("sync(")).count();
    Some((syncs as f64 - commits) / pieces as f64)
}

/// Requests carried out by the writer, and its transactions, from the server's own metrics.
fn batches(server: &Server) -> [f64; 2] {
    ["partnerd_write_batch_sum", "partnerd_write_batch_count"].map(|name| server.metric(name))
}

/// A round, and how many requests shared a transaction; those of the warm-up count as well, since they are
/// the same work.
fn written(bench: &Bench, server: &Server, load: &Load) -> Written {
    let fsync_ms = fsync(&bench.service.folder).as_secs_f64() * 1e3;
    let [requests, commits] = batches(server);
    let round = server.measure(load, bench.time);
    let [requests_after, commits_after] = batches(server);
    Written { round, per_commit: (requests_after - requests) / (commits_after - commits), fsync_ms }
}

fn workloads(bench: &Bench) -> Vec<Workload> {
    let varied = |connections| Workload {
        name: "POST /belege, 5 positions",
        connections,
        load: documents(&bench.key, connections, bench.customers()),
    };
    let weighings = |connections| Workload {
        name: "weighing: POST, then PUT zweitwiegung",
        connections,
        load: weighings(bench, connections),
    };
    vec![
        varied(1),
        varied(16),
        varied(64),
        varied(256),
        Workload {
            name: "POST /belege, all for one partner",
            connections: 64,
            load: documents(&bench.key, 64, 1),
        },
        weighings(1),
        weighings(16),
        weighings(64),
    ]
}

/// Delivery notes for some customers, of a hundred articles.
pub fn documents(key: &str, connections: usize, customers: u64) -> Load {
    let key = key.to_owned();
    let script = move |at: usize| {
        let key = key.clone();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut random = now.as_nanos() as u64 | at as u64 | 1;
        Box::new(move |_: &[u8]| {
            let drawn = draw(&mut random);
            send(&key, "POST", "belege", &document(drawn % customers + 1, drawn >> 32))
        }) as Script
    };
    Load { connections, steps: 1, script: Box::new(script) }
}

/// A lorry weighed full, then empty: the second request names the weighing created by the first.
fn weighings(bench: &Bench, connections: usize) -> Load {
    let (key, partner) = (bench.key.clone(), bench.customer.clone());
    let script = move |_| {
        let (key, partner, mut is_first) = (key.clone(), partner.clone(), false);
        Box::new(move |answer: &[u8]| {
            is_first = !is_first;
            if is_first {
                let body = format!(
                    r#"{{"waage_id": 1, "gewicht_erst_kg": 27840, "partner_id": "{partner}", "kennzeichen": "R-AB 123"}}"#
                );
                return send(&key, "POST", "wiegungen", &body);
            }
            let answer: serde_json::Value = serde_json::from_slice(answer).unwrap();
            let path = format!("wiegungen/{}/zweitwiegung", answer["id"].as_str().unwrap());
            send(&key, "PUT", &path, r#"{"gewicht_zweit_kg": 13120}"#)
        }) as Script
    };
    Load { connections, steps: 2, script: Box::new(script) }
}

/// A request that writes.
pub fn send(key: &str, method: &str, path: &str, body: &str) -> Arc<str> {
    let length = body.len();
    let head = format!("{method} /api/v1/{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}");
    format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").into()
}

/// The next number of a pseudo-random series (xorshift64*).
fn draw(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_f491_4f6c_dd1d)
}
