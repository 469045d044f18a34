//! DATEV's list of debtors and creditors (EXTF, category 16) as a file of partners (D22): also the one that a batch
//! contains (D34).

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::import;
use super::model::KundeChange;
use crate::platform::import::file::{ParseError, Rewritten};
use crate::platform::import::table::Scanner;
use crate::platform::import::{Foreign, Import};
use crate::rules::datev::Personenkonto;
use crate::rules::text::{folded_key, marked, push_cell};

pub const DATEV: Foreign = Foreign {
    rewrite,
    import: Import::of::<KundeChange>("kunden", &[&["debitor_konto"], &["kreditor_konto"]], import::of_datev),
};

/// The category of debtors and creditors, and the fields of the header that say it and the digits of a general account.
const CATEGORY: (usize, &str) = (2, "16");
const DIGITS: usize = 13;

/// Our columns, with DATEV's headings of them; the account and what depends on its kind are rewritten by themselves.
const COLUMNS: &[(&str, &str)] = &[
    ("kundennr", "Kunden-/Lief.-Nr."),
    ("strasse", "Straße"),
    ("plz", "Postleitzahl"),
    ("ort", "Ort"),
    ("staat", "Land"),
    ("telefon", "Telefon"),
    ("email", "E-Mail"),
    ("iban", "IBAN-Nr. 1"),
    ("bic", "SWIFT-Code 1"),
    ("steuernummer", "Steuernummer"),
];

const ACCOUNT: &str = "Konto";
const FIRM: &str = "Name (Adressattyp Unternehmen)";
const PERSON: &str = "Name (Adressattyp natürl. Person)";
const FIRST_NAME: &str = "Vorname (Adressattyp natürl. Person)";
const UNTYPED: &str = "Name (Adressattyp keine Angabe)";
const FORM_OF_ADDRESS: &str = "Anrede";
const COUNTRY: &str = "EU-Land";
const VAT_ID: &str = "EU-UStID";

/// Terms of a debtor and of a creditor. DATEV writes 0 where nothing is agreed.
const TERMS: &[(Personenkonto, &str, &str)] = &[
    (Personenkonto::Debitor, "zahlungsziel_tage", "Fälligkeit in Tagen (Debitor)"),
    (Personenkonto::Debitor, "skonto_prozent", "Skonto in Prozent (Debitor)"),
    (Personenkonto::Kreditor, "skonto_tage", "Kreditoren-Ziel 1 Tg."),
    (Personenkonto::Kreditor, "skonto_prozent", "Kreditoren-Skonto 1 %"),
    (Personenkonto::Kreditor, "zahlungsziel_tage", "Kreditoren-Ziel 3 Brutto Tg."),
];

/// Columns that only say how the others are meant.
const ABOUT_OTHERS: &[&str] = &[
    "Adressattyp",
    "Adressart",
    "Kennz. Korrespondenzadresse",
    "Länderkennzeichen 1",
    "Kennz. Hauptbankverb. 1",
];

/// The columns of the table that we make of it.
const OURS: &[&str] = &[
    "debitor_konto",
    "kreditor_konto",
    "kundennr",
    "name",
    "nachname_firma",
    "vorname",
    "anrede",
    "strasse",
    "plz",
    "ort",
    "staat",
    "telefon",
    "email",
    "ust_id",
    "steuernummer",
    "iban",
    "bic",
    "zahlungsziel_tage",
    "skonto_tage",
    "skonto_prozent",
];

fn rewrite(text: &str) -> Option<Result<Rewritten, ParseError>> {
    let begin = text.trim_start_matches(['\u{feff}', '"']);
    if !begin.starts_with("EXTF") && !begin.starts_with("DTVF") {
        return None;
    }
    let (mut scanner, mut head) = (Scanner::new(text, b';'), Vec::new());
    match scanner.next(&mut head) {
        Ok(_) if head.get(CATEGORY.0).is_some_and(|category| category.trim() == CATEGORY.1) => {
            Some(rows(scanner, head.get(DIGITS).and_then(|digits| digits.trim().parse().ok())))
        }
        Ok(_) => None,
        Err(complaint) => Some(Err(complaint)),
    }
}

/// Rewrites the rows behind the header, whose accounts have one digit more than general ones.
fn rows(mut scanner: Scanner<'_>, digits: Option<u32>) -> Result<Rewritten, ParseError> {
    let (mut cells, mut headings) = (Vec::new(), Vec::new());
    scanner.next(&mut headings)?;
    let headings: Vec<String> = headings.iter().map(|name| name.trim().to_owned()).collect();
    let columns = Columns { headings: headings.iter().map(|name| folded_key(name)).collect() };
    if columns.at(ACCOUNT).is_none() {
        return Err(ParseError::new("Dieser Datei von DATEV fehlt die Spalte Konto. Bitte neu exportieren."));
    }
    let mut table =
        Rewritten { text: OURS.join(";"), lines: vec![2], width: OURS.len(), ..Rewritten::default() };
    let mut unused = BTreeSet::new();
    while let Some(place) = scanner.next(&mut cells)? {
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let row = Row { columns: &columns, cells: &cells };
        let art = row.art(digits.unwrap_or(4)).map_err(|why| ParseError::at_line(place.line, why))?;
        table.text.push('\n');
        for (at, field) in OURS.iter().enumerate() {
            table.text.push_str(if at > 0 { ";" } else { "" });
            push_cell(&mut table.text, &marked(row.value(field, art).unwrap_or_default()));
        }
        table.lines.push(place.line);
        let is_unused = |at: &usize| row.is_unused(*at);
        unused.extend((0..cells.len()).filter(is_unused));
    }
    table.unused = unused.into_iter().filter_map(|at| headings.get(at).cloned()).collect();
    table.mapped = mapped(&columns, &headings);
    Ok(table)
}

/// The headings of the file, by our columns.
fn mapped(columns: &Columns, headings: &[String]) -> Vec<(String, &'static str)> {
    let more = [("name", FIRM), ("nachname_firma", PERSON), ("vorname", FIRST_NAME), ("ust_id", VAT_ID)];
    let named = COLUMNS.iter().chain(&more);
    let heading = |(field, name): &(&'static str, &str)| {
        columns.at(name).and_then(|at| headings.get(at)).map(|heading| (heading.clone(), *field))
    };
    named.filter_map(heading).collect()
}

/// The headings, folded.
struct Columns {
    headings: Vec<String>,
}

impl Columns {
    fn at(&self, heading: &str) -> Option<usize> {
        let heading = folded_key(heading);
        self.headings.iter().position(|known| *known == heading)
    }
}

struct Row<'r> {
    columns: &'r Columns,
    cells: &'r [Cow<'r, str>],
}

impl Row<'_> {
    fn cell(&self, heading: &str) -> Option<String> {
        let cell = self.cells.get(self.columns.at(heading)?)?.trim();
        (!cell.is_empty()).then(|| cell.to_owned())
    }

    /// Which kind of account it is; the error is the end of a sentence.
    fn art(&self, digits: u32) -> Result<Personenkonto, String> {
        let account = self.cell(ACCOUNT).unwrap_or_default();
        let number: i64 = account.parse().unwrap_or_default();
        [Personenkonto::Debitor, Personenkonto::Kreditor]
            .into_iter()
            .find(|art| (1..=8).contains(&digits) && art.range(digits).contains(&number))
            .ok_or_else(|| format!("{account} ist kein Konto eines Debitors oder Kreditors. Bitte prüfen."))
    }

    fn value(&self, field: &str, art: Personenkonto) -> Option<String> {
        let is_person = self.cell(FIRM).is_none() && self.cell(PERSON).is_some();
        match field {
            field if field == art.feld() => self.cell(ACCOUNT),
            "name" if !is_person => self.cell(FIRM).or_else(|| self.cell(UNTYPED)),
            "nachname_firma" if is_person => self.cell(PERSON),
            "vorname" if is_person => self.cell(FIRST_NAME),
            "anrede" if is_person => self.cell(FORM_OF_ADDRESS).filter(|anrede| is_known_address(anrede)),
            "ust_id" => Some(self.cell(COUNTRY).unwrap_or_default() + &self.cell(VAT_ID)?),
            field => {
                let own = COLUMNS.iter().find(|(known, _)| *known == field);
                let term = TERMS.iter().find(|(of, known, _)| *of == art && *known == field);
                match (own, term) {
                    (Some((_, heading)), _) => self.cell(heading),
                    (None, Some((.., heading))) => self.cell(heading).filter(|term| !is_zero(term)),
                    (None, None) => None,
                }
            }
        }
    }

    /// Whether a cell says something that a partner has no field for.
    fn is_unused(&self, at: usize) -> bool {
        let Some(heading) = self.columns.headings.get(at) else { return false };
        let is = |name: &str| self.columns.at(name) == Some(at);
        let is_read = COLUMNS.iter().map(|(_, name)| *name).chain(TERMS.iter().map(|(.., name)| *name));
        let names = [ACCOUNT, FIRM, PERSON, FIRST_NAME, UNTYPED, COUNTRY, VAT_ID];
        let cell = self.cells.get(at).map(|cell| cell.trim()).unwrap_or_default();
        let is_address = is(FORM_OF_ADDRESS) && is_known_address(cell);
        !cell.is_empty()
            && !is_zero(cell)
            && !heading.is_empty()
            && !is_address
            && !is_read.chain(names).chain(ABOUT_OTHERS.iter().copied()).any(is)
    }
}

fn is_known_address(anrede: &str) -> bool {
    matches!(anrede, "Herr" | "Frau" | "Firma")
}

fn is_zero(number: &str) -> bool {
    number.bytes().all(|byte| matches!(byte, b'0' | b','))
}
