//! What is done with the file as a whole.

pub mod nightly;
