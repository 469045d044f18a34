//! Finds the objects of a file whose cross-reference table is broken: reads it from its beginning to its end,
//! but never into streams. If several objects have one number the last one counts, as in a file that was
//! appended to.

use std::collections::HashMap;

use memchr::memmem;

use super::index::{Index, ObjectPlace, content, ends_with_stream, stream_begin};
use super::objects::{Dict, Lexer, Object};
use crate::papers::erechnung::lesen::model::Unlesbar;

/// How far before `obj` the number of an object may begin, in bytes.
const HEAD: usize = 24;
/// Most integers of one object number that are tried as a length: streams may hold bytes that look like an
/// object.
const LENGTHS_MAX: usize = 16;

/// Object streams: where each begins, its dictionary and its bytes.
type Packed<'d> = Vec<(usize, Dict, &'d [u8])>;

struct Scan<'i, 'd> {
    index: &'i mut Index<'d>,
    /// Possible lengths of streams, by the number of the object that holds the length: a broken file may contain
    /// several objects with one number.
    lengths: HashMap<u32, Vec<usize>>,
    packed: Packed<'d>,
}

impl Index<'_> {
    pub fn scan(&mut self) -> Result<(), Unlesbar> {
        let lengths = lengths(self.data);
        let mut scan = Scan { index: self, lengths, packed: Vec::new() };
        scan.file()?;
        // The object streams of an encrypted file cannot be read.
        for (begin, dict, raw) in std::mem::take(&mut scan.packed) {
            if !self.is_encrypted {
                let is_older = |place: Option<&ObjectPlace>| {
                    !matches!(
                        place, Some(ObjectPlace::File(at)) if *at > begin
                    )
                };
                self.unpack(&dict, raw, |place, _| is_older(place))?;
            }
        }
        Ok(())
    }
}

impl Scan<'_, '_> {
    fn file(&mut self) -> Result<(), Unlesbar> {
        let data = self.index.data;
        let (object, trailer) = (memmem::Finder::new(b"obj"), memmem::Finder::new(b"trailer"));
        let next = |word: &memmem::Finder<'_>, at: usize| {
            let found = data.get(at..).and_then(|rest| word.find(rest));
            found.map_or(usize::MAX, |found| at + found)
        };
        let (mut at, mut next_object, mut next_trailer) = (0, next(&object, 0), next(&trailer, 0));
        while next_object.min(next_trailer) < usize::MAX {
            at = match next_object < next_trailer {
                false => self.trailer(next_trailer + b"trailer".len())?,
                true => match number_before(data, at, next_object) {
                    Some(id) => self.object(id, next_object + b"obj".len())?,
                    None => next_object + b"obj".len(),
                },
            };
            if next_object < at {
                next_object = next(&object, at);
            }
            if next_trailer < at {
                next_trailer = next(&trailer, at);
            }
        }
        Ok(())
    }

    /// Reads a trailer and returns where it ends.
    fn trailer(&mut self, at: usize) -> Result<usize, Unlesbar> {
        let mut lexer = Lexer::new(self.index.data, at);
        if let Some(Object::Dict(dict)) = lexer.object() {
            self.index.look_at_trailer(&dict);
        }
        self.index.looked(lexer.looks())?;
        Ok(lexer.at)
    }

    /// Records an object and returns where it ends.
    fn object(&mut self, id: u32, at: usize) -> Result<usize, Unlesbar> {
        self.index.note(id, ObjectPlace::File(at))?;
        let mut lexer = Lexer::new(self.index.data, at);
        let object = lexer.object();
        self.index.looked(lexer.looks())?;
        let Some(Object::Dict(dict)) = object else { return Ok(lexer.at) };
        self.index.look_at_trailer(&dict);
        let length = self.length(&dict, lexer.at);
        let Some((raw, end)) = content(self.index.data, lexer.at, length) else { return Ok(lexer.at) };
        if dict.is("Type", "ObjStm") {
            self.packed.push((at, dict, raw));
        }
        Ok(end)
    }

    /// The length of a stream; if another object holds it, the longest candidate at which a stream ends.
    fn length(&self, dict: &Dict, behind: usize) -> Option<usize> {
        let Some(Object::Reference(id)) = dict.get("Length") else { return dict.size("Length") };
        let begin = stream_begin(self.index.data, behind)?;
        let ends = |length: &&usize| ends_with_stream(self.index.data, begin.saturating_add(**length));
        self.lengths.get(id)?.iter().filter(ends).max().copied()
    }
}

/// Finds the integers that are objects anywhere in the file, by object number.
fn lengths(data: &[u8]) -> HashMap<u32, Vec<usize>> {
    let mut lengths: HashMap<u32, Vec<usize>> = HashMap::new();
    for found in memmem::find_iter(data, b"obj") {
        let Some(id) = number_before(data, 0, found) else { continue };
        let mut lexer =
            Lexer::new(data.get(..data.len().min(found + 3 * HEAD)).unwrap_or_default(), found + 3);
        if let (Some(length), true) = (lexer.unsigned(), lexer.keyword(b"endobj")) {
            let known = lengths.entry(id).or_default();
            if known.len() < LENGTHS_MAX {
                known.push(length as usize);
            }
        }
    }
    lengths
}

/// Parses the object number from `12 0 ` before `obj`; `None` if something else stands there.
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
