//! What a look at the machine found.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Ok,
    Warning,
    Wrong,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub look: &'static str,
    pub state: Severity,
    /// What was found, and what to do where that is not good.
    pub finding: String,
}

pub fn ok(look: &'static str, finding: impl Into<String>) -> Finding {
    Finding { look, state: Severity::Ok, finding: finding.into() }
}

pub fn warning(look: &'static str, finding: impl Into<String>) -> Finding {
    Finding { look, state: Severity::Warning, finding: finding.into() }
}

pub fn wrong(look: &'static str, finding: impl Into<String>) -> Finding {
    Finding { look, state: Severity::Wrong, finding: finding.into() }
}
