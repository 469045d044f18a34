//! The largest and smallest accepted values, and what a client sees of an internal error (D6, D18, D19, D21c).

use partnerd::platform::db::file::connection::open_writer;
use serde_json::{Value, json};

use crate::harness::Server;
use crate::trade::lager::{Mill, and, buy, moves, sell};

#[test]
fn long_texts_have_four_thousand_characters_and_the_others_255() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 40, "partner_id": mill.partner_id("Hof")});
    let item = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1});
    let rows = [
        ("wiegungen", "bemerkung", 4_000),
        ("wiegungen", "fahrer", 255),
        ("belege", "notizen", 4_000),
        ("belege", "zahlungsbedingung", 255),
        ("items", "langtext", 4_000),
        ("items", "bezeichnung2", 255),
    ];
    for (place, field, most) in rows {
        let send = |length: usize| {
            let text = json!({field: "ü".repeat(length)});
            let beleg = |item: Value| json!({"beleg_typ": "AN", "kundennummer": "Kd", "items": [item]});
            let (path, body) = match place {
                "wiegungen" => (place, and(weighing.clone(), text)),
                "belege" => (place, and(beleg(item.clone()), text)),
                _ => ("belege", beleg(and(item.clone(), text))),
            };
            (path, mill.client.post(&format!("/api/v1/{path}"), body))
        };
        let (path, created) = send(most);
        let shown = mill.client.get(&format!("/api/v1/{path}/{}", created.id()));
        let shown = if place == "items" { &shown.body["positionen"][0][field] } else { &shown.body[field] };
        assert_eq!(shown.as_str().map(|text| text.chars().count()), Some(most), "{place} {field}");
        let feld = if place == "items" { format!("items[0].{field}") } else { field.to_owned() };
        assert_eq!(send(most + 1).1.refused(400, "TEXT_ZU_LANG")["feld"], feld, "{place} {field}");
    }
}

#[test]
fn a_pdf_has_ten_mebibytes_and_no_more() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = mill.post("RE", json!({"artikelnr": "S", "menge": 1})).id();
    let path = format!("/api/v1/belege/{id}/pdf");
    // `%PDF-1`, zeros, and a last group of one byte or of all three: 10,485,760 is 3 n + 1.
    let most = format!("JVBERi0x{}AA==", "AAAA".repeat(3_495_251));
    let more = format!("JVBERi0x{}", "AAAA".repeat(3_495_252));
    mill.client.post(&path, json!({"datei_base64": more})).refused(413, "ZU_GROSS");
    assert_eq!(mill.get(&id)["status"], "offen");
    mill.client.post(&path, json!({"datei_base64": most})).is(201);
    assert_eq!(server.sql::<i64>("select length(inhalt) from beleg_pdf"), 10 << 20);
}

#[test]
fn a_quantity_for_the_stock_is_rounded_to_six_decimals() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let article = r#"[{"artikelnummer": "T", "bezeichnung": "Saat", "einheit": "t", "preis": 1000, "ep_netto": 900,
        "chargenpflichtig": true}]"#;
    server.import(&mill.client, "artikel", article);
    let saat =
        |item: Value, grams: &str| and(item, json!({"artikelnr": "T", "menge": grams, "einheit": "g"}));
    assert_eq!(moves(&mill.post("EL", saat(buy(0, "C1"), "1234567.5"))), ["1.234568"]);
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    assert_eq!(moves(&mill.post("LS", saat(sell(0, &charge), "1.4"))), ["-0.000001"]);
    assert_eq!(mill.stock("C1"), "1.234567");
}

#[test]
fn a_fault_shows_neither_sql_nor_paths() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "A"})).is(201);
    let damage = |status: &str| {
        let sql = format!("pragma ignore_check_constraints = on; update kunde set status = '{status}'");
        open_writer(&server.database).unwrap().execute_batch(&sql).unwrap();
    };
    damage("kaputt");
    let answer = mill.send_unchecked("GET", "/api/v1/kunden", &[], None);
    damage("aktiv");
    assert_eq!(answer.status, 500);
    let fields: Vec<&String> = answer.body.as_object().unwrap().keys().collect();
    assert!(fields.iter().all(|field| ["error", "message", "request_id"].contains(&field.as_str())));
    let shown = format!("{:?} {}", answer.headers, answer.body).to_lowercase();
    for secret in ["sql", "select", "kaputt", "column", "row", ".rs", ".db", "/", "panic"] {
        let shown = shown.replace("application/json", "");
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
    mill.get("/api/v1/kunden").is(200);
}
