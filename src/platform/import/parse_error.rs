//! The error of reading a file, as shown to a person.

use std::fmt::{Display, Formatter};

/// A German sentence: the line, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError(String);

impl ParseError {
    pub fn new(message: impl Into<String>) -> ParseError {
        ParseError(message.into())
    }

    pub fn at_line(line: u32, message: impl Display) -> ParseError {
        ParseError(format!("Zeile {line}: {message}"))
    }
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

impl From<ParseError> for String {
    fn from(complaint: ParseError) -> String {
        complaint.0
    }
}
