//! Decodes streams (ISO 32000-1, 7.4): deflated or uncompressed, with or without a PNG predictor.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::index::Index;
use super::objects::{Dict, Object};
use crate::papers::erechnung::lesen::model::Unlesbar;

/// The first PNG predictor: the first byte of each row names the one that the row uses.
const PNG: usize = 10;
/// Predictor Up: the row is the difference to the row above.
const UP: &u8 = &2;

impl Index<'_> {
    /// Decodes a stream, within the bytes to which the whole file may be inflated.
    pub fn inflate(&mut self, dict: &Dict, raw: &[u8]) -> Result<Vec<u8>, Unlesbar> {
        let mut content = Vec::new();
        let read = match self.only(dict, "Filter")? {
            None => raw.take(self.may_inflate as u64 + 1).read_to_end(&mut content),
            Some(Object::Name(name)) if matches!(name.as_slice(), b"FlateDecode" | b"Fl") => {
                ZlibDecoder::new(raw).take(self.may_inflate as u64 + 1).read_to_end(&mut content)
            }
            _ => return Err(packed_otherwise()),
        };
        if content.len() > self.may_inflate {
            return Err(Unlesbar::Datei(
                "Das PDF enthält entpackt mehr, als für eine Rechnung erlaubt ist (32 MiB). Bitte das XML \
                 allein senden."
                    .to_owned(),
            ));
        }
        self.may_inflate -= content.len();
        read.map_err(|_| {
            Unlesbar::Datei("Das PDF ist beschädigt: ein Teil lässt sich nicht entpacken.".to_owned())
        })?;
        match self.only(dict, "DecodeParms")? {
            Some(Object::Dict(with)) if with.size("Predictor") > Some(1) => {
                predicted(&with, &content).ok_or_else(packed_otherwise)
            }
            _ => Ok(content),
        }
    }

    /// The value of a name, resolving references and a list of one; a longer list is returned unchanged.
    fn only(&mut self, dict: &Dict, name: &str) -> Result<Option<Object>, Unlesbar> {
        let mut value = dict.get(name).cloned();
        loop {
            value = match value {
                Some(Object::Reference(id)) => self.object(id)?,
                Some(Object::Array(mut list)) if list.len() < 2 => list.pop(),
                value => return Ok(value),
            };
        }
    }
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
