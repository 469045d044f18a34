//! What commands say: results to stdout, everything else to stderr.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::ProgressBar;
use serde::Serialize;

use crate::failure::Failure;
use crate::rules::text::shown;

/// What a command came to: nothing to add, or a sentence why not.
pub type Outcome = Result<(), String>;

/// Where commands write.
pub struct Terminal {
    /// Results are wanted as JSON.
    pub json: bool,
}

impl Terminal {
    /// Writes a result to stdout; a closed pipe is no error.
    pub fn print(&self, line: &str) {
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    /// Writes a result that is one thing: as JSON where that was asked for, else as the text alone.
    pub fn result(&self, text: &str, json: &serde_json::Value) {
        self.print(&if self.json { json.to_string() } else { text.to_owned() });
    }

    /// Says something to a person. Names and labels of others may stand in it.
    pub fn say(&self, text: &str) {
        for line in text.split('\n') {
            let _ = writeln!(std::io::stderr(), "{}", shown(line));
        }
    }

    /// A line on a terminal that says what is being done; it vanishes when it is dropped.
    pub fn waiting(&self) -> Waiting {
        let is_shown = std::io::stderr().is_terminal();
        let bar = if is_shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.enable_steady_tick(Duration::from_millis(100));
        Waiting(bar)
    }

    /// Writes rows: as JSON where that was asked for, else as a table.
    pub fn rows<T: Serialize>(
        &self,
        header: &[&str],
        rows: &[T],
        cells: impl Fn(&T) -> Vec<String>,
    ) -> Outcome {
        if self.json {
            let json = serde_json::to_string_pretty(rows).map_err(|error| error.to_string())?;
            self.print(&json);
            return Ok(());
        }
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING).set_header(header.to_vec());
        // A terminal has an edge, a file has none.
        if std::io::stdout().is_terminal() {
            table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
        }
        let shown = |text: String| shown(&text).into_owned();
        table.add_rows(rows.iter().map(|row| cells(row).into_iter().map(shown)));
        self.print(&table.trim_fmt());
        Ok(())
    }
}

/// A line that says what is being done.
pub struct Waiting(ProgressBar);

impl Waiting {
    /// Says what is being done now.
    pub fn at(&self, step: &str) {
        self.0.set_message(step.to_owned());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A failure as one sentence for a person.
pub fn sentence(failure: Failure) -> String {
    match failure {
        Failure::Refused(refusal) => {
            let feld = refusal.feld.as_ref().map(|feld| format!("{feld}: ")).unwrap_or_default();
            format!("{feld}{} ({})", refusal.message, refusal.code.as_str())
        }
        Failure::Sql(error) => format!("the database says: {error}"),
        Failure::Busy(text) | Failure::Broken(text) => text,
    }
}
