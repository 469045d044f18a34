//! DATEV's file format (EXTF, version 700): a header line, a line of column names, records. The encoding is
//! Windows-1252, and each line ends with CR LF; texts are quoted, numbers are not.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;
use unicode_normalization::UnicodeNormalization;

use crate::rules::choice::Choice;
use crate::rules::datev::Rahmen;
use crate::rules::day::{Day, Instant};
use crate::rules::fixed::{Money, Percent};

/// A kind of file.
pub struct Kategorie {
    nummer: u32,
    name: &'static str,
    version: u32,
    /// The line of column names.
    columns: &'static str,
    /// The text columns: first and last of each run.
    texts: &'static [(usize, usize)],
}

/// Bookings: 125 columns.
pub const BUCHUNGSSTAPEL: Kategorie = Kategorie {
    nummer: 21,
    name: "Buchungsstapel",
    version: 13,
    columns: include_str!("buchungsstapel.csv"),
    texts: &[
        (2, 3),
        (6, 6),
        (9, 9),
        (11, 12),
        (14, 14),
        (16, 16),
        (20, 38),
        (40, 40),
        (42, 42),
        (48, 87),
        (91, 91),
        (95, 96),
        (98, 98),
        (102, 103),
        (105, 105),
        (107, 107),
        (109, 110),
        (112, 112),
        (118, 118),
        (120, 121),
        (123, 123),
    ],
};

/// Master data of partners: 254 columns.
pub const DEBITOREN_KREDITOREN: Kategorie = Kategorie {
    nummer: 16,
    name: "Debitoren/Kreditoren",
    version: 5,
    columns: include_str!("debitoren_kreditoren.csv"),
    texts: &[
        (2, 25),
        (29, 49),
        (52, 60),
        (63, 71),
        (74, 82),
        (85, 93),
        (96, 104),
        (107, 107),
        (133, 134),
        (136, 162),
        (165, 173),
        (176, 184),
        (187, 195),
        (198, 206),
        (209, 217),
        (220, 220),
        (222, 231),
        (244, 244),
        (247, 247),
        (249, 249),
    ],
};

/// The text columns of the header.
const HEADER_TEXTS: &[(usize, usize)] =
    &[(1, 1), (4, 4), (8, 10), (17, 18), (22, 22), (24, 24), (27, 27), (30, 31)];

const HEADER_COLUMNS: usize = 31;

/// The header of a file.
pub struct Kopf<'k> {
    pub kategorie: &'static Kategorie,
    pub am: Instant,
    pub berater: i64,
    pub mandant: i64,
    pub wj_beginn: Day,
    pub laenge: i64,
    pub rahmen: Rahmen,
    /// At most 30 characters.
    pub bezeichnung: &'k str,
    /// At most 16 characters.
    pub anwendung: &'k str,
    pub buchungen: Option<Buchungen>,
}

/// The part of the header that only a file of bookings has.
pub struct Buchungen {
    pub von: Day,
    pub bis: Day,
    pub festgeschrieben: bool,
}

/// A line of fields, numbered from 1.
pub struct Felder {
    felder: Vec<Cow<'static, str>>,
    texts: &'static [(usize, usize)],
}

impl Felder {
    pub fn of(kategorie: &Kategorie) -> Felder {
        Felder::new(kategorie.columns.split(';').count(), kategorie.texts)
    }

    fn new(count: usize, texts: &'static [(usize, usize)]) -> Felder {
        Felder { felder: vec![Cow::Borrowed(""); count], texts }
    }

    pub fn set(&mut self, nummer: usize, value: impl Into<Cow<'static, str>>) {
        if let Some(feld) = self.felder.get_mut(nummer - 1) {
            *feld = value.into();
        }
    }

    fn is_text(&self, nummer: usize) -> bool {
        self.texts.iter().any(|(first, last)| (*first..=*last).contains(&nummer))
    }

    /// Appends the line and its line end.
    pub fn write(&self, file: &mut Vec<u8>) {
        let mut line = String::new();
        for (nummer, feld) in (1..).zip(&self.felder) {
            if nummer > 1 {
                line.push(';');
            }
            match self.is_text(nummer) {
                // The most frequent case: a booking fills twenty of 125 columns.
                true if feld.is_empty() => line.push_str("\"\""),
                true => line.extend(["\"", &feld.replace('"', "\"\""), "\""]),
                false => line.push_str(feld),
            }
        }
        write_line(&line, file);
    }
}

fn write_line(line: &str, file: &mut Vec<u8>) {
    file.extend_from_slice(&WINDOWS_1252.encode(line).0);
    file.extend_from_slice(b"\r\n");
}

/// Returns a file with header and column names, but no records yet.
pub fn file(kopf: &Kopf<'_>) -> Vec<u8> {
    let mut felder = Felder::new(HEADER_COLUMNS, HEADER_TEXTS);
    felder.set(1, "EXTF");
    felder.set(2, "700");
    felder.set(3, kopf.kategorie.nummer.to_string());
    felder.set(4, kopf.kategorie.name);
    felder.set(5, kopf.kategorie.version.to_string());
    felder.set(6, kopf.am.digits_in_berlin());
    felder.set(8, "PD");
    felder.set(9, "partnerd");
    felder.set(11, kopf.berater.to_string());
    felder.set(12, kopf.mandant.to_string());
    felder.set(13, digits(kopf.wj_beginn));
    felder.set(14, kopf.laenge.to_string());
    felder.set(17, kopf.bezeichnung.to_owned());
    if let Some(buchungen) = &kopf.buchungen {
        felder.set(15, digits(buchungen.von));
        felder.set(16, digits(buchungen.bis));
        felder.set(19, "1");
        felder.set(20, "0");
        felder.set(21, flag(buchungen.festgeschrieben));
        felder.set(22, "EUR");
    }
    felder.set(27, if kopf.rahmen == Rahmen::Keiner { "" } else { kopf.rahmen.text() });
    felder.set(31, kopf.anwendung.to_owned());
    let mut file = Vec::new();
    felder.write(&mut file);
    write_line(kopf.kategorie.columns.trim_end(), &mut file);
    file
}

/// `YYYYMMDD`.
fn digits(day: Day) -> String {
    day.to_string().replace('-', "")
}

/// `DDMMYYYY`.
pub fn german_digits(day: Day) -> String {
    day.german().replace('.', "")
}

pub fn flag(set: bool) -> &'static str {
    if set { "1" } else { "0" }
}

/// Formats an amount without its sign: `6530,35`.
pub fn amount(betrag: Money) -> String {
    betrag.abs().to_string().replace('.', ",")
}

/// Formats a rate with two decimals: `2,00`.
pub fn percent(satz: Percent) -> String {
    satz.to_string().replace('.', ",")
}

/// Converts a text to what the file can hold: one line in Windows-1252, cut to `chars_max` characters. Also
/// returns whether a letter was replaced, by its base letter or by `?`.
pub fn text(text: &str, chars_max: usize) -> (String, bool) {
    let mut replaced = false;
    let mut kept = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        let known =
            |letter: &char| letter.is_ascii() || !WINDOWS_1252.encode(letter.encode_utf8(&mut [0; 4])).2;
        let letter = if letter.is_control() { ' ' } else { letter };
        match known(&letter) {
            true => kept.push(letter),
            false => {
                replaced = true;
                let base = std::iter::once(letter).nfd().find(|letter| !letter.is_control()).filter(known);
                kept.push(base.unwrap_or('?'));
            }
        }
    }
    (kept.chars().take(chars_max).collect(), replaced)
}
