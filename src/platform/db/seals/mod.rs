//! Seals: what shows that nothing was altered or lost.
//!
//! Contains: chains of rows, the evidence of documents, seals, numbers without gaps, retention periods,
//! invariants of tables.
//! Does not contain: the log of requests (`gate::audit`) and the command `check` (`operations::check`), which use
//! this.
//! Start with `seal.rs`.

pub mod chain;
pub mod check;
pub mod evidence;
pub mod numbers;
pub mod retention;
pub mod seal;
