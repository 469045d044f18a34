//! `import`: master data from a file (D22).

mod dsfinvk;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressStyle};
use rusqlite::Connection;
use serde::Serialize;

use super::{Outcome, Terminal, begin, find_tenant, now, open, sentence};
use crate::app::imports;
use crate::config::Config;
use crate::db::TenantId;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Failure;
use crate::http::json::Json;
use crate::http::wire::At;
use crate::import::file::{Rows, bytes, decode, read};
use crate::import::{Kind, Upserted};
use crate::rules::error::{HintCode, Hints};
use crate::rules::text::shown;

/// Rows above which an import must be taken in parts, so that nobody at the scale waits long.
const MAX_ROWS: usize = 200_000;

/// Pause between two parts.
const PAUSE: Duration = Duration::from_millis(500);

/// Rows of one part.
const PART: usize = 20_000;

#[derive(clap::Args)]
pub struct Arguments {
    /// What the file holds
    #[arg(value_parser = what())]
    kind: What,
    /// The file: JSON or CSV; of dsfinvk the folder or the zip
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

/// What a file holds.
#[derive(Clone, Copy)]
enum What {
    /// Rows of this kind.
    Rows(Kind),
    /// The export of a cash register.
    Dsfinvk,
}

/// Reads a kind by its name; another one is wrong usage.
fn what() -> impl TypedValueParser<Value = What> {
    let names = imports().map(Kind::name).chain([dsfinvk::KIND]);
    PossibleValuesParser::new(names)
        .map(|name| imports().find(|kind| kind.name() == name).map_or(What::Dsfinvk, What::Rows))
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
    let kind = match arguments.kind {
        What::Rows(kind) => kind,
        What::Dsfinvk => return dsfinvk::run(arguments, config, terminal),
    };
    let text = decode(&bytes(&arguments.file)?);
    let in_file = |complaint: String| format!("{}: {complaint}", arguments.file.display());
    let rows = read(&text).map_err(in_file)?;
    refuse_too_many(rows.rows.len(), arguments)?;
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &arguments.tenant)?.id;
    check(kind, &rows)?;
    let groups = kind.groups(&rows).map_err(in_file)?;
    store_parts(&mut connection, arguments, terminal, &groups, Vec::len, |connection, part, hints, bar| {
        store_all(connection, tenant, kind, &rows, part, hints, |stored| bar.inc(stored))
    })
}

/// Refuses what would keep others from writing for too long.
fn refuse_too_many(rows: usize, arguments: &Arguments) -> Outcome {
    if rows <= MAX_ROWS || arguments.in_parts {
        return Ok(());
    }
    Err(format!(
        "{} has {rows} rows, more than {MAX_ROWS}: use --in-parts, so that nobody at the scale has to wait",
        arguments.file.display()
    ))
}

/// Stores what belongs together, all of it or part by part, and says what it came to. `size` is
/// the number of rows in a group, `store` stores some groups within a transaction.
fn store_parts<G>(
    connection: &mut Connection,
    arguments: &Arguments,
    terminal: &Terminal,
    groups: &[G],
    size: fn(&G) -> usize,
    store: impl Fn(&Connection, &[G], &mut Hints, &ProgressBar) -> Result<Counts, String>,
) -> Outcome {
    let mut hints = Hints::default();
    let mut counts = Counts::default();
    let bar = progress_bar(groups.iter().map(size).sum());
    let mut rest = groups;
    loop {
        let (part, after) = rest.split_at(if arguments.in_parts { part_of(rest, size) } else { rest.len() });
        rest = after;
        let transaction = begin(connection)?;
        let kept = counts.sum();
        counts.add(store(&transaction, part, &mut hints, &bar).map_err(|complaint| match kept {
            kept if kept == 0 || arguments.dry_run => format!("{complaint} Nothing was stored."),
            kept => format!("{complaint} The parts before stay: {kept} rows."),
        })?);
        if arguments.dry_run {
            drop(transaction);
        } else {
            transaction.commit().map_err(|error| sentence(error.into()))?;
        }
        if rest.is_empty() {
            break;
        }
        if !arguments.dry_run {
            // Whoever waits at the scale comes first.
            std::thread::sleep(PAUSE);
        }
    }
    bar.finish_and_clear();
    say_hints(&hints, terminal);
    if arguments.dry_run {
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

impl Counts {
    fn add(&mut self, other: Counts) {
        self.created += other.created;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
    }

    fn sum(&self) -> usize {
        self.created + self.changed + self.unchanged
    }

    fn count(&mut self, upserted: &[Upserted]) {
        for one in upserted {
            match one {
                Upserted::Created => self.created += 1,
                Upserted::Changed => self.changed += 1,
                Upserted::Unchanged => self.unchanged += 1,
            }
        }
    }
}

/// Stores groups of rows within a transaction; the first that is refused ends it.
pub fn store_all(
    connection: &Connection,
    tenant: TenantId,
    kind: Kind,
    rows: &Rows<'_>,
    groups: &[Vec<usize>],
    hints: &mut Hints,
    each: impl Fn(u64),
) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for group in groups {
        let (lines, group): (Vec<usize>, Vec<&Json<'_>>) =
            group.iter().filter_map(|at| rows.rows.get(*at)).map(|(line, row)| (*line, row)).unzip();
        let tx = WriteTx::new(Tx::new(connection, tenant, now()), None);
        let stored = kind.store(&tx, &group, &mut At::row(hints, rows.tabular));
        let stored = stored.map_err(|(at, failure)| {
            at_line(lines.get(at).copied().unwrap_or_default(), sentence(failure))
        })?;
        counts.count(&stored);
        each(stored.len() as u64);
    }
    Ok(counts)
}

/// Checks all types before the write lock is taken.
fn check(kind: Kind, rows: &Rows<'_>) -> Result<(), String> {
    for (line, row) in &rows.rows {
        let mut hints = Hints::default();
        let checked = kind.check(row, &mut At::row(&mut hints, rows.tabular));
        checked.map_err(|refusal| {
            let complaint = at_line(*line, sentence(Failure::Refused(refusal)));
            format!("{complaint} Nothing was stored.")
        })?;
    }
    Ok(())
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
        let Counts { created, changed, unchanged } = counts;
        terminal.print(&format!("created {created}, changed {changed}, unchanged {unchanged}"));
    }
    Ok(())
}
