//! The table of all routes, including those of the service itself, and the OpenAPI document generated from
//! it.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{description, docs, probes};
use crate::goods::{abrechnungsschemata, chargen, kontrakte, produktion, waage};
use crate::interface::aenderungen;
use crate::master::{artikel, kunden, laender, steuersaetze};
use crate::office::{berichte, buchhaltung, z3};
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::encoding::gzip;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Route, Run};
use crate::platform::http::shape::Answer;
use crate::trade::{abrechnungen, annahmescheine, belege, herkunft, kasse};

/// Version of the interface (specification, Versioning).
const API_VERSION: &str = "1.0.0";
/// Promise to clients: within a version nothing is removed (D28).
const STABILITY: &str = "stable";

const OWN_ROUTES: &[Route] = &[
    Route::open("/api/v1", "Version und Liste der Endpunkte", Run::Open(about))
        .gives(&[Answer::ok::<About>()]),
    Route::open("/openapi.json", "Diese Beschreibung (OpenAPI 3.1)", Run::Open(openapi))
        .gives(&[Answer::ok::<Map<String, Value>>().with(&["etag"])]),
    Route::open("/docs", "Seite, die die Schnittstelle beschreibt", Run::Open(docs::page))
        .gives(&[Answer::other("text/html").with(&["etag"])]),
    Route::open("/docs/{datei}", "Eine Datei dieser Seite", Run::Open(docs::part)).gives(docs::ANSWERS),
    Route::open("/healthz", "Ob der Dienst läuft", Run::Status(probes::health))
        .gives(&[Answer::ok::<probes::Health>()]),
    Route::open("/readyz", "Ob der Dienst lesen und schreiben kann", Run::Status(probes::ready))
        .gives(&[Answer::ok::<probes::Health>()]),
    Route::open("/metrics", "Messwerte im Textformat von Prometheus", Run::Status(probes::metrics))
        .gives(&[Answer::other("text/plain")]),
];

/// Returns every route. If two patterns match a path, the first one wins.
pub fn all() -> impl Iterator<Item = &'static Route> {
    [
        OWN_ROUTES,
        laender::ROUTES,
        steuersaetze::ROUTES,
        artikel::ROUTES,
        kunden::ROUTES,
        kontrakte::ROUTES,
        abrechnungen::ROUTES,
        abrechnungsschemata::ROUTES,
        chargen::ROUTES,
        waage::ROUTES,
        produktion::ROUTES,
        kasse::ROUTES,
        belege::ROUTES,
        annahmescheine::ROUTES,
        buchhaltung::ROUTES,
        berichte::ROUTES,
        herkunft::ROUTES,
        aenderungen::ROUTES,
        z3::ROUTES,
    ]
    .into_iter()
    .flatten()
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Dienst")]
struct About {
    api: &'static str,
    version: &'static str,
    stabilitaet: &'static str,
    docs: &'static str,
    spec: &'static str,
    auth: &'static str,
    endpoints: Vec<String>,
}

fn openapi(call: &Call<'_>) -> Result<Reply> {
    let both = docs::File::Both(&COMPRESSED, openapi_text().as_bytes());
    Ok(docs::file(call, "application/json; charset=utf-8", &both))
}

fn about(_: &Call<'_>) -> Result<Reply> {
    let endpoints = all().map(Route::name);
    Reply::ok(&About {
        api: "partnerd",
        version: API_VERSION,
        stabilitaet: STABILITY,
        docs: "/docs",
        spec: "/openapi.json",
        auth: "X-API-Key",
        endpoints: endpoints.collect(),
    })
}

pub fn document() -> Value {
    description::document(API_VERSION, STABILITY, &all().collect::<Vec<_>>())
}

/// Returns the description as it is served and printed: JSON with a final newline.
pub fn openapi_text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        // Serialising a JSON value cannot fail.
        serde_json::to_string_pretty(&document()).unwrap_or_default() + "\n"
    });
    &TEXT
}

static COMPRESSED: LazyLock<Vec<u8>> = LazyLock::new(|| gzip(openapi_text().as_bytes()));
