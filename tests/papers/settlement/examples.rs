//! The worked examples: whole receipts, row by row.

use partnerd::rules::error::Code;
use partnerd::rules::fixed::Quantity;
use partnerd::rules::receipt::{Anlieferung, net_quantity};
use partnerd::rules::settlement::{Grund, Schema, mean};
use serde_json::json;

use super::schemes::{locks, merkmale, printed, rows, scheme, settle, sums, with_limits, zahl};

/// Deutsches Maiskomitee, "Umrechnung Feucht- in Trockenware": 500 dt, 25 to 13 %, factor 1.2, 0.6 % Besatz: 425.4 dt.
#[test]
fn grain_maize_of_the_german_maize_committee() {
    let maize = scheme(json!([
        {"wirkung": "menge", "regel": "faktor", "merkmal": "besatz", "richtung": "ueber", "basis": "0", "satz": "1"},
        {"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "13",
            "satz": "1.2"},
    ]));
    let note = settle(&maize, "50000", "180", &[("besatz", "0.6"), ("feuchte", "25")]).unwrap();
    let expected = ["0.6 | 50000 kg | -300 kg | 49700 kg", "14.4 | 49700 kg | -7157 kg | 42543 kg"];
    assert_eq!(printed(&note), expected);
    assert_eq!(sums(&note), "42543 180.00 7657.74");
}

fn rape() -> Schema {
    let step = |merkmal: &str, richtung: &str, basis: &str, satz: &str| {
        json!({"wirkung": "preis", "regel": "faktor", "merkmal": merkmal, "richtung": richtung, "basis": basis,
            "satz": satz})
    };
    let mut dry = step("feuchte", "unter", "9", "0.5");
    dry["grenzwert"] = json!("6");
    with_limits(
        json!([{"merkmal": "feuchte", "richtung": "ueber", "wert": "9.0", "aktion": "sperren", "text": "zu feucht"}]),
        json!([
            step("oelgehalt", "ueber", "40", "1.5"),
            step("oelgehalt", "unter", "40", "-1.5"),
            step("besatz", "unter", "2", "0.5"),
            step("besatz", "ueber", "2", "-1"),
            dry,
        ]),
    )
}

/// Landesbetrieb Landwirtschaft Hessen, "Rapsrechner"; the values of Wochenblatt, "Schwundabzug berechtigt?".
#[test]
fn rape_by_the_rule_of_the_oil_mills() {
    let note =
        settle(&rape(), "24500", "450", &[("oelgehalt", "44.1"), ("besatz", "0.14"), ("feuchte", "6.5")])
            .unwrap();
    let expected = [
        "6.15 | 450.00/t | 27.68/t | 477.68/t",
        "0 | 450.00/t | 0.00/t | 477.68/t",
        "0.93 | 450.00/t | 4.19/t | 481.87/t",
        "0 | 450.00/t | 0.00/t | 481.87/t",
        "1.25 | 450.00/t | 5.63/t | 487.50/t",
    ];
    assert_eq!(printed(&note), expected);
    assert_eq!(sums(&note), "24500 487.50 11943.75");
    // Drier than 6.0 % counts as 6.0 %; exactly 9.0 % is within, 9.1 % is not, and nothing is extrapolated.
    let of = |feuchte| {
        let note =
            settle(&rape(), "24500", "450", &[("oelgehalt", "40"), ("besatz", "2"), ("feuchte", feuchte)])
                .unwrap();
        (sums(&note), locks(&note))
    };
    assert_eq!(of("5.2"), ("24500 456.75 11190.38".to_owned(), vec![]));
    assert_eq!(of("9.0"), ("24500 450.00 11025.00".to_owned(), vec![]));
    assert_eq!(of("9.1").1, ["GRENZWERT feuchte 9.1 9.0"]);
}

fn wheat_a() -> Schema {
    with_limits(
        json!([
            {"merkmal": "protein", "richtung": "unter", "wert": "12.8", "aktion": "sperren", "text": "dann B-Weizen"},
            {"merkmal": "fallzahl", "richtung": "unter", "wert": "250", "aktion": "sperren", "text": "dann B-Weizen"},
        ]),
        json!([
            {"code": "aspiration", "wirkung": "menge", "regel": "faktor", "merkmal": "aspiration", "richtung": "ueber",
             "basis": "0", "satz": "1"},
            {"wirkung": "preis", "regel": "faktor", "merkmal": "protein", "richtung": "unter", "basis": "13",
                "schritt": "0.1",
             "satz": "-1", "einheit": "EUR/t"},
            {"wirkung": "preis", "regel": "faktor", "merkmal": "hl_gewicht", "richtung": "unter",
                "basis": "77", "satz": "-1"},
            {"wirkung": "preis", "regel": "faktor", "merkmal": "bruchkorn", "richtung": "ueber", "basis": "5",
                "schritt": "0.1",
             "satz": "-0.05", "einheit": "EUR/t"},
            {"wirkung": "preis", "regel": "faktor", "merkmal": "fremdgetreide", "richtung": "ueber",
                "basis": "2", "satz": "-1"},
            {"wirkung": "kosten", "regel": "tabelle", "merkmal": "mutterkorn", "einheit": "EUR/t", "bezug": "netto",
             "zeilen": rows(&[("0", "0.05", "0"), ("0.06", "0.10", "-5"), ("0.11", "1", "-25")])},
        ]),
    )
}

/// RPL-Abrechnungsbedingungen zur Ernte 2015, A wheat: 1.00 €/t per 0.1 % of protein, 1 % per kg of hl
/// weight, 0.05 €/t per 0.1 % of broken grain, ergot above 0.05 % 5 €/t; protein below 12.8 or a falling
/// number below 250 is B wheat.
#[test]
fn a_wheat_by_the_conditions_of_2015() {
    let measured = |protein, fallzahl| {
        [
            ("aspiration", "0.4"),
            ("protein", protein),
            ("hl_gewicht", "76"),
            ("bruchkorn", "5.6"),
            ("fremdgetreide", "1.2"),
            ("mutterkorn", "0.06"),
            ("fallzahl", fallzahl),
        ]
    };
    let note = settle(&wheat_a(), "24860", "200", &measured("12.9", "250")).unwrap();
    let expected = [
        "0.4 | 24860 kg | -99 kg | 24761 kg",
        "-1 | - | -1.00/t | 199.00/t",
        "-1 | 200.00/t | -2.00/t | 197.00/t",
        "-0.3 | - | -0.30/t | 196.70/t",
        "0 | 200.00/t | 0.00/t | 196.70/t",
        "-5 | 24761 kg | -123.81 € | -",
    ];
    assert_eq!(printed(&note), expected);
    assert_eq!(sums(&note), "24761 196.70 4746.68");
    assert_eq!(note.ware.unwrap().to_string(), "4870.49");
    let locked =
        |protein, fallzahl| locks(&settle(&wheat_a(), "24860", "200", &measured(protein, fallzahl)).unwrap());
    assert_eq!(locked("12.7", "250"), ["GRENZWERT protein 12.7 12.8"]);
    assert_eq!(locked("12.8", "249"), ["GRENZWERT fallzahl 249.0 250.0"]);
    assert_eq!(locked("12.8", "250"), [""; 0]);
}

/// top agrar, "Körnermais: Kompass im Abrechnungs-Dschungel" (waste 0.5, 1, 1.5 %); drying by
/// Landwirtschaftskammer Burgenland, "Verkaufspreis für Feuchtmais" 2020: 27, 32 and 37 €/t wet at 25, 30 and
/// 35 % with 13 % VAT, 1 €/t for each per cent.
#[test]
fn grain_maize_the_classic_way() {
    let waste = json!({"wirkung": "menge", "regel": "tabelle", "merkmal": "feuchte",
        "zeilen": rows(&[("0", "25.0", "0.5"), ("25.1", "30.0", "1"), ("30.1", "40", "1.5")])});
    let maize = scheme(json!([
        waste,
        {"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "14",
            "satz": "1.3"},
        {"wirkung": "kosten", "regel": "tabelle", "merkmal": "feuchte", "einheit": "EUR/t", "bezug": "brutto",
         "zeilen": rows(&[("28.3", "28.3", "-26.81"), ("28.4", "28.4", "-26.90"), ("28.5", "28.5", "-26.99")])},
    ]));
    let note = settle(&maize, "26420", "190", &[("feuchte", "28.4")]).unwrap();
    let expected = [
        "1 | 26420 kg | -264 kg | 26156 kg",
        "18.72 | 26156 kg | -4896 kg | 21260 kg",
        "-26.9 | 26420 kg | -710.70 € | -",
    ];
    assert_eq!(printed(&note), expected);
    assert_eq!(
        (note.ware.unwrap().to_string(), sums(&note)),
        ("4039.40".into(), "21260 190.00 3328.70".into())
    );
    let waste = scheme(json!([waste]));
    for (feuchte, expected) in [("25.0", "9950"), ("25.1", "9900"), ("30.0", "9900"), ("30.1", "9850")] {
        let note = settle(&waste, "10000", "", &[("feuchte", feuchte)]).unwrap();
        assert_eq!(sums(&note), format!("{expected} - -"), "{feuchte} %");
    }
}

fn wheat_by_bands() -> Schema {
    scheme(json!([
        {"wirkung": "menge", "regel": "faktor", "merkmal": "besatz", "richtung": "ueber", "basis": "2", "satz": "1"},
        {"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "14.5",
            "satz": "1.3"},
        {"wirkung": "preis", "regel": "tabelle", "merkmal": "protein", "einheit": "EUR/t",
         "zeilen": rows(&[("11.0", "11.9", "-6"), ("12.0", "12.9", "0"), ("13.0", "14.9", "8")])},
    ]))
}

#[test]
fn two_lorries_each_by_its_own_or_by_their_mean() {
    let lorries = [("24860", ["2.80", "16.2", "11.6"]), ("12140", ["1.10", "13.9", "13.3"])];
    let codes = ["besatz", "feuchte", "protein"];
    let measured = |values: [&'static str; 3]| [0, 1, 2].map(|at| (codes[at], values[at]));
    let own =
        lorries.map(|(kg, values)| sums(&settle(&wheat_by_bands(), kg, "210", &measured(values)).unwrap()));
    assert_eq!(own, ["24116 204.00 4919.66", "12140 218.00 2646.52"]);
    let means = [0, 1, 2].map(|at| {
        let of_lorry =
            |(kg, values): (&str, [&str; 3])| (Some(zahl(values[at])), Quantity::parse(kg).unwrap().value);
        mean(&merkmale()[codes[at]], &lorries.map(of_lorry)).unwrap().to_string()
    });
    assert_eq!(means, ["2.24", "15.4", "12.2"]);
    let by_mean = lorries.map(|(kg, _)| {
        let values = [0, 1, 2].map(|at| (codes[at], means[at].as_str()));
        sums(&settle(&wheat_by_bands(), kg, "210", &values).unwrap())
    });
    assert_eq!(by_mean, ["24510 210.00 5147.10", "11969 210.00 2513.49"]);
}

/// A Merkmal without a mean, or one not measured, has no value (D29e); for one receipt the mean is its value.
#[test]
fn means_are_weighted_or_the_worst_or_none() {
    type Case = (&'static str, &'static [(&'static str, &'static str)], Result<&'static str, Grund>);
    let table: [Case; 10] = [
        ("feuchte", &[("15.0", "10000"), ("15.1", "10000")], Ok("15.1")),
        ("feuchte", &[("15.0", "10001"), ("15.1", "9999")], Ok("15.0")),
        ("feuchte", &[("15.0", "10000.4"), ("15.1", "9999.5")], Ok("15.1")),
        ("feuchte", &[("15.0", "10000"), ("", "10000")], Err(Grund::MerkmalFehlt)),
        ("feuchte", &[], Err(Grund::MerkmalFehlt)),
        ("don", &[("300", "24000"), ("1251", "1")], Ok("1251.0")),
        ("don", &[("0", "24000"), ("", "1")], Err(Grund::MerkmalFehlt)),
        ("fallzahl", &[("250", "24000"), ("251", "1")], Err(Grund::MittelUnmoeglich)),
        ("fallzahl", &[("250", "24000"), ("250", "1")], Ok("250.0")),
        ("fallzahl", &[("62", "1")], Ok("62.0")),
    ];
    for (code, notes, expected) in table {
        let note = |(wert, kg): &(&str, &str)| {
            ((!wert.is_empty()).then(|| zahl(wert)), Quantity::parse(kg).unwrap().value)
        };
        let notes: Vec<_> = notes.iter().map(note).collect();
        let found = mean(&merkmale()[code], &notes).map(|mean| mean.to_string());
        assert_eq!(found, expected.map(str::to_owned), "{code} {notes:?}");
    }
}

#[test]
fn nothing_is_left_and_less_than_nothing() {
    let fixed = |satz: &str| scheme(json!([{"wirkung": "menge", "regel": "fest", "satz": satz}]));
    let of = |satz| {
        settle(&fixed(satz), "10000", "200", &[]).map(|note| sums(&note)).map_err(|refusal| refusal.code)
    };
    assert_eq!(of("100.1"), Err(Code::NettoNegativ));
    assert_eq!(of("100"), Ok("0 200.00 0.00".to_owned()));
    let price = scheme(json!([{"wirkung": "preis", "regel": "fest", "einheit": "EUR/t", "satz": "-200.01"}]));
    assert_eq!(settle(&price, "10000", "200", &[]).unwrap_err().code, Code::PreisNegativ);
    let wet = scheme(json!([
        {"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "14",
            "satz": "1.4"},
        {"wirkung": "kosten", "regel": "fest", "einheit": "EUR/t", "bezug": "brutto", "satz": "-55"},
        {"wirkung": "kosten", "regel": "fest", "einheit": "EUR", "satz": "-90"},
    ]));
    let note = settle(&wet, "640", "200", &[("feuchte", "34")]).unwrap();
    let amounts = [note.ware, note.kosten, note.summe].map(|amount| amount.unwrap().to_string());
    assert_eq!(amounts, ["92.20", "-125.20", "-33.00"]);
}

/// The same step as in D23, which rounds once.
#[test]
fn rounding_by_row_and_rounding_once_differ_by_a_kilogram_at_most() {
    let by_row = scheme(json!([
        {"wirkung": "menge", "regel": "faktor", "merkmal": "besatz", "richtung": "ueber", "basis": "2", "satz": "1"},
        {"wirkung": "menge", "regel": "faktor", "merkmal": "feuchte", "richtung": "ueber", "basis": "14.5",
            "satz": "1.3"},
    ]));
    let percent = |text: &str| partnerd::rules::fixed::Percent::parse(text).unwrap().value;
    let both = |kg: i64, feuchte: &str, besatz: &str| {
        let once = net_quantity(&Anlieferung {
            menge: Quantity::whole(kg),
            besatz: Some(percent(besatz)),
            basisbesatz: Some(percent("2")),
            feuchte: Some(percent(feuchte)),
            basisfeuchte: Some(percent("14.5")),
            schwundfaktor: Quantity::parse("1.3").unwrap().value,
            abzuege: Quantity::ZERO,
        });
        let note = settle(&by_row, &kg.to_string(), "", &[("besatz", besatz), ("feuchte", feuchte)]).unwrap();
        let whole = |kg: Quantity| kg.units() / Quantity::UNIT;
        (whole(note.netto_kg.unwrap()), whole(once.unwrap().unwrap()))
    };
    assert_eq!(both(5_000, "16.2", "3.45"), (4_818, 4_819));
    let mut differ = 0;
    for kg in (5_000..=28_000).step_by(20) {
        for (feuchte, besatz) in [("15.3", "2.80"), ("16.2", "2.80"), ("16.2", "3.45"), ("18.7", "3.45")] {
            let (by_row, once) = both(kg, feuchte, besatz);
            assert!((by_row - once).abs() <= 1, "{kg} kg, {feuchte} %, {besatz} %: {by_row} and {once}");
            differ += usize::from(by_row != once);
        }
    }
    assert!(differ > 0);
}
