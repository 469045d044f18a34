//! Tells an invoice from other XML by its root.

use super::text;
use super::tree::Tree;

const ROOTS: [&str; 4] = ["CrossIndustryInvoice", "CrossIndustryDocument", "Invoice", "CreditNote"];

pub fn is_invoice(bytes: &[u8]) -> bool {
    let tree = text::decode(bytes).and_then(|text| Tree::parse(&text));
    tree.is_ok_and(|tree| ROOTS.contains(&tree.root().name()))
}
