//! Requests that are accepted although spelled differently (D18).

use serde_json::json;

use crate::harness::Server;

#[test]
fn a_word_of_the_table_is_no_id() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let put = mill.put("/api/v1/chargen/verfuegbar", json!({"herkunftsland": "DE"}));
    put.refused(405, "METHODE_NICHT_ERLAUBT");
    assert_eq!(put.headers["allow"], "GET, HEAD");
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
    assert_eq!(wrong_method.headers["allow"], "GET, HEAD, POST");
    for path in ["/api/v1/kunden//", "/api/v1//kunden", "/api/v1/nichts/"] {
        mill.get(path).refused(404, "NICHT_GEFUNDEN");
    }
    // With the trailing slash it is the same request.
    let send = |path: &str| {
        mill.send("POST", path, &[("Idempotency-Key", "a")], Some(br#"{"name": "Gut"}"#)).is(201).clone()
    };
    assert_eq!(send("/api/v1/kunden"), send("/api/v1/kunden/"));
}

/// Unreserved characters are the same encoded or not (RFC 3986 6.2.2.2), others are not.
#[test]
fn a_path_may_be_encoded_where_it_need_not_be() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/%6Bunden", json!({"name": "Hof"})).id();
    mill.get(&format!("/api/v1/kunden/{}", id.replace('-', "%2D"))).is(200);
    mill.get("/api/v1%2Fkunden").refused(404, "NICHT_GEFUNDEN");
}

#[test]
fn a_body_that_is_empty_or_begins_with_a_bom_is_named_as_such() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (body, words) in [(&b""[..], "leer"), (b" \r\n", "leer"), (b"\xef\xbb\xbf{}", "BOM")] {
        let answer = mill.send("POST", "/api/v1/kunden", &[], Some(body));
        let message = answer.refused(400, "UNGUELTIGES_JSON")["message"].to_string();
        assert!(message.contains(words), "{message}");
    }
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

#[test]
fn a_field_is_understood_by_the_name_that_another_route_has_for_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;einheit;chargenpflichtig\nW;Weizen;kg;nein\n");
    let hof = mill.post("/api/v1/kunden", json!({"name": "Hof", "kundennummer": "L-1"}));
    assert_eq!(hof.hints("FELD_ALIAS")["kundennr"], "L-1");
    assert_eq!(hof.body["hinweise"][0]["feld"], "kundennummer");
    let by_partner = json!({"beleg_typ": "RE", "partner_id": hof.id(), "bemerkung": "zwei Paletten",
        "items": [{"artikelnummer": "w", "menge": 2, "ep_netto": 1}]});
    let beleg = mill.post("/api/v1/belege", by_partner);
    let said: Vec<_> =
        beleg.body["hinweise"].as_array().unwrap().iter().map(|hint| hint["feld"].clone()).collect();
    assert_eq!(said[..3], ["bemerkung", "items[0].artikelnummer", "partner_id"].map(serde_json::Value::from));
    let kept = mill.get(&format!("/api/v1/belege/{}", beleg.id()));
    assert_eq!(kept.is(200)["kunde_id"], hof.id());
    assert_eq!(kept.body["notizen"], "zwei Paletten");
    assert_eq!(kept.body["positionen"][0]["artikel_name"], "Weizen");
    let file = json!({"dateiname": "a.txt", "datei_base64": "QQ=="});
    mill.post(&format!("/api/v1/kunden/{}/dokumente", hof.id()), file).hints("FELD_ALIAS");
    mill.post(
        "/api/v1/annahmescheine",
        json!({"kundennr": "L-1", "artikelnummer": "W", "anliefermenge_kg": 5, "notizen": "nass"}),
    )
    .hints("FELD_ALIAS");
    // The service does not choose between two names for one field; strict clients may send the other name, too.
    let both = json!({"beleg_typ": "RE", "kundennummer": "L-1", "kundennr": "L-2",
        "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1}]});
    mill.post("/api/v1/belege", both.clone()).hints("UNBEKANNTES_FELD");
    let strict = [("Prefer", "handling=strict")];
    let send = |body: &serde_json::Value| {
        mill.send("POST", "/api/v1/belege", &strict, Some(body.to_string().as_bytes()))
    };
    send(&both).refused(400, "UNBEKANNTES_FELD");
    let alias = json!({"beleg_typ": "RE", "kundennr": "L-1",
        "items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1}]});
    send(&alias).hints("FELD_ALIAS");
    // A refusal names a wrong value as it was sent.
    let wrong = json!({"beleg_typ": "RE", "kundennr": 7, "items": [{"bezeichnung": "Fracht", "menge": 1}]});
    assert_eq!(mill.post("/api/v1/belege", wrong).refused(400, "FELD_UNGUELTIG")["feld"], "kundennr");
}

#[test]
fn everything_that_cannot_be_read_is_named_at_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let body = json!({"beleg_typ": "XX", "beleg_datum": "gestern", "kundennummer": "L-1", "items": [
        {"menge": "viel", "ep_netto": "1,5"}, {"menge": 1}, "Weizen", {"artikel_id": "W", "menge": 2}]});
    let refused = mill.post("/api/v1/belege", body);
    let errors = refused.refused(400, "DATUM_UNGUELTIG")["details"]["fehler"].as_array().unwrap();
    let named: Vec<_> = errors
        .iter()
        .map(|error| (error["feld"].as_str().unwrap(), error["error"].as_str().unwrap()))
        .collect();
    let expected = [
        ("beleg_datum", "DATUM_UNGUELTIG"),
        ("beleg_typ", "WERT_UNGUELTIG"),
        ("items[0].ep_netto", "FELD_UNGUELTIG"),
        ("items[0].menge", "FELD_UNGUELTIG"),
        ("items[2]", "FELD_UNGUELTIG"),
        ("items[3].artikel_id", "FELD_UNGUELTIG"),
    ];
    let mut named = named;
    named.sort_unstable();
    assert_eq!(named, expected);
    let many = json!({"beleg_typ": "AN", "kundennummer": "L-1",
        "items": vec![json!({"menge": "x", "ep_netto": "x"}); 1_000]});
    let refused = mill.post("/api/v1/belege", many);
    assert_eq!(refused.refused(400, "FELD_UNGUELTIG")["details"]["fehler"].as_array().unwrap().len(), 1_000);
    let single = mill.post("/api/v1/kunden", json!({"name": "Hof", "plz": 7}));
    assert!(single.refused(400, "FELD_UNGUELTIG")["details"].is_null(), "one needs no list");
}

#[test]
fn one_number_is_found_exactly() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "kunden", "kundennr;name\nK-1;Eins\nK-10;Zehn\nK-100;K-1 und Söhne\n");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;einheit\nW;Weizen;kg\nWW;Winterweizen W;kg\n");
    let count = |path: &str| mill.get(&format!("/api/v1/{path}")).is(200)["count"].clone();
    let table = [
        ("kunden?kundennr=k-1", 1),
        ("kunden?kundennr=K-2", 0),
        ("kunden?kundennr=K-1&partner_typ=lieferant", 0),
        ("kunden?kundennr=K-1&suche=eins", 1),
        ("kunden?kundennr=K-1&suche=zehn", 0),
        ("kunden?suche=k-1", 3),
        ("artikel?artikelnummer=w", 1),
        ("artikel?artikelnummer=www", 0),
        ("artikel?artikelnummer=W&bestand=true", 1),
    ];
    for (path, expected) in table {
        assert_eq!(count(path), expected, "{path}");
    }
    assert_eq!(mill.get("/api/v1/kunden?kundennr=K-10").is(200)["data"][0]["name"], "Zehn");
    mill.get("/api/v1/kunden?kundennr=").refused(400, "PARAMETER_UNGUELTIG");
}
