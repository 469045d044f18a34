//! What goes out: the sheet and e-invoice of a document, its PDF archive, its evidence, the polling list.
//!
//! Begin with `ausfertigung/mod.rs`.

pub mod ausfertigung;
pub mod dokumente;
pub mod nachweis;
pub mod packen;
pub mod pdf;
