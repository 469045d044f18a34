//! The OpenAPI 3.1 description of the interface, generated from the route table and the types on the wire, so
//! that nothing is written twice.
//!
//! `ablaeufe.md` describes what each operation does and what follows, `woerter` what the fields mean, and
//! `einleitung.md` is the introduction. `beispiele.json` holds example requests with the demo's answers,
//! `ablehnungen.json` one of its answers for each error code, and `vorlagen` the contents of the import
//! templates.

mod ablaeufe;
mod ablehnungen;
mod beispiele;
mod operation;
mod shapes;
pub mod vorlagen;
mod woerter;
mod woerter_belegfluss;
mod woerter_buchhaltung;
mod woerter_rohwaren;

use serde_json::{Map, Value, json};

use crate::platform::http::error::status;
use crate::platform::http::route::Route;
use crate::platform::http::wire::ALIASES;
use crate::rules::choice::Choice;
use crate::rules::error::Code;
use shapes::Shapes;

pub fn document(version: &str, stability: &str, routes: &[&'static Route]) -> Value {
    let mut shapes = Shapes::new();
    let mut paths = Map::new();
    for route in routes {
        let operation = operation::describe(route, routes, &mut shapes);
        let path = paths.entry(route.pattern).or_insert_with(|| json!({}));
        path[route.method.as_str().to_lowercase()] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "partnerd",
            "version": version,
            "x-stability": stability,
            "summary": "Partnerschnittstelle für Landhandel, Mühle, Futtermittel und Biohandel",
            "description": introduction(),
            "contact": {"name": "Der Betreiber dieses Dienstes"},
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"}
        },
        "servers": [{"url": "/", "description": "Dieser Dienst"}],
        "tags": operation::tags(),
        "paths": paths,
        "components": {
            "schemas": shapes.finish(),
            "headers": operation::headers(),
            "examples": ablehnungen::examples(),
            "securitySchemes": {
                "ApiKey": {
                    "type": "apiKey", "in": "header", "name": "X-API-Key",
                    "description": "Ein Schlüssel `ak_…`; er gehört zu genau einer Firma."
                }
            }
        },
        "security": [{"ApiKey": []}]
    })
}

fn introduction() -> String {
    include_str!("einleitung.md").replace("{{fehlercodes}}", &catalogue()).replace("{{aliase}}", &aliases())
}

fn aliases() -> String {
    let line = |(sent, meant, _): &(&str, &str, &str)| format!("| `{sent}` | `{meant}` |\n");
    let lines: String = ALIASES.iter().map(line).collect();
    format!("| gesendet | wo das Feld so heißt |\n|---|---|\n{lines}")
}

fn catalogue() -> String {
    let mut codes: Vec<Code> = Code::ALL.to_vec();
    codes.sort_by_key(|code| (status(*code), code.as_str()));
    let line = |code: Code| format!("| {} | `{}` | {} |\n", status(code), code.as_str(), code.meaning());
    let lines: String = codes.into_iter().map(line).collect();
    format!("| Status | Code | Bedeutung |\n|---|---|---|\n{lines}")
}

pub fn meaning_of(code: &str) -> &'static str {
    Code::parse(code).map_or("", Code::meaning)
}
