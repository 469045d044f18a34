//! Values that an item does not give are taken from the document it comes from: rate and price (D6, D7).

use serde_json::{Value, json};

use crate::goods::kontrakte::contract;
use crate::harness::{Answer, COMPLETE, Client, Server};
use crate::trade::lager::{Mill, and};

/// Posts a document to the supplier Hof or the customer Kd, depending on its type.
pub fn post(mill: &Mill<'_>, typ: &str, items: Value, header: Value) -> Answer {
    let partner = if ["BS", "EL", "ER"].contains(&typ) { "Hof" } else { "Kd" };
    let body = json!({"beleg_typ": typ, "kundennummer": partner, "items": items});
    mill.client.post("/api/v1/belege", and(body, header))
}

/// An item of the article S, at 19 % and without batches.
pub fn sacks(menge: i64) -> Value {
    json!({"artikelnr": "S", "menge": menge})
}

fn rate(mill: &Mill<'_>, id: &str) -> Value {
    mill.get(id)["positionen"][0]["mwst_satz"].clone()
}

fn change(mill: &Mill<'_>, partner: &str, body: Value) {
    let path = format!("/api/v1/kunden/{}", mill.partner_id(partner));
    mill.client.put(&path, body).is(200);
}

#[test]
fn an_invoice_is_taxed_as_of_the_day_of_its_delivery() {
    let server = Server::start();
    let mill = Mill::of(&server);
    change(&mill, "Hof", json!({"steuerart": "pauschal_24", "gutschrift_vereinbart_am": "2024-01-01"}));
    let delivered = json!({"beleg_datum": "2025-01-02", "lieferdatum": "2024-12-20"});
    post(&mill, "EL", json!([sacks(10)]), delivered).is(201);
    let header = json!({"beleg_datum": "2025-01-10", "gutschrift": true});
    let settled = post(&mill, "ER", json!([sacks(10)]), header);
    assert_eq!(settled.is(201)["summe_mwst"], "16.80", "8.4 % of 200");
    assert_eq!(rate(&mill, &settled.id()), "8.40");
    assert_eq!(mill.get(&settled.id())["summe_brutto"], "216.80");

    let old = post(&mill, "LS", json!([sacks(10)]), json!({"beleg_datum": "2020-12-30"})).id();
    let january = json!({"beleg_datum": "2021-01-05"});
    let invoice = post(&mill, "RE", json!([sacks(10)]), january.clone());
    assert_eq!((rate(&mill, &invoice.id()), invoice.hint_codes()), (json!("16.00"), vec![]));
    mill.put(&invoice.id(), and(sacks(10), json!({"mwst_satz": 19}))).is(200);
    assert_eq!(rate(&mill, &invoice.id()), "19.00", "what is sent holds");
    let said = mill.client.put(
        &format!("/api/v1/belege/{}", invoice.id()),
        json!({"lieferdatum": "2020-11-30",
        "items": [sacks(10)]}),
    );
    assert_eq!(
        (said.is(200)["summe_mwst"].clone(), rate(&mill, &invoice.id())),
        (json!("53.60"), json!("16.00"))
    );
    for (leistung_bis, expected) in [("2021-01-04", "19.00"), ("2020-12-31", "16.00")] {
        let body = json!({"lieferdatum": null, "leistung_bis": leistung_bis, "items": [sacks(10)]});
        mill.client.put(&format!("/api/v1/belege/{}", invoice.id()), body).is(200);
        assert_eq!(rate(&mill, &invoice.id()), expected, "the end of a service goes before the delivery");
    }
    mill.storno(&invoice.id()).is(200);

    let part = post(&mill, "RE", json!([sacks(11)]), january.clone());
    let hint = part.hints("STEUERSATZ_GETEILT")["hinweise"][0]["message"].clone();
    assert!(hint.as_str().unwrap().contains("LS-2020-00001"), "{hint}");
    assert_eq!(rate(&mill, &part.id()), "19.00");
    mill.storno(&part.id()).is(200);
    post(&mill, "LS", json!([sacks(10)]), json!({"beleg_datum": "2021-01-04"})).is(201);
    let two = post(&mill, "RE", json!([sacks(20)]), january.clone());
    assert_eq!(
        (two.hint_codes(), rate(&mill, &two.id())),
        (vec!["STEUERSATZ_GETEILT".to_owned()], json!("19.00"))
    );
    mill.storno(&two.id()).is(200);
    let bound = json!([and(sacks(10), json!({"bezug_beleg_id": old}))]);
    let first = post(&mill, "RE", bound.clone(), january.clone()).id();
    let again = post(&mill, "RE", bound, january).id();
    assert_eq!(
        [&first, &again].map(|id| rate(&mill, id)),
        ["16.00", "16.00"],
        "named, though nothing is open"
    );
}

#[test]
fn what_is_delivered_later_leaves_the_rates_and_says_so() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let invoice = post(&mill, "RE", json!([sacks(10)]), json!({"beleg_datum": "2021-01-05"})).id();
    let delivery = post(
        &mill,
        "LS",
        json!([sacks(10)]),
        json!({"beleg_datum": "2021-01-06", "lieferdatum": "2020-12-30"}),
    );
    delivery.hints("SAETZE_UNVERAENDERT");
    assert_eq!(rate(&mill, &invoice), "19.00");
    let path = format!("/api/v1/belege/{}", delivery.id());
    let names_it = |lieferdatum: Value| {
        let answer = mill.client.put(&path, json!({"lieferdatum": lieferdatum}));
        answer.hints("SAETZE_UNVERAENDERT")["hinweise"].to_string().contains("RE-2021-00001")
    };
    assert_eq!((names_it(Value::Null), names_it(json!("2020-12-29"))), (false, true));
    mill.put(&invoice, sacks(10)).is(200);
    assert_eq!(rate(&mill, &invoice), "16.00", "items are asked again");
}

/// Whether an answer says that rates were kept that would differ if derived again.
fn has_kept(answer: &Answer) -> bool {
    assert!([200, 201].contains(&answer.status), "{}", answer.body);
    answer.hint_codes().contains(&"SAETZE_UNVERAENDERT".to_owned())
}

#[test]
fn a_later_delivery_names_the_invoices_of_its_own_goods_alone() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(
        &mill.client,
        "artikel",
        r#"[{"artikelnummer": "T", "bezeichnung": "Tüte", "mwst_satz": 19, "preis": 1}]"#,
    );
    let bags = json!({"artikelnr": "T", "menge": 5});
    post(&mill, "LS", json!([sacks(10)]), json!({"beleg_datum": "2020-12-30"})).is(201);
    let invoice = post(&mill, "RE", json!([sacks(20), bags]), json!({"beleg_datum": "2021-01-05"}));
    invoice.hints("STEUERSATZ_GETEILT");
    let others = post(&mill, "LS", json!([bags]), json!({"beleg_datum": "2021-01-05"}));
    assert!(!has_kept(&others), "{}", others.body);
    mill.finalise(&invoice.id());
    let rest = post(&mill, "LS", json!([sacks(10)]), json!({"beleg_datum": "2020-12-29"}));
    let hints = rest.hints("SAETZE_UNVERAENDERT")["hinweise"].to_string();
    assert!(hints.contains("RE-2021-00001") && hints.contains("stornieren"), "{hints}");
}

#[test]
fn a_change_without_items_compares_the_rates() {
    let server = Server::start();
    let mill = Mill::of(&server);
    change(&mill, "Gut", json!({"steuerart": "pauschal_24"}));
    post(&mill, "LS", json!([sacks(10)]), json!({"beleg_datum": "2020-12-30"})).is(201);
    let day = json!({"beleg_datum": "2021-01-05", "lieferdatum": "2021-01-05"});
    let put = |id: &str, body: Value| has_kept(&mill.client.put(&format!("/api/v1/belege/{id}"), body));
    let invoice = post(&mill, "RE", json!([sacks(10)]), day).id();
    assert!(!put(&invoice, json!({"lieferdatum": "2021-01-06"})), "the same rate");
    assert!(put(&invoice, json!({"lieferdatum": null})), "now the day of the delivery counts");
    assert!(!put(&invoice, json!({"notizen": "x"})));
    assert_eq!(rate(&mill, &invoice), "19.00");
    assert!(!put(&invoice, json!({"lieferdatum": "2021-01-05"})));

    let kept = |tax: Value| {
        let id = post(&mill, "RE", json!([and(sacks(1), tax)]), json!({})).id();
        put(&id, json!({"lieferdatum": "2020-08-01"}))
    };
    let sent = [json!({"mwst_satz": 19}), json!({"steuer_kategorie": "K"}), json!({"steuer_kategorie": "S"})];
    assert_eq!(sent.map(kept), [false, false, true], "what was sent holds");

    let receipt = post(&mill, "EL", json!([sacks(1)]), json!({})).id();
    assert!(put(&receipt, json!({"kundennummer": "Gut"})), "the partner has a rate of his own");
    assert_eq!(rate(&mill, &receipt), "19.00");
    assert!(!put(&receipt, json!({"kundennummer": "Hof"})), "back again");
    let invoice = post(&mill, "RE", json!([and(sacks(5), json!({"mwst_satz": 5}))]), json!({})).id();
    let credit =
        post(&mill, "RE", json!([and(sacks(-1), json!({"bezug_beleg_id": invoice}))]), json!({})).id();
    assert!(!put(&credit, json!({"lieferdatum": "2026-07-02"})), "it is that of what it takes back");
}

#[test]
fn a_credit_takes_rate_and_price_of_what_it_takes_back() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = json!([
        {"artikelnr": "S", "menge": 5, "ep_netto": 7, "rabatt_prozent": 10, "mwst_satz": 5},
        {"artikelnr": "S", "menge": 5, "ep_netto": 7, "rabatt_prozent": 10, "mwst_satz": 5},
        {"artikelnr": "S", "menge": 1, "ep_netto": -1, "mwst_satz": 7}]);
    let invoice = post(&mill, "RE", first, json!({})).id();
    let credit = |more: Value| {
        let item = and(json!({"artikelnr": "S", "menge": -2, "bezug_beleg_id": invoice}), more);
        let answer = post(&mill, "RE", json!([item]), json!({}));
        answer.is(201);
        let shown = mill.get(&answer.id())["positionen"][0].clone();
        let fields = ["mwst_satz", "ep_netto", "rabatt_prozent", "gesamtpreis"];
        (fields.map(|field| shown[field].as_str().unwrap().to_owned()), answer)
    };
    let (taken, answer) = credit(json!({}));
    assert_eq!(taken, ["5.00", "7.0000", "10.00", "-12.60"]);
    answer.hints("PREIS_UEBERNOMMEN");
    assert_eq!(credit(json!({"steuer_kategorie": "S"})).0, taken, "said again, it is the same");
    assert_eq!(credit(json!({"steuer_kategorie": "K"})).0[0], "0.00", "what is sent holds");
    assert_eq!(credit(json!({"rabatt_prozent": 0})).0, ["5.00", "7.0000", "0.00", "-14.00"]);
    assert_eq!(credit(json!({"ep_netto": 3, "mwst_satz": 19})).0, ["19.00", "3.0000", "0.00", "-6.00"]);
    let free = json!([{"artikelnr": "S", "menge": 5, "steuer_kategorie": "K"}]);
    let free = post(&mill, "RE", free, json!({})).id();
    let credit = post(&mill, "RE", json!([and(sacks(-1), json!({"bezug_beleg_id": free}))]), json!({})).id();
    let shown = mill.get(&credit)["positionen"][0].clone();
    assert_eq!((&shown["mwst_satz"], &shown["steuer_kategorie"]), (&json!("0.00"), &json!("K")));
}

#[test]
fn a_contract_says_the_price_and_what_a_unit_rounds_is_said() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let file = json!([
        {"kontrakt_nr": "V-1", "gesamtmenge": 100, "gesamtmenge_einheit": "t",
         "positionen": [{"artikelnummer": "W", "menge": 100, "preis": "198.5033"}]},
        {"kontrakt_nr": "V-3", "partner": "Kd2", "positionen": [{"artikelnummer": "W", "preis": "0.11"}]},
        {"kontrakt_nr": "V-4", "kontrakt_typ": "EK", "positionen": [{"artikelnummer": "W", "preis": "0.12"}]},
        {"kontrakt_nr": "V-5", "kontrakt_typ": "VK", "partner": "Kd", "gesamtmenge": 1, "gesamtmenge_einheit": "Stk",
         "positionen": [{"artikelnummer": "W", "preis": "0.13"}]},
        {"kontrakt_nr": "V-2", "positionen": [{"artikelnummer": "W", "menge": 100, "preis": "0.21"}]}]);
    server.import(&mill.client, "kontrakte", &file.to_string());
    let of = |number: &str| contract(&mill.client, number)["positionen"][0]["id"].clone();
    let price = |number: &str, more: Value| {
        let item = json!({"artikelnr": "W", "menge": 1, "kontrakt_position_id": of(number)});
        let answer = post(&mill, "AU", json!([and(item, more)]), json!({}));
        let shown = mill.get(&answer.id())["positionen"][0]["ep_netto"].as_str().unwrap().to_owned();
        (shown, answer.hint_codes())
    };
    let taken = || "PREIS_UEBERNOMMEN".to_owned();
    assert_eq!(price("V-1", json!({"einheit": "t"})), ("198.5033".to_owned(), vec![taken()]));
    assert_eq!(price("V-1", json!({})), ("0.198503".to_owned(), vec!["GERUNDET".to_owned(), taken()]));
    assert_eq!(price("V-2", json!({})), ("0.2100".to_owned(), vec![taken()]), "per unit of the article");
    assert_eq!(price("V-2", json!({"einheit": "t"})), ("210.0000".to_owned(), vec![taken()]));
    assert_eq!(price("V-2", json!({"ep_netto": "0.5"})), ("0.5000".to_owned(), vec![]));
    let said = |code: &str| ("0.3200".to_owned(), vec![code.to_owned()]);
    assert_eq!(price("V-3", json!({})), said("KONTRAKT_ANDERER_PARTNER"), "not the price of another partner");
    assert_eq!(price("V-4", json!({})), said("KONTRAKT_ANDERE_RICHTUNG"), "not what the company pays");
    assert_eq!(price("V-5", json!({})), said("FELD_IGNORIERT"), "a price per sack is none per kg");
    let charge = mill.receive("C1", 100);
    let sold = json!({"artikelnr": "W", "menge": 5, "ep_netto": "0.4", "charge_id": charge});
    let invoice = post(&mill, "RE", json!([sold]), json!({})).id();
    let back =
        json!({"artikelnr": "W", "menge": -1, "bezug_beleg_id": invoice, "kontrakt_position_id": of("V-2")});
    let credit = post(&mill, "RE", json!([back]), json!({})).id();
    assert_eq!(mill.get(&credit)["positionen"][0]["ep_netto"], "0.4000", "that of the invoice goes before");
    assert_eq!(price("V-2", json!({"artikelnr": "S", "kontrakt_position_id": null})).0, "33.5000");
}

#[test]
fn the_rate_of_an_article_names_a_class() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(
        &mill.client,
        "steuersaetze",
        r#"[{"schluessel": "normal", "bezeichnung": "Normalsatz", "satz": 20,
        "gueltig_von": "2026-07-01", "kategorie": "S"}]"#,
    );
    let sale = post(&mill, "RE", json!([sacks(1)]), json!({}));
    sale.hints("MWST_SATZ_ALT");
    assert_eq!(rate(&mill, &sale.id()), "20.00");
    let before = post(&mill, "RE", json!([sacks(1)]), json!({"lieferdatum": "2026-06-30"})).id();
    assert_eq!(rate(&mill, &before), "19.00");
    let sent = post(&mill, "RE", json!([and(sacks(1), json!({"mwst_satz": 19}))]), json!({}));
    assert_eq!((rate(&mill, &sent.id()), sent.hint_codes()), (json!("19.00"), vec![]));
    server.import(
        &mill.client,
        "artikel",
        r#"[{"artikelnummer": "P", "bezeichnung": "P", "mwst_satz": 7.8, "preis": 1}]"#,
    );
    let flat =
        post(&mill, "RE", json!([{"artikelnr": "P", "menge": 1}]), json!({"lieferdatum": "2024-12-20"})).id();
    assert_eq!(rate(&mill, &flat), "7.80", "a flat rate stands for no class");
}

#[test]
fn the_rates_are_known_since_1983() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (day, normal, reduced) in [
        ("1983-07-01", "14.00", "7.00"),
        ("1992-12-31", "14.00", "7.00"),
        ("1993-01-01", "15.00", "7.00"),
        ("1998-04-01", "16.00", "7.00"),
        ("2007-01-01", "19.00", "7.00"),
        ("2020-07-01", "16.00", "5.00"),
        ("2021-01-01", "19.00", "7.00"),
    ] {
        let listed = mill.get(&format!("/api/v1/steuersaetze?datum={day}"));
        let rows = listed.is(200).as_array().unwrap();
        let of = |klasse: &str| {
            let mut of = rows.iter().filter(|row| row["schluessel"] == klasse).map(|row| row["satz"].clone());
            (of.next(), of.next())
        };
        let one = |satz: &str| (Some(json!(satz)), None);
        assert_eq!((of("normal"), of("ermaessigt")), (one(normal), one(reduced)), "{day}");
    }
}

/// Creates a supplier with whom Gutschriften are agreed.
fn supplier(mill: &Client, fields: Value) -> String {
    let id = mill
        .post(
            "/api/v1/kunden",
            and(json!({"name": "Hof", "gutschrift_vereinbart_am": "2026-01-01"}), fields.clone()),
        )
        .id();
    mill.put(&format!("/api/v1/kunden/{id}"), fields).is(200);
    id
}

#[test]
fn tax_that_must_not_be_shown_is_said_before_it_is_final() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let small = supplier(&mill, json!({"steuerart": "kleinunternehmer"}));
    let farmer = supplier(&mill, json!({"steuerart": "pauschal_24"}));
    let regular = supplier(&mill, json!({}));
    let abroad = supplier(&mill, json!({"staat": "FR", "ust_id": "FR40303265045"}));
    let item = |tax: Value| and(json!({"bezeichnung": "Weizen", "menge": 1, "ep_netto": 100}), tax);
    let (rate, k) = (|satz: f64| json!({"mwst_satz": satz}), json!({"steuer_kategorie": "K"}));
    for (typ, gutschrift, partner, tax, is_doubtful) in [
        ("ER", true, &small, rate(7.0), true),
        ("ER", true, &small, json!({}), false),
        ("ER", false, &small, rate(7.0), false),
        ("ER", true, &regular, rate(7.8), true),
        ("ER", true, &regular, rate(8.4), true),
        ("ER", true, &regular, rate(7.0), false),
        ("ER", true, &farmer, rate(7.8), false),
        ("ER", true, &regular, k.clone(), true),
        ("RE", false, &regular, k.clone(), true),
        ("RE", false, &regular, json!({"steuer_kategorie": "G"}), true),
        ("RE", false, &abroad, k, false),
        ("AU", false, &regular, json!({"steuer_kategorie": "G"}), false),
    ] {
        let mut body = json!({"beleg_typ": typ, "kunden_id": partner, "items": [item(tax.clone())]});
        if gutschrift {
            body["gutschrift"] = json!(true);
        }
        let path = format!("/api/v1/belege/{}", mill.post("/api/v1/belege", body.clone()).id());
        let answers = [
            mill.post("/api/v1/belege", body.clone()),
            mill.put(&path, json!({"notizen": "x"})),
            mill.put(&path, json!({"items": body["items"]})),
            mill.post(&format!("{path}/abschliessen"), json!({})),
        ];
        for answer in answers {
            let said = answer.hint_codes().contains(&"STEUERAUSWEIS_PRUEFEN".to_owned());
            assert_eq!(said, is_doubtful, "{typ} {tax}: {}", answer.body);
        }
    }
}

/// Free of tax across a border: K needs a VAT id of another member state or Northern Ireland, G goods that leave the EU.
#[test]
fn a_delivery_across_a_border_needs_a_vat_id_of_its_kind_or_leaves_the_eu() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (staat, ust_id, kategorie, is_doubtful) in [
        ("AT", "ATU33864707", "K", false),
        ("GB", "XI110305878", "K", false),
        ("CH", "ATU33864707", "K", false),
        ("CH", "CHE-123.456.788", "G", false),
        ("GB", "GB110305878", "G", false),
        ("AT", "beantragt", "K", true),
        ("AT", "ATU1", "K", true),
        ("AT", "", "K", true),
        ("AT", "DE123456789", "K", true),
        ("CH", "CHE-123.456.788 MWST", "K", true),
        ("GB", "GB110305878", "K", true),
        ("NO", "NO 974 760 673 MVA", "K", true),
        ("AT", "ATU33864707", "G", true),
        ("DE", "DE123456789", "K", true),
    ] {
        let partner = supplier(&mill, json!({"staat": staat, "ust_id": ust_id}));
        for (typ, gutschrift) in [("RE", false), ("ER", false), ("ER", true)] {
            let item =
                json!({"bezeichnung": "Weizen", "menge": 1, "ep_netto": 100, "steuer_kategorie": kategorie});
            let mut body = json!({"beleg_typ": typ, "kunden_id": partner, "items": [item]});
            if gutschrift {
                body["gutschrift"] = json!(true);
            }
            let made = mill.post("/api/v1/belege", body);
            let path = format!("/api/v1/belege/{}", made.id());
            let checked = mill.post(&format!("{path}/abschliessen?pruefen=true"), json!({}));
            for answer in [made, mill.put(&path, json!({"notizen": "x"})), checked] {
                let said = answer.hint_codes().contains(&"STEUERAUSWEIS_PRUEFEN".to_owned());
                assert_eq!(said, is_doubtful, "{typ} {staat} {ust_id} {kategorie}: {}", answer.body);
            }
        }
    }
}

#[test]
fn at_the_end_of_the_day_a_doubtful_gutschrift_or_invoice_stays_open() {
    let mut server = Server::start();
    let mill = server.company_with("Mühle", COMPLETE);
    let complete = json!({"partner_typen": ["lieferant"], "strasse": "Weg 1", "plz": "86650", "ort": "Wemding",
        "staat": "DE", "steuerart": "regel", "steuernummer": "102/123/45678", "iban": "DE02500105170137075030", "email": "h@example.org"});
    let agreed =
        |date: Value| and(complete.clone(), json!({"name": "Hof", "gutschrift_vereinbart_am": date}));
    let partner = |body: Value| mill.post("/api/v1/kunden", body).id();
    let (good, silent) = (partner(agreed(json!("2026-01-01"))), partner(agreed(Value::Null)));
    let unknown = partner(and(agreed(json!("2026-01-01")), json!({"steuerart": null})));
    let nameless =
        partner(json!({"name": "Gut", "steuerart": "regel", "gutschrift_vereinbart_am": "2026-01-01"}));
    let post = |partner: &str, gutschrift: bool, satz: f64| {
        let item =
            json!({"bezeichnung": "Weizen", "einheit": "t", "menge": 1, "ep_netto": 100, "mwst_satz": satz});
        let body =
            json!({"beleg_typ": "ER", "kunden_id": partner, "gutschrift": gutschrift, "items": [item]});
        mill.post("/api/v1/belege", body).id()
    };
    let sell = |kategorie: &str, satz: f64| {
        let item = json!({"bezeichnung": "Weizen", "einheit": "t", "menge": 1, "ep_netto": 100, "mwst_satz": satz,
            "steuer_kategorie": kategorie});
        mill.post("/api/v1/belege", json!({"beleg_typ": "RE", "kunden_id": good, "items": [item]})).id()
    };
    let expected = [
        (sell("S", 7.0), "abgeschlossen"),
        (sell("K", 0.0), "offen"),
        (post(&good, true, 7.0), "abgeschlossen"),
        (post(&good, false, 7.0), "offen"),
        (post(&good, true, 7.8), "offen"),
        (post(&silent, true, 7.0), "offen"),
        (post(&nameless, true, 7.0), "offen"),
        (post(&unknown, true, 7.0), "offen"),
    ];
    server.restart_at("2026-07-11T10:00:00Z");
    let mill = server.client(mill.tenant, mill.key.clone());
    for (id, status) in expected {
        assert_eq!(mill.get(&format!("/api/v1/belege/{id}")).is(200)["status"], status, "{id}");
    }
}

#[test]
fn a_gutschrift_that_gets_no_e_invoice_becomes_final_whatever_one_would_lack() {
    let mut server = Server::start();
    let off = [COMPLETE, &[("e_rechnung", "aus")]].concat();
    let hof = |more: Value| {
        and(
            json!({"name": "Hof", "partner_typen": ["lieferant"], "gutschrift_vereinbart_am": "2026-01-01",
                "steuerart": "regel"}),
            more,
        )
    };
    let made: Vec<_> = [
        ("Aus", &off[..], hof(json!({})), "abgeschlossen"),
        ("Ohne Stammdaten", &[("e_rechnung", "aus")][..], hof(json!({})), "abgeschlossen"),
        ("Ausland", COMPLETE, hof(json!({"staat": "AT"})), "abgeschlossen"),
        ("Inland", COMPLETE, hof(json!({})), "offen"),
    ]
    .into_iter()
    .map(|(name, settings, partner, status)| {
        let mill = server.company_with(name, settings);
        let partner = mill.post("/api/v1/kunden", partner).id();
        let items =
            json!([{"bezeichnung": "Weizen", "einheit": "t", "menge": 1, "ep_netto": 100, "mwst_satz": 7}]);
        let body = json!({"beleg_typ": "ER", "kunden_id": partner, "gutschrift": true, "items": items});
        let id = mill.post("/api/v1/belege", body).id();
        (mill.tenant, mill.key.clone(), id, name, status)
    })
    .collect();
    server.restart_at("2026-07-11T10:00:00Z");
    for (tenant, key, id, name, status) in made {
        let mill = server.client(tenant, key);
        assert_eq!(mill.get(&format!("/api/v1/belege/{id}")).is(200)["status"], status, "{name}");
    }
}
