//! German texts for errors of the system and of SQLite, for people of the firm: each completes a sentence as
//! its cause. The log keeps the original texts.

use std::error::Error;
use std::io::{self, ErrorKind};

use rusqlite::ErrorCode;

use crate::platform::failure::Failure;

/// The German text of a system error on a file, a socket or a thread. An unexpected error is quoted in
/// brackets.
pub fn in_german(error: &io::Error) -> String {
    let known = match error.kind() {
        ErrorKind::NotFound => "gibt es nicht",
        ErrorKind::PermissionDenied => "keine Berechtigung",
        ErrorKind::AlreadyExists => "gibt es schon",
        ErrorKind::NotADirectory => "kein Ordner",
        ErrorKind::IsADirectory => "ein Ordner, keine Datei",
        ErrorKind::DirectoryNotEmpty => "der Ordner ist nicht leer",
        ErrorKind::InvalidFilename => "der Name ist zu lang, oder so darf keine Datei heißen",
        ErrorKind::StorageFull => "die Platte ist voll",
        ErrorKind::QuotaExceeded => "mehr Platz ist diesem Benutzer auf der Platte nicht erlaubt",
        ErrorKind::FileTooLarge => "die Datei ist zu groß für diese Platte",
        ErrorKind::ReadOnlyFilesystem => "die Platte ist nur zu lesen",
        ErrorKind::StaleNetworkFileHandle => "das Netzlaufwerk ist nicht mehr da",
        ErrorKind::ResourceBusy | ErrorKind::ExecutableFileBusy | ErrorKind::Deadlock => {
            "ein anderes Programm benutzt es gerade"
        }
        ErrorKind::WouldBlock => "gerade nicht möglich, später wiederholen",
        ErrorKind::OutOfMemory => "zu wenig Arbeitsspeicher",
        ErrorKind::UnexpectedEof => "hört mittendrin auf",
        // Only reading text gives this kind without an inner error; libraries attach an error of their own.
        ErrorKind::InvalidData if error.get_ref().is_none() => "kein Text in UTF-8",
        ErrorKind::AddrInUse => "schon belegt",
        ErrorKind::AddrNotAvailable => "keine Adresse dieses Rechners",
        ErrorKind::ConnectionRefused => "dort nimmt niemand eine Verbindung an",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "die Verbindung ist abgerissen"
        }
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            "übers Netz nicht zu erreichen"
        }
        ErrorKind::TimedOut => "keine Antwort in der Zeit, die dafür ist",
        _ => match without_kind(error) {
            Some(known) => known,
            None => return format!("unerwarteter Fehler ({error})"),
        },
    };
    known.to_owned()
}

/// Errors without a kind in the standard library.
#[cfg(target_os = "linux")]
fn without_kind(error: &io::Error) -> Option<&'static str> {
    use rustix::io::Errno;
    match Errno::from_io_error(error)? {
        Errno::IO => Some(DISK),
        Errno::MFILE | Errno::NFILE => Some("zu viele Dateien sind offen"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn without_kind(_: &io::Error) -> Option<&'static str> {
    None
}

const DISK: &str = "die Platte liest oder schreibt nicht mehr richtig, bitte prüfen";

/// The German text of an SQLite error.
pub fn sqlite_in_german(error: &rusqlite::Error) -> String {
    let known = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            "ein anderes Programm hält die Datenbank fest, später wiederholen"
        }
        Some(ErrorCode::DiskFull) => "die Platte ist voll",
        Some(ErrorCode::ReadOnly) => "Datei, Ordner oder Platte sind nur zu lesen",
        Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
            "keine Berechtigung"
        }
        Some(ErrorCode::DatabaseCorrupt) => "die Datei ist beschädigt",
        Some(ErrorCode::NotADatabase) => "die Datei ist keine Datenbank, oder ihr Anfang ist beschädigt",
        Some(ErrorCode::CannotOpen) => "die Datei lässt sich nicht öffnen, bitte Ordner und Rechte prüfen",
        Some(ErrorCode::SystemIoFailure) => DISK,
        Some(ErrorCode::OutOfMemory) => "zu wenig Arbeitsspeicher",
        Some(ErrorCode::OperationInterrupted) => "abgebrochen",
        _ => return format!("unerwarteter Fehler ({error})"),
    };
    known.to_owned()
}

/// The German text of the system or SQLite error that caused an error; `None` if there is no such cause.
pub fn cause_in_german(error: &(dyn Error + 'static)) -> Option<String> {
    let mut behind = Some(error);
    while let Some(error) = behind {
        if let Some(error) = error.downcast_ref() {
            return Some(sqlite_in_german(error));
        }
        if let Some(error) = error.downcast_ref() {
            return Some(in_german(error));
        }
        // csv's error does not return the I/O error as its source.
        if let Some(csv::ErrorKind::Io(error)) = error.downcast_ref().map(csv::Error::kind) {
            return Some(in_german(error));
        }
        behind = error.source();
    }
    None
}

impl Failure {
    /// The German text for a person of the firm; `Display` is for the log.
    pub fn in_german(&self) -> String {
        match self {
            Failure::Refused(refusal) => refusal.message.to_string(),
            Failure::Sql(error) => format!("die Datenbank meldet: {}", sqlite_in_german(error)),
            Failure::OutcomeUnknown => {
                "die Platte hat beim Speichern versagt, ob es gespeichert ist, weiß niemand".to_owned()
            }
            Failure::Busy(text) | Failure::Broken(text) => text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn each_cause_that_people_meet_has_german_words() {
        use ErrorKind::*;
        let kinds = [
            NotFound,
            PermissionDenied,
            AlreadyExists,
            NotADirectory,
            IsADirectory,
            DirectoryNotEmpty,
            InvalidFilename,
            StorageFull,
            QuotaExceeded,
            FileTooLarge,
            ReadOnlyFilesystem,
            ResourceBusy,
            WouldBlock,
            OutOfMemory,
            UnexpectedEof,
            InvalidData,
            AddrInUse,
            AddrNotAvailable,
            ConnectionRefused,
            ConnectionReset,
            BrokenPipe,
            HostUnreachable,
            TimedOut,
        ];
        for kind in kinds {
            let said = in_german(&kind.into());
            assert!(!said.contains('(') && !said.contains(&kind.to_string()), "{kind:?}: {said}");
        }
        let codes = [
            ffi::SQLITE_BUSY,
            ffi::SQLITE_LOCKED,
            ffi::SQLITE_FULL,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_PERM,
            ffi::SQLITE_NOMEM,
            ffi::SQLITE_INTERRUPT,
            ffi::SQLITE_PROTOCOL,
            ffi::SQLITE_CANTOPEN_ISDIR,
            ffi::SQLITE_READONLY_DBMOVED,
        ];
        for code in codes {
            let said = sqlite_in_german(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
            assert!(!said.contains('('), "{code}: {said}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn numbers_of_the_system_come_to_the_same_words() {
        // Error numbers of errno(3).
        let table = [
            (2, "gibt es nicht"),
            (13, "keine Berechtigung"),
            (1, "keine Berechtigung"),
            (17, "gibt es schon"),
            (20, "kein Ordner"),
            (21, "ein Ordner, keine Datei"),
            (28, "die Platte ist voll"),
            (30, "die Platte ist nur zu lesen"),
            (5, DISK),
            (24, "zu viele Dateien sind offen"),
            (36, "der Name ist zu lang, oder so darf keine Datei heißen"),
            (98, "schon belegt"),
            (111, "dort nimmt niemand eine Verbindung an"),
            (110, "keine Antwort in der Zeit, die dafür ist"),
            (22, "unerwarteter Fehler (Invalid argument (os error 22))"),
        ];
        for (number, words) in table {
            assert_eq!(in_german(&io::Error::from_raw_os_error(number)), words, "{number}");
        }
    }

    #[test]
    fn what_is_behind_an_error_is_found() {
        let io = io::Error::from(ErrorKind::StorageFull);
        let csv: csv::Error = io.into();
        assert_eq!(cause_in_german(&csv).as_deref(), Some("die Platte ist voll"));
        let ours: Box<dyn Error> = "nur ein Satz".into();
        assert_eq!(cause_in_german(&*ours), None);
    }
}
