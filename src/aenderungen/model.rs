//! What is told of a change.

use schemars::JsonSchema;
use serde::Serialize;

use crate::db::feed::FeedEntry;

/// Changes in the order of commits, and where to go on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Aenderungen {
    pub data: Vec<FeedEntry>,
    pub cursor: String,
}
