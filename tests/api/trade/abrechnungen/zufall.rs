//! Random schemes and receipts, settled through the interface: rows add up to the paid amount, and items to
//! the document.

use serde_json::{Value, json};

use super::{Hof, NOTES, PATH, SCHEMES, sums};
use crate::harness::Server;

/// A pseudo-random generator with the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// A random decimal below `end` with `places` places.
    fn decimal(&mut self, end: u64, places: u32) -> String {
        let scale = 10_u64.pow(places);
        let drawn = self.below(end * scale);
        format!("{}.{:0width$}", drawn / scale, drawn % scale, width = places as usize)
    }
}

/// A decimal of an answer, in millionths.
fn units(value: &Value) -> i64 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value}"));
    let (whole, rest) = text.trim_start_matches('-').split_once('.').unwrap_or((text, ""));
    let amount: i64 = format!("{whole}{rest:0<6}").parse().unwrap();
    if text.starts_with('-') { -amount } else { amount }
}

fn total(rows: &[Value], field: &str) -> i64 {
    rows.iter().map(|row| units(&row[field])).sum()
}

/// A random scheme: impurities, shrink, a price by a table, and costs of three kinds, some of them omitted.
fn scheme(dice: &mut Dice) -> Value {
    let mut steps = vec![json!({"code": "besatz", "text": "Besatz", "wirkung": "menge", "regel": "faktor",
        "merkmal": "besatz", "richtung": "ueber", "basis": dice.decimal(3, 2), "satz": dice.one(&["1", "1.2"]),
        "bezug": dice.one(&["brutto", "vorher"])})];
    let regel = dice.one(&["faktor", "standardgewicht"]);
    steps.push(
        json!({"code": "schwund", "text": "Schwund", "wirkung": "menge", "regel": regel, "merkmal": "feuchte",
        "richtung": "ueber", "basis": dice.decimal(15, 1), "satz": dice.one(&["0.5", "1.3", "1.35"])}),
    );
    let row = |von: &str, bis: &str, satz: String| json!({"von": von, "bis": bis, "satz": satz});
    steps.push(json!({"code": "protein", "text": "Protein", "wirkung": "preis", "regel": "tabelle",
        "merkmal": "protein",
        "einheit": dice.one(&["EUR/t", "%"]), "zeilen": [row("0", "11.9", format!("-{}", dice.decimal(9, 2))),
            row("12.0", "12.9", "0".to_owned()), row("13.0", "20", dice.decimal(9, 3))]}));
    for (code, einheit, bezug) in
        [("trocknung", "EUR/t", "brutto"), ("reinigung", "EUR/t", "netto"), ("pauschal", "EUR", "")]
    {
        let mut step = json!({"code": code, "text": code, "wirkung": "kosten", "regel": "fest",
            "satz": format!("-{}", dice.decimal(9, 2)), "einheit": einheit});
        if !bezug.is_empty() {
            step["bezug"] = json!(bezug);
        }
        if dice.below(3) > 0 {
            steps.push(step);
        }
    }
    for (nr, step) in (1..).zip(&mut steps) {
        step["nr"] = json!(nr);
    }
    json!({"nummer": "ZUFALL", "bezeichnung": "Zufall", "artikel": ["W"], "gueltig_von": "2000-01-01",
        "schritte": steps,
        "bestand": dice.one(&["netto", "brutto"]), "mittelung": dice.one(&["je_anlieferung", "partie"]),
        "preis_stellen": 2 + dice.below(3)})
}

/// Asserts that the rows of a receipt lead from the delivered to the paid quantity.
fn assert_rows_add_up(note: &Value) {
    let rechnung = &note["rechnung"];
    let rows = |wirkung: &str| -> Vec<Value> {
        let all = rechnung["zeilen"].as_array().unwrap().iter();
        all.filter(|row| row["wirkung"] == wirkung).cloned().collect()
    };
    let netto = units(&rechnung["netto_kg"]);
    assert_eq!(units(&rechnung["brutto_kg"]) + total(&rows("menge"), "ergebnis"), netto, "{note}");
    assert_eq!(total(&rows("kosten"), "ergebnis"), units(&rechnung["kosten"]), "{note}");
    let teile = note["teile"].as_array().unwrap();
    assert_eq!(total(teile, "kg"), netto, "{note}");
    let preis = units(&teile[0]["grundpreis"]) + total(&rows("preis"), "ergebnis");
    assert_eq!(preis, units(&teile[0]["preis_je_t"]), "{note}");
    for teil in teile {
        // Millionths of kg times millionths of EUR/t in cents, half up: 10^6 * 10^6 * 1000 / 100.
        let exact = i128::from(units(&teil["kg"])) * i128::from(units(&teil["preis_je_t"]));
        let cents = (exact + 5_000_000_000_000) / 10_000_000_000_000;
        assert_eq!(cents * 10_000, i128::from(units(&teil["ware"])), "{note}");
    }
    assert_eq!(total(teile, "ware") + units(&rechnung["kosten"]), units(&note["betrag"]), "{note}");
}

#[test]
fn rows_add_up_to_what_is_paid_and_items_to_the_document() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let mut dice = Dice(29);
    for case in 0..20 {
        let hof = Hof::named(&server, &format!("Zufall {case}"));
        hof.post(SCHEMES, scheme(&mut dice)).is(201);
        let notes: Vec<String> = (0..1 + dice.below(4))
            .map(|_| {
                let of = format!(
                    "besatz={} feuchte={} protein={}",
                    dice.decimal(6, 2),
                    dice.decimal(30, 1),
                    dice.decimal(20, 1)
                );
                let more = json!({"preis_je_t": format!("{}.50", 150 + dice.below(300)),
                    "el_erzeugen": dice.below(2) == 0, "fremde_charge_nr": "C1"});
                hof.note(1_000 + dice.below(28_000) as i64, &of, more)
            })
            .collect();
        let notes: Vec<&String> = notes.iter().collect();
        if dice.below(2) == 0 {
            hof.settle("abschlag", &notes[..1], json!({"abschlag": {"prozent": dice.decimal(90, 2)}}))
                .is(201);
        }
        let allowed = json!({"negativ_zulassen": true});
        let seen = hof.preview("end", &notes, allowed.clone());
        let made = hof.settle("end", &notes, allowed);
        assert_eq!(sums(made.is(201)), sums(seen.is(200)), "case {case}");
        let settled = made.body["annahmescheine"].as_array().unwrap();
        settled.iter().for_each(assert_rows_add_up);
        let paid = total(settled, "betrag") - total(settled, "abschlaege");
        assert_eq!(paid, units(&made.body["summe_netto"]), "case {case}");
        let beleg = hof.beleg(&made);
        let positionen = beleg["positionen"].as_array().unwrap();
        assert_eq!(total(positionen, "gesamtpreis"), units(&beleg["summe_netto"]), "case {case}");
        let previewed = seen.body["positionen"].as_array().unwrap();
        assert_eq!(total(previewed, "gesamtpreis"), units(&beleg["summe_netto"]), "case {case}");
        let shown = hof.mill.client.get(&format!("{PATH}/{}", made.id()));
        assert_eq!(shown.is(200)["annahmescheine"], made.body["annahmescheine"], "case {case}");
        let schein = hof.mill.client.get(&format!("{NOTES}/{}", notes[0]));
        assert_eq!(schein.is(200)["status"], "abgerechnet", "case {case}");
    }
    let checked = server.cli(&["check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
