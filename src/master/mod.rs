//! Master data: who the firm deals with, and in what.
//!
//! In it: companies and their settings, tax rates, countries, articles, partners, representatives, certificates, attachments.
//! Not in it: anything that lies, moves or is billed; that is `goods` and `trade`.
//! Begin with `artikel/mod.rs`: the routes of a slice, its model, and how one record changes.

pub mod steuersaetze;

pub mod laender;

pub mod tenants;

pub mod vertriebler;

pub mod anhaenge;

pub mod artikel;

pub mod kunden;

pub mod biozertifikate;
