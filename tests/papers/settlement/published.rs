//! Published tables and formulae, tested at each edge of a step.

use serde_json::{Value, json};

use super::schemes::{locks, printed, rows, scheme, settle, sums};

/// Regulation (EU) 1272/2009, Annex I part IX: 0.1 €/t for each 0.1 % from 13.4 % down to 10.0 %, −0.2 for
/// each 0.1 % from 14.1 to 14.5 %; common wheat below 76 kg/hl −0.5, below 75 −1.0 (public intervention at
/// 101.31 €/t).
#[test]
fn the_tables_of_public_intervention() {
    let surcharges = (100..=134).map(|tenths| (tenths, 135 - tenths));
    let deductions = (141..=145).map(|tenths| (tenths, -2 * (tenths - 140)));
    let number = |tenths: i32| {
        format!("{}{}.{}", if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10)
    };
    let row = |(wert, satz)| json!({"von": number(wert), "bis": number(wert), "satz": number(satz)});
    let mut moisture: Vec<Value> = surcharges.chain(deductions).map(row).collect();
    moisture.push(json!({"von": "13.5", "bis": "14.0", "satz": "0"}));
    let eu = scheme(json!([
        {"wirkung": "preis", "regel": "tabelle", "merkmal": "feuchte", "einheit": "EUR/t", "zeilen": moisture},
        {"wirkung": "preis", "regel": "tabelle", "merkmal": "hl_gewicht", "einheit": "EUR/t",
         "zeilen": rows(&[("76", "100", "0"), ("75.0", "75.9", "-0.5"), ("74.0", "74.9", "-1")])},
    ]));
    let table = [
        ("13.4", "76.0", "101.41"),
        ("13.5", "76.0", "101.31"),
        ("14.0", "76.0", "101.31"),
        ("14.1", "76.0", "101.11"),
        ("14.2", "76.0", "100.91"),
        ("14.3", "76.0", "100.71"),
        ("14.4", "76.0", "100.51"),
        ("14.5", "76.0", "100.31"),
        ("13.2", "75.9", "101.11"),
        ("13.2", "75.0", "101.11"),
        ("13.2", "74.9", "100.61"),
        ("10.0", "80.0", "104.81"),
        // Rounded to the measured decimal when stored.
        ("14.04", "75.96", "101.31"),
        ("14.05", "75.94", "100.61"),
    ];
    for (feuchte, hl, expected) in table {
        let note = settle(&eu, "1000", "101.31", &[("feuchte", feuchte), ("hl_gewicht", hl)]).unwrap();
        assert_eq!(note.preis_je_t.unwrap().to_string(), format!("{expected}00"), "{feuchte} % {hl} kg");
        assert_eq!(locks(&note), [""; 0], "{feuchte} % {hl} kg");
    }
    for (feuchte, hl, lock) in [
        ("14.6", "76", "TABELLE_ENDET feuchte 14.6 -"),
        ("9.9", "76", "TABELLE_ENDET feuchte 9.9 -"),
        ("13.2", "73.9", "TABELLE_ENDET hl_gewicht 73.9 -"),
    ] {
        let note = settle(&eu, "1000", "101.31", &[("feuchte", feuchte), ("hl_gewicht", hl)]).unwrap();
        assert_eq!((locks(&note), sums(&note)), (vec![lock.to_owned()], "1000 - -".to_owned()));
    }
}

/// Swiss granum, protein of Top wheat from harvest 2019 (Bauernzeitung, "Proteinbezahlung wird angepasst"):
/// between 12.8 and 13.8 nothing, 0.15 Fr. for each 0.1 % and 100 kg beyond, 2.00 above 15.0 and below 11.5.
#[test]
fn protein_of_swiss_granum() {
    let tenth = |tenths: i32| format!("{}.{}", tenths / 10, tenths % 10);
    let row = |(wert, satz): (i32, i32)| {
        json!({"von": tenth(wert), "bis": tenth(wert),
        "satz": format!("{}{}.{}", if satz < 0 {"-"} else {""}, satz.abs() / 10, satz.abs() % 10)})
    };
    // Per t: 1.50 for each 0.1 %.
    let mut bands: Vec<Value> = (115..=127).map(|wert| row((wert, -15 * (128 - wert)))).collect();
    bands.extend((139..=150).map(|wert| row((wert, 15 * (wert - 138)))));
    bands.extend(
        rows(&[("0", "11.4", "-20"), ("12.8", "13.8", "0"), ("15.1", "99.9", "20")])
            .as_array()
            .unwrap()
            .clone(),
    );
    let granum = scheme(json!([
        {"wirkung": "preis", "regel": "tabelle", "merkmal": "protein", "einheit": "EUR/t", "zeilen": bands},
    ]));
    for (protein, per_100_kg) in [
        ("11.4", "-2.00"),
        ("11.5", "-1.95"),
        ("12.7", "-0.15"),
        ("12.8", "0.00"),
        ("13.8", "0.00"),
        ("13.9", "0.15"),
        ("14.2", "0.60"),
        ("15.0", "1.80"),
        ("15.1", "2.00"),
    ] {
        let note = settle(&granum, "100", "500", &[("protein", protein)]).unwrap();
        let price = |text: &str| partnerd::rules::fixed::Price::parse(text).unwrap().value.units();
        assert_eq!(note.preis_je_t.unwrap().units() - price("500"), 10 * price(per_100_kg), "{protein} %");
    }
}

/// AMIC A.eins, "Rohware-Tabellen für Zu- und Abschlag-Staffeln": 18.3 % over 9.0 %, base extended by 0.5:
/// 9.8 × 1.4 = 13.72 %; 4.4 × 1.2 + 4.0 × 1.3 + 1.4 × 1.4 = 12.44 %.
#[test]
fn the_two_kinds_of_staffel_in_the_manual_of_amic() {
    let staffel = |gestaffelt: bool| {
        scheme(json!([{
            "wirkung": "menge", "regel": "staffel", "merkmal": "feuchte", "richtung": "ueber", "basis": "9.0",
            "zaehlt_ab": "8.5", "gestaffelt": gestaffelt, "zeilen": [
                {"von": null, "bis": "4.4", "satz": "1.2"},
                {"von": null, "bis": "8.4", "satz": "1.3"},
                {"von": null, "bis": "12", "satz": "1.4"},
            ]
        }]))
    };
    let table = [
        (false, "18.3", "13.72 | 25000 kg | -3430 kg | 21570 kg"),
        (true, "18.3", "12.44 | 25000 kg | -3110 kg | 21890 kg"),
        (false, "9.0", "0 | 25000 kg | 0 kg | 25000 kg"),
        (true, "9.0", "0 | 25000 kg | 0 kg | 25000 kg"),
        (false, "9.1", "0.72 | 25000 kg | -180 kg | 24820 kg"),
        (true, "9.1", "0.72 | 25000 kg | -180 kg | 24820 kg"),
        // The end of an interval belongs to it.
        (false, "12.9", "5.28 | 25000 kg | -1320 kg | 23680 kg"),
        (false, "13.0", "5.85 | 25000 kg | -1463 kg | 23537 kg"),
        (true, "13.0", "5.41 | 25000 kg | -1353 kg | 23647 kg"),
    ];
    for (gestaffelt, feuchte, expected) in table {
        let note = settle(&staffel(gestaffelt), "25000", "", &[("feuchte", feuchte)]).unwrap();
        assert_eq!(printed(&note), [expected], "{gestaffelt} {feuchte}");
    }
    let by_parts = settle(&staffel(true), "25000", "", &[("feuchte", "18.3")]).unwrap();
    assert_eq!(by_parts.zeilen[0].rechnung.as_deref(), Some("4,4 × 1,2 + 4 × 1,3 + 1,4 × 1,4"));
    let beyond = settle(&staffel(true), "25000", "", &[("feuchte", "20.6")]).unwrap();
    assert_eq!(
        (locks(&beyond), sums(&beyond)),
        (vec!["TABELLE_ENDET feuchte 20.6 -".to_owned()], "- - -".to_owned())
    );
}

/// Pioneer, "Moisture Shrink" (876.7 of 1,000 with 1.183 × 10 + 0.5) and Harvest Profit, "Shrink
/// Calculations" (941.2 of 1,000); AMIC A.eins, Bezugsmenge × (100 − Analyse) / (100 − Basis).
#[test]
fn shrink_by_formula_by_factor_and_with_handling() {
    let standard = |basis: &str, handling: Value| {
        scheme(
            json!([{"wirkung": "menge", "regel": "standardgewicht", "merkmal": "feuchte", "richtung": "ueber",
            "basis": basis, "satz": handling}]),
        )
    };
    let factor = |satz: &str| {
        scheme(
            json!([{"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "14.5",
            "satz": satz}]),
        )
    };
    let table = [
        (standard("14.5", Value::Null), "235160", "35.0", "178777"),
        (factor("1.2"), "235160", "35.0", "177311"),
        (factor("1.3"), "235160", "35.0", "172490"),
        (factor("1.35"), "235160", "35.0", "170079"),
        (factor("1.4"), "235160", "35.0", "167669"),
        (standard("15.5", json!("0.5")), "1000000", "25.5", "876657"),
        (standard("15", Value::Null), "1000000", "20", "941176"),
        // Within the basis no handling is deducted either.
        (standard("15.5", json!("0.5")), "1000000", "15.5", "1000000"),
    ];
    for (scheme, kg, feuchte, expected) in table {
        let note = settle(&scheme, kg, "", &[("feuchte", feuchte)]).unwrap();
        assert_eq!(sums(&note), format!("{expected} - -"), "{:?}", scheme.schritte[0]);
    }
    let note = settle(&standard("15.5", json!("0.5")), "1000000", "", &[("feuchte", "25.5")]).unwrap();
    assert_eq!(note.zeilen[0].rechnung.as_deref(), Some("(25,5 − 15,5) / (100 − 15,5) + 0,5 %"));
    // Goods drier than the basis weigh more, if a scheme says so.
    let dry = scheme(
        json!([{"wirkung": "menge", "regel": "standardgewicht", "merkmal": "feuchte", "richtung": "unter",
        "basis": "15"}]),
    );
    assert_eq!(sums(&settle(&dry, "17000", "", &[("feuchte", "14")]).unwrap()), "17200 - -");
}

/// Triggered above 15.0 %, counted from 14.5 %, drying by each half per cent begun (the steps of two US elevators).
#[test]
fn moisture_around_the_basis() {
    let drying = scheme(json!([
        {"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "15",
            "zaehlt_ab": "14.5",
         "satz": "1.3"},
        {"wirkung": "kosten", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "15",
            "zaehlt_ab": "14.5",
         "schritt": "0.5", "angefangen": true, "satz": "-1.75", "einheit": "EUR/t", "bezug": "brutto"},
    ]));
    for (feuchte, kg, costs) in [
        ("13.0", "25000", "0.00"),
        ("14.5", "25000", "0.00"),
        ("15.0", "25000", "0.00"),
        ("15.04", "25000", "0.00"),
        ("15.05", "24805", "-87.50"),
        ("15.1", "24805", "-87.50"),
        ("15.5", "24675", "-87.50"),
        ("15.6", "24642", "-131.25"),
        ("16.0", "24512", "-131.25"),
    ] {
        let note = settle(&drying, "25000", "", &[("feuchte", feuchte)]).unwrap();
        let found = (sums(&note), note.kosten.unwrap().to_string());
        assert_eq!(found, (format!("{kg} - -"), costs.to_owned()), "{feuchte} %");
    }
}
