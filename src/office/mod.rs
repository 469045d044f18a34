//! Office: what the tax adviser, the auditor and the recipients of mail get.
//!
//! Contains: DATEV batches ([`buchhaltung`]), figures for the VAT return ([`berichte`]), e-mail ([`versand`])
//! and the data of a period for an audit ([`z3`]).
//! Does not contain: anything that changes a document. These slices read what `trade` made final.
//! Start with `buchhaltung/stapel.rs`: from final invoices to the lines of a batch.

pub mod buchhaltung;

pub mod berichte;

pub mod versand;

pub mod z3;
