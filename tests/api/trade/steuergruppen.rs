//! The tax groups printed on a supplier's invoice become the sums of its ER (D18).

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};
use crate::trade::lager::{Mill, and};

const BELEGE: &str = "/api/v1/belege";

fn mill(server: &Server) -> Client {
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"nachname_firma": "Hof", "kundennr": "L-1"})).id();
    mill
}

/// Three lines at 7 and one at 19 per cent: 100.03 + 7.00, 50.00 + 9.50.
fn body(typ: &str) -> Value {
    let item = |ep: &str, satz| json!({"bezeichnung": "Ware", "menge": 1, "ep_netto": ep, "mwst_satz": satz});
    let items = [item("33.34", 7), item("33.34", 7), item("33.35", 7), item("50", 19)];
    json!({"beleg_typ": typ, "kundennummer": "L-1", "items": items})
}

fn groups(groups: &[[&str; 3]]) -> Value {
    let group =
        |[satz, basis, steuer]: &[&str; 3]| json!({"mwst_satz": satz, "basis": basis, "steuer": steuer});
    groups.iter().map(group).collect()
}

fn with(typ: &str, printed: &[[&str; 3]]) -> Value {
    let mut body = body(typ);
    body["steuergruppen"] = groups(printed);
    body
}

fn sums(answer: &Answer) -> String {
    let sum = |field: &str| answer.body[field].as_str().unwrap().to_owned();
    [sum("summe_netto"), sum("summe_mwst"), sum("summe_brutto")].join(" ")
}

const PRINTED: [[&str; 3]; 2] = [["7.00", "100.03", "7.01"], ["19.00", "50.00", "9.50"]];

/// The gross sum of the ER, and whether it differs from the computed one; `None` if the ER is refused.
type Expected = Option<(&'static str, bool)>;

/// Printed groups, and the result.
const CASES: &[(&[[&str; 3]], Expected)] = &[
    (&[["7", "100.03", "7.00"], ["19", "50", "9.5"]], Some(("150.03 16.50 166.53", false))),
    (&PRINTED, Some(("150.03 16.51 166.54", true))),
    (&[["19.00", "50.05", "9.45"], ["7.00", "99.98", "7.05"]], Some(("150.03 16.50 166.53", true))),
    // The same rate twice, as for two categories.
    (
        &[["7", "50.00", "3.50"], ["7", "50.03", "3.50"], ["19", "50", "9.5"]],
        Some(("150.03 16.50 166.53", false)),
    ),
    (&[["7", "100.03", "7.06"], ["19", "50", "9.5"]], None),
    (&[["7", "100.09", "7.00"], ["19", "50", "9.5"]], None),
    (&[["7", "100.03", "7.00"]], None),
    (&[["7", "100.03", "7.00"], ["19", "50", "9.5"], ["16", "10", "1.6"]], None),
];

#[test]
fn printed_groups_near_the_computed_ones_are_the_sums_of_an_er() {
    let server = Server::start();
    let mill = mill(&server);
    for (printed, expected) in CASES {
        let answer = mill.post(BELEGE, with("ER", printed));
        let Some((expected, differs)) = expected else {
            assert_eq!(answer.refused(400, "WERT_UNGUELTIG")["feld"], "steuergruppen", "{printed:?}");
            continue;
        };
        answer.is(201);
        assert_eq!(sums(&answer), *expected, "{printed:?}");
        assert_eq!(answer.hint_codes().contains(&"SUMME_ABWEICHEND".to_owned()), *differs, "{printed:?}");
        let shown = mill.get(&format!("{BELEGE}/{}", answer.id()));
        assert_eq!(shown.is(200)["steuergruppen"].as_array().unwrap().len(), printed.len());
        assert_eq!(sums(&shown), *expected);
    }
    let mut lacking = with("ER", &PRINTED);
    lacking["steuergruppen"][1]["steuer"] = Value::Null;
    assert_eq!(mill.post(BELEGE, lacking).refused(400, "FELD_FEHLT")["feld"], "steuergruppen[1].steuer");
}

#[test]
fn of_what_is_no_supplier_s_invoice_printed_groups_are_ignored() {
    let server = Server::start();
    let mill = mill(&server);
    for typ in ["RE", "EL", "AN"] {
        let answer = mill.post(BELEGE, with(typ, &PRINTED));
        assert_eq!(sums(&answer), "150.03 16.50 166.53", "{typ}");
        assert_eq!(answer.hints("FELD_IGNORIERT")["hinweise"][0]["feld"], "steuergruppen", "{typ}");
    }
    let mut gutschrift = with("ER", &PRINTED);
    gutschrift["gutschrift"] = true.into();
    let answer = mill.post(BELEGE, gutschrift);
    answer.hints("FELD_IGNORIERT");
    assert_eq!(sums(&answer), "150.03 16.50 166.53");
    assert_eq!(mill.get(&format!("{BELEGE}/{}", answer.id())).is(200)["steuergruppen"], Value::Null);
}

#[test]
fn printed_groups_stay_until_they_are_cleared_or_fit_no_longer() {
    let server = Server::start();
    let mill = mill(&server);
    let path = format!("{BELEGE}/{}", mill.post(BELEGE, with("ER", &PRINTED)).id());
    let printed = groups(&PRINTED);
    let kept = |change: Value| {
        let answer = mill.put(&path, change);
        answer.is(200);
        (sums(&answer), mill.get(&path).body["steuergruppen"].clone())
    };
    let (as_printed, computed) = ("150.03 16.51 166.54".to_owned(), "150.03 16.50 166.53".to_owned());
    assert_eq!(kept(json!({"notizen": "x"})), (as_printed.clone(), printed.clone()));
    assert_eq!(kept(json!({"items": body("ER")["items"]})), (as_printed.clone(), printed.clone()));
    let shown = mill.get(&path).body.clone();
    assert_eq!(kept(shown), (as_printed.clone(), printed.clone()));
    assert_eq!(kept(json!({"steuergruppen": null})), (computed.clone(), Value::Null));
    assert_eq!(kept(json!({"steuergruppen": printed})), (as_printed.clone(), printed.clone()));
    mill.put(&path, json!({"steuergruppen": groups(&[["7", "1", "1"]])})).refused(400, "WERT_UNGUELTIG");
    // Items with different sums no longer match the printed ones.
    let items = json!([{"bezeichnung": "Ware", "menge": 1, "ep_netto": 10, "mwst_satz": 7}]);
    let answer = mill.put(&path, json!({"items": items}));
    answer.hints("SUMME_ABWEICHEND");
    assert_eq!(
        (sums(&answer), &mill.get(&path).body["steuergruppen"]),
        ("10.00 0.70 10.70".to_owned(), &Value::Null)
    );
    mill.put(&path, json!({"items": body("ER")["items"], "steuergruppen": printed})).is(200);
    mill.put(&path, json!({"gutschrift": true, "notizen": "x"})).hints("FELD_IGNORIERT");
    assert_eq!(kept(json!({"notizen": "y"})), (computed, Value::Null));
}

#[test]
fn printed_groups_are_compared_at_the_rates_of_the_delivery() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let goods = json!([{"artikelnr": "S", "menge": 10}]);
    let post = |typ: &str, day: &str, more: Value| {
        let body = json!({"beleg_typ": typ, "kundennummer": "Hof", "beleg_datum": day, "items": goods});
        mill.client.post(BELEGE, and(body, more))
    };
    post("EL", "2020-12-30", json!({})).is(201);
    let billed = |group: [&str; 3]| post("ER", "2021-01-05", json!({"steuergruppen": groups(&[group])}));
    let refused = billed(["19", "200", "38"]);
    assert_eq!(refused.refused(400, "WERT_UNGUELTIG")["feld"], "steuergruppen");
    let invoice = billed(["16", "200", "32.01"]);
    assert_eq!(
        (sums(&invoice), invoice.hint_codes()),
        ("200.00 32.01 232.01".into(), vec!["SUMME_ABWEICHEND".into()])
    );
    let path = format!("{BELEGE}/{}", invoice.id());
    let shown = || (sums(&mill.client.get(&path)), mill.client.get(&path).body["steuergruppen"].clone());
    let printed = ("200.00 32.01 232.01".to_owned(), groups(&[["16.00", "200.00", "32.01"]]));
    assert_eq!(shown(), printed);
    assert_eq!(sums(&mill.client.put(&path, json!({"items": goods}))), printed.0);
    assert_eq!(shown(), printed);
    let other = json!({"items": goods, "steuergruppen": groups(&[["19", "200", "38"]])});
    mill.client.put(&path, other).refused(400, "WERT_UNGUELTIG");
    assert_eq!(
        sums(&mill.client.put(&path, json!({"kundennummer": "Gut"}))),
        printed.0,
        "without items the rates stay"
    );
}

#[test]
fn a_storno_takes_back_what_was_printed() {
    let server = Server::start();
    let mill = mill(&server);
    let mut body = with("ER", &PRINTED);
    body["abschliessen"] = true.into();
    let path = format!("{BELEGE}/{}", mill.post(BELEGE, body).id());
    let storno = mill.post(&format!("{path}/storno"), json!({"grund": "falsch"}));
    let counter = mill.get(&format!("{BELEGE}/{}", storno.is(200)["storno_beleg_id"].as_str().unwrap()));
    assert_eq!(sums(&counter), "-150.03 -16.51 -166.54");
    let negated = groups(&[["7.00", "-100.03", "-7.01"], ["19.00", "-50.00", "-9.50"]]);
    assert_eq!(counter.body["steuergruppen"], negated);
    // An ER with a negative total prints negative groups.
    let items = json!([{"bezeichnung": "Ware", "menge": -1, "ep_netto": "100.03", "mwst_satz": 7}]);
    let mut credit = with("ER", &[["7", "-100.03", "-7.01"]]);
    credit["items"] = items;
    assert_eq!(sums(&mill.post(BELEGE, credit)), "-100.03 -7.01 -107.04");
}
