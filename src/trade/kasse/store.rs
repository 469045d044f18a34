//! Storing a till receipt from any source (D22).

use std::collections::BTreeSet;

use uuid::Uuid;

use super::model::BarverkaufZeile;
use super::sql::{self, Bon, Zeile};
use crate::master::artikel;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::import::{Stored, Upserted};
use crate::rules::day::Instant;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::{Money, Percent};
use crate::rules::kasse::BonArt;
use crate::rules::price::line_total;
use crate::rules::tax::contained_tax;

/// A receipt, or some of its lines. Fields that are `None` stay unchanged.
#[derive(Debug, Clone, Default)]
pub struct BonEingabe {
    pub bon_id: Option<Uuid>,
    pub bon_nr: Option<String>,
    pub kasse_id: Option<Uuid>,
    pub kassiert_at: Option<Instant>,
    pub art: Option<BonArt>,
    pub storno_von_bon_id: Option<Uuid>,
    /// Whether it reverses several receipts: storno_von_bon_id then names none of them.
    pub storniert_mehrere: bool,
    pub zahlart: Option<String>,
    pub kunde_id: Option<Uuid>,
    pub zeilen: Vec<ZeileEingabe>,
}

/// A line. Its key is the id if there is one, else its place in the receipt.
#[derive(Debug, Clone)]
pub struct ZeileEingabe {
    pub artikel: Option<Artikelbezug>,
    /// The fields of the line itself.
    pub said: BarverkaufZeile,
}

#[derive(Debug, Clone, Default)]
pub struct Artikelbezug {
    /// The number as sent.
    pub nummer: Option<String>,
    pub id: Option<Uuid>,
}

/// Finds the article with this number, else with this GTIN; `None` with a hint if unknown (D22).
pub fn find_article(
    tx: &WriteTx<'_>,
    nummer: Option<String>,
    gtin: Option<&str>,
    hints: &mut Hints,
) -> Result<Artikelbezug> {
    let by_nummer = nummer.as_deref().map(|nummer| artikel::find_by_artikelnummer(tx, nummer)).transpose()?;
    let id = match (by_nummer.flatten(), gtin) {
        (Some(artikel), _) => Some(artikel.id),
        (None, Some(gtin)) => artikel::find_by_ean(tx, gtin)?,
        (None, None) => None,
    };
    if let (None, Some(name)) = (id, nummer.as_deref().or(gtin)) {
        let message = format!("Den Artikel {name} gibt es nicht; die Bonzeilen haben keine artikel_id.");
        hints.add_field(HintCode::ArtikelUnbekannt, "artikelnummer", message);
    }
    Ok(Artikelbezug { nummer, id })
}

pub fn store(tx: &WriteTx<'_>, eingabe: &BonEingabe, hints: &mut Hints) -> Stored {
    let at_first = |failure| (0, failure);
    let mut known = Vec::new();
    for (index, zeile) in eingabe.zeilen.iter().enumerate() {
        let found = zeile.said.id.map(|id| sql::find_zeile(tx, id)).transpose();
        known.push(found.map_err(|failure| (index, failure))?.flatten());
    }
    let old = find_bon(tx, eingabe, known.iter().flatten().next()).map_err(at_first)?;
    let bon = with_header(tx, old.as_ref().map(|(bon, _)| bon), eingabe).map_err(at_first)?;
    let header_differs = old.as_ref().is_none_or(|(old, _)| *old != bon);
    if header_differs {
        sql::upsert(tx, &bon, old.is_none()).map_err(at_first)?;
    }
    let zeilen_before = old.as_ref().map_or(0, |(_, zeilen)| *zeilen);
    let mut storing = Storing { tx, bon: bon.id, zeilen: zeilen_before, seen: BTreeSet::new() };
    let mut outcomes = Vec::new();
    for (index, (zeile, known)) in eingabe.zeilen.iter().zip(known).enumerate() {
        let stored = storing.zeile(index, zeile, known).map_err(|failure| (index, failure))?;
        outcomes.push(if stored == Upserted::Unchanged && header_differs {
            Upserted::Changed
        } else {
            stored
        });
    }
    if outcomes.iter().any(|outcome| *outcome != Upserted::Unchanged) {
        check_reversal(tx, &bon, outcomes.len())?;
        let before = old.and_then(|(old, _)| old.storno_von_bon_id);
        close(tx, &bon, storing.zeilen, before).map_err(at_first)?;
        hint_reversed_again(tx, &bon, hints).map_err(at_first)?;
    }
    Ok(outcomes)
}

/// Refuses a reversal with positive quantities: it takes back sold goods, so they must be negative (D22).
/// `sent` is the number of sent lines.
fn check_reversal(tx: &WriteTx<'_>, bon: &Bon, sent: usize) -> std::result::Result<(), (usize, Failure)> {
    if bon.art != BonArt::Storno {
        return Ok(());
    }
    let adding = sql::adding_line(tx, bon.id, bon.storno_von_bon_id).map_err(|failure| (0, failure))?;
    let Some(position) = adding else { return Ok(()) };
    let message = "Ein Stornobon hat negative Mengen. Bitte das Vorzeichen der menge prüfen.";
    // Lines sent by id need not be the first ones of the receipt.
    let at = usize::try_from(position - 1).ok().filter(|at| *at < sent).unwrap_or_default();
    Err((at, Refusal::field(Code::MengeUngueltig, "menge", message).into()))
}

/// Adds a hint if a reversal takes back what others took back before.
fn hint_reversed_again(tx: &Tx<'_>, bon: &Bon, hints: &mut Hints) -> Result<()> {
    let Some(original) = bon.storno_von_bon_id else { return Ok(()) };
    if sql::is_reversed_too_often(tx, original)? {
        let message =
            format!("Der Stornobon {} nimmt mehr zurück, als der Bon noch hatte. Bitte prüfen.", bon.bon_nr);
        hints.add_field(HintCode::BonMehrfachStorniert, "storno_von_bon_id", message);
    }
    Ok(())
}

/// Updates the derived data: the number of lines, and which receipts are reversed, regardless of the order in
/// which receipt and reversal arrive.
fn close(tx: &WriteTx<'_>, bon: &Bon, zeilen: i64, storno_von_before: Option<Uuid>) -> Result<()> {
    sql::recompute(tx, bon.id, Some(zeilen))?;
    let others = [bon.storno_von_bon_id, storno_von_before];
    others.into_iter().flatten().try_for_each(|bon| sql::recompute(tx, bon, None))
}

/// Finds the receipt and the number of its lines: by its id, else by the id of a line, else by its number,
/// with the same register and time if both are known.
fn find_bon(tx: &Tx<'_>, eingabe: &BonEingabe, known: Option<&Zeile>) -> Result<Option<(Bon, i64)>> {
    if let Some(id) = eingabe.bon_id {
        return sql::find(tx, id);
    }
    if let Some(zeile) = known {
        let found = sql::find(tx, zeile.bon_id)?;
        let bon = found.as_ref().map(|(bon, _)| bon);
        let other_nr = bon.zip(eingabe.bon_nr.as_ref()).is_some_and(|(bon, nr)| bon.bon_nr != *nr);
        let other_kasse = bon.zip(eingabe.kasse_id).is_some_and(|(bon, id)| bon.kasse_id != Some(id));
        if other_nr || other_kasse {
            return Err(other_bon(zeile.id));
        }
        return Ok(found);
    }
    let bon_nr = required(eingabe.bon_nr.as_ref(), "bon_nr")?;
    let at = eingabe.kassiert_at;
    // Two registers may assign the same number; a missing register matches any.
    let fits = |bon: &Bon| bon.kasse_id.zip(eingabe.kasse_id).is_none_or(|(a, b)| a == b);
    let found = sql::find_by_nr(tx, bon_nr)?.into_iter().filter(|(bon, _)| fits(bon));
    let (same, others): (Vec<_>, Vec<_>) =
        found.partition(|(bon, _)| at.is_none_or(|at| at == bon.kassiert_am));
    match (same.as_slice(), others.as_slice()) {
        ([], []) => Ok(None),
        ([found], _) => Ok(Some(found.clone())),
        ([], [(other, _), ..]) => {
            let message = format!(
                "Den Bon {bon_nr} gibt es schon, kassiert am {}. Ist es ein anderer Bon, bitte bon_id angeben.",
                other.kassiert_am
            );
            Err(Refusal::field(Code::FeldWiderspruch, "kassiert_at", message).into())
        }
        _ => {
            let message = format!("Die Nummer {bon_nr} haben mehrere Bons. Bitte bon_id angeben.");
            Err(Refusal::field(Code::FeldFehlt, "bon_id", message).into())
        }
    }
}

fn other_bon(id: i64) -> Failure {
    let message = format!("Die Zeile {id} gehört zu einem anderen Bon. Bitte die id prüfen.");
    Refusal::field(Code::FeldWiderspruch, "id", message).into()
}

fn with_header(tx: &WriteTx<'_>, old: Option<&Bon>, eingabe: &BonEingabe) -> Result<Bon> {
    let bon_nr = eingabe.bon_nr.clone().or_else(|| old.map(|old| old.bon_nr.clone()));
    let kassiert_at = eingabe.kassiert_at.or(old.map(|old| old.kassiert_am));
    let bon = Bon {
        id: old.map(|old| old.id).or(eingabe.bon_id).unwrap_or_else(|| tx.new_id()),
        bon_nr: required(bon_nr, "bon_nr")?,
        kasse_id: eingabe.kasse_id.or(old.and_then(|old| old.kasse_id)),
        kassiert_am: required(kassiert_at, "kassiert_at")?,
        art: eingabe.art.or(old.map(|old| old.art)).unwrap_or(BonArt::Verkauf),
        storno_von_bon_id: eingabe.storno_von_bon_id.or(old.and_then(|old| old.storno_von_bon_id)),
        zahlart: eingabe.zahlart.clone().or_else(|| old.and_then(|old| old.zahlart.clone())),
        kunde_id: eingabe.kunde_id.or(old.and_then(|old| old.kunde_id)),
    };
    let message = match bon.storno_von_bon_id {
        None if bon.art == BonArt::Storno && !eingabe.storniert_mehrere && old != Some(&bon) => {
            let message = "Ein Stornobon nennt den Bon, den er storniert. Bitte storno_von_bon_id angeben.";
            return Err(Refusal::field(Code::FeldFehlt, "storno_von_bon_id", message).into());
        }
        Some(_) if bon.art != BonArt::Storno => "Nur ein Bon der art storno storniert einen anderen.",
        Some(original) if original == bon.id => "Ein Bon kann sich nicht selbst stornieren.",
        _ => return Ok(bon),
    };
    Err(Refusal::field(Code::FeldWiderspruch, "storno_von_bon_id", message).into())
}

struct Storing<'t, 'c> {
    tx: &'t WriteTx<'c>,
    bon: Uuid,
    zeilen: i64,
    seen: BTreeSet<i64>,
}

impl Storing<'_, '_> {
    /// Stores a line; `known` is the line that has its id.
    fn zeile(&mut self, index: usize, sent: &ZeileEingabe, known: Option<Zeile>) -> Result<Upserted> {
        if let Some(other) = known.as_ref().filter(|known| known.bon_id != self.bon) {
            return Err(other_bon(other.id));
        }
        let old = match sent.said.id {
            Some(_) => known,
            // A new receipt has no lines yet.
            None if self.zeilen <= index as i64 => None,
            None => sql::find_zeile_at(self.tx, self.bon, index as i64 + 1)?,
        };
        let (id, position) = match (&old, sent.said.id) {
            (Some(old), _) => (old.id, old.position),
            (None, Some(id)) => (id, self.zeilen + 1),
            (None, None) => (sql::next_zeilen_id(self.tx)?, self.zeilen + 1),
        };
        let message = "Diese Bonzeile steht schon weiter oben. Bitte id und Reihenfolge prüfen.";
        refuse_if(!self.seen.insert(id), Code::FeldWiderspruch, "id", message)?;
        let new = self.merged(old.as_ref(), sent, id, position)?;
        if old.as_ref() == Some(&new) {
            return Ok(Upserted::Unchanged);
        }
        sql::upsert_zeile(self.tx, &new)?;
        if old.is_some() {
            return Ok(Upserted::Changed);
        }
        self.zeilen += 1;
        Ok(Upserted::Created)
    }

    fn merged(&self, old: Option<&Zeile>, sent: &ZeileEingabe, id: i64, position: i64) -> Result<Zeile> {
        let ZeileEingabe { artikel, said: sent } = sent;
        let bezeichnung = sent.bezeichnung.as_ref().or(old.map(|old| &old.bezeichnung));
        let menge = required(sent.menge.or(old.map(|old| old.menge)), "menge")?;
        let einzelpreis = required(sent.einzelpreis.or(old.map(|old| old.einzelpreis)), "einzelpreis")?;
        let mwst_satz = required(sent.mwst_satz.or(old.map(|old| old.mwst_satz)), "mwst_satz")?;
        let same_goods = old.filter(|old| old.menge == menge && old.einzelpreis == einzelpreis);
        let gesamt = match sent.gesamt.or(same_goods.map(|old| old.gesamt)) {
            Some(gesamt) => gesamt,
            None => line_total(menge, einzelpreis, Percent::ZERO)?,
        };
        let same_amount = old.filter(|old| old.gesamt == gesamt && old.mwst_satz == mwst_satz);
        let steuer = match same_amount.filter(|_| sent.steuer.is_none() && sent.netto.is_none()) {
            Some(old) => old.steuer,
            None => tax(gesamt, mwst_satz, sent)?,
        };
        let artikel = artikel.clone().unwrap_or_else(|| Artikelbezug {
            nummer: old.and_then(|old| old.artikelnummer.clone()),
            id: old.and_then(|old| old.artikel_id),
        });
        Ok(Zeile {
            id,
            bon_id: self.bon,
            position,
            artikel_id: artikel.id,
            artikelnummer: artikel.nummer,
            bezeichnung: required(bezeichnung, "bezeichnung")?.clone(),
            ean: sent.ean.clone().or_else(|| old.and_then(|old| old.ean.clone())),
            menge,
            einheit: sent.einheit.clone().or_else(|| old.and_then(|old| old.einheit.clone())),
            einzelpreis,
            mwst_satz,
            gesamt,
            steuer,
        })
    }
}

/// Returns the tax of a line: its own, else gross less net, else computed from the rate (D7).
fn tax(gesamt: Money, mwst_satz: Percent, sent: &BarverkaufZeile) -> Result<Money> {
    match (sent.steuer, sent.netto) {
        (Some(steuer), Some(netto)) if netto.plus(steuer)? != gesamt => {
            let message = format!("netto {netto} und steuer {steuer} ergeben nicht gesamt {gesamt}.");
            Err(Refusal::field(Code::FeldWiderspruch, "steuer", message).into())
        }
        (Some(steuer), _) => at_most(steuer, gesamt, "steuer"),
        (None, Some(netto)) => at_most(gesamt.minus(netto)?, gesamt, "netto"),
        (None, None) => Ok(contained_tax(gesamt, mwst_satz)),
    }
}

/// Refuses a tax larger than the amount that contains it, whichever field it comes from.
fn at_most(steuer: Money, gesamt: Money, feld: &str) -> Result<Money> {
    if steuer.abs() <= gesamt.abs() {
        return Ok(steuer);
    }
    let message = format!("Die steuer {steuer} ist mehr als gesamt {gesamt}.");
    Err(Refusal::field(Code::FeldWiderspruch, feld, message).into())
}
