//! Why a position is taxed or not: abroad, by category, by a Kleinunternehmer (D7, D24, D26).

use serde_json::json;

use crate::harness::Server;
use crate::trade::belege_betraege::{partner, position, positions, post};
use crate::trade::lager::{Mill, and, buy};

#[test]
fn abroad_the_article_rate_stands_or_the_setting_makes_it_free_of_tax() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;mwst_satz\nM;Mehl;7\n");
    let inland = partner(&mill, json!({"staat": "DE", "ust_id": "DE123456789"}));
    let eu = partner(&mill, json!({"staat": "FR", "ust_id": "FR12345678901"}));
    let eu_private = partner(&mill, json!({"staat": "FR"}));
    let third = partner(&mill, json!({"staat": "CH"}));
    let flat = partner(&mill, json!({"staat": "FR", "ust_id": "FR1", "steuerart": "pauschal_24"}));
    let small = partner(&mill, json!({"staat": "CH", "steuerart": "kleinunternehmer"}));
    let (check, none) = (Some("STEUER_AUSLAND_PRUEFEN"), None);
    let table = [
        ("false", "RE", &inland, "7.00", none, "S"),
        ("false", "RE", &eu, "7.00", check, "S"),
        ("false", "AN", &eu_private, "7.00", check, "S"),
        ("false", "EL", &third, "7.00", check, "S"),
        ("false", "ER", &flat, "7.80", none, "S"),
        ("false", "ER", &small, "0.00", none, "E"),
        ("true", "RE", &inland, "7.00", none, "S"),
        ("true", "RE", &eu, "0.00", Some("IG_LIEFERUNG"), "K"),
        ("true", "AU", &eu, "0.00", Some("IG_LIEFERUNG"), "K"),
        ("true", "RE", &eu_private, "7.00", check, "S"),
        ("true", "RE", &third, "0.00", Some("AUSFUHR"), "G"),
        ("true", "ER", &eu, "0.00", Some("IG_ERWERB"), "K"),
        ("true", "EL", &third, "0.00", Some("EINFUHR"), "G"),
        ("true", "ER", &flat, "7.80", none, "S"),
        ("true", "ER", &small, "0.00", none, "E"),
        ("true", "RE", &small, "0.00", Some("AUSFUHR"), "G"),
    ];
    let item = json!({"artikelnr": "M", "menge": 1, "ep_netto": 10});
    for (setting, typ, partner, rate, hint, kategorie) in table {
        server.set(&mill, &[("steuer_ausland_automatik", setting)]);
        let created = post(&mill, typ, partner, json!([item]), json!({}));
        let name = format!("{setting} {typ} {partner}: {}", created.body);
        let position = positions(&mill, &created)[0].clone();
        assert_eq!(
            (&position["mwst_satz"], &position["steuer_kategorie"]),
            (&json!(rate), &json!(kategorie)),
            "{name}"
        );
        let codes = created.hint_codes().into_iter().filter(|code| code != "BESTAND_NEGATIV");
        assert_eq!(codes.collect::<Vec<_>>(), Vec::from_iter(hint), "{name}");
    }
    let sent = json!({"bezeichnung": "Mehl", "menge": 1, "ep_netto": 10, "mwst_satz": 19});
    assert_eq!(position(&mill, "RE", &eu, sent.clone(), json!({}))["mwst_satz"], "19.00");
    let german = partner(&mill, json!({"staat": "FR", "ust_id": "DE123456789"}));
    assert_eq!(position(&mill, "RE", &german, item, json!({}))["mwst_satz"], "7.00");
}

#[test]
fn only_a_vat_id_of_the_right_form_makes_a_sale_free_of_tax() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.set(&mill, &[("steuer_ausland_automatik", "true")]);
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;mwst_satz\nM;Mehl;7\n");
    let german = mill.post("/api/v1/kunden", json!({"name": "Hof", "staat": "DE"}));
    let german_nr = &german.is(201)["kundennr"];
    let (check, free, export) = ("STEUER_AUSLAND_PRUEFEN", "IG_LIEFERUNG", "AUSFUHR");
    let table = [
        ("FR", "fr 12 345678901", false, free),
        ("FR", "ATU12345675", false, free),
        ("FR", "beantragt", true, check),
        ("FR", "CHE-123.456.789", true, check),
        ("FR", "FR1", true, check),
        ("CH", "CHE-123.456.789", false, export),
        ("CH", "ATU1", true, export),
        ("GB", "GB123456789", false, export),
        ("GB", "XI123456789", false, free),
        ("GB", "XI1", true, export),
    ];
    for (staat, ust_id, is_doubtful, expected) in table {
        let body = json!({"name": "Partner", "staat": staat, "ust_id": ust_id});
        let partner = mill.post("/api/v1/kunden", body.clone());
        let other = mill.post("/api/v1/kunden", json!({"name": "Partner", "staat": "DE"}));
        let path = format!("/api/v1/kunden/{}", other.id());
        let stored = mill.put(&path, body.clone());
        // The same number is doubted anew where the country changes, and not where nothing does.
        let again = mill.put(&path, body);
        mill.put(&path, json!({"staat": "DE"})).is(200);
        let moved = mill.put(&path, json!({"staat": staat}));
        for answer in [&partner, &stored, &moved] {
            let hinted = answer.hint_codes().contains(&"WERT_FRAGLICH".to_owned());
            assert_eq!(hinted, is_doubtful, "{staat} {ust_id}: {answer:?}");
        }
        assert_eq!(again.hint_codes(), [""; 0], "{staat} {ust_id}");
        let item = json!([{"artikelnr": "M", "menge": 1, "ep_netto": 10}]);
        let invoice =
            json!({"beleg_typ": "RE", "kundennummer": partner.body["kundennr"], "items": item.clone()});
        let made = mill.post("/api/v1/belege", invoice);
        assert!(made.hint_codes().contains(&expected.to_owned()), "{staat} {ust_id}: {}", made.body);
        let rate = if expected == check { "0.70" } else { "0.00" };
        assert_eq!(made.is(201)["summe_mwst"], rate, "{staat} {ust_id}: {}", made.body);
        // The doubt is the same where an invoice gets this partner later.
        let german = json!({"beleg_typ": "RE", "kundennummer": german_nr, "items": item});
        let german = mill.post("/api/v1/belege", german).id();
        let kunde = json!({"kundennummer": partner.body["kundennr"]});
        let changed = mill.put(&format!("/api/v1/belege/{german}"), kunde);
        let says = changed.hint_codes().contains(&check.to_owned());
        assert_eq!(says, expected == check, "{staat} {ust_id}: {changed:?}");
    }
}

#[test]
fn a_category_is_sent_or_follows_from_the_rate_and_goes_with_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let kunde = partner(&mill, json!({}));
    let refused = "STEUER_KATEGORIE_PASST_NICHT";
    let unnamed = Some("STEUERGRUND_FEHLT");
    let table = [
        (json!({"mwst_satz": 19}), "19.00", "S", None),
        (json!({"mwst_satz": 0}), "0.00", "E", unnamed),
        (json!({"mwst_satz": 19, "steuer_kategorie": "S"}), "19.00", "S", None),
        (json!({"steuer_kategorie": "S"}), "7.00", "S", Some("MWST_SATZ_ANGENOMMEN")),
        (json!({"mwst_satz": 0, "steuer_kategorie": "E"}), "0.00", "E", None),
        (json!({"steuer_kategorie": "Z"}), "0.00", "Z", None),
        (json!({"steuer_kategorie": "AE"}), "0.00", "AE", None),
        (json!({"steuer_kategorie": "O", "mwst_satz": "0.00"}), "0.00", "O", None),
        (json!({"mwst_satz": 0, "steuer_kategorie": "S"}), refused, "", None),
        (json!({"mwst_satz": "0.000001", "steuer_kategorie": "K"}), refused, "", None),
        (json!({"mwst_satz": 7, "steuer_kategorie": "G"}), refused, "", None),
    ];
    for (fields, rate, kategorie, hint) in table {
        let mut item = fields.clone();
        item["bezeichnung"] = json!("Ware");
        item["menge"] = json!(1);
        item["ep_netto"] = json!(10);
        for typ in ["RE", "ER", "AN"] {
            let created = post(&mill, typ, &kunde, json!([item]), json!({}));
            if rate == refused {
                let refusal = created.refused(400, refused);
                assert_eq!(refusal["feld"], "items[0].steuer_kategorie", "{fields}");
                continue;
            }
            created.is(201);
            let position = positions(&mill, &created)[0].clone();
            let found = (&position["mwst_satz"], &position["steuer_kategorie"]);
            assert_eq!(found, (&json!(rate), &json!(kategorie)), "{typ} {fields}");
            assert_eq!(created.hint_codes(), Vec::from_iter(hint), "{typ} {fields}");
        }
    }
}

#[test]
fn a_kleinunternehmer_sells_without_tax_and_buys_with_it() {
    let server = Server::start();
    let mill = server.company("Hofladen");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;mwst_satz\nM;Mehl;7\n");
    let kunde = partner(&mill, json!({}));
    let abroad = partner(&mill, json!({"staat": "CH"}));
    server.set(&mill, &[("kleinunternehmer", "true"), ("steuer_ausland_automatik", "true")]);
    let ignored = "FELD_IGNORIERT";
    let table = [
        (&["AN", "AU", "LS", "RE"][..], &kunde, json!({}), "0.00", "E", &[][..]),
        (&["RE"], &abroad, json!({}), "0.00", "E", &[]),
        (&["RE"], &kunde, json!({"mwst_satz": 0, "steuer_kategorie": "E"}), "0.00", "E", &[]),
        (&["RE", "AN"], &kunde, json!({"mwst_satz": 7}), "0.00", "E", &[ignored]),
        (&["RE"], &kunde, json!({"mwst_satz": 7, "steuer_kategorie": "S"}), "0.00", "E", &[ignored, ignored]),
        (&["BS", "EL", "ER"], &kunde, json!({}), "7.00", "S", &[]),
        (&["ER"], &kunde, json!({"mwst_satz": 19}), "19.00", "S", &[]),
    ];
    for (typen, partner, fields, rate, kategorie, hints) in table {
        for typ in typen {
            let mut item = fields.clone();
            item["artikelnr"] = json!("M");
            item["menge"] = json!(1);
            item["ep_netto"] = json!(10);
            let created = post(&mill, typ, partner, json!([item]), json!({}));
            created.is(201);
            let position = positions(&mill, &created)[0].clone();
            let found = (&position["mwst_satz"], &position["steuer_kategorie"]);
            assert_eq!(found, (&json!(rate), &json!(kategorie)), "{typ} {fields}");
            let codes = created.hint_codes().into_iter().filter(|code| code != "BESTAND_NEGATIV");
            assert_eq!(codes.collect::<Vec<_>>(), hints, "{typ} {fields}");
        }
    }
    server.set(&mill, &[("kleinunternehmer", "false")]);
    let item = json!({"artikelnr": "M", "menge": 1, "ep_netto": 10});
    assert_eq!(position(&mill, "RE", &kunde, item, json!({}))["mwst_satz"], "7.00");
}

#[test]
fn a_company_that_ceases_to_be_a_kleinunternehmer_taxes_goods_by_their_day() {
    let server = Server::start_at("2026-12-30T10:00:00Z");
    let mill = Mill::with(&server, "Klein", crate::harness::COMPLETE);
    server.set(&mill.client, &[("kleinunternehmer", "true")]);
    let charge = mill.charge_id(&mill.post("EL", buy(100, "K1")).id());
    let item = |more| and(json!({"artikelnr": "W", "menge": 10, "charge_id": charge, "ep_netto": 10}), more);
    let delivered = mill.post("LS", item(json!({})));
    let first = mill.post("RE", item(json!({"lager_buchen": false})));
    mill.finalise(&first.id());
    server.set_clock("2027-01-05T10:00:00Z");
    // Without the day it would hold for the year before, too.
    let mut connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    let now = partnerd::rules::day::Instant::from_millis(1_799_143_200_000);
    let change = connection.transaction().unwrap();
    let without_day = [("kleinunternehmer", "false")];
    assert!(partnerd::master::tenants::set(&change, mill.client.tenant, &without_day, now).is_err());
    change.rollback().unwrap();
    server.set(&mill.client, &[("kleinunternehmer", "false"), ("kleinunternehmer_ab", "01.01.2027")]);
    // December's goods, billed in January, are free of tax; January's are not.
    let bills = item(json!({"bezug_beleg_id": delivered.id()}));
    let billed = mill.post("RE", json!([bills, item(json!({"lager_buchen": false}))]));
    let of = |at: usize, field: &str| mill.get(&billed.id())["positionen"][at][field].clone();
    assert_eq!((of(0, "mwst_satz"), of(0, "steuer_kategorie")), (json!("0.00"), json!("E")));
    assert_eq!((of(1, "mwst_satz"), of(1, "steuer_kategorie")), (json!("7.00"), json!("S")));
    mill.finalise(&billed.id());
}
