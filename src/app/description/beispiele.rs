//! Requests with their answers, as the demo gives them; a test asks it for each of them again.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::http::route::Route;

static BEISPIELE: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    // The file is part of the program; a test reads it.
    serde_json::from_str(include_str!("beispiele.json")).unwrap_or_default()
});

/// The example of a route: `{path, query, body, status, answer}`, and in `anfragen` requests with a title where one does
/// not say enough.
pub fn of(route: &Route) -> Option<&'static Value> {
    BEISPIELE.get(&route.name())
}
