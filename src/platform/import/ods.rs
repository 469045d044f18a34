//! Reads a LibreOffice sheet: the cells of content.xml one after another, so that repeated cells are never
//! expanded beyond the limits of a sheet.

use std::collections::HashSet;
use std::io::BufRead;
use std::ops::Range;

use quick_xml::events::BytesStart;

use super::memory_budget::{MemoryBudget, ROW_BYTES};
use super::parse_error::ParseError;
use super::sheet::{COLUMNS_MAX, Sheet, choose, decimal, no_value, percentage};
use super::table::{RECORD_BYTES_MAX, cell_bytes, record_too_long};
use super::xml::{Piece, Pieces, attribute, unreadable};

#[derive(Default)]
struct Cell {
    value: Option<String>,
    is_number: bool,
    has_formula: bool,
    repeated: u32,
    text: String,
    paragraphs: usize,
    /// Nesting depth within annotations, whose text does not belong to the cell.
    beside: usize,
}

fn repeated(element: &BytesStart<'_>, name: &str) -> Result<u32, ParseError> {
    let times = attribute(element, name)?.map(|text| text.parse::<u32>().map_err(unreadable)).transpose()?;
    Ok(times.unwrap_or(1))
}

/// Whether the displayed text of a whole number is the number with leading zeros.
fn is_padded(shown: &str, value: &str) -> bool {
    shown.len() > value.len()
        && shown.bytes().chain(value.bytes()).all(|byte| byte.is_ascii_digit())
        && shown.trim_start_matches('0') == value.trim_start_matches('0')
}

/// A cell and the columns that repeat it.
struct Repeated {
    columns: Range<u32>,
    value: String,
    is_number: bool,
}

#[derive(Default)]
struct Content {
    hidden: HashSet<String>,
    style: Option<String>,
    /// Names of the tables so far and whether they are visible; below, whether each has a value.
    sheets: Vec<(String, bool)>,
    filled: Vec<bool>,
    own: String,
    is_hidden: bool,
    sheet: Sheet,
    is_found: bool,
    is_wanted: bool,
    row: u32,
    row_repeated: u32,
    cells: Vec<Repeated>,
    /// Bytes of the row with its repeated cells written out.
    row_bytes: usize,
    column: u32,
    cell: Option<Cell>,
}

/// Reads one sheet of content.xml: the named one, otherwise the first.
pub fn read(content: impl BufRead, wanted: Option<&str>, budget: MemoryBudget) -> Result<Sheet, ParseError> {
    let mut pieces = Pieces::of(content, &["table-cell", "covered-table-cell"]);
    let mut read = Content { sheet: Sheet::within(budget), ..Content::default() };
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Start(element) => read.start(&element, wanted)?,
            Piece::End(element) => read.end(element.name().0)?,
            Piece::Text(text) => read.text(&text),
            Piece::Other => {}
        }
    }
    if read.is_found {
        let names = read.sheets.iter().map(|(name, _)| name.as_str());
        read.sheet.set_others(names.zip(read.filled.iter().copied()), &read.own, wanted);
        return Ok(read.sheet);
    }
    let sheets: Vec<(&str, bool)> =
        read.sheets.iter().map(|(name, is_visible)| (name.as_str(), *is_visible)).collect();
    choose(&sheets, wanted)?;
    Err(unreadable("das Blatt hat keinen Inhalt"))
}

impl Content {
    fn start(&mut self, element: &BytesStart<'_>, wanted: Option<&str>) -> Result<(), ParseError> {
        match element.name().0 {
            "style:style" => self.style = attribute(element, "style:name")?,
            "style:table-properties" if attribute(element, "table:display")?.as_deref() == Some("false") => {
                if let Some(style) = self.style.take() {
                    self.sheet.budget.take(ROW_BYTES + style.len())?;
                    self.hidden.insert(style);
                }
            }
            "table:table" => self.table(element, wanted)?,
            "table:table-cell" if !self.is_wanted => {
                let is_filled = attribute(element, "office:value-type")?.is_some();
                self.filled.last_mut().into_iter().for_each(|filled| *filled |= is_filled);
            }
            _ if !self.is_wanted => {}
            "table:table-row" => {
                self.row_repeated = repeated(element, "table:number-rows-repeated")?;
                (self.column, self.cells, self.row_bytes) = (0, Vec::new(), 0);
                let visibility = attribute(element, "table:visibility")?;
                self.is_hidden = matches!(visibility.as_deref(), Some("collapse" | "filter"));
            }
            "table:table-cell" | "table:covered-table-cell" => self.cell = Some(self.begin_cell(element)?),
            name => self.within_cell(name, element)?,
        }
        Ok(())
    }

    fn within_cell(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), ParseError> {
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
        if cell.text.len() > RECORD_BYTES_MAX {
            return Err(record_too_long(self.row.saturating_add(1)));
        }
        Ok(())
    }

    /// Begins a table; the first wanted one is read.
    fn table(&mut self, element: &BytesStart<'_>, wanted: Option<&str>) -> Result<(), ParseError> {
        let name = attribute(element, "table:name")?.unwrap_or_default();
        let style = attribute(element, "table:style-name")?.unwrap_or_default();
        let is_visible = !self.hidden.contains(&style);
        let is_wanted = wanted.map_or(self.sheets.is_empty() && is_visible, |wanted| wanted == name);
        self.sheet.budget.take(ROW_BYTES + name.len())?;
        self.is_wanted = is_wanted && !self.is_found;
        if self.is_wanted {
            self.own.clone_from(&name);
        }
        self.sheets.push((name, is_visible));
        self.filled.push(false);
        self.is_found |= self.is_wanted;
        Ok(())
    }

    fn begin_cell(&mut self, element: &BytesStart<'_>) -> Result<Cell, ParseError> {
        let columns = repeated(element, "table:number-columns-spanned")?;
        let rows = repeated(element, "table:number-rows-spanned")?;
        if columns > 1 || rows > 1 {
            self.sheet.merge(self.row, self.row.saturating_add(rows.max(1) - 1));
        }
        let mut cell = Cell {
            repeated: repeated(element, "table:number-columns-repeated")?,
            has_formula: attribute(element, "table:formula")?.is_some(),
            ..Cell::default()
        };
        match attribute(element, "office:value-type")?.as_deref() {
            Some(of @ ("float" | "percentage" | "currency")) => {
                let line = self.row.saturating_add(1);
                let value = attribute(element, "office:value")?.ok_or_else(|| no_value(line))?;
                let number = decimal(value.parse().map_err(unreadable)?, line)?;
                let number = if of == "percentage" { percentage(&number) } else { number };
                (cell.value, cell.is_number) = (Some(number), true);
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

    fn end(&mut self, name: &str) -> Result<(), ParseError> {
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

    fn end_cell(&mut self) -> Result<(), ParseError> {
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let (value, is_number) = match cell.value {
            // A postcode is displayed with its leading zeros.
            Some(value) if cell.is_number && is_padded(&cell.text, &value) => (Some(cell.text), false),
            Some(value) => (Some(value), cell.is_number),
            None => ((cell.paragraphs > 0).then_some(cell.text), false),
        };
        let after = self.column.saturating_add(cell.repeated);
        match value {
            None if cell.has_formula => return Err(no_value(self.row.saturating_add(1))),
            Some(value) if !value.is_empty() => {
                let columns = self.column..after;
                let bytes = (cell_bytes(&value) + 1).saturating_mul(columns.len());
                self.row_bytes = self.row_bytes.saturating_add(bytes);
                if after > COLUMNS_MAX || self.row_bytes > RECORD_BYTES_MAX {
                    return Err(record_too_long(self.row.saturating_add(1)));
                }
                if !columns.is_empty() {
                    self.cells.push(Repeated { columns, value, is_number });
                }
            }
            _ => {}
        }
        self.column = after;
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), ParseError> {
        let cells = std::mem::take(&mut self.cells);
        if !cells.is_empty() {
            let row_bytes = ROW_BYTES + self.row_bytes;
            self.sheet.budget.ask(row_bytes.saturating_mul(self.row_repeated as usize))?;
            for at in 0..self.row_repeated {
                if self.is_hidden {
                    self.sheet.budget.take(size_of::<u32>())?;
                    self.sheet.aside.hidden.push(self.row.saturating_add(at).saturating_add(1));
                }
                for Repeated { columns, value, is_number } in &cells {
                    for column in columns.clone() {
                        self.sheet.add(self.row.saturating_add(at), column, value, *is_number)?;
                    }
                }
            }
        }
        self.row = self.row.saturating_add(self.row_repeated);
        Ok(())
    }
}
