//! `cargo bench --bench load`: the cost of a request, compared with bare hyper and SQLite alone in the same run.
//!
//! Builds a database (10,000 customers, 100,000 documents, 1,000,000 receipt lines), drives the real
//! executable over loopback, and prints a table each of reads, writes, mixes, long histories, hostile
//! clients, start and memory. Speeds of one machine at one moment say little: read the ratios. Any answer but
//! 2xx ends it with an error.
//!
//! `-- --seconds N` sets the length of each round (2), `--rounds N` their number, of which the median counts
//! (3), `--quick` runs one round of a second; `--scale N` makes the tables N times as large, `--binary FILE`
//! measures another executable, `NAME` runs the workloads whose name and connections contain it.

mod alone;
mod bare;
mod client;
mod data;
mod documents;
mod fields;
mod histories;
mod hostile;
mod lines;
mod mixes;
mod reads;
mod server;
mod start;
mod writes;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use server::{Server, Service};
use tempfile::TempDir;
use writes::Writes;

/// What is measured, and how.
pub struct Bench {
    pub service: Service,
    pub key: String,
    /// The id of a customer.
    pub customer: String,
    pub scale: u64,
    pub time: Duration,
    pub rounds: usize,
    wanted: Option<String>,
}

impl Bench {
    /// Whether a workload was requested.
    pub fn wants(&self, name: &str, connections: usize) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| format!("{name} {connections}").contains(wanted.as_str()))
    }

    /// A GET request of the interface.
    pub fn get(&self, path: &str) -> String {
        format!("GET /api/v1/{path} HTTP/1.1\r\nhost: x\r\nx-api-key: {}\r\n\r\n", self.key)
    }

    /// The number of customers.
    pub fn customers(&self) -> u64 {
        10_000 * self.scale
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.first().is_some_and(|argument| argument == "bare") {
        return bare::serve();
    }
    let folder = TempDir::new().unwrap();
    let bench = prepare(&arguments, folder.path().to_owned());
    println!("{}\n", headline(&bench));
    let mut figures = start::starts(&bench);
    figures.extend(start::memory(&bench));
    let writes = Writes::prepare(&bench);
    let bare = Server::start(Command::new(std::env::current_exe().unwrap()).arg("bare"));
    let server = bench.service.start();
    reads::table(&bench, &server, &bare);
    writes.table(&bench, &server, &bare);
    mixes::table(&bench, &server);
    figures.extend(start::afterwards(&bench, server));
    histories::table(&bench);
    hostile::table(&bench);
    hostile::lists(&bench);
    start::table(&figures);
}

/// Parses the command line and builds the database.
fn prepare(arguments: &[String], folder: PathBuf) -> Bench {
    let value = |flag: &str| arguments.iter().skip_while(|argument| *argument != flag).nth(1);
    let number = |flag: &str, default: u64| {
        value(flag).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{flag} takes a number")))
    };
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let scale = number("--scale", 1);
    let seconds = number("--seconds", if quick { 1 } else { 2 });
    let rounds = number("--rounds", if quick { 1 } else { 3 }) as usize;
    let binary = value("--binary").map_or(env!("CARGO_BIN_EXE_partnerd"), String::as_str);
    let binary = PathBuf::from(binary).canonicalize().expect("no such executable");
    let flags = ["--seconds", "--rounds", "--scale", "--binary"];
    let is_value = |at: usize| at > 0 && flags.contains(&arguments[at - 1].as_str());
    let wanted = (0..arguments.len()).find(|at| !arguments[*at].starts_with("--") && !is_value(*at));

    let key = data::company(&folder, "Mühle");
    let customer = data::fill(&folder, scale, 100_000);
    documents::fill(&folder, 10_000 * scale, 100_000 * scale);
    // Writes the new data to disk now, not during a measurement.
    std::fs::File::open(folder.join("partnerd.db")).unwrap().sync_all().unwrap();
    Bench {
        service: Service { binary, folder },
        key,
        customer,
        scale,
        time: Duration::from_secs(seconds),
        rounds,
        wanted: wanted.map(|at| arguments[at].clone()),
    }
}

/// A line about the machine and the settings of the measurement.
fn headline(bench: &Bench) -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let fsync = server::fsync(&bench.service.folder);
    let [documents, lines] = [100_000, 1_000_000].map(|number| number * bench.scale);
    format!(
        "{cores} cores ({}), fsync {:.2} ms; {} customers, {documents} documents of 5 positions, {lines} \
         receipt lines; {} × {} s each",
        model.map_or("unknown", |(_, model)| model),
        fsync.as_secs_f64() * 1e3,
        bench.customers(),
        bench.rounds,
        bench.time.as_secs(),
    )
}

/// The median round by some figure.
pub fn middle<T>(mut rounds: Vec<T>, by: impl Fn(&T) -> f64) -> T {
    rounds.sort_by(|a, b| by(a).total_cmp(&by(b)));
    rounds.swap_remove(rounds.len() / 2)
}
