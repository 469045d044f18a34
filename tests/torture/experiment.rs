//! An experiment, and a case of it.

use crate::dice::Dice;

pub struct Experiment {
    /// A promise such as `P1`, as in docs/promises.md; `simulation` covers many of them together.
    pub promise: &'static str,
    /// The name of its trials.
    pub what: &'static str,
    /// Required programs; without them it is skipped.
    pub needs: &'static [&'static str],
    /// Default number of cases.
    pub seeds: u64,
    /// Runs a case; returns the number of trials, or the violation with the shortest sequence that shows it.
    pub case: fn(&mut Case) -> Result<u64, String>,
    /// The fault built in for the control.
    pub fault: &'static str,
    /// The control must be found within this many cases.
    pub control_seeds: u64,
}

/// A case; everything random in it comes from its dice.
pub struct Case {
    pub seed: u64,
    pub dice: Dice,
    /// Whether the fault is built in.
    pub has_fault: bool,
    /// Whether it has the size stated in docs/promises.md, or the small one that `.ci/run` has time for.
    pub is_full: bool,
}

impl Case {
    pub fn new(seed: u64, has_fault: bool, is_full: bool) -> Case {
        Case { seed, dice: Dice::new(seed), has_fault, is_full }
    }

    /// Chooses the small size or the full one.
    pub fn size<T>(&self, small: T, full: T) -> T {
        if self.is_full { full } else { small }
    }
}
