//! Tests of operations on the file as a whole.

pub mod nightly;
