//! `serve`: runs the server.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, absolute};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use super::database::{is_there, now};
use super::finding::{Finding, Severity, ok, warning, wrong};
#[cfg(target_os = "linux")]
use super::systemd;
use super::terminal::{Outcome, Terminal, sentence};
use super::{changes, user};
use crate::leitstand::operations::restoring::{Order, Restored};
use crate::operations::backup::restore;
use crate::platform::db::file::copy::is_any_in_work;
use crate::platform::db::file::files::is_blank;
use crate::platform::db::file::german::in_german;
use crate::platform::db::{log, system_clock};
use crate::platform::failure::{Failure, locked};
use crate::platform::gate::flow::waiters::WAITERS_MAX;
use crate::platform::http::server::{Limits, once_told, stop_signal};
use crate::platform::http::tls::{acceptor, validity};
use crate::rules::day::Day;
use crate::start::config::Config;
use crate::start::service::{self, Service};

#[derive(clap::Args)]
pub struct Arguments {
    /// Adresse und Port, an denen er lauscht; Port 0 nimmt einen freien [sonst: 127.0.0.1:8080]
    #[arg(long, value_name = "ADRESSE:PORT")]
    pub listen: Option<String>,
}

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let is_new = !is_there(&config.db)? || is_blank(&config.db);
    let mut running = runtime()?;
    let mut listener = listen(&running, config)?;
    let tls = encryption(config)?;
    let mut app = Service::open(&config.db, system_clock(), &config.policy)?;
    if is_new {
        greet(&config.db, terminal);
    }
    let told = told_to_stop()?;
    let mut last = None;
    loop {
        app.take_orders(last.take());
        let result = serve(&running, &app, (listener, tls.clone()), config, terminal, told.clone(), |base| {
            tracing::info!("{base}/docs describes the interface, and tries it with a key");
            if let Err(error) = user::say_first_link(&config.db, base, config, terminal) {
                log(&format!("no link to begin was made: {}", sentence(error)));
            }
        });
        drop(running);
        let (Some(order), kept_listener) = (app.close(), result?) else { return Ok(()) };
        // Told to stop meanwhile: the ordered restore is not begun.
        let Some(kept_listener) = kept_listener else { return Ok(()) };
        last = Some(restored(config, &order, &told));
        // Told to stop during the restore, or before it could begin: either way a whole database is there for
        // the next start.
        if *told.borrow() {
            return Ok(());
        }
        running = runtime()?;
        listener = {
            let _within = running.enter();
            TcpListener::from_std(kept_listener)?
        };
        app = Service::open(&config.db, system_clock(), &config.policy)?;
    }
}

/// Returns a receiver that becomes true once the process is told to stop (SIGTERM, Ctrl-C), whichever run of
/// the service is active, and also while a backup is being restored.
pub fn told_to_stop() -> Outcome<watch::Receiver<bool>> {
    let failed = |error| format!("Strg-C geht nicht: {}", in_german(&error));
    let (tell, told) = watch::channel(false);
    let hearing = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let signal = {
        let _within = hearing.enter();
        stop_signal(stopping).map_err(failed)?
    };
    let hear = move || {
        hearing.block_on(signal);
        tell.send_replace(true);
    };
    thread::Builder::new().name("signals".into()).spawn(hear).map_err(failed)?;
    Ok(told)
}

/// Restores a backup between two runs of the service, as the command does, and records who ordered it. A stop
/// signal ends it before its next step; the exchange of the files, its last step, is not interrupted.
fn restored(config: &Config, order: &Order, told: &watch::Receiver<bool>) -> Restored {
    log(&format!("{} is restored, as {} wants it", order.backup.display(), order.person));
    let go_on = || match *told.borrow() {
        true => Err(Failure::Busy("der Server wurde angehalten".to_owned())),
        false => Ok(()),
    };
    let began = |step: &str| {
        tracing::info!("restoring: {step}");
        go_on()
    };
    let work = || {
        wait_for_copies(go_on)?;
        restore(&config.db, &order.backup, &system_clock(), began)
    };
    #[cfg(target_os = "linux")]
    let done = systemd::with_watchdog_fed(work);
    #[cfg(not(target_os = "linux"))]
    let done = work();
    let outcome = done.map(|restored| restored.set_aside).map_err(|failure| failure.in_german());
    let outcome = outcome.map(|aside| aside.map(|aside| absolute(&aside).unwrap_or(aside)));
    match &outcome {
        Ok(_) => changes::record_restore(&config.db, &order.person, &order.backup),
        Err(why) => log(&format!("{} was not restored: {why}", order.backup.display())),
    }
    Restored { id: order.id.clone(), at: now(), outcome }
}

/// How long a restore waits for a backup that began before the order.
const COPIES_WAIT_MAX: Duration = Duration::from_secs(600);

fn wait_for_copies(go_on: impl Fn() -> Result<(), Failure>) -> Result<(), Failure> {
    let begun = Instant::now();
    while is_any_in_work() {
        go_on()?;
        if begun.elapsed() > COPIES_WAIT_MAX {
            return Err(Failure::Busy(
                "eine Sicherung wird noch gemacht: wiederholen, wenn sie fertig ist".into(),
            ));
        }
        sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Serves an open service, and passes its address to `started` once it is printed. Returns the open socket
/// unless told to stop: connections made meanwhile wait for the next run.
pub fn serve(
    runtime: &Runtime,
    app: &Service,
    (listener, tls): (TcpListener, Option<TlsAcceptor>),
    config: &Config,
    terminal: &Terminal,
    told: watch::Receiver<bool>,
    started: impl FnOnce(&str),
) -> Outcome<Option<std::net::TcpListener>> {
    let listener = listener.into_std()?;
    let kept_listener = Arc::new(Mutex::new(Some(listener.try_clone()?)));
    let kept = Arc::clone(&kept_listener);
    let stop = once_told(told, move || drop(locked(&kept).take()));
    let within = runtime.enter();
    let listener = TcpListener::from_std(listener)?;
    drop(within);
    let address = listener.local_addr()?;
    if tls.is_none() && !address.ip().is_loopback() {
        log(&format!(
            "{address} is served without TLS: keys and data can be read on the network; see tls_certificate"
        ));
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    terminal.print(&format!("partnerd listening on {scheme}://{address}"));
    // A wildcard address cannot be opened in a browser, so the loopback address is shown.
    let here = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    started(&format!("{scheme}://{}", SocketAddr::new(here, address.port())));
    #[cfg(target_os = "linux")]
    let _notifier = systemd::notify(runtime.handle(), &app.gate)?;
    runtime.block_on(app.serve(listener, fitting(&config.limits), tls, stop));
    Ok(locked(&kept_listener).take())
}

/// Files that the service has open besides its connections, at most.
const OTHER_FILES_MAX: usize = 64;

/// Lowers the limit of connections to what the system allows this process. Connections that cannot be
/// accepted would wait for ever, while at the limit the server closes an old one to make room.
pub fn fitting(limits: &Limits) -> Limits {
    // Clients that wait for a change hold connections beyond the limit.
    let files = open_files(limits.connections + WAITERS_MAX + OTHER_FILES_MAX);
    let connections = limits.connections.min(files.saturating_sub(OTHER_FILES_MAX).max(1));
    if connections < limits.connections {
        log(&format!(
            "the system lets this process open {files} files, so at most {connections} connections instead of \
             {}: see ulimit -n, or LimitNOFILE of the service",
            limits.connections
        ));
    }
    Limits { connections, ..limits.clone() }
}

/// Returns how many files may be open, after raising the limit to `wanted` if the system allows it.
#[cfg(target_os = "linux")]
fn open_files(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX).min(wanted as u64);
    let raised = Rlimit { current: Some(most), ..limit };
    let now = match limit.current {
        Some(current) if current < most && setrlimit(Resource::Nofile, raised).is_ok() => Some(most),
        current => current,
    };
    now.and_then(|now| usize::try_from(now).ok()).unwrap_or(usize::MAX)
}

#[cfg(not(target_os = "linux"))]
fn open_files(wanted: usize) -> usize {
    wanted
}

fn stopping() {
    #[cfg(target_os = "linux")]
    systemd::stopping();
}

/// Reads certificate and key, before anything is opened. Logs a certificate that expires soon.
pub fn encryption(config: &Config) -> Result<Option<TlsAcceptor>, String> {
    let Some((certificate, key)) = &config.tls else { return Ok(None) };
    let acceptor = acceptor(certificate, key)?;
    let Finding { state, finding, .. } = validity_of(certificate)?;
    if state != Severity::Ok {
        log(&finding);
    }
    Ok(Some(acceptor))
}

/// Days before a certificate expires from which on a renewal is advised.
const EXPIRY_NEAR_DAYS: i64 = 30;

pub fn validity_of(certificate: &Path) -> Result<Finding, String> {
    const LOOK: &str = "https";
    let (from, until) = validity(certificate)?;
    let (file, today, last) = (certificate.display(), Day::in_berlin(now()), Day::in_berlin(until));
    let renew = "ein neues machen (`partnerd tls self-signed`, oder die eigene Zertifizierungsstelle) und den \
                 Server neu starten";
    Ok(if now() > until {
        wrong(LOOK, format!("{file} ist am {last} abgelaufen: {renew}"))
    } else if now() < from {
        let first = Day::in_berlin(from);
        let advice = format!("die Uhr dieses Rechners ansehen, oder {renew}");
        wrong(LOOK, format!("{file} gilt erst ab {first}: {advice}"))
    } else if last.number() - today.number() < EXPIRY_NEAR_DAYS {
        warning(LOOK, format!("{file} läuft am {last} ab: {renew}"))
    } else {
        ok(LOOK, format!("{file} gilt bis {last}"))
    })
}

pub fn runtime() -> Result<Runtime, String> {
    service::runtime().map_err(|error| format!("der Server kann nicht starten: {}", in_german(&error)))
}

/// Binds the address, before anything else happens.
pub fn listen(runtime: &Runtime, config: &Config) -> Result<TcpListener, String> {
    runtime.block_on(TcpListener::bind(config.listen)).map_err(|error| unusable(config.listen, &error))
}

pub fn unusable(listen: SocketAddr, error: &Error) -> String {
    let (address, port) = (listen.ip(), listen.port());
    let other = SocketAddr::new(address, if port < 1_024 { 8080 } else { port.wrapping_add(1).max(1_024) });
    let advice = match error.kind() {
        ErrorKind::AddrInUse => {
            format!(
                "dort lauscht ein anderes Programm: es beenden, oder mit --listen {other} einen anderen Port nehmen"
            )
        }
        ErrorKind::AddrNotAvailable => format!(
            "dieser Rechner hat keine Adresse {address}: --listen 0.0.0.0:{port} gilt für das ganze Netz, \
             --listen 127.0.0.1:{port} nur für diesen Rechner"
        ),
        ErrorKind::PermissionDenied => {
            format!("Ports unter 1024 sind dem System vorbehalten: mit --listen {other} einen anderen nehmen")
        }
        _ => format!("eine andere Adresse nehmen, etwa --listen {other}"),
    };
    format!("{listen} geht nicht ({}): {advice}", in_german(error))
}

fn greet(db: &Path, terminal: &Terminal) {
    let db = db.display();
    terminal.say(&format!("Die Datenbank {db} ist angelegt. Weiter in einem anderen Fenster:"));
    terminal.say(&format!("  partnerd --db {db} tenant create \"Meine Firma\""));
    terminal.say(&format!("  partnerd --db {db} key create --tenant \"Meine Firma\" \\"));
    terminal.say("      --label shop --for shop --out shop.key");
}
