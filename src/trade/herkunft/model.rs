//! Response models of a batch's genealogy (D21d).

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::goods::chargen::Charge;
use crate::platform::db::record::record;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;
use crate::rules::error::Hints;
use crate::rules::fixed::Quantity;

#[derive(Debug, Serialize, JsonSchema)]
pub struct Herkunft {
    pub charge: Charge,
    #[serde(skip)]
    pub artikelnummer: String,
    /// Batches that went into it, nearest first.
    pub rueckwaerts: Vec<Knoten>,
    /// Batches that it went into, nearest first.
    pub vorwaerts: Vec<Knoten>,
    /// Suppliers of it and of the batches that went into it.
    pub lieferanten: Vec<Beteiligter>,
    /// Recipients of it and of the batches that it went into.
    pub empfaenger: Vec<Beteiligter>,
    pub bilanz: Bilanz,
    /// Hints about missing data, for the header X-Hinweise and the sheet.
    #[serde(skip)]
    pub hinweise: Hints,
}

record! {
    /// A batch on the path, and the production order that leads to it.
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct Knoten from lagerbewegung as m {
        /// Number of production orders between this batch and the requested one.
        tiefe: i64 = { 0 },
        charge_id: Uuid = "c.id",
        charge_nr: String = "c.charge_nr",
        fremde_charge_nr: Option<String> = "c.fremde_charge_nr",
        artikel_id: Uuid = "a.id",
        artikelnummer: String = "a.artikelnummer",
        artikel_bezeichnung: String = "a.bezeichnung",
        /// Input or output quantity of this batch, in the unit of the article.
        menge: Quantity = "abs(sum(m.menge))",
        einheit: Option<String> = "a.einheit",
        ueber: Ueber = |auftrag, nummer, geplant, erledigt| {
            Ueber { art: "produktionsauftrag", id: auftrag, nummer, datum: day_of(geplant, erledigt) }
        },
        /// The batch on the other side of the order, closer to the requested one.
        #[serde(skip)]
        von: Uuid = { Uuid::nil() },
    } with {
        auftrag: "v.id",
        nummer: "v.pa_nummer",
        geplant: "v.produktions_datum",
        erledigt: "v.erledigt_am",
    }
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Ueber {
    pub art: &'static str,
    pub id: Uuid,
    pub nummer: String,
    pub datum: Option<Day>,
}

record! {
    /// A supplier or a recipient, one entry per document.
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct Beteiligter from found as f {
        partner_id: Uuid,
        kundennr: String,
        name: String,
        strasse: Option<String>,
        plz: Option<String>,
        ort: Option<String>,
        staat: Option<String>,
        /// In the unit of the article, less returns.
        menge: Quantity,
        einheit: Option<String>,
        /// null for the supplier of opening stock.
        beleg_id: Option<Uuid>,
        beleg_nummer: Option<String>,
        #[serde(skip)]
        beleg_typ: Option<BelegTyp>,
        datum: Option<Day>,
        charge_id: Uuid,
        charge_nr: String,
    }
}

/// Incoming, outgoing, corrected by stocktaking, and remaining quantity, without reversed movements.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Bilanz {
    pub eingang: Quantity,
    pub abgang: Quantity,
    /// Signed.
    pub korrektur: Quantity,
    pub bestand: Quantity,
}

record! {
    #[derive(Debug, Clone)]
    pub struct Buchung from lagerbewegung as m {
        am: Instant,
        /// Signed, in the unit of the article.
        menge: Quantity,
        beleg_id: Option<Uuid> = "b.id",
        beleg_typ: Option<BelegTyp> = "b.beleg_typ",
        pa_id: Option<Uuid> = "v.id",
        /// Reason of the stocktaking, if the movement comes from one.
        inventur: Option<String> = "i.grund",
        /// Of the document or order; `None` for opening stock or a stocktaking.
        nummer: Option<String> = "coalesce(b.beleg_nummer, v.pa_nummer)",
        partner: Option<String> = "coalesce(b.kunden_name, k.name)",
    }
}

/// Returns the day of an order: the planned one, else the day of completion.
fn day_of(geplant: Option<Day>, erledigt: Option<Instant>) -> Option<Day> {
    geplant.or(erledigt.map(Day::in_berlin))
}
