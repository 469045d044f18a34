//! The stock of an article, with and without batches (D8).

use serde_json::{Value, json};

use super::{Mill, buy, sell};
use crate::harness::Server;

fn sacks(menge: i64) -> Value {
    json!({"artikelnr": "S", "menge": menge})
}

fn stock(mill: &Mill<'_>, nummer: &str) -> String {
    let path = format!("/api/v1/artikel/{}/bestand", mill.artikel_id(nummer));
    let shown = mill.client.get(&path).is(200).clone();
    let listed = mill.client.get(&format!("/api/v1/artikel?suche={nummer}&bestand=true"));
    let rows = listed.is(200)["data"].as_array().unwrap().clone();
    let row = rows.iter().find(|row| row["artikelnummer"] == nummer).unwrap();
    assert_eq!((&row["bestand"], &row["id"]), (&shown["bestand"], &shown["artikel_id"]));
    assert_eq!((&row["einheit"], nummer), (&shown["einheit"], shown["artikelnummer"].as_str().unwrap()));
    shown["bestand"].as_str().unwrap().to_owned()
}

#[test]
fn the_stock_of_an_article_follows_its_movements() {
    let server = Server::start();
    let mill = Mill::of(&server);
    assert_eq!(stock(&mill, "S"), "0.000");
    let receipt = mill.post("EL", sacks(10)).id();
    mill.post("LS", sacks(4)).is(201);
    assert_eq!(stock(&mill, "S"), "6.000");
    mill.put(&receipt, sacks(7)).is(200);
    assert_eq!(stock(&mill, "S"), "3.000");
    // A supplier's number creates a batch, even for an article that is not tracked: its stock counts, too.
    mill.post("EL", json!({"artikelnr": "S", "menge": 5, "fremde_charge_nr": "B"})).is(201);
    assert_eq!(stock(&mill, "S"), "8.000");
    mill.storno(&receipt).is(200);
    assert_eq!(stock(&mill, "S"), "1.000");
    let (first, _) = (mill.receive("C1", 100), mill.receive("C2", 50));
    mill.post("LS", sell(30, &first)).is(201);
    mill.post("ER", buy(100, "C1")).is(201);
    assert_eq!((stock(&mill, "W").as_str(), stock(&mill, "R").as_str()), ("120.000", "0.000"));
    let opening = "artikelnummer;charge_nr;bestand\nR;ALT;20\n";
    server.import(&mill.client, "chargen", opening);
    assert_eq!(stock(&mill, "R"), "20.000");
    assert!(mill.client.get("/api/v1/artikel").is(200)["data"][0].get("bestand").is_none());
}

#[test]
fn a_stock_that_no_number_holds_is_refused() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let free = |menge: i64| json!({"artikelnr": "S", "menge": menge, "ep_netto": 0});
    mill.post("EL", free(999_999_999_999)).is(201);
    mill.post("EL", free(1)).refused(400, "BETRAG_ZU_GROSS");
    let sale = mill.post("LS", free(2)).id();
    mill.post("EL", free(2)).is(201);
    mill.storno(&sale).refused(400, "BETRAG_ZU_GROSS");
    assert_eq!(stock(&mill, "S"), "999999999999.000");
}

#[test]
fn the_stock_of_articles_without_batches_is_no_matter_of_negativbestand() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let receipt = mill.post("EL", sacks(10)).id();
    for setting in ["hinweis", "ablehnen"] {
        server.set(&mill.client, &[("negativbestand", setting)]);
        assert_eq!(mill.post_for("Kd2", "RE", sacks(13)).hint_codes(), [""; 0], "{setting}");
    }
    assert_eq!(mill.put(&receipt, sacks(9)).hint_codes(), [""; 0]);
    assert_eq!(stock(&mill, "S"), "-17.000");
    let recipe = r#"[{"id": 1, "bezeichnung": "Paletten", "version": 1, "inputs": [{"artikelnummer": "S", "menge": 10}],
        "outputs": [{"artikelnummer": "R", "menge": 1}]}]"#;
    server.import(&mill.client, "rezepturen", recipe);
    let path = "/api/v1/produktionsauftraege";
    let id = mill.client.post(path, json!({"rezeptur_id": 1})).id();
    let lines = mill.client.get(&format!("{path}/{id}")).is(200).clone();
    let body = json!({"status": "erledigt", "inputs": [{"id": lines["inputs"][0]["id"], "ist_menge": 3}],
        "outputs": [{"id": lines["outputs"][0]["id"], "ist_menge": 1}]});
    assert_eq!(mill.client.put(&format!("{path}/{id}/status"), body).hint_codes(), [""; 0]);
    assert_eq!(stock(&mill, "S"), "-20.000");
}

#[test]
fn check_names_a_stock_that_is_not_the_sum_of_its_movements() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", sacks(10)).is(201);
    let check = || {
        let output = server.cli(&["check"]);
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(check().0);
    for spoil in ["update artikel_bestand set bestand = bestand + 1", "delete from artikel_bestand"] {
        let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
        connection.execute_batch("create temp table kept as select * from artikel_bestand").unwrap();
        connection.execute_batch(spoil).unwrap();
        let (clean, said) = check();
        let line = said.lines().find(|line| line.contains("der Bestand jedes Artikels"));
        assert!(!clean && line.is_some_and(|line| line.contains('1')), "{said}");
        connection
            .execute_batch("delete from artikel_bestand; insert into artikel_bestand select * from kept")
            .unwrap();
    }
}
