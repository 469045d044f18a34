//! Request and response models of documents.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::goods::chargen::Bewegung;
use crate::master::laender::Staat;
use crate::papers::blatt::Skonto;
use crate::platform::db::columns::Json;
use crate::platform::db::record::record;
use crate::platform::failure::Result;
use crate::platform::http::wire::{Kennung, LongText, OneOf, Text};
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::document::{BelegStatus, BelegTyp, Rechnungsart, VerknuepfungArt};
use crate::rules::error::{Code, Hints, Message};
use crate::rules::field::said;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::tax::{Gedruckt, Steuerkategorie, share};

/// Where a request contains the positions of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In its list `items`.
    Items,
    /// In its own fields: it creates a document with one position.
    Fields,
}

impl Source {
    /// Returns the path to the position with this number, from 1; empty if its fields are those of the
    /// request.
    pub fn path(self, position: i64) -> String {
        match self {
            Source::Items => format!("items[{}]", position - 1),
            Source::Fields => String::new(),
        }
    }
}

record! {
    /// A document (specification, Beleg; also shows the other fields that a POST stores: D18).
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Beleg in beleg as b {
        id: Uuid = fixed,
        beleg_nummer: String = fixed => said("Nummer", "Nummer des Belegs, lückenlos je Typ und Jahr."),
        beleg_typ: BelegTyp = fixed
            => said("Art",
                "AN Angebot, AU Auftrag, LS Lieferschein, RE Rechnung, BS Bestellung, EL Einkaufslieferschein, ER Eingangsrechnung."),
        status: BelegStatus = mutable => said("Status", "Status des Datensatzes."),
        beleg_datum: DayTime = mutable
            => said("Datum", "Datum des Belegs; beim Anlegen ohne Angabe heute in Berlin."),
        lieferdatum: Option<DayTime> = mutable
            => said("Lieferdatum", "Tag der Lieferung; er bestimmt den Steuersatz."),
        leistung_von: Option<DayTime> = mutable => said("Leistung von", "Erster Tag der Leistung."),
        leistung_bis: Option<DayTime> = mutable => said("Leistung bis", "Letzter Tag der Leistung."),
        summe_netto: Money = mutable => said("Netto (EUR)", "Summe netto."),
        summe_mwst: Money = mutable => said("Steuer (EUR)", "Summe der Steuer."),
        summe_brutto: Money = mutable => said("Brutto (EUR)", "Summe brutto."),
        /// As printed on a supplier's invoice, together with these sums (D18); null if they are computed.
        steuergruppen: Option<Gedruckt> = mutable,
        kunde_id: Uuid = mutable,
        notizen: Option<String> = mutable => said("Notizen", "Freier Text."),
        zahlungsziel_tage: Option<i64> = mutable => said("Zahlungsziel (Tage)", "Zahlungsziel in Tagen."),
        zahlungsbedingung: Option<String> = mutable => said("Zahlungsbedingung", "Zahlungsbedingung."),
        skonto_tage: Option<i64> = mutable => said("Skonto (Tage)", "Tage, in denen Skonto gilt."),
        skonto_prozent: Option<Percent> = mutable => said("Skonto (%)", "Skonto in Prozent."),
        external_ref: Option<String> = fixed
            => said("Kennung des Senders",
                "Kennung des Senders: eine zweite Anfrage mit derselben bekommt den vorhandenen Datensatz."),
        fremdbelegnummer: Option<String> = mutable
            => said("Belegnummer des Partners", "Belegnummer des Partners."),
        ist_gutschrift: bool =
            |beleg_typ, summe_netto, storno_von_beleg_id| {
                ist_gutschrift(beleg_typ, summe_netto, storno_von_beleg_id)
            }
            => said("Gutschrift", "Ob der Beleg eine Gutschrift ist."),
        /// Null unless the document is RE or ER (D24).
        rechnungsart: Option<Rechnungsart> = mutable
            => said("Rechnungsart",
                "rechnung, oder gutschrift, wenn die Firma die ER für ihren Lieferanten schreibt; null, wenn der Beleg weder RE noch ER ist."),
        /// Always null: there are no delivery addresses (D18).
        lieferadresse_id: Option<Uuid> = { None },
        liefertermin: Option<DayTime> = mutable => said("Liefertermin", "Zugesagter Liefertermin."),
        /// Last day on which an offer is valid.
        gueltig_bis: Option<DayTime> = mutable => said("Gültig bis", "Letzter Tag der Gültigkeit."),
        kontaktperson: Option<String> = mutable => said("Kontaktperson", "Kontaktperson."),
        niederlassung_id: Option<i64> = mutable => said("Niederlassung", "Kennung der Niederlassung."),
        lagerhalle_id: Option<i64> = mutable => said("Lagerhalle", "Kennung der Lagerhalle."),
        vb_id: Option<i64> = mutable => said("Vertriebler", "Vertriebler."),
        /// The document that this counter document cancels (D4).
        storno_von_beleg_id: Option<Uuid> = fixed,
        /// The document that this one was made from (D8).
        vorgaenger_beleg_id: Option<Uuid> = mutable,
        /// No counterpart will come: its open quantities are closed (D8).
        ohne_gegenbeleg: bool = mutable
            => said("Ohne Gegenbeleg",
                "Es kommt kein Gegenbeleg mehr; was offen ist, ist geschlossen und wird nur noch mit bezug_beleg_id getroffen."),
        storno_grund: Option<String> = mutable => said("Grund des Stornos", "Warum storniert wurde."),
        /// URL of the PDF, once one is archived.
        pdf_url: Option<String> = |id, is_archived| { pdf_url(id, is_archived) },
        created_at: Instant = fixed as angelegt_am => said("Angelegt", "Zeitpunkt der Anlage."),
        updated_at: Instant = mutable as geaendert_am => said("Geändert", "Zeitpunkt der letzten Änderung."),
        /// Data that was missing for the mandatory e-invoice when the document became final (D4).
        #[serde(skip_serializing_if = "Option::is_none")]
        erechnung_fehlt: Option<Vec<String>> = |fehlt| { from_json(fehlt) },
        /// The partner's name; a copy once the document is final (D4).
        kunden_name: String = "coalesce(b.kunden_name, k.name)"
            => said("Partner", "Name des Kunden; beim abgeschlossenen Beleg der von damals."),
        /// Only in the answer about a single document.
        #[serde(skip_serializing_if = "Option::is_none")]
        positionen: Option<Vec<BelegPosition>> = { None },
        /// The document of vorgaenger_beleg_id; only in the answer about a single document.
        #[serde(skip_serializing_if = "Option::is_none")]
        vorgaenger: Option<Kettenglied> = { None },
        /// The documents made from this one; only in the answer about a single document.
        #[serde(skip_serializing_if = "Option::is_none")]
        nachfolger: Option<Vec<Kettenglied>> = { None },
        /// Last event since it was finalised (D11).
        #[serde(skip)]
        ereignis_am: Option<Instant> = mutable,
        /// When its sheet was created (D25).
        #[serde(skip)]
        blatt_am: Option<Instant>,
        /// State of the company's master data with which it was frozen.
        #[serde(skip)]
        firma_nr: Option<i64>,
        #[serde(skip)]
        version: i64 = mutable,
    } with {
        fehlt: "b.erechnung_fehlt",
        is_archived: "b.blatt_am is not null or exists (select 1 from beleg_pdf p \
            where p.tenant_id = b.tenant_id and p.beleg_id = b.id)",
    }
}

record! {
    /// A document of a chain: AN, AU, LS, RE (D8).
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Kettenglied from beleg as b {
        id: Uuid,
        beleg_nummer: String,
        beleg_typ: BelegTyp,
        status: BelegStatus,
    }
}

fn from_json(list: Option<Json<Vec<String>>>) -> Option<Vec<String>> {
    list.map(|Json(list)| list)
}

/// Whether an invoice is negative or cancels another one.
pub fn ist_gutschrift(typ: BelegTyp, netto: Money, storno_von: Option<Uuid>) -> bool {
    typ.ist_rechnung() && (netto.is_negative() || storno_von.is_some())
}

impl Beleg {
    /// Whether it is an ER that the company writes for its supplier (D24).
    pub fn is_written_for_supplier(&self) -> bool {
        self.rechnungsart == Some(Rechnungsart::Gutschrift)
    }

    pub fn is_live(&self) -> bool {
        self.status != BelegStatus::Storniert && self.storno_von_beleg_id.is_none()
    }

    pub fn datum(&self) -> Day {
        self.beleg_datum.0
    }

    /// Returns the day on which the goods move: lieferdatum, else beleg_datum (D8).
    pub fn liefertag(&self) -> Day {
        self.lieferdatum.unwrap_or(self.beleg_datum).0
    }

    /// Returns the due date; `None` if no payment term was agreed. SQL has the same rule (`faellig!`).
    pub fn faellig(&self) -> Option<Day> {
        self.zahlungsziel_tage.map(|tage| self.after(tage))
    }

    fn after(&self, tage: i64) -> Day {
        Day::of_number(self.datum().number().saturating_add(tage))
    }

    /// Returns the discount for early payment; `None` for negative documents.
    pub fn skonto(&self) -> Result<Option<Skonto>> {
        let agreed = self.skonto_tage.zip(self.skonto_prozent).filter(|(_, prozent)| !prozent.is_zero());
        let Some((tage, prozent)) = agreed.filter(|_| !self.summe_brutto.is_negative()) else {
            return Ok(None);
        };
        let betrag = self.summe_brutto.minus(share(self.summe_brutto, prozent))?;
        Ok(Some(Skonto { bis: self.after(tage), prozent, betrag }))
    }

    /// Returns the day whose tax rates apply: lieferdatum, else leistung_bis, else beleg_datum (D7).
    pub fn satz_datum(&self) -> Day {
        self.lieferdatum.or(self.leistung_bis).unwrap_or(self.beleg_datum).0
    }
}

record! {
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct BelegPosition in beleg_position as p {
        id: Uuid = fixed,
        beleg_id: Uuid = fixed,
        artikel_id: Option<Uuid> as Uuid = fixed,
        bezeichnung: Option<String> as Text = fixed,
        bezeichnung2: Option<String> as Text = fixed,
        langtext: Option<String> as LongText = fixed,
        menge: Quantity as Quantity = fixed,
        einheit: Option<String> as Text = fixed,
        /// The net unit price before discount, the same as ep_netto (D6).
        einzelpreis: Price = |ep_netto| { ep_netto },
        ep_netto: Price as Price = fixed,
        mwst_satz: Percent as Percent = fixed,
        /// Reason why it is taxed or not (D24).
        steuer_kategorie: Steuerkategorie as OneOf<Steuerkategorie> = fixed,
        gesamtpreis: Money = fixed,
        rabatt_prozent: Percent as Percent = fixed,
        /// From 1.
        position: i64 = fixed,
        charge_id: Option<Uuid> as Uuid = fixed,
        fremde_charge_nr: Option<String> as Text = fixed,
        mhd: Option<DayTime> as Day = fixed,
        herkunftsland: Option<String> as Staat = fixed,
        biozertifikat_id: Option<i64> as Kennung = fixed,
        kontrakt_id: Option<Uuid> as Uuid = fixed,
        kontrakt_position_id: Option<Uuid> as Uuid = fixed,
        wiegung_id: Option<Uuid> as Uuid = fixed,
        bezug_beleg_id: Option<Uuid> as Uuid = fixed,
        bezug_position_id: Option<Uuid> as Uuid = fixed,
        /// Whether it takes part in the stock (D8).
        lager_buchen: bool as bool = fixed,
        kostenstelle: Option<String> as Text = fixed,
        niederlassung_id: Option<i64> as Kennung = fixed,
        lagerhalle_id: Option<i64> as Kennung = fixed,
        artikel_name: Option<String> = "a.bezeichnung",
        /// Whether the request sent the rate.
        #[serde(skip)]
        satz_gesendet: bool = fixed,
        /// The day whose rates and Besteuerung hold (D7).
        #[serde(skip)]
        satz_datum: Day = fixed,
        /// Whether the price is 0 because nobody knew one (D6).
        #[serde(skip)]
        preis_fehlt: bool = fixed,
        /// Whether the request named the batch by charge_id; an inherited batch does not count.
        #[serde(skip)]
        charge_gesendet: bool = fixed,
        /// menge in the article's unit.
        #[serde(skip)]
        lager_menge: Option<Quantity> = fixed,
        /// Whether the price is the article's, because neither the current request nor another document gave
        /// one (D6).
        #[serde(skip)]
        preis_des_artikels: bool = { false },
        /// Whether the service chose kontrakt_position_id among several (D21g).
        #[serde(skip)]
        kontrakt_gewaehlt: bool = { false },
        /// Tax of the position that it was made from, where it was asked anew (D38).
        #[serde(skip)]
        steuer_davor: Option<(Percent, Steuerkategorie)> = { None },
        /// The documents it is paired with, no matter who chose them (D8); only in the answer about a single
        /// document.
        #[serde(skip_serializing_if = "Option::is_none")]
        gegenbelege: Option<Vec<Gegenbeleg>> = { None },
        /// The positions that it comes from or takes back (D38); only in the answer about a single document.
        #[serde(skip_serializing_if = "Option::is_none")]
        vorgaenger: Option<Vec<Verknuepfung>> = { None },
        /// The positions that come from it or take it back, likewise.
        #[serde(skip_serializing_if = "Option::is_none")]
        nachfolger: Option<Vec<Verknuepfung>> = { None },
        /// What is left of it for what comes next, in its unit: of AN, AU, BS, LS, EL for documents made from it, of RE
        /// and ER for credits; null of what takes back. Likewise.
        #[serde(skip_serializing_if = "Option::is_none")]
        offen: Option<Option<Quantity>> = { None },
    }
    /// An item of a document, before it becomes a position.
    #[derive(Serialize)]
    body struct NewItem as "ItemEingabe" {
        id: Uuid,
        artikelnr: Text,
    } nur_lesen: []
}

/// A position that a position is paired with: the invoice of a delivery, the credit of an invoice (D8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gegenbeleg {
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    /// Absent in a history, which knows the document alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// Positive, in the article's unit.
    pub menge: Quantity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub art: Option<VerknuepfungArt>,
}

/// A position of another document that a position comes from, or that comes from it (D38).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "BelegVerknuepfung")]
pub struct Verknuepfung {
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    pub position_id: Uuid,
    pub position: i64,
    /// Positive, in the unit of the position that shows it.
    pub menge: Quantity,
    pub art: VerknuepfungArt,
}

impl BelegPosition {
    /// Whether it describes the batch that a purchase brings (D8).
    pub fn states_batch(&self) -> bool {
        self.fremde_charge_nr.is_some()
            || self.mhd.is_some()
            || self.herkunftsland.is_some()
            || self.biozertifikat_id.is_some()
    }
}

impl From<BelegPosition> for PositionBestaetigung {
    fn from(position: BelegPosition) -> PositionBestaetigung {
        let BelegPosition { id, position, gegenbelege, vorgaenger, nachfolger, offen, .. } = position;
        let (gegenbelege, vorgaenger) = (gegenbelege.unwrap_or_default(), vorgaenger.unwrap_or_default());
        let (nachfolger, offen) = (nachfolger.unwrap_or_default(), offen.flatten());
        PositionBestaetigung { id, position, gegenbelege, vorgaenger, nachfolger, offen }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BelegBestaetigung {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    pub status: BelegStatus,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    pub positionen: Vec<PositionBestaetigung>,
    pub lagerbewegungen: Vec<Bewegung>,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct PositionBestaetigung {
    pub id: Uuid,
    pub position: i64,
    pub gegenbelege: Vec<Gegenbeleg>,
    pub vorgaenger: Vec<Verknuepfung>,
    pub nachfolger: Vec<Verknuepfung>,
    /// null of what takes back.
    pub offen: Option<Quantity>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "BelegStatusBestaetigung")]
pub struct StatusBestaetigung {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub status: BelegStatus,
    /// Reasons why finalising would be refused, if requested (D21h).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ablehnungen: Option<Vec<Ablehnung>>,
    pub hinweise: Hints,
}

/// A refusal that a request would get.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ablehnung {
    #[schemars(with = "String")]
    pub error: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feld: Option<String>,
    #[schemars(with = "String")]
    pub message: Message,
}

#[derive(Debug, Serialize, JsonSchema)]
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

#[derive(Debug, Serialize, JsonSchema)]
pub struct PdfBestaetigung {
    pub id: Uuid,
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    /// A number sent as a string, as in the polling list.
    pub pdf_archiv_count: String,
    /// sha256 of the upload; null if the sheet is the archived PDF.
    pub sha256: Option<String>,
    pub status: BelegStatus,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BelegPdf {
    pub beleg_id: Uuid,
    pub dateiname: String,
    pub mime_type: &'static str,
    pub datei_base64: String,
    /// For a draft, the last change of its document.
    pub erstellt_am: Instant,
}

record! {
    /// An entry of the polling list (specification, Dokument).
    #[derive(Debug, Serialize, JsonSchema)]
    pub struct Dokument from beleg as b {
        id: Uuid,
        beleg_typ: BelegTyp,
        beleg_nummer: String,
        beleg_datum: DayTime,
        status: BelegStatus,
        summe_brutto: Money,
        summe_netto: Money,
        summe_mwst: Money,
        kunde_id: Uuid,
        kunde_name: String = "coalesce(b.kunden_name, k.name)",
        /// Number of archived PDFs, sent as a string.
        pdf_archiv_count: String = "(select cast(count(*) + (b.blatt_am is not null) as text) from beleg_pdf p
          where p.tenant_id = b.tenant_id and p.beleg_id = b.id)",
        pdf_letztes: Option<Instant> = "coalesce((select max(p.erstellt_am) from beleg_pdf p
          where p.tenant_id = b.tenant_id and p.beleg_id = b.id), b.blatt_am)",
        pdf_url: Option<String> = |id, pdf_letztes| { pdf_url(id, Option::<Instant>::is_some(&pdf_letztes)) },
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Verlaufseintrag {
    pub version: i64,
    pub am: Instant,
    pub key_id: Option<String>,
    pub aktion: String,
    #[schemars(with = "Beleg")]
    pub beleg: Box<serde_json::value::RawValue>,
}

pub fn pdf_url(beleg: Uuid, is_archived: bool) -> Option<String> {
    is_archived.then(|| format!("/api/v1/belege/{beleg}/pdf"))
}
