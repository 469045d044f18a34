//! The two fonts of every sheet, compiled in: Open Sans, Regular and Bold, with the letters of Europe's
//! languages (packaging/fonts.sh makes the files).

use std::sync::OnceLock;

use krilla::text::Font;
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

use super::error::DrawError;

const REGULAR: &[u8] = include_bytes!("fonts/OpenSans-Regular.ttf");
const BOLD: &[u8] = include_bytes!("fonts/OpenSans-Bold.ttf");

/// A box, drawn in place of a character that the font lacks.
const BOX: char = '\u{25a1}';

/// The characters of numbers: equally wide in both fonts, so that sums stand exactly under their amounts.
const FIGURES: &str = "0123456789.,";

/// Characters below this, the Latin ones, are found without a search.
const LATIN: usize = 0x250;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Glyph {
    /// Zero if the font lacks the character.
    pub id: u16,
    pub advance: u16,
}

pub struct Face {
    pub font: Font,
    units: f32,
    latin: Vec<Glyph>,
    others: Vec<(char, Glyph)>,
    missing: Glyph,
}

pub struct Fonts([Face; 2]);

pub fn fonts() -> Result<&'static Fonts, DrawError> {
    static FONTS: OnceLock<Option<Fonts>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let (regular, mut bold) = (Face::read(REGULAR)?, Face::read(BOLD)?);
        bold.take_widths(&regular, FIGURES);
        Some(Fonts([regular, bold]))
    });
    fonts.as_ref().ok_or_else(|| DrawError::Broken("a built-in font cannot be read".to_owned()))
}

impl Fonts {
    pub fn face(&self, weight: Weight) -> &Face {
        &self.0[weight as usize]
    }
}

impl Face {
    fn read(data: &'static [u8]) -> Option<Face> {
        let font = Font::new(data.to_vec().into(), 0)?;
        let face = FontRef::new(data).ok()?;
        let metrics = face.glyph_metrics(Size::unscaled(), LocationRef::default());
        let mut others = Vec::new();
        let mut latin = vec![Glyph::default(); LATIN];
        for (character, id) in face.charmap().mappings() {
            let character = char::from_u32(character)?;
            // The units of a font are whole numbers below 2^16.
            let advance = metrics.advance_width(id)? as u16;
            let glyph = Glyph { id: u16::try_from(id.to_u32()).ok()?, advance };
            match latin.get_mut(character as usize) {
                Some(place) => *place = glyph,
                None => others.push((character, glyph)),
            }
        }
        others.sort_unstable_by_key(|(character, _)| *character);
        let mut face = Face { units: font.units_per_em(), font, latin, others, missing: Glyph::default() };
        face.missing = face.find(BOX)?;
        Some(face)
    }

    /// Gives these Latin characters the width they have in the other face.
    fn take_widths(&mut self, other: &Face, characters: &str) {
        let scale = self.units / other.units;
        for at in characters.chars().map(|character| character as usize) {
            if let (Some(own), Some(theirs)) = (self.latin.get_mut(at), other.latin.get(at)) {
                own.advance = (f32::from(theirs.advance) * scale) as u16;
            }
        }
    }

    fn find(&self, character: char) -> Option<Glyph> {
        let glyph = match self.latin.get(character as usize) {
            Some(glyph) => *glyph,
            None => {
                let at = self.others.binary_search_by_key(&character, |(known, _)| *known).ok()?;
                self.others.get(at)?.1
            }
        };
        (glyph.id != 0).then_some(glyph)
    }

    pub fn has(&self, character: char) -> bool {
        self.find(character).is_some()
    }

    /// The glyph of a character; the box if the font lacks it.
    pub fn glyph(&self, character: char) -> Glyph {
        self.find(character).unwrap_or(self.missing)
    }

    /// The advance of a glyph, as a share of the font size.
    pub fn share(&self, glyph: Glyph) -> f32 {
        f32::from(glyph.advance) / self.units
    }
}
