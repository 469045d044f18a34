//! Request and response models of schemes.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::platform::db::record::record;
use crate::platform::failure::Result;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Gewicht, Int, Liste, OneOf, Text};
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Checked, Hints, Refusals, required};
use crate::rules::field::said;
use crate::rules::fixed::{Price, Zahl};
use crate::rules::settlement::{
    Basisseite, Bestand, Fehlt, Grenze, Grenzfolge, Mittelung, Rechnung, SatzEinheit, Schema, Schritt,
    SchrittZeile, Schrittregel, Wirkung,
};
use crate::{auswahl, eingabe};

record! {
    /// A version of a scheme without its computation (D29b).
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "AbrechnungsschemaKopf")]
    pub struct Kopf from abrechnungsschema_version as v {
        id: Uuid = "v.schema_id",
        nummer: String = "s.nummer" => said("Nummer", "Nummer des Schemas; sie bleibt."),
        version: i64 => said("Version", "Zählt die Änderungen des Schemas, ab 1."),
        bezeichnung: String => said("Bezeichnung", "Bezeichnung."),
        erntejahr: Option<i64> => said("Ernte", "Erntejahr."),
        gueltig_von: Day => said("Gültig ab", "Erster Liefertag, für den die Version gilt."),
        /// null: until the next version begins.
        gueltig_bis: Option<Day> => said("Gültig bis", "Letzter Liefertag; null: bis die nächste Version beginnt."),
        angelegt_am: Instant => said("Angelegt am", "Wann die Version angelegt wurde."),
        /// Digest of everything in the version.
        sha256: String = "lower(hex(v.sha256))",
        /// The numbers of its articles.
        artikel: Vec<String> = { Vec::new() } => said("Artikel", "Nummern der Artikel, für die es gilt; in Anfragen auch ihre ids."),
    }
}

/// A complete version of a scheme; clients can send it back unchanged as the next version.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Abrechnungsschema {
    #[serde(flatten)]
    pub kopf: Kopf,
    #[serde(flatten)]
    pub inhalt: Schema,
    /// All versions, newest first.
    pub versionen: Vec<SchemaVersion>,
}

record! {
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    #[schemars(rename = "AbrechnungsschemaVersion")]
    pub struct SchemaVersion from abrechnungsschema_version as v {
        version: i64,
        gueltig_von: Day,
        gueltig_bis: Option<Day>,
        angelegt_am: Instant,
        /// null: created by the command line.
        key_id: Option<String>,
    }
}

/// Maximum number of articles per scheme.
const ARTIKEL_MAX: usize = 50;
/// Maximum number of steps, and of limits, per scheme.
const SCHRITTE_MAX: usize = 50;
/// Maximum number of rows per table: a range of 100 % in steps of 0.1 %.
const ZEILEN_MAX: usize = 1_000;

auswahl! {
    pub struct Auswahl of (query: &Query) {
        /// Only versions valid on this day; without a day the newest of each scheme.
        am: Option<Day> = query.day("gueltig_am")?,
        artikel: Option<Uuid> = query.uuid("artikel_id")?,
    }
}

eingabe! {
    /// A version of a scheme: the body of both POSTs, and a row of abrechnungsschemata, whose key is nummer (D29b).
    pub struct SchemaEingabe as "AbrechnungsschemaNeu" {
        nummer: Text,
        bezeichnung: Text,
        artikel: Liste<Text, ARTIKEL_MAX>,
        erntejahr: Int<1900, 2200>,
        gueltig_von: Day,
        gueltig_bis: Day,
        bestand: OneOf<Bestand>,
        preis_stellen: Int<2, 4>,
        mittelung: OneOf<Mittelung>,
        bio: bool,
        grenzen: Liste<GrenzeEingabe, SCHRITTE_MAX>,
        schritte: Liste<SchrittEingabe, SCHRITTE_MAX>,
    }
    nur_lesen: [..Kopf, "versionen", "hinweise"]
}

eingabe! {
    pub struct GrenzeEingabe as "AbrechnungsGrenzeNeu" {
        merkmal: Text,
        richtung: OneOf<Basisseite>,
        wert: Zahl,
        aktion: OneOf<Grenzfolge>,
        text: Text,
    }
    nur_lesen: []
}

eingabe! {
    pub struct SchrittEingabe as "AbrechnungsSchrittNeu" {
        nr: Int<1, 999>,
        code: Text,
        text: Text,
        wirkung: OneOf<Wirkung>,
        regel: OneOf<Schrittregel>,
        merkmal: Text,
        richtung: OneOf<Basisseite>,
        basis: Zahl,
        zaehlt_ab: Zahl,
        grenzwert: Zahl,
        schritt: Zahl,
        angefangen: bool,
        satz: Zahl,
        einheit: OneOf<SatzEinheit>,
        bezug: Text,
        zeilen: Liste<ZeileEingabe, ZEILEN_MAX>,
        gestaffelt: bool,
        fehlt: OneOf<Fehlt>,
    }
    nur_lesen: []
}

eingabe! {
    pub struct ZeileEingabe as "AbrechnungsSchrittZeileNeu" {
        von: Zahl,
        bis: Zahl,
        satz: Zahl,
    }
    nur_lesen: []
}

eingabe! {
    /// A row of abrechnungstabellen: one row of the table or staffel of a step. All rows of a scheme form its
    /// next version.
    pub struct TabellenZeile {
        nummer: Text,
        gueltig_von: Day,
        schritt: Text,
        von: Zahl,
        bis: Zahl,
        satz: Zahl,
    }
    nur_lesen: []
}

eingabe! {
    /// A row of merkmale; its key is code (D29a).
    pub struct MerkmalZeile {
        code: Text,
        bezeichnung: Text,
        einheit: Text,
        stellen: Int<0, 3>,
        mittel: OneOf<crate::rules::settlement::Mittel>,
    }
    nur_lesen: []
}

eingabe! {
    /// Body of POST …/probe.
    pub struct Probe as "AbrechnungsProbe" {
        menge_kg: Gewicht,
        preis_je_t: Price,
        lieferdatum: Day,
        version: Int<1, { i32::MAX as i64 }>,
        werte: Liste<WertEingabe, SCHRITTE_MAX>,
    }
    nur_lesen: []
}

eingabe! {
    #[derive(Serialize)]
    pub struct WertEingabe as "MesswertNeu" {
        merkmal: Text,
        wert: Zahl,
    }
    nur_lesen: []
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AbrechnungsProbeErgebnis {
    /// Id of the scheme.
    pub id: Uuid,
    pub nummer: String,
    pub version: i64,
    #[serde(flatten)]
    pub rechnung: Rechnung,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AbrechnungsschemaGespeichert")]
pub struct Gespeichert {
    pub id: Uuid,
    pub nummer: String,
    pub version: i64,
    pub gueltig_von: Day,
    pub gueltig_bis: Option<Day>,
    pub sha256: String,
    pub hinweise: Hints,
}

impl Kopf {
    /// The confirmation that it is stored.
    pub fn stored(self, hinweise: Hints) -> Gespeichert {
        let Kopf { id, nummer, version, gueltig_von, gueltig_bis, sha256, .. } = self;
        Gespeichert { id, nummer, version, gueltig_von, gueltig_bis, sha256, hinweise }
    }
}

impl SchemaEingabe {
    /// Parses the computation; reports missing and wrong fields all at once.
    pub fn inhalt(&self) -> Result<Schema> {
        let mut errors = Refusals::default();
        let mut grenzen = Vec::new();
        for (index, grenze) in self.grenzen.iter().flatten().enumerate() {
            let read = grenze.grenze().map_err(|refusal| refusal.below(&format!("grenzen[{index}]")));
            grenzen.extend(errors.keep(read));
        }
        let mut schritte = Vec::new();
        for (index, schritt) in self.schritte.iter().flatten().enumerate() {
            let read = schritt.schritt().map_err(|refusal| refusal.below(&format!("schritte[{index}]")));
            schritte.extend(errors.keep(read));
        }
        errors.into_result()?;
        Ok(Schema {
            bestand: self.bestand.unwrap_or(Bestand::Netto),
            preis_stellen: self.preis_stellen.unwrap_or(2),
            mittelung: self.mittelung.unwrap_or(Mittelung::JeAnlieferung),
            bio: self.bio.unwrap_or_default(),
            grenzen,
            schritte,
        })
    }
}

impl GrenzeEingabe {
    fn grenze(&self) -> Checked<Grenze> {
        Ok(Grenze {
            merkmal: required(self.merkmal.clone(), "merkmal")?,
            richtung: required(self.richtung, "richtung")?,
            wert: required(self.wert, "wert")?,
            aktion: required(self.aktion, "aktion")?,
            text: required(self.text.clone(), "text")?,
        })
    }
}

impl SchrittEingabe {
    fn schritt(&self) -> Checked<Schritt> {
        let wirkung = required(self.wirkung, "wirkung")?;
        // A quantity has only one possible unit.
        let einheit = self.einheit.or((wirkung == Wirkung::Menge).then_some(SatzEinheit::Prozent));
        Ok(Schritt {
            nr: required(self.nr, "nr")?,
            code: required(self.code.clone(), "code")?,
            text: required(self.text.clone(), "text")?,
            wirkung,
            regel: required(self.regel, "regel")?,
            merkmal: self.merkmal.clone(),
            richtung: self.richtung,
            basis: self.basis,
            zaehlt_ab: self.zaehlt_ab,
            grenzwert: self.grenzwert,
            schritt: self.schritt,
            angefangen: self.angefangen.unwrap_or_default(),
            satz: self.satz,
            einheit: required(einheit, "einheit")?,
            bezug: self.bezug.clone(),
            zeilen: rows(self.zeilen.iter().flatten())?,
            gestaffelt: self.gestaffelt.unwrap_or_default(),
            fehlt: self.fehlt.unwrap_or(Fehlt::Sperren),
        })
    }
}

/// Parses the rows of a table or staffel.
fn rows<'z>(zeilen: impl Iterator<Item = &'z ZeileEingabe>) -> Checked<Vec<SchrittZeile>> {
    let row = |(index, zeile): (usize, &ZeileEingabe)| {
        let row = required(zeile.bis, "bis").and_then(|bis| {
            let satz = required(zeile.satz, "satz")?;
            Ok(SchrittZeile { von: zeile.von, bis, satz })
        });
        row.map_err(|refusal| refusal.below(&format!("zeilen[{index}]")))
    };
    zeilen.enumerate().map(row).collect()
}
