//! The sheet (D25): draws a document as the PDF that leaves the house. Values in, bytes out: no SQL, no HTTP, no
//! clock, nothing random, so the same [`Blatt`] gives the same bytes with the same version of the program.
//!
//! What is drawn is a letter of DIN 5008 form B. [`letter`] places its head and foot, [`flow`] breaks what lies
//! between them into pages, [`table`] sets rows with their numbers under each other, [`payment`] says how to pay. They
//! make a list of marks for each page and a tree of what these mean ([`page`]); [`pdf`] writes both as PDF/A-3b with
//! the tags of PDF/UA-1, and [`facturx`] tells of the e-invoice inside. The fonts are those of [`fonts`] alone: a
//! character they lack is drawn as a box and reported.

mod abrechnung;
mod error;
mod facturx;
mod flow;
mod fonts;
mod letter;
mod logo;
mod model;
pub mod numbers;
mod page;
mod payment;
mod pdf;
mod sections;
mod table;
mod text;

use crate::rules::error::{HintCode, Hints};

pub use abrechnung::Abzug;
pub use error::{DrawError, LOGO_BYTES_MAX, LogoError, PAGES_MAX};
pub use logo::check as check_logo;
pub use model::*;

#[derive(Debug)]
pub struct Drawn {
    pub pdf: Vec<u8>,
    pub pages: usize,
    /// Characters that the fonts lack, each once, at most [`text::MISSING_MAX`]: they are drawn as boxes.
    pub fehlende_zeichen: Vec<char>,
}

impl Drawn {
    pub fn note_missing(&self, notes: &mut Hints) {
        if !self.fehlende_zeichen.is_empty() {
            let zeichen: String = self.fehlende_zeichen.iter().collect();
            let message =
                format!("Diese Zeichen fehlen in der Schrift und stehen als Kästchen im PDF: {zeichen}");
            notes.add(HintCode::ZeichenFehlt, message);
        }
    }
}

pub fn draw(blatt: &Blatt) -> Result<Drawn, DrawError> {
    let mut typesetter = text::Typesetter::new(fonts::fonts()?);
    let logo = blatt.absender.logo.as_deref().map(logo::read).transpose().map_err(DrawError::Logo)?;
    let pages = letter::lay_out(blatt, logo.as_ref(), &mut typesetter)?;
    let count = pages.pages.len();
    let mut pdf = pdf::write(blatt, pages, logo)?;
    if let Some(erechnung) = &blatt.erechnung {
        pdf = facturx::announce(&pdf, erechnung.profil)?;
    }
    Ok(Drawn { pdf, pages: count, fehlende_zeichen: typesetter.missing() })
}
