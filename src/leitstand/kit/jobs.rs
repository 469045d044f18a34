//! Jobs that take longer than a page may: an import, a backup, a check. Each runs on its own thread and
//! continues when its window is closed; a page shows its progress. When the service stops, a job ends as if a
//! person had cancelled it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use maud::Markup;
use uuid::Uuid;

use super::eviction::evict_index;
use crate::platform::db::TenantId;
use crate::platform::failure::locked;
use crate::rules::day::Instant;
use crate::rules::error::{Checked, Code, Refusal};

/// Most jobs running at once. Each company has at most one, and so has the installation, so that a second one
/// finds a place.
const JOBS_RUNNING_MAX: usize = 2;

const JOBS_FULL: &str = "Es laufen schon zwei Arbeiten. Bitte warten, bis eine fertig ist.";

const COMPANY_BUSY: &str =
    "Für diese Firma läuft schon ein Import oder eine andere Arbeit. Bitte warten, bis sie fertig ist.";

const INSTALLATION_BUSY: &str =
    "Es läuft schon eine Sicherung, eine Prüfung oder ein Löschen. Bitte warten, bis es fertig ist.";

/// Most jobs kept with their outcome. Beyond it a new job evicts an ended one of the same person first.
const JOBS_KEPT_MAX: usize = 20;

#[derive(Clone)]
pub struct Outcome {
    pub shown: Markup,
    /// The page that can import the file that was checked.
    pub next: Option<Next>,
}

/// The page that imports a file that was checked.
#[derive(Clone)]
pub struct Next {
    pub to: String,
    pub file: Uuid,
    /// Something about the file is suspicious: it is only imported if the person confirms it.
    pub is_doubtful: bool,
}

#[derive(Clone, Default)]
pub struct Progress {
    pub step: String,
    /// How much of the step is done, of how much; 0 of 0 if unknown.
    pub done: usize,
    pub of: usize,
    /// The job can no longer be cancelled.
    pub is_last: bool,
    /// The outcome, or a German sentence that says why it failed.
    pub ended: Option<Result<Outcome, String>>,
}

/// The work of a job. It ends soon after [`Job::is_given_up`] and reports its progress ([`Job::set_step`]).
pub type JobRun = Arc<dyn Fn(&Job) -> Result<Outcome, String> + Send + Sync>;

#[derive(Clone)]
pub struct NewJob {
    pub id: Uuid,
    pub title: String,
    pub doing: JobRun,
}

pub struct Job {
    pub id: Uuid,
    pub title: String,
    pub person: i64,
    /// `None` for a job of the installation.
    pub firma: Option<TenantId>,
    pub begun: Instant,
    progress: Mutex<Progress>,
    given_up: AtomicBool,
}

impl Job {
    pub fn progress(&self) -> Progress {
        locked(&self.progress).clone()
    }

    pub fn set_step(&self, step: &str, of: usize) {
        let mut progress = locked(&self.progress);
        (progress.step, progress.done, progress.of, progress.is_last) = (step.to_owned(), 0, of, false);
    }

    /// Sets the step and its number, from 1 to `of`; in the last step the job can no longer be cancelled.
    pub fn set_numbered_step(&self, step: &str, number: usize, of: usize) {
        let mut progress = locked(&self.progress);
        let (done, is_last) = (number.saturating_sub(1), number >= of);
        (progress.step, progress.done, progress.of, progress.is_last) = (step.to_owned(), done, of, is_last);
    }

    pub fn add_done(&self, more: usize) {
        locked(&self.progress).done += more;
    }

    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn end(&self, outcome: Result<Outcome, String>) {
        locked(&self.progress).ended = Some(outcome);
    }
}

#[derive(Default)]
pub struct Jobs(Mutex<VecDeque<Arc<Job>>>);

impl Jobs {
    /// Starts a job of a company or of the installation. The error is a German sentence: too many jobs run.
    pub fn begin(
        &self,
        job: NewJob,
        person: i64,
        firma: Option<TenantId>,
        begun: Instant,
    ) -> Result<(), &'static str> {
        let NewJob { id, title, doing } = job;
        let (progress, given_up) = (Mutex::new(Progress::default()), AtomicBool::new(false));
        let job = Arc::new(Job { id, title, person, firma, begun, progress, given_up });
        let mut jobs = locked(&self.0);
        check_capacity(&jobs, firma)?;
        let own = Arc::clone(&job);
        let run = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| doing(&own)));
            let panicked = |_| Err("Das ist ein Fehler im Programm; bitte melden.".to_owned());
            own.end(outcome.unwrap_or_else(panicked));
        };
        thread::Builder::new().name("job".into()).spawn(run).map_err(|_| JOBS_FULL)?;
        if jobs.len() >= JOBS_KEPT_MAX {
            make_room(&mut jobs, person);
        }
        jobs.push_back(job);
        Ok(())
    }

    /// Refuses if a job of this company, or of the installation, could not begin now.
    pub fn check_room(&self, firma: Option<TenantId>) -> Checked<()> {
        let room = check_capacity(&locked(&self.0), firma);
        room.map_err(|why| Refusal::new(Code::NichtVerfuegbar, why))
    }

    pub fn find(&self, id: Uuid) -> Option<Arc<Job>> {
        locked(&self.0).iter().find(|job| job.id == id).cloned()
    }

    pub fn of(&self, person: i64) -> Vec<Arc<Job>> {
        let jobs = locked(&self.0);
        jobs.iter().rev().filter(|job| job.person == person).cloned().collect()
    }

    pub fn give_up(&self) {
        locked(&self.0).iter().for_each(|job| job.give_up());
    }
}

fn check_capacity(jobs: &VecDeque<Arc<Job>>, firma: Option<TenantId>) -> Result<(), &'static str> {
    let running: Vec<_> = jobs.iter().filter(|job| job.progress().ended.is_none()).collect();
    match running.iter().any(|job| job.firma == firma) {
        true => Err(firma.map_or(INSTALLATION_BUSY, |_| COMPANY_BUSY)),
        false if running.len() >= JOBS_RUNNING_MAX => Err(JOBS_FULL),
        false => Ok(()),
    }
}

fn make_room(jobs: &mut VecDeque<Arc<Job>>, person: i64) {
    let ended = jobs.iter().enumerate().filter(|(_, job)| job.progress().ended.is_some());
    let (places, persons): (Vec<usize>, Vec<i64>) = ended.map(|(at, job)| (at, job.person)).unzip();
    let evicted = evict_index(&persons, person).and_then(|at| places.get(at));
    evicted.and_then(|at| jobs.remove(*at));
}
