//! 10,000 random schemes and receipts. Each row is compared with a second computation in exact fractions,
//! written independently of the stored scheme; each row is recomputed from what is printed above it; and rows
//! add up to first minus last.

use std::collections::BTreeMap;

use partnerd::rules::fixed::{Price, Quantity};
use partnerd::rules::settlement::{Groesse, Lieferung, Rechnung, Schema, Wirkung, check, compute};
use serde_json::{Value, json};

use super::fraction::Fraction;
use super::schemes::{merkmale, unchecked, werte};
use crate::settlement::dice::Dice;

const STORIES: u64 = 10_000;

const MEASURED: [(&str, i128); 4] = [("feuchte", 1), ("besatz", 2), ("protein", 1), ("fallzahl", 0)];

#[test]
fn random_notes_are_settled_as_exact_fractions_are() {
    let (mut whole, mut locked, mut refused) = (0, 0, 0);
    for seed in 0..STORIES {
        let mut dice = Dice::new(seed);
        let steps = steps(&mut dice);
        let schema = check(unchecked(json!([]), steps.clone()), &merkmale())
            .unwrap_or_else(|why| panic!("{seed}: {why:?}\n{steps}"));
        let measured = measured(&mut dice);
        let kg = format!("{}.{:03}", dice.below(60_000), dice.below(1_000));
        let preis = format!("{}.{:02}", dice.below(600), dice.below(100));
        let said: Vec<(&str, &str)> = measured.iter().map(|(code, wert)| (*code, wert.as_str())).collect();
        let (menge, price) = (Quantity::parse(&kg).unwrap().value, Price::parse(&preis).unwrap().value);
        let found = compute(&schema, &Lieferung { menge, grundpreis: Some(price), werte: &werte(&said) });
        let expected = settle(&serde_json::to_value(&schema).unwrap(), &kg, &preis, &measured);
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                let is_locked = !found.befunde.is_empty();
                if is_locked {
                    locked += 1
                } else {
                    whole += 1
                }
                assert_eq!(rows(&found), expected, "{seed}: {kg} kg {measured:?}\n{schema:?}");
                again_from_what_is_printed(&schema, &found, &kg, &preis);
                assert_eq!(is_locked, found.summe.is_none(), "{seed}");
            }
            (Err(found), Err(expected)) => {
                refused += 1;
                assert_eq!(found.code.as_str(), expected, "{seed}");
            }
            (found, expected) => panic!("{seed}: {found:?}, not {expected:?}"),
        }
    }
    // All kinds of results occurred.
    assert!(whole > 2_000 && locked > 1_000 && refused > 50, "{whole} {locked} {refused}");
}

/// Code, result and remainder of each row.
type Row = (String, Fraction, Option<Fraction>);

fn figure(groesse: Groesse) -> Fraction {
    match groesse {
        Groesse::Kg(kg) => Fraction::parse(&kg.to_string()),
        Groesse::JeTonne(price) => Fraction::parse(&price.to_string()),
        Groesse::Euro(money) => Fraction::parse(&money.to_string()),
    }
}

fn rows(abrechnung: &Rechnung) -> Vec<Row> {
    let row = |row: &partnerd::rules::settlement::Zeile| {
        (row.code.clone(), figure(row.ergebnis), row.danach.map(figure))
    };
    abrechnung.zeilen.iter().map(row).collect()
}

fn number(dice: &mut Dice, most: usize, places: i128) -> String {
    let digits = dice.below(most * 10usize.pow(places as u32)) as i128;
    let scale = 10i128.pow(places as u32);
    match places {
        0 => digits.to_string(),
        places => format!("{}.{:0width$}", digits / scale, digits % scale, width = places as usize),
    }
}

fn steps(dice: &mut Dice) -> Value {
    let mut steps = Vec::new();
    let mut quantities: Vec<String> = Vec::new();
    for nr in 1..=1 + dice.below(6) {
        let wirkung = ["menge", "menge", "preis", "kosten"][dice.below(4)];
        let regel = match dice.below(6) {
            1 if wirkung == "menge" => "standardgewicht",
            2 => "tabelle",
            3 => "staffel",
            4 => "fest",
            _ => "faktor",
        };
        let code = format!("s{nr}");
        let mut step = rule(dice, regel);
        step["code"] = json!(code);
        // An order different from the one in which they are written.
        step["nr"] = json!(100 - nr);
        step["wirkung"] = json!(wirkung);
        let (einheit, bezug) = match wirkung {
            "menge" => {
                ("%", [None, Some("brutto".to_owned()), Some("vorher".to_owned())][dice.below(3)].clone())
            }
            "preis" if dice.once_in(2) => ("EUR/t", None),
            "preis" => {
                ("%", [None, Some("grundpreis".to_owned()), Some("vorher".to_owned())][dice.below(3)].clone())
            }
            _ if dice.once_in(3) => ("EUR", None),
            _ => match dice.pick(&quantities) {
                Some(code) if dice.once_in(2) => ("EUR/t", Some(format!("nach:{code}"))),
                _ => ("EUR/t", Some(["brutto", "netto"][dice.below(2)].to_owned())),
            },
        };
        if wirkung == "menge" {
            quantities.push(code);
        }
        step["einheit"] = json!(einheit);
        step["bezug"] = json!(bezug);
        step["fehlt"] = json!(["sperren", "keine", "keine"][dice.below(3)]);
        steps.push(step);
    }
    Value::Array(steps)
}

fn rule(dice: &mut Dice, regel: &str) -> Value {
    let sign = |dice: &mut Dice| if dice.once_in(3) { "-" } else { "" };
    let satz = |dice: &mut Dice| format!("{}{}", sign(dice), number(dice, 3, 2));
    let (merkmal, places) = MEASURED[dice.below(4)];
    let mut step = json!({"regel": regel});
    if regel == "fest" {
        step["satz"] = json!(satz(dice));
        return step;
    }
    step["merkmal"] = json!(merkmal);
    if regel == "tabelle" {
        let unit = 10i128.pow(places as u32);
        let text = |grid: i128| format!("{}.{:03}", grid / unit, grid % unit * 1_000 / unit);
        let mut from = dice.below(5) as i128 * unit;
        let zeilen: Vec<Value> = (0..1 + dice.below(6))
            .map(|_| {
                let end = from + dice.below(8 * unit as usize) as i128;
                let row = json!({"von": text(from), "bis": text(end), "satz": satz(dice)});
                from = end + 1;
                row
            })
            .collect();
        step["zeilen"] = json!(zeilen);
        return step;
    }
    let richtung = ["ueber", "unter"][dice.below(2)];
    let basis = number(dice, 25, 1);
    step["richtung"] = json!(richtung);
    step["basis"] = json!(basis);
    if dice.once_in(3) {
        step["zaehlt_ab"] = json!(number(dice, 25, 1));
    }
    if dice.once_in(4) {
        let most = if richtung == "ueber" { 25 + dice.below(5) } else { 0 };
        step["grenzwert"] = json!(most.to_string());
    }
    match regel {
        "staffel" => {
            let mut end = 0;
            let zeilen: Vec<Value> = (0..1 + dice.below(4))
                .map(|_| {
                    end += 1 + dice.below(9);
                    json!({"von": null, "bis": end.to_string(), "satz": satz(dice)})
                })
                .collect();
            step["zeilen"] = json!(zeilen);
            step["gestaffelt"] = json!(dice.once_in(2));
        }
        "standardgewicht" if dice.once_in(2) => {}
        _ => step["satz"] = json!(satz(dice)),
    }
    if regel == "faktor" && dice.once_in(3) {
        step["schritt"] = json!(["0.1", "0.5", "1", "0.25"][dice.below(4)]);
        step["angefangen"] = json!(dice.once_in(2));
    }
    step
}

fn measured(dice: &mut Dice) -> Vec<(&'static str, String)> {
    let mut measured = Vec::new();
    for (code, places) in MEASURED {
        if !dice.once_in(6) {
            measured.push((code, number(dice, 30, places)));
        }
    }
    measured
}

/// Settles the same receipt, from the stored text of its scheme.
fn settle(
    schema: &Value,
    kg: &str,
    preis: &str,
    measured: &[(&str, String)],
) -> Result<Vec<Row>, &'static str> {
    let measured: BTreeMap<&str, Fraction> =
        measured.iter().map(|(code, wert)| (*code, Fraction::parse(wert))).collect();
    let gross = Fraction::parse(kg).rounded(0);
    let base = Fraction::parse(preis);
    let (mut weight, mut price) = (Some(gross), Some(base));
    let mut weights: BTreeMap<String, Option<Fraction>> = BTreeMap::new();
    let mut rows = Vec::new();
    for wirkung in ["menge", "preis", "kosten"] {
        let mut steps: Vec<&Value> =
            schema["schritte"].as_array().unwrap().iter().filter(|step| step["wirkung"] == wirkung).collect();
        steps.sort_by_key(|step| step["nr"].as_i64());
        for step in steps {
            let code = step["code"].as_str().unwrap().to_owned();
            let rate = match step["merkmal"].as_str() {
                None => Some(decimal(&step["satz"])),
                Some(merkmal) => match measured.get(merkmal) {
                    None if step["fehlt"] == "keine" => {
                        if wirkung == "menge" {
                            weights.insert(code, weight);
                        }
                        continue;
                    }
                    None => None,
                    Some(wert) => rate(step, *wert),
                },
            };
            let per_cent = step["einheit"] == "%";
            let reference = match step["bezug"].as_str() {
                None => Some(Fraction::whole(1)),
                Some("brutto") => Some(gross),
                Some("netto") => weight,
                Some("grundpreis") => Some(base),
                Some("vorher") if wirkung == "menge" => weight,
                Some("vorher") => price,
                Some(after) => weights.get(after.strip_prefix("nach:").unwrap()).copied().flatten(),
            };
            let hundredth = if per_cent { Fraction::new(1, 100) } else { Fraction::whole(1) };
            let result = rate.zip(reference).map(|(rate, reference)| match wirkung {
                "menge" => Fraction::whole(-1) * (rate * hundredth * reference).rounded(0),
                "preis" => (rate * hundredth * reference).rounded(2),
                _ if step["einheit"] == "EUR" => rate.rounded(2),
                _ => (rate * reference / Fraction::whole(1_000)).rounded(2),
            });
            let left = |before: Option<Fraction>| before.zip(result).map(|(before, result)| before + result);
            match wirkung {
                "menge" => {
                    weight = left(weight);
                    weights.insert(code.clone(), weight);
                }
                "preis" => price = left(price),
                _ => {}
            }
            let after = match wirkung {
                "menge" => weight,
                "preis" => price,
                _ => None,
            };
            rows.extend(result.map(|result| (code, result, after)));
        }
        if wirkung == "menge" && weight.is_some_and(|weight| weight < Fraction::whole(0)) {
            return Err("NETTO_NEGATIV");
        }
        if wirkung == "preis" && price.is_some_and(|price| price < Fraction::whole(0)) {
            return Err("PREIS_NEGATIV");
        }
    }
    Ok(rows)
}

fn decimal(value: &Value) -> Fraction {
    value.as_str().map_or(Fraction::whole(0), Fraction::parse)
}

/// The rate of a step; `None` beyond its last row.
fn rate(step: &Value, wert: Fraction) -> Option<Fraction> {
    let zero = Fraction::whole(0);
    let rows = step["zeilen"].as_array().unwrap();
    if step["regel"] == "tabelle" {
        let row = rows.iter().find(|row| decimal(&row["von"]) <= wert && wert <= decimal(&row["bis"]))?;
        return Some(decimal(&row["satz"]));
    }
    let over = step["richtung"] == "ueber";
    let basis = decimal(&step["basis"]);
    let applies = if over { wert > basis } else { wert < basis };
    let from = if step["zaehlt_ab"].is_null() { basis } else { decimal(&step["zaehlt_ab"]) };
    let most = decimal(&step["grenzwert"]);
    let is_capped = !step["grenzwert"].is_null() && if over { wert > most } else { wert < most };
    let counted = if is_capped { most } else { wert };
    let distance = if over { counted - from } else { from - counted };
    if !applies || distance <= zero {
        return Some(zero);
    }
    match step["regel"].as_str().unwrap() {
        "faktor" if step["schritt"].is_null() => Some(distance * decimal(&step["satz"])),
        "faktor" => {
            let steps = distance / decimal(&step["schritt"]);
            let begun = step["angefangen"] == true && !steps.is_whole();
            let count = steps.floor() + Fraction::whole(i128::from(begun));
            Some(count * decimal(&step["satz"]))
        }
        "standardgewicht" => {
            let hundred = Fraction::whole(100);
            Some((counted - from) / (hundred - from) * hundred + decimal(&step["satz"]))
        }
        _ => {
            let last = rows.iter().position(|row| distance <= decimal(&row["bis"]))?;
            if step["gestaffelt"] == false {
                return Some(distance * decimal(&rows[last]["satz"]));
            }
            let (mut sum, mut begin) = (zero, zero);
            for row in &rows[..=last] {
                let bis = decimal(&row["bis"]);
                let end = if bis < distance { bis } else { distance };
                sum = sum + (end - begin) * decimal(&row["satz"]);
                begin = end;
            }
            Some(sum)
        }
    }
}

/// Recomputes with a pocket calculator: rate times reference, as printed, is the result; the previous
/// remainder and the result give the next; and all rows of a kind add up to first minus last.
fn again_from_what_is_printed(schema: &Schema, found: &Rechnung, kg: &str, preis: &str) {
    let gross = Fraction::parse(&found.brutto_kg.to_string());
    assert_eq!(gross, Fraction::parse(kg).rounded(0));
    let zero = Fraction::whole(0);
    let (mut weight, mut price, mut costs) = (gross, Fraction::parse(preis), zero);
    let (mut weight_known, mut price_known) = (true, true);
    let mut weights = vec![gross];
    for row in &found.zeilen {
        let per_unit = match (row.wirkung, row.einheit.as_str()) {
            (_, "%") => Fraction::new(1, 100),
            (Wirkung::Kosten, "EUR/t") => Fraction::new(1, 1_000),
            _ => Fraction::whole(1),
        };
        let result = figure(row.ergebnis);
        if let Some(satz) = &row.satz {
            let product = Fraction::parse(satz) * per_unit * row.bezug.map_or(Fraction::whole(1), figure);
            let (places, sign) = match row.wirkung {
                Wirkung::Menge => (0, Fraction::whole(-1)),
                Wirkung::Preis => (schema.preis_stellen as u32, Fraction::whole(1)),
                Wirkung::Kosten => (2, Fraction::whole(1)),
            };
            assert_eq!(product.rounded(places) * sign, result, "{row:?}");
        } else {
            assert!(row.rechnung.is_some(), "{row:?}");
        }
        match row.wirkung {
            Wirkung::Menge => {
                weight = weight + result;
                weight_known &= row.danach.map(figure) == Some(weight);
                assert!(row.danach.is_none() || weight_known, "{row:?}");
                weights.push(weight);
            }
            Wirkung::Preis => {
                price = price + result;
                price_known &= row.danach.map(figure) == Some(price);
                assert!(row.danach.is_none() || price_known, "{row:?}");
            }
            Wirkung::Kosten => costs = costs + result,
        }
        if row.wirkung != Wirkung::Preis {
            // A reference in kg is printed above.
            assert!(row.bezug.is_none_or(|bezug| weights.contains(&figure(bezug))), "{row:?}");
        }
    }
    if let Some(netto) = found.netto_kg {
        assert_eq!(Fraction::parse(&netto.to_string()), weight);
    }
    if let Some(settled) = found.preis_je_t {
        assert_eq!(Fraction::parse(&settled.to_string()), price);
    }
    if let Some(summe) = found.summe {
        let goods = (weight * price / Fraction::whole(1_000)).rounded(2);
        assert_eq!(Fraction::parse(&found.kosten.unwrap().to_string()), costs);
        assert_eq!(Fraction::parse(&summe.to_string()), goods + costs);
    }
}
