//! Importing goods receipts (D22): upsert by belegnummer; a given net quantity is kept.

use serde_json::{Value, json};

use super::{assert_fields, notes, post, weigh};
use crate::harness::Server;
use crate::trade::lager::{Mill, and};

const KIND: &str = "annahmescheine";

fn note(mill: &Mill<'_>, belegnummer: &str) -> Value {
    let found = notes(mill).into_iter().find(|note| note["belegnummer"] == belegnummer);
    found.unwrap_or_else(|| panic!("no note {belegnummer}"))
}

/// Imports a file that must be refused; returns the message.
fn refused(mill: &Mill<'_>, file: &str) -> String {
    let path = mill.server.database.with_file_name("refused.import");
    std::fs::write(&path, file).unwrap();
    let tenant = mill.client.tenant.to_string();
    let output = mill.server.cli(&["import", KIND, path.to_str().unwrap(), "--tenant", &tenant]);
    assert_eq!(output.status.code(), Some(1), "{file}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn json_and_tables_say_the_same_and_the_second_run_changes_nothing() {
    let server = Server::start();
    let array = json!([{"belegnummer": "S-1", "status": "abgerechnet", "partner": "Hof", "artikelnummer": "W",
        "lieferdatum": "2025-08-01", "anliefermenge_kg": 24860, "feuchte_prozent": 16.2,
        "basisfeuchte_prozent": 14.5, "schwundfaktor": "1.3", "besatz_prozent": 2.8, "basisbesatz_prozent": 2,
        "preis_je_t": "213.455", "fremde_charge_nr": "H1", "herkunftsland": "AT", "bemerkung": "nass"}]);
    let lines = array[0].to_string();
    let table = "belegnummer;status;partner;artikelnummer;lieferdatum;anliefermenge_kg;feuchte_prozent;\
        basisfeuchte_prozent;schwundfaktor;besatz_prozent;basisbesatz_prozent;preis_je_t;fremde_charge_nr;\
        herkunftsland;bemerkung\n\
        S-1;abgerechnet;Hof;W;01.08.2025;24.860,000;16,2;14,5;1,3;2,8;2,0;213,455;H1;Österreich;nass\n";
    for (name, file) in [("array", array.to_string()), ("lines", lines), ("table", table.to_owned())] {
        let mill = Mill::with(&server, name, &[]);
        assert_eq!(server.import(&mill.client, KIND, &file), "1 neu, 0 geändert, 0 unverändert\n", "{name}");
        let before = note(&mill, "S-1");
        let expected = json!({"status": "abgerechnet", "lieferdatum": "2025-08-01T00:00:00.000Z",
            "anliefermenge_kg": "24860.000", "netto_menge_kg": "24116.000", "netto_betrag": "5147.68",
            "partner_id": mill.partner_id("Hof"), "artikel_id": mill.artikel_id("W"), "herkunftsland": "AT",
            "fremde_charge_nr": "H1", "bemerkung": "nass"});
        assert_fields(&before, expected);
        assert_eq!(server.import(&mill.client, KIND, &file), "0 neu, 0 geändert, 1 unverändert\n", "{name}");
        assert_eq!(note(&mill, "S-1"), before, "{name}");
        assert_eq!(mill.batches(), [] as [Value; 0], "an import books nothing");
    }
}

#[test]
fn a_row_is_found_again_by_its_number() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first =
        "belegnummer;partner;artikelnummer;anliefermenge_kg;preis_je_t\nS-1;Hof;W;1000;200\nS-2;Gut;R;5;\n";
    assert_eq!(server.import(&mill.client, KIND, first), "2 neu, 0 geändert, 0 unverändert\n");
    let id = note(&mill, "S-1")["id"].clone();
    let second = "belegnummer;status;bemerkung\nS-1;abgerechnet;bezahlt\nS-2;;\n";
    assert_eq!(server.import(&mill.client, KIND, second), "0 neu, 1 geändert, 1 unverändert\n");
    let expected = json!({"id": id, "status": "abgerechnet", "bemerkung": "bezahlt",
        "netto_menge_kg": "1000.000",
        "netto_betrag": "200.00", "partner_id": mill.partner_id("Hof")});
    assert_fields(&note(&mill, "S-1"), expected);
    // A receipt created by a request is found, too.
    let made = post(&mill, json!({"anliefermenge_kg": 100}));
    let number = made.is(201)["belegnummer"].as_str().unwrap().to_owned();
    let third = json!([{"belegnummer": number, "status": "storniert"}]).to_string();
    assert_eq!(server.import(&mill.client, KIND, &third), "0 neu, 1 geändert, 0 unverändert\n");
    assert_fields(&note(&mill, &number), json!({"id": made.id(), "status": "storniert"}));
    assert_eq!(notes(&mill).len(), 3);
}

#[test]
fn a_net_quantity_that_is_sent_is_kept_and_else_computed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wet = json!({"feuchte_prozent": 16, "basisfeuchte_prozent": 14, "anliefermenge_kg": 1000});
    let rows = [
        ("computed", json!({"preis_je_t": 200}), "980.000", json!("196.00")),
        ("kept", json!({"preis_je_t": 200, "netto_menge_kg": "975.5"}), "975.500", json!("195.10")),
        ("both", json!({"netto_menge_kg": 975, "netto_betrag": "190.01"}), "975.000", json!("190.01")),
        ("no price", json!({}), "980.000", Value::Null),
    ];
    for (number, more, netto, betrag) in rows {
        let row = and(wet.clone(), and(json!({"belegnummer": number}), more));
        let file = json!([row]).to_string();
        assert_eq!(
            server.import(&mill.client, KIND, &file),
            "1 neu, 0 geändert, 0 unverändert\n",
            "{number}"
        );
        assert_fields(&note(&mill, number), json!({"netto_menge_kg": netto, "netto_betrag": betrag}));
        assert_eq!(
            server.import(&mill.client, KIND, &file),
            "0 neu, 0 geändert, 1 unverändert\n",
            "{number}"
        );
    }
    let changed = json!([{"belegnummer": "computed", "feuchte_prozent": 15}]).to_string();
    assert_eq!(server.import(&mill.client, KIND, &changed), "0 neu, 1 geändert, 0 unverändert\n");
    let expected = json!({"netto_menge_kg": "990.000", "netto_betrag": "198.00"});
    assert_fields(&note(&mill, "computed"), expected);
}

#[test]
fn an_unknown_reference_is_refused_with_its_line() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let other = Mill::with(&server, "Andere", &[]);
    let foreign = weigh(&other, json!({}));
    let open = super::weigh_once(&mill, json!({}));
    server.import(&other.client, "kunden", "kundennr;name\nFremd;Fremd\n");
    let rows = [
        ("partner", "Niemand"),
        ("partner", "Fremd"),
        ("artikelnummer", "X"),
        ("wiegung_id", super::UNKNOWN),
        ("wiegung_id", foreign.as_str()),
        ("wiegung_id", open.as_str()),
        ("kontrakt_id", super::UNKNOWN),
        ("kontrakt_position_id", super::UNKNOWN),
        ("biozertifikat_id", "777"),
        ("status", "bezahlt"),
        ("lieferdatum", "30.02.2026"),
        ("anliefermenge_kg", "1,2,3"),
        ("belegnummer", ""),
    ];
    for (column, value) in rows {
        let columns = ["belegnummer", "anliefermenge_kg"].into_iter().filter(|other| *other != column);
        let columns: Vec<&str> = columns.chain([column]).collect();
        let good: Vec<&str> = columns.iter().map(|name| good_cell(name)).collect();
        let bad: Vec<&str> =
            columns.iter().map(|name| if *name == column { value } else { good_cell(name) }).collect();
        let file = [columns.join(";"), good.join(";"), bad.join(";").replace("S-1", "S-2")].join("\n");
        let said = refused(&mill, &file);
        assert!(said.contains("Zeile 3") && said.contains(column), "{column} {value}: {said}");
        assert_eq!(notes(&mill), [] as [Value; 0], "all or nothing: {column} {value}");
    }
    let negative = "belegnummer;anliefermenge_kg;sonstige_abzuege_kg\nS-1;10;11\n";
    assert!(refused(&mill, negative).contains("Zeile 2"));
}

#[test]
fn one_weighing_comes_into_one_live_note_by_import_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    let file = |rows: &[(&str, &str)]| {
        let rows = rows.iter().map(|(number, status)| format!("{number};{status};{wiegung};10\n"));
        format!("belegnummer;status;wiegung_id;anliefermenge_kg\n{}", rows.collect::<String>())
    };
    let used = |rows: &[(&str, &str)], line: &str| {
        let said = refused(&mill, &file(rows));
        assert!(said.contains(line) && said.contains("wiegung_id"), "{rows:?}: {said}");
    };
    used(&[("S-1", "offen"), ("S-2", "offen")], "Zeile 3");
    used(&[("S-1", "offen"), ("S-2", "abgerechnet")], "Zeile 3");
    assert_eq!(notes(&mill), [] as [Value; 0], "all or nothing");
    let both = file(&[("S-1", "storniert"), ("S-2", "offen")]);
    assert_eq!(server.import(&mill.client, KIND, &both), "2 neu, 0 geändert, 0 unverändert\n");
    assert_eq!(server.import(&mill.client, KIND, &both), "0 neu, 0 geändert, 2 unverändert\n");
    // Neither is the first one revived, nor can a third come in, by import or by request.
    used(&[("S-1", "offen")], "Zeile 2");
    used(&[("S-3", "offen")], "Zeile 2");
    post(&mill, json!({"wiegung_id": wiegung})).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    assert_eq!(
        server.import(&mill.client, KIND, &file(&[("S-2", "storniert")])),
        "0 neu, 1 geändert, 0 unverändert\n"
    );
    assert_eq!(
        server.import(&mill.client, KIND, &file(&[("S-1", "offen")])),
        "0 neu, 1 geändert, 0 unverändert\n"
    );
    let states: Vec<_> = ["S-1", "S-2"].map(|number| note(&mill, number)["status"].clone()).into();
    assert_eq!(states, ["offen", "storniert"]);
}

/// A valid cell.
fn good_cell(column: &str) -> &'static str {
    match column {
        "belegnummer" => "S-1",
        "anliefermenge_kg" => "10",
        "partner" => "Hof",
        "artikelnummer" => "W",
        "status" => "offen",
        "lieferdatum" => "2026-07-01",
        _ => "",
    }
}

#[test]
fn the_next_number_comes_after_those_that_were_imported() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let file =
        "belegnummer;anliefermenge_kg\nAS-2026-00007;10\nAS-2026-00003;10\nAS-2025-00099;10\nALT-8;10\n";
    assert_eq!(server.import(&mill.client, KIND, file), "4 neu, 0 geändert, 0 unverändert\n");
    let next = || post(&mill, json!({"anliefermenge_kg": 10})).is(201)["belegnummer"].clone();
    assert_eq!((next(), next()), (json!("AS-2026-00008"), json!("AS-2026-00009")));
    let other = Mill::with(&server, "Andere", &[]);
    let first = post(&other, json!({"anliefermenge_kg": 10})).is(201)["belegnummer"].clone();
    assert_eq!(first, "AS-2026-00001", "each company counts by itself");
}

#[test]
fn a_number_that_is_none_of_the_series_does_not_move_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let numbers = [
        "AS-2026-9223372036854775807",
        "AS-2026-9223372036854775808",
        "AS-2026-1000000000",
        "AS-2026-00012-1",
        "AS-2026-0012",
        "AS-26-00012",
        "AX-2026-00012",
    ];
    for number in numbers {
        let file = format!("belegnummer;anliefermenge_kg\n{number};10\n");
        assert_eq!(
            server.import(&mill.client, KIND, &file),
            "1 neu, 0 geändert, 0 unverändert\n",
            "{number}"
        );
    }
    let next = || post(&mill, json!({"anliefermenge_kg": 10})).is(201)["belegnummer"].clone();
    assert_eq!((next(), next()), (json!("AS-2026-00001"), json!("AS-2026-00002")));
}

#[test]
fn what_a_delivery_note_was_booked_from_does_not_change_behind_its_back() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let body = json!({"anliefermenge_kg": 24_860, "preis_je_t": 200, "fremde_charge_nr": "C1",
        "herkunftsland": "DE", "lieferdatum": "2026-07-09", "el_erzeugen": true});
    let made = post(&mill, body);
    assert_eq!(made.is(201)["el_beleg_nummer"], "EL-2026-00001");
    let (before, el) = (note(&mill, "AS-2026-00001"), mill.get(made.body["el_id"].as_str().unwrap()));
    let row = |more: &Value| json!([and(json!({"belegnummer": "AS-2026-00001"}), more.clone())]).to_string();
    for more in [
        json!({"partner": "Gut"}),
        json!({"artikelnummer": "R"}),
        json!({"anliefermenge_kg": 1}),
        json!({"netto_menge_kg": 1}),
        json!({"sonstige_abzuege_kg": 100}),
        json!({"feuchte_prozent": 20, "basisfeuchte_prozent": 14}),
        json!({"preis_je_t": 1}),
        json!({"netto_betrag": 1}),
        json!({"wiegung_id": weigh(&mill, json!({}))}),
        json!({"fremde_charge_nr": "C2"}),
        json!({"herkunftsland": "AT"}),
        json!({"lieferdatum": "2026-07-08"}),
        json!({"status": "abgerechnet", "partner": "Gut", "anliefermenge_kg": 1}),
    ] {
        let said = refused(&mill, &row(&more));
        assert!(said.contains("FELD_WIDERSPRUCH") && said.contains("EL-2026-00001"), "{more}: {said}");
        assert_eq!(note(&mill, "AS-2026-00001"), before, "{more}");
    }
    // Importing the same again changes nothing; state and remark belong to the receipt.
    let same = json!({"partner": "Hof", "artikelnummer": "W", "anliefermenge_kg": 24_860, "preis_je_t": 200});
    assert_eq!(server.import(&mill.client, KIND, &row(&same)), "0 neu, 0 geändert, 1 unverändert\n");
    let own = json!({"status": "abgerechnet", "bemerkung": "bezahlt"});
    assert_eq!(server.import(&mill.client, KIND, &row(&own)), "0 neu, 1 geändert, 0 unverändert\n");
    assert_fields(&note(&mill, "AS-2026-00001"), own);
    assert_eq!(mill.get(made.body["el_id"].as_str().unwrap()), el);
    // Without a delivery note everything may change.
    post(&mill, json!({"anliefermenge_kg": 10})).is(201);
    let free = json!([{"belegnummer": "AS-2026-00002", "partner": "Gut", "anliefermenge_kg": 1}]).to_string();
    assert_eq!(server.import(&mill.client, KIND, &free), "0 neu, 1 geändert, 0 unverändert\n");
}

#[test]
fn a_note_that_came_with_its_net_quantity_alone_is_imported_again_without_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = json!([{"belegnummer": "S-1", "netto_menge_kg": 975, "preis_je_t": 200}]).to_string();
    assert_eq!(server.import(&mill.client, KIND, &first), "1 neu, 0 geändert, 0 unverändert\n");
    let second = json!([{"belegnummer": "S-1", "status": "abgerechnet"}]).to_string();
    assert_eq!(server.import(&mill.client, KIND, &second), "0 neu, 1 geändert, 0 unverändert\n");
    assert_eq!(server.import(&mill.client, KIND, &second), "0 neu, 0 geändert, 1 unverändert\n");
    let expected = json!({"status": "abgerechnet", "netto_menge_kg": "975.000", "netto_betrag": "195.00",
        "anliefermenge_kg": null});
    assert_fields(&note(&mill, "S-1"), expected);
    assert!(refused(&mill, &json!([{"belegnummer": "S-2"}]).to_string()).contains("anliefermenge_kg"));
}

#[test]
fn an_impossible_value_is_named_itself_and_not_what_would_follow_from_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for (column, value) in
        [("anliefermenge_kg", -5), ("schwundfaktor", -1), ("sonstige_abzuege_kg", -1), ("netto_menge_kg", -1)]
    {
        let row = and(json!({"belegnummer": "S-1", "anliefermenge_kg": 10}), json!({column: value}));
        let said = refused(&mill, &json!([row]).to_string());
        assert!(said.contains(column) && said.contains("WERT_UNGUELTIG"), "{column}: {said}");
    }
    let said = refused(&mill, r#"[{"belegnummer": "S-1", "anliefermenge_kg": 10, "preis_je_t": -1}]"#);
    assert!(said.contains("preis_je_t") && said.contains("nicht unter 0"), "{said}");
}
