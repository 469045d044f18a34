//! `bericht`: figures for the VAT return, the recapitulative statement and Intrastat (D35).

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use crate::office::berichte::{self, Intrastat, Umsatzsteuer, Zeitraum, Zm};
use crate::papers::blatt::numbers::german;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::error::Hints;
use crate::rules::fixed::Money;
use crate::start::cli::database::{find_tenant, now, open};
use crate::start::cli::key::day;
use crate::start::cli::terminal::{Outcome, Terminal};
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Zahlen für die Umsatzsteuer-Voranmeldung, je Kennzahl
    ///
    /// Nach Belegdatum, aus den abgeschlossenen Rechnungen und Gutschriften; Barverkäufe sind nicht dabei.
    /// Neben der Steuer der Belege steht die, die das Formular aus vollen Euro rechnet.
    #[command(
        override_usage = "partnerd bericht umsatzsteuer\n       --tenant <FIRMA> --von <TAG> --bis <TAG>",
        after_help = "Beispiele:\n  \
                      partnerd bericht umsatzsteuer --tenant \"Mühle Beispiel\" \\\n      \
                      --von 2026-10-01 --bis 2026-10-31"
    )]
    Umsatzsteuer(Arguments),
    /// Zahlen für die Zusammenfassende Meldung, je USt-IdNr.
    ///
    /// Lieferungen (L) und sonstige Leistungen (S) an Unternehmer in anderen Ländern der EU.
    /// Dreiecksgeschäfte (D) erkennt partnerd nicht.
    #[command(
        override_usage = "partnerd bericht zm\n       --tenant <FIRMA> --von <TAG> --bis <TAG>",
        after_help = "Beispiele:\n  \
                      partnerd bericht zm --tenant \"Mühle Beispiel\" \\\n      \
                      --von 2026-10-01 --bis 2026-10-31"
    )]
    Zm(Arguments),
    /// Ein- und Ausfuhr in der EU gegen die Schwellen von Intrastat
    #[command(
        override_usage = "partnerd bericht intrastat\n       --tenant <FIRMA> --von <TAG> --bis <TAG>",
        after_help = "Beispiele:\n  \
                      partnerd bericht intrastat --tenant \"Mühle Beispiel\" \\\n      \
                      --von 2026-01-01 --bis 2026-12-31"
    )]
    Intrastat(Arguments),
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
    /// Erstes Belegdatum, etwa 2026-10-01
    #[arg(long, value_name = "TAG", value_parser = day)]
    von: Day,
    /// Letztes Belegdatum
    #[arg(long, value_name = "TAG", value_parser = day)]
    bis: Day,
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Umsatzsteuer(arguments) => {
            report(&arguments, config, terminal, berichte::umsatzsteuer, |of| &of.hinweise, umsatzsteuer)
        }
        Command::Zm(arguments) => report(&arguments, config, terminal, berichte::zm, |of| &of.hinweise, zm),
        Command::Intrastat(arguments) => {
            report(&arguments, config, terminal, berichte::intrastat, |of| &of.hinweise, intrastat)
        }
    }
}

/// Reads a report from one snapshot and prints it: as JSON if requested, else its hints and the output of
/// `show`. Before a refusal it names what is missing.
fn report<T: Serialize>(
    arguments: &Arguments,
    config: &Config,
    terminal: &Terminal,
    read: fn(&Tx<'_>, Zeitraum) -> Result<T>,
    hints: fn(&T) -> &Hints,
    show: fn(&T, &Terminal) -> Outcome,
) -> Outcome {
    let zeitraum = Zeitraum::of(arguments.von, arguments.bis).map_err(Failure::from)?;
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &arguments.tenant)?.id;
    let snapshot = connection.transaction()?;
    let bericht = read(&Tx::new(&snapshot, tenant, now()), zeitraum);
    if let Err(Failure::Refused(refusal)) = &bericht {
        refusal.fehler.iter().for_each(|fehler| terminal.say(&fehler.message.to_string()));
    }
    let bericht = bericht?;
    if terminal.json {
        terminal.print(&json!(bericht).to_string());
        return Ok(());
    }
    hints(&bericht).iter().for_each(|hint| terminal.say(&hint.message));
    show(&bericht, terminal)
}

/// Formats an amount; empty for `None`.
fn amount(betrag: Option<Money>) -> String {
    betrag.map(|betrag| german(betrag, 2)).unwrap_or_default()
}

fn umsatzsteuer(bericht: &Umsatzsteuer, terminal: &Terminal) -> Outcome {
    let jahr = bericht.formular;
    terminal.say(&format!("Kennzahlen nach dem Vordruck {jahr}."));
    let header = ["Kennzahl", "Basis", "volle Euro", "Steuer der Belege", "Steuer im Formular", "Differenz"];
    terminal.rows(&header, &bericht.kennzahlen, |of| {
        let tax = of.steuer_kennzahl.map(|tax| format!(" / {tax}")).unwrap_or_default();
        vec![
            format!("{}{tax}", of.kennzahl),
            amount(of.basis),
            of.basis_euro.map(|euro| euro.to_string()).unwrap_or_default(),
            amount(of.steuer),
            amount(of.steuer_formular),
            amount(of.differenz),
        ]
    })?;
    if bericht.anderer_monat_anzahl > 0 {
        let count = bericht.anderer_monat_anzahl;
        terminal.say(&format!("{count} Belege sind von Leistungen eines anderen Monats (--json nennt sie)."));
    }
    Ok(())
}

fn zm(bericht: &Zm, terminal: &Terminal) -> Outcome {
    terminal.rows(&["USt-IdNr.", "Art", "Summe", "volle Euro"], &bericht.zeilen, |zeile| {
        let art = zeile.art.as_str().to_owned();
        vec![zeile.ust_id.clone(), art, german(zeile.summe, 2), zeile.summe_euro.to_string()]
    })?;
    for quartal in bericht.quartale.iter().filter(|quartal| quartal.ueberschritten) {
        terminal.say(&format!(
            "Im {}. Quartal {} sind es {} EUR, mehr als 50.000: Die Meldung ist monatlich abzugeben.",
            quartal.quartal,
            quartal.jahr,
            german(quartal.summe, 2)
        ));
    }
    Ok(())
}

fn intrastat(bericht: &Intrastat, terminal: &Terminal) -> Outcome {
    let header = ["Jahr", "Eingänge", "Schwelle", "Versendungen", "Schwelle", "zu melden"];
    terminal.rows(&header, &bericht.jahre, |jahr| {
        let due = match (jahr.eingaenge_ueberschritten, jahr.versendungen_ueberschritten) {
            (true, true) => "Eingänge und Versendungen",
            (true, false) => "Eingänge",
            (false, true) => "Versendungen",
            (false, false) => "",
        };
        vec![
            jahr.jahr.to_string(),
            german(jahr.eingaenge, 2),
            amount(jahr.schwelle_eingaenge),
            german(jahr.versendungen, 2),
            amount(jahr.schwelle_versendungen),
            due.to_owned(),
        ]
    })
}
