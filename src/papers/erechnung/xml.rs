//! Writes XML as text: elements, escaping, and characters that XML does not allow.

use std::fmt::{Display, Write};

/// A document that is being written. Elements without content are omitted, because they would be refused
/// (PEPPOL-EN16931-R008).
pub struct Xml(String);

impl Xml {
    pub fn with_capacity(bytes: usize) -> Xml {
        let mut text = String::with_capacity(bytes);
        text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        Xml(text)
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// Writes an element and its content; nothing if the content is empty.
    pub fn element(&mut self, name: &str, inside: impl FnOnce(&mut Xml)) {
        let before = self.0.len();
        self.0.extend(["<", name, ">"]);
        let empty = self.0.len();
        inside(self);
        if self.0.len() == empty { self.0.truncate(before) } else { self.close(name) }
    }

    pub fn root(&mut self, name: &str, attributes: &str, inside: impl FnOnce(&mut Xml)) {
        self.0.extend(["<", name, " ", attributes, ">"]);
        inside(self);
        self.close(name);
        self.0.push('\n');
    }

    /// Writes an element with a text; nothing if the text is blank.
    pub fn text(&mut self, name: &str, text: impl AsRef<str>) {
        self.element(name, |xml| xml.escaped(text.as_ref()));
    }

    pub fn optional(&mut self, name: &str, text: Option<impl AsRef<str>>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    /// Writes an element that contains an element with a text.
    pub fn nested(&mut self, name: &str, inner: &str, text: Option<impl AsRef<str>>) {
        self.element(name, |xml| xml.optional(inner, text));
    }

    /// Writes an element with an attribute, whose value is ours and needs no escaping; nothing if the text is
    /// blank.
    pub fn text_with(&mut self, name: &str, (attribute, value): (&str, &str), text: impl AsRef<str>) {
        if !is_blank(text.as_ref()) {
            self.0.extend(["<", name, " ", attribute, "=\"", value, "\">"]);
            self.escaped(text.as_ref());
            self.close(name);
        }
    }

    pub fn number(&mut self, name: &str, number: impl Display) {
        // Writing to a `String` cannot fail.
        let _ = write!(self.0, "<{name}>{number}</{name}>");
    }

    pub fn number_with(&mut self, name: &str, (attribute, value): (&str, &str), number: impl Display) {
        let _ = write!(self.0, "<{name} {attribute}=\"{value}\">{number}</{name}>");
    }

    fn close(&mut self, name: &str) {
        self.0.extend(["</", name, ">"]);
    }

    /// Writes escaped text. A character that XML 1.0 does not allow becomes a blank, because vertical tabs
    /// and form feeds, which people paste, stand between words; so do U+FFFE and U+FFFF. Line ends become
    /// what an XML reader turns them into.
    fn escaped(&mut self, text: &str) {
        if is_blank(text) {
            return;
        }
        if text.bytes().all(is_plain) {
            self.0.push_str(text);
            return;
        }
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                '\r' => {
                    let _ = letters.next_if_eq(&'\n');
                    self.0.push('\n');
                }
                letter if is_allowed(letter) => self.0.push(letter),
                _ => self.0.push(' '),
            }
        }
    }
}

/// Whether a byte never needs escaping; 0xEF may begin U+FFFE and U+FFFF.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && !matches!(byte, b'<' | b'>' | b'&' | 0xef) || matches!(byte, b'\t' | b'\n')
}

/// XML 1.0, production 2; a `char` is never a surrogate.
fn is_allowed(letter: char) -> bool {
    letter >= ' ' && !matches!(letter, '\u{fffe}' | '\u{ffff}') || matches!(letter, '\t' | '\n' | '\r')
}

pub fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r') || !is_allowed(letter)
}

pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_forbidden_characters_become_blanks() {
        let table = [
            ("Müller & Söhne <KG>", "<a>Müller &amp; Söhne &lt;KG&gt;</a>"),
            ("eins\r\nzwei\rdrei\nvier", "<a>eins\nzwei\ndrei\nvier</a>"),
            ("a\u{b}b\u{0}c\u{ffff}d\u{85}e", "<a>a b c d\u{85}e</a>"),
            ("]]>", "<a>]]&gt;</a>"),
            ("Ελιά 𝔘", "<a>Ελιά 𝔘</a>"),
            (" \t\r\n\u{1}\u{fffe}", ""),
            ("\u{a0}", "<a>\u{a0}</a>"),
            ("", ""),
        ];
        for (text, expected) in table {
            let mut xml = Xml(String::new());
            xml.text("a", text);
            assert_eq!(xml.into_string(), expected, "{text:?}");
        }
    }

    #[test]
    fn an_element_without_content_is_left_out() {
        let mut xml = Xml(String::new());
        xml.element("a", |xml| {
            xml.element("b", |xml| xml.text("c", " "));
            xml.text_with("d", ("scheme", "VA"), "\u{1}");
        });
        xml.element("e", |xml| xml.number("f", 1));
        assert_eq!(xml.into_string(), "<e><f>1</f></e>");
    }
}
