//! Output of commands: results to stdout, everything else to stderr.

use std::error::Error;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressFinish};
use rusqlite::ErrorCode;
use serde::Serialize;
use terminal_size::terminal_size_of;

use super::layout::layout;
use crate::platform::db::file::german::cause_in_german;
use crate::platform::failure::{self, Failure};
use crate::rules::changed::Changed;
use crate::rules::text::shown;

/// Result of a command, or the reason of its failure, which [`sentence`] puts into words.
pub type Outcome<T = ()> = Result<T, Box<dyn Error>>;

pub struct Terminal {
    pub json: bool,
    /// What was written to stdout and stderr, where the command runs inside another program (a test); else
    /// none, and both go to those of the process.
    captured: Option<Mutex<[Vec<u8>; 2]>>,
}

/// stdout or stderr of a command.
struct Stream<'t> {
    terminal: &'t Terminal,
    is_error: bool,
}

impl Write for Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match (&self.terminal.captured, self.is_error) {
            (Some(captured), is_error) => {
                let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
                captured[usize::from(is_error)].write(bytes)
            }
            (None, false) => stdout().write(bytes),
            (None, true) => stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match (&self.terminal.captured, self.is_error) {
            (None, false) => stdout().flush(),
            _ => Ok(()),
        }
    }
}

impl Terminal {
    /// Writes to the streams of the process.
    pub fn of_process(json: bool) -> Terminal {
        Terminal { json, captured: None }
    }

    /// Keeps what is written in memory.
    pub fn in_memory(json: bool) -> Terminal {
        Terminal { json, captured: Some(Mutex::default()) }
    }

    /// Returns what was written to stdout and to stderr.
    pub fn into_captured(self) -> [Vec<u8>; 2] {
        self.captured.map_or_else(Default::default, |captured| {
            captured.into_inner().unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Whether the command has the process to itself, with its signals and its log.
    pub fn is_of_process(&self) -> bool {
        self.captured.is_none()
    }

    pub fn stdout(&self) -> impl Write {
        Stream { terminal: self, is_error: false }
    }

    pub fn stderr(&self) -> impl Write {
        Stream { terminal: self, is_error: true }
    }

    /// Whether somebody sees stdout in a window.
    pub fn shows_stdout(&self) -> bool {
        self.is_of_process() && stdout().is_terminal()
    }

    /// Whether somebody sees stderr in a window.
    pub fn shows_stderr(&self) -> bool {
        self.is_of_process() && stderr().is_terminal()
    }

    /// Writes a result to stdout; ignores a closed pipe.
    pub fn print(&self, line: &str) {
        let _ = writeln!(self.stdout(), "{line}");
    }

    /// Writes a single result: as JSON if requested, else as plain text.
    pub fn result(&self, text: &str, json: &serde_json::Value) {
        self.print(&if self.json { json.to_string() } else { text.to_owned() });
    }

    /// Says something to a person, with control characters escaped: the text may contain names and
    /// labels given by others.
    pub fn say(&self, text: &str) {
        for line in text.split('\n') {
            let _ = writeln!(self.stderr(), "{}", shown(line));
        }
    }

    /// Returns a spinner that is shown until it is dropped.
    pub fn waiting(&self) -> ProgressBar {
        let is_shown = self.shows_stderr();
        let bar = if is_shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.enable_steady_tick(Duration::from_millis(100));
        bar.with_finish(ProgressFinish::AndClear)
    }

    /// Shows the current step of `work` while it runs.
    pub fn step_by_step<T>(&self, work: impl FnOnce(&dyn Fn(&str) -> failure::Result<()>) -> T) -> T {
        let waiting = self.waiting();
        work(&|step| {
            waiting.set_message(step.to_owned());
            Ok(())
        })
    }

    /// Writes rows: as JSON if requested, else as a table.
    pub fn rows<T: Serialize>(
        &self,
        header: &[&str],
        rows: &[T],
        cells: impl Fn(&T) -> Vec<String>,
    ) -> Outcome {
        if self.json {
            self.print(&serde_json::to_string_pretty(rows)?);
            return Ok(());
        }
        let shown = |text: String| shown(&text).into_owned();
        let cells: Vec<Vec<String>> =
            rows.iter().map(|row| cells(row).into_iter().map(shown).collect()).collect();
        let width = if self.is_of_process() { width() } else { None };
        self.print(&layout(header, &cells, width));
        Ok(())
    }

    pub fn say_changes(&self, changed: &[Changed]) {
        if changed.is_empty() {
            self.say("Nichts hat sich geändert: es war schon so.");
        }
        changed.iter().for_each(|change| self.say(&change.to_string()));
    }
}

/// Returns the width of stdout in characters; `None` if it is unlimited, as in a file. Falls back to COLUMNS,
/// which some shells set.
fn width() -> Option<usize> {
    let of_terminal = terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0));
    of_terminal.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok()).filter(|width| *width > 0)
}

/// Says why a command failed, in one sentence for a person; a rule is quoted on the next line.
pub fn sentence(error: Box<dyn Error>) -> String {
    let failure = match error.downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(error) => match error.downcast::<rusqlite::Error>() {
            Ok(error) => Failure::Sql(*error),
            Err(error) => return cause_in_german(&*error).unwrap_or_else(|| error.to_string()),
        },
    };
    match failure {
        Failure::Refused(refusal) => {
            let feld = refusal.feld.as_ref().map(|feld| format!("{feld}: ")).unwrap_or_default();
            // The message quotes a rule of the interface, so it gets its own line.
            format!("{feld}abgelehnt mit {}:\n  {}", refusal.code.as_str(), refusal.message)
        }
        other => other.in_german(),
    }
}

/// Whether a command failed because the database could not read or write its files.
pub fn is_of_disk(error: &(dyn Error + 'static)) -> bool {
    let sql = match error.downcast_ref::<Failure>() {
        Some(Failure::Sql(error)) => Some(error),
        _ => error.downcast_ref::<rusqlite::Error>(),
    };
    let code = sql.and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure | ErrorCode::CannotOpen))
}
