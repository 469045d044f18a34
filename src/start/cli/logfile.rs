//! The log file of a program whose stderr nobody sees (a Windows service): kept beside the database, with
//! limited size.

use std::fs::{File, rename};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

/// Maximum size in bytes; a full file is renamed and replaces the previous old one.
const LOG_BYTES_MAX: u64 = 10 << 20;

pub struct LogFile {
    path: PathBuf,
    older: PathBuf,
    file: File,
    written: u64,
    at_most: u64,
}

impl LogFile {
    /// Opens `partnerd.db.log` beside `partnerd.db`, and appends to it.
    pub fn beside(database: &Path) -> Result<LogFile> {
        let named = |ending: &str| {
            let mut name = database.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let (path, older) = (named(".log"), named(".older.log"));
        let file = append(&path)?;
        Ok(LogFile { written: file.metadata()?.len(), path, older, file, at_most: LOG_BYTES_MAX })
    }
}

fn append(path: &Path) -> Result<File> {
    File::options().create(true).append(true).open(path)
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        if self.written >= self.at_most {
            self.written = 0;
            // If another process holds the file open, renaming is retried after as many bytes again.
            if rename(&self.path, &self.older).is_ok() {
                self.file = append(&self.path)?;
            }
        }
        let length = self.file.write(line)?;
        self.written = self.written.saturating_add(length as u64);
        Ok(length)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_put_aside_when_it_is_full_and_never_cut_off() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("partnerd.db");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        let write = |lines: std::ops::Range<u32>| {
            let mut log = LogFile { at_most: 40, ..LogFile::beside(&database).unwrap() };
            lines.for_each(|at| writeln!(log, "line {at:04}").unwrap());
        };
        write(0..3);
        assert_eq!(
            (read("partnerd.db.log").lines().count(), read("partnerd.db.older.log").as_str()),
            (3, "")
        );
        // A second start continues where the first one ended.
        write(3..5);
        assert_eq!(read("partnerd.db.log").lines().last(), Some("line 0004"));
        assert_eq!(read("partnerd.db.older.log").lines().last(), Some("line 0003"));
        write(5..100);
        let all = read("partnerd.db.older.log") + &read("partnerd.db.log");
        assert!(all.len() <= 80 && all.ends_with("line 0099\n"), "{all}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
