//! Request and response models of settlements.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::goods::chargen::Bewegung;
use crate::master::kunden;
use crate::platform::db::columns::Json;
use crate::platform::db::record::record;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{At, FromJson, Liste, LongText, OneOf, Tage, Text};
use crate::rules::choice::Choice;
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::document::BelegStatus;
use crate::rules::error::Hints;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::settlement::{AbrechnungsPosten, Abrechnungsart};
use crate::{auswahl, eingabe};

record! {
    /// A settlement: a Gutschrift for receipts of one partner (D29g).
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Abrechnung from abrechnung as a {
        id: Uuid,
        art: Abrechnungsart,
        beleg_id: Uuid,
        beleg_nummer: String = "b.beleg_nummer",
        beleg_datum: DayTime = "b.beleg_datum",
        /// Status of the document; a cancelled one settles nothing.
        status: BelegStatus = "b.status",
        partner_id: Uuid = "b.kunde_id",
        partner_name: Option<String> = "k.name",
        summe_netto: Money = "b.summe_netto",
        summe_mwst: Money = "b.summe_mwst",
        summe_brutto: Money = "b.summe_brutto",
        /// Number of its receipts.
        anzahl: i64 = "(select count(*) from abrechnung_annahme x where x.tenant_id = a.tenant_id \
            and x.abrechnung_id = a.id)",
        /// Whether a correction would now pay something else (D29j). The columns say whether anything that decides it was
        /// written since; `veraltet.rs` computes it.
        veraltet: bool = "b.status <> 'storniert' and (k.geaendert_am > a.angelegt_am
            or exists (select 1 from abrechnung_annahme x
              join annahmeschein s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
              where x.tenant_id = a.tenant_id and x.abrechnung_id = a.id and (
                exists (select 1 from annahme_analyse q where q.tenant_id = x.tenant_id
                  and q.annahmeschein_id = x.annahmeschein_id and q.version > x.analyse)
                or exists (select 1 from abrechnungsschema_version v where v.tenant_id = s.tenant_id
                  and v.schema_id = s.schema_id and v.angelegt_am > a.angelegt_am)
                or x.kontrakt_id is not null)))",
        /// The settlement that it replaces.
        korrektur_von: Option<Uuid>,
        created_at: Instant = "a.angelegt_am",
    }
}

auswahl! {
    /// Filters of a list of settlements; von and bis refer to beleg_datum (D16).
    pub struct Auswahl of (query: &Query) {
        art: Vec<&'static str> = query.list_of("art", Abrechnungsart::parse_any_case)?,
        partner: Option<Uuid> = query.uuid("partner_id")?,
        von: Option<Day> = query.day("von")?,
        bis: Option<Day> = query.day("bis")?,
        schein: Option<Uuid> = query.uuid("annahmeschein_id")?,
    }
}

/// A settlement with its receipts, each with all rows as printed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AbrechnungMitPosten {
    #[serde(flatten)]
    pub abrechnung: Abrechnung,
    pub annahmescheine: Vec<Json<AbrechnungsPosten>>,
}

/// Maximum number of receipts per settlement: each is an item of the document.
pub const ANNAHMESCHEINE_MAX: usize = 1_000;

eingabe! {
    /// Body of POST /abrechnungen and …/vorschau (D29g).
    #[derive(Serialize)]
    pub struct NewAbrechnung as "AbrechnungNeu" {
        art: OneOf<Abrechnungsart>,
        annahmeschein_ids: Liste<Uuid, ANNAHMESCHEINE_MAX>,
        auswahl: AuswahlEingabe,
        preis_je_t: Price,
        rest_preis_je_t: Price,
        abschlag: AbschlagEingabe,
        zuschlag_je_t: Price,
        negativ_zulassen: bool,
        beleg_datum: Day,
        abschliessen: bool,
        external_ref: Text,
        zahlungsziel_tage: Tage,
        notizen: LongText,
    }
    nur_lesen: [..Abrechnung, "annahmescheine", "hinweise", "idempotent", "inhalt_abweichend", "lagerbewegungen"]
}

impl NewAbrechnung {
    /// Parses a request body and returns it with hints.
    pub fn said(body: &Value) -> Result<(NewAbrechnung, Hints)> {
        let (text, mut hints) = (body.to_string(), Hints::default());
        let json = json::Json::parse(text.as_bytes()).map_err(Failure::Broken)?;
        let new = NewAbrechnung::from_json(&json, &mut At::top(&mut hints, true))?;
        Ok((new, hints))
    }

    /// Parses a stored request.
    pub fn stored(anfrage: &str) -> Result<NewAbrechnung> {
        let broken = || Failure::Broken(format!("a stored settlement cannot be read: {anfrage}"));
        let json = json::Json::parse(anfrage.as_bytes()).map_err(|_| broken())?;
        NewAbrechnung::from_json(&json, &mut At::top(&mut Hints::default(), false)).map_err(|_| broken())
    }
}

eingabe! {
    /// Selects the receipts to settle by a filter instead of by id: all open ones of one partner.
    #[derive(Serialize)]
    pub struct AuswahlEingabe as "AbrechnungsAuswahl" {
        partner_id: Uuid,
        kunden_id: kunden::KundenId,
        kundennummer: Text,
        artikel_id: Uuid,
        artikelnr: Text,
        kontrakt_id: Uuid,
        von: Day,
        bis: Day,
    }
    nur_lesen: []
}

eingabe! {
    /// An advance: a percentage of the value by the current analysis, or a price.
    #[derive(Serialize)]
    pub struct AbschlagEingabe as "AbrechnungsAbschlag" {
        prozent: Percent,
        preis_je_t: Price,
    }
    nur_lesen: []
}

eingabe! {
    /// Body of POST …/korrektur.
    pub struct Korrektur {
        grund: Text,
        negativ_zulassen: bool,
        rest_preis_je_t: Price,
    }
    nur_lesen: []
}

/// The result of a settlement, without storing it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AbrechnungsVorschau {
    pub art: Abrechnungsart,
    pub partner_id: Uuid,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    pub positionen: Vec<VorschauPosition>,
    pub annahmescheine: Vec<AbrechnungsPosten>,
    pub hinweise: Hints,
}

/// An item of the document in a preview.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AbrechnungsPosition")]
pub struct VorschauPosition {
    pub bezeichnung: Option<String>,
    pub menge: Quantity,
    pub einheit: Option<String>,
    pub ep_netto: Price,
    pub mwst_satz: Option<Percent>,
    pub gesamtpreis: Money,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AbrechnungAngelegt {
    pub id: Uuid,
    pub art: Abrechnungsart,
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub status: BelegStatus,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    pub annahmescheine: Vec<AbrechnungsPosten>,
    /// Empty if the goods are already in stock (D29h).
    pub lagerbewegungen: Vec<Bewegung>,
    /// For a correction: the document that it cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storniert: Option<String>,
    pub hinweise: Hints,
}
