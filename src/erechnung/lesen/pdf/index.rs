//! Where the objects of a PDF stand.

use std::collections::HashMap;
use std::io::Read;

use flate2::read::ZlibDecoder;
use memchr::memmem;

use super::objects::{Dict, Lexer, Object, is_blank};
use crate::erechnung::lesen::model::Unlesbar;

/// Bytes that all streams of a file together are inflated to at most. A hybrid invoice needs a tenth of one MiB.
const INFLATED_BYTES_MAX: usize = 32 << 20;
/// How often each byte of the file is read at most, on average: as often to find the objects as to read what is needed of
/// them.
const LOOKS_PER_BYTE: usize = 8;
const LOOKS_MAX: usize = 32 << 20;
const OBJECTS_MAX: usize = 500_000;
/// How far before `obj` the number of an object may begin, in bytes.
const HEAD: usize = 24;

pub struct Index<'d> {
    data: &'d [u8],
    /// Whether the file wants a password, or any reader wants a key.
    pub is_encrypted: bool,
    places: HashMap<u32, ObjectPlace>,
    /// Object streams: where each begins, its dictionary and its bytes.
    packed: Vec<(usize, Dict, &'d [u8])>,
    unpacked: Vec<Vec<u8>>,
    root: Option<u32>,
    may_inflate: usize,
    may_look: usize,
}

#[derive(Clone, Copy)]
enum ObjectPlace {
    /// In the file: what stands behind `obj`.
    File(usize),
    Unpacked {
        stream: usize,
        at: usize,
    },
}

pub struct Stream<'d> {
    pub dict: Dict,
    /// Its bytes before any filter.
    pub raw: &'d [u8],
}

impl<'d> Index<'d> {
    pub fn of(data: &'d [u8]) -> Result<Index<'d>, Unlesbar> {
        let mut index = Index {
            data,
            is_encrypted: false,
            places: HashMap::new(),
            packed: Vec::new(),
            unpacked: Vec::new(),
            root: None,
            may_inflate: INFLATED_BYTES_MAX,
            may_look: data.len().saturating_mul(LOOKS_PER_BYTE).saturating_add(LOOKS_MAX),
        };
        let (object, mut at) = (memmem::Finder::new(b"obj"), 0);
        while let Some(found) = data.get(at..).and_then(|rest| object.find(rest)) {
            let behind = at + found + b"obj".len();
            at = match number_before(data, at, at + found) {
                Some(id) => index.take(id, behind)?,
                None => behind,
            };
        }
        index.read_trailers()?;
        // Of a file that is encrypted they cannot be read.
        for (at, dict, raw) in std::mem::take(&mut index.packed) {
            if !index.is_encrypted {
                index.unpack(at, &dict, raw)?;
            }
        }
        Ok(index)
    }

    /// Notes an object and gives where it ends.
    fn take(&mut self, id: u32, at: usize) -> Result<usize, Unlesbar> {
        self.note(id, ObjectPlace::File(at))?;
        let mut lexer = Lexer::new(self.data, at);
        let object = lexer.object();
        self.looked(lexer.looks())?;
        let Some(Object::Dict(dict)) = object else { return Ok(lexer.at) };
        self.look_at_trailer(&dict);
        let behind = lexer.at;
        let Some((raw, end)) = content(self.data, lexer, &dict) else { return Ok(behind) };
        if dict.is("Type", "ObjStm") {
            self.packed.push((at, dict, raw));
        }
        Ok(end)
    }

    fn looked(&mut self, looks: usize) -> Result<(), Unlesbar> {
        self.may_look = self.may_look.checked_sub(looks).ok_or_else(too_complex)?;
        Ok(())
    }

    fn note(&mut self, id: u32, place: ObjectPlace) -> Result<(), Unlesbar> {
        self.places.insert(id, place);
        if self.places.len() > OBJECTS_MAX { Err(too_complex()) } else { Ok(()) }
    }

    /// The objects of an object stream (ISO 32000-1, 7.5.7), but those that stand in the file behind it.
    fn unpack(&mut self, begin: usize, dict: &Dict, raw: &[u8]) -> Result<(), Unlesbar> {
        let (Some(count), Some(first)) = (dict.size("N"), dict.size("First")) else { return Ok(()) };
        let content = self.inflate(dict, raw)?;
        let stream = self.unpacked.len();
        let mut lexer = Lexer::new(content.get(..first).unwrap_or_default(), 0);
        for _ in 0..count {
            let (Some(id), Some(offset)) = (lexer.unsigned(), lexer.unsigned()) else { break };
            if matches!(self.places.get(&id), Some(ObjectPlace::File(at)) if *at > begin) {
                continue;
            }
            let at = first.saturating_add(offset as usize);
            self.note(id, ObjectPlace::Unpacked { stream, at })?;
        }
        self.unpacked.push(content);
        Ok(())
    }

    fn read_trailers(&mut self) -> Result<(), Unlesbar> {
        let data = self.data;
        let word = b"trailer";
        let mut behind = 0;
        for found in memmem::find_iter(data, word) {
            // What was read as one object is not read again.
            if found < behind {
                continue;
            }
            let mut lexer = Lexer::new(data, found + word.len());
            if let Some(Object::Dict(dict)) = lexer.object() {
                self.look_at_trailer(&dict);
            }
            self.looked(lexer.looks())?;
            behind = lexer.at;
        }
        Ok(())
    }

    /// A trailer, or the dictionary of a stream that is one.
    fn look_at_trailer(&mut self, dict: &Dict) {
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

    /// An object by its number; of a stream its dictionary.
    pub fn object(&mut self, id: u32) -> Result<Option<Object>, Unlesbar> {
        Ok(self.read(id)?.map(|(object, _)| object))
    }

    pub fn stream(&mut self, id: u32) -> Result<Option<Stream<'d>>, Unlesbar> {
        let Some((Object::Dict(dict), Some(behind))) = self.read(id)? else { return Ok(None) };
        let content = content(self.data, Lexer::new(self.data, behind), &dict);
        Ok(content.map(|(raw, _)| Stream { dict, raw }))
    }

    /// An object, and where it ends if it stands in the file itself.
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

    /// What a stream holds, within what the whole file may be inflated to.
    pub fn inflate(&mut self, dict: &Dict, raw: &[u8]) -> Result<Vec<u8>, Unlesbar> {
        let filters = match dict.get("Filter") {
            None => Vec::new(),
            Some(Object::Array(filters)) => filters.clone(),
            Some(filter) => vec![filter.clone()],
        };
        let predicted =
            matches!(dict.get("DecodeParms"), Some(Object::Dict(with)) if with.size("Predictor") > Some(1));
        let mut content = Vec::new();
        let read = match filters.as_slice() {
            [] => raw.take(self.may_inflate as u64 + 1).read_to_end(&mut content),
            [Object::Name(name)] if !predicted && matches!(name.as_slice(), b"FlateDecode" | b"Fl") => {
                ZlibDecoder::new(raw).take(self.may_inflate as u64 + 1).read_to_end(&mut content)
            }
            _ => {
                return Err(Unlesbar::Datei(
                    "Das PDF ist auf eine Weise gepackt, die nicht gelesen wird. Bitte das XML allein senden.".to_owned(),
                ));
            }
        };
        if content.len() > self.may_inflate {
            return Err(Unlesbar::Datei(
                "Das PDF enthält entpackt mehr, als für eine Rechnung erlaubt ist (32 MiB). Bitte das XML allein senden.".to_owned(),
            ));
        }
        self.may_inflate -= content.len();
        read.map_err(|_| {
            Unlesbar::Datei("Das PDF ist beschädigt: ein Teil lässt sich nicht entpacken.".to_owned())
        })?;
        Ok(content)
    }
}

/// A file that no program writes.
pub fn too_complex() -> Unlesbar {
    Unlesbar::Datei("Das PDF ist für eine Rechnung zu verschachtelt. Bitte das XML allein senden.".to_owned())
}

/// The number of an object from `12 0 ` before `obj`; none where something else stands there.
fn number_before(data: &[u8], from: usize, end: usize) -> Option<u32> {
    let before = data.get(from.max(end.saturating_sub(HEAD))..end)?;
    let before = before.trim_ascii_end();
    let generation = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = before.get(..before.len() - generation)?;
    let trimmed = before.trim_ascii_end();
    if generation == 0 || trimmed.len() == before.len() {
        return None;
    }
    let number = trimmed.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(trimmed.get(trimmed.len() - number..)?).ok()?.parse().ok()
}

/// The bytes of a stream whose dictionary was just read, and where they end: by /Length where `endstream` stands there,
/// else by the next `endstream`, else to the end of the file.
fn content<'d>(data: &'d [u8], mut lexer: Lexer<'d>, dict: &Dict) -> Option<(&'d [u8], usize)> {
    if !lexer.keyword(b"stream") {
        return None;
    }
    let begin = match data.get(lexer.at..)? {
        [b'\r', b'\n', ..] => lexer.at + 2,
        [b'\r' | b'\n', ..] => lexer.at + 1,
        _ => lexer.at,
    };
    let ends_at = |end: usize| {
        let rest = data.get(end..)?;
        let blanks = rest.iter().take(2).take_while(|byte| is_blank(**byte)).count();
        rest.get(blanks..)?.starts_with(b"endstream").then_some(end)
    };
    let by_length = dict.size("Length").and_then(|length| ends_at(begin.checked_add(length)?));
    let rest = data.get(begin..)?;
    let end = by_length.unwrap_or_else(|| begin + memmem::find(rest, b"endstream").unwrap_or(rest.len()));
    Some((data.get(begin..end)?, end))
}
