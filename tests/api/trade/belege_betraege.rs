//! Amounts of documents: line totals and sums, prices, units and tax rates (D6, D7, D14).

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server, data};

const BELEGE: &str = "/api/v1/belege";

/// Creates a partner with fields that a PUT can set; returns its uuid.
pub fn partner(mill: &Client, fields: Value) -> String {
    let id = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    mill.put(&format!("/api/v1/kunden/{id}"), fields).is(200);
    id
}

/// Posts a document of one partner.
pub fn post(mill: &Client, typ: &str, partner: &str, items: Value, header: Value) -> Answer {
    let mut body = json!({"beleg_typ": typ, "kunden_id": partner, "items": items});
    for (name, value) in header.as_object().unwrap() {
        body[name] = value.clone();
    }
    mill.post(BELEGE, body)
}

/// The positions of a created document.
pub fn positions(mill: &Client, created: &Answer) -> Vec<Value> {
    let beleg = mill.get(&format!("{BELEGE}/{}", created.id()));
    let positions = beleg.is(200)["positionen"].as_array().unwrap().clone();
    for (at, position) in positions.iter().enumerate() {
        assert_eq!(position["position"], json!(at + 1));
    }
    positions
}

/// Posts one item and returns its position.
pub fn position(mill: &Client, typ: &str, partner: &str, item: Value, header: Value) -> Value {
    let created = post(mill, typ, partner, json!([item]), header);
    created.is(201);
    positions(mill, &created).remove(0)
}

/// An amount or a rate as a whole number of millionths.
fn millionths(text: &Value) -> i64 {
    (text.as_str().unwrap().parse::<f64>().unwrap() * 1e6).round() as i64
}

/// Asserts the three sums and each gesamtpreis.
fn assert_amounts(mill: &Client, created: &Answer, expected: &Value, gesamtpreise: &Value, name: &str) {
    let beleg = mill.get(&format!("{BELEGE}/{}", created.id()));
    for sum in ["summe_netto", "summe_mwst", "summe_brutto"] {
        assert_eq!(created.body[sum], expected[sum], "{name}: {sum} of the confirmation");
        assert_eq!(beleg.is(200)[sum], expected[sum], "{name}: {sum}");
    }
    let totals: Vec<Value> = positions(mill, created).iter().map(|p| p["gesamtpreis"].clone()).collect();
    assert_eq!(json!(totals), *gesamtpreise, "{name}: gesamtpreis");
}

/// Asserts the base of each rate, and that the taxes of all rates add up to summe_mwst.
fn assert_groups(mill: &Client, created: &Answer, groups: &[(Value, Value, Value)], name: &str) {
    let positions = positions(mill, created);
    for (rate, base, _) in groups {
        let of_rate = positions.iter().filter(|p| millionths(&p["mwst_satz"]) == millionths(rate));
        let sum: i64 = of_rate.map(|p| millionths(&p["gesamtpreis"])).sum();
        let same = groups.iter().filter(|(other, ..)| millionths(other) == millionths(rate));
        let expected: i64 = same.map(|(_, base, _)| millionths(base)).sum();
        assert_eq!(sum, expected, "{name}: base of {rate}, with {base}");
    }
    let tax: i64 = groups.iter().map(|(.., tax)| millionths(tax)).sum();
    assert_eq!(millionths(&created.body["summe_mwst"]), tax, "{name}: tax of all groups");
}

#[test]
fn e_invoices_have_their_official_totals() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunde = partner(&mill, json!({}));
    let corpus = data("einvoice.json");
    for (kind, count) in [("clean", 33), ("derived", 39), ("rabatt", 4)] {
        let cases = corpus[kind].as_array().unwrap();
        assert_eq!(cases.len(), count, "{kind}");
        for case in cases {
            let name = case["id"].as_str().unwrap();
            let mut body = case["request"].clone();
            body["kunden_id"] = json!(kunde);
            let created = mill.post(BELEGE, body);
            assert_eq!(created.status, 201, "{name}: {}", created.body);
            let expected = &case["expected"];
            assert_amounts(&mill, &created, expected, &expected["gesamtpreise"], name);
            let groups = expected["mwst_gruppen"].as_array().unwrap().iter();
            let group = |g: &Value| (g["mwst_satz"].clone(), g["netto"].clone(), g["steuer"].clone());
            assert_groups(&mill, &created, &groups.map(group).collect::<Vec<_>>(), name);
        }
    }
}

#[test]
fn sums_follow_the_golden_table() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunde = partner(&mill, json!({}));
    for (at, row) in data("golden.json")["steuer"].as_array().unwrap().iter().enumerate() {
        let item = |i: &Value| {
            json!({"bezeichnung": "Ware", "menge": i[0], "ep_netto": i[1], "mwst_satz": i[2],
                "rabatt_prozent": i[3]})
        };
        let items: Vec<Value> = row["items"].as_array().unwrap().iter().map(item).collect();
        let created = post(&mill, "RE", &kunde, json!(items), json!({}));
        created.is(201);
        let name = format!("row {at}");
        assert_amounts(&mill, &created, row, &row["gesamtpreis"], &name);
        let groups = row["je_satz"].as_object().unwrap().iter();
        let groups = groups.map(|(rate, group)| (json!(rate), group[0].clone(), group[1].clone()));
        assert_groups(&mill, &created, &groups.collect::<Vec<_>>(), &name);
    }
}

/// Imports one article in kg at 0.32 with the tiers of the golden table.
fn import_tiers(server: &Server, mill: &Client) {
    let artikel = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.32",
        "ep_netto": "0.21", "mwst_satz": 7}]);
    server.import(mill, "artikel", &artikel.to_string());
    let tiers = json!([
        {"artikelnummer": "W", "ab_menge": 1000, "preis": "0.29"},
        {"artikelnummer": "W", "ab_menge": 5000, "preis": "0.27"},
        {"artikelnummer": "W", "ab_menge": 25000, "preis": "0.2455"},
        {"artikelnummer": "W", "ab_menge": 500, "preis": "0.01", "aktiv": false},
    ]);
    server.import(mill, "staffelpreise", &tiers.to_string());
}

#[test]
fn tier_prices_follow_the_golden_table() {
    let server = Server::start();
    let mill = server.company("Mühle");
    import_tiers(&server, &mill);
    let kunde = partner(&mill, json!({}));
    for row in data("golden.json")["staffel"].as_array().unwrap() {
        for typ in ["AN", "AU", "LS", "RE"] {
            let item = json!({"artikelnr": "W", "menge": row["menge"]});
            let found = position(&mill, typ, &kunde, item, json!({}));
            assert_eq!(found["ep_netto"], row["preis"], "{typ} {}", row["menge"]);
            assert_eq!(found["einzelpreis"], row["preis"], "{typ} {}", row["menge"]);
        }
    }
    let in_tonnes = json!({"artikelnr": "W", "menge": 5, "einheit": "t"});
    let found = position(&mill, "RE", &kunde, in_tonnes, json!({}));
    assert_eq!((&found["ep_netto"], &found["gesamtpreis"]), (&json!("270.0000"), &json!("1350.00")));
    for typ in ["BS", "EL", "ER"] {
        let found = position(&mill, typ, &kunde, json!({"artikelnr": "W", "menge": 5000}), json!({}));
        assert_eq!(found["ep_netto"], "0.2100", "{typ} takes the purchase price");
    }
}

#[test]
fn tax_rates_follow_the_golden_table() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = json!([
        {"artikelnummer": "normal", "bezeichnung": "Sack", "preis": 1, "ep_netto": 1, "mwst_satz": 19},
        {"artikelnummer": "ermaessigt", "bezeichnung": "Mehl", "preis": 1, "ep_netto": 1, "mwst_satz": 7},
    ]);
    server.import(&mill, "artikel", &artikel.to_string());
    let kunde = partner(&mill, json!({}));
    let landwirt = partner(&mill, json!({"steuerart": "pauschal_24", "partner_typen": ["lieferant"]}));
    for row in data("golden.json")["satz"].as_array().unwrap() {
        let day = &row["leistungstag"];
        let other = if day.as_str() < Some("2021") { "2026-07-01" } else { "2020-01-01" };
        let headers = [
            json!({"lieferdatum": day, "leistung_bis": other, "leistung_von": other, "beleg_datum": other}),
            json!({"leistung_bis": day, "leistung_von": other, "beleg_datum": other}),
            json!({"beleg_datum": day, "leistung_von": other}),
        ];
        for header in headers {
            let klasse = row["klasse"].as_str().unwrap();
            let found = if klasse == "pauschal_24" {
                position(&mill, "ER", &landwirt, json!({"artikelnr": "normal", "menge": 1}), header.clone())
            } else {
                position(&mill, "RE", &kunde, json!({"artikelnr": klasse, "menge": 1}), header.clone())
            };
            assert_eq!(found["mwst_satz"], row["satz"], "{klasse} {header}");
        }
    }
}

#[test]
fn a_rate_is_sent_or_the_partners_or_the_articles_or_its_groups_or_seven() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let groups =
        json!([{"name": "Futter", "kuerzel": "F", "mwst_satz": 19}, {"name": "Leer", "kuerzel": "L"}]);
    server.import(&mill, "artikelgruppen", &groups.to_string());
    let artikel = json!([
        {"artikelnummer": "A", "bezeichnung": "a", "gruppe": "F", "mwst_satz": 5.5},
        {"artikelnummer": "G", "bezeichnung": "g", "gruppe": "F"},
        {"artikelnummer": "L", "bezeichnung": "l", "gruppe": "L"},
        {"artikelnummer": "O", "bezeichnung": "o"},
    ]);
    server.import(&mill, "artikel", &artikel.to_string());
    let regel = partner(&mill, json!({}));
    let klein = partner(&mill, json!({"steuerart": "kleinunternehmer"}));
    let pauschal = partner(&mill, json!({"steuerart": "pauschal_24"}));
    let table = [
        ("RE", &regel, json!({"artikelnr": "A", "mwst_satz": 16}), "2026-07-01", "16.00"),
        ("RE", &regel, json!({"artikelnr": "A", "mwst_satz": 0}), "2026-07-01", "0.00"),
        ("RE", &regel, json!({"artikelnr": "A"}), "2026-07-01", "5.50"),
        ("RE", &regel, json!({"artikelnr": "G"}), "2026-07-01", "19.00"),
        ("RE", &regel, json!({"artikelnr": "L"}), "2026-07-01", "7.00"),
        ("RE", &regel, json!({"artikelnr": "O"}), "2026-07-01", "7.00"),
        ("RE", &regel, json!({"bezeichnung": "Fracht"}), "2026-07-01", "7.00"),
        // A derived rate depends on the day; a rate that was sent, or one outside the classes, does not.
        ("RE", &regel, json!({"artikelnr": "G"}), "2020-08-01", "16.00"),
        ("RE", &regel, json!({"artikelnr": "G", "mwst_satz": 19}), "2020-08-01", "19.00"),
        ("RE", &regel, json!({"artikelnr": "A"}), "2020-08-01", "5.50"),
        ("RE", &regel, json!({"artikelnr": "O"}), "2020-08-01", "5.00"),
        // steuerart applies to purchases.
        ("ER", &klein, json!({"artikelnr": "G"}), "2026-07-01", "0.00"),
        ("EL", &klein, json!({"artikelnr": "G"}), "2026-07-01", "0.00"),
        ("ER", &klein, json!({"artikelnr": "G", "mwst_satz": 19}), "2026-07-01", "19.00"),
        ("RE", &klein, json!({"artikelnr": "G"}), "2026-07-01", "19.00"),
        ("BS", &pauschal, json!({"artikelnr": "G"}), "2026-07-01", "7.80"),
        ("RE", &pauschal, json!({"artikelnr": "G"}), "2026-07-01", "19.00"),
    ];
    for (typ, partner, mut item, day, expected) in table {
        item["menge"] = json!(1);
        item["ep_netto"] = json!(10);
        let found = position(&mill, typ, partner, item.clone(), json!({"lieferdatum": day}));
        assert_eq!(found["mwst_satz"], expected, "{typ} {item} {day}");
    }
}

#[test]
fn an_invoice_below_zero_is_a_credit_note() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunde = partner(&mill, json!({}));
    let table = [
        ("RE", -1, 10, true),
        ("ER", -1, 10, true),
        ("RE", 1, -10, true),
        ("RE", 1, 10, false),
        ("RE", 1, 0, false),
        ("AU", -1, 10, false),
        ("AN", 1, -10, false),
    ];
    for (typ, menge, price, expected) in table {
        let item = json!({"bezeichnung": "Ware", "menge": menge, "ep_netto": price});
        let created = post(&mill, typ, &kunde, json!([item]), json!({}));
        let beleg = mill.get(&format!("{BELEGE}/{}", created.id()));
        assert_eq!(beleg.is(200)["ist_gutschrift"], expected, "{typ} {menge} × {price}");
    }
}

#[test]
fn a_missing_price_comes_from_the_article_unless_auto_price_is_off() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = json!([
        {"artikelnummer": "P", "bezeichnung": "Mehl", "einheit": "kg", "preis": "0.99", "ep_netto": "0.44"},
        {"artikelnummer": "S", "bezeichnung": "Brot", "einheit": "Stk", "preis": "3.5"},
        {"artikelnummer": "E", "bezeichnung": "Korn", "einheit": "kg", "ep_netto": "0.3"},
    ]);
    server.import(&mill, "artikel", &artikel.to_string());
    let kunde = partner(&mill, json!({}));
    let (on, off) = (json!({"auto_price": true}), json!({"auto_price": false}));
    let missing = "PREIS_FEHLT";
    let table = [
        ("RE", json!({"artikelnr": "P"}), &json!({}), "0.9900"),
        ("RE", json!({"artikelnr": "P"}), &on, "0.9900"),
        ("RE", json!({"artikelnr": "P", "ep_netto": null}), &json!({"auto_price": null}), "0.9900"),
        ("RE", json!({"artikelnr": "P", "ep_netto": 0}), &on, "0.0000"),
        ("RE", json!({"artikelnr": "P", "ep_netto": "1.5"}), &on, "1.5000"),
        ("RE", json!({"artikelnr": "P", "ep_netto": -2}), &off, "-2.0000"),
        ("RE", json!({"artikelnr": "P"}), &off, missing),
        ("ER", json!({"artikelnr": "P", "ep_netto": null}), &off, missing),
        ("RE", json!({"artikelnr": "E"}), &on, missing),
        ("ER", json!({"artikelnr": "S"}), &on, missing),
        ("RE", json!({"bezeichnung": "Fracht"}), &on, missing),
        ("ER", json!({"artikelnr": "P"}), &on, "0.4400"),
        ("BS", json!({"artikelnr": "E"}), &on, "0.3000"),
    ];
    for (typ, mut item, header, expected) in table {
        item["menge"] = json!(1);
        let created = post(&mill, typ, &kunde, json!([item]), header.clone());
        if expected == missing {
            created.refused(400, missing);
            continue;
        }
        let position = &positions(&mill, &created)[0];
        assert_eq!(position["ep_netto"], expected, "{typ} {item} {header}");
        assert_eq!(position["einzelpreis"], expected, "{typ} {item} {header}");
        assert!(!created.hint_codes().contains(&missing.to_owned()), "{typ} {item} {header}");
    }
    for typ in ["AN", "AU", "LS", "BS", "EL"] {
        let created = post(&mill, typ, &kunde, json!([{"artikelnr": "P", "menge": 1}]), off.clone());
        assert_eq!(created.hints(missing)["summe_netto"], "0.00", "{typ}");
        assert_eq!(positions(&mill, &created)[0]["ep_netto"], "0.0000", "{typ}");
    }
}

fn priced(einheit: &str, preis: &str) -> Value {
    let artikelnummer = format!("{einheit} {preis}");
    json!({"artikelnummer": artikelnummer, "bezeichnung": "x", "einheit": einheit, "preis": preis})
}

#[test]
fn a_derived_price_is_converted_to_the_unit_of_the_item() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = [
        priced("kg", "0.2455"),
        priced("t", "200"),
        priced("t", "1.2345"),
        priced("dt", "33.335"),
        priced("Stk", "2"),
        priced("Sack", "9"),
    ];
    server.import(&mill, "artikel", &json!(artikel).to_string());
    let kunde = partner(&mill, json!({}));
    let table = [
        ("kg 0.2455", "t", "2", Some(("245.5000", "491.00"))),
        ("kg 0.2455", "TO", "2", Some(("245.5000", "491.00"))),
        ("kg 0.2455", "dz", "10", Some(("24.5500", "245.50"))),
        ("kg 0.2455", "KG", "10", Some(("0.2455", "2.46"))),
        ("kg 0.2455", "g", "10000", Some(("0.000246", "2.46"))),
        ("t 200", "kg", "500", Some(("0.2000", "100.00"))),
        // Rounded to 6 decimals before gesamtpreis: 0.0012345 would make 1.23.
        ("t 1.2345", "kg", "1000", Some(("0.001235", "1.24"))),
        ("dt 33.335", "kg", "100", Some(("0.33335", "33.34"))),
        ("Stk 2", "St", "3", Some(("2.0000", "6.00"))),
        ("Stk 2", "Stück", "3", Some(("2.0000", "6.00"))),
        ("Stk 2", "stk", "3", Some(("2.0000", "6.00"))),
        ("Sack 9", "sack", "3", Some(("9.0000", "27.00"))),
        ("Sack 9", "kg", "3", None),
        ("Stk 2", "kg", "3", None),
        ("kg 0.2455", "Stk", "3", None),
        ("kg 0.2455", "l", "3", None),
    ];
    for (artikel, einheit, menge, expected) in table {
        let item = json!({"artikelnr": artikel, "einheit": einheit, "menge": menge});
        let created = post(&mill, "RE", &kunde, json!([item]), json!({}));
        let Some((price, total)) = expected else {
            created.refused(400, "EINHEIT_NICHT_UMRECHENBAR");
            continue;
        };
        let found = &positions(&mill, &created)[0];
        let amounts = (found["ep_netto"].as_str().unwrap(), found["gesamtpreis"].as_str().unwrap());
        assert_eq!(amounts, (price, total), "{item}");
    }
    let sent = json!({"artikelnr": "kg 0.2455", "einheit": "t", "menge": 2, "ep_netto": "0.5"});
    assert_eq!(position(&mill, "RE", &kunde, sent, json!({}))["ep_netto"], "0.5000", "a sent price stands");
    let any = json!({"bezeichnung": "Fracht", "einheit": "Tour", "menge": 1, "ep_netto": 1});
    assert_eq!(position(&mill, "RE", &kunde, any, json!({}))["gesamtpreis"], "1.00");
}

#[test]
fn texts_and_unit_of_a_position_default_to_the_articles() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = json!([{"artikelnummer": "A", "bezeichnung": "Mehl", "bezeichnung2": "Type 550",
        "langtext": "Backstark", "einheit": "kg", "preis": 1}]);
    server.import(&mill, "artikel", &artikel.to_string());
    let kunde = partner(&mill, json!({}));
    let plain = position(&mill, "AN", &kunde, json!({"artikelnr": "A", "menge": 1}), json!({}));
    let mut own = json!({"bezeichnung": "M", "bezeichnung2": "T", "langtext": "L"});
    let wanted = own.clone();
    own["artikelnr"] = json!("A");
    own["menge"] = json!(1);
    let sent = position(&mill, "AN", &kunde, own, json!({}));
    for (field, default) in [("bezeichnung", "Mehl"), ("bezeichnung2", "Type 550"), ("langtext", "Backstark")]
    {
        assert_eq!(plain[field], default, "{field}");
        assert_eq!(sent[field], wanted[field], "{field}");
    }
    assert_eq!((&plain["einheit"], &plain["artikel_name"]), (&json!("kg"), &json!("Mehl")));
    assert_eq!((&plain["rabatt_prozent"], &plain["menge"]), (&json!("0.00"), &json!("1.000")));
}

fn line(menge: Value, price: Value, rabatt: Value, satz: Value) -> Value {
    json!({"bezeichnung": "x", "menge": menge, "ep_netto": price, "rabatt_prozent": rabatt,
        "mwst_satz": satz})
}

fn plain(menge: &str, price: &str) -> Value {
    line(json!(menge), json!(price), json!(0), json!(0))
}

#[test]
fn impossible_quantities_and_amounts_are_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = json!([{"artikelnummer": "A", "bezeichnung": "Mehl", "einheit": "kg", "preis": 1}]);
    server.import(&mill, "artikel", &artikel.to_string());
    let kunde = partner(&mill, json!({}));
    let table = [
        (json!([{"artikelnr": "A", "menge": 0}]), "MENGE_UNGUELTIG"),
        (json!([{"artikelnr": "A"}]), "FELD_FEHLT"),
        (json!([plain("999999999999", "1.1")]), "BETRAG_ZU_GROSS"),
        (json!([plain("-999999999999", "1.1")]), "BETRAG_ZU_GROSS"),
        (json!([plain("600000000000", "1"), plain("600000000000", "1")]), "BETRAG_ZU_GROSS"),
        (json!([line(json!(1), json!("950000000000"), json!(0), json!(19))]), "BETRAG_ZU_GROSS"),
        (json!([line(json!(1), json!(1), json!("100.01"), json!(7))]), "WERT_UNGUELTIG"),
        (json!([line(json!(1), json!(1), json!(-1), json!(7))]), "WERT_UNGUELTIG"),
        (json!([line(json!(1), json!(1), json!(0), json!(100.5))]), "WERT_UNGUELTIG"),
        (json!([line(json!(1), json!(1), json!(0), json!(-7))]), "WERT_UNGUELTIG"),
    ];
    for (items, code) in table {
        post(&mill, "RE", &kunde, items, json!({})).refused(400, code);
    }
    let allowed = [
        (plain("0", "5"), "0.00"),
        (line(json!(2), json!(5), json!(100), json!(100)), "0.00"),
        (line(json!(1), json!("-5.555"), json!(0), json!(7)), "-5.56"),
        (line(json!(-1), json!("5.555"), json!(0), json!(7)), "-5.56"),
        (line(json!(7), json!("3.335"), json!(12.5), json!(7)), "20.43"),
        (plain("999999999999", "1"), "999999999999.00"),
    ];
    for (item, total) in allowed {
        let found = position(&mill, "RE", &kunde, item.clone(), json!({}));
        assert_eq!(found["gesamtpreis"], total, "{item}");
        assert_eq!(found["einzelpreis"], found["ep_netto"], "{item}");
    }
}

#[test]
fn decimals_follow_the_golden_table() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunde = partner(&mill, json!({}));
    for row in data("golden.json")["dezimal"].as_array().unwrap() {
        // A percentage above 100 is refused for its size, so such a row is tested by the price.
        let large = row["eingabe"].as_f64().is_some_and(|value| value > 100.0);
        let field = match row["mindest_nachkommastellen"].as_u64().unwrap() {
            2 if !large => "rabatt_prozent",
            3 => "menge",
            _ => "ep_netto",
        };
        let mut item = json!({"bezeichnung": "x", "menge": 1, "ep_netto": 0});
        item[field] = row["eingabe"].clone();
        let created = post(&mill, "AN", &kunde, json!([item]), json!({}));
        let expected = row["ergebnis"].as_str().unwrap();
        if let Some(code) = expected.strip_prefix("FEHLER ") {
            assert_eq!(created.refused(400, code)["feld"], format!("items[0].{field}"), "{row}");
            continue;
        }
        assert_eq!(positions(&mill, &created)[0][field], expected, "{row}");
        let hints = created.body["hinweise"].as_array().unwrap();
        let rounded: Vec<&Value> = hints.iter().filter(|hint| hint["code"] == "GERUNDET").collect();
        assert_eq!(rounded.len(), usize::from(row["hinweis"] == "GERUNDET"), "{row}");
        assert!(rounded.iter().all(|hint| hint["feld"] == format!("items[0].{field}")), "{row}");
    }
    let item = json!({"bezeichnung": "x", "menge": "-1.2345675", "ep_netto": 1});
    let created = post(&mill, "AN", &kunde, json!([item]), json!({}));
    assert_eq!(created.hints("GERUNDET")["hinweise"][0]["feld"], "items[0].menge");
    assert_eq!(positions(&mill, &created)[0]["menge"], "-1.234568");
}
