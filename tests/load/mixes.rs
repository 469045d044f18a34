//! How clients affect each other: short reads while others request much, and while others write.

use std::time::Duration;

use crate::client::{Load, answer};
use crate::data::{COMPLETE, document, set};
use crate::server::{Round, Server, WARM};
use crate::writes::{documents, send};
use crate::{Bench, middle};

/// Connections of the short reads.
const SHORT: usize = 16;

/// A round of short reads, alone and with others, and the result of the others.
struct Mixed {
    alone: Round,
    with: Round,
    others: Round,
}

impl Mixed {
    fn p99_times(&self) -> f64 {
        self.with.p99.as_secs_f64() / self.alone.p99.as_secs_f64()
    }
}

/// Measures everything requested and prints a table. CPU is not separated here.
pub fn table(bench: &Bench, server: &Server) {
    let names = [
        "short reads, 16 others ask for a long list",
        "short reads, 16 others draw a sheet",
        "short reads, 64 others POST /belege",
    ];
    if !names.iter().any(|name| bench.wants(name, SHORT)) {
        return;
    }
    let (path, taken) = long_list(bench, server);
    println!("## Mixes: one customer by id from {SHORT} connections\n");
    println!("The long list is `{path}`; a client that is alone waits {taken:.0} ms for it.\n");
    println!(
        "| mix | reads/s alone | with the others | share | p99 ms alone | with the others | times | others/s | \
         their p99 ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let short = Load::same(SHORT, &bench.get(&format!("kunden/{}", bench.customer)));
    let others = [
        Load::same(16, &bench.get(&path)),
        Load::same(16, &bench.get(&sheet(bench, server))),
        documents(&bench.key, 64, bench.customers()),
    ];
    for (name, load) in names.into_iter().zip(others).filter(|(name, _)| bench.wants(name, SHORT)) {
        let rounds = (0..bench.rounds).map(|_| mixed(server, &short, &load, bench.time)).collect();
        let mixed = middle(rounds, Mixed::p99_times);
        println!(
            "| {name} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {:.1} | {:.0} | {:.1} |",
            mixed.alone.rate,
            mixed.with.rate,
            mixed.with.rate / mixed.alone.rate,
            ms(mixed.alone.p99),
            ms(mixed.with.p99),
            mixed.p99_times(),
            mixed.others.rate,
            ms(mixed.others.p99)
        );
    }
    println!();
}

fn mixed(server: &Server, short: &Load, others: &Load, time: Duration) -> Mixed {
    let alone = server.measure(short, time);
    // The others begin earlier and end later.
    let (with, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| others.run(&server.address, time + 3 * WARM));
        std::thread::sleep(WARM);
        let with = server.measure(short, time);
        (with, others.join().unwrap())
    });
    Mixed { alone, with, others: Round::of(others, Duration::ZERO) }
}

/// The path of the sheet of an invoice with five positions, a hybrid.
fn sheet(bench: &Bench, server: &Server) -> String {
    set(&bench.service.folder, "Mühle", COMPLETE);
    let invoice = document(1, 0).replace("\"LS\"", "\"RE\", \"abschliessen\": true");
    let answer = answer(&server.address, &send(&bench.key, "POST", "belege", &invoice));
    let answer = String::from_utf8(answer).unwrap();
    let id = answer.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next());
    format!("belege/{}/pdf", id.unwrap_or_else(|| panic!("{answer}")))
}

/// A list with an offset so large that walking to its page takes about 50 ms; and the actual time in milliseconds.
fn long_list(bench: &Bench, server: &Server) -> (String, f64) {
    let mut offset = 25_000;
    loop {
        let path = format!("barverkaeufe?zahlart=bar&limit=50&offset={offset}");
        let alone = server.measure(&Load::same(1, &bench.get(&path)), WARM);
        let taken = ms(alone.p50);
        if taken > 40.0 || offset * 5 / 4 > 1_000_000 * bench.scale {
            return (path, taken);
        }
        offset = offset * 5 / 4;
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
