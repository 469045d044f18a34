//! Invariants of tables, as each slice declares them.

/// An invariant of a slice's tables. `partnerd check` verifies it over the whole file, for all tenants at
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    pub rule: &'static str,
    /// Statement that counts the rows, or groups of rows, that violate the rule.
    pub violations: &'static str,
}
