//! Batches (D32): every final RE and ER is handed over once, all that can be or a list of what is missing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{Cursor, Write};

use serde_json::value::RawValue;
use uuid::Uuid;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::belege::Rechnung;
use super::buchen::{Buchen, Buchung, Saetze};
use super::dateien::{self, Monate, Rahmen};
use super::model::{Datei, KontoSumme, NewStapel, Stapel, StapelAngelegt, StapelMitDateien};
use super::sql;
use super::stamm::Stammsatz;
use crate::belege::{content_digest, deflated, inflated};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::kunden;
use crate::rules::buchung::Personenkonto;
use crate::rules::bytes::hex;
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::Money;
use crate::rules::text::natural_key;
use crate::tenants::{self, Einstellungen};

/// Invoices of one batch, at most.
const BELEGE_MAX: usize = 50_000;

/// What the adviser has told the firm (D31).
struct Angaben {
    berater: i64,
    mandant: i64,
    ab: Day,
}

impl Angaben {
    fn of(einstellungen: &Einstellungen) -> Result<Angaben> {
        let missing = |name: &'static str| {
            let message = format!(
                "Der Firma fehlt die Einstellung {name}; sie kommt vom Steuerberater. Bitte unter Einstellungen eintragen."
            );
            Refusal::field(Code::DatevEinstellungFehlt, name, message)
        };
        Ok(Angaben {
            berater: einstellungen.datev_berater.ok_or_else(|| missing("datev_berater"))?.0,
            mandant: einstellungen.datev_mandant.ok_or_else(|| missing("datev_mandant"))?.0,
            ab: einstellungen.datev_ab.ok_or_else(|| missing("datev_ab"))?,
        })
    }
}

/// The period of a batch: in the fiscal year of its last day, from the first day that is exported on.
struct Zeitraum {
    wj_beginn: Day,
    von: Day,
    bis: Day,
}

impl Zeitraum {
    fn of(tx: &Tx<'_>, wish: &NewStapel, einstellungen: &Einstellungen, ab: Day) -> Result<Zeitraum> {
        let bis = required(wish.bis, "bis")?;
        let message = "Der letzte Tag muss vorbei sein. Bitte bis prüfen.";
        refuse_if(bis >= tx.today(), Code::ZeitraumUngueltig, "bis", message)?;
        let wj_beginn = einstellungen.datev_wj_beginn.up_to(bis);
        let first = wj_beginn.max(ab);
        let von = wish.von.filter(|_| wish.nur == Some(true)).map_or(first, |von| von.max(first));
        let message = format_args!("Der Zeitraum beginnt erst am {}. Bitte bis prüfen.", von.german());
        refuse_if(bis < von, Code::ZeitraumUngueltig, "bis", message)?;
        Ok(Zeitraum { wj_beginn, von, bis })
    }
}

/// Makes a batch of what is new (D32). With `pruefen` nothing of it is kept.
pub fn create(tx: &WriteTx<'_>, wish: &NewStapel, hints: Hints) -> Result<StapelAngelegt> {
    match wish.pruefen {
        Some(true) => {
            let checked = tx.undone(|| make(tx, wish, hints))?;
            Ok(StapelAngelegt { id: None, nr: None, ..checked })
        }
        _ => make(tx, wish, hints),
    }
}

fn make(tx: &WriteTx<'_>, wish: &NewStapel, mut hints: Hints) -> Result<StapelAngelegt> {
    let einstellungen = tenants::load(tx)?;
    let angaben = Angaben::of(&einstellungen)?;
    let zeitraum = Zeitraum::of(tx, wish, &einstellungen, angaben.ab)?;
    if wish.von.is_some() && wish.nur != Some(true) {
        hints.add_ignored("von");
    }
    let rechnungen = new_ones(tx, &zeitraum)?;
    hint_open(tx, wish, &zeitraum, &mut hints)?;
    hint_late(tx, &rechnungen, &mut hints)?;
    let mut buchen = Buchen::new(tx)?;
    let mut buchungen = Vec::with_capacity(rechnungen.len());
    for rechnung in rechnungen {
        buchungen.extend(buchen.find(rechnung, &mut hints)?);
    }
    let buchen = buchen.complete()?;
    if wish.sperren == Some(true) {
        tenants::lock_until(tx, zeitraum.bis)?;
    }
    if buchungen.is_empty() {
        return Ok(StapelAngelegt::nothing(hints));
    }
    let gebucht = book(tx, &buchen, &buchungen, &mut hints)?;
    let rahmen = Rahmen {
        nr: sql::next_nr(tx)?,
        am: tx.now(),
        berater: angaben.berater,
        mandant: angaben.mandant,
        wj_beginn: zeitraum.wj_beginn,
        einstellungen: &einstellungen,
    };
    let files = rahmen.files(&gebucht.monate, &gebucht.stamm);
    let von = wish.von.filter(|_| wish.nur == Some(true));
    store(tx, rahmen.nr, (von, zeitraum.bis), gebucht, files, hints)
}

/// What no live batch holds, in the order of the files (D33).
fn new_ones(tx: &Tx<'_>, zeitraum: &Zeitraum) -> Result<Vec<Rechnung>> {
    let mut rechnungen = sql::rechnungen(tx, zeitraum.von, zeitraum.bis, sql::Welche::Neue)?;
    let message = format_args!(
        "Ein Stapel hat höchstens {BELEGE_MAX} Belege, neu sind {}. Bitte einen kürzeren Zeitraum wählen.",
        rechnungen.len()
    );
    refuse_if(rechnungen.len() > BELEGE_MAX, Code::ZeitraumUngueltig, "bis", message)?;
    rechnungen.sort_by_cached_key(|rechnung| (rechnung.beleg_datum, natural_key(&rechnung.beleg_nummer)));
    Ok(rechnungen)
}

/// Names what is still open in the period, or refuses it.
fn hint_open(tx: &Tx<'_>, wish: &NewStapel, zeitraum: &Zeitraum, hints: &mut Hints) -> Result<()> {
    let offene = sql::open_numbers(tx, zeitraum.von, zeitraum.bis)?;
    if offene.is_empty() {
        return Ok(());
    }
    let message = format!(
        "Noch offen und nicht dabei: {}. Sie kommen mit dem nächsten Stapel, wenn sie abgeschlossen sind.",
        listed(&offene)
    );
    refuse_if(wish.streng == Some(true), Code::OffeneBelege, "bis", &message)?;
    hints.add(HintCode::OffeneBelege, message);
    Ok(())
}

/// Names what is dated in a period that was handed over already.
fn hint_late(tx: &Tx<'_>, rechnungen: &[Rechnung], hints: &mut Hints) -> Result<()> {
    let last = sql::newest(tx)?.map(|(_, bis)| bis);
    let is_late = |rechnung: &&Rechnung| last.is_some_and(|last| rechnung.beleg_datum <= last);
    let late: Vec<_> =
        rechnungen.iter().filter(is_late).map(|rechnung| rechnung.beleg_nummer.clone()).collect();
    if let (Some(last), false) = (last, late.is_empty()) {
        let message = format!(
            "Nachzügler: {} tragen ein Datum bis zum {}, das schon übergeben ist.",
            listed(&late),
            last.german()
        );
        hints.add(HintCode::Nachzuegler, message);
    }
    Ok(())
}

/// The first twenty numbers, and how many more there are.
pub fn listed(numbers: &[String]) -> String {
    const NAMED: usize = 20;
    let named = numbers.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match numbers.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} und {more} weitere"),
    }
}

/// The records of all invoices, and what they come to.
#[derive(Default)]
struct Gebucht {
    monate: Monate,
    stamm: Vec<Stammsatz>,
    /// Each document with what its lines bring to the account of the partner.
    belege: Vec<(Uuid, Money)>,
    zeilen: usize,
    summe: Money,
    konten: BTreeMap<i64, (usize, Money)>,
}

fn book(tx: &WriteTx<'_>, buchen: &Buchen<'_>, buchungen: &[Buchung], hints: &mut Hints) -> Result<Gebucht> {
    let mut gebucht = Gebucht::default();
    let mut partner = BTreeMap::new();
    for buchung in buchungen {
        let rechnung = &buchung.rechnung;
        let art = Personenkonto::of(rechnung.seite());
        let konto = match partner.entry((rechnung.kunde_id, rechnung.beleg_typ)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let (konto, satz) = personenkonto(tx, rechnung.kunde_id, art, hints)?;
                gebucht.stamm.extend(satz);
                *new.insert(konto)
            }
        };
        gebucht.add(rechnung, buchen.saetze(buchung, konto, hints)?)?;
    }
    gebucht.stamm.sort_by_key(|satz| satz.konto);
    Ok(gebucht)
}

/// The account of a partner, and its record where the adviser has none or another.
fn personenkonto(
    tx: &WriteTx<'_>,
    kunde: Uuid,
    art: Personenkonto,
    hints: &mut Hints,
) -> Result<(i64, Option<Stammsatz>)> {
    let konto = kunden::assign(tx, kunden::by_id(tx, kunde)?, art)?;
    let mut own = Hints::default();
    let satz = Stammsatz::of(konto, art, &kunden::by_id(tx, kunde)?, &mut own);
    if sql::last_stamm(tx, konto)? == Some(satz.sha256) {
        return Ok((konto, None));
    }
    hints.extend(own);
    Ok((konto, Some(satz)))
}

impl Gebucht {
    fn add(&mut self, rechnung: &Rechnung, saetze: Saetze) -> Result<()> {
        self.zeilen += saetze.saetze.len();
        self.summe = self.summe.plus(saetze.umsatz)?;
        for (konto, (count, saldo)) in saetze.konten {
            let sum = self.konten.entry(konto).or_default();
            *sum = (sum.0 + count, sum.1.plus(saldo)?);
        }
        let monat = (rechnung.beleg_datum.year(), rechnung.beleg_datum.month());
        self.monate.entry(monat).or_default().push(saetze.saetze);
        self.belege.push((rechnung.id, saetze.betrag));
        Ok(())
    }
}

fn store(
    tx: &WriteTx<'_>,
    nr: i64,
    (von, bis): (Option<Day>, Day),
    gebucht: Gebucht,
    files: Vec<dateien::Datei>,
    hints: Hints,
) -> Result<StapelAngelegt> {
    let stapel = Stapel {
        id: tx.new_id(),
        nr,
        created_at: tx.now(),
        von,
        bis,
        belege: gebucht.belege.len() as i64,
        zeilen: gebucht.zeilen as i64,
        summe: gebucht.summe,
        verworfen_am: None,
        verworfen_grund: None,
        hinweise: serde_json::to_string(&hints)?,
    };
    sql::insert_stapel(tx, &stapel)?;
    sql::insert_belege(tx, nr, &gebucht.belege)?;
    sql::insert_stamm(tx, nr, &gebucht.stamm)?;
    let dateien = store_files(tx, nr, files)?;
    let konten = gebucht.konten.into_iter();
    Ok(StapelAngelegt {
        id: Some(stapel.id),
        nr: Some(nr),
        belege: gebucht.belege.len(),
        zeilen: gebucht.zeilen,
        summe: gebucht.summe,
        dateien,
        konten: konten.map(|(konto, (zeilen, saldo))| KontoSumme { konto, zeilen, saldo }).collect(),
        hinweise: hints,
    })
}

fn store_files(tx: &WriteTx<'_>, stapel: i64, files: Vec<dateien::Datei>) -> Result<Vec<Datei>> {
    let mut dateien = Vec::with_capacity(files.len());
    for (at, file) in (1_i64..).zip(files) {
        let sha256 = content_digest(&file.inhalt);
        let datei = Datei { name: file.name, zeilen: file.zeilen as i64, sha256: hex(&sha256) };
        sql::insert_datei(tx, stapel, at, &datei, sha256, &deflated(&file.inhalt)?)?;
        dateien.push(datei);
    }
    Ok(dateien)
}

impl StapelAngelegt {
    fn nothing(hinweise: Hints) -> StapelAngelegt {
        StapelAngelegt {
            id: None,
            nr: None,
            belege: 0,
            zeilen: 0,
            summe: Money::ZERO,
            dateien: Vec::new(),
            konten: Vec::new(),
            hinweise,
        }
    }
}

pub const WHAT: &str = "Diesen Stapel";

pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Stapel> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

pub fn with_number(tx: &Tx<'_>, nr: i64) -> Result<Stapel> {
    sql::with_number(tx, nr)?.ok_or_else(|| Failure::not_found(WHAT))
}

pub fn with_files(tx: &Tx<'_>, stapel: Stapel) -> Result<StapelMitDateien> {
    let dateien = sql::dateien(tx, stapel.nr)?;
    let hinweise = RawValue::from_string(stapel.hinweise.clone())?;
    Ok(StapelMitDateien { stapel, dateien, hinweise })
}

/// A batch as one file, as it went out: its name, and a ZIP without folders.
pub fn zip(tx: &Tx<'_>, stapel: &Stapel) -> Result<(String, Vec<u8>)> {
    let failed = |error: std::io::Error| Failure::Broken(format!("a batch cannot be packed: {error}"));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, packed) in sql::inhalte(tx, stapel.nr)? {
        zip.start_file(name, SimpleFileOptions::default()).map_err(|error| failed(error.into()))?;
        zip.write_all(&inflated(&packed)?).map_err(failed)?;
    }
    let bytes = zip.finish().map_err(|error| failed(error.into()))?.into_inner();
    Ok((format!("DATEV_Stapel_{}.zip", stapel.nr), bytes))
}

/// Discards the newest live batch: its documents are new again, it stays with its files (D32).
pub fn discard(tx: &WriteTx<'_>, stapel: &Stapel, grund: &str) -> Result<Stapel> {
    let nr = stapel.nr;
    let message = format_args!("Stapel {nr} ist schon verworfen.");
    refuse_if(stapel.verworfen_am.is_some(), Code::StapelNichtVerwerfbar, "id", message)?;
    let is_newest = sql::newest(tx)?.is_some_and(|(newest, _)| newest == nr);
    let message = format_args!("Nach Stapel {nr} gibt es schon einen. Verworfen wird nur der neueste.");
    refuse_if(!is_newest, Code::StapelNichtVerwerfbar, "id", message)?;
    sql::discard(tx, nr, grund)?;
    found(tx, stapel.id)
}
