//! `import KIND --template FILE`: writes a file to fill in (D22).

use std::io::Write;
use std::path::Path;

use serde_json::json;

use crate::interface::description::vorlagen::columns;
use crate::office::buchhaltung;
use crate::platform::import::Import;
use crate::rules::datev::Rahmen;
use crate::start::cli::private::{create_private, unwritable};
use crate::start::cli::terminal::{Outcome, Terminal};

/// Writes the accounts that a chart of accounts proposes.
pub fn propose(rahmen: Rahmen, path: &Path, terminal: &Terminal) -> Outcome {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("csv")) {
        return Err(format!("{}: ein Vorschlag endet auf .csv", path.display()).into());
    }
    let mut file = create_private(path)?;
    let written = file.write_all(buchhaltung::proposal(rahmen).as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| unwritable(path, &error))?;
    terminal.say(
        "Der Steuerberater liest den Vorschlag, bevor er importiert wird: welche Konten gelten, sagt er.",
    );
    let path = path.display().to_string();
    terminal.result(&path, &json!({"template": path}));
    Ok(())
}

pub fn write(import: &Import, path: &Path, terminal: &Terminal) -> Outcome {
    let cannot = |error| unwritable(path, &error);
    let columns = columns(import);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let bytes = match ending.as_deref() {
        Some("csv") => columns.csv().into_bytes(),
        Some("xlsx") => columns.xlsx().map_err(cannot)?,
        _ => return Err(format!("{}: eine Vorlage endet auf .csv oder .xlsx", path.display()).into()),
    };
    let mut file = create_private(path)?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(cannot)?;
    terminal.say(
        "Für jeden Datensatz eine Zeile ausfüllen. Die Zeile mit BEISPIEL zeigt, was in die Spalten gehört; der Import \
         lässt sie aus und sagt es.",
    );
    let path = path.display().to_string();
    terminal.result(&path, &json!({"template": path}));
    Ok(())
}
