//! Trade: orders, deliveries and invoices.
//!
//! Contains: documents from quote to invoice ([`belege`]), goods receipts, settlements with farmers, till
//! receipts, and the tracing of a batch from field to customer ([`herkunft`]).
//! Does not contain: bookkeeping and reports, which only read final documents; those are in `office`.
//! Start with `belege/create/mod.rs`: a new document, check by check.

pub mod belege;

pub mod annahmescheine;

pub mod abrechnungen;

pub mod kasse;

pub mod herkunft;
