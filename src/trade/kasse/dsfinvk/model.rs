//! The parts of the export's files (DSFinV-K 2.x) that receipt lines need.

use super::files::Files;
use super::table::{ExportRow, Tables};
use crate::rules::day::Instant;
use crate::rules::fixed::{Money, Percent, Price, Quantity};

const CLOSINGS: &str = "cashpointclosing.csv";
const RATES: &str = "vat.csv";
const HEADS: &str = "transactions.csv";
const LINES: &str = "lines.csv";
const AMOUNTS: &str = "lines_vat.csv";
const PAYMENTS: &str = "datapayment.csv";
const REFERENCES: &str = "references.csv";

pub const FILES: &[&str] = &[CLOSINGS, RATES, HEADS, LINES, AMOUNTS, PAYMENTS, REFERENCES];

/// The numeric columns that may have decimals.
const NUMBERS: &[&str] =
    &["UST_SATZ", "POS_BRUTTO", "POS_NETTO", "POS_UST", "UMS_BRUTTO", "MENGE", "FAKTOR", "STK_BR"];

/// A closing. Each register numbers its own from 1, so the number alone is not unique.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Closing {
    pub z_kasse_id: String,
    pub z_nr: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BonKey {
    pub closing: Closing,
    pub bon_id: String,
}

/// A row of a file about receipts: each field with its column and the method of [`ExportRow`] that reads its
/// cell.
macro_rules! row {
    ($(#[$meta:meta])* pub struct $row:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $read:ident($column:literal),)+
    }) => {
        $(#[$meta])*
        pub struct $row {
            pub key: BonKey,
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $row {
            const COLUMNS: &[&str] = &["Z_KASSE_ID", "Z_NR", "BON_ID", $($column),+];

            fn read(row: &ExportRow<'_>) -> Result<$row, String> {
                Ok($row { key: bon_key(row)?, $($field: row.$read($column)?),+ })
            }
        }
    };
}

row! {
    /// A row of transactions.csv (Bonkopf).
    pub struct ReceiptHead {
        bon_nr: String = number("BON_NR"),
        bon_typ: String = required("BON_TYP"),
        bon_storno: bool = flag("BON_STORNO"),
        bon_ende: Instant = instant("BON_ENDE"),
        ums_brutto: Option<Money> = decimal("UMS_BRUTTO"),
        kunde_id: Option<String> = text("KUNDE_ID"),
    }
}

row! {
    /// A row of lines.csv (Bonpos).
    pub struct ReceiptLine {
        pos_zeile: String = required("POS_ZEILE"),
        artikeltext: Option<String> = lines("ARTIKELTEXT"),
        gv_typ: String = required("GV_TYP"),
        /// Voided before the receipt was closed: never sold, and without a counter line (4.2.3).
        p_storno: bool = flag("P_STORNO"),
        art_nr: Option<String> = text("ART_NR"),
        gtin: Option<String> = text("GTIN"),
        /// Negative for returned goods (4.2.5).
        menge: Quantity = required_decimal("MENGE"),
        /// The quantity that the price refers to.
        faktor: Option<Quantity> = decimal("FAKTOR"),
        einheit: Option<String> = text("EINHEIT"),
        stk_br: Option<Price> = decimal("STK_BR"),
    }
}

row! {
    /// A row of lines_vat.csv (Bonpos_USt).
    pub struct LineAmount {
        pos_zeile: String = required("POS_ZEILE"),
        ust_schluessel: i64 = integer("UST_SCHLUESSEL"),
        brutto: Option<Price> = decimal("POS_BRUTTO"),
        netto: Option<Price> = decimal("POS_NETTO"),
        ust: Option<Price> = decimal("POS_UST"),
    }
}

/// A row of references.csv (Bon_Referenzen) that references a receipt.
pub struct Reference {
    pub key: BonKey,
    /// Whether a line makes the reference, rather than the receipt as a whole.
    pub of_line: bool,
    pub target: BonKey,
}

pub struct Export {
    pub closings: Vec<Closing>,
    pub rates: Vec<(Closing, i64, Percent)>,
    pub heads: Vec<ReceiptHead>,
    pub lines: Vec<ReceiptLine>,
    pub amounts: Vec<LineAmount>,
    pub payments: Vec<(BonKey, String)>,
    pub references: Vec<Reference>,
}

impl Export {
    /// Reads the files. references.csv may be missing if nothing is reversed.
    pub fn read(files: &Files) -> Result<Export, String> {
        let tables = Tables::of(files, FILES, NUMBERS);
        let export = Export {
            closings: tables.rows(CLOSINGS, &["Z_KASSE_ID", "Z_NR"], closing)?,
            rates: tables.rows(RATES, &["Z_KASSE_ID", "Z_NR", "UST_SCHLUESSEL", "UST_SATZ"], rate)?,
            heads: tables.rows(HEADS, ReceiptHead::COLUMNS, ReceiptHead::read)?,
            lines: tables.rows(LINES, ReceiptLine::COLUMNS, ReceiptLine::read)?,
            amounts: tables.rows(AMOUNTS, LineAmount::COLUMNS, LineAmount::read)?,
            payments: tables
                .rows(PAYMENTS, PAYMENT, |row| Ok((bon_key(row)?, row.required("ZAHLART_TYP")?)))?,
            references: match files.optional(REFERENCES) {
                Some(_) => tables.rows(REFERENCES, REFERENCE, reference)?.into_iter().flatten().collect(),
                None => Vec::new(),
            },
        };
        if export.heads.iter().any(|head| head.bon_storno) {
            files.text(REFERENCES)?;
        }
        Ok(export)
    }
}

fn closing(row: &ExportRow<'_>) -> Result<Closing, String> {
    Ok(Closing { z_kasse_id: row.required("Z_KASSE_ID")?, z_nr: row.integer("Z_NR")? })
}

fn bon_key(row: &ExportRow<'_>) -> Result<BonKey, String> {
    Ok(BonKey { closing: closing(row)?, bon_id: row.required("BON_ID")? })
}

fn rate(row: &ExportRow<'_>) -> Result<(Closing, i64, Percent), String> {
    let satz: Option<Percent> = row.decimal("UST_SATZ")?;
    let satz = satz.filter(|satz| (Percent::ZERO..=Percent::whole(100)).contains(satz));
    let satz =
        satz.ok_or_else(|| row.wrong("UST_SATZ", "hier muss ein Satz von 0 bis 100 Prozent stehen"))?;
    Ok((closing(row)?, row.integer("UST_SCHLUESSEL")?, satz))
}

const PAYMENT: &[&str] = &["Z_KASSE_ID", "Z_NR", "BON_ID", "ZAHLART_TYP"];

const REFERENCE: &[&str] =
    &["Z_KASSE_ID", "Z_NR", "BON_ID", "POS_ZEILE", "REF_TYP", "REF_Z_KASSE_ID", "REF_Z_NR", "REF_BON_ID"];

/// Reads a reference to a receipt; others point to invoices and delivery notes outside the register. Blank
/// cells mean those of the row itself.
fn reference(row: &ExportRow<'_>) -> Result<Option<Reference>, String> {
    if row.required("REF_TYP")? != "Transaktion" {
        return Ok(None);
    }
    let key = bon_key(row)?;
    let z_kasse_id = row.text("REF_Z_KASSE_ID")?.unwrap_or_else(|| key.closing.z_kasse_id.clone());
    let z_nr = match row.text("REF_Z_NR")? {
        Some(_) => row.integer("REF_Z_NR")?,
        None => key.closing.z_nr,
    };
    let target = BonKey { closing: Closing { z_kasse_id, z_nr }, bon_id: row.required("REF_BON_ID")? };
    Ok(Some(Reference { of_line: row.text("POS_ZEILE")?.is_some(), key, target }))
}
