//! Reading a received e-invoice (D28): from the bytes of a file to a [`Gelesen`] of plain values. XML
//! in the syntaxes CII (ZUGFeRD 2, Factur-X, XRechnung) and UBL (invoice and credit note), ZUGFeRD 1, and each of them
//! attached to a PDF.
//!
//! The file may be hostile. Each step has a bound that does not depend on what the file says of itself: bytes that are
//! inflated, elements, their depth, objects of a PDF and the bytes read of them. Nothing here panics, and a file that is
//! refused is refused with a sentence.
//!
//! `text` finds out what the bytes are; `pdf` takes the attachment out of a PDF; `tree` holds the elements of the XML;
//! `values` reads numbers and days; `cii` and `ubl` say where each business term stands. [`posten`] makes items of lines
//! whose totals are the printed ones, [`verstoesse`] says which figures do not fit together.

mod cii;
mod model;
mod pdf;
mod posten;
mod regeln;
mod text;
mod tree;
mod typ;
mod ubl;
mod values;

pub use model::{Format, Gelesen, Steuergruppe, Summen, Unlesbar, Zeile, Zuschlag};
pub use posten::{Posten, gedruckt, one_line, posten};
pub use regeln::{Verstoss, verstoesse};
pub use values::compact;

use tree::Tree;

/// How every PDF begins; a reader looks for it in the first KiB (ISO 32000-1, annex H).
const PDF: &[u8] = b"%PDF-";
const PDF_BEGIN_BYTES_MAX: usize = 1 << 10;

/// What an e-invoice says, or why none can be read from these bytes.
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
