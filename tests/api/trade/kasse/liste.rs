//! GET /barverkaeufe: fields, filters, order and pages.

use serde_json::{Value, json};

use super::{PATH, column, counts, list, row, rows};
use crate::harness::{Client, Server};
use crate::platform::import::import;

const K1: &str = "22a9caa3-e529-595e-bdab-a48a634915df";
const K2: &str = "22a9caa3-e529-595e-bdab-a48a634915d0";
const BON: &str = "d78e5ede-85b1-5251-8708-ac3fed68c4f1";
const STORNO: &str = "334a92a3-ef23-58b4-a2e9-fcc19b9019a2";

/// Creates a shop whose receipts differ in every filter; the line ids identify them.
fn shop(server: &Server) -> Client {
    let mill = server.company("Mühle");
    let receipt = |id: i64, nr: &str, day: &str, kasse: &str, zahlart: &str| {
        row(json!({"id": id, "bon_nr": nr, "kassiert_at": format!("{day}T10:00:00+02:00"), "kasse_id": kasse,
            "zahlart": zahlart}))
    };
    let mut rows = vec![
        receipt(11, "K-10", "2026-07-01", K1, "bar"),
        receipt(12, "K-2", "2026-07-01", K2, "ec"),
        receipt(13, "K-9", "2026-07-02", K1, "ec"),
        receipt(14, "K-11", "2026-07-02", K1, "bar"),
        receipt(15, "k-1", "2026-07-03", K2, "bar"),
    ];
    rows[0]["bon_id"] = json!(BON);
    let mut storno = receipt(16, "K-12", "2026-07-02", K1, "bar");
    storno["bon_id"] = json!(STORNO);
    storno["art"] = json!("storno");
    storno["storno_von_bon_id"] = json!(BON);
    storno["menge"] = json!(-1);
    rows.push(storno);
    counts(&import(server, &mill, "barverkaeufe", &json!(rows).to_string()), [6, 0, 0]);
    mill
}

#[test]
fn a_line_is_shown_with_every_field() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = r#"[{"artikelnummer": "B-1", "artikelnr": "77", "bezeichnung": "Helles", "bezeichnung2": "vom Fass",
        "ean": "4012345678901", "einheit": "l"}]"#;
    server.import(&mill, "artikel", artikel);
    server.import(&mill, "kunden", r#"[{"kundennr": "K-7", "name": "Hof"}]"#);
    let kunde = mill.get("/api/v1/kunden").body["data"][0]["id"].clone();
    let artikel = mill.get("/api/v1/artikel").body["data"][0]["id"].clone();
    let sale = row(json!({"id": 7, "bon_id": BON, "bon_nr": "000001", "kasse_id": K1,
        "kassiert_at": "2026-06-30T23:30:15.25+01:00", "zahlart": "ls", "kunde": "k-7", "artikelnummer": "b-1",
        "bezeichnung": "Bier 0,5 lt", "menge": "-2.5", "einheit": "Liter", "einzelpreis": 3.8}));
    let expected = json!({"id": 7, "bon_id": BON, "artikel_id": artikel, "bezeichnung": "Bier 0,5 lt",
        "ean": "4012345678901", "menge": "-2.500", "einheit": "Liter", "einzelpreis": "3.8000",
        "mwst_satz": "19.00", "gesamt": "-9.50", "datum": "2026-07-01",
        "kassiert_at": "2026-06-30T22:30:15.250Z", "bon_nr": "000001", "art": "verkauf", "storniert": false,
        "storno_von_bon_id": null, "zahlart": "ls", "kasse_id": K1, "kunde_id": kunde, "artikelnummer": "B-1",
        "artikelnr": "77", "bezeichnung2": "vom Fass", "netto": "-7.98", "steuer": "-1.52"});
    counts(&import(&server, &mill, "barverkaeufe", &json!([sale]).to_string()), [1, 0, 0]);
    let answer = mill.get(PATH);
    assert_eq!(answer.is(200), &json!({"data": [expected], "count": 1}));
    let text = String::from_utf8(answer.bytes).unwrap();
    let places: Vec<_> = [
        "id",
        "bon_id",
        "artikel_id",
        "bezeichnung",
        "ean",
        "menge",
        "einheit",
        "einzelpreis",
        "mwst_satz",
        "gesamt",
        "datum",
        "kassiert_at",
        "bon_nr",
        "art",
        "storniert",
        "storno_von_bon_id",
        "zahlart",
        "kasse_id",
        "kunde_id",
        "artikelnummer",
        "artikelnr",
        "bezeichnung2",
        "netto",
        "steuer",
    ]
    .map(|field| text.find(&format!("\"{field}\":")).unwrap())
    .to_vec();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn the_ean_of_the_line_goes_before_that_of_the_article() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let artikel = "artikelnummer;bezeichnung;ean\nA;Mehl;111\nB;Korn;\n";
    server.import(&mill, "artikel", artikel);
    let lines = [
        json!({"id": 1, "artikelnummer": "A", "ean": "999"}),
        json!({"id": 2, "artikelnummer": "A"}),
        json!({"id": 3, "artikelnummer": "A", "ean": " "}),
        json!({"id": 4, "artikelnummer": "B"}),
        json!({"id": 5, "artikelnummer": "X", "ean": "555"}),
        json!({"id": 6}),
    ];
    let imported = import(&server, &mill, "barverkaeufe", &rows(&lines));
    counts(&imported, [6, 0, 0]);
    assert_eq!(column(&mill, "", "ean"), json!(["999", "111", "111", null, "555", null]));
    assert_eq!(column(&mill, "", "artikelnummer"), json!(["A", "A", "A", "B", "X", null]));
    // The master data determine how the number is written, also after changes.
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;bezeichnung2;ean\na;Mehl;fein;222\n");
    assert_eq!(column(&mill, "", "ean"), json!(["999", "222", "222", null, "555", null]));
    assert_eq!(column(&mill, "", "bezeichnung2"), json!(["fein", "fein", "fein", null, null, null]));
}

#[test]
fn every_filter_selects_alone_and_with_others() {
    let server = Server::start();
    let mill = shop(&server);
    let (k1, k2) = (format!("kasse_id={K1}"), format!("kasse_id={K2}"));
    // By day, then by number in natural order: K-2 before K-10, K-9 before K-11.
    let table: [(&str, Value); 21] = [
        ("", json!([12, 11, 13, 14, 16, 15])),
        ("von=2026-07-02", json!([13, 14, 16, 15])),
        ("bis=2026-07-02", json!([12, 11, 13, 14, 16])),
        ("von=2026-07-02&bis=2026-07-02", json!([13, 14, 16])),
        ("von=2026-07-03&bis=2026-07-02", json!([])),
        ("zahlart=ec", json!([12, 13])),
        ("zahlart=EC", json!([])),
        ("zahlart=scheck", json!([])),
        (&k1, json!([11, 13, 14, 16])),
        (&k2, json!([12, 15])),
        ("kasse_id=00000000-0000-0000-0000-000000000000", json!([])),
        ("bon_nr=K-2", json!([12])),
        ("bon_nr=K-1", json!([])),
        ("bon_nr=K", json!([])),
        ("nur_verkaeufe=true", json!([12, 11, 13, 14, 15])),
        ("nur_verkaeufe=false", json!([12, 11, 13, 14, 16, 15])),
        ("zahlart=bar&nur_verkaeufe=true", json!([11, 14, 15])),
        (&format!("{k1}&zahlart=bar&von=2026-07-02"), json!([14, 16])),
        (&format!("{k1}&zahlart=bar&von=2026-07-02&nur_verkaeufe=true"), json!([14])),
        (&format!("{k2}&bon_nr=K-10"), json!([])),
        (
            &format!("von=2026-07-01&bis=2026-07-01&{k1}&zahlart=bar&bon_nr=K-10&nur_verkaeufe=true"),
            json!([11]),
        ),
    ];
    for (query, expected) in table {
        assert_eq!(column(&mill, query, "id"), expected, "{query}");
        let counted = mill.get(&format!("{PATH}?{query}&limit=0"));
        assert_eq!(counted.is(200)["count"], expected.as_array().unwrap().len(), "{query}");
    }
    let reversed = list(&mill, "bon_nr=K-10");
    assert_eq!((&reversed[0]["storniert"], &reversed[0]["art"]), (&json!(true), &json!("verkauf")));
    let reversal = &list(&mill, "bon_nr=K-12")[0];
    assert_eq!(
        json!([reversal["menge"], reversal["gesamt"], reversal["storno_von_bon_id"], reversal["storniert"]]),
        json!(["-1.000", "-3.80", BON, false])
    );
}

#[test]
fn the_lines_of_a_receipt_stand_by_their_id() {
    let server = Server::start();
    let mill = server.company("Mühle");
    // Two registers with the same number, and receipts whose lines came in no order.
    let other = json!(K2);
    let lines = [
        json!({"id": 9, "kasse_id": K1}),
        json!({"id": 3, "kasse_id": K1}),
        json!({"id": 5, "kasse_id": other}),
        json!({"id": 100, "kasse_id": other}),
        json!({"id": 20, "kasse_id": K1, "bon_nr": "01"}),
    ];
    counts(&import(&server, &mill, "barverkaeufe", &rows(&lines)), [5, 0, 0]);
    // 1 and 01 are equal in natural order, so the line id decides.
    assert_eq!(column(&mill, "", "id"), json!([3, 5, 9, 20, 100]));
    assert_eq!(column(&mill, "limit=2&offset=1", "id"), json!([5, 9]));
    assert_eq!(column(&mill, &format!("bon_nr=1&kasse_id={K1}"), "id"), json!([3, 9]));
}

#[test]
fn a_page_has_five_hundred_lines_and_at_most_five_thousand() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let lines: Vec<Value> = (1..=5_001).map(|id| json!({"id": id, "bon_nr": id.to_string()})).collect();
    counts(&import(&server, &mill, "barverkaeufe", &rows(&lines)), [5_001, 0, 0]);
    let page = |query: &str| {
        let answer = mill.get(&format!("{PATH}?{query}"));
        let body = answer.is(200);
        let ids: Vec<_> =
            body["data"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
        assert_eq!(body["count"], 5_001, "{query}");
        (ids, answer.headers.get("x-limit").cloned())
    };
    assert_eq!(page(""), ((1..=500).collect(), None));
    assert_eq!(page("limit=5000"), ((1..=5_000).collect(), None));
    assert_eq!(page("limit=5001"), ((1..=5_000).collect(), Some("5000".to_owned())));
    assert_eq!(page("limit=5000&offset=4999"), (vec![5_000, 5_001], None));
    assert_eq!(page("limit=0"), (vec![], None));
}

#[test]
fn what_is_no_filter_is_refused() {
    let server = Server::start();
    let mill = shop(&server);
    for (query, code, feld) in [
        ("kasse_id=1", "PARAMETER_UNGUELTIG", "kasse_id"),
        ("von=01.07.2026", "DATUM_UNGUELTIG", "von"),
        ("bis=2026-02-30", "DATUM_UNGUELTIG", "bis"),
        ("nur_verkaeufe=ja", "PARAMETER_UNGUELTIG", "nur_verkaeufe"),
        ("limit=-1", "PARAMETER_UNGUELTIG", "limit"),
        ("offset=x", "PARAMETER_UNGUELTIG", "offset"),
        ("bonnr=1", "UNBEKANNTER_PARAMETER", "bonnr"),
        ("datum=2026-07-01", "UNBEKANNTER_PARAMETER", "datum"),
        ("suche=Bier", "UNBEKANNTER_PARAMETER", "suche"),
    ] {
        assert_eq!(mill.get(&format!("{PATH}?{query}")).refused(400, code)["feld"], feld, "{query}");
    }
    for body in [None, Some(b"{}".as_slice())] {
        mill.send("POST", PATH, &[], body).refused(405, "METHODE_NICHT_ERLAUBT");
    }
}

#[test]
fn the_receipts_of_another_company_are_not_there() {
    let server = Server::start();
    let mill = shop(&server);
    let other = server.company("Andere");
    counts(&import(&server, &other, "barverkaeufe", &rows(&[json!({"id": 12, "bon_nr": "A-1"})])), [1, 0, 0]);
    for query in ["", "bon_nr=K-2", "zahlart=bar", &format!("kasse_id={K1}"), "von=2026-07-01&bis=2026-07-31"]
    {
        let expected = if query.is_empty() || query.starts_with("von") { json!(["A-1"]) } else { json!([]) };
        assert_eq!(column(&other, query, "bon_nr"), expected, "{query}");
    }
    // The same receipt and line ids make another receipt in another company.
    assert_eq!(list(&mill, "").len(), 6);
    let theirs = rows(&[json!({"id": 11, "bon_id": BON, "bon_nr": "A-2"})]);
    counts(&import(&server, &other, "barverkaeufe", &theirs), [1, 0, 0]);
    // Customers and articles of the other company do not exist here.
    server.import(&mill, "kunden", "kundennr;name\nK-1;Hof\n");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung\nM-1;Mehl\n");
    let line = rows(&[json!({"bon_nr": "A-4", "artikelnummer": "M-1"})]);
    counts(&import(&server, &other, "barverkaeufe", &line), [1, 0, 0]);
    assert_eq!(column(&other, "bon_nr=A-4", "artikel_id"), json!([null]));
    let of_kunde = rows(&[json!({"bon_nr": "A-5", "kunde": "K-1"})]);
    import(&server, &other, "barverkaeufe", &of_kunde).refused(&["Zeile 1", "PARTNER_NICHT_GEFUNDEN"]);
    // A reversal in the other company does not affect it either.
    let reversal = json!({"bon_nr": "A-3", "art": "storno", "storno_von_bon_id": BON, "menge": -1});
    counts(&import(&server, &other, "barverkaeufe", &rows(&[reversal])), [1, 0, 0]);
    assert_eq!(column(&other, "bon_nr=A-2", "storniert"), json!([true]));
    assert_eq!(column(&mill, "bon_nr=K-2", "storniert"), json!([false]));
    assert_eq!(column(&mill, "bon_nr=K-10", "bezeichnung"), json!(["Bier"]));
}

#[test]
fn a_number_that_two_registers_have_needs_the_register() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let sale = |id: i64, kasse: Value| row(json!({"id": id, "bon_nr": "17", "kasse_id": kasse}));
    let rows = json!([sale(1, json!(K1)), sale(2, json!(K1)), sale(3, json!(K2))]);
    counts(&import(&server, &mill, "barverkaeufe", &rows.to_string()), [3, 0, 0]);
    let answer = mill.get(&format!("{PATH}?bon_nr=17"));
    let message = answer.refused(400, "BON_MEHRDEUTIG")["message"].as_str().unwrap();
    assert!(message.contains(K1) && message.contains(K2), "{message}");
    assert_eq!(answer.body["feld"], "bon_nr");
    mill.get(&format!("{PATH}?bon_nr=17&von=2020-01-01&limit=0")).refused(400, "BON_MEHRDEUTIG");
    assert_eq!(column(&mill, &format!("bon_nr=17&kasse_id={K1}"), "id"), json!([1, 2]));
    assert_eq!(column(&mill, &format!("bon_nr=17&kasse_id={K2}"), "id"), json!([3]));
    // Receipts of another company are invisible.
    let other = server.company("Andere");
    counts(&import(&server, &other, "barverkaeufe", &json!([sale(1, json!(K1))]).to_string()), [1, 0, 0]);
    assert_eq!(column(&other, "bon_nr=17", "id"), json!([1]));
}
