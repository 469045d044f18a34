//! Reading articles and article groups.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::{Answer, Server, data};

const ARTIKEL: &str = "/api/v1/artikel";
const GRUPPEN: &str = "/api/v1/artikelgruppen";

/// The values of a field on a page.
fn column(answer: &Answer, name: &str) -> String {
    let rows = answer.is(200)["data"].as_array().unwrap();
    rows.iter().map(|row| row[name].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn only_active_articles_are_listed_in_natural_order() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        r#"[{"artikelnummer": "W-10", "bezeichnung": "Weizen"}, {"artikelnummer": "w-2", "bezeichnung": "W"},
            {"artikelnummer": "W-1", "bezeichnung": "W", "status": "inaktiv"},
            {"artikelnummer": "W-3", "bezeichnung": "W", "status": "auslauf"},
            {"artikelnummer": "W-9", "bezeichnung": "W", "status": "aktiv"},
            {"artikelnummer": "B", "bezeichnung": "W"}]"#,
    );
    let list = mill.get(ARTIKEL);
    assert_eq!(column(&list, "artikelnummer"), "B w-2 W-9 W-10");
    assert_eq!(column(&list, "status"), "aktiv aktiv aktiv aktiv");
    assert_eq!(list.body["count"], 4);
    let page = mill.get(&format!("{ARTIKEL}?limit=2&offset=1"));
    assert_eq!((column(&page, "artikelnummer").as_str(), &page.body["count"]), ("w-2 W-9", &json!(4)));
    assert_eq!(server.company("Andere").get(ARTIKEL).is(200), &json!({"data": [], "count": 0}));
}

#[test]
fn an_article_is_shown_with_every_field() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "artikelgruppen", r#"[{"id": 5, "name": "Getreide", "kuerzel": "GE"}]"#);
    let row = r#"[{"artikelnummer": "R1", "artikelnr": "1001", "bezeichnung": "Weizen",
        "bezeichnung2": "lose", "langtext": "a\nb", "einheit": "t", "preis": 0.3200000000000000001,
        "ep_netto": "198.5", "mwst_satz": 7,
        "ean": "2000000130132", "gruppe": "GE", "chargenpflichtig": true},
        {"artikelnummer": "R2", "bezeichnung": "Leer"}]"#;
    server.import(&mill, "artikel", row);
    let mut rows = mill.get(ARTIKEL).is(200)["data"].as_array().unwrap().clone();
    for row in &mut rows {
        let id = row.as_object_mut().unwrap().remove("id").unwrap();
        assert_eq!(id.as_str().unwrap().len(), 36);
    }
    let full = json!({"artikelnummer": "R1", "artikelnr": "1001", "bezeichnung": "Weizen",
        "bezeichnung2": "lose", "langtext": "a\nb", "einheit": "t", "preis": "0.3200",
        "ep_netto": "198.5000", "mwst_satz": "7.00",
        "ean": "2000000130132", "artikelgruppe_id": 5, "gruppe": "Getreide", "status": "aktiv",
        "chargenpflichtig": true});
    let bare =
        json!({"artikelnummer": "R2", "bezeichnung": "Leer", "status": "aktiv", "chargenpflichtig": false});
    for (shown, expected) in rows.iter().zip([full, bare]) {
        for field in shown.as_object().unwrap().keys() {
            assert_eq!(shown[field], expected.get(field).cloned().unwrap_or(Value::Null), "{field}");
        }
        assert_eq!(shown.as_object().unwrap().len(), 14);
    }
}

#[test]
fn articles_are_searched_and_filtered_by_group() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikelgruppen",
        r#"[{"id": 1, "name": "Getreide", "kuerzel": "GE"}, {"id": 2, "name": "Öle", "kuerzel": "OE"}]"#,
    );
    server.import(
        &mill,
        "artikel",
        r#"[{"artikelnummer": "1", "artikelnr": "K77", "bezeichnung": "Sonnenblumenöl", "gruppe": "OE"},
            {"artikelnummer": "2", "bezeichnung": "Weizen", "bezeichnung2": "Größe 5 %", "gruppe": "GE",
             "langtext": "geheim"},
            {"artikelnummer": "3", "bezeichnung": "Roggen", "ean": "4012345678901", "gruppe": "GE"},
            {"artikelnummer": "4x", "bezeichnung": "Öl und Weizen", "status": "inaktiv", "gruppe": "GE"}]"#,
    );
    let table = [
        ("", "1 2 3"),
        ("suche=SONNENBLUMENOEL", "1"),
        ("suche=ol", "1"),
        ("suche=k77", "1"),
        ("suche=groesse weiz", "2"),
        ("suche=%", "2"),
        ("suche=_", ""),
        ("suche=40123", "3"),
        ("suche=4x", ""),
        ("suche=geheim", ""),
        ("gruppe_id=1", "2 3"),
        ("gruppe_id=2", "1"),
        ("gruppe_id=9", ""),
        ("gruppe_id=1&suche=rog", "3"),
    ];
    for (query, expected) in table {
        let encoded = utf8_percent_encode(query, NON_ALPHANUMERIC).to_string();
        let found = mill.get(&format!("{ARTIKEL}?{}", encoded.replace("%3D", "=").replace("%26", "&")));
        assert_eq!(column(&found, "artikelnummer"), expected, "{query}");
        assert_eq!(found.body["count"], expected.split_whitespace().count(), "{query}");
    }
    mill.get(&format!("{ARTIKEL}?gruppe_id=GE")).refused(400, "PARAMETER_UNGUELTIG");
    mill.get(&format!("{ARTIKEL}?gruppe=1")).refused(400, "UNBEKANNTER_PARAMETER");
}

#[test]
fn the_list_of_articles_comes_in_pages_of_a_hundred() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows = data("artikel.json").as_array().unwrap().clone();
    server.import(&mill, "artikel", &Value::Array(rows.clone()).to_string());
    let more = (0..20).map(|n| json!({"artikelnummer": format!("Z{n}"), "bezeichnung": "Z"}));
    server.import(&mill, "artikel", &Value::Array(more.collect()).to_string());
    let count = rows.len() + 20;
    for (query, length, cut) in [
        ("", 100, None),
        ("?limit=5000", count, None),
        ("?limit=9999", count, Some("5000")),
        ("?limit=0", 0, None),
    ] {
        let page = mill.get(&format!("{ARTIKEL}{query}"));
        assert_eq!(page.is(200)["data"].as_array().unwrap().len(), length, "{query}");
        assert_eq!(page.body["count"], count, "{query}");
        assert_eq!(page.headers.get("x-limit").map(String::as_str), cut, "{query}");
    }
    let page = mill.get(&format!("{ARTIKEL}?limit=5000"));
    for row in &rows {
        let shown = page.body["data"].as_array().unwrap().iter();
        let shown = shown.clone().find(|shown| shown["artikelnummer"] == row["artikelnummer"]).unwrap();
        for field in
            ["artikelnr", "bezeichnung", "bezeichnung2", "einheit", "ean", "gruppe", "chargenpflichtig"]
        {
            // A blank text is null (D18).
            let expected = if row[field] == "" { &Value::Null } else { &row[field] };
            assert_eq!(&shown[field], expected, "{field} of {row}");
        }
    }
}

#[test]
fn groups_are_listed_by_number_and_all_at_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows = (1..=120)
        .rev()
        .map(|n| json!({"name": format!("Gruppe {n}"), "nummer": n, "kuerzel": format!("G{n}")}));
    server.import(&mill, "artikelgruppen", &Value::Array(rows.collect()).to_string());
    let extra = r#"[{"id": 900, "name": "Öle", "kuerzel": "OE", "nummer": 0, "mwst_satz": "7.8"}]"#;
    server.import(&mill, "artikelgruppen", extra);
    let list = mill.get(GRUPPEN);
    let data = list.is(200)["data"].as_array().unwrap();
    let numbers: Vec<_> = data.iter().map(|gruppe| gruppe["nummer"].as_i64().unwrap()).collect();
    assert_eq!((numbers, &list.body["count"]), ((0..=120).collect(), &json!(121)));
    let oele = json!({"id": 900, "name": "Öle", "kuerzel": "OE", "nummer": 0, "mwst_satz": "7.80"});
    assert_eq!(data[0], oele);
    let page = mill.get(&format!("{GRUPPEN}?limit=2&offset=10"));
    assert_eq!((column(&page, "kuerzel").as_str(), &page.body["count"]), ("G10 G11", &json!(121)));
    mill.get(&format!("{GRUPPEN}?suche=a")).refused(400, "UNBEKANNTER_PARAMETER");
}

#[test]
fn one_article_is_shown_with_its_active_tiers() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "artikel",
        r#"[{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.32"},
            {"artikelnummer": "X", "bezeichnung": "Alt", "status": "inaktiv"}]"#,
    );
    let tiers = "artikelnummer;ab_menge;preis;aktiv\nW;5000;0,27;ja\nW;1000;0,29;ja\nW;100;0,31;nein\n";
    server.import(&mill, "staffelpreise", tiers);
    let id = mill.get(ARTIKEL).is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("{ARTIKEL}/{id}");
    let shown = mill.get(&path);
    let listed = mill.get(ARTIKEL).body["data"][0].clone();
    let mut expected = listed.clone();
    expected["staffelpreise"] =
        json!([{"ab_menge": "1000.000", "preis": "0.2900"}, {"ab_menge": "5000.000", "preis": "0.2700"}]);
    assert_eq!(shown.is(200), &expected);
    let known = [("if-none-match", shown.headers["etag"].as_str())];
    assert_eq!(mill.send("GET", &path, &known, None).status, 304);
    server.import(&mill, "staffelpreise", "artikelnummer;ab_menge;preis\nW;5000;0,26\n");
    assert_eq!(mill.send("GET", &path, &known, None).is(200)["staffelpreise"][1]["preis"], "0.2600");
    let inactive: String = server.sql("select lower(hex(id)) from artikel where artikelnummer = 'X'");
    let inactive = uuid::Uuid::parse_str(&inactive).unwrap();
    let shown = mill.get(&format!("{ARTIKEL}/{inactive}"));
    assert_eq!((&shown.is(200)["status"], &shown.body["staffelpreise"]), (&json!("inaktiv"), &json!([])));
}
