//! What follows from the arguments: completions for shells, and pages for man.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use super::arguments::Arguments;
use super::terminal::{Outcome, Terminal};

pub fn completions(shell: Shell, terminal: &Terminal) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "partnerd", &mut text);
    terminal.print(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}

pub fn man(folder: Option<&Path>, terminal: &Terminal) -> Outcome {
    if let Some(folder) = folder {
        let written = clap_mangen::generate_to(Arguments::command(), folder);
        let failed = |error| format!("the pages cannot be written to {}: {error}", folder.display());
        return Ok(written.map_err(failed)?);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command()).render(&mut text)?;
    terminal.print(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}
