//! One health issue: a problem for somebody to fix, in words, and the page where it is fixed.

#[derive(Clone)]
pub struct HealthIssue {
    pub is_urgent: bool,
    pub text: String,
    /// The path of the page where it is fixed.
    pub to: Option<String>,
}

impl HealthIssue {
    pub fn urgent(text: String) -> HealthIssue {
        HealthIssue { is_urgent: true, text, to: None }
    }

    pub fn soon(text: String) -> HealthIssue {
        HealthIssue { is_urgent: false, text, to: None }
    }

    pub fn at(self, to: impl Into<String>) -> HealthIssue {
        HealthIssue { to: Some(to.into()), ..self }
    }
}
