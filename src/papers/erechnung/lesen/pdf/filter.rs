//! What streams hold (ISO 32000-1, 7.4): packed by deflate or not at all, with or without a predictor of PNG.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::index::Index;
use super::objects::{Dict, Object};
use crate::papers::erechnung::lesen::model::Unlesbar;

/// The first predictor of PNG: each row says in its first byte which of them it has.
const PNG: usize = 10;
/// The row is its difference to the one above.
const UP: &u8 = &2;

impl Index<'_> {
    /// What a stream holds, within what the whole file may be inflated to.
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
                "Das PDF enthält entpackt mehr, als für eine Rechnung erlaubt ist (32 MiB). Bitte das XML allein senden.".to_owned(),
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

    /// The value of a name, which may be a list of one and may stand elsewhere; a longer list as it is.
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

/// Rows of bytes, each as it is or as its difference to the one above, as tables of objects have them; none for others.
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
