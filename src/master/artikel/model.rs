//! Request and response models of articles.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::platform::db::record::record;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Int, Liste, LongText, NotNegative, OneOf, Spelled, Text};
use crate::rules::error::{Checked, Hints};
use crate::rules::field::{Tabular, Typed, Value, said};
use crate::rules::fixed::{Percent, Price, Quantity};
use crate::rules::price::Tier;
use crate::rules::stammdaten::ArtikelStatus;
use crate::rules::unit::Conversion;
use crate::{auswahl, eingabe};

record! {
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Artikel in artikel as a {
        id: Uuid = fixed,
        artikelnummer: String as Text = mutable => said("Nummer", "Artikelnummer.")
            .aliases("artikelnr artnr artikelno artikelcode materialnummer materialnr produktnummer produktnr \
                sachnummer nr nummer")
            .group(STAMM),
        artikelnr: Option<String> as Text = mutable => said("Zweite Nummer", "Zweite, kurze Artikelnummer.")
            .group(STAMM),
        bezeichnung: String as Text = mutable => said("Bezeichnung", "Bezeichnung.")
            .aliases("artikelbezeichnung artikelname produktbezeichnung produktname produkt beschreibung \
                bezeichnung1")
            .group(STAMM),
        bezeichnung2: Option<String> as Text = mutable => said("Zusatz", "Zweite Bezeichnung.")
            .aliases("zusatz zusatzbezeichnung")
            .group(STAMM),
        einheit: Option<String> as Text = mutable => said("Einheit", "Einheit, in der der Artikel geführt wird.")
            .aliases("me mengeneinheit einh")
            .group(STAMM),
        preis: Option<Price> as NotNegative<Price> = mutable
            => said("Verkaufspreis netto (EUR)", "Verkaufspreis netto je Einheit.")
            .aliases("verkaufspreis vk vkpreis vknetto verkaufspreisnetto nettopreis preisnetto preiseur preiseuro \
                listenpreis")
            .group(PREISE),
        ep_netto: Option<Price> as NotNegative<Price> = mutable
            => said("Einkaufspreis netto (EUR)", "Einkaufspreis netto je Einheit.")
            .aliases("einkaufspreis ek ekpreis eknetto einkaufspreisnetto")
            .group(PREISE),
        mwst_satz: Option<Percent> as Percent = mutable => said("Steuersatz (%)", "Steuersatz in Prozent.")
            .aliases("mwst mwstprozent ust ustsatz steuersatz umsatzsteuer umsatzsteuersatz")
            .group(PREISE),
        ean: Option<String> as Text = mutable => said("EAN", "EAN.")
            .aliases("gtin barcode eancode eannummer eannr")
            .group(STAMM),
        artikelgruppe_id: Option<i64> = mutable,
        status: ArtikelStatus as OneOf<ArtikelStatus> = mutable
            => said("Status", "Status des Datensatzes.").group(STAMM),
        chargenpflichtig: bool as bool = mutable
            => said("Chargenpflichtig", "Ob der Artikel in Chargen geführt wird.").group(STAMM),
        langtext: Option<String> as LongText = mutable => said("Langtext", "Langer Text.").long().group(TEXT),
        gruppe: Option<String> = "g.name" => said("Gruppe", "Name der Artikelgruppe.")
            .aliases("artikelgruppe warengruppe produktgruppe"),
    }
    /// Body of POST and PUT /artikel, and a row of an import (D22). `gruppe` identifies a group by kuerzel, nummer
    /// or name; `staffelpreise` replaces all tiers of the article.
    body change ArtikelChange {
        artikelgruppe_id: Int<1, { i32::MAX as i64 }>,
        gruppe: Spelled,
        staffelpreise: Liste<StaffelEingabe, TIERS_MAX>,
    } nur_lesen: ["hinweise"]
}

/// The parts of the form.
pub const STAMM: &str = "Artikel";
pub const PREISE: &str = "Preise";
pub const TEXT: &str = "Text";

impl Artikel {
    /// Converts a unit into the article's own, or refuses. An article without a unit accepts any unit,
    /// unconverted.
    pub fn conversion_from(&self, einheit: Option<&str>) -> Checked<Conversion> {
        let (Some(einheit), Some(own)) = (einheit, &self.einheit) else { return Ok(Conversion::NONE) };
        Conversion::between(einheit, own).ok_or_else(|| Conversion::missing(einheit, own))
    }
}

/// Maximum number of tiers per article.
const TIERS_MAX: usize = 100;

auswahl! {
    /// Filters of a list of articles, and whether it shows their stock.
    pub struct Auswahl<'a> of (query: &'a Query) {
        suche: Option<&'a str> = query.search("suche")?,
        /// Exactly this number, ignoring case.
        artikelnummer: Option<&'a str> = query.text("artikelnummer"),
        gruppe: Option<i64> = query.int("gruppe_id")?,
        mit_bestand: bool = query.flag("bestand")?,
        sortierung: Option<&'a str> = query.one_of("sortierung")?,
    }
}

eingabe! {
    /// A tier in the body of an article; `aktiv` defaults to true.
    pub struct StaffelEingabe as "StaffelpreisNeu" {
        ab_menge: NotNegative<Quantity>,
        preis: NotNegative<Price>,
        aktiv: bool,
    }
    nur_lesen: []
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ArtikelAngelegt {
    pub id: Uuid,
    pub artikelnummer: String,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Artikel")]
pub struct ArtikelZeile {
    #[serde(flatten)]
    pub artikel: Artikel,
    /// In the unit of the article; only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bestand: Option<Quantity>,
}

impl Tabular for ArtikelZeile {
    fn headings() -> Vec<&'static str> {
        [Artikel::headings(), vec!["Bestand"]].concat()
    }

    fn cells(&self) -> Vec<Value> {
        [self.artikel.cells(), vec![self.bestand.value()]].concat()
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ArtikelMitStaffeln {
    #[serde(flatten)]
    pub artikel: Artikel,
    /// The active tiers, smallest first (D6).
    pub staffelpreise: Vec<Tier>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ArtikelBestand {
    pub artikel_id: Uuid,
    pub artikelnummer: String,
    pub einheit: Option<String>,
    /// The sum of the article's movements, with and without a batch.
    pub bestand: Quantity,
}

/// A tier as stored in the history.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staffel {
    pub ab_menge: Quantity,
    pub preis: Price,
    pub aktiv: bool,
}

record! {
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct Artikelgruppe in artikelgruppe as g {
        id: i64 as Int<1, { i32::MAX as i64 }> = fixed,
        name: String as Text = mutable => said("Name", "Name.").aliases("bezeichnung gruppe artikelgruppe warengruppe"),
        kuerzel: Option<String> as Text = mutable => said("Kürzel", "Kürzel.").aliases("kurzzeichen code"),
        nummer: Option<i64> as Int<0, { i32::MAX as i64 }> = mutable
            => said("Nummer", "Nummer.").aliases("nr zertifikatsnummer zertifikatsnr zertifikatnr zertifikat"),
        mwst_satz: Option<Percent> as Percent = mutable
            => said("Steuersatz (%)", "Steuersatz in Prozent.")
            .aliases("mwst mwstprozent ust ustsatz steuersatz umsatzsteuer umsatzsteuersatz"),
    }
    body struct GruppeZeile {} nur_lesen: []
}
