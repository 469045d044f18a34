//! Requests with their answers, as the demo gives them; a test asks it for each of them again.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::platform::http::route::Route;

/// A file of JSON that is part of the program; tests read each of them.
pub fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// The example of a route: `{path, query, body, status, answer}`, and in `anfragen` requests with a title where one does
/// not say enough.
pub fn of(route: &Route) -> Option<&'static Value> {
    static BEISPIELE: LazyLock<Map<String, Value>> = LazyLock::new(|| object(include_str!("beispiele.json")));
    BEISPIELE.get(&route.name())
}
