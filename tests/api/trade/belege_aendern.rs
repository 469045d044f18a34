//! PUT /belege/{id}: what changes, what stays, what is refused (specification; D4, D8).

use serde_json::{Value, json};

use crate::goods::kontrakte::contract;
use crate::goods::waage::weigh;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and, buy, moves, plain, sell};

fn change(mill: &Mill<'_>, id: &str, body: Value) -> Answer {
    mill.client.put(&format!("/api/v1/belege/{id}"), body)
}

/// Creates a document to Kd or from Hof with header fields.
fn create(mill: &Mill<'_>, typ: &str, items: Value, header: Value) -> String {
    let partner = if ["BS", "EL", "ER"].contains(&typ) { "Hof" } else { "Kd" };
    let body = json!({"beleg_typ": typ, "kundennummer": partner, "items": items});
    mill.client.post("/api/v1/belege", and(body, header)).id()
}

fn sacks(menge: i64) -> Value {
    json!({"artikelnr": "S", "menge": menge})
}

fn history(mill: &Mill<'_>, id: &str) -> Value {
    mill.client.get(&format!("/api/v1/belege/{id}/verlauf")).is(200)["count"].clone()
}

/// Everything that GET shows except the fields that each change touches.
fn lasting(mut beleg: Value) -> Value {
    beleg.as_object_mut().unwrap().remove("updated_at");
    for position in beleg["positionen"].as_array_mut().unwrap() {
        position.as_object_mut().unwrap().remove("id");
    }
    beleg
}

#[test]
fn header_fields_stay_when_absent_change_when_sent_and_clear_with_null() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        ("notizen", json!("eins"), json!("zwei"), json!("zwei")),
        ("kontaktperson", json!("Frau A"), json!("Herr B"), json!("Herr B")),
        ("zahlungsbedingung", json!("sofort"), json!("30 Tage"), json!("30 Tage")),
        ("fremdbelegnummer", json!("F1"), json!("F2"), json!("F2")),
        ("zahlungsziel_tage", json!(10), json!(14), json!(14)),
        ("skonto_tage", json!(3), json!(5), json!(5)),
        ("skonto_prozent", json!(2), json!("2.5"), json!("2.50")),
        ("niederlassung_id", json!(1), json!(2), json!(2)),
        ("lagerhalle_id", json!(3), json!(4), json!(4)),
        ("liefertermin", json!("2026-07-20"), json!("2026-07-21"), json!("2026-07-21T00:00:00.000Z")),
        ("gueltig_bis", json!("2026-07-30"), json!("2026-07-31"), json!("2026-07-31T00:00:00.000Z")),
        ("lieferdatum", json!("2026-07-08"), json!("2026-07-09"), json!("2026-07-09T00:00:00.000Z")),
        ("leistung_von", json!("2026-07-01"), json!("2026-07-02"), json!("2026-07-02T00:00:00.000Z")),
        ("leistung_bis", json!("2026-07-05"), json!("2026-07-06"), json!("2026-07-06T00:00:00.000Z")),
    ];
    let header = rows.iter().map(|(field, first, ..)| ((*field).to_owned(), first.clone())).collect();
    let id = create(&mill, "RE", json!([sacks(1)]), Value::Object(header));
    let before = mill.get(&id);
    change(&mill, &id, json!({})).is(200);
    assert_eq!(lasting(mill.get(&id)), lasting(before), "nothing sent, nothing changed");
    for (field, _, sent, shown) in &rows {
        let mut expected = lasting(mill.get(&id));
        for (value, result) in [(sent, shown), (&Value::Null, &Value::Null)] {
            change(&mill, &id, json!({*field: value})).is(200);
            expected[*field] = result.clone();
            assert_eq!(lasting(mill.get(&id)), expected, "{field} = {value}");
        }
    }
}

#[test]
fn items_replace_all_positions_and_derive_prices_taxes_and_sums_again() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE", json!([sacks(2), sacks(3)]), json!({}));
    assert_eq!(mill.get(&id)["summe_netto"], "167.50");
    let dearer = r#"[{"artikelnummer": "S", "bezeichnung": "Sack", "preis": "40", "mwst_satz": 7}]"#;
    server.import(&mill.client, "artikel", dearer);
    let kept = change(&mill, &id, json!({"notizen": "ohne items"}));
    assert_eq!(kept.is(200)["summe_netto"], "167.50", "without items prices stay");

    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    let answer = mill.put(&id, json!([sacks(1), freight]));
    let body = answer.is(200);
    assert_eq!(body["id"], json!(id));
    assert_eq!((&body["summe_netto"], &body["summe_mwst"]), (&json!("90.00"), &json!("12.30")));
    let beleg = mill.get(&id);
    assert_eq!(beleg["summe_brutto"], "102.30");
    let shown = |at: usize, field: &str| beleg["positionen"][at][field].clone();
    assert_eq!(beleg["positionen"].as_array().unwrap().len(), 2);
    for (at, price, rate, text) in [(0, "40.0000", "7.00", "Sack"), (1, "50.0000", "19.00", "Fracht")] {
        assert_eq!(shown(at, "position"), at + 1);
        assert_eq!((shown(at, "ep_netto"), shown(at, "mwst_satz")), (json!(price), json!(rate)));
        assert_eq!(shown(at, "bezeichnung"), text);
    }
    mill.put(&id, json!([])).refused(400, "FELD_FEHLT");
}

#[test]
fn new_quantities_move_the_stock_by_the_difference() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let receipt = mill.post("EL", buy(100, "C1")).id();
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    let other = mill.receive("C2", 50);
    let delivery = mill.post("LS", sell(10, &charge)).id();
    let sum = |answer: &Answer| -> f64 { moves(answer).iter().map(|m| m.parse::<f64>().unwrap()).sum() };
    let rows = [
        ("less sold", &delivery, sell(4, &charge), 6.0, "96.000", "50.000"),
        ("more sold", &delivery, sell(20, &charge), -16.0, "80.000", "50.000"),
        ("another batch", &delivery, sell(20, &other), 0.0, "100.000", "30.000"),
        ("less received", &receipt, buy(60, "C1"), -40.0, "60.000", "30.000"),
        ("nothing new", &receipt, buy(60, "C1"), 0.0, "60.000", "30.000"),
    ];
    for (name, id, item, moved, c1, c2) in rows {
        let answer = mill.put(id, item);
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        assert_eq!(sum(&answer), moved, "{name}");
        assert_eq!((mill.stock("C1").as_str(), mill.stock("C2").as_str()), (c1, c2), "{name}");
    }
    mill.put(&delivery, plain(1)).refused(400, "CHARGE_FEHLT");
}

#[test]
fn without_items_rates_stay_with_a_hint_where_they_would_differ() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let item = json!([{"artikelnr": "S", "menge": 1}]);
    let rows = [
        ("notes only", json!({}), json!({"notizen": "x"}), false),
        ("the same partner", json!({}), json!({"kundennummer": "kd"}), false),
        ("another partner", json!({}), json!({"kundennummer": "Kd2"}), false),
        ("another date", json!({}), json!({"beleg_datum": "2026-07-01"}), false),
        (
            "the date counts no more",
            json!({"lieferdatum": "2026-07-02"}),
            json!({"beleg_datum": "2026-07-01"}),
            false,
        ),
        ("the day of delivery", json!({}), json!({"lieferdatum": "2020-08-01"}), true),
        ("the end of the service", json!({}), json!({"leistung_bis": "2020-08-01"}), true),
        ("its beginning counts never", json!({}), json!({"leistung_von": "2020-08-01"}), false),
    ];
    for (name, header, body, hinted) in rows {
        let id = create(&mill, "RE", item.clone(), header);
        let answer = change(&mill, &id, body);
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        let hinted_now = answer.hint_codes().contains(&"SAETZE_UNVERAENDERT".to_owned());
        assert_eq!(hinted_now, hinted, "{name}: {}", answer.body);
        assert_eq!(mill.get(&id)["positionen"][0]["mwst_satz"], "19.00", "{name}");
    }
    let id = create(&mill, "RE", item.clone(), json!({}));
    let answer = change(&mill, &id, json!({"lieferdatum": "2020-08-01", "items": item}));
    assert_eq!(answer.is(200)["summe_mwst"], "5.36", "with items the rate is that of the day of delivery");
    assert!(!answer.hint_codes().contains(&"SAETZE_UNVERAENDERT".to_owned()));
}

#[test]
fn another_partner_forms_the_pairs_anew() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    mill.post("LS", sell(10, &charge)).is(201);
    let invoice = mill.post_for("Kd2", "RE", sell(10, &charge)).id();
    assert_eq!(mill.stock("C1"), "80.000");
    let answer = change(&mill, &invoice, json!({"kundennummer": "Kd"}));
    assert_eq!((moves(&answer), mill.stock("C1").as_str()), (vec!["10.000".to_owned()], "90.000"));
    let answer = change(&mill, &invoice, json!({"kundennummer": "Kd2"}));
    assert_eq!((moves(&answer), mill.stock("C1").as_str()), (vec!["-10.000".to_owned()], "80.000"));
    change(&mill, &invoice, json!({"kundennummer": "niemand"})).refused(400, "KUNDE_NICHT_GEFUNDEN");
    let both = json!({"kundennummer": "Kd", "kunden_id": mill.partner_id("Kd2")});
    change(&mill, &invoice, both).refused(400, "KUNDE_WIDERSPRUCH");
}

#[test]
fn type_number_and_reference_never_change() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE", json!([sacks(1)]), json!({"external_ref": "shop-1"}));
    for repeated in ["RE", "re", "VR"] {
        assert_eq!(change(&mill, &id, json!({"beleg_typ": repeated})).hint_codes(), [""; 0], "{repeated}");
    }
    for other in ["LS", "AN", "ER"] {
        change(&mill, &id, json!({"beleg_typ": other})).refused(400, "BELEG_TYP_NICHT_AENDERBAR");
    }
    assert_eq!(change(&mill, &id, json!({"external_ref": "shop-1"})).hint_codes(), [""; 0]);
    change(&mill, &id, json!({"external_ref": "shop-2"})).hints("FELD_IGNORIERT");
    change(&mill, &id, json!({"beleg_nummer": "RE-2026-00099", "status": "erledigt"}))
        .hints("FELD_IGNORIERT");
    let beleg = mill.get(&id);
    assert_eq!((&beleg["beleg_nummer"], &beleg["external_ref"]), (&json!("RE-2026-00001"), &json!("shop-1")));
    assert_eq!((&beleg["beleg_typ"], &beleg["status"]), (&json!("RE"), &json!("offen")));
}

#[test]
fn the_date_stays_in_its_year() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "AU", json!([sacks(1)]), json!({}));
    for day in ["2026-01-01", "2026-12-31"] {
        change(&mill, &id, json!({"beleg_datum": day})).is(200);
        assert_eq!(mill.get(&id)["beleg_datum"], format!("{day}T00:00:00.000Z"));
    }
    for day in ["2025-12-31", "2027-01-01", "2026-02-30", "morgen"] {
        change(&mill, &id, json!({"beleg_datum": day})).refused(400, "DATUM_UNGUELTIG");
    }
    let beleg = mill.get(&id);
    assert_eq!(
        (&beleg["beleg_nummer"], &beleg["beleg_datum"]),
        (&json!("AU-2026-00001"), &json!("2026-12-31T00:00:00.000Z"))
    );
}

#[test]
fn only_open_documents_change() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let ids: Vec<String> = (0..2).map(|_| create(&mill, "AU", json!([sacks(1)]), json!({}))).collect();
    mill.finalise(&ids[0]);
    mill.storno(&ids[1]).is(200);
    for id in &ids {
        let before = mill.get(id);
        change(&mill, id, json!({"notizen": "x"})).refused(400, "BELEG_ABGESCHLOSSEN");
        change(&mill, id, json!({"items": [sacks(2)]})).refused(400, "BELEG_ABGESCHLOSSEN");
        // Required fields are checked before the state (D19).
        for cleared in [json!({"items": []}), json!({"beleg_datum": null})] {
            change(&mill, id, cleared).refused(400, "FELD_FEHLT");
        }
        assert_eq!(mill.get(id), before);
    }
}

#[test]
fn what_is_not_there_is_404_and_what_moved_on_is_412() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let other = Mill::with(&server, "Andere", &[]);
    let foreign = create(&other, "AU", json!([sacks(1)]), json!({}));
    for id in [foreign.as_str(), "0197f3a0-0000-7000-8000-000000000000", "keine-uuid"] {
        change(&mill, id, json!({"notizen": "x"})).refused(404, "NICHT_GEFUNDEN");
    }
    let id = create(&mill, "AU", json!([sacks(1)]), json!({}));
    let path = format!("/api/v1/belege/{id}");
    let put = |etag: &str, body: Value| {
        mill.client.send("PUT", &path, &[("if-match", etag)], Some(body.to_string().as_bytes()))
    };
    let old = mill.client.get(&path).headers["etag"].clone();
    put(&old, json!({"notizen": "eins"})).is(200);
    put(&old, json!({"notizen": "zwei"})).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    put(&old, json!({"notizen": 1})).refused(400, "FELD_UNGUELTIG");
    let new = mill.client.get(&path);
    assert_eq!(new.body["notizen"], "eins");
    assert_ne!(new.headers["etag"], old);
    put(&new.headers["etag"], json!({"notizen": "drei"})).is(200);
    mill.finalise(&id);
    put(&old, json!({"notizen": "vier"})).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
}

#[test]
fn documents_of_a_locked_period_do_not_change() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let dated = |day: &str| create(&mill, "AU", json!([sacks(1)]), json!({"beleg_datum": day}));
    let (before, last, first) = (dated("2026-06-15"), dated("2026-06-30"), dated("2026-07-01"));
    server.set(&mill.client, &[("gesperrt_bis", "2026-06-30")]);
    for id in [&before, &last] {
        change(&mill, id, json!({"notizen": "x"})).refused(400, "ZEITRAUM_GESPERRT");
        change(&mill, id, json!({"beleg_datum": "2026-07-02"})).refused(400, "ZEITRAUM_GESPERRT");
    }
    change(&mill, &first, json!({"notizen": "x"})).is(200);
    change(&mill, &first, json!({"beleg_datum": "2026-06-30"})).refused(400, "ZEITRAUM_GESPERRT");
    assert_eq!(mill.get(&first)["beleg_datum"], "2026-07-01T00:00:00.000Z");
    let body =
        json!({"beleg_typ": "AU", "kundennummer": "Kd", "beleg_datum": "2026-06-30", "items": [sacks(1)]});
    mill.client.post("/api/v1/belege", body).refused(400, "ZEITRAUM_GESPERRT");
}

#[test]
fn a_locked_partner_gets_no_goods_but_what_was_delivered_is_invoiced() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", sacks(100)).is(201);
    let delivery = mill.post("LS", sacks(10)).id();
    let free = create(&mill, "RE", json!([sacks(1)]), json!({"kundennummer": "Kd2"}));
    for partner in ["Kd", "Hof"] {
        let path = format!("/api/v1/kunden/{}", mill.partner_id(partner));
        mill.client.put(&path, json!({"status": "gesperrt"})).is(200);
    }
    mill.post("LS", sacks(1)).refused(400, "KUNDE_GESPERRT");
    mill.post("RE", sacks(11)).refused(400, "KUNDE_GESPERRT");
    mill.post("EL", sacks(1)).refused(400, "KUNDE_GESPERRT");
    let invoice = mill.post("RE", sacks(10));
    invoice.hints("KUNDE_GESPERRT");
    let invoice = invoice.id();
    mill.put(&invoice, sacks(11)).refused(400, "KUNDE_GESPERRT");
    mill.put(&invoice, sacks(10)).is(200);
    mill.put(&delivery, sacks(11)).refused(400, "KUNDE_GESPERRT");
    mill.put(&invoice, sacks(9)).is(200);
    mill.put(&delivery, sacks(9)).is(200);
    change(&mill, &free, json!({"kundennummer": "Kd"})).refused(400, "KUNDE_GESPERRT");
    for (typ, menge) in [("RE", -1), ("LS", -1), ("ER", 5), ("ER", -1), ("EL", -1)] {
        mill.post(typ, sacks(menge)).hints("KUNDE_GESPERRT");
    }
    let gutschrift = json!({"gutschrift": true, "kundennummer": "Hof"});
    let body = and(json!({"beleg_typ": "ER", "items": [sacks(200)]}), gutschrift);
    mill.client.post("/api/v1/belege", body).refused(400, "KUNDE_GESPERRT");
    mill.storno(&invoice).is(200);
    mill.storno(&delivery).is(200);
}

#[test]
fn a_document_of_another_partner_takes_his_terms_and_is_bound_to_nothing_of_the_old_one() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let of = |partner: &str| format!("/api/v1/kunden/{}", mill.partner_id(partner));
    mill.client
        .put(&of("Kd"), json!({"zahlungsziel_tage": 10, "skonto_tage": 3, "skonto_prozent": 2}))
        .is(200);
    mill.client.put(&of("Kd2"), json!({"zahlungsziel_tage": 30})).is(200);
    mill.post("EL", sacks(100)).is(201);
    let delivery = mill.post("LS", sacks(5)).id();
    let wiegung = weigh(&mill, 100, 40, json!({"partner_id": mill.partner_id("Kd")}));
    let bound = and(sacks(5), json!({"bezug_beleg_id": delivery}));
    server.import(
        &mill.client,
        "kontrakte",
        r#"[{"kontrakt_nr": "V-1", "partner": "Kd", "gueltig_bis": "2025-12-31", "positionen": [{"artikelnummer": "R"}]}]"#,
    );
    let kontrakt = contract(&mill.client, "V-1")["id"].clone();
    let weighed = json!({"artikelnr": "R", "lager_buchen": false, "wiegung_id": wiegung, "menge": 50,
        "kontrakt_id": kontrakt});
    let header = json!({"zahlungsbedingung": "nach Vereinbarung"});
    let id = create(&mill, "RE", json!([bound, weighed]), header);
    let terms = ["zahlungsziel_tage", "skonto_tage", "skonto_prozent", "zahlungsbedingung"];
    let shown = |id: &str| terms.map(|field| mill.get(id)[field].clone());
    assert_eq!(shown(&id), [json!(10), json!(3), json!("2.00"), json!("nach Vereinbarung")]);

    let changed = change(&mill, &id, json!({"kundennummer": "Kd2", "skonto_tage": 5}));
    for code in [
        "WIEGUNG_ANDERER_PARTNER",
        "RICHTUNG_WIDERSPRUCH",
        "GEWICHT_WIDERSPRUCH",
        "KONTRAKT_ANDERER_PARTNER",
        "KONTRAKT_ABGELAUFEN",
    ] {
        changed.hints(code);
    }
    let hints = changed.body["hinweise"].as_array().unwrap();
    assert!(hints.iter().any(|hint| hint["feld"] == "items[0].bezug_beleg_id"), "{hints:?}");
    assert_eq!(shown(&id), [json!(30), json!(5), Value::Null, Value::Null]);
    let position = mill.get(&id)["positionen"][0].clone();
    assert_eq!((&position["bezug_beleg_id"], &position["gegenbelege"]), (&Value::Null, &json!([])));
    change(&mill, &id, json!({"kundennummer": "Kd2", "zahlungsziel_tage": 7})).is(200);
    assert_eq!(shown(&id), [json!(7), json!(5), Value::Null, Value::Null], "the same partner keeps them");
}

#[test]
fn a_document_does_not_move_to_a_locked_partner_but_stays_correctable_with_its_own() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "AU", json!([sacks(1)]), json!({}));
    let own = create(&mill, "AU", json!([sacks(1)]), json!({"kundennummer": "Kd2"}));
    let locked = format!("/api/v1/kunden/{}", mill.partner_id("Kd2"));
    mill.client.put(&locked, json!({"status": "gesperrt"})).is(200);
    change(&mill, &id, json!({"kundennummer": "Kd2"})).refused(400, "KUNDE_GESPERRT");
    assert_eq!(mill.get(&id)["kunde_id"], mill.partner_id("Kd"));
    change(&mill, &own, json!({"notizen": "x", "items": [sacks(1)]})).is(200);
    change(&mill, &own, json!({"items": [sacks(2)]})).refused(400, "KUNDE_GESPERRT");
}

#[test]
fn a_refused_change_changes_nothing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let receipt = mill.post("EL", buy(100, "C1")).id();
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    let invoice = mill.post("RE", json!([sell(10, &charge), sacks(1)])).id();
    let unknown = json!({"artikelnr": "???", "menge": 1});
    let rows = [
        ("an unknown article", &invoice, json!([sell(1, &charge), unknown]), "ARTIKEL_NICHT_GEFUNDEN"),
        ("no batch", &invoice, json!([sell(1, &charge), plain(1)]), "CHARGE_FEHLT"),
        ("no price", &invoice, json!([{"bezeichnung": "Fracht", "menge": 1}]), "PREIS_FEHLT"),
        ("used already", &receipt, json!([buy(5, "C1"), buy(5, "C9")]), "CHARGE_BEREITS_VERWENDET"),
    ];
    let state = || {
        let documents = [&receipt, &invoice].map(|id| {
            let answer = mill.client.get(&format!("/api/v1/belege/{id}"));
            (answer.is(200).clone(), answer.headers["etag"].clone(), history(&mill, id))
        });
        (documents, mill.batches(), server.sql::<i64>("select count(*) from lagerbewegung"))
    };
    let before = state();
    for (name, id, items, code) in rows {
        let answer = change(&mill, id, json!({"notizen": "neu", "items": items}));
        assert_eq!((answer.status, &answer.body["error"]), (400, &json!(code)), "{name}: {}", answer.body);
        assert_eq!(state(), before, "{name}");
    }
}

#[test]
fn what_was_read_can_be_written_back() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let bought = and(buy(5, "C2"), json!({"mhd": "2027-01-31", "herkunftsland": "AT"}));
    let discount = and(sacks(3), json!({"rabatt_prozent": 5, "kostenstelle": "K1", "langtext": "a\nb"}));
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "49.9"});
    let rows = [
        ("EL", json!([bought, freight])),
        ("LS", json!([sell(10, &charge), discount])),
        ("RE", json!([plain(10), discount, and(plain(-1), json!({"ep_netto": "0.1"}))])),
        ("AN", json!([plain(10), freight])),
    ];
    for (typ, items) in rows {
        let id = create(&mill, typ, items, json!({"notizen": "n", "lieferdatum": "2026-07-09"}));
        let before = mill.get(&id);
        let mut body = before.clone();
        body["items"] = body["positionen"].clone();
        let answer = change(&mill, &id, body);
        assert_eq!((answer.status, moves(&answer)), (200, vec![]), "{typ}: {}", answer.body);
        let is_of_item = |hint: &Value| {
            hint["code"] == "FELD_IGNORIERT"
                && hint["feld"].as_str().is_some_and(|feld| feld.starts_with("items["))
        };
        assert!(answer.body["hinweise"].as_array().unwrap().iter().all(is_of_item), "{typ}: {}", answer.body);
        assert_eq!(lasting(mill.get(&id)), lasting(before), "{typ}");
    }
    assert_eq!((mill.stock("C1").as_str(), mill.stock("C2").as_str()), ("90.000", "5.000"));
}
