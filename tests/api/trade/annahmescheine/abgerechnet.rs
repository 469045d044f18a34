//! A receipt is abgerechnet while final invoices cover all of its EL (D21a).

use serde_json::{Value, json};

use super::{assert_fields, notes, post};
use crate::harness::Server;
use crate::trade::lager::{Mill, and, buy};

/// Delivers 1,000 kg of wheat with an EL; returns its id.
fn delivered(mill: &Mill<'_>) -> String {
    let body =
        json!({"anliefermenge_kg": 1_000, "preis_je_t": 200, "fremde_charge_nr": "C1", "el_erzeugen": true});
    let made = post(mill, body);
    made.is(201)["el_id"].as_str().unwrap().to_owned()
}

fn status(mill: &Mill<'_>) -> String {
    notes(mill)[0]["status"].as_str().unwrap().to_owned()
}

fn invoice(mill: &Mill<'_>, menge: i64) -> String {
    mill.post("ER", and(buy(menge, "C1"), json!({"ep_netto": 0.2}))).id()
}

#[test]
fn a_note_is_settled_while_final_invoices_have_met_its_delivery_whole() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let el = delivered(&mill);
    let first = invoice(&mill, 400);
    assert_eq!(status(&mill), "offen");
    mill.finalise(&first);
    assert_eq!(status(&mill), "offen", "a part is open");
    let second = invoice(&mill, 600);
    assert_eq!(status(&mill), "offen", "a part has met an invoice that is not final");
    mill.finalise(&second);
    assert_eq!(status(&mill), "abgerechnet");
    let settled = mill.client.get("/api/v1/annahmescheine?status=abgerechnet");
    assert_eq!(settled.is(200)["count"], 1);
    let cancel = format!("/api/v1/annahmescheine/{}/storno", notes(&mill)[0]["id"].as_str().unwrap());
    mill.client.put(&cancel, json!({"grund": "x"})).refused(400, "ANNAHMESCHEIN_NICHT_STORNIERBAR");
    // The state ends when either invoice is cancelled, and returns with a new one.
    mill.storno(&first).is(200);
    assert_eq!(status(&mill), "offen");
    let third = invoice(&mill, 400);
    mill.finalise(&third);
    assert_eq!(status(&mill), "abgerechnet");
    mill.storno(&el).is(200);
    assert_eq!(status(&mill), "offen", "its delivery is gone");
    mill.client.put(&cancel, json!({"grund": "x"})).is(200);
    assert_eq!(status(&mill), "storniert");
    mill.storno(&third).is(200);
    assert_eq!(status(&mill), "storniert");
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn whatever_makes_the_invoice_final_or_changes_the_delivery_is_followed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let final_er = |menge: i64| {
        let item = and(buy(menge, "C1"), json!({"ep_netto": 0.2}));
        let body = json!({"beleg_typ": "ER", "kundennummer": "Hof", "abschliessen": true, "items": [item]});
        mill.client.post("/api/v1/belege", body).id()
    };
    // The invoice came first and is final: the receipt is settled from its creation.
    let before = final_er(1_000);
    let el = delivered(&mill);
    assert_eq!(status(&mill), "abgerechnet");
    // The delivery grows, and is fully matched again.
    let item = |menge: i64| and(buy(menge, "C1"), json!({"ep_netto": 0.2}));
    mill.put(&el, item(1_100)).is(200);
    assert_eq!(status(&mill), "offen");
    final_er(100);
    assert_eq!(status(&mill), "abgerechnet");
    // An unmatched return reduces the quantity to be matched.
    mill.storno(&before).is(200);
    mill.post("EL", buy(-1_000, "C1")).is(201);
    assert_eq!(status(&mill), "abgerechnet", "what is left of the delivery is invoiced");
    // A credit on the invoiced quantity makes the delivery open again.
    mill.post("ER", item(-50)).is(201);
    assert_eq!(status(&mill), "offen");
}

#[test]
fn a_settled_note_is_a_row_of_the_feed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    delivered(&mill);
    let invoice = invoice(&mill, 1_000);
    let read = |cursor: &str| mill.client.get(&format!("/api/v1/aenderungen{cursor}")).is(200).clone();
    let cursor = read("")["cursor"].as_str().unwrap().to_owned();
    mill.finalise(&invoice);
    let feed = read(&format!("?arten=annahmeschein&seit={cursor}"));
    assert_eq!(feed["data"].as_array().unwrap().len(), 1, "{feed}");
    assert_fields(&feed["data"][0], json!({"nummer": "AS-2026-00001", "id": notes(&mill)[0]["id"]}));
    // The list can be filtered by state.
    for (state, count) in [("abgerechnet", 1), ("offen", 0), ("offen,abgerechnet", 1), ("storniert", 0)] {
        let listed = mill.client.get(&format!("/api/v1/annahmescheine?status={state}"));
        assert_eq!(listed.is(200)["count"], count, "{state}");
    }
    mill.client.post(&format!("/api/v1/belege/{invoice}/abschliessen"), json!({})).is(200);
    mill.post("RE", json!({"artikelnr": "S", "menge": 1})).is(201);
    let cursor = feed["cursor"].as_str().unwrap().to_owned();
    let feed = read(&format!("?arten=annahmeschein&seit={cursor}"));
    assert_eq!(feed["data"], json!([]), "what stays as it was is no change");
}

#[test]
fn a_note_that_is_open_again_is_a_row_of_the_feed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let el = delivered(&mill);
    let first = invoice(&mill, 1_000);
    mill.finalise(&first);
    let rows = |cursor: &mut String| {
        let feed = mill.client.get(&format!("/api/v1/aenderungen?arten=annahmeschein&seit={cursor}"));
        *cursor = feed.is(200)["cursor"].as_str().unwrap().to_owned();
        feed.body["data"].as_array().unwrap().len()
    };
    let mut cursor = "alles".to_owned();
    rows(&mut cursor);
    mill.storno(&first).is(200);
    assert_eq!((rows(&mut cursor), status(&mill)), (1, "offen".to_owned()), "storno of the ER");
    mill.finalise(&invoice(&mill, 1_000));
    rows(&mut cursor);
    mill.put(&el, and(buy(1_100, "C1"), json!({"ep_netto": 0.2}))).is(200);
    assert_eq!((rows(&mut cursor), status(&mill)), (1, "offen".to_owned()), "change of the EL");
}

/// States in an import, compared with the state that follows from invoices.
#[test]
fn an_import_that_says_settled_holds_and_one_that_says_open_leaves_what_follows() {
    let server = Server::start();
    let mill = Mill::of(&server);
    delivered(&mill);
    let first = invoice(&mill, 1_000);
    mill.finalise(&first);
    let import = |status: &str| {
        let row = json!([{"belegnummer": "AS-2026-00001", "status": status}]).to_string();
        let said = server.import(&mill.client, "annahmescheine", &row);
        (said.contains(", 1 geändert"), self::status(&mill))
    };
    let settled = |is_changed| (is_changed, "abgerechnet".to_owned());
    assert_eq!([import("offen"), import("offen")], [settled(false), settled(false)]);
    assert_eq!([import("abgerechnet"), import("abgerechnet")], [settled(true), settled(false)]);
    mill.storno(&first).is(200);
    assert_eq!(status(&mill), "abgerechnet", "as the import said");
    assert_eq!(import("offen"), (true, "offen".to_owned()));
    assert_eq!(import("abgerechnet"), settled(true));
    mill.finalise(&invoice(&mill, 1_000));
    assert_eq!(import("offen"), settled(true), "it follows from the invoice");
    assert_eq!(import("storniert"), (true, "storniert".to_owned()));
    assert_eq!(import("offen"), settled(true), "and does so again");
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn moisture_and_besatz_without_their_basis_are_a_hint() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows: [(Value, &[&str]); 6] = [
        (json!({"feuchte_prozent": 15}), &["basisfeuchte_prozent"]),
        (json!({"besatz_prozent": "0.1"}), &["basisbesatz_prozent"]),
        (
            json!({"feuchte_prozent": 15, "besatz_prozent": 2}),
            &["basisbesatz_prozent", "basisfeuchte_prozent"],
        ),
        (json!({"feuchte_prozent": 0, "besatz_prozent": 0}), &[]),
        (json!({"feuchte_prozent": 15, "basisfeuchte_prozent": 14}), &[]),
        (json!({"besatz_prozent": 2, "basisbesatz_prozent": 0}), &[]),
    ];
    for (more, expected) in rows {
        let answer = post(&mill, and(json!({"anliefermenge_kg": 1_000}), more.clone()));
        let hints = answer.is(201)["hinweise"].as_array().unwrap().iter();
        let mut fields: Vec<_> = hints
            .filter(|hint| hint["code"] == "BASIS_FEHLT")
            .map(|hint| hint["feld"].as_str().unwrap())
            .collect();
        fields.sort_unstable();
        assert_eq!(fields, expected, "{more}");
    }
    let import = |row: &str| {
        let path = server.database.with_file_name("scheine.csv");
        let table = format!("belegnummer;anliefermenge_kg;netto_menge_kg;feuchte_prozent\n{row}\n");
        std::fs::write(&path, table).unwrap();
        let tenant = mill.client.tenant.to_string();
        let output = server.cli(&["import", "annahmescheine", path.to_str().unwrap(), "--tenant", &tenant]);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
    };
    assert!(import("S-1;1000;;15").contains("Ohne basisfeuchte_prozent"));
    assert!(
        !import("S-2;1000;980;15").contains("Ohne basisfeuchte_prozent"),
        "the net quantity came with the row"
    );
}

/// D38: what a final invoice that names the EL leaves of it, up to 1 %, keeps its note from nothing.
#[test]
fn a_note_is_settled_by_an_invoice_that_names_its_delivery_and_leaves_little() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let el = delivered(&mill);
    let line = mill.get(&el)["positionen"][0]["id"].clone();
    let bill = |menge: i64| {
        let item = json!({"bezug_position_id": line, "menge": menge, "einheit": "kg"});
        mill.post("ER", item).id()
    };
    for (menge, expected) in [(989, "offen"), (990, "abgerechnet")] {
        let billed = bill(menge);
        mill.finalise(&billed);
        assert_eq!(status(&mill), expected, "{menge} of 1,000");
        mill.storno(&billed).is(200);
        assert_eq!(status(&mill), "offen");
    }
    assert!(server.cli(&["check"]).status.success());
}
