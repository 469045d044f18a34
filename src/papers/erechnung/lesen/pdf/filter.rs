//! Decodes streams (ISO 32000-1, 7.4): the filters for data and chains of them, with or without a PNG predictor.

use std::io::Read;

use flate2::read::ZlibDecoder;
use weezl::decode::Decoder;
use weezl::{BitOrder, LzwStatus};

use super::index::Index;
use super::objects::{Dict, Object, is_blank};
use crate::papers::erechnung::lesen::model::Unlesbar;

/// The first PNG predictor: the first byte of each row names the one that the row uses.
const PNG: usize = 10;
/// Predictor Up: the row is the difference to the row above.
const UP: &u8 = &2;

/// Most filters of one stream.
const FILTERS_MAX: usize = 8;

impl Index<'_> {
    /// Decodes a stream, within the bytes to which the whole file may be inflated. Each filter of a chain counts.
    pub fn inflate(&mut self, dict: &Dict, raw: &[u8]) -> Result<Vec<u8>, Unlesbar> {
        let filters = self.list(dict, "Filter")?;
        let with = self.list(dict, "DecodeParms")?;
        if filters.len() > FILTERS_MAX {
            return Err(packed_otherwise());
        }
        if filters.is_empty() {
            return self.within(|most, content| raw.take(most).read_to_end(content).map(drop).ok());
        }
        let mut content: Option<Vec<u8>> = None;
        for (at, filter) in filters.iter().enumerate() {
            let Object::Name(name) = filter else { return Err(packed_otherwise()) };
            let with = match with.get(at) {
                Some(Object::Dict(with)) => with.clone(),
                _ => Dict::default(),
            };
            let packed = content.as_deref().unwrap_or(raw);
            content = Some(self.filtered(name, &with, packed)?);
        }
        Ok(content.unwrap_or_default())
    }

    fn filtered(&mut self, name: &[u8], with: &Dict, packed: &[u8]) -> Result<Vec<u8>, Unlesbar> {
        let is_early = with.size("EarlyChange") != Some(0);
        let decoded = match name {
            b"FlateDecode" | b"Fl" => self.within(|most, content| {
                ZlibDecoder::new(packed).take(most).read_to_end(content).map(drop).ok()
            })?,
            b"LZWDecode" | b"LZW" => self.within(|most, content| lzw(packed, is_early, most, content))?,
            b"ASCII85Decode" | b"A85" => self.within(|most, content| ascii85(packed, most, content))?,
            b"ASCIIHexDecode" | b"AHx" => self.within(|most, content| hex(packed, most, content))?,
            b"RunLengthDecode" | b"RL" => self.within(|most, content| run_length(packed, most, content))?,
            _ => return Err(packed_otherwise()),
        };
        match with.size("Predictor") > Some(1) {
            true => predicted(with, &decoded).ok_or_else(packed_otherwise),
            false => Ok(decoded),
        }
    }

    /// Calls a decoder with the most bytes that it may write, one more than the file may still have; `None` means that
    /// its input is broken.
    fn within(&mut self, decode: impl FnOnce(u64, &mut Vec<u8>) -> Option<()>) -> Result<Vec<u8>, Unlesbar> {
        let mut content = Vec::new();
        let read = decode(self.may_inflate as u64 + 1, &mut content);
        if content.len() > self.may_inflate {
            return Err(Unlesbar::Datei(
                "Das PDF enthält entpackt mehr, als für eine Rechnung erlaubt ist (32 MiB). Bitte das XML \
                 allein senden."
                    .to_owned(),
            ));
        }
        self.may_inflate -= content.len();
        read.ok_or_else(|| {
            Unlesbar::Datei("Das PDF ist beschädigt: ein Teil lässt sich nicht entpacken.".to_owned())
        })?;
        Ok(content)
    }

    /// The values of a name, which may be one value or a list, resolving references.
    fn list(&mut self, dict: &Dict, name: &str) -> Result<Vec<Object>, Unlesbar> {
        let mut values = Vec::new();
        let mut todo: Vec<Object> = dict.get(name).cloned().into_iter().collect();
        while let Some(value) = todo.pop() {
            match value {
                Object::Reference(id) => todo.extend(self.object(id)?),
                Object::Array(list) if values.is_empty() => todo.extend(list.into_iter().rev()),
                value => values.push(value),
            }
            if values.len() > FILTERS_MAX {
                break;
            }
        }
        Ok(values)
    }
}

/// LZW with codes of 9 to 12 bits, the highest bit first; `is_early`: a code longer one entry before it must be.
fn lzw(packed: &[u8], is_early: bool, most: u64, content: &mut Vec<u8>) -> Option<()> {
    let mut decoder = match is_early {
        true => Decoder::with_tiff_size_switch(BitOrder::Msb, 8),
        false => Decoder::new(BitOrder::Msb, 8),
    };
    let (mut rest, mut piece) = (packed, vec![0; 1 << 14]);
    while (content.len() as u64) < most {
        let done = decoder.decode_bytes(rest, &mut piece);
        rest = rest.get(done.consumed_in..)?;
        content.extend(piece.get(..done.consumed_out)?);
        match done.status.ok()? {
            LzwStatus::Done => return Some(()),
            LzwStatus::NoProgress => return None,
            LzwStatus::Ok => {}
        }
    }
    Some(())
}

/// Base 85: five characters are four bytes, z is four zeros, ~ ends.
fn ascii85(packed: &[u8], most: u64, content: &mut Vec<u8>) -> Option<()> {
    let (mut group, mut count) = (0u32, 0usize);
    for byte in packed.iter().copied().filter(|byte| !is_blank(*byte)) {
        if content.len() as u64 >= most {
            return Some(());
        }
        match byte {
            b'~' => break,
            b'z' if count == 0 => content.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.checked_mul(85)?.checked_add(u32::from(byte - b'!'))?;
                count += 1;
                if count == 5 {
                    content.extend(group.to_be_bytes());
                    (group, count) = (0, 0);
                }
            }
            _ => return None,
        }
    }
    match count {
        0 => {}
        1 => return None,
        count => {
            for _ in count..5 {
                group = group.checked_mul(85)?.checked_add(84)?;
            }
            content.extend(group.to_be_bytes().get(..count - 1)?);
        }
    }
    Some(())
}

/// Two digits are a byte, > ends, and an odd digit is followed by 0.
fn hex(packed: &[u8], most: u64, content: &mut Vec<u8>) -> Option<()> {
    let mut half: Option<u8> = None;
    for byte in packed.iter().copied().filter(|byte| !is_blank(*byte)) {
        if byte == b'>' || content.len() as u64 >= most {
            break;
        }
        let digit = u8::try_from(char::from(byte).to_digit(16)?).ok()?;
        match half.take() {
            Some(high) => content.push(high << 4 | digit),
            None => half = Some(digit),
        }
    }
    content.extend(half.map(|high| high << 4));
    Some(())
}

/// A length below 128 precedes so many bytes and one more, one above 128 a byte that is repeated; 128 ends.
fn run_length(packed: &[u8], most: u64, content: &mut Vec<u8>) -> Option<()> {
    let mut rest = packed;
    while let Some((length, behind)) = rest.split_first() {
        if content.len() as u64 >= most {
            return Some(());
        }
        rest = match usize::from(*length) {
            128 => return Some(()),
            length @ ..128 => {
                let (run, behind) = behind.split_at_checked(length + 1)?;
                content.extend(run);
                behind
            }
            length => {
                let (byte, behind) = behind.split_first()?;
                content.resize(content.len() + 257 - length, *byte);
                behind
            }
        };
    }
    Some(())
}

fn packed_otherwise() -> Unlesbar {
    Unlesbar::Datei(
        "Das PDF ist auf eine Weise gepackt, die nicht gelesen wird. Bitte das XML allein senden.".to_owned(),
    )
}

/// Undoes the predictor of rows that are plain or the difference to the row above, as in cross-reference
/// streams; `None` for other predictors.
fn predicted(with: &Dict, packed: &[u8]) -> Option<Vec<u8>> {
    let columns = with.size("Columns").unwrap_or(1);
    let is_one_byte = with.get("Colors").is_none() && with.get("BitsPerComponent").is_none();
    if with.size("Predictor")? < PNG || columns == 0 || !is_one_byte {
        return None;
    }
    let mut above = vec![0; columns.min(packed.len())];
    let mut content = Vec::with_capacity(packed.len());
    for row in packed.chunks(columns.checked_add(1)?) {
        let (kind, row) = row.split_first()?;
        for (above, byte) in above.iter_mut().zip(row) {
            *above = match kind {
                0 => *byte,
                UP => byte.wrapping_add(*above),
                _ => return None,
            };
            content.push(*above);
        }
    }
    Some(content)
}
