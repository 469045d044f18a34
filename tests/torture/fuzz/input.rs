//! The input of a parser: bytes, or files that are zipped afterwards, so that mutations within them do not
//! just cause a wrong checksum.

use std::io::{Cursor, Read, Write};

use zip::ZipArchive;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Largest input that a mutation makes, in bytes.
pub const BYTES_MAX: usize = 128 << 10;

#[derive(Clone, PartialEq)]
pub enum Input {
    Plain(Vec<u8>),
    Zip(Vec<(String, Vec<u8>)>),
}

impl Input {
    pub fn text(text: &str) -> Input {
        Input::Plain(text.as_bytes().to_vec())
    }

    /// The files of a zip, if it is one and they are small.
    pub fn unzipped(bytes: &[u8]) -> Option<Input> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
        let mut files = Vec::new();
        let mut left = BYTES_MAX as u64;
        for at in 0..archive.len() {
            let file = archive.by_index(at).ok()?;
            let name = file.name().ok()?.into_owned();
            let mut content = Vec::new();
            file.take(left + 1).read_to_end(&mut content).ok()?;
            left = left.checked_sub(content.len() as u64)?;
            files.push((name, content));
        }
        Some(Input::Zip(files))
    }

    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Input::Plain(bytes) => bytes.clone(),
            Input::Zip(files) => zipped(files),
        }
    }

    /// For people: text as it is, anything else in hex.
    pub fn shown(&self) -> String {
        let shown = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => format!("{text:?}"),
            Err(_) => {
                format!("hex {}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
        };
        match self {
            Input::Plain(bytes) => shown(bytes),
            Input::Zip(files) => {
                let file = |(name, content): &(String, Vec<u8>)| format!("\n  {name:?}: {}", shown(content));
                format!("a zip of{}", files.iter().map(file).collect::<String>())
            }
        }
    }
}

/// A zip of these files; of two with the same name, which the writer refuses, only the first.
fn zipped(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        if zip.start_file(name.as_str(), SimpleFileOptions::default()).is_ok() {
            zip.write_all(content).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}
