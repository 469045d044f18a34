//! Production orders: created from a recipe, shown, listed (specification; D13, D16).

mod buchung;
mod chargen;
mod liste;
mod rezepturen;
mod status;
mod storno;
mod teile;

use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

const PATH: &str = "/api/v1/produktionsauftraege";

const UNKNOWN: &str = "0197f3a0-0000-7000-8000-000000000000";

const ARTIKEL: &str = r#"[
 {"artikelnummer": "M", "artikelnr": "550", "bezeichnung": "Mehl", "einheit": "kg", "chargenpflichtig": true},
 {"artikelnummer": "K", "bezeichnung": "Kleie", "einheit": "kg"}]"#;

/// Creates a mill with flour (M, tracked by batch), bran (K, not tracked) and two recipes: 1 makes 80 kg of
/// flour and 20 kg of bran from 100 kg of wheat, 2 repacks three sacks into three.
fn miller(server: &Server) -> Mill<'_> {
    miller_with(server, "Mühle", &[])
}

fn miller_with<'s>(server: &'s Server, name: &str, settings: &[(&str, &str)]) -> Mill<'s> {
    let mill = Mill::with(server, name, settings);
    server.import(&mill.client, "artikel", ARTIKEL);
    let wheat = json!([{"artikelnummer": "W", "menge": 100, "einheit": "kg", "bemerkung": "gereinigt"}]);
    let flour = json!([{"artikelnummer": "M", "menge": 80, "einheit": "kg"},
        {"artikelnummer": "K", "menge": 20, "einheit": "kg", "bemerkung": "lose"}]);
    let sacks = json!([{"artikelnummer": "S", "menge": 3, "einheit": "Stk"}]);
    recipe(
        &mill,
        json!({"id": 1, "bezeichnung": "Mehl 550", "typ": "Mahlung", "inputs": wheat, "outputs": flour}),
    );
    recipe(&mill, json!({"id": 2, "bezeichnung": "Packen", "inputs": sacks, "outputs": sacks}));
    mill
}

/// Imports one version of a recipe; returns the summary of the import.
fn recipe(mill: &Mill<'_>, row: Value) -> String {
    mill.server.import(&mill.client, "rezepturen", &json!([row]).to_string())
}

fn post(mill: &Mill<'_>, body: Value) -> Answer {
    mill.client.post(PATH, body)
}

/// Creates an order of a recipe; returns it as shown.
fn order(mill: &Mill<'_>, rezeptur: i64) -> Value {
    show(mill, &post(mill, json!({"rezeptur_id": rezeptur})).id())
}

fn show(mill: &Mill<'_>, id: &str) -> Value {
    mill.client.get(&format!("{PATH}/{id}")).is(200).clone()
}

fn id_of(order: &Value) -> &str {
    order["id"].as_str().unwrap()
}

fn put(mill: &Mill<'_>, id: &str, status: &str, more: Value) -> Answer {
    mill.client.put(&format!("{PATH}/{id}/status"), and(json!({"status": status}), more))
}

/// Returns the body that finishes an order of recipe 1: wheat taken from a batch, flour and bran produced.
fn ground(order: &Value, charge: &str, [wheat, flour, bran]: [i64; 3]) -> Value {
    let (inputs, outputs) = (&order["inputs"], &order["outputs"]);
    let made = [(&outputs[0], flour), (&outputs[1], bran)];
    json!({"inputs": [{"id": inputs[0]["id"], "ist_menge": wheat, "charge_id": charge}],
        "outputs": made.map(|(line, menge)| json!({"id": line["id"], "ist_menge": menge}))})
}

/// Stock of an article outside of batches, in whole units.
fn loose(mill: &Mill<'_>, artikel: &str) -> i64 {
    mill.server.sql(&format!(
        "select coalesce(sum(m.menge), 0) / 1000000 from lagerbewegung m
           join artikel a on a.tenant_id = m.tenant_id and a.id = m.artikel_id
         where m.tenant_id = {} and a.artikelnummer = '{artikel}' and m.charge_id is null",
        mill.client.tenant
    ))
}

fn flour(mill: &Mill<'_>) -> Vec<Value> {
    mill.batches().into_iter().filter(|batch| batch["artikel_bezeichnung"] == "Mehl").collect()
}

#[track_caller]
fn assert_fields(shown: &Value, expected: Value) {
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}: {shown}");
    }
}

#[test]
fn an_order_needs_nothing_and_starts_schwebend() {
    let server = Server::start();
    let mill = miller(&server);
    let bare = mill.client.send("POST", PATH, &[], None);
    assert_fields(bare.is(201), json!({"pa_nummer": "PA-2026-00001", "status": "schwebend"}));
    let empty = post(&mill, json!({}));
    assert_eq!(empty.is(201)["pa_nummer"], "PA-2026-00002");
    let nulls = json!({"rezeptur_id": null, "faktor": null, "produktions_datum": null});
    assert_eq!(post(&mill, nulls).is(201)["pa_nummer"], "PA-2026-00003");
    let expected = json!({"status": "schwebend", "rezeptur_id": null, "rezeptur_version": null,
        "produktions_datum": null, "geplant_am": null, "gestartet_am": null, "erledigt_am": null,
        "inputs": [], "outputs": []});
    assert_fields(&show(&mill, &bare.id()), expected);
}

#[test]
fn with_a_date_an_order_is_planned() {
    let server = Server::start();
    let mill = miller(&server);
    let answer = post(&mill, json!({"produktions_datum": "2026-07-20"}));
    assert_eq!(answer.is(201)["status"], "geplant");
    let expected = json!({"status": "geplant", "produktions_datum": "2026-07-20T00:00:00.000Z",
        "geplant_am": "2026-07-10T10:00:00.000Z", "gestartet_am": null, "erledigt_am": null});
    assert_fields(&show(&mill, &answer.id()), expected);
    server.set_clock("2026-12-31T23:00:00Z");
    assert_eq!(post(&mill, json!({})).is(201)["pa_nummer"], "PA-2027-00001", "the year in Berlin");
}

#[test]
fn a_recipe_is_scaled_by_the_factor() {
    let server = Server::start();
    let mill = miller(&server);
    let pieces = "artikelnummer;bezeichnung;einheit\nB;Beutel;Sack\nC;Karton;Karton\nP;Palette;Pal\n";
    server.import(&mill.client, "artikel", pieces);
    let rows = [
        ("W", "12.5", "kg", json!(3), ["37.500", "37.500"], false),
        ("W", "12.5", "kg", json!(null), ["12.500", "12.500"], false),
        ("S", "3", "Stk", json!(1.5), ["5.000", "4.000"], true),
        ("S", "3", "Stück", json!("1.5"), ["5.000", "4.000"], true),
        ("S", "3", "Stk", json!(2), ["6.000", "6.000"], false),
        ("B", "5", "Sack", json!("0.5"), ["3.000", "2.000"], true),
        ("C", "7", "Karton", json!("1.1"), ["8.000", "7.000"], true),
        ("P", "7", "Pal", json!("1.1"), ["8.000", "7.000"], true),
        ("W", "0.333", "kg", json!("0.5"), ["0.167", "0.167"], true),
        ("W", "0.333", "t", json!(0.3), ["0.100", "0.100"], true),
    ];
    for (at, (artikel, menge, einheit, faktor, soll, rounded)) in rows.into_iter().enumerate() {
        let line = json!([{"artikelnummer": artikel, "menge": menge, "einheit": einheit}]);
        let id = 10 + at;
        recipe(&mill, json!({"id": id, "bezeichnung": format!("R{at}"), "inputs": line, "outputs": line}));
        let answer = post(&mill, json!({"rezeptur_id": id, "faktor": faktor}));
        answer.is(201);
        assert_eq!(
            answer.hint_codes().contains(&"GERUNDET".to_owned()),
            rounded,
            "row {at}: {}",
            answer.body
        );
        let shown = show(&mill, &answer.id());
        let lines = [&shown["inputs"][0]["soll_menge"], &shown["outputs"][0]["soll_menge"]];
        assert_eq!(json!(lines), json!(soll), "row {at}");
    }
}

#[test]
fn what_an_order_cannot_be_made_of_is_refused() {
    let server = Server::start();
    let mill = miller(&server);
    let other = miller_with(&server, "Andere", &[]);
    recipe(&other, json!({"id": 77, "bezeichnung": "Fremd", "inputs": [{"artikelnummer": "W", "menge": 1}]}));
    let rows = [
        (json!({"rezeptur_id": 1, "faktor": 0}), "FAKTOR_UNGUELTIG", "faktor"),
        (json!({"rezeptur_id": 1, "faktor": "-1.5"}), "FAKTOR_UNGUELTIG", "faktor"),
        (json!({"rezeptur_id": 1, "faktor": "1,5"}), "FELD_UNGUELTIG", "faktor"),
        (json!({"rezeptur_id": 999}), "REZEPTUR_NICHT_GEFUNDEN", "rezeptur_id"),
        (json!({"rezeptur_id": 77}), "REZEPTUR_NICHT_GEFUNDEN", "rezeptur_id"),
        (json!({"rezeptur_id": "Mehl"}), "FELD_UNGUELTIG", "rezeptur_id"),
        (json!({"produktions_datum": "morgen"}), "DATUM_UNGUELTIG", "produktions_datum"),
        (json!({"zugewiesen_an": true}), "FELD_UNGUELTIG", "zugewiesen_an"),
        (json!({"bezeichnung": "x".repeat(256)}), "TEXT_ZU_LANG", "bezeichnung"),
    ];
    for (body, code, feld) in rows {
        assert_eq!(post(&mill, body.clone()).refused(400, code)["feld"], feld, "{body}");
    }
    post(&mill, json!([])).refused(400, "UNGUELTIGES_JSON");
    let answer = post(&mill, json!({"farbe": "rot", "status": "erledigt"}));
    let expected = json!({"pa_nummer": "PA-2026-00001", "status": "schwebend"});
    assert_fields(answer.is(201), expected);
    answer.hints("UNBEKANNTES_FELD");
    answer.hints("FELD_IGNORIERT");
}

#[test]
fn a_factor_without_a_recipe_is_ignored_and_that_is_said() {
    let server = Server::start();
    let mill = miller(&server);
    let answer = post(&mill, json!({"faktor": 3}));
    assert_eq!(answer.hints("FELD_IGNORIERT")["hinweise"][0]["feld"], "faktor");
    assert_eq!(show(&mill, &answer.id())["faktor"], "1.000");
    assert_eq!(post(&mill, json!({"faktor": null})).hint_codes(), [""; 0]);
    assert_eq!(post(&mill, json!({"faktor": 3, "rezeptur_id": 1})).hint_codes(), [""; 0]);
    post(&mill, json!({"faktor": 0})).refused(400, "FAKTOR_UNGUELTIG");
}

#[test]
fn a_single_order_shows_every_field_and_its_lines() {
    let server = Server::start();
    let mill = miller(&server);
    let sent = json!({"rezeptur_id": 1, "faktor": 2, "produktions_datum": "2026-07-11", "niederlassung_id": 3,
        "lagerhalle_id": "4", "bezeichnung": " Nachtschicht ", "bemerkung": "Walze 2", "zugewiesen_an": 7});
    let id = post(&mill, sent).id();
    let shown = show(&mill, &id);
    let expected = json!({"id": id, "pa_nummer": "PA-2026-00001", "rezeptur_id": 1, "rezeptur_version": 1,
        "produktions_datum": "2026-07-11T00:00:00.000Z", "niederlassung_id": 3, "lagerhalle_id": 4,
        "status": "geplant", "bezeichnung": "Nachtschicht", "bemerkung": "Walze 2",
        "geplant_am": "2026-07-10T10:00:00.000Z", "gestartet_am": null, "erledigt_am": null,
        "rezeptur_bezeichnung": "Mehl 550", "rezeptur_typ": "Mahlung", "zugewiesen_an": 7});
    assert_fields(&shown, expected.clone());
    let input = json!({"pa_id": id, "artikel_id": mill.artikel_id("W"), "charge_id": null,
        "soll_menge": "200.000", "ist_menge": null, "einheit": "kg", "position": 1, "bemerkung": "gereinigt",
        "artikel_bezeichnung": "Weizen", "artikelnr": null, "charge_nr": null, "fremde_charge_nr": null});
    assert_fields(&shown["inputs"][0], input);
    let flour = json!({"pa_id": id, "artikel_id": mill.artikel_id("M"), "soll_menge": "160.000",
        "ist_menge": null, "einheit": "kg", "position": 1, "bemerkung": null, "artikel_bezeichnung": "Mehl",
        "artikelnr": "550", "neue_charge_nr": null});
    assert_fields(&shown["outputs"][0], flour);
    let bran = json!({"soll_menge": "40.000", "position": 2, "bemerkung": "lose", "artikelnr": null});
    assert_fields(&shown["outputs"][1], bran);
    for lines in [&shown["inputs"], &shown["outputs"]] {
        assert!(lines.as_array().unwrap().iter().all(|line| line["id"].is_i64()), "{lines}");
    }
    let listed = mill.client.get(PATH).is(200)[0].clone();
    assert_fields(&listed, expected);
    assert_eq!((listed.get("inputs"), listed.get("outputs")), (None, None), "lines stand in the detail only");
}

#[test]
fn an_order_that_is_not_there_is_not_found() {
    let server = Server::start();
    let mill = miller(&server);
    let other = miller_with(&server, "Andere", &[]);
    let foreign = order(&other, 1);
    for id in [UNKNOWN, "keine-uuid", id_of(&foreign)] {
        mill.client.get(&format!("{PATH}/{id}")).refused(404, "NICHT_GEFUNDEN");
        put(&mill, id, "storniert", json!({})).refused(404, "NICHT_GEFUNDEN");
    }
    assert_eq!(show(&other, id_of(&foreign)), foreign);
}
