//! Papers: the documents that leave the company, as bytes.
//!
//! In it: the e-invoice ([`erechnung`], XML of EN 16931, both ways) and the sheet ([`blatt`], PDF).
//! Not in it: SQL, HTTP and the clock. The slices collect the content of a paper and pass it in.
//! Begin with the models: `erechnung::model` (one field per business term) and `blatt::model`.

pub mod erechnung;

pub mod blatt;
