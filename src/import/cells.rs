//! What stands in a cell of Excel: its text, its place, and days that are numbers with a format (ECMA-376, 18.8.30).

use quick_xml::events::BytesStart;

use super::complaint::Complaint;
use super::xml::{PIECE_BYTES_MAX, attribute, unreadable};
use crate::rules::day::Day;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The last day that Excel knows, 9999-12-31, as it counts them from 1900 on.
const LAST_DAY: f64 = 2_958_465.0;

/// The text of a cell or a shared text: what stands in its `t` or `v`, without the readings (rPh) of Asian letters.
#[derive(Default)]
pub struct CellText {
    pub text: String,
    pub is_there: bool,
    is_open: bool,
    is_reading: bool,
    /// Where the open `t` begins, and whether blanks around it count.
    begun: usize,
    keeps_blanks: bool,
}

impl CellText {
    pub fn start(&mut self, element: &BytesStart<'_>) -> Result<(), Complaint> {
        match element.local_name().as_ref() {
            "rPh" => self.is_reading = true,
            "is" => self.is_there = true,
            name @ ("t" | "v") if !self.is_reading => {
                self.keeps_blanks =
                    name == "v" || attribute(element, "xml:space")?.as_deref() == Some("preserve");
                (self.is_there, self.is_open, self.begun) = (true, true, self.text.len());
            }
            _ => {}
        }
        Ok(())
    }

    pub fn add(&mut self, text: &str) -> Result<(), Complaint> {
        if !self.is_open {
            return Ok(());
        }
        if self.text.len() + text.len() > PIECE_BYTES_MAX {
            return Err(unreadable(format!("a text of more than {} KiB", PIECE_BYTES_MAX >> 10)));
        }
        self.text.push_str(text);
        Ok(())
    }

    pub fn end(&mut self, name: &str) {
        match name {
            "rPh" => self.is_reading = false,
            "t" | "v" if self.is_open => {
                self.is_open = false;
                let added = self.text.split_off(self.begun);
                let blanks: &[char] = if self.keeps_blanks { &[] } else { &[' ', '\t', '\r', '\n'] };
                push_unescaped(&mut self.text, added.trim_matches(blanks));
            }
            _ => {}
        }
    }
}

/// Adds a text in which `_x000D_` stands for the letter of this number.
fn push_unescaped(into: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        let digits = rest.get(at + 2..at + 6).filter(|_| rest.as_bytes().get(at + 6) == Some(&b'_'));
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        into.push_str(&rest[..at]);
        match number {
            Some(number) => into.push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)),
            None => into.push_str("_x"),
        }
        rest = &rest[at + if number.is_some() { 7 } else { 2 }..];
    }
    into.push_str(rest);
}

/// Row and column of a place like `BC23`, from 0.
pub fn place_of(place: &str) -> Result<(u32, u32), Complaint> {
    let wrong = || unreadable("a cell that stands nowhere");
    let digits = place.find(|letter: char| letter.is_ascii_digit()).ok_or_else(wrong)?;
    let (letters, digits) = place.split_at(digits);
    let column = letters.bytes().try_fold(0u32, |column, letter| {
        let letter = letter.is_ascii_alphabetic().then(|| u32::from(letter.to_ascii_uppercase() - b'A'))?;
        column.checked_mul(26)?.checked_add(letter + 1)
    });
    let row = digits.parse::<u32>().ok();
    let from_0 = |number: Option<u32>| number?.checked_sub(1);
    from_0(row).zip(from_0(column)).ok_or_else(wrong)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Number,
    Moment,
    Duration,
}

impl Format {
    /// A format that every workbook has.
    pub fn of_number(id: u32) -> Format {
        match id {
            14..=22 | 27..=36 | 45 | 47 | 50..=58 => Format::Moment,
            46 => Format::Duration,
            _ => Format::Number,
        }
    }

    /// A format of the workbook's own: of a day where letters of days or times stand in its first section, outside of
    /// quotation marks and brackets; of a length of time where they stand in brackets alone.
    pub fn of_code(code: &str) -> Format {
        let mut letters = code.chars();
        while let Some(letter) = letters.next() {
            match letter {
                ';' => break,
                '\\' | '_' | '*' => drop(letters.next()),
                '"' => drop(letters.find(|letter| *letter == '"')),
                '[' => {
                    let inside: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                    let inside = inside.to_ascii_lowercase();
                    if ['h', 'm', 's']
                        .iter()
                        .any(|unit| !inside.is_empty() && inside.chars().all(|c| c == *unit))
                    {
                        return Format::Duration;
                    }
                }
                'd' | 'm' | 'y' | 'h' | 's' | 'D' | 'M' | 'Y' | 'H' | 'S' => return Format::Moment,
                _ => {}
            }
        }
        Format::Number
    }
}

/// A day, or a day and a time, of the days since 1900 or 1904.
pub fn moment(days: f64, format: Format, is_1904: bool, line: u32) -> Result<String, Complaint> {
    if format == Format::Duration {
        return Err(Complaint::at_line(
            line,
            "a length of time stands there: write a number or a text",
            "eine Zeitdauer; bitte als Zahl oder Text schreiben",
        ));
    }
    if !(0.0..=LAST_DAY).contains(&days) {
        return Err(Complaint::at_line(
            line,
            format!("{days} is formatted as a day, but there is none of this number"),
            format!("{days} ist als Datum formatiert, aber kein Tag; bitte als Zahl formatieren"),
        ));
    }
    let seconds = (days * SECONDS_PER_DAY).round() as i64;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Excel counts a 29 February 1900.
    let first = match (is_1904, day < 60) {
        (true, _) => Day::new(1904, 1, 1),
        (false, true) => Day::new(1899, 12, 31),
        (false, false) => Day::new(1899, 12, 30),
    };
    let day = Day::of_number(first.number() + day);
    Ok(match second {
        0 => day.to_string(),
        _ => format!("{day}T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_by_the_formats_of_their_cells() {
        let formats = [
            ("DD/MM/YY", Format::Moment),
            ("[$-407]d. mmmm yyyy;@", Format::Moment),
            ("H:MM:SS;@", Format::Moment),
            ("*-yyyy-mm-dd", Format::Moment),
            ("[h]:mm:ss", Format::Duration),
            ("[Blue]\\+[SS]", Format::Duration),
            ("#,##0.00\\ \"Dosen\"", Format::Number),
            ("#,##0*y", Format::Number),
            ("0.00E+00", Format::Number),
            ("_-* #,##0.00\\ [$€-407]_-;dd", Format::Number),
            ("[Red]General", Format::Number),
        ];
        for (code, expected) in formats {
            assert_eq!(Format::of_code(code), expected, "{code}");
        }
        let moments = [
            (1.0, false, "1900-01-01"),
            (59.0, false, "1900-02-28"),
            (61.0, false, "1900-03-01"),
            (46_351.0, false, "2026-11-25"),
            (46_351.520_833_333_3, false, "2026-11-25T12:30:00"),
            (46_350.999_999_99, false, "2026-11-25"),
            (44_889.0, true, "2026-11-25"),
            (2_958_465.0, false, "9999-12-31"),
        ];
        for (days, is_1904, expected) in moments {
            assert_eq!(moment(days, Format::Moment, is_1904, 1).unwrap(), expected, "{days}");
        }
        for days in [-1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert!(moment(days, Format::Moment, false, 1).is_err(), "{days}");
        }
    }

    #[test]
    fn places_and_escaped_letters_are_read() {
        for (place, expected) in [("A1", (0, 0)), ("bc23", (22, 54)), ("XFD1048576", (1_048_575, 16_383))] {
            assert_eq!(place_of(place).unwrap(), expected, "{place}");
        }
        for place in ["", "A", "1", "A0", "ÄÖ1", "A99999999999", "ZZZZZZZZ1"] {
            assert!(place_of(place).is_err(), "{place}");
        }
        let escapes =
            [("a_x000D_b", "a\rb"), ("_x0041__x0042_", "AB"), ("_xÄÖ", "_xÄÖ"), ("_x00_x0041_", "_x00A")];
        for (text, expected) in escapes {
            let mut unescaped = String::new();
            push_unescaped(&mut unescaped, text);
            assert_eq!(unescaped, expected, "{text}");
        }
    }
}
