//! Platform: the technical foundation of every resource, independent of the firm's trade.
//!
//! Contains: the SQLite file ([`db`]), the wire ([`http`]), the checks every request passes ([`gate`]), lists
//! ([`listing`])
//! and data files ([`import`]).
//! Does not contain: any noun of the trade; those are in the slices of `master`, `goods`, `trade` and `office`.
//! Start with `http::route` (a route is a row of data), then `gate::flow::answer` (the course of a request).

pub mod failure;

pub mod db;

pub mod listing;

pub mod http;

pub mod gate;

pub mod import;
