//! Creating batches and booking movements.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::named_params;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::model::Charge;
use super::sql;
use crate::artikel::{self, Artikel};
use crate::db::numbers;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::rules::day::{Day, DayTime};
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal};
use crate::rules::fixed::{LIMIT, Price, Quantity, TooLarge};
use crate::rules::number::{Reihe, is_reserved_charge_nr};
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::text::case_key;
use crate::rules::unit::Conversion;
use crate::tenants::{Einstellungen, Strenge};

/// What a new batch is made of. Without a number it gets the next of the series CH (D5).
#[derive(Debug, Clone, Default)]
pub struct NeueCharge {
    pub charge_nr: Option<String>,
    pub artikel_id: Uuid,
    pub partner_id: Option<Uuid>,
    pub fremde_charge_nr: Option<String>,
    pub mhd: Option<Day>,
    pub herkunftsland: Option<String>,
    pub biozertifikat_id: Option<i64>,
    pub einheit: Option<String>,
    pub eingang_menge: Option<Quantity>,
    pub eingang_ep: Option<Price>,
    pub eingang_quelle: EingangQuelle,
    pub niederlassung_id: Option<i64>,
    pub lagerhalle_id: Option<i64>,
}

/// From the unit that was sent to the article's: quantities of a batch are kept in that (D8).
pub fn to_article_unit(sent: Option<&str>, artikel: &Artikel, hints: &mut Hints) -> Checked<Conversion> {
    let conversion = artikel.conversion_from(sent)?;
    if conversion != Conversion::NONE {
        let own = artikel.einheit.as_deref().unwrap_or_default();
        let message = format!("Mengen und Preis wurden in die Einheit {own} des Artikels umgerechnet.");
        hints.add_field(HintCode::EinheitUmgerechnet, "einheit", message);
    }
    Ok(conversion)
}

/// Adds a batch without stock; its id and number.
pub fn create(tx: &WriteTx<'_>, neu: &NeueCharge) -> Result<(Uuid, String)> {
    let id = tx.new_id();
    let charge_nr = match &neu.charge_nr {
        Some(charge_nr) => charge_nr.clone(),
        None => numbers::next(tx, Reihe::Charge, tx.today().year())?,
    };
    tx.insert(
        "charge",
        named_params! {
            ":id": id,
            ":charge_nr": charge_nr,
            ":charge_nr_key": case_key(&charge_nr),
            ":artikel_id": neu.artikel_id,
            ":partner_id": neu.partner_id,
            ":fremde_charge_nr": neu.fremde_charge_nr,
            ":fremde_charge_key": neu.fremde_charge_nr.as_deref().map(case_key),
            ":mhd": neu.mhd,
            ":herkunftsland": neu.herkunftsland,
            ":biozertifikat_id": neu.biozertifikat_id,
            ":einheit": neu.einheit,
            ":eingang_menge": neu.eingang_menge,
            ":eingang_ep": neu.eingang_ep,
            ":eingang_quelle": neu.eingang_quelle,
            ":niederlassung_id": neu.niederlassung_id,
            ":lagerhalle_id": neu.lagerhalle_id,
            ":angelegt_am": tx.now(),
        },
    )?;
    Ok((id, charge_nr))
}

/// A batch that is used again takes over what it lacked (D8).
pub fn fill_in(
    tx: &WriteTx<'_>,
    charge: &Charge,
    mhd: Option<Day>,
    herkunftsland: Option<&str>,
    biozertifikat_id: Option<i64>,
) -> Result<()> {
    let known = (charge.mhd, charge.herkunftsland.as_deref(), charge.biozertifikat_id);
    let complete = (known.0.or(mhd.map(DayTime)), known.1.or(herkunftsland), known.2.or(biozertifikat_id));
    if complete == known {
        return Ok(());
    }
    let (mhd, herkunftsland, biozertifikat_id) = complete;
    let columns =
        named_params! {":mhd": mhd, ":herkunftsland": herkunftsland, ":biozertifikat_id": biozertifikat_id};
    tx.update("charge", charge.id, columns)
}

/// Refuses a number for a new batch that the service gives itself or that is taken (D5, D8).
pub fn check_charge_nr(tx: &Tx<'_>, artikel: Uuid, charge_nr: &str) -> Result<()> {
    if is_reserved_charge_nr(charge_nr) {
        let message = "Nummern der Form CH-JJJJ-NNNNN vergibt der Dienst selbst. Bitte eine andere wählen.";
        return Err(Refusal::field(Code::NummerReserviert, "charge_nr", message).into());
    }
    if sql::find_by_nr(tx, artikel, charge_nr)?.is_some() {
        let message = format!("Die Charge {charge_nr} gibt es für diesen Artikel schon.");
        return Err(Refusal::field(Code::ChargeNrBereitsVergeben, "charge_nr", message).into());
    }
    Ok(())
}

/// A batch that is named must be there and be one of the article (D8).
pub fn check_named(tx: &Tx<'_>, charge: Option<Uuid>, artikel: Option<Uuid>) -> Result<()> {
    let Some(charge) = charge else { return Ok(()) };
    let unknown = || Refusal::unknown(Code::ChargeNichtGefunden, "charge_id", "Diese Charge");
    let charge = sql::find(tx, charge)?.ok_or_else(unknown)?;
    if artikel.is_some_and(|artikel| artikel != charge.artikel_id) {
        let message = "Die Charge gehört zu einem anderen Artikel. Bitte die charge_id prüfen.";
        return Err(Refusal::field(Code::ChargePasstNicht, "charge_id", message).into());
    }
    Ok(())
}

/// More was taken from a batch than there was: a note, or a refusal where the company asks for
/// it (D8).
pub fn check_not_negative(charge: &Charge, einstellungen: &Einstellungen, hints: &mut Hints) -> Checked<()> {
    not_negative(&format!("Charge {}", charge.charge_nr), charge.bestand, einstellungen, hints)
}

fn not_negative(
    what: &str,
    bestand: Quantity,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Checked<()> {
    if !bestand.is_negative() {
        return Ok(());
    }
    let what = format!("{what}: Bestand {bestand}");
    if einstellungen.negativbestand == Strenge::Ablehnen {
        let message = format!("{what}. Es ist nicht genug da; bitte Menge oder Charge ändern.");
        return Err(Refusal::new(Code::BestandNichtAusreichend, message));
    }
    hints.add(HintCode::BestandNegativ, format!("{what}."));
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ursache {
    /// The stock that was there when the company began.
    Eroeffnung,
    Beleg(Uuid),
    Produktion(Uuid),
}

impl Ursache {
    pub fn beleg(self) -> Option<Uuid> {
        match self {
            Ursache::Beleg(id) => Some(id),
            Ursache::Eroeffnung | Ursache::Produktion(_) => None,
        }
    }

    fn auftrag(self) -> Option<Uuid> {
        match self {
            Ursache::Produktion(id) => Some(id),
            Ursache::Eroeffnung | Ursache::Beleg(_) => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Buchung {
    pub artikel_id: Uuid,
    /// The batch; none for articles without batches.
    pub charge_id: Option<Uuid>,
    pub ursache: Ursache,
    /// Signed quantity in the article's unit.
    pub menge: Quantity,
    /// A purchase document moves it: then it counts as receipt of the batch.
    pub ist_eingang: bool,
}

/// A movement as confirmations list it (D8).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Bewegung {
    pub beleg_id: Option<Uuid>,
    pub beleg_nummer: Option<String>,
    pub artikel_id: Uuid,
    pub charge_id: Option<Uuid>,
    pub charge_nr: Option<String>,
    /// Signed.
    pub menge: Quantity,
    /// Unit of the article.
    pub einheit: Option<String>,
}

pub struct Gebucht {
    /// Of each movement the batch as it is afterwards, if it has one.
    pub chargen: Vec<Option<Charge>>,
    /// Articles whose stock may be below 0 now.
    pub knapp: BTreeSet<Uuid>,
}

pub fn book(tx: &WriteTx<'_>, buchungen: &[Buchung]) -> Result<Gebucht> {
    tx.insert_all("lagerbewegung", buchungen, |buchung, store| {
        store(named_params! {
            ":id": tx.new_id(),
            ":artikel_id": buchung.artikel_id,
            ":charge_id": buchung.charge_id,
            ":beleg_id": buchung.ursache.beleg(),
            ":pa_id": buchung.ursache.auftrag(),
            ":menge": buchung.menge,
            ":am": tx.now(),
        })
    })?;
    let knapp = keep_article_stock(tx, buchungen)?;
    let chargen = buchungen.iter().map(|buchung| book_batch(tx, buchung)).collect::<Result<_>>()?;
    Ok(Gebucht { chargen, knapp })
}

/// Adds movements to the stock of their articles; those of which it may be below 0 now.
fn keep_article_stock(tx: &WriteTx<'_>, buchungen: &[Buchung]) -> Result<BTreeSet<Uuid>> {
    let mut knapp = BTreeSet::new();
    let mut sums: BTreeMap<Uuid, Quantity> = BTreeMap::new();
    for buchung in buchungen {
        let sum = sums.entry(buchung.artikel_id).or_default();
        *sum = sum.plus(buchung.menge)?;
    }
    for (artikel, menge) in sums {
        let params = named_params! {
            ":artikel": artikel,
            ":menge": menge,
            ":grenze": LIMIT * Quantity::UNIT,
        };
        // As a rule there is enough, and the stock need not be read.
        let enough = "update artikel_bestand set bestand = bestand + :menge
            where tenant_id = :tenant and artikel_id = :artikel
              and bestand + :menge >= 0 and bestand + :menge < :grenze";
        if tx.execute(enough, params)? > 0 {
            continue;
        }
        let any = "insert into artikel_bestand (tenant_id, artikel_id, bestand)
            values (:tenant, :artikel, :menge)
            on conflict (tenant_id, artikel_id) do update set bestand = bestand + excluded.bestand
              where abs(bestand + excluded.bestand) < :grenze";
        if tx.execute(any, params)? == 0 {
            return Err(Box::<Refusal>::from(TooLarge).into());
        }
        knapp.insert(artikel);
    }
    Ok(knapp)
}

/// More was taken of articles without batches than there was: a note, or a refusal where the company asks for it
/// (D8). Only those that may be `knapp` are looked at; the stock counts as it is after the whole request.
pub fn check_articles_not_negative(
    tx: &Tx<'_>,
    knapp: &BTreeSet<Uuid>,
    bewegungen: &[Bewegung],
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<()> {
    let mut sums: BTreeMap<Uuid, Quantity> = BTreeMap::new();
    for bewegung in bewegungen.iter().filter(|bewegung| bewegung.charge_id.is_none()) {
        let sum = sums.entry(bewegung.artikel_id).or_default();
        *sum = sum.plus(bewegung.menge)?;
    }
    for (id, _) in sums.into_iter().filter(|(id, sum)| sum.is_negative() && knapp.contains(id)) {
        let artikel = artikel::must_have(tx, id)?;
        let what = format!("Artikel {}", artikel.artikelnummer);
        not_negative(&what, artikel::stock(tx, id)?, einstellungen, hints)?;
    }
    Ok(())
}

/// Books a movement in the stock of its batch.
fn book_batch(tx: &WriteTx<'_>, buchung: &Buchung) -> Result<Option<Charge>> {
    let Some(charge_id) = buchung.charge_id else { return Ok(None) };
    let mut charge = sql::find(tx, charge_id)?
        .ok_or_else(|| Failure::Broken(format!("a movement of the unknown batch {charge_id}")))?;
    charge.bestand = charge.bestand.plus(buchung.menge)?;
    if buchung.ist_eingang && charge.eingang_quelle == EingangQuelle::Beleg {
        charge.eingang_menge = Some(charge.eingang_menge.unwrap_or_default().plus(buchung.menge)?);
    }
    tx.update(
        "charge",
        charge_id,
        named_params! {
            ":bestand": charge.bestand,
            ":eingang_menge": charge.eingang_menge,
        },
    )?;
    Ok(Some(charge))
}

/// Notes which receipt of a batch is its oldest, and its price (D8).
pub fn set_receipt(tx: &WriteTx<'_>, charge: Uuid, beleg: Option<Uuid>, ep: Option<Price>) -> Result<()> {
    tx.update("charge", charge, named_params! {":eingang_beleg_id": beleg, ":eingang_ep": ep})
}

pub fn set_opening_stock(tx: &WriteTx<'_>, charge: Uuid, bestand: Quantity) -> Result<()> {
    tx.update("charge", charge, named_params! {":eroeffnung": bestand})
}
