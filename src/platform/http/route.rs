//! Routes as rows of data (wall 1): everything that has to know the routes reads this table.

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call::Call;
use super::param::Param;
use super::reply::Reply;
use super::request::Request;
use super::shape::{Answer, Body};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::error::Code;
use crate::rules::scope::Scope;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
    Put,
}

impl Method {
    pub const fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        }
    }

    /// Returns the method of a request; HEAD counts as GET, and its body is not sent.
    pub fn parse(text: &str) -> Option<Method> {
        match text {
            "GET" | "HEAD" => Some(Method::Get),
            "POST" => Some(Method::Post),
            "PUT" => Some(Method::Put),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Open,
    AnyKey,
    Scope(Scope),
}

/// The write that a request asks for, run by the writer. It must be repeatable: it runs again if its batch
/// was rolled back because of another job, and must come to the same result.
pub type Write = Box<dyn Fn(&WriteTx<'_>) -> Result<Reply> + Send>;

pub type Writes = fn(&Call<'_>) -> Result<Write>;

/// The outcome of one look of a route that can wait.
pub struct Followed {
    pub reply: Reply,
    pub wait: Option<Wait>,
}

pub struct Wait {
    /// Maximum wait in seconds, from the first look.
    pub seconds: u64,
    pub cursor: String,
    /// The number of the newest change that this look saw.
    pub newest: i64,
}

#[derive(Clone, Copy)]
pub enum Run {
    /// Runs without a transaction.
    Open(fn(&Call<'_>) -> Result<Reply>),
    /// Reports about the service itself, for monitoring; not in the audit log.
    Status(fn(&Call<'_>, &dyn ServiceStatus) -> Result<Reply>),
    /// Reads on a snapshot. May run twice: a long read is run again on the slow lane.
    Read(fn(&Call<'_>, &Tx<'_>) -> Result<Reply>),
    /// Reads like `Read`, but a request that finds nothing may wait for a change (D28), and then runs again.
    Follow(fn(&Call<'_>, &Tx<'_>) -> Result<Followed>),
    /// Sends each item of the body as a request to the route with this path (D28).
    Each(&'static str),
    /// Parses the body in place; then the writer runs the resulting write.
    Write(Writes),
    /// Computes the write first, on the slow lane; the writer then checks whether it is still valid.
    Draft(fn(&Call<'_>, &Tx<'_>) -> Result<Write>),
}

pub trait ServiceStatus {
    fn ready(&self) -> std::result::Result<(), String>;
    fn metrics(&self) -> String;
    fn shows_metrics_to(&self, request: &Request) -> bool;
}

/// Largest body of a route in bytes, normally and with an upload: 10 MiB as Base64 (D18).
const BODY_BYTES_MAX: usize = 1 << 20;
const UPLOAD_BYTES_MAX: usize = 14 << 20;

/// Largest body of a route that only reads, in bytes.
const ASKED_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deprecation {
    /// Deprecated since, in seconds since 1970 (RFC 9745).
    pub since: i64,
    /// Date of removal, as an HTTP date (RFC 8594).
    pub sunset: &'static str,
}

impl Deprecation {
    pub fn shown_in(self, reply: Reply) -> Reply {
        reply.with("deprecation", format!("@{}", self.since)).with("sunset", self.sunset)
    }
}

/// Maximum number of items in a bulk request (D28).
pub const ITEMS_MAX: usize = 200;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "its shape is all that is wanted")]
struct Stapel {
    #[schemars(length(min = 1, max = ITEMS_MAX))]
    items: Vec<Map<String, Value>>,
}

/// The answer to a bulk request (D28).
#[derive(Serialize, JsonSchema)]
pub struct StapelAntwort {
    pub data: Vec<StapelZeile>,
    pub angelegt: usize,
    pub abgelehnt: usize,
}

const OF_MANY: &[Answer] = &[Answer::ok::<StapelAntwort>()];

/// The answer to one item: its status, and the answer of the single-item route.
#[derive(Serialize, JsonSchema)]
pub struct StapelZeile {
    pub status: u16,
    #[schemars(with = "Map<String, Value>")]
    pub antwort: Option<Box<RawValue>>,
}

pub struct Route {
    pub method: Method,
    /// The path, with `{id}` for a UUID.
    pub pattern: &'static str,
    pub access: Access,
    pub run: Run,
    /// Its description in German: one line for the list of routes.
    pub summary: &'static str,
    /// Its query parameters; any other is refused.
    pub query: &'static [Param],
    /// Largest accepted body, in bytes.
    pub body_bytes_max: usize,
    /// Whether computing its answer or parsing its body takes many milliseconds (Base64 of a file, an invoice
    /// as a PDF): then it does not run on a socket thread.
    pub is_heavy: bool,
    pub takes: Option<Body>,
    /// Whether the route honours If-Match for a change (D11).
    pub if_match: bool,
    pub gives: &'static [Answer],
    /// Its refusals, besides those that follow from the rest of the row.
    pub refuses: &'static [&'static [Code]],
    pub deprecated: Option<Deprecation>,
}

impl Route {
    const fn new(method: Method, pattern: &'static str, access: Access, run: Run) -> Route {
        Route {
            method,
            pattern,
            access,
            run,
            summary: "",
            query: &[],
            body_bytes_max: BODY_BYTES_MAX,
            is_heavy: false,
            takes: None,
            if_match: false,
            gives: &[],
            refuses: &[],
            deprecated: None,
        }
    }

    pub fn name(&self) -> String {
        format!("{} {}", self.method.as_str(), self.pattern)
    }

    pub const fn get(
        pattern: &'static str,
        access: Access,
        summary: &'static str,
        run: fn(&Call<'_>, &Tx<'_>) -> Result<Reply>,
    ) -> Route {
        Route { summary, ..Route::new(Method::Get, pattern, access, Run::Read(run)) }
    }

    /// A route that only reads but takes a body; nothing is stored. The body is parsed where the read runs,
    /// so it must be small.
    pub const fn ask(
        pattern: &'static str,
        access: Access,
        summary: &'static str,
        run: fn(&Call<'_>, &Tx<'_>) -> Result<Reply>,
    ) -> Route {
        Route {
            summary,
            body_bytes_max: ASKED_BYTES_MAX,
            ..Route::new(Method::Post, pattern, access, Run::Read(run))
        }
    }

    /// A reading route for any key, whose requests can wait for changes.
    pub const fn follow(
        pattern: &'static str,
        summary: &'static str,
        run: fn(&Call<'_>, &Tx<'_>) -> Result<Followed>,
    ) -> Route {
        Route { summary, ..Route::new(Method::Get, pattern, Access::AnyKey, Run::Follow(run)) }
    }

    pub const fn post(pattern: &'static str, scope: Scope, summary: &'static str, run: Writes) -> Route {
        Route { summary, ..Route::new(Method::Post, pattern, Access::Scope(scope), Run::Write(run)) }
    }

    pub const fn put(pattern: &'static str, scope: Scope, summary: &'static str, run: Writes) -> Route {
        Route { summary, ..Route::new(Method::Put, pattern, Access::Scope(scope), Run::Write(run)) }
    }

    /// A route with a long computation before its write.
    pub const fn draft(
        pattern: &'static str,
        scope: Scope,
        summary: &'static str,
        run: fn(&Call<'_>, &Tx<'_>) -> Result<Write>,
    ) -> Route {
        Route { summary, ..Route::new(Method::Post, pattern, Access::Scope(scope), Run::Draft(run)) }
    }

    /// A bulk route: each item of its body is a request to the route with the path `single`.
    pub const fn each(
        pattern: &'static str,
        scope: Scope,
        summary: &'static str,
        single: &'static str,
    ) -> Route {
        let route = Route::new(Method::Post, pattern, Access::Scope(scope), Run::Each(single));
        Route { summary, ..route }.with_upload().takes::<Stapel>("Stapel", &["items"]).gives(OF_MANY)
    }

    pub const fn open(pattern: &'static str, summary: &'static str, run: Run) -> Route {
        Route { summary, ..Route::new(Method::Get, pattern, Access::Open, run) }
    }

    /// Adds a body: its name in the description, and its required fields.
    pub const fn takes<T: JsonSchema>(self, name: &'static str, required: &'static [&'static str]) -> Route {
        let shape = SchemaGenerator::subschema_for::<T>;
        Route { takes: Some(Body { name, shape, required, ignored: &[], optional: false }), ..self }
    }

    /// Adds an optional body.
    pub const fn may_take<T: JsonSchema>(self, name: &'static str) -> Route {
        let shape = SchemaGenerator::subschema_for::<T>;
        Route { takes: Some(Body { name, shape, required: &[], ignored: &[], optional: true }), ..self }
    }

    /// Names fields of the body's shape that this route ignores, with a hint: the description of a POST leaves
    /// them out, that of a PUT shows them as read-only, because a client sends back what it read (D39).
    pub const fn ignores(self, ignored: &'static [&'static str]) -> Route {
        let takes = match self.takes {
            Some(body) => Some(Body { ignored, ..body }),
            None => None,
        };
        Route { takes, ..self }
    }

    pub const fn with_if_match(self) -> Route {
        Route { if_match: true, ..self }
    }

    pub const fn gives(self, gives: &'static [Answer]) -> Route {
        Route { gives, ..self }
    }

    pub const fn refuses(self, refuses: &'static [&'static [Code]]) -> Route {
        Route { refuses, ..self }
    }

    pub const fn with_query(self, query: &'static [Param]) -> Route {
        Route { query, ..self }
    }

    pub const fn heavy(self) -> Route {
        Route { is_heavy: true, ..self }
    }

    pub const fn with_upload(self) -> Route {
        Route { body_bytes_max: UPLOAD_BYTES_MAX, ..self }
    }
}
