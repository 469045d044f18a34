//! What a change changed, for people: in the terminal and in the log.

use std::fmt::{Display, Formatter};

pub const NOTHING: &str = "nichts";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub name: String,
    /// What it was; blank where it was nothing.
    pub before: String,
    pub after: String,
}

impl Changed {
    /// The change of a value; none where it stays as it is.
    pub fn of(name: &str, before: impl Into<String>, after: impl Into<String>) -> Option<Changed> {
        let (before, after) = (before.into(), after.into());
        (before != after).then(|| Changed { name: name.to_owned(), before, after })
    }
}

impl Display for Changed {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let [before, after] =
            [&self.before, &self.after].map(|value| if value.is_empty() { NOTHING } else { value });
        write!(f, "{}: {before} -> {after}", self.name)
    }
}
