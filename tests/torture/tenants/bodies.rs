//! A body for each writing route with which it is accepted, or refused late: its values are replaced one at a
//! time by those of another company.

use serde_json::{Value, json};

use crate::mills::Mill;

/// The body of a route; an error if nobody wrote one yet.
pub fn body(route: &str, own: &Mill) -> Result<Value, String> {
    if let Some(one) = route.strip_suffix("/stapel").filter(|one| !one.ends_with("/datev")) {
        return Ok(json!({"items": [body(one, own)?]}));
    }
    let id = |kind: &str| Value::from(own.ids[kind].clone());
    let item = || json!({"artikel_id": id("artikel"), "menge": 1, "charge_id": id("charge")});
    Ok(match route.trim_start_matches("POST /api/v1").trim_start_matches("PUT /api/v1") {
        // For goods that no other request uses, whose receipts would get the scheme.
        "/abrechnungsschemata" => {
            json!({"nummer": "N", "bezeichnung": "Neu", "artikel": [id("artikel_ohne")], "gueltig_von": "2026-07-01"})
        }
        "/abrechnungsschemata/{id}/versionen" => {
            json!({"bezeichnung": "Neu", "artikel": [id("artikel_ohne")], "gueltig_von": "2026-08-01"})
        }
        "/abrechnungsschemata/{id}/probe" => json!({"menge_kg": 1}),
        "/abrechnungen" | "/abrechnungen/vorschau" => {
            json!({"art": "abschlag", "annahmeschein_ids": [id("schein")], "preis_je_t": 200,
                "abschlag": {"prozent": 50}})
        }
        "/annahmescheine" => {
            json!({"partner_id": id("kunde"), "artikel_id": id("artikel"), "anliefermenge_kg": 5})
        }
        "/annahmescheine/{id}/analysen" => json!({"werte": [{"merkmal": "feuchte", "wert": 15}]}),
        "/annahmescheine/{id}/freigabe" => json!({"grund": "x", "schema": id("mark")}),
        "/artikel" => json!({"artikelnummer": "N", "bezeichnung": "Neu"}),
        "/artikel/{id}" => {
            json!({"preis": 1, "artikelgruppe_id": 1, "staffelpreise": [{"ab_menge": 1, "preis": 1}]})
        }
        "/belege" => json!({"beleg_typ": "LS", "kunden_id": id("kunde"), "items": [item()]}),
        "/belege/einlesen" => json!({"datei_base64": "PGE+"}),
        "/belege/{id}" => json!({"items": [{"artikel_id": id("artikel"), "menge": 1}]}),
        "/belege/{id}/abschliessen" | "/belege/{id}/erledigen" => json!({}),
        "/belege/{id}/pdf" => json!({"datei_base64": "JVBERi0xLjQKJSVFT0YK"}),
        "/chargen" => json!({"artikel_id": id("artikel"), "partner_id": id("kunde")}),
        "/chargen/{id}" => json!({"mhd": null}),
        "/kontrakte" => {
            json!({"kontrakt_nr": "N", "partner_id": id("kunde"),
                "positionen": [{"artikel_id": id("artikel"), "menge": 5}]})
        }
        "/kontrakte/{id}" => json!({"referenz": "R"}),
        "/kunden" => json!({"name": "Neu"}),
        "/kunden/{id}" => json!({"ort": "X"}),
        "/produktionsauftraege" => json!({"rezeptur_id": 1}),
        "/produktionsauftraege/{id}/status" => {
            let line = json!([{"id": 1, "ist_menge": 1}]);
            json!({"status": "erledigt", "inputs": line, "outputs": line})
        }
        "/wiegungen" => json!({"waage_id": 1, "gewicht_erst_kg": 9, "partner_id": id("kunde"),
            "artikel_id": id("artikel"), "charge_id": id("charge"), "kontrakt_id": id("kontrakt")}),
        "/wiegungen/{id}/zweitwiegung" => json!({"gewicht_zweit_kg": 5}),
        "/datev/konten" => json!({"fall": "erloes", "satz": 7, "konto": 8300}),
        "/datev/stapel" => json!({"bis": "2026-01-31", "pruefen": true}),
        "/datev/stapel/{id}/verwerfen" => json!({"grund": "x"}),
        "/z3" => json!({"von": "2026-01-01", "bis": "2026-01-31"}),
        inventory if inventory.ends_with("/inventur") => json!({"bestand": 1, "grund": "x"}),
        cancelled if cancelled.ends_with("/storno") || cancelled.ends_with("/korrektur") => {
            json!({"grund": "x"})
        }
        upload if upload.ends_with("/dokumente") => json!({"dateiname": "a.txt", "inhalt_base64": "QQ=="}),
        _ => return Err(format!("{route} has no body in tests/torture/tenants/bodies.rs")),
    })
}

/// Replaces a value; missing parents are created.
pub fn put(body: &mut Value, pointer: &str, value: Value) {
    let Some((first, rest)) =
        pointer.strip_prefix('/').map(|rest| rest.split_once('/').unwrap_or((rest, "")))
    else {
        *body = value;
        return;
    };
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    match first.parse::<usize>() {
        Ok(_) => {
            if !body.is_array() {
                *body = json!([null]);
            }
            put(&mut body[0], &rest, value);
        }
        Err(_) => {
            if !body.is_object() {
                *body = json!({});
            }
            put(&mut body[first], &rest, value);
        }
    }
}
