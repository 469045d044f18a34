//! `doctor`: says what is wrong with the machine, and what to do about it.

mod backups;
mod files;
mod leitstand;
mod proxies;

use std::net::TcpListener;
use std::path::Path;

use rusqlite::Connection;

use super::database::{is_there, now};
use super::finding::{Finding, Severity, ok, warning, wrong};
use super::serve::{unusable, validity_of};
use super::terminal::{Outcome, Terminal};
use crate::master::tenants::{self, Tenant, firma};
use crate::operations::bounds as of_fields;
use crate::platform::db::file::connection::open_to_look;
use crate::platform::db::file::files::{beside, folder_of, log_was_removed, private_options, refuse_traces};
use crate::platform::db::file::german::{in_german, sqlite_in_german};
use crate::platform::db::file::lock;
use crate::platform::db::migrate;
use crate::platform::db::seals::seal::{self, Secret, file_of};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Failure;
use crate::platform::gate::audit::{self, Sealed, newest_of_both, of_clock};
use crate::platform::http::tls::acceptor;
use crate::start::config::Config;

/// Free space below which somebody should act, in MiB.
const LOW_SPACE_MIB: u64 = 1_024;

/// Free space below which the service soon stops writing, in MiB.
const NO_SPACE_MIB: u64 = 100;

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let folder = folder_of(&config.db);
    // Checks the file first: locking would create it where no server ever ran.
    let server = beside(&config.db, "lock").exists() && lock::without_server(&config.db).is_err();
    let sqlite = ok("SQLite", format!("Version {}, Teil dieses Programms", rusqlite::version()));
    let mut findings = vec![sqlite, rights(folder), space(folder), drive(folder)];
    match is_there(&config.db) {
        Ok(true) => {
            findings.extend(database(config, server));
            findings.extend(files::names(&config.db));
            findings.extend(files::left_over(&config.db));
        }
        Ok(false) if refuse_traces(&config.db).is_err() => findings.extend(traces(&config.db)),
        Ok(false) => {
            let next = "`partnerd serve` legt sie an, oder eine andere mit --db nennen";
            let finding = format!("{} gibt es nicht: {next}", config.db.display());
            findings.push(warning("database", finding));
        }
        Err(error) => findings.push(wrong("database", error.to_string())),
    }
    findings.push(port(config, server));
    findings.extend(encryption(config));
    findings.push(leitstand::reach(config));
    findings.extend(server.then(|| proxies::unnamed(config)).flatten());
    if !log_was_removed(&config.db) {
        findings.extend(backups::look(config));
    }
    terminal.rows(&["Punkt", "Stand", "Befund"], &findings, |finding| {
        let state = finding.state.in_words();
        vec![finding.look_in_words().to_owned(), state.to_owned(), finding.finding.clone()]
    })?;
    match findings.iter().filter(|finding| finding.state == Severity::Wrong).count() {
        0 => Ok(()),
        1 => Err("1 Fehler: oben steht, was zu tun ist".into()),
        count => Err(format!("{count} Fehler: oben steht, was zu tun ist").into()),
    }
}

/// Checks that this user can create files in the folder of the database.
fn rights(folder: &Path) -> Finding {
    let probe = folder.join(format!(".partnerd-doctor-{}", std::process::id()));
    // Creates a new file, never opens one: root runs this, too, and another user may have put a link under this name.
    let written = private_options().write(true).create_new(true).open(&probe);
    if let Err(error) = written.and_then(|_| std::fs::remove_file(&probe)) {
        let (folder, error) = (folder.display(), in_german(&error));
        let finding = format!(
            "In {folder} kann nicht geschrieben werden ({error}): diesem Benutzer dort Schreibrechte geben"
        );
        return wrong("rights", finding);
    }
    ok("rights", format!("in {} kann geschrieben werden", folder.display()))
}

fn space(folder: &Path) -> Finding {
    let free = match fs4::available_space(folder) {
        Ok(bytes) => bytes >> 20,
        Err(error) => {
            return warning(
                "disk",
                format!("wie viel frei ist, ist nicht zu erfahren: {}", in_german(&error)),
            );
        }
    };
    match free {
        free if free < NO_SPACE_MIB => {
            wrong("disk", format!("nur {free} MiB sind frei: Platz schaffen, bald geht kein Schreiben mehr"))
        }
        free if free < LOW_SPACE_MIB => warning("disk", format!("nur {free} MiB sind frei: Platz schaffen")),
        free => ok("disk", format!("{free} MiB sind frei")),
    }
}

/// Checks that the database is on no network drive: SQLite's write-ahead log does not work there.
fn drive(folder: &Path) -> Finding {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let advice = "die Datenbank auf eine Platte dieses Rechners bringen (backup, dort restore)";
    let name = folder.to_string_lossy();
    let is_unc =
        name.starts_with("\\\\?\\UNC\\") || (name.starts_with("\\\\") && !name.starts_with("\\\\?\\"));
    if is_unc {
        return wrong("drive", format!("{} ist ein Netzlaufwerk: {advice}", folder.display()));
    }
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mount = mounts.lines().filter_map(|line| {
        let mut parts = line.split(' ').skip(1);
        let (place, kind) = (parts.next()?.replace("\\040", " "), parts.next()?);
        folder.starts_with(&place).then(|| (place.len(), kind.to_owned()))
    });
    let Some((_, kind)) = mount.max() else { return ok("drive", "von diesem Rechner, soweit zu sehen") };
    let of_network = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "fuse.sshfs", "fuse.glusterfs"];
    match of_network.contains(&kind.as_str()) {
        true => wrong("drive", format!("{} ist ein Netzlaufwerk ({kind}): {advice}", folder.display())),
        false => ok("drive", format!("von diesem Rechner ({kind})")),
    }
}

/// What lies beside a database that is missing or empty.
fn traces(path: &Path) -> Option<Finding> {
    refuse_traces(path).err().map(|failure| wrong("database", failure.in_german()))
}

fn database(config: &Config, server: bool) -> Vec<Finding> {
    let path = config.db.as_path();
    if let Some(finding) = traces(path) {
        return vec![finding];
    }
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0) {
        let advice = "löschen, dann macht `partnerd serve` eine neue, oder die letzte Sicherung zurückholen";
        return vec![wrong("database", format!("{} ist leer: {advice}", path.display()))];
    }
    if let Some(finding) = files::unreadable(path).or_else(|| files::without_log(path, server)) {
        return vec![finding];
    }
    let connection = match open_to_look(path) {
        Ok(connection) => connection,
        Err(failure) => {
            let advice = "die letzte Sicherung mit `partnerd restore DATEI` zurückholen, oder eine andere \
                          Datenbank nennen";
            let finding =
                format!("{} lässt sich nicht öffnen ({}): {advice}", path.display(), failure.in_german());
            return vec![wrong("database", finding)];
        }
    };
    let state = match migrate::is_of_this_version(&connection) {
        Ok(true) => ok("database", format!("{} ist auf dem Stand dieser Version", path.display())),
        Ok(false) => warning(
            "database",
            "auf einem älteren Stand: der nächste Start bringt sie auf den dieser Version",
        ),
        Err(failure) => wrong("database", failure.in_german()),
    };
    let owner = files::owners(path).unwrap_or_else(|| owner(path));
    let mut findings = vec![state, owner, pages(&connection), clock(&connection)];
    if migrate::is_of_this_version(&connection).unwrap_or(false) {
        findings.push(secret(path, &connection));
        findings.extend(bounds(&connection));
        findings.extend(companies(&connection));
        findings.extend(leitstand::people(&connection, config));
    }
    findings
}

/// Names the values that lie outside the bounds of their fields (D39).
fn bounds(connection: &Connection) -> Option<Finding> {
    match of_fields::in_words(connection) {
        Ok(found) => found.map(|sentence| warning("bounds", sentence)),
        Err(failure) => Some(wrong("bounds", failure.in_german())),
    }
}

/// Checks that each company has its master data, without which it gets neither sheets nor e-invoices (D24).
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
        [] => ok(LOOK, format!("die Angaben von {name} sind vollständig")),
        missing => {
            let missing = missing.join(", ");
            let advice = format!("eintragen mit `partnerd tenant set {name:?} NAME=WERT`");
            warning(
                LOOK,
                format!("{name} fehlt: {missing}. Belege bekommen weder Blatt noch E-Rechnung; {advice}"),
            )
        }
    };
    match found {
        Ok(found) => found.into_iter().map(finding).collect(),
        Err(failure) => vec![wrong(LOOK, failure.in_german())],
    }
}

/// Checks the secret of the seals. Without the right one only the checksums of the database can be verified.
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
        Ok(Sealed::Since(_, how)) => ok(LOOK, format!("Protokoll und Belege sind versiegelt {how}")),
        Ok(Sealed::Not(why)) => {
            warning(LOOK, format!("{why}. Der nächste Start des Servers beginnt neu, wo er kann"))
        }
        Ok(Sealed::Broken(what)) => wrong(LOOK, what),
        Err(failure) => wrong(LOOK, failure.in_german()),
    }
}

/// Checks that only its owner can read the file: it holds the hashes of keys and all the data.
fn owner(path: &Path) -> Finding {
    if let Some(complaint) = open_to(0o077, path) {
        return warning("owner", complaint);
    }
    #[cfg(windows)]
    return ok("owner", format!("es gelten die Rechte des Ordners von {}", path.display()));
    #[cfg(not(windows))]
    ok("owner", "niemand sonst darf die Datei benutzen")
}

#[cfg_attr(not(unix), allow(unused_variables))]
fn open_to(others: u32, path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).ok()?.permissions());
        let (file, mode) = (path.display(), mode & 0o777);
        (mode & others != 0).then(|| {
            format!("andere dürfen die Datei benutzen (Rechte {mode:o}): chmod {:o} {file}", mode & !others)
        })
    }
    #[cfg(not(unix))]
    None
}

/// Checks the certificate and its key: whether they can be used, for how long, and who may read the key.
fn encryption(config: &Config) -> Vec<Finding> {
    let Some((certificate, key)) = &config.tls else {
        let exposed = "nicht eingerichtet, Schlüssel und Daten sind also im Netz mitzulesen: `partnerd tls \
                       self-signed` macht ein Zertifikat, tls_certificate und tls_key nennen es";
        return vec![match config.listen.ip().is_loopback() {
            true => ok("https", "nicht eingerichtet, und nur dieser Rechner erreicht den Server"),
            false => warning("https", exposed),
        }];
    };
    let advice =
        "tls_certificate und tls_key berichtigen, oder beide mit `partnerd tls self-signed` neu machen";
    let unreadable = |complaint| wrong("https", format!("{complaint}: {advice}"));
    if let Err(complaint) = acceptor(certificate, key) {
        return vec![unreadable(complaint)];
    }
    let until = validity_of(certificate).unwrap_or_else(unreadable);
    // Group access is fine: that is how several programs share one key.
    let secret = match open_to(0o007, key) {
        Some(complaint) => warning("tls_key", complaint),
        None => ok("tls_key", "gehört zum Zertifikat, und nicht jeder darf die Datei benutzen"),
    };
    vec![until, secret]
}

fn pages(connection: &Connection) -> Finding {
    let first = connection.query_row("pragma quick_check(1)", [], |row| row.get::<_, String>(0));
    let advice = "diese Datei lassen, wie sie ist, und die letzte gute Sicherung zurückholen";
    match first {
        Ok(text) if text == "ok" => ok("pages", "heil; das Übrige beweist `partnerd check`"),
        Ok(text) => wrong("pages", format!("beschädigt ({text}): {advice}")),
        Err(error) => wrong("pages", format!("nicht zu lesen ({}): {advice}", sqlite_in_german(&error))),
    }
}

/// Compares the clock with the logs: no row can be newer than now, and the newest one is rarely much older.
fn clock(connection: &Connection) -> Finding {
    let now = now();
    let newest = newest_of_both(connection).ok().flatten();
    match newest.and_then(|newest| of_clock(newest, now)) {
        Some((true, sentence)) => wrong("clock", sentence),
        Some((false, sentence)) => warning("clock", sentence),
        None => ok("clock", format!("sie sagt {now}")),
    }
}

fn port(config: &Config, server: bool) -> Finding {
    let listen = config.listen;
    match TcpListener::bind(listen) {
        Ok(_) if server => warning(
            "port",
            format!("{listen} ist frei, aber ein Server benutzt die Datenbank: er lauscht anderswo"),
        ),
        Ok(_) => ok("port", format!("{listen} ist frei")),
        Err(_) if server => ok(
            "port",
            format!(
                "{listen} ist belegt, und ein Server läuft mit dieser Datenbank: dort, wenn er dieselben \
                 Einstellungen hat (--config)"
            ),
        ),
        Err(error) => wrong("port", unusable(listen, &error)),
    }
}
