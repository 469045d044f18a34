//! The batches created by a production order (D8, D13).

use serde_json::{Value, json};

use super::{assert_fields, flour, ground, id_of, miller, miller_with, order, put, recipe, show};
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

/// Finishes a new order of recipe 1, with additional fields for its two outputs.
fn end(mill: &Mill<'_>, charge: &str, flour: Value, bran: Value) -> (Value, Answer) {
    let new = order(mill, 1);
    let mut body = ground(&new, charge, [100, 80, 20]);
    for (at, more) in [flour, bran].into_iter().enumerate() {
        body["outputs"][at] = and(body["outputs"][at].clone(), more);
    }
    let answer = put(mill, id_of(&new), "erledigt", body);
    (show(mill, id_of(&new)), answer)
}

#[test]
fn a_tracked_output_becomes_a_batch_of_its_own() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let (done, answer) = end(&mill, &charge, json!({"mhd": "2027-07-31"}), json!({}));
    answer.is(200);
    let batch = flour(&mill)[0].clone();
    let expected = json!({"charge_nr": "CH-2026-00002", "eingang_quelle": "produktion",
        "eingang_menge": "80.000",
        "bestand": "80.000", "einheit": "kg", "mhd": "2027-07-31T00:00:00.000Z", "partner_id": null,
        "eingang_beleg_id": null, "artikel_id": mill.artikel_id("M"), "fremde_charge_nr": null});
    assert_fields(&batch, expected);
    assert_eq!(done["outputs"][0]["neue_charge_nr"], "CH-2026-00002");
    assert_eq!(done["outputs"][1]["neue_charge_nr"], Value::Null, "bran is not tracked");
    let (done, answer) = end(&mill, &charge, json!({}), json!({}));
    answer.is(200);
    assert_eq!(done["outputs"][0]["neue_charge_nr"], "CH-2026-00003");
    assert_eq!(flour(&mill).len(), 2);
}

#[test]
fn what_goes_in_expired_or_comes_out_to_keep_longer_is_said() {
    let server = Server::start();
    let mill = miller(&server);
    let batch = |fremde: &str, mhd: Value| {
        let charge = mill.receive(fremde, 500);
        mill.client.put(&format!("/api/v1/chargen/{charge}"), json!({"mhd": mhd})).is(200);
        charge
    };
    let [old, soon, late] = [("old", "2026-07-09"), ("soon", "2026-07-10"), ("late", "2026-12-31")]
        .map(|(fremde, mhd)| batch(fremde, json!(mhd)));
    let undated = batch("undated", Value::Null);
    let expired = "MHD_ABGELAUFEN inputs[0].charge_id";
    let longer = "MHD_SPAETER_ALS_EINSATZ outputs[0].mhd";
    let rows: [(&str, Value, &[&str]); 7] = [
        (&old, json!({}), &[expired]),
        (&old, json!({"mhd": "2026-07-10"}), &[expired, longer]),
        (&soon, json!({}), &[]),
        (&soon, json!({"mhd": "2026-07-10"}), &[]),
        (&soon, json!({"mhd": "2026-07-11"}), &[longer]),
        (&undated, json!({"mhd": "2027-07-11"}), &[]),
        (&late, json!({"mhd": "2027-07-11"}), &[longer]),
    ];
    let said = |answer: &Answer| -> Vec<String> {
        let hints = answer.is(200)["hinweise"].as_array().unwrap().iter();
        hints
            .map(|hint| [&hint["code"], &hint["feld"]].map(|text| text.as_str().unwrap()).join(" "))
            .collect()
    };
    for (charge, flour, expected) in rows {
        let (_, answer) = end(&mill, charge, flour.clone(), json!({}));
        assert_eq!(said(&answer), expected, "{flour}");
    }
    // The first of several that goes in counts, and none of which nothing went in.
    let mixed = |parts: Value| {
        let new = order(&mill, 1);
        let mut body = ground(&new, "", [100, 80, 20]);
        body["inputs"] = json!([{"id": new["inputs"][0]["id"], "teile": parts}]);
        body["outputs"][0]["mhd"] = json!("2026-10-01");
        said(&put(&mill, id_of(&new), "erledigt", body))
    };
    let part = |charge: &str, menge: i64| json!({"charge_id": charge, "ist_menge": menge});
    assert_eq!(mixed(json!([part(&late, 60), part(&soon, 40)])), [longer]);
    assert_eq!(mixed(json!([part(&late, 100), part(&soon, 0)])), [""; 0]);
}

#[test]
fn a_batch_may_have_a_number_of_its_own() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let (done, answer) = end(&mill, &charge, json!({"charge_nr": " M-7 "}), json!({"charge_nr": "M-7"}));
    answer.is(200);
    let numbers = [&done["outputs"][0]["neue_charge_nr"], &done["outputs"][1]["neue_charge_nr"]];
    assert_eq!(json!(numbers), json!(["M-7", "M-7"]), "a number is unique for its article");
    assert_eq!(mill.batches().len(), 3);
    // An article that is not tracked gets a batch if a number or a date is given.
    let (done, answer) = end(&mill, &charge, json!({}), json!({"mhd": "2026-12-24"}));
    answer.is(200);
    let bran = done["outputs"][1]["neue_charge_nr"].clone();
    let batch = mill.batches().into_iter().find(|batch| batch["charge_nr"] == bran).unwrap();
    let expected = json!({"artikel_bezeichnung": "Kleie", "mhd": "2026-12-24T00:00:00.000Z",
        "bestand": "20.000",
        "eingang_quelle": "produktion"});
    assert_fields(&batch, expected);
}

#[test]
fn a_number_is_given_once_and_ours_are_reserved() {
    let server = Server::start();
    let mill = miller(&server);
    let other = miller_with(&server, "Andere", &[]);
    let charge = mill.receive("C1", 5000);
    end(&mill, &charge, json!({"charge_nr": "M-7"}), json!({})).1.is(200);
    let body = json!({"artikel_id": mill.artikel_id("M"), "charge_nr": "M-8"});
    mill.client.post("/api/v1/chargen", body).is(201);
    let before = (mill.stock("C1"), mill.batches().len());
    for (number, status, code) in [
        ("M-7", 409, "CHARGE_NR_BEREITS_VERGEBEN"),
        ("M-8", 409, "CHARGE_NR_BEREITS_VERGEBEN"),
        ("CH-2026-00099", 400, "NUMMER_RESERVIERT"),
    ] {
        let (done, answer) = end(&mill, &charge, json!({"charge_nr": number}), json!({}));
        answer.refused(status, code);
        assert_eq!(
            (done["status"].as_str(), &done["inputs"][0]["ist_menge"]),
            (Some("schwebend"), &Value::Null)
        );
        assert_eq!((mill.stock("C1"), mill.batches().len()), before, "{number}");
    }
    // Another company may use the same number.
    let theirs = other.receive("C1", 500);
    end(&other, &theirs, json!({"charge_nr": "M-7"}), json!({})).1.is(200);
}

#[test]
fn two_outputs_of_one_order_cannot_share_a_number() {
    let server = Server::start();
    let mill = miller(&server);
    let out = json!([{"artikelnummer": "M", "menge": 40}, {"artikelnummer": "M", "menge": 40}]);
    recipe(&mill, json!({"id": 6, "bezeichnung": "Zwei", "inputs": [], "outputs": out}));
    let new = order(&mill, 6);
    let body = |numbers: [&str; 2]| {
        let line =
            |at: usize| json!({"id": new["outputs"][at]["id"], "ist_menge": 40, "charge_nr": numbers[at]});
        json!({"outputs": [line(0), line(1)]})
    };
    let answer = put(&mill, id_of(&new), "erledigt", body(["A", "A"]));
    answer.refused(409, "CHARGE_NR_BEREITS_VERGEBEN");
    assert_eq!((show(&mill, id_of(&new)), flour(&mill).len()), (new.clone(), 0));
    put(&mill, id_of(&new), "erledigt", body(["A", "B"])).is(200);
    let numbers: Vec<_> = flour(&mill).iter().map(|batch| batch["charge_nr"].clone()).collect();
    assert_eq!(numbers, ["A", "B"]);
}

#[test]
fn where_nothing_came_out_no_batch_is_made_and_that_is_said() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let rows = [
        (json!({"charge_nr": "M-1"}), vec!["outputs[0].charge_nr"]),
        (json!({"mhd": "2027-01-01"}), vec!["outputs[0].mhd"]),
        (json!({"charge_nr": "M-1", "mhd": "2027-01-01"}), vec!["outputs[0].charge_nr"]),
        (json!({}), vec![]),
    ];
    for (more, fields) in rows {
        let new = order(&mill, 1);
        let mut body = ground(&new, &charge, [10, 0, 5]);
        body["outputs"][0] = and(body["outputs"][0].clone(), more.clone());
        let answer = put(&mill, id_of(&new), "erledigt", body);
        answer.is(200);
        let hints = answer.body["hinweise"].as_array().unwrap();
        let named: Vec<_> = hints.iter().map(|hint| hint["feld"].as_str().unwrap()).collect();
        assert_eq!(named, fields, "{more}: {hints:?}");
        assert!(answer.hint_codes().iter().all(|code| code == "FELD_IGNORIERT"), "{hints:?}");
        assert_eq!(show(&mill, id_of(&new))["outputs"][0]["neue_charge_nr"], Value::Null, "{more}");
    }
    assert_eq!(flour(&mill), [] as [Value; 0]);
}

#[test]
fn an_output_may_have_an_organic_certificate() {
    let server = Server::start();
    let mill = miller(&server);
    let file = "id;nummer;gueltig_bis\n5;DE-ÖKO-001;2027-12-31\n6;DE-ÖKO-002;2026-01-31\n";
    server.import(&mill.client, "biozertifikate", file);
    let charge = mill.receive("C1", 5000);
    let (_, answer) = end(&mill, &charge, json!({"biozertifikat_id": 99}), json!({}));
    let refused = answer.refused(400, "BIOZERTIFIKAT_NICHT_GEFUNDEN");
    assert_eq!(refused["feld"], "outputs[0].biozertifikat_id");
    // A certificate makes a batch, too, for an article that is not tracked.
    let certificate = json!({"biozertifikat_id": 5});
    let (done, answer) = end(&mill, &charge, certificate.clone(), certificate);
    assert_eq!((answer.is(200)["status"].as_str(), answer.hint_codes().len()), (Some("erledigt"), 0));
    for output in done["outputs"].as_array().unwrap() {
        let made = mill.client.get(&format!("/api/v1/chargen/{}", output["charge_id"].as_str().unwrap()));
        assert_eq!((&made.is(200)["biozertifikat_id"], &output["biozertifikat_id"]), (&json!(5), &json!(5)));
    }
    let (_, answer) = end(&mill, &charge, json!({"biozertifikat_id": 6}), json!({}));
    let hinted = answer.hints("BIOZERTIFIKAT_ABGELAUFEN");
    assert_eq!(hinted["hinweise"][0]["feld"], "outputs[0].biozertifikat_id");
    // Without output there is no batch that could have the certificate.
    let new = order(&mill, 1);
    let mut body = ground(&new, &charge, [30, 0, 20]);
    body["outputs"][0]["biozertifikat_id"] = json!(5);
    let answer = put(&mill, id_of(&new), "erledigt", body);
    assert_eq!(answer.hints("FELD_IGNORIERT")["hinweise"][0]["feld"], "outputs[0].biozertifikat_id");
}
