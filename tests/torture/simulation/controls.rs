//! Controls: do stories detect a broken rule?

use super::broken::{Broken, RULES};
use super::model::Model;
use super::step::Step;
use super::story::BEGIN;

/// After this many steps the records are compared, too.
const LOOK_EVERY: usize = 50;

/// Further stories for rules that are rarely used.
const FURTHER: u64 = 4;

/// The first step at which an answer or the records differ.
fn differs_at(rule: Broken, story: &[Step]) -> Option<usize> {
    let (mut whole, mut broken) = (Model::new(BEGIN, None), Model::new(BEGIN, Some(rule)));
    story.iter().enumerate().position(|(at, step)| {
        let is_allowed = whole.allows(step);
        if is_allowed != broken.allows(step) {
            return true;
        }
        if is_allowed && whole.play(step) != broken.play(step) {
            return true;
        }
        let all = |model: &mut Model| {
            let firms = 0..model.firms.len();
            firms.map(|firm| (model.all(firm), model.remaining(firm, 0))).collect::<Vec<_>>()
        };
        (at + 1) % LOOK_EVERY == 0 && all(&mut whole) != all(&mut broken)
    })
}

/// Checks that the story of a seed detects each broken rule; for those it does not detect, further stories must.
pub fn each_is_told(seed: u64, story: &[Step], steps: u32) -> Result<(), String> {
    let untold_by = |rules: &[Broken], story: &[Step]| -> Vec<Broken> {
        rules.iter().copied().filter(|rule| differs_at(*rule, story).is_none()).collect()
    };
    let mut untold = untold_by(RULES, story);
    for further in 1..=FURTHER {
        if untold.is_empty() {
            return Ok(());
        }
        untold = untold_by(&untold, &super::story::write(seed + further * 1_000_000, steps));
    }
    if untold.is_empty() { Ok(()) } else { Err(format!("{} stories do not tell {untold:?}", 1 + FURTHER)) }
}

/// Rules that are broken against the server, too.
const AGAINST_SERVER: [Broken; 5] = [
    Broken::RefusedTakesNumber,
    Broken::TaxByLine,
    Broken::FinalChanges,
    Broken::ReferenceForgotten,
    Broken::RefusedIsFree,
];

/// Returns an error with the differences if every broken rule was detected.
pub fn all_are_found(tell: impl Fn(Broken) -> Result<u64, (usize, String)>) -> Result<u64, String> {
    let found =
        |rule: &Broken| tell(*rule).err().map(|(step, found)| format!("step {step}, {rule:?}: {found}"));
    match AGAINST_SERVER.iter().map(found).collect::<Option<Vec<String>>>() {
        Some(found) => Err(found.join("\n")),
        None => Ok(0),
    }
}
