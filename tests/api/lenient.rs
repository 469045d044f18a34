//! What is taken although it is spelled otherwise (D18).

use serde_json::json;

use crate::harness::Server;

#[test]
fn a_word_of_the_table_is_no_id() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let put = mill.put("/api/v1/chargen/verfuegbar", json!({"herkunftsland": "DE"}));
    put.refused(405, "METHODE_NICHT_ERLAUBT");
    assert_eq!(put.headers["allow"], "GET");
}

#[test]
fn one_slash_at_the_end_of_a_path_is_as_none() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("/api/v1/kunden/{}", mill.post("/api/v1/kunden/", json!({"name": "Hof"})).id());
    for path in ["/api/v1/kunden/?limit=1", "/api/v1/laender/", "/api/v1/", "/docs/", "/openapi.json/"] {
        mill.get(path).is(200);
    }
    assert_eq!(mill.get(&format!("{path}/")).is(200), mill.get(&path).is(200));
    mill.put(&format!("{path}/"), json!({"ort": "Ulm"})).is(200);
    let wrong_method = mill.send("DELETE", "/api/v1/kunden/", &[], None);
    wrong_method.refused(405, "METHODE_NICHT_ERLAUBT");
    assert_eq!(wrong_method.headers["allow"], "GET, POST");
    for path in ["/api/v1/kunden//", "/api/v1//kunden", "/api/v1/nichts/"] {
        mill.get(path).refused(404, "NICHT_GEFUNDEN");
    }
    // With the slash it is the same request.
    let send = |path: &str| {
        mill.send("POST", path, &[("Idempotency-Key", "a")], Some(br#"{"name": "Gut"}"#)).is(201).clone()
    };
    assert_eq!(send("/api/v1/kunden"), send("/api/v1/kunden/"));
}

#[test]
fn booleans_of_a_query_may_have_any_case() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let articles = "artikelnummer;bezeichnung;einheit;chargenpflichtig\nW;Weizen;kg;ja\n";
    server.import(&mill, "artikel", articles);
    server.import(&mill, "chargen", "artikelnummer;charge_nr;bestand\nW;voll;10\nW;leer;0\n");
    let count = |value: &str| {
        mill.get(&format!("/api/v1/chargen?mit_bestand={value}")).is(200).as_array().unwrap().len()
    };
    for (value, batches) in
        [("true", 1), ("True", 1), ("TRUE", 1), ("1", 1), ("false", 2), ("False", 2), ("0", 2)]
    {
        assert_eq!(count(value), batches, "{value}");
    }
    for value in ["ja", "yes", "2", "tru", "01"] {
        mill.get(&format!("/api/v1/chargen?mit_bestand={value}")).refused(400, "PARAMETER_UNGUELTIG");
    }
}
