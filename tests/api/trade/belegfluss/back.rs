//! What takes goods back is tied to what it takes back, in whichever order return and credit come (D8, D38).

use serde_json::{Value, json};

use super::pages::made;
use super::{position, sacks};
use crate::harness::Server;
use crate::leitstand::person;
use crate::trade::lager::{Mill, moves};

/// The documents after the first position of a document, each with its quantity.
fn after(mill: &Mill<'_>, id: &str) -> Vec<[String; 2]> {
    let shown = mill.get(id);
    let after = shown["positionen"][0]["nachfolger"].as_array().unwrap();
    let text = |tie: &Value, field: &str| tie[field].as_str().unwrap().to_owned();
    after.iter().map(|tie| [text(tie, "beleg_nummer"), text(tie, "menge")]).collect()
}

fn one(mill: &Mill<'_>, typ: &str, menge: i64, bezug: Option<&str>) -> String {
    let more = bezug.map_or(json!({}), |id| json!({"bezug_beleg_id": id}));
    mill.post(typ, sacks(&[(menge, more)])).id()
}

/// LS 600, RE 600, LS −100, RE −100: 500 may still be credited, and nothing is left to be invoiced.
#[test]
fn a_return_of_invoiced_goods_and_its_credit_are_tied_to_them() {
    let server = Server::start();
    for (at, (is_named, credit_first)) in
        [(false, false), (true, false), (true, true)].into_iter().enumerate()
    {
        let mill = Mill::with(&server, &format!("Mühle {at}"), &[]);
        let (delivery, invoice) = (one(&mill, "LS", 600, None), one(&mill, "RE", 600, None));
        let [to_delivery, to_invoice] = [&delivery, &invoice].map(|id| is_named.then_some(id.as_str()));
        let back = || one(&mill, "LS", -100, to_delivery);
        let credit = || one(&mill, "RE", -100, to_invoice);
        if credit_first {
            credit();
        }
        back();
        if !credit_first {
            credit();
        }
        let shown =
            [mill.get(&delivery), mill.get(&invoice)].map(|shown| shown["positionen"][0]["offen"].clone());
        assert_eq!(shown, ["0.000", "500.000"].map(Value::from), "{is_named} {credit_first}");
        let mut browser = person(&server, &[&format!("Erika {at}"), "--role", "buero"]);
        let page = made(&mill, &mut browser, &format!("typ=RE&art=korrektur&aus={invoice}"));
        assert_eq!(page["positionen"][0]["menge"], "-500.000");
    }
}

#[test]
fn a_return_waits_for_its_credit_with_the_invoice_and_is_shown_at_both() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (delivery, invoice) = (one(&mill, "LS", 10, None), one(&mill, "RE", 10, None));
    let back = mill.post("LS", sacks(&[(-4, json!({}))]));
    assert_eq!(moves(&back), ["4.000"]);
    let tie = |nummer: &str, menge: &str| [nummer.to_owned(), menge.to_owned()];
    let returned = tie("LS-2026-00002", "4.000");
    assert_eq!(after(&mill, &delivery), [tie("RE-2026-00001", "10.000"), returned.clone()]);
    assert_eq!(after(&mill, &invoice), [returned]);
    // Without the invoice the return stays with its delivery: nothing but the rest is left to be invoiced.
    assert_eq!(moves(&mill.storno(&invoice)), [""; 0]);
    assert_eq!(mill.get(&delivery)["positionen"][0]["offen"], "6.000");
    let again = mill.post("RE", sacks(&[(6, json!({}))]));
    assert_eq!(moves(&again), [""; 0]);
}

/// RE 10, LS 10 of it, RE 10, LS −4 of the LS, LS 10 of the second RE: 16 are gone.
#[test]
fn what_takes_back_by_name_takes_nothing_from_others() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = one(&mill, "RE", 10, None);
    let delivery = one(&mill, "LS", 10, Some(&first));
    let second = mill.post("RE", sacks(&[(10, json!({}))]));
    let name = json!({"bezug_position_id": position(&mill.get(&delivery), 0)});
    let back = mill.post("LS", sacks(&[(-4, name)]));
    assert_eq!(moves(&back), ["4.000"]);
    let rest = mill.post("LS", sacks(&[(10, json!({"bezug_position_id": position(&second.body, 0)}))]));
    assert_eq!(moves(&rest), [""; 0], "all of the second invoice was there");
    assert_eq!(mill.get(&first)["positionen"][0]["nachfolger"].as_array().unwrap().len(), 2);
}

/// A return without a name took back the newest invoice; the credit names another one.
#[test]
fn a_credit_that_names_an_invoice_gets_the_return_that_nobody_named() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (first, second) = (one(&mill, "RE", 10, None), one(&mill, "RE", 10, None));
    let back = one(&mill, "LS", -10, None);
    assert_eq!(after(&mill, &second).len(), 1);
    let credit = one(&mill, "RE", -10, Some(&first));
    assert_eq!(after(&mill, &second), [[""; 2]; 0], "the second invoice stands again");
    let after: Vec<_> = after(&mill, &first).into_iter().map(|[nummer, _]| nummer).collect();
    assert_eq!(after, ["LS-2026-00001", "RE-2026-00003"]);
    let met = mill.get(&back)["positionen"][0]["gegenbelege"].to_string();
    assert!(met.contains(&first) && met.contains(&credit), "{met}");
}
