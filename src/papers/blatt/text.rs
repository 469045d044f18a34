//! Turns texts into lines: removes what cannot be printed, measures, breaks.

use unicode_normalization::UnicodeNormalization;

use super::fonts::{Fonts, Weight};

/// Most missing characters that are reported: enough to find the text.
pub const MISSING_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    pub weight: Weight,
    pub size: f32,
    /// Distance from one baseline to the next.
    pub leading: f32,
    /// 0 is black, 255 white.
    pub grey: u8,
}

const INK: u8 = 26;
/// Lighter, but with a contrast of 5.9 : 1 (WCAG AA asks for 4.5).
const QUIET: u8 = 100;

const fn regular(size: f32, leading: f32) -> Style {
    Style { weight: Weight::Regular, size, leading, grey: INK }
}

pub const BODY: Style = regular(9.0, 13.0);
pub const ADDRESS: Style = regular(10.0, 13.4);
pub const CELL: Style = regular(8.6, 11.6);
pub const DETAIL: Style = regular(7.4, 10.2).quiet();
pub const LABEL: Style = regular(7.4, 10.2).quiet();
pub const FOOT: Style = regular(6.6, 8.8).quiet();
pub const TITLE: Style = Style { weight: Weight::Bold, size: 16.0, leading: 21.0, grey: INK };
pub const HEADING: Style = BODY.bold();

impl Style {
    pub const fn bold(self) -> Style {
        Style { weight: Weight::Bold, ..self }
    }

    pub const fn quiet(self) -> Style {
        Style { grey: QUIET, ..self }
    }

    pub fn sized(self, size: f32) -> Style {
        Style { size, leading: self.leading * size / self.size, ..self }
    }
}

/// Measures and breaks texts, and records the characters that the fonts lack.
pub struct Typesetter {
    fonts: &'static Fonts,
    missing: Vec<char>,
}

impl Typesetter {
    pub fn new(fonts: &'static Fonts) -> Typesetter {
        Typesetter { fonts, missing: Vec::new() }
    }

    /// The characters that the fonts lack in all texts so far, in order of appearance, each once.
    pub fn missing(self) -> Vec<char> {
        self.missing
    }

    /// Cleans a text for print: composed (NFC), without control characters and invisible ones (direction,
    /// joining, soft hyphen, byte order mark), lines ended by `\n`.
    pub fn clean(&mut self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for character in text.replace("\r\n", "\n").nfc() {
            match character {
                '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
                '\t' => clean.push(' '),
                _ if character.is_control() || is_invisible(character) => {}
                _ => {
                    self.note(character);
                    clean.push(character);
                }
            }
        }
        clean
    }

    /// Records the characters of a text that the fonts lack, as drawing it would.
    pub fn look_at(&mut self, text: &str) {
        if !text.is_ascii() {
            self.clean(text);
        }
    }

    /// Cleans a text and replaces its line breaks by blanks.
    pub fn one_line(&mut self, text: &str) -> String {
        self.clean(text).replace('\n', " ")
    }

    fn note(&mut self, character: char) {
        let lacks = self.missing.len() < MISSING_MAX && !self.fonts.face(Weight::Regular).has(character);
        if lacks && !self.missing.contains(&character) {
            self.missing.push(character);
        }
    }

    pub fn width(&self, text: &str, style: Style) -> f32 {
        let face = self.fonts.face(style.weight);
        let shares: f32 = text.chars().map(|character| face.share(face.glyph(character))).sum();
        shares * style.size
    }

    /// The most lines that a text may need in a column of `width` points.
    pub fn lines_at_most(&mut self, text: &str, style: Style, width: f32) -> f32 {
        let clean = self.clean(text);
        clean.split('\n').map(|paragraph| 1.0 + 2.0 * self.width(paragraph, style) / width).sum()
    }

    /// Breaks a text into lines of at most `width` points: at blanks, behind hyphens and slashes, and inside
    /// a word that is too long for a line. The blank at a break stays at the end of its line. Blank lines at
    /// the end are dropped, consecutive ones inside become one.
    pub fn lines(&mut self, text: &str, style: Style, width: f32) -> Vec<String> {
        let clean = self.clean(text);
        let mut lines: Vec<String> = Vec::new();
        for paragraph in clean.trim_end().split('\n') {
            let is_blank = paragraph.trim().is_empty();
            if is_blank && lines.last().is_none_or(|line| line.is_empty()) {
                continue;
            }
            self.wrap(if is_blank { "" } else { paragraph }, style, width, &mut lines);
        }
        lines
    }

    fn wrap(&self, paragraph: &str, style: Style, width: f32, lines: &mut Vec<String>) {
        let face = self.fonts.face(style.weight);
        // The tolerance allows for another order of summation than in a column that is as wide as its text;
        // widths are shares of the font size. A line of one character is never too long.
        let limit = width / style.size + 0.001;
        let (mut start, mut used) = (0, 0.0);
        // Where the line may end, and its width up to there.
        let mut good: Option<(usize, f32)> = None;
        let mut before = ' ';
        for (at, character) in paragraph.char_indices() {
            let advance = face.share(face.glyph(character));
            while character != ' ' && used + advance > limit && at > start {
                let (end, behind) = good.take().unwrap_or((at, used));
                lines.push(without_separator(&paragraph[start..end]));
                start = end;
                used -= behind;
            }
            used += advance;
            // Words may be broken at hyphens, numbers may not: W-2026-1147.
            if matches!(character, ' ' | '/' | '\u{2013}') || character == '-' && before.is_lowercase() {
                good = Some((at + character.len_utf8(), used));
            }
            before = character;
        }
        lines.push(paragraph[start..].to_owned());
    }
}

pub const SEPARATOR: &str = " \u{b7} ";

/// Removes a separator from the end of a line.
fn without_separator(line: &str) -> String {
    match line.strip_suffix(SEPARATOR) {
        Some(facts) => format!("{facts} "),
        None => line.to_owned(),
    }
}

/// Returns at most the first `most` lines; if lines were cut, the last one ends with an ellipsis.
pub fn at_most(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{} \u{2026}", last.trim_end());
        }
    }
    lines
}

/// Whether a character has no visible form: joiners, directions, marks, and code points that Unicode never
/// assigns.
fn is_invisible(character: char) -> bool {
    let code = u32::from(character);
    matches!(code,
        0xAD | 0x34F | 0x61C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F | 0xFE00..=0xFE0F
        | 0xFEFF | 0xFFF0..=0xFFFB | 0xFDD0..=0xFDEF | 0xE0000..=0xE0FFF)
        || code & 0xFFFE == 0xFFFE
}
