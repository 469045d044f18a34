//! The file on disk: opening, locking and copying it, and what lies beside it.
//!
//! In it: connections, locks, file names and owners, copies, work in small steps, the log, and German texts
//! for errors of SQLite and of the system.
//! Not in it: transactions (`db::tx`), migrations (`db::migrate`).
//! Begin with `connection.rs`.

pub mod connection;
pub mod copy;
pub mod files;
pub mod german;
pub mod lock;
pub mod logging;
pub mod owner;
pub mod steps;
