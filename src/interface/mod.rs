//! The interface as a whole: every route and kind of import in one list, and what describes them to clients.
//!
//! Contains: the table of all routes, the OpenAPI description with its texts and examples, the /docs page,
//! probes, the change feed.
//! Does not contain: what a route does (its slice) and what happens to a request before it (`platform::gate`).
//! Start with `routes.rs`, then `description/mod.rs`.

pub mod aenderungen;

pub mod probes;

pub mod description;

pub mod docs;

pub mod routes;

pub mod imports;
