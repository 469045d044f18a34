//! The index of a PDF: where its objects are.

use std::collections::HashMap;

use memchr::memmem;

use super::objects::{Dict, Lexer, Object, is_blank};
use crate::papers::erechnung::lesen::model::Unlesbar;

/// Most bytes to which all streams of a file together are inflated. A hybrid invoice needs a tenth of one
/// MiB.
const INFLATED_BYTES_MAX: usize = 32 << 20;
/// How often each byte of the file is read at most, on average: as often to find the objects as to read those
/// that are needed.
const LOOKS_PER_BYTE: usize = 8;
const LOOKS_MAX: usize = 32 << 20;
pub const OBJECTS_MAX: usize = 500_000;

pub struct Index<'d> {
    pub data: &'d [u8],
    /// Whether the file is encrypted, even with an empty password.
    pub is_encrypted: bool,
    places: HashMap<u32, ObjectPlace>,
    unpacked: Vec<Vec<u8>>,
    pub root: Option<u32>,
    /// Bytes that may still be inflated.
    pub may_inflate: usize,
    may_look: usize,
}

#[derive(Clone, Copy)]
pub enum ObjectPlace {
    /// In the file: the position behind `obj`.
    File(usize),
    Unpacked {
        stream: usize,
        at: usize,
    },
}

pub struct Stream<'d> {
    pub dict: Dict,
    /// Its bytes before decoding.
    pub raw: &'d [u8],
}

impl<'d> Index<'d> {
    /// Builds the index from the cross-reference table; scans a file whose table is broken.
    pub fn of(data: &'d [u8]) -> Result<Index<'d>, Unlesbar> {
        let mut index = Index::new(data);
        if index.read_table().is_none() {
            index = Index::new(data);
            index.scan()?;
        }
        Ok(index)
    }

    fn new(data: &'d [u8]) -> Index<'d> {
        Index {
            data,
            is_encrypted: false,
            places: HashMap::new(),
            unpacked: Vec::new(),
            root: None,
            may_inflate: INFLATED_BYTES_MAX,
            may_look: data.len().saturating_mul(LOOKS_PER_BYTE).saturating_add(LOOKS_MAX),
        }
    }

    pub fn looked(&mut self, looks: usize) -> Result<(), Unlesbar> {
        self.may_look = self.may_look.checked_sub(looks).ok_or_else(too_complex)?;
        Ok(())
    }

    pub fn note(&mut self, id: u32, place: ObjectPlace) -> Result<(), Unlesbar> {
        self.places.insert(id, place);
        if self.places.len() > OBJECTS_MAX { Err(too_complex()) } else { Ok(()) }
    }

    /// Adds the wanted objects of an object stream (ISO 32000-1, 7.5.7). `is_wanted` receives the known place
    /// of an object number, if any, and the number.
    pub fn unpack(
        &mut self,
        dict: &Dict,
        raw: &[u8],
        is_wanted: impl Fn(Option<&ObjectPlace>, u32) -> bool,
    ) -> Result<(), Unlesbar> {
        let (Some(count), Some(first)) = (dict.size("N"), dict.size("First")) else { return Ok(()) };
        let content = self.inflate(dict, raw)?;
        let stream = self.unpacked.len();
        let mut lexer = Lexer::new(content.get(..first).unwrap_or_default(), 0);
        for _ in 0..count {
            let (Some(id), Some(offset)) = (lexer.unsigned(), lexer.unsigned()) else { break };
            if is_wanted(self.places.get(&id), id) {
                let at = first.saturating_add(offset as usize);
                self.note(id, ObjectPlace::Unpacked { stream, at })?;
            }
        }
        self.unpacked.push(content);
        Ok(())
    }

    /// Reads a trailer, or the dictionary of a stream that serves as one.
    pub fn look_at_trailer(&mut self, dict: &Dict) {
        if let Some(Object::Reference(root)) = dict.get("Root") {
            self.root = Some(*root);
            self.is_encrypted |= dict.get("Encrypt").is_some();
        }
    }

    pub fn catalog(&mut self) -> Result<Option<Dict>, Unlesbar> {
        let Some(root) = self.root else { return Ok(None) };
        Ok(match self.object(root)? {
            Some(Object::Dict(dict)) => Some(dict),
            _ => None,
        })
    }

    pub fn numbers(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns an object by its number; for a stream, its dictionary.
    pub fn object(&mut self, id: u32) -> Result<Option<Object>, Unlesbar> {
        Ok(self.read(id)?.map(|(object, _)| object))
    }

    pub fn stream(&mut self, id: u32) -> Result<Option<Stream<'d>>, Unlesbar> {
        let Some((Object::Dict(dict), Some(behind))) = self.read(id)? else { return Ok(None) };
        let length = match dict.get("Length") {
            Some(Object::Reference(length)) => match self.object(*length)? {
                Some(Object::Integer(length)) => usize::try_from(length).ok(),
                _ => None,
            },
            _ => dict.size("Length"),
        };
        Ok(content(self.data, behind, length).map(|(raw, _)| Stream { dict, raw }))
    }

    /// Returns an object, and where it ends if it is in the file itself.
    fn read(&mut self, id: u32) -> Result<Option<(Object, Option<usize>)>, Unlesbar> {
        let Some(place) = self.places.get(&id) else { return Ok(None) };
        let (data, at, in_file) = match *place {
            ObjectPlace::File(at) => (self.data, at, true),
            ObjectPlace::Unpacked { stream, at } => {
                (self.unpacked.get(stream).map_or(&[] as &[u8], Vec::as_slice), at, false)
            }
        };
        let mut lexer = Lexer::new(data, at);
        let object = lexer.object();
        let (looks, end) = (lexer.looks(), lexer.at);
        self.looked(looks)?;
        Ok(object.map(|object| (object, in_file.then_some(end))))
    }
}

/// Refuses a file that no program would write.
pub fn too_complex() -> Unlesbar {
    Unlesbar::Datei("Das PDF ist für eine Rechnung zu verschachtelt. Bitte das XML allein senden.".to_owned())
}

/// Where the bytes of a stream begin, if its dictionary ends at `behind`.
pub fn stream_begin(data: &[u8], behind: usize) -> Option<usize> {
    let mut lexer = Lexer::new(data, behind);
    if !lexer.keyword(b"stream") {
        return None;
    }
    Some(match data.get(lexer.at..)? {
        [b'\r', b'\n', ..] => lexer.at + 2,
        [b'\r' | b'\n', ..] => lexer.at + 1,
        _ => lexer.at,
    })
}

pub fn ends_with_stream(data: &[u8], end: usize) -> bool {
    let rest = data.get(end..).unwrap_or_default();
    let blanks = rest.iter().take(2).take_while(|byte| is_blank(**byte)).count();
    rest.get(blanks..).is_some_and(|rest| rest.starts_with(b"endstream"))
}

/// The bytes of a stream whose dictionary ends at `behind`, and where they end: by their length if
/// `endstream` follows, else at the next `endstream`, else at the end of the file.
pub fn content(data: &[u8], behind: usize, length: Option<usize>) -> Option<(&[u8], usize)> {
    let begin = stream_begin(data, behind)?;
    let by_length =
        length.and_then(|length| begin.checked_add(length)).filter(|end| ends_with_stream(data, *end));
    let rest = data.get(begin..)?;
    let end = by_length.unwrap_or_else(|| begin + memmem::find(rest, b"endstream").unwrap_or(rest.len()));
    Some((data.get(begin..end)?, end))
}
