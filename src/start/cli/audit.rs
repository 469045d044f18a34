//! `audit`: the log of all requests, and the log of what people and commands changed.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Moment};

use clap::Subcommand;
use csv::Writer;
use rusqlite::Connection;
use serde_json::json;

use super::database::{begin, find_tenant, now, open, secret};
use super::key::{day, find as find_key, public_part, to_second};
use super::private::{create_private, unwritable};
use super::terminal::{Outcome, Terminal};
use crate::leitstand::operations::taten::named;
use crate::master::tenants;
use crate::platform::db::file::connection::open_to_look;
use crate::platform::db::file::files::sync_folder;
use crate::platform::db::file::lock;
use crate::platform::db::seals::seal::Secret;
use crate::platform::db::{TenantId, system_clock};
use crate::platform::gate::administration::{self, Akteur};
use crate::platform::gate::audit::{self, Entry, Old, Sealed, Selection};
use crate::platform::import::parts::FEED_ROWS;
use crate::rules::admin_event::{AdminAction, AdminEvent};
use crate::rules::changed::Changed;
use crate::rules::day::{Day, Instant};
use crate::rules::text::{cell, shown};
use crate::start::config::Config;

const ROWS_SHOWN: i64 = 100;

const PAUSE_BETWEEN_STEPS: Duration = Duration::from_millis(5);

/// How long the command waits for a running server to move its journal into the database, and the pause
/// between checks.
const JOURNAL_WAIT_MAX: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

#[derive(Subcommand)]
pub enum Command {
    /// Die neuesten Zeilen zeigen
    #[command(after_help = "Beispiele:\n  \
                            partnerd audit list --status 401 --since 2026-07-01\n  \
                            partnerd audit list --tenant \"Mühle Beispiel\" \\\n      \
                            --csv > log.csv")]
    List {
        #[command(flatten)]
        rows: Rows,
        /// Nur Antworten mit diesem Status
        #[arg(long)]
        status: Option<u16>,
    },
    /// Zeigen, was Personen und die Kommandozeile geändert haben, das Neueste zuerst
    #[command(after_help = "Beispiele:\n  \
                            partnerd audit changes --since 2026-07-01\n  \
                            partnerd audit changes --tenant \"Mühle Beispiel\" \\\n      \
                            --csv > changes.csv")]
    Changes(Rows),
    /// Alte Anfragen löschen; der Server tut das jeden Tag von selbst
    #[command(after_help = "Beispiele:\n  partnerd audit rollover --days 90 --export alt.jsonl")]
    Rollover {
        /// Tage, die bleiben
        #[arg(
            long,
            value_name = "N",
            default_value_t = audit::DAYS,
            value_parser = clap::value_parser!(i64).range(1..)
        )]
        days: i64,
        /// Die Zeilen vorher in diese Datei schreiben, je Zeile ein JSON-Objekt
        #[arg(long, value_name = "DATEI")]
        export: Option<PathBuf>,
    },
    /// Beweisen, dass in beiden Protokollen keine Zeile geändert, entfernt oder eingefügt wurde
    #[command(
        after_help = "Beispiele:\n  partnerd audit verify\n  partnerd audit verify --against gestern.db"
    )]
    Verify {
        /// Auch finden, was diese Sicherung hat und die Datenbank nicht mehr
        #[arg(long, value_name = "SICHERUNG")]
        against: Option<PathBuf>,
    },
}

/// Which rows of a log are shown.
#[derive(clap::Args)]
pub struct Rows {
    /// Nur die dieses Schlüssels: sein öffentlicher Teil
    #[arg(long, value_name = "ID")]
    key: Option<String>,
    /// Nur die dieser Firma
    #[arg(long, value_name = "FIRMA")]
    tenant: Option<String>,
    /// Nur ab diesem Tag (UTC)
    #[arg(long, value_name = "TAG")]
    since: Option<String>,
    /// Wie viele Zeilen
    #[arg(long, value_name = "N", default_value_t = ROWS_SHOWN, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
    /// CSV ausgeben statt einer Tabelle
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    let secret = secret(config, terminal);
    // Moves in the journal that a dead server left.
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
            let selection = Selection { key_id, tenant_id, status, since, up_to: None, limit };
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
    /// Resolves the filters: the key, the company and the first day.
    fn chosen(&self, connection: &Connection) -> Outcome<(Option<String>, Option<TenantId>, Option<Day>)> {
        let key = self.key.as_deref().map(|key| find_key(connection, public_part(key))).transpose()?;
        let tenant = self.tenant.as_deref().map(|tenant| find_tenant(connection, tenant)).transpose()?;
        let since = self.since.as_deref().map(day).transpose()?;
        Ok((key.map(|key| key.id), tenant.map(|tenant| tenant.id), since))
    }
}

/// Waits until a running server, which moves its journal into the database every second, has moved all that it
/// answered before this command began (D20).
fn wait_for_journal(database: &Path, terminal: &Terminal) -> Outcome {
    let before = audit::segments(database)?;
    let begun = Moment::now();
    while audit::segments(database)?.iter().any(|segment| before.contains(segment)) {
        if begun.elapsed() > JOURNAL_WAIT_MAX {
            terminal.say(
                "Der Server hat seine neuesten Zeilen nicht übernommen; sie fehlen hier. Warum, sagt sein Protokoll.",
            );
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
        return print_csv(&CSV, entries.iter().map(cells), terminal);
    }
    terminal.rows(&["Zeit (UTC)", "Antwort", "was", "wer", "Firma", "von", "ms"], &entries, |entry| {
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

/// Describes what was requested, with a count if the row stands for several requests.
fn what(entry: &Entry) -> String {
    let asked = format!("{} {}", entry.method, entry.path);
    match entry.count {
        1 => asked.trim().to_owned(),
        count => format!("{} ({count}-mal)", asked.trim()),
    }
}

/// Names who sent the request: a key with its label, or a person.
fn who(entry: &Entry) -> String {
    let key =
        || [&entry.key_id, &entry.key_label].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
    entry.person.map_or_else(key, |id| format!("Person {id}"))
}

fn milliseconds(entry: &Entry) -> String {
    format!("{}.{}", entry.duration_us / 1_000, entry.duration_us / 100 % 10)
}

/// New columns are appended: scripts may rely on column positions.
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

fn print_csv<const N: usize>(
    head: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
    terminal: &Terminal,
) -> Outcome {
    let mut writer = Writer::from_writer(terminal.stdout());
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
        let AdminEvent { tat, gegenstand, .. } = &entry.event;
        let who = match &entry.akteur {
            Akteur::Person(id) => format!("Person {id}"),
            Akteur::Schluessel(id) => format!("Schlüssel {id}"),
            Akteur::Befehl { name, konto } => format!("{name} ({konto})"),
        };
        let what = [Some(gegenstand.art.in_words()), gegenstand.id.as_deref(), gegenstand.name.as_deref()];
        let what = what.into_iter().flatten().chain([tat.in_words()]).collect::<Vec<_>>().join(" ");
        let tenant = tenants.iter().find(|tenant| Some(tenant.id) == gegenstand.firma);
        let tenant = tenant.map(|tenant| tenant.name.clone()).unwrap_or_default();
        let changed = entry.event.changed().filter(|changed| changed.name != FEED_ROWS);
        let in_words = |changed: Changed| match tat {
            // As it is typed on the command line: the name of a setting or a switch.
            AdminAction::Geaendert => changed.to_string(),
            _ => format!("{}: {}", named(&changed.name), changed.after),
        };
        let changed: Vec<_> = changed.map(in_words).collect();
        [entry.am.to_string(), what, changed.join(", "), who, tenant]
    };
    if csv {
        let head = ["at (UTC)", "what", "change", "who", "tenant"];
        return print_csv(&head, entries.iter().map(row), terminal);
    }
    terminal.rows(&["Zeit (UTC)", "was", "Änderung", "wer", "Firma"], &entries, |entry| {
        let [at, rest @ ..] = row(entry);
        [to_second(&at)].into_iter().chain(rest).collect()
    })
}

/// Deletes old rows. If `file` is given, first writes them there and syncs the file to disk.
fn rollover(connection: &mut Connection, days: i64, file: Option<&Path>, terminal: &Terminal) -> Outcome {
    let now = now();
    let old = Old::than(connection, now.utc_day() - days, now)?;
    let exported = file.map(|file| export(connection, old.last, file)).transpose()?;
    let mut dropped = 0;
    loop {
        // One transaction per step, so that a running server never waits long to write.
        let transaction = begin(connection)?;
        let step = old.drop_some(&transaction)?;
        transaction.commit()?;
        dropped += step;
        if step == 0 {
            break;
        }
        // Lets other writers go first.
        std::thread::sleep(PAUSE_BETWEEN_STEPS);
    }
    let kept = Day::of_number(old.first_kept);
    terminal.say(&format!(
        "Was vor dem {kept} ins Protokoll kam, ist gelöscht; was bleibt, lässt sich weiter beweisen."
    ));
    let said = format!("gelöscht {dropped}, ausgegeben {}", exported.unwrap_or(0));
    terminal.result(&said, &json!({"dropped": dropped, "exported": exported}));
    Ok(())
}

fn export(connection: &Connection, last: i64, path: &Path) -> Outcome<u64> {
    let complain = |error| unwritable(path, &error);
    let mut file = BufWriter::new(create_private(path)?);
    let mut rows = 0;
    let selection = Selection { up_to: Some(last), ..Selection::default() };
    let write = |entry: Entry| {
        rows += 1;
        serde_json::to_writer(&mut file, &entry).map_err(|error| complain(error.into()))?;
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
    let rows = match audit::verify(&snapshot, secret, now(), |_, _| Ok(()))? {
        Ok(rows) => rows,
        Err(what) => return tampered(&what),
    };
    if let Some(backup) = backup {
        let backup = open_to_look(backup)?;
        if let Some(what) = audit::against(&snapshot, &backup)? {
            return tampered(&what);
        }
    }
    let (sealed, how) = match audit::sealed(&snapshot, secret)? {
        Sealed::Since(_, how) => (true, format!("versiegelt {how}")),
        Sealed::Not(why) | Sealed::Broken(why) => (false, why),
    };
    let by = if sealed { "" } else { "nach ihren Prüfsummen " };
    let said = format!("{rows} Zeilen, {by}keine geändert, entfernt oder eingefügt");
    terminal.result(&said, &json!({"rows": rows, "whole": true, "sealed": sealed, "seals": how}));
    if !terminal.json {
        terminal.say(&how);
    }
    Ok(())
}

fn tampered(what: &str) -> Outcome {
    let advice = "Diese Datei lassen, wie sie ist, und mit der letzten guten Sicherung vergleichen";
    Err(format!("das Protokoll wurde verändert. {what}. {advice}").into())
}
