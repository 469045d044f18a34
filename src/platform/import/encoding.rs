//! Texts that are not UTF-8: in which code page their letters form words, and UTF-8 that was encoded twice (D22).

use std::sync::LazyLock;

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

use super::parse_error::ParseError;
use super::table::excerpt;
use crate::choice;
use crate::rules::choice::Choice;

choice! {
    /// Code pages of the tables that German programs write.
    pub enum CodePage {
        /// Of Windows and its Excel.
        Windows1252 = "windows-1252",
        /// Of DOS, and of the merchandise programs that came from there.
        Cp850 = "cp850",
        /// Of Excel on a Mac.
        MacRoman = "macroman",
    }
}

/// The characters 128 to 255 of CP850.
const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
                     └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// Lower-case letters of the languages around Germany. Those of Portuguese and Icelandic are missing: CP850 has õ
/// where Windows-1252 has ä, so that no file with an ä alone could be told.
const LETTERS: &str = "äöüáàâåæçéèêëíìîïñóòôøœúùûšžÿ";

/// Characters of prose that never stand between two letters, and those that may.
const SIGNS: &str = "§°€£„“”‚…•«»µ±×©";
const WITHIN_WORDS: &str = "’‘´–—\u{a0}\u{ad}";
/// Characters of prose that no letter follows.
const BEHIND_WORDS: &str = "²³¹½¼¾™®";

/// Cells that are shown to tell how a file was read.
const SAMPLES: usize = 3;

/// What a character is to the words around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Upper,
    Lower,
    /// ß, which begins no word.
    Sharp,
    Sign,
    WithinWord,
    BehindWord,
    /// Any other ASCII character.
    Between,
    /// A character that no word of ours has.
    Foreign,
}

impl Role {
    fn of(letter: char) -> Role {
        let lower = letter.to_lowercase().next().unwrap_or(letter);
        match letter {
            'a'..='z' => Role::Lower,
            'A'..='Z' => Role::Upper,
            letter if letter.is_ascii() => Role::Between,
            'ß' => Role::Sharp,
            letter if LETTERS.contains(letter) => Role::Lower,
            _ if LETTERS.contains(lower) => Role::Upper,
            letter if SIGNS.contains(letter) => Role::Sign,
            letter if WITHIN_WORDS.contains(letter) => Role::WithinWord,
            letter if BEHIND_WORDS.contains(letter) => Role::BehindWord,
            _ => Role::Foreign,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Role::Upper | Role::Lower | Role::Sharp)
    }

    /// Whether a character beyond ASCII may stand between these.
    fn fits(self, before: Role, after: Role) -> bool {
        let is_alone = !before.is_letter() && !after.is_letter();
        let goes_on_small = matches!(after, Role::Lower | Role::Sharp);
        match self {
            Role::Upper => match before {
                Role::Lower | Role::Sharp => false,
                Role::Upper => !goes_on_small,
                _ => !is_alone,
            },
            Role::Lower => !is_alone && after != Role::Upper,
            Role::Sharp => before.is_letter(),
            Role::Sign => !(before.is_letter() && after.is_letter()),
            Role::BehindWord => !after.is_letter(),
            Role::WithinWord | Role::Between => true,
            Role::Foreign => false,
        }
    }
}

/// The characters of a code page, and what they are to words.
struct Table {
    letters: [char; 256],
    roles: [Role; 256],
}

impl Table {
    fn of(page: CodePage) -> Table {
        let of_encoding = |encoding: &'static Encoding, byte: u8| {
            encoding.decode_without_bom_handling(&[byte]).0.chars().next().unwrap_or('\u{fffd}')
        };
        let letters = std::array::from_fn(|byte| match (u8::try_from(byte).unwrap_or_default(), page) {
            (byte @ 0..=127, _) => char::from(byte),
            (byte, CodePage::Windows1252) => of_encoding(WINDOWS_1252, byte),
            (byte, CodePage::MacRoman) => of_encoding(MACINTOSH, byte),
            (byte, CodePage::Cp850) => CP850.chars().nth(usize::from(byte) - 128).unwrap_or('\u{fffd}'),
        });
        Table { letters, roles: letters.map(Role::of) }
    }

    fn byte(&self, letter: char) -> Option<u8> {
        self.letters.iter().position(|known| *known == letter).and_then(|byte| u8::try_from(byte).ok())
    }

    /// Whether all characters beyond ASCII stand in words.
    fn makes_words(&self, bytes: &[u8]) -> bool {
        let role = |byte: Option<&u8>| byte.map_or(Role::Between, |byte| self.roles[usize::from(*byte)]);
        bytes.iter().enumerate().filter(|(_, byte)| !byte.is_ascii()).all(|(at, byte)| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            role(Some(byte)).fits(role(before), role(bytes.get(at + 1)))
        })
    }

    fn decode(&self, bytes: &[u8]) -> String {
        bytes.iter().map(|byte| self.letters[usize::from(*byte)]).collect()
    }
}

static TABLES: LazyLock<[Table; 3]> =
    LazyLock::new(|| [CodePage::Windows1252, CodePage::Cp850, CodePage::MacRoman].map(Table::of));

impl CodePage {
    pub fn name(self) -> &'static str {
        match self {
            CodePage::Windows1252 => "Windows-1252",
            CodePage::Cp850 => "CP850",
            CodePage::MacRoman => "Mac Roman",
        }
    }

    fn table(self) -> &'static Table {
        &TABLES[self as usize]
    }
}

/// A decoded file, and how it was read if it is not UTF-8.
pub struct Decoded {
    pub text: String,
    pub said: Option<String>,
}

/// Decodes a file: UTF-8, else the code page named, else the only one in which it has words; never a mixture.
pub fn decode(bytes: Vec<u8>, named: Option<CodePage>) -> Result<Decoded, ParseError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || bytes.contains(&0) {
        return Err(ParseError::new(
            "Das ist kein Text in UTF-8, Windows-1252, CP850 oder Mac Roman. Bitte als „CSV UTF-8“ speichern.",
        ));
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) if named.is_some() && !text.is_ascii() => {
            return Err(ParseError::new("Die Datei ist UTF-8; die Angabe der Kodierung bitte weglassen."));
        }
        Ok(text) => return Ok(Decoded { text, said: None }),
        Err(error) => error.into_bytes(),
    };
    let page = match named {
        Some(page) => page,
        None => {
            refuse_mixture(&bytes)?;
            recognised(&bytes)?
        }
    };
    let why = if named.is_some() { "wie angegeben" } else { "denn UTF-8 ist es nicht" };
    let said = format!("{}, {why}: {}", page.name(), samples(page, &bytes));
    Ok(Decoded { text: page.table().decode(&bytes), said: Some(said) })
}

fn recognised(bytes: &[u8]) -> Result<CodePage, ParseError> {
    let mut fitting = CodePage::ALL.iter().copied().filter(|page| page.table().makes_words(bytes));
    match (fitting.next(), fitting.next()) {
        (Some(page), None) => Ok(page),
        _ => {
            let read = |page: &CodePage| format!("{} {}", page.name(), samples(*page, bytes));
            let read: Vec<_> = CodePage::ALL.iter().map(read).collect();
            Err(ParseError::new(format!(
                "Die Datei ist kein UTF-8, und welche Kodierung sie hat, ist nicht zu erkennen. So liest sie sich: \
                 {}. Bitte angeben, welche stimmt (Feld „Kodierung“, am Befehl --encoding {}), oder als „CSV UTF-8“ \
                 speichern.",
                read.join("; "),
                CodePage::texts()
            )))
        }
    }
}

/// Returns the first cells with a letter beyond ASCII.
fn samples(page: CodePage, bytes: &[u8]) -> String {
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r' | b';' | b',' | b'\t' | b'"');
    let cells = bytes.split(ends).filter(|cell| !cell.is_ascii());
    let cells = cells.take(SAMPLES).map(|cell| excerpt(page.table().decode(cell).trim()));
    cells.collect::<Vec<_>>().join(", ")
}

fn refuse_mixture(bytes: &[u8]) -> Result<(), ParseError> {
    let (mut line, mut utf8, mut other) = (1, None, None);
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'\n' => line += 1,
                byte if !byte.is_ascii() => utf8 = utf8.or(Some(line)),
                _ => {}
            }
        }
        if !chunk.invalid().is_empty() {
            other = other.or(Some(line));
        }
    }
    match (utf8, other) {
        (Some(utf8), Some(other)) => Err(ParseError::at_line(
            other,
            format!(
                "ein Buchstabe, der kein UTF-8 ist, aber Zeile {utf8} ist UTF-8. Zwei Kodierungen sind \
                 gemischt; bitte als „CSV UTF-8“ speichern."
            ),
        )),
        _ => Ok(()),
    }
}

/// Returns the text that was meant if UTF-8 was read in a code page and encoded again: `Müller` of `MÃ¼ller`.
pub fn encoded_twice(text: &str) -> Option<String> {
    CodePage::ALL.iter().find_map(|page| {
        let (mut meant, mut is_found) = (String::new(), false);
        let mut rest = text;
        while !rest.is_empty() {
            let (ascii, beyond) = rest.split_at(rest.find(|c: char| !c.is_ascii()).unwrap_or(rest.len()));
            let (run, after) = beyond.split_at(beyond.find(|c: char| c.is_ascii()).unwrap_or(beyond.len()));
            let decoded = once_decoded(page.table(), run);
            is_found |= decoded.is_some();
            meant.extend([ascii, decoded.as_deref().unwrap_or(run)]);
            rest = after;
        }
        is_found.then_some(meant)
    })
}

/// Returns a run of characters beyond ASCII as the UTF-8 that its bytes are, if they are characters of words.
fn once_decoded(table: &Table, run: &str) -> Option<String> {
    let bytes = run.chars().map(|letter| table.byte(letter)).collect::<Option<Vec<u8>>>()?;
    let decoded = String::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
    decoded.chars().all(|letter| Role::of(letter) != Role::Foreign).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(bytes: &[u8]) -> Option<CodePage> {
        recognised(bytes).ok()
    }

    fn encoded(page: CodePage, text: &str) -> Vec<u8> {
        text.chars().map(|letter| page.table().byte(letter).unwrap()).collect()
    }

    #[test]
    fn a_code_page_is_told_by_the_words_it_makes() {
        let texts = [
            "Bäcker Öhler;Äußere Straße;Köln",
            "Müller & Söhne;Weizen für Brot;MÜHLE SÜD",
            "Café Größe;SÜSS;Äpfel und Übel;Jürgen Groß",
            "Mähdrescher\r\nRüben\r\n",
        ];
        for page in CodePage::ALL.iter().copied() {
            for text in texts {
                assert_eq!(page_of(&encoded(page, text)), Some(page), "{page:?} {text}");
            }
        }
        for text in ["Bäcker", "12 €", "§ 24 UStG", "Preis je m³", "„Müller“ – Söhne", "Bäcker\u{a0}GmbH"]
        {
            assert_eq!(page_of(&encoded(CodePage::Windows1252, text)), Some(CodePage::Windows1252), "{text}");
        }
    }

    #[test]
    fn what_could_be_either_is_refused_with_how_it_reads_in_each() {
        for bytes in [&b"K\x9aln"[..], b"K\x94ln", b"\x80pfel", b"Fu\xe1", b"a\xffb\xfe"] {
            assert_eq!(page_of(bytes), None, "{bytes:?}");
        }
        let refused = decode(b"ort\nK\x9aln\n".to_vec(), None).map(|decoded| decoded.text).unwrap_err();
        let refused = refused.to_string();
        for read in ["Windows-1252 \"Kšln\"", "CP850 \"KÜln\"", "Mac Roman \"Köln\"", "--encoding"] {
            assert!(refused.contains(read), "{refused}");
        }
        let said = decode(b"ort\nK\x9aln\n".to_vec(), Some(CodePage::MacRoman)).unwrap();
        assert_eq!((said.text.as_str(), said.said.is_some()), ("ort\nKöln\n", true));
    }

    #[test]
    fn files_are_read_as_what_they_are() {
        let text = |bytes: &[u8]| decode(bytes.to_vec(), None).map(|decoded| (decoded.text, decoded.said));
        assert_eq!(text(b"M\xc3\xbcller").unwrap(), ("Müller".to_owned(), None));
        let (read, said) = text(b"a;M\xfcller \x80;\"S\xf6hne, Celle\"").unwrap();
        assert_eq!(read, "a;Müller €;\"Söhne, Celle\"");
        assert_eq!(said.unwrap(), "Windows-1252, denn UTF-8 ist es nicht: \"Müller €\", \"Söhne\"");
        let mixed = text(b"a\nM\xc3\xbcller\nM\xfcller\n").unwrap_err();
        assert!(mixed.to_string().starts_with("Zeile 3: "), "{mixed}");
        assert!(text(b"\xff\xfea\0").is_err());
        assert!(decode("Müller".as_bytes().to_vec(), Some(CodePage::Cp850)).is_err());
    }

    #[test]
    fn utf8_that_was_encoded_twice_is_recognised_and_nothing_else() {
        let table = [
            ("MÃ¼ller", Some("Müller")),
            ("Ã„uÃŸere StraÃŸe", Some("Äußere Straße")),
            ("Hof â€“ Mühle", Some("Hof – Mühle")),
            ("M├╝ller", Some("Müller")),
            ("M√ºller", Some("Müller")),
            ("Müller", None),
            ("„Spaß“ – süß…", None),
            ("São Paulo, Ålesund, Škoda", None),
            ("Müller", None),
            ("Łódź", None),
        ];
        for (text, meant) in table {
            assert_eq!(encoded_twice(text).as_deref(), meant, "{text}");
        }
    }
}
