//! The cost of corrections for a partner with many lines of one article, compared with one with few, while
//! another company writes: the cost of a request depends on what it touches (D8).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::client::answer;
use crate::lines::{self, History, IN_ONE_BATCH, OPERATIONS, Operation};
use crate::server::{Server, Service, WARM};
use crate::writes::{documents, send};
use crate::{Bench, data, middle};

/// Lines of the two compared partners.
const LINES: [u64; 2] = [200, 200_000];

/// Requests of a kind, each to its own deal.
const OF_A_KIND: u64 = 18;

/// Connections over which the other company writes documents.
const WRITING: usize = 4;

/// The median duration of some requests.
struct Compared {
    few: Duration,
    many: Duration,
}

impl Compared {
    fn times(&self) -> f64 {
        self.many.as_secs_f64() / self.few.as_secs_f64()
    }
}

/// Measures everything requested and prints a table.
pub fn table(bench: &Bench) {
    let is_wanted = |operation: &&Operation| bench.wants(&format!("Histories: {}", operation.name), 1);
    let [few, many] = LINES;
    for batches in [0, 200] {
        let of_batches = if batches == 0 { &[] } else { IN_ONE_BATCH };
        let operations: Vec<_> = OPERATIONS.iter().chain(of_batches).filter(is_wanted).collect();
        if operations.is_empty() {
            return;
        }
        println!(
            "## Histories: one article in {batches} batches, {WRITING} connections of another company write\n"
        );
        println!("| request | {few} lines, p50 ms | {many} lines, p50 ms | times |\n|---|---|---|---|");
        let companies = LINES.map(|lines| Companies::with(bench, History { lines, batches }));
        for operation in operations {
            let rounds = (0..bench.rounds).map(|_| {
                let [few, many] = companies.each_ref().map(|companies| companies.measure(operation));
                Compared { few, many }
            });
            let compared = middle(rounds.collect(), Compared::times);
            let [few, many] = [compared.few, compared.many].map(|time| time.as_secs_f64() * 1e3);
            println!("| {} | {few:.2} | {many:.2} | {:.1} |", operation.name, compared.times());
        }
        println!();
    }
}

/// A company whose partner has a history, and another one.
struct Companies {
    template: TempDir,
    history: History,
    binary: std::path::PathBuf,
    keys: [String; 2],
}

impl Companies {
    fn with(bench: &Bench, history: History) -> Companies {
        let template = TempDir::new().unwrap();
        let keys = ["Mühle", "Hof"].map(|name| data::company(template.path(), name));
        lines::fill(template.path(), history);
        Companies { template, history, binary: bench.service.binary.clone(), keys }
    }

    /// The median duration of requests of a kind on a new copy of the database.
    fn measure(&self, operation: &Operation) -> Duration {
        let folder = TempDir::new().unwrap();
        for file in std::fs::read_dir(self.template.path()).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
        }
        let server = Service { binary: self.binary.clone(), folder: folder.path().to_owned() }.start();
        let [key, of_other] = &self.keys;
        let running = AtomicBool::new(true);
        let mut taken: Vec<Duration> = std::thread::scope(|scope| {
            scope.spawn(|| write(&server, of_other, &running));
            std::thread::sleep(WARM);
            let taken = (0..OF_A_KIND).map(|at| {
                let (method, path, body) = (operation.request)(self.history, at);
                let request: Arc<str> = send(key, method, &path, &body);
                let begun = Instant::now();
                answer(&server.address, &request);
                begun.elapsed()
            });
            let taken = taken.collect();
            running.store(false, Ordering::Relaxed);
            taken
        });
        taken.sort_unstable();
        taken[taken.len() / 2]
    }
}

/// Writes documents for one customer until told to stop.
fn write(server: &Server, key: &str, running: &AtomicBool) {
    answer(&server.address, &send(key, "POST", "kunden", r#"{"name": "Hof Eins"}"#));
    let load = documents(key, WRITING, 1);
    while running.load(Ordering::Relaxed) {
        load.run(&server.address, WARM);
    }
}
