//! A route is a row of data (wall 1): everything that must know the routes reads the table.

use uuid::Uuid;

use super::call::{Call, Request};
use super::reply::Reply;
use crate::db::error::Result;
use crate::db::tx::{Tx, WriteTx};
use crate::rules::scope::Scope;

/// Methods that routes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Method {
    Get,
    Post,
    Put,
}

impl Method {
    /// The method as HTTP has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        }
    }

    /// The method of a request; HEAD is GET whose body is not sent.
    pub fn parse(text: &str) -> Option<Method> {
        match text {
            "GET" | "HEAD" => Some(Method::Get),
            "POST" => Some(Method::Post),
            "PUT" => Some(Method::Put),
            _ => None,
        }
    }
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody, without a key.
    Open,
    /// Any valid key.
    AnyKey,
    /// A key with this scope.
    Scope(Scope),
}

/// The work of a writing request, for the writer's thread.
pub type WriteWork = Box<dyn FnOnce(&WriteTx<'_>) -> Result<Reply> + Send>;

/// What a route runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// Without a transaction.
    Open(fn(&Call<'_>) -> Result<Reply>),
    /// About the service itself: asked by whoever watches over it, and not in the audit log.
    Inside(fn(&Call<'_>, &dyn Inside) -> Result<Reply>),
    /// On a snapshot. May be run twice: it changes lanes when it takes long.
    Read(fn(&Call<'_>, &Tx<'_>) -> Result<Reply>),
    /// First the body is read, in place; then the work is done by the writer.
    Write(fn(&Call<'_>) -> Result<WriteWork>),
}

/// What the service says of itself.
pub trait Inside {
    /// Whether it can read and write, and if not, why.
    fn ready(&self) -> std::result::Result<(), String>;
    /// Its metrics in the text format of Prometheus.
    fn metrics(&self) -> String;
    /// Whether metrics are shown to this client.
    fn shows_metrics_to(&self, request: &Request) -> bool;
}

/// How large a body a route takes (D18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// 1 MiB.
    Ordinary,
    /// 14 MiB: 10 MiB as Base64.
    Upload,
}

impl BodyLimit {
    /// The limit in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            BodyLimit::Ordinary => 1 << 20,
            BodyLimit::Upload => 14 << 20,
        }
    }
}

/// The type of a query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// Free text.
    Text,
    /// An integer id.
    Int,
    /// A uuid.
    Uuid,
    /// A day (D15).
    Day,
    /// true or false.
    Bool,
    /// One of these values.
    OneOf(&'static [&'static str]),
    /// Rows at most; the default, if the specification declares one.
    Limit(Option<u32>),
    /// Rows passed over.
    Offset,
}

/// A query parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ParamKind,
    /// What it does, in German.
    pub summary: &'static str,
}

impl Param {
    /// Rows passed over.
    pub const OFFSET: Param =
        Param { name: "offset", kind: ParamKind::Offset, summary: "Einträge, die übersprungen werden" };

    /// Rows at most; the default is what the specification declares, if it declares one.
    pub const fn limit(default: Option<u32>) -> Param {
        Param { name: "limit", kind: ParamKind::Limit(default), summary: "Höchstzahl der Einträge" }
    }
}

/// A row of the table.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with `{id}` for a uuid.
    pub pattern: &'static str,
    /// Who may use it.
    pub access: Access,
    /// What it runs.
    pub run: Run,
    /// What it does, in German: one line for the list of routes.
    pub summary: &'static str,
    /// Its query parameters; any other is refused.
    pub query: &'static [Param],
    /// How large a body it takes.
    pub body: BodyLimit,
}

impl Route {
    /// A reading route without parameters.
    pub const fn get(
        pattern: &'static str,
        access: Access,
        summary: &'static str,
        run: fn(&Call<'_>, &Tx<'_>) -> Result<Reply>,
    ) -> Route {
        let run = Run::Read(run);
        Route { method: Method::Get, pattern, access, run, summary, query: &[], body: BodyLimit::Ordinary }
    }

    /// A writing route.
    pub const fn write(
        method: Method,
        pattern: &'static str,
        scope: Scope,
        summary: &'static str,
        run: fn(&Call<'_>) -> Result<WriteWork>,
    ) -> Route {
        let (run, access) = (Run::Write(run), Access::Scope(scope));
        Route { method, pattern, access, run, summary, query: &[], body: BodyLimit::Ordinary }
    }

    /// A route without a key.
    pub const fn open(pattern: &'static str, summary: &'static str, run: Run) -> Route {
        let (access, method) = (Access::Open, Method::Get);
        Route { method, pattern, access, run, summary, query: &[], body: BodyLimit::Ordinary }
    }

    /// The same route with query parameters.
    pub const fn with_query(self, query: &'static [Param]) -> Route {
        Route { query, ..self }
    }

    /// The same route for uploads.
    pub const fn with_upload(self) -> Route {
        Route { body: BodyLimit::Upload, ..self }
    }

    /// The ids in a path, if the path is one of this route's. A segment `{…}` matches anything
    /// but nothing; what is no uuid matches no record and is not found later.
    pub fn matches(&self, path: &[&str]) -> Option<Vec<Option<Uuid>>> {
        let mut pattern = self.pattern.split('/').skip(1);
        let mut ids = Vec::new();
        for segment in path {
            let expected = pattern.next()?;
            if !expected.starts_with('{') {
                if expected != *segment {
                    return None;
                }
            } else if segment.is_empty() {
                return None;
            } else {
                ids.push(super::wire::parse_uuid(segment));
            }
        }
        pattern.next().is_none().then_some(ids)
    }
}
