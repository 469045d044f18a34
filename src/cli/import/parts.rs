//! An import, all of it at once or part by part.

use std::fmt::{Display, Formatter};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::Connection;
use serde::Serialize;

use super::interrupt::refuse_interrupted;
use crate::cli::changes::note;
use crate::cli::database::{begin, find_tenant};
use crate::cli::terminal::{Outcome, Terminal, sentence};
use crate::import::Upserted;
use crate::import::check::Mistakes;
use crate::rules::error::{HintCode, Hints};

/// Rows above which an import must be taken in parts, so that nobody at the scale waits long.
const MAX_ROWS: usize = 20_000;

/// Pause between two parts.
const PAUSE: Duration = Duration::from_millis(200);

/// Most rows of one part.
const PART: usize = 5_000;

/// How long a part holds the writer, its commit not counted.
const PART_TIME: Duration = Duration::from_millis(300);

#[derive(clap::Args)]
pub struct Source {
    /// The file: JSON, CSV or a spreadsheet; of dsfinvk the folder or the zip
    #[arg(required = false, required_unless_present = "template")]
    pub file: PathBuf,
    /// Name or id of the company
    #[arg(long, value_name = "T", required = false, required_unless_present = "template")]
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

/// Why something was not stored.
pub enum Stop {
    /// It is wrong; others may be, too.
    Refused(String),
    /// Nothing more can be stored.
    Failed(String),
}

impl Stop {
    /// It as one sentence.
    pub fn sentence(self) -> String {
        match self {
            Stop::Refused(sentence) | Stop::Failed(sentence) => sentence,
        }
    }
}

/// What is to be stored: groups of rows, each of them at once.
pub struct Work<'w> {
    /// How many groups.
    pub groups: usize,
    /// How many rows a group has.
    pub size: &'w dyn Fn(usize) -> usize,
    /// Hints that were said already.
    pub hide: Option<HintCode>,
    /// What is imported.
    pub kind: &'static str,
}

/// Stores what belongs together, all of it or part by part, and says what it came to. `store` stores a group within
/// a transaction.
pub fn store_parts(
    connection: &mut Connection,
    source: &Source,
    terminal: &Terminal,
    work: &Work<'_>,
    store: impl Fn(&Connection, usize, &mut Hints) -> Result<Counts, Stop>,
) -> Outcome {
    let mut hints = Hints::default();
    let mut counts = Counts::default();
    let rows = (0..work.groups).map(work.size).sum();
    let bar = progress_bar(rows);
    let part = Part { source, work, bar: &bar };
    let mut next = 0;
    loop {
        let transaction = begin(connection)?;
        let stored = part.store(&transaction, next, &mut hints, &store);
        let kept = if source.dry_run { 0 } else { counts.sum() };
        let (stored, after) = stored.map_err(|complaint| unfinished(&complaint, kept, rows))?;
        note_part(&transaction, source, work, &stored)?;
        match source.dry_run {
            true => drop(transaction),
            false => transaction.commit().map_err(|error| sentence(error.into()))?,
        }
        counts.add(stored);
        next = after;
        match next < work.groups {
            // Whoever waits at the scale comes first.
            true if !source.dry_run => std::thread::sleep(PAUSE),
            true => {}
            false => break,
        }
    }
    bar.finish_and_clear();
    say_hints(&hints, work.hide, terminal);
    if source.dry_run {
        terminal.say("Dry run: nothing was stored.");
    }
    print(&counts, terminal)
}

/// Why an import ended before its end, and what it left.
fn unfinished(complaint: &str, kept: usize, rows: usize) -> String {
    match kept {
        0 => format!("{complaint}\nNothing was stored."),
        kept => format!(
            "{complaint}\n{kept} of {rows} rows were stored and stay; the others were not. Run the same command again: \
             rows that are stored already are left as they are."
        ),
    }
}

/// A row of the log for what was stored.
fn note_part(connection: &Connection, source: &Source, work: &Work<'_>, stored: &Counts) -> Outcome {
    let tenant = find_tenant(connection, &source.tenant)?.id;
    let change = format!("import {}", work.kind);
    note(connection, tenant, &change, &format!("{}: {stored}", source.file.display()))
}

/// What one transaction stores.
struct Part<'p> {
    source: &'p Source,
    work: &'p Work<'p>,
    bar: &'p ProgressBar,
}

impl Part<'_> {
    /// Stores groups from `next` on: all of them, or as many as a part takes. What came of them, and the group that
    /// is next. A mistake does not end it, so that others are named too; the transaction must not be kept then.
    fn store(
        &self,
        connection: &Connection,
        mut next: usize,
        hints: &mut Hints,
        store: &impl Fn(&Connection, usize, &mut Hints) -> Result<Counts, Stop>,
    ) -> Result<(Counts, usize), String> {
        let mut counts = Counts::default();
        let mut mistakes = Mistakes::default();
        let began = Instant::now();
        while next < self.work.groups && !mistakes.is_full() {
            refuse_interrupted()?;
            match store(connection, next, hints) {
                Ok(stored) => counts.add(stored),
                Err(Stop::Refused(mistake)) => mistakes.add(mistake),
                Err(Stop::Failed(sentence)) => return Err(sentence),
            }
            self.bar.inc((self.work.size)(next) as u64);
            next += 1;
            if self.source.in_parts && (counts.sum() >= PART || began.elapsed() >= PART_TIME) {
                break;
            }
        }
        match mistakes.text() {
            Some(text) => Err(format!("mistakes:\n{text}")),
            None => Ok((counts, next)),
        }
    }
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

    /// What rows came to.
    pub fn of(upserted: &[Upserted]) -> Counts {
        let mut counts = Counts::default();
        for one in upserted {
            match one {
                Upserted::Created => counts.created += 1,
                Upserted::Changed => counts.changed += 1,
                Upserted::Unchanged => counts.unchanged += 1,
            }
        }
        counts
    }
}

fn progress_bar(rows: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} rows");
    ProgressBar::new(rows as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// What was noted, apart from what was said before.
fn say_hints(hints: &Hints, hide: Option<HintCode>, terminal: &Terminal) {
    for hint in hints.iter().filter(|hint| Some(hint.code) != hide) {
        let feld = hint.feld.as_ref().map(|feld| format!("{feld}: ")).unwrap_or_default();
        terminal.say(&format!("{feld}{}", hint.message));
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
