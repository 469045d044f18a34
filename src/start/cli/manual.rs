//! Shell completions and man pages, generated from the arguments.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::arguments::Arguments;
use super::german::{command, translated};
use super::terminal::{Outcome, Terminal};
use crate::platform::db::file::german::in_german;

pub fn completions(shell: Shell, terminal: &Terminal) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(Arguments::command()), "partnerd", &mut text);
    terminal.print(String::from_utf8_lossy(&text).trim_end());
    Ok(())
}

pub fn man(folder: Option<&Path>, terminal: &Terminal) -> Outcome {
    // One page per command, none for the help subcommands.
    let commands = command(Arguments::command().disable_help_subcommand(true));
    if let Some(folder) = folder {
        let written = write_all(commands, folder);
        let failed = |error| {
            format!(
                "die Seiten können nicht nach {} geschrieben werden: {}",
                folder.display(),
                in_german(&error)
            )
        };
        return Ok(written.map_err(failed)?);
    }
    terminal.print(page(commands)?.trim_end());
    Ok(())
}

fn page(command: Command) -> std::io::Result<String> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(translated(&String::from_utf8_lossy(&text)))
}

fn write_all(command: Command, folder: &Path) -> std::io::Result<()> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.cloned().try_for_each(|command| write_all(command, folder))?;
    let file = folder.join(Man::new(command.clone()).get_filename());
    std::fs::write(file, page(command)?)
}
