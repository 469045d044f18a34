//! How much of a file may be held: text and places of rows take room before they are made (D22).

use super::parse_error::ParseError;

/// Bytes that a table uploaded to the page may take: of its text with what it repeats and shares, and of each row.
pub const UPLOAD_TABLE_BYTES_MAX: usize = 64 << 20;

/// The same for the command line, which is a process of its own.
pub const COMMAND_TABLE_BYTES_MAX: usize = 256 << 20;

/// What a row takes beside its text: its place, its line, and its key among those that are known.
pub const ROW_BYTES: usize = 64;

#[derive(Default)]
pub struct MemoryBudget {
    max: usize,
    taken: usize,
}

impl MemoryBudget {
    pub fn of(bytes_max: usize) -> MemoryBudget {
        MemoryBudget { max: bytes_max, taken: 0 }
    }

    /// Refuses bytes for which there is no room, without taking any.
    pub fn ask(&self, bytes: usize) -> Result<(), ParseError> {
        if bytes <= self.max - self.taken {
            return Ok(());
        }
        let mib = self.max >> 20;
        Err(ParseError::new(format!(
            "Ausgeschrieben ist die Tabelle größer als {mib} MiB; wiederholte Zellen und gemeinsame Texte zählen \
                 jedes Mal, jede Zeile {ROW_BYTES} Bytes. Bitte in mehrere Dateien aufteilen."
        )))
    }

    pub fn take(&mut self, bytes: usize) -> Result<(), ParseError> {
        self.ask(bytes)?;
        self.taken += bytes;
        Ok(())
    }
}
