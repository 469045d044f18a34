//! What is to be said on the page that a form leads to: hints, or that it is done.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::{Mutex, PoisonError};

use super::people::digest;

/// Forms whose page was not yet asked for, at most; the oldest are dropped.
const MOST: usize = 1_000;

/// Those of one browser at most: a person may have sent forms in several windows.
const OF_BROWSER: usize = 8;

/// What one form left.
struct Saying {
    /// The digest of the cookie.
    browser: [u8; 32],
    /// The page that it is for.
    path: String,
    notes: Vec<String>,
}

/// What is still to be said, the oldest first.
#[derive(Default)]
pub struct Sayings(Mutex<VecDeque<Saying>>);

impl Sayings {
    /// Keeps notes for the page that the browser with this cookie is sent to; a query behind its path does not count.
    pub fn keep(&self, cookie: &str, to: &str, notes: Vec<String>) {
        if notes.is_empty() {
            return;
        }
        let path = to.split(['?', '#']).next().unwrap_or_default().to_owned();
        let browser = digest(cookie);
        let mut sayings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_own = |saying: &Saying| saying.browser == browser;
        let own = sayings.iter().filter(|saying| is_own(saying)).count();
        let dropped = match own {
            OF_BROWSER.. => sayings.iter().position(is_own),
            _ => (sayings.len() >= MOST).then_some(0),
        };
        if let Some(dropped) = dropped {
            sayings.remove(dropped);
        }
        sayings.push_back(Saying { browser, path, notes });
    }

    /// Takes the notes for a page.
    pub fn take(&self, cookie: &str, path: &str) -> Vec<String> {
        let browser = digest(cookie);
        let mut sayings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notes = Vec::new();
        sayings.retain_mut(|saying| {
            let is_meant = saying.browser == browser && saying.path == path;
            if is_meant {
                notes.append(&mut take(&mut saying.notes));
            }
            !is_meant
        });
        notes
    }
}
