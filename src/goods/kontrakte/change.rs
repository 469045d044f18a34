//! Creating and changing contracts with their positions (D22).

use std::collections::BTreeSet;

use uuid::Uuid;

use super::model::{Kontrakt, KontraktChange, Position, PositionEingabe};
use super::sql::{self, VERLAUF};
use super::{bezug, lieferstand};
use crate::goods::abrechnungsschemata;
use crate::master::artikel;
use crate::master::kunden;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::verlauf::part;
use crate::rules::change::Change;
use crate::rules::day::DayTime;
use crate::rules::document::Seite;
use crate::rules::error::{Checked, Code, HintCode, Hints, refuse_if, required_text};
use crate::rules::felder;
use crate::rules::fixed::Price;
use crate::rules::unit::Conversion;

/// A price that differs from the article's by this factor, up or down, is doubtful: usually its unit is
/// another.
const DOUBTFUL_TIMES: i64 = 4;

pub fn create(tx: &WriteTx<'_>, change: KontraktChange, hints: &mut Hints) -> Result<Kontrakt> {
    let blank = Kontrakt { id: tx.new_id(), ..Kontrakt::default() };
    let new = apply(tx, &blank, change)?;
    store(tx, None, &new, hints)?;
    Ok(new)
}

/// Changes the fields that were sent; null clears a field (D18).
pub fn change(tx: &WriteTx<'_>, old: Kontrakt, change: KontraktChange, hints: &mut Hints) -> Result<()> {
    let old = Kontrakt { positionen: sql::positions(tx, old.id)?, ..old };
    let new = apply(tx, &old, change)?;
    lieferstand::check_named(tx, &old, &new)?;
    store(tx, Some(&old), &new, hints).map(drop)
}

/// Returns a contract as it will be; what [`store`] checks concerns several of its fields.
pub fn apply(tx: &WriteTx<'_>, old: &Kontrakt, mut change: KontraktChange) -> Result<Kontrakt> {
    let (partner, schema) = (std::mem::take(&mut change.partner_id), change.schema.clone());
    let positionen = std::mem::take(&mut change.positionen);
    let mut new = old.clone();
    change.apply_to(&mut new);
    required_text(&new.kontrakt_nr, "kontrakt_nr")?;
    check_number(tx, old, &new.kontrakt_nr)?;
    (new.partner_id, new.partner_name) = match partner {
        Change::Set(id) => Some(kunden::by_id(tx, id)?).map(|kunde| (kunde.id, kunde.name)).unzip(),
        Change::Clear => (None, None),
        Change::Keep => (new.partner_id, new.partner_name),
    };
    new.schema_id = match schema {
        Change::Set(nummer) => Some(abrechnungsschemata::named(tx, &nummer)?),
        Change::Clear => None,
        Change::Keep => new.schema_id,
    };
    new.positionen = match positionen {
        Change::Set(sent) => positions(tx, &old.positionen, sent)?,
        Change::Clear => Vec::new(),
        Change::Keep => new.positionen,
    };
    Ok(new)
}

fn check_number(tx: &Tx<'_>, old: &Kontrakt, nummer: &str) -> Result<()> {
    let is_taken = nummer != old.kontrakt_nr && sql::find_by_nr(tx, nummer)?.is_some();
    let message = format_args!("Die Kontraktnummer {nummer} ist schon vergeben. Bitte eine andere wählen.");
    Ok(refuse_if(is_taken, Code::FeldWiderspruch, "kontrakt_nr", message)?)
}

fn check_days(kontrakt: &Kontrakt) -> Checked<()> {
    let ends_before = kontrakt.gueltig_von.zip(kontrakt.gueltig_bis).is_some_and(|(von, bis)| bis < von);
    refuse_if(ends_before, Code::DatumUngueltig, "gueltig_bis", "gueltig_bis liegt vor gueltig_von.")
}

/// Refuses a scheme unless it covers each of the contract's articles on some day of its term; the version
/// that applies is determined per delivery.
fn check_scheme(tx: &Tx<'_>, old: Option<&Kontrakt>, new: &Kontrakt) -> Result<()> {
    let (Some(id), Some(nummer)) = (new.schema_id, &new.schema) else { return Ok(()) };
    let articles = |kontrakt: &Kontrakt| -> BTreeSet<Option<Uuid>> {
        let named = kontrakt.positionen.iter().filter_map(|position| position.artikel_id);
        named.map(Some).collect()
    };
    let said = |kontrakt: &Kontrakt| {
        (kontrakt.schema_id, kontrakt.gueltig_von, kontrakt.gueltig_bis, articles(kontrakt))
    };
    if old.is_some_and(|old| said(old) == said(new)) {
        return Ok(());
    }
    let [von, bis] = [new.gueltig_von, new.gueltig_bis].map(|day| day.map(|DayTime(day)| day));
    let mut asked = articles(new);
    if asked.is_empty() {
        asked.insert(None);
    }
    for artikel in asked {
        let holds = abrechnungsschemata::holds_within(tx, id, artikel, von, bis)?;
        let of = artikel.map(|id| artikel::must_have(tx, id)).transpose()?;
        let of = of.map(|artikel| format!(" für den Artikel {}", artikel.artikelnummer));
        let message = format_args!(
            "Das Schema {nummer} gilt in der Zeit des Kontrakts nicht{}. Bitte Schema, Artikel und Zeit prüfen.",
            of.unwrap_or_default()
        );
        refuse_if(!holds, Code::SchemaPasstNicht, "schema", message)?;
    }
    Ok(())
}

/// Returns all positions that the contract will have: existing ones found by id, else by number, else new
/// ones.
fn positions(tx: &WriteTx<'_>, known: &[Position], sent: Vec<PositionEingabe>) -> Result<Vec<Position>> {
    let numbers =
        known.iter().map(|known| known.position).chain(sent.iter().filter_map(|sent| sent.position));
    let mut last = numbers.max().unwrap_or(0);
    let mut positions: Vec<Position> = Vec::new();
    for (index, sent) in sent.into_iter().enumerate() {
        let path = format!("positionen[{index}]");
        let position = position(tx, known, &mut last, sent).map_err(|failure| failure.below(&path))?;
        let is_double = |other: &Position| other.id == position.id || other.position == position.position;
        let message =
            format_args!("Die Position {} steht zweimal da. Bitte eine weglassen.", position.position);
        refuse_if(positions.iter().any(is_double), Code::WertUngueltig, &path, message)?;
        positions.push(position);
    }
    Ok(positions)
}

/// Returns a position as sent; a new one without a number gets the number after `last`.
fn position(tx: &WriteTx<'_>, known: &[Position], last: &mut i64, sent: PositionEingabe) -> Result<Position> {
    let is_meant =
        |known: &&Position| sent.id.map_or(sent.position == Some(known.position), |id| known.id == id);
    let found = known.iter().find(is_meant);
    let message = "Diese Position hat der Kontrakt nicht. Bitte die id prüfen oder weglassen.";
    refuse_if(sent.id.is_some() && found.is_none(), Code::KontraktNichtGefunden, "id", message)?;
    let number = sent.position.or(found.map(|found| found.position)).unwrap_or_else(|| {
        *last += 1;
        *last
    });
    Ok(Position {
        id: found.map_or_else(|| tx.new_id(), |found| found.id),
        position: number,
        artikel_id: artikel::named(tx, sent.artikel_id, sent.artikelnr.as_deref())?.map(|artikel| artikel.id),
        menge: sent.menge,
        preis: sent.preis,
    })
}

/// Adds hints for new prices far from those of their articles, and for a new end in the past.
fn hint_doubts(tx: &Tx<'_>, old: Option<&Kontrakt>, new: &Kontrakt, hints: &mut Hints) -> Result<()> {
    let old_end = old.and_then(|old| old.gueltig_bis);
    let is_over = new.gueltig_bis.is_some_and(|bis| bis.0 < tx.today()) && new.gueltig_bis != old_end;
    if is_over && !new.erledigt {
        hints.add_field(HintCode::WertFraglich, "gueltig_bis", "Der Kontrakt ist damit schon abgelaufen.");
    }
    let terms = |kontrakt: &Kontrakt| (kontrakt.kontrakt_typ.clone(), kontrakt.gesamtmenge_einheit.clone());
    let old = old.filter(|old| terms(old) == terms(new));
    let is_new = |position: &Position| old.is_none_or(|old| !old.positionen.contains(position));
    for (at, position) in new.positionen.iter().enumerate().filter(|(_, position)| is_new(position)) {
        if let Some(usual) = doubt(tx, new, position)? {
            let message = format!("Für den Artikel gilt sonst {usual} EUR. Bitte Preis und Einheit prüfen.");
            hints.add_field(HintCode::WertFraglich, format!("positionen[{at}].preis"), message);
        }
    }
    Ok(())
}

/// Returns the usual price of a position's goods, per unit of the contract, if the agreed price is far from
/// it.
fn doubt(tx: &Tx<'_>, kontrakt: &Kontrakt, position: &Position) -> Result<Option<String>> {
    let (Some(id), Some(preis)) = (position.artikel_id, position.preis) else { return Ok(None) };
    let artikel = artikel::must_have(tx, id)?;
    let side = kontrakt.kontrakt_typ.as_deref().and_then(bezug::side);
    let usual = if side == Some(Seite::Einkauf) { artikel.ep_netto } else { artikel.preis };
    let (Some(usual), Some(own)) = (usual.filter(|usual| *usual != Price::ZERO), &artikel.einheit) else {
        return Ok(None);
    };
    let einheit = kontrakt.gesamtmenge_einheit.as_deref().unwrap_or(own);
    let Some(conversion) = Conversion::between(own, einheit) else { return Ok(None) };
    let usual = conversion.price(usual)?;
    let times = |price: Price| i128::from(price.units()) * i128::from(DOUBTFUL_TIMES);
    let is_far = i128::from(preis.units()) >= times(usual) || times(preis) <= i128::from(usual.units());
    Ok(is_far.then(|| format!("{usual} je {einheit}")))
}

/// Stores a contract with its positions and records the changes in its history; returns whether anything
/// changed.
pub fn store(tx: &WriteTx<'_>, old: Option<&Kontrakt>, new: &Kontrakt, hints: &mut Hints) -> Result<bool> {
    if old == Some(new) {
        return Ok(false);
    }
    check_days(new)?;
    check_scheme(tx, old, new)?;
    hint_doubts(tx, old, new, hints)?;
    let known = old.map_or(&[][..], |old| &old.positionen);
    let mut changed = Vec::new();
    if let Some(old) = old {
        changed = felder::differing(old, new)?;
        changed.retain(|feld| feld.feld != "positionen");
    }
    if old.is_none() || !changed.is_empty() {
        sql::upsert(tx, new, old.is_none())?;
    }
    let with_id =
        |positions: &'_ [Position], id: Uuid| positions.iter().position(|position| position.id == id);
    for position in &new.positionen {
        let before = with_id(known, position.id).and_then(|at| known.get(at));
        if before != Some(position) {
            sql::upsert_position(tx, new.id, position, before.is_none())?;
            changed.push(part("positionen", before, Some(position))?);
        }
    }
    for gone in known.iter().filter(|old| with_id(&new.positionen, old.id).is_none()) {
        sql::delete_position(tx, new.id, gone.id)?;
        changed.push(part("positionen", Some(gone), None)?);
    }
    if old.is_some() && !changed.is_empty() {
        VERLAUF.add(tx, new.id, &changed)?;
    }
    lieferstand::hint_unit(tx, new, hints)?;
    Ok(!changed.is_empty())
}
