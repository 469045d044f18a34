//! `cargo bench --bench torture -- [P1 P2 …] [--seeds N] [--minutes M] [--seed S] [--full]`: attempts to
//! refute our promises (docs/promises.md) with the real executable.
//!
//! An experiment consists of cases, each determined by its seed. It ends after N seeds, or with the first one
//! that begins after M minutes; without either it has the small size that `.ci/run` has time for, and so has
//! each case without `--full`. "P3, P9: calls of commands" selects the experiment of a promise whose trials
//! have that name. Then it is repeated with a built-in fault, its control, which must be found within a
//! stated number of seeds. A violation, or a control that is not found, ends the run with an error that names
//! the seed and the shortest sequence that shows it.

mod advisories;
mod audit;
mod backup;
mod beside;
mod calls;
mod days;
mod described;
mod dice;
mod ends;
mod exact;
mod exactly;
mod experiment;
mod final_documents;
mod full;
mod fuzz;
mod hostile;
mod keys;
mod limit;
mod log;
mod mills;
mod modes;
mod numbers;
mod old_sqlite;
mod once;
mod power;
#[path = "../process/mod.rs"]
mod process;
#[path = "../programs/mod.rs"]
mod programs;
mod raw;
mod reads;
mod scopes;
mod simulation;
mod socket;
mod strace;
mod tenants;
mod upgrade;
mod wire;
mod year;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use experiment::{Case, Experiment};

const EXPERIMENTS: &[Experiment] = &[
    power::EXPERIMENT,
    ends::KILLS,
    calls::EXPERIMENT,
    calls::commands::EXPERIMENT,
    once::EXPERIMENT,
    numbers::EXPERIMENT,
    beside::EXPERIMENT,
    log::EXPERIMENT,
    full::EXPERIMENT,
    backup::EXPERIMENT,
    upgrade::EXPERIMENT,
    audit::EXPERIMENT,
    audit::FORGERY,
    final_documents::EXPERIMENT,
    final_documents::FOUND,
    tenants::EXPERIMENT,
    scopes::EXPERIMENT,
    keys::EXPERIMENT,
    hostile::EXPERIMENT,
    raw::EXPERIMENT,
    exact::EXPERIMENT,
    days::EXPERIMENT,
    limit::EXPERIMENT,
    reads::EXPERIMENT,
    fuzz::EXPERIMENT,
    ends::STOPS,
    modes::EXPERIMENT,
    old_sqlite::EXPERIMENT,
    advisories::EXPERIMENT,
    simulation::EXPERIMENT,
    year::EXPERIMENT,
];

/// The options of the command line.
struct Asked {
    promises: Vec<String>,
    seeds: Option<u64>,
    minutes: Option<u64>,
    first: u64,
    is_full: bool,
}

impl Asked {
    fn of(arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
        let mut asked = Asked { promises: Vec::new(), seeds: None, minutes: None, first: 0, is_full: false };
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                asked.promises.push(argument);
                continue;
            }
            if argument == "--full" {
                asked.is_full = true;
                continue;
            }
            let number = arguments.next().and_then(|number| number.parse().ok());
            let number = number.ok_or_else(|| format!("{argument} needs a number behind it"))?;
            match argument.as_str() {
                "--seeds" => asked.seeds = Some(number),
                "--minutes" => asked.minutes = Some(number),
                "--seed" => asked.first = number,
                _ => {
                    return Err(format!(
                        "there is no {argument}: --seeds, --minutes, --seed and --full there are"
                    ));
                }
            }
        }
        let known = |promise: &String| EXPERIMENTS.iter().any(|experiment| names(promise, experiment));
        match asked.promises.iter().find(|promise| !known(promise)) {
            Some(unknown) => Err(format!("there is no experiment for {unknown}")),
            None => Ok(asked),
        }
    }

    fn wants(&self, experiment: &Experiment) -> bool {
        self.promises.is_empty() || self.promises.iter().any(|promise| names(promise, experiment))
    }

    /// Whether to run another case after this many seeds.
    fn goes_on(&self, experiment: &Experiment, seeds: u64, begun: Instant) -> bool {
        let most = match (self.seeds, self.minutes) {
            (Some(most), _) => most,
            (None, Some(_)) => u64::MAX,
            (None, None) => experiment.seeds,
        };
        let is_over =
            self.minutes.is_some_and(|minutes| begun.elapsed() >= Duration::from_secs(60 * minutes));
        seeds < most && !is_over
    }
}

/// Whether the request names its promise, or its promise and the beginning of its trials' name.
fn names(asked: &str, experiment: &Experiment) -> bool {
    let Experiment { promise, what, .. } = experiment;
    let of_promise = asked.strip_prefix(promise);
    of_promise.is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix(": ").is_some_and(|rest| what.starts_with(rest))
    })
}

/// Runs an experiment, then its control; returns its row of the table, and whether the promise held.
fn tried(asked: &Asked, experiment: &Experiment) -> (String, Result<(), String>) {
    let (begun, mut seeds, mut trials) = (Instant::now(), 0, 0);
    let mut outcome = Ok(());
    while outcome.is_ok() && asked.goes_on(experiment, seeds, begun) {
        let seed = asked.first + seeds;
        let case = || (experiment.case)(&mut Case::new(seed, false, asked.is_full));
        // The message of a panic is printed above the table.
        let result = std::panic::catch_unwind(case).unwrap_or_else(|_| Err("it panicked".to_owned()));
        match result {
            Ok(more) => trials += more,
            Err(found) => outcome = Err(format!("{}, seed {seed}: {found}", experiment.promise)),
        }
        seeds += 1;
    }
    let control = (0..experiment.control_seeds)
        .find_map(|seed| Some((seed, (experiment.case)(&mut Case::new(seed, true, asked.is_full)).err()?)));
    let found = match &control {
        Some((seed, found)) => {
            // A reader judges whether it was found for the right reason.
            eprintln!("{}, control, seed {seed}: {found}", experiment.promise);
            format!("after {}", seed + 1)
        }
        None => "not found".to_owned(),
    };
    let Experiment { promise, what, fault, .. } = experiment;
    let violations = u8::from(outcome.is_err());
    let row = format!("| {promise} | {what} | {seeds} | {trials} | {violations} | {fault}: {found} |");
    let outcome = outcome.and_then(|()| match control {
        Some(_) => Ok(()),
        None => Err(format!(
            "{promise}: {} seeds with the fault \"{fault}\" found nothing",
            experiment.control_seeds
        )),
    });
    (row, outcome)
}

fn main() -> ExitCode {
    if let Some(ended) = upgrade::as_told() {
        return ended;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == simulation::server::SERVES) {
        simulation::server::serve(&arguments[1..]);
        return ExitCode::SUCCESS;
    }
    let asked = match Asked::of(arguments.into_iter()) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    println!(
        "| promise | what is tried | seeds | trials | violations | control: found |\n|---|---|---|---|---|---|"
    );
    let mut refuted = Vec::new();
    for experiment in EXPERIMENTS.iter().filter(|experiment| asked.wants(experiment)) {
        if programs::are_missing(experiment.needs) {
            continue;
        }
        let (row, outcome) = tried(&asked, experiment);
        println!("{row}");
        refuted.extend(outcome.err());
    }
    refuted.iter().for_each(|found| eprintln!("\n{found}"));
    if refuted.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
