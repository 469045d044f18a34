//! Creating batches and booking movements.

use rusqlite::named_params;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::model::Charge;
use super::sql;
use crate::master::artikel::{self, Artikel};
use crate::master::tenants::{Einstellungen, Strenge};
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::{LIMIT, Price, Quantity, TooLarge, sums};
use crate::rules::number::Reihe;
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::unit::Conversion;

/// Returns the conversion from the unit that was sent to the article's: quantities of a batch are kept in the
/// latter (D8).
pub fn to_article_unit(sent: Option<&str>, artikel: &Artikel, hints: &mut Hints) -> Checked<Conversion> {
    let conversion = artikel.conversion_from(sent)?;
    if conversion != Conversion::NONE {
        let own = artikel.einheit.as_deref().unwrap_or_default();
        let message = format!("Mengen und Preis wurden in die Einheit {own} des Artikels umgerechnet.");
        hints.add_field(HintCode::EinheitUmgerechnet, "einheit", message);
    }
    Ok(conversion)
}

/// Creates a batch without stock and with a new id; without a number it gets the next one of the series CH
/// (D5).
pub fn create(tx: &WriteTx<'_>, new: Charge) -> Result<Charge> {
    let charge_nr = match new.charge_nr.is_empty() {
        true => numbers::next(tx, Reihe::Charge, tx.today().year())?,
        false => new.charge_nr,
    };
    let charge = Charge { id: tx.new_id(), charge_nr, created_at: tx.now(), version: 1, ..new };
    sql::insert(tx, &charge)?;
    Ok(charge)
}

/// Refuses a number for a new batch that is reserved for the service or already taken (D5, D8).
pub fn check_charge_nr(tx: &Tx<'_>, artikel: Uuid, charge_nr: &str) -> Result<()> {
    let message = "Nummern der Form CH-JJJJ-NNNNN vergibt der Dienst selbst. Bitte eine andere wählen.";
    refuse_if(Reihe::Charge.parse(charge_nr).is_some(), Code::NummerReserviert, "charge_nr", message)?;
    let message = format_args!("Die Charge {charge_nr} gibt es für diesen Artikel schon.");
    let is_taken = sql::find_by_nr(tx, artikel, charge_nr)?.is_some();
    Ok(refuse_if(is_taken, Code::ChargeNrBereitsVergeben, "charge_nr", message)?)
}

/// Refuses a named batch that does not exist or belongs to another article (D8).
pub fn check_named(tx: &Tx<'_>, charge: Option<Uuid>, artikel: Option<Uuid>) -> Result<()> {
    let Some(charge) = charge else { return Ok(()) };
    let unknown = || Refusal::unknown(Code::ChargeNichtGefunden, "charge_id", "Diese Charge");
    let charge = sql::find(tx, charge)?.ok_or_else(unknown)?;
    let message = "Die Charge gehört zu einem anderen Artikel. Bitte die charge_id prüfen.";
    let is_other = artikel.is_some_and(|artikel| artikel != charge.artikel_id);
    refuse_if(is_other, Code::ChargePasstNicht, "charge_id", message)?;
    Ok(())
}

/// Returns the message that refuses withdrawals from a locked batch (D8).
pub fn locked(charge: &Charge) -> String {
    let why = charge.sperrgrund.as_deref().unwrap_or_default();
    format!(
        "Die Charge {} ist gesperrt: {why}. Bitte eine andere nehmen oder sie freigeben.",
        charge.charge_nr
    )
}

/// Adds a hint if the best-before date of a batch is earlier than the day on which it leaves (D8).
pub fn hint_expired(charge: &Charge, day: Day, hints: &mut Hints) {
    let Some(mhd) = charge.mhd.filter(|_| charge.is_expired(day)) else { return };
    let message = format!(
        "Die Charge {} ist abgelaufen: haltbar bis {}, gebraucht am {}. Bitte eine andere nehmen oder die Tage prüfen.",
        charge.charge_nr,
        mhd.0.german(),
        day.german()
    );
    hints.add_field(HintCode::MhdAbgelaufen, "charge_id", message);
}

/// If a batch has negative stock, adds a hint, or refuses if the company's settings say so (D8).
pub fn check_not_negative(charge: &Charge, einstellungen: &Einstellungen, hints: &mut Hints) -> Checked<()> {
    if !charge.bestand.is_negative() {
        return Ok(());
    }
    if einstellungen.negativbestand == Strenge::Ablehnen {
        let Charge { charge_nr, bestand, .. } = charge;
        let message = format!(
            "Charge {charge_nr}: Bestand {bestand}. Es ist nicht genug da; bitte Menge oder Charge ändern."
        );
        return Err(Refusal::new(Code::BestandNichtAusreichend, message));
    }
    hint_negative(charge, hints);
    Ok(())
}

/// Says that less than nothing is in a batch.
pub fn hint_negative(charge: &Charge, hints: &mut Hints) {
    let message = format!("Charge {}: Bestand {}.", charge.charge_nr, charge.bestand);
    hints.add(HintCode::BestandNegativ, message);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ursache {
    /// Opening stock when the company started.
    Eroeffnung,
    Beleg(Uuid),
    Produktion(Uuid),
    Inventur(Uuid),
}

impl Ursache {
    /// Returns the ids of the document, the production order and the stocktaking.
    fn ids(self) -> [Option<Uuid>; 3] {
        match self {
            Ursache::Eroeffnung => [None, None, None],
            Ursache::Beleg(id) => [Some(id), None, None],
            Ursache::Produktion(id) => [None, Some(id), None],
            Ursache::Inventur(id) => [None, None, Some(id)],
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Buchung {
    pub artikel_id: Uuid,
    /// The batch; `None` for articles without batches.
    pub charge_id: Option<Uuid>,
    pub ursache: Ursache,
    /// Signed quantity in the article's unit.
    pub menge: Quantity,
    /// Whether it counts as receipt of the batch: moved by a purchase document, or output of a production
    /// order.
    pub ist_eingang: bool,
}

/// A movement as listed in confirmations (D8).
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

/// A booked movement, without the number of its document, and its batch as it is afterwards.
pub struct Gebucht {
    pub bewegung: Bewegung,
    pub ist_eingang: bool,
    pub charge: Option<Charge>,
}

pub fn book(tx: &WriteTx<'_>, buchungen: &[Buchung]) -> Result<Vec<Gebucht>> {
    tx.insert_all("lagerbewegung", buchungen, |buchung, store| {
        let [beleg_id, pa_id, inventur_id] = buchung.ursache.ids();
        store(named_params! {
            ":id": tx.new_id(),
            ":artikel_id": buchung.artikel_id,
            ":charge_id": buchung.charge_id,
            ":beleg_id": beleg_id,
            ":pa_id": pa_id,
            ":inventur_id": inventur_id,
            ":menge": buchung.menge,
            ":am": tx.now(),
        })
    })?;
    keep_article_stock(tx, buchungen)?;
    buchungen.iter().map(|buchung| booked(tx, buchung)).collect()
}

fn booked(tx: &WriteTx<'_>, buchung: &Buchung) -> Result<Gebucht> {
    let charge = book_batch(tx, buchung)?;
    let bewegung = Bewegung {
        beleg_id: buchung.ursache.ids()[0],
        beleg_nummer: None,
        artikel_id: buchung.artikel_id,
        charge_id: buchung.charge_id,
        charge_nr: charge.as_ref().map(|charge| charge.charge_nr.clone()),
        menge: buchung.menge,
        einheit: artikel::must_have(tx, buchung.artikel_id)?.einheit.clone(),
    };
    Ok(Gebucht { bewegung, ist_eingang: buchung.ist_eingang, charge })
}

/// Adds movements to the stock of their articles.
fn keep_article_stock(tx: &WriteTx<'_>, buchungen: &[Buchung]) -> Result<()> {
    let add = "update artikel_bestand set bestand = bestand + :menge
        where tenant_id = :tenant and artikel_id = :artikel and abs(bestand + :menge) < :grenze";
    let begin =
        "insert into artikel_bestand (tenant_id, artikel_id, bestand) values (:tenant, :artikel, :menge)
        on conflict do nothing";
    for (artikel, menge) in sums(buchungen.iter().map(|buchung| (buchung.artikel_id, buchung.menge)))? {
        let new = named_params! {":artikel": artikel, ":menge": menge};
        let params = [new, named_params! {":grenze": LIMIT * Quantity::UNIT}].concat();
        if tx.execute(add, &params)? == 0 && tx.execute(begin, new)? == 0 {
            return Err(Box::<Refusal>::from(TooLarge).into());
        }
    }
    Ok(())
}

/// Adds a movement to the stock of its batch and returns the batch.
fn book_batch(tx: &WriteTx<'_>, buchung: &Buchung) -> Result<Option<Charge>> {
    let Some(charge_id) = buchung.charge_id else { return Ok(None) };
    let mut charge = sql::find(tx, charge_id)?
        .ok_or_else(|| Failure::Broken(format!("a movement of the unknown batch {charge_id}")))?;
    charge.bestand = charge.bestand.plus(buchung.menge)?;
    let is_source = match buchung.ursache {
        Ursache::Eroeffnung | Ursache::Inventur(_) => false,
        Ursache::Beleg(_) => charge.eingang_quelle == EingangQuelle::Beleg,
        Ursache::Produktion(_) => charge.eingang_quelle == EingangQuelle::Produktion,
    };
    if buchung.ist_eingang && is_source {
        charge.eingang_menge = Some(charge.eingang_menge.unwrap_or_default().plus(buchung.menge)?);
    }
    let stock = named_params! {":bestand": charge.bestand, ":eingang_menge": charge.eingang_menge};
    tx.update("charge", charge_id, stock)?;
    Ok(Some(charge))
}

/// Sets the oldest receipt of a batch and its price (D8).
pub fn set_receipt(tx: &WriteTx<'_>, charge: Uuid, beleg: Option<Uuid>, ep: Option<Price>) -> Result<()> {
    tx.update("charge", charge, named_params! {":eingang_beleg_id": beleg, ":eingang_ep": ep})
}

pub fn set_opening_stock(tx: &WriteTx<'_>, charge: Uuid, bestand: Quantity) -> Result<()> {
    tx.update("charge", charge, named_params! {":eroeffnung": bestand})
}
