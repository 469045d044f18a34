//! One thing that needs a hand: in words, and where it is mended.

#[derive(Clone)]
pub struct HealthIssue {
    pub is_urgent: bool,
    pub text: String,
    /// Where it is mended.
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
