//! What the audit log costs: the same server with and without it, both built into this program, for no
//! setting of partnerd turns the log off.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use partnerd::db::system_clock;
use partnerd::gate::Policy;
use partnerd::http::server::Limits;
use partnerd::service::{Service, runtime};
use tokio::net::TcpListener;

use crate::client::Load;
use crate::server::{Round, Server};
use crate::writes::documents;
use crate::{Bench, middle};

/// Measures both in turn and prints a table.
pub fn table(bench: &Bench) {
    let one = Load::same(64, &bench.get(&format!("kunden/{}", bench.customer)));
    let workloads = [
        ("audit log: one customer by id", one),
        ("audit log: POST /belege, 5 positions", documents(&bench.key, 64, bench.customers())),
    ];
    let wanted: Vec<_> = workloads.into_iter().filter(|(name, _)| bench.wants(name, 64)).collect();
    if wanted.is_empty() {
        return;
    }
    println!("## Audit log\n");
    println!(
        "| workload | connections | requests/s with | without | share | CPU µs with | without | times |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (name, load) in wanted {
        let measured = (0..bench.rounds).map(|_| [true, false].map(|audited| measure(bench, &load, audited)));
        let [with, without] =
            middle(measured.collect(), |[with, without]: &[Round; 2]| with.rate / without.rate);
        println!(
            "| {name} | 64 | {:.0} | {:.0} | {:.2} | {:.0} | {:.0} | {:.2} |",
            with.rate,
            without.rate,
            with.rate / without.rate,
            with.cpu_us,
            without.cpu_us,
            with.cpu_us / without.cpu_us
        );
    }
    println!();
}

fn measure(bench: &Bench, load: &Load, audited: bool) -> Round {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let kind = if audited { "audited" } else { "unaudited" };
    let server = Server::start(command.args(["own", kind]).current_dir(&bench.service.folder));
    server.measure(load, bench.time)
}

/// Serves the database of this folder until it is killed.
pub fn serve(audited: bool) {
    let minute = Duration::from_secs(60);
    let limits = Limits {
        connections: 1_000,
        per_address: 1_000,
        header: minute,
        body: minute,
        write: minute,
        shutdown: minute,
    };
    let policy = Policy { without_audit: !audited, ..Policy::default() };
    runtime().unwrap().block_on(async {
        let app = Service::open(Path::new("partnerd.db"), system_clock(), &policy).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("partnerd of the bench on http://{}", listener.local_addr().unwrap());
        app.serve(listener, limits, None, std::future::pending()).await;
    });
}
