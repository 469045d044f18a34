//! Stocktaking: the counted quantity becomes the stock, and the difference is a movement of its own kind (D8).

use serde_json::{Value, json};

use super::CHARGEN;
use crate::harness::{Answer, Server};
use crate::platform::import::import;
use crate::trade::lager::{Mill, and, buy, sell};

fn count(mill: &Mill<'_>, what: &str, body: Value) -> Answer {
    mill.client.post(&format!("/api/v1/{what}/inventur"), body)
}

fn counted(bestand: i64) -> Value {
    json!({"bestand": bestand, "grund": "Jahresinventur"})
}

fn stock_of(mill: &Mill<'_>, artikel: &str) -> Value {
    mill.client.get(&format!("/api/v1/artikel/{artikel}/bestand")).is(200)["bestand"].clone()
}

#[test]
fn what_was_counted_of_a_batch_stands() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let a = mill.receive("A", 100);
    mill.post("LS", sell(30, &a)).is(201);
    let path = format!("chargen/{a}");
    let fields = |answer: &Answer| {
        ["bestand_vorher", "bestand", "differenz"].map(|field| answer.is(201)[field].clone())
    };

    let first = count(&mill, &path, counted(65));
    assert_eq!(fields(&first), ["70.000", "65.000", "-5.000"]);
    assert_eq!(mill.stock("A"), "65.000");
    let same = count(&mill, &path, counted(65));
    assert_eq!(fields(&same), ["65.000", "65.000", "0.000"], "nothing differs, and it is kept");
    assert_eq!(fields(&count(&mill, &path, counted(80))), ["65.000", "80.000", "15.000"]);
    assert_eq!(server.sql::<i64>("select count(*) from inventur"), 3);
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung where inventur_id is not null"), 2);

    let batch = mill.client.get(&format!("{CHARGEN}/{a}")).is(200).clone();
    assert_eq!((&batch["eingang_menge"], &batch["bestand"]), (&json!("100.000"), &json!("80.000")));
    let way = mill.client.get(&format!("{CHARGEN}/{a}/herkunft")).is(200).clone();
    let bilanz =
        json!({"eingang": "100.000", "abgang": "30.000", "korrektur": "10.000", "bestand": "80.000"});
    assert_eq!(way["bilanz"], bilanz);
    let partners = |list: &str| way[list].as_array().unwrap().len();
    assert_eq!((partners("lieferanten"), partners("empfaenger")), (1, 1), "those of documents alone");
    let sheet = mill.client.get(&format!("{CHARGEN}/{a}/herkunft?format=csv"));
    let sheet = String::from_utf8(sheet.bytes.clone()).unwrap();
    assert!(sheet.contains(";10,000;kg;Korrektur durch Inventur"), "{sheet}");
}

#[test]
fn an_article_without_batches_is_counted_as_a_whole() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [wheat, spelt] = ["W", "S"].map(|number| mill.artikel_id(number));
    count(&mill, &format!("artikel/{wheat}"), counted(5)).refused(400, "CHARGE_FEHLT");
    let taken = count(&mill, &format!("artikel/{spelt}"), counted(5));
    assert_eq!((&taken.is(201)["differenz"], &taken.body["charge_id"]), (&json!("5.000"), &Value::Null));
    mill.post("LS", json!({"artikelnr": "S", "menge": 2})).is(201);
    assert_eq!(stock_of(&mill, &spelt), "3.000");
    count(&mill, &format!("artikel/{spelt}"), counted(0)).is(201);
    assert_eq!(stock_of(&mill, &spelt), "0.000");
    let batch = mill.client.post(CHARGEN, json!({"artikel_id": spelt, "charge_nr": "S-1"})).id();
    count(&mill, &format!("artikel/{spelt}"), counted(5)).refused(400, "CHARGE_FEHLT");
    count(&mill, &format!("chargen/{batch}"), counted(5)).is(201);
    assert_eq!(stock_of(&mill, &spelt), "5.000");
}

#[test]
fn a_stocktaking_is_refused_or_repeated() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let path = format!("chargen/{a}");
    let refused = count(&mill, &path, json!({"bestand": -1, "grund": "x"}));
    assert_eq!(refused.refused(400, "WERT_UNGUELTIG")["feld"], "bestand");
    for (body, feld) in [(json!({"grund": "x"}), "bestand"), (json!({"bestand": 1}), "grund")] {
        assert_eq!(count(&mill, &path, body).refused(400, "FELD_FEHLT")["feld"], feld);
    }
    let once = and(counted(90), json!({"external_ref": "inv-1"}));
    let first = count(&mill, &path, once.clone()).id();
    let again = count(&mill, &path, once.clone());
    assert_eq!((again.is(200)["id"].as_str(), &again.body["idempotent"]), (Some(&*first), &json!(true)));
    assert_eq!(again.hint_codes(), Vec::<String>::new());
    for (path, body) in [
        (path.clone(), and(once.clone(), json!({"bestand": 91}))),
        (path.clone(), and(once.clone(), json!({"grund": "anders"}))),
        (format!("chargen/{b}"), once.clone()),
    ] {
        let other = count(&mill, &path, body);
        assert_eq!(other.is(200)["inhalt_abweichend"], true);
        other.hints("INHALT_ABWEICHEND");
    }
    assert_eq!((mill.stock("A"), mill.stock("B")), ("90.000".into(), "100.000".into()));
    // Locked batches are counted, too.
    mill.client.put(&format!("{CHARGEN}/{a}"), json!({"gesperrt": true, "sperrgrund": "Käfer"})).is(200);
    count(&mill, &path, counted(80)).is(201);
}

#[test]
fn what_changes_the_time_before_a_stocktaking_says_so() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let sold = mill.post("LS", sell(10, &a)).id();
    let billed = mill.post("RE", sell(10, &a)).id();
    let spelt = json!({"artikelnr": "S", "menge": 2});
    let loose = mill.post("LS", spelt.clone()).id();
    count(&mill, &format!("chargen/{a}"), counted(95)).is(201);
    count(&mill, &format!("artikel/{}", mill.artikel_id("S")), counted(7)).is(201);

    let is_said = |answer: &Answer, expected: bool| {
        let said = answer.hint_codes().contains(&"INVENTUR_UEBERHOLT".to_owned());
        assert!(answer.status < 300 && said == expected, "{}", answer.body);
    };
    is_said(&mill.post("LS", sell(1, &a)), false);
    is_said(&mill.post("LS", sell(1, &b)), false);
    let of_day = |day: &str, item: Value| {
        let body = json!({"beleg_typ": "LS", "kundennummer": "Kd", "lieferdatum": day, "items": [item]});
        mill.client.post("/api/v1/belege", body)
    };
    let early = of_day("2026-07-09", sell(1, &a));
    is_said(&early, true);
    let message = early.body["hinweise"].to_string();
    let number = mill.batch("A")["charge_nr"].as_str().unwrap().to_owned();
    assert!(message.contains(&number) && message.contains("10.07.2026"), "{message}");
    is_said(&of_day("2026-07-10", sell(1, &a)), false);
    is_said(&of_day("2026-07-09", sell(1, &b)), false);
    is_said(&of_day("2026-07-09", spelt.clone()), true);
    is_said(&of_day("2026-07-10", spelt), false);

    let unchanged = mill.put(&sold, sell(10, &a));
    is_said(&unchanged, false);
    is_said(&mill.put(&sold, sell(9, &a)), true);
    is_said(&mill.storno(&billed), false);
    is_said(&mill.storno(&loose), true);
}

#[test]
fn an_order_of_before_says_so_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let a = mill.receive("A", 100);
    let recipe = r#"[{"id": 1, "bezeichnung": "Mehl", "version": 1,
        "inputs": [{"artikelnummer": "W", "menge": 10}], "outputs": [{"artikelnummer": "R", "menge": 8}]}]"#;
    server.import(&mill.client, "rezepturen", recipe);
    let path = "/api/v1/produktionsauftraege";
    let order = mill.client.post(path, json!({"rezeptur_id": 1})).id();
    let lines = mill.client.get(&format!("{path}/{order}")).is(200).clone();
    let input = json!({"id": lines["inputs"][0]["id"], "ist_menge": 10, "charge_id": a});
    let output = json!({"id": lines["outputs"][0]["id"], "ist_menge": 8});
    let to = |body: Value| mill.client.put(&format!("{path}/{order}/status"), body);
    let done = to(json!({"status": "erledigt", "inputs": [input], "outputs": [output]}));
    assert_eq!(done.hint_codes(), Vec::<String>::new());
    count(&mill, &format!("chargen/{a}"), counted(95)).is(201);
    to(json!({"status": "storniert"})).hints("INVENTUR_UEBERHOLT");
    assert_eq!(mill.stock("A"), "105.000");
}

#[test]
fn an_import_counts_and_may_be_repeated() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.receive("A", 100);
    let number = mill.batch("A")["charge_nr"].as_str().unwrap().to_owned();
    let file = format!("artikelnummer;charge_nr;bestand;grund\nW;{number};95,5;\nS;;12;Säcke gezählt\n");
    let run = |file: &str| import(&server, &mill.client, "inventur", file);
    assert_eq!(run(&file).counts(), [2, 0, 0]);
    assert_eq!(mill.stock("A"), "95.500");
    assert_eq!(stock_of(&mill, &mill.artikel_id("S")), "12.000");
    let reasons: String =
        server.sql("select group_concat(grund, '|') from (select grund from inventur order by id)");
    assert_eq!(reasons, "Inventur|Säcke gezählt");
    assert_eq!(run(&file).counts(), [0, 0, 2], "the same count on the same day is the same stocktaking");
    let id = mill.batch("A")["id"].as_str().unwrap().to_owned();
    mill.post("LS", sell(5, &id)).is(201);
    assert_eq!(run(&file.replace("95,5", "91")).counts(), [1, 0, 1]);
    assert_eq!(mill.stock("A"), "91.000");
    for (file, named) in [
        ("artikelnummer;charge_nr;bestand\nW;;1\n", "in Chargen"),
        ("artikelnummer;charge_nr;bestand\nW;gibt es nicht;1\n", "charge_nr"),
        ("artikelnummer;charge_nr;bestand\nS;;-1\n", "ab 0"),
    ] {
        run(file).refused(&[named]);
    }
    mill.post("EL", buy(1, "A")).is(201);
    assert_eq!(mill.stock("A"), "92.000");
}
