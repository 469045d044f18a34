//! Reading hand-overs of data for an auditor.

use super::Read;

pub const ROWS: &[Read] =
    &[("/z3/{id}", "-", "/z3/<Z3>", "bis=2031-07-10"), ("/z3/{id}/datei", "-", "/z3/<Z3>/datei", "zip")];
