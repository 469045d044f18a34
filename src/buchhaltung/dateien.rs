//! The files of a batch (D32): bookings by month, and the master data of partners.

use std::collections::BTreeMap;

use super::extf::{self, BUCHUNGSSTAPEL, Buchungen, DEBITOREN_KREDITOREN, Kopf};
use super::stamm::Stammsatz;
use crate::rules::day::{Day, Instant};
use crate::tenants::Einstellungen;

/// Records of one file, at most: DATEV takes no more.
const SAETZE_MAX: usize = 99_999;

/// The records of each document, by year and month.
pub type Monate = BTreeMap<(i64, i8), Vec<Vec<Vec<u8>>>>;

/// A file: its name, the number of its records, its bytes.
pub struct Datei {
    pub name: String,
    pub zeilen: usize,
    pub inhalt: Vec<u8>,
}

/// What the headers of a batch say.
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

    /// The files of a month; a document is never split.
    fn of_month(&self, jahr: i64, monat: i8, belege: &[Vec<Vec<u8>>]) -> Vec<Datei> {
        let nr = self.nr;
        let bezeichnung = format!("{} {jahr}-{monat:02} Stapel {nr}", self.prefix());
        let begin = || {
            let (von, bis) = (Day::in_month(jahr, monat, 1), Day::in_month(jahr, monat, 31));
            let festgeschrieben = self.einstellungen.datev_festschreibung;
            self.begin(&bezeichnung, Some(Buchungen { von, bis, festgeschrieben }))
        };
        let mut files: Vec<(usize, Vec<u8>)> = Vec::new();
        for saetze in belege.iter().filter(|saetze| !saetze.is_empty()) {
            let has_room = |(zeilen, _): &&mut (usize, Vec<u8>)| *zeilen + saetze.len() <= SAETZE_MAX;
            if files.last_mut().filter(has_room).is_none() {
                files.push((0, begin()));
            }
            if let Some((zeilen, inhalt)) = files.last_mut() {
                *zeilen += saetze.len();
                saetze.iter().for_each(|satz| inhalt.extend_from_slice(satz));
            }
        }
        let is_split = files.len() > 1;
        let named = |(part, (zeilen, inhalt)): (i32, _)| {
            let part = if is_split { format!("_{part}") } else { String::new() };
            Datei { name: format!("EXTF_Buchungsstapel_{jahr}-{monat:02}_{nr}{part}.csv"), zeilen, inhalt }
        };
        (1..).zip(files).map(named).collect()
    }

    fn of_partners(&self, stamm: &[Stammsatz]) -> Datei {
        let nr = self.nr;
        let mut inhalt = self.begin(&format!("{} Stapel {nr}", self.prefix()), None);
        stamm.iter().for_each(|satz| inhalt.extend_from_slice(&satz.zeile));
        Datei { name: format!("EXTF_Debitoren_Kreditoren_{nr}.csv"), zeilen: stamm.len(), inhalt }
    }
}
