//! An import, all of it at once or part by part.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::Connection;
use serde::Serialize;

use crate::cli::changes::note;
use crate::cli::database::{begin, find_tenant};
use crate::cli::terminal::{Outcome, Terminal, sentence};
use crate::import::Upserted;
use crate::rules::error::{HintCode, Hints};
use crate::rules::text::shown;

/// Rows above which an import must be taken in parts, so that nobody at the scale waits long.
const MAX_ROWS: usize = 200_000;

/// Pause between two parts.
const PAUSE: Duration = Duration::from_millis(500);

/// Rows of one part.
const PART: usize = 20_000;

#[derive(clap::Args)]
pub struct Source {
    /// The file: JSON or CSV; of dsfinvk the folder or the zip
    pub file: PathBuf,
    /// Name or id of the company
    #[arg(long, value_name = "T")]
    pub tenant: String,
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

/// Refuses what would keep others from writing for too long.
pub fn refuse_too_many(rows: usize, source: &Source) -> Outcome {
    if rows <= MAX_ROWS || source.in_parts {
        return Ok(());
    }
    Err(format!(
        "{} has {rows} rows, more than {MAX_ROWS}: use --in-parts, so that nobody at the scale has to wait",
        source.file.display()
    ))
}

/// Stores what belongs together, all of it or part by part, and says what it came to. `size` is
/// the number of rows in a group, `store` stores some groups within a transaction.
pub fn store_parts<G>(
    connection: &mut Connection,
    source: &Source,
    terminal: &Terminal,
    groups: &[G],
    size: fn(&G) -> usize,
    kind: &str,
    store: impl Fn(&Connection, &[G], &mut Hints, &ProgressBar) -> Result<Counts, String>,
) -> Outcome {
    let mut hints = Hints::default();
    let mut counts = Counts::default();
    let bar = progress_bar(groups.iter().map(size).sum());
    let mut rest = groups;
    loop {
        let (part, after) = rest.split_at(if source.in_parts { part_of(rest, size) } else { rest.len() });
        rest = after;
        let transaction = begin(connection)?;
        let kept = counts.sum();
        let of_part = store(&transaction, part, &mut hints, &bar).map_err(|complaint| match kept {
            kept if kept == 0 || source.dry_run => format!("{complaint} Nothing was stored."),
            kept => format!("{complaint} The parts before stay: {kept} rows."),
        })?;
        let tenant = find_tenant(&transaction, &source.tenant)?.id;
        note(
            &transaction,
            tenant,
            &format!("import {kind}"),
            &format!("{}: {of_part}", source.file.display()),
        )?;
        counts.add(of_part);
        match source.dry_run {
            true => drop(transaction),
            false => transaction.commit().map_err(|error| sentence(error.into()))?,
        }
        if rest.is_empty() {
            break;
        }
        if !source.dry_run {
            // Whoever waits at the scale comes first.
            std::thread::sleep(PAUSE);
        }
    }
    bar.finish_and_clear();
    say_hints(&hints, terminal);
    if source.dry_run {
        terminal.say("Dry run: nothing was stored.");
    }
    print(&counts, terminal)
}

/// How many groups make a part: the first ones that reach [`PART`] rows.
fn part_of<G>(groups: &[G], size: fn(&G) -> usize) -> usize {
    let mut rows = 0;
    let reached = groups.iter().position(|group| {
        rows += size(group);
        rows >= PART
    });
    reached.map_or(groups.len(), |last| last + 1)
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Counts { created, changed, unchanged } = self;
        write!(f, "created {created}, changed {changed}, unchanged {unchanged}")
    }
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.created += other.created;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
    }

    fn sum(&self) -> usize {
        self.created + self.changed + self.unchanged
    }

    /// Adds what rows came to.
    pub fn count(&mut self, upserted: &[Upserted]) {
        for one in upserted {
            match one {
                Upserted::Created => self.created += 1,
                Upserted::Changed => self.changed += 1,
                Upserted::Unchanged => self.unchanged += 1,
            }
        }
    }
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
        let names: Vec<_> = unknown.iter().map(|name| shown(name)).collect();
        terminal.say(&format!("Columns that were not used: {}", names.join(", ")));
    }
    for hint in hints.iter().filter(|hint| !is_unknown(hint.code)) {
        terminal.say(&format!(
            "{}{}",
            hint.feld.as_ref().map(|f| format!("{f}: ")).unwrap_or_default(),
            hint.message
        ));
    }
    if hints.more() > 0 {
        terminal.say(&format!("There are {} more notes.", hints.more()));
    }
}

fn print(counts: &Counts, terminal: &Terminal) -> Outcome {
    if terminal.json {
        terminal.print(&serde_json::to_string(counts).map_err(|error| error.to_string())?);
    } else {
        terminal.print(&counts.to_string());
    }
    Ok(())
}
