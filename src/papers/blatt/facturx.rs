//! Announces the embedded e-invoice in the metadata of the file (Factur-X 1.0, 6.3): four properties of its
//! XMP schema, and the description of that schema, which PDF/A requires. The PDF library cannot write them,
//! so they are inserted into the uncompressed packet that it wrote, and everything behind it moves.

use super::error::DrawError;
use crate::rules::document::Profil;

const SCHEMA: &str = "<rdf:li rdf:parseType=\"Resource\">\
    <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>\
    <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>\
    <pdfaSchema:prefix>fx</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>";
const SCHEMA_END: &str = "</rdf:Seq></pdfaSchema:property></rdf:li>";
const PROPERTIES: [(&str, &str); 4] = [
    ("DocumentFileName", "name of the embedded XML invoice file"),
    ("DocumentType", "INVOICE"),
    ("Version", "version of the Factur-X schema"),
    ("ConformanceLevel", "conformance level of the embedded Factur-X data"),
];

const STREAM: &[u8] = b"/Type/Metadata/Subtype/XML>>\nstream\n";
const LENGTH: &[u8] = b"<</Length ";
const LIST_END: &[u8] = b"</rdf:Bag></pdfaExtension:schemas>";
const PACKET_END: &[u8] = b"</rdf:RDF>";
const TABLE: &[u8] = b"startxref\n";
/// Bytes of an entry in the cross-reference table; the first ten are digits.
const ENTRY: usize = 20;

fn broken(what: &str) -> DrawError {
    DrawError::Broken(format!("the e-invoice cannot be announced: {what}"))
}

fn find(within: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(within, what)
}

pub fn announce(pdf: &[u8], profil: Profil) -> Result<Vec<u8>, DrawError> {
    // The last match is the packet: no text of the document follows it, and inside the packet `>` is escaped.
    let header = memchr::memmem::rfind(pdf, STREAM).ok_or_else(|| broken("no packet"))?;
    let digits =
        memchr::memmem::rfind(&pdf[..header], LENGTH).ok_or_else(|| broken("no length"))? + LENGTH.len();
    let begin = header + STREAM.len();
    let old = number(&pdf[digits..header]).ok_or_else(|| broken("no number as length"))?;
    let packet = pdf.get(begin..begin + old).ok_or_else(|| broken("the length is wrong"))?;
    let list = find(packet, LIST_END).ok_or_else(|| broken("no list of schemas"))?;
    let end = find(packet, PACKET_END).filter(|end| *end > list).ok_or_else(|| broken("no end"))?;

    let (schema, values) = (schema(), values(profil));
    let new =
        [&packet[..list], schema.as_bytes(), &packet[list..end], values.as_bytes(), &packet[end..]].concat();
    let mut written = pdf[..digits].to_vec();
    written.extend_from_slice(new.len().to_string().as_bytes());
    written.extend_from_slice(&pdf[header..begin]);
    written.extend_from_slice(&new);
    let moved = written.len() - (begin + old);
    written.extend_from_slice(&pdf[begin + old..]);
    move_objects(&mut written, begin, moved)?;
    Ok(written)
}

/// Corrects the positions of the objects behind `from`, and that of the cross-reference table.
fn move_objects(pdf: &mut Vec<u8>, from: usize, by: usize) -> Result<(), DrawError> {
    let last = memchr::memmem::rfind(pdf, TABLE).ok_or_else(|| broken("no table"))? + TABLE.len();
    let old = number(&pdf[last..]).ok_or_else(|| broken("no place of the table"))?;
    let digits = old.to_string().len();
    pdf.splice(last..last + digits, (old + by).to_string().into_bytes());
    let table = pdf.get_mut(old + by..).ok_or_else(|| broken("the table is elsewhere"))?;
    let head = find(table, b"\n0 ").ok_or_else(|| broken("no head of the table"))? + 3;
    let count = number(&table[head..]).ok_or_else(|| broken("no count of objects"))?;
    let entries = head + find(&table[head..], b"\n").ok_or_else(|| broken("no end of the head"))? + 1;
    let entries = table.get_mut(entries..entries + count * ENTRY).ok_or_else(|| broken("a short table"))?;
    for entry in entries.chunks_exact_mut(ENTRY) {
        let place = number(entry).ok_or_else(|| broken("no place of an object"))?;
        if place > from {
            entry[..10].copy_from_slice(format!("{:010}", place + by).as_bytes());
        }
    }
    Ok(())
}

fn number(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

fn schema() -> String {
    let property = |(name, description): &(&str, &str)| {
        format!(
            "<rdf:li rdf:parseType=\"Resource\"><pdfaProperty:name>{name}</pdfaProperty:name>\
             <pdfaProperty:valueType>Text</pdfaProperty:valueType>\
             <pdfaProperty:category>external</pdfaProperty:category>\
             <pdfaProperty:description>{description}</pdfaProperty:description></rdf:li>"
        )
    };
    let properties: String = PROPERTIES.iter().map(property).collect();
    format!("{SCHEMA}{properties}{SCHEMA_END}")
}

fn values(profil: Profil) -> String {
    let level = match profil {
        // Also called COMFORT.
        Profil::Zugferd => "EN 16931",
        Profil::XRechnung => "XRECHNUNG",
    };
    format!(
        "<rdf:Description rdf:about=\"\" xmlns:fx=\"urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#\">\
         <fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>\
         <fx:Version>1.0</fx:Version><fx:ConformanceLevel>{level}</fx:ConformanceLevel></rdf:Description>"
    )
}
