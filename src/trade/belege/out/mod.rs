//! Everything that goes out: sheet and e-invoice of a document, its PDF archive, its evidence, the polling
//! list.
//!
//! Start with `ausfertigung/mod.rs`.

pub mod ausfertigung;
pub mod dokumente;
pub mod nachweis;
pub mod packen;
pub mod pdf;
