//! Batches (D32): every final RE and ER is handed over once. A batch contains all new ones, or is refused
//! with a list of what is missing.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::sync::Arc;

use serde_json::value::RawValue;
use uuid::Uuid;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::belege::Rechnung;
use super::buchen::{Buchen, Buchung, Saetze};
use super::dateien::{self, Monate, Rahmen};
use super::konten;
use super::model::{Datei, KontoSumme, NewStapel, Stapel, StapelAngelegt, StapelMitDateien};
use super::sql::{self, InvoiceFilter};
use super::stamm::Stammsatz;
use crate::master::tenants::{self, Einstellungen};
use crate::master::{kunden, steuersaetze};
use crate::platform::db::feed;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::bytes::hex;
use crate::rules::changed::Changed;
use crate::rules::datev::{Kontenplan, Personenkonto};
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::Satz;
use crate::rules::text::natural_key;
use crate::trade::belege::{content_digest, deflated, inflated};

/// Most invoices of one batch.
const BELEGE_MAX: i64 = 50_000;

/// The settings that the tax adviser provides (D31).
struct Angaben {
    berater: i64,
    mandant: i64,
    ab: Day,
}

impl Angaben {
    fn of(einstellungen: &Einstellungen) -> Result<Angaben> {
        let missing = |name: &'static str| {
            let message = format!(
                "Der Firma fehlt die Einstellung {name}; sie kommt vom Steuerberater. Bitte unter \
                 Einstellungen eintragen."
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

/// The period of a batch: within the fiscal year of its last day, and not before the first exported day.
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

/// The inputs of a batch, apart from documents and partners.
#[derive(PartialEq)]
struct Grundlage {
    einstellungen: Arc<Einstellungen>,
    plan: Kontenplan,
    saetze: Arc<Vec<Satz>>,
    gruppen: Vec<(i64, String, Option<Percent>)>,
    nr: i64,
    newest: Option<(i64, Day)>,
    /// Documents that are still open in the period.
    offen: Vec<String>,
    vorjahr: Option<Vorjahr>,
}

/// Final invoices from before the fiscal year of a batch that are in no live batch (D32).
#[derive(Debug, PartialEq)]
pub struct Vorjahr {
    pub anzahl: i64,
    /// Numbers of the first of them.
    pub nummern: Vec<String>,
    /// The last day of the fiscal year of the first: a batch up to this day contains it.
    pub bis: Day,
}

impl Vorjahr {
    /// Finds them before the fiscal year of a day.
    pub fn of(tx: &Tx<'_>, day: Day) -> Result<Option<Vorjahr>> {
        let einstellungen = tenants::load(tx)?;
        let Some(von) = einstellungen.datev_ab else { return Ok(None) };
        let beginn = einstellungen.datev_wj_beginn;
        let bis = beginn.up_to(day).yesterday();
        let first = sql::first_left_out(tx, von, bis, NAMED)?;
        let Some((oldest, _)) = first.first() else { return Ok(None) };
        let (anzahl, _) = sql::left_out(tx, von, bis)?;
        let bis = beginn.up_to(*oldest).plus_months(12).yesterday();
        Ok(Some(Vorjahr { anzahl, nummern: first.into_iter().map(|(_, nummer)| nummer).collect(), bis }))
    }

    fn hint(&self, hints: &mut Hints) {
        let more = match usize::try_from(self.anzahl).unwrap_or_default().saturating_sub(self.nummern.len()) {
            0 => String::new(),
            more => format!(" und {more} weitere"),
        };
        let message = format!(
            "Aus früheren Wirtschaftsjahren ist noch nicht übergeben: {}{more}. Bitte einen Stapel bis zum {} anlegen; \
             in einem späteren sind diese Belege nicht.",
            self.nummern.join(", "),
            self.bis.german()
        );
        hints.add_field(HintCode::NachzueglerVorjahr, "bis", message);
    }
}

/// A batch as computed from a snapshot, with nothing stored yet.
pub struct Entwurf {
    wish: NewStapel,
    /// Hints about the request itself.
    noted: Hints,
    zeitraum: Zeitraum,
    grundlage: Grundlage,
    /// The newest change of the company that it includes.
    newest_change: i64,
    am: Instant,
    gebucht: Gebucht,
    dateien: Vec<(Datei, Vec<u8>)>,
    hints: Hints,
}

impl Entwurf {
    pub fn of(tx: &Tx<'_>, wish: NewStapel, noted: Hints) -> Result<Entwurf> {
        let mut hints = noted.clone();
        let einstellungen = tenants::load(tx)?;
        let angaben = Angaben::of(&einstellungen)?;
        let zeitraum = Zeitraum::of(tx, &wish, &einstellungen, angaben.ab)?;
        if wish.von.is_some() && wish.nur != Some(true) {
            hints.add_ignored("von");
        }
        let grundlage = Grundlage::of(tx, &zeitraum)?;
        let rechnungen = new_ones(tx, &zeitraum)?;
        hint_open(&grundlage.offen, &wish, zeitraum.wj_beginn, &mut hints)?;
        hint_late(grundlage.newest, &rechnungen, &mut hints);
        grundlage.vorjahr.iter().for_each(|vorjahr| vorjahr.hint(&mut hints));
        let mut buchen = Buchen::new(tx)?;
        let mut buchungen = Vec::with_capacity(rechnungen.len());
        for rechnung in rechnungen {
            buchungen.extend(buchen.find(rechnung, &mut hints)?);
        }
        let mut gebucht = book(tx, &buchen.complete()?, &buchungen, &mut hints)?;
        let rahmen = Rahmen {
            nr: grundlage.nr,
            am: tx.now(),
            berater: angaben.berater,
            mandant: angaben.mandant,
            wj_beginn: zeitraum.wj_beginn,
            einstellungen: &einstellungen,
        };
        let files = rahmen.files(&std::mem::take(&mut gebucht.monate), &gebucht.stamm);
        let dateien = files.into_iter().map(packed).collect::<Result<_>>()?;
        let newest_change = feed::ends(tx)?.map_or(0, |[_, (nr, _)]| nr);
        Ok(Entwurf { wish, noted, zeitraum, grundlage, newest_change, am: tx.now(), gebucht, dateien, hints })
    }

    /// Whether computing it now would give the same batch. Final invoices never change.
    fn holds(&self, tx: &Tx<'_>) -> Result<bool> {
        let Zeitraum { von, bis, .. } = self.zeitraum;
        if self.grundlage != Grundlage::of(tx, &self.zeitraum)?
            || sql::is_master_data_changed(tx, self.newest_change)?
        {
            return Ok(false);
        }
        let changed = sql::changed_rechnungen(tx, self.newest_change, von, bis)?;
        let is_in_it = |id: &Uuid| self.gebucht.belege.binary_search_by_key(id, |(known, _)| *known).is_ok();
        Ok(changed.iter().all(is_in_it))
    }

    /// The answer about it.
    fn told(&self) -> StapelAngelegt {
        let konten = self.gebucht.konten.iter();
        StapelAngelegt {
            id: None,
            nr: None,
            belege: self.gebucht.belege.len(),
            zeilen: self.gebucht.zeilen,
            summe: self.gebucht.summe,
            dateien: self.dateien.iter().map(|(datei, _)| datei.clone()).collect(),
            konten: konten
                .map(|(konto, (zeilen, saldo))| KontoSumme { konto: *konto, zeilen: *zeilen, saldo: *saldo })
                .collect(),
            hinweise: self.hints.clone(),
            event: None,
        }
    }
}

impl Grundlage {
    fn of(tx: &Tx<'_>, zeitraum: &Zeitraum) -> Result<Grundlage> {
        Ok(Grundlage {
            einstellungen: tenants::load(tx)?,
            plan: konten::plan(tx)?,
            saetze: steuersaetze::all(tx)?,
            gruppen: sql::gruppen(tx)?,
            nr: sql::next_nr(tx)?,
            newest: sql::newest(tx)?,
            offen: sql::open_numbers(tx, zeitraum.von, zeitraum.bis)?,
            vorjahr: Vorjahr::of(tx, zeitraum.bis)?,
        })
    }
}

/// Packs a file as it is stored: deflated.
fn packed(file: dateien::Datei) -> Result<(Datei, Vec<u8>)> {
    let sha256 = hex(&content_digest(&file.inhalt));
    Ok((Datei { name: file.name, zeilen: file.zeilen as i64, sha256 }, deflated(&file.inhalt)?))
}

/// Stores a batch of what is new (D32): the computed draft, or a new one if something has changed meanwhile.
/// With `pruefen` nothing is stored.
pub fn create(tx: &WriteTx<'_>, entwurf: &Entwurf) -> Result<StapelAngelegt> {
    let wish = &entwurf.wish;
    if wish.pruefen == Some(true) {
        return Ok(entwurf.told());
    }
    match entwurf.holds(tx)? {
        true => store(tx, entwurf),
        false => store(tx, &Entwurf::of(tx, wish.clone(), entwurf.noted.clone())?),
    }
}

/// Loads the invoices in no live batch, in the order of the files (D33).
fn new_ones(tx: &Tx<'_>, zeitraum: &Zeitraum) -> Result<Vec<Rechnung>> {
    let Zeitraum { von, bis, .. } = *zeitraum;
    let count = sql::count_rechnungen(tx, von, bis, InvoiceFilter::Neue)?;
    let message = format_args!(
        "Ein Stapel hat höchstens {BELEGE_MAX} Belege, neu sind {count}. Bitte einen kürzeren Zeitraum wählen."
    );
    refuse_if(count > BELEGE_MAX, Code::ZeitraumUngueltig, "bis", message)?;
    let mut rechnungen = sql::rechnungen(tx, von, bis, InvoiceFilter::Neue)?;
    rechnungen.sort_by_cached_key(|rechnung| (rechnung.beleg_datum, natural_key(&rechnung.beleg_nummer)));
    Ok(rechnungen)
}

/// Adds a hint about documents in the period that are still open, or refuses them if `streng`.
fn hint_open(offene: &[String], wish: &NewStapel, wj_beginn: Day, hints: &mut Hints) -> Result<()> {
    if offene.is_empty() {
        return Ok(());
    }
    let message = format!(
        "Noch offen und nicht dabei: {}. Sind sie abgeschlossen, kommen sie mit einem Stapel bis spätestens zum {}.",
        listed(offene),
        wj_beginn.plus_months(12).yesterday().german()
    );
    refuse_if(wish.streng == Some(true), Code::OffeneBelege, "bis", message.as_str())?;
    hints.add(HintCode::OffeneBelege, message);
    Ok(())
}

/// Adds a hint about documents dated in a period that was already handed over.
fn hint_late(newest: Option<(i64, Day)>, rechnungen: &[Rechnung], hints: &mut Hints) {
    let Some((_, last)) = newest else { return };
    let late = rechnungen.iter().filter(|rechnung| rechnung.beleg_datum <= last);
    let late: Vec<_> = late.map(|rechnung| rechnung.beleg_nummer.clone()).collect();
    if !late.is_empty() {
        let message = format!(
            "Nachzügler: {} tragen ein Datum bis zum {}, das schon übergeben ist.",
            listed(&late),
            last.german()
        );
        hints.add(HintCode::Nachzuegler, message);
    }
}

/// Most numbers that a hint lists.
const NAMED: usize = 20;

/// Lists the first twenty numbers, and how many more there are.
pub fn listed(numbers: &[String]) -> String {
    let named = numbers.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match numbers.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} und {more} weitere"),
    }
}

/// The records of all invoices, and their totals.
#[derive(Default)]
struct Gebucht {
    monate: Monate,
    stamm: Vec<Stammsatz>,
    /// Account numbers newly assigned to partners.
    vergeben: BTreeMap<(Personenkonto, i64), Uuid>,
    /// Each document with the sum of its lines on the partner's account; ordered by id, the fastest order to
    /// store.
    belege: Vec<(Uuid, Money)>,
    zeilen: usize,
    summe: Money,
    konten: BTreeMap<i64, (usize, Money)>,
}

fn book(tx: &Tx<'_>, buchen: &Buchen<'_>, buchungen: &[Buchung], hints: &mut Hints) -> Result<Gebucht> {
    let mut gebucht = Gebucht::default();
    let mut partner = BTreeMap::new();
    for buchung in buchungen {
        let rechnung = &buchung.rechnung;
        let (kunde, art) = (rechnung.kunde_id, Personenkonto::of(rechnung.seite()));
        let konto = match partner.get(&(kunde, art)) {
            Some(known) => *known,
            None => gebucht.personenkonto(tx, kunde, art, hints)?,
        };
        partner.insert((kunde, art), konto);
        gebucht.add(rechnung, buchen.saetze(buchung, konto, hints)?)?;
    }
    gebucht.stamm.sort_by_key(|satz| satz.konto);
    gebucht.belege.sort_unstable_by_key(|(id, _)| *id);
    Ok(gebucht)
}

impl Gebucht {
    /// Returns the account of a partner; adds the partner's record if the tax adviser has none or an older
    /// one.
    fn personenkonto(&mut self, tx: &Tx<'_>, id: Uuid, art: Personenkonto, hints: &mut Hints) -> Result<i64> {
        let mut kunde = kunden::by_id(tx, id)?;
        let konto =
            kunden::personenkonto(tx, &kunde, art, |konto| self.vergeben.contains_key(&(art, konto)))?;
        if art.of_kunde(&mut kunde).is_none() {
            self.vergeben.insert((art, konto), id);
        }
        let mut own = Hints::default();
        let satz = Stammsatz::of(konto, art, &kunde, &mut own);
        if sql::last_stamm(tx, konto)? != Some(satz.sha256) {
            hints.extend(own);
            self.stamm.push(satz);
        }
        Ok(konto)
    }

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

fn store(tx: &WriteTx<'_>, entwurf: &Entwurf) -> Result<StapelAngelegt> {
    let Entwurf { wish, zeitraum, grundlage, gebucht, .. } = entwurf;
    let mut made = entwurf.told();
    let locked = if wish.sperren == Some(true) { lock(tx, grundlage, zeitraum.bis)? } else { None };
    if gebucht.belege.is_empty() {
        made.event =
            locked.is_some().then(|| AdminEvent::new(AdminAction::Geaendert, Art::Firma).changing(locked));
        return Ok(made);
    }
    let stapel = Stapel {
        id: tx.new_id(),
        nr: grundlage.nr,
        created_at: entwurf.am,
        von: wish.von.filter(|_| wish.nur == Some(true)),
        bis: zeitraum.bis,
        belege: made.belege as i64,
        zeilen: made.zeilen as i64,
        summe: made.summe,
        verworfen_am: None,
        verworfen_grund: None,
        hinweise: serde_json::to_string(&made.hinweise)?,
    };
    for ((art, konto), kunde) in &gebucht.vergeben {
        kunden::give_konto(tx, *kunde, *art, *konto)?;
    }
    sql::insert_stapel(tx, &stapel)?;
    sql::insert_belege(tx, stapel.nr, &gebucht.belege)?;
    sql::insert_stamm(tx, stapel.nr, &gebucht.stamm)?;
    for (at, (datei, inhalt)) in (1..).zip(&entwurf.dateien) {
        sql::insert_datei(tx, stapel.nr, at, datei, inhalt)?;
    }
    (made.id, made.nr) = (Some(stapel.id), Some(stapel.nr));
    made.event = Some(stapel.event(AdminAction::Angelegt).changing(locked));
    Ok(made)
}

/// The name in the log of the day up to which a batch locked documents.
pub const LOCKED_UNTIL: &str = "gesperrt_bis";

/// Locks the documents dated up to a day; returns the change, if there is one.
fn lock(tx: &WriteTx<'_>, grundlage: &Grundlage, bis: Day) -> Result<Option<Changed>> {
    let before = grundlage.einstellungen.gesperrt_bis;
    if before.is_some_and(|before| before >= bis) {
        return Ok(None);
    }
    tenants::lock_until(tx, bis)?;
    Ok(Changed::of(LOCKED_UNTIL, before.map(|day| day.to_string()).unwrap_or_default(), bis.to_string()))
}

impl Stapel {
    /// The event for the administration log.
    pub fn event(&self, tat: AdminAction) -> AdminEvent {
        AdminEvent::new(tat, Art::DatevStapel).id(self.id).name(self.nr.to_string())
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

/// Packs a batch, as it was handed over, into one file: its name, and a ZIP without folders.
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

/// Discards the newest live batch: its documents are new again, while the batch and its files are kept (D32).
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
