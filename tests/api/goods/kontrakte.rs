//! Contracts (specification; D16, D21g, D22): read with the delivered quantity, written by import.

mod offen;
mod paare;
mod wahl;
mod zurueck;

use serde_json::{Value, json};

use crate::harness::{Client, Server};
use crate::platform::import::import_with;
use crate::trade::lager::and;

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
    assert_eq!(server.import(&mill, "kontrakte", &file.to_string()), "3 neu, 0 geändert, 0 unverändert\n");
    assert_eq!(server.import(&mill, "kontrakte", &file.to_string()), "0 neu, 0 geändert, 3 unverändert\n");
    mill
}

/// The row of a contract in the list.
pub fn contract(mill: &Client, number: &str) -> Value {
    let listed = mill.get(PATH);
    let data = listed.is(200)["data"].as_array().unwrap().clone();
    data.into_iter().find(|contract| contract["kontrakt_nr"] == number).unwrap()
}

#[test]
fn a_contract_is_shown_with_every_field() {
    let server = Server::start();
    let mut shown = contract(&mill(&server), "V-1");
    for id in ["/id", "/partner_id", "/positionen/0/id", "/positionen/0/artikel_id"] {
        let shown = shown.pointer_mut(id).unwrap().take();
        assert_eq!(shown.as_str().unwrap().len(), 36, "{id}");
    }
    let expected = json!({"id": null, "partner_id": null, "kontrakt_nr": "V-1", "kontrakt_typ": "einkauf",
        "partner_name": "Hof",
        "gueltig_von": "2026-07-01T00:00:00.000Z", "gueltig_bis": "2026-12-31T00:00:00.000Z",
        "erfassungsdatum": "2026-06-01T00:00:00.000Z", "gesamtmenge": "100.000", "gesamtmenge_einheit": "t",
        "mengenart": "circa", "paritat": "frei Mühle", "zahlungsbedingung": "14 Tage", "erntejahr": 2026,
        "erledigt": false, "notizen": "N", "referenz": "Ref Süd", "geliefert": "0.000", "offen": "100.000",
        "schema": null, "abgerechnet": "0.000",
        "positionen": [{"id": null, "position": 1, "artikel_id": null, "menge": "100.000", "preis": "198.5000"}]});
    assert_eq!(shown, expected);
}

#[test]
fn an_import_takes_no_position_of_another_contract() {
    let server = Server::start();
    let mill = mill(&server);
    let id = contract(&mill, "V-1")["positionen"][0]["id"].clone();
    let file = json!([{"kontrakt_nr": "V-2", "positionen": [{"id": id, "artikelnummer": "W", "menge": 1}]}]);
    let import = import_with(&server, &mill, "kontrakte", file.to_string().as_bytes(), &[]);
    assert!(import.said().contains("gehört zu einem anderen Kontrakt"), "{}", import.said());
    assert_eq!(contract(&mill, "V-2")["positionen"], json!([]));
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
    // Orders deliver nothing; three deliveries in three units do, and their invoice counts only once.
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
fn deductions_and_freight_are_no_delivery() {
    let server = Server::start();
    let mill = mill(&server);
    let id = contract(&mill, "V-1")["id"].clone();
    let of = |item: Value| and(item, json!({"kontrakt_id": id}));
    let items = [
        of(json!({"artikelnr": "W", "menge": 10, "einheit": "t", "ep_netto": 200})),
        of(json!({"artikelnr": "W", "menge": 10, "einheit": "t", "ep_netto": "-0.5"})),
        of(json!({"bezeichnung": "Fracht", "menge": 1, "einheit": "Fuhre", "ep_netto": 80})),
        of(json!({"bezeichnung": "Fracht", "menge": 10, "einheit": "t", "ep_netto": 8})),
    ];
    let body = json!({"beleg_typ": "EL", "kundennummer": "L-1", "items": items});
    let answer = mill.post("/api/v1/belege", body);
    answer.is(201);
    assert!(!answer.hint_codes().iter().any(|code| code.starts_with("KONTRAKT")), "{}", answer.body);
    let shown = contract(&mill, "V-1");
    assert_eq!(json!([shown["geliefert"], shown["offen"]]), json!(["10.000", "90.000"]));
}

#[test]
fn delivered_is_null_only_where_there_is_neither_unit_nor_position() {
    let server = Server::start();
    let mill = mill(&server);
    let file = json!([
        {"kontrakt_nr": "P", "partner": "L-1", "positionen": [
            {"artikelnummer": "W", "menge": 40}, {"artikelnummer": "W", "menge": 60}]},
        {"kontrakt_nr": "E", "gesamtmenge_einheit": "t"}
    ]);
    server.import(&mill, "kontrakte", &file.to_string());
    let item = json!({"artikelnr": "W", "menge": 30, "kontrakt_id": contract(&mill, "P")["id"]});
    mill.post("/api/v1/belege", json!({"beleg_typ": "EL", "kundennummer": "L-1", "items": [item]})).is(201);
    let rows =
        [("P", json!(["30.000", "70.000"])), ("E", json!(["0.000", null])), ("V-3", json!([null, null]))];
    for (number, expected) in rows {
        let shown = contract(&mill, number);
        assert_eq!(json!([shown["geliefert"], shown["offen"]]), expected, "{number}");
    }
}

#[test]
fn what_does_not_fit_the_contract_is_a_hint() {
    let server = Server::start();
    let mill = mill(&server);
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit;preis;ep_netto\nR;Roggen;kg;0,3;0,2\n",
    );
    server.import(&mill, "kunden", "kundennr;name;partner_typen\nL-2;Gut;lieferant\n");
    let [purchase, sale, any] = ["V-1", "V-2", "V-3"].map(|number| contract(&mill, number)["id"].clone());
    let (partner, article) = ("KONTRAKT_ANDERER_PARTNER", "KONTRAKT_ANDERER_ARTIKEL");
    let (direction, over) = ("KONTRAKT_ANDERE_RICHTUNG", "KONTRAKT_UEBERLIEFERT");
    let settled = "KONTRAKT_ABGELAUFEN";
    /// Type, partner, article, contract, quantity, hints.
    type Row<'r> = (&'r str, &'r str, &'r str, &'r Value, i64, &'r [&'r str]);
    let rows: [Row<'_>; 15] = [
        ("EL", "L-1", "W", &purchase, 99_000, &[]),
        ("BS", "L-1", "W", &purchase, 99_000, &[]),
        ("EL", "L-2", "W", &purchase, 1, &[partner]),
        ("EL", "L-1", "R", &purchase, 1, &[article]),
        ("LS", "L-1", "W", &purchase, -1, &[direction]),
        ("AU", "K-1", "R", &purchase, 1, &[partner, direction, article]),
        ("EL", "K-1", "W", &sale, 1, &[direction, settled]),
        ("RE", "K-1", "W", &sale, 1, &[settled]),
        ("EL", "L-2", "R", &any, 1, &[]),
        // 99.002 of 100 t are delivered.
        ("EL", "L-1", "W", &purchase, 998, &[]),
        // It is over circa 100 t: 5 t more are within it.
        ("EL", "L-1", "W", &purchase, 4_999, &[]),
        ("EL", "L-1", "W", &purchase, 5, &[over]),
        ("BS", "L-1", "W", &purchase, 5, &[]),
        ("EL", "L-1", "W", &purchase, -1, &[]),
        ("EL", "L-1", "R", &purchase, 1, &[article, over]),
    ];
    for (typ, kunde, artikel, kontrakt, menge, expected) in rows {
        let item = json!({"artikelnr": artikel, "menge": menge, "kontrakt_id": kontrakt});
        let body = json!({"beleg_typ": typ, "kundennummer": kunde, "items": [item]});
        let answer = mill.post("/api/v1/belege", body);
        assert_eq!(answer.status, 201, "{}", answer.body);
        let mut codes = answer.hint_codes();
        codes.retain(|code| code.starts_with("KONTRAKT"));
        assert_eq!(codes, *expected, "{typ} {kunde} {artikel} {menge}: {}", answer.body);
        let hints = answer.body["hinweise"].as_array().unwrap().iter();
        for hint in hints.filter(|hint| hint["code"].as_str().unwrap().starts_with("KONTRAKT")) {
            assert_eq!(hint["feld"], "items[0].kontrakt_id");
        }
    }
    // Changed items are checked like those of a new document; a changed note is not.
    let item = json!({"artikelnr": "W", "menge": 1, "kontrakt_id": purchase});
    let body = json!({"beleg_typ": "EL", "kundennummer": "L-1", "items": [item]});
    let id = mill.post("/api/v1/belege", body.clone()).id();
    let path = format!("/api/v1/belege/{id}");
    mill.put(&path, json!({"items": body["items"]})).hints(over);
    assert_eq!(mill.put(&path, json!({"notizen": "x"})).hint_codes(), [""; 0]);
    // The named position determines the article.
    let file = json!([{"kontrakt_nr": "V-1", "positionen": [
        {"position": 1, "artikelnummer": "W"}, {"position": 2, "artikelnummer": "R"}]}]);
    server.import(&mill, "kontrakte", &file.to_string());
    let rye = contract(&mill, "V-1")["positionen"][1]["id"].clone();
    for (artikel, expected) in [("R", false), ("W", true)] {
        let item = json!({"artikelnr": artikel, "menge": 1, "kontrakt_position_id": rye});
        let answer =
            mill.post("/api/v1/belege", json!({"beleg_typ": "BS", "kundennummer": "L-1", "items": [item]}));
        assert_eq!(answer.hint_codes().contains(&article.to_owned()), expected, "{artikel}");
    }
}

#[test]
fn an_import_changes_what_it_names_and_refuses_what_is_not_there() {
    let server = Server::start();
    let mill = mill(&server);
    let table = "kontrakt_nr;referenz;gesamtmenge;gueltig_bis\nV-1;Neu;120,5;\n";
    assert_eq!(server.import(&mill, "kontrakte", table), "0 neu, 1 geändert, 0 unverändert\n");
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
