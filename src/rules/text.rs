//! Texts prepared for search, comparison, sorting and display (D16, D17).

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest text of an ordinary field, in characters (D18).
pub const TEXT_CHARS_MAX: usize = 255;

/// Letters that do not decompose into a base letter and a mark.
const LETTERS: &[(char, &str)] =
    &[('ß', "ss"), ('æ', "ae"), ('œ', "oe"), ('ø', "o"), ('ł', "l"), ('đ', "d"), ('ð', "d"), ('þ', "th")];

/// How umlauts are spelled with two letters. A search finds an ä as ae and as a.
const SPELLED: &[(char, &str)] = &[('ä', "ae"), ('ö', "oe"), ('ü', "ue")];
/// Nothing to replace: folding drops the marks, so ä becomes a.
const STRIPPED: &[(char, &str)] = &[];

fn fold(text: &str, umlauts: &[(char, &str)]) -> String {
    let composed: String = text.nfkc().flat_map(char::to_lowercase).nfc().collect();
    let mut folded = String::with_capacity(composed.len() + 4);
    for letter in composed.chars() {
        if letter.is_ascii() {
            folded.push(letter);
        } else if let Some((_, plain)) = umlauts.iter().chain(LETTERS).find(|(special, _)| *special == letter)
        {
            folded.push_str(plain);
        } else {
            folded.extend(std::iter::once(letter).nfkd().filter(|c| !is_combining_mark(*c)));
        }
    }
    folded
}

/// Builds the search text of a record: its folded fields, one per line, with umlauts in both spellings.
pub fn searchable<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let joined = fields.into_iter().collect::<Vec<_>>().join("\n");
    let (spelled, stripped) = (fold(&joined, SPELLED), fold(&joined, STRIPPED));
    if spelled == stripped { spelled } else { format!("{spelled}\n{stripped}") }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    pub spelled: String,
    pub stripped: String,
}

impl Folded {
    pub fn new(text: &str) -> Folded {
        let text = text.trim();
        Folded { spelled: fold(text, SPELLED), stripped: fold(text, STRIPPED) }
    }

    /// Whether folding leaves nothing to search for. The spellings differ in umlauts only, so checking one
    /// suffices.
    fn is_blank(&self) -> bool {
        self.spelled.trim().is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    All,
    /// Folding leaves no letter of the query, for example of a lone combining mark: no record matches.
    Nothing,
    /// A record matches if it contains each word in one of its spellings. No word is blank, because a blank
    /// word would match everywhere.
    Words(Vec<Folded>),
}

impl Search {
    pub fn parse(text: Option<&str>) -> Search {
        let mut words = text.unwrap_or_default().split_whitespace().peekable();
        if words.peek().is_none() {
            return Search::All;
        }
        let words: Vec<_> = words.map(Folded::new).filter(|word| !word.is_blank()).collect();
        if words.is_empty() { Search::Nothing } else { Search::Words(words) }
    }
}

/// Key for comparing names: trimmed and folded.
pub fn folded_key(text: &str) -> String {
    fold(text.trim(), SPELLED)
}

/// Whether a cell of a CSV with semicolons stands in quotes.
pub fn needs_quotes(cell: &str) -> bool {
    cell.contains([';', '"', '\n', '\r'])
}

/// Appends a cell to a record of a CSV.
pub fn push_cell(text: &mut String, cell: &str) {
    if !needs_quotes(cell) {
        text.push_str(cell);
        return;
    }
    text.push('"');
    text.push_str(&cell.replace('"', "\"\""));
    text.push('"');
}

/// Returns a text as a cell of a spreadsheet: one that its program would execute, or whose first character it would
/// take for its own mark of a text, gets an apostrophe in front (D39).
pub fn marked(text: String) -> String {
    if is_executed(&text) || unmarked(&text).is_some() { format!("'{text}") } else { text }
}

/// Returns what follows the apostrophe that marks a cell as a text; `None` if its first character is its own. Takes
/// back what [`marked`] added, and also the mark that people type in front of digits.
pub fn unmarked(cell: &str) -> Option<&str> {
    let rest = cell.strip_prefix('\'')?;
    let own = rest.trim_start_matches('\'');
    (is_executed(own) || own.starts_with(|c: char| c.is_ascii_digit())).then_some(rest)
}

/// Whether a spreadsheet program takes the text of a cell for a formula or a command.
fn is_executed(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Key for comparing numbers: trimmed, in lower case (D1, D2, D6).
pub fn case_key(text: &str) -> String {
    text.trim().to_lowercase()
}

/// Key for comparing numbers of other firms, which people type in many ways: letters and digits alone, in lower case; the
/// number itself if it has none (D5).
pub fn foreign_number_key(text: &str) -> String {
    let key: String = text.chars().filter(|letter| letter.is_alphanumeric()).collect();
    case_key(if key.is_empty() { text } else { &key })
}

/// Sort key for the natural order: lower case, runs of digits by value (D16).
pub fn natural_key(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut key = String::with_capacity(lower.len() + 8);
    let mut rest = lower.as_str();
    while let Some(first) = rest.chars().next() {
        if !first.is_ascii_digit() {
            key.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[..end].trim_start_matches('0');
        // The length first: a longer number is larger.
        key.push_str(&format!("{:03}", digits.len()));
        key.push_str(digits);
        rest = &rest[end..];
    }
    key
}

/// Sort key for names by DIN 5007-1: ä as a, ß as ss.
pub fn din_5007_key(text: &str) -> String {
    fold(text, STRIPPED)
}

/// Writes a text as a cell of a CSV file, with an apostrophe before anything that a spreadsheet would take
/// for a formula. A spreadsheet with another separator than ours sees a new cell after each of its separators
/// and after a line break, with or without a quote.
pub fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len() + 1);
    let mut begins = true;
    for letter in text.chars() {
        if begins && matches!(letter, '=' | '+' | '-' | '@') {
            cell.push('\'');
        }
        begins = matches!(letter, ';' | ',' | '\t' | '\n' | '\r') || (begins && letter == '"');
        cell.push(letter);
    }
    cell
}

/// Escapes a text for a terminal or a log: characters that control the terminal, break the line or change the
/// writing direction are written as in JSON, so that the text cannot disguise its content.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if steers(letter) {
            shown.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character is a control character, a line separator or a mark of writing direction.
pub fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the name most similar to a mistyped one; `None` if there are no names.
pub fn nearest<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let likeness = |name: &str| strsim::jaro_winkler(typed, name);
    names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_firms_are_the_same_however_they_are_typed() {
        for typed in ["R-3411", "r 3411", "R3411", " R/34.11 "] {
            assert_eq!(foreign_number_key(typed), "r3411");
        }
        assert_eq!([" -- ", "Ü-1"].map(foreign_number_key), ["--", "ü1"]);
    }

    fn finds(needle: &str, hay: &str) -> bool {
        let hay = searchable([hay]);
        match Search::parse(Some(needle)) {
            Search::All => true,
            Search::Nothing => false,
            Search::Words(words) => {
                words.iter().all(|w| hay.contains(&w.spelled) || hay.contains(&w.stripped))
            }
        }
    }

    #[test]
    fn a_search_finds_every_spelling() {
        let table = [
            ("müller", "Müller Mühle", true),
            ("MUELLER", "Müller Mühle", true),
            ("muller", "Müller Mühle", true),
            ("mühle müll", "Müller Mühle", true),
            ("müller", "Mueller", true),
            ("müller", "Muller", true),
            ("strasse", "Straße", true),
            ("STRAẞE", "Strasse", true),
            ("cafe", "Café", true),
            ("łódź", "Lodz", true),
            ("e\u{301}", "é", true),
            ("%", "100 % Bio", true),
            ("_", "100 % Bio", false),
            ("meier", "Müller", false),
            ("", "Müller", true),
            (" \u{2009}\t", "Müller", true),
            ("\u{301}", "Müller", false),
            ("\u{345}", "Müller", false),
            ("\u{20dd} \u{fe0f}", "Müller", false),
            ("´", "Müller Mühle", false),
            ("\u{301} müller", "Müller", true),
            ("\u{301} müller", "Meier", false),
            ("mü\u{301}ller", "Müller", true),
        ];
        for (needle, hay, expected) in table {
            assert_eq!(finds(needle, hay), expected, "{needle} in {hay}");
        }
    }

    #[test]
    fn numbers_stand_in_natural_order() {
        let ordered = ["A", "K-2", "K-10", "K-010a", "K-100", "KB-1", "L"];
        let mut sorted = ordered;
        sorted.reverse();
        sorted.sort_by_key(|text| natural_key(text));
        assert_eq!(sorted, ordered);
    }

    #[test]
    fn names_stand_in_the_order_of_the_standard() {
        let mut names = ["Zypern", "Österreich", "Oman", "Ägypten", "Albanien", "Ost"];
        names.sort_by_key(|name| din_5007_key(name));
        assert_eq!(names, ["Ägypten", "Albanien", "Oman", "Ost", "Österreich", "Zypern"]);
    }
    #[test]
    fn no_cell_is_a_formula_whatever_separates_the_cells() {
        let table = [
            ("Müller", "Müller"),
            ("", ""),
            ("=1+1", "'=1+1"),
            ("+49 170", "'+49 170"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("a=1", "a=1"),
            ("Hof;=1", "Hof;'=1"),
            ("Hof,@x", "Hof,'@x"),
            ("Hof\t+1", "Hof\t'+1"),
            ("Hof\n-1\r=2", "Hof\n'-1\r'=2"),
            ("\t=1", "\t'=1"),
            ("\"=1", "\"'=1"),
            ("Hof;\"\"=1;b", "Hof;\"\"'=1;b"),
            ("Hof \"=1", "Hof \"=1"),
            ("a, - b", "a, - b"),
            ("=1;=2", "'=1;'=2"),
        ];
        for (text, expected) in table {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_shown_is_what_is_there() {
        let table = [
            ("Müller & Söhne ß 麦", "Müller & Söhne ß 麦"),
            ("a\nb\tc\r", "a\\u000ab\\u0009c\\u000d"),
            ("\u{1b}[31mrot", "\\u001b[31mrot"),
            ("\u{7f}\u{9b}31m", "\\u007f\\u009b31m"),
            ("\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}", "\\u202a\\u202b\\u202c\\u202d\\u202e"),
            ("\u{2066}\u{2067}\u{2068}\u{2069}", "\\u2066\\u2067\\u2068\\u2069"),
            ("\u{200e}\u{200f}\u{61c}", "\\u200e\\u200f\\u061c"),
            ("\u{2028}\u{2029}", "\\u2028\\u2029"),
            ("\0", "\\u0000"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
