//! Spreadsheets: .xlsx cell by cell, .ods by [`super::ods`] (D22). A zip is looked at before it is unpacked.

use std::io::{self, Cursor, Read};

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx};
use zip::ZipArchive;

use super::complaint::Complaint;
use super::ods;
use super::sheet::{Sheet, choose, decimal, merged_cells, no_value};

/// Largest spreadsheet once it is unpacked, in bytes.
const UNPACKED_BYTES_MAX: u64 = 512 << 20;

/// How many times larger than itself a zip may become, beyond the first [`RATIO_FREE_BYTES`] bytes.
const UNPACKED_RATIO_MAX: u64 = 200;

const RATIO_FREE_BYTES: u64 = 32 << 20;

pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

pub fn read(bytes: &[u8], wanted: Option<&str>) -> Result<Sheet, Complaint> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
    refuse_bomb(&mut zip, bytes.len() as u64)?;
    match zip.by_name("content.xml") {
        Ok(content) => ods::read(io::BufReader::new(content), wanted),
        Err(_) => xlsx(bytes, wanted),
    }
}

fn unreadable(error: impl std::fmt::Display) -> Complaint {
    Complaint::new(
        format!("this is no .xlsx or .ods that can be read: {error}"),
        format!("Diese .xlsx oder .ods ist nicht zu lesen. Bitte neu speichern. ({error})"),
    )
}

/// Refuses what would become too large, by what the zip says and then by what really comes out.
fn refuse_bomb(zip: &mut ZipArchive<Cursor<&[u8]>>, packed: u64) -> Result<(), Complaint> {
    let limit = UNPACKED_BYTES_MAX.min(packed.saturating_mul(UNPACKED_RATIO_MAX).max(RATIO_FREE_BYTES));
    let too_large = || {
        let mib = limit >> 20;
        Complaint::new(
            format!("unpacked it is larger than {mib} MiB, which {packed} bytes of a spreadsheet are not"),
            format!(
                "Ausgepackt ist die Datei größer als {mib} MiB; so viel steckt nicht in {packed} Bytes einer Tabelle."
            ),
        )
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

fn xlsx(bytes: &[u8], wanted: Option<&str>) -> Result<Sheet, Complaint> {
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(unreadable)?;
    let metadata = book.sheets_metadata().to_vec();
    let sheets: Vec<(&str, bool)> = metadata
        .iter()
        .filter(|sheet| sheet.typ == SheetType::WorkSheet)
        .map(|sheet| (sheet.name.as_str(), sheet.visible == SheetVisible::Visible))
        .collect();
    let name = choose(&sheets, wanted)?;
    let merged = book.merge_cells_by_sheet_name(name).map_err(unreadable)?;
    if let Some(first) = merged.first() {
        return Err(merged_cells(first.start.0));
    }
    let mut sheet = Sheet::default();
    let mut cells = book.worksheet_cells_reader(name).map_err(unreadable)?;
    while let Some(cell) = cells.next_cell_with_formula().map_err(unreadable)? {
        let (row, column) = cell.pos;
        let line = row.saturating_add(1);
        match cell.value {
            DataRef::Empty if cell.formula.is_some() => return Err(no_value(line)),
            DataRef::Empty => {}
            DataRef::Int(number) => sheet.add(row, column, &number.to_string(), true)?,
            DataRef::Float(number) => sheet.add(row, column, &decimal(number, line)?, true)?,
            DataRef::String(text) => sheet.add(row, column, &text, false)?,
            DataRef::SharedString(text) => sheet.add(row, column, text, false)?,
            DataRef::Bool(value) => sheet.add(row, column, if value { "true" } else { "false" }, false)?,
            DataRef::Error(error) => sheet.add(row, column, &error.to_string(), false)?,
            DataRef::DateTime(day) => sheet.add(row, column, &moment(day, line)?, false)?,
            DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
                sheet.add(row, column, &text, false)?
            }
        }
    }
    Ok(sheet)
}

fn moment(day: ExcelDateTime, line: u32) -> Result<String, Complaint> {
    if !day.is_datetime() {
        return Err(Complaint::at_line(
            line,
            "a length of time stands there: write a number or a text",
            "eine Zeitdauer; bitte als Zahl oder Text schreiben",
        ));
    }
    let (year, month, date, hour, minute, second, _) = day.to_ymd_hms_milli();
    Ok(match (hour, minute, second) {
        (0, 0, 0) => format!("{year:04}-{month:02}-{date:02}"),
        _ => format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}"),
    })
}
