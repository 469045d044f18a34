//! Countries: a built-in list, and how requests name a country.
//!
//! Names: Unicode CLDR 48.2 (Unicode License V3).

use std::collections::HashMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::papers::blatt::Anschrift;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::json::Json;
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::http::wire::{At, FromJson, Text};
use crate::rules::error::{Checked, Code};
use crate::rules::tax::Gebiet;
use crate::rules::text::{din_5007_key, folded_key};
use crate::shape;

pub const ROUTES: &[Route] =
    &[Route::get("/api/v1/laender", Access::AnyKey, "Länder mit Kennzeichen der EU-Mitgliedschaft", list)
        .with_query(&[Param::limit(None), Param::OFFSET])
        .gives(&[Answer::list::<Land>().with(&["x-limit", "etag"])])];

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Land {
    /// ISO 3166-1 alpha-2.
    pub iso2: String,
    /// ISO 3166-1 alpha-3.
    pub iso3: String,
    pub name_de: String,
    pub eu_mitglied: bool,
}

/// All countries, sorted by DIN 5007-1.
static LAENDER: LazyLock<Vec<Land>> = LazyLock::new(|| {
    // The file is compiled in; a test parses it.
    let mut laender: Vec<Land> = serde_json::from_str(include_str!("laender.json")).unwrap_or_default();
    laender.sort_by_cached_key(|land| (din_5007_key(&land.name_de), land.iso2.clone()));
    laender
});

/// Countries by their codes and by their German names, folded.
static BY_NAME: LazyLock<HashMap<String, &'static Land>> = LazyLock::new(|| {
    let names = |land: &'static Land| [land.iso2.clone(), land.iso3.clone(), folded_key(&land.name_de)];
    LAENDER.iter().flat_map(|land| names(land).map(|name| (name, land))).collect()
});

/// Returns all countries, sorted by DIN 5007-1.
pub fn all() -> &'static [Land] {
    &LAENDER
}

/// A country as a request names it: iso2, iso3, German name, D or A; stored as iso2 (D18).
pub struct Staat;

shape!([] Staat => |generator| Text::json_schema(generator));

impl FromJson for Staat {
    type Value = String;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<String> {
        let text = Text::from_json(json, at)?;
        match find(&text) {
            Some(land) => Ok(land.iso2.clone()),
            None => at.refuse(
                Code::LandUnbekannt,
                format!("Das Land {text} ist nicht bekannt. Bitte als ISO-Kürzel angeben, zum Beispiel DE."),
            ),
        }
    }
}

pub fn find(text: &str) -> Option<&'static Land> {
    let upper = text.trim().to_uppercase();
    let iso2 = match upper.as_str() {
        "D" => "DE",
        "A" => "AT",
        other => other,
    };
    BY_NAME.get(iso2).or_else(|| BY_NAME.get(&folded_key(text))).copied()
}

/// Returns the German name of a country, or the code itself if it is unknown.
pub fn name_de(iso2: &str) -> &str {
    BY_NAME.get(iso2).map_or(iso2, |land| &land.name_de)
}

/// Returns the lines of an address window (DIN 5008), with a foreign country in capitals.
pub fn anschrift(
    name: &str,
    strasse: Option<&str>,
    plz: Option<&str>,
    ort: Option<&str>,
    staat: &str,
    own: &str,
) -> Anschrift {
    let town: Vec<_> = [plz, ort].into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let street = strasse.filter(|strasse| !strasse.is_empty());
    let town = Some(town.join(" ")).filter(|town| !town.is_empty());
    let country = (staat != own).then(|| name_de(staat).to_uppercase());
    Anschrift {
        zeilen: [Some(name), street].into_iter().flatten().map(str::to_owned).collect(),
        ort: [town, country].into_iter().flatten().collect(),
    }
}

/// Returns the territory of a country under the tax rules.
pub fn gebiet(iso2: &str) -> Gebiet {
    match BY_NAME.get(iso2) {
        _ if iso2 == "DE" => Gebiet::Inland,
        Some(land) if land.eu_mitglied => Gebiet::Eu,
        _ => Gebiet::Drittland,
    }
}

#[derive(Serialize)]
struct LandListe<'l> {
    data: &'l [Land],
    count: usize,
}

fn list(call: &Call<'_>, _: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let reply = Reply::ok(&LandListe { data: page.of(&LAENDER), count: LAENDER.len() })?;
    Ok(reply.with_cut_limit(cut).with_weak_etag(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_found_by_every_name() {
        assert_eq!(LAENDER.len(), 249);
        assert_eq!(LAENDER.iter().filter(|land| land.eu_mitglied).count(), 27);
        let table = [
            ("de", "DE"),
            ("D", "DE"),
            ("A", "AT"),
            ("AUT", "AT"),
            ("Österreich", "AT"),
            ("oesterreich", "AT"),
            ("Niederlande", "NL"),
        ];
        for (text, iso2) in table {
            assert_eq!(find(text).map(|land| land.iso2.as_str()), Some(iso2), "{text}");
        }
        assert!(find("Preußen").is_none() && find("XX").is_none());
        assert_eq!(
            [gebiet("DE"), gebiet("AT"), gebiet("CH")],
            [Gebiet::Inland, Gebiet::Eu, Gebiet::Drittland]
        );
    }
}
