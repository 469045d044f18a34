//! `import`: master data from a file (D22).

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::Connection;
use serde::Serialize;

use super::{Outcome, Terminal, begin, find_tenant, now, open, sentence};
use crate::app::imports;
use crate::config::Config;
use crate::db::error::Failure;
use crate::db::tx::{TenantId, Tx, WriteTx};
use crate::http::json::Json;
use crate::http::wire::At;
use crate::import::file::{MAX_FILE, Rows, decode, read};
use crate::import::{Import, Upserted};
use crate::rules::error::{HintCode, Hints};

/// Rows above which an import must be taken in parts, so that nobody at the scale waits long.
const MAX_ROWS: usize = 200_000;

/// Pause between two parts.
const PAUSE: Duration = Duration::from_millis(500);

/// Rows of one part.
const PART: usize = 20_000;

#[derive(clap::Args)]
pub struct Arguments {
    /// What the file holds: artikelgruppen, artikel, staffelpreise, vertriebler, kunden, biozertifikate, chargen,
    /// kontrakte, steuersaetze
    kind: String,
    /// The file: JSON or CSV
    file: PathBuf,
    /// Name or id of the company
    #[arg(long)]
    tenant: String,
    /// Only say what would happen
    #[arg(long)]
    dry_run: bool,
    /// Store in parts: what came before an error stays
    #[arg(long)]
    in_parts: bool,
}

/// What an import came to.
#[derive(Debug, Default, Serialize)]
pub struct Counts {
    created: usize,
    changed: usize,
    unchanged: usize,
}

/// Reads and checks the file, then stores it: all of it or nothing.
pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let import = kind(&arguments.kind)?;
    let text = file_text(arguments)?;
    let rows = read(&text).map_err(|complaint| format!("{}: {complaint}", arguments.file.display()))?;
    if rows.rows.len() > MAX_ROWS && !arguments.in_parts {
        return Err(format!(
            "{} has {} rows, more than {MAX_ROWS}: use --in-parts, so that nobody at the scale has to wait",
            arguments.file.display(),
            rows.rows.len()
        ));
    }
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &arguments.tenant)?.id;
    check(import, &rows)?;
    let mut hints = Hints::default();
    let mut counts = Counts::default();
    let part = if arguments.in_parts { PART } else { rows.rows.len().max(1) };
    let mut kept = 0;
    let bar = progress_bar(rows.rows.len());
    for chunk in rows.rows.chunks(part) {
        let transaction = begin(&mut connection)?;
        let stored = store_all(&transaction, tenant, import, chunk, rows.tabular, &mut hints, || bar.inc(1));
        counts.add(stored.map_err(|complaint| match kept {
            kept if kept == 0 || arguments.dry_run => format!("{complaint} Nothing was stored."),
            kept => format!("{complaint} The parts before stay: {kept} rows."),
        })?);
        if arguments.dry_run {
            drop(transaction);
        } else {
            transaction.commit().map_err(|error| sentence(error.into()))?;
            if arguments.in_parts {
                // Whoever waits at the scale comes first.
                std::thread::sleep(PAUSE);
            }
        }
        kept = counts.created + counts.changed + counts.unchanged;
    }
    bar.finish_and_clear();
    say_hints(&hints, terminal);
    if arguments.dry_run {
        terminal.say("Dry run: nothing was stored.");
    }
    print(&counts, terminal)
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.created += other.created;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
    }
}

/// Stores rows within a transaction; the first that is refused ends it.
pub fn store_all(
    connection: &Connection,
    tenant: TenantId,
    import: &Import,
    rows: &[(usize, Json<'_>)],
    tabular: bool,
    hints: &mut Hints,
    each: impl Fn(),
) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for (line, row) in rows {
        let tx = WriteTx::new(Tx::new(connection, tenant, now()), None);
        let upserted = (import.run)(&tx, row, &mut position(hints, tabular));
        match upserted.map_err(|failure| at_line(*line, sentence(failure)))? {
            Upserted::Created => counts.created += 1,
            Upserted::Changed => counts.changed += 1,
            Upserted::Unchanged => counts.unchanged += 1,
        }
        each();
    }
    Ok(counts)
}

fn kind(name: &str) -> Result<&'static Import, String> {
    let known: Vec<_> = imports().map(|import| import.kind).collect();
    imports()
        .find(|import| import.kind == name)
        .ok_or_else(|| format!("{name} cannot be imported; known are: {}", known.join(", ")))
}

fn file_text(arguments: &Arguments) -> Result<String, String> {
    let complain = |error: std::io::Error| format!("{} cannot be read: {error}", arguments.file.display());
    let size = std::fs::metadata(&arguments.file).map_err(complain)?.len();
    if size > MAX_FILE {
        return Err(format!("{} is larger than {} MiB", arguments.file.display(), MAX_FILE >> 20));
    }
    Ok(decode(&std::fs::read(&arguments.file).map_err(complain)?))
}

/// Checks all types before the write lock is taken.
fn check(import: &Import, rows: &Rows<'_>) -> Result<(), String> {
    for (line, row) in &rows.rows {
        let mut hints = Hints::default();
        let checked = (import.check)(row, &mut position(&mut hints, rows.tabular));
        checked.map_err(|refusal| {
            let complaint = at_line(*line, sentence(Failure::Refused(refusal)));
            format!("{complaint} Nothing was stored.")
        })?;
    }
    Ok(())
}

fn position(hints: &mut Hints, tabular: bool) -> At<'_> {
    At::row(hints, tabular)
}

fn at_line(line: usize, complaint: String) -> String {
    format!("line {line}: {complaint}")
}

fn progress_bar(rows: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} rows");
    ProgressBar::new(rows as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Columns that nobody knows, once; then everything else that was noted.
fn say_hints(hints: &Hints, terminal: &Terminal) {
    let is_unknown = |code| code == HintCode::UnbekanntesFeld;
    let unknown: BTreeSet<_> =
        hints.iter().filter(|hint| is_unknown(hint.code)).filter_map(|hint| hint.feld.clone()).collect();
    if !unknown.is_empty() {
        let names: Vec<_> = unknown.into_iter().collect();
        terminal.say(&format!("Columns that were not used: {}", names.join(", ")));
    }
    for hint in hints.iter().filter(|hint| !is_unknown(hint.code)) {
        terminal.say(&format!(
            "{}{}",
            hint.feld.as_ref().map(|f| format!("{f}: ")).unwrap_or_default(),
            hint.message
        ));
    }
}

fn print(counts: &Counts, terminal: &Terminal) -> Outcome {
    if terminal.json {
        terminal.print(&serde_json::to_string(counts).map_err(|error| error.to_string())?);
    } else {
        let Counts { created, changed, unchanged } = counts;
        terminal.print(&format!("created {created}, changed {changed}, unchanged {unchanged}"));
    }
    Ok(())
}
