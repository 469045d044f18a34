//! What others tie to a document is no part of its version; the feed tells of it all the same (D38).

use serde_json::{Value, json};

use super::{follow, now};
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

/// The documents that the feed tells of after a request: number, action and version.
fn told(mill: &Mill<'_>, work: impl FnOnce() -> Answer) -> (String, Vec<String>) {
    let cursor = now(&mill.client);
    let answer = work();
    assert!(answer.status < 300, "{}", answer.body);
    let changes = follow(&mill.client, &cursor).0;
    let belege = changes.iter().filter(|change| change["art"] == "beleg");
    let words = |change: &Value| {
        let nummer = change["nummer"].as_str().unwrap().replace("-2026-0000", "");
        format!("{nummer} {} {}", change["aktion"].as_str().unwrap(), change["version"])
    };
    let mut told: Vec<String> = belege.map(words).collect();
    told.sort();
    (answer.body["id"].as_str().unwrap().to_owned(), told)
}

fn position(mill: &Mill<'_>, id: &str, at: usize) -> Value {
    mill.get(id)["positionen"][at].clone()
}

fn left(mill: &Mill<'_>, id: &str, at: usize) -> Value {
    position(mill, id, at)["offen"].clone()
}

fn naming(mill: &Mill<'_>, id: &str, at: usize, more: Value) -> Value {
    and(json!({"bezug_position_id": position(mill, id, at)["id"]}), more)
}

#[test]
fn an_order_is_told_of_when_something_else_is_left_of_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    let order = mill.post("AU", json!([{"artikelnr": "S", "menge": 100}, freight])).id();
    let etag = || mill.client.get(&format!("/api/v1/belege/{order}")).headers["etag"].clone();
    let before = etag();
    let forty = naming(&mill, &order, 0, json!({"menge": 40}));
    let (delivery, changes) = told(&mill, || mill.post("LS", forty.clone()));
    assert_eq!(changes, ["AU1 geaendert 1", "LS1 angelegt 1"]);
    assert_eq!(left(&mill, &order, 0), "60.000");
    assert_ne!(etag(), before, "who asks with If-None-Match gets it");
    // What leaves as much as before is no change of the order.
    let notes = json!({"notizen": "x"});
    let put = |body: Value| mill.client.put(&format!("/api/v1/belege/{delivery}"), body);
    assert_eq!(told(&mill, || put(notes)).1, ["LS1 geaendert 2"]);
    assert_eq!(told(&mill, || mill.put(&delivery, forty)).1, ["LS1 geaendert 3"]);
    let fifty = naming(&mill, &order, 0, json!({"menge": 50}));
    assert_eq!(told(&mill, || mill.put(&delivery, fifty)).1, ["AU1 geaendert 1", "LS1 geaendert 4"]);
    // A return and its storno, over the delivery.
    let (back, changes) = told(&mill, || mill.post("LS", naming(&mill, &delivery, 0, json!({"menge": -5}))));
    assert_eq!(changes, ["AU1 geaendert 1", "LS1 geaendert 5", "LS2 angelegt 1"]);
    assert_eq!(left(&mill, &order, 0), "55.000");
    let changes = told(&mill, || mill.storno(&back)).1;
    assert_eq!(changes, ["AU1 geaendert 1", "LS1 geaendert 6", "LS2 storniert 2"]);
    assert_eq!(left(&mill, &order, 0), "50.000");
    // Freight has no goods, and neither has what books none.
    let changes = told(&mill, || mill.post("RE", naming(&mill, &order, 1, json!({})))).1;
    assert_eq!(changes, ["AU1 geaendert 1", "RE1 angelegt 1"]);
    assert_eq!(left(&mill, &order, 1), "0.000");
    let paper = naming(&mill, &delivery, 0, json!({"lager_buchen": false}));
    assert_eq!(told(&mill, || mill.post("RE", paper)).1, ["LS1 geaendert 6", "RE2 angelegt 1"]);
    assert_eq!(left(&mill, &delivery, 0), "0.000");
    // What the order was named by loses it; its history has nothing of what others said.
    let changes = told(&mill, || mill.storno(&order)).1;
    assert_eq!(changes, ["AU1 storniert 2", "LS1 geaendert 6", "RE1 geaendert 1"]);
    assert_eq!(position(&mill, &delivery, 0)["vorgaenger"], json!([]));
    let history = mill.client.get(&format!("/api/v1/belege/{order}/verlauf"));
    assert_eq!(history.is(200)["data"][0]["aktion"], "storno");
    assert_eq!(history.body["count"], 1);
}

#[test]
fn what_loses_the_position_that_it_names_is_told_of() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sacks = |menge: i64| json!({"artikelnr": "S", "menge": menge});
    let order = mill.post("AU", json!([sacks(3), {"artikelnr": "W", "menge": 7}])).id();
    let delivery = mill.post("LS", naming(&mill, &order, 0, json!({}))).id();
    let other = json!({"artikelnr": "W", "menge": 7});
    assert_eq!(told(&mill, || mill.put(&order, other)).1, ["AU1 geaendert 2", "LS1 geaendert 1"]);
    assert_eq!(position(&mill, &delivery, 0)["vorgaenger"], json!([]));
}
