//! The invoices of the corpus, posted: their e-invoices contain the official values.

use serde_json::{Value, json};

use super::{BELEGE, firma, keep, partner, texts, xml};
use crate::harness::{Client, Server, data};
use crate::trade::lager::and;

/// The request for a case, to a partner, with the official categories for rates of 0 %.
fn request(case: &Value, kunde: &str) -> Value {
    let mut body =
        and(case["request"].clone(), json!({"beleg_typ": "RE", "kunden_id": kunde, "abschliessen": true}));
    let groups = case["official"]["tax_breakdown"].as_array().unwrap().iter();
    let codes: Vec<_> = groups.map(|group| &group["category"]).filter(|code| **code != "S").collect();
    let kategorie = if let [one] = codes.as_slice() { (*one).clone() } else { json!("E") };
    for item in body["items"].as_array_mut().unwrap() {
        let is_free =
            item["mwst_satz"].to_string().trim_matches('"').parse::<f64>().is_ok_and(|satz| satz == 0.0);
        if is_free {
            item["steuer_kategorie"] = kategorie.clone();
        }
    }
    body
}

/// An amount in cents; a reversed sign is reversed back (D26, type 381).
fn cents(amount: &str, is_turned: bool) -> i64 {
    let (whole, rest) = amount.split_once('.').unwrap_or((amount, ""));
    let cents: i64 = format!("{whole}{rest:0<2}").parse().unwrap();
    if is_turned { -cents } else { cents }
}

fn assert_official(mill: &Client, id: &str, case: &Value) {
    let name = case["id"].as_str().unwrap();
    let xml = xml(mill, id);
    keep(name, &xml);
    let is_turned = xml.contains("<ram:TypeCode>381<");
    let head = xml.split_once("<ram:SpecifiedTradeSettlementHeaderMonetarySummation>").unwrap().1;
    let totals = &case["official"]["totals"];
    let table = [
        ("TaxBasisTotalAmount", "tax_basis"),
        ("TaxTotalAmount", "tax_total"),
        ("GrandTotalAmount", "grand_total"),
    ];
    for (element, field) in table {
        let expected = cents(totals[field].as_str().unwrap_or("0"), false);
        assert_eq!(cents(texts(head, element)[0], is_turned), expected, "{name}: {element}");
    }
    let expected = case["expected"]["gesamtpreise"].as_array().unwrap();
    let lines = texts(&xml, "LineTotalAmount");
    assert_eq!(lines.len(), expected.len() + 1, "{name}");
    for (line, expected) in lines.iter().zip(expected) {
        assert_eq!(cents(line, is_turned), cents(expected.as_str().unwrap(), false), "{name}: {line}");
    }
}

#[test]
fn invoices_of_the_corpus_have_their_official_totals_in_the_e_invoice() {
    let server = Server::start();
    let more = [("e_rechnung", "pflicht"), ("email", "re@muehle.example"), ("steuernummer", "151/815/08150")];
    let mill = firma(&server, "Mühle", &more);
    let kunde = partner(&mill, json!({}));
    let corpus = data("einvoice.json");
    let mut posted = 0;
    for case in corpus.as_object().unwrap().values().flat_map(|cases| cases.as_array().unwrap()) {
        let created = mill.post(BELEGE, request(case, &kunde));
        assert_eq!(created.status, 201, "{}: {}", case["id"], created.body);
        assert_official(&mill, &created.id(), case);
        posted += 1;
    }
    assert_eq!(posted, 76);
}
