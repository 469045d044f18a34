//! Files readable by their owner alone: secrets that a command hands out.

use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;

use super::terminal::Terminal;
use crate::platform::db::file::files::{as_whom, folder_of, private_options, why};

/// Creates a file for its owner alone; never overwrites one.
pub fn create_private(path: &Path) -> Result<File, String> {
    let file = private_options().write(true).create_new(true).open(path);
    file.map_err(|error| unwritable(path, &error))
}

pub fn unwritable(path: &Path, error: &Error) -> String {
    let (file, why) = (path.display(), why(path, error) + &as_whom(folder_of(path), error));
    match error.kind() {
        ErrorKind::AlreadyExists => format!("{file} gibt es schon: eine andere Datei nennen"),
        _ => format!("{file} kann nicht geschrieben werden: {why}"),
    }
}

pub fn write_private(path: &Path, text: &str) -> Result<(), String> {
    let mut file = create_private(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| unwritable(path, &error))
}

/// Warns if the secret on stdout went to a file that others may read, and says what to do.
#[cfg_attr(not(unix), allow(unused_variables))]
pub fn warn_of_readers(terminal: &Terminal) {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::PermissionsExt;
        let stdout = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
        let Ok(metadata) = stdout.and_then(|file| file.metadata()) else { return };
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_file() && mode & 0o077 != 0 {
            terminal.say(&format!(
                "Die Datei, in die er geschrieben wurde, dürfen andere auf diesem Rechner lesen (Rechte \
                 {mode:o}): chmod 600. Mit --out DATEI statt > DATEI kann das nie jemand."
            ));
        }
    }
}
