//! Parses numbers, days and texts as XML writes them.

use super::model::Unlesbar;
use super::tree::Node;
use crate::rules::day::Day;
use crate::rules::fixed::Fixed;

/// Most characters of a value that are quoted in a sentence.
const SHOWN_CHARS_MAX: usize = 40;

#[derive(Default)]
pub struct Values {
    pub zweifel: Vec<String>,
}

/// Most sentences about one file.
const ZWEIFEL_MAX: usize = 50;

impl Values {
    /// Parses a decimal number (xs:decimal); `None`, with a sentence, if it is malformed or too large.
    pub fn number<const SCALE: u32, const DIGITS: usize>(
        &mut self,
        node: Node<'_>,
        path: &str,
    ) -> Option<Fixed<SCALE, DIGITS>> {
        let text = node.text(path)?;
        let parsed = Fixed::parse(&plain(text).unwrap_or_default()).ok();
        match parsed {
            Some(parsed) if !parsed.rounded => {}
            Some(_) => self.note(node, path, text, "wurde gerundet"),
            None => self.note(node, path, text, "ist keine Zahl, die gelesen werden kann"),
        }
        parsed.map(|parsed| parsed.value)
    }

    /// Parses a day: `20260710`, `2026-07-10`, with or without a time; `None`, with a sentence, if it is
    /// malformed.
    pub fn day(&mut self, node: Node<'_>, path: &str) -> Option<Day> {
        let text = node.text(path)?;
        let day = day(text);
        if day.is_none() {
            self.note(node, path, text, "ist kein Datum, das gelesen werden kann");
        }
        day
    }

    fn note(&mut self, node: Node<'_>, path: &str, text: &str, what: &str) {
        if self.zweifel.len() < ZWEIFEL_MAX {
            let shown: String = text.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS_MAX).collect();
            self.zweifel.push(format!("Der Wert \"{shown}\" in {}/{path} {what}.", node.name()));
        }
    }
}

pub fn day(text: &str) -> Option<Day> {
    let text = text.trim();
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let (year, rest) = text.split_at(4);
        let (month, day) = rest.split_at(2);
        return Day::parse_plain(&format!("{year}-{month}-{day}"));
    }
    Day::parse_plain(text.get(..10)?)
}

/// Converts an xs:decimal to JSON's grammar: without a plus, leading zeros, or a point without digits on one
/// side.
fn plain(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// Most lines of an invoice: as many as a document may have positions (D18).
const LINES_MAX: usize = 1_000;

pub const BATCH: &[&str] =
    &["charge", "chargennummer", "chargen-nr.", "chargennr", "chargennr.", "lot", "batch", "batchid"];
pub const BEST_BEFORE: &[&str] =
    &["mhd", "mindesthaltbarkeitsdatum", "haltbar bis", "best before", "expirydate"];

/// The scheme of a GTIN (ISO/IEC 6523).
pub const GTIN: &str = "0160";

/// Whether an xs:boolean is there and true.
pub fn is_true(text: Option<&str>) -> bool {
    matches!(text, Some("true" | "1"))
}

pub fn too_many_lines(lines: usize) -> Result<(), Unlesbar> {
    if lines <= LINES_MAX {
        return Ok(());
    }
    let message = format!("Die Rechnung hat mehr als {LINES_MAX} Positionen. Bitte von Hand erfassen.");
    Err(Unlesbar::Datei(message))
}

/// Longest text that is kept, in characters: that of a description (D18).
const TEXT_CHARS_MAX: usize = 4_000;
/// Longest article number, in characters (D18).
const NUMBER_CHARS_MAX: usize = 255;
pub const ACCOUNTS_MAX: usize = 10;

/// Copies a text, cut to the longest text that is kept.
pub fn owned(text: Option<&str>) -> Option<String> {
    text.map(|text| text.chars().take(TEXT_CHARS_MAX).collect())
}

/// Copies an article number; `None` if the text is too long to be one.
pub fn number_of(text: Option<&str>) -> Option<String> {
    text.filter(|text| text.chars().nth(NUMBER_CHARS_MAX).is_none()).map(str::to_owned)
}

/// The value of the first article attribute (BG-32) with one of these names.
pub fn attribute<'t>(item: Node<'t>, [element, name]: [&str; 2], wanted: &[&str]) -> Option<&'t str> {
    let is_wanted = |name: &str| wanted.contains(&name.trim().to_lowercase().as_str());
    item.all(element).find(|attribute| attribute.text(name).is_some_and(is_wanted))?.text("Value")
}

/// Parses a day in an attribute as people write it: with hyphens, without, or in German notation.
pub fn attribute_day(text: &str) -> Option<Day> {
    day(text).or_else(|| Day::parse_german(text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_xml_are_numbers() {
        let table = [
            ("12.50", Some("12.50")),
            ("+007.5", Some("7.5")),
            ("-.5", Some("-0.5")),
            ("5.", Some("5")),
            ("000", Some("0")),
            ("1e3", None),
            ("1,5", None),
            (".", None),
            ("-", None),
            ("--1", None),
            ("1.2.3", None),
            ("NaN", None),
        ];
        for (text, expected) in table {
            assert_eq!(plain(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn days_are_read_with_and_without_hyphens() {
        let table = [
            ("20260710", Some("2026-07-10")),
            ("2026-07-10", Some("2026-07-10")),
            ("2026-07-10+02:00", Some("2026-07-10")),
            ("2026-07-10T00:00:00", Some("2026-07-10")),
            ("20260732", None),
            ("202607", None),
            ("10.07.2026", None),
            ("äääääääää", None),
        ];
        for (text, expected) in table {
            assert_eq!(day(text).map(|day| day.to_string()).as_deref(), expected, "{text}");
        }
    }
}
