//! The command line (one command, one file). stdout carries the result alone; everything said to
//! a person goes to stderr. Exit 0 done, 1 refused or failed, 2 wrong usage.

mod audit;
mod backup;
mod beleg;
mod check;
mod config;
mod demo;
mod doctor;
mod import;
mod key;
#[cfg(any(windows, test))]
mod logfile;
mod migrate;
mod serve;
#[cfg(windows)]
mod service;
#[cfg(target_os = "linux")]
mod systemd;
mod tenant;
mod tls;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use indicatif::ProgressBar;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::Serialize;

use crate::app::{ADOPTIONS, description, sealing};
use crate::config::Config;
use crate::db::connection::open_writer;
use crate::db::{lock, logging, migrate as schema, system_clock};
use crate::failure::Failure;
use crate::rules::day::Instant;
use crate::rules::text::shown;
use crate::tenants::{self, Tenant};

/// The partner interface of your company's data: JSON over HTTP from one file.
#[derive(Parser)]
#[command(name = "partnerd", version, max_term_width = 100)]
struct Arguments {
    /// The database file [default: partnerd.db]
    #[arg(long, global = true, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The configuration file
    #[arg(long, global = true, value_name = "FILE", env = "PARTNERD_CONFIG")]
    config: Option<PathBuf>,
    /// Print JSON instead of a table or text
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open or create the database and serve until Ctrl-C
    #[command(
        after_help = "Examples:\n  partnerd serve --listen 0.0.0.0:8080\n  partnerd --db /daten/partnerd.db --config /etc/partnerd.toml serve"
    )]
    Serve(serve::Arguments),
    /// Serve a fresh partnerd-demo.db with a mill's data
    #[command(after_help = "Examples:\n  partnerd demo")]
    Demo(serve::Arguments),
    /// Bring the database to this version
    #[command(after_help = "Examples:\n  partnerd migrate --status")]
    Migrate(migrate::Arguments),
    /// Companies and their settings
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd tenant create \"Mühle Beispiel\"\n  partnerd tenant set \"Mühle Beispiel\" negativbestand=ablehnen"
    )]
    Tenant(tenant::Command),
    /// API keys
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd key create --tenant \"Mühle Beispiel\" --label shop --scope artikel:read\n  partnerd key list\n  partnerd key deactivate 3f2a9c01b4d7"
    )]
    Key(key::Command),
    /// Make documents final, or mark them as settled
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd beleg abschliessen RE-2026-00017 --tenant \"Mühle Beispiel\""
    )]
    Beleg(beleg::Command),
    /// The log of all requests
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd audit list --status 401 --since 2026-07-01\n  partnerd audit verify\n  partnerd audit rollover --days 90 --export alt.jsonl"
    )]
    Audit(audit::Command),
    /// Import master data from JSON or CSV
    #[command(
        after_help = "Examples:\n  partnerd import kunden kunden.csv --tenant \"Mühle Beispiel\" --dry-run\n  partnerd import dsfinvk export.zip --tenant \"Mühle Beispiel\""
    )]
    Import(import::Arguments),
    /// Copy the database, also beside a running server, and prove the copy
    #[command(after_help = "Examples:\n  partnerd backup /mnt/usb/partnerd-heute.db")]
    Backup(backup::BackupArguments),
    /// Put a backup in the place of the database
    #[command(after_help = "Examples:\n  partnerd --db neu/partnerd.db restore /mnt/usb/partnerd-heute.db")]
    Restore(backup::RestoreArguments),
    /// Prove the database: integrity, schema, references, stock, numbers
    #[command(after_help = "Examples:\n  partnerd check")]
    Check,
    /// Certificates
    #[command(
        subcommand,
        after_help = "Examples:\n  partnerd tls self-signed --name waage.local --name 192.168.1.20"
    )]
    Tls(tls::Command),
    /// Install, remove or look at the service of Windows
    #[cfg(windows)]
    #[command(subcommand)]
    Service(service::Command),
    /// Name what is wrong with this machine, and what to do
    #[command(after_help = "Examples:\n  partnerd --config /etc/partnerd.toml doctor")]
    Doctor,
    /// Print the settings in force and where each came from
    #[command(after_help = "Examples:\n  partnerd --config /etc/partnerd.toml config")]
    Config,
    /// Print the description of the interface (OpenAPI 3.1)
    #[command(after_help = "Examples:\n  partnerd openapi > openapi.json")]
    Openapi,
    /// Print the completions for a shell
    #[command(after_help = "Examples:\n  partnerd completions bash > /etc/bash_completion.d/partnerd")]
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: Shell,
    },
    /// Print the page for man, or write one for each command
    #[command(
        after_help = "Examples:\n  partnerd man | man -l -\n  partnerd man --folder /usr/local/share/man/man1"
    )]
    Man {
        /// Write partnerd.1, partnerd-backup.1 and so on into this folder
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

/// What a command came to: nothing to add, or a sentence why not.
type Outcome = Result<(), String>;

/// Parses, runs, and says what went wrong.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal { json: arguments.json };
    match run(arguments, &terminal) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            terminal.say(&format!("partnerd: {sentence}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments, terminal: &Terminal) -> Outcome {
    let mut flags = BTreeMap::new();
    if let Some(db) = &arguments.db {
        flags.insert("db", db.display().to_string());
    }
    if let Command::Serve(serve) | Command::Demo(serve) = &arguments.command {
        flags.extend(serve.listen.clone().map(|listen| ("listen", listen)));
    }
    let config = Config::load(&flags, |name| std::env::var(name).ok(), arguments.config.as_deref());
    #[cfg(windows)]
    let config = config.inspect_err(|sentence| {
        service::keep_trouble(&arguments.command, arguments.db.as_deref(), sentence);
    });
    let mut config = config?;
    config.db = lock::resolved(&config.db);
    // The demo makes its data by requests: their lines would hide the key that it prints.
    let is_demo = matches!(arguments.command, Command::Demo(_));
    let log_level = if is_demo { logging::Verbosity::Warn } else { config.log_level };
    let stderr = || logging::start(std::io::stderr(), config.log_format, log_level);
    #[cfg(not(windows))]
    let _log = stderr();
    #[cfg(windows)]
    let _log = match service::log_file(&arguments.command, &config.db)? {
        Some(file) => logging::start(file, config.log_format, log_level),
        None => stderr(),
    };
    match arguments.command {
        Command::Serve(_) => serve::run(&config, terminal),
        Command::Demo(_) => demo::run(&config, terminal),
        Command::Migrate(arguments) => migrate::run(&arguments, &config, terminal),
        Command::Tenant(command) => tenant::run(command, &config, terminal),
        Command::Key(command) => key::run(command, &config, terminal),
        Command::Beleg(command) => beleg::run(command, &config, terminal),
        Command::Audit(command) => audit::run(command, &config, terminal),
        Command::Import(arguments) => import::run(&arguments, &config, terminal),
        Command::Backup(arguments) => backup::run_backup(&arguments, &config, terminal),
        Command::Restore(arguments) => backup::run_restore(&arguments, &config, terminal),
        Command::Check => check::run(&config, terminal),
        Command::Tls(command) => tls::run(command, terminal),
        #[cfg(windows)]
        Command::Service(command) => service::run(command, &config, arguments.config.as_deref(), terminal),
        Command::Doctor => doctor::run(&config, terminal),
        Command::Config => config::run(&config, terminal),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "partnerd", &mut text);
            terminal.print(String::from_utf8_lossy(&text).trim_end());
            Ok(())
        }
        Command::Man { folder: Some(folder) } => {
            let written = clap_mangen::generate_to(Arguments::command(), &folder);
            written.map_err(|error| format!("the pages cannot be written to {}: {error}", folder.display()))
        }
        Command::Man { folder: None } => {
            let mut text = Vec::new();
            let rendered = clap_mangen::Man::new(Arguments::command()).render(&mut text);
            rendered.map_err(|error| error.to_string())?;
            terminal.print(String::from_utf8_lossy(&text).trim_end());
            Ok(())
        }
        Command::Openapi => {
            terminal.print(description::text().trim_end());
            Ok(())
        }
    }
}

/// Where commands write.
struct Terminal {
    json: bool,
}

impl Terminal {
    /// Writes a result to stdout; a closed pipe is no error.
    fn print(&self, line: &str) {
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    /// Writes a result that is one thing: as JSON where that was asked for, else as the text alone.
    fn result(&self, text: &str, json: &serde_json::Value) {
        self.print(&if self.json { json.to_string() } else { text.to_owned() });
    }

    /// Says something to a person. Names and labels of others may stand in it.
    fn say(&self, text: &str) {
        for line in text.split('\n') {
            let _ = writeln!(std::io::stderr(), "{}", shown(line));
        }
    }

    /// A line on a terminal that says what is being done; it vanishes when it is dropped.
    fn waiting(&self) -> Waiting {
        let is_shown = std::io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.enable_steady_tick(Duration::from_millis(100));
        Waiting(bar)
    }

    /// Writes rows: as JSON where that was asked for, else as a table.
    fn rows<T: Serialize>(&self, header: &[&str], rows: &[T], cells: impl Fn(&T) -> Vec<String>) -> Outcome {
        if self.json {
            let json = serde_json::to_string_pretty(rows).map_err(|error| error.to_string())?;
            self.print(&json);
            return Ok(());
        }
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_header(header.to_vec());
        // A terminal has an edge, a file has none.
        if std::io::stdout().is_terminal() {
            table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
        }
        let shown = |text: String| shown(&text).into_owned();
        table.add_rows(rows.iter().map(|row| cells(row).into_iter().map(shown)));
        self.print(&table.trim_fmt());
        Ok(())
    }
}

/// A line that says what is being done.
struct Waiting(ProgressBar);

impl Waiting {
    fn at(&self, step: &str) {
        self.0.set_message(step.to_owned());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Opens an existing database to write to it, also beside a running server.
fn open(config: &Config) -> Result<Connection, String> {
    if !config.db.exists() {
        return Err(format!(
            "there is no database {}: create it with `partnerd migrate` or `partnerd serve`, or name another with --db",
            config.db.display()
        ));
    }
    open_or_create(&config.db)
}

/// Opens a database and brings it to this version; that is refused beneath a running server.
fn open_or_create(path: &Path) -> Result<Connection, String> {
    use_file(path)?;
    let is_current = path.exists() && schema::check_current(path).map_err(sentence)?;
    if !is_current {
        let _no_server = lock::without_server(path).map_err(sentence)?;
        schema::migrate(path, now(), ADOPTIONS).map_err(sentence)?;
        let mut connection = open_writer(path).map_err(sentence)?;
        sealing::settle(&mut connection, path, &system_clock()).map_err(sentence)?;
        return Ok(connection);
    }
    open_writer(path).map_err(sentence)
}

/// Keeps a restore away from a file until this command ends.
fn use_file(path: &Path) -> Outcome {
    static IN_USE: OnceLock<lock::Lock> = OnceLock::new();
    let held = lock::for_use(path).map_err(sentence)?;
    // A command opens one file.
    let _ = IN_USE.set(held);
    Ok(())
}

/// Begins a transaction by taking the write lock: a server that commits at the same time is
/// waited for. What is not committed is undone.
fn begin(connection: &mut Connection) -> Result<Transaction<'_>, String> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    transaction.map_err(|error| sentence(error.into()))
}

/// Runs `work` in a transaction.
fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, String>,
) -> Result<T, String> {
    let transaction = begin(connection)?;
    let value = work(&transaction)?;
    transaction.commit().map_err(|error| sentence(error.into()))?;
    Ok(value)
}

/// The company that --tenant names.
fn find_tenant(connection: &Connection, name_or_id: &str) -> Result<Tenant, String> {
    let found = tenants::find(connection, name_or_id).map_err(sentence)?;
    found.ok_or_else(|| {
        format!("there is no company {name_or_id}: `partnerd tenant list` names all, `partnerd tenant create` adds one")
    })
}

fn now() -> Instant {
    (system_clock())()
}

/// A failure as one sentence for a person.
fn sentence(failure: Failure) -> String {
    match failure {
        Failure::Refused(refusal) => {
            let feld = refusal.feld.as_ref().map(|feld| format!("{feld}: ")).unwrap_or_default();
            format!("{feld}{} ({})", refusal.message, refusal.code.as_str())
        }
        Failure::Sql(error) => format!("the database says: {error}"),
        Failure::Busy(text) | Failure::Broken(text) => text,
    }
}
