//! partnerd: the partner interface of a grain trader, mill, feed or organic dealer. JSON over HTTP, one executable,
//! one SQLite file.
//!
//! # The map
//!
//! A group uses only groups above it, and a room of a group only rooms above it in the `mod.rs` of the group;
//! `tests/project/architecture.rs` checks both. The head of each group says what is in it, what is not, and where to
//! begin.
//!
//! | group | what it is for |
//! |---|---|
//! | [`rules`] | what the trade demands: prices, tax, units, days, pairing of goods; no SQL, no HTTP, no clock |
//! | [`papers`] | what leaves the house, as bytes: e-invoice and sheet; as pure as `rules` |
//! | [`platform`] | what carries any resource: the SQLite file, lists, HTTP, the gate, files to import |
//! | [`master`] | master data: companies, partners, articles, tax rates, countries, certificates |
//! | [`goods`] | what lies and moves: batches and stock, weighings, contracts, production, settlement schemes |
//! | [`trade`] | what is agreed, delivered and billed: documents, goods receipts, settlements, tills |
//! | [`office`] | what adviser, auditor and post get: DATEV batches, VAT figures, audit data, e-mail |
//! | [`interface`] | all routes and imports in one list, and what describes them; the feed of changes |
//! | [`operations`] | work on the whole file: check, backup, restore, midnight, taking an import back |
//! | [`leitstand`] | the web pages for the people of the firm, a file per page |
//! | [`start`] | settings, the service with its threads, the command line |
//!
//! # A request
//!
//! [`platform::http::server`] reads its head and passes it to [`leitstand::kit::front::Front`], which sends pages to
//! the [`leitstand`] and everything else to the [`platform::gate`]. Each is one `async fn` that checks the request in
//! the order of D19, calls the function in its row of [`interface::routes`], and writes its audit row.
//!
//! A read runs at once on a snapshot ([`platform::db::readers`]). A write is parsed at once and queued for the one
//! writer ([`platform::db::writer`]), which runs many in one transaction and caches master data. Beside it
//! [`platform::db::readers::checkpoint`] moves the write-ahead log into the database; when reads hold it up, the
//! [`platform::db::readers::snapshot_gate`] makes new ones wait. A [`platform::http::budget`] bounds the memory that
//! clients can make the server hold. Seals ([`platform::db::seals::seal`]) protect the audit log
//! ([`platform::gate::audit`]) and the chain of [`platform::db::seals::evidence`].
//!
//! # A slice
//!
//! A slice is a folder for one noun of the specification, in `master`, `goods`, `trade` or `office`. The name of a
//! file says its role: `mod.rs` (what the slice is, its ROUTES and IMPORTS), `model.rs` (what goes over the wire:
//! bodies, answers, and `Auswahl`, the filters of a list), `handlers.rs` (the functions of its routes; a small slice
//! has them in `mod.rs`), `sql.rs` (its columns, declared once with [`platform::db::record`], and its statements),
//! `import.rs` (what the rows of a file do), `checks.rs` (its CHECKS: what must always hold for its tables). A larger
//! piece of work has a file or folder of its own, as `belege/lager`. Handlers and imports parse bodies with
//! [`platform::http::wire`] and queries with [`platform::http::query`] into structs of plain values (`NewBeleg`,
//! `Auswahl`); the code below them knows nothing of HTTP.
//!
//! # A new endpoint
//!
//! Add a struct to `model.rs`, a statement to `sql.rs`, a function to `handlers.rs` and a row to ROUTES. The row names
//! what the route takes, gives and refuses. The description of the interface ([`interface::description`]) follows
//! from it; its tests then ask for a text, for the meaning of new fields and for an example. docs/CONTRIBUTING.md has
//! every step, docs/ARCHITECTURE.md the reasons and a glossary of the German nouns.

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
