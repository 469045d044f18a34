//! Papers: the documents that leave the company, as bytes.
//!
//! Contains: the e-invoice ([`erechnung`], XML of EN 16931, both ways) and the sheet ([`blatt`], PDF).
//! Does not contain: SQL, HTTP and the clock. The slices collect the content of a paper and pass it in.
//! Start with the models: `erechnung::model` (one field per business term) and `blatt::model`.

pub mod erechnung;

pub mod blatt;
