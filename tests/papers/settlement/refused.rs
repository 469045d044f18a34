//! Invalid schemes, and the effect of absent values.

use partnerd::rules::settlement::check;
use serde_json::{Value, json};

use super::schemes::{locks, merkmale, printed, rows, scheme, settle, sums, unchecked, with_limits};

#[test]
fn a_scheme_that_could_be_read_in_two_ways_is_refused() {
    let with = |changes: Value| {
        let mut step = json!({"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber",
            "basis": "14.5", "satz": "1.3"});
        for (key, value) in changes.as_object().unwrap() {
            step[key] = value.clone();
        }
        step
    };
    let table = |zeilen: Value| {
        json!({"wirkung": "preis", "regel": "tabelle", "einheit": "EUR/t",
        "merkmal": "feuchte", "zeilen": zeilen})
    };
    let cases = [
        (with(json!({})), ""),
        (with(json!({"merkmal": "farbe"})), "MERKMAL_NICHT_GEFUNDEN schritte[0].merkmal"),
        (with(json!({"merkmal": null})), "FELD_FEHLT schritte[0].merkmal"),
        (with(json!({"richtung": null})), "FELD_FEHLT schritte[0].richtung"),
        (with(json!({"basis": null})), "FELD_FEHLT schritte[0].basis"),
        (with(json!({"satz": null})), "FELD_FEHLT schritte[0].satz"),
        (with(json!({"text": " "})), "FELD_FEHLT schritte[0].text"),
        (with(json!({"code": "Öl"})), "WERT_UNGUELTIG schritte[0].code"),
        (with(json!({"code": ""})), "WERT_UNGUELTIG schritte[0].code"),
        (with(json!({"gestaffelt": true})), "FELD_WIDERSPRUCH schritte[0].gestaffelt"),
        (with(json!({"zeilen": rows(&[("0", "1", "1")])})), "FELD_WIDERSPRUCH schritte[0].zeilen"),
        (with(json!({"angefangen": true})), "FELD_FEHLT schritte[0].schritt"),
        (with(json!({"schritt": "0"})), "WERT_UNGUELTIG schritte[0].schritt"),
        (with(json!({"einheit": "EUR/t"})), "WERT_UNGUELTIG schritte[0].einheit"),
        (with(json!({"bezug": "netto"})), "WERT_UNGUELTIG schritte[0].bezug"),
        (with(json!({"grenzwert": "14.4"})), "WERT_UNGUELTIG schritte[0].grenzwert"),
        (with(json!({"basis": "-1"})), "WERT_UNGUELTIG schritte[0].basis"),
        (with(json!({"satz": "100000.1"})), "WERT_UNGUELTIG schritte[0].satz"),
        (with(json!({"regel": "standardgewicht", "basis": "100"})), "WERT_UNGUELTIG schritte[0].basis"),
        (with(json!({"regel": "standardgewicht", "wirkung": "preis"})), "WERT_UNGUELTIG schritte[0].regel"),
        (with(json!({"wirkung": "preis", "bezug": "brutto"})), "WERT_UNGUELTIG schritte[0].bezug"),
        (
            with(json!({"wirkung": "preis", "einheit": "EUR/t", "bezug": "vorher"})),
            "FELD_WIDERSPRUCH schritte[0].bezug",
        ),
        (with(json!({"wirkung": "kosten", "einheit": "EUR/t"})), "FELD_FEHLT schritte[0].bezug"),
        (
            with(json!({"wirkung": "kosten", "einheit": "EUR/t", "bezug": "nach:s9"})),
            "WERT_UNGUELTIG schritte[0].bezug",
        ),
        (
            with(json!({"wirkung": "kosten", "einheit": "%", "bezug": "netto"})),
            "WERT_UNGUELTIG schritte[0].einheit",
        ),
        (table(rows(&[])), "FELD_FEHLT schritte[0].zeilen"),
        (table(rows(&[("14", "15", "0"), ("15", "16", "-1")])), "TABELLE_UEBERLAPPT schritte[0].zeilen"),
        (table(rows(&[("15.1", "16", "-1"), ("14", "15", "0")])), ""),
        (table(rows(&[("14", "15", "0"), ("15.2", "16", "-1")])), "TABELLE_LUECKE schritte[0].zeilen"),
        (table(rows(&[("14", "15.05", "0")])), "WERT_UNGUELTIG schritte[0].zeilen[0].bis"),
        (table(rows(&[("15", "14", "0")])), "WERT_UNGUELTIG schritte[0].zeilen[0].bis"),
        (table(json!([{"von": null, "bis": "15", "satz": "0"}])), "FELD_FEHLT schritte[0].zeilen[0].von"),
        (
            with(json!({"regel": "staffel", "satz": null, "zeilen": rows(&[("0", "5", "1")])})),
            "FELD_WIDERSPRUCH schritte[0].zeilen[0].von",
        ),
        (
            with(json!({"regel": "staffel", "satz": null, "zeilen": [{"bis": "5", "satz": "1"},
                    {"bis": "5", "satz": "2"}]})),
            "TABELLE_UEBERLAPPT schritte[0].zeilen[1].bis",
        ),
    ];
    for (step, expected) in cases {
        let found = match check(unchecked(json!([]), json!([step])), &merkmale()) {
            Ok(_) => String::new(),
            Err(refusal) => format!("{} {}", refusal.code.as_str(), refusal.feld.unwrap_or_default()),
        };
        assert_eq!(found, expected, "{step}");
    }
}

#[test]
fn all_mistakes_of_a_scheme_are_named_at_once() {
    let limits = json!([{"merkmal": "farbe", "richtung": "ueber", "wert": "1", "aktion": "sperren", "text": "x"},
        {"merkmal": "don", "richtung": "ueber", "wert": "1", "aktion": "sperren", "text": ""}]);
    let fixed = json!({"nr": 1, "code": "a", "wirkung": "menge", "regel": "fest", "satz": "1"});
    let mut schema =
        unchecked(limits, json!([fixed, fixed, {"nr": 1, "wirkung": "menge", "regel": "fest", "satz": "1"}]));
    schema.preis_stellen = 5;
    let refusal = check(schema, &merkmale()).unwrap_err();
    let named: Vec<String> = refusal.fehler.iter().map(|fehler| fehler.feld.clone()).collect();
    assert_eq!(
        named,
        ["preis_stellen", "grenzen[0].merkmal", "grenzen[1].text", "schritte[1].code", "schritte[2].nr"]
    );
}

#[test]
fn a_scheme_has_2000_rows_at_most() {
    let table = |last: usize| {
        let rows: Vec<Value> = (0..=last)
            .map(|wert| json!({"von": wert.to_string(), "bis": wert.to_string(), "satz": "0"}))
            .collect();
        json!({"wirkung": "preis", "regel": "tabelle", "einheit": "EUR/t", "merkmal": "fallzahl", "zeilen": rows})
    };
    let with = |last: usize| check(unchecked(json!([]), json!([table(999), table(last)])), &merkmale());
    assert!(with(999).is_ok());
    let refusal = with(1_000).unwrap_err();
    assert_eq!((refusal.code.as_str(), refusal.feld.as_deref()), ("WERT_UNGUELTIG", Some("schritte")));
}

#[test]
fn what_is_not_said_is_filled_in() {
    let scheme = scheme(json!([
        {"wirkung": "menge", "regel": "fest", "satz": "1"},
        {"wirkung": "preis", "regel": "fest", "satz": "1"},
        {"wirkung": "preis", "regel": "fest", "satz": "1", "einheit": "EUR/t"},
    ]));
    let bezug: Vec<Option<&str>> = scheme.schritte.iter().map(|step| step.bezug.as_deref()).collect();
    assert_eq!(bezug, [Some("vorher"), Some("grundpreis"), None]);
}

/// AMIC treats absent as 0; here 0 is 0, and an absent value locks, or omits the step if the scheme says so (D29a).
#[test]
fn absent_is_not_measured_and_zero_is_zero() {
    let step = |fehlt: &str| {
        json!({"code": "besatz", "wirkung": "menge", "regel": "faktor", "merkmal": "besatz",
            "richtung": "ueber", "basis": "2",
            "satz": "1", "fehlt": fehlt})
    };
    let after = json!({"wirkung": "kosten", "regel": "fest", "einheit": "EUR/t", "bezug": "nach:besatz", "satz": "-1"});
    let strict = scheme(json!([step("sperren"), after]));
    let lenient = scheme(json!([step("keine"), after]));
    let absent = settle(&strict, "10000", "100", &[]).unwrap();
    assert_eq!(locks(&absent), ["MERKMAL_FEHLT besatz - -"]);
    assert_eq!((sums(&absent), absent.kosten), ("- 100.00 -".to_owned(), None));
    let zero = settle(&strict, "10000", "100", &[("besatz", "0")]).unwrap();
    assert_eq!((printed(&zero).len(), sums(&zero)), (2, "10000 100.00 990.00".to_owned()));
    // The omitted step has no row, and the weight is unchanged after it.
    let left_out = settle(&lenient, "10000", "100", &[]).unwrap();
    assert_eq!(printed(&left_out), ["-1 | 10000 kg | -10.00 € | -"]);
    assert_eq!((locks(&left_out).len(), sums(&left_out)), (0, "10000 100.00 990.00".to_owned()));
}

#[test]
fn a_limit_is_passed_only_beyond_it() {
    let limit = |richtung: &str, wert: &str, aktion: &str| {
        json!({"merkmal": "feuchte", "richtung": richtung,
        "wert": wert, "aktion": aktion, "text": "x"})
    };
    let scheme = with_limits(
        json!([
            limit("ueber", "15", "hinweis"),
            limit("ueber", "16", "sperren"),
            limit("ueber", "18", "abweisen"),
            limit("unter", "10", "sperren")
        ]),
        json!([]),
    );
    for (feuchte, expected) in [
        ("15.0", ""),
        ("15.1", "hinweis"),
        ("16.0", "hinweis"),
        ("16.1", "hinweis sperren"),
        ("18.1", "hinweis sperren abweisen"),
        ("10.0", ""),
        ("9.9", "sperren"),
    ] {
        let note = settle(&scheme, "1", "", &[("feuchte", feuchte)]).unwrap();
        let found: Vec<&str> = note.befunde.iter().map(|befund| befund.aktion.as_str()).collect();
        assert_eq!(found.join(" "), expected, "{feuchte} %");
    }
    // A value that was not measured exceeds no limit.
    assert_eq!(settle(&scheme, "1", "", &[]).unwrap().befunde, []);
}

#[test]
fn figures_beyond_all_limits_are_refused() {
    let scheme = scheme(json!([{"wirkung": "menge", "regel": "fest", "satz": "-100000"}]));
    let refusal = settle(&scheme, "999999999999", "", &[]).unwrap_err();
    assert_eq!(refusal.code.as_str(), "BETRAG_ZU_GROSS");
    let price = super::schemes::scheme(json!([{"wirkung": "preis", "regel": "fest", "satz": "100000"}]));
    assert_eq!(settle(&price, "1", "999999999999.999999", &[]).unwrap_err().code.as_str(), "BETRAG_ZU_GROSS");
}
