//! A changed value as people see it, in the terminal and in the log.

use std::fmt::{Display, Formatter};

pub const NOTHING: &str = "nichts";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub name: String,
    /// The old value; blank if there was none.
    pub before: String,
    pub after: String,
}

impl Changed {
    /// Returns the change of a value; `None` if it stays the same.
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
