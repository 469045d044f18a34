//! Work that takes longer than a page may: an import, a backup, a check. Each has a thread of its own and goes on when
//! its window is closed; a page says how far it is. When the service ends, a work ends as if it had been given up.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use maud::Markup;
use uuid::Uuid;

use super::room::goes;
use crate::rules::day::Instant;

/// Works that run at once.
const RUNNING: usize = 2;

/// What is said where so many run.
pub const FULL: &str = "Es laufen schon zwei Arbeiten. Bitte warten, bis eine fertig ist.";

/// Works that are remembered with what they came to. Each person makes room for a further one of theirs.
const KEPT: usize = 20;

/// What a work came to.
#[derive(Clone)]
pub struct Outcome {
    /// What there is to see.
    pub shown: Markup,
    /// What may be done next, if anything: a form with this button.
    pub next: Option<Next>,
}

/// A form at the end of a work.
#[derive(Clone)]
pub struct Next {
    /// Where it goes.
    pub to: String,
    /// Its button.
    pub button: &'static str,
    /// What it carries.
    pub fields: Vec<(&'static str, String)>,
}

/// How far a work is.
#[derive(Clone, Default)]
pub struct Stand {
    /// What it is at.
    pub step: String,
    /// How much of it is done, of how much; 0 of 0 where that is not known.
    pub done: usize,
    pub of: usize,
    /// It can no longer be given up.
    pub is_last: bool,
    /// What it came to, or in a German sentence why to nothing.
    pub ended: Option<Result<Outcome, String>>,
}

/// What a work does. It looks whether it [`Work::is_given_up`] and says what it [`Work::is_at`].
pub type Doing = Arc<dyn Fn(&Work) -> Result<Outcome, String> + Send + Sync>;

/// A work.
pub struct Work {
    /// Its number in the address of its page.
    pub id: Uuid,
    /// What it is, for people.
    pub title: String,
    /// Who began it.
    pub person: i64,
    /// When.
    pub begun: Instant,
    stand: Mutex<Stand>,
    given_up: AtomicBool,
}

impl Work {
    /// How far it is.
    pub fn stand(&self) -> Stand {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says what it is at.
    pub fn is_at(&self, step: &str, of: usize) {
        let mut stand = self.stand.lock().unwrap_or_else(PoisonError::into_inner);
        (stand.step, stand.done, stand.of, stand.is_last) = (step.to_owned(), 0, of, false);
    }

    /// Says at which of so many steps it is, from 1; with the last it can no longer be given up.
    pub fn is_at_step(&self, step: &str, number: usize, of: usize) {
        let mut stand = self.stand.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, is_last) = (number.saturating_sub(1), number >= of);
        (stand.step, stand.done, stand.of, stand.is_last) = (step.to_owned(), done, of, is_last);
    }

    /// Says that so much more is done.
    pub fn has_done(&self, more: usize) {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner).done += more;
    }

    /// Whether somebody does not want it any more.
    pub fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Asks it to end as soon as it can.
    pub fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn end(&self, outcome: Result<Outcome, String>) {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner).ended = Some(outcome);
    }
}

/// All works.
#[derive(Default)]
pub struct Works(Mutex<VecDeque<Arc<Work>>>);

impl Works {
    /// Begins a work; false where as many run as may.
    pub fn begin(&self, id: Uuid, title: &str, person: i64, now: Instant, doing: Doing) -> bool {
        let work = Work {
            id,
            title: title.to_owned(),
            person,
            begun: now,
            stand: Mutex::default(),
            given_up: AtomicBool::new(false),
        };
        let work = Arc::new(work);
        let mut works = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_full(&works) {
            return false;
        }
        let own = Arc::clone(&work);
        let run = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| doing(&own)));
            let panicked = |_| Err("Das ist ein Fehler im Programm; bitte melden.".to_owned());
            own.end(outcome.unwrap_or_else(panicked));
        };
        if thread::Builder::new().name("work".into()).spawn(run).is_err() {
            return false;
        }
        if works.len() >= KEPT {
            make_room(&mut works, person);
        }
        works.push_back(work);
        true
    }

    /// Whether one more may begin.
    pub fn has_room(&self) -> bool {
        !is_full(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One of them.
    pub fn find(&self, id: Uuid) -> Option<Arc<Work>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().find(|work| work.id == id).cloned()
    }

    /// Those that somebody began, the newest first.
    pub fn of(&self, person: i64) -> Vec<Arc<Work>> {
        let works = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        works.iter().rev().filter(|work| work.person == person).cloned().collect()
    }

    /// Asks all of them to end.
    pub fn give_up(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|work| work.give_up());
    }
}

fn is_full(works: &VecDeque<Arc<Work>>) -> bool {
    works.iter().filter(|work| work.stand().ended.is_none()).count() >= RUNNING
}

/// Forgets one that has ended.
fn make_room(works: &mut VecDeque<Arc<Work>>, person: i64) {
    let ended = works.iter().enumerate().filter(|(_, work)| work.stand().ended.is_some());
    let (places, persons): (Vec<usize>, Vec<i64>) = ended.map(|(at, work)| (at, work.person)).unzip();
    let goes = goes(&persons, person).and_then(|at| places.get(at));
    goes.and_then(|at| works.remove(*at));
}
