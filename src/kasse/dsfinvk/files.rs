//! The files of an export: in a folder, or in a zip.

use std::error::Error;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::db::german::cause_in_german;
use crate::import::file::{self, decode};

/// Largest size in bytes of the files together, unpacked: a busy register has 100 MiB a year.
const EXPORT_BYTES_MAX: u64 = 256 << 20;

const FOLDER_DEPTH_MAX: usize = 3;

pub struct Files {
    place: String,
    texts: Vec<(&'static str, String)>,
}

impl Files {
    /// Reads those of `names` that are in the folder or the zip; together they are no larger than
    /// [`EXPORT_BYTES_MAX`], also unpacked.
    pub fn open(path: &Path, names: &[&'static str]) -> Result<Files, String> {
        let mut files = Files { place: path.display().to_string(), texts: Vec::new() };
        let mut left = EXPORT_BYTES_MAX;
        if path.is_dir() {
            for path in files_below(path, FOLDER_DEPTH_MAX).map_err(|error| files.unreadable(&error))? {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if let Some(name) = known(&name, names) {
                    files.add(name, file::open(&path)?, &mut left)?;
                }
            }
            return Ok(files);
        }
        let mut archive = ZipArchive::new(file::open(path)?).map_err(|error| files.unreadable(&error))?;
        for at in 0..archive.len() {
            let entry = archive.by_index(at).map_err(|error| files.unreadable(&error))?;
            let path = entry.name().map_err(|error| files.unreadable(&error))?.into_owned();
            if let Some(name) = known(path.rsplit(['/', '\\']).next().unwrap_or_default(), names) {
                files.add(name, entry, &mut left)?;
            }
        }
        Ok(files)
    }

    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.optional(name).ok_or_else(|| format!("in {} fehlt die Datei {name}", self.place))
    }

    /// The text of a file that a register may leave out when it is empty.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    fn add(&mut self, name: &'static str, file: impl Read, left: &mut u64) -> Result<(), String> {
        if self.optional(name).is_some() {
            return Err(format!(
                "{} hat zwei Dateien {name}: bitte einen Export nach dem anderen importieren",
                self.place
            ));
        }
        let mut bytes = Vec::new();
        let read = file.take(*left + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| self.unreadable(&error))?;
        *left = left.checked_sub(read as u64).ok_or_else(|| {
            format!("die Dateien in {} sind zusammen größer als {} MiB", self.place, EXPORT_BYTES_MAX >> 20)
        })?;
        let text = decode(bytes).map_err(|complaint| format!("{name}: {complaint}"))?;
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        self.texts.push((name, text));
        Ok(())
    }

    fn unreadable(&self, error: &(dyn Error + 'static)) -> String {
        let why = cause_in_german(error).unwrap_or_else(|| format!("darin stimmt etwas nicht ({error})"));
        format!("{} ist weder als Ordner noch als ZIP-Datei zu lesen: {why}", self.place)
    }
}

/// The one of `names` that a file has, in whatever case.
fn known(file: &str, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| name.eq_ignore_ascii_case(file))
}

fn files_below(folder: &Path, depth: usize) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries: Vec<PathBuf> = entries.collect::<std::io::Result<_>>()?;
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if !entry.is_dir() {
            files.push(entry);
        } else if depth > 1 {
            files.extend(files_below(&entry, depth - 1)?);
        }
    }
    Ok(files)
}
