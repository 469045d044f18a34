//! One thing that needs a hand: in words, and where it is mended.

#[derive(Clone)]
pub struct Sorge {
    pub is_urgent: bool,
    pub text: String,
    /// Where it is mended.
    pub to: Option<String>,
}

impl Sorge {
    pub fn urgent(text: String) -> Sorge {
        Sorge { is_urgent: true, text, to: None }
    }

    pub fn soon(text: String) -> Sorge {
        Sorge { is_urgent: false, text, to: None }
    }

    pub fn at(self, to: impl Into<String>) -> Sorge {
        Sorge { to: Some(to.into()), ..self }
    }
}
