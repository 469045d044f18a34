//! Tests of goods: stock and its movements.

pub mod abrechnungsschemata;
pub mod chargen;
pub mod kontrakte;
pub mod kontrakte_aendern;
pub mod produktion;
pub mod verfuegbar;
pub mod waage;
