//! partnerd: the partner interface of a grain trader, mill, feed or organic dealer. JSON over
//! HTTP, one executable, one SQLite file.
//!
//! # The map
//!
//! Each module uses only what stands above it; `tests/architecture.rs` holds it to that.
//!
//! A request comes in at [`http::server`] (the only file that waits for anything), which hands its head to the [`gate`]; what
//! comes next each time is a [`http::answering::Outcome`]. The gate checks in the order that stands there, has the body
//! read when all before it is in order, and reaches a function of a slice by way of its row in
//! [`app::routes`]. A read runs at once on a snapshot ([`db::readers`]); a write is read and
//! checked at once, and carried out by the one writer ([`db::writer`]), many in one transaction ([`db::batch`]);
//! what hardly ever changes it remembers ([`db::memory`]). Beside it [`db::checkpoint`] moves what was written from
//! the write-ahead log into the database, and closes the [`db::door`] to snapshots where reads hold it up.
//! What clients can make the server hold is counted in a [`http::budget`]. What must be provable later is sealed
//! ([`db::seal`]) in the log of all requests ([`gate::audit`]) and the chain of [`db::evidence`].
//! What the trade demands is computed in [`rules`], which knows neither SQL nor HTTP nor the time.
//!
//! A slice is a folder: `mod.rs` (what it is, its ROUTES and IMPORTS), `model.rs` (what goes over
//! the wire), `handlers.rs` (what the routes do; in a small slice they stand in `mod.rs`),
//! `sql.rs` (its statements).
//!
//! To add an endpoint: a struct in `model.rs`, a statement in `sql.rs`, a function in
//! `handlers.rs`, a row in ROUTES. The row names what the route takes, gives and refuses; from it and
//! the structs follows the description of the interface ([`app::description`]), whose tests then
//! ask for the meaning of new fields and for an example.
//!
//! [`app`] is the whole service: it also makes, proves and puts back backups.

#![warn(missing_docs, clippy::unwrap_used, clippy::expect_used)]

pub mod rules;

pub mod db;

pub mod http;

pub mod gate;

pub mod import;

pub mod steuersaetze;

pub mod tenants;

pub mod laender;

pub mod vertriebler;

pub mod anhaenge;

pub mod artikel;

pub mod kunden;

pub mod biozertifikate;

pub mod kontrakte;

pub mod chargen;

pub mod waage;

pub mod produktion;

pub mod kasse;

pub mod belege;

pub mod annahmescheine;

pub mod herkunft;

pub mod app;

pub mod config;

pub mod cli;
