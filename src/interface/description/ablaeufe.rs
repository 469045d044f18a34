//! Descriptions of the operations in German, for readers of `/docs`: what each does, when to use it and what
//! follows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::platform::http::route::Route;

const HEADING: &str = "\n## ";

static ABLAEUFE: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| texts().collect());

/// Returns the text of a route; empty if it has none, which a test refuses.
pub fn of(route: &Route) -> &'static str {
    ABLAEUFE.get(route.name().as_str()).copied().unwrap_or_default()
}

fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let sections = include_str!("ablaeufe.md").split(HEADING).skip(1);
    sections.filter_map(|section| section.split_once('\n')).map(|(name, text)| (name.trim(), text.trim()))
}
