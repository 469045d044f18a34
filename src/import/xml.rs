//! The XML of a spreadsheet, piece by piece: of a part no more is held than one element or one piece of text.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesEnd, BytesStart, Event};
use quick_xml::reader::Reader;

use super::complaint::Complaint;

/// Longest element or text, in bytes. A cell has 32,767 characters at most.
pub const PIECE_BYTES_MAX: usize = 1 << 20;

/// Elements within one another at most: the reader remembers their names.
const DEPTH_MAX: usize = 256;

pub enum Piece<'p> {
    Start(BytesStart<'p>),
    End(BytesEnd<'p>),
    Text(Cow<'p, str>),
    Other,
}

pub struct Pieces<R> {
    reader: Reader<Limited<R>>,
    buffer: Vec<u8>,
    depth: usize,
}

impl<R: BufRead> Pieces<R> {
    pub fn of(part: R) -> Pieces<R> {
        let mut reader = Reader::from_reader(Limited { part, left: 0 });
        reader.config_mut().expand_empty_elements = true;
        Pieces { reader, buffer: Vec::new(), depth: 0 }
    }

    /// The next piece; none at the end.
    pub fn next(&mut self) -> Result<Option<Piece<'_>>, Complaint> {
        self.buffer.clear();
        self.reader.get_mut().left = PIECE_BYTES_MAX;
        Ok(Some(match self.reader.read_event_into(&mut self.buffer).map_err(unreadable)? {
            Event::Eof => return Ok(None),
            Event::Start(_) if self.depth >= DEPTH_MAX => {
                return Err(unreadable(format!("more than {DEPTH_MAX} elements within one another")));
            }
            Event::Start(element) => {
                self.depth += 1;
                Piece::Start(element)
            }
            Event::End(element) => {
                self.depth = self.depth.saturating_sub(1);
                Piece::End(element)
            }
            Event::Text(text) => Piece::Text(text.xml10_content()),
            Event::CData(text) => Piece::Text(text.xml10_content()),
            Event::GeneralRef(reference) => {
                let letter = reference.resolve_char_ref().map_err(unreadable)?.map(String::from);
                let named = || resolve_predefined_entity(&reference).map(str::to_owned);
                Piece::Text(letter.or_else(named).ok_or_else(|| unreadable("an unknown entity"))?.into())
            }
            _ => Piece::Other,
        }))
    }
}

/// A part of which so many bytes more are read until the next piece begins.
struct Limited<R> {
    part: R,
    left: usize,
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Limited<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            let kib = PIECE_BYTES_MAX >> 10;
            return Err(io::Error::other(format!("an element or a text of more than {kib} KiB")));
        }
        let buffer = self.part.fill_buf()?;
        Ok(&buffer[..buffer.len().min(self.left)])
    }

    fn consume(&mut self, read: usize) {
        self.left = self.left.saturating_sub(read);
        self.part.consume(read);
    }
}

pub fn unreadable(error: impl std::fmt::Display) -> Complaint {
    Complaint::new(
        format!("this is no .xlsx or .ods that can be read: {error}"),
        format!("Diese .xlsx oder .ods ist nicht zu lesen. Bitte neu speichern. ({error})"),
    )
}

/// An attribute by its whole name; of doubled ones the first, for looking for them takes the square of their number.
pub fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Complaint> {
    for found in element.attributes().with_checks(false) {
        let found = found.map_err(unreadable)?;
        if found.key.0 == name {
            let value = found.normalized_value(XmlVersion::Implicit1_0).map_err(unreadable)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}
