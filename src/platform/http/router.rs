//! Finds the route of a request.

use uuid::Uuid;

use super::route::{Method, Route};
use crate::rules::verweis::parse_uuid;

pub struct Router(Vec<RouterEntry>);

struct RouterEntry {
    route: &'static Route,
    segments: Vec<&'static str>,
    /// Index of the first route with the same pattern.
    first: usize,
}

impl Router {
    /// Keeps the order of the table: if two patterns match a path, the first one wins, so that
    /// `/chargen/verfuegbar`, which precedes `/chargen/{id}`, is not taken for an id.
    pub fn new(routes: impl Iterator<Item = &'static Route>) -> Router {
        let mut entries: Vec<RouterEntry> = Vec::new();
        for route in routes {
            let segments = split(route.pattern);
            let first = entries.iter().position(|entry| entry.segments == segments);
            entries.push(RouterEntry { route, segments, first: first.unwrap_or(entries.len()) });
        }
        Router(entries)
    }

    pub fn route(&self, at: usize) -> &'static Route {
        self.0[at].route
    }

    pub fn find(&self, method: Option<Method>, path: &[&str]) -> Option<usize> {
        let first = self.first(path)?;
        let fits = |entry: &RouterEntry| entry.first == first && Some(entry.route.method) == method;
        self.0[first..].iter().position(fits).map(|at| first + at)
    }

    fn first(&self, path: &[&str]) -> Option<usize> {
        self.0.iter().position(|entry| entry.has(path))
    }

    pub fn methods(&self, path: &[&str]) -> Vec<&'static str> {
        let Some(first) = self.first(path) else { return Vec::new() };
        let of_path = self.0[first..].iter().filter(|entry| entry.first == first);
        // Whoever may GET may ask for the head alone (RFC 9110 9.3.2).
        let names = |entry: &RouterEntry| match entry.route.method {
            Method::Get => vec!["GET", "HEAD"],
            other => vec![other.as_str()],
        };
        of_path.flat_map(names).collect()
    }

    /// Returns the ids in a path that matches a route. A segment that is no UUID becomes `None`, and later
    /// "not found".
    pub fn ids(&self, at: usize, path: &[&str]) -> Vec<Option<Uuid>> {
        let pairs = self.0[at].segments.iter().zip(path);
        pairs.filter(|(expected, _)| is_id(expected)).map(|(_, segment)| parse_uuid(segment)).collect()
    }
}

impl RouterEntry {
    /// Whether the route matches this path: a segment `{…}` matches anything but an empty segment. Compares
    /// from the end, because all paths begin alike.
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

/// Splits a path into segments; one trailing slash is ignored (D18).
pub fn split(path: &str) -> Vec<&str> {
    without_last_slash(path).split('/').skip(1).collect()
}

/// Removes a trailing slash, except from the root path.
pub fn without_last_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(path)
}
