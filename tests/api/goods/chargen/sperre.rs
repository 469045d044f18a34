//! Locked and expired batches, and which fields are fixed once goods have moved (D8).

use serde_json::{Value, json};

use super::CHARGEN;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and, buy, plain, sell};

fn lock(mill: &Mill<'_>, id: &str, body: Value) -> Answer {
    mill.client.put(&format!("{CHARGEN}/{id}"), body)
}

fn available(mill: &Mill<'_>, more: &str) -> Vec<Value> {
    let found = mill.client.get(&format!("{CHARGEN}/verfuegbar?artikelnr=W{more}"));
    found.is(200).as_array().unwrap().iter().map(|batch| batch["fremde_charge_nr"].clone()).collect()
}

#[test]
fn nothing_more_leaves_a_locked_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let sold = mill.post("LS", sell(10, &a)).id();
    let billed = mill.post_for("Kd2", "RE", sell(5, &a)).id();
    lock(&mill, &a, json!({"gesperrt": true})).refused(400, "FELD_FEHLT");
    lock(&mill, &a, json!({"sperrgrund": "Salmonellen?"})).hints("FELD_IGNORIERT");
    lock(&mill, &a, json!({"gesperrt": true, "sperrgrund": "Salmonellen?"})).is(200);
    let shown = mill.client.get(&format!("{CHARGEN}/{a}"));
    assert_eq!(
        (&shown.is(200)["gesperrt"], &shown.body["sperrgrund"]),
        (&json!(true), &json!("Salmonellen?"))
    );
    assert_eq!(available(&mill, ""), ["B"]);

    let refused = mill.post("LS", json!([sell(1, &b), sell(1, &a)]));
    let refused = refused.refused(400, "CHARGE_GESPERRT");
    assert_eq!(refused["feld"], "items[1].charge_id");
    assert!(refused["message"].as_str().unwrap().contains("Salmonellen?"), "{refused}");
    mill.post("RE", sell(1, &a)).refused(400, "CHARGE_GESPERRT");
    mill.post("EL", buy(-1, "A")).refused(400, "CHARGE_GESPERRT");
    mill.put(&sold, sell(11, &a)).refused(400, "CHARGE_GESPERRT");
    mill.put(&sold, sell(10, &a)).is(200);
    mill.put(&sold, sell(9, &a)).is(200);
    mill.post("AU", sell(1, &a)).is(201);
    mill.post("RE", plain(9)).is(201);
    mill.post("LS", sell(-2, &a)).is(201);
    mill.post("EL", buy(10, "A")).is(201);
    mill.storno(&billed).is(200);
    mill.storno(&sold).is(200);

    server.import(
        &mill.client,
        "rezepturen",
        r#"[{"id": 1, "bezeichnung": "Mehl", "version": 1,
        "inputs": [{"artikelnummer": "W", "menge": 10}], "outputs": [{"artikelnummer": "R", "menge": 8}]}]"#,
    );
    let path = "/api/v1/produktionsauftraege";
    let order = mill.client.post(path, json!({"rezeptur_id": 1})).id();
    let lines = mill.client.get(&format!("{path}/{order}")).is(200).clone();
    let done = |charge: &str| {
        let input = json!({"id": lines["inputs"][0]["id"], "ist_menge": 10, "charge_id": charge});
        let output = json!({"id": lines["outputs"][0]["id"], "ist_menge": 8});
        let body = json!({"status": "erledigt", "inputs": [input], "outputs": [output]});
        mill.client.put(&format!("{path}/{order}/status"), body)
    };
    done(&a).refused(400, "CHARGE_GESPERRT");
    done(&b).is(200);

    lock(&mill, &a, json!({"gesperrt": false})).is(200);
    assert_eq!(mill.client.get(&format!("{CHARGEN}/{a}")).is(200)["sperrgrund"], Value::Null);
    mill.post("LS", sell(1, &a)).is(201);
}

#[test]
fn no_purchase_takes_goods_over_from_a_locked_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let locked = json!({"gesperrt": true, "sperrgrund": "Käfer"});
    mill.post("ER", json!({"artikelnr": "W", "menge": 10, "mhd": "2027-01-31"})).is(201);
    let id = mill.batches()[0]["id"].as_str().unwrap().to_owned();
    lock(&mill, &id, locked.clone()).is(200);
    mill.post("EL", buy(10, "L")).refused(400, "CHARGE_GESPERRT");
    lock(&mill, &id, json!({"gesperrt": false})).is(200);
    mill.post("EL", buy(10, "L")).is(201);

    let delivery = mill.post("EL", buy(10, "A")).id();
    lock(&mill, mill.batch("A")["id"].as_str().unwrap(), locked).is(200);
    mill.put(&delivery, buy(10, "B")).refused(400, "CHARGE_GESPERRT");
    mill.put(&delivery, json!([buy(8, "A"), buy(2, "B")])).refused(400, "CHARGE_GESPERRT");
    mill.put(&delivery, buy(8, "A")).is(200);
    mill.post("ER", buy(-3, "A")).is(201);
    mill.storno(&delivery).is(200);
}

#[test]
fn a_locked_batch_is_left_by_no_sale_in_a_roundabout_way() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    mill.post("LS", sell(10, &a)).is(201);
    let invoice = mill.post("RE", plain(10)).id();
    let moved = mill.post_for("Kd2", "LS", sell(5, &a)).id();
    lock(&mill, &a, json!({"gesperrt": true, "sperrgrund": "Käfer"})).is(200);
    // More than the invoice had inherited.
    let read = mill.get(&invoice)["positionen"][0].clone();
    mill.put(&invoice, and(read, json!({"menge": 12}))).refused(400, "CHARGE_GESPERRT");
    // A delivery moved to another customer takes no more than before.
    let to_other = json!({"kundennummer": "Kd"});
    mill.client.put(&format!("/api/v1/belege/{moved}"), to_other).is(200);
    mill.post("RE", and(sell(-2, &a), json!({"bezug_beleg_id": invoice}))).is(201);
    mill.post("RE", sell(1, &b)).is(201);
}

#[test]
fn items_of_one_document_take_more_than_there_is_like_one() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    mill.receive("A", 10);
    let locked = mill.receive("C", 5);
    lock(&mill, &locked, json!({"gesperrt": true, "sperrgrund": "Käfer"})).is(200);
    mill.post("LS", json!([plain(10), plain(5)])).hints("BESTAND_NEGATIV");
    assert_eq!((mill.stock("A"), mill.stock("C")), ("-5.000".to_owned(), "5.000".to_owned()));
}

#[test]
fn fefo_passes_over_what_is_locked_or_expired() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let dated = |fremde: &str, mhd: &str| and(buy(100, fremde), json!({"mhd": mhd}));
    mill.post("EL", json!([dated("old", "2026-07-09"), dated("A", "2026-08-01"), dated("B", "2026-09-01")]))
        .is(201);
    let id = |fremde: &str| mill.batch(fremde)["id"].as_str().unwrap().to_owned();
    assert_eq!(available(&mill, ""), ["A", "B"]);
    assert_eq!(available(&mill, "&abgelaufen=true"), ["old", "A", "B"]);
    let taken = |answer: &Answer| mill.charge_id(&answer.id());
    assert_eq!(taken(&mill.post("LS", plain(1))), id("A"));
    let body =
        json!({"beleg_typ": "LS", "kundennummer": "Kd", "lieferdatum": "2026-08-02", "items": [plain(1)]});
    assert_eq!(taken(&mill.client.post("/api/v1/belege", body)), id("B"), "on its day of delivery");
    lock(&mill, &id("A"), json!({"gesperrt": true, "sperrgrund": "Käfer"})).is(200);
    assert_eq!(taken(&mill.post("LS", plain(1))), id("B"));
    lock(&mill, &id("B"), json!({"gesperrt": true, "sperrgrund": "Käfer"})).is(200);
    let refused = mill.post("LS", plain(1));
    let message = refused.refused(400, "CHARGE_FEHLT")["message"].clone();
    assert!(message.as_str().unwrap().contains("gesperrt"), "{message}");

    let old = mill.post("LS", sell(1, &id("old")));
    old.hints("MHD_ABGELAUFEN");
    let invoice = mill.post("RE", and(plain(1), json!({"bezug_beleg_id": old.id()})));
    assert_eq!(
        (taken(&invoice), invoice.hint_codes()),
        (json!(id("old")), vec!["PREIS_UEBERNOMMEN".to_owned()]),
        "inherited"
    );
    let bound = json!({"bezug_beleg_id": old.id()});
    let kept = mill.put(&invoice.id(), and(sell(1, &id("old")), bound));
    assert!(!kept.hint_codes().contains(&"MHD_ABGELAUFEN".to_owned()), "{}", kept.body);
}

#[test]
fn locking_a_batch_or_a_past_date_names_the_open_documents_that_have_it() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 10));
    let number = |answer: &Answer| answer.is(201)["beleg_nummer"].as_str().unwrap().to_owned();
    let order = number(&mill.post("AU", sell(1, &a)));
    let sold = mill.post("LS", sell(1, &a));
    let done = mill.post("LS", sell(1, &a));
    mill.finalise(&done.id());
    // It takes what is left of A, and of B; its position names neither.
    let both = number(&mill.post("LS", plain(10)));
    let named = |answer: &Answer| {
        let mut hints = answer.is(200)["hinweise"].as_array().unwrap().iter();
        let hint = hints.find(|hint| hint["code"] == "CHARGE_IN_BELEGEN")?;
        Some((hint["feld"].as_str()?.to_owned(), hint["message"].as_str()?.to_owned()))
    };
    let says = |answer: &Answer, feld: &str, with: &[&String], without: &[&String]| {
        let (place, message) = named(answer).unwrap_or_else(|| panic!("{}", answer.body));
        assert!(place == feld && with.iter().all(|nummer| message.contains(*nummer)), "{place}: {message}");
        assert!(without.iter().all(|nummer| !message.contains(*nummer)), "{message}");
    };
    let (sold, done) = (number(&sold), number(&done));
    assert_eq!(named(&lock(&mill, &a, json!({"mhd": "2026-07-10"}))), None, "it keeps until today");
    says(&lock(&mill, &a, json!({"mhd": "2026-07-09"})), "mhd", &[&order, &sold, &both], &[&done]);
    assert_eq!(named(&lock(&mill, &a, json!({"mhd": "2026-07-09"}))), None, "nothing changed");
    let locked = json!({"gesperrt": true, "sperrgrund": "Käfer"});
    says(&lock(&mill, &a, locked.clone()), "gesperrt", &[&order, &sold, &both], &[&done]);
    says(&lock(&mill, &b, locked.clone()), "gesperrt", &[&both], &[&order, &sold, &done]);
    assert_eq!(named(&lock(&mill, &b, json!({"gesperrt": false}))), None);
    for _ in 0..12 {
        mill.post("AU", sell(1, &b)).is(201);
    }
    let (_, message) = named(&lock(&mill, &b, locked)).unwrap();
    assert_eq!(
        (message.matches("AU-2026-").count(), message.contains("und weitere")),
        (10, true),
        "{message}"
    );
}

#[test]
fn a_corrected_number_is_that_of_old_goods_alone() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = mill.post("EL", buy(10, "A")).id();
    let batch = mill.batch("A")["id"].as_str().unwrap().to_owned();
    lock(&mill, &batch, json!({"fremde_charge_nr": "B"})).is(200);
    mill.put(&first, buy(12, "A")).is(200);
    assert_eq!(
        (mill.stock("B"), mill.batches().len()),
        ("12.000".to_owned(), 1),
        "it brought the batch in before"
    );
    let invoice = mill.post("ER", buy(12, "A"));
    assert_eq!(mill.charge_id(&invoice.id()), batch, "an invoice meets it");
    mill.post("EL", buy(-2, "A")).is(201);
    assert_eq!((mill.stock("B"), mill.batches().len()), ("10.000".to_owned(), 1), "and a return");
    let new = mill.post("EL", buy(5, "A"));
    new.hints("CHARGE_NR_FRUEHER");
    assert_eq!((mill.stock("A"), mill.stock("B")), ("5.000".to_owned(), "10.000".to_owned()));
    assert_eq!(mill.post("EL", buy(5, "A")).hint_codes(), [""; 0], "it is one of its own now");
}

#[test]
fn unit_and_tracking_of_an_article_stay_once_it_has_moved() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let import = |row: &str| {
        let file = server.database.with_file_name("artikel.csv");
        std::fs::write(&file, format!("artikelnummer;bezeichnung;einheit;chargenpflichtig\n{row}\n"))
            .unwrap();
        let file = file.to_str().unwrap().to_owned();
        let output = server.cli(&["import", "--tenant", "Mühle", "artikel", &file]);
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(import("R;Roggen;t;ja").0, "nothing has moved yet");
    assert!(import("R;Roggen;kg;ja").0);
    mill.receive("A", 10);
    for row in ["W;Weizen;t;ja", "W;Weizen;kg;nein"] {
        let (is_taken, said) = import(row);
        assert!(!is_taken && said.contains("neuen Artikel anlegen"), "{said}");
    }
    assert!(import("W;Weichweizen;kg;ja").0);
}
