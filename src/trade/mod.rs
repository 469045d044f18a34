//! Trade: what is agreed, delivered and billed.
//!
//! In it: documents from quote to invoice ([`belege`]), goods receipts, settlements with farmers, cash receipts, and the way
//! of a batch from field to customer ([`herkunft`]).
//! Not in it: bookkeeping and reports, which only read final documents; those are in `office`.
//! Begin with `belege/create/mod.rs`: a new document, check by check.

pub mod belege;

pub mod annahmescheine;

pub mod abrechnungen;

pub mod kasse;

pub mod herkunft;
