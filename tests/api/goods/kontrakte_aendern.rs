//! Contracts with their positions, written by clients (D22).

use serde_json::{Value, json};

use crate::harness::{Client, Server};

const PATH: &str = "/api/v1/kontrakte";

/// Creates a company with two articles, two suppliers and a contract over 100 t of wheat; returns the path of
/// the contract.
fn mill(server: &Server) -> (Client, String) {
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit;preis;ep_netto\nW;Weizen;kg;0,3;0,2\nG;Gerste;kg;0,3;0,2\n",
    );
    server.import(&mill, "kunden", "kundennr;name;partner_typen\nL-1;Hof;lieferant\nL-2;Gut;lieferant\n");
    let body = json!({"kontrakt_nr": "V-1", "kontrakt_typ": "einkauf", "partner_id": partner(&mill, "L-1"),
        "gueltig_von": "2026-07-01", "gueltig_bis": "2026-12-31", "gesamtmenge": 100, "gesamtmenge_einheit": "t",
        "positionen": [{"artikelnr": "W", "menge": 100, "preis": "198.5"}]});
    let made = mill.post(PATH, body);
    assert_eq!((&made.is(201)["kontrakt_nr"], made.hint_codes().len()), (&json!("V-1"), 0));
    let path = format!("{PATH}/{}", made.id());
    (mill, path)
}

fn partner(mill: &Client, number: &str) -> Value {
    let found = mill.get("/api/v1/kunden").is(200)["data"].as_array().unwrap().clone();
    found.into_iter().find(|kunde| kunde["kundennr"] == number).unwrap()["id"].take()
}

/// The fields of each change, with their new values.
fn changes(mill: &Client, path: &str) -> Vec<Vec<(String, Value)>> {
    let rows = mill.get(&format!("{path}/verlauf")).is(200)["data"].as_array().unwrap().clone();
    let of = |row: &Value| {
        let fields = row["felder"].as_array().unwrap().iter();
        fields.map(|feld| (feld["feld"].as_str().unwrap().to_owned(), feld["neu"].clone())).collect()
    };
    rows.iter().map(of).collect()
}

/// Delivers some tonnes of wheat from L-1 on the contract.
fn deliver(mill: &Client, path: &str, tonnes: i64) -> String {
    let id = path.rsplit('/').next().unwrap();
    let item = json!({"artikelnr": "W", "menge": tonnes, "einheit": "t", "kontrakt_id": id});
    mill.post("/api/v1/belege", json!({"beleg_typ": "EL", "kundennummer": "L-1", "items": [item]})).id()
}

#[test]
fn a_contract_is_created_read_and_changed() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    let read = mill.get(&path);
    assert_eq!(
        json!([read.is(200)["partner_name"], read.body["offen"], read.body["positionen"][0]["preis"]]),
        json!(["Hof", "100.000", "198.5000"])
    );
    // Sending back what was read changes nothing.
    mill.put(&path, read.body.clone()).is(200);
    mill.put(&path, json!({})).is(200);
    assert_eq!((&mill.get(&path).body, changes(&mill, &path).len()), (&read.body, 0));
    let changed =
        mill.put(&path, json!({"referenz": "R", "gueltig_bis": null, "partner_id": partner(&mill, "L-2")}));
    assert_eq!(
        json!([changed.is(200)["referenz"], changed.body["gueltig_bis"], changed.body["partner_name"]]),
        json!(["R", null, "Gut"])
    );
    assert_eq!(changed.body["positionen"], read.body["positionen"]);
    let names: Vec<_> = changes(&mill, &path).remove(0).into_iter().map(|field| field.0).collect();
    assert_eq!(names, ["gueltig_bis", "partner_id", "partner_name", "referenz"]);
    // An import leaves a row in the history, too, but none if nothing differs.
    let file = r#"[{"kontrakt_nr": "V-1", "positionen": [{"position": 1, "menge": 90}]}]"#;
    assert_eq!(server.import(&mill, "kontrakte", file), "0 neu, 1 geändert, 0 unverändert\n");
    assert_eq!(server.import(&mill, "kontrakte", file), "0 neu, 0 geändert, 1 unverändert\n");
    let all = changes(&mill, &path);
    assert_eq!((all.len(), &all[1][0].1["menge"]), (2, &json!("90.000")));
    let listed = mill.get(PATH).is(200)["data"][0].clone();
    assert_eq!(listed, mill.get(&path).body);
}

#[test]
fn positions_are_found_by_id_by_number_or_are_new() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    let id = mill.get(&path).body["positionen"][0]["id"].clone();
    let put = |positionen: Value| {
        let shown = mill.put(&path, json!({"positionen": positionen}));
        shown.is(200)["positionen"].as_array().unwrap().clone()
    };
    let shown = put(json!([{"artikelnr": "G", "menge": 5}, {"id": id, "artikelnr": "W", "menge": 95}]));
    assert_eq!(json!([shown[0]["id"], shown[0]["menge"], shown[1]["position"]]), json!([id, "95.000", 2]));
    let new = shown[1]["id"].clone();
    let shown = put(json!([{"position": 2, "artikelnr": "W", "menge": 50}, {"position": 9}]));
    assert_eq!((shown.len(), &shown[0]["id"], &shown[1]["position"]), (2, &new, &json!(9)));
    let rows: Vec<_> = changes(&mill, &path).iter().map(Vec::len).collect();
    assert_eq!(rows, [2, 3], "one is changed, one is new; one is changed, one new, one gone");
    mill.put(&path, json!({"positionen": [{"id": id}]})).refused(400, "KONTRAKT_NICHT_GEFUNDEN");
    let twice = json!({"positionen": [{"id": new}, {"position": 2}]});
    mill.put(&path, twice).refused(400, "WERT_UNGUELTIG");
}

#[test]
fn a_change_is_based_on_the_version_that_was_read() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    let tag = || mill.get(&path).headers["etag"].clone();
    let change = |tag: &str, referenz: &str| {
        let body = json!({"referenz": referenz}).to_string();
        mill.send("PUT", &path, &[("if-match", tag)], Some(body.as_bytes()))
    };
    let old = tag();
    change(&old, "1").is(200);
    change(&old, "2").refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    // A delivery changes what is shown, but not what was agreed.
    let old = tag();
    deliver(&mill, &path, 10);
    assert_ne!(tag(), old);
    change(&old, "2").is(200);
}

#[test]
fn what_cannot_be_is_refused_by_its_field() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    mill.post(PATH, json!({"kontrakt_nr": "V-2"})).is(201);
    for (sent, code, feld) in [
        (json!({"gesamtmenge": -1}), "WERT_UNGUELTIG", "gesamtmenge"),
        (json!({"positionen": [{"menge": 1}, {"menge": "-0.1"}]}), "WERT_UNGUELTIG", "positionen[1].menge"),
        (json!({"positionen": [{"preis": -5}]}), "WERT_UNGUELTIG", "positionen[0].preis"),
        (json!({"positionen": [{"artikelnr": "X"}]}), "ARTIKEL_NICHT_GEFUNDEN", "positionen[0].artikelnr"),
        (json!({"gueltig_bis": "2026-06-30"}), "DATUM_UNGUELTIG", "gueltig_bis"),
        (json!({"gueltig_von": "2027-01-01"}), "DATUM_UNGUELTIG", "gueltig_bis"),
        (json!({"kontrakt_nr": "V-2"}), "FELD_WIDERSPRUCH", "kontrakt_nr"),
        (json!({"kontrakt_nr": ""}), "FELD_FEHLT", "kontrakt_nr"),
    ] {
        let refused = mill.put(&path, sent.clone());
        assert_eq!(
            (&refused.is(400)["error"], &refused.body["feld"]),
            (&json!(code), &json!(feld)),
            "{sent}"
        );
    }
    mill.post(PATH, json!({"referenz": "R"})).refused(400, "FELD_FEHLT");
    assert_eq!((mill.get(PATH).body["count"].clone(), changes(&mill, &path).len()), (json!(2), 0));
}

#[test]
fn a_price_far_from_the_usual_is_a_hint() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    // 0.20 EUR/kg is 200 EUR/t; the sales price is 300.
    for (typ, preis, codes) in [
        ("einkauf", "199", &[][..]),
        ("einkauf", "799.99", &[]),
        ("einkauf", "800", &["WERT_FRAGLICH"]),
        ("einkauf", "50.01", &[]),
        ("einkauf", "50", &["WERT_FRAGLICH"]),
        ("einkauf", "19.90", &["WERT_FRAGLICH"]),
        ("einkauf", "0.2", &["WERT_FRAGLICH"]),
        ("verkauf", "800", &[]),
        ("verkauf", "1200", &["WERT_FRAGLICH"]),
    ] {
        let sent =
            json!({"kontrakt_typ": typ, "positionen": [{"position": 1, "artikelnr": "W", "preis": preis}]});
        let changed = mill.put(&path, sent);
        changed.is(200);
        assert_eq!(changed.hint_codes(), codes, "{typ} {preis}");
    }
    let over = mill.put(&path, json!({"gueltig_bis": "2026-07-09", "positionen": []}));
    over.is(200);
    assert_eq!(over.hint_codes(), ["WERT_FRAGLICH"]);
    let unit = mill.put(&path, json!({"gesamtmenge_einheit": "Stk", "positionen": [{"artikelnr": "W"}]}));
    unit.is(200);
    assert_eq!(unit.hint_codes(), ["KONTRAKT_EINHEIT"]);
}

#[test]
fn what_is_named_keeps_what_its_goods_are_counted_by() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    let id = path.rsplit('/').next().unwrap();
    // Even a single weighing names the contract.
    let erst = json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": partner(&mill, "L-1"),
        "kontrakt_id": id});
    mill.post("/api/v1/wiegungen", erst).is(201);
    for (sent, feld) in [
        (json!({"kontrakt_nr": "V-9"}), "kontrakt_nr"),
        (json!({"partner_id": partner(&mill, "L-2")}), "partner_id"),
        (json!({"partner_id": null}), "partner_id"),
        (json!({"kontrakt_typ": "verkauf"}), "kontrakt_typ"),
        (json!({"gesamtmenge_einheit": "dt"}), "gesamtmenge_einheit"),
        (json!({"positionen": []}), "positionen"),
        (json!({"positionen": [{"position": 1, "artikelnr": "G", "menge": 100}]}), "positionen"),
    ] {
        let refused = mill.put(&path, sent.clone());
        assert_eq!(
            (&refused.is(400)["error"], &refused.body["feld"]),
            (&json!("WERT_UNGUELTIG"), &json!(feld)),
            "{sent}"
        );
        assert!(refused.body["message"].as_str().unwrap().contains("erledigt"), "{}", refused.body);
    }
    let more = json!({"kontrakt_typ": "EK", "erledigt": true, "gesamtmenge": 150,
        "positionen": [{"position": 1, "artikelnr": "W", "menge": 100, "preis": 190},
            {"artikelnr": "G", "menge": 50}]});
    mill.put(&path, more).is(200);
}

#[test]
fn nothing_falls_below_what_was_delivered() {
    let server = Server::start();
    let (mill, path) = mill(&server);
    deliver(&mill, &path, 60);
    let put = |gesamtmenge: Value, menge: Value| {
        let position = json!({"position": 1, "artikelnr": "W", "menge": menge});
        mill.put(&path, json!({"gesamtmenge": gesamtmenge, "positionen": [position]}))
    };
    assert_eq!(put(json!("59.999"), json!(100)).is(400)["feld"], "gesamtmenge");
    assert_eq!(put(json!(100), json!("59.999")).is(400)["feld"], "positionen[0].menge");
    assert_eq!(put(Value::Null, json!("59.999")).is(400)["feld"], "positionen");
    put(json!(60), json!(60)).is(200);
    // More than agreed was delivered: the quantity may be corrected in part, but not reduced further.
    deliver(&mill, &path, 20);
    put(json!(70), json!(70)).is(200);
    put(json!(65), json!(70)).is(400);
    put(json!(80), json!(80)).is(200);
}
