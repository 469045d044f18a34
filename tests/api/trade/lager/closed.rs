//! Closed or old documents are matched only by bezug_beleg_id, and documents know what they were made from (D4, D8).

use serde_json::{Value, json};

use super::{Mill, and, plain, sell};
use crate::harness::{Answer, Server};

fn settle(mill: &Mill<'_>, id: &str, body: Value) -> Answer {
    mill.client.post(&format!("/api/v1/belege/{id}/erledigen"), body)
}

fn met(mill: &Mill<'_>, id: &str) -> Vec<Value> {
    let gegenbelege = mill.get(id)["positionen"][0]["gegenbelege"].clone();
    gegenbelege.as_array().unwrap().iter().map(|met| met["beleg_id"].clone()).collect()
}

fn dated(mill: &Mill<'_>, typ: &str, day: &str, items: Value) -> Answer {
    let body = json!({"beleg_typ": typ, "kundennummer": "Kd", "beleg_datum": day, "items": [items]});
    mill.client.post("/api/v1/belege", body)
}

#[test]
fn a_document_is_settled_and_what_is_open_closed_where_that_is_said() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let a = mill.receive("A", 100);
    let sample = mill.post("LS", sell(10, &a)).id();
    settle(&mill, &sample, json!({})).refused(400, "BELEG_NICHT_ABGESCHLOSSEN");
    mill.finalise(&sample);
    let settled = settle(&mill, &sample, json!({}));
    let hints = settled.hints("MENGE_OFFEN")["hinweise"].clone();
    assert!(hints[0]["message"].as_str().unwrap().contains("10.000 kg Weizen"), "{hints}");
    assert_eq!(settled.body["status"], "erledigt");
    let invoice = mill.post("RE", plain(4));
    assert_eq!(met(&mill, &invoice.id()), [json!(sample)], "who is paid first is delivered later");
    mill.storno(&invoice.id()).is(200);

    assert_eq!(settle(&mill, &sample, json!({"ohne_gegenbeleg": true})).hint_codes(), [""; 0]);
    assert_eq!(mill.get(&sample)["ohne_gegenbeleg"], true);
    let version = mill.client.get(&format!("/api/v1/belege/{sample}")).headers["etag"].clone();
    settle(&mill, &sample, json!({"ohne_gegenbeleg": true})).is(200);
    assert_eq!(mill.client.get(&format!("/api/v1/belege/{sample}")).headers["etag"], version);
    let passed = mill.post("RE", sell(4, &a));
    let hints = passed.hints("GEGENBELEG_GESCHLOSSEN")["hinweise"].clone();
    assert!(hints[0]["message"].as_str().unwrap().starts_with("LS-2026-00001 "), "{hints}");
    assert_eq!(met(&mill, &passed.id()), [Value::Null; 0]);
    let bound = mill.post("RE", and(plain(4), json!({"bezug_beleg_id": sample})));
    assert_eq!(
        (met(&mill, &bound.id()), bound.hint_codes()),
        (vec![json!(sample)], vec!["PREIS_UEBERNOMMEN".to_owned()])
    );
    let back = mill.post("LS", sell(-2, &a)).id();
    assert_eq!(met(&mill, &back), [json!(sample)], "a return still meets it");
    assert_eq!(mill.stock("A"), "88.000");

    mill.storno(&sample).is(200);
    settle(&mill, &sample, json!({})).refused(400, "BELEG_NICHT_ABGESCHLOSSEN");
    assert!(server.cli(&["check"]).status.success());
    let second = mill.post("LS", sell(1, &a)).id();
    mill.finalise(&second);
    let number = mill.get(&second)["beleg_nummer"].as_str().unwrap().to_owned();
    let arguments = ["beleg", "erledigen", &number, "--ohne-gegenbeleg", "--tenant", "Mühle"];
    assert!(server.cli(&arguments).status.success());
    assert_eq!(
        (&mill.get(&second)["status"], &mill.get(&second)["ohne_gegenbeleg"]),
        (&json!("erledigt"), &json!(true))
    );
}

#[test]
fn counterparts_further_apart_than_the_setting_are_passed_over() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let a = mill.receive("A", 100);
    for (months, delivery, invoice, meets) in [
        ("12", "2025-07-10", "2026-07-10", true),
        ("12", "2025-07-09", "2026-07-10", false),
        ("12", "2026-07-10", "2025-07-10", true),
        ("12", "2026-07-10", "2025-07-09", false),
        ("12", "2024-02-29", "2025-02-28", true),
        ("1", "2026-05-31", "2026-06-30", true),
        ("1", "2026-05-29", "2026-06-30", false),
        ("0", "2004-01-01", "2026-07-10", true),
    ] {
        server.set(&mill.client, &[("paarung_monate", months)]);
        let delivery = dated(&mill, "LS", delivery, sell(5, &a)).id();
        let sent = dated(&mill, "RE", invoice, sell(5, &a));
        let codes = sent.hint_codes();
        assert_eq!(met(&mill, &sent.id()).len(), usize::from(meets), "{months} {invoice}");
        assert_eq!(codes.contains(&"GEGENBELEG_ZU_ALT".to_owned()), !meets, "{months} {invoice}: {codes:?}");
        let bound = and(plain(5), json!({"bezug_beleg_id": delivery}));
        mill.put(&sent.id(), bound).is(200);
        assert_eq!(met(&mill, &sent.id()), [json!(delivery)], "a bezug meets it at any age");
        mill.storno(&sent.id()).is(200);
        mill.storno(&delivery).is(200);
    }
    let refused = server.cli(&["tenant", "set", "Mühle", "paarung_monate=1201"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("0 bis 1200"), "{refused:?}");
}

#[test]
fn what_enters_again_uses_its_own_date() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let a = mill.receive("A", 100);
    let old = dated(&mill, "LS", "2024-03-01", sell(5, &a)).id();
    let invoice = dated(&mill, "RE", "2024-03-05", plain(5)).id();
    let today = dated(&mill, "LS", "2026-07-10", sell(5, &a)).id();
    mill.storno(&old).is(200);
    assert_eq!((met(&mill, &invoice), met(&mill, &today)), (vec![], vec![]));
}

#[test]
fn a_document_knows_what_it_was_made_from_and_what_was_made_of_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let from = |typ: &str, before: &str| {
        let body = json!({"beleg_typ": typ, "kundennummer": "Kd", "vorgaenger_beleg_id": before,
            "items": [{"artikelnr": "S", "menge": 1}]});
        mill.client.post("/api/v1/belege", body)
    };
    let quote = mill.post("AN", json!({"artikelnr": "S", "menge": 1})).id();
    let order = from("AU", &quote).id();
    let delivery = from("LS", &order).id();
    let invoice = from("RE", &delivery).id();
    let number = |value: &Value| value["beleg_nummer"].as_str().unwrap_or("-").to_owned();
    let chain = |id: &str| {
        let shown = mill.get(id);
        let after = shown["nachfolger"].as_array().unwrap().iter().map(number).collect::<Vec<_>>().join(" ");
        (number(&shown["vorgaenger"]), after)
    };
    let expected = |before: &str, after: &str| (before.to_owned(), after.to_owned());
    assert_eq!(chain(&quote), expected("-", "AU-2026-00001"));
    assert_eq!(chain(&order), expected("AN-2026-00001", "LS-2026-00001"));
    assert_eq!(mill.get(&delivery)["vorgaenger_beleg_id"], order);
    mill.finalise(&invoice);
    mill.storno(&invoice).is(200);
    assert_eq!(chain(&invoice), expected("LS-2026-00001", "RE-2026-00002"), "its counter document");

    let other = mill.post_for("Kd2", "AN", json!({"artikelnr": "S", "menge": 1})).id();
    from("AU", &other).refused(400, "BEZUG_PASST_NICHT");
    from("AU", "01890000-0000-7000-8000-000000000000").refused(400, "BELEG_NICHT_GEFUNDEN");
    let put = |body: Value| mill.client.put(&format!("/api/v1/belege/{order}"), body);
    put(json!({"vorgaenger_beleg_id": order})).refused(400, "BEZUG_PASST_NICHT");
    let moved = put(json!({"kundennummer": "Kd2"}));
    assert!(moved.is(200).to_string().contains("vorgaenger_beleg_id"), "it is said that it is gone");
    assert_eq!(chain(&order).0, "-");
    put(json!({"vorgaenger_beleg_id": other})).is(200);
    assert_eq!(chain(&order).0, "AN-2026-00002");
}

#[test]
fn who_may_meet_is_the_same_from_either_side_at_the_end_of_a_month() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("paarung_monate", "1")]);
    let a = mill.receive("A", 100);
    for (early, late) in [("2026-02-28", "2026-03-31"), ("2026-01-31", "2026-02-28")] {
        let delivery = dated(&mill, "LS", early, sell(10, &a)).id();
        let invoice = dated(&mill, "RE", late, plain(10)).id();
        assert_eq!(met(&mill, &invoice), [json!(delivery)], "{early}");
        mill.put(&delivery, sell(10, &a)).is(200);
        assert_eq!(met(&mill, &invoice), [json!(delivery)], "{early}");
        mill.put(&invoice, plain(10)).is(200);
        assert_eq!(met(&mill, &invoice), [json!(delivery)], "{early}");
    }
    let delivery = dated(&mill, "LS", "2026-02-27", sell(10, &a)).id();
    dated(&mill, "RE", "2026-03-31", sell(10, &a)).hints("GEGENBELEG_ZU_ALT");
    assert_eq!(met(&mill, &delivery), [Value::Null; 0]);
}
