//! The form of a document, previewed by a script while somebody types.

use serde_json::json;

use super::belege::artikel;
use super::partner::{at_field, kunde, mill, shows};
use super::{Shown, press};
use crate::harness::Server;

#[test]
fn a_script_is_given_whole_the_rows_in_which_something_was_typed() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H", "partner_typen": ["kunde", "lieferant"]}));
    artikel(&mill, "W", json!({"preis": 1, "ep_netto": 1, "chargenpflichtig": true}));
    artikel(&mill, "S", json!({"preis": 2}));
    let lot = json!([{"artikelnr": "W", "menge": 10, "fremde_charge_nr": "L1"}]);
    mill.post("/api/v1/belege", json!({"beleg_typ": "EL", "kundennummer": "H", "items": lot})).is(201);
    let charge = mill.get("/api/v1/chargen").is(200)[0]["id"].as_str().unwrap().to_owned();
    let new = format!("{firma}/belege/neu?typ=LS");
    let form = browser.get(&new);
    let typed = [
        ("partner", "H"),
        ("items[0].artikel", "W"),
        ("items[0].menge", "4"),
        ("items[0].charge_id", &*charge),
        ("items[1].artikel", "S"),
        ("items[1].menge", "1"),
    ];
    let all = press(&mut browser, &new, &form, &typed, "pruefen");
    let parts = |shown: &Shown| {
        ["position-0", "items[0].charge_id", "ergebnis-0", "position-1", "ergebnis-1", "position-2"]
            .map(|part| shown.text.contains(&format!("\"{part}\"")))
    };
    assert_eq!(parts(&all), [true; 6], "{}", all.is(200).text);
    let mut of = |typed: &[(&str, &str)]| press(&mut browser, &new, &all, typed, "pruefen");
    let second = of(&[("items[1].menge", "3"), ("zeilen", "1")]);
    assert_eq!(parts(&second), [false, false, true, true, true, true], "{}", second.is(200).text);
    // The amounts of both rows, and their sum.
    shows(&second.text, &["4,00 €", "6,00 €", "10,00"]);
    let head = of(&[("notizen", "eilig"), ("zeilen", "")]);
    assert_eq!(parts(&head), [false, false, true, false, true, true], "{}", head.is(200).text);
    // A mistake is shown in its row, whichever part was requested.
    let refused = of(&[("items[0].menge", "viel"), ("zeilen", "1")]);
    shows(at_field(&refused.is(400).text, "items[0].menge"), &["value=\"viel\"", "role=\"alert\""]);
}
