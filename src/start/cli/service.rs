//! `service`: partnerd as a Windows service.

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};
use std::process::Command as Process;
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;
use tokio::sync::Notify;
use windows_service::service::{
    Service, ServiceAccess, ServiceAction, ServiceActionType, ServiceControl, ServiceControlAccept,
    ServiceErrorControl, ServiceExitCode, ServiceFailureActions, ServiceFailureResetPeriod, ServiceInfo,
    ServiceStartType, ServiceState, ServiceStatus, ServiceType,
};
use windows_service::service_control_handler::{ServiceControlHandlerResult, ServiceStatusHandle, register};
use windows_service::service_manager::{ServiceManager, ServiceManagerAccess};
use windows_service::{Error, define_windows_service, service_dispatcher};

use super::database::now;
use super::logfile::LogFile;
use super::serve::{encryption, fitting, listen, runtime};
use super::terminal::{Outcome, Terminal, sentence};
use crate::platform::db::file::files::beside;
use crate::platform::db::file::german::in_german;
use crate::platform::db::system_clock;
use crate::platform::http::server::when_told;
use crate::start::config::Config;

const NAME: &str = "partnerd";

/// Account of the service: it has few rights. The SID is the same in every language of Windows.
const ACCOUNT: &str = r"NT AUTHORITY\LocalService";
const ACCOUNT_SID: &str = "*S-1-5-19";

/// How long a start may take: it may migrate the database.
const START_TIME: Duration = Duration::from_secs(600);

/// How long a command waits for a start or a stop, and how long a stop may take beyond the time for running
/// requests: the log is moved into the database.
const STOP_TIME: Duration = Duration::from_secs(60);

/// Pauses before Windows restarts the service after a failure; the last one is used for all further ones.
const RESTART_PAUSES: [Duration; 3] =
    [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(60)];

/// Time without a failure after which the pauses start over.
const RESTART_FORGOTTEN: Duration = Duration::from_secs(86_400);

/// ERROR_SERVICE_NOT_ACTIVE.
const NOT_RUNNING: i32 = 1062;

/// Advice on some Windows errors, by their numbers (winerror.h).
const ADVICE: [(i32, &str); 5] = [
    (5, "das braucht einen Administrator: die Eingabeaufforderung mit „Als Administrator ausführen“ öffnen"),
    (1060, "der Dienst partnerd ist nicht eingerichtet: `partnerd service install` richtet ihn ein"),
    (1063, "`service run` ruft nur Windows auf: `partnerd serve` benutzen, oder `partnerd service install`"),
    (1072, "der Dienst partnerd wird gerade entfernt: die Liste der Dienste schließen und wiederholen"),
    (1073, "der Dienst partnerd ist schon eingerichtet: `partnerd service uninstall` entfernt ihn"),
];

#[derive(Subcommand)]
pub enum Command {
    /// Den Dienst mit diesem Programm und diesen --config und --db einrichten und starten
    Install,
    /// Den Dienst anhalten und entfernen; die Daten bleiben
    Uninstall,
    /// Ausgeben, ob der Dienst läuft, und mit welchem Befehl
    Status,
    /// Was Windows aufruft
    #[command(hide = true)]
    Run,
}

pub fn run(command: Command, config: &Config, file: Option<&Path>, terminal: &Terminal) -> Outcome {
    match command {
        Command::Install => install(config, file, terminal),
        Command::Uninstall => uninstall(terminal),
        Command::Status => status(terminal),
        Command::Run => {
            // Windows calls back in its own thread and passes only names.
            let _ = SETTINGS.set(config.clone());
            Ok(service_dispatcher::start(NAME, service_main).map_err(refusal)?)
        }
    }
}

fn install(config: &Config, file: Option<&Path>, terminal: &Terminal) -> Outcome {
    let access = ServiceManagerAccess::CONNECT | ServiceManagerAccess::CREATE_SERVICE;
    let manager = ServiceManager::local_computer(None::<&str>, access).map_err(refusal)?;
    let db = absolute(&config.db)?;
    let info = description(file, &db)?;
    let service = unlocked(|| manager.create_service(&info, ServiceAccess::ALL_ACCESS)).map_err(refusal)?;
    let _ = service
        .set_description("Die Partnerschnittstelle zu den Daten der Firma: JSON über HTTP, aus einer Datei.");
    // From here on the service exists; a failure is only reported, as the step can be repeated by hand.
    if let Err(error) = unlocked(|| restart_on_failure(&service)) {
        terminal.say(&format!("Windows startet ihn nach einem Fehler nicht neu: {}.", refusal(error)));
    }
    let folder = db.parent().unwrap_or(Path::new("."));
    if !may_write(folder) {
        let folder = folder.display();
        terminal.say(&format!("Dem Konto LocalService das Recht geben, Dateien in {folder} zu ändern."));
    }
    let started = unlocked(|| service.start::<OsString>(&[]));
    let started = started.and_then(|()| wait_while(&service, |state| state == ServiceState::StartPending));
    let started = started.map_err(refusal)?;
    if started == ServiceState::Stopped {
        let trouble = std::fs::read_to_string(trouble_file(&db)).unwrap_or_default();
        return Err(format!("der Dienst ist eingerichtet, startet aber nicht: {}", trouble.trim_end()).into());
    }
    terminal.say(&format!(
        "Der Dienst {NAME} ist eingerichtet; er startet mit Windows und läuft als LocalService."
    ));
    terminal.say(
        "Auch andere Ordner der Einstellungen (backup_folder, tls_key) brauchen Rechte für dieses Konto.",
    );
    Ok(())
}

fn description(file: Option<&Path>, db: &Path) -> std::io::Result<ServiceInfo> {
    let executable = std::env::current_exe()?;
    // A service starts in a Windows folder, so paths must be absolute.
    let mut arguments: Vec<OsString> = Vec::new();
    if let Some(file) = file {
        arguments.push("--config".into());
        arguments.push(absolute(file)?.into());
    }
    arguments.extend(["--db".into(), db.into(), "service".into(), "run".into()]);
    Ok(ServiceInfo {
        name: NAME.into(),
        display_name: "partnerd (Partnerschnittstelle)".into(),
        service_type: ServiceType::OWN_PROCESS,
        start_type: ServiceStartType::AutoStart,
        error_control: ServiceErrorControl::Normal,
        executable_path: executable,
        launch_arguments: arguments,
        dependencies: Vec::new(),
        account_name: Some(ACCOUNT.into()),
        account_password: None,
    })
}

/// Makes Windows restart the service when the process dies, and when it stops with an error.
fn restart_on_failure(service: &Service) -> windows_service::Result<()> {
    let restart = |delay| ServiceAction { action_type: ServiceActionType::Restart, delay };
    service.update_failure_actions(ServiceFailureActions {
        reset_period: ServiceFailureResetPeriod::After(RESTART_FORGOTTEN),
        reboot_msg: None,
        command: None,
        actions: Some(RESTART_PAUSES.map(restart).to_vec()),
    })?;
    service.set_failure_actions_on_non_crash_failures(true)
}

/// Lets the service's account change the files of a folder, including those that others create there.
fn may_write(folder: &Path) -> bool {
    // The icacls of Windows, not a program of that name beside ours.
    let Some(windows) = std::env::var_os("SystemRoot") else { return false };
    let right = format!("{ACCOUNT_SID}:(OI)(CI)M");
    let mut icacls = Process::new(Path::new(&windows).join(r"System32\icacls.exe"));
    let done = icacls.arg(folder).args(["/grant", &right, "/Q"]).output();
    done.is_ok_and(|output| output.status.success())
}

fn uninstall(terminal: &Terminal) -> Outcome {
    let service = open(ServiceAccess::STOP | ServiceAccess::QUERY_STATUS | ServiceAccess::DELETE)?;
    match service.stop() {
        Err(Error::Winapi(error)) if error.raw_os_error() == Some(NOT_RUNNING) => {}
        stopped => drop(stopped.map_err(refusal)?),
    }
    // When this command ends, the service no longer runs. For a moment Windows still reports it as running.
    let state = wait_while(&service, |state| state != ServiceState::Stopped).map_err(refusal)?;
    if state != ServiceState::Stopped {
        return Err("der Dienst hält noch an: in einer Minute wiederholen".into());
    }
    service.delete().map_err(refusal)?;
    terminal.say(&format!("Der Dienst {NAME} ist entfernt. Datenbank und Einstellungen sind noch da."));
    Ok(())
}

/// Waits while the service is in such a state, for `STOP_TIME` at most; returns its state then.
fn wait_while(
    service: &Service,
    waits: impl Fn(ServiceState) -> bool,
) -> windows_service::Result<ServiceState> {
    let pause = Duration::from_millis(100);
    for _ in 0..STOP_TIME.as_millis() / pause.as_millis() {
        let state = service.query_status()?.current_state;
        if !waits(state) {
            return Ok(state);
        }
        sleep(pause);
    }
    service.query_status().map(|status| status.current_state)
}

#[derive(Serialize)]
struct Row {
    state: &'static str,
    command: String,
}

fn status(terminal: &Terminal) -> Outcome {
    let service = open(ServiceAccess::QUERY_STATUS | ServiceAccess::QUERY_CONFIG)?;
    let (state, words) = match service.query_status().map_err(refusal)?.current_state {
        ServiceState::Running => ("running", "läuft"),
        ServiceState::Stopped => ("stopped", "angehalten"),
        ServiceState::StopPending => ("stopping", "hält an"),
        _ => ("starting", "startet"),
    };
    // Windows' "executable path" is the whole command.
    let command = service.query_config().map_err(refusal)?.executable_path.display().to_string();
    terminal.rows(&["Stand", "Befehl"], &[Row { state, command }], |row| {
        vec![words.to_owned(), row.command.clone()]
    })
}

fn open(access: ServiceAccess) -> Result<Service, String> {
    let manager = ServiceManager::local_computer(None::<&str>, ServiceManagerAccess::CONNECT);
    manager.and_then(|manager| manager.open_service(NAME, access)).map_err(refusal)
}

/// ERROR_SERVICE_DATABASE_LOCKED: Windows locks the list of services while it starts others, for a short time.
const LOCKED: i32 = 1055;

/// Tries while the list is locked, and the pause between them.
const TRIES: u32 = 60;
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

/// Runs a step on the list of services, retrying while the list is locked.
fn unlocked<T>(step: impl Fn() -> windows_service::Result<T>) -> windows_service::Result<T> {
    let mut done = step();
    for _ in 1..TRIES {
        match &done {
            Err(Error::Winapi(error)) if error.raw_os_error() == Some(LOCKED) => sleep(BETWEEN_TRIES),
            _ => break,
        }
        done = step();
    }
    done
}

/// Says a Windows error in one sentence for a person.
fn refusal(error: Error) -> String {
    let Error::Winapi(error) = error else { return error.to_string() };
    let known = ADVICE.iter().find(|(number, _)| error.raw_os_error() == Some(*number));
    known.map_or_else(|| format!("Windows meldet: {}", in_german(&error)), |(_, advice)| (*advice).to_owned())
}

/// The settings of `service run`, for the thread that Windows starts.
static SETTINGS: OnceLock<Config> = OnceLock::new();

define_windows_service!(service_main, work);

/// Opens the log of `service run`, whose stderr nobody sees.
pub fn log_file(db: &Path) -> Result<LogFile, String> {
    LogFile::beside(db).map_err(|error| {
        let why = in_german(&error);
        let sentence = format!("das Protokoll neben {} kann nicht geschrieben werden: {why}", db.display());
        write_trouble(db, &sentence);
        sentence
    })
}

/// The body of the service; Windows calls it in its own thread. Nobody sees stderr here, so the reason for a
/// failed start or stop is written to a file beside the database.
fn work(_: Vec<OsString>) {
    let Some(config) = SETTINGS.get() else { return };
    let stop = Arc::new(Notify::new());
    let stopper = Arc::clone(&stop);
    let handler = move |control| match control {
        ServiceControl::Stop | ServiceControl::Shutdown => {
            stopper.notify_one();
            ServiceControlHandlerResult::NoError
        }
        ServiceControl::Interrogate => ServiceControlHandlerResult::NoError,
        _ => ServiceControlHandlerResult::NotImplemented,
    };
    // Without a handler Windows considers the start failed.
    let Ok(handle) = register(NAME, handler) else { return };
    report(handle, ServiceState::StartPending, START_TIME);
    let _ = std::fs::remove_file(trouble_file(&config.db));
    let exit_code = match serve(config, handle, &stop) {
        Ok(()) => ServiceExitCode::NO_ERROR,
        Err(error) => {
            write_trouble(&config.db, &sentence(error));
            ServiceExitCode::ServiceSpecific(1)
        }
    };
    let _ = handle.set_service_status(at(ServiceState::Stopped, Duration::ZERO, exit_code));
}

/// Serves until Windows says stop, and finishes running requests.
fn serve(config: &Config, handle: ServiceStatusHandle, stop: &Notify) -> Outcome {
    // Relative paths in the settings start at the folder of the database.
    if let Some(folder) = config.db.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::env::set_current_dir(folder).map_err(|error| {
            format!("{} lässt sich nicht betreten: {}", folder.display(), in_german(&error))
        })?;
    }
    let runtime = runtime()?;
    let listener = listen(&runtime, config)?;
    let tls = encryption(config)?;
    let app = crate::start::service::Service::open(&config.db, system_clock(), &config.policy)?;
    report(handle, ServiceState::Running, Duration::ZERO);
    let stopping =
        when_told(stop, || report(handle, ServiceState::StopPending, config.limits.shutdown + STOP_TIME));
    runtime.block_on(app.serve(listener, fitting(&config.limits), tls, stopping));
    drop(runtime);
    app.close();
    Ok(())
}

/// Reports the state to Windows, and how long the next step may take.
fn report(handle: ServiceStatusHandle, state: ServiceState, wait: Duration) {
    let _ = handle.set_service_status(at(state, wait, ServiceExitCode::NO_ERROR));
}

fn at(current_state: ServiceState, wait_hint: Duration, exit_code: ServiceExitCode) -> ServiceStatus {
    let is_running = current_state == ServiceState::Running;
    let stops = ServiceControlAccept::STOP | ServiceControlAccept::SHUTDOWN;
    ServiceStatus {
        service_type: ServiceType::OWN_PROCESS,
        current_state,
        controls_accepted: if is_running { stops } else { ServiceControlAccept::empty() },
        exit_code,
        checkpoint: 0,
        wait_hint,
        process_id: None,
    }
}

/// Writes down why `service run` did not start, as Windows does not learn it.
pub fn write_trouble(db: &Path, sentence: &str) {
    let _ = std::fs::write(trouble_file(db), format!("{} {sentence}\r\n", now()));
}

fn trouble_file(db: &Path) -> PathBuf {
    beside(db, "service-error")
}
