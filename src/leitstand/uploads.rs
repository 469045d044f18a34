//! Files that were uploaded and looked at, and wait for somebody to say that they are to be imported.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use hyper::body::Bytes;
use uuid::Uuid;

use crate::db::TenantId;
use crate::http::wire::Decimal;
use crate::import::ImportKind;
use crate::rules::day::Instant;

/// Files that wait at most, each of them no larger than a form ([`super::upload::LARGEST`]); the oldest go.
const WAITING: usize = 4;

/// How long a file waits, in milliseconds: an hour.
const HOLDS: i64 = 60 * 60 * 1_000;

/// A file to import.
#[derive(Clone)]
pub struct Upload {
    /// Its number in the form that imports it.
    pub id: Uuid,
    /// Who uploaded it.
    pub person: i64,
    /// For which company.
    pub firma: TenantId,
    /// When.
    pub at: Instant,
    /// What it holds.
    pub kind: ImportKind,
    /// Its name.
    pub name: String,
    /// The sheet that is meant.
    pub sheet: Option<String>,
    /// What separates decimals, where it was said.
    pub decimal: Option<Decimal>,
    /// What is in it.
    pub content: Bytes,
}

/// The files that wait.
#[derive(Default)]
pub struct Uploads(Mutex<VecDeque<Upload>>);

impl Uploads {
    /// Keeps a file.
    pub fn keep(&self, upload: Upload) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|kept| upload.at.millis() - kept.at.millis() < HOLDS);
        while waiting.len() >= WAITING {
            waiting.pop_front();
        }
        waiting.push_back(upload);
    }

    /// The file that a person uploaded for a company.
    pub fn find(&self, id: &str, person: i64, firma: TenantId, now: Instant) -> Option<Upload> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |kept: &&Upload| {
            let holds = now.millis() - kept.at.millis() < HOLDS;
            kept.id.to_string() == id && kept.person == person && kept.firma == firma && holds
        };
        waiting.iter().find(is_meant).cloned()
    }

    /// Forgets a file.
    pub fn forget(&self, id: Uuid) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|kept| kept.id != id);
    }
}
