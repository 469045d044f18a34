//! Analyses of a receipt, the results of its scheme, and locks (D29a, D29d, D29k).

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{PATH, UNKNOWN, assert_fields, counts, post};
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

/// The RPL conditions for A wheat of 2015: protein, ergot, falling number, and limits that require a person.
fn a_wheat(more: Value) -> Value {
    let step = |nr: i64,
                code: &str,
                wirkung: &str,
                merkmal: &str,
                richtung: &str,
                basis: &str,
                satz: &str| {
        let bezug = match wirkung {
            "menge" => json!("vorher"),
            _ => Value::Null,
        };
        let einheit = if wirkung == "menge" { "%" } else { "EUR/t" };
        json!({"nr": nr, "code": code, "text": code, "wirkung": wirkung, "regel": "faktor", "merkmal": merkmal,
            "richtung": richtung, "basis": basis, "satz": satz, "einheit": einheit, "bezug": bezug})
    };
    let limit = |merkmal: &str, richtung: &str, wert: &str, aktion: &str, text: &str| {
        json!({"merkmal": merkmal,
        "richtung": richtung, "wert": wert, "aktion": aktion, "text": text})
    };
    let body = json!({
        "nummer": "A-WEIZEN", "bezeichnung": "A-Weizen", "artikel": ["W"], "gueltig_von": "2000-01-01",
        "schritte": [
            step(1, "schwund", "menge", "feuchte", "ueber", "14.5", "1.3"),
            step(2, "protein", "preis", "protein", "unter", "13.0", "-10"),
        ],
        "grenzen": [
            limit("protein", "unter", "12.8", "sperren", "dann B-Weizen"),
            limit("fallzahl", "unter", "250", "sperren", "dann B-Weizen"),
            limit("besatz", "ueber", "3", "hinweis", "Besatz besprechen"),
            limit("schaedlinge", "ueber", "0", "abweisen", "lebende Schädlinge"),
        ],
    });
    and(body, more)
}

fn scheme(mill: &Mill<'_>, more: Value) -> String {
    mill.client.post("/api/v1/abrechnungsschemata", a_wheat(more)).id()
}

fn werte(of: &[(&str, &str)]) -> Value {
    Value::Array(of.iter().map(|(merkmal, wert)| json!({"merkmal": merkmal, "wert": wert})).collect())
}

/// Posts a receipt of 24,860 kg with these values, at 200 EUR/t.
fn note(mill: &Mill<'_>, of: &[(&str, &str)], more: Value) -> Answer {
    post(mill, and(json!({"anliefermenge_kg": 24_860, "preis_je_t": 200, "werte": werte(of)}), more))
}

fn analyse(mill: &Mill<'_>, id: &str, of: &[(&str, &str)]) -> Answer {
    mill.client.post(&format!("{PATH}/{id}/analysen"), json!({"quelle": "labor", "werte": werte(of)}))
}

fn release(mill: &Mill<'_>, id: &str, body: Value) -> Answer {
    mill.client.put(&format!("{PATH}/{id}/freigabe"), body)
}

fn shown(mill: &Mill<'_>, id: &str) -> Value {
    mill.client.get(&format!("{PATH}/{id}")).is(200).clone()
}

const GOOD: &[(&str, &str)] = &[("feuchte", "15.0"), ("protein", "13.4")];

#[test]
fn a_note_takes_the_only_scheme_of_its_article_and_shows_what_it_makes_of_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let made = note(&mill, &[("feuchte", "15.04"), ("protein", "12.9")], json!({}));
    // 0.5 % × 1.3 of 24,860 kg; a tenth of protein costs 1 EUR/t.
    assert_fields(
        made.is(201),
        json!({"schema": "A-WEIZEN", "gesperrt": false, "sperrgruende": null, "netto_menge_kg": "24698.000",
            "netto_betrag": "4914.90"}),
    );
    assert_eq!(made.hint_codes(), ["GERUNDET"], "15.04 is 15.0");
    assert_fields(
        &shown(&mill, &made.id()),
        json!({"feuchte_prozent": "15.00", "schema": "A-WEIZEN", "schema_version": 1, "gesperrt": false,
            "vorlaeufig": false, "netto_menge_kg": "24698.000"}),
    );
    let all = mill.client.get(&format!("{PATH}/{}/analysen", made.id()));
    assert_fields(
        &all.is(200)["data"][0],
        json!({"version": 1, "quelle": "annahme",
            "werte": [{"merkmal": "feuchte", "wert": "15.0"}, {"merkmal": "protein", "wert": "12.9"}]}),
    );
}

#[test]
fn the_fields_of_moisture_and_impurities_are_the_same_as_their_values() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let both = json!({"feuchte_prozent": "15.0", "besatz_prozent": "0"});
    let made = note(&mill, &[("protein", "13.4"), ("feuchte", "15.0")], both);
    assert_eq!(made.is(201)["netto_menge_kg"], "24698.000");
    assert_fields(&shown(&mill, &made.id()), json!({"feuchte_prozent": "15.00", "besatz_prozent": "0.00"}));
    let table = [
        (json!({"feuchte_prozent": "15.2"}), "feuchte_prozent"),
        (json!({"basisfeuchte_prozent": 14}), "basisfeuchte_prozent"),
        (json!({"schwundfaktor": 1}), "schwundfaktor"),
        (json!({"basisbesatz_prozent": 1}), "basisbesatz_prozent"),
        (json!({"sonstige_abzuege_kg": 10}), "sonstige_abzuege_kg"),
    ];
    for (more, field) in table {
        let refused = note(&mill, GOOD, more);
        assert_eq!(refused.refused(400, "FELD_WIDERSPRUCH")["feld"], field);
    }
    // Without a scheme the formula applies, but the values are stored all the same.
    let rye = json!({"artikelnr": "R", "basisfeuchte_prozent": 14, "anliefermenge_kg": 1000});
    let made = note(&mill, GOOD, rye);
    assert_fields(made.is(201), json!({"schema": null, "netto_menge_kg": "990.000"}));
}

#[test]
fn limits_lock_and_a_person_ends_the_lock() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let made = note(&mill, &[("feuchte", "14.5"), ("protein", "12.7"), ("besatz", "3.01")], json!({}));
    let reasons = json!([{"code": "GRENZWERT", "aktion": "sperren", "merkmal": "protein", "wert": "12.7",
        "grenze": "12.8", "text": "dann B-Weizen"}]);
    assert_fields(made.is(201), json!({"gesperrt": true, "sperrgruende": reasons, "schema": "A-WEIZEN"}));
    assert_eq!(made.hint_codes(), ["GRENZWERT", "ANNAHMESCHEIN_GESPERRT"]);
    let listed = |query: &str| mill.client.get(&format!("{PATH}?{query}")).is(200)["count"].clone();
    assert_eq!([listed("gesperrt=true"), listed("gesperrt=false")], [json!(1), json!(0)]);
    // A value exactly on the limit is within it.
    let on_limit = note(&mill, &[("feuchte", "14.5"), ("protein", "12.8"), ("fallzahl", "250")], json!({}));
    assert_eq!(on_limit.is(201)["gesperrt"], false);
    let id = made.id();
    release(&mill, &id, json!({})).refused(400, "FELD_FEHLT");
    let released = release(&mill, &id, json!({"grund": "Der Chef nimmt ihn als A-Weizen"}));
    assert_fields(released.is(200), json!({"version": 2, "gesperrt": false, "sperrgruende": null}));
    release(&mill, &id, json!({"grund": "noch einmal"})).refused(400, "ANNAHMESCHEIN_NICHT_GESPERRT");
    let all = mill.client.get(&format!("{PATH}/{id}/analysen"));
    assert_fields(
        &all.is(200)["data"][0],
        json!({"quelle": null, "grund": "Der Chef nimmt ihn als A-Weizen", "sperrgruende": reasons, "werte": []}),
    );
    // A new analysis checks the limits again; values that it omits stay.
    let again = analyse(&mill, &id, &[("fallzahl", "249")]);
    assert_eq!(again.is(201)["sperrgruende"].as_array().unwrap().len(), 2, "{again:?}");
    assert_eq!(analyse(&mill, &id, &[("fallzahl", "280"), ("protein", "13.1")]).is(201)["gesperrt"], false);
}

#[test]
fn a_locked_note_makes_no_delivery_and_what_is_refused_makes_nothing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let before = counts(&server);
    let el = json!({"el_erzeugen": true, "fremde_charge_nr": "C1"});
    note(&mill, &[("feuchte", "14.5"), ("protein", "12.7")], el).refused(400, "ANNAHMESCHEIN_GESPERRT");
    note(&mill, &[("schaedlinge", "1")], json!({})).refused(400, "ANNAHME_ABGEWIESEN");
    note(&mill, &[("glanz", "1")], json!({})).refused(400, "MERKMAL_NICHT_GEFUNDEN");
    note(&mill, &[("feuchte", "101")], json!({})).refused(400, "WERT_UNGUELTIG");
    assert_eq!(counts(&server), before);
    // For goods that were accepted already, a limit that would refuse them becomes a lock.
    let id = note(&mill, GOOD, json!({})).id();
    assert_eq!(analyse(&mill, &id, &[("schaedlinge", "1")]).is(201)["gesperrt"], true);
}

#[test]
fn what_was_not_measured_locks_until_it_is() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let made = note(&mill, &[("protein", "13.4")], json!({}));
    assert_fields(made.is(201), json!({"gesperrt": true, "netto_menge_kg": null, "netto_betrag": null}));
    assert_eq!(made.body["sperrgruende"][0]["code"], "MERKMAL_FEHLT");
    let id = made.id();
    release(&mill, &id, json!({"grund": "egal"})).refused(400, "FREIGABE_UNVOLLSTAENDIG");
    assert_eq!(shown(&mill, &id)["gesperrt"], true);
    let measured = analyse(&mill, &id, &[("feuchte", "14.5")]);
    assert_fields(measured.is(201), json!({"version": 2, "gesperrt": false, "netto_menge_kg": "24860.000"}));
}

#[test]
fn of_several_schemes_one_is_named_and_a_person_names_another() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let only_shrink = json!([a_wheat(json!({}))["schritte"][0].clone()]);
    scheme(&mill, json!({"nummer": "B-WEIZEN", "grenzen": [], "schritte": only_shrink}));
    scheme(&mill, json!({"nummer": "ROGGEN", "artikel": ["R"]}));
    let of = &[("feuchte", "14.5"), ("protein", "12.7")];
    let refused = note(&mill, of, json!({}));
    refused.refused(400, "SCHEMA_MEHRDEUTIG");
    assert!(refused.body["message"].as_str().unwrap().contains("A-WEIZEN, B-WEIZEN"), "{refused:?}");
    note(&mill, of, json!({"schema": "X"})).refused(400, "SCHEMA_NICHT_GEFUNDEN");
    note(&mill, of, json!({"schema": "ROGGEN"})).refused(400, "SCHEMA_PASST_NICHT");
    note(&mill, of, json!({"schema": "A-WEIZEN", "lieferdatum": "1999-12-31"}))
        .refused(400, "SCHEMA_PASST_NICHT");
    let locked = note(&mill, of, json!({"schema": "A-WEIZEN"}));
    assert_eq!(locked.is(201)["gesperrt"], true);
    let id = locked.id();
    let grund = "Protein: B-Weizen";
    release(&mill, &id, json!({"grund": grund, "schema": "ROGGEN"})).refused(400, "SCHEMA_PASST_NICHT");
    // Without the deduction for protein; the original scheme stays in the history.
    let released = release(&mill, &id, json!({"grund": grund, "schema": "B-WEIZEN"}));
    assert_fields(
        released.is(200),
        json!({"schema": "B-WEIZEN", "gesperrt": false, "netto_betrag": "4972.00"}),
    );
    let all = mill.client.get(&format!("{PATH}/{id}/analysen"));
    assert_fields(
        &all.is(200)["data"][0],
        json!({"schema": "B-WEIZEN", "grund": grund, "sperrgruende": null}),
    );
    // A receipt that is not locked can be given another scheme, too.
    let back = release(&mill, &id, json!({"grund": "doch A", "schema": "A-WEIZEN"}));
    assert_fields(back.is(200), json!({"schema": "A-WEIZEN", "netto_betrag": "4897.42"}));
}

#[test]
fn organic_goods_need_a_certificate_that_holds() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({"bio": true}));
    let code = |answer: &Answer| answer.is(201)["sperrgruende"][0]["code"].clone();
    assert_eq!(code(&note(&mill, GOOD, json!({}))), "ZERTIFIKAT_FEHLT");
    server.import(&mill.client, "biozertifikate", "id;nummer;gueltig_bis\n1;DE-1;2020-12-31\n");
    let certified = |day: &str| note(&mill, GOOD, json!({"biozertifikat_id": 1, "lieferdatum": day}));
    assert_eq!(code(&certified("2021-01-01")), "ZERTIFIKAT_ABGELAUFEN");
    assert_eq!(certified("2020-12-31").is(201)["gesperrt"], false);
}

#[test]
fn the_delivery_of_a_scheme_has_no_price_and_the_weight_that_it_says() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = scheme(&mill, json!({}));
    let el = |batch: &str| json!({"el_erzeugen": true, "fremde_charge_nr": batch});
    let made = note(&mill, GOOD, el("C1"));
    assert_eq!(
        (made.is(201)["lagerbewegungen"][0]["menge"].clone(), mill.stock("C1")),
        (json!("24698.000"), "24698.000".into())
    );
    let delivery = mill.get(made.body["el_id"].as_str().unwrap());
    assert_eq!((&delivery["summe_netto"], made.hint_codes()), (&json!("0.00"), Vec::<String>::new()));
    // A later analysis does not change the booked quantity, and says so.
    let later = analyse(&mill, &made.id(), &[("feuchte", "14.5")]);
    assert_eq!(later.hint_codes(), ["GEWICHT_WIDERSPRUCH"]);
    assert_eq!(
        (later.is(201)["netto_menge_kg"].as_str(), mill.stock("C1").as_str()),
        (Some("24860.000"), "24698.000")
    );
    // From this version on, goods enter the stock with their weighed quantity.
    let gross = a_wheat(json!({"bestand": "brutto"}));
    mill.client.post(&format!("/api/v1/abrechnungsschemata/{id}/versionen"), gross).is(201);
    note(&mill, GOOD, el("C2")).is(201);
    assert_eq!(mill.stock("C2"), "24860.000");
}

#[test]
fn an_analysis_needs_values_and_a_note_that_lives() {
    let server = Server::start();
    let mill = Mill::of(&server);
    scheme(&mill, json!({}));
    let id = note(&mill, GOOD, json!({})).id();
    analyse(&mill, &id, &[]).refused(400, "FELD_FEHLT");
    analyse(&mill, &id, &[("feuchte", "15"), ("feuchte", "16")]).refused(400, "FELD_WIDERSPRUCH");
    analyse(&mill, UNKNOWN, GOOD).refused(404, "NICHT_GEFUNDEN");
    mill.client.put(&format!("{PATH}/{id}/storno"), json!({"grund": "falsch"})).is(200);
    analyse(&mill, &id, GOOD).refused(400, "ANNAHMESCHEIN_STORNIERT");
    release(&mill, &id, json!({"grund": "x"})).refused(400, "ANNAHMESCHEIN_STORNIERT");
    let writer = Connection::open(&server.database).unwrap();
    for statement in ["update annahme_analyse set werte = '[]'", "delete from annahme_analyse"] {
        assert!(writer.execute(statement, []).is_err(), "{statement}");
    }
}

#[test]
fn a_note_from_before_the_scheme_takes_it_with_its_first_analysis() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let plain = post(&mill, json!({"anliefermenge_kg": 1000, "feuchte_prozent": 15})).id();
    let formula =
        post(&mill, json!({"anliefermenge_kg": 1000, "feuchte_prozent": 15, "basisfeuchte_prozent": 14}))
            .id();
    scheme(&mill, json!({}));
    let of = &[("protein", "13.4")];
    assert_fields(
        analyse(&mill, &plain, of).is(201),
        json!({"schema": "A-WEIZEN", "netto_menge_kg": "993.000"}),
    );
    assert_fields(analyse(&mill, &formula, of).is(201), json!({"schema": null, "netto_menge_kg": "990.000"}));
}
