//! Contracts (specification; D16, D21g, D22): read with what was delivered, written by import.

use serde_json::{Value, json};

use crate::harness::{Client, Server};

const PATH: &str = "/api/v1/kontrakte";

fn mill(server: &Server) -> Client {
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit;preis;ep_netto\nW;Weizen;kg;0,3;0,2\n",
    );
    server.import(&mill, "kunden", "kundennr;name;partner_typen\nL-1;Hof;lieferant\nK-1;Kunde;kunde\n");
    let file = json!([
        {"kontrakt_nr": "V-1", "kontrakt_typ": "einkauf", "partner": "L-1", "gueltig_von": "2026-07-01",
         "gueltig_bis": "2026-12-31", "erfassungsdatum": "2026-06-01", "gesamtmenge": "100",
         "gesamtmenge_einheit": "t", "mengenart": "circa", "paritat": "frei Mühle", "zahlungsbedingung": "14 Tage",
         "erntejahr": 2026, "notizen": "N", "referenz": "Ref Süd",
         "positionen": [{"artikelnummer": "W", "menge": 100, "preis": "198.50"}]},
        {"kontrakt_nr": "V-2", "kontrakt_typ": "verkauf", "partner": "K-1", "erfassungsdatum": "2026-06-02",
         "erledigt": true, "erntejahr": 2025},
        {"kontrakt_nr": "V-3"}
    ]);
    assert_eq!(server.import(&mill, "kontrakte", &file.to_string()), "created 3, changed 0, unchanged 0\n");
    assert_eq!(server.import(&mill, "kontrakte", &file.to_string()), "created 0, changed 0, unchanged 3\n");
    mill
}

fn contract(mill: &Client, number: &str) -> Value {
    let listed = mill.get(PATH);
    let data = listed.is(200)["data"].as_array().unwrap().clone();
    data.into_iter().find(|contract| contract["kontrakt_nr"] == number).unwrap()
}

#[test]
fn a_contract_is_shown_with_every_field() {
    let server = Server::start();
    let mut shown = contract(&mill(&server), "V-1");
    for id in ["id", "partner_id"] {
        assert_eq!(shown[id].as_str().unwrap().len(), 36, "{id}");
        shown.as_object_mut().unwrap().remove(id);
    }
    let expected = json!({"kontrakt_nr": "V-1", "kontrakt_typ": "einkauf", "partner_name": "Hof",
        "gueltig_von": "2026-07-01T00:00:00.000Z", "gueltig_bis": "2026-12-31T00:00:00.000Z",
        "erfassungsdatum": "2026-06-01T00:00:00.000Z", "gesamtmenge": "100.000", "gesamtmenge_einheit": "t",
        "mengenart": "circa", "paritat": "frei Mühle", "zahlungsbedingung": "14 Tage", "erntejahr": 2026,
        "erledigt": false, "notizen": "N", "referenz": "Ref Süd", "geliefert": "0.000", "offen": "100.000"});
    assert_eq!(shown, expected);
}

#[test]
fn contracts_are_filtered_and_the_newest_stands_first() {
    let server = Server::start();
    let mill = mill(&server);
    let partner = contract(&mill, "V-1")["partner_id"].as_str().unwrap().to_owned();
    let table: [(&str, &[&str]); 12] = [
        ("", &["V-2", "V-1", "V-3"]),
        ("?kontrakt_typ=einkauf", &["V-1"]),
        (&format!("?partner_id={partner}"), &["V-1"]),
        ("?partner_id=00000000-0000-7000-8000-000000000000", &[]),
        ("?erledigt=true", &["V-2"]),
        ("?erledigt=false", &["V-1", "V-3"]),
        ("?erntejahr=2025", &["V-2"]),
        ("?von=2026-06-02", &["V-2"]),
        ("?von=2026-06-01&bis=2026-06-01", &["V-1"]),
        ("?suche=sued+ref", &["V-1"]),
        ("?suche=v-2", &["V-2"]),
        ("?limit=1&offset=1", &["V-1"]),
    ];
    for (query, expected) in table {
        let answer = mill.get(&format!("{PATH}{query}"));
        let numbers: Vec<_> =
            answer.is(200)["data"].as_array().unwrap().iter().map(|c| c["kontrakt_nr"].clone()).collect();
        assert_eq!(json!(numbers), json!(expected), "{query}");
    }
    assert_eq!(mill.get(&format!("{PATH}?limit=1")).body["count"], 3);
    mill.get(&format!("{PATH}?erntejahr=x")).refused(400, "PARAMETER_UNGUELTIG");
    mill.get(&format!("{PATH}?erledigt=vielleicht")).refused(400, "PARAMETER_UNGUELTIG");
    mill.get(&format!("{PATH}?von=gestern")).refused(400, "DATUM_UNGUELTIG");
}

#[test]
fn a_contract_of_a_hundred_tonnes_shows_what_is_open() {
    let server = Server::start();
    let mill = mill(&server);
    let id = contract(&mill, "V-1")["id"].clone();
    let post = |typ: &str, menge: &str, einheit: &str| {
        let item = json!({"artikelnr": "W", "menge": menge, "einheit": einheit, "kontrakt_id": id});
        mill.post("/api/v1/belege", json!({"beleg_typ": typ, "kundennummer": "L-1", "items": [item]})).id()
    };
    let shows = |delivered: &str, open: &str| {
        let shown = contract(&mill, "V-1");
        assert_eq!(json!([shown["geliefert"], shown["offen"]]), json!([delivered, open]));
    };
    // Orders deliver nothing; three deliveries in three units do, and their invoice counts once.
    post("BS", "90", "t");
    let first = post("EL", "24.86", "t");
    post("EL", "250", "dt");
    post("EL", "30000", "kg");
    shows("79.860", "20.140");
    let invoice = post("ER", "79.86", "t");
    shows("79.860", "20.140");
    mill.post(&format!("/api/v1/belege/{first}/storno"), json!({"grund": "falsch"})).is(200);
    shows("79.860", "20.140");
    mill.post(&format!("/api/v1/belege/{invoice}/storno"), json!({"grund": "falsch"})).is(200);
    shows("55.000", "45.000");
    post("EL", "50", "t");
    shows("105.000", "-5.000");
}

#[test]
fn an_import_changes_what_it_names_and_refuses_what_is_not_there() {
    let server = Server::start();
    let mill = mill(&server);
    let table = "kontrakt_nr;referenz;gesamtmenge;gueltig_bis\nV-1;Neu;120,5;\n";
    assert_eq!(server.import(&mill, "kontrakte", table), "created 0, changed 1, unchanged 0\n");
    let shown = contract(&mill, "V-1");
    let fields = [&shown["referenz"], &shown["gesamtmenge"], &shown["gueltig_bis"], &shown["notizen"]];
    assert_eq!(json!(fields), json!(["Neu", "120.500", "2026-12-31T00:00:00.000Z", "N"]));
    let refused = [
        (json!([{"kontrakt_nr": "X", "partner": "nix"}]), "PARTNER_NICHT_GEFUNDEN"),
        (json!([{"kontrakt_nr": "X", "positionen": [{"artikelnummer": "nix"}]}]), "ARTIKEL_NICHT_GEFUNDEN"),
        (
            json!([{"kontrakt_nr": "X", "gueltig_von": "2026-02-01", "gueltig_bis": "2026-01-01"}]),
            "DATUM_UNGUELTIG",
        ),
        (json!([{"referenz": "X"}]), "FELD_FEHLT"),
    ];
    let tenant = mill.tenant.to_string();
    for (file, code) in refused {
        let path = server.database.with_file_name("kontrakte.json");
        std::fs::write(&path, file.to_string()).unwrap();
        let output = server.cli(&["import", "kontrakte", path.to_str().unwrap(), "--tenant", &tenant]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(code), "{code}: {said}");
    }
    assert_eq!(server.sql::<i64>("select count(*) from kontrakt"), 3);
    assert_eq!(server.sql::<i64>("select count(*) from kontrakt_position"), 1);
}
