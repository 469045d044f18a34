//! Refusals of goods receipts, and that a refused one leaves nothing.

use serde_json::{Value, json};

use super::{PATH, UNKNOWN, counts, notes, post, weigh, weigh_once, weighing};
use crate::harness::Server;
use crate::trade::lager::{Mill, and, buy};

fn storno_of_weighing(mill: &Mill<'_>, id: &str) -> crate::harness::Answer {
    mill.client.put(&format!("/api/v1/wiegungen/{id}/storno"), json!({"grund": "falsch"}))
}

/// Marks a receipt as cancelled, as only an import can.
fn cancel(mill: &Mill<'_>, belegnummer: &str) {
    let file = format!("belegnummer;status\n{belegnummer};storniert\n");
    let counts = mill.server.import(&mill.client, "annahmescheine", &file);
    assert_eq!(counts, "0 neu, 1 geändert, 0 unverändert\n");
}

#[test]
fn what_is_missing_is_named_by_its_code() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let full = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 100});
    for (field, code) in
        [("kundennummer", "KUNDE_FEHLT"), ("artikelnr", "ARTIKEL_FEHLT"), ("anliefermenge_kg", "FELD_FEHLT")]
    {
        let mut body = full.clone();
        body.as_object_mut().unwrap().remove(field);
        mill.client.post(PATH, body.clone()).refused(400, code);
        mill.client.post(PATH, and(body, json!({field: null}))).refused(400, code);
    }
    // Checked before anything is looked up (D19).
    for (body, code) in [
        (json!({"kundennummer": "Niemand", "anliefermenge_kg": 1}), "ARTIKEL_FEHLT"),
        (json!({"kundennummer": "Niemand", "artikelnr": "W"}), "FELD_FEHLT"),
        (json!({"kundennummer": "Hof", "artikelnr": "nichts"}), "FELD_FEHLT"),
        (json!({"artikelnr": "nichts", "anliefermenge_kg": 1}), "KUNDE_FEHLT"),
    ] {
        mill.client.post(PATH, body).refused(400, code);
    }
    assert_eq!(counts(&server), [0, 0, 0]);
    assert_eq!(mill.client.post(PATH, full).is(201)["belegnummer"], "AS-2026-00001", "no number was used");
}

#[test]
fn what_a_note_names_must_be_there_and_agree() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (hof, gut) = (mill.partner_id("Hof"), mill.partner_id("Gut"));
    let (wheat, rye) = (mill.artikel_id("W"), mill.artikel_id("R"));
    server.import(&mill.client, "artikel", "artikelnummer;bezeichnung;status\nI;Inaktiv;inaktiv\n");
    let rows = [
        (json!({"partner_id": UNKNOWN}), "PARTNER_NICHT_GEFUNDEN"),
        (json!({"kunden_id": 777}), "KUNDE_NICHT_GEFUNDEN"),
        (json!({"kunden_id": UNKNOWN}), "KUNDE_NICHT_GEFUNDEN"),
        (json!({"kundennummer": "Niemand"}), "KUNDE_NICHT_GEFUNDEN"),
        (json!({"partner_id": hof, "kundennummer": "Gut"}), "KUNDE_WIDERSPRUCH"),
        (json!({"partner_id": hof, "kunden_id": gut}), "KUNDE_WIDERSPRUCH"),
        (json!({"kunden_id": hof, "kundennummer": "Gut"}), "KUNDE_WIDERSPRUCH"),
        (json!({"partner_id": hof, "artikel_id": wheat, "artikelnr": "R"}), "ARTIKEL_WIDERSPRUCH"),
        (json!({"partner_id": hof, "artikel_id": UNKNOWN}), "ARTIKEL_NICHT_GEFUNDEN"),
        (json!({"partner_id": hof, "artikelnr": "X"}), "ARTIKEL_NICHT_GEFUNDEN"),
        (json!({"partner_id": hof, "artikelnr": "I"}), "ARTIKEL_INAKTIV"),
        (json!({"partner_id": hof, "kontrakt_id": UNKNOWN}), "KONTRAKT_NICHT_GEFUNDEN"),
        (json!({"partner_id": hof, "biozertifikat_id": 777}), "BIOZERTIFIKAT_NICHT_GEFUNDEN"),
        (json!({"partner_id": hof, "wiegung_id": UNKNOWN}), "WIEGUNG_NICHT_GEFUNDEN"),
    ];
    for (body, code) in rows {
        let names_article = body.get("artikel_id").is_some() || body.get("artikelnr").is_some();
        let article = if names_article { json!({}) } else { json!({"artikel_id": rye}) };
        let body = and(and(json!({"anliefermenge_kg": 100}), article), body);
        assert!(mill.client.post(PATH, body.clone()).refused(400, code)["feld"].is_string(), "{body}");
    }
    assert_eq!(counts(&server), [0, 0, 0]);
    // The same partner or article may be given twice, in any case and with blanks around.
    let body = json!({"partner_id": hof, "kunden_id": hof, "kundennummer": " hof ", "artikel_id": wheat,
        "artikelnr": " w ", "anliefermenge_kg": 100});
    assert_eq!(mill.client.post(PATH, body).is(201)["belegnummer"], "AS-2026-00001");
}

#[test]
fn malformed_fields_are_named() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        ("anliefermenge_kg", json!("1,5"), "FELD_UNGUELTIG"),
        ("anliefermenge_kg", json!(true), "FELD_UNGUELTIG"),
        ("anliefermenge_kg", json!(1_000_000_000_000_i64), "FELD_UNGUELTIG"),
        ("anliefermenge_kg", json!(0), "WERT_UNGUELTIG"),
        ("anliefermenge_kg", json!(-5), "WERT_UNGUELTIG"),
        ("feuchte_prozent", json!("nass"), "FELD_UNGUELTIG"),
        ("preis_je_t", json!([1]), "FELD_UNGUELTIG"),
        ("preis_je_t", json!(-1), "WERT_UNGUELTIG"),
        ("schwundfaktor", json!(-1), "WERT_UNGUELTIG"),
        ("sonstige_abzuege_kg", json!(-1), "WERT_UNGUELTIG"),
        ("lieferdatum", json!("gestern"), "DATUM_UNGUELTIG"),
        ("lieferdatum", json!("2026-02-30"), "DATUM_UNGUELTIG"),
        ("partner_id", json!("Hof"), "FELD_UNGUELTIG"),
        ("wiegung_id", json!(7), "FELD_UNGUELTIG"),
        ("kontrakt_id", json!("7"), "FELD_UNGUELTIG"),
        ("biozertifikat_id", json!("Bio"), "FELD_UNGUELTIG"),
        ("el_erzeugen", json!("ja"), "FELD_UNGUELTIG"),
        ("herkunftsland", json!("Narnia"), "LAND_UNBEKANNT"),
        ("fremde_charge_nr", json!("x".repeat(256)), "TEXT_ZU_LANG"),
        ("external_ref", json!("x".repeat(256)), "TEXT_ZU_LANG"),
        ("bemerkung", json!("x".repeat(4_001)), "TEXT_ZU_LANG"),
    ];
    for (field, value, code) in rows {
        let body = and(json!({"anliefermenge_kg": 100}), json!({field: value}));
        assert_eq!(post(&mill, body).refused(400, code)["feld"], field, "{value}");
    }
    mill.client.post(PATH, json!([])).refused(400, "UNGUELTIGES_JSON");
    assert_eq!(counts(&server), [0, 0, 0]);
    let rounded = post(&mill, json!({"anliefermenge_kg": "12.3455", "farbe": "rot", "netto_menge_kg": 7}));
    assert_eq!(rounded.is(201)["anliefermenge_kg"], "12.346");
    for code in ["GERUNDET", "UNBEKANNTES_FELD", "FELD_IGNORIERT"] {
        rounded.hints(code);
    }
}

#[test]
fn a_weighing_must_be_finished_and_of_the_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let open = weigh_once(&mill, json!({}));
    let of_rye = weigh(&mill, json!({"artikel_id": mill.artikel_id("R")}));
    for (wiegung, code) in [(&open, "WIEGUNG_NICHT_FERTIG"), (&of_rye, "WIEGUNG_PASST_NICHT")] {
        for more in [json!({}), json!({"anliefermenge_kg": 5})] {
            let answer = post(&mill, and(json!({"wiegung_id": wiegung}), more));
            assert_eq!(answer.refused(400, code)["feld"], "wiegung_id");
        }
    }
    assert_eq!(counts(&server), [0, 0, 0]);
}

#[test]
fn a_weighing_stands_in_one_live_note() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    post(&mill, json!({"wiegung_id": wiegung})).is(201);
    post(&mill, json!({"wiegung_id": wiegung})).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    cancel(&mill, "AS-2026-00001");
    assert_eq!(post(&mill, json!({"wiegung_id": wiegung})).is(201)["belegnummer"], "AS-2026-00002");
    // A weighing used by an EL cannot be used again.
    let used = weigh(&mill, json!({}));
    let item = json!({"artikelnr": "W", "fremde_charge_nr": "C1", "wiegung_id": used});
    mill.post("EL", item).is(201);
    let before = counts(&server);
    let body = json!({"wiegung_id": used, "fremde_charge_nr": "C1", "preis_je_t": 200, "el_erzeugen": true});
    post(&mill, body).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    assert_eq!(counts(&server), before);
}

#[test]
fn a_weighing_with_a_live_note_cannot_be_cancelled() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    let note = post(&mill, json!({"wiegung_id": wiegung})).is(201)["belegnummer"].clone();
    storno_of_weighing(&mill, &wiegung).refused(400, "WIEGUNG_ABGERECHNET");
    assert_eq!(weighing(&mill, &wiegung)["status"], "fertig");
    cancel(&mill, note.as_str().unwrap());
    assert_eq!(storno_of_weighing(&mill, &wiegung).is(200)["status"], "storno");
}

#[test]
fn without_a_batch_nothing_is_left_of_a_delivery_of_a_tracked_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    let body = json!({"wiegung_id": wiegung, "preis_je_t": 200, "el_erzeugen": true, "external_ref": "A"});
    post(&mill, body.clone()).refused(400, "CHARGE_FEHLT");
    assert_eq!((counts(&server), notes(&mill).len()), ([0, 0, 0], 0));
    assert_eq!(weighing(&mill, &wiegung)["beleg_id"], Value::Null);
    assert_eq!(mill.post("EL", buy(1, "C1")).is(201)["beleg_nummer"], "EL-2026-00001");
    let done = post(&mill, and(body, json!({"fremde_charge_nr": "C2"})));
    let numbers = [&done.is(201)["belegnummer"], &done.body["el_beleg_nummer"]];
    assert_eq!(json!(numbers), json!(["AS-2026-00001", "EL-2026-00002"]));
}

#[test]
fn nothing_is_delivered_where_nothing_is_left() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let body = json!({"anliefermenge_kg": 100, "sonstige_abzuege_kg": 100, "preis_je_t": 200,
        "fremde_charge_nr": "C1", "el_erzeugen": true});
    post(&mill, body).refused(400, "MENGE_UNGUELTIG");
    assert_eq!(counts(&server), [0, 0, 0]);
}

#[test]
fn nothing_is_bought_from_a_partner_who_is_locked() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let path = format!("/api/v1/kunden/{}", mill.partner_id("Hof"));
    mill.client.put(&path, json!({"status": "gesperrt"})).is(200);
    let body =
        json!({"anliefermenge_kg": 100, "preis_je_t": 200, "fremde_charge_nr": "C1", "el_erzeugen": true});
    post(&mill, body.clone()).refused(400, "KUNDE_GESPERRT");
    assert_eq!(counts(&server), [0, 0, 0]);
    mill.client.put(&path, json!({"status": "aktiv"})).is(200);
    assert_eq!(post(&mill, body).is(201)["belegnummer"], "AS-2026-00001");
}

/// All fields that a client can send (D21a).
const FIELDS: [&str; 22] = [
    "partner_id",
    "kunden_id",
    "kundennummer",
    "artikel_id",
    "artikelnr",
    "wiegung_id",
    "anliefermenge_kg",
    "lieferdatum",
    "feuchte_prozent",
    "basisfeuchte_prozent",
    "schwundfaktor",
    "besatz_prozent",
    "basisbesatz_prozent",
    "sonstige_abzuege_kg",
    "preis_je_t",
    "kontrakt_id",
    "fremde_charge_nr",
    "herkunftsland",
    "biozertifikat_id",
    "bemerkung",
    "external_ref",
    "el_erzeugen",
];

#[test]
fn what_is_wrong_with_the_delivery_note_is_said_in_fields_of_this_request() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        (json!({"fremde_charge_nr": null}), "CHARGE_FEHLT", "fremde_charge_nr"),
        (json!({"sonstige_abzuege_kg": 100}), "MENGE_UNGUELTIG", "el_erzeugen"),
        (json!({"artikelnr": "S"}), "EINHEIT_NICHT_UMRECHENBAR", "el_erzeugen"),
    ];
    for (more, code, named) in rows {
        let body = json!({"anliefermenge_kg": 100, "preis_je_t": 200, "fremde_charge_nr": "C1",
            "el_erzeugen": true});
        let answer = post(&mill, and(body, more));
        let refused = answer.refused(400, code);
        assert!(FIELDS.contains(&refused["feld"].as_str().unwrap()), "{refused}");
        let said = format!("{} {}", refused["feld"], refused["message"]);
        assert!(said.contains(named), "{refused}");
        let words: Vec<&str> =
            said.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        for foreign in ["mhd", "charge_id", "menge", "einheit", "items"] {
            assert!(!words.contains(&foreign), "{foreign}: {refused}");
        }
        assert_eq!(refused.get("details"), None, "{refused}");
    }
    assert_eq!(counts(&server), [0, 0, 0]);
}

#[test]
fn the_note_that_a_weighing_stands_in_is_named() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    post(&mill, json!({"anliefermenge_kg": 1})).is(201);
    post(&mill, json!({"wiegung_id": wiegung})).is(201);
    let again = post(&mill, json!({"wiegung_id": wiegung}));
    let storno = storno_of_weighing(&mill, &wiegung);
    let refusals =
        [again.refused(400, "WIEGUNG_BEREITS_VERWENDET"), storno.refused(400, "WIEGUNG_ABGERECHNET")];
    for refused in refusals {
        assert!(refused["message"].as_str().unwrap().contains("AS-2026-00002"), "{refused}");
    }
    assert_eq!(refusals[0]["feld"], "wiegung_id");
}

/// Ids of each kind of another company, and the answers to them here.
fn foreign_ids(other: &Mill<'_>) -> Vec<(&'static str, Value, &'static str)> {
    let (client, server) = (&other.client, other.server);
    server.import(client, "kunden", "kundennr;name;kunden_id\nFremd;Fremd;900\n");
    server.import(client, "artikel", "artikelnummer;bezeichnung;einheit\nFR;Fremd;kg\n");
    server.import(client, "kontrakte", "kontrakt_nr\nF-1\n");
    server.import(client, "biozertifikate", "id;nummer\n900;DE-900\n");
    let kontrakt = client.get("/api/v1/kontrakte").is(200)["data"][0]["id"].clone();
    vec![
        ("partner_id", json!(other.partner_id("Fremd")), "PARTNER_NICHT_GEFUNDEN"),
        ("kunden_id", json!(other.partner_id("Fremd")), "KUNDE_NICHT_GEFUNDEN"),
        ("kunden_id", json!(900), "KUNDE_NICHT_GEFUNDEN"),
        ("kundennummer", json!("Fremd"), "KUNDE_NICHT_GEFUNDEN"),
        ("artikel_id", json!(other.artikel_id("FR")), "ARTIKEL_NICHT_GEFUNDEN"),
        ("artikelnr", json!("FR"), "ARTIKEL_NICHT_GEFUNDEN"),
        ("wiegung_id", json!(weigh(other, json!({}))), "WIEGUNG_NICHT_GEFUNDEN"),
        ("kontrakt_id", kontrakt, "KONTRAKT_NICHT_GEFUNDEN"),
        ("biozertifikat_id", json!(900), "BIOZERTIFIKAT_NICHT_GEFUNDEN"),
    ]
}

#[test]
fn an_id_of_another_company_is_as_unknown_as_any() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let other = Mill::with(&server, "Andere", &[]);
    for (field, foreign, code) in foreign_ids(&other) {
        let unknown = match (&foreign, field) {
            (Value::Number(_), _) => json!(777),
            (_, "kundennummer" | "artikelnr") => json!("Niemand"),
            _ => json!(UNKNOWN),
        };
        let mut body = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 100});
        if ["partner_id", "kunden_id"].contains(&field) {
            body.as_object_mut().unwrap().remove("kundennummer");
        }
        if field == "artikel_id" {
            body.as_object_mut().unwrap().remove("artikelnr");
        }
        let [expected, shown] = [unknown, foreign].map(|id| {
            let answer = mill.client.post(PATH, and(body.clone(), json!({field: id})));
            let refused = answer.refused(400, code);
            (refused["message"].clone(), refused["feld"].clone())
        });
        assert_eq!(shown, expected, "{field}");
    }
    assert_eq!(counts(&server), [0, 0, 0]);
    assert_eq!(notes(&other), [] as [Value; 0]);
}
