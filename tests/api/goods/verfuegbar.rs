//! Available batches, and from which of them a quantity should be taken (D21b).

use serde_json::{Value, json};

use crate::harness::{Client, Server};

const PATH: &str = "/api/v1/chargen/verfuegbar";

fn stocked(server: &Server) -> Client {
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        "artikelnummer;artikelnr;bezeichnung;einheit;chargenpflichtig\n\
         W;10;Weizen;kg;ja\n\
         R;20;Roggen;kg;ja\n\
         X;20;X;Stk;ja\n",
    );
    server.import(&mill, "biozertifikate", "id;nummer\n7;DE-ÖKO-001\n");
    server.import(
        &mill,
        "chargen",
        "artikelnummer;charge_nr;bestand;mhd;herkunftsland;biozertifikat_id;lagerhalle_id;niederlassung_id\n\
         W;ohne;100;;DE;;1;1\n\
         W;spät;200;2027-06-30;AT;7;1;2\n\
         W;früh;50;2026-12-31;DE;7;2;1\n\
         W;leer;0;2026-11-30;DE;;1;1\n\
         W;minus;0;2026-11-30;DE;;1;1\n\
         R;andere;500;2026-11-30;DE;;1;1\n",
    );
    // An import gives no batch less than nothing; a sale does.
    mill.post("/api/v1/kunden", json!({"name": "Huber", "kundennr": "H"})).is(201);
    let minus = mill.get("/api/v1/chargen?suche=minus").body[0]["id"].clone();
    let item = json!({"artikelnr": "W", "menge": 5, "ep_netto": 1, "mwst_satz": 7, "charge_id": minus});
    mill.post("/api/v1/belege", json!({"beleg_typ": "LS", "kundennummer": "H", "items": [item]})).is(201);
    mill
}

fn shown(answer: &Value, field: &str) -> Vec<String> {
    let batches = answer.as_array().unwrap().iter();
    batches
        .map(|b| format!("{} {}", b["charge_nr"].as_str().unwrap(), b[field].as_str().unwrap_or("-")))
        .collect()
}

#[test]
fn batches_with_stock_stand_in_the_order_of_their_best_before_date() {
    let server = Server::start();
    let mill = stocked(&server);
    let table: [(&str, &[&str]); 10] = [
        ("artikelnr=W", &["früh 50.000", "spät 200.000", "ohne 100.000"]),
        ("artikelnr=10&limit=1&offset=1", &["spät 200.000"]),
        ("artikelnr=w&lagerhalle_id=1", &["spät 200.000", "ohne 100.000"]),
        ("artikelnr=W&niederlassung_id=1", &["früh 50.000", "ohne 100.000"]),
        ("artikelnr=W&mhd_ab=2027-01-01", &["spät 200.000"]),
        ("artikelnr=W&herkunftsland=Österreich", &["spät 200.000"]),
        ("artikelnr=W&nur_bio=true", &["früh 50.000", "spät 200.000"]),
        ("artikelnr=W&nur_bio=false&limit=0", &[]),
        ("artikelnr=R", &["andere 500.000"]),
        ("artikelnr=X", &[]),
    ];
    for (query, expected) in table {
        let query = query.replace('Ö', "%C3%96");
        let answer = mill.get(&format!("{PATH}?{query}"));
        assert_eq!(shown(answer.is(200), "verfuegbar"), expected, "{query}");
        assert!(!answer.headers.contains_key("x-fehlmenge"), "{query}");
        assert!(answer.body.as_array().unwrap().iter().all(|b| b.get("vorschlag").is_none()), "{query}");
    }
    assert_eq!(mill.get(&format!("{PATH}?artikelnr=W&limit=1")).headers["x-total-count"], "3");
    let id = mill.get(&format!("{PATH}?artikelnr=W")).body[0]["artikel_id"].as_str().unwrap().to_owned();
    assert_eq!(
        mill.get(&format!("{PATH}?artikel_id={id}&artikelnr=10")).is(200).as_array().unwrap().len(),
        3
    );
}

#[test]
fn a_quantity_is_split_over_the_batches_and_what_is_missing_is_said() {
    let server = Server::start();
    let mill = stocked(&server);
    let table = [
        ("menge=20", ["früh 20.000", "spät 0.000", "ohne 0.000"], "0.000"),
        ("menge=260", ["früh 50.000", "spät 200.000", "ohne 10.000"], "0.000"),
        ("menge=0.2605&einheit=t", ["früh 50.000", "spät 200.000", "ohne 10.500"], "0.000"),
        ("menge=400", ["früh 50.000", "spät 200.000", "ohne 100.000"], "50.000"),
    ];
    for (query, expected, missing) in table {
        let answer = mill.get(&format!("{PATH}?artikelnr=W&{query}"));
        assert_eq!(shown(answer.is(200), "vorschlag"), expected, "{query}");
        assert_eq!(answer.headers["x-fehlmenge"], missing, "{query}");
    }
    // The proposal covers all batches, regardless of the page.
    let page = mill.get(&format!("{PATH}?artikelnr=W&menge=400&limit=1"));
    assert_eq!(
        (shown(page.is(200), "vorschlag"), page.headers["x-fehlmenge"].as_str()),
        (vec!["früh 50.000".into()], "50.000")
    );
    // Rounding is reported, beside what was ignored (first rule of the decisions).
    server.set(&mill, &[("unbekannte_parameter", "ignorieren")]);
    let rounded = mill.get(&format!("{PATH}?artikelnr=W&menge=0.1234567&foo=1"));
    rounded.is(200);
    assert_eq!(rounded.headers["x-hinweise"], "GERUNDET menge, UNBEKANNTER_PARAMETER foo");
}

#[test]
fn what_is_not_understood_is_refused() {
    let server = Server::start();
    let mill = stocked(&server);
    let other = server.company("Andere");
    let foreign = mill.get(&format!("{PATH}?artikelnr=W")).body[0]["artikel_id"].as_str().unwrap().to_owned();
    let table = [
        ("", "PARAMETER_FEHLT"),
        ("artikelnr=20", "ARTIKEL_MEHRDEUTIG"),
        ("artikelnr=nix", "ARTIKEL_NICHT_GEFUNDEN"),
        ("artikel_id=00000000-0000-7000-8000-000000000000", "ARTIKEL_NICHT_GEFUNDEN"),
        ("artikel_id=x", "PARAMETER_UNGUELTIG"),
        ("artikelnr=W&menge=viel", "PARAMETER_UNGUELTIG"),
        ("artikelnr=W&menge=0", "PARAMETER_UNGUELTIG"),
        ("artikelnr=W&menge=1&einheit=Sack", "EINHEIT_NICHT_UMRECHENBAR"),
        ("artikelnr=W&herkunftsland=Nirgendwo", "LAND_UNBEKANNT"),
        ("artikelnr=W&mhd_ab=morgen", "DATUM_UNGUELTIG"),
    ];
    for (query, code) in table {
        mill.get(&format!("{PATH}?{query}")).refused(400, code);
    }
    mill.get(&format!("{PATH}?artikel_id={foreign}&artikelnr=R")).refused(400, "ARTIKEL_WIDERSPRUCH");
    let unknown = other.get(&format!("{PATH}?artikel_id={foreign}"));
    assert_eq!(unknown.refused(400, "ARTIKEL_NICHT_GEFUNDEN")["feld"], json!("artikel_id"));
}
