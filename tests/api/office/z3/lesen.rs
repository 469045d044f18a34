//! Reads a hand-over as an auditor's program does: the structure of its tables is known from index.xml alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Cursor, Read};

use partnerd::rules::bytes::hex;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

/// The document type definition as published by its author.
const DTD_SHA256: &str = "40e733e866f375c07efba3fafdc0765512562b1db6f86d85309527a3f77a6dc5";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Art {
    /// At most so many characters.
    Text(usize),
    /// With so many decimals.
    Zahl(usize),
    Tag,
}

#[derive(Debug, Clone)]
pub struct Spalte {
    pub name: String,
    pub art: Art,
    is_key: bool,
}

#[derive(Debug, Clone)]
pub struct Tabelle {
    pub columns: Vec<Spalte>,
    pub rows: Vec<Vec<String>>,
    /// The name of the table, and the columns that refer to others.
    name: String,
    references: Vec<(String, String)>,
}

pub struct Lesbar {
    files: BTreeMap<String, Vec<u8>>,
    /// By file name without extension, in the order of the index.
    tables: Vec<(String, Tabelle)>,
}

/// The contents of each element with this tag.
fn inside<'x>(xml: &'x str, tag: &str) -> Vec<&'x str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    xml.split(open.as_str()).skip(1).map(|rest| rest.split(close.as_str()).next().unwrap()).collect()
}

/// Parses a number with a decimal comma into smallest units; an empty text is 0.
pub fn units(text: &str) -> i64 {
    text.replace(',', "").parse().unwrap_or(0)
}

fn column(kind: &str, xml: &str) -> Spalte {
    let art = match xml {
        _ if xml.contains("<AlphaNumeric/>") => Art::Text(inside(xml, "MaxLength")[0].parse().unwrap()),
        _ if xml.contains("<Date>") => Art::Tag,
        _ => Art::Zahl(inside(xml, "Accuracy").first().map_or(0, |decimals| decimals.parse().unwrap())),
    };
    Spalte { name: inside(xml, "Name")[0].to_owned(), art, is_key: kind == "VariablePrimaryKey" }
}

fn cell(art: Art, text: &str) -> String {
    match art {
        Art::Text(longest) => {
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap();
            assert!(inner.chars().count() <= longest && !inner.contains('"'), "{text}");
            assert!(!inner.chars().any(char::is_control), "{text:?}");
            inner.to_owned()
        }
        Art::Zahl(decimals) => {
            let (whole, rest) = text.split_once(',').unwrap_or((text, ""));
            let digits = |part: &str| part.bytes().all(|digit| digit.is_ascii_digit());
            let is_number = digits(whole.trim_start_matches('-')) && digits(rest) && rest.len() == decimals;
            assert!(text.is_empty() || is_number, "{text} with {decimals} decimals");
            text.to_owned()
        }
        Art::Tag => {
            let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
            assert!(text.is_empty() || shape == "99.99.9999", "{text}");
            text.to_owned()
        }
    }
}

impl Lesbar {
    pub fn read(zip: &[u8]) -> Lesbar {
        let mut archive = ZipArchive::new(Cursor::new(zip)).unwrap();
        let mut files = BTreeMap::new();
        for at in 0..archive.len() {
            let mut file = archive.by_index(at).unwrap();
            let name = file.name().unwrap().into_owned();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            files.insert(name, content);
        }
        let index = String::from_utf8(files["index.xml"].clone()).unwrap();
        let tables = inside(&index, "Table").into_iter().map(|table| {
            let url = inside(table, "URL")[0];
            (url.trim_end_matches(".csv").to_owned(), Tabelle::read(table, &files[url]))
        });
        Lesbar { tables: tables.collect(), files }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    pub fn bytes(&self, name: &str) -> &[u8] {
        &self.files[name]
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.files[name].clone()).unwrap()
    }

    pub fn table(&self, name: &str) -> &Tabelle {
        &self.tables.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}")).1
    }

    /// Asserts what holds for every hand-over: keys are unique, references resolve in an earlier table, each
    /// file is in the report with its sha256, and no file exists that index and report do not name.
    pub fn check(&self) {
        let mut keys: HashMap<String, BTreeSet<String>> = HashMap::new();
        for (file, table) in &self.tables {
            for (name, target) in &table.references {
                let known =
                    keys.get(target).unwrap_or_else(|| panic!("{file}: {target} stands not before it"));
                for row in &table.rows {
                    let value = table.value(row, name);
                    assert!(value.is_empty() || known.contains(value), "{file}.{name}: {value}");
                }
            }
            let key = |row: &Vec<String>| {
                let parts = table.columns.iter().zip(row).filter(|(column, _)| column.is_key);
                parts.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
            };
            let own: BTreeSet<String> = table.rows.iter().map(key).collect();
            assert_eq!(own.len(), table.rows.len(), "{file}: a key is there twice");
            keys.insert(table.name.clone(), own);
        }
        assert_eq!(hex(&Sha256::digest(self.bytes("gdpdu-01-09-2004.dtd"))), DTD_SHA256);
        let report = self.text("bericht.txt");
        for (name, content) in self.files.iter().filter(|(name, _)| *name != "bericht.txt") {
            let line = format!("  {name} {} {}\r\n", content.len(), hex(&Sha256::digest(content)));
            assert!(report.contains(&line), "{line}: {report}");
            let is_table = self.tables.iter().any(|(table, _)| *name == format!("{table}.csv"));
            assert!(is_table || !name.ends_with(".csv"), "{name} is not in the index");
        }
        for (name, table) in &self.tables {
            assert!(report.contains(&format!("  {name}.csv: {} Zeilen\r\n", table.rows.len())), "{report}");
        }
        for chain in ["Protokoll der Anfragen: ", "Kette der Änderungen", "Kette der Nachweise"] {
            assert!(report.contains(chain), "{report}");
        }
    }
}

impl Tabelle {
    fn read(xml: &str, csv: &[u8]) -> Tabelle {
        let mut columns = Vec::new();
        for kind in ["VariablePrimaryKey", "VariableColumn"] {
            columns.extend(inside(xml, kind).into_iter().map(|part| column(kind, part)));
        }
        let references = inside(xml, "ForeignKey").into_iter();
        let references = references
            .map(|key| (inside(key, "Name")[0].to_owned(), inside(key, "References")[0].to_owned()))
            .collect();
        let text = std::str::from_utf8(csv).unwrap();
        let mut lines = text.split("\r\n");
        let head: Vec<_> = columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        assert_eq!(lines.next().unwrap(), head.join(";"));
        assert!(text.ends_with("\r\n") && !text.replace("\r\n", "").contains(['\r', '\n']));
        let row = |line: &str| {
            // Texts never contain `;` or `"`.
            let cells: Vec<_> = line.split(';').collect();
            assert_eq!(cells.len(), columns.len(), "{line}");
            columns.iter().zip(cells).map(|(column, text)| cell(column.art, text)).collect()
        };
        let rows = lines.filter(|line| !line.is_empty()).map(row).collect();
        Tabelle { rows, references, name: inside(xml, "Name")[0].to_owned(), columns }
    }

    fn at(&self, column: &str) -> usize {
        self.columns.iter().position(|known| known.name == column).unwrap_or_else(|| panic!("no {column}"))
    }

    pub fn value<'r>(&self, row: &'r [String], column: &str) -> &'r str {
        &row[self.at(column)]
    }

    /// The rows with this value in a column.
    pub fn of(&self, column: &str, value: &str) -> Tabelle {
        let at = self.at(column);
        let rows = self.rows.iter().filter(|row| row[at] == value).cloned().collect();
        Tabelle { rows, ..self.clone() }
    }

    /// The sum of a column in smallest units.
    pub fn sum(&self, column: &str) -> i64 {
        let at = self.at(column);
        self.rows.iter().map(|row| units(&row[at])).sum()
    }
}
