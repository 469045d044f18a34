//! Data of a document stored in other tables: articles, batches, weighings, deliveries, contracts.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::bezug;
use crate::goods::{chargen, kontrakte, waage};
use crate::master::artikel::{self, Artikel};
use crate::master::{biozertifikate, steuersaetze};
use crate::papers::erechnung::Bezug;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::fixed::{Percent, Quantity};
use crate::rules::tax::{Steuerart, is_flat_rate};
use crate::trade::belege::lager;
use crate::trade::belege::lifecycle::abrechnung::{self, Abgerechnet};
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::{self, Lieferung};

/// Data frozen as JSON beside a final document. A field added later is `None` in older JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Angaben {
    /// Day of the delivery: lieferdatum, else that of the paired delivery, else of the weighing; for an
    /// invoice with none of these and no period, its own date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lieferdatum: Option<Day>,
    /// `lieferdatum` is the invoice's date.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lieferdatum_angenommen: bool,
    /// The deliveries that an invoice bills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lieferscheine: Vec<Bezug>,
    /// The invoices that a correction references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub berichtigt: Vec<Bezug>,
    /// The settlements on which this one is based.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vorausgegangen: Vec<Bezug>,
    /// Those of the positions' rates that are flat rates of § 24 UStG.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub durchschnittssaetze: Vec<Percent>,
    /// The contract, if all positions have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kontrakt: Option<String>,
    /// In the order of the positions.
    pub positionen: Vec<Ware>,
    /// The receipts that it settles, in order (D29m).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abrechnung: Vec<Abgerechnet>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ware {
    /// Tax status of the seller on the rate date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steuerart: Option<Steuerart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artikelnummer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artikel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ean: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chargen: Vec<Partie>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wiegungen: Vec<Gewogen>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kontrakt: Option<String>,
    /// Its deliveries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lieferscheine: Vec<Bezug>,
}

/// A batch, or the description of one that a purchase brings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Partie {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_nr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fremde_charge_nr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mhd: Option<Day>,
    /// ISO 3166-1 alpha-2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub herkunftsland: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kontrollstelle: Option<String>,
}

/// A finished weighing, in kg.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gewogen {
    pub wiegeschein_nr: String,
    pub brutto: Quantity,
    pub tara: Quantity,
    pub netto: Quantity,
}

impl Angaben {
    /// Gathers the current data of a document.
    pub fn gather(
        tx: &Tx<'_>,
        beleg: &Beleg,
        positionen: &[BelegPosition],
        seller: impl Fn(Day) -> Option<Steuerart>,
    ) -> Result<Angaben> {
        let lieferungen = match beleg.beleg_typ.ist_rechnung() {
            true => sql::certain_deliveries(tx, beleg.id)?,
            false => Vec::new(),
        };
        let mut weighed_on = None;
        let mut waren = Vec::with_capacity(positionen.len());
        for position in positionen {
            let own: Vec<_> = lieferungen.iter().filter(|one| one.position == position.position).collect();
            let ware = Ware::of(tx, beleg, position, &own, &mut weighed_on)?;
            waren.push(Ware { steuerart: seller(position.satz_datum), ..ware });
        }
        let delivered = lieferungen.iter().map(|lieferung| lieferung.datum).max();
        let known = beleg.lieferdatum.map(|day| day.0).or(delivered).or(weighed_on);
        let has_period = beleg.leistung_von.is_some() || beleg.leistung_bis.is_some();
        let lieferdatum_angenommen = known.is_none() && !has_period && beleg.beleg_typ.ist_rechnung();
        let lieferdatum = known.or(lieferdatum_angenommen.then(|| beleg.datum()));
        let mut kontrakte: Vec<_> = waren.iter().map(|ware| &ware.kontrakt).collect();
        kontrakte.dedup();
        let kontrakt = match kontrakte.as_slice() {
            [Some(one)] => Some(one.clone()),
            _ => None,
        };
        Ok(Angaben {
            lieferdatum,
            lieferdatum_angenommen,
            lieferscheine: distinct(lieferungen.iter().map(named)),
            berichtigt: bezug::berichtigt(tx, beleg, positionen)?,
            vorausgegangen: bezug::vorausgegangen(tx, beleg, positionen)?,
            durchschnittssaetze: durchschnittssaetze(tx, &waren, positionen)?,
            kontrakt,
            positionen: waren,
            abrechnung: abrechnung::notes(tx, beleg.id)?,
        })
    }

    /// Returns the delivery, if there is exactly one.
    pub fn lieferschein(&self) -> Option<&Bezug> {
        self.lieferscheine.first().filter(|_| self.lieferscheine.len() == 1)
    }

    /// Returns the first and last day of several deliveries.
    pub fn liefertage(&self) -> Option<(Day, Day)> {
        let days = || self.lieferscheine.iter().map(|bezug| bezug.datum);
        days().min().zip(days().max()).filter(|_| self.lieferscheine.len() > 1)
    }

    /// Returns the deliveries of a position if the document has several; otherwise none.
    pub fn lieferungen<'w>(&self, ware: &'w Ware) -> &'w [Bezug] {
        if self.lieferscheine.len() > 1 { &ware.lieferscheine } else { &[] }
    }
}

/// Returns the flat rates, of any date, among the rates of a flat-rate farmer, who may sell at other rates,
/// too (§ 24 UStG).
fn durchschnittssaetze(tx: &Tx<'_>, waren: &[Ware], positionen: &[BelegPosition]) -> Result<Vec<Percent>> {
    let saetze = steuersaetze::all(tx)?;
    let of_farmer = |ware: &Ware| ware.steuerart == Some(Steuerart::Pauschal24);
    let rates =
        positionen.iter().zip(waren).filter(|(_, ware)| of_farmer(ware)).map(|(line, _)| line.mwst_satz);
    Ok(distinct(rates.filter(|satz| is_flat_rate(&saetze, *satz))))
}

impl Ware {
    /// Gathers the data of a position; sets `weighed_on` to the last day of its weighings.
    fn of(
        tx: &Tx<'_>,
        beleg: &Beleg,
        position: &BelegPosition,
        lieferungen: &[&Lieferung],
        weighed_on: &mut Option<Day>,
    ) -> Result<Ware> {
        let artikel = position.artikel_id.map(|id| artikel::must_have(tx, id)).transpose()?;
        let weighings = lieferungen.iter().filter_map(|lieferung| lieferung.wiegung_id);
        let mut wiegungen = Vec::new();
        for id in distinct(position.wiegung_id.iter().copied().chain(weighings)) {
            let (day, gewogen) = gewogen(tx, id)?;
            *weighed_on = (*weighed_on).max(day);
            wiegungen.extend(gewogen);
        }
        let kontrakt = position.kontrakt_id.map(|id| kontrakte::number(tx, id)).transpose()?.flatten();
        Ok(Ware {
            steuerart: None,
            chargen: partien(tx, beleg, position, artikel.as_deref())?,
            artikelnummer: artikel.as_ref().map(|artikel| artikel.artikelnummer.clone()),
            artikel: artikel.as_ref().map(|artikel| artikel.bezeichnung.clone()),
            ean: artikel.as_ref().and_then(|artikel| artikel.ean.clone()),
            wiegungen,
            kontrakt,
            lieferscheine: distinct(lieferungen.iter().map(|lieferung| named(lieferung))),
        })
    }
}

fn named(lieferung: &Lieferung) -> Bezug {
    Bezug { nummer: lieferung.beleg_nummer.clone(), datum: lieferung.datum }
}

/// Returns the day of a weighing and, once it is finished, its weights.
fn gewogen(tx: &Tx<'_>, id: Uuid) -> Result<(Option<Day>, Option<Gewogen>)> {
    let wiegung = waage::find(tx, id)?;
    let wiegung = wiegung.ok_or_else(|| Failure::Broken("the weighing of a position is gone".into()))?;
    let day = Day::in_berlin(wiegung.ts_zweit.unwrap_or(wiegung.ts_erst));
    let weights = wiegung.gewicht_zweit_kg.zip(wiegung.gewicht_netto_kg);
    let gewogen = weights.map(|(zweit, netto)| Gewogen {
        wiegeschein_nr: wiegung.wiegeschein_nr,
        brutto: wiegung.gewicht_erst_kg.max(zweit),
        tara: wiegung.gewicht_erst_kg.min(zweit),
        netto,
    });
    Ok((Some(day), gewogen))
}

/// Returns the batches of a position; if it has none, its own description of the goods.
fn partien(
    tx: &Tx<'_>,
    beleg: &Beleg,
    position: &BelegPosition,
    artikel: Option<&Artikel>,
) -> Result<Vec<Partie>> {
    let mut partien = Vec::new();
    let has_batches = position.charge_id.is_some() || artikel.is_some_and(|artikel| artikel.chargenpflichtig);
    let batches = if has_batches { lager::batches_of(tx, beleg, position)? } else { Vec::new() };
    for id in batches {
        let charge = chargen::find(tx, id)?;
        let charge = charge.ok_or_else(|| Failure::Broken("the batch of a position is gone".into()))?;
        partien.push(Partie {
            charge_nr: Some(charge.charge_nr),
            fremde_charge_nr: charge.fremde_charge_nr,
            mhd: charge.mhd.map(|day| day.0),
            herkunftsland: charge.herkunftsland,
            kontrollstelle: kontrollstelle(tx, charge.biozertifikat_id)?,
        });
    }
    if partien.is_empty() {
        let own = Partie {
            charge_nr: None,
            fremde_charge_nr: position.fremde_charge_nr.clone(),
            mhd: position.mhd.map(|day| day.0),
            herkunftsland: position.herkunftsland.clone(),
            kontrollstelle: kontrollstelle(tx, position.biozertifikat_id)?,
        };
        partien.extend((own != Partie::default()).then_some(own));
    }
    Ok(partien)
}

fn kontrollstelle(tx: &Tx<'_>, biozertifikat: Option<i64>) -> Result<Option<String>> {
    Ok(biozertifikat.map(|id| biozertifikate::kontrollstelle(tx, id)).transpose()?.flatten())
}

/// Removes duplicates and keeps the order.
fn distinct<T: PartialEq + Clone>(all: impl Iterator<Item = impl std::borrow::Borrow<T>>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(one.borrow()) {
            found.push(one.borrow().clone());
        }
    }
    found
}
