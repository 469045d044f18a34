//! Reads a received e-invoice (D28): from the bytes of a file to a [`Gelesen`] of plain values. It accepts
//! XML in the syntaxes CII (ZUGFeRD 2, Factur-X, XRechnung) and UBL (invoice and credit note), ZUGFeRD 1, and
//! each of them attached to a PDF.
//!
//! The file may be hostile. Each step has a bound that does not depend on what the file claims: inflated
//! bytes, elements, their depth, objects of a PDF and the bytes read of them. Nothing here panics, and each
//! refusal is a sentence.
//!
//! `text` decodes the bytes; `pdf` extracts the attachment of a PDF; `tree` holds the elements of the XML;
//! `values` parses numbers and days; `cii` and `ubl` find each business term. [`posten`] turns lines into
//! items whose totals equal the printed ones, [`verstoesse`] lists the figures that do not fit together.

mod bedingungen;
mod cii;
mod invoice;
mod model;
mod pdf;
mod posten;
mod regeln;
mod text;
mod tree;
mod typ;
mod ubl;
mod values;

pub use model::{Format, Gelesen, Skonto, Steuergruppe, Summen, Unlesbar, Zeile, Zuschlag};
pub use posten::{Posten, gedruckt, one_line, posten};
pub use regeln::{Verstoss, verstoesse};

use tree::Tree;

/// How every PDF begins; readers search for it in the first KiB (ISO 32000-1, annex H).
const PDF: &[u8] = b"%PDF-";
const PDF_BEGIN_BYTES_MAX: usize = 1 << 10;

/// Reads an e-invoice; fails with the reason if these bytes do not hold one.
pub fn read(bytes: &[u8]) -> Result<Gelesen, Unlesbar> {
    if is_pdf(bytes) { read_xml(&pdf::attachment(bytes)?) } else { read_xml(bytes) }
}

pub fn is_pdf(bytes: &[u8]) -> bool {
    let begin = bytes.get(..PDF_BEGIN_BYTES_MAX.min(bytes.len())).unwrap_or_default();
    begin.windows(PDF.len()).any(|window| window == PDF)
}

fn read_xml(bytes: &[u8]) -> Result<Gelesen, Unlesbar> {
    let text = text::decode(bytes)?;
    let tree = Tree::parse(&text)?;
    let root = tree.root();
    match root.name() {
        "CrossIndustryInvoice" => cii::read(root, &cii::CII),
        "CrossIndustryDocument" => cii::read(root, &cii::ZUGFERD_1),
        "Invoice" | "CreditNote" => ubl::read(root),
        "SCRDMCCBDACIOMessageStructure" => {
            Err(Unlesbar::KeineRechnung("Die Datei ist eine Bestellung (Order-X), keine Rechnung.".to_owned()))
        }
        _ => Err(Unlesbar::KeineRechnung(
            "Das XML ist keine Rechnung, die gelesen werden kann: erwartet wird ZUGFeRD, Factur-X oder XRechnung \
             (CII oder UBL).".to_owned(),
        )),
    }
}
