//! The sheet (D25): draws a document as the PDF that leaves the company. Values in, bytes out: no SQL, no
//! HTTP, no clock, nothing random, so the same [`Blatt`] gives the same bytes with the same version of the
//! program.
//!
//! The layout is a letter of DIN 5008 form B. [`letter`] places its head and foot, [`flow`] breaks the
//! content between them into pages, [`table`] aligns numbers in rows, [`payment`] says how to pay. They
//! produce a list of marks for each page and a tree of their meanings ([`page`]); [`pdf`] writes both as
//! PDF/A-3b with the tags of PDF/UA-1, and [`facturx`] announces the e-invoice inside. All text is set in
//! [`fonts`]: a character that they lack is drawn as a box and reported.

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
pub mod settled;
mod table;
mod text;
mod texts;

use crate::rules::error::{HintCode, Hints};
use text::Typesetter;

pub use abrechnung::Abzug;
pub use error::{DrawError, LOGO_BYTES_MAX, LogoError, PAGES_MAX};
pub use logo::check as check_logo;
pub use model::*;

#[derive(Debug)]
pub struct Drawn {
    pub pdf: Vec<u8>,
    pub pages: usize,
    /// Hints about what the sheet does not show.
    pub hinweise: Hints,
}

/// Reports what a sheet will not show: characters that the fonts lack (at most [`text::MISSING_MAX`], drawn
/// as boxes), and lines cut from a long address. It only reads the texts; laying out the sheet takes twenty
/// times as long.
pub fn hints(blatt: &Blatt) -> Result<Hints, DrawError> {
    let (mut typesetter, mut hints) = (Typesetter::new(fonts::fonts()?), Hints::default());
    letter::address_lines(&blatt.anschrift, &mut typesetter, &mut hints);
    texts::each(blatt, &mut |text, _| typesetter.look_at(text));
    add_missing(typesetter, &mut hints);
    Ok(hints)
}

/// A sheet with at most this many bytes of text has less than [`PAGES_MAX`] pages, however the lines are
/// broken, because no line has fewer than two bytes.
const BYTES_THAT_FIT: usize = 100_000;

/// Whether a sheet certainly has at most [`PAGES_MAX`] pages, estimated without laying it out: where a line
/// is broken, it and the next line together are wider than their column.
pub fn fits(blatt: &Blatt) -> Result<bool, DrawError> {
    let mut bytes = 0;
    texts::each(blatt, &mut |text, _| bytes += text.len() + 1);
    if bytes <= BYTES_THAT_FIT {
        return Ok(true);
    }
    let (mut typesetter, mut height) = (Typesetter::new(fonts::fonts()?), 0.0);
    texts::each(blatt, &mut |text, style| {
        let column = if style == text::DETAIL { table::DETAILS } else { table::NARROWEST };
        height += typesetter.lines_at_most(text, style, column) * style.leading;
    });
    // A tenth is left for the space between texts, and for pages that end early.
    Ok(height <= 0.9 * PAGES_MAX as f32 * flow::PAGE_HEIGHT_MIN)
}

fn add_missing(typesetter: Typesetter, hints: &mut Hints) {
    let missing: String = typesetter.missing().iter().collect();
    if !missing.is_empty() {
        let message =
            format!("Diese Zeichen fehlen in der Schrift und stehen als Kästchen im PDF: {missing}");
        hints.add(HintCode::ZeichenFehlt, message);
    }
}

pub fn draw(blatt: &Blatt) -> Result<Drawn, DrawError> {
    let logo = blatt.absender.logo.as_deref().map(logo::read).transpose().map_err(DrawError::Logo)?;
    let (mut typesetter, mut hinweise) = (Typesetter::new(fonts::fonts()?), Hints::default());
    let pages = letter::lay_out(blatt, logo.as_ref(), &mut typesetter, &mut hinweise)?;
    add_missing(typesetter, &mut hinweise);
    let count = pages.pages.len();
    let mut pdf = pdf::write(blatt, pages, logo)?;
    if let Some(erechnung) = &blatt.erechnung {
        pdf = facturx::announce(&pdf, erechnung.profil)?;
    }
    Ok(Drawn { pdf, pages: count, hinweise })
}
