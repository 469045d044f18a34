//! `import`: master data from a file (D22).

mod dsfinvk;
mod parts;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use parts::{Counts, Source, refuse_too_many, store_parts};
use rusqlite::Connection;

use super::database::{find_tenant, now, open};
use super::terminal::{Outcome, Terminal, sentence};
use crate::app::imports;
use crate::config::Config;
use crate::db::TenantId;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Failure;
use crate::http::json::Json;
use crate::http::wire::At;
use crate::import::ImportKind;
use crate::import::file::{Rows, bytes, decode, read};
use crate::rules::error::Hints;

#[derive(clap::Args)]
pub struct Arguments {
    /// What the file holds
    #[arg(value_parser = what())]
    kind: What,
    #[command(flatten)]
    source: Source,
}

/// What a file holds.
#[derive(Clone, Copy)]
enum What {
    /// Rows of this kind.
    Rows(ImportKind),
    /// The export of a cash register.
    Dsfinvk,
}

/// Reads a kind by its name; another one is wrong usage.
fn what() -> impl TypedValueParser<Value = What> {
    let names = imports().map(ImportKind::name).chain([dsfinvk::KIND]);
    PossibleValuesParser::new(names)
        .map(|name| imports().find(|kind| kind.name() == name).map_or(What::Dsfinvk, What::Rows))
}

/// Reads and checks the file, then stores it: all of it or nothing.
pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let Arguments { kind, source } = arguments;
    let kind = match *kind {
        What::Rows(kind) => kind,
        What::Dsfinvk => return dsfinvk::run(source, config, terminal),
    };
    let text = decode(&bytes(&source.file)?);
    let in_file = |complaint: String| format!("{}: {complaint}", source.file.display());
    let rows = read(&text).map_err(in_file)?;
    refuse_too_many(rows.rows.len(), source)?;
    let mut connection = open(config)?;
    let tenant = find_tenant(&connection, &source.tenant)?.id;
    check(kind, &rows)?;
    let groups = kind.groups(&rows).map_err(in_file)?;
    store_parts(
        &mut connection,
        source,
        terminal,
        &groups,
        Vec::len,
        kind.name(),
        |connection, part, hints, bar| {
            store_all(connection, tenant, kind, &rows, part, hints, |stored| bar.inc(stored))
        },
    )
}

/// Stores groups of rows within a transaction; the first that is refused ends it.
pub fn store_all(
    connection: &Connection,
    tenant: TenantId,
    kind: ImportKind,
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
fn check(kind: ImportKind, rows: &Rows<'_>) -> Result<(), String> {
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
