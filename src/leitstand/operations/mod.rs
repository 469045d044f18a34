//! Pages for operating the installation: imports, backups, restore, the logs, jobs.
//!
//! Start with `sicherung.rs`.

pub mod abgelehnt;
pub mod advice;
pub mod arbeit;
pub mod einlesen;
pub mod import;
pub mod protokoll;
pub mod restoring;
pub mod ruecknahme;
pub mod sicherung;
pub mod suchfelder;
pub mod taten;
pub mod upkeep;
pub mod zurueckgespielt;
pub mod zurueckspielen;
