//! What the files of the export hold (DSFinV-K 2.x), as far as receipt lines need it.

use super::files::Files;
use super::table::{Row, rows};
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

/// A closing. Each register numbers its own from 1, so the number alone names none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Closing {
    pub z_kasse_id: String,
    pub z_nr: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BonKey {
    pub closing: Closing,
    pub bon_id: String,
}

/// A row of transactions.csv (Bonkopf).
pub struct Head {
    pub key: BonKey,
    pub bon_nr: String,
    pub bon_typ: String,
    pub bon_storno: bool,
    pub bon_ende: Instant,
    pub ums_brutto: Option<Money>,
    pub kunde_id: Option<String>,
}

/// A row of lines.csv (Bonpos).
pub struct Line {
    pub key: BonKey,
    pub pos_zeile: String,
    pub artikeltext: Option<String>,
    pub gv_typ: String,
    /// Voided before the receipt was closed: it was never sold, and has no counter line (4.2.3).
    pub p_storno: bool,
    pub art_nr: Option<String>,
    pub gtin: Option<String>,
    /// Below zero where goods came back (4.2.5).
    pub menge: Quantity,
    /// The quantity that the price is for.
    pub faktor: Option<Quantity>,
    pub einheit: Option<String>,
    pub stk_br: Option<Price>,
}

/// A row of lines_vat.csv (Bonpos_USt).
pub struct Amount {
    pub key: BonKey,
    pub pos_zeile: String,
    pub ust_schluessel: i64,
    pub brutto: Option<Price>,
    pub netto: Option<Price>,
    pub ust: Option<Price>,
}

/// A row of references.csv (Bon_Referenzen) that refers to a receipt.
pub struct Reference {
    pub key: BonKey,
    /// A line refers, not the receipt as a whole.
    pub of_line: bool,
    pub target: BonKey,
}

pub struct Export {
    pub closings: Vec<Closing>,
    pub rates: Vec<(Closing, i64, Percent)>,
    pub heads: Vec<Head>,
    pub lines: Vec<Line>,
    pub amounts: Vec<Amount>,
    pub payments: Vec<(BonKey, String)>,
    pub references: Vec<Reference>,
}

impl Export {
    /// Reads the files. references.csv may be missing where nothing is reversed.
    pub fn read(files: &Files) -> Result<Export, String> {
        let export = Export {
            closings: rows(CLOSINGS, files.text(CLOSINGS)?, &["Z_KASSE_ID", "Z_NR"], closing)?,
            rates: rows(
                RATES,
                files.text(RATES)?,
                &["Z_KASSE_ID", "Z_NR", "UST_SCHLUESSEL", "UST_SATZ"],
                rate,
            )?,
            heads: rows(HEADS, files.text(HEADS)?, HEAD, head)?,
            lines: rows(LINES, files.text(LINES)?, LINE, line)?,
            amounts: rows(AMOUNTS, files.text(AMOUNTS)?, AMOUNT, amount)?,
            payments: rows(PAYMENTS, files.text(PAYMENTS)?, PAYMENT, |row| {
                Ok((bon_key(row)?, row.required("ZAHLART_TYP")?))
            })?,
            references: match files.optional(REFERENCES) {
                Some(text) => rows(REFERENCES, text, REFERENCE, reference)?.into_iter().flatten().collect(),
                None => Vec::new(),
            },
        };
        if export.heads.iter().any(|head| head.bon_storno) {
            files.text(REFERENCES)?;
        }
        Ok(export)
    }
}

fn closing(row: &Row<'_>) -> Result<Closing, String> {
    Ok(Closing { z_kasse_id: row.required("Z_KASSE_ID")?, z_nr: row.integer("Z_NR")? })
}

fn bon_key(row: &Row<'_>) -> Result<BonKey, String> {
    Ok(BonKey { closing: closing(row)?, bon_id: row.required("BON_ID")? })
}

fn rate(row: &Row<'_>) -> Result<(Closing, i64, Percent), String> {
    let satz: Option<Percent> = row.decimal("UST_SATZ")?;
    let satz = satz.filter(|satz| (Percent::ZERO..=Percent::whole(100)).contains(satz));
    let satz = satz.ok_or_else(|| row.wrong("UST_SATZ", "a rate from 0 to 100 per cent must stand there"))?;
    Ok((closing(row)?, row.integer("UST_SCHLUESSEL")?, satz))
}

const HEAD: &[&str] = &[
    "Z_KASSE_ID",
    "Z_NR",
    "BON_ID",
    "BON_NR",
    "BON_TYP",
    "BON_STORNO",
    "BON_ENDE",
    "UMS_BRUTTO",
    "KUNDE_ID",
];

fn head(row: &Row<'_>) -> Result<Head, String> {
    let bon_ende = row.required("BON_ENDE")?;
    let bon_ende = Instant::parse_or_in_berlin(&bon_ende)
        .ok_or_else(|| row.wrong("BON_ENDE", &format!("{bon_ende} is no instant")))?;
    Ok(Head {
        key: bon_key(row)?,
        bon_nr: row.required("BON_NR")?,
        bon_typ: row.required("BON_TYP")?,
        bon_storno: row.flag("BON_STORNO")?,
        bon_ende,
        ums_brutto: row.decimal("UMS_BRUTTO")?,
        kunde_id: row.text("KUNDE_ID")?,
    })
}

const LINE: &[&str] = &[
    "Z_KASSE_ID",
    "Z_NR",
    "BON_ID",
    "POS_ZEILE",
    "ARTIKELTEXT",
    "GV_TYP",
    "P_STORNO",
    "ART_NR",
    "GTIN",
    "MENGE",
    "FAKTOR",
    "EINHEIT",
    "STK_BR",
];

fn line(row: &Row<'_>) -> Result<Line, String> {
    let menge = row.decimal("MENGE")?;
    Ok(Line {
        key: bon_key(row)?,
        pos_zeile: row.required("POS_ZEILE")?,
        artikeltext: row.lines("ARTIKELTEXT")?,
        gv_typ: row.required("GV_TYP")?,
        p_storno: row.flag("P_STORNO")?,
        art_nr: row.text("ART_NR")?,
        gtin: row.text("GTIN")?,
        menge: menge.ok_or_else(|| row.wrong("MENGE", "it is blank"))?,
        faktor: row.decimal("FAKTOR")?,
        einheit: row.text("EINHEIT")?,
        stk_br: row.decimal("STK_BR")?,
    })
}

const AMOUNT: &[&str] =
    &["Z_KASSE_ID", "Z_NR", "BON_ID", "POS_ZEILE", "UST_SCHLUESSEL", "POS_BRUTTO", "POS_NETTO", "POS_UST"];

fn amount(row: &Row<'_>) -> Result<Amount, String> {
    Ok(Amount {
        key: bon_key(row)?,
        pos_zeile: row.required("POS_ZEILE")?,
        ust_schluessel: row.integer("UST_SCHLUESSEL")?,
        brutto: row.decimal("POS_BRUTTO")?,
        netto: row.decimal("POS_NETTO")?,
        ust: row.decimal("POS_UST")?,
    })
}

const PAYMENT: &[&str] = &["Z_KASSE_ID", "Z_NR", "BON_ID", "ZAHLART_TYP"];

const REFERENCE: &[&str] =
    &["Z_KASSE_ID", "Z_NR", "BON_ID", "POS_ZEILE", "REF_TYP", "REF_Z_KASSE_ID", "REF_Z_NR", "REF_BON_ID"];

/// A reference to a receipt; others lead to invoices and delivery notes outside of the register.
/// What is blank is that of the row itself.
fn reference(row: &Row<'_>) -> Result<Option<Reference>, String> {
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
