//! The simulation: random routes, forms and commands on two companies, and a model of plain maps that
//! predicts the answers and the records. The clock jumps over days, years and changes to summer time; the
//! server is stopped, killed, killed during a request that is then repeated (or left with a failing disk
//! during it), and reset to a backup.
//!
//! A case is a story of some steps (`story.rs`), carried out by the model (`model/`) and a server
//! (`server.rs`) side by side (`player.rs`). Each answer is compared, occasionally the written record, and
//! after some steps all records (`oracle.rs`). A differing story is shrunk until nothing can be omitted.
//!
//! Before that, the story is carried out by a model with one rule broken, each of `broken.rs` in turn: the
//! answers must differ.

mod base;
mod broken;
mod calendar;
mod client;
mod controls;
mod drawn;
mod model;
mod money;
mod names;
mod oracle;
mod player;
mod request;
pub mod server;
mod shorter;
mod step;
mod story;
mod world;

use broken::Broken;
use player::Player;
use step::Step;

use crate::experiment::{Case, Experiment};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "simulation",
    what: "steps of a story told to the server and to a model",
    needs: &["strace"],
    seeds: 20,
    case,
    fault: "a rule of the model is broken",
    control_seeds: 1,
};

/// Steps of a story, and of one of full size.
const STEPS: [u32; 2] = [1_000, 2_000];

/// After this many steps everything is compared.
const LOOK_EVERY: usize = 250;

/// How often a differing story is repeated to minimise it.
const TRIES: usize = 200;

fn case(case: &mut Case) -> Result<u64, String> {
    let steps = case.size(STEPS[0], STEPS[1]);
    let story = story::write(case.seed, steps);
    if case.has_fault {
        return controls::all_are_found(|rule| tell(case.seed, Some(rule), &story));
    }
    controls::each_is_told(case.seed, &story, steps)?;
    tell(case.seed, None, &story)
        .map_err(|(step, found)| shortest(case.seed, &story[..=step.min(story.len() - 1)], &found))
}

/// Carries out a story on both; returns the number of requests, or where they differ.
fn tell(seed: u64, broken: Option<Broken>, story: &[Step]) -> Result<u64, (usize, String)> {
    let mut player = Player::new(seed, broken).map_err(|found| (0, found))?;
    for (at, step) in story.iter().enumerate() {
        let mut found = player.play(step).map(|_| ());
        if (at + 1) % LOOK_EVERY == 0 {
            found = found.and_then(|()| player.compare_all());
        }
        found.map_err(|found| (at, format!("{step:?}: {found}")))?;
    }
    player.end().map_err(|found| (story.len(), found))?;
    Ok(player.asked)
}

/// The minimised part of a differing story.
fn shortest(seed: u64, story: &[Step], found: &str) -> String {
    let short = shorter::minimise(story, TRIES, |story| tell(seed, None, story).is_err());
    let again = tell(seed, None, &short).err().map_or_else(String::new, |(_, found)| found);
    let steps: Vec<String> = short.iter().map(|step| format!("{step:?}")).collect();
    format!("{found}\n\nshort:\n{}\n{again}", steps.join("\n"))
}
