//! Accounts: which are refused, and which one applies to a position (D31).

use serde_json::{Value, json};

use super::{KONTEN, advised, kunde, re, stapel};
use crate::harness::Server;
use crate::leitstand::person;
use crate::platform::import::import;

#[test]
fn an_account_that_datev_would_book_otherwise_is_refused() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = server.company("Mühle");
    let table = [
        (json!({"fall": "erloes", "satz": "7", "konto": 8300}), None),
        (json!({"fall": "erloes", "satz": "19", "konto": 8300}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "erloes", "satz": "7", "konto": 8125}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "erloes", "satz": "7", "konto": 3420}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "erloes", "satz": "7", "konto": 3300}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand", "satz": "7", "konto": 8300}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "erloes", "satz": "0", "konto": 8290}), None),
        (json!({"fall": "erloes_ig", "konto": 8125}), None),
        (json!({"fall": "erloes_ig", "konto": 8300}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "erloes_ig", "satz": "7", "konto": 8125}), Some("FELD_WIDERSPRUCH")),
        (json!({"fall": "erloes_frei", "konto": 8192}), None),
        (json!({"fall": "aufwand", "satz": "7.8", "konto": 3540}), None),
        (json!({"fall": "aufwand", "satz": "7.8", "konto": 3549}), None),
        (json!({"fall": "aufwand", "satz": "7.8", "konto": 3550}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand", "satz": "19", "konto": 4710}), Some("BU_FEHLT")),
        (json!({"fall": "aufwand", "satz": "19", "konto": 4710, "bu": "401"}), None),
        (json!({"fall": "aufwand", "satz": "19", "konto": 4710, "bu": "12345"}), Some("KONTO_UNGUELTIG")),
        (json!({"fall": "aufwand", "satz": "19", "konto": 3400, "bu": "9"}), Some("BU_AUF_AUTOMATIKKONTO")),
        (json!({"fall": "aufwand", "satz": "19", "konto": 4711, "automatik": true}), None),
        (json!({"fall": "aufwand", "satz": "19", "konto": 34000}), Some("KONTO_UNGUELTIG")),
        (json!({"fall": "aufwand_ig", "satz": "7", "konto": 3420}), None),
        (json!({"fall": "aufwand_ig", "satz": "19", "konto": 3420}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand_ig", "satz": "7", "konto": 3300}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand_13b", "satz": "19", "konto": 3123}), None),
        (json!({"fall": "aufwand_13b", "satz": "19", "konto": 4720}), Some("BU_FEHLT")),
        (json!({"fall": "aufwand_13b", "satz": "19", "konto": 4720, "bu": "94"}), None),
        (
            json!({"fall": "aufwand", "satz": "19", "konto": 4710, "bu": "402"}),
            Some("KONTO_SATZ_PASST_NICHT"),
        ),
        (json!({"fall": "aufwand", "satz": "7", "konto": 4710, "bu": "8"}), None),
        (
            json!({"fall": "aufwand_13b", "satz": "19", "konto": 4720, "bu": "401"}),
            Some("KONTO_SATZ_PASST_NICHT"),
        ),
        (
            json!({"fall": "aufwand_13b", "satz": "19", "konto": 4720, "bu": "19"}),
            Some("KONTO_SATZ_PASST_NICHT"),
        ),
        (json!({"fall": "aufwand_ig", "satz": "19", "konto": 4720, "bu": "19"}), None),
        (json!({"fall": "erloes", "satz": "19", "konto": 8711, "bu": "401"}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "erloes", "satz": "19", "konto": 8711, "bu": "101"}), None),
        (json!({"fall": "erloes", "satz": "0", "konto": 8711, "bu": "3"}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand_ohne", "konto": 4711, "bu": "9"}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand_ohne", "konto": 3200}), None),
        (json!({"fall": "aufwand_ohne", "konto": 3400}), Some("KONTO_SATZ_PASST_NICHT")),
        (json!({"fall": "aufwand_einfuhr", "konto": 3200}), None),
        (
            json!({"fall": "erloes", "satz": "7", "artikelgruppe": "Nirgends", "konto": 8300}),
            Some("FELD_UNGUELTIG"),
        ),
    ];
    for (konto, refused) in table {
        let answer = mill.put(KONTEN, konto.clone());
        match refused {
            Some(code) => assert_eq!(answer.refused(400, code)["error"], code, "{konto}"),
            None => assert_eq!(answer.status, 200, "{konto}: {}", answer.body),
        }
    }
    // With six-digit accounts the ranges are those of the first four digits.
    server.set(&mill, &[("datev_sachkontenlaenge", "6")]);
    mill.put(KONTEN, json!({"fall": "erloes", "satz": "7", "konto": 830017})).is(200);
    mill.put(KONTEN, json!({"fall": "erloes", "satz": "19", "konto": 830017}))
        .refused(400, "KONTO_SATZ_PASST_NICHT");
    // For a tax adviser with an own chart, the settings say which accounts compute tax.
    server.set(&mill, &[("datev_rahmen", "keiner")]);
    mill.put(KONTEN, json!({"fall": "erloes", "satz": "7", "konto": 830017})).refused(400, "BU_FEHLT");
}

#[test]
fn the_proposals_of_both_charts_are_accepted_whole() {
    for (rahmen, text) in [("03", "skr03"), ("04", "skr04")] {
        let server = Server::start_at("2026-10-28T10:00:00Z");
        let mill = server.company_with("Mühle", &[("datev_rahmen", rahmen)]);
        let file = server.database.with_file_name("konten.csv");
        let written =
            server.cli(&["import", "konten", "--template", file.to_str().unwrap(), "--rahmen", text]);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        server.import(&mill, "konten", &std::fs::read_to_string(&file).unwrap());
        let konten = mill.get(KONTEN).is(200).as_array().unwrap().len();
        assert_eq!(konten, 16);
        // Accounts of one chart are refused in the other.
        let other = if rahmen == "03" { "04" } else { "03" };
        server.set(&mill, &[("datev_rahmen", other)]);
        let tenant = mill.tenant.to_string();
        let again =
            server.cli(&["import", "konten", file.to_str().unwrap(), "--tenant", &tenant, "--dry-run"]);
        assert_eq!(again.status.code(), Some(1));
    }
}

#[test]
fn the_sales_of_a_kleinunternehmer_have_an_account_of_their_own() {
    for (rahmen, konto) in [("03", 8192), ("04", 4184)] {
        let server = Server::start_at("2026-10-28T10:00:00Z");
        let settings = [&[("datev_rahmen", rahmen), ("kleinunternehmer", "true")], super::ADVISED].concat();
        let mill = server.company_with("Mühle", &settings);
        let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
        let proposal = format!("/leitstand/f/{}/steuerberater/konten/vorschlag", mill.tenant);
        browser.fill(&proposal, &[]).is(303);
        let kunde = kunde(&mill, json!({}));
        let items = json!([{"bezeichnung": "Mehl", "menge": 1, "ep_netto": 100}]);
        let body =
            json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": "2026-10-05", "items": items});
        mill.post("/api/v1/belege", body).is(201);
        server.set_clock("2026-11-02T10:00:00Z");
        let made = stapel(&mill, "2026-10-31");
        assert_eq!(made.is(201)["konten"][0], json!({"konto": konto, "zeilen": 1, "saldo": "-100.00"}));
    }
}

/// Specificity: a group and a rate before a rate, a rate before a group, a group before neither.
#[test]
fn a_position_finds_the_account_that_says_most_of_it() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    let beleg = re(&mill, &kunde, "2026-10-05", "100");
    server.set_clock("2026-11-02T10:00:00Z");
    let database = rusqlite::Connection::open(&server.database).unwrap();
    let steps: [(Value, Option<i64>); 4] = [
        (json!({"fall": "erloes", "konto": 8304}), Some(8304)),
        (json!({"fall": "erloes", "artikelgruppe": "A", "konto": 8303}), Some(8303)),
        (json!({"fall": "erloes", "satz": "7", "konto": 8302}), Some(8302)),
        (json!({"fall": "erloes", "satz": "7", "artikelgruppe": "A", "konto": 8301}), Some(8301)),
    ];
    database.execute("delete from konto", []).unwrap();
    for (konto, expected) in steps {
        mill.put(KONTEN, konto).is(200);
        let seen = mill.post("/api/v1/datev/stapel", json!({"bis": "2026-10-31", "pruefen": true}));
        let konten: Vec<_> =
            seen.is(200)["konten"].as_array().unwrap().iter().map(|konto| konto["konto"].as_i64()).collect();
        assert!(konten.contains(&expected), "{konten:?} instead of {expected:?}");
    }
    // For another rate of the same group only the first two rows apply.
    database.execute("delete from konto where satz is null", []).unwrap();
    let items = json!([{"artikelnr": "B", "menge": 1, "ep_netto": 1, "mwst_satz": 19}]);
    mill.post(
        "/api/v1/belege",
        json!({"beleg_typ": "RE", "kunden_id": kunde, "beleg_datum": "2026-10-05", "items": items}),
    )
    .is(201);
    let refused = stapel(&mill, "2026-10-31");
    let fehler = &refused.refused(400, "DATEV_UNVOLLSTAENDIG")["details"]["fehler"];
    assert_eq!(fehler[0]["feld"], "erloes/19/B");
    assert!(beleg.is(201)["beleg_nummer"].is_string());
}

#[test]
fn the_account_of_a_partner_is_given_once_and_never_changes() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let first = kunde(&mill, json!({"debitor_konto": 20000}));
    let path = format!("/api/v1/kunden/{first}");
    let other = "PERSONENKONTO_UNGUELTIG";
    assert_eq!(mill.put(&path, json!({"debitor_konto": 20000})).is(200)["debitor_konto"], 20000);
    for sent in [json!(20001), Value::Null] {
        assert_eq!(
            mill.put(&path, json!({"debitor_konto": sent})).refused(400, other)["feld"],
            "debitor_konto"
        );
    }
    let body = |konto: i64| json!({"nachname_firma": "Zweiter", "debitor_konto": konto});
    for konto in [20000, 9999, 70000, 100_000] {
        mill.post("/api/v1/kunden", body(konto)).refused(400, other);
    }
    let creditor = |konto: i64| json!({"nachname_firma": "Hof", "kreditor_konto": konto});
    mill.post("/api/v1/kunden", creditor(69_999)).refused(400, other);
    mill.post("/api/v1/kunden", creditor(70_000)).is(201);

    let of = |id: &str| mill.get(&format!("/api/v1/kunden/{id}")).is(200).clone();
    let by_id_of = |id: &str| 10_000 + of(id)["kunden_id"].as_i64().unwrap();
    // A number within the range is used as account; if it is taken, also within the batch, the next free one is used.
    let numbered = kunde(&mill, json!({"kundennr": "20001"}));
    let plain = kunde(&mill, json!({"kundennr": "20000"}));
    let by_id = kunde(&mill, json!({"kundennr": "ABC"}));
    let claims = kunde(&mill, json!({"kundennr": (by_id_of(&by_id) + 2).to_string()}));
    let claimed = kunde(&mill, json!({"kundennr": "DEF"}));
    for id in [&numbered, &plain, &by_id, &claims, &claimed] {
        re(&mill, id, "2026-10-05", "100");
    }
    server.set_clock("2026-11-02T10:00:00Z");
    stapel(&mill, "2026-10-31").is(201);
    assert_eq!(of(&numbered)["debitor_konto"], 20001);
    for id in [&plain, &by_id] {
        assert_eq!(of(id)["debitor_konto"], by_id_of(id));
        assert_eq!(of(id)["kreditor_konto"], Value::Null);
    }
    assert_eq!(of(&claims)["debitor_konto"], by_id_of(&claimed));
    assert_eq!(of(&claimed)["debitor_konto"], by_id_of(&claimed) + 1);
    let history = mill.get(&format!("/api/v1/kunden/{by_id}/verlauf"));
    let given = json!([{"feld": "debitor_konto", "alt": null, "neu": by_id_of(&by_id)}]);
    assert_eq!(history.is(200)["data"][0]["felder"], given);
}

#[test]
fn a_tax_key_of_another_tax_stops_the_batch_and_an_unknown_one_is_named() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let unknown = mill.put(KONTEN, json!({"fall": "erloes", "satz": "7", "konto": 8711, "bu": "777"}));
    assert_eq!(unknown.status, 200, "{}", unknown.body);
    assert!(unknown.headers.iter().any(|(_, value)| value.contains("BU_UNBEKANNT")), "{:?}", unknown.headers);
    let learnt = "art;seite;satz;von;bis;kurz;lang\numsatzsteuer;verkauf;7;01.01.2026;;;777\n";
    for wrong in [learnt.replace(";777", "777;"), learnt.replace("777", "77"), learnt.replace("777", "7a7")] {
        import(&server, &mill, "bu_schluessel", &wrong).refused(&["kurz 1 oder 2 Ziffern, lang 3 oder 4"]);
    }
    server.import(&mill, "bu_schluessel", learnt);
    assert_eq!(import(&server, &mill, "bu_schluessel", learnt).counts(), [0, 0, 1]);
    mill.put(KONTEN, json!({"fall": "erloes", "satz": "7", "konto": 8711, "bu": "777"})).is(200);
    mill.put(KONTEN, json!({"fall": "erloes", "satz": "19", "konto": 8711, "bu": "777"}))
        .refused(400, "KONTO_SATZ_PASST_NICHT");
    // One account for all rates passes when it is set, and each document of another rate is named.
    mill.put(KONTEN, json!({"fall": "aufwand", "konto": 4711, "bu": "402"})).is(200);
}
