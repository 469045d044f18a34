//! The sums of a proposal, and when no ER can be created from it (D28).

use serde_json::{Value, json};

use super::{EINLESEN, Rechnung, body, create, eigene_nr, mill, read, zeile};
use crate::harness::{Client, Server, data};

fn supplied(server: &Server) -> Client {
    mill(server, json!({"ust_id": "DE123456789"})).0
}

/// The invoice without lines and tax groups, as in the profile MINIMUM.
fn minimum(sums: [&'static str; 3]) -> String {
    let xml = Rechnung { sums, ..Rechnung::new("") }.xml();
    let (begin, rest) = xml.split_once("<TaxSubtotal>").unwrap();
    let (_, rest) = rest.split_once("</TaxSubtotal>").unwrap();
    format!("{begin}{}</Invoice>", rest.split("<InvoiceLine>").next().unwrap())
}

/// The invoice with a rounding of the amount due.
fn rounded(amount: &str) -> String {
    let rounding = format!("<PayableRoundingAmount>{amount}</PayableRoundingAmount><TaxInclusiveAmount>");
    Rechnung::new(&eigene_nr("W")).xml().replace("<TaxInclusiveAmount>", &rounding)
}

/// Net, tax and gross of each invoice without lines, the rate that follows, and whether an ER is created.
const MINIMUM: &[([&str; 3], Option<&str>)] = &[
    (["1234.56", "234.57", "1469.13"], Some("19.00")),
    (["1234.56", "86.42", "1320.98"], Some("7.00")),
    (["1234.56", "96.30", "1330.86"], Some("7.80")),
    // A rate of another year, if none of that day yields the tax.
    (["1234.56", "197.53", "1432.09"], Some("16.00")),
    (["1234.56", "0.00", "1234.56"], Some("0.00")),
    // Off by a cent, two rates in one sum, and an amount so small that two rates yield it.
    (["1234.56", "234.58", "1469.14"], None),
    (["1234.56", "150.00", "1384.56"], None),
    (["0.50", "0.04", "0.54"], None),
];

#[test]
fn without_lines_the_rate_follows_from_the_printed_tax() {
    let server = Server::start();
    let mill = supplied(&server);
    for (sums, expected) in MINIMUM {
        let (xml, [netto, mwst, brutto]) = (minimum(*sums), sums);
        let answer = mill.post(EINLESEN, body(xml.as_bytes()));
        let item = &answer.hints("POSITIONEN_FEHLEN")["vorschlag"]["items"][0];
        assert_eq!(item["mwst_satz"].as_str(), *expected, "{netto} {mwst}");
        let sums = &answer.body["summen"]["vorschlag"];
        let group = &sums["steuergruppen"][0];
        assert_eq!(
            (&group["mwst_satz"], &group["basis"]),
            (&json!(expected), &json!(netto)),
            "{netto} {mwst}"
        );
        let made = create(&mill, xml.as_bytes(), None);
        match expected {
            Some(_) => {
                assert_eq!(made.is(201)["summe_brutto"], *brutto, "{netto} {mwst}");
                assert_eq!(sums["summe_brutto"], *brutto, "{netto} {mwst}");
            }
            None => {
                made.refused(400, "FELD_FEHLT");
                assert_eq!(made.body["feld"], "vorschlag.items[0].mwst_satz");
            }
        }
    }
}

#[test]
fn a_repeat_is_answered_before_a_rate_is_asked_for() {
    let server = Server::start();
    let mill = supplied(&server);
    let first = create(&mill, Rechnung::new(&eigene_nr("W")).xml().as_bytes(), Some("E-1"));
    first.is(201);
    let unknown = minimum(["1234.56", "150.00", "1384.56"]);
    let again = create(&mill, unknown.as_bytes(), Some("E-1"));
    assert_eq!((&again.is(200)["idempotent"], &again.body["id"]), (&json!(true), &first.body["id"]));
    create(&mill, unknown.as_bytes(), Some("E-2")).refused(400, "FELD_FEHLT");
}

#[test]
fn what_a_line_without_a_rate_is_rounded_by_says_that_none_is_named() {
    let server = Server::start();
    let mill = supplied(&server);
    let zeilen = zeile(&eigene_nr("W"), "999999", "1", "1000000.25");
    let sums = ["1000000.25", "70000.02", "1070000.27"];
    let xml = Rechnung { zeilen, sums, ..Rechnung::new("") }.xml().replace("<Percent>7</Percent>", "");
    let refused = create(&mill, xml.as_bytes(), None);
    let said = refused.refused(400, "FELD_FEHLT");
    assert_eq!(said["feld"], "vorschlag.items[1].mwst_satz");
    assert!(said["message"].as_str().unwrap().contains("nennt keinen Steuersatz"), "{said}");
}

#[test]
fn a_proposal_always_has_its_sums_with_tax_groups() {
    let server = Server::start();
    let mill = supplied(&server);
    let expected = json!({"summe_netto": "2000.00", "summe_mwst": "140.00", "summe_brutto": "2140.00",
        "steuergruppen": [{"mwst_satz": "7.00", "basis": "2000.00", "steuer": "140.00"}]});
    let known = Rechnung::new(&eigene_nr("W"));
    let xml = known.xml();
    let cases = [
        (xml.clone(), ""),
        (xml.replace("DE 123456789", "DE 987654321").replace("Hof Sonnental", "Fremd"), "PARTNER_UNBEKANNT"),
        (xml.replace("unitCode=\"TNE\"", "unitCode=\"LTR\""), "VORSCHLAG_UNVOLLSTAENDIG"),
    ];
    for (xml, hint) in cases {
        let answer = mill.post(EINLESEN, body(xml.as_bytes()));
        assert_eq!(answer.is(200)["summen"]["vorschlag"], expected, "{hint}");
        assert_eq!(answer.hint_codes().join(" "), hint);
    }
    let made = create(&mill, xml.as_bytes(), None);
    assert_eq!(made.is(201)["summen"]["vorschlag"], expected);
    assert_eq!(create(&mill, xml.as_bytes(), None).is(200)["summen"]["vorschlag"], expected);
}

#[test]
fn what_an_amount_to_pay_was_rounded_by_is_an_item_without_tax() {
    let server = Server::start();
    let mill = supplied(&server);
    for (root, printed, own) in [("Invoice", "0.02", "0.0200"), ("CreditNote", "-0.02", "0.0200")] {
        let xml = rounded(printed).replace("Invoice>", &format!("{root}>"));
        let xml = xml.replace("InvoiceLine", &format!("{root}Line"));
        let xml = if root == "CreditNote" { xml.replace("InvoicedQ", "CreditedQ") } else { xml };
        let answer = create(&mill, xml.as_bytes(), None);
        let items = &answer.is(201)["vorschlag"]["items"];
        let expected = json!({"menge": "1.000", "ep_netto": own, "mwst_satz": "0.00", "steuer_kategorie": "O",
            "bezeichnung": "Rundung"});
        assert_eq!((&items[1], &items[2]), (&expected, &Value::Null), "{root}");
        let brutto = if root == "Invoice" { "2140.02" } else { "-2139.98" };
        assert_eq!(answer.body["summe_brutto"], brutto);
        assert_eq!(answer.body["summen"]["rechnung"]["rundung"], "0.02");
        assert!(!answer.hint_codes().contains(&"SUMME_ABWEICHEND".to_owned()), "{:?}", answer.body);
    }
    assert_eq!(
        mill.post(EINLESEN, body(rounded("0.00").as_bytes())).is(200)["vorschlag"]["items"][1],
        Value::Null
    );
}

/// The printed gross, and whether an ER over 2140.00 is created.
#[test]
fn an_invoice_whose_gross_is_another_is_not_made() {
    let server = Server::start();
    let mill = supplied(&server);
    for (brutto, is_made) in [("2140.05", true), ("2139.95", true), ("2140.06", false), ("2139.94", false)] {
        let xml = Rechnung { sums: ["2000.00", "140.00", brutto], ..Rechnung::new(&eigene_nr("W")) }.xml();
        mill.post(EINLESEN, body(xml.as_bytes())).hints("SUMME_ABWEICHEND");
        let before = server.sql::<i64>("select count(*) from beleg");
        let answer = create(&mill, xml.as_bytes(), None);
        if is_made {
            answer.is(201);
        } else {
            assert_eq!(answer.refused(400, "WERT_UNGUELTIG")["feld"], "summen");
            assert_eq!(server.sql::<i64>("select count(*) from beleg"), before);
            assert_eq!(server.sql::<i64>("select count(*) from anhang"), before);
        }
    }
    // The rounding belongs to the amount due.
    create(&mill, rounded("0.06").as_bytes(), None).is(201);
    let xml = rounded("0.06").replace("2140.00", "2140.06");
    create(&mill, xml.as_bytes(), None).refused(400, "WERT_UNGUELTIG");
}

#[test]
fn a_total_that_no_price_gives_is_kept_by_an_item_behind_the_line() {
    let server = Server::start();
    let mill = supplied(&server);
    let zeilen =
        zeile(&eigene_nr("W"), "999999", "1", "1000000.25") + &zeile(&eigene_nr("R"), "1", "5", "5.00");
    let sums = ["1000005.25", "70000.37", "1070005.62"];
    let rechnung = Rechnung { zeilen, sums, ..Rechnung::new("") };
    let answer = read(&mill, &rechnung);
    let items = answer.hints("WERT_FRAGLICH")["vorschlag"]["items"].as_array().unwrap();
    let shown = |item: &Value| {
        ["bezeichnung", "menge", "ep_netto", "mwst_satz"]
            .map(|field| item[field].as_str().unwrap_or("-"))
            .join(" ")
    };
    assert_eq!(
        items.iter().map(shown).collect::<Vec<_>>(),
        [
            "Weizen A 999999.000 1.000001 7.00",
            "Rundung zu Position 1 1.000 0.2500 7.00",
            "Weizen A 1.000 5.0000 7.00"
        ]
    );
    assert_eq!(answer.body["summen"]["vorschlag"]["summe_netto"], "1000005.25");
    assert_eq!(answer.body["gefunden"]["artikel"][2]["artikelnummer"], "R");
    assert_eq!(create(&mill, rechnung.xml().as_bytes(), None).is(201)["summe_brutto"], "1070005.62");
}

/// The 76 invoices with official totals, each posted as a file: the proposal has the same totals.
#[test]
fn invoices_with_official_totals_are_proposed_with_them() {
    let server = Server::start();
    let (mill, _) = mill(&server, json!({"ust_id": "DE123456789"}));
    let corpus = data("einvoice.json");
    let groups = ["clean", "derived", "rabatt"];
    for case in groups.iter().flat_map(|group| corpus[group].as_array().unwrap()) {
        let expected = &case["expected"];
        let items = case["request"]["items"]
            .as_array()
            .unwrap()
            .iter()
            .zip(expected["gesamtpreise"].as_array().unwrap());
        let line = |(item, total): (&Value, &Value)| {
            let (menge, preis) = (item["menge"].to_string(), item["ep_netto"].to_string());
            let (menge, preis) = match preis.strip_prefix('-') {
                Some(preis) => (format!("-{menge}").replace("--", ""), preis.to_owned()),
                None => (menge, preis),
            };
            let satz = format!("<Percent>{}</Percent>", item["mwst_satz"]);
            zeile("", &menge, &preis, total.as_str().unwrap()).replace("<Percent>7</Percent>", &satz)
        };
        let text = |sum: &str| expected[sum].as_str().unwrap().to_owned();
        let rechnung = Rechnung { zeilen: items.map(line).collect(), ..Rechnung::new("") };
        let xml = rechnung
            .xml()
            .replace("<TaxExclusiveAmount>2000.00", &format!("<TaxExclusiveAmount>{}", text("summe_netto")));
        let xml = xml
            .replace("<TaxInclusiveAmount>2140.00", &format!("<TaxInclusiveAmount>{}", text("summe_brutto")));
        let xml = xml.replacen("<TaxAmount>140.00", &format!("<TaxAmount>{}", text("summe_mwst")), 1);
        let answer = mill.post(EINLESEN, body(xml.as_bytes()));
        let sums = ["summe_netto", "summe_mwst", "summe_brutto"].map(|sum| (sum, expected[sum].clone()));
        for (sum, amount) in sums {
            for side in ["rechnung", "vorschlag"] {
                assert_eq!(answer.is(200)["summen"][side][sum], amount, "{}", case["id"]);
            }
        }
        assert!(
            !answer.hint_codes().contains(&"SUMME_ABWEICHEND".to_owned()),
            "{}: {}",
            case["id"],
            answer.body
        );
    }
}

#[test]
fn the_printed_tax_groups_are_those_of_the_er() {
    let server = Server::start();
    let mill = supplied(&server);
    let zeilen = zeile(&eigene_nr("W"), "3", "33.35", "100.05");
    let sums = ["100.05", "7.01", "107.06"];
    // The sum of the tax of each line would be 7.00.
    let rechnung = Rechnung { zeilen, sums, ..Rechnung::new("") };
    let answer = read(&mill, &rechnung);
    let printed = json!([{"mwst_satz": "7.00", "basis": "100.05", "steuer": "7.01"}]);
    assert_eq!(answer.hints("SUMME_ABWEICHEND")["vorschlag"]["steuergruppen"], printed);
    assert_eq!(answer.body["summen"]["vorschlag"]["steuergruppen"], printed);
    let made = create(&mill, rechnung.xml().as_bytes(), None);
    assert_eq!((&made.is(201)["summe_mwst"], &made.body["summe_brutto"]), (&json!("7.01"), &json!("107.06")));
    assert_eq!(made.body["summen"]["vorschlag"]["summe_brutto"], "107.06");
    let beleg = mill.get(&format!("/api/v1/belege/{}", made.body["id"].as_str().unwrap()));
    assert_eq!(beleg.is(200)["steuergruppen"], printed);
    // If the printed sums are far from those of the lines, no ER is created.
    let far = rechnung.xml().replace("7.01", "7.20");
    mill.post(EINLESEN, body(far.as_bytes())).hints("VORSCHLAG_UNVOLLSTAENDIG");
    assert_eq!(create(&mill, far.as_bytes(), None).refused(400, "WERT_UNGUELTIG")["feld"], "steuergruppen");
}
