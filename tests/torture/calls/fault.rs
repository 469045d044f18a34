//! Which call fails, and how.

use crate::experiment::Case;
use crate::power::recording::Fault;

/// Kinds of calls that change files, as named in `power/recorder.c`.
const KINDS: &[(char, &str)] =
    &[('w', "write"), ('s', "sync"), ('t', "truncate"), ('o', "open"), ('n', "rename, link or unlink")];

const KILLED: i32 = -1;
const EIO: i32 = 5;
const EINTR: i32 = 4;
const ENOSPC: i32 = 28;

/// Ways in which a call fails: a name, the error, and whether half of it is done first; then the next call
/// gets the error.
const ENDS: &[(&str, i32, bool)] = &[
    ("the process is killed at it", KILLED, false),
    ("fails with EIO", EIO, false),
    ("fails with ENOSPC", ENOSPC, false),
    ("fails with EINTR", EINTR, false),
    ("writes half", 0, true),
    ("writes half, and the next one fails with ENOSPC", ENOSPC, true),
    ("writes half, and the process is killed at it", KILLED, true),
];

/// Only the first of these apply to calls other than a write.
const ENDS_OF_OTHERS: usize = 4;

/// Number of kinds combined with their ways.
pub const WAYS: usize = ENDS.len() + (KINDS.len() - 1) * ENDS_OF_OTHERS;

/// The way in which the calls of a case fail.
#[derive(Clone, Copy)]
pub struct Way {
    kind: (char, &'static str),
    end: (&'static str, i32, bool),
}

impl Way {
    pub fn new(nr: usize) -> Way {
        let (kind, end) = match nr.checked_sub(ENDS.len()) {
            None => (0, nr),
            Some(other) => (1 + other / ENDS_OF_OTHERS, other % ENDS_OF_OTHERS),
        };
        Way { kind: KINDS[kind], end: ENDS[end] }
    }

    pub fn at(&self, number: u64) -> Fault {
        Fault { kind: self.kind.0, number, error: self.end.1, is_half: self.end.2 }
    }

    pub fn describe(&self, number: u64) -> String {
        match number {
            u64::MAX => "and no call fails".to_owned(),
            number => format!("{} number {number} {}", self.kind.1, self.end.0),
        }
    }
}

/// Failing calls of a case, each in a separate trial, spread over all calls.
const FAILING: u64 = 6;

/// Tries a way at calls of an operation, after a run without a fault: `run` is told which call fails, and
/// returns how many of the kind there were. The same operation and way come again in a later case of a seed,
/// at other calls.
pub fn each_call(
    case: &Case,
    operations: usize,
    run: impl Fn(usize, Way, u64) -> Result<u64, String>,
) -> Result<u64, String> {
    let seed = usize::try_from(case.seed).unwrap_or_default();
    let cases = operations * WAYS;
    // Neighbouring seeds differ in both: 37 shares no divisor with their number.
    assert!(!cases.is_multiple_of(37), "37 must share no divisor with {cases}");
    let at = seed * 37 % cases;
    let (operation, way) = (at % operations, Way::new(at / operations));
    let all = run(operation, way, u64::MAX)?;
    let step = all.div_ceil(FAILING).max(1);
    let first = 1 + (seed / cases) as u64 % step;
    let mut trials = 1;
    for number in (first..=all).step_by(step as usize) {
        run(operation, way, number)?;
        trials += 1;
    }
    Ok(trials)
}
