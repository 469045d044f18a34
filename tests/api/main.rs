//! The interface over HTTP: the real server on a real socket and a real SQLite file. One file per
//! subject; `harness` explains how a test is written.

mod harness;

mod abschluss;
mod anhaenge;
mod annahmescheine;
mod artikel;
mod attacks;
mod audit;
mod belege_aendern;
mod belege_anlage;
mod belege_betraege;
mod belege_ende;
mod bounds;
mod chargen;
mod contract;
mod gate;
mod herkunft;
mod idempotency;
mod import;
mod json;
mod kasse;
mod kontrakte;
mod kunden;
mod laender;
mod lager;
mod lanes;
mod limits;
mod lists;
mod log;
mod nightly;
mod parallel;
mod probes;
mod produktion;
mod regressions;
mod seals;
mod settings;
mod steuersaetze;
mod strangers;
mod suche;
mod tabelle;
mod tenants;
mod verfuegbar;
mod verlauf;
mod waage;
mod web;
