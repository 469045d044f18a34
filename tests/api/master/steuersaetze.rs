//! Tax rates by date (D7, D21e): readable with any key, extended by import.

use serde_json::{Value, json};

use crate::harness::Server;

fn rate<'a>(rates: &'a Value, key: &str) -> &'a Value {
    rates.as_array().unwrap().iter().find(|rate| rate["schluessel"] == key).unwrap()
}

#[test]
fn the_rates_of_a_day_are_those_of_the_law() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let reader = server.key(mill.tenant, &[]);
    // Each class on the last and the first day of its periods (UStG §12, §24; second half of 2020).
    let table = [
        ("2006-12-31", "16.00", "7.00", "9.00"),
        ("2007-01-01", "19.00", "7.00", "10.70"),
        ("2020-06-30", "19.00", "7.00", "10.70"),
        ("2020-07-01", "16.00", "5.00", "10.70"),
        ("2020-12-31", "16.00", "5.00", "10.70"),
        ("2021-01-01", "19.00", "7.00", "10.70"),
        ("2022-01-01", "19.00", "7.00", "9.50"),
        ("2023-01-01", "19.00", "7.00", "9.00"),
        ("2024-12-06", "19.00", "7.00", "8.40"),
        ("2025-01-01", "19.00", "7.00", "7.80"),
    ];
    for (day, normal, reduced, flat) in table {
        let answer = reader.get(&format!("/api/v1/steuersaetze?datum={day}"));
        let rates = answer.is(200);
        let found =
            ["normal", "ermaessigt", "pauschal_24", "frei"].map(|key| rate(rates, key)["satz"].clone());
        assert_eq!(json!(found), json!([normal, reduced, flat, "0.00"]), "{day}");
        assert_eq!(answer.headers["x-total-count"], "4", "{day}");
    }
    let today = reader.get("/api/v1/steuersaetze");
    let expected = json!({"schluessel": "normal", "bezeichnung": "Normalsatz", "satz": "19.00",
        "gueltig_von": "2021-01-01", "gueltig_bis": null, "kategorie": "S"});
    assert_eq!(*rate(today.is(200), "normal"), expected);
    reader.get("/api/v1/steuersaetze?datum=gestern").refused(400, "DATUM_UNGUELTIG");
    server.client(mill.tenant, None).get("/api/v1/steuersaetze").refused(401, "API_KEY_FEHLT");
}

#[test]
fn an_import_extends_the_rates_of_one_company() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let file = "schluessel;bezeichnung;satz;gueltig_von;gueltig_bis;kategorie\n\
        normal;Normalsatz;19,0;01.01.2021;31.12.2026;S\n\
        normal;Normalsatz;21,0;01.01.2027;;S\n";
    assert_eq!(server.import(&mill, "steuersaetze", file), "1 neu, 1 geändert, 0 unverändert\n");
    assert_eq!(server.import(&mill, "steuersaetze", file), "0 neu, 0 geändert, 2 unverändert\n");
    let next_year = "/api/v1/steuersaetze?datum=2027-01-01";
    assert_eq!(rate(mill.get(next_year).is(200), "normal")["satz"], "21.00");
    assert_eq!(rate(other.get(next_year).is(200), "normal")["satz"], "19.00");
    // The rules use imported rates: 19 % today become 21 % on a day of next year.
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;preis;mwst_satz\nA;A;100;19\n");
    mill.post("/api/v1/kunden", json!({"name": "Kunde"})).is(201);
    let order = json!({"beleg_typ": "AU", "kunden_id": 1, "lieferdatum": "2027-01-01",
        "items": [{"artikelnr": "A", "menge": 1}]});
    assert_eq!(mill.post("/api/v1/belege", order).is(201)["summe_mwst"], "21.00");
}
