//! Operations: work on the file as a whole, for all companies at once.
//!
//! Contains: backup and restore, `check`, sealing, midnight's work, hand-overs for an auditor, undoing an import
//! and forgetting a partner.
//! Does not contain: how the file is read and written (`platform::db`), and the commands and pages that call this.
//! Start with `check.rs`: everything that must always hold.

pub mod sealing;

pub mod bounds;

pub mod check;

pub mod backup;

pub mod nightly;

pub mod midnight;

pub mod backups;

pub mod z3;

pub mod rueckgaengig;

pub mod vergessen;
