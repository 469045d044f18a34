//! What clients do to each other: short reads while others ask for much, and while others write.

use std::time::Duration;

use crate::client::Load;
use crate::server::{Round, Server, WARM};
use crate::writes::documents;
use crate::{Bench, middle};

/// Connections of the short reads.
const SHORT: usize = 16;

/// A round of short reads, alone and with others, and what the others came to.
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

/// Measures all that are wanted and prints a table. CPU is not told apart here.
pub fn table(bench: &Bench, server: &Server) {
    let slow = bench.get(&slow_path(bench));
    let others = [
        ("short reads, 16 others ask for a long list", Load::same(16, &slow)),
        ("short reads, 64 others POST /belege", documents(bench, 64, bench.customers())),
    ];
    let wanted: Vec<_> = others.into_iter().filter(|(name, _)| bench.wants(name, SHORT)).collect();
    if wanted.is_empty() {
        return;
    }
    println!("## Mixes: one customer by id from {SHORT} connections\n");
    let one = server.measure(&Load::same(1, &slow), bench.time);
    println!(
        "The long list is `{}`; a client that is alone waits {:.0} ms for it.\n",
        slow_path(bench),
        one.p50.as_secs_f64() * 1e3
    );
    println!(
        "| mix | reads/s alone | with the others | share | p99 ms alone | with the others | times | others/s | their p99 ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let short = Load::same(SHORT, &bench.get(&format!("kunden/{}", bench.customer)));
    for (name, load) in wanted {
        let rounds = (0..bench.rounds).map(|_| mixed(server, &short, &load, bench.time)).collect();
        let mixed = middle(rounds, Mixed::p99_times);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
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
    // The others begin before and end after.
    let (with, others) = std::thread::scope(|scope| {
        let others = scope.spawn(|| others.run(&server.address, time + 3 * WARM));
        std::thread::sleep(WARM);
        let with = server.measure(short, time);
        (with, others.join().unwrap())
    });
    Mixed { alone, with, others: Round::of(others, Duration::ZERO) }
}

/// A list whose page is found by walking all that stands before it: it takes about 50 ms.
fn slow_path(_: &Bench) -> String {
    "barverkaeufe?zahlart=bar&limit=50&offset=300000".to_owned()
}
