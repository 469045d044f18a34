//! Refusals and hints of settlements.

use serde_json::{Value, json};

use super::{A, Hof, NOTES, PATH, items, sums, werte, wheat};
use crate::harness::Server;
use crate::trade::annahmescheine::at_once;
use crate::trade::lager::and;

const UNKNOWN: &str = "0197f3a0-0000-7000-8000-000000000000";

#[test]
fn what_cannot_be_settled_is_refused_all_at_once() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let good = hof.note(1_000, A, json!({}));
    let locked = hof.note(1_000, "besatz=1", json!({}));
    let cancelled = hof.note(1_000, A, json!({}));
    hof.mill.client.put(&format!("{NOTES}/{cancelled}/storno"), json!({"grund": "x"})).is(200);
    let unknown = UNKNOWN.to_owned();
    let refused = hof.settle("end", &[&good, &locked, &cancelled, &unknown, &good], json!({}));
    let errors = refused.body["details"]["fehler"].as_array().unwrap();
    let mut codes: Vec<&str> = errors.iter().map(|error| error["error"].as_str().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        [
            "ANNAHMESCHEIN_GESPERRT",
            "ANNAHMESCHEIN_NICHT_GEFUNDEN",
            "ANNAHMESCHEIN_STORNIERT",
            "FELD_WIDERSPRUCH"
        ]
    );
    // Each error is reported at its receipt, even if an earlier receipt was not found.
    let refused = hof.settle("end", &[&unknown, &cancelled], json!({}));
    let errors = refused.body["details"]["fehler"].as_array().unwrap();
    let places: Vec<_> = errors.iter().map(|error| error["feld"].as_str().unwrap()).collect();
    assert_eq!(places, ["annahmeschein_ids[0]", "annahmeschein_ids[1]"], "{}", refused.body);
    let other = hof.note(1_000, A, json!({"kundennummer": "Gut"}));
    hof.settle("end", &[&good, &other], json!({})).refused(400, "PARTNER_GEMISCHT");
    let without_price = hof.note(1_000, A, json!({"preis_je_t": null}));
    hof.settle("end", &[&without_price], json!({})).refused(400, "PREIS_FEHLT");
    assert_eq!(sums(hof.settle("end", &[&without_price], json!({"preis_je_t": 200})).is(201))[0], "188.18");
}

#[test]
fn fields_that_do_not_belong_together_are_refused() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let rye = hof.note(1_000, "", json!({"artikelnr": "R"}));
    let widerspruch = "FELD_WIDERSPRUCH";
    let one = json!({"kundennummer": "Hof"});
    let table = [
        ("end", json!({"abschlag": {"prozent": 80}}), widerspruch, "abschlag"),
        ("end", json!({"zuschlag_je_t": 1}), widerspruch, "zuschlag_je_t"),
        ("end", json!({"auswahl": one}), widerspruch, "auswahl"),
        ("end", json!({"annahmeschein_ids": null}), "FELD_FEHLT", "annahmeschein_ids"),
        ("end", json!({"preis_je_t": -1}), "WERT_UNGUELTIG", "preis_je_t"),
        ("end", json!({"annahmeschein_ids": [note, rye], "preis_je_t": 1}), widerspruch, "preis_je_t"),
        ("abschlag", json!({}), "FELD_FEHLT", "abschlag"),
        ("abschlag", json!({"abschlag": {}}), widerspruch, "abschlag"),
        ("abschlag", json!({"abschlag": {"prozent": 1, "preis_je_t": 1}}), widerspruch, "abschlag"),
        ("abschlag", json!({"abschlag": {"prozent": 0}}), "WERT_UNGUELTIG", "abschlag"),
        (
            "abschlag",
            json!({"abschlag": {"prozent": 1}, "rest_preis_je_t": 1}),
            widerspruch,
            "rest_preis_je_t",
        ),
        ("nachverguetung", json!({}), "FELD_FEHLT", "zuschlag_je_t"),
        ("nachverguetung", json!({"zuschlag_je_t": 1, "preis_je_t": 1}), widerspruch, "preis_je_t"),
        ("alles", json!({}), "WERT_UNGUELTIG", "art"),
    ];
    for (art, more, code, feld) in table {
        let body = and(json!({"art": art, "annahmeschein_ids": [note]}), more);
        let refused = hof.post(PATH, body.clone());
        assert_eq!(refused.refused(400, code)["feld"], feld, "{body}");
    }
}

#[test]
fn a_choice_takes_all_open_notes_of_a_partner() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let day = |day: &str, more: Value| hof.note(1_000, A, and(json!({"lieferdatum": day}), more));
    let days = ["2026-07-03", "2026-07-01", "2026-07-02"].map(|of| day(of, json!({})));
    day("2026-07-02", json!({"kundennummer": "Gut"}));
    hof.note(1_000, "", json!({"artikelnr": "R", "lieferdatum": "2026-07-02"}));
    let chosen = |more: Value| {
        let auswahl = and(json!({"kundennummer": "Hof"}), more);
        let seen = hof.post(&format!("{PATH}/vorschau"), json!({"art": "end", "auswahl": auswahl}));
        seen.is(200)["annahmescheine"].as_array().unwrap().len()
    };
    assert_eq!(chosen(json!({})), 4);
    assert_eq!(chosen(json!({"artikelnr": "W"})), 3);
    assert_eq!(chosen(json!({"artikelnr": "W", "von": "2026-07-02", "bis": "2026-07-02"})), 1);
    let none = json!({"art": "end", "auswahl": {"kundennummer": "Hof", "bis": "2026-06-30"}});
    hof.post(PATH, none).refused(400, "ABRECHNUNG_LEER");
    hof.post(PATH, json!({"art": "end", "auswahl": {}})).refused(400, "KUNDE_FEHLT");
    let wheat =
        json!({"art": "end", "auswahl": {"partner_id": hof.mill.partner_id("Hof"), "artikelnr": "W"}});
    let made = hof.post(PATH, wheat);
    let order: Vec<&Value> = made.is(201)["annahmescheine"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| &note["annahmeschein_id"])
        .collect();
    assert_eq!(order, [&json!(days[1]), &json!(days[2]), &json!(days[0])], "by day of delivery");
    // Until the document is final, the receipts are reserved but not settled.
    assert_eq!(hof.state(&days[0]), "offen");
    let schein = hof.schein(&days[0]);
    assert_eq!(schein["abrechnung_beleg_nummer"], made.body["beleg_nummer"]);
    hof.settle("end", &[&days[0]], json!({})).refused(400, "ANNAHMESCHEIN_ABGERECHNET");
    hof.mill.finalise(made.body["beleg_id"].as_str().unwrap());
    assert_eq!(hof.state(&days[0]), "abgerechnet");
}

#[test]
fn what_another_invoice_has_met_is_not_paid_twice() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(1_000, A, json!({}));
    let invoice =
        hof.mill.post("ER", json!({"artikelnr": "W", "menge": 10, "einheit": "kg", "ep_netto": 0.2}));
    hof.settle("end", &[&note], json!({})).refused(400, "ANNAHMESCHEIN_BERECHNET");
    hof.mill.storno(&invoice.id()).is(200);
    hof.settle("end", &[&note], json!({})).is(201);
    assert_eq!(hof.stock(), "970.000");
}

#[test]
fn two_at_once_settle_a_note_once() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    let mut codes = at_once(4, |_| {
        let answer = hof.settle("end", &[&note], json!({}));
        (answer.status, answer.body["error"].as_str().unwrap_or_default().to_owned())
    });
    codes.sort();
    let refused = (400, "ANNAHMESCHEIN_ABGERECHNET".to_owned());
    assert_eq!(codes, [(201, String::new()), refused.clone(), refused.clone(), refused]);
}

#[test]
fn the_items_of_a_settlement_stay_and_its_papers_can_change() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let made = hof.settle("end", &[&note], json!({"abschliessen": false}));
    let beleg = made.is(201)["beleg_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/belege/{beleg}");
    let items = json!({"items": [{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 1}]});
    hof.mill.client.put(&path, items).refused(400, "ABRECHNUNG_NICHT_AENDERBAR");
    let other = json!({"kundennummer": "Gut"});
    hof.mill.client.put(&path, other).refused(400, "ABRECHNUNG_NICHT_AENDERBAR");
    hof.mill.client.put(&path, json!({"notizen": "Danke"})).is(200);
    // An open settlement is cancelled without a storno document, and releases its receipts.
    hof.storno(&made).is(200);
    assert_eq!(hof.schein(&note)["abrechnung_beleg_nummer"], Value::Null);
    hof.settle("end", &[&note], json!({})).is(201);
}

#[test]
fn what_a_gutschrift_pays_for_stays_as_it_was_paid() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let nummer = hof.schein(&note)["belegnummer"].as_str().unwrap().to_owned();
    let cancel = || hof.mill.client.put(&format!("{NOTES}/{note}/storno"), json!({"grund": "x"}));
    let imports = |columns: &str, values: &str| {
        let path = server.database.with_file_name("notes.csv");
        std::fs::write(&path, format!("belegnummer;{columns}\n{nummer};{values}\n")).unwrap();
        let tenant = hof.mill.client.tenant.to_string();
        let import = ["import", "annahmescheine", path.to_str().unwrap(), "--tenant", &tenant];
        server.cli(&import).status.success()
    };
    // The scheme determines the weight; a file cannot set another one.
    assert!(!imports("anliefermenge_kg", "2000") && !imports("feuchte_prozent", "18"));
    assert!(imports("fremde_charge_nr", "C2"));
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"prozent": 80}}));
    let paying = advance.is(201)["beleg_nummer"].as_str().unwrap();
    let refused = cancel();
    let message = refused.refused(400, "ANNAHMESCHEIN_NICHT_STORNIERBAR")["message"].as_str().unwrap();
    assert!(message.contains(paying), "{message}");
    assert!(!imports("status", "storniert") && !imports("fremde_charge_nr", "C3"));
    assert!(imports("bemerkung", "nass"));
    hof.storno(&advance).is(200);
    cancel().is(200);
}

#[test]
fn a_correction_asks_the_limits_of_a_later_analysis() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let grenze = json!([{"merkmal": "protein", "richtung": "unter", "wert": 11.5, "aktion": "sperren",
        "text": "dann Futter"}]);
    let hof = Hof::with_scheme(&server, json!({"grenzen": grenze}));
    let note = hof.note(24_860, A, json!({}));
    let release = |body: Value| {
        hof.mill.client.put(&format!("{NOTES}/{note}/freigabe"), and(json!({"grund": "x"}), body))
    };
    // Also if the receipt is in an open document.
    for abschliessen in [false, true] {
        let made = hof.settle("end", &[&note], json!({"abschliessen": abschliessen}));
        made.is(201);
        release(json!({"schema": "WEIZEN"})).refused(400, "ANNAHMESCHEIN_ABGERECHNET");
        let later = hof.post(&format!("{NOTES}/{note}/analysen"), json!({"werte": werte("protein=11.4")}));
        assert_eq!(later.is(201)["gesperrt"], true);
        later.hints("ABRECHNUNG_VERALTET");
        assert_eq!(sums(hof.mill.client.get(&format!("{PATH}/{}", made.id())).is(200))[0], "4919.66");
        let path = format!("{PATH}/{}/korrektur", made.id());
        hof.post(&path, json!({"grund": "Labor"})).refused(400, "ANNAHMESCHEIN_GESPERRT");
        assert_eq!(hof.beleg(&made)["status"], if abschliessen { "abgeschlossen" } else { "offen" });
        release(json!({})).is(200);
        let corrected = hof.post(&path, json!({"grund": "Labor"}));
        assert_eq!(sums(corrected.is(201))[0], "4919.66");
        hof.storno(&corrected).is(200);
        hof.post(&format!("{NOTES}/{note}/analysen"), json!({"werte": werte("protein=11.6")})).is(201);
    }
}

#[test]
fn what_is_late_and_what_changed_since_is_said() {
    let server = Server::start_at("2026-09-10T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let late = hof.note(1_000, A, json!({"lieferdatum": "2026-07-20"}));
    let id = hof.mill.client.get(super::SCHEMES).is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    let cheaper = wheat(json!({"gueltig_von": "2026-07-01", "schritte": [wheat(json!({}))["schritte"][0]]}));
    hof.post(&format!("{}/{id}/versionen", super::SCHEMES), cheaper).is(201);
    let seen = hof.preview("end", &[&late], json!({"zahlungsziel_tage": 9}));
    assert_eq!(seen.hint_codes(), ["SCHEMA_GEAENDERT", "ZAHLUNGSFRIST_60_TAGE"]);
    assert_eq!(sums(seen.is(200))[0], "208.32");
    let seen = hof.preview("end", &[&late], json!({"zahlungsziel_tage": 8}));
    assert_eq!(seen.hint_codes(), ["SCHEMA_GEAENDERT"]);
    // A receipt from before the scheme uses it now, with a hint.
    let plain = hof.note(1_000, A, json!({"artikelnr": "R"}));
    assert_eq!(hof.preview("end", &[&plain], json!({"zahlungsziel_tage": 0})).hint_codes(), ["SCHEMA_FEHLT"]);
    let rye = wheat(json!({"nummer": "ROGGEN", "artikel": ["R"], "gueltig_von": "2026-07-01"}));
    hof.post(super::SCHEMES, rye).is(201);
    let seen = hof.preview("end", &[&plain], json!({"zahlungsziel_tage": 0}));
    assert_eq!(seen.hint_codes(), ["SCHEMA_GEAENDERT"]);
}

/// Several lorries of a farmer are often one batch: a receipt without a delivery must not take the goods of another.
#[test]
fn goods_that_were_not_booked_come_in_with_a_delivery_of_their_own() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let weighed = json!({"waage_id": 1, "gewicht_erst_kg": 40_120, "partner_id": hof.mill.partner_id("Hof"),
        "artikel_id": hof.mill.artikel_id("W")});
    let weighing = hof.post("/api/v1/wiegungen", weighed).id();
    let second = json!({"gewicht_zweit_kg": 15_260});
    hof.mill.client.put(&format!("/api/v1/wiegungen/{weighing}/zweitwiegung"), second).is(200);
    let booked = hof.with_el(10_000, A, json!({}));
    let loose = hof.note(24_860, A, json!({"wiegung_id": weighing}));
    assert_eq!(hof.stock(), "9701.000");
    let made = hof.settle("end", &[&loose], json!({}));
    let moved = &made.is(201)["lagerbewegungen"];
    assert_eq!(
        (moved[0]["menge"].as_str(), moved[0]["beleg_nummer"].as_str()),
        (Some("24116.000"), Some("EL-2026-00002"))
    );
    assert_eq!((hof.stock().as_str(), moved.as_array().unwrap().len()), ("33817.000", 1));
    assert_eq!(hof.schein(&loose)["el_beleg_nummer"], "EL-2026-00002");
    assert!(made.hint_codes().is_empty(), "of what it names itself: {:?}", made.hint_codes());
    let other = hof.settle("end", &[&booked], json!({}));
    assert_eq!(
        (other.is(201)["lagerbewegungen"].as_array().unwrap().len(), hof.stock().as_str()),
        (0, "33817.000")
    );
    // After cancelling and settling again, the delivery is the same.
    hof.storno(&made).is(200);
    assert_eq!((hof.state(&loose).as_str(), hof.stock().as_str()), ("offen", "33817.000"));
    let again = hof.settle("end", &[&loose], json!({}));
    assert_eq!(
        (again.is(201)["lagerbewegungen"].as_array().unwrap().len(), hof.stock().as_str()),
        (0, "33817.000")
    );
    let without_lot = hof.note(1_000, A, json!({"fremde_charge_nr": null}));
    let refused = hof.settle("end", &[&without_lot], json!({}));
    assert!(
        refused.refused(400, "CHARGE_FEHLT")["message"].as_str().unwrap().starts_with("AS-2026-00003: "),
        "{refused:?}"
    );
}

/// A pool pays an advance before anybody knows the price.
#[test]
fn an_advance_that_says_its_price_needs_none_of_the_goods() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({"preis_je_t": null}));
    hof.settle("abschlag", &[&note], json!({"abschlag": {"prozent": 80}})).refused(400, "PREIS_FEHLT");
    let made = hof.settle("abschlag", &[&note], json!({"abschlag": {"preis_je_t": 160}}));
    assert_eq!(sums(made.is(201))[0], "155.20");
    assert_eq!(items(&hof.beleg(&made)), ["1.000 155.2000 155.20"]);
    let of_note = &made.body["annahmescheine"][0];
    assert_eq!((&of_note["teile"], &of_note["rechnung"]["ware"]), (&json!([]), &Value::Null));
    let end = hof.settle("end", &[&note], json!({"preis_je_t": 210}));
    assert_eq!(sums(end.is(201))[0], "42.68");
}

/// Somebody changed the delivery note of a receipt: only the goods that it still brings count as delivered.
#[test]
fn a_changed_delivery_counts_for_the_goods_that_it_brings() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(1_000, A, json!({}));
    let el = hof.schein(&note)["el_id"].as_str().unwrap().to_owned();
    let change = |body: Value| hof.mill.client.put(&format!("/api/v1/belege/{el}"), body).is(200).clone();
    let wheat = |kg: i64| {
        json!({"artikelnr": "W", "menge": kg, "einheit": "kg", "fremde_charge_nr": "C1",
        "ep_netto": 0})
    };
    let sacks = json!({"bezeichnung": "Säcke", "menge": 2, "einheit": "Stk"});
    let settle = || hof.settle("end", &[&note], json!({}));
    change(json!({"items": [sacks]}));
    settle().refused(400, "BEZUG_PASST_NICHT");
    change(
        json!({"items": [and(wheat(970), json!({"fremde_charge_nr": "G"})), sacks], "kundennummer": "Gut"}),
    );
    settle().refused(400, "BEZUG_PASST_NICHT");
    change(json!({"kundennummer": "Hof", "items": [wheat(980), sacks]}));
    let made = settle();
    assert_eq!(
        (made.is(201)["lagerbewegungen"].as_array().unwrap().len(), hof.stock().as_str()),
        (0, "980.000")
    );
    assert_eq!(items(&hof.beleg(&made)), ["0.970 204.0000 197.88", "0.010 0.0000 0.00"]);
    // A closed delivery is only matched by an item that names it.
    hof.storno(&made).is(200);
    hof.mill.finalise(&el);
    hof.post(&format!("/api/v1/belege/{el}/erledigen"), json!({"ohne_gegenbeleg": true})).is(200);
    settle().is(201);
    assert_eq!(hof.stock(), "980.000");
}

/// An invoice came before its goods, and the delivery of the receipt would be the one it waits for.
#[test]
fn goods_that_an_invoice_waits_for_are_not_paid_again() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let item =
        json!({"artikelnr": "W", "menge": 10, "einheit": "kg", "ep_netto": 0.2, "fremde_charge_nr": "C1"});
    let invoice = hof.mill.post("ER", item);
    hof.settle("end", &[&note], json!({})).refused(400, "ANNAHMESCHEIN_BERECHNET");
    assert_eq!((hof.stock().as_str(), &hof.schein(&note)["el_id"]), ("10.000", &Value::Null));
    hof.mill.storno(&invoice.id()).is(200);
    hof.settle("end", &[&note], json!({})).is(201);
    assert_eq!(hof.stock(), "970.000");
}

#[test]
fn what_is_doubtful_of_the_tax_is_said_once() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let foreign = json!({"steuerart": "regel", "land": "AT", "ust_id": "ATU12345675"});
    hof.mill.client.put(&format!("/api/v1/kunden/{}", hof.mill.partner_id("Hof")), foreign).is(200);
    let notes = [hof.note(1_000, A, json!({})), hof.note(1_000, A, json!({}))];
    let seen = hof.preview("end", &[&notes[0], &notes[1]], json!({}));
    seen.is(200);
    assert_eq!(seen.hint_codes(), ["STEUER_AUSLAND_PRUEFEN"]);
    let made = hof.settle("end", &[&notes[0], &notes[1]], json!({"abschliessen": false}));
    made.is(201);
    assert_eq!(made.hint_codes().iter().filter(|code| **code == "STEUER_AUSLAND_PRUEFEN").count(), 1);
}
