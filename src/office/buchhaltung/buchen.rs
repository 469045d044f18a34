//! Turns invoices into lines (D31, D33): finds each account, or lists all that is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::belege::{self, Belegfeld, Rechnung, Vorgang};
use super::extf::{BUCHUNGSSTAPEL, Felder, amount, flag, german_digits, text};
use super::stamm::replaced;
use super::{konten, sql};
use crate::master::steuersaetze;
use crate::master::tenants::{self, Einstellungen};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::datev::{Buchungsbeleg, Buchungszeile, Fall, Kontenplan, Kontierung, zeilen};
use crate::rules::document::Seite;
use crate::rules::error::{Code, HintCode, Hints, Message, PositionError, Refusal};
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::Satz;

/// Most errors that are reported.
const ERRORS_MAX: usize = 500;

pub struct Buchen<'t> {
    tx: &'t Tx<'t>,
    plan: Kontenplan,
    saetze: Arc<Vec<Satz>>,
    einstellungen: Arc<Einstellungen>,
    fehler: Vec<PositionError>,
    named: BTreeSet<(Code, String, String)>,
    /// Belegfeld 1 by partner: in DATEV, an invoice with a repeated one would settle the first.
    felder: BTreeSet<(uuid::Uuid, String)>,
}

/// An invoice that can be booked.
pub struct Buchung {
    pub rechnung: Rechnung,
    beleg: Buchungsbeleg,
    belegfeld: Belegfeld,
    ust_id: Option<String>,
}

/// The lines of an invoice as file records.
#[derive(Default)]
pub struct Saetze {
    pub saetze: Vec<Vec<u8>>,
    /// Sum of the lines on the partner's account; positive if they increase the claim.
    pub betrag: Money,
    /// Sum of the same lines, regardless of their side.
    pub umsatz: Money,
    /// Number of lines of each account, and its debit minus credit.
    pub konten: BTreeMap<i64, (usize, Money)>,
}

impl<'t> Buchen<'t> {
    pub fn new(tx: &'t Tx<'t>) -> Result<Buchen<'t>> {
        Ok(Buchen {
            tx,
            plan: konten::plan(tx)?,
            saetze: steuersaetze::all(tx)?,
            einstellungen: tenants::load(tx)?,
            fehler: Vec::new(),
            named: BTreeSet::new(),
            felder: BTreeSet::new(),
        })
    }

    /// Finds the accounts of an invoice; `None` after recording what is missing.
    pub fn find(&mut self, rechnung: Rechnung, hints: &mut Hints) -> Result<Option<Buchung>> {
        let positionen = sql::positionen(self.tx, rechnung.id)?;
        let vorgaenge = belege::vorgaenge(&rechnung, positionen, &self.saetze, &self.einstellungen);
        let ust_id = self.ust_id(&rechnung, &vorgaenge, hints);
        let own = rechnung.belegfeld();
        let settled = rechnung.settles(&vorgaenge).map(|id| sql::rechnung(self.tx, id)).transpose()?;
        let belegfeld = match settled.flatten() {
            Some(settled) => settled.belegfeld(),
            None => {
                self.hint_number(&rechnung, &own, hints);
                own
            }
        };
        let mut booked = Vec::with_capacity(vorgaenge.len());
        for vorgang in vorgaenge {
            let found = self.kontierung(&rechnung, &vorgang, hints);
            booked.extend(found.map(|konto| (vorgang, konto)));
        }
        if !self.fehler.is_empty() {
            return Ok(None);
        }
        let beleg = rechnung.gebucht(booked);
        Ok(Some(Buchung { rechnung, beleg, belegfeld, ust_id }))
    }

    /// Returns itself if nothing is missing; else refuses everything at once (D31, D32).
    pub fn complete(self) -> Result<Buchen<'t>> {
        if self.fehler.is_empty() {
            return Ok(self);
        }
        let documents: BTreeSet<_> =
            self.fehler.iter().filter_map(|fehler| fehler.beleg_nummer.as_ref()).collect();
        let message = format!(
            "Für {} Belege fehlt etwas, angelegt wurde nichts. Bitte ergänzen, was details.fehler nennt, und \
             wiederholen.",
            documents.len()
        );
        let mut refusal = Refusal::new(Code::DatevUnvollstaendig, message);
        refusal.fehler = self.fehler;
        Err(refusal.into())
    }

    fn record_missing(&mut self, rechnung: &Rechnung, code: Code, feld: String, message: impl Into<Message>) {
        let is_new = self.named.insert((code, feld.clone(), rechnung.beleg_nummer.clone()));
        if is_new && self.fehler.len() < ERRORS_MAX {
            let beleg_nummer = Some(rechnung.beleg_nummer.clone());
            self.fehler.push(PositionError { error: code, feld, message: message.into(), beleg_nummer });
        }
    }

    fn kontierung(
        &mut self,
        rechnung: &Rechnung,
        vorgang: &Vorgang,
        hints: &mut Hints,
    ) -> Option<Kontierung> {
        let Vorgang { fall, satz, position, .. } = vorgang;
        let day = rechnung.beleg_datum;
        let Some(konto) = self.plan.find(*fall, *satz, position.artikelgruppe_id) else {
            let (feld, message) = missing_account(*fall, *satz, position.gruppe.as_deref());
            self.record_missing(rechnung, Code::KontoFehlt, feld, message);
            return None;
        };
        // An account that computes by itself gets no key.
        let automatik = self.plan.automatik(konto, day.year());
        let bu = konto.bu.clone().filter(|_| automatik.is_none());
        let kontierung = Kontierung { konto: konto.konto, bu, automatik };
        if let Some(unknown) = self.plan.unknown_key(konto) {
            hints.add_field(HintCode::BuUnbekannt, konto.konto.to_string(), unknown);
        }
        if let Err(refusal) = self.plan.check(konto, *satz, day) {
            let feld = format!("{}/{}", fall.as_str(), konto.konto);
            self.record_missing(rechnung, refusal.code, feld, refusal.message);
            return None;
        }
        Some(kontierung)
    }

    /// The VAT id for column 40, if goods went into the EU.
    fn ust_id(&mut self, rechnung: &Rechnung, vorgaenge: &[Vorgang], hints: &mut Hints) -> Option<String> {
        if !vorgaenge.iter().any(|vorgang| vorgang.fall == Fall::ErloesIg) {
            return None;
        }
        let Some(ust_id) = rechnung.eu_ust_id() else {
            self.record_missing(rechnung, Code::UstIdFehlt, "ust_id".to_owned(), rechnung.missing_ust_id());
            return None;
        };
        if ust_id.is_of_today {
            rechnung.hint_ust_id_of_today(hints);
        }
        Some(ust_id.text)
    }

    /// Adds hints if Belegfeld 1 differs from the number of the invoice, or repeats one of the same partner.
    fn hint_number(&mut self, rechnung: &Rechnung, feld: &Belegfeld, hints: &mut Hints) {
        let nummer = &rechnung.beleg_nummer;
        if feld.text != feld.full {
            let message = format!(
                "{nummer}: In DATEV steht als Belegfeld 1 {} statt {}, weil es nur Ziffern, Buchstaben von A \
                 bis Z und _$&%*+-/ fasst.",
                feld.text, feld.full
            );
            hints.add_field(HintCode::BelegfeldGeaendert, nummer.clone(), message);
        }
        let is_new = self.felder.insert((rechnung.kunde_id, feld.text.clone()));
        if !is_new && !rechnung.is_credit() {
            let message = format!(
                "{nummer}: Belegfeld 1 {} gibt es bei {} schon; DATEV hält beide für denselben offenen Posten.",
                feld.text, rechnung.kunden_name
            );
            hints.add_field(HintCode::BelegfeldDoppelt, nummer.clone(), message);
        }
    }

    /// Returns the records of an invoice on the account of its partner.
    pub fn saetze(&self, buchung: &Buchung, personenkonto: i64, hints: &mut Hints) -> Result<Saetze> {
        let Buchung { rechnung, beleg, .. } = buchung;
        let nummer = &rechnung.beleg_nummer;
        let booked = zeilen(beleg, self.einstellungen.datev_aufteilung)?;
        if booked.zeilen.is_empty() {
            let message = format!("{nummer} hat den Betrag 0,00 und keine Zeile.");
            hints.add_field(HintCode::BelegOhneBetrag, nummer.clone(), message);
        }
        if !booked.abweichung.is_zero() {
            let message = format!(
                "{nummer}: DATEV errechnet {} EUR {} Steuer als der Beleg.",
                amount(booked.abweichung),
                if booked.abweichung.is_negative() { "weniger" } else { "mehr" }
            );
            hints.add_field(HintCode::SteuerCent, nummer.clone(), message);
        }
        let mut saetze = Saetze::default();
        let mut is_replaced = false;
        for zeile in &booked.zeilen {
            let (record, replaced) = self.record(buchung, zeile, personenkonto);
            is_replaced |= replaced;
            saetze.add(record, zeile, personenkonto, rechnung.seite())?;
        }
        if is_replaced {
            hints.add_field(HintCode::ZeichenErsetzt, nummer.clone(), replaced(nummer));
        }
        Ok(saetze)
    }

    /// Returns a record, and whether a letter in it was replaced.
    fn record(&self, buchung: &Buchung, zeile: &Buchungszeile, personenkonto: i64) -> (Vec<u8>, bool) {
        let Buchung { rechnung, belegfeld, ust_id, .. } = buchung;
        let nummer = &rechnung.beleg_nummer;
        let title = match zeile.is_aufteilung() {
            true => format!("Aufteilung {nummer}"),
            false => rechnung.kunden_name.clone(),
        };
        let (title, is_title_replaced) = text(&title, 60);
        let mut felder = Felder::of(&BUCHUNGSSTAPEL);
        felder.set(1, amount(zeile.betrag));
        felder.set(2, if zeile.soll { "S" } else { "H" });
        felder.set(3, "EUR");
        felder.set(7, zeile.konto.unwrap_or(personenkonto).to_string());
        felder.set(8, zeile.gegenkonto.to_string());
        felder.set(9, zeile.bu.clone().unwrap_or_default());
        let day = german_digits(rechnung.beleg_datum);
        felder.set(10, day.get(..4).unwrap_or_default().to_owned());
        felder.set(11, belegfeld.text.clone());
        felder.set(14, title);
        let (kostenstelle, is_centre_replaced) = text(zeile.kostenstelle.as_deref().unwrap_or_default(), 36);
        felder.set(37, kostenstelle);
        if zeile.fall == Fall::ErloesIg {
            felder.set(40, ust_id.clone().unwrap_or_default());
        }
        let is_number_replaced = numbers(buchung, &mut felder);
        felder.set(114, flag(self.einstellungen.datev_festschreibung));
        let due = rechnung.faellig().filter(|_| !zeile.is_aufteilung());
        felder.set(117, due.map(german_digits).unwrap_or_default());
        felder.set(118, flag(rechnung.is_storno()));
        let mut record = Vec::new();
        felder.write(&mut record);
        (record, is_title_replaced || is_centre_replaced || is_number_replaced)
    }
}

impl Saetze {
    fn add(
        &mut self,
        record: Vec<u8>,
        zeile: &Buchungszeile,
        personenkonto: i64,
        seite: Seite,
    ) -> Result<()> {
        self.saetze.push(record);
        let debit = if zeile.soll { zeile.betrag } else { -zeile.betrag };
        if !zeile.is_aufteilung() {
            self.umsatz = self.umsatz.plus(zeile.betrag)?;
            let claim = if seite == Seite::Verkauf { debit } else { -debit };
            self.betrag = self.betrag.plus(claim)?;
        }
        let accounts = [(zeile.konto.unwrap_or(personenkonto), debit), (zeile.gegenkonto, -debit)];
        for (konto, betrag) in accounts {
            let (count, saldo) = self.konten.entry(konto).or_default();
            *count += 1;
            *saldo = saldo.plus(betrag)?;
        }
        Ok(())
    }
}

/// Sets the numbers of the invoice that Belegfeld 1 does not contain; returns whether a letter was replaced.
fn numbers(buchung: &Buchung, felder: &mut Felder) -> bool {
    let Buchung { rechnung, belegfeld, .. } = buchung;
    let theirs = rechnung.fremdbelegnummer.as_ref().filter(|theirs| **theirs != belegfeld.text);
    let theirs = theirs.filter(|_| rechnung.seite() == Seite::Einkauf);
    let own = Some(&rechnung.beleg_nummer).filter(|nummer| **nummer != belegfeld.text);
    let said = [("Belegnummer", own), ("Lieferanten-Nr.", theirs)];
    let said = said.into_iter().filter_map(|(art, number)| Some((art, number?)));
    let mut is_replaced = false;
    for (at, (art, number)) in (48..).step_by(2).zip(said) {
        let (number, replaced) = text(number, 210);
        is_replaced |= replaced;
        felder.set(at, art);
        felder.set(at + 1, number);
    }
    is_replaced
}

/// Field and message for a missing account.
fn missing_account(fall: Fall, satz: Option<Percent>, gruppe: Option<&str>) -> (String, String) {
    let group = gruppe.map(|gruppe| format!(", Artikelgruppe {gruppe}")).unwrap_or_default();
    let message = format!("Es fehlt das Konto für: {}{group}. Bitte eintragen.", fall.in_words(satz));
    (konten::feld(fall, satz, gruppe), message)
}

/// Something missing, and the numbers of the documents that need it.
pub struct Luecke<'r> {
    pub code: Code,
    pub feld: &'r str,
    pub message: &'r Message,
    pub belege: Vec<&'r str>,
}

/// Lists what a refused batch lacks, each item once, in the order of the first document.
pub fn luecken(refusal: &Refusal) -> Vec<Luecke<'_>> {
    let mut luecken: Vec<Luecke<'_>> = Vec::new();
    for fehler in &refusal.fehler {
        let belege = fehler.beleg_nummer.as_deref();
        let key = (fehler.error, fehler.feld.as_str(), &fehler.message);
        match luecken.iter_mut().find(|known| (known.code, known.feld, known.message) == key) {
            Some(known) => known.belege.extend(belege),
            None => luecken.push(Luecke {
                code: key.0,
                feld: key.1,
                message: key.2,
                belege: belege.into_iter().collect(),
            }),
        }
    }
    luecken
}
