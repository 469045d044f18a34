//! Reads the XML of a spreadsheet piece by piece: holds no more of a part than one element or one piece of
//! text.

use std::borrow::Cow;
use std::io::{BufRead, Take};

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::reader::Reader;

use super::parse_error::ParseError;

/// Longest element or text, in bytes. A cell has at most 32,767 characters.
const PIECE_BYTES_MAX: u64 = 1 << 20;

/// Maximum nesting of elements: the reader remembers their names.
const DEPTH_MAX: usize = 256;

pub enum Piece<'p> {
    Start(BytesStart<'p>),
    End(BytesEnd<'p>),
    Text(Cow<'p, str>),
    Other,
}

pub struct Pieces<R> {
    reader: Reader<Take<R>>,
    buffer: Vec<u8>,
    depth: usize,
    /// Elements that count as one piece with all their content.
    whole: &'static [&'static str],
    /// Depth of the enclosing such element, if any.
    whole_depth: Option<usize>,
}

impl<R: BufRead> Pieces<R> {
    pub fn of(part: R, whole: &'static [&'static str]) -> Pieces<R> {
        let mut reader = Reader::from_reader(part.take(0));
        reader.config_mut().expand_empty_elements = true;
        Pieces { reader, buffer: Vec::new(), depth: 0, whole, whole_depth: None }
    }

    /// Returns the next piece; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Piece<'_>>, ParseError> {
        self.buffer.clear();
        if self.whole_depth.is_none() {
            self.reader.get_mut().set_limit(PIECE_BYTES_MAX);
        }
        let event = self.reader.read_event_into(&mut self.buffer);
        if self.reader.get_ref().limit() == 0 {
            let kib = PIECE_BYTES_MAX >> 10;
            return Err(unreadable(format!("ein Element oder Text von mehr als {kib} KiB")));
        }
        Ok(Some(match event.map_err(unreadable)? {
            Event::Eof => return Ok(None),
            Event::Start(_) if self.depth >= DEPTH_MAX => {
                return Err(unreadable(format!("mehr als {DEPTH_MAX} Elemente ineinander")));
            }
            Event::Start(element) => {
                self.depth += 1;
                if self.whole_depth.is_none() && self.whole.contains(&element.local_name().as_ref()) {
                    self.whole_depth = Some(self.depth);
                }
                Piece::Start(element)
            }
            Event::End(element) => {
                self.whole_depth.take_if(|depth| *depth == self.depth);
                self.depth = self.depth.saturating_sub(1);
                Piece::End(element)
            }
            Event::Text(text) => Piece::Text(text.xml10_content()),
            Event::CData(text) => Piece::Text(text.xml10_content()),
            Event::GeneralRef(reference) => {
                let letter = reference.resolve_char_ref().map_err(unreadable)?.map(String::from);
                let named = || resolve_predefined_entity(&reference).map(str::to_owned);
                Piece::Text(
                    letter.or_else(named).ok_or_else(|| unreadable("ein unbekanntes Zeichen"))?.into(),
                )
            }
            _ => Piece::Other,
        }))
    }
}

pub fn unreadable(error: impl std::fmt::Display) -> ParseError {
    ParseError::new(format!("Diese .xlsx oder .ods ist nicht zu lesen ({error}). Bitte neu speichern."))
}

/// Returns an attribute by its qualified name; the first one if duplicated. Duplicates are not checked, as
/// that takes quadratic time.
pub fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, ParseError> {
    for found in element.attributes().with_checks(false) {
        let found = found.map_err(unreadable)?;
        if found.key.0 == name {
            let value = found.normalized_value(XmlVersion::Implicit1_0).map_err(unreadable)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}
