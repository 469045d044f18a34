//! Checks the files of a database: who may read them, who owns them, and which do not belong there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::platform::db::file::files::{beside, folder_of, log_was_removed};
use crate::platform::db::file::lock::{self, LOG_LOST};
use crate::platform::db::file::owner::name_of;
use crate::start::cli::finding::{Finding, ok, warning, wrong};

/// Suffixes of the files that partnerd keeps beside a database in use.
const KEPT: [&str; 6] = ["wal", "shm", "secret", "lock", "use-lock", "migrate-lock"];

/// Most files that a message names; it only counts the others.
const FILES_NAMED_MAX: usize = 5;

/// Reports a file of the database that this user may not read, which is no damage.
pub fn unreadable(database: &Path) -> Option<Finding> {
    let others = KEPT.iter().map(|ending| beside(database, ending));
    let denied = [database.to_owned()]
        .into_iter()
        .chain(others)
        .find(|file| fs::File::open(file).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied))?;
    let owner = owner_of(&denied).map(|uid| format!(" des Benutzers {}", name_of(uid))).unwrap_or_default();
    Some(wrong(
        "database",
        format!(
            "{} ist eine Datei{owner}, die dieser Benutzer nicht lesen darf. Das sagt nichts über ihren Inhalt: \
             den Befehl als jener ausführen, etwa sudo -u NAME partnerd doctor",
            denied.display()
        ),
    ))
}

/// Reports files beside the database that belong to another user: its owner's server cannot use them.
#[cfg_attr(not(unix), allow(unused_variables))]
pub fn owners(database: &Path) -> Option<Finding> {
    let owner = owner_of(database)?;
    let others =
        in_folder(database).into_iter().filter(|file| owner_of(file).is_some_and(|uid| uid != owner));
    let others: Vec<_> = others.collect();
    if others.is_empty() {
        return None;
    }
    let owner = name_of(owner);
    Some(wrong(
        "owner",
        format!(
            "{} gehören einem anderen Benutzer als die Datenbank, die {owner} gehört: chown {owner} {}",
            listed(&others),
            listed(&others)
        ),
    ))
}

/// Reports other names (hard links) of the database: data written through one name can be lost when it is
/// opened by another.
#[cfg(unix)]
pub fn names(database: &Path) -> Option<Finding> {
    let names = std::os::unix::fs::MetadataExt::nlink(&fs::metadata(database).ok()?);
    let file = database.display();
    (names > 1).then(|| {
        warning(
            "names",
            format!(
                "{names} Namen führen zu dieser Datei (Hardlinks), und eine Kopie, die nur ein Name ist, ist \
                 keine: die anderen mit find / -xdev -samefile '{file}' suchen, löschen, und mit `partnerd \
                 backup` sichern"
            ),
        )
    })
}

#[cfg(not(unix))]
pub fn names(_: &Path) -> Option<Finding> {
    None
}

type Is = fn(&str) -> bool;

/// Reports unused files beside a database, with advice.
pub fn left_over(database: &Path) -> Vec<Finding> {
    const LOOK: &str = "files";
    let kinds: [(Is, &str); 4] = [
        (
            |rest| rest.starts_with("audit-damaged-"),
            "Zeilen des Protokolls, die nicht zu lesen waren oder die jemand anders schrieb: ansehen, dann wegräumen",
        ),
        (
            |rest| rest.contains("part"),
            "Rest einer Sicherung oder eines Zurückholens, das abgebrochen wurde: löschen, wenn keines läuft",
        ),
        (
            |rest| rest.starts_with("before-"),
            "die Datenbank, wie sie vor einem Zurückholen oder einer Aktualisierung war: löschen, wenn niemand \
             mehr etwas daraus braucht",
        ),
        (|_| true, "keine Datei von partnerd: in einen anderen Ordner verschieben"),
    ];
    if beside(database, LOG_LOST).exists() {
        return vec![wrong(LOOK, lock::lost_log(database))];
    }
    let mut found: [Vec<PathBuf>; 4] = Default::default();
    for file in in_folder(database) {
        let Some(rest) = rest_of(database, &file) else { continue };
        let is_kept = KEPT.contains(&rest.as_str())
            || rest.strip_prefix("audit-journal-").is_some_and(|number| number.parse::<u64>().is_ok());
        // A kept copy has side files of its own.
        if let Some(at) = kinds.iter().position(|(is, _)| !is_kept && is(&rest)) {
            found[at].push(file);
        }
    }
    let of_kind = found.into_iter().zip(kinds).filter(|(files, _)| !files.is_empty());
    let findings: Vec<_> =
        of_kind.map(|(files, (_, what))| warning(LOOK, format!("{}: {what}", listed(&files)))).collect();
    if findings.is_empty() { vec![ok(LOOK, "daneben liegt nichts, was niemand benutzt")] } else { findings }
}

/// Returns the suffix that a file adds to the name of the database: `wal` for `partnerd.db-wal`.
fn rest_of(database: &Path, file: &Path) -> Option<String> {
    let name = format!("{}-", database.file_name()?.to_string_lossy());
    Some(file.file_name()?.to_str()?.strip_prefix(&name)?.to_owned())
}

fn in_folder(database: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder_of(database)).into_iter().flatten();
    let files = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut files: Vec<_> = files.filter(|file| rest_of(database, file).is_some()).collect();
    files.sort();
    files
}

fn listed(files: &[PathBuf]) -> String {
    let names = files.iter().take(FILES_NAMED_MAX).map(|file| file.display().to_string());
    let names = names.collect::<Vec<_>>().join(" ");
    match files.len().saturating_sub(FILES_NAMED_MAX) {
        0 => names,
        more => format!("{names} und {more} weitere"),
    }
}

#[cfg_attr(not(unix), allow(unused_variables))]
fn owner_of(file: &Path) -> Option<u32> {
    #[cfg(unix)]
    return fs::metadata(file).ok().map(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata));
    #[cfg(not(unix))]
    None
}

/// Reports a write-ahead log that somebody removed. Opening the database now would create another one.
pub fn without_log(database: &Path, server: bool) -> Option<Finding> {
    let is_gone = log_was_removed(database);
    match server {
        true => (is_gone || log_is_deleted(database)).then(|| lock::without_log(database)),
        false => is_gone.then(|| lock::lost_log(database)),
    }
    .map(|sentence| wrong("database", sentence))
}

/// Whether some process still has a deleted write-ahead log open, even if a new one has taken its name.
fn log_is_deleted(database: &Path) -> bool {
    let deleted = fs::canonicalize(database).map(|database| {
        let mut name = beside(&database, "wal").into_os_string();
        name.push(" (deleted)");
        PathBuf::from(name)
    });
    let Ok(deleted) = deleted else { return false };
    let read = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let open = read("/proc".into()).flat_map(|process| read(process.path().join("fd")));
    open.into_iter().any(|file| fs::read_link(file.path()).is_ok_and(|target| target == deleted))
}
