//! `export`: data for the firm's tax adviser and for auditors.

mod datev;
mod z3;

use clap::Subcommand;

use super::terminal::{Outcome, Terminal};
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Neue Rechnungen als DATEV-Stapel für den Steuerberater
    ///
    /// Ein Stapel enthält alle abgeschlossenen Rechnungen und Gutschriften bis zu einem Tag, die noch in
    /// keinem sind: alle oder, wo etwas fehlt, keine und eine Liste. Ausgegeben wird der Pfad einer
    /// ZIP-Datei.
    #[command(
        override_usage = "partnerd export datev [OPTIONEN]\n       \
                          --tenant <FIRMA> --bis <TAG>\n       \
                          --tenant <FIRMA> --liste\n       \
                          --tenant <FIRMA> --stapel <NUMMER>\n       \
                          --tenant <FIRMA> --verwerfen <NUMMER> --grund <TEXT>",
        after_help = "Beispiele:\n  \
                      partnerd export datev --tenant \"Mühle Beispiel\" \\\n      \
                      --bis 2026-10-31 --pruefen\n  \
                      partnerd export datev --tenant \"Mühle Beispiel\" \\\n      \
                      --bis 2026-10-31 --out /mnt/usb\n  \
                      partnerd export datev --tenant \"Mühle Beispiel\" --liste"
    )]
    Datev(datev::Arguments),
    /// Die Daten eines Zeitraums für die Betriebsprüfung (Z3, § 147 Abs. 6 AO)
    ///
    /// Eine ZIP-Datei mit index.xml, einer Tabelle je Datei und bericht.txt, wie sie Prüfprogramme lesen.
    /// Auch neben einem Server.
    #[command(
        override_usage = "partnerd export z3 [OPTIONEN] --tenant <FIRMA>\n       --von <TAG> --bis <TAG> --out <DATEI>",
        after_help = "Beispiele:\n  \
                      partnerd export z3 --tenant \"Mühle Beispiel\" \\\n      \
                      --von 2026-01-01 --bis 2026-12-31 \\\n      \
                      --out z3-2026.zip --belege"
    )]
    Z3(z3::Arguments),
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Datev(arguments) => datev::run(&arguments, config, terminal),
        Command::Z3(arguments) => z3::run(&arguments, config, terminal),
    }
}
