//! Invariants of tables.

/// What must hold for the rows of a slice's tables. `partnerd check` proves it over the whole file, all companies at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    pub rule: &'static str,
    /// Statement that counts the rows, or groups of rows, that break it.
    pub violations: &'static str,
}
