//! The zip of a hand-over: files are added as they are made, each with its sha256. Its size is bounded, and
//! it leaves room on the disk.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::platform::db::file::files::folder_of;
use crate::platform::db::file::german::in_german;
use crate::platform::failure::{Failure, Result};
use crate::rules::error::{Code, Refusal};

/// Most bytes of the zip and of each file in it. A larger zip needs an extension of the format (Zip64) that old
/// programs lack.
const BYTES_MAX: u64 = 4_000_000_000;

/// Most files in it, for the same reason; it also bounds the memory for their names and digests.
const FILES_MAX: usize = 60_000;

/// Bytes written between two checks of the free space on the disk.
const LOOK_EVERY: u64 = 64 << 20;

/// Bytes that stay free on the disk, which may also hold the database.
const FREE_BYTES_MIN: u64 = 200_000_000;

/// A file in the zip.
#[derive(Debug, Clone)]
pub struct Datei {
    pub name: String,
    pub bytes: u64,
    pub sha256: [u8; 32],
}

/// The zip on the disk, bounded in size.
struct Begrenzt {
    file: File,
    folder: PathBuf,
    written: u64,
    looked: u64,
}

impl Write for Begrenzt {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written > BYTES_MAX {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if self.written >= self.looked {
            self.looked = self.written + LOOK_EVERY;
            if fs4::available_space(&self.folder)? < FREE_BYTES_MIN {
                return Err(ErrorKind::StorageFull.into());
            }
        }
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Begrenzt {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

pub struct Archiv {
    zip: ZipWriter<Begrenzt>,
    pub dateien: Vec<Datei>,
    begun: Option<(String, u64, Sha256)>,
}

impl Archiv {
    /// Begins a zip in an empty file.
    pub fn begin(target: &Path) -> Result<Archiv> {
        let file = File::options().read(true).write(true).open(target).map_err(failed)?;
        let begrenzt = Begrenzt { file, folder: folder_of(target).to_owned(), written: 0, looked: 0 };
        Ok(Archiv { zip: ZipWriter::new(begrenzt), dateien: Vec::new(), begun: None })
    }

    /// Begins a file; [`Archiv::write`] adds to it until [`Archiv::end_file`].
    pub fn begin_file(&mut self, name: &str) -> Result<()> {
        if self.dateien.len() >= FILES_MAX {
            return Err(too_large());
        }
        self.zip.start_file(name, SimpleFileOptions::default()).map_err(io::Error::from).map_err(failed)?;
        self.begun = Some((name.to_owned(), 0, Sha256::new()));
        Ok(())
    }

    pub fn write(&mut self, content: &[u8]) -> Result<()> {
        if let Some((_, bytes, digest)) = &mut self.begun {
            *bytes += content.len() as u64;
            if *bytes > BYTES_MAX {
                return Err(too_large());
            }
            digest.update(content);
        }
        self.zip.write_all(content).map_err(failed)
    }

    pub fn end_file(&mut self) {
        let ended = self.begun.take();
        let ended =
            ended.map(|(name, bytes, digest)| Datei { name, bytes, sha256: digest.finalize().into() });
        self.dateien.extend(ended);
    }

    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<()> {
        self.begin_file(name)?;
        self.write(content)?;
        self.end_file();
        Ok(())
    }

    /// Ends the zip; returns its size in bytes and its sha256.
    pub fn end(self) -> Result<(u64, [u8; 32])> {
        let mut file = self.zip.finish().map_err(io::Error::from).map_err(failed)?.file;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (mut digest, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            let Some(content) = buffer.get(..read).filter(|content| !content.is_empty()) else { break };
            digest.update(content);
            bytes += read as u64;
        }
        Ok((bytes, digest.finalize().into()))
    }
}

fn too_large() -> Failure {
    let message = format!(
        "Die Datei würde größer als {} GB oder hätte mehr als {FILES_MAX} Teile. Bitte einen kürzeren Zeitraum wählen, \
         oder ohne die Dateien der Belege.",
        BYTES_MAX / 1_000_000_000
    );
    Refusal::new(Code::ZuGross, message).into()
}

fn failed(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::FileTooLarge => too_large(),
        ErrorKind::StorageFull => Failure::Busy(
            "auf der Platte ist zu wenig Platz für die Datei: Platz schaffen und wiederholen".to_owned(),
        ),
        _ => Failure::Broken(format!("die Datei kann nicht geschrieben werden: {}", in_german(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grows_beyond_its_bound_is_refused() {
        let target = tempfile::NamedTempFile::new().unwrap();
        let mut archiv = Archiv::begin(target.path()).unwrap();
        archiv.begin_file("gross.csv").unwrap();
        archiv.begun.as_mut().unwrap().1 = BYTES_MAX - 2;
        archiv.write(b"12").unwrap();
        let refused = archiv.write(b"3").unwrap_err();
        assert!(matches!(refused, Failure::Refused(refusal) if refusal.code == Code::ZuGross));
        archiv.end_file();
        archiv.dateien = vec![archiv.dateien[0].clone(); FILES_MAX];
        assert!(archiv.begin_file("noch-eine.pdf").is_err());
    }
}
