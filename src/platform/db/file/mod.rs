//! The file on disk: opening, locking and copying it, and what lies beside it.
//!
//! Contains: connections, locks, file names and owners, copies, work in small steps, the log, and German texts
//! for errors of SQLite and of the system.
//! Does not contain: transactions (`db::tx`), migrations (`db::migrate`).
//! Start with `connection.rs`.

pub mod connection;
pub mod copy;
pub mod files;
pub mod german;
pub mod lock;
pub mod logging;
pub mod owner;
pub mod steps;
