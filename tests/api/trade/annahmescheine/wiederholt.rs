//! external_ref of goods receipts (D19, D21a), and many receipts at the same instant.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{PATH, at_once, counts, post};
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

fn with_delivery() -> Value {
    json!({"anliefermenge_kg": 1000, "preis_je_t": 200, "fremde_charge_nr": "C1", "el_erzeugen": true,
        "external_ref": "Silo 4711"})
}

/// How many of the answers have this status.
fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

#[test]
fn a_repeated_external_ref_gives_the_note_that_is_there() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = post(&mill, with_delivery());
    first.is(201);
    let same = [
        json!({}),
        json!({"anliefermenge_kg": "1000.000", "preis_je_t": "200.0"}),
        json!({"kundennummer": " HOF ", "artikelnr": "w"}),
        json!({"kundennummer": null, "partner_id": mill.partner_id("Hof"), "bemerkung": null}),
        json!({"kundennummer": null, "kunden_id": mill.partner_id("Hof"), "artikelnr": null,
            "artikel_id": mill.artikel_id("W")}),
    ];
    for more in same {
        let answer = post(&mill, and(with_delivery(), more.clone()));
        assert_eq!(answer.is(200)["id"], first.body["id"], "{more}");
        assert_eq!(answer.body["idempotent"], true, "{more}");
        assert_eq!(answer.body.get("inhalt_abweichend"), None, "{more}: {}", answer.body);
        assert_eq!(answer.hint_codes(), [""; 0], "{more}");
        assert_eq!(answer.body["belegnummer"], "AS-2026-00001", "{more}");
        assert_eq!(answer.body["netto_betrag"], "200.00", "{more}");
        assert_eq!(answer.body["el_id"], first.body["el_id"], "{more}");
    }
    let different = [
        json!({"anliefermenge_kg": 1001}),
        json!({"kundennummer": "Gut"}),
        json!({"artikelnr": "R"}),
        json!({"el_erzeugen": false}),
        json!({"bemerkung": "nass"}),
    ];
    for more in different {
        let answer = post(&mill, and(with_delivery(), more.clone()));
        assert_eq!(answer.hints("INHALT_ABWEICHEND")["inhalt_abweichend"], true, "{more}");
        assert_eq!(
            (&answer.body["id"], &answer.body["idempotent"]),
            (&first.body["id"], &json!(true)),
            "{more}"
        );
    }
    // Checked before required fields (D19).
    let answer = mill.client.post(PATH, json!({"external_ref": "Silo 4711"}));
    assert_eq!((&answer.is(200)["id"], &answer.body["inhalt_abweichend"]), (&first.body["id"], &json!(true)));
    assert_eq!(counts(&server), [1, 1, 1]);
    assert_eq!(mill.stock("C1"), "1000.000");
}

#[test]
fn a_repeat_says_the_same_when_the_article_is_no_longer_used() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = post(&mill, with_delivery()).id();
    server.import(&mill.client, "artikel", "artikelnummer;bezeichnung;status\nW;Weizen;inaktiv\n");
    let answer = post(&mill, with_delivery());
    assert_eq!((&answer.is(200)["id"], answer.body.get("inhalt_abweichend")), (&json!(id), None));
}

#[test]
fn an_external_ref_is_stored_on_success_only_and_belongs_to_one_company() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let other = Mill::with(&server, "Andere", &[]);
    post(&mill, and(with_delivery(), json!({"fremde_charge_nr": null}))).refused(400, "CHARGE_FEHLT");
    let first = post(&mill, with_delivery());
    first.is(201);
    let theirs = post(&other, with_delivery());
    assert_eq!(theirs.is(201)["belegnummer"], "AS-2026-00001");
    assert_ne!(theirs.body["id"], first.body["id"]);
    // A blank value counts as absent.
    for blank in ["", "  "] {
        post(&mill, and(with_delivery(), json!({"external_ref": blank}))).is(201);
    }
    assert_eq!(counts(&server), [4, 4, 4]);
}

#[test]
fn of_many_first_calls_with_one_external_ref_one_makes_the_note() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let answers = at_once(16, |_| post(&mill, with_delivery()));
    assert_eq!((count(&answers, 201), count(&answers, 200)), (1, 15));
    let ids: BTreeSet<_> = answers.iter().map(Answer::id).collect();
    assert_eq!(ids.len(), 1);
    for repeated in answers.iter().filter(|answer| answer.status == 200) {
        assert_eq!(repeated.body["idempotent"], true);
        assert_eq!(repeated.body.get("inhalt_abweichend"), None);
    }
    assert_eq!((counts(&server), mill.stock("C1").as_str()), ([1, 1, 1], "1000.000"));
}

#[test]
fn many_notes_at_once_leave_no_gap() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let answers = at_once(30, |at| {
        let mut body = json!({"anliefermenge_kg": 100, "preis_je_t": 200, "el_erzeugen": at % 2 == 0,
            "fremde_charge_nr": "C1"});
        if at % 5 == 0 {
            body["sonstige_abzuege_kg"] = json!(101);
        }
        post(&mill, body)
    });
    assert_eq!((count(&answers, 201), count(&answers, 400)), (24, 6));
    let of = |field: &str| -> BTreeSet<String> {
        let created = answers.iter().filter(|answer| answer.status == 201);
        created.filter_map(|answer| answer.body[field].as_str().map(str::to_owned)).collect()
    };
    let numbers = |series: &str, last: usize| -> BTreeSet<String> {
        (1..=last).map(|number| format!("{series}-2026-{number:05}")).collect()
    };
    assert_eq!(of("belegnummer"), numbers("AS", 24));
    assert_eq!(of("el_beleg_nummer"), numbers("EL", 12));
    assert_eq!(mill.stock("C1"), "1200.000");
}

#[test]
fn one_weighing_goes_into_one_note() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = super::weigh(&mill, json!({}));
    let answers = at_once(12, |_| post(&mill, json!({"wiegung_id": wiegung})));
    assert_eq!((count(&answers, 201), count(&answers, 400)), (1, 11));
    for refused in answers.iter().filter(|answer| answer.status == 400) {
        refused.refused(400, "WIEGUNG_BEREITS_VERWENDET");
    }
}
