//! Which route a request belongs to.

use uuid::Uuid;

use super::route::{Method, Route};
use super::wire::parse_uuid;

/// The table of routes, made ready for looking up.
pub struct Router(Vec<Entry>);

struct Entry {
    route: &'static Route,
    segments: Vec<&'static str>,
}

impl Router {
    /// Keeps the order of the table: of two routes with the same path the first is found.
    pub fn new(routes: impl Iterator<Item = &'static Route>) -> Router {
        Router(routes.map(|route| Entry { route, segments: split(route.pattern) }).collect())
    }

    /// The route at a place in the table.
    pub fn route(&self, at: usize) -> &'static Route {
        self.0[at].route
    }

    /// The place of the route that a request belongs to.
    pub fn find(&self, method: Option<Method>, path: &[&str]) -> Option<usize> {
        self.0.iter().position(|entry| Some(entry.route.method) == method && entry.has(path))
    }

    /// The methods that a path has.
    pub fn methods(&self, path: &[&str]) -> Vec<&'static str> {
        self.0.iter().filter(|entry| entry.has(path)).map(|entry| entry.route.method.as_str()).collect()
    }

    /// The ids in a path that a route has. What is no uuid matches no record and is not found later.
    pub fn ids(&self, at: usize, path: &[&str]) -> Vec<Option<Uuid>> {
        let pairs = self.0[at].segments.iter().zip(path);
        pairs.filter(|(expected, _)| is_id(expected)).map(|(_, segment)| parse_uuid(segment)).collect()
    }
}

impl Entry {
    /// Whether the route has this path: a segment `{…}` is anything but nothing. From the end, because all
    /// paths begin alike.
    fn has(&self, path: &[&str]) -> bool {
        let fits = |(expected, segment): (&&str, &&str)| {
            if is_id(expected) { !segment.is_empty() } else { expected == segment }
        };
        self.segments.len() == path.len() && self.segments.iter().zip(path).rev().all(fits)
    }
}

fn is_id(segment: &str) -> bool {
    segment.starts_with('{')
}

/// The segments of a path; one slash at its end is as none (D18).
pub fn split(path: &str) -> Vec<&str> {
    without_last_slash(path).split('/').skip(1).collect()
}

/// The path without a slash at its end; that of the root stays.
pub fn without_last_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path)
}
