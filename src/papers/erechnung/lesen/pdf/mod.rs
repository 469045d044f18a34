//! Extracts the e-invoice that is attached to a PDF.
//!
//! `table` finds the objects by the cross-reference table; if that table is broken, `scan` reads the file
//! from its beginning to its end. Neither looks into streams: an attached PDF may have an e-invoice of its
//! own.
//!
//! Existing crates do not suffice: lopdf bounds the inflated size of a stream and hayro-syntax does not;
//! neither bounds the sum of all streams, so that a file of 1 MB costs seconds and one of 10 MB half a
//! minute.

mod filter;
mod index;
mod objects;
mod scan;
mod table;

use std::collections::HashSet;

use crate::papers::erechnung::lesen::invoice::is_invoice;
use crate::papers::erechnung::lesen::model::Unlesbar;
use index::{Index, Stream};
use objects::{Dict, Object};

/// Names of the attachment in any case, the newest standard first: Factur-X and ZUGFeRD from 2.1 on,
/// XRechnung in ZUGFeRD, ZUGFeRD 2.0 and 1.0.
const NAMES: [&str; 3] = ["factur-x.xml", "xrechnung.xml", "zugferd-invoice.xml"];

const STEPS_MAX: usize = 100_000;

struct Attachment {
    name: String,
    stream: u32,
}

impl Attachment {
    /// Preference of an attachment, the smallest first; `None` if it is not XML.
    fn rank(&self) -> Option<usize> {
        let name = self.name.to_lowercase();
        let known = NAMES.iter().position(|known| *known == name);
        known.or_else(|| name.ends_with(".xml").then_some(NAMES.len()))
    }
}

pub fn attachment(data: &[u8]) -> Result<Vec<u8>, Unlesbar> {
    let mut index = Index::of(data)?;
    if index.is_encrypted {
        return Err(Unlesbar::Datei(
            "Das PDF ist verschlüsselt. Bitte ohne Kennwortschutz senden oder das XML allein.".to_owned(),
        ));
    }
    let mut found = attachments(&mut index)?;
    found.retain(|attachment| attachment.rank().is_some());
    found.sort_by_key(Attachment::rank);
    let Some(best) = found.first() else {
        return Err(Unlesbar::KeineRechnung(
            "In dem PDF steckt keine E-Rechnung, nur ein Bild davon. Bitte den Lieferanten um ZUGFeRD oder XRechnung \
             bitten, oder die Rechnung von Hand erfassen.".to_owned(),
        ));
    };
    let (rank, mut stream) = (best.rank(), best.stream);
    found.retain(|other| other.rank() == rank);
    found.dedup_by_key(|other| other.stream);
    // Another XML is told from the invoice by its content.
    let (mut invoices, is_alone) = (Vec::new(), found.iter().all(|other| other.stream == stream));
    for other in found.iter().filter(|_| !is_alone) {
        if content(&mut index, other.stream)?.is_some_and(|xml| is_invoice(&xml))
            && !invoices.contains(&other.stream)
        {
            invoices.push(other.stream);
        }
    }
    stream = invoices.first().copied().unwrap_or(stream);
    if invoices.len() > 1 {
        return Err(Unlesbar::Datei(
            "In dem PDF stecken mehrere E-Rechnungen; welche gilt, ist nicht zu erkennen. Bitte das XML allein \
             senden.".to_owned(),
        ));
    }
    content(&mut index, stream)?
        .ok_or_else(|| Unlesbar::Datei("Das PDF ist beschädigt: die angehängte E-Rechnung fehlt.".to_owned()))
}

/// The content of an attachment; `None` if its stream is missing.
fn content(index: &mut Index<'_>, stream: u32) -> Result<Option<Vec<u8>>, Unlesbar> {
    match index.stream(stream)? {
        Some(Stream { dict, raw }) => index.inflate(&dict, raw).map(Some),
        None => Ok(None),
    }
}

/// The attachments that the catalog names; if it names none, those found anywhere in the file.
fn attachments(index: &mut Index<'_>) -> Result<Vec<Attachment>, Unlesbar> {
    let mut todo = Vec::new();
    if let Some(catalog) = index.catalog()? {
        for name in ["Names", "AF"] {
            todo.extend(catalog.get(name).cloned());
        }
    }
    let found = walk(index, todo)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let all = index.numbers().into_iter().map(Object::Reference).collect();
    walk(index, all)
}

fn walk(index: &mut Index<'_>, mut todo: Vec<Object>) -> Result<Vec<Attachment>, Unlesbar> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut steps = 0;
    while let Some(object) = todo.pop() {
        steps += 1;
        if steps > STEPS_MAX {
            return Err(index::too_complex());
        }
        match object {
            Object::Reference(id) if seen.insert(id) => todo.extend(index.object(id)?),
            Object::Array(values) => todo.extend(values),
            Object::Dict(dict) => match dict.get("EF") {
                Some(files) => found.extend(file_specification(index, &dict, &files.clone())?),
                None => {
                    let below = ["EmbeddedFiles", "Kids", "Names"];
                    todo.extend(below.into_iter().filter_map(|name| dict.get(name).cloned()));
                }
            },
            _ => {}
        }
    }
    Ok(found)
}

/// Returns the attachment of a file specification (ISO 32000-1, 7.11.3).
fn file_specification(
    index: &mut Index<'_>,
    dict: &Dict,
    files: &Object,
) -> Result<Option<Attachment>, Unlesbar> {
    let files = match files {
        Object::Reference(id) => index.object(*id)?,
        other => Some(other.clone()),
    };
    let Some(Object::Dict(files)) = files else { return Ok(None) };
    let stream = ["UF", "F"].into_iter().find_map(|name| match files.get(name) {
        Some(Object::Reference(id)) => Some(*id),
        _ => None,
    });
    let mut name = None;
    for key in ["UF", "F"] {
        let text = match dict.get(key) {
            Some(Object::Reference(id)) => index.object(*id)?,
            other => other.cloned(),
        };
        if let (None, Some(Object::Text(text))) = (&name, text) {
            name = Some(decoded(&text));
        }
    }
    Ok(stream.zip(name).map(|(stream, name)| Attachment { name, stream }))
}

/// Decodes a text string (ISO 32000-1, 7.9.2): UTF-16 with a byte order mark, else UTF-8, replacing what is
/// invalid.
fn decoded(text: &[u8]) -> String {
    match text.strip_prefix(b"\xfe\xff") {
        Some(rest) => encoding_rs::UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        None => String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)).into_owned(),
    }
}
