//! Platform: what carries any resource, whatever the firm trades in.
//!
//! In it: the SQLite file ([`db`]), the wire ([`http`]), the checks every request passes ([`gate`]), lists ([`listing`])
//! and files of data ([`import`]).
//! Not in it: any noun of the trade; those are the slices of `master`, `goods`, `trade` and `office`.
//! Begin with `http::route` (a route is a row of data), then `gate::flow::answer` (what happens to a request).

pub mod failure;

pub mod db;

pub mod listing;

pub mod http;

pub mod gate;

pub mod import;
