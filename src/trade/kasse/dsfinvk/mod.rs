//! Imports the export of a cash register in DSFinV-K, the German standard for tax audits, as till receipts
//! (D22).
//!
//! Reads sales and reversals (BON_TYP Beleg). Gross and tax are the printed ones; rates are those of the
//! register's closing.

mod files;
mod model;
mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;

use uuid::{Uuid, uuid};

use super::sql;
use super::store::{Artikelbezug, BonEingabe, ZeileEingabe, find_article, store};
use crate::master::kunden;
use crate::platform::db::tx::WriteTx;
use crate::platform::import::Stored;
use crate::rules::day::Day;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kasse::{BonArt, adds_up, printed};
use crate::trade::kasse::model::{BarverkaufZeile, Kassendatei};
use files::Files;
use model::{BonKey, Closing, Export, FILES, LineAmount, ReceiptHead, ReceiptLine, Reference};

/// Namespace of the ids of registers and receipts, which are version 5 uuids: of Z_KASSE_ID, and of
/// Z_KASSE_ID, Z_NR and BON_ID joined by line feeds, which no cell contains.
const NAMESPACE: Uuid = uuid!("966fa49c-7cd3-484c-b26b-8253a3a8b660");

/// The only type of receipt that is a sale or its reversal.
const BELEG: &str = "Beleg";

/// Default unit of a line (DSFinV-K, Bonpos).
const PIECE: &str = "Stk";

pub struct Receipt {
    bon: BonEingabe,
    kundennr: Option<String>,
    /// Receipts that it reverses and that are not in the export: ids and names.
    reversed_elsewhere: Vec<(Uuid, String)>,
}

impl Receipt {
    pub fn bon_nr(&self) -> &str {
        self.bon.bon_nr.as_deref().unwrap_or_default()
    }

    pub fn lines(&self) -> usize {
        self.bon.zeilen.len()
    }
}

pub struct Receipts {
    pub receipts: Vec<Receipt>,
    /// `None` if the export has no receipt of any kind.
    pub datei: Option<Kassendatei>,
    /// Sentences about omitted data.
    pub notes: Vec<String>,
}

/// The result of joining the files; the error is a sentence about the inconsistency.
type Joined<T> = std::result::Result<T, String>;

pub fn read(path: &Path) -> Joined<Receipts> {
    let files = Files::open(path, FILES)?;
    let export = Export::read(&files)?;
    let days = export.heads.iter().map(|head| Day::in_berlin(head.bon_ende));
    let datei = days.clone().min().zip(days.max()).map(|days| Kassendatei::of(path, days, files.zip));
    let mut receipts = Assembly::join(&export)?.receipts()?;
    receipts.notes.splice(..0, files.notes);
    Ok(Receipts { datei, ..receipts })
}

/// Stores a receipt. Finds each article by ART_NR, else by GTIN, and the customer by number; a number that nobody has
/// leaves the receipt without a customer.
pub fn store_receipt(tx: &WriteTx<'_>, receipt: &Receipt, hints: &mut Hints) -> Stored {
    let mut bon = receipt.bon.clone();
    if let Some(kundennr) = &receipt.kundennr {
        let kunde = kunden::find_by_kundennr(tx, kundennr).map_err(|failure| (0, failure))?;
        bon.kunde_id = kunde.map(|kunde| kunde.id);
    }
    for (id, name) in &receipt.reversed_elsewhere {
        if sql::find(tx, *id).map_err(|failure| (0, failure))?.is_none() {
            let message = format!("Der Stornobon {} nennt einen unbekannten Bon: {name}.", receipt.bon_nr());
            hints.add_field(HintCode::WertFraglich, "storno_von_bon_id", message);
        }
    }
    for (at, zeile) in bon.zeilen.iter_mut().enumerate() {
        let nummer = zeile.artikel.take().and_then(|artikel| artikel.nummer);
        let found = find_article(tx, nummer, zeile.said.ean.as_deref(), hints);
        zeile.artikel = Some(found.map_err(|failure| (at, failure))?);
    }
    store(tx, &bon, hints)
}

fn kasse_id(z_kasse_id: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, z_kasse_id.as_bytes())
}

fn bon_id(key: &BonKey) -> Uuid {
    let name = format!("{}\n{}\n{}", key.closing.z_kasse_id, key.closing.z_nr, key.bon_id);
    Uuid::new_v5(&NAMESPACE, name.as_bytes())
}

/// A count of similar findings, with their first places.
#[derive(Default)]
struct Note {
    count: usize,
    places: Vec<String>,
}

/// Maximum number of places that a hint lists.
const PLACES_MAX: usize = 20;

impl Note {
    fn said(&self, what: &str) -> String {
        match self.places.as_slice() {
            [] => format!("{what}: {}", self.count),
            places => format!("{what}: {} ({})", self.count, places.join(", ")),
        }
    }
}

struct Assembly<'e> {
    export: &'e Export,
    rates: HashMap<(&'e Closing, i64), Percent>,
    lines: LinesByReceipt<'e>,
    amounts: AmountsByPosition<'e>,
    payments: HashMap<&'e BonKey, Vec<&'e str>>,
    references: HashMap<&'e BonKey, Vec<&'e Reference>>,
    notes: BTreeMap<String, Note>,
}

impl<'e> Assembly<'e> {
    /// Joins the files: each receipt to its closing, each line to its receipt, each amount to its line.
    fn join(export: &'e Export) -> Joined<Assembly<'e>> {
        let lines = lines_by_receipt(export, &receipts_once(export)?)?;
        let amounts = amounts_by_position(export)?;
        let payments = grouped(export.payments.iter().map(|(key, typ)| (key, typ.as_str())));
        let rates = rates(export)?;
        let references = grouped(export.references.iter().map(|reference| (&reference.key, reference)));
        Ok(Assembly { export, rates, lines, amounts, payments, references, notes: BTreeMap::new() })
    }

    fn receipts(mut self) -> Joined<Receipts> {
        let mut receipts: Vec<Receipt> = Vec::new();
        for head in &self.export.heads {
            receipts.extend(self.receipt(head)?);
        }
        let ids: HashSet<Uuid> = receipts.iter().filter_map(|receipt| receipt.bon.bon_id).collect();
        for receipt in &mut receipts {
            receipt.reversed_elsewhere.retain(|(id, _)| !ids.contains(id));
        }
        let notes = self.notes.into_iter().map(|(what, note)| note.said(&what)).collect();
        Ok(Receipts { receipts, datei: None, notes })
    }

    fn note(&mut self, what: impl Into<String>) {
        self.notes.entry(what.into()).or_default().count += 1;
    }

    fn note_at(&mut self, what: &str, place: String) {
        self.note(what);
        if let Some(note) = self.notes.get_mut(what).filter(|note| note.places.len() < PLACES_MAX) {
            note.places.push(place);
        }
    }

    fn receipt(&mut self, head: &ReceiptHead) -> Joined<Option<Receipt>> {
        if head.bon_typ != BELEG {
            self.note(format!("Kein Verkauf, deshalb ausgelassen, Bons vom Typ {}", head.bon_typ));
            return Ok(None);
        }
        let zeilen = self.sold(head)?;
        if zeilen.is_empty() {
            self.note("Ohne Zeilen, deshalb ausgelassen, Bons");
            return Ok(None);
        }
        let sum = total(head, &zeilen)?;
        let reversed = self.reversed(head);
        if head.bon_storno && reversed.is_empty() {
            return self.reversal_of_nothing(head, sum).map(|()| None);
        }
        let reversed_elsewhere = reversed.iter().map(|key| (bon_id(key), name(key))).collect();
        let storniert_mehrere = reversed.len() > 1;
        let storno_von = reversed.into_iter().next().filter(|_| !storniert_mehrere);
        if storniert_mehrere {
            self.note("Stornos, die mehrere Bons nennen, sodass keiner von ihnen als storniert gilt");
        }
        if head.ums_brutto.is_some_and(|printed| printed != sum) {
            self.note("Bons, deren UMS_BRUTTO nicht die Summe ihrer Zeilen ist");
        }
        let z_kasse_id = &head.key.closing.z_kasse_id;
        let bon = BonEingabe {
            bon_id: Some(bon_id(&head.key)),
            bon_nr: Some(format!("{z_kasse_id}-{}", head.bon_nr)),
            kasse_id: Some(kasse_id(z_kasse_id)),
            kassiert_at: Some(head.bon_ende),
            art: Some(if head.bon_storno { BonArt::Storno } else { BonArt::Verkauf }),
            storno_von_bon_id: storno_von.map(bon_id),
            storniert_mehrere,
            zahlart: self.zahlart(&head.key),
            kunde_id: None,
            zeilen,
        };
        Ok(Some(Receipt { bon, kundennr: head.kunde_id.clone(), reversed_elsewhere }))
    }

    /// Returns the lines of a receipt that were not voided.
    fn sold(&mut self, head: &ReceiptHead) -> Joined<Vec<ZeileEingabe>> {
        let mut sold = Vec::new();
        for line in self.lines.get(&head.key).cloned().unwrap_or_default() {
            if line.p_storno {
                self.note("Storniert, bevor der Bon fertig war, deshalb ausgelassen, Zeilen");
                continue;
            }
            let by_rate = self.by_rate(line)?;
            if !by_rate.iter().all(|(_, [brutto, netto, ust])| adds_up(*brutto, *netto, *ust)) {
                self.note_at("Zeilen, deren Netto und Steuer nicht ihr Brutto ergeben", place(line));
            }
            sold.extend(self.zeilen(line, by_rate)?);
        }
        Ok(sold)
    }

    /// Skips a reversal that references no receipt: it was voided immediately. Fails if it takes money back.
    fn reversal_of_nothing(&mut self, head: &ReceiptHead, sum: Money) -> Joined<()> {
        if sum > Money::ZERO {
            self.note("Sofort storniert, ohne eigenen Stornobon, deshalb ausgelassen, Bons");
            return Ok(());
        }
        let name = name(&head.key);
        Err(format!("{name} ist ein Storno, aber references.csv nennt keinen Bon, den er storniert"))
    }

    /// Returns the receipts that a reversal reverses: those that it references as a whole, else those that
    /// its lines reference.
    fn reversed(&self, head: &ReceiptHead) -> BTreeSet<&'e BonKey> {
        let references = self.references.get(&head.key).filter(|_| head.bon_storno);
        let own = |of_line| {
            let own = references.into_iter().flatten().filter(move |r| r.of_line == of_line);
            own.map(|reference| &reference.target).collect::<BTreeSet<_>>()
        };
        let whole = own(false);
        if whole.is_empty() { own(true) } else { whole }
    }

    fn zahlart(&self, key: &BonKey) -> Option<String> {
        let types = self.payments.get(key)?;
        let first = types.first()?;
        Some(match *first {
            _ if types.iter().any(|other| other != first) => "gemischt".to_owned(),
            "Bar" => "bar".to_owned(),
            "ECKarte" => "ec".to_owned(),
            other => other.to_lowercase(),
        })
    }

    /// Returns the printed gross, net and tax of a line by the key of their rate.
    fn by_rate(&self, line: &ReceiptLine) -> Joined<Vec<(i64, [Option<Price>; 3])>> {
        let mut by_rate: Vec<(i64, [Option<Price>; 3])> = Vec::new();
        for amount in self.amounts.get(&(&line.key, line.pos_zeile.as_str())).into_iter().flatten() {
            let own = [amount.brutto, amount.netto, amount.ust];
            match by_rate.iter_mut().find(|(key, _)| *key == amount.ust_schluessel) {
                None => by_rate.push((amount.ust_schluessel, own)),
                Some((_, sums)) => {
                    for (sum, own) in sums.iter_mut().zip(own) {
                        *sum = added(*sum, own).ok_or_else(|| format!("{} ergibt zu viel", place(line)))?;
                    }
                }
            }
        }
        Ok(by_rate)
    }

    fn zeilen(
        &self,
        line: &ReceiptLine,
        by_rate: Vec<(i64, [Option<Price>; 3])>,
    ) -> Joined<Vec<ZeileEingabe>> {
        let place = || place(line);
        if by_rate.is_empty() {
            return Err(format!("in lines_vat.csv fehlt {}", place()));
        }
        let alone = by_rate.len() == 1;
        let zeile = |(key, [brutto, netto, ust]): (i64, [Option<Price>; 3])| {
            let rate = self.rates.get(&(&line.key.closing, key));
            let rate =
                *rate.ok_or_else(|| format!("in vat.csv fehlt der Steuersatz {key} für {}", place()))?;
            let printed =
                printed(brutto, netto, ust, rate).map_err(|_| format!("{} ist zu groß", place()))?;
            let (gesamt, steuer) =
                printed.ok_or_else(|| format!("in lines_vat.csv fehlen die Beträge von {}", place()))?;
            let einzelpreis = unit_price(line, gesamt, alone);
            let said = BarverkaufZeile {
                bezeichnung: line.artikeltext.clone().or_else(|| Some(line.gv_typ.clone())),
                ean: line.gtin.clone(),
                menge: Some(line.menge),
                einheit: line.einheit.clone().or_else(|| Some(PIECE.to_owned())),
                einzelpreis: Some(einzelpreis.ok_or_else(|| format!("{} hat keinen Einzelpreis", place()))?),
                mwst_satz: Some(rate),
                gesamt: Some(gesamt),
                steuer: Some(steuer),
                ..BarverkaufZeile::default()
            };
            Ok(ZeileEingabe { artikel: Some(Artikelbezug { nummer: line.art_nr.clone(), id: None }), said })
        };
        by_rate.into_iter().map(zeile).collect()
    }
}

/// Returns the receipts; fails if one occurs twice or has no closing.
fn receipts_once(export: &Export) -> Joined<HashSet<&BonKey>> {
    let closings: HashSet<&Closing> = export.closings.iter().collect();
    let mut receipts = HashSet::new();
    for head in &export.heads {
        let Closing { z_kasse_id, z_nr } = &head.key.closing;
        if !closings.contains(&head.key.closing) {
            return Err(format!("in cashpointclosing.csv fehlt Abschluss {z_nr} der Kasse {z_kasse_id}"));
        }
        if !receipts.insert(&head.key) {
            return Err(format!("in transactions.csv steht {} doppelt", name(&head.key)));
        }
    }
    Ok(receipts)
}

type LinesByReceipt<'e> = HashMap<&'e BonKey, Vec<&'e ReceiptLine>>;

fn lines_by_receipt<'e>(export: &'e Export, receipts: &HashSet<&BonKey>) -> Joined<LinesByReceipt<'e>> {
    let mut places = HashSet::new();
    for line in &export.lines {
        if !receipts.contains(&line.key) {
            return Err(format!("in transactions.csv fehlt {}, den lines.csv nennt", name(&line.key)));
        }
        if !places.insert((&line.key, line.pos_zeile.as_str())) {
            return Err(format!(
                "in lines.csv steht Position {} von {} doppelt",
                line.pos_zeile,
                name(&line.key)
            ));
        }
    }
    Ok(grouped(export.lines.iter().map(|line| (&line.key, line))))
}

type AmountsByPosition<'e> = HashMap<(&'e BonKey, &'e str), Vec<&'e LineAmount>>;

fn amounts_by_position(export: &Export) -> Joined<AmountsByPosition<'_>> {
    let places: HashSet<_> = export.lines.iter().map(|line| (&line.key, line.pos_zeile.as_str())).collect();
    for amount in &export.amounts {
        if !places.contains(&(&amount.key, amount.pos_zeile.as_str())) {
            let (position, key) = (&amount.pos_zeile, name(&amount.key));
            return Err(format!("in lines.csv fehlt Position {position} von {key}, die lines_vat.csv nennt"));
        }
    }
    Ok(grouped(export.amounts.iter().map(|amount| ((&amount.key, amount.pos_zeile.as_str()), amount))))
}

/// Returns the rates by closing and key; fails if a key has two rates.
fn rates(export: &Export) -> Joined<HashMap<(&Closing, i64), Percent>> {
    let mut rates = HashMap::new();
    for (closing, key, rate) in &export.rates {
        if rates.insert((closing, *key), *rate).is_some_and(|other| other != *rate) {
            let Closing { z_kasse_id, z_nr } = closing;
            return Err(format!(
                "vat.csv hat zwei Steuersätze {key} in Abschluss {z_nr} der Kasse {z_kasse_id}"
            ));
        }
    }
    Ok(rates)
}

fn grouped<K: Eq + Hash, V>(pairs: impl Iterator<Item = (K, V)>) -> HashMap<K, Vec<V>> {
    let mut groups: HashMap<K, Vec<V>> = HashMap::new();
    for (key, value) in pairs {
        groups.entry(key).or_default().push(value);
    }
    groups
}

fn total(head: &ReceiptHead, zeilen: &[ZeileEingabe]) -> Joined<Money> {
    let mut amounts = zeilen.iter().filter_map(|zeile| zeile.said.gesamt);
    let sum = amounts.try_fold(Money::ZERO, Money::plus);
    sum.map_err(|_| format!("{} ergibt zu viel", name(&head.key)))
}

/// Adds two amounts, either of which may be missing; `None` if the sum is too large.
fn added(one: Option<Price>, other: Option<Price>) -> Option<Option<Price>> {
    match (one, other) {
        (Some(one), Some(other)) => one.plus(other).ok().map(Some),
        (one, other) => Some(one.or(other)),
    }
}

/// Returns the gross price of one unit. STK_BR is the price of FAKTOR units; if the position has several
/// rates, or no price, it is computed from the total.
fn unit_price(line: &ReceiptLine, gesamt: Money, alone: bool) -> Option<Price> {
    let divide = |total: rust_decimal::Decimal, by: Quantity| {
        total.checked_div(by.decimal()).and_then(|price| Price::round(price).ok())
    };
    match (line.stk_br, line.faktor.filter(|faktor| !faktor.is_zero())) {
        (Some(price), None) if alone || line.menge.is_zero() => Some(price),
        (Some(price), Some(faktor)) if alone || line.menge.is_zero() => divide(price.decimal(), faktor),
        // A line of text has neither quantity nor price.
        _ if line.menge.is_zero() => Some(Price::ZERO),
        _ => divide(gesamt.decimal(), line.menge),
    }
}

fn place(line: &ReceiptLine) -> String {
    format!("Position {} von {}", line.pos_zeile, name(&line.key))
}

fn name(key: &BonKey) -> String {
    format!("Bon {} (Abschluss {} der Kasse {})", key.bon_id, key.closing.z_nr, key.closing.z_kasse_id)
}
