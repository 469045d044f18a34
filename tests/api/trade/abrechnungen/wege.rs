//! Requests for settlements: repeated, read again, of another company.

use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use super::{A, B, Hof, PATH};
use crate::harness::Server;
use crate::trade::lager::and;

#[test]
fn a_repeated_request_finds_the_settlement() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let body = json!({"external_ref": "erp-1"});
    let made = hof.settle("end", &[&note], body.clone());
    made.is(201);
    let again = hof.settle("end", &[&note], body.clone());
    assert_eq!((&again.is(200)["id"], &again.body["idempotent"]), (&made.body["id"], &json!(true)));
    assert_eq!(again.body["inhalt_abweichend"], Value::Null);
    let other = hof.settle("end", &[&note], and(body, json!({"preis_je_t": 1})));
    assert_eq!(other.is(200)["inhalt_abweichend"], true);
    let taken = json!({"beleg_typ": "BS", "kundennummer": "Hof", "external_ref": "erp-2",
        "items": [{"bezeichnung": "Säcke", "menge": 1}]});
    hof.post("/api/v1/belege", taken).is(201);
    let refused = hof.settle("end", &[&note], json!({"external_ref": "erp-2"}));
    assert_eq!(refused.refused(400, "FELD_WIDERSPRUCH")["feld"], "external_ref");
}

#[test]
fn a_settlement_is_read_with_all_rows_and_listed() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let notes = [hof.note(24_860, A, json!({})), hof.note(12_140, B, json!({}))];
    let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
    let shown = hof.mill.client.get(&format!("{PATH}/{}", made.id()));
    assert_eq!(shown.is(200)["annahmescheine"], made.is(201)["annahmescheine"], "as it was printed");
    let first = &shown.body["annahmescheine"][0];
    assert_eq!((&first["schema"], &first["schema_version"]), (&json!("WEIZEN"), &json!(1)));
    assert_eq!(first["rechnung"]["zeilen"][0]["ergebnis"], "-199.000");
    let listed = |query: &str| {
        let list = hof.mill.client.get(&format!("{PATH}?{query}"));
        list.is(200)["data"].as_array().unwrap().len()
    };
    assert_eq!(shown.body["anzahl"], 2);
    for (query, expected) in [
        ("", 1),
        ("art=end", 1),
        ("art=abschlag,nachverguetung", 0),
        ("von=2026-07-26", 0),
        ("bis=2026-07-25", 1),
        (&*format!("annahmeschein_id={}", notes[1]), 1),
        ("annahmeschein_id=0197f3a0-0000-7000-8000-000000000000", 0),
        (&*format!("partner_id={}", hof.mill.partner_id("Hof")), 1),
        (&*format!("partner_id={}", hof.mill.partner_id("Gut")), 0),
    ] {
        assert_eq!(listed(query), expected, "{query}");
    }
}

#[test]
fn settlements_are_read_and_made_with_their_own_scopes() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let reader = server.key(hof.mill.client.tenant, &[Scope::AbrechnungRead]);
    let body = json!({"art": "end", "annahmeschein_ids": [note]});
    reader.post(&format!("{PATH}/vorschau"), body.clone()).is(200);
    reader.get(PATH).is(200);
    reader.post(PATH, body.clone()).refused(403, "SCOPE_FEHLT");
    let clerk = server.key(hof.mill.client.tenant, &[Scope::RohwarenWrite, Scope::BelegeWrite]);
    clerk.post(PATH, body.clone()).refused(403, "SCOPE_FEHLT");
    clerk.post(&format!("{PATH}/vorschau"), body).refused(403, "SCOPE_FEHLT");
}

#[test]
fn nothing_alters_what_was_settled() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    hof.settle("end", &[&note], json!({})).is(201);
    let writer = rusqlite::Connection::open(&server.database).unwrap();
    for statement in [
        "update abrechnung set art = 'abschlag'",
        "delete from abrechnung",
        "update abrechnung_annahme set netto_kg = 1",
        "delete from abrechnung_annahme",
    ] {
        assert!(writer.execute(statement, []).is_err(), "{statement}");
    }
}

#[test]
fn the_command_line_shows_and_makes_the_same_settlement() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    let cli = |command: &str, more: &[&str]| {
        let fixed = ["abrechnung", command, "--tenant", "Mühle", "--partner", "Hof"];
        let output = server.cli(&[&fixed[..], more].concat());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, told, _) = cli("vorschau", &[]);
    let expected = "Weizen: 24,116 t × 204,00 = 4.919,66 EUR\n\
                    netto 4.919,66 EUR, Umsatzsteuer 383,73 EUR, zusammen 5.303,39 EUR\n";
    assert_eq!((code, told.as_str()), (Some(0), expected));
    assert_eq!(hof.state(&note), "offen");
    let (code, _, errors) = cli("anlegen", &["--art", "abschlag"]);
    assert!(code == Some(1) && errors.contains("abschlag"), "{errors}");
    let (code, number, _) = cli("anlegen", &["--art", "abschlag", "--prozent", "50,5", "--abschliessen"]);
    assert_eq!((code, number.as_str()), (Some(0), "ER-2026-00001\n"));
    let (code, made, errors) = cli("anlegen", &["--abschliessen", "--json"]);
    let made: Value = serde_json::from_str(&made).unwrap_or_else(|_| panic!("{errors}"));
    assert_eq!((code, &made["summe_netto"]), (Some(0), &json!("2435.23")));
    assert_eq!(hof.state(&note), "abgerechnet");
    let (code, _, errors) = cli("vorschau", &[]);
    assert!(code == Some(1) && errors.contains("nichts abzurechnen"), "{errors}");
}
