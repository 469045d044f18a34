//! A sheet of LibreOffice: the cells of its content.xml one after another, so that what it repeats is never unfolded
//! beyond what a sheet may have.

use std::collections::HashSet;
use std::io::BufRead;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::complaint::Complaint;
use super::sheet::{COLUMNS_MAX, Sheet, choose, decimal, merged_cells, no_value};

#[derive(Default)]
struct Cell {
    value: Option<String>,
    is_number: bool,
    has_formula: bool,
    repeated: u32,
    text: String,
    paragraphs: usize,
    /// How deep in what is not its text: notes.
    beside: usize,
}

fn unreadable(error: impl std::fmt::Display) -> Complaint {
    Complaint::new(
        format!("this is no .ods that can be read: {error}"),
        format!("Diese .ods ist nicht zu lesen. Bitte neu speichern. ({error})"),
    )
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Complaint> {
    for found in element.attributes() {
        let found = found.map_err(unreadable)?;
        if found.key.0 == name {
            let value = found.normalized_value(XmlVersion::Implicit1_0).map_err(unreadable)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

fn repeated(element: &BytesStart<'_>, name: &str) -> Result<u32, Complaint> {
    let times = attribute(element, name)?.map(|text| text.parse::<u32>().map_err(unreadable)).transpose()?;
    Ok(times.unwrap_or(1))
}

#[derive(Default)]
struct Content {
    hidden: HashSet<String>,
    style: Option<String>,
    /// Names of the tables so far, and whether they can be seen.
    sheets: Vec<(String, bool)>,
    sheet: Option<Sheet>,
    is_wanted: bool,
    row: u32,
    row_repeated: u32,
    cells: Vec<(u32, String, bool)>,
    column: u32,
    cell: Option<Cell>,
}

/// Reads one sheet of content.xml: the one named, else the first.
pub fn read(content: impl BufRead, wanted: Option<&str>) -> Result<Sheet, Complaint> {
    let mut reader = Reader::from_reader(content);
    reader.config_mut().expand_empty_elements = true;
    let mut read = Content::default();
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(unreadable)? {
            Event::Eof => break,
            Event::Start(element) => read.start(&element, wanted)?,
            Event::End(element) => read.end(element.name().0)?,
            Event::Text(text) => read.text(&text.xml10_content()),
            Event::CData(text) => read.text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let letter = reference.resolve_char_ref().map_err(unreadable)?.map(String::from);
                let named = || resolve_predefined_entity(&reference).map(str::to_owned);
                let text = letter.or_else(named).ok_or_else(|| unreadable("an unknown entity"))?;
                read.text(&text);
            }
            _ => {}
        }
    }
    match read.sheet {
        Some(sheet) => Ok(sheet),
        None => {
            let sheets: Vec<(&str, bool)> =
                read.sheets.iter().map(|(name, is_visible)| (name.as_str(), *is_visible)).collect();
            choose(&sheets, wanted)?;
            Err(unreadable("its sheet has no content"))
        }
    }
}

impl Content {
    fn start(&mut self, element: &BytesStart<'_>, wanted: Option<&str>) -> Result<(), Complaint> {
        match element.name().0 {
            "style:style" => self.style = attribute(element, "style:name")?,
            "style:table-properties" if attribute(element, "table:display")?.as_deref() == Some("false") => {
                self.hidden.extend(self.style.take());
            }
            "table:table" => self.table(element, wanted)?,
            _ if !self.is_wanted => {}
            "table:table-row" => {
                self.row_repeated = repeated(element, "table:number-rows-repeated")?;
                (self.column, self.cells) = (0, Vec::new());
            }
            "table:table-cell" | "table:covered-table-cell" => self.cell = Some(self.begin_cell(element)?),
            name => {
                let Some(cell) = &mut self.cell else { return Ok(()) };
                match name {
                    "office:annotation" => cell.beside += 1,
                    "text:p" if cell.beside == 0 => {
                        cell.text.push_str(if cell.paragraphs > 0 { "\n" } else { "" });
                        cell.paragraphs += 1;
                    }
                    "text:tab" => cell.text.push('\t'),
                    "text:line-break" => cell.text.push('\n'),
                    "text:s" => {
                        let count = repeated(element, "text:c")?.min(1_000);
                        (0..count).for_each(|_| cell.text.push(' '));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// A table begins; the first one that is wanted is read.
    fn table(&mut self, element: &BytesStart<'_>, wanted: Option<&str>) -> Result<(), Complaint> {
        let name = attribute(element, "table:name")?.unwrap_or_default();
        let style = attribute(element, "table:style-name")?.unwrap_or_default();
        let is_visible = !self.hidden.contains(&style);
        let is_wanted = wanted.map_or(self.sheets.is_empty() && is_visible, |wanted| wanted == name);
        self.sheets.push((name, is_visible));
        self.is_wanted = is_wanted && self.sheet.is_none();
        if self.is_wanted {
            self.sheet = Some(Sheet::default());
        }
        Ok(())
    }

    fn begin_cell(&self, element: &BytesStart<'_>) -> Result<Cell, Complaint> {
        let spans = |name| repeated(element, name).map(|span| span > 1);
        if spans("table:number-columns-spanned")? || spans("table:number-rows-spanned")? {
            return Err(merged_cells(self.row));
        }
        let mut cell = Cell {
            repeated: repeated(element, "table:number-columns-repeated")?,
            has_formula: attribute(element, "table:formula")?.is_some(),
            ..Cell::default()
        };
        match attribute(element, "office:value-type")?.as_deref() {
            Some("float" | "percentage" | "currency") => {
                let line = self.row.saturating_add(1);
                let value = attribute(element, "office:value")?.ok_or_else(|| no_value(line))?;
                let number: f64 = value.parse().map_err(unreadable)?;
                (cell.value, cell.is_number) = (Some(decimal(number, line)?), true);
            }
            Some("date") => cell.value = attribute(element, "office:date-value")?,
            Some("boolean") => cell.value = attribute(element, "office:boolean-value")?,
            Some("string") => cell.value = attribute(element, "office:string-value")?,
            _ => {}
        }
        Ok(cell)
    }

    fn text(&mut self, text: &str) {
        if let Some(cell) = self.cell.as_mut().filter(|cell| cell.beside == 0 && cell.paragraphs > 0) {
            cell.text.push_str(text);
        }
    }

    fn end(&mut self, name: &str) -> Result<(), Complaint> {
        match name {
            "office:annotation" => {
                if let Some(cell) = &mut self.cell {
                    cell.beside = cell.beside.saturating_sub(1);
                }
            }
            "table:table-cell" | "table:covered-table-cell" => self.end_cell()?,
            "table:table-row" if self.is_wanted => self.end_row()?,
            "table:table" => self.is_wanted = false,
            _ => {}
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), Complaint> {
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let value = cell.value.or_else(|| (cell.paragraphs > 0).then_some(cell.text));
        let after = self.column.saturating_add(cell.repeated);
        match value {
            None if cell.has_formula => return Err(no_value(self.row.saturating_add(1))),
            Some(value) if !value.is_empty() => {
                // One beyond the last column there can be is refused when it is added.
                let columns = self.column..after.min(COLUMNS_MAX + 1);
                self.cells.extend(columns.map(|column| (column, value.clone(), cell.is_number)));
            }
            _ => {}
        }
        self.column = after;
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), Complaint> {
        let cells = std::mem::take(&mut self.cells);
        if let (Some(sheet), false) = (&mut self.sheet, cells.is_empty()) {
            for at in 0..self.row_repeated {
                for (column, value, is_number) in &cells {
                    sheet.add(self.row.saturating_add(at), *column, value, *is_number)?;
                }
            }
        }
        self.row = self.row.saturating_add(self.row_repeated);
        Ok(())
    }
}
