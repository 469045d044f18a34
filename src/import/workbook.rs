//! Spreadsheets: .xlsx by [`super::xlsx`], .ods by [`super::ods`] (D22). A zip is looked at before it is unpacked.

use std::io::{self, Cursor, Read};

use memchr::memmem;
use zip::ZipArchive;

use super::complaint::Complaint;
use super::room::Room;
use super::sheet::Sheet;
use super::xml::unreadable;
use super::{ods, xlsx};

/// Parts of a spreadsheet at most: the index of a zip is read whole, and takes some hundred bytes for each.
const PARTS_MAX: usize = 10_000;

/// With this each entry of the index of a zip begins.
const PART_MARK: &[u8] = b"PK\x01\x02";

/// Largest spreadsheet once it is unpacked, in bytes.
const UNPACKED_BYTES_MAX: u64 = 512 << 20;

/// How many times larger than itself a zip may become, beyond the first [`RATIO_FREE_BYTES`] bytes.
const UNPACKED_RATIO_MAX: u64 = 200;

const RATIO_FREE_BYTES: u64 = 32 << 20;

pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

pub fn read(bytes: &[u8], wanted: Option<&str>, room: Room) -> Result<Sheet, Complaint> {
    if memmem::find_iter(bytes, PART_MARK).nth(PARTS_MAX).is_some() {
        return Err(unreadable(format!("it has more than {PARTS_MAX} parts")));
    }
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
    refuse_bomb(&mut zip, bytes.len() as u64)?;
    if let Ok(content) = zip.by_name("content.xml") {
        return ods::read(io::BufReader::new(content), wanted, room);
    }
    xlsx::read(&mut zip, wanted, room)
}

/// Refuses what would become too large, by what the zip says and then by what really comes out.
fn refuse_bomb(zip: &mut ZipArchive<Cursor<&[u8]>>, packed: u64) -> Result<(), Complaint> {
    let limit = UNPACKED_BYTES_MAX.min(packed.saturating_mul(UNPACKED_RATIO_MAX).max(RATIO_FREE_BYTES));
    let too_large = || {
        let mib = limit >> 20;
        Complaint::new(
            format!("unpacked it is larger than {mib} MiB, which {packed} bytes of a spreadsheet are not"),
            format!(
                "Ausgepackt ist die Datei größer als {mib} MiB; so viel steckt nicht in {packed} Bytes einer Tabelle."
            ),
        )
    };
    let mut left = limit;
    for at in 0..zip.len() {
        let file = zip.by_index(at).map_err(unreadable)?;
        left = left.checked_sub(file.size()).ok_or_else(too_large)?;
    }
    let mut left = limit;
    for at in 0..zip.len() {
        let file = zip.by_index(at).map_err(unreadable)?;
        let unpacked = io::copy(&mut file.take(left + 1), &mut io::sink()).map_err(unreadable)?;
        left = left.checked_sub(unpacked).ok_or_else(too_large)?;
    }
    Ok(())
}
