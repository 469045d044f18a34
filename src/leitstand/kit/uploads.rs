//! Uploaded files that were checked and wait until a person confirms their import. If there are too many, a
//! new file evicts one of the same person first.

use std::collections::VecDeque;
use std::sync::Mutex;

use hyper::body::Bytes;
use uuid::Uuid;

use super::eviction::evict_index;
use crate::platform::db::TenantId;
use crate::platform::failure::locked;
use crate::platform::http::wire::Decimal;
use crate::platform::import::Import;
use crate::platform::import::encoding::CodePage;
use crate::rules::day::Instant;

/// Most waiting files, each of them no larger than a form ([`super::upload::UPLOAD_BYTES_MAX`]).
const UPLOADS_WAITING_MAX: usize = 4;

/// Longest time that a file waits, in milliseconds: an hour.
const UPLOAD_WAITS_MILLIS_MAX: i64 = 60 * 60 * 1_000;

#[derive(Clone)]
pub struct Upload {
    pub id: Uuid,
    pub person: i64,
    pub firma: TenantId,
    pub at: Instant,
    pub kind: &'static Import,
    pub name: String,
    pub sheet: Option<String>,
    /// The decimal separator, if the person chose one.
    pub decimal: Option<Decimal>,
    /// The code page, if the person chose one.
    pub encoding: Option<CodePage>,
    pub content: Bytes,
}

/// The name of an import kind, as a heading.
pub fn named(kind: &str) -> String {
    let kind = match kind {
        "barverkaeufe" => "barverkäufe",
        "steuersaetze" => "steuersätze",
        kind => kind,
    };
    let mut letters = kind.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[derive(Default)]
pub struct Uploads(Mutex<VecDeque<Upload>>);

impl Uploads {
    pub fn keep(&self, upload: Upload) {
        let mut waiting = locked(&self.0);
        if waiting.len() >= UPLOADS_WAITING_MAX {
            let persons: Vec<i64> = waiting.iter().map(|kept| kept.person).collect();
            evict_index(&persons, upload.person).and_then(|at| waiting.remove(at));
        }
        waiting.push_back(upload);
    }

    pub fn drop_old(&self, now: Instant) {
        let mut waiting = locked(&self.0);
        waiting.retain(|kept| now.millis() - kept.at.millis() < UPLOAD_WAITS_MILLIS_MAX);
    }

    pub fn find(&self, id: &str, person: i64, firma: TenantId) -> Option<Upload> {
        let waiting = locked(&self.0);
        let is_meant =
            |kept: &&Upload| kept.id.to_string() == id && kept.person == person && kept.firma == firma;
        waiting.iter().find(is_meant).cloned()
    }

    pub fn forget(&self, id: Uuid) {
        locked(&self.0).retain(|kept| kept.id != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_nobody_imports_are_dropped_after_an_hour() {
        let (uploads, at) = (Uploads::default(), Instant::parse("2026-07-10T10:00:00Z").unwrap());
        let (id, kind) = (Uuid::now_v7(), crate::interface::imports::all().next().unwrap());
        let name = "kunden.csv".to_owned();
        let content = Bytes::from_static(b"name\nHuber\n");
        uploads.keep(Upload {
            id,
            person: 1,
            firma: 1,
            at,
            kind,
            name,
            sheet: None,
            decimal: None,
            encoding: None,
            content,
        });
        for (now, kept) in [("10:59:59.999", 1), ("11:00:00", 0)] {
            uploads.drop_old(Instant::parse(&format!("2026-07-10T{now}Z")).unwrap());
            assert_eq!(uploads.0.lock().unwrap().len(), kept, "{now}");
        }
    }
}
