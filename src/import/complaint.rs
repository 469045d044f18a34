//! What a reader of files says to a person.

use std::fmt::{Display, Formatter};

/// Which line, and what is wrong there: in English for the command line, in German for the page of the people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    english: String,
    german: String,
}

impl Complaint {
    pub fn new(english: impl Into<String>, german: impl Into<String>) -> Complaint {
        Complaint { english: english.into(), german: german.into() }
    }

    pub fn at_line(line: u32, english: impl Display, german: impl Display) -> Complaint {
        Complaint::new(format!("line {line}: {english}"), format!("Zeile {line}: {german}"))
    }

    pub fn german(&self) -> &str {
        &self.german
    }
}

impl Display for Complaint {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.english)
    }
}

impl std::error::Error for Complaint {}

impl From<Complaint> for String {
    fn from(complaint: Complaint) -> String {
        complaint.english
    }
}
