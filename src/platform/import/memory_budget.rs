//! Bounds the memory that an imported file may take: text and row places are charged before they are
//! allocated (D22).

use super::parse_error::ParseError;

/// Bytes that a table uploaded to the web page may take: its text, with repeated cells and shared texts
/// written out, plus each row.
pub const UPLOAD_TABLE_BYTES_MAX: usize = 64 << 20;

/// The same for the command line, which is a process of its own.
pub const COMMAND_TABLE_BYTES_MAX: usize = 256 << 20;

/// Bytes charged per row besides its text: its place, its line, and its key among the known ones.
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

    /// Refuses if there is no room for these bytes; takes none.
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
