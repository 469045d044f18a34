//! Request and response models of production orders and recipes.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::goods::chargen::Bewegung;
use crate::platform::db::record::record;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Int, Kennung, Liste, LongText, OneOf, Text};
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::error::Hints;
use crate::rules::field::said;
use crate::rules::fixed::Quantity;
use crate::rules::recipe::PaStatus;
use crate::{auswahl, eingabe};

/// Maximum number of lines of one kind in a recipe or an order.
const LINES_MAX: usize = 1_000;

/// Maximum number of batches that one line can be split over.
const PARTS_MAX: usize = 100;

record! {
    /// A production order (specification, Produktionsauftrag; also shows the other fields that a POST stores:
    /// D18).
    #[derive(Debug, Clone, Default, Serialize, JsonSchema)]
    pub struct Produktionsauftrag in produktionsauftrag as v {
        id: Uuid = fixed,
        pa_nummer: String = fixed => said("Auftrag", "Nummer des Produktionsauftrags."),
        rezeptur_id: Option<i64> as Kennung = fixed => said("Rezeptur", "id der Rezeptur."),
        rezeptur_version: Option<i64> = fixed => said("Fassung", "Fassung der Rezeptur."),
        produktions_datum: Option<DayTime> as Day = fixed => said("Datum", "Tag der Produktion."),
        niederlassung_id: Option<i64> as Kennung = fixed => said("Niederlassung", "Kennung der Niederlassung."),
        lagerhalle_id: Option<i64> as Kennung = fixed => said("Lagerhalle", "Kennung der Lagerhalle."),
        status: PaStatus = mutable => said("Status", "Status des Datensatzes."),
        bezeichnung: Option<String> as Text = fixed => said("Bezeichnung", "Bezeichnung."),
        bemerkung: Option<String> as LongText = fixed => said("Bemerkung", "Freier Text."),
        geplant_am: Option<Instant> = mutable => said("Geplant", "Zeitpunkt der Planung."),
        gestartet_am: Option<Instant> = mutable => said("Begonnen", "Zeitpunkt des Beginns."),
        erledigt_am: Option<Instant> = mutable => said("Erledigt", "Zeitpunkt der Erledigung."),
        rezeptur_bezeichnung: Option<String> = fixed => said("Name der Rezeptur", "Bezeichnung der Rezeptur."),
        rezeptur_typ: Option<String> = fixed => said("Art der Rezeptur", "Art der Rezeptur."),
        faktor: Quantity as Quantity = fixed => said("Faktor", "Vielfaches der Rezeptur; ohne Angabe 1."),
        zugewiesen_an: Option<i64> as Kennung = fixed
            => said("Zugewiesen an", "Kennung der Person, die den Auftrag ausführt."),
        created_at: Instant = fixed as angelegt_am => said("Angelegt", "Zeitpunkt der Anlage."),
        /// Only in the answer about a single order.
        #[serde(skip_serializing_if = "Option::is_none")]
        inputs: Option<Vec<PaInput>> = { None },
        #[serde(skip_serializing_if = "Option::is_none")]
        outputs: Option<Vec<PaOutput>> = { None },
        #[serde(skip)]
        version: i64 = mutable,
    }
    body struct NewAuftrag {} nur_lesen: []
}

record! {
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct PaInput in pa_input as l {
        id: i64 = fixed,
        pa_id: Uuid = fixed,
        artikel_id: Uuid = fixed,
        charge_id: Option<Uuid> = fixed,
        soll_menge: Quantity = fixed,
        ist_menge: Option<Quantity> = fixed,
        einheit: Option<String> = fixed,
        position: i64 = fixed,
        bemerkung: Option<String> = fixed,
        artikel_bezeichnung: String = "a.bezeichnung",
        artikelnr: Option<String> = "a.artikelnr",
        charge_nr: Option<String> = "c.charge_nr",
        fremde_charge_nr: Option<String> = "c.fremde_charge_nr",
    }
}

record! {
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct PaOutput from pa_output as l {
        id: i64,
        pa_id: Uuid,
        artikel_id: Uuid,
        soll_menge: Quantity,
        ist_menge: Option<Quantity>,
        einheit: Option<String>,
        position: i64,
        bemerkung: Option<String>,
        artikel_bezeichnung: String = "a.bezeichnung",
        artikelnr: Option<String> = "a.artikelnr",
        /// Number of the batch that was created; null before that.
        neue_charge_nr: Option<String> = "c.charge_nr",
        charge_id: Option<Uuid>,
        /// The number requested for the batch.
        charge_nr: Option<String>,
        mhd: Option<DayTime>,
        /// The organic certificate requested for the batch.
        biozertifikat_id: Option<i64>,
    }
}

impl PaOutput {
    /// Returns the name of a field that was sent and describes the batch to create, if any.
    pub fn of_batch(&self) -> Option<&'static str> {
        let named = [
            ("charge_nr", self.charge_nr.is_some()),
            ("mhd", self.mhd.is_some()),
            ("biozertifikat_id", self.biozertifikat_id.is_some()),
        ];
        named.into_iter().find(|(_, is_named)| *is_named).map(|(feld, _)| feld)
    }
}

auswahl! {
    /// Filters of a list of production orders.
    pub struct Auswahl of (query: &Query) {
        status: Option<&'static str> = query.one_of("status")?,
        von: Option<Day> = query.day("datum_von")?,
        bis: Option<Day> = query.day("datum_bis")?,
        /// Among the inputs or outputs.
        artikel: Option<Uuid> = query.uuid("artikel_id")?,
        /// Of its page.
        sortierung: Option<&'static str> = None,
    }
}

eingabe! {
    /// A change of an order's status: body of PUT /produktionsauftraege/{id}/status.
    pub change StatusChange {
        status: OneOf<PaStatus>,
        inputs: Liste<InputEingabe, LINES_MAX>,
        outputs: Liste<OutputEingabe, LINES_MAX>,
    }
    nur_lesen: [..Produktionsauftrag]
}

eingabe! {
    /// The actual input of a line, from one or several batches.
    pub change InputEingabe {
        id: Kennung,
        ist_menge: Quantity,
        charge_id: Uuid,
        teile: Liste<TeilEingabe, PARTS_MAX>,
    }
    nur_lesen: [..PaInput]
}

eingabe! {
    pub struct TeilEingabe {
        charge_id: Uuid,
        ist_menge: Quantity,
    }
    nur_lesen: []
}

eingabe! {
    pub change OutputEingabe {
        id: Kennung,
        ist_menge: Quantity,
        charge_nr: Text,
        mhd: Day,
        biozertifikat_id: Kennung,
    }
    nur_lesen: [..PaOutput]
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AuftragBestaetigung {
    pub id: Uuid,
    pub pa_nummer: String,
    pub status: PaStatus,
    pub rezeptur_id: Option<i64>,
    pub rezeptur_version: Option<i64>,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PaStatusBestaetigung")]
pub struct StatusBestaetigung {
    pub id: Uuid,
    pub pa_nummer: String,
    pub status: PaStatus,
    pub lagerbewegungen: Vec<Bewegung>,
    pub hinweise: Hints,
}

eingabe! {
    /// A row of rezepturen: a version of a recipe (D22). Its key is id and version, or bezeichnung and
    /// version; lines that are sent replace the existing ones.
    pub struct RezepturZeile {
        id: Int<1, { i32::MAX as i64 }>,
        bezeichnung: Text,
        typ: Text,
        version: Int<1, { i32::MAX as i64 }>,
        aktiv: bool,
        inputs: Liste<Zutat, LINES_MAX>,
        outputs: Liste<Zutat, LINES_MAX>,
    }
    nur_lesen: []
}

eingabe! {
    pub struct Zutat {
        artikelnummer: Text,
        menge: Quantity,
        einheit: Text,
        bemerkung: LongText,
    }
    nur_lesen: ["position"]
}

record! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Rezeptur in rezeptur as r {
        id: i64 = fixed,
        version: i64 = fixed,
        bezeichnung: String = mutable,
        typ: Option<String> = mutable,
        aktiv: bool = mutable,
    }
}

record! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Rezepturzeile in rezeptur_zeile as z {
        artikel_id: Uuid = fixed,
        menge: Quantity = fixed,
        einheit: Option<String> = fixed,
        bemerkung: Option<String> = fixed,
    }
}
