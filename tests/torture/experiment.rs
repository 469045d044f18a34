//! What an experiment is, and a case of it.

use crate::dice::Dice;

pub struct Experiment {
    /// `P1`, as in docs/promises.md; `simulation` ties them together.
    pub promise: &'static str,
    /// What a trial is.
    pub what: &'static str,
    /// Programs without which it is passed over.
    pub needs: &'static [&'static str],
    /// How many cases there are where nobody asks for more.
    pub seeds: u64,
    /// Tries a case: how many trials it had, or what was violated, with the shortest sequence that shows it.
    pub case: fn(&mut Case) -> Result<u64, String>,
    /// What is built in for the control.
    pub fault: &'static str,
    /// Within so many cases the control must be found.
    pub control_seeds: u64,
}

/// A case: all that chance decides in it comes from its dice.
pub struct Case {
    pub seed: u64,
    pub dice: Dice,
    /// Whether the fault is built in.
    pub has_fault: bool,
    /// Whether it has the size that docs/promises.md states, and not one that `.ci/run` has time for.
    pub is_full: bool,
}

impl Case {
    pub fn new(seed: u64, has_fault: bool, is_full: bool) -> Case {
        Case { seed, dice: Dice::new(seed), has_fault, is_full }
    }

    /// The small size or the full one.
    pub fn size<T>(&self, small: T, full: T) -> T {
        if self.is_full { full } else { small }
    }
}
