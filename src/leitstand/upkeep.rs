//! What whoever keeps the house asks each morning: did the backup run, and how long do disk and certificate last?

use std::path::{Path, PathBuf};

use crate::app::kept;
use crate::db::files::folder_of;
use crate::gate::Nightly;
use crate::http::tls::validity;
use crate::rules::day::Instant;

/// How disk, backups and certificate are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upkeep {
    /// When that was looked at.
    pub at: Instant,
    /// Free bytes of the disk of the database, where it says so.
    pub free: Option<u64>,
    /// Where backups go.
    pub folder: PathBuf,
    /// When the newest good backup was finished, if there is one; none where the folder cannot be read.
    pub backup: Option<Option<Instant>>,
    /// When the certificate ends.
    pub certificate: Option<Instant>,
}

impl Upkeep {
    /// Looks at the disk, which may take as long as it likes.
    pub fn look(
        database: &Path,
        nightly: Option<&Nightly>,
        certificate: Option<&Path>,
        now: Instant,
    ) -> Upkeep {
        let folder = kept::folder(database, nightly);
        let newest =
            |kept: Vec<kept::Kept>| kept.iter().filter(|kept| kept.is_proved).find_map(|kept| kept.made);
        Upkeep {
            at: now,
            free: fs4::available_space(folder_of(database)).ok(),
            folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
            backup: kept::kept(database, folder).ok().map(newest),
            certificate: certificate.and_then(|file| validity(file).ok()).map(|(_, until)| until),
        }
    }
}
