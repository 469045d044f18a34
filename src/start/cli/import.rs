//! `import`: imports a file of any kind in `interface::imports`, or the export of a cash register (D22).

mod dsfinvk;
mod interrupt;
mod parts;
mod rueckgaengig;
mod template;

use std::fmt::Display;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use interrupt::{refuse_interrupted, watch_for_interrupts};
use parts::{Source, Work, refuse_too_many, store_parts};
use rueckgaengig::TakeBack;

use super::database::{find_tenant, now, open};
use super::terminal::{Outcome, Terminal};
use crate::interface::description::vorlagen::columns;
use crate::interface::imports;
use crate::office::buchhaltung;
use crate::platform::db::tx::Tx;
use crate::platform::http::wire::Decimal;
use crate::platform::import::encoding::CodePage;
use crate::platform::import::file::{self, Rows};
use crate::platform::import::memory_budget::COMMAND_TABLE_BYTES_MAX;
use crate::platform::import::parts::{Counts, NOTHING_STORED, store_group};
use crate::platform::import::{Import, look, suspicions};
use crate::rules::choice::Choice;
use crate::rules::datev::Rahmen;
use crate::rules::error::HintCode;
use crate::start::config::Config;

const TO_ACCEPT: &str = "Bitte in der Datei berichtigen, oder mit --accept-warnings so speichern.";

#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Was die Datei enthält
    #[arg(value_name = "ART", value_parser = what(), required = true)]
    kind: Option<What>,
    #[command(flatten)]
    source: Option<Source>,
    /// Eine Datei zum Ausfüllen schreiben, CSV oder .xlsx nach ihrer Endung, und nichts importieren
    #[arg(long, value_name = "DATEI", conflicts_with_all = ["Source", "sheet", "decimal", "encoding", "accept_warnings"])]
    template: Option<PathBuf>,
    /// Mit einem Vorschlag nach diesem Kontenrahmen ausfüllen; nur für konten
    #[arg(long, value_name = "RAHMEN", value_parser = charts(), requires = "template")]
    rahmen: Option<Rahmen>,
    /// Das Blatt einer Tabelle; sonst das erste
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Was in einer Tabelle die Nachkommastellen trennt, wo es nicht zu erkennen ist
    #[arg(long, value_name = "ZEICHEN", value_parser = decimals())]
    decimal: Option<Decimal>,
    /// Welche Kodierung eine Datei hat, die kein UTF-8 ist, wo es nicht zu erkennen ist
    #[arg(long, value_name = "KODIERUNG", value_parser = code_pages())]
    encoding: Option<CodePage>,
    /// Auch speichern, was vermutlich nicht gemeint ist: Summen, ausgeblendete Zeilen, andere Blätter,
    /// unbekannte Steuersätze und Einheiten
    #[arg(long)]
    accept_warnings: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Einen Import zurücknehmen, solange nichts auf das verweist, was er angelegt hat
    ///
    /// Was er angelegt hat, wird gelöscht; was er geändert hat, hat wieder die Werte von vorher. Alles oder
    /// nichts: Was nicht zurückgeht, wird genannt, mit dem Grund. Ohne --yes sagt es nur, was es täte. In
    /// Teilen gespeichert hat jeder Teil seine Nummer.
    #[command(
        override_usage = "partnerd import rueckgaengig [OPTIONEN]\n       --tenant <FIRMA> <NUMMER>...",
        after_help = "Beispiele:\n  \
                      partnerd import rueckgaengig 17 \\\n      \
                      --tenant \"Mühle Beispiel\"\n  \
                      partnerd import rueckgaengig 17 \\\n      \
                      --tenant \"Mühle Beispiel\" --yes"
    )]
    Rueckgaengig(TakeBack),
}

fn charts() -> impl TypedValueParser<Value = Rahmen> {
    PossibleValuesParser::new(["skr03", "skr04"])
        .map(|name| if name == "skr03" { Rahmen::Skr03 } else { Rahmen::Skr04 })
}

fn decimals() -> impl TypedValueParser<Value = Decimal> {
    let value = |name, help| PossibleValue::new(name).help(help);
    PossibleValuesParser::new([value("comma", "24.860 ist 24860"), value("point", "24.860 ist 24,86")])
        .map(|name| if name == "comma" { Decimal::Comma } else { Decimal::Point })
}

fn code_pages() -> impl TypedValueParser<Value = CodePage> {
    PossibleValuesParser::new(
        CodePage::ALL.iter().map(|page| PossibleValue::new(page.as_str()).help(page.name())),
    )
    .map(|name| CodePage::parse(&name).unwrap_or(CodePage::Windows1252))
}

#[derive(Clone, Copy)]
enum What {
    Rows(&'static Import),
    Dsfinvk,
}

/// Parses the name of a kind; any other name is wrong usage.
fn what() -> impl TypedValueParser<Value = What> {
    let names = imports::all().map(|kind| kind.kind).chain([dsfinvk::KIND]);
    PossibleValuesParser::new(names)
        .map(|name| imports::all().find(|kind| kind.kind == name).map_or(What::Dsfinvk, What::Rows))
}

pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let Arguments { command, kind, source, sheet, decimal, encoding, template, rahmen, accept_warnings } =
        arguments;
    if let Some(Command::Rueckgaengig(arguments)) = command {
        return rueckgaengig::run(arguments, config, terminal);
    }
    match (kind, template, source) {
        (None, ..) => Err("es fehlt, was die Datei enthält".into()),
        (Some(What::Rows(kind)), Some(path), _) => match rahmen {
            None => template::write(kind, path, terminal),
            Some(rahmen) if kind.kind == buchhaltung::KONTEN => template::propose(*rahmen, path, terminal),
            Some(_) => Err("--rahmen gehört zu konten".into()),
        },
        (Some(What::Dsfinvk), Some(_), _) => {
            Err("dsfinvk schreibt die Kasse selbst: dafür gibt es keine Vorlage".into())
        }
        (Some(What::Dsfinvk), None, Some(_))
            if sheet.is_some() || decimal.is_some() || encoding.is_some() || *accept_warnings =>
        {
            Err("--sheet, --decimal, --encoding und --accept-warnings gehören nicht zu dsfinvk".into())
        }
        (Some(What::Dsfinvk), None, Some(source)) => dsfinvk::run(source, config, terminal),
        (Some(What::Rows(kind)), None, Some(source)) => {
            store_table(kind, source, arguments, config, terminal)
        }
        (_, None, None) => Err("es fehlt die Datei".into()),
    }
}

/// Reads and checks a file of rows, then stores all of it or nothing.
fn store_table(
    kind: &'static Import,
    source: &Source,
    arguments: &Arguments,
    config: &Config,
    terminal: &Terminal,
) -> Outcome {
    watch_for_interrupts(terminal);
    let in_file = |complaint: &dyn Display| refused(source, complaint);
    let rows = read(kind, source, arguments, terminal)?;
    let groups = kind.groups(&rows).map_err(|complaint| in_file(&complaint))?;
    refuse_interrupted().map_err(|complaint| in_file(&complaint))?;
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &source.tenant)?.id;
    let known = imports::known(&Tx::new(&connection, tenant, now()))?;
    if let Some(text) = suspicions::find(kind, &rows, known).text() {
        let doubtful = format!("{}: das ist vermutlich nicht gemeint:\n{text}", source.file.display());
        match (arguments.accept_warnings, source.dry_run) {
            (true, _) => terminal.say(&doubtful),
            (false, true) => terminal.say(&format!("{doubtful}\nGespeichert würde das nicht. {TO_ACCEPT}")),
            (false, false) => return Err(format!("{doubtful}\n{NOTHING_STORED} {TO_ACCEPT}").into()),
        }
    }
    let size = |group| groups.rows(group).len();
    let hide = Some(HintCode::UnbekanntesFeld);
    let work = Work { groups: groups.count(), size: &size, hide, kind: kind.kind, tenant };
    store_parts(&mut connection, source, terminal, &work, |connection, group, hints| {
        let tx = Tx::new(connection, tenant, now());
        store_group(tx, None, kind, &rows, &groups.rows(group), hints).map(|stored| Counts::of(&stored))
    })
}

fn refused(source: &Source, complaint: &dyn Display) -> String {
    format!("{}: {complaint} {NOTHING_STORED}", source.file.display())
}

/// Reads the rows of a file, checks them as far as possible without a database, and says how they were understood.
fn read(kind: &Import, source: &Source, arguments: &Arguments, terminal: &Terminal) -> Outcome<Rows> {
    let in_file = |complaint: &dyn Display| refused(source, complaint);
    let say = &mut |about, said| terminal.say(&format!("{about}: {said}"));
    let waiting = terminal.waiting();
    waiting.set_message("Die Datei wird gelesen");
    let bytes = file::bytes(&source.file).map_err(|complaint| in_file(&complaint))?;
    let columns = columns(kind);
    let (sheet, encoding) = (arguments.sheet.as_deref(), arguments.encoding);
    let file = file::Source { bytes, sheet, encoding, bytes_max: COMMAND_TABLE_BYTES_MAX };
    let rows = look::read(kind, file, |row| columns.is_example(row), say);
    let mut rows = rows.map_err(|complaint| in_file(&complaint))?;
    waiting.set_message("Die Zeilen werden geprüft");
    refuse_too_many(rows.len(), source)?;
    let mistakes = look::judge(kind, &mut rows, arguments.decimal, say);
    let how = "Die Angabe heißt --decimal comma oder --decimal point.";
    let mistakes = mistakes.map_err(|complaint| in_file(&format_args!("{complaint} {how}")))?;
    if let Some(text) = mistakes.text() {
        return Err(format!("{} hat Fehler:\n{text}\n{NOTHING_STORED}", source.file.display()).into());
    }
    if rows.is_empty() {
        terminal.say("Unter der Kopfzeile stehen keine Zeilen.");
    }
    Ok(rows)
}
