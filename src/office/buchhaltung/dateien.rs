//! The files of a batch (D32): bookings by month, and the master data of partners.

use std::collections::BTreeMap;

use super::extf::{self, BUCHUNGSSTAPEL, Buchungen, DEBITOREN_KREDITOREN, Kopf};
use super::stamm::Stammsatz;
use crate::master::tenants::Einstellungen;
use crate::rules::day::{Day, Instant};

/// Maximum records per file: DATEV accepts no more.
const SAETZE_MAX: usize = 99_999;

/// Most bytes of one file: half of the limit for unpacking a stored content.
const BYTES_MAX: usize = 32 << 20;

/// The records of one document.
type Saetze = Vec<Vec<u8>>;

/// The records of each document, by year and month.
pub type Monate = BTreeMap<(i64, i8), Vec<Saetze>>;

/// A file: its name, the number of its records, its content.
pub struct Datei {
    pub name: String,
    pub zeilen: usize,
    pub inhalt: Vec<u8>,
}

/// The header fields that all files of a batch share.
pub struct Rahmen<'r> {
    pub nr: i64,
    pub am: Instant,
    pub berater: i64,
    pub mandant: i64,
    pub wj_beginn: Day,
    pub einstellungen: &'r Einstellungen,
}

impl Rahmen<'_> {
    pub fn files(&self, monate: &Monate, stamm: &[Stammsatz]) -> Vec<Datei> {
        let of_month = |((jahr, monat), belege): (&(i64, i8), &Vec<_>)| self.of_month(*jahr, *monat, belege);
        let mut files: Vec<_> = monate.iter().flat_map(of_month).collect();
        files.extend((!stamm.is_empty()).then(|| self.of_partners(stamm)));
        files
    }

    fn prefix(&self) -> &'static str {
        if self.einstellungen.test { "TEST" } else { "partnerd" }
    }

    fn begin(&self, bezeichnung: &str, buchungen: Option<Buchungen>) -> Vec<u8> {
        extf::file(&Kopf {
            kategorie: if buchungen.is_some() { &BUCHUNGSSTAPEL } else { &DEBITOREN_KREDITOREN },
            am: self.am,
            berater: self.berater,
            mandant: self.mandant,
            wj_beginn: self.wj_beginn,
            laenge: self.einstellungen.datev_sachkontenlaenge.0,
            rahmen: self.einstellungen.datev_rahmen,
            bezeichnung,
            anwendung: &format!("partnerd-{}", self.nr),
            buchungen,
        })
    }

    /// Returns the files of one month.
    fn of_month(&self, jahr: i64, monat: i8, belege: &[Saetze]) -> Vec<Datei> {
        let nr = self.nr;
        let bezeichnung = format!("{} {jahr}-{monat:02} Stapel {nr}", self.prefix());
        let (von, bis) = (Day::in_month(jahr, monat, 1), Day::in_month(jahr, monat, 31));
        let parts = parts(belege);
        let is_split = parts.len() > 1;
        let file = |(at, belege): (i32, &[Saetze])| {
            let festgeschrieben = self.einstellungen.datev_festschreibung;
            let mut inhalt = self.begin(&bezeichnung, Some(Buchungen { von, bis, festgeschrieben }));
            belege.iter().flatten().for_each(|satz| inhalt.extend_from_slice(satz));
            let part = if is_split { format!("_{at}") } else { String::new() };
            let name = format!("EXTF_Buchungsstapel_{jahr}-{monat:02}_{nr}{part}.csv");
            Datei { name, zeilen: belege.iter().map(Vec::len).sum(), inhalt }
        };
        (1..).zip(parts).map(file).filter(|file| file.zeilen > 0).collect()
    }

    fn of_partners(&self, stamm: &[Stammsatz]) -> Datei {
        let nr = self.nr;
        let mut inhalt = self.begin(&format!("{} Stapel {nr}", self.prefix()), None);
        stamm.iter().for_each(|satz| inhalt.extend_from_slice(&satz.zeile));
        Datei { name: format!("EXTF_Debitoren_Kreditoren_{nr}.csv"), zeilen: stamm.len(), inhalt }
    }
}

/// Distributes documents over files; a document is never split.
fn parts(belege: &[Saetze]) -> Vec<&[Saetze]> {
    let (mut parts, mut begin, mut zeilen, mut bytes) = (Vec::new(), 0, 0, 0);
    for (at, saetze) in belege.iter().enumerate() {
        let size: usize = saetze.iter().map(Vec::len).sum();
        if at > begin && (zeilen + saetze.len() > SAETZE_MAX || bytes + size > BYTES_MAX) {
            parts.push(&belege[begin..at]);
            (begin, zeilen, bytes) = (at, 0, 0);
        }
        zeilen += saetze.len();
        bytes += size;
    }
    parts.push(&belege[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_as_many_records_and_bytes_as_are_taken_and_whole_documents() {
        let lengths = |belege: &[Saetze]| parts(belege).iter().map(|part| part.len()).collect::<Vec<_>>();
        let of = |records: usize, bytes: usize| vec![vec![b'x'; bytes]; records];
        assert_eq!(lengths(&[of(99_998, 1), of(1, 1), of(2, 1), of(99_997, 1)]), [2, 2]);
        assert_eq!(lengths(&[of(99_998, 1), of(2, 1)]), [1, 1]);
        assert_eq!(lengths(&[of(1, 16 << 20), of(1, 16 << 20), of(1, 1)]), [2, 1]);
        assert_eq!(lengths(&[of(0, 1), of(0, 1)]), [2]);
    }
}
