//! P23: no input makes a parser panic, run for ever or take more memory than allowed, and an accepted value
//! is the one written.
//!
//! One seed is a batch of inputs for every parser, each a random mutation of a member of its corpus. They are
//! read within this process, on a stack as large as that of a server thread.

mod corpus;
mod drawn;
mod guard;
mod input;
mod invoices;
mod mutate;
mod parsers;
mod shrink;
mod tables;
mod values;
mod wire;

use std::sync::OnceLock;

use guard::{Room, Trace, tried, watched};
use parsers::{FAULTY, PARSERS};

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};

pub use input::Input;
pub use mutate::mutated;
pub use shrink::shrunk;

/// A parser, and its bounds.
pub struct Parser {
    pub name: &'static str,
    pub corpus: fn() -> Vec<Input>,
    /// Inputs per seed.
    pub inputs: usize,
    pub room: Room,
    /// Reads an input; returns what is wrong with the result.
    pub read: fn(&[u8]) -> Result<(), String>,
}

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P23",
    what: "inputs for each parser: no panic, no loop, memory within a bound, values as they were written",
    needs: &[],
    seeds: 15,
    case: batch,
    fault: "parsers that panic on a rare word, take 64 MiB for one, lose the last digit of a number in a hundred",
    control_seeds: 2,
};

/// Batches within which each of the faults must show.
const FAULTY_BATCHES: usize = 30;

fn batch(case: &mut Case) -> Result<u64, String> {
    let has_fault = case.has_fault;
    let dice = &mut case.dice;
    watched(case.seed, |trace| match has_fault {
        false => PARSERS.iter().zip(corpora()).try_fold(0, |inputs, (parser, corpus)| {
            inputs_of(parser, corpus, dice, trace).map(|more| inputs + more)
        }),
        true => all_found(dice, trace),
    })
}

/// The corpus of each parser, created once.
fn corpora() -> &'static [Vec<Input>] {
    static CORPORA: OnceLock<Vec<Vec<Input>>> = OnceLock::new();
    CORPORA.get_or_init(|| PARSERS.iter().map(|parser| (parser.corpus)()).collect())
}

/// Tries a parser with the inputs of one seed; returns their number, or the shortest that is not read correctly.
fn inputs_of(parser: &Parser, corpus: &[Input], dice: &mut Dice, trace: &mut Trace) -> Result<u64, String> {
    for _ in 0..parser.inputs {
        let input = mutated(dice, corpus);
        let bytes = input.bytes();
        trace.note(parser.name, &bytes);
        if let Err(first) = tried(&bytes, parser.room, &parser.read) {
            let input = shrunk(input, &mut |input| {
                let bytes = input.bytes();
                trace.note(parser.name, &bytes);
                tried(&bytes, parser.room, &parser.read).is_err()
            });
            let wrong = tried(&input.bytes(), parser.room, &parser.read).err().unwrap_or(first);
            return Err(format!("{} {wrong}\ninput: {}", parser.name, input.shown()));
        }
    }
    Ok(parser.inputs as u64)
}

/// Error for the control, if the harness finds every fault.
fn all_found(dice: &mut Dice, trace: &mut Trace) -> Result<u64, String> {
    let mut found = Vec::new();
    for parser in FAULTY {
        let corpus = (parser.corpus)();
        let mut batches = 0..FAULTY_BATCHES;
        match batches.find_map(|_| inputs_of(parser, &corpus, dice, trace).err()) {
            Some(wrong) => found.push(wrong),
            None => return Ok(0),
        }
    }
    Err(found.join("\n"))
}
