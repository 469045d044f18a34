//! Request bodies of documents, and how they are parsed.

use serde::Serialize;
use uuid::Uuid;

use super::model::Beleg;
pub use super::model::NewItem;
use crate::choice;
use crate::master::kunden::{self, KundenId};
use crate::platform::db::tx::Tx;
use crate::platform::http::json::Json;
use crate::platform::http::query::Query;
use crate::platform::http::upload::{Dateiname, Inhalt};
use crate::platform::http::wire::{At, FromJson, Kennung, Liste, LongText, OneOf, Tage, Text};
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::{Checked, Code};
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::GedruckteGruppe;
use crate::rules::verweis::Verweis;
use crate::{auswahl, eingabe, shape};

/// Maximum number of positions per document (D18).
const POSITIONS_MAX: usize = 1_000;
/// Maximum number of tax groups per invoice; real ones have up to 4.
pub const STEUERGRUPPEN_MAX: usize = 20;

auswahl! {
    /// Filters of a list of documents.
    pub struct Auswahl<'a> of (tx: &Tx<'_>, query: &'a Query) {
        typen: Vec<&'static str> = query.list_of("typ", BelegTyp::parse_alias)?,
        status: Vec<&'static str> = query.list_of("status", BelegStatus::parse_any_case)?,
        von: Option<Day> = query.day("von")?,
        bis: Option<Day> = query.day("bis")?,
        kunde: Option<Uuid> = kunden::of_filter(tx, query.verweis("kunden_id")?.as_ref())?,
        beleg_nummer: Option<String> = query.text("beleg_nummer").map(str::to_uppercase),
        external_ref: Option<&'a str> = query.text("external_ref"),
        /// Words in number, external_ref, fremdbelegnummer, or the search text of the partner.
        suche: Option<&'a str> = query.search("suche")?,
        /// Referenced by a position.
        artikel: Option<Uuid> = query.uuid("artikel_id")?,
        /// Referenced by a position.
        kontrakt: Option<Uuid> = query.uuid("kontrakt_id")?,
        /// Only AN, AU, BS, LS and EL of which something is left to go on with, and that were not closed (D38).
        offen: bool = query.flag("offen")?,
        sortierung: Option<&'a str> = query.one_of("sortierung")?,
        /// Final without the mandatory e-invoice (D4).
        ohne_erechnung: bool = false,
        /// Open RE and Gutschriften created before this instant.
        offen_seit: Option<Instant> = None,
        /// Final unsettled invoices, without cancelled and cancelling ones, in the order of their due dates.
        unbezahlt: bool = false,
        /// Of these, only those due on or before this day.
        faellig_bis: Option<Day> = None,
        /// Net or gross sum, with either sign, among the newest [`super::AMOUNTS_LOOKED_AT_MAX`].
        betrag: Option<Money> = None,
    }
}

eingabe! {
    #[derive(Serialize)]
    pub struct NewBeleg;
    /// A change of a document: body of PUT /belege/{id}.
    pub change BelegChange {
        beleg_typ: BelegTyp,
        items: Items,
        kunden_id: KundenId,
        kundennummer: Text,
        external_ref: Text,
        auto_price: bool,
        beleg_datum: Day,
        lieferdatum: Day,
        leistung_von: Day,
        leistung_bis: Day,
        liefertermin: Day,
        gueltig_bis: Day,
        notizen: LongText,
        niederlassung_id: Kennung,
        lagerhalle_id: Kennung,
        fremdbelegnummer: Text,
        vb_id: Verweis,
        zahlungsziel_tage: Tage,
        zahlungsbedingung: Text,
        skonto_tage: Tage,
        skonto_prozent: Percent,
        kontaktperson: Text,
        gutschrift: bool,
        vorgaenger_beleg_id: Uuid,
        abschliessen: bool,
        steuergruppen: Liste<SteuergruppeEingabe, STEUERGRUPPEN_MAX>,
    }
    nur_lesen: [..Beleg, "idempotent", "inhalt_abweichend", "hinweise", "lagerbewegungen"]
}

eingabe! {
    /// The amounts that a supplier's invoice prints for a tax rate (D18).
    #[derive(Serialize)]
    pub struct SteuergruppeEingabe {
        mwst_satz: Percent,
        basis: Money,
        steuer: Money,
    }
    nur_lesen: []
}

impl From<GedruckteGruppe> for SteuergruppeEingabe {
    fn from(group: GedruckteGruppe) -> SteuergruppeEingabe {
        let GedruckteGruppe { mwst_satz, basis, steuer } = group;
        SteuergruppeEingabe { mwst_satz: Some(mwst_satz), basis: Some(basis), steuer: Some(steuer) }
    }
}

eingabe! {
    /// A PDF of a document: body of POST /belege/{id}/pdf (D21c).
    pub struct NewPdf {
        datei_base64: Inhalt,
        dateiname: Dateiname,
        abschliessen: bool,
    }
    nur_lesen: ["id", "beleg_id", "beleg_nummer", "pdf_archiv_count", "sha256", "status", "mime_type",
        "erstellt_am"]
}

eingabe! {
    /// How a document is settled: body of POST /belege/{id}/erledigen (D4).
    pub struct Erledigung {
        ohne_gegenbeleg: bool,
    }
    nur_lesen: [..Beleg, "items"]
}

eingabe! {
    /// An e-invoice of a supplier: body of POST /belege/einlesen (D28).
    pub struct NewEinlesen {
        datei_base64: Inhalt,
        dateiname: Dateiname,
        anlegen: bool,
        kunden_id: KundenId,
        vorzeichen: OneOf<Vorzeichen>,
        external_ref: Text,
    }
    nur_lesen: []
}

choice! {
    /// How the signs of a credit note below zero are meant (D28).
    pub enum Vorzeichen {
        /// As the standard reads them: the amounts are owed.
        WieGedruckt = "wie_gedruckt",
        /// As most senders mean them: the amounts are credited.
        Umgekehrt = "umgekehrt",
    }
}

shape!([] Items => |generator| {
    let mut items = Liste::<NewItem, POSITIONS_MAX>::json_schema(generator);
    items.insert("minItems".to_owned(), 1.into());
    items
});

/// Ignores case and accepts aliases (D10).
impl FromJson for BelegTyp {
    type Value = BelegTyp;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<BelegTyp> {
        let text = Text::from_json(json, at)?;
        match BelegTyp::parse_alias(&text) {
            Some(typ) => Ok(typ),
            None => at.refuse(Code::WertUngueltig, format!("Erlaubt sind: {}.", BelegTyp::texts())),
        }
    }
}

/// The items of a document.
pub struct Items;

impl FromJson for Items {
    type Value = Vec<NewItem>;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Vec<NewItem>> {
        Liste::<NewItem, POSITIONS_MAX>::from_json(json, at)
    }
}
