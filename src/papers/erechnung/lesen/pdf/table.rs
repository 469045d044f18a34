//! The cross-reference table (ISO 32000-1, 7.5.4 to 7.5.8), followed from the end of the file by /Prev; the
//! newest entry of a number counts. If an entry does not lead to its object, the whole file counts as broken.

use std::collections::{HashMap, HashSet};

use memchr::memmem;

use super::index::{Index, OBJECTS_MAX, ObjectPlace, Stream, content};
use super::objects::{Dict, Lexer, Object};

/// How far before the end of the file `startxref` is searched, in bytes (ISO 32000-1, annex H).
const TAIL_BYTES: usize = 1 << 10;
/// Widest field of a cross-reference stream, in bytes.
const WIDTH_MAX: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Free,
    /// The position of the object.
    File(usize),
    /// The number of the object stream that holds it.
    Packed(u32),
}

type Entries = Vec<(u32, Entry)>;

impl Index<'_> {
    /// Records the objects that the table names; `None` if the table is broken.
    pub fn read_table(&mut self) -> Option<()> {
        let table = self.sections()?;
        let mut streams: Vec<u32> = Vec::new();
        for (id, entry) in &table {
            match *entry {
                Entry::File(at) => {
                    let mut lexer = Lexer::new(self.data, at);
                    if head(&mut lexer) != Some(*id) {
                        return None;
                    }
                    self.note(*id, ObjectPlace::File(lexer.at)).ok()?;
                }
                Entry::Packed(stream) => streams.push(stream),
                Entry::Free => {}
            }
        }
        streams.sort_unstable();
        streams.dedup();
        // The object streams of an encrypted file cannot be read.
        if self.is_encrypted {
            streams.clear();
        }
        for id in streams {
            let Stream { dict, raw } = self.stream(id).ok()??;
            self.unpack(&dict, raw, |_, packed| table.get(&packed) == Some(&Entry::Packed(id))).ok()?;
        }
        self.root.map(|_| ())
    }

    fn sections(&mut self) -> Option<HashMap<u32, Entry>> {
        let tail = self.data.len().saturating_sub(TAIL_BYTES);
        let word = b"startxref";
        let found = memmem::rfind(self.data.get(tail..)?, word)?;
        let mut lexer = Lexer::new(self.data, tail + found + word.len());
        let mut todo = vec![lexer.unsigned()? as usize];
        let (mut table, mut seen) = (HashMap::new(), HashSet::new());
        while let Some(at) = todo.pop() {
            if !seen.insert(at) {
                continue;
            }
            let (dict, entries) = self.section(at)?;
            // Objects that a table hides from older readers, by marking them free, are in the stream that it
            // names (7.5.8.4).
            let hidden = match dict.size("XRefStm") {
                Some(at) => self.section(at)?.1,
                None => Entries::new(),
            };
            let (free, used): (Entries, Entries) =
                entries.into_iter().partition(|(_, entry)| *entry == Entry::Free);
            for (id, entry) in used.into_iter().chain(hidden).chain(free) {
                table.entry(id).or_insert(entry);
            }
            if table.len() > OBJECTS_MAX {
                return None;
            }
            if self.root.is_none() {
                self.look_at_trailer(&dict);
            }
            todo.extend(dict.size("Prev"));
        }
        Some(table)
    }

    /// Reads a table or a cross-reference stream, with its trailer.
    fn section(&mut self, at: usize) -> Option<(Dict, Entries)> {
        let mut lexer = Lexer::new(self.data, at);
        let section = match lexer.keyword(b"xref") {
            true => rows(&mut lexer)?,
            false => self.packed_rows(&mut lexer)?,
        };
        self.looked(lexer.looks()).ok()?;
        Some(section)
    }

    /// Reads a cross-reference stream.
    fn packed_rows(&mut self, lexer: &mut Lexer<'_>) -> Option<(Dict, Entries)> {
        head(lexer)?;
        let Some(Object::Dict(dict)) = lexer.object() else { return None };
        let (raw, _) = content(self.data, lexer.at, dict.size("Length"))?;
        let bytes = self.inflate(&dict, raw).ok().filter(|_| dict.is("Type", "XRef"))?;
        let widths: [usize; 3] = dict.sizes("W")?.try_into().ok()?;
        if widths.iter().any(|width| *width > WIDTH_MAX) || widths.iter().sum::<usize>() == 0 {
            return None;
        }
        let index = dict.sizes("Index").or_else(|| Some(vec![0, dict.size("Size")?]))?;
        let numbers = index.chunks_exact(2).flat_map(|part| (part[0]..).take(part[1]));
        let entry = |(id, row): (usize, &[u8])| {
            let (kind, rest) = row.split_at_checked(widths[0])?;
            let (value, _) = rest.split_at_checked(widths[1])?;
            let entry = match (kind.is_empty(), number(kind)?) {
                (true, _) | (_, 1) => Entry::File(usize::try_from(number(value)?).ok()?),
                (_, 2) => Entry::Packed(u32::try_from(number(value)?).ok()?),
                _ => Entry::Free,
            };
            Some((u32::try_from(id).ok()?, entry))
        };
        let rows = bytes.chunks_exact(widths.iter().sum());
        if rows.len() > OBJECTS_MAX {
            return None;
        }
        let entries = numbers.zip(rows).map(entry).collect::<Option<Entries>>()?;
        Some((dict, entries))
    }
}

/// Reads the rows of a table, and the trailer behind them.
fn rows(lexer: &mut Lexer<'_>) -> Option<(Dict, Entries)> {
    let mut entries = Entries::new();
    while !lexer.keyword(b"trailer") {
        let (first, count) = (lexer.unsigned()?, lexer.unsigned()?);
        for id in first..first.checked_add(count)? {
            let (at, _) = (lexer.unsigned()? as usize, lexer.unsigned()?);
            let is_used = lexer.keyword(b"n");
            if !is_used && !lexer.keyword(b"f") || entries.len() == OBJECTS_MAX {
                return None;
            }
            // Some programs list unused numbers as objects at the beginning of the file.
            entries.push((id, if is_used && at > 0 { Entry::File(at) } else { Entry::Free }));
        }
    }
    let Some(Object::Dict(dict)) = lexer.object() else { return None };
    Some((dict, entries))
}

/// Parses the object number of `12 0 obj`.
fn head(lexer: &mut Lexer<'_>) -> Option<u32> {
    let (id, _) = (lexer.unsigned()?, lexer.unsigned()?);
    lexer.keyword(b"obj").then_some(id)
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.iter().try_fold(0u64, |number, byte| number.checked_mul(256)?.checked_add(u64::from(*byte)))
}
