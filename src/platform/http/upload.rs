//! Uploaded files: names, and content as Base64 (RFC 4648, strict).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::json::Json;
use super::wire::{At, FromJson, Text};
use crate::rules::error::{Checked, Code, HintCode};
use crate::rules::text::steers;

/// Largest decoded content in bytes (D18): 10 MiB.
const CONTENT_BYTES_MAX: usize = 10 << 20;

const MIME_TYPES: &[(&str, &str)] = &[
    ("pdf", "application/pdf"),
    ("xml", "application/xml"),
    ("json", "application/json"),
    ("zip", "application/zip"),
    ("csv", "text/csv"),
    ("txt", "text/plain"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

pub fn mime_type(dateiname: &str) -> &'static str {
    let ending = dateiname.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    MIME_TYPES.iter().find(|(known, _)| *known == ending).map_or("application/octet-stream", |(_, mime)| mime)
}

pub struct Inhalt;

impl FromJson for Inhalt {
    type Value = Vec<u8>;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Vec<u8>> {
        let Json::String(text) = json else {
            return at.refuse(Code::FeldUngueltig, "Hier wird der Inhalt als Base64-Text erwartet.");
        };
        let Ok(content) = STANDARD.decode(text.trim().as_bytes()) else {
            return at.refuse(Code::FeldUngueltig, "Der Inhalt ist kein gültiges Base64 (RFC 4648).");
        };
        if content.len() > CONTENT_BYTES_MAX {
            return at.refuse(Code::ZuGross, "Die Datei ist größer als 10 MiB. Bitte verkleinern.");
        }
        Ok(content)
    }
}

/// The name of a file: the last part of a path, with `_` for characters that Windows forbids or that control
/// a terminal or the text direction (D21f).
pub struct Dateiname;

impl FromJson for Dateiname {
    type Value = String;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<String> {
        let sent = Text::from_json(json, at)?;
        let forbidden = |c: char| steers(c) || matches!(c, ':' | '"' | '<' | '>' | '|' | '?' | '*');
        let last = sent.rsplit(['/', '\\']).next().unwrap_or_default().trim();
        let name: String = last.chars().map(|c| if forbidden(c) { '_' } else { c }).collect();
        if ["", ".", ".."].contains(&name.as_str()) {
            return at.refuse(Code::FeldUngueltig, "Hier fehlt der Name der Datei hinter ihrem Pfad.");
        }
        if name != sent {
            at.hint(HintCode::NameGeaendert, format!("Die Datei ist unter dem Namen {name} abgelegt."));
        }
        Ok(name)
    }
}
