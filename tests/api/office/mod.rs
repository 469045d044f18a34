//! What adviser and auditor get.

pub mod buchhaltung;
pub mod z3;
