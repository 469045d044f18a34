//! The header row of a table: finds it, and maps the column names of other programs to ours (D22).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::memory_budget::{MemoryBudget, ROW_BYTES};
use super::parse_error::ParseError;
use super::sheet::merged_cells;
use super::table::{Columns, NUMBER, RecordPlace, Scanner, excerpt, separator};
use crate::rules::field::Said;
use crate::rules::text::{folded_key, shown};

/// Number of non-blank rows among which the header is searched.
const LOOKED_AT_MAX: usize = 20;

/// Rows above the header that are quoted.
const QUOTED_MAX: usize = 3;

/// Longest heading that may be one of ours, in bytes.
pub const HEADING_BYTES_MAX: usize = 100;

/// Minimum Jaro-Winkler similarity for proposing a name.
const ALIKE: f64 = 0.86;

/// Headings used by other programs, by our name of the column: in lower case, ä as ae, only letters and
/// digits. A word that matches several columns of a kind matches none of them there.
const ALIASES: &[(&str, &str)] = &[
    ("ab_menge", "menge mengeab staffel staffelmenge mindestmenge"),
    (
        "artikelnummer",
        "artikelnr artnr artikelno artikelcode materialnummer materialnr produktnummer produktnr sachnummer nr nummer",
    ),
    ("bestand", "menge lagerbestand anfangsbestand istbestand gezaehlt zaehlmenge gezaehltemenge"),
    (
        "bezeichnung",
        "artikelbezeichnung artikelname produktbezeichnung produktname produkt beschreibung bezeichnung1",
    ),
    (
        "charge_nr",
        "charge chargennr chargennummer los losnr losnummer partie partienr partienummer lot nr nummer",
    ),
    ("einheit", "me mengeneinheit einh"),
    ("erntejahr", "ernte"),
    ("grund", "anlass"),
    ("gueltig_bis", "bis ende ablauf ablaufdatum enddatum"),
    ("gueltig_von", "von ab beginn gueltigab startdatum"),
    ("kunde", "kundennr kundennummer kdnr"),
    ("menge", "anzahl stueckzahl"),
    ("name", "bezeichnung gruppe artikelgruppe warengruppe"),
    ("nummer", "nr zertifikatsnummer zertifikatsnr zertifikatnr zertifikat"),
    (
        "partner",
        "kundennr kundennummer kdnr kunde lieferant lieferantennr lieferantennummer partnernr partnernummer",
    ),
    (
        "preis",
        "verkaufspreis vk vkpreis vknetto verkaufspreisnetto nettopreis preisnetto preiseur preiseuro listenpreis",
    ),
    ("satz", "steuersatz prozentsatz prozent"),
    ("schluessel", "steuerschluessel"),
];

/// The columns of a kind of import, and the one that identifies a record.
#[derive(Clone, Copy)]
pub struct Names {
    pub fields: &'static [&'static str],
    /// What the record says of a column.
    pub said: fn(&str) -> Option<Said>,
    pub key: Option<&'static str>,
}

/// The header of a table, as found.
#[derive(Debug, Default)]
pub struct Header {
    pub line: u32,
    /// The first non-blank rows above it: line and first cell, quoted.
    pub above: Vec<(u32, String)>,
    /// Number of rows above it.
    pub above_count: usize,
    /// Headings that were mapped to a column of another name.
    pub mapped: Vec<(String, &'static str)>,
}

/// Normalizes a heading for comparison: folded, only letters and digits.
fn plain(heading: &str) -> String {
    folded_key(heading.trim_start_matches(NUMBER)).chars().filter(char::is_ascii_alphanumeric).collect()
}

impl Default for Names {
    fn default() -> Names {
        Names { fields: &[], said: |_| None, key: None }
    }
}

impl Names {
    fn aliases_of(&self, field: &str) -> impl Iterator<Item = &'static str> {
        let shared = || ALIASES.iter().find(|(name, _)| *name == field).map_or("", |(_, words)| words);
        let words = (self.said)(field).map_or_else(shared, |said| said.aliases);
        words.split_whitespace()
    }

    /// Returns the column that a lower-case heading means: by its name, another spelling, or an alias. An
    /// ambiguous alias means none. An alias of the key column wins, as long as no heading has the key
    /// column's own name.
    fn meaning(&self, heading: &str, is_key_free: bool) -> Option<&'static str> {
        if heading.len() > HEADING_BYTES_MAX {
            return None;
        }
        let word = plain(heading);
        if word.is_empty() {
            return None;
        }
        let named = |name: &str| self.fields.iter().copied().find(|field| *field == name);
        let mut meant =
            self.fields.iter().copied().filter(|field| self.aliases_of(field).any(|alias| alias == word));
        let meant = meant.next().filter(|_| meant.next().is_none());
        if is_key_free && meant.is_some() && meant == self.key {
            return meant;
        }
        // Our names are plain except for the underscores.
        let is_same = |field: &&str| field.bytes().filter(|byte| *byte != b'_').eq(word.bytes());
        let spelled = || self.fields.iter().copied().find(is_same);
        // As our own files call it.
        let is_labelled = |field: &&str| (self.said)(field).is_some_and(|said| plain(said.label) == word);
        let labelled = || self.fields.iter().copied().find(is_labelled);
        named(heading).or_else(labelled).or_else(spelled).or(meant)
    }

    /// Returns how many columns a row names.
    fn count(&self, cells: &[Cow<'_, str>]) -> usize {
        let names: BTreeSet<&str> =
            cells.iter().filter_map(|cell| self.meaning(&cell.trim().to_lowercase(), true)).collect();
        names.len()
    }

    /// Returns the column most similar to an unknown heading, if it is similar enough.
    pub fn nearest(&self, heading: &str) -> Option<&'static str> {
        let heading = plain(heading);
        let likeness = |field: &str| {
            let words = self.aliases_of(field).map(|word| strsim::jaro_winkler(&heading, word));
            words.fold(strsim::jaro_winkler(&heading, &plain(field)), f64::max)
        };
        let likest = self.fields.iter().copied().map(|field| (likeness(field), field));
        let likest = likest.max_by(|(one, _), (other, _)| one.total_cmp(other));
        likest.filter(|(likeness, _)| *likeness >= ALIKE).map(|(_, field)| field)
    }

    /// Finds the row that names the most columns among the first ones: returns its index, from 0, among all
    /// records, and that count. Without names to look for, returns the first row that is neither blank nor a
    /// comment; `None` if there is no such row.
    fn find(&self, text: &str, separator: u8) -> Result<Option<(usize, usize)>, ParseError> {
        let (mut scanner, mut cells) = (Scanner::new(text, separator), Vec::new());
        let (mut best, mut looked_at, mut at) = (None, 0, 0);
        while looked_at < LOOKED_AT_MAX {
            match scanner.next(&mut cells) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // An unreadable row further down is refused when the rows are read.
                Err(complaint) => match best {
                    Some((_, 1..)) => break,
                    _ => return Err(complaint),
                },
            }
            if !is_blank(&cells) && !is_comment(&cells) {
                looked_at += 1;
                let count = self.count(&cells);
                if best.is_none_or(|(_, most)| count > most) {
                    best = Some((at, count));
                }
            }
            at += 1;
        }
        Ok(best)
    }

    /// Turns the cells of the header into the names of at least `width` columns.
    fn columns(
        &self,
        cells: &[Cow<'_, str>],
        width: usize,
        header: &mut Header,
    ) -> Result<Columns, ParseError> {
        let mut names: Vec<String> = cells.iter().map(|name| name.trim().to_lowercase()).collect();
        let is_key_free = names.iter().all(|name| Some(name.as_str()) != self.key);
        let meanings: Vec<_> = names.iter().map(|name| self.meaning(name, is_key_free)).collect();
        let is_used = |at: usize| meanings[at].is_some() || self.fields.is_empty();
        refuse_twice(&names, header.line, is_used)?;
        let mut taken = Vec::new();
        for (at, field) in meanings.iter().enumerate() {
            let Some(field) = *field else { continue };
            let is_named = |other: usize| meanings[other] == Some(field) && names[other] == field;
            if is_named(at) || (0..cells.len()).any(is_named) {
                continue;
            }
            if let Some(other) = meanings[..at].iter().position(|other| *other == Some(field)) {
                return Err(both_mean(header.line, &cells[other], &cells[at], field));
            }
            taken.push((at, field));
        }
        for (at, field) in taken {
            header.mapped.push((cells[at].trim().to_owned(), field));
            names[at] = field.to_owned();
        }
        names.resize(width.max(names.len()), String::new());
        Ok(names.into_iter().map(Some).collect())
    }
}

impl Header {
    /// Records a row above the header, to quote it.
    fn pass_over(&mut self, line: u32, cells: &[Cow<'_, str>]) {
        self.above_count += 1;
        if self.above.len() < QUOTED_MAX {
            let first = cells.iter().find(|cell| !cell.trim().is_empty());
            let quoted = first.map(|cell| excerpt(cell.trim().trim_start_matches(NUMBER)));
            self.above.push((line, quoted.unwrap_or_default()));
        }
    }

    /// Returns the heading in the file of a column that was mapped.
    pub fn heading(&self, field: &str) -> Option<&str> {
        self.mapped.iter().find(|(_, known)| *known == field).map(|(heading, _)| heading.as_str())
    }

    /// Reports the rows above the header that were skipped; `None` if there are none.
    pub fn passed_over(&self) -> Option<String> {
        let rows = self.above.iter().map(|(line, text)| format!("Zeile {line} {text}"));
        let more = (self.above_count > self.above.len()).then(|| "…".to_owned());
        let quoted = rows.chain(more).collect::<Vec<_>>().join(", ");
        let line = self.line;
        (self.above_count > 0).then(|| {
            format!("Zeile {line} sieht nach der Kopfzeile aus. Darüber wurde nicht gelesen: {quoted}")
        })
    }
}

/// What is known about a sheet that was converted to text.
pub struct OfSheet<'s> {
    /// The lines of its records.
    pub lines: &'s [u32],
    pub width: usize,
    /// First and last line of the merged cells that reach furthest down.
    pub merged: Option<(u32, u32)>,
}

/// Reads a table: lines that begin with "# " are comments, then comes the header, possibly below titles, then
/// rows. In a table from a sheet, missing cells at the end of a record are blank.
pub fn read(
    text: &str,
    separator: u8,
    sheet: Option<&OfSheet<'_>>,
    names: &Names,
    budget: &mut MemoryBudget,
) -> Result<(Columns, Header, Vec<RecordPlace>), ParseError> {
    let header_at = match names.find(text, separator)? {
        None | Some((_, 0)) if !names.fields.is_empty() => return Err(no_header(names)),
        found => found.ok_or_else(no_names)?.0,
    };
    let (mut scanner, mut cells) = (Scanner::new(text, separator), Vec::new());
    let (mut header, mut columns, mut rows) = (Header::default(), Columns::new(), Vec::new());
    let mut at = 0;
    while let Some(mut place) = scanner.next(&mut cells)? {
        if let Some(sheet) = sheet {
            place.line = sheet.lines.get(at).copied().unwrap_or(place.line);
        }
        budget.take(ROW_BYTES)?;
        match at.cmp(&header_at) {
            _ if is_blank(&cells) => {}
            Ordering::Less if is_comment(&cells) => {}
            Ordering::Less => header.pass_over(place.line, &cells),
            Ordering::Equal => {
                header.line = place.line;
                columns = names.columns(&cells, sheet.map_or(0, |sheet| sheet.width), &mut header)?;
            }
            Ordering::Greater if sheet.is_none() && columns.len() != cells.len() => {
                return Err(other_width(place.line, cells.len(), columns.len()));
            }
            Ordering::Greater => rows.push(place),
        }
        at += 1;
    }
    match sheet.and_then(|sheet| sheet.merged) {
        Some((first, last)) if last >= header.line => Err(merged_cells(first)),
        _ => Ok((columns, header, rows)),
    }
}

/// Whether a record above the header is a comment.
fn is_comment(cells: &[Cow<'_, str>]) -> bool {
    cells.first().is_some_and(|cell| cell.starts_with("# "))
}

fn other_width(line: u32, cells: usize, columns: usize) -> ParseError {
    ParseError::at_line(line, format!("{cells} Zellen, aber {columns} Spalten."))
}

fn no_names() -> ParseError {
    ParseError::new("Die Zeile mit den Namen der Spalten fehlt.")
}

/// Returns the separator with which the header names the most columns, otherwise the most frequent one:
/// semicolon, comma or tab.
pub fn separator_for(text: &str, names: &Names) -> u8 {
    let header =
        text.lines().find(|line| !line.trim().is_empty() && !line.trim_start_matches('"').starts_with("# "));
    let most = separator(header.unwrap_or_default());
    [b'\t', b',', b';']
        .into_iter()
        .max_by_key(|separator| {
            let found = names.find(text, *separator).ok().flatten();
            (found.map_or(0, |(_, known)| known), *separator == most)
        })
        .unwrap_or(most)
}

fn is_blank(cells: &[Cow<'_, str>]) -> bool {
    cells.iter().all(|cell| cell.trim().is_empty())
}

fn refuse_twice(headings: &[String], line: u32, is_used: impl Fn(usize) -> bool) -> Result<(), ParseError> {
    for (at, name) in headings.iter().enumerate() {
        if !name.is_empty() && is_used(at) && headings[..at].contains(name) {
            let name = shown(name);
            return Err(ParseError::at_line(line, format!("die Spalte {name} steht doppelt da.")));
        }
        if name.starts_with(NUMBER) {
            let number = excerpt(name.trim_start_matches(NUMBER));
            return Err(ParseError::at_line(
                line,
                format!("{number} ist eine Zahl; dort stehen die Namen der Spalten."),
            ));
        }
    }
    Ok(())
}

fn both_mean(line: u32, one: &str, other: &str, field: &str) -> ParseError {
    let (one, other) = (excerpt(one.trim()), excerpt(other.trim()));
    ParseError::at_line(
        line,
        format!("die Spalten {one} und {other} heißen beide {field}; bitte die richtige {field} nennen."),
    )
}

/// Refuses a table in whose first rows no column of the kind is named.
fn no_header(names: &Names) -> ParseError {
    let known: Vec<_> = names.fields.iter().copied().take(8).collect();
    let known = known.join(", ");
    ParseError::new(format!(
        "In den ersten {LOOKED_AT_MAX} Zeilen steht keine mit Namen von Spalten, die hier bekannt sind: \
         {known} … Eine Vorlage mit allen Spalten gibt es unter „Import“ im Leitstand, und mit --template."
    ))
}
