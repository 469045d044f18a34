//! Runs an import for the command line: options, parts, progress and report.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::{Connection, TransactionBehavior};

use super::interrupt::{INTERRUPTED, is_interrupted};
use crate::operations::rueckgaengig::can_be_taken_back;
use crate::platform::db::{TenantId, feed};
use crate::platform::failure::Result;
use crate::platform::gate::administration::{self, Selection};
use crate::platform::import::parts::{self, Counts, NOTHING_STORED, ROWS_AT_ONCE_MAX, Stop, Unfinished};
use crate::rules::error::{HintCode, Hints};
use crate::start::cli::changes::note;
use crate::start::cli::terminal::{Outcome, Terminal, sentence};

#[derive(clap::Args)]
pub struct Source {
    /// Die Datei: JSON, CSV oder eine Tabelle (.xlsx, .ods); von dsfinvk der Ordner oder die ZIP-Datei
    #[arg(value_name = "DATEI", required = false, required_unless_present = "template")]
    pub file: PathBuf,
    /// Name oder Nummer der Firma
    #[arg(long, value_name = "FIRMA", required = false, required_unless_present = "template")]
    pub tenant: String,
    /// Nur sagen, was geschehen würde
    #[arg(long)]
    pub dry_run: bool,
    /// In Teilen speichern: Was vor einem Fehler kam, bleibt
    #[arg(long)]
    in_parts: bool,
}

/// Refuses a file that would block other writers for too long.
pub fn refuse_too_many(rows: usize, source: &Source) -> Outcome {
    if rows <= ROWS_AT_ONCE_MAX || source.in_parts {
        return Ok(());
    }
    Err(format!(
        "{} hat {rows} Zeilen, mehr als {ROWS_AT_ONCE_MAX}: bitte mit --in-parts, damit an der Waage niemand \
         warten muss",
        source.file.display()
    )
    .into())
}

/// The groups of rows to store, each stored as a whole.
pub struct Work<'w> {
    pub groups: usize,
    pub size: &'w dyn Fn(usize) -> usize,
    pub hide: Option<HintCode>,
    pub kind: &'static str,
    pub tenant: TenantId,
}

/// Stores the groups, in one transaction or in parts, and reports the result. `store` stores one group within
/// a transaction.
pub fn store_parts(
    connection: &mut Connection,
    source: &Source,
    terminal: &Terminal,
    work: &Work<'_>,
    store: impl Fn(&Connection, usize, &mut Hints) -> std::result::Result<Counts, Stop>,
) -> Outcome {
    let (mut hints, mut imports) = (Hints::default(), Vec::new());
    let rows = (0..work.groups).map(work.size).sum();
    let bar = progress_bar(rows, terminal);
    let Source { in_parts, dry_run, .. } = *source;
    let stored = parts::store_parts(work.groups, dry_run, |next| {
        let failed = |error: rusqlite::Error| Stop::Failed(error.into());
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let before = feed::newest(&transaction, work.tenant).map_err(Stop::Failed)?;
        let part = parts::store_part(next..work.groups, in_parts, |group| {
            if is_interrupted() {
                return Err(Stop::GivenUp);
            }
            bar.inc((work.size)(group) as u64);
            store(&transaction, group, &mut hints)
        })?;
        let noted = note_part(&transaction, source, work, &part.counts, before).map_err(Stop::Failed)?;
        if !dry_run {
            transaction.commit().map_err(failed)?;
            imports.extend(noted);
        }
        Ok(part)
    });
    bar.finish_and_clear();
    let stored = stored.inspect(|_| say_hints(&hints, work.hide, terminal));
    say_way_back(&imports, &source.tenant, terminal);
    let counts = stored.map_err(|unfinished| why(unfinished, rows, source))?;
    if dry_run {
        terminal.say("Nur nachgesehen (--dry-run): Es wurde nichts gespeichert.");
    }
    print(&counts, terminal)
}

fn say_way_back(imports: &[String], tenant: &str, terminal: &Terminal) {
    if !imports.is_empty() {
        let way = format!("partnerd import rueckgaengig {} --tenant {tenant:?}", imports.join(" "));
        terminal.say(&format!("Zurücknehmen lässt es sich mit: {way}"));
    }
}

/// Records what a part stored; returns the number to take it back by, if that is possible.
fn note_part(
    connection: &Connection,
    source: &Source,
    work: &Work<'_>,
    stored: &Counts,
    before: i64,
) -> Result<Option<String>> {
    let change = format!("import {}", work.kind);
    let feed = (before, feed::newest(connection, work.tenant)?);
    let event = stored.event(work.kind, source.file.display().to_string(), feed);
    note(connection, Some(work.tenant), &change, &event)?;
    let newest =
        || administration::entries(connection, &Selection { limit: Some(1), ..Selection::default() });
    Ok(if can_be_taken_back(&event) { newest()?.first().map(|entry| entry.nr.to_string()) } else { None })
}

/// Says why an import of this many rows ended early, and what it left stored.
fn why(Unfinished { why, kept }: Unfinished, rows: usize, source: &Source) -> String {
    let complaint = match why {
        Stop::Refused(mistakes) => {
            format!("{} hat Fehler:\n{}", source.file.display(), mistakes.text().unwrap_or_default())
        }
        Stop::GivenUp => INTERRUPTED.to_owned(),
        Stop::Failed(failure) => sentence(failure.into()),
    };
    match kept {
        0 => format!("{complaint}\n{NOTHING_STORED}"),
        kept => format!(
            "{complaint}\n{kept} von {rows} Zeilen sind gespeichert und bleiben, die anderen nicht. Bitte \
             denselben Befehl noch einmal aufrufen: Was gespeichert ist, bleibt, wie es ist."
        ),
    }
}

fn progress_bar(rows: usize, terminal: &Terminal) -> ProgressBar {
    if !terminal.shows_stderr() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} Zeilen");
    ProgressBar::new(rows as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Prints the hints, except those of the code that was reported before.
fn say_hints(hints: &Hints, hide: Option<HintCode>, terminal: &Terminal) {
    for hint in hints.iter().filter(|hint| Some(hint.code) != hide) {
        let feld = hint.feld.as_ref().map(|feld| format!("{feld}: ")).unwrap_or_default();
        let more =
            if hint.more > 0 { format!(" (und {} weitere dieser Art)", hint.more) } else { String::new() };
        terminal.say(&format!("{feld}{}{more}", hint.message));
    }
}

fn print(counts: &Counts, terminal: &Terminal) -> Outcome {
    terminal.print(&if terminal.json { serde_json::to_string(counts)? } else { counts.to_string() });
    Ok(())
}
