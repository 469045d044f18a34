//! The command line, one file per command. stdout carries only results; messages to people go to stderr. Exit
//! codes: 0 done, 1 refused or failed, 2 wrong usage.

mod abrechnung;
mod arguments;
mod audit;
mod backup;
mod beleg;
mod bericht;
mod changes;
mod check;
mod database;
mod demo;
mod doctor;
mod export;
mod finding;
mod german;
mod import;
mod key;
mod kunde;
mod layout;
#[cfg(any(windows, test))]
mod logfile;
mod manual;
mod migrate;
mod private;
mod serve;
#[cfg(windows)]
mod service;
#[cfg(target_os = "linux")]
mod systemd;
mod tenant;
mod terminal;
mod tls;
mod user;

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use arguments::{Arguments, Command};
use terminal::{Outcome, Terminal, is_of_disk, sentence};

use crate::interface::routes;
use crate::platform::db::file::files::folder_of;
use crate::platform::db::file::{lock, logging};
use crate::start::config::Config;

pub fn main() -> ExitCode {
    command(std::env::args_os(), &mut Terminal::of_process(false)).into()
}

/// Runs a command inside another program, without its log and its signals: exit code, stdout and stderr. The
/// tests call it where the process itself is not what they test.
pub fn captured(arguments: impl IntoIterator<Item = OsString>) -> (u8, [Vec<u8>; 2]) {
    let mut terminal = Terminal::in_memory(false);
    let arguments = std::iter::once("partnerd".into()).chain(arguments);
    (command(arguments, &mut terminal), terminal.into_captured())
}

/// Parses the arguments and runs the command they name; the exit code.
fn command(arguments: impl Iterator<Item = OsString>, terminal: &mut Terminal) -> u8 {
    let arguments = match german::parse(arguments, terminal) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    terminal.json = arguments.json;
    match run(arguments, terminal) {
        Ok(()) => 0,
        Err(error) => {
            terminal.say(&format!("partnerd: {}", sentence(error)));
            1
        }
    }
}

fn run(arguments: Arguments, terminal: &Terminal) -> Outcome {
    if matches!(arguments.command, Command::Demo(_)) && arguments.db.is_some() {
        return Err(
            "demo ersetzt partnerd-demo.db in diesem Ordner und benutzt keine andere Datenbank: --db weglassen, \
             oder die eigene mit `partnerd serve` bedienen"
                .into(),
        );
    }
    let mut flags = BTreeMap::new();
    flags.extend(arguments.db.as_ref().map(|db| ("db", db.display().to_string())));
    if let Command::Serve(serve) | Command::Demo(serve) = &arguments.command {
        flags.extend(serve.listen.clone().map(|listen| ("listen", listen)));
    }
    let config = Config::load(&flags, |name| std::env::var(name).ok(), arguments.config.as_deref());
    #[cfg(windows)]
    let is_service = matches!(arguments.command, Command::Service(service::Command::Run));
    #[cfg(windows)]
    let config = config.inspect_err(|sentence| match &arguments.db {
        Some(db) if is_service => service::write_trouble(db, sentence),
        _ => {}
    });
    let mut config = config?;
    config.db = lock::resolved(&config.db);
    // The demo makes its data by requests; their log lines would hide the key that it prints.
    let is_demo = matches!(arguments.command, Command::Demo(_));
    let log_level = if is_demo { logging::Verbosity::Warn } else { config.log_level };
    let stderr =
        || terminal.is_of_process().then(|| logging::start(std::io::stderr(), config.log_format, log_level));
    #[cfg(not(windows))]
    let _log = stderr();
    #[cfg(windows)]
    let _log = match is_service {
        true => Some(logging::start(service::log_file(&config.db)?, config.log_format, log_level)),
        false => stderr(),
    };
    carry_out(arguments, &config, terminal).map_err(|error| with_space(error, &config.db))
}

/// With less free space than this, a disk failure is attributed to the full disk.
const SPACE_NEEDED_MIB: u64 = 16;

/// Adds advice on a full disk: SQLite reports an I/O error if it has no room for the files beside the database.
fn with_space(error: Box<dyn Error>, database: &Path) -> Box<dyn Error> {
    let free = fs4::available_space(folder_of(database)).map(|bytes| bytes >> 20);
    match free {
        Ok(free) if free < SPACE_NEEDED_MIB && is_of_disk(&*error) => format!(
            "{}: die Platte von {} ist voll ({free} MiB sind frei): Platz für {SPACE_NEEDED_MIB} MiB schaffen \
             und wiederholen",
            sentence(error),
            database.display()
        )
        .into(),
        _ => error,
    }
}

fn carry_out(arguments: Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    match arguments.command {
        Command::Serve(_) => serve::run(config, terminal),
        Command::Demo(_) => demo::run(config, terminal),
        Command::Migrate(arguments) => migrate::run(&arguments, config, terminal),
        Command::Tenant(command) => tenant::run(command, config, terminal),
        Command::Key(command) => key::run(command, config, terminal),
        Command::User(command) => user::run(command, config, terminal),
        Command::Beleg(command) => beleg::run(command, config, terminal),
        Command::Abrechnung(command) => abrechnung::run(command, config, terminal),
        Command::Export(command) => export::run(command, config, terminal),
        Command::Bericht(command) => bericht::run(command, config, terminal),
        Command::Kunde(command) => kunde::run(command, config, terminal),
        Command::Audit(command) => audit::run(command, config, terminal),
        Command::Import(arguments) => import::run(&arguments, config, terminal),
        Command::Backup(arguments) => backup::run_backup(&arguments, config, terminal),
        Command::Restore(arguments) => backup::run_restore(&arguments, config, terminal),
        Command::Check => check::run(config, terminal),
        Command::Tls(command) => tls::run(command, config, terminal),
        #[cfg(windows)]
        Command::Service(command) => service::run(command, config, arguments.config.as_deref(), terminal),
        Command::Doctor => doctor::run(config, terminal),
        Command::Config => terminal.rows(&["Einstellung", "Wert", "Herkunft"], &config.in_force, |setting| {
            vec![setting.name.to_owned(), setting.value.clone(), setting.source.clone()]
        }),
        Command::Completions { shell } => manual::completions(shell, terminal),
        Command::Man { folder } => manual::man(folder.as_deref(), terminal),
        Command::Openapi => {
            terminal.print(routes::openapi_text().trim_end());
            Ok(())
        }
    }
}
