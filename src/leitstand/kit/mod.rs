//! Kit: the parts of pages, and the server that answers requests for them.
//!
//! Contains: the page as a row of data (`page`), the frame, parts, lists, charts, jobs, uploads, messages,
//! scripts and styles.
//! Does not contain: pages; those are in the directories beside it.
//! Start with `page.rs`, then `server.rs`.

pub mod akteure;
pub mod anhaenge;
pub mod bars;
pub mod context;
pub mod done;
pub mod eviction;
pub mod fields;
pub mod flash;
pub mod frame;
pub mod front;
pub mod graph;
pub mod health;
pub mod jobs;
pub mod line;
pub mod lists;
pub mod page;
pub mod pager;
pub mod parts;
pub mod resume;
pub mod server;
pub mod storno;
pub mod upload;
pub mod uploads;
pub mod verlauf;
pub mod wahl;
