//! What is told of a change.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::db::feed::FeedEntry;
use crate::db::followed::{Aktion, Art};
use crate::rules::day::Instant;

#[derive(Debug, Serialize, JsonSchema)]
pub struct Aenderung {
    pub art: Art,
    pub id: Uuid,
    pub nummer: Option<String>,
    pub aktion: Aktion,
    pub am: Instant,
    pub version: Option<i64>,
}

/// Changes in the order of commits, and where to go on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Aenderungen {
    pub data: Vec<Aenderung>,
    pub cursor: String,
}

impl From<FeedEntry> for Aenderung {
    fn from(entry: FeedEntry) -> Aenderung {
        let FeedEntry { art, id, nummer, aktion, am, version, .. } = entry;
        Aenderung { art, id, nummer, aktion, am, version }
    }
}
