//! Master data: the firm's partners and articles, and the data that describes them.
//!
//! Contains: companies and their settings, tax rates, countries, articles, partners, representatives,
//! certificates, attachments.
//! Does not contain: anything that is stored, moved or billed; that is `goods` and `trade`.
//! Start with `artikel/mod.rs`: the routes of a slice, its model, and how one record changes.

pub mod steuersaetze;

pub mod laender;

pub mod tenants;

pub mod vertriebler;

pub mod anhaenge;

pub mod artikel;

pub mod kunden;

pub mod biozertifikate;
