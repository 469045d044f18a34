//! Documents as they go over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::chargen::Bewegung;
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::document::{BelegStatus, BelegTyp, Rechnungsart};
use crate::rules::error::Hints;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::tax::Steuerkategorie;

/// Where a request names the positions of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In its list `items`.
    Items,
    /// In its own fields: it makes a document of one position.
    Fields,
}

impl Source {
    /// The path to the position with this number, from 1; empty where its fields are those of the request.
    pub fn path(self, position: i64) -> String {
        match self {
            Source::Items => format!("items[{}]", position - 1),
            Source::Fields => String::new(),
        }
    }
}

/// A document (specification, Beleg; what a POST stores besides is shown, too: D18).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Beleg {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    pub status: BelegStatus,
    pub beleg_datum: DayTime,
    pub lieferdatum: Option<DayTime>,
    pub leistung_von: Option<DayTime>,
    pub leistung_bis: Option<DayTime>,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    pub kunde_id: Uuid,
    pub notizen: Option<String>,
    pub zahlungsziel_tage: Option<i64>,
    pub zahlungsbedingung: Option<String>,
    pub skonto_tage: Option<i64>,
    pub skonto_prozent: Option<Percent>,
    pub external_ref: Option<String>,
    pub fremdbelegnummer: Option<String>,
    pub ist_gutschrift: bool,
    /// Null where the document is neither RE nor ER (D24).
    pub rechnungsart: Option<Rechnungsart>,
    /// There are no delivery addresses (D18): always null.
    pub lieferadresse_id: Option<Uuid>,
    pub liefertermin: Option<DayTime>,
    pub kontaktperson: Option<String>,
    pub niederlassung_id: Option<i64>,
    pub lagerhalle_id: Option<i64>,
    pub vb_id: Option<i64>,
    /// This is the counter document of that one (D4).
    pub storno_von_beleg_id: Option<Uuid>,
    pub storno_grund: Option<String>,
    /// Where the PDF is, once one is archived.
    pub pdf_url: Option<String>,
    pub created_at: Instant,
    pub updated_at: Instant,
    /// The partner's name; a copy once the document is final (D4).
    pub kunden_name: String,
    /// In the answer about a single document only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positionen: Option<Vec<BelegPosition>>,
    /// An ER that the company writes for its supplier; rechnungsart follows.
    #[serde(skip)]
    pub gutschrift: bool,
    /// Last event since it was finalised (D11).
    #[serde(skip)]
    pub ereignis_am: Option<Instant>,
    /// When its sheet came to be (D25).
    #[serde(skip)]
    pub blatt_am: Option<Instant>,
    /// State of the company's master data that it was frozen with.
    #[serde(skip)]
    pub firma_nr: Option<i64>,
    #[serde(skip)]
    pub version: i64,
}

impl Beleg {
    /// The day of the document.
    pub fn datum(&self) -> Day {
        self.beleg_datum.0
    }

    /// The day whose tax rates hold: lieferdatum, else leistung_bis, else beleg_datum (D7).
    pub fn satz_datum(&self) -> Day {
        self.lieferdatum.or(self.leistung_bis).unwrap_or(self.beleg_datum).0
    }
}

/// A position (specification, BelegPosition).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct BelegPosition {
    pub id: Uuid,
    pub beleg_id: Uuid,
    pub artikel_id: Option<Uuid>,
    pub bezeichnung: Option<String>,
    pub bezeichnung2: Option<String>,
    pub langtext: Option<String>,
    pub menge: Quantity,
    pub einheit: Option<String>,
    /// The net unit price before discount, as ep_netto (D6).
    pub einzelpreis: Price,
    pub ep_netto: Price,
    pub mwst_satz: Percent,
    /// Why it is taxed or not (D24).
    pub steuer_kategorie: Steuerkategorie,
    pub gesamtpreis: Money,
    pub rabatt_prozent: Percent,
    /// From 1.
    pub position: i64,
    pub charge_id: Option<Uuid>,
    pub fremde_charge_nr: Option<String>,
    pub mhd: Option<DayTime>,
    pub herkunftsland: Option<String>,
    pub biozertifikat_id: Option<i64>,
    pub kontrakt_id: Option<Uuid>,
    pub kontrakt_position_id: Option<Uuid>,
    pub wiegung_id: Option<Uuid>,
    pub bezug_beleg_id: Option<Uuid>,
    /// Whether it takes part in the stock (D8).
    pub lager_buchen: bool,
    pub kostenstelle: Option<String>,
    pub niederlassung_id: Option<i64>,
    pub lagerhalle_id: Option<i64>,
    pub artikel_name: Option<String>,
    /// The request named the rate.
    #[serde(skip)]
    pub satz_gesendet: bool,
    /// The request named the batch by charge_id; an inherited one is not named.
    #[serde(skip)]
    pub charge_gesendet: bool,
    /// menge in the article's unit.
    #[serde(skip)]
    pub lager_menge: Option<Quantity>,
}

/// Answer to a repeated external_ref: the document, and that it was there already.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct BelegWiederholt {
    #[serde(flatten)]
    pub beleg: Beleg,
    pub idempotent: bool,
    /// The request says something else than the one that made the document (D19).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inhalt_abweichend: bool,
    pub hinweise: Hints,
}

/// What became of a new document.
#[derive(Debug)]
pub enum Angelegt {
    /// It was made.
    Neu(BelegBestaetigung),
    /// Its external_ref is known: what it belongs to (D19).
    Wiederholt(Box<BelegWiederholt>),
}

/// Confirmation of POST and PUT /belege.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct BelegBestaetigung {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    pub status: BelegStatus,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    pub lagerbewegungen: Vec<Bewegung>,
    pub hinweise: Hints,
}

/// Confirmation of POST /belege/{id}/abschliessen.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
#[schemars(rename = "BelegStatusBestaetigung")]
pub struct StatusBestaetigung {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub status: BelegStatus,
    pub hinweise: Hints,
}

/// Confirmation of POST /belege/{id}/storno (D4).
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
#[schemars(rename = "BelegStornoBestaetigung")]
pub struct StornoBestaetigung {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub status: BelegStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storno_beleg_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storno_beleg_nummer: Option<String>,
    pub lagerbewegungen: Vec<Bewegung>,
    pub hinweise: Hints,
}

/// Confirmation of POST /belege/{id}/pdf (D21c).
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct PdfBestaetigung {
    pub id: Uuid,
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    /// Carried as string, as in the polling list.
    pub pdf_archiv_count: String,
    /// Of the upload; null where the sheet stands for one.
    pub sha256: Option<String>,
    pub status: BelegStatus,
    pub hinweise: Hints,
}

/// The newest archived PDF of a document (specification, BelegPdf).
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct BelegPdf {
    pub beleg_id: Uuid,
    pub dateiname: String,
    pub mime_type: &'static str,
    pub datei_base64: String,
    /// Of a draft the last change of its document.
    pub erstellt_am: Instant,
}

/// An entry of the polling list (specification, Dokument).
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Dokument {
    pub id: Uuid,
    pub beleg_typ: BelegTyp,
    pub beleg_nummer: String,
    pub beleg_datum: DayTime,
    pub status: BelegStatus,
    pub summe_brutto: Money,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub kunde_id: Uuid,
    pub kunde_name: String,
    /// Number of archived PDFs, carried as string.
    pub pdf_archiv_count: String,
    pub pdf_letztes: Option<Instant>,
    pub pdf_url: Option<String>,
    #[serde(skip)]
    pub ereignis_am: Instant,
}

/// One entry of the history of a document (D4): the version before a change.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Verlaufseintrag {
    pub version: i64,
    pub am: Instant,
    pub key_id: Option<String>,
    pub aktion: String,
    #[schemars(with = "Beleg")]
    pub beleg: Box<serde_json::value::RawValue>,
}

/// Where the PDF of a document is, once one is archived.
pub fn pdf_url(beleg: Uuid, is_archived: bool) -> Option<String> {
    is_archived.then(|| format!("/api/v1/belege/{beleg}/pdf"))
}
