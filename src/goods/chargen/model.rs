//! Request and response models of batches.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::master::laender::{self, Staat};
use crate::platform::db::record::record;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Kennung, NotNegative, OneOf, Text};
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::error::{Checked, Code, Hints, Refusal};
use crate::rules::field::said;
use crate::rules::fixed::{Price, Quantity};
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::text::case_key;
use crate::{auswahl, eingabe};

record! {
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Charge in charge as c {
        id: Uuid = fixed,
        charge_nr: String as Text = fixed
            => said("Chargennummer", "Chargennummer.")
            .aliases("charge chargennr chargennummer los losnr losnummer partie partienr partienummer lot nr nummer"),
        fremde_charge_nr: Option<String> as Text = mutable
            => said("Nummer des Lieferanten", "Chargennummer des Lieferanten.")
            .aliases("lieferantencharge fremdcharge")
            .group(ANGABEN),
        mhd: Option<DayTime> as Day = mutable
            => said("Haltbar bis", "Mindesthaltbarkeitsdatum.")
            .aliases("mindesthaltbarkeitsdatum mindesthaltbarkeit haltbarbis haltbarkeit")
            .group(ANGABEN),
        herkunftsland: Option<String> as Staat = mutable
            => said("Herkunftsland", "Herkunftsland (ISO 3166-1 alpha-2).")
            .aliases("herkunft ursprung ursprungsland")
            .group(ANGABEN).country("nicht bekannt"),
        biozertifikat_id: Option<i64> as Kennung = mutable => said("Biozertifikat", "id des Biozertifikats."),
        einheit: Option<String> as Text = mutable
            => said("Einheit", "Einheit der Menge.").aliases("me mengeneinheit einh"),
        eingang_menge: Option<Quantity> as NotNegative<Quantity> = mutable
            => said("Eingangsmenge", "Eingegangene Menge in der Einheit des Artikels.")
            .aliases("eingangsmenge menge"),
        eingang_ep: Option<Price> as NotNegative<Price> = mutable
            => said("Einkaufspreis (EUR)", "Einkaufspreis netto je Einheit des Artikels.")
            .aliases("einstandspreis"),
        eingang_quelle: EingangQuelle = fixed
            => said("Entstanden durch", "Woher die Charge stammt: beleg, produktion oder manuell."),
        eingang_beleg_id: Option<Uuid>,
        niederlassung_id: Option<i64> as Kennung = mutable => said("Niederlassung", "Kennung der Niederlassung."),
        lagerhalle_id: Option<i64> as Kennung = mutable => said("Lagerhalle", "Kennung der Lagerhalle."),
        artikel_id: Uuid = fixed,
        partner_id: Option<Uuid> = mutable,
        artikel_bezeichnung: String = "a.bezeichnung" => said("Artikel", "Bezeichnung des Artikels."),
        /// For files: an import names the article by it.
        #[serde(skip)]
        artikelnummer: String = "a.artikelnummer" => said("Artikelnummer", "Nummer des Artikels."),
        artikelnr: Option<String> = "a.artikelnr"
            => said("Zweite Nummer des Artikels", "Zweite, kurze Artikelnummer."),
        partner_name: Option<String> = "k.name" => said("Name des Lieferanten", "Name des Partners."),
        /// Sum of its movements, in the unit of the article.
        bestand: Quantity
            => said("Bestand heute", "Bestand der Charge in der Einheit des Artikels: Summe ihrer Bewegungen.")
            .aliases("menge lagerbestand anfangsbestand istbestand gezaehlt zaehlmenge gezaehltemenge"),
        /// A locked batch allows no withdrawals (D8).
        gesperrt: bool = mutable => said("Gesperrt", "Aus der Charge darf nichts mehr hinaus."),
        sperrgrund: Option<String> = mutable
            => said("Grund der Sperre", "Warum sie gesperrt ist; Pflicht, wo gesperrt wird."),
        created_at: Instant = fixed as angelegt_am => said("Angelegt", "Zeitpunkt der Anlage."),
        /// Its latest stocktaking.
        #[serde(skip)]
        inventur_id: Option<Uuid>,
        #[serde(skip)]
        version: i64 = mutable,
    }
    body struct NewCharge {
        artikel_id: Uuid,
        partner_id: Uuid,
        eingang_quelle: OneOf<EingangQuelle>,
    } nur_lesen: []
    /// A row of an import of chargen (D22): `partner` is a kundennr, `bestand` the opening stock.
    body struct ChargeZeile {
        artikelnummer: Text,
        partner: Text,
        bestand: NotNegative<Quantity>,
    } nur_lesen: []
}

/// The part of the form that corrects a batch.
pub const ANGABEN: &str = "Angaben";

impl Charge {
    /// Whether its best-before date is earlier than this day.
    pub fn is_expired(&self, day: Day) -> bool {
        self.mhd.is_some_and(|mhd| mhd.0 < day)
    }
}

auswahl! {
    /// Filters of a list of batches.
    pub struct Auswahl of (query: &Query) {
        /// Part of either number, in lower case.
        suche: Option<String> = query.text("suche").map(case_key),
        artikel: Option<Uuid> = query.uuid("artikel_id")?,
        partner: Option<Uuid> = query.uuid("partner_id")?,
        mit_bestand: bool = query.flag("mit_bestand")?,
        /// Only batches with a best-before date up to this day.
        mhd_bis: Option<Day> = None,
        sortierung: Option<&'static str> = query.one_of("sortierung")?,
    }
}

auswahl! {
    /// Filters of the batches of an article that goods can be taken from (D21b).
    pub struct Verfuegbar of (query: &Query) {
        abgelaufen: bool = query.flag("abgelaufen")?,
        lagerhalle: Option<i64> = query.int("lagerhalle_id")?,
        niederlassung: Option<i64> = query.int("niederlassung_id")?,
        mhd_ab: Option<Day> = query.day("mhd_ab")?,
        herkunftsland: Option<&'static str> = asked_country(query)?,
        nur_bio: bool = query.flag("nur_bio")?,
    }
}

fn asked_country(query: &Query) -> Checked<Option<&'static str>> {
    let Some(text) = query.text("herkunftsland") else { return Ok(None) };
    let land = laender::find(text).ok_or_else(|| {
        let message = format!("Das Land {text} ist nicht bekannt.");
        Refusal::field(Code::LandUnbekannt, "herkunftsland", message)
    })?;
    Ok(Some(land.iso2.as_str()))
}

eingabe! {
    /// A correction of a batch: body of PUT /chargen/{id}.
    pub change ChargeChange {
        fremde_charge_nr: Text,
        mhd: Day,
        herkunftsland: Staat,
        gesperrt: bool,
        sperrgrund: Text,
    }
    nur_lesen: [..Charge]
}

record! {
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct Inventur in inventur as i {
        id: Uuid = fixed,
        artikel_id: Uuid = fixed,
        /// null: an article without batches.
        charge_id: Option<Uuid> = fixed,
        /// The sum of the movements before the count, in the unit of the article.
        bestand_vorher: Quantity = fixed,
        bestand: Quantity = fixed,
        /// The booked difference: the count less the sum before it.
        differenz: Quantity = "i.bestand - i.bestand_vorher",
        grund: String = fixed,
        external_ref: Option<String> = fixed,
        created_at: Instant = fixed as am,
        #[serde(skip)]
        key_id: Option<String> = fixed,
    }
}

record! {
    /// A line of the counting list: a batch, or an article without batches, whose stock is not zero.
    pub struct Lagerposten from artikel_bestand as s {
        artikel_id: Uuid,
        charge_id: Option<Uuid> = "c.id",
        artikelnummer: String = "a.artikelnummer",
        bezeichnung: String = "a.bezeichnung",
        gruppe: Option<String> = "g.name",
        charge_nr: Option<String> = "c.charge_nr",
        mhd: Option<DayTime> = "c.mhd",
        gesperrt: bool = "coalesce(c.gesperrt, 0)",
        einheit: Option<String> = "a.einheit",
        /// In the unit of the article.
        bestand: Quantity = "coalesce(c.bestand, s.bestand)",
    }
}

impl Inventur {
    /// The day of the count.
    pub fn tag(&self) -> Day {
        Day::in_berlin(self.created_at)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct InventurBestaetigung {
    #[serde(flatten)]
    pub inventur: Inventur,
    pub hinweise: Hints,
}

eingabe! {
    pub struct NewInventur {
        bestand: Quantity,
        grund: Text,
        external_ref: Text,
    }
    nur_lesen: [..Inventur, "idempotent", "inhalt_abweichend", "hinweise"]
}

eingabe! {
    /// A row of an import of inventur (D22); without charge_nr it counts an article without batches.
    pub struct InventurZeile {
        artikelnummer: Text,
        charge_nr: Text,
        bestand: Quantity,
        grund: Text,
    }
    nur_lesen: []
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ChargeAngelegt {
    pub id: Uuid,
    pub charge_nr: String,
    pub bestand: Quantity,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ChargeVerlaufseintrag {
    pub version: i64,
    pub am: Instant,
    pub key_id: Option<String>,
    #[schemars(with = "Charge")]
    pub charge: Box<serde_json::value::RawValue>,
}
