//! `beleg`: finalises documents by number or marks them done, and writes or checks their PDF and e-invoice.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::changes::note;
use super::database::{change, find_tenant, now, open};
use super::terminal::{Outcome, Terminal, sentence};
use crate::platform::db::file::files::{private_options, why};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::error::Hints;
use crate::start::config::Config;
use crate::trade::belege;

#[derive(Subcommand)]
pub enum Command {
    /// Offene Belege abschließen
    #[command(
        override_usage = "partnerd beleg abschliessen [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>...",
        after_help = "Beispiele:\n  \
                      partnerd beleg abschliessen RE-2026-00017 RE-2026-00018 \\\n      \
                      --tenant \"Mühle Beispiel\""
    )]
    Abschliessen(Numbers),
    /// Abgeschlossene Belege als erledigt vermerken
    #[command(
        override_usage = "partnerd beleg erledigen [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>...",
        after_help = "Beispiele:\n  \
                      partnerd beleg erledigen RE-2026-00017 \\\n      \
                      --tenant \"Mühle Beispiel\"\n  \
                      partnerd beleg erledigen LS-2026-00004 --ohne-gegenbeleg \\\n      \
                      --tenant \"Mühle Beispiel\""
    )]
    Erledigen {
        #[command(flatten)]
        numbers: Numbers,
        /// Schließt, was an den Belegen offen ist: es kommt kein Gegenbeleg
        #[arg(long)]
        ohne_gegenbeleg: bool,
    },
    /// Das PDF eines Belegs schreiben
    ///
    /// Das zuletzt hochgeladene, sonst das Blatt; von einem offenen Beleg ein Entwurf.
    #[command(
        override_usage = "partnerd beleg pdf [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>",
        after_help = "Beispiele:\n  \
                      partnerd beleg pdf RE-2026-00017 \\\n      \
                      --tenant \"Mühle Beispiel\" --out rechnung.pdf"
    )]
    Pdf(File),
    /// Die E-Rechnung eines Belegs schreiben (XML)
    #[command(
        override_usage = "partnerd beleg erechnung [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>",
        after_help = "Beispiele:\n  \
                      partnerd beleg erechnung RE-2026-00017 \\\n      \
                      --tenant \"Mühle Beispiel\" --out rechnung.xml"
    )]
    Erechnung(File),
    /// Sagen, was einer E-Rechnung fehlte
    ///
    /// Endet mit 1, wo etwas fehlt.
    #[command(
        visible_alias = "prüfen",
        override_usage = "partnerd beleg pruefen [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>...",
        after_help = "Beispiele:\n  partnerd beleg pruefen RE-2026-00017 \\\n      --tenant \"Mühle Beispiel\""
    )]
    Pruefen(Numbers),
}

#[derive(clap::Args)]
pub struct Numbers {
    /// Nummern von Belegen, etwa RE-2026-00001
    #[arg(required = true, value_name = "NUMMER")]
    numbers: Vec<String>,
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
}

#[derive(clap::Args)]
pub struct File {
    /// Nummer eines Belegs, etwa RE-2026-00001
    #[arg(value_name = "NUMMER")]
    number: String,
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: String,
    /// Wohin; ohne das auf die Standardausgabe
    #[arg(long, value_name = "DATEI")]
    out: Option<PathBuf>,
}

/// Changes the status of all named documents or of none; the other commands write a file or check.
pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Abschliessen(numbers) => move_on(
            &numbers,
            "beleg abschliessen",
            AdminAction::Abgeschlossen,
            belege::finalise_number,
            config,
            terminal,
        ),
        Command::Erledigen { numbers, ohne_gegenbeleg } => {
            let settle = |tx: &WriteTx<'_>, number: &str| belege::settle_number(tx, number, ohne_gegenbeleg);
            move_on(&numbers, "beleg erledigen", AdminAction::Erledigt, settle, config, terminal)
        }
        Command::Pdf(file) => write(&file, belege::pdf_of_number, config, terminal),
        Command::Erechnung(file) => write(&file, belege::erechnung_of_number, config, terminal),
        Command::Pruefen(numbers) => examine(&numbers, config, terminal),
    }
}

fn move_on(
    arguments: &Numbers,
    command: &str,
    tat: AdminAction,
    step: impl Fn(&WriteTx<'_>, &str) -> Result<Hints>,
    config: &Config,
    terminal: &Terminal,
) -> Outcome {
    let notes = change(config, |connection| {
        let tenant = find_tenant(connection, &arguments.tenant)?.id;
        let mut notes = Vec::new();
        for number in &arguments.numbers {
            let tx = Tx::new(connection, tenant, now());
            let hints = WriteTx::carry_out(tx, None, |tx| step(tx, number)).map_err(of(number))?;
            notes.extend(hints.iter().map(|hint| format!("{number}: {}", hint.message)));
            note(connection, Some(tenant), command, &AdminEvent::new(tat, Art::Beleg).name(number))?;
        }
        Ok(notes)
    })?;
    notes.iter().for_each(|note| terminal.say(note));
    terminal.result(&arguments.numbers.join("\n"), &json!(arguments.numbers));
    Ok(())
}

fn write(
    file: &File,
    content: fn(&Tx<'_>, &str, &mut Hints) -> Result<Vec<u8>>,
    config: &Config,
    terminal: &Terminal,
) -> Outcome {
    if file.out.is_none() && terminal.shows_stdout() {
        return Err("das ist eine Datei und nichts für ein Fenster: mit --out DATEI eine nennen".into());
    }
    let mut notes = Hints::default();
    let content =
        read(config, &file.tenant, |tx| content(tx, &file.number, &mut notes))?.map_err(of(&file.number))?;
    notes.iter().for_each(|note| terminal.say(&note.message));
    let failed = |name: &str, error: std::io::Error| {
        format!("{name} kann nicht geschrieben werden: {}", why(Path::new(name), &error))
    };
    match &file.out {
        Some(path) => {
            let name = path.display().to_string();
            let file = private_options().write(true).create(true).truncate(true).open(path);
            file.and_then(|mut file| file.write_all(&content)).map_err(|error| failed(&name, error))?;
            terminal.result(&name, &json!(name));
            Ok(())
        }
        None => {
            Ok(terminal.stdout().write_all(&content).map_err(|error| failed("die Standardausgabe", error))?)
        }
    }
}

fn examine(arguments: &Numbers, config: &Config, terminal: &Terminal) -> Outcome {
    let mut lacking = 0;
    let mut found = serde_json::Map::new();
    for number in &arguments.numbers {
        let missing = read(config, &arguments.tenant, |tx| belege::missing_of_number(tx, number))?
            .map_err(of(number))?;
        if !terminal.json {
            let said = match &missing {
                None => "bekommt keine E-Rechnung: nur Rechnungen und Gutschriften des Betriebs".to_owned(),
                Some(missing) if missing.is_empty() => "nichts fehlt".to_owned(),
                Some(missing) => missing.join("\n  "),
            };
            terminal.print(&format!("{number}:\n  {said}"));
        }
        lacking += usize::from(missing.as_ref().is_some_and(|missing| !missing.is_empty()));
        found.insert(number.clone(), json!(missing));
    }
    if terminal.json {
        terminal.print(&serde_json::Value::Object(found).to_string());
    }
    match lacking {
        0 => Ok(()),
        _ => Err(format!("{lacking} von {} Belegen fehlt etwas für die E-Rechnung", arguments.numbers.len())
            .into()),
    }
}

fn of(number: &str) -> impl Fn(Failure) -> String {
    move |failure| format!("{number}: {}", sentence(failure.into()))
}

fn read<T>(config: &Config, tenant: &str, work: impl FnOnce(&Tx<'_>) -> T) -> Outcome<T> {
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, tenant)?.id;
    let snapshot = connection.transaction()?;
    Ok(work(&Tx::new(&snapshot, tenant, now())))
}
