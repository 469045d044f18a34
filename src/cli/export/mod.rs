//! `export`: what leaves the program for the firm's adviser.

mod datev;

use clap::Subcommand;

use super::terminal::{Outcome, Terminal};
use crate::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Neue Rechnungen als DATEV-Stapel für den Steuerberater
    ///
    /// Ein Stapel enthält alle abgeschlossenen Rechnungen und Gutschriften bis zu einem Tag, die noch in keinem sind: alle oder,
    /// wo etwas fehlt, keine und eine Liste. Ausgegeben wird der Pfad einer ZIP-Datei.
    #[command(
        override_usage = "partnerd export datev --tenant <FIRMA> --bis <TAG> [OPTIONEN]\n       partnerd export datev --tenant <FIRMA> --liste\n       partnerd export datev --tenant <FIRMA> --stapel <NUMMER>\n       partnerd export datev --tenant <FIRMA> \\\n           --verwerfen <NUMMER> --grund <TEXT>",
        after_help = "Beispiele:\n  partnerd export datev --tenant \"Mühle Beispiel\" \\\n      --bis 2026-10-31 --pruefen\n  partnerd export datev --tenant \"Mühle Beispiel\" \\\n      --bis 2026-10-31 --out /mnt/usb\n  partnerd export datev --tenant \"Mühle Beispiel\" --liste"
    )]
    Datev(datev::Arguments),
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Datev(arguments) => datev::run(&arguments, config, terminal),
    }
}
