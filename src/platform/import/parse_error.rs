//! What a reader of files says to a person.

use std::fmt::{Display, Formatter};

/// A German sentence: which line, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint(String);

impl Complaint {
    pub fn new(message: impl Into<String>) -> Complaint {
        Complaint(message.into())
    }

    pub fn at_line(line: u32, message: impl Display) -> Complaint {
        Complaint(format!("Zeile {line}: {message}"))
    }
}

impl Display for Complaint {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Complaint {}

impl From<Complaint> for String {
    fn from(complaint: Complaint) -> String {
        complaint.0
    }
}
