//! The interface over HTTP: the real server on a real socket and a real SQLite file. One file per
//! subject; `harness` explains how a test is written.

#[path = "../datev/mod.rs"]
mod datev;
#[path = "../torture/dice.rs"]
mod dice;
mod harness;
#[path = "../programs/mod.rs"]
mod programs;

mod abrechnungen;
mod abrechnungsschemata;
mod abschluss;
mod aenderungen;
mod again;
mod anhaenge;
mod annahmescheine;
mod artikel;
mod artikel_aendern;
mod artikel_verlauf;
mod attacks;
mod audit;
mod ausfertigung;
mod belege_aendern;
mod belege_anlage;
mod belege_betraege;
mod belege_ende;
mod belege_steuer;
mod bounds;
mod buchhaltung;
mod chargen;
mod contract;
mod einlesen;
mod gate;
mod gutschrift;
mod herkunft;
mod hinweise;
mod idempotency;
mod import;
mod json;
mod kasse;
mod kontrakte;
mod kontrakte_aendern;
mod kunde_vergessen;
mod kunden;
mod kunden_verlauf;
mod laender;
mod lager;
mod lanes;
mod leitstand;
mod lenient;
mod lieferpreis;
mod limits;
mod lists;
mod log;
mod nightly;
mod papiere;
mod parallel;
mod probes;
mod produktion;
mod regressions;
mod seals;
mod settings;
mod stapel;
mod steuergruppen;
mod steuersaetze;
mod strangers;
mod suche;
mod tabelle;
mod tenants;
mod verfuegbar;
mod verlauf;
mod waage;
mod ways;
mod web;
mod z3;
