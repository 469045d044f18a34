//! Data files: CSV, JSON, spreadsheets, the export of a cash register.

use std::path::PathBuf;
use std::sync::OnceLock;

use partnerd::interface::imports;
use partnerd::platform::http::json::Json;
use partnerd::platform::import::file::Source;
use partnerd::platform::import::look;
use partnerd::platform::import::table::Scanner;
use partnerd::trade::kasse::dsfinvk;

use super::values::same;

/// Maximum unpacked size of a table: less than the page allows, so that a case ends soon.
pub const TABLE_BYTES_MAX: usize = 4 << 20;

/// Larger tables are not compared cell by cell.
const ROWS_MAX: usize = 300;

/// Compares the cells of a text, if it is a table, with those of another reader.
fn cells(bytes: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
    let text = text.trim_start_matches('\u{feff}');
    let mut theirs = csv::ReaderBuilder::new();
    let mut theirs = theirs.delimiter(b';').has_headers(false).flexible(true).from_reader(text.as_bytes());
    // The other reader does not count blank lines as records.
    let mut theirs = theirs.records().map(Result::unwrap).filter(|record| record.iter().ne([""]));
    let (mut scanner, mut cells) = (Scanner::new(text, b';'), Vec::new());
    while let Ok(Some(_)) = scanner.next(&mut cells) {
        if cells != [""] {
            let record = theirs.next().unwrap_or_default();
            same("cells", cells.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), record.iter().collect())?;
        }
    }
    Ok(())
}

/// Checks a file of some kind of import as far as possible without a database.
pub fn import(bytes: &[u8]) -> Result<(), String> {
    cells(bytes)?;
    let kinds: Vec<_> = imports::all().collect();
    let kind = kinds[bytes.len() % kinds.len()];
    let file = Source { bytes: bytes.to_vec(), sheet: None, encoding: None, bytes_max: TABLE_BYTES_MAX };
    let mut notes = String::new();
    let say = &mut |_: &str, said: String| notes.push_str(&said);
    let Ok(mut rows) = look::read(kind, file, |_| false, say) else { return Ok(()) };
    if rows.len() > ROWS_MAX {
        return Ok(());
    }
    let all_objects = (0..rows.len()).all(|at| matches!(rows.row(at), Json::Object(_)));
    same("rows are read again", all_objects, true)?;
    let Ok(mistakes) = look::judge(kind, &mut rows, None, say) else { return Ok(()) };
    same("notes steer the terminal", notes.chars().any(char::is_control), false)?;
    let said = mistakes.text().unwrap_or_default();
    same("steers the terminal", said.chars().any(|letter| letter.is_control() && letter != '\n'), false)?;
    if let Ok(groups) = kind.groups(&rows) {
        let grouped: usize = (0..groups.count()).map(|group| groups.rows(group).len()).sum();
        same("rows in groups", grouped, rows.len())?;
    }
    Ok(())
}

/// Reads the export of a cash register, from a file.
pub fn export(bytes: &[u8]) -> Result<(), String> {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let name = format!("export-{}.zip", std::process::id());
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
    });
    std::fs::write(path, bytes).unwrap();
    let read = dsfinvk::read(path);
    std::fs::remove_file(path).unwrap();
    let Ok(read) = read else { return Ok(()) };
    same("a receipt without lines", read.receipts.iter().any(|receipt| receipt.lines() == 0), false)
}
