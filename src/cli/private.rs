//! Files for their owner alone: secrets that a command hands out.

use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::Path;

use super::terminal::Terminal;
use crate::db::files::private_options;

/// Creates a file for its owner alone; one that is there already stays.
pub fn create_private(path: &Path) -> Result<File, String> {
    let file = private_options().write(true).create_new(true).open(path);
    file.map_err(|error| unwritable(path, &error))
}

pub fn unwritable(path: &Path, error: &Error) -> String {
    match error.kind() {
        ErrorKind::AlreadyExists => format!("{} is there already: name another file", path.display()),
        _ => format!("{} cannot be written: {error}", path.display()),
    }
}

pub fn write_private(path: &Path, text: &str) -> Result<(), String> {
    let mut file = create_private(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| unwritable(path, &error))
}

/// Says what to do where the secret on stdout went to a file that others may read.
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
                "Others on this machine may read the file that it was written to (mode {mode:o}): chmod 600 that file. \
                 With --out FILE instead of > FILE nobody else ever can."
            ));
        }
    }
}
