//! Batches (D32): every final RE and ER is handed over once, all that can be or a list of what is missing.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use rusqlite::named_params;
use serde_json::value::RawValue;
use uuid::Uuid;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::belege::{self, Rechnung};
use super::buchen::{Buchen, Buchung};
use super::extf::{self, BUCHUNGSSTAPEL, Buchungen, DEBITOREN_KREDITOREN, Kopf};
use super::model::{Datei, KontoSumme, NewStapel, Stapel, StapelAngelegt, StapelMitDateien};
use super::stamm::Stammsatz;
use crate::belege::{content_digest, deflated, inflated};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::kunden;
use crate::listing::Records;
use crate::rules::buchung::Personenkonto;
use crate::rules::bytes::hex;
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::Money;
use crate::rules::text::natural_key;
use crate::tenants::{self, Einstellungen};

/// Invoices of one batch, at most.
const BELEGE_MAX: usize = 50_000;

/// Records of one file, at most: DATEV takes no more.
const SAETZE_MAX: usize = 99_999;

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
                "Der Firma fehlt die Einstellung {name}; sie kommt vom Steuerberater. Bitte unter Firma eintragen."
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
    let mut rechnungen = belege::rechnungen(tx, zeitraum.von, zeitraum.bis, true)?;
    let message = format_args!(
        "Ein Stapel hat höchstens {BELEGE_MAX} Belege, neu sind {}. Bitte einen kürzeren Zeitraum wählen.",
        rechnungen.len()
    );
    refuse_if(rechnungen.len() > BELEGE_MAX, Code::ZeitraumUngueltig, "bis", message)?;
    rechnungen.sort_by_cached_key(|rechnung| (rechnung.beleg_datum, natural_key(&rechnung.beleg_nummer)));
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
    let nr =
        tx.one("select coalesce(max(nr), 0) + 1 from datev_stapel where tenant_id = :tenant", &[], |row| {
            row.get(0)
        })?;
    let mut neu = Neu { tx, nr, einstellungen: &einstellungen, angaben, zeitraum, hints };
    let (gebucht, stamm) = neu.book(&buchen, &buchungen)?;
    neu.store(wish, gebucht, &stamm)
}

/// Names what is still open in the period, or refuses it.
fn hint_open(tx: &Tx<'_>, wish: &NewStapel, zeitraum: &Zeitraum, hints: &mut Hints) -> Result<()> {
    let offene = belege::open_numbers(tx, zeitraum.von, zeitraum.bis)?;
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
    let last: Option<Day> = tx.one(
        "select max(bis) from datev_stapel where tenant_id = :tenant and verworfen_am is null",
        &[],
        |row| row.get(0),
    )?;
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
fn listed(numbers: &[String]) -> String {
    const NAMED: usize = 20;
    let named = numbers.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match numbers.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} und {more} weitere"),
    }
}

/// A batch that comes to be.
struct Neu<'n, 'c> {
    tx: &'n WriteTx<'c>,
    nr: i64,
    einstellungen: &'n Einstellungen,
    angaben: Angaben,
    zeitraum: Zeitraum,
    hints: Hints,
}

/// The records of all invoices: by month, and what they come to.
#[derive(Default)]
struct Gebucht {
    monate: BTreeMap<(i64, i8), Vec<Vec<Vec<u8>>>>,
    belege: Vec<(Uuid, Money)>,
    zeilen: usize,
    summe: Money,
    konten: BTreeMap<i64, (usize, Money)>,
}

impl Neu<'_, '_> {
    fn book(&mut self, buchen: &Buchen<'_>, buchungen: &[Buchung]) -> Result<(Gebucht, Vec<Stammsatz>)> {
        let mut gebucht = Gebucht::default();
        let mut stamm = BTreeMap::new();
        let mut konten: BTreeMap<(Uuid, bool), i64> = BTreeMap::new();
        for buchung in buchungen {
            let rechnung = &buchung.rechnung;
            let art = Personenkonto::of(rechnung.seite());
            let key = (rechnung.kunde_id, art == Personenkonto::Debitor);
            let konto = match konten.get(&key) {
                Some(konto) => *konto,
                None => {
                    let konto = kunden::assign(self.tx, kunden::by_id(self.tx, rechnung.kunde_id)?, art)?;
                    let kunde = kunden::by_id(self.tx, rechnung.kunde_id)?;
                    let mut own = Hints::default();
                    let satz = Stammsatz::of(konto, art, &kunde, &mut own);
                    if !satz.is_known(self.tx)? {
                        self.hints.extend(own);
                        stamm.insert(konto, satz);
                    }
                    konten.insert(key, konto);
                    konto
                }
            };
            let saetze = buchen.saetze(buchung, konto, &mut self.hints)?;
            gebucht.zeilen += saetze.saetze.len();
            gebucht.summe = gebucht.summe.plus(saetze.umsatz)?;
            for (konto, (count, saldo)) in saetze.konten {
                let sum = gebucht.konten.entry(konto).or_default();
                *sum = (sum.0 + count, sum.1.plus(saldo)?);
            }
            let monat = (rechnung.beleg_datum.year(), rechnung.beleg_datum.month());
            gebucht.monate.entry(monat).or_default().push(saetze.saetze);
            gebucht.belege.push((rechnung.id, saetze.betrag));
        }
        Ok((gebucht, stamm.into_values().collect()))
    }

    fn kopf<'k>(&self, anwendung: &'k str, bezeichnung: &'k str, buchungen: Option<Buchungen>) -> Kopf<'k> {
        Kopf {
            kategorie: if buchungen.is_some() { &BUCHUNGSSTAPEL } else { &DEBITOREN_KREDITOREN },
            am: self.tx.now(),
            berater: self.angaben.berater,
            mandant: self.angaben.mandant,
            wj_beginn: self.zeitraum.wj_beginn,
            laenge: self.einstellungen.datev_sachkontenlaenge.0,
            rahmen: self.einstellungen.datev_rahmen,
            bezeichnung,
            anwendung,
            buchungen,
        }
    }

    /// The files of a month; a document is never split.
    fn month_files(&self, jahr: i64, monat: i8, belege: &[Vec<Vec<u8>>]) -> Vec<(String, usize, Vec<u8>)> {
        let nr = self.nr;
        let (anwendung, von) = (format!("partnerd-{nr}"), Day::in_month(jahr, monat, 1));
        let prefix = if self.einstellungen.test { "TEST" } else { "partnerd" };
        let bezeichnung = format!("{prefix} {jahr}-{monat:02} Stapel {nr}");
        let file = || {
            let buchungen = Buchungen {
                von,
                bis: Day::in_month(jahr, monat, 31),
                festgeschrieben: self.einstellungen.datev_festschreibung,
            };
            extf::file(&self.kopf(&anwendung, &bezeichnung, Some(buchungen)))
        };
        let mut files = Vec::new();
        let (mut current, mut zeilen) = (file(), 0);
        for saetze in belege {
            if zeilen + saetze.len() > SAETZE_MAX {
                files.push((zeilen, std::mem::replace(&mut current, file())));
                zeilen = 0;
            }
            zeilen += saetze.len();
            saetze.iter().for_each(|satz| current.extend_from_slice(satz));
        }
        if zeilen > 0 {
            files.push((zeilen, current));
        }
        let is_split = files.len() > 1;
        let name = |part: usize| {
            let part = if is_split { format!("_{part}") } else { String::new() };
            format!("EXTF_Buchungsstapel_{jahr}-{monat:02}_{nr}{part}.csv")
        };
        (1..).zip(files).map(|(part, (zeilen, file))| (name(part), zeilen, file)).collect()
    }

    fn files(&self, gebucht: &Gebucht, stamm: &[Stammsatz]) -> Vec<(String, usize, Vec<u8>)> {
        let of_month =
            |((jahr, monat), belege): (&(i64, i8), &Vec<_>)| self.month_files(*jahr, *monat, belege);
        let mut files: Vec<_> = gebucht.monate.iter().flat_map(of_month).collect();
        if !stamm.is_empty() {
            let nr = self.nr;
            let prefix = if self.einstellungen.test { "TEST" } else { "partnerd" };
            let (anwendung, bezeichnung) = (format!("partnerd-{nr}"), format!("{prefix} Stapel {nr}"));
            let mut file = extf::file(&self.kopf(&anwendung, &bezeichnung, None));
            stamm.iter().for_each(|satz| file.extend_from_slice(&satz.zeile));
            files.push((format!("EXTF_Debitoren_Kreditoren_{nr}.csv"), stamm.len(), file));
        }
        files
    }

    fn store(self, wish: &NewStapel, gebucht: Gebucht, stamm: &[Stammsatz]) -> Result<StapelAngelegt> {
        let (tx, nr, id) = (self.tx, self.nr, self.tx.new_id());
        let files = self.files(&gebucht, stamm);
        tx.insert(
            "datev_stapel",
            named_params! {
                ":id": id, ":nr": nr, ":am": tx.now(), ":bis": self.zeitraum.bis,
                ":von": wish.von.filter(|_| wish.nur == Some(true)),
                ":belege": gebucht.belege.len() as i64, ":zeilen": gebucht.zeilen as i64, ":summe": gebucht.summe,
                ":hinweise": serde_json::to_string(&self.hints)?,
            },
        )?;
        tx.insert_all("datev_beleg", &gebucht.belege, |(beleg, betrag), store| {
            store(named_params! {":stapel_nr": nr, ":beleg_id": beleg, ":betrag": betrag})
        })?;
        tx.insert_all("datev_stamm", stamm, |satz, store| {
            store(named_params! {":konto": satz.konto, ":stapel_nr": nr, ":sha256": satz.sha256})
        })?;
        let mut dateien = Vec::with_capacity(files.len());
        for (at, (name, zeilen, inhalt)) in (1_i64..).zip(files) {
            let (sha256, zeilen) = (content_digest(&inhalt), zeilen as i64);
            tx.insert(
                "datev_datei",
                named_params! {
                    ":stapel_nr": nr, ":nr": at, ":name": name, ":zeilen": zeilen, ":sha256": sha256,
                    ":inhalt": deflated(&inhalt)?,
                },
            )?;
            dateien.push(Datei { name, zeilen, sha256: hex(&sha256) });
        }
        let konten = gebucht.konten.into_iter();
        Ok(StapelAngelegt {
            id: Some(id),
            nr: Some(nr),
            belege: gebucht.belege.len(),
            zeilen: gebucht.zeilen,
            summe: gebucht.summe,
            dateien,
            konten: konten.map(|(konto, (zeilen, saldo))| KontoSumme { konto, zeilen, saldo }).collect(),
            hinweise: self.hints,
        })
    }
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

const LIST: ListSql<'_> = ListSql {
    columns: Stapel::COLUMNS,
    from: "from datev_stapel s",
    count: "select count(*) from datev_stapel s",
    ids_first: None,
    order: "order by s.nr desc",
};

pub fn list(tx: &Tx<'_>, page: Page) -> Result<Records<Stapel>> {
    tx.list(&LIST, &Filter::of("s"), page)
}

/// All of them, the newest first: one a month, as a rule.
pub fn list_all(tx: &Tx<'_>) -> Result<Vec<Stapel>> {
    let statement = format!(
        "select {} from datev_stapel s where s.tenant_id = :tenant order by s.nr desc",
        Stapel::COLUMNS
    );
    tx.all(&statement, &[], Stapel::read)
}

pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Stapel> {
    tx.find_by(&LIST, "s.id", &id)?.ok_or_else(|| Failure::not_found(super::WHAT))
}

pub fn with_number(tx: &Tx<'_>, nr: i64) -> Result<Stapel> {
    tx.find_by(&LIST, "s.nr", &nr)?.ok_or_else(|| Failure::not_found(super::WHAT))
}

pub fn with_files(tx: &Tx<'_>, stapel: Stapel) -> Result<StapelMitDateien> {
    let statement = format!(
        "select {} from datev_datei d where d.tenant_id = :tenant and d.stapel_nr = :nr order by d.nr",
        Datei::COLUMNS
    );
    let dateien = tx.all(&statement, named_params! {":nr": stapel.nr}, Datei::read)?;
    let statement = "select hinweise from datev_stapel where tenant_id = :tenant and nr = :nr";
    let hinweise: String = tx.one(statement, named_params! {":nr": stapel.nr}, |row| row.get(0))?;
    Ok(StapelMitDateien { stapel, dateien, hinweise: RawValue::from_string(hinweise)? })
}

/// A batch as one file, as it went out: its name, and a ZIP without folders.
pub fn zip(tx: &Tx<'_>, stapel: &Stapel) -> Result<(String, Vec<u8>)> {
    let failed = |error: std::io::Error| Failure::Broken(format!("a batch cannot be packed: {error}"));
    let statement =
        "select name, inhalt from datev_datei where tenant_id = :tenant and stapel_nr = :nr order by nr";
    let files: Vec<(String, Vec<u8>)> =
        tx.all(statement, named_params! {":nr": stapel.nr}, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, packed) in files {
        zip.start_file(name, SimpleFileOptions::default()).map_err(|error| failed(error.into()))?;
        zip.write_all(&inflated(&packed)?).map_err(failed)?;
    }
    let bytes = zip.finish().map_err(|error| failed(error.into()))?.into_inner();
    Ok((format!("DATEV_Stapel_{}.zip", stapel.nr), bytes))
}

/// Discards the newest live batch: its documents are new again, it stays with its files (D32).
pub fn discard(tx: &WriteTx<'_>, stapel: &Stapel, grund: &str) -> Result<Stapel> {
    let nr = stapel.nr;
    let message = format!("Stapel {nr} ist schon verworfen.");
    refuse_if(stapel.verworfen_am.is_some(), Code::StapelNichtVerwerfbar, "id", message)?;
    let newer = "select max(nr) from datev_stapel where tenant_id = :tenant and verworfen_am is null";
    let newest: Option<i64> = tx.one(newer, &[], |row| row.get(0))?;
    let message = format!("Nach Stapel {nr} gibt es schon einen. Verworfen wird nur der neueste.");
    refuse_if(newest != Some(nr), Code::StapelNichtVerwerfbar, "id", message)?;
    tx.execute(
        "update datev_stapel set verworfen_am = :am, verworfen_grund = :grund where tenant_id = :tenant and nr = :nr",
        named_params! {":am": tx.now(), ":grund": grund, ":nr": nr},
    )?;
    tx.execute(
        "update datev_beleg set verworfen = 1 where tenant_id = :tenant and stapel_nr = :nr",
        named_params! {":nr": nr},
    )?;
    found(tx, stapel.id)
}
