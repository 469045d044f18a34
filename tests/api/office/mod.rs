//! Tests of data for the tax adviser and the auditor.

pub mod buchhaltung;
pub mod z3;
