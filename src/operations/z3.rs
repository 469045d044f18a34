//! Makes the requested hand-overs for auditors (D36), one after the other, while requests are answered. Each
//! reads a copy of the database: a snapshot held for minutes would let the write-ahead log grow (P7).

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use uuid::Uuid;

use super::backups::with_copy;
use crate::master::tenants;
use crate::office::z3::{self, Began, Ergebnis, Ueberlassung, Zeitraum};
use crate::platform::db::file::connection::open_writer;
use crate::platform::db::file::copy::{copy, fill_at_once, remove_leftovers};
use crate::platform::db::file::files::{beside, folder_of, remove_file};
use crate::platform::db::readers::Lane;
use crate::platform::db::readers::priority::step_back;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::db::writer::batch::{Batch, Ended};
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::db::{TenantId, log};
use crate::platform::failure::{Failure, Result, unpanicked};
use crate::platform::gate::Gate;
use crate::rules::day::Instant;

/// How often the thread checks whether the writer has committed; if so, it looks for a waiting hand-over.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How many such looks follow a request for a hand-over: the request is counted before its transaction
/// commits.
const LOOKS: u32 = 60;

/// Pause after the outcome of a hand-over could not be recorded.
const RETRY_AFTER: Duration = Duration::from_secs(60);

const ENDED: &str =
    "Der Server wurde beendet, bevor die Datei fertig war. Bitte den Zeitraum neu zusammenstellen.";

/// Makes a hand-over for the command line, also beside a running server. The file must not exist yet.
pub fn export(
    database: &Path,
    (tenant, now): (TenantId, Instant),
    (zeitraum, mit_belegen): (Zeitraum, bool),
    out: &Path,
    began: Began<'_>,
) -> Result<Ergebnis> {
    let fill = |part: &Path| fill_at_once(&open_writer(database)?, part);
    with_copy(fill, database, began, |source| {
        make(source, (tenant, now), (zeitraum, mit_belegen), out, began)
    })
}

fn make(
    source: &Path,
    (tenant, now): (TenantId, Instant),
    (zeitraum, mit_belegen): (Zeitraum, bool),
    out: &Path,
    began: Began<'_>,
) -> Result<Ergebnis> {
    let mut made = None;
    let fill = |part: &Path| {
        let mut connection = z3::open(source)?;
        made = Some(z3::schreiben(&mut connection, (tenant, now), zeitraum, mit_belegen, part, began)?);
        Ok(())
    };
    copy(out, fill, |_| Ok(()))?;
    made.ok_or_else(|| Failure::Broken("nothing was handed over".to_owned()))
}

/// The thread that makes the hand-overs of a running service.
pub struct Ueberlassungen {
    is_ending: Arc<AtomicBool>,
    wake: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ueberlassungen {
    pub fn start(gate: Arc<Gate>, database: &Path) -> std::io::Result<Ueberlassungen> {
        let (wake, woken) = channel();
        let is_ending = Arc::<AtomicBool>::default();
        let service = Service { gate, database: database.to_owned(), is_ending: Arc::clone(&is_ending) };
        let thread = Builder::new().name("z3".into()).spawn(move || service.run(&woken))?;
        Ok(Ueberlassungen { is_ending, wake, thread })
    }

    /// Stops the hand-over in progress, and the thread.
    pub fn stop(self) {
        self.is_ending.store(true, Ordering::Relaxed);
        drop(self.wake);
        let _ = self.thread.join();
    }
}

struct Service {
    gate: Arc<Gate>,
    database: PathBuf,
    is_ending: Arc<AtomicBool>,
}

impl Service {
    fn run(&self, woken: &Receiver<()>) {
        self.end_interrupted();
        // The first look finds those that a previous service left waiting.
        let (mut asked, mut looks, mut seen) = (z3::asked(), 1, None);
        while woken.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            if z3::asked() != asked {
                (asked, looks) = (z3::asked(), LOOKS);
            }
            let commits = self.gate.writer.watch.commits.load(Ordering::Relaxed);
            if looks == 0 || seen == Some(commits) {
                continue;
            }
            (looks, seen) = (looks - 1, Some(commits));
            for (tenant, waiting) in self.all_waiting() {
                if self.is_ending.load(Ordering::Relaxed) {
                    return;
                }
                if self.carry_out(tenant, &waiting) {
                    continue;
                }
                looks = LOOKS;
                if woken.recv_timeout(RETRY_AFTER) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        }
    }

    /// Records those that a previous service began and did not finish as failed.
    fn end_interrupted(&self) {
        let begins = beside(&self.database, "z3-");
        let begins = begins.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Err(failure) = remove_leftovers(folder_of(&self.database), |name| name.starts_with(&begins)) {
            log(&format!("what is left of a hand-over was not deleted: {failure}"));
        }
        for (tenant, waiting) in self.all_waiting().filter(|(_, waiting)| waiting.schritt > 0) {
            self.end(tenant, waiting.id, Err(ENDED.to_owned()));
        }
    }

    fn all_waiting(&self) -> impl Iterator<Item = (TenantId, Ueberlassung)> + use<> {
        let now = (self.gate.clock)();
        let found = self.gate.readers.read(Lane::Slow, |connection| {
            let mut found = Vec::new();
            for tenant in tenants::list(connection)? {
                let waiting = z3::waiting(&Tx::new(connection, tenant.id, now))?;
                found.extend(waiting.into_iter().map(|waiting| (tenant.id, waiting)));
            }
            Ok(found)
        });
        let failed = |failure: &Failure| log(&format!("no hand-over was looked for: {failure}"));
        found.inspect_err(failed).unwrap_or_default().into_iter()
    }

    /// Makes one hand-over; returns whether its outcome was recorded.
    fn carry_out(&self, tenant: TenantId, waiting: &Ueberlassung) -> bool {
        // Runs in its own thread with lowered priority, because a thread cannot raise its priority again.
        let made = std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                step_back();
                unpanicked(|| self.make(tenant, waiting))
            });
            work.join()
                .unwrap_or_else(|_| Err(Failure::Broken("the thread of a hand-over panicked".to_owned())))
        });
        let is_ending = self.is_ending.load(Ordering::Relaxed);
        let ended = made.map_err(|failure| match failure {
            _ if is_ending => ENDED.to_owned(),
            Failure::Refused(refusal) => refusal.message.to_string(),
            Failure::Busy(why) => format!("Die Datei ist nicht entstanden: {why}."),
            failure => {
                log(&format!("the hand-over {} was not made: {failure}", waiting.id));
                "Die Datei ist nicht entstanden. Warum, steht im Protokoll des Servers.".to_owned()
            }
        });
        self.end(tenant, waiting.id, ended)
    }

    fn make(&self, tenant: TenantId, waiting: &Ueberlassung) -> Result<Ergebnis> {
        let (id, zeitraum) = (waiting.id, Zeitraum { von: waiting.von, bis: waiting.bis });
        let (step, last) = (Cell::new(0), Cell::new(String::new()));
        let began = |name: &str| {
            if self.is_ending.load(Ordering::Relaxed) {
                return Err(Failure::Busy("der Server hält an".to_owned()));
            }
            if last.replace(name.to_owned()) != name {
                let number = step.get() + 1;
                step.set(number);
                self.note(tenant, move |tx| z3::set_step(tx, id, number));
            }
            Ok(())
        };
        let fill = |part: &Path| self.gate.writer.copy(part);
        let target = z3::file_of(&self.database, id);
        let now = (self.gate.clock)();
        with_copy(fill, &self.database, &began, |source| {
            make(source, (tenant, now), (zeitraum, waiting.mit_belegen), &target, &began)
        })
    }

    /// Records the outcome of a hand-over, and deletes the files of older ones.
    fn end(&self, tenant: TenantId, id: Uuid, ended: std::result::Result<Ergebnis, String>) -> bool {
        let old = self.note(tenant, move |tx| {
            z3::end(tx, id, &ended)?;
            z3::with_old_file(tx, z3::FILES_KEPT)
        });
        let files = old.iter().flatten().map(|id| z3::file_of(&self.database, *id));
        let deleted: Result<Vec<()>> = files.map(|file| remove_file(&file)).collect();
        if let Err(failure) = deleted {
            log(&format!("the file of an old hand-over was not deleted: {failure}"));
        }
        old.is_some()
    }

    /// Lets the writer record something; returns `None` if that failed, which is logged.
    fn note<T: Send + 'static>(
        &self,
        tenant: TenantId,
        work: impl Fn(&WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Option<T> {
        let run = move |batch: &Batch<'_>| batch.whole(tenant, None, &work);
        let (done, ended) = self.gate.writer.run_alone(QueueKey::house(), run);
        match done {
            Some(Ok(done)) if ended == Ended::Committed => Some(done),
            Some(Err(failure)) => {
                log(&format!("how far a hand-over is was not written down: {failure}"));
                None
            }
            _ => None,
        }
    }
}
