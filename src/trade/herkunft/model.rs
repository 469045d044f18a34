//! The genealogy of a batch as it goes over the wire (D21d).

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
    /// Batches that went into it, the nearest first.
    pub rueckwaerts: Vec<Knoten>,
    /// Batches that it went into, the nearest first.
    pub vorwaerts: Vec<Knoten>,
    /// Who delivered it and the batches that went into it.
    pub lieferanten: Vec<Beteiligter>,
    /// Who got it and the batches that it went into.
    pub empfaenger: Vec<Beteiligter>,
    pub bilanz: Bilanz,
    /// What is missing, for the header X-Hinweise and the sheet.
    #[serde(skip)]
    pub hinweise: Hints,
}

record! {
    /// A batch on the way, and the production order that leads to it.
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct Knoten from lagerbewegung as m {
        /// Production orders between this batch and the one that was asked for.
        tiefe: i64 = { 0 },
        charge_id: Uuid = "c.id",
        charge_nr: String = "c.charge_nr",
        fremde_charge_nr: Option<String> = "c.fremde_charge_nr",
        artikel_id: Uuid = "a.id",
        artikelnummer: String = "a.artikelnummer",
        artikel_bezeichnung: String = "a.bezeichnung",
        /// What of this batch went in or came out, in the unit of the article.
        menge: Quantity = "abs(sum(m.menge))",
        einheit: Option<String> = "a.einheit",
        ueber: Ueber = |auftrag, nummer, geplant, erledigt| { Ueber { art: "produktionsauftrag", id: auftrag, nummer, datum: day_of(geplant, erledigt) } },
        /// The batch on the other side of the order, nearer to the one that was asked for.
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
    /// A supplier or a recipient, document by document.
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct Beteiligter from found as f {
        partner_id: Uuid,
        kundennr: String,
        name: String,
        strasse: Option<String>,
        plz: Option<String>,
        ort: Option<String>,
        staat: Option<String>,
        /// In the unit of the article; returns are deducted.
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

/// What came in, what went out, what stocktaking put right, what is left, without what was reversed.
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
        /// Why it was counted, where a stocktaking moved it.
        inventur: Option<String> = "i.grund",
        /// Of the document or of the order; none: opening stock or a stocktaking.
        nummer: Option<String> = "coalesce(b.beleg_nummer, v.pa_nummer)",
        partner: Option<String> = "coalesce(b.kunden_name, k.name)",
    }
}

/// The day of an order: as planned, or else that on which it was done.
fn day_of(geplant: Option<Day>, erledigt: Option<Instant>) -> Option<Day> {
    geplant.or(erledigt.map(Day::in_berlin))
}
