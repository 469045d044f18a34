//! Decodes bytes into text, whatever their encoding.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::model::Unlesbar;

const DECLARATION_BYTES_MAX: usize = 256;

/// Decodes an XML file by its byte order mark, by the zero bytes of UTF-16, by its declaration, else as
/// UTF-8.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Unlesbar> {
    let (encoding, bom) = Encoding::for_bom(bytes).unwrap_or_else(|| (guess(bytes), 0));
    let text =
        encoding.decode_without_bom_handling_and_without_replacement(bytes.get(bom..).unwrap_or_default());
    let Some(text) = text else {
        let message = format!(
            "Die Datei ist beschädigt: ihr Text ist nicht in der Kodierung {}, die sie nennt.",
            encoding.name()
        );
        return Err(Unlesbar::Datei(message));
    };
    if !text.trim_start().starts_with('<') {
        return Err(Unlesbar::Datei(
            "Die Datei ist weder PDF noch XML. Bitte die Rechnung so senden, wie der Lieferant sie geschickt \
             hat.".to_owned(),
        ));
    }
    Ok(text)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    match bytes {
        [b'<', 0, ..] => UTF_16LE,
        [0, b'<', ..] => UTF_16BE,
        _ => declared(bytes).unwrap_or(UTF_8),
    }
}

/// The encoding that the declaration names, if it is known. UTF-16 is ignored, because the declaration was
/// read byte by byte.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let begin = bytes.get(..DECLARATION_BYTES_MAX.min(bytes.len()))?.split(|byte| *byte == b'>').next()?;
    let begin = begin.strip_prefix(b"<?xml")?;
    let at = begin.windows(8).position(|window| window == b"encoding")?;
    let quoted = begin.get(at + 8..)?.split(|byte| matches!(byte, b'"' | b'\'')).nth(1)?;
    Encoding::for_label(quoted).filter(|encoding| ![UTF_16LE, UTF_16BE].contains(encoding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_in_its_encoding() {
        let utf16 =
            |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let latin = b"<?xml version='1.0' encoding=\"ISO-8859-1\"?><a>M\xfchle</a>".to_vec();
        let table = [
            ("<a>Mühle</a>".as_bytes().to_vec(), Some("<a>Mühle</a>")),
            ("\u{feff}<a>ü</a>".as_bytes().to_vec(), Some("<a>ü</a>")),
            (utf16("\u{feff}<a>ü</a>", u16::to_le_bytes), Some("<a>ü</a>")),
            (utf16("\u{feff}<a>ü</a>", u16::to_be_bytes), Some("<a>ü</a>")),
            (utf16("<a>ü</a>", u16::to_le_bytes), Some("<a>ü</a>")),
            (utf16("<a>ü</a>", u16::to_be_bytes), Some("<a>ü</a>")),
            (latin, Some("<?xml version='1.0' encoding=\"ISO-8859-1\"?><a>Mühle</a>")),
            (b"<?xml encoding='utf-16'?><a/>".to_vec(), Some("<?xml encoding='utf-16'?><a/>")),
            (b"<a>M\xfchle</a>".to_vec(), None),
            (b"\xef\xbb\xbf<a>\xc3</a>".to_vec(), None),
            (b"\xff\xfe<\x00a\x00>".to_vec(), None),
            (b"\xff\xfe<\x00a\x00>\x00\x00\xd8".to_vec(), None),
            (b"PK\x03\x04".to_vec(), None),
            (b"".to_vec(), None),
        ];
        for (bytes, expected) in table {
            assert_eq!(decode(&bytes).ok().as_deref(), expected, "{bytes:?}");
        }
    }
}
