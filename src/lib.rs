//! partnerd: the partner interface of a grain trader, mill, feed or organic dealer. JSON over
//! HTTP, one executable, one SQLite file.
//!
//! # The map
//!
//! Each module uses only what stands above it; `tests/architecture.rs` holds it to that.
//!
//! | module | what it is for |
//! |---|---|
//! | [`rules`] | what the trade demands: prices, tax, units, days, pairing of goods; no SQL, no HTTP, no clock |
//! | [`erechnung`] | the XML of an e-invoice, what is missing for one, and what others wrote; no SQL, no HTTP, no clock |
//! | [`blatt`] | the sheet: a document as the PDF that leaves the house; no SQL, no HTTP, no clock |
//! | [`failure`] | why a piece of work has no result: a refusal, or a fault of ours |
//! | [`db`] | the file: connections, migrations, the one writer, readers, checkpoints, copies, seals |
//! | [`listing`] | lists as JSON, written row by row as they are read; histories of master data |
//! | [`http`] | the wire: sockets, heads and bodies, routing, JSON, the shapes of requests and answers |
//! | [`gate`] | what every request passes: keys, limits, scopes, the log of all requests |
//! | [`import`] | files of data from the command line: CSV, JSON and spreadsheets, row by row |
//! | [`steuersaetze`] … [`z3`] | the slices: one folder for each noun of the specification |
//! | [`app`] | the interface as a whole: all routes, the description, midnight's work, check, backup and restore |
//! | [`leitstand`] | the page for the people of the firm: who may log in, and a file a page |
//! | [`service`] | gate and pages on one database, with the threads that they need |
//! | [`config`], [`cli`] | settings and commands |
//!
//! A request comes in at [`http::server`], which makes a [`http::request::Request`] of its head and hands it to the way in,
//! [`leitstand::server::Front`]: pages go to the [`leitstand`], everything else to the [`gate`]. Either is one `async fn` that
//! admits the request in the order of D19, dispatches it to the function in its row of [`app::routes`], and completes it
//! with its audit row. A read runs at once on a snapshot ([`db::readers`]); a write is checked at once and carried out by
//! the one writer ([`db::writer`]), many in one transaction ([`db::batch`]), with a cache of master data ([`db::cache`]).
//!
//! Beside the writer [`db::checkpoint`] moves the write-ahead log into the database, and closes the [`db::door`] to
//! new snapshots when reads hold it up. What clients can make the server hold is counted in a [`http::budget`]. What
//! must be provable later is sealed ([`db::seal`]) in the log of all requests ([`gate::audit`]) and in the chain of
//! [`db::evidence`].
//!
//! A slice is a folder: `mod.rs` (what it is, its ROUTES and IMPORTS), `model.rs` (what goes over the wire: bodies,
//! answers, and `Auswahl`, the filters of a list), `handlers.rs` (what the routes do; in a small slice they stand in
//! `mod.rs`), `import.rs` (what rows of a file do), `sql.rs` (the columns of its structs, declared once with
//! [`db::record`], and its statements; those of one purpose alone stand with it, as in `belege/lager`), `checks.rs`
//! (its CHECKS: what must always hold for its tables). What a request says is a struct of plain values (`NewBeleg`,
//! `Auswahl`); handlers and imports have it read by [`http::wire`] and [`http::query`], and what stands below them
//! knows nothing of HTTP.
//!
//! To add an endpoint: a struct in `model.rs`, a statement in `sql.rs`, a function in `handlers.rs`, a row in
//! ROUTES. The row names what the route takes, gives and refuses; from it and the structs follows the description of
//! the interface ([`app::description`]), whose tests then ask for a text, for the
//! meaning of new fields and for an example.

#![warn(clippy::unwrap_used, clippy::expect_used)]

pub mod rules;

pub mod papers;

pub mod platform;

pub mod master;

pub mod goods;

pub mod trade;

pub mod office;

pub mod interface;

pub mod operations;

pub mod leitstand;

pub mod start;
