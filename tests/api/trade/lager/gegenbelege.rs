//! Each side shows its counterparts, and documents follow those that change their goods (D4, D8).

use serde_json::{Value, json};

use super::{Mill, plain, sell};
use crate::harness::{Answer, Server};

/// Numbers and quantities of the counterparts of an answer's only position.
fn met(answer: &Value) -> Vec<[&str; 2]> {
    let met = answer["positionen"][0]["gegenbelege"].as_array().unwrap();
    met.iter().map(|met| ["beleg_nummer", "menge"].map(|field| met[field].as_str().unwrap())).collect()
}

fn history(mill: &Mill<'_>, id: &str) -> Vec<Value> {
    let path = format!("/api/v1/belege/{id}/verlauf");
    mill.client.get(&path).is(200)["data"].as_array().unwrap().clone()
}

fn etag(mill: &Mill<'_>, id: &str) -> String {
    mill.client.get(&format!("/api/v1/belege/{id}")).headers["etag"].clone()
}

#[test]
fn each_side_shows_what_it_has_met() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let a = mill.receive("A", 100);
    let nothing: Vec<[&str; 2]> = vec![];
    let delivery = mill.post("LS", sell(10, &a));
    assert_eq!(met(delivery.is(201)), nothing);
    let invoice = mill.post("RE", plain(4));
    assert_eq!(met(invoice.is(201)), [["LS-2026-00001", "4.000"]]);
    let position = invoice.body["positionen"][0].clone();
    assert_eq!(mill.get(&invoice.id())["positionen"][0]["id"], position["id"]);
    assert_eq!(position["gegenbelege"][0]["beleg_id"], delivery.id());
    assert_eq!(position["gegenbelege"][0]["beleg_typ"], "LS");
    assert_eq!(met(&mill.get(&delivery.id())), [["RE-2026-00001", "4.000"]]);

    let second = mill.post("RE", plain(6)).id();
    let both = [["RE-2026-00001", "4.000"], ["RE-2026-00002", "6.000"]];
    assert_eq!(met(&mill.get(&delivery.id())), both);
    let noted = mill.client.put(&format!("/api/v1/belege/{}", delivery.id()), json!({"notizen": "x"}));
    assert_eq!(met(noted.is(200)), both, "a PUT without items names them, too");

    let credit = mill.post("RE", plain(-6));
    assert_eq!(met(credit.is(201)), [["RE-2026-00002", "6.000"]]);
    assert_eq!(met(&mill.get(&second)), [["RE-2026-00003", "6.000"]], "the delivery is open again");
    assert_eq!(met(&mill.get(&delivery.id())), [["RE-2026-00001", "4.000"]]);
    let listed = mill.client.get("/api/v1/belege?typ=LS");
    assert_eq!(listed.is(200)["data"][0]["positionen"], Value::Null, "a list has no positions");
}

#[test]
fn a_document_that_follows_has_a_new_version() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let delivery = mill.post("LS", sell(10, &a)).id();
    mill.finalise(&delivery);
    let cursor = mill.client.get("/api/v1/aenderungen").is(200)["cursor"].as_str().unwrap().to_owned();
    let before = etag(&mill, &delivery);

    let invoice = mill.post("RE", plain(10)).id();
    assert_ne!(etag(&mill, &delivery), before);
    let steps = history(&mill, &delivery);
    assert_eq!(steps.iter().map(|step| &step["aktion"]).collect::<Vec<_>>(), ["abschliessen", "folgen"]);
    assert_eq!(met(&steps[1]["beleg"]), [["RE-2026-00001", "0.000"]], "as it was before");
    let feed = mill.client.get(&format!("/api/v1/aenderungen?seit={cursor}"));
    let rows = feed.is(200)["data"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["id"] == delivery), "{rows:?}");

    let before = etag(&mill, &invoice);
    let stale = |answer: Answer| answer.is(412).clone();
    let same = mill.put(&invoice, plain(10));
    assert_eq!(met(same.is(200)), [["LS-2026-00001", "10.000"]]);
    assert_eq!(history(&mill, &delivery).len(), 2, "what is the same after the request follows nothing");
    let put = |etag: &str| {
        let path = format!("/api/v1/belege/{invoice}");
        mill.client.send(
            "PUT",
            &path,
            &[("If-Match", etag)],
            Some(json!({"notizen": "x"}).to_string().as_bytes()),
        )
    };
    stale(put(&before));

    mill.storno(&delivery).is(200);
    let before = etag(&mill, &invoice);
    assert_eq!(met(&mill.get(&invoice)), [[""; 2]; 0]);
    assert_eq!(met(&history(&mill, &invoice).last().unwrap()["beleg"]), [["LS-2026-00001", "10.000"]]);
    mill.post("LS", sell(10, &b)).is(201);
    stale(put(&before));
    let steps = history(&mill, &invoice);
    let old = &steps.last().unwrap()["beleg"];
    assert_eq!(old["positionen"][0]["charge_id"], a, "the batch that it had is in its history");
    assert_eq!(mill.charge_id(&invoice), b);
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn the_history_of_who_follows_has_the_positions_that_follow() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sacks = |menge| json!({"artikelnr": "S", "menge": menge});
    let a = mill.receive("A", 100);
    let delivery = mill.post("LS", json!([sell(10, &a), sacks(5)])).id();
    let first = mill.post("RE", sacks(2)).id();
    mill.post("RE", sacks(3)).is(201);
    mill.storno(&first).is(200);
    let steps = history(&mill, &delivery);
    let positions = |step: &Value| step["beleg"]["positionen"].as_array().unwrap().clone();
    for (step, before) in
        steps.iter().zip([["RE-2026-00001", "0.000"], ["RE-2026-00002", "0.000"], ["RE-2026-00001", "2.000"]])
    {
        let positions = positions(step);
        assert_eq!(positions.len(), 1, "{step}");
        assert_eq!((&positions[0]["position"], met(&step["beleg"])), (&json!(2), vec![before]));
    }
    assert_eq!(steps.len(), 3);
    mill.client.put(&format!("/api/v1/belege/{delivery}"), json!({"notizen": "x"})).is(200);
    let whole = history(&mill, &delivery).pop().unwrap();
    assert_eq!(positions(&whole).len(), 2, "its own change keeps all of it");
}
