//! `audit`: the log of all requests, and that of what people and commands did.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Moment};

use clap::Subcommand;
use csv::Writer;
use rusqlite::Connection;
use serde_json::json;

use super::database::{begin, find_tenant, now, open, secret};
use super::key::{day, public_part, to_second};
use super::private::{create_private, unwritable};
use super::terminal::{Outcome, Terminal};
use crate::config::Config;
use crate::db::connection::open_to_look;
use crate::db::files::sync_folder;
use crate::db::seal::Secret;
use crate::db::{TenantId, lock, system_clock};
use crate::gate::administration::{self, Akteur};
use crate::gate::audit::{self, Entry, Finding, Sealed, Selection};
use crate::rules::day::{Day, Instant};
use crate::rules::deed::{Art, Deed, Tat};
use crate::rules::text::{cell, shown};
use crate::tenants;

const ROWS_SHOWN: i64 = 100;

const PAUSE_BETWEEN_STEPS: Duration = Duration::from_millis(5);

/// How long a running server is waited for until it has taken its journal in, and how often that is looked at.
const JOURNAL_WAIT_MAX: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

#[derive(Subcommand)]
pub enum Command {
    /// Show the newest rows
    #[command(
        after_help = "Examples:\n  partnerd audit list --status 401 --since 2026-07-01\n  partnerd audit list --tenant \"Mühle Beispiel\" \\\n      --csv > log.csv"
    )]
    List {
        #[command(flatten)]
        rows: Rows,
        /// Only answers with this status
        #[arg(long)]
        status: Option<u16>,
    },
    /// Show what people and the command line changed, the newest first
    #[command(
        after_help = "Examples:\n  partnerd audit changes --since 2026-07-01\n  partnerd audit changes --tenant \"Mühle Beispiel\" \\\n      --csv > changes.csv"
    )]
    Changes(Rows),
    /// Drop old requests; the server does so by itself every day
    #[command(after_help = "Examples:\n  partnerd audit rollover --days 90 --export alt.jsonl")]
    Rollover {
        /// Days that are kept
        #[arg(long, value_name = "N", default_value_t = audit::DAYS, value_parser = clap::value_parser!(i64).range(1..))]
        days: i64,
        /// Write the rows to this file before they are dropped, one JSON object a line
        #[arg(long, value_name = "FILE")]
        export: Option<PathBuf>,
    },
    /// Prove that no row of either log was altered, removed or inserted
    #[command(
        after_help = "Examples:\n  partnerd audit verify\n  partnerd audit verify --against gestern.db"
    )]
    Verify {
        /// Find also what this backup has and the database no longer has
        #[arg(long, value_name = "BACKUP")]
        against: Option<PathBuf>,
    },
}

/// Which rows of a log are shown.
#[derive(clap::Args)]
pub struct Rows {
    /// Only those of this key: the public part
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    /// Only those of this company
    #[arg(long, value_name = "T")]
    tenant: Option<String>,
    /// Only from this day (UTC) on
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// How many rows
    #[arg(long, value_name = "N", default_value_t = ROWS_SHOWN, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
    /// Print CSV instead of a table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    let secret = secret(config, terminal);
    // What a dead server left is taken in here.
    match lock::without_server(&config.db) {
        Ok(_no_server) => {
            audit::catch_up(&mut connection, &config.db, secret.as_ref(), system_clock())?;
        }
        Err(_) => wait_for_journal(&config.db, terminal)?,
    }
    match command {
        Command::List { rows, status } => {
            let (key_id, tenant_id, since) = rows.chosen(&connection)?;
            let limit = Some(rows.limit);
            let selection = Selection { key_id, tenant_id, status, since, before_day: None, limit };
            list(&connection, &selection, rows.csv, terminal)
        }
        Command::Changes(rows) => {
            let (key_id, firma, since) = rows.chosen(&connection)?;
            let from = since.map(|day| Instant::from_millis(day.number() * Instant::MILLIS_PER_DAY));
            let limit = Some(rows.limit);
            let selection = administration::Selection { firma, key_id, from, limit, ..Default::default() };
            changes(&connection, &selection, rows.csv, terminal)
        }
        Command::Rollover { days, export } => rollover(&mut connection, days, export.as_deref(), terminal),
        Command::Verify { against } => verify(&connection, secret.as_ref(), against.as_deref(), terminal),
    }
}

impl Rows {
    /// Of which key, of which company, from which day on.
    fn chosen(&self, connection: &Connection) -> Outcome<(Option<String>, Option<TenantId>, Option<Day>)> {
        let key = self.key.as_deref().map(|key| public_part(key).to_owned());
        let tenant = self.tenant.as_deref().map(|tenant| find_tenant(connection, tenant)).transpose()?;
        let since = self.since.as_deref().map(day).transpose()?;
        Ok((key, tenant.map(|tenant| tenant.id), since))
    }
}

/// A running server takes its journal in every second: what was answered before this command began is waited for
/// (D20).
fn wait_for_journal(database: &Path, terminal: &Terminal) -> Outcome {
    let before = audit::segments(database)?;
    let begun = Moment::now();
    while audit::segments(database)?.iter().any(|segment| before.contains(segment)) {
        if begun.elapsed() > JOURNAL_WAIT_MAX {
            terminal
                .say("The server has not taken its newest rows in: look at its log. They are missing here.");
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

fn list(connection: &Connection, selection: &Selection, csv: bool, terminal: &Terminal) -> Outcome {
    let mut entries = Vec::new();
    let keep = |entry| {
        entries.push(entry);
        Ok(())
    };
    audit::entries(connection, selection, keep)??;
    if csv {
        return print_csv(&CSV, entries.iter().map(cells));
    }
    terminal.rows(&["at (UTC)", "answer", "what", "who", "tenant", "from", "ms"], &entries, |entry| {
        vec![
            to_second(&entry.at.to_string()),
            format!("{} {}", entry.status, entry.code.as_deref().unwrap_or_default()).trim_end().to_owned(),
            what(entry),
            who(entry),
            entry.tenant.clone().unwrap_or_default(),
            entry.address.clone(),
            milliseconds(entry),
        ]
    })
}

/// What was asked for, and how often where the row stands for several requests.
fn what(entry: &Entry) -> String {
    let asked = format!("{} {}", entry.method, entry.path);
    match entry.count {
        1 => asked.trim().to_owned(),
        count => format!("{} ({count} times)", asked.trim()),
    }
}

/// Who asked: a key with its label, or a person.
fn who(entry: &Entry) -> String {
    let key =
        || [&entry.key_id, &entry.key_label].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
    entry.person.map_or_else(key, |id| format!("person {id}"))
}

fn milliseconds(entry: &Entry) -> String {
    format!("{}.{}", entry.duration_us / 1_000, entry.duration_us / 100 % 10)
}

/// New columns come last: scripts may count them.
const CSV: [&str; 12] =
    ["at", "status", "method", "path", "key", "tenant", "address", "ms", "count", "code", "label", "person"];

fn cells(entry: &Entry) -> [String; 12] {
    [
        entry.at.to_string(),
        entry.status.to_string(),
        entry.method.clone(),
        entry.path.clone(),
        entry.key_id.clone().unwrap_or_default(),
        entry.tenant.clone().unwrap_or_default(),
        entry.address.clone(),
        milliseconds(entry),
        entry.count.to_string(),
        entry.code.clone().unwrap_or_default(),
        entry.key_label.clone().unwrap_or_default(),
        entry.person.map(|id| id.to_string()).unwrap_or_default(),
    ]
}

fn print_csv<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> Outcome {
    let mut writer = Writer::from_writer(std::io::stdout());
    writer.write_record(head)?;
    for cells in rows {
        writer.write_record(cells.iter().map(|text| cell(&shown(text))))?;
    }
    Ok(writer.flush()?)
}

fn changes(
    connection: &Connection,
    selection: &administration::Selection,
    csv: bool,
    terminal: &Terminal,
) -> Outcome {
    let entries = administration::entries(connection, selection)?;
    let tenants = tenants::list(connection)?;
    let row = |entry: &administration::Entry| {
        let Deed { tat, gegenstand, .. } = &entry.deed;
        let who = match &entry.akteur {
            Akteur::Person(id) => format!("person {id}"),
            Akteur::Befehl { name, konto } => format!("{name} ({konto})"),
        };
        let what = [Some(art_in_words(gegenstand.art)), gegenstand.id.as_deref(), gegenstand.name.as_deref()];
        let what = what.into_iter().flatten().chain([tat_in_words(*tat)]).collect::<Vec<_>>().join(" ");
        let tenant = tenants.iter().find(|tenant| Some(tenant.id) == gegenstand.firma);
        let tenant = tenant.map(|tenant| tenant.name.clone()).unwrap_or_default();
        let changed: Vec<_> = entry.deed.changed().map(|changed| changed.to_string()).collect();
        [entry.am.to_string(), what, changed.join(", "), who, tenant]
    };
    let head = ["at (UTC)", "what", "change", "who", "tenant"];
    if csv {
        return print_csv(&head, entries.iter().map(row));
    }
    terminal.rows(&head, &entries, |entry| {
        let [at, rest @ ..] = row(entry);
        [to_second(&at)].into_iter().chain(rest).collect()
    })
}

fn art_in_words(art: Art) -> &'static str {
    match art {
        Art::Firma => "company",
        Art::Schluessel => "key",
        Art::Zugang => "user",
        Art::Import => "import",
        Art::Beleg => "document",
        Art::Partner => "partner",
        Art::Sicherung => "backup",
        Art::Zertifikat => "certificate",
    }
}

fn tat_in_words(tat: Tat) -> &'static str {
    match tat {
        Tat::Angelegt => "created",
        Tat::Geaendert => "changed",
        Tat::Geleert => "emptied",
        Tat::Geloescht => "deleted",
        Tat::Zurueckgespielt => "restored",
        Tat::Gesperrt => "deactivated",
        Tat::Freigegeben => "activated",
        Tat::LinkErzeugt => "link made",
        Tat::PasswortGesetzt => "password set",
        Tat::Importiert => "stored",
        Tat::Abgeschlossen => "made final",
        Tat::Erledigt => "settled",
        Tat::Vergessen => "forgotten",
    }
}

/// Writes what is dropped to a file first, where that was asked for, and that to the disk.
fn rollover(connection: &mut Connection, days: i64, file: Option<&Path>, terminal: &Terminal) -> Outcome {
    let first_kept = audit::first_kept(now(), days);
    let exported = file.map(|file| export(connection, first_kept, file)).transpose()?;
    let mut dropped = 0;
    loop {
        // One transaction each, so that a server that writes never waits long.
        let transaction = begin(connection)?;
        let step = audit::step(&transaction, first_kept)?;
        transaction.commit()?;
        dropped += step;
        if step == 0 {
            break;
        }
        // Other writers go first.
        std::thread::sleep(PAUSE_BETWEEN_STEPS);
    }
    let kept = Day::of_number(first_kept);
    terminal.say(&format!("Rows from before {kept} were dropped; what is left can still be verified."));
    let said = format!("dropped {dropped}, exported {}", exported.unwrap_or(0));
    terminal.result(&said, &json!({"dropped": dropped, "exported": exported}));
    Ok(())
}

fn export(connection: &Connection, first_kept: i64, path: &Path) -> Outcome<u64> {
    let complain = |error| unwritable(path, &error);
    let mut file = BufWriter::new(create_private(path)?);
    let mut rows = 0;
    let selection = Selection { before_day: Some(first_kept), ..Selection::default() };
    let write = |entry: Entry| {
        rows += 1;
        serde_json::to_writer(&mut file, &entry).map_err(|error| error.to_string())?;
        file.write_all(b"\n").map_err(complain)
    };
    audit::entries(connection, &selection, write)??;
    file.into_inner().map_err(|error| complain(error.into_error()))?.sync_all().map_err(complain)?;
    sync_folder(path)?;
    Ok(rows)
}

fn verify(
    connection: &Connection,
    secret: Option<&Secret>,
    backup: Option<&Path>,
    terminal: &Terminal,
) -> Outcome {
    let snapshot = connection.unchecked_transaction()?;
    let rows = match audit::verify(&snapshot, secret, now())? {
        Finding::Whole(rows) => rows,
        Finding::Broken(what) => return tampered(&what),
    };
    if let Some(backup) = backup {
        let backup = open_to_look(backup)?;
        if let Some(what) = audit::against(&snapshot, &backup)? {
            return tampered(&what);
        }
    }
    let (sealed, how) = match audit::sealed(&snapshot, secret)? {
        Sealed::Since(_, how) => (true, format!("sealed {how}")),
        Sealed::Not(why) | Sealed::Broken(why) => (false, why),
    };
    let said = format!("{rows} rows, none altered, removed or inserted");
    terminal.result(&said, &json!({"rows": rows, "whole": true, "sealed": sealed, "seals": how}));
    if !terminal.json {
        terminal.say(&how);
    }
    Ok(())
}

fn tampered(what: &str) -> Outcome {
    let advice = "Keep this file as it is, and compare it with the last good backup";
    Err(format!("the audit log was tampered with. {what}. {advice}").into())
}
