//! Does a story tell a broken rule from a whole one?

use super::broken::{Broken, RULES};
use super::model::Model;
use super::step::Step;
use super::story::BEGIN;

/// After so many steps what there is is compared, too.
const LOOK_EVERY: usize = 50;

/// Stories beside that of the seed for rules that are seldom asked.
const FURTHER: u64 = 4;

/// The first step at which an answer differs, or what there is afterwards.
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

/// Tells each broken rule from the whole ones by the story of a seed; what it does not tell, further ones must.
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

/// What was found of rules that are broken, once each of them is found.
pub fn all_are_found(tell: impl Fn(Broken) -> Result<u64, (usize, String)>) -> Result<u64, String> {
    let found =
        |rule: &Broken| tell(*rule).err().map(|(step, found)| format!("step {step}, {rule:?}: {found}"));
    match AGAINST_SERVER.iter().map(found).collect::<Option<Vec<String>>>() {
        Some(found) => Err(found.join("\n")),
        None => Ok(0),
    }
}
