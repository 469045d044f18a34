//! The list of documents of which something is left (`offen=true`, D38).

use serde_json::{Value, json};

use crate::harness::Server;
use crate::trade::lager::{Mill, and, plain, sell};

/// The documents of a list, by number; the whole list is compared with what single documents say.
fn listed(mill: &Mill<'_>, more: &str) -> Vec<String> {
    let numbers = |rows: &Value| -> Vec<String> {
        let rows = rows["data"].as_array().unwrap().iter();
        let mut numbers: Vec<_> =
            rows.map(|row| row["beleg_nummer"].as_str().unwrap().replace("-2026-0000", "")).collect();
        numbers.sort();
        numbers
    };
    let with_rest = numbers(mill.client.get("/api/v1/belege?offen=true").is(200));
    let all = mill.client.get("/api/v1/belege").is(200)["data"].as_array().unwrap().clone();
    let has_rest = |row: &&Value| {
        let beleg = mill.get(row["id"].as_str().unwrap());
        let goes_on = !["RE", "ER"].contains(&beleg["beleg_typ"].as_str().unwrap());
        let is_live = beleg["status"] != "storniert" && beleg["ohne_gegenbeleg"] == false;
        let left = |position: &Value| position["offen"].as_str().is_some_and(|left| left != "0.000");
        goes_on && is_live && beleg["positionen"].as_array().unwrap().iter().any(left)
    };
    let expected = json!({"data": all.iter().filter(has_rest).collect::<Vec<_>>()});
    assert_eq!(with_rest, numbers(&expected));
    numbers(mill.client.get(&format!("/api/v1/belege?offen=true{more}")).is(200))
}

fn sacks(menge: i64) -> Value {
    json!({"artikelnr": "S", "menge": menge})
}

#[test]
fn what_is_left_is_listed_until_it_is_delivered_invoiced_or_closed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let position = |id: &str, at: usize| mill.get(id)["positionen"][at]["id"].clone();
    let of = |id: &str, menge: i64| json!({"bezug_position_id": position(id, 0), "menge": menge});
    let quote = mill.post("AN", sacks(10)).id();
    assert_eq!(listed(&mill, ""), ["AN1"]);
    let order = mill.post("AU", of(&quote, 10)).id();
    assert_eq!(listed(&mill, ""), ["AU1"]);
    let delivery = mill.post("LS", of(&order, 10)).id();
    assert_eq!(listed(&mill, ""), ["LS1"]);
    let invoice = mill.post("RE", of(&delivery, 10)).id();
    assert_eq!(listed(&mill, ""), [""; 0]);
    // A PUT of the invoice sets some of the delivery free, its storno all; a return gives the order back.
    mill.put(&invoice, of(&delivery, 4)).is(200);
    assert_eq!(listed(&mill, ""), ["LS1"]);
    mill.storno(&invoice).is(200);
    let back = mill.post("LS", of(&delivery, -3)).id();
    assert_eq!(listed(&mill, ""), ["AU1", "LS1"]);
    assert_eq!(listed(&mill, "&typ=AU"), ["AU1"]);
    mill.storno(&back).is(200);
    assert_eq!(listed(&mill, ""), ["LS1"]);
    // The order loses its delivery, and the quote its order.
    mill.storno(&delivery).is(200);
    assert_eq!(listed(&mill, ""), ["AU1"]);
    mill.storno(&order).is(200);
    assert_eq!(listed(&mill, ""), ["AN1"]);
    mill.finalise(&quote);
    let closed = json!({"ohne_gegenbeleg": true});
    mill.client.post(&format!("/api/v1/belege/{quote}/erledigen"), closed).is(200);
    assert_eq!(listed(&mill, ""), [""; 0]);
}

#[test]
fn what_is_met_by_itself_released_or_without_goods_counts_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 100);
    assert_eq!(listed(&mill, ""), ["EL1"]);
    mill.post("ER", plain(100)).is(201);
    assert_eq!(listed(&mill, ""), [""; 0], "met without a name");
    let first = mill.post("LS", sell(10, &charge)).id();
    mill.post("LS", sell(10, &charge)).is(201);
    mill.post("RE", and(plain(10), json!({"ep_netto": 1}))).is(201);
    assert_eq!(listed(&mill, ""), ["LS2"]);
    // It takes the first delivery from the proposal, which takes the second.
    mill.post("RE", and(plain(10), json!({"bezug_beleg_id": first}))).is(201);
    assert_eq!(listed(&mill, ""), [""; 0]);
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 20});
    let with_freight = mill.post("LS", json!([sell(5, &charge), freight])).id();
    mill.post("RE", json!([and(plain(5), json!({"bezug_beleg_id": with_freight}))])).is(201);
    assert_eq!(listed(&mill, ""), ["LS3"], "its freight");
    let billed = mill.get(&with_freight)["positionen"][1]["id"].clone();
    mill.post("RE", json!({"bezug_position_id": billed})).is(201);
    assert_eq!(listed(&mill, ""), [""; 0]);
    // Positions that are written anew: what is gone is left of nobody.
    let order = mill.post("AU", json!([sacks(5), sacks(6)])).id();
    let named = mill.get(&order)["positionen"][0]["id"].clone();
    let delivery = mill.post("LS", json!({"bezug_position_id": named})).id();
    mill.put(&order, sacks(5)).is(200);
    assert_eq!(listed(&mill, ""), ["LS4"]);
    mill.put(&order, json!([sacks(5), sacks(6)])).is(200);
    assert_eq!(listed(&mill, ""), ["AU1", "LS4"]);
    mill.client.put(&format!("/api/v1/belege/{delivery}"), json!({"kundennummer": "Kd2"})).is(200);
    assert_eq!(listed(&mill, "&sortierung=beleg_nummer&limit=1&offset=1"), ["LS4"]);
}

#[test]
fn the_list_reads_what_is_left_and_no_history() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for _ in 0..30 {
        let delivery = mill.post("LS", sacks(1)).id();
        mill.post("RE", and(sacks(1), json!({"bezug_beleg_id": delivery}))).is(201);
    }
    mill.post("LS", sacks(1)).is(201);
    assert_eq!(server.sql::<i64>("select count(*) from beleg where hat_rest = 1"), 1);
    assert_eq!(server.sql::<i64>("select count(*) from beleg where hat_rest is null"), 0);
}
