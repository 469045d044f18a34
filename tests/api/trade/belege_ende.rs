//! Final states of a document: finalised, cancelled, archived, its history, and the polling list
//! (specification; D4, D11, D21c).

mod archiv;
mod dokumente;

use serde_json::{Value, json};

use crate::harness::{Answer, COMPLETE, Server};
use crate::trade::lager::{Mill, buy, moves, plain, sell, without_ties};

/// Creates a document to Kd or from Hof over sacks, which have no batches.
fn create(mill: &Mill<'_>, typ: &str) -> String {
    mill.post(typ, json!({"artikelnr": "S", "menge": 2, "ep_netto": 10})).id()
}

/// Sends an action for a document, without checking the answer.
fn tell(mill: &Mill<'_>, id: &str, what: &str, body: Value) -> Answer {
    mill.client.post(&format!("/api/v1/belege/{id}/{what}"), body)
}

fn cents(money: &Value) -> i64 {
    money.as_str().unwrap().replace('.', "").parse().unwrap()
}

#[test]
fn finalising_twice_is_the_same_as_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["AN", "AU", "LS", "RE", "BS", "EL", "ER"] {
        let id = create(&mill, typ);
        let path = format!("/api/v1/belege/{id}/abschliessen");
        let first = mill.client.send("POST", &path, &[], None);
        assert_eq!((first.status, &first.body["status"]), (200, &json!("abgeschlossen")), "{typ}");
        assert_eq!((first.id(), &first.body["beleg_nummer"]), (id.clone(), &mill.get(&id)["beleg_nummer"]));
        let before = mill.get(&id);
        assert_eq!(mill.client.send("POST", &path, &[], None).is(200)["status"], "abgeschlossen", "{typ}");
        assert_eq!(mill.get(&id), before, "{typ}");
        let history = mill.client.get(&format!("/api/v1/belege/{id}/verlauf"));
        assert_eq!(history.is(200)["count"], 1, "{typ}");
    }
}

#[test]
fn two_finalise_calls_at_once_both_succeed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    let path = format!("/api/v1/belege/{id}/abschliessen");
    std::thread::scope(|scope| {
        let call = || mill.client.clone().post(&path, json!({})).is(200)["status"].clone();
        let calls = [scope.spawn(call), scope.spawn(call)];
        for status in calls.map(|thread| thread.join().unwrap()) {
            assert_eq!(status, "abgeschlossen");
        }
    });
    let history = mill.client.get(&format!("/api/v1/belege/{id}/verlauf"));
    assert_eq!(history.is(200)["count"], 1);
}

#[test]
fn a_cancelled_document_is_not_finalised_and_what_is_not_there_is_404() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    mill.storno(&id).is(200);
    tell(&mill, &id, "abschliessen", json!({})).refused(400, "BELEG_STORNIERT");
    assert_eq!(mill.get(&id)["status"], "storniert");
    let other = Mill::with(&server, "Andere", &[]);
    for what in ["abschliessen", "storno", "pdf"] {
        let body = json!({"grund": "x", "datei_base64": "JVBERi0xLjQgZWlucw=="});
        tell(&other, &id, what, body.clone()).refused(404, "NICHT_GEFUNDEN");
        tell(&mill, "keine-uuid", what, body).refused(404, "NICHT_GEFUNDEN");
    }
    for what in ["verlauf", "pdf"] {
        let path = format!("/api/v1/belege/{id}/{what}");
        assert_eq!(
            other.client.get(&path).refused(404, "NICHT_GEFUNDEN")["error"],
            "NICHT_GEFUNDEN",
            "{what}"
        );
    }
}

#[test]
fn finalising_and_storno_take_if_match() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for what in ["abschliessen", "storno"] {
        let id = create(&mill, "AU");
        let path = format!("/api/v1/belege/{id}");
        let old = mill.client.get(&path).headers["etag"].clone();
        mill.client.put(&path, json!({"notizen": "neu"})).is(200);
        let new = mill.client.get(&path).headers["etag"].clone();
        let call = |etag: &str| {
            let body = br#"{"grund": "x"}"#;
            mill.client.send("POST", &format!("{path}/{what}"), &[("if-match", etag)], Some(body))
        };
        assert_eq!(
            call(&old).refused(412, "ZWISCHENZEITLICH_GEAENDERT")["error"],
            "ZWISCHENZEITLICH_GEAENDERT"
        );
        assert_eq!(mill.get(&id)["status"], "offen", "{what}");
        assert_eq!(call(&new).status, 200, "{what}");
    }
}

#[test]
fn the_partner_is_copied_when_a_document_is_finalised() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (open, done) = (create(&mill, "RE"), create(&mill, "RE"));
    mill.finalise(&done);
    let partner = format!("/api/v1/kunden/{}", mill.partner_id("Kd"));
    mill.client.put(&partner, json!({"name": "Neuer Name"})).is(200);
    let names = || [mill.get(&open)["kunden_name"].clone(), mill.get(&done)["kunden_name"].clone()];
    assert_eq!(names(), ["Neuer Name", "Kd"]);
    let list = mill.client.get("/api/v1/dokumente?since=2026-07-01");
    assert_eq!(list.is(200)[0]["kunde_name"], "Kd");
    mill.finalise(&open);
    mill.client.put(&partner, json!({"name": "Noch einer"})).is(200);
    assert_eq!(names(), ["Neuer Name", "Kd"]);
}

#[test]
fn only_finalised_invoices_get_a_counter_document() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["AN", "AU", "LS", "RE", "BS", "EL", "ER"] {
        for finalised in [false, true] {
            let name = format!("{typ}, finalised: {finalised}");
            let id = create(&mill, typ);
            let number = mill.get(&id)["beleg_nummer"].clone();
            if finalised {
                mill.finalise(&id);
            }
            let moved = ["LS", "EL"].contains(&typ) || ["RE", "ER"].contains(&typ);
            let answer = mill.storno(&id);
            let body = answer.is(200);
            assert_eq!(
                (&body["id"], &body["beleg_nummer"], &body["status"]),
                (&json!(id), &number, &json!("storniert"))
            );
            assert_eq!(moves(&answer).len(), usize::from(moved), "{name}: {body}");
            let counter = finalised && ["RE", "ER"].contains(&typ);
            assert_eq!(body["storno_beleg_id"].is_string(), counter, "{name}: {body}");
            assert_eq!(body["storno_beleg_nummer"].is_string(), counter, "{name}: {body}");
            assert_eq!(mill.get(&id)["status"], "storniert", "{name}");
        }
    }
}

#[test]
fn the_counter_document_undoes_the_invoice() {
    let server = Server::start_at("2026-12-30T10:00:00Z");
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let freight = json!({"bezeichnung": "Fracht", "menge": "1.5", "ep_netto": "33.33", "mwst_satz": 19});
    let credit = json!({"artikelnr": "W", "menge": -3, "ep_netto": "0.3", "steuer_kategorie": "AE"});
    let id = mill.post("RE", json!([sell(10, &charge), freight, credit])).id();
    mill.finalise(&id);
    let original = mill.get(&id);
    server.set_clock("2027-01-02T10:00:00Z");
    let answer = mill.storno(&id);
    assert_eq!(answer.is(200)["storno_beleg_nummer"], "RE-2027-00001");
    assert_eq!((moves(&answer), mill.stock("C1").as_str()), (vec!["10.000".to_owned()], "100.000"));
    let counter = mill.get(answer.body["storno_beleg_id"].as_str().unwrap());
    let expected = json!({"beleg_typ": "RE", "beleg_nummer": "RE-2027-00001", "status": "abgeschlossen",
        "beleg_datum": "2027-01-02T00:00:00.000Z", "ist_gutschrift": true, "storno_von_beleg_id": id,
        "kunde_id": original["kunde_id"], "kunden_name": "Kd"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&counter[field], value, "{field}");
    }
    for field in ["summe_netto", "summe_mwst", "summe_brutto"] {
        assert_eq!(cents(&counter[field]) + cents(&original[field]), 0, "{field}");
    }
    let positions = |beleg: &Value| beleg["positionen"].as_array().unwrap().clone();
    assert_eq!(positions(&counter).len(), 3);
    for (old, new) in positions(&original).iter().zip(positions(&counter)) {
        let sum = |field: &str| -> f64 {
            [&old[field], &new[field]].map(|v| v.as_str().unwrap().parse::<f64>().unwrap()).iter().sum()
        };
        assert_eq!((sum("menge"), sum("gesamtpreis")), (0.0, 0.0), "{new}");
        for field in ["bezeichnung", "ep_netto", "mwst_satz", "steuer_kategorie", "artikel_id", "position"] {
            assert_eq!(old[field], new[field], "{field}");
        }
    }
    assert_eq!(positions(&mill.get(&id)), positions(&original), "the cancelled one stays as it was");
    assert_eq!(mill.client.get("/api/v1/belege?typ=RE").is(200)["count"], 2);
}

#[test]
fn a_storno_needs_a_reason_and_happens_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "ER");
    mill.finalise(&id);
    for body in [json!({}), json!({"grund": "  "}), json!({"grund": null})] {
        assert_eq!(
            tell(&mill, &id, "storno", body.clone()).refused(400, "FELD_FEHLT")["feld"],
            "grund",
            "{body}"
        );
    }
    assert_eq!(mill.get(&id)["status"], "abgeschlossen");
    let counter = mill.storno(&id).is(200)["storno_beleg_id"].as_str().unwrap().to_owned();
    for cancelled in [&id, &counter] {
        mill.storno(cancelled).refused(400, "BELEG_NICHT_STORNIERBAR");
    }
    assert_eq!(mill.client.get("/api/v1/belege?typ=ER").is(200)["count"], 2);
}

#[test]
fn a_settled_invoice_gets_a_counter_document_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill, "RE");
    mill.finalise(&id);
    let tenant = mill.client.tenant.to_string();
    let settled = server.cli(&["beleg", "erledigen", "RE-2026-00001", "--tenant", &tenant]);
    assert!(settled.status.success(), "{}", String::from_utf8_lossy(&settled.stderr));
    assert_eq!(mill.get(&id)["status"], "erledigt");
    assert_eq!(mill.storno(&id).is(200)["storno_beleg_nummer"], "RE-2026-00002");
}

#[test]
fn in_a_locked_period_documents_still_end_but_only_finalised_invoices_are_cancelled() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let ids = ["RE", "RE", "LS", "LS", "AU"].map(|typ| {
        let items = json!([{"artikelnr": "S", "menge": 2}]);
        let body =
            json!({"beleg_typ": typ, "kundennummer": "Kd", "beleg_datum": "2026-07-05", "items": items});
        mill.client.post("/api/v1/belege", body).id()
    });
    server.set(&mill.client, &[("gesperrt_bis", "2026-07-09")]);
    for id in [&ids[0], &ids[2], &ids[4]] {
        mill.finalise(id);
    }
    let content = json!({"datei_base64": "JVBERi0xLjQgZWlucw==", "abschliessen": false});
    tell(&mill, &ids[0], "pdf", content).is(201);
    assert_eq!(mill.storno(&ids[0]).is(200)["storno_beleg_nummer"], "RE-2026-00003");
    for id in &ids[1..] {
        mill.storno(id).refused(400, "ZEITRAUM_GESPERRT");
    }
}

#[test]
fn the_history_keeps_each_version_before_its_change() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.receive("C1", 100);
    let id = mill.post("EL", buy(10, "C1")).id();
    let path = format!("/api/v1/belege/{id}");
    let history = || mill.client.get(&format!("{path}/verlauf")).is(200).clone();
    assert_eq!(history(), json!({"data": [], "count": 0}));
    let steps: [(&str, &dyn Fn()); 4] = [
        ("aendern", &|| {
            mill.client.put(&path, json!({"notizen": "neu"})).is(200);
        }),
        ("aendern", &|| {
            mill.put(&id, buy(20, "C1")).is(200);
        }),
        ("abschliessen", &|| mill.finalise(&id)),
        ("storno", &|| {
            mill.storno(&id).is(200);
        }),
    ];
    let key = mill.client.key.as_deref().unwrap().split('_').nth(1).unwrap().to_owned();
    let mut expected = Vec::new();
    for (at, (aktion, step)) in steps.into_iter().enumerate() {
        let now = format!("2026-07-10T1{at}:00:00");
        server.set_clock(&format!("{now}Z"));
        let beleg = without_ties(mill.get(&id));
        step();
        expected.push(json!({"version": at + 1, "am": format!("{now}.000Z"), "key_id": key,
            "aktion": aktion, "beleg": beleg}));
        assert_eq!(history(), json!({"data": expected, "count": at + 1}), "{aktion}");
    }
    // A request that is refused or changes nothing leaves no entry.
    mill.storno(&id).refused(400, "BELEG_NICHT_STORNIERBAR");
    tell(&mill, &id, "abschliessen", json!({})).refused(400, "BELEG_STORNIERT");
    mill.post("LS", plain(1)).refused(400, "CHARGE_FEHLT");
    assert_eq!(history()["count"], 4);
}

#[test]
fn the_command_line_finalises() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let ids = [create(&mill, "RE"), create(&mill, "LS"), create(&mill, "RE")];
    let tenant = mill.client.tenant.to_string();
    let done = server.cli(&["beleg", "abschliessen", "RE-2026-00001", "LS-2026-00001", "--tenant", &tenant]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let status = ids.map(|id| mill.get(&id)["status"].clone());
    assert_eq!(status, ["abgeschlossen", "abgeschlossen", "offen"]);
}

#[test]
fn invoices_are_final_after_the_day_on_which_they_were_created() {
    let mut server = Server::start_at("2026-07-10T21:30:00Z");
    let (ids, tenant) = {
        let mill = Mill::of(&server);
        (["RE", "LS", "ER"].map(|typ| create(&mill, typ)), mill.client.tenant)
    };
    let mut seen = Vec::new();
    for instant in ["2026-07-10T21:59:59Z", "2026-07-10T22:00:01Z"] {
        server.set_clock(instant);
        server.restart();
        let client = server.key(tenant, &[partnerd::rules::scope::Scope::BelegeRead]);
        let get = |id: &String| client.get(&format!("/api/v1/belege/{id}")).is(200)["status"].clone();
        seen.push(ids.iter().map(get).collect::<Vec<_>>());
    }
    assert_eq!(seen[0], ["offen", "offen", "offen"], "the last second of the day");
    assert_eq!(seen[1], ["abgeschlossen", "offen", "offen"], "by default invoices only");
}

#[test]
fn an_invoice_whose_sheet_is_too_long_does_not_keep_others_from_the_end_of_the_day() {
    let mut server = Server::start_at("2026-07-10T20:00:00Z");
    let (ids, tenant) = {
        let mill = Mill::with(&server, "Mühle", COMPLETE);
        let rows = |n| json!({"artikelnummer": format!("L{n}"), "bezeichnung": "A", "langtext": "W\n".repeat(1_999)});
        server.import(&mill.client, "artikel", &json!((0..1_000).map(rows).collect::<Vec<_>>()).to_string());
        let item = |n| json!({"artikelnr": format!("L{n}"), "menge": 1, "ep_netto": 1, "mwst_satz": 7});
        let items: Vec<_> = (0..1_000).map(item).collect();
        let body = json!({"beleg_typ": "RE", "kundennummer": "Kd", "items": items});
        let long = mill.client.post("/api/v1/belege", body).id();
        ([long, create(&mill, "RE")], mill.client.tenant)
    };
    server.set_clock("2026-07-10T22:00:01Z");
    server.restart();
    let client = server.key(tenant, &[partnerd::rules::scope::Scope::BelegeRead]);
    let status = ids.map(|id| client.get(&format!("/api/v1/belege/{id}")).is(200)["status"].clone());
    assert_eq!(status, ["offen", "abgeschlossen"]);
}
