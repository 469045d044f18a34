//! `config`: the settings in force.

use super::terminal::{Outcome, Terminal};
use crate::config::Config;

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    terminal.rows(&["setting", "value", "source"], &config.in_force, |setting| {
        vec![setting.name.to_owned(), setting.value.clone(), setting.source.clone()]
    })
}
