//! What a reader of files says to a person.

/// A sentence for a person: which line, and what is wrong there.
pub type Complaint = String;
