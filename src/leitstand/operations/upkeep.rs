//! The daily checks of the installation: the newest backup, free disk space, the end of the certificate.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::operations::backups;
use crate::platform::db::Clock;
use crate::platform::db::file::files::folder_of;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Nightly;
use crate::platform::http::tls::validity;
use crate::rules::day::Instant;

/// How often the checks are made.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upkeep {
    pub at: Instant,
    /// Free bytes on the disk of the database, if known.
    pub free: Option<u64>,
    pub folder: PathBuf,
    /// When the newest good backup was finished: the inner `None` if there is none, the outer if the folder
    /// cannot be read.
    pub backup: Option<Option<Instant>>,
    pub certificate: Option<Instant>,
}

impl Upkeep {
    /// Makes the checks. Blocks as long as the disk takes.
    fn look(database: &Path, nightly: Option<&Nightly>, certificate: Option<&Path>, now: Instant) -> Upkeep {
        let folder = backups::folder(database, nightly);
        let newest = |kept: Vec<backups::StoredBackup>| {
            kept.iter().filter(|kept| kept.is_proved).find_map(|kept| kept.made)
        };
        Upkeep {
            at: now,
            free: fs4::available_space(folder_of(database)).ok(),
            folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
            backup: backups::list_backups(database, folder).ok().map(newest),
            certificate: certificate.and_then(|file| validity(file).ok()).map(|(_, until)| until),
        }
    }
}

/// A thread that makes the checks regularly, so that no page waits for a sleeping disk.
pub struct Monitor {
    last: Arc<Mutex<Option<Upkeep>>>,
    /// Triggers the checks now; the thread ends when this is dropped.
    wake: SyncSender<()>,
}

impl Monitor {
    /// Starts the thread, which makes the first checks at once.
    pub fn start(
        database: PathBuf,
        nightly: Option<Nightly>,
        certificate: Option<PathBuf>,
        clock: Clock,
    ) -> Result<Monitor> {
        let (wake, woken) = sync_channel(1);
        let last = Arc::<Mutex<Option<Upkeep>>>::default();
        let shared = Arc::clone(&last);
        let work = move || {
            loop {
                let found = Upkeep::look(&database, nightly.as_ref(), certificate.as_deref(), clock());
                *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                if woken.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().name("lookout".into()).spawn(work);
        started.map_err(|error| Failure::Broken(format!("no thread looks at the disk: {error}")))?;
        Ok(Monitor { last, wake })
    }

    /// The last result; `None` before the first checks are done.
    pub fn last(&self) -> Option<Upkeep> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn wake(&self) {
        let _ = self.wake.try_send(());
    }
}
