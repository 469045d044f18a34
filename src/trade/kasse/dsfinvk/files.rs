//! The files of an export: in a folder, or in a zip.

use std::error::Error;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{DateTime, ZipArchive};

use crate::platform::db::file::german::cause_in_german;
use crate::platform::import::encoding::{Decoded, decode};
use crate::platform::import::file;

/// Maximum total size in bytes of the uncompressed files: a busy register has 100 MiB a year.
const EXPORT_BYTES_MAX: u64 = 256 << 20;

/// Maximum size in bytes of the zip, which is stored.
const ZIP_BYTES_MAX: u64 = 64 << 20;

const FOLDER_DEPTH_MAX: usize = 3;

/// File extensions of an export (DSFinV-K): tables, index.xml, and its document type.
const ENDINGS: [&str; 3] = ["csv", "xml", "dtd"];

pub struct Files {
    place: String,
    texts: Vec<(&'static str, String)>,
    /// How files that are not UTF-8 were read.
    pub notes: Vec<String>,
    /// The original zip, or the files of the folder in a reproducible zip.
    pub zip: Vec<u8>,
}

impl Files {
    /// Reads those of `names` that are in the folder or zip; their total uncompressed size is limited to
    /// [`EXPORT_BYTES_MAX`].
    pub fn open(path: &Path, names: &[&'static str]) -> Result<Files, String> {
        let (texts, notes, zip) = Default::default();
        let mut files = Files { place: path.display().to_string(), texts, notes, zip };
        if path.is_dir() {
            files.zip = files.packed(path)?;
        } else {
            let read = file::open(path)?.take(ZIP_BYTES_MAX + 1).read_to_end(&mut files.zip);
            read.map_err(|error| files.unreadable(&error))?;
        }
        if files.zip.len() as u64 > ZIP_BYTES_MAX {
            return Err(files.too_large("gepackt", ZIP_BYTES_MAX));
        }
        let zip = std::mem::take(&mut files.zip);
        let mut archive = ZipArchive::new(Cursor::new(&zip)).map_err(|error| files.unreadable(&error))?;
        let mut left = EXPORT_BYTES_MAX;
        for at in 0..archive.len() {
            let entry = archive.by_index(at).map_err(|error| files.unreadable(&error))?;
            let path = entry.name().map_err(|error| files.unreadable(&error))?.into_owned();
            if let Some(name) = known(path.rsplit(['/', '\\']).next().unwrap_or_default(), names) {
                files.add(name, entry, &mut left)?;
            }
        }
        Ok(Files { zip, ..files })
    }

    /// Zips the files of a folder that belong to an export.
    fn packed(&self, folder: &Path) -> Result<Vec<u8>, String> {
        let unreadable = |error: &(dyn Error + 'static)| self.unreadable(error);
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().last_modified_time(DateTime::default());
        let mut left = EXPORT_BYTES_MAX;
        let is_part = |path: &PathBuf| {
            let ending = path.extension().unwrap_or_default();
            ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
        };
        let below = files_below(folder, FOLDER_DEPTH_MAX).map_err(|error| unreadable(&error))?;
        for path in below.into_iter().filter(is_part) {
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            zip.start_file(name, options).map_err(|error| unreadable(&error))?;
            let copied = io::copy(&mut file::open(&path)?.take(left + 1), &mut zip);
            let copied = copied.map_err(|error| unreadable(&error))?;
            left = left.checked_sub(copied).ok_or_else(|| self.too_large("zusammen", EXPORT_BYTES_MAX))?;
        }
        Ok(zip.finish().map_err(|error| unreadable(&error))?.into_inner())
    }

    pub fn text(&self, name: &str) -> Result<&str, String> {
        self.optional(name).ok_or_else(|| format!("in {} fehlt die Datei {name}", self.place))
    }

    /// Returns the text of a file that a register may omit when it is empty.
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
        *left = left.checked_sub(read as u64).ok_or_else(|| self.too_large("zusammen", EXPORT_BYTES_MAX))?;
        let Decoded { text, said } =
            decode(bytes, None).map_err(|complaint| format!("{name}: {complaint}"))?;
        self.notes.extend(said.map(|said| format!("{name}: Kodierung {said}")));
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        self.texts.push((name, text));
        Ok(())
    }

    fn too_large(&self, how: &str, bytes_max: u64) -> String {
        let mib = bytes_max >> 20;
        format!(
            "die Dateien in {} sind {how} größer als {mib} MiB: bitte je Monat oder Quartal exportieren",
            self.place
        )
    }

    fn unreadable(&self, error: &(dyn Error + 'static)) -> String {
        let why = cause_in_german(error).unwrap_or_else(|| format!("darin stimmt etwas nicht ({error})"));
        format!("{} ist weder als Ordner noch als ZIP-Datei zu lesen: {why}", self.place)
    }
}

/// Returns the entry of `names` that equals a file name, ignoring case.
fn known(file: &str, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| name.eq_ignore_ascii_case(file))
}

fn files_below(folder: &Path, depth: usize) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
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
