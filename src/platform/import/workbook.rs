//! Spreadsheets: .xlsx by calamine, .ods by [`super::ods`] (D22). The zip is checked before it is unpacked,
//! and the parts of an .xlsx are checked before calamine reads them: calamine holds shared texts, styles and
//! names in memory without bounds, and trusts the sizes they declare.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType, Reader, SheetType, SheetVisible, Style, Xlsx};
use memchr::memmem;
use quick_xml::events::BytesStart;
use zip::{ZipArchive, ZipWriter};

use super::beside::{Beside, Part};
use super::memory_budget::{MemoryBudget, ROW_BYTES};
use super::ods;
use super::parse_error::ParseError;
use super::sheet::{SHEETS_MAX, Sheet, choose, decimal, no_value, percentage, too_many_sheets};
use super::table::excerpt;
use super::xml::{Piece, Pieces, attribute, unreadable};

/// Maximum parts of a spreadsheet: the index of a zip is read as a whole, and takes some hundred bytes for
/// each.
const PARTS_MAX: usize = 10_000;

/// The bytes with which each entry in the index of a zip begins.
const PART_MARK: &[u8] = b"PK\x01\x02";

/// Largest unpacked spreadsheet, in bytes.
const UNPACKED_BYTES_MAX: u64 = 512 << 20;

/// Maximum ratio of unpacked to packed size, beyond the first [`RATIO_FREE_BYTES`] bytes.
const UNPACKED_RATIO_MAX: u64 = 200;

const RATIO_FREE_BYTES: u64 = 32 << 20;

/// Elements of an .xlsx whose texts calamine concatenates.
const WHOLE: &[&str] = &["c", "si", "definedName"];

/// Elements of an .xlsx that calamine turns into list entries.
const ENTRIES: &[&str] = &["numFmt", "font", "fill", "border", "xf", "Relationship", "sheet", "definedName"];

/// Memory of a shared text besides its letters, in a list that doubles when it is full.
const TEXT_BYTES: usize = 2 * size_of::<String>();

/// Maximum memory of an entry besides its letters, in such a list.
const ENTRY_BYTES: usize = 2 * size_of::<Style>();

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The last day that Excel knows, 9999-12-31, counted from 1900.
const LAST_DAY: f64 = 2_958_465.0;

/// Offset in days of the 1904 date system.
const DAYS_UNTIL_1904: f64 = 1_462.0;

/// How a number is displayed, where that says what is meant.
#[derive(Clone, Copy)]
enum Display {
    /// With leading zeros up to this many digits, such as a postcode.
    Zeros(usize),
    Percent,
}

/// The position of such a number.
type Displayed = ((u32, u32), Display);

type Zip<'b> = ZipArchive<Cursor<&'b [u8]>>;

pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

pub fn read(bytes: &[u8], wanted: Option<&str>, budget: MemoryBudget) -> Result<Sheet, ParseError> {
    if memmem::find_iter(bytes, PART_MARK).nth(PARTS_MAX).is_some() {
        return Err(unreadable(format!("mehr als {PARTS_MAX} Teile")));
    }
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
    refuse_bomb(&mut zip, bytes.len() as u64)?;
    if let Ok(content) = zip.by_name("content.xml") {
        return ods::read(BufReader::new(content), wanted, budget);
    }
    xlsx(&mut zip, wanted, budget)
}

/// Refuses a file that unpacks to too much, first by the declared sizes, then by the real ones.
fn refuse_bomb(zip: &mut Zip<'_>, packed: u64) -> Result<(), ParseError> {
    let limit = UNPACKED_BYTES_MAX.min(packed.saturating_mul(UNPACKED_RATIO_MAX).max(RATIO_FREE_BYTES));
    let too_large = || {
        let mib = limit >> 20;
        ParseError::new(format!(
            "Ausgepackt ist die Datei größer als {mib} MiB; so viel steckt nicht in {packed} Bytes einer Tabelle."
        ))
    };
    let mut left = limit;
    for at in 0..zip.len() {
        let file = zip.by_index(at).map_err(unreadable)?;
        left = left.checked_sub(file.size()).ok_or_else(too_large)?;
    }
    let mut left = limit;
    for at in 0..zip.len() {
        let file = zip.by_index(at).map_err(unreadable)?;
        let unpacked = io::copy(&mut file.take(left + 1), &mut io::sink()).map_err(unreadable)?;
        left = left.checked_sub(unpacked).ok_or_else(too_large)?;
    }
    Ok(())
}

fn xlsx(zip: &mut Zip<'_>, wanted: Option<&str>, mut budget: MemoryBudget) -> Result<Sheet, ParseError> {
    let (parts, beside) = looked_at(zip, &mut budget)?;
    // Cell references like ZZZZZZZZ1 overflow in calamine, which panics.
    let read = catch_unwind(AssertUnwindSafe(|| cells(&parts, &beside, wanted, budget)));
    read.unwrap_or_else(|_| Err(unreadable("eine Zelle an einer Stelle, die kein Blatt hat")))
}

/// Builds a zip of the parts that calamine may read. Omits pictures and parts added by other programs;
/// everything else is XML of bounded pieces, with memory charged for what calamine holds of it.
fn looked_at(zip: &mut Zip<'_>, budget: &mut MemoryBudget) -> Result<(Vec<u8>, Beside), ParseError> {
    let mut beside = Beside::default();
    let mut parts = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..zip.len() {
        let name = zip.by_index_raw(at).map_err(unreadable)?.name().map_err(unreadable)?.to_ascii_lowercase();
        let is_xml = name.ends_with(".xml") || name.ends_with(".rels");
        if !is_xml || name.starts_with("customxml") {
            continue;
        }
        let part = look_at(BufReader::new(zip.by_index(at).map_err(unreadable)?), budget)?;
        beside.add(name, part);
        parts.raw_copy_file(zip.by_index_raw(at).map_err(unreadable)?).map_err(unreadable)?;
    }
    Ok((parts.finish().map_err(unreadable)?.into_inner(), beside))
}

fn look_at(part: impl BufRead, budget: &mut MemoryBudget) -> Result<Part, ParseError> {
    let mut pieces = Pieces::of(part, WHOLE);
    let mut look = Look::default();
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Start(element) => look.start(&element, budget)?,
            Piece::Text(text) if look.is_held => budget.take(text.len())?,
            // calamine reads an invalid number as 0.
            Piece::Text(text) if look.is_index && text.parse::<u32>().is_err() => {
                return Err(unreadable(format!("kein gemeinsamer Text {}", excerpt(&text))));
            }
            Piece::End(_) => look.is_index = false,
            _ => {}
        }
    }
    Ok(look.part)
}

#[derive(Default)]
struct Look {
    /// Bytes of the longest name of a font or format, which each style repeats.
    repeated: usize,
    sheets: usize,
    /// Whether calamine holds the following texts in memory.
    is_held: bool,
    /// Whether the cell has a shared text; below, whether the index of that text follows.
    is_shared: bool,
    is_index: bool,
    part: Part,
}

impl Look {
    fn start(&mut self, element: &BytesStart<'_>, budget: &mut MemoryBudget) -> Result<(), ParseError> {
        let name = element.local_name();
        self.part.start(element, budget)?;
        match name.as_ref() {
            "c" => self.is_shared = attribute(element, "t")?.as_deref() == Some("s"),
            "v" => self.is_index = self.is_shared,
            "sst" => {
                let count = attribute(element, "uniqueCount")?.and_then(|count| count.parse().ok());
                budget.ask(size_of::<String>().saturating_mul(count.unwrap_or_default()))?;
            }
            "si" => {
                self.is_held = true;
                budget.take(TEXT_BYTES)?;
            }
            "mergeCell" => budget.take(ROW_BYTES)?,
            "numFmt" | "name" => self.repeated = self.repeated.max(element.len()),
            "definedName" => self.is_held = true,
            "sheet" if self.sheets >= SHEETS_MAX => return Err(too_many_sheets()),
            "sheet" => self.sheets += 1,
            _ => {}
        }
        if ENTRIES.contains(&name.as_ref()) {
            budget.take(ENTRY_BYTES + 2 * self.repeated.max(element.len()))?;
        }
        Ok(())
    }
}

fn cells(
    parts: &[u8],
    beside: &Beside,
    wanted: Option<&str>,
    budget: MemoryBudget,
) -> Result<Sheet, ParseError> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(parts)).map_err(unreadable)?;
    let mut sheet = Sheet::within(budget);
    let name = chosen(&mut book, beside, wanted, &mut sheet)?;
    let is_1904 = sheet.is_1904;
    let displayed = displayed(&mut book, &name, &mut sheet.budget)?;
    let mut displayed = displayed.iter().peekable();
    let mut cells = book.worksheet_cells_reader(&name).map_err(unreadable)?;
    // Formulas are left as they stand: expanded for each cell they could have any number of letters.
    while let Some(cell) = cells.next_cell_with_formula_metadata().map_err(unreadable)? {
        let (row, column) = cell.pos;
        let line = row.saturating_add(1);
        match cell.value {
            DataRef::Empty if cell.formula.is_some() => return Err(no_value(line)),
            DataRef::Empty => {}
            DataRef::Int(_) | DataRef::Float(_) => {
                let display = displayed.next_if(|displayed| displayed.0 == cell.pos).map(|found| found.1);
                let (digits, is_padded) = number(&cell.value, display, line)?;
                sheet.add(row, column, &digits, !is_padded)?;
            }
            DataRef::String(text) => sheet.add(row, column, &text, false)?,
            DataRef::SharedString(text) => sheet.add(row, column, text, false)?,
            DataRef::Bool(value) => sheet.add(row, column, if value { "true" } else { "false" }, false)?,
            DataRef::Error(error) => sheet.add(row, column, &error.to_string(), false)?,
            DataRef::DateTime(day) => sheet.add(row, column, &moment(day, is_1904, line)?, false)?,
            DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
                sheet.add(row, column, &text, false)?
            }
        }
    }
    Ok(sheet)
}

/// Returns the name of the sheet to read; copies what the workbook says about it into `sheet`.
fn chosen(
    book: &mut Xlsx<Cursor<&[u8]>>,
    beside: &Beside,
    wanted: Option<&str>,
    sheet: &mut Sheet,
) -> Result<String, ParseError> {
    let metadata = book.sheets_metadata().to_vec();
    let sheets: Vec<(&str, bool)> = metadata
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .map(|sheet| (sheet.name.as_str(), sheet.visible == SheetVisible::Visible))
        .collect();
    let name = choose(&sheets, wanted)?;
    let merged = book.merge_cells_by_sheet_name(name).map_err(unreadable)?;
    merged.iter().for_each(|cells| sheet.merge(cells.start.0, cells.end.0));
    sheet.is_1904 = book.has_1904_epoch();
    sheet.aside.hidden = beside.of_sheet(name).map_or_else(Vec::new, |part| part.hidden.clone());
    let is_filled = |name: &str| beside.of_sheet(name).is_some_and(|part| part.is_filled);
    sheet.set_others(sheets.iter().map(|(other, _)| (*other, is_filled(other))), name, wanted);
    Ok(name.to_owned())
}

/// Formats a number as it is displayed; returns whether leading zeros were added.
fn number(value: &DataRef<'_>, display: Option<Display>, line: u32) -> Result<(String, bool), ParseError> {
    let number = match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => decimal(*number, line)?,
        _ => String::new(),
    };
    Ok(match display {
        Some(Display::Zeros(width))
            if number.len() < width && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            (format!("{number:0>width$}"), true)
        }
        Some(Display::Percent) => (percentage(&number), false),
        _ => (number, false),
    })
}

/// Returns the numbers of a sheet whose display says what is meant.
fn displayed(
    book: &mut Xlsx<Cursor<&[u8]>>,
    name: &str,
    budget: &mut MemoryBudget,
) -> Result<Vec<Displayed>, ParseError> {
    let mut cells = book.worksheet_cells_reader(name).map_err(unreadable)?;
    let format = |style: &Style| style.number_format.as_ref().and_then(|format| display(&format.format_code));
    let displays: Vec<Option<Display>> = cells.styles().iter().map(format).collect();
    let mut displayed = Vec::new();
    if displays.iter().all(Option::is_none) {
        return Ok(displayed);
    }
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(unreadable)? {
        let is_number = matches!(cell.get_value(), DataRef::Int(_) | DataRef::Float(_));
        if let Some(display) = displays.get(style).copied().flatten().filter(|_| is_number) {
            budget.take(size_of::<Displayed>())?;
            displayed.push((cell.get_position(), display));
        }
    }
    Ok(displayed)
}

fn display(format: &str) -> Option<Display> {
    match zeros(format) {
        0 => is_percent(format).then_some(Display::Percent),
        digits => Some(Display::Zeros(digits)),
    }
}

/// Whether a format shows a hundredfold: it has a per cent sign that is no text (`0%`, `0.0 %`, not `0" %"`).
fn is_percent(format: &str) -> bool {
    let (mut letters, mut is_quoted) = (format.chars(), false);
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' | '_' | '*' if !is_quoted => drop(letters.next()),
            '%' if !is_quoted => return true,
            _ => {}
        }
    }
    false
}

/// Returns the minimum digits of a format such as 00000, `[$-407]00000` or "D-"00000; 0 for other formats.
fn zeros(format: &str) -> usize {
    let behind =
        |text: &str| ["]", "\""].iter().filter_map(|end| text.rfind(end)).max().map_or(0, |at| at + 1);
    let digits = format.get(behind(format)..).unwrap_or_default().trim_start_matches(['\\', '-', ' ']);
    let is_such = digits.len() >= 4 && digits.len() <= 18 && digits.bytes().all(|byte| byte == b'0');
    if is_such { digits.len() } else { 0 }
}

/// Formats a day, or a day and a time rounded to the second.
fn moment(day: ExcelDateTime, is_1904: bool, line: u32) -> Result<String, ParseError> {
    if !day.is_datetime() {
        return Err(ParseError::at_line(line, "eine Zeitdauer; bitte als Zahl oder Text schreiben."));
    }
    let days = day.as_f64();
    let last = if is_1904 { LAST_DAY - DAYS_UNTIL_1904 } else { LAST_DAY };
    if !(0.0..=last).contains(&days) {
        return Err(ParseError::at_line(
            line,
            format!("{days} ist als Datum formatiert, aber kein Tag; bitte als Zahl formatieren."),
        ));
    }
    let days = (days * SECONDS_PER_DAY).round() / SECONDS_PER_DAY;
    let day = ExcelDateTime::new(days, ExcelDateTimeType::DateTime, is_1904);
    let (year, month, date, hour, minute, second, _) = day.to_ymd_hms_milli();
    Ok(match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{date:02}"),
        _ => format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_shows_a_hundredfold_by_its_own_sign_alone() {
        for format in ["0%", "0.00%", "0.0 %", "[Red]-0%", "#,##0.0\\ %", "0%;-0%"] {
            assert!(is_percent(format), "{format}");
        }
        for format in ["General", "0.00", "0\" %\"", "0\\%", "00000", "0_%"] {
            assert!(!is_percent(format), "{format}");
        }
    }

    #[test]
    fn days_are_counted_as_excel_does() {
        let moments = [
            (1.0, false, "1900-01-01"),
            (59.0, false, "1900-02-28"),
            (61.0, false, "1900-03-01"),
            (46_351.0, false, "2026-11-25"),
            (46_351.520_833_333_3, false, "2026-11-25T12:30:00"),
            (46_350.999_999_99, false, "2026-11-25"),
            (44_889.0, true, "2026-11-25"),
            (2_958_465.0, false, "9999-12-31"),
            (2_957_003.0, true, "9999-12-31"),
        ];
        let read = |days, is_1904| {
            moment(ExcelDateTime::new(days, ExcelDateTimeType::DateTime, is_1904), is_1904, 1)
        };
        for (days, is_1904, expected) in moments {
            assert_eq!(read(days, is_1904).unwrap(), expected, "{days}");
        }
        for days in [-1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert!(read(days, false).is_err(), "{days}");
        }
        assert!(read(2_957_004.0, true).is_err());
    }
}
