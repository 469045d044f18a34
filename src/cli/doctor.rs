//! `doctor`: what is wrong with the machine, and what to do about it.

mod files;
mod leitstand;

use std::net::TcpListener;
use std::path::Path;

use rusqlite::Connection;

use super::database::now;
use super::finding::{Finding, Severity, ok, warning, wrong};
use super::serve::{unusable, validity_of};
use super::terminal::{Outcome, Terminal};
use crate::app::nightly::made;
use crate::config::Config;
use crate::db::connection::open_to_look;
use crate::db::files::{beside, folder_of};
use crate::db::seal::{self, Secret, file_of};
use crate::db::tx::Tx;
use crate::db::{lock, migrate};
use crate::failure::Failure;
use crate::gate::audit::{self, CLOCK_TOLERANCE_MILLIS, Sealed};
use crate::http::tls::acceptor;
use crate::rules::day::{Day, Instant};
use crate::tenants::{self, Tenant, firma};

/// Free space below which something should be done, in MiB.
const LOW_SPACE_MIB: u64 = 1_024;

/// Free space below which the service stops to write soon, in MiB.
const NO_SPACE_MIB: u64 = 100;

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let folder = folder_of(&config.db);
    // Where no server ever ran there is no file to lock, and none is made.
    let server = beside(&config.db, "lock").exists() && lock::without_server(&config.db).is_err();
    let sqlite = ok("SQLite", format!("version {}, part of this program", rusqlite::version()));
    let mut findings = vec![sqlite, rights(folder), space(folder), drive(folder)];
    if config.db.exists() {
        findings.extend(database(config));
        findings.extend(files::names(&config.db));
        findings.extend(files::left_over(&config.db));
    } else {
        let next = "it is created by `partnerd serve`, or name another with --db";
        findings.push(warning("database", format!("there is no {}: {next}", config.db.display())));
    }
    findings.push(port(config, server));
    findings.extend(encryption(config));
    findings.push(leitstand::reach(config));
    findings.push(backups(config));
    terminal.rows(&["look", "state", "finding"], &findings, |finding| {
        let state = match finding.state {
            Severity::Ok => "ok",
            Severity::Warning => "warning",
            Severity::Wrong => "WRONG",
        };
        vec![finding.look.to_owned(), state.to_owned(), finding.finding.clone()]
    })?;
    match findings.iter().filter(|finding| finding.state == Severity::Wrong).count() {
        0 => Ok(()),
        1 => Err("1 thing is wrong: see above what to do".into()),
        count => Err(format!("{count} things are wrong: see above what to do").into()),
    }
}

/// The folder of the database must take files of ours, and nobody else should read them.
fn rights(folder: &Path) -> Finding {
    let probe = folder.join(format!(".partnerd-doctor-{}", std::process::id()));
    let written = std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe));
    if let Err(error) = written {
        let folder = folder.display();
        let finding =
            format!("{folder} cannot be written ({error}): give this user the right to write there");
        return wrong("rights", finding);
    }
    ok("rights", format!("{} can be written", folder.display()))
}

fn space(folder: &Path) -> Finding {
    let free = match fs4::available_space(folder) {
        Ok(bytes) => bytes >> 20,
        Err(error) => return warning("disk", format!("its free space is not known: {error}")),
    };
    match free {
        free if free < NO_SPACE_MIB => {
            wrong("disk", format!("only {free} MiB are free: make room, or writing stops soon"))
        }
        free if free < LOW_SPACE_MIB => warning("disk", format!("only {free} MiB are free: make room")),
        free => ok("disk", format!("{free} MiB are free")),
    }
}

/// The write-ahead log of SQLite does not work on network drives.
fn drive(folder: &Path) -> Finding {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let advice = "move the database to a disk of this machine (backup, then restore there)";
    let name = folder.to_string_lossy();
    let is_unc =
        name.starts_with("\\\\?\\UNC\\") || (name.starts_with("\\\\") && !name.starts_with("\\\\?\\"));
    if is_unc {
        return wrong("drive", format!("{} is a network drive: {advice}", folder.display()));
    }
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mount = mounts.lines().filter_map(|line| {
        let mut parts = line.split(' ').skip(1);
        let (place, kind) = (parts.next()?.replace("\\040", " "), parts.next()?);
        folder.starts_with(&place).then(|| (place.len(), kind.to_owned()))
    });
    let Some((_, kind)) = mount.max() else { return ok("drive", "of this machine, as far as can be seen") };
    let of_network = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "fuse.sshfs", "fuse.glusterfs"];
    match of_network.contains(&kind.as_str()) {
        true => wrong("drive", format!("{} is a network drive ({kind}): {advice}", folder.display())),
        false => ok("drive", format!("of this machine ({kind})")),
    }
}

fn database(config: &Config) -> Vec<Finding> {
    let path = config.db.as_path();
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) {
        let advice = "delete it, and `partnerd serve` makes a new one, or put back the last backup";
        return vec![wrong("database", format!("{} is empty: {advice}", path.display()))];
    }
    if let Some(finding) = files::unreadable(path) {
        return vec![finding];
    }
    let connection = match open_to_look(path) {
        Ok(connection) => connection,
        Err(failure) => {
            let advice = "put back the last backup with `partnerd restore FILE`, or name another database";
            let finding = format!("{} cannot be opened ({failure}): {advice}", path.display());
            return vec![wrong("database", finding)];
        }
    };
    let state = match migrate::is_of_this_version(&connection) {
        Ok(true) => ok("database", format!("{} has the schema of this version", path.display())),
        Ok(false) => warning("database", "it has an older schema: the next start brings it to this version"),
        Err(failure) => wrong("database", failure.to_string()),
    };
    let owner = files::owners(path).unwrap_or_else(|| owner(path));
    let mut findings = vec![state, owner, pages(&connection), clock(&connection)];
    if migrate::is_of_this_version(&connection).unwrap_or(false) {
        findings.push(secret(path, &connection));
        findings.extend(companies(&connection));
        findings.extend(leitstand::people(&connection, config));
    }
    findings
}

/// Without its master data a company has neither sheets nor e-invoices (D24).
fn companies(connection: &Connection) -> Vec<Finding> {
    const LOOK: &str = "company";
    let found = tenants::list(connection).and_then(|tenants| {
        let look = |tenant: Tenant| {
            let firma = firma::load(&Tx::new(connection, tenant.id, now()))?;
            Ok((firma.missing(), tenant.name))
        };
        tenants.into_iter().map(look).collect::<Result<Vec<_>, Failure>>()
    });
    let finding = |(missing, name): (Vec<&str>, String)| match missing.as_slice() {
        [] => ok(LOOK, format!("the master data of {name} are complete")),
        missing => {
            let missing = missing.join(", ").replace(" oder ", " or ");
            let advice = format!("enter them with `partnerd tenant set {name:?} NAME=VALUE`");
            warning(LOOK, format!("{name} lacks {missing}: no sheets and no e-invoices are made; {advice}"))
        }
    };
    match found {
        Ok(found) => found.into_iter().map(finding).collect(),
        Err(failure) => vec![wrong(LOOK, failure.to_string())],
    }
}

/// Without the secret that belongs to it nothing of the database can be proved but its checksums.
fn secret(path: &Path, connection: &Connection) -> Finding {
    const LOOK: &str = "seals";
    if let Some(complaint) = open_to(0o077, &file_of(path)) {
        return warning(LOOK, complaint);
    }
    let found = Secret::read(path).and_then(|secret| {
        seal::install(connection, secret.as_ref())?;
        audit::sealed(connection, secret.as_ref())
    });
    match found {
        Ok(Sealed::Since(_, how)) => ok(LOOK, format!("log and documents are sealed {how}")),
        Ok(Sealed::Not(why)) => {
            warning(LOOK, format!("{why}. The next start of the server begins anew where it can"))
        }
        Ok(Sealed::Broken(what)) => wrong(LOOK, what),
        Err(failure) => wrong(LOOK, failure.to_string()),
    }
}

/// Only its owner should read the file: it holds the hashes of keys and all the data.
fn owner(path: &Path) -> Finding {
    if let Some(complaint) = open_to(0o077, path) {
        return warning("owner", complaint);
    }
    #[cfg(windows)]
    return ok("owner", format!("the rights of the folder of {} hold", path.display()));
    #[cfg(not(windows))]
    ok("owner", "nobody else may use the file")
}

#[cfg_attr(not(unix), allow(unused_variables))]
fn open_to(others: u32, path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).ok()?.permissions());
        let (file, mode) = (path.display(), mode & 0o777);
        (mode & others != 0)
            .then(|| format!("others may use the file (mode {mode:o}): chmod {:o} {file}", mode & !others))
    }
    #[cfg(not(unix))]
    None
}

/// The certificate and its key: whether they can be used, for how long, and by whom.
fn encryption(config: &Config) -> Vec<Finding> {
    let Some((certificate, key)) = &config.tls else {
        let exposed = "not used, so keys and data can be read on the network: `partnerd tls self-signed` makes a certificate, tls_certificate and tls_key name it";
        return vec![match config.listen.ip().is_loopback() {
            true => ok("https", "not used, and only this machine can reach the server"),
            false => warning("https", exposed),
        }];
    };
    let advice = "mend tls_certificate and tls_key, or make both anew with `partnerd tls self-signed`";
    let unreadable = |complaint| wrong("https", format!("{complaint}: {advice}"));
    if let Err(complaint) = acceptor(certificate, key) {
        return vec![unreadable(complaint)];
    }
    let until = validity_of(certificate).unwrap_or_else(unreadable);
    // A group may well have it: that is how one key serves several programs.
    let secret = match open_to(0o007, key) {
        Some(complaint) => warning("tls_key", complaint),
        None => ok("tls_key", "belongs to the certificate, and not everybody may use the file"),
    };
    vec![until, secret]
}

fn pages(connection: &Connection) -> Finding {
    let first = connection.query_row("pragma quick_check(1)", [], |row| row.get::<_, String>(0));
    let advice = "keep this file as it is, and put back the last good backup";
    match first {
        Ok(text) if text == "ok" => ok("pages", "whole; `partnerd check` proves the rest"),
        Ok(text) => wrong("pages", format!("damaged ({text}): {advice}")),
        Err(error) => wrong("pages", format!("cannot be read ({error}): {advice}")),
    }
}

/// Nothing in the log can be newer than now.
fn clock(connection: &Connection) -> Finding {
    let newest = audit::newest(connection).ok().flatten();
    let (now, newest) = (now(), newest.unwrap_or(Instant::from_millis(0)));
    if newest.millis() > now.millis() + CLOCK_TOLERANCE_MILLIS {
        let advice = "set the clock of this machine";
        return wrong("clock", format!("it says {now}, but the log has a request of {newest}: {advice}"));
    }
    ok("clock", format!("it says {now}"))
}

fn port(config: &Config, server: bool) -> Finding {
    let listen = config.listen;
    match TcpListener::bind(listen) {
        Ok(_) if server => {
            warning("port", format!("{listen} is free, but a server uses the database: it listens elsewhere"))
        }
        Ok(_) => ok("port", format!("{listen} is free")),
        Err(_) if server => ok("port", format!("{listen} is in use: a server runs on this database")),
        Err(error) => wrong("port", unusable(listen, &error)),
    }
}

fn backups(config: &Config) -> Finding {
    let Some(nightly) = &config.policy.nightly else {
        let advice = "set backup_folder, best to a folder on another disk";
        return warning("backups", format!("none are made by themselves: {advice}"));
    };
    let made = match made(&config.db, nightly) {
        Ok(made) => made,
        Err(failure) if nightly.folder.is_dir() => return wrong("backups", failure.to_string()),
        Err(failure) => {
            let advice = "create the folder of backup_folder, or mount its disk";
            return wrong("backups", format!("{failure}: {advice}"));
        }
    };
    let Some(newest) = made.last() else {
        return warning("backups", format!("there is none yet in {}", nightly.folder.display()));
    };
    let yesterday = Day::of_number(Day::in_berlin(now()).number() - 1).to_string();
    let name = newest.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let day: String = name.chars().skip(name.chars().count().saturating_sub(10)).collect();
    let finding = format!("{} are kept, the newest is of {day}", made.len());
    if day < yesterday {
        warning("backups", format!("{finding}: look into the log why"))
    } else {
        ok("backups", finding)
    }
}
