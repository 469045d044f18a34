//! Articles with their price tiers, written by clients (D22).

use serde_json::{Value, json};

use crate::harness::{Client, Server};

const ARTIKEL: &str = "/api/v1/artikel";

/// Creates a company with an article W that has a tier; returns its path.
fn weizen(server: &Server) -> (Client, String) {
    let mill = server.company("Mühle");
    let body = json!({"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.32",
        "mwst_satz": 7, "gruppe": "Getreide", "staffelpreise": [{"ab_menge": 1000, "preis": "0.29"}]});
    let answer = mill.post(ARTIKEL, body);
    assert_eq!(answer.is(201)["artikelnummer"], "W");
    assert_eq!(answer.body["hinweise"][0]["code"], "ARTIKELGRUPPE_ANGELEGT");
    let path = format!("{ARTIKEL}/{}", answer.id());
    (mill, path)
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

#[test]
fn an_article_is_created_and_its_price_holds_in_documents() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    let shown = mill.get(&path);
    assert_eq!((&shown.is(200)["gruppe"], &shown.body["status"]), (&json!("Getreide"), &json!("aktiv")));
    assert_eq!(shown.body["staffelpreise"], json!([{"ab_menge": "1000.000", "preis": "0.2900"}]));
    mill.post("/api/v1/kunden", json!({"name": "K", "kundennr": "K"})).is(201);
    let price = |menge: i64| {
        let body =
            json!({"beleg_typ": "AN", "kundennummer": "K", "items": [{"artikelnr": "W", "menge": menge}]});
        let beleg = mill.get(&format!("/api/v1/belege/{}", mill.post("/api/v1/belege", body).id()));
        beleg.is(200)["positionen"][0]["ep_netto"].as_str().unwrap().to_owned()
    };
    let prices = [price(1), price(1000)];
    let change = json!({"preis": "0.4", "staffelpreise": [{"ab_menge": 500, "preis": "0.35"}]});
    let changed = mill.put(&path, change);
    assert_eq!(changed.is(200)["staffelpreise"].as_array().unwrap().len(), 1);
    let after = [price(1), price(500), price(1000)];
    assert_eq!(
        (prices, after),
        (["0.3200", "0.2900"].map(String::from), ["0.4000", "0.3500", "0.3500"].map(String::from))
    );
}

#[test]
fn what_was_not_sent_stays_and_what_was_read_changes_nothing() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    let read = mill.get(&path).body;
    mill.put(&path, read.clone()).is(200);
    mill.put(&path, json!({})).is(200);
    assert_eq!((mill.get(&path).body, changes(&mill, &path).len()), (read.clone(), 0));
    mill.put(&path, json!({"bezeichnung2": "A", "ean": "4006381333931"})).is(200);
    mill.put(&path, json!({"bezeichnung2": null, "gruppe": null, "staffelpreise": []})).is(200);
    let shown = mill.get(&path).body;
    assert_eq!((&shown["bezeichnung2"], &shown["gruppe"]), (&Value::Null, &Value::Null));
    assert_eq!((&shown["ean"], &shown["preis"]), (&json!("4006381333931"), &read["preis"]));
    assert_eq!(shown["staffelpreise"], json!([]));
    let named: Vec<Vec<String>> = changes(&mill, &path)
        .into_iter()
        .map(|fields| fields.into_iter().map(|field| field.0).collect())
        .collect();
    let expected = [
        vec!["bezeichnung2", "ean"],
        vec!["artikelgruppe_id", "bezeichnung2", "gruppe"],
        vec!["staffelpreise"],
    ];
    assert_eq!(named, expected);
    assert_eq!(changes(&mill, &path)[2][0].1["aktiv"], false);
    // An ended tier can start again.
    mill.put(&path, json!({"staffelpreise": [{"ab_menge": "1000", "preis": "0.29"}]})).is(200);
    assert_eq!(mill.get(&path).body["staffelpreise"], read["staffelpreise"]);
}

#[test]
fn a_group_is_named_by_its_number_or_its_name() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    server.import(&mill, "artikelgruppen", "id;name;kuerzel\n7;Ölsaaten;OEL\n");
    for (sent, expected) in [
        (json!({"gruppe": "oel"}), json!([7, "Ölsaaten"])),
        (json!({"artikelgruppe_id": 1, "gruppe": "Ölsaaten"}), json!([1, "Getreide"])),
        (json!({"gruppe": "Ölsaaten", "artikelgruppe_id": 1}), json!([7, "Ölsaaten"])),
        (json!({"artikelgruppe_id": null}), json!([null, null])),
    ] {
        let shown = mill.put(&path, sent.clone());
        assert_eq!(json!([shown.is(200)["artikelgruppe_id"], shown.body["gruppe"]]), expected, "{sent}");
    }
    let refused = mill.put(&path, json!({"artikelgruppe_id": 99}));
    assert_eq!(
        (refused.is(400)["error"].clone(), refused.body["feld"].clone()),
        (json!("WERT_UNGUELTIG"), json!("artikelgruppe_id"))
    );
}

#[test]
fn what_cannot_be_is_refused_by_its_field() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    mill.post(ARTIKEL, json!({"artikelnummer": "R", "bezeichnung": "Roggen"})).is(201);
    let tier = |ab_menge: Value, preis: &str| {
        json!({"staffelpreise": [{"ab_menge": 1, "preis": 1},
        {"ab_menge": ab_menge, "preis": preis}]})
    };
    for (sent, code, feld) in [
        (json!({"preis": -5}), "WERT_UNGUELTIG", "preis"),
        (json!({"ep_netto": "-0.01"}), "WERT_UNGUELTIG", "ep_netto"),
        (json!({"artikelnummer": "r"}), "FELD_WIDERSPRUCH", "artikelnummer"),
        (json!({"artikelnummer": null}), "FELD_FEHLT", "artikelnummer"),
        (json!({"bezeichnung": ""}), "FELD_FEHLT", "bezeichnung"),
        (tier(json!(-1), "1"), "WERT_UNGUELTIG", "staffelpreise[1].ab_menge"),
        (tier(json!(5), "-1"), "WERT_UNGUELTIG", "staffelpreise[1].preis"),
        (tier(json!("1.000"), "2"), "WERT_UNGUELTIG", "staffelpreise[1].ab_menge"),
        (tier(Value::Null, "2"), "FELD_FEHLT", "staffelpreise[1].ab_menge"),
        (json!({"status": "weg"}), "WERT_UNGUELTIG", "status"),
    ] {
        let refused = mill.put(&path, sent.clone());
        assert_eq!(
            (&refused.is(400)["error"], &refused.body["feld"]),
            (&json!(code), &json!(feld)),
            "{sent}"
        );
    }
    for body in [
        json!({"bezeichnung": "X"}),
        json!({"artikelnummer": "X"}),
        json!({"artikelnummer": "w", "bezeichnung": "X"}),
    ] {
        mill.post(ARTIKEL, body).is(400);
    }
    assert_eq!((mill.get(ARTIKEL).body["count"].clone(), changes(&mill, &path).len()), (json!(2), 0));
    let doubtful = mill.put(&path, json!({"mwst_satz": 12, "ean": "4006381333932", "artikelnummer": "w"}));
    assert_eq!(doubtful.is(200)["artikelnummer"], "w");
    assert_eq!(doubtful.hint_codes(), ["MWST_SATZ_UNBEKANNT", "WERT_FRAGLICH"]);
}

#[test]
fn a_change_is_based_on_the_version_that_was_read() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    let tag = |path: &str| mill.get(path).headers["etag"].clone();
    let old = tag(&path);
    let change = |tag: &str, preis: i64| {
        let body = json!({"preis": preis}).to_string();
        mill.send("PUT", &path, &[("if-match", tag)], Some(body.as_bytes()))
    };
    change(&old, 1).is(200);
    change(&old, 2).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    // Changed tiers change the version, too.
    let old = tag(&path);
    server.import(&mill, "staffelpreise", "artikelnummer;ab_menge;preis\nW;5;0,30\n");
    change(&old, 2).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    change(&tag(&path), 2).is(200);
}

#[test]
fn unit_and_batches_stay_once_goods_have_moved() {
    let server = Server::start();
    let (mill, path) = weizen(&server);
    mill.put(&path, json!({"einheit": "t"})).is(200);
    mill.post("/api/v1/kunden", json!({"name": "K", "kundennr": "K"})).is(201);
    let body = json!({"beleg_typ": "LS", "kundennummer": "K", "items": [{"artikelnr": "W", "menge": 1}]});
    mill.post("/api/v1/belege", body).is(201);
    for sent in [json!({"einheit": "kg"}), json!({"chargenpflichtig": true})] {
        mill.put(&path, sent).refused(400, "WERT_UNGUELTIG");
    }
    mill.put(&path, json!({"einheit": "t", "chargenpflichtig": false, "preis": 300})).is(200);
}
