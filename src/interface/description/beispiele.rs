//! Example requests with the demo's answers; a test sends each of them again.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::platform::http::route::Route;

/// Parses an embedded JSON file; returns an empty object if it is invalid, which tests rule out.
pub fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns the example of a route: `{path, query, body, status, answer}`, plus `anfragen`, several titled
/// requests, if one request is not enough.
pub fn of(route: &Route) -> Option<&'static Value> {
    static BEISPIELE: LazyLock<Map<String, Value>> = LazyLock::new(|| object(include_str!("beispiele.json")));
    BEISPIELE.get(&route.name())
}
