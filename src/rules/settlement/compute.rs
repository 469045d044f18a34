//! Settles one receipt by one scheme: rows, sums and findings (D29d to D29f).

use std::collections::BTreeMap;

use super::model::{
    Basisseite, Fehlt, Grenze, Grenzfolge, SatzEinheit, Schema, Schritt, SchrittZeile, Schrittregel, Wirkung,
    after,
};
use super::rate::{ONE, Rate, plain};
use super::rechnung::{Befund, Groesse, Rechnung, Zeile};
use super::values::{Grund, Werte, grid};
use crate::rules::error::{Code, Refusal};
use crate::rules::fixed::{Money, Price, Quantity, TooLarge, Zahl, divide_rounded};
use crate::rules::receipt::net_amount;

/// A delivery to settle: its weight, its price and its values.
#[derive(Debug, Clone, Copy)]
pub struct Lieferung<'a> {
    /// Delivered weight in kg; rounded to whole kg here.
    pub menge: Quantity,
    /// Price per t before the steps; without it only quantities and costs are computed.
    pub grundpreis: Option<Price>,
    pub werte: &'a Werte,
}

/// The rate that a step found, and how it was derived.
struct Found {
    rate: Rate,
    rechnung: Option<String>,
    treffer: Option<SchrittZeile>,
}

impl From<Rate> for Found {
    fn from(rate: Rate) -> Found {
        Found { rate, rechnung: None, treffer: None }
    }
}

/// Settles a receipt (D29e): limits, quantities, price, goods, costs. Refuses it if less than nothing is
/// left.
pub fn compute(schema: &Schema, lieferung: &Lieferung<'_>) -> Result<Rechnung, Box<Refusal>> {
    let mut course = Course::of(schema, lieferung);
    course.limits(&schema.grenzen);
    for wirkung in [Wirkung::Menge, Wirkung::Preis, Wirkung::Kosten] {
        let mut steps: Vec<&Schritt> =
            schema.schritte.iter().filter(|step| step.wirkung == wirkung).collect();
        steps.sort_by_key(|step| step.nr);
        for step in steps {
            course.step(step)?;
        }
        course.must_be_left(wirkung)?;
    }
    course.result()
}

/// Progress of a calculation: a figure is `None` from the first step on that has no rate for it.
struct Course<'a> {
    werte: &'a Werte,
    /// Millionths of a euro in the last decimal of a price.
    price_grid: i128,
    brutto: i128,
    kg: Option<i128>,
    /// Weight after each quantity step, by the code of the step.
    after: BTreeMap<&'a str, Option<i128>>,
    grundpreis: Option<i128>,
    price: Option<i128>,
    cents: Option<i128>,
    zeilen: Vec<Zeile>,
    befunde: Vec<Befund>,
}

impl<'a> Course<'a> {
    fn of(schema: &Schema, lieferung: &Lieferung<'a>) -> Course<'a> {
        let price_grid = i128::from(grid(schema.preis_stellen));
        let brutto = divide_rounded(i128::from(lieferung.menge.units()), ONE);
        let grundpreis = lieferung.grundpreis.map(|price| i128::from(price.units()));
        Course {
            werte: lieferung.werte,
            price_grid,
            brutto,
            kg: Some(brutto),
            after: BTreeMap::new(),
            grundpreis,
            price: grundpreis,
            cents: Some(0),
            zeilen: Vec::new(),
            befunde: Vec::new(),
        }
    }

    fn limits(&mut self, grenzen: &[Grenze]) {
        for grenze in grenzen {
            let Some(wert) = self.werte.get(&grenze.merkmal).copied() else { continue };
            let is_passed = match grenze.richtung {
                Basisseite::Ueber => wert > grenze.wert,
                Basisseite::Unter => wert < grenze.wert,
            };
            if is_passed {
                self.befunde.push(Befund {
                    code: Grund::Grenzwert,
                    aktion: grenze.aktion,
                    merkmal: Some(grenze.merkmal.clone()),
                    wert: Some(wert),
                    grenze: Some(grenze.wert),
                    text: grenze.text.clone(),
                });
            }
        }
    }

    fn step(&mut self, step: &'a Schritt) -> Result<(), Box<Refusal>> {
        let is_settled = match self.found(step) {
            Ok(None) => true,
            Ok(Some(found)) => self.row(step, found).map_err(|_| too_large())?,
            Err(befund) => {
                // Two steps may need the same value.
                let is_known =
                    |known: &Befund| (known.code, &known.merkmal) == (befund.code, &befund.merkmal);
                if !self.befunde.iter().any(is_known) {
                    self.befunde.push(befund);
                }
                false
            }
        };
        match step.wirkung {
            Wirkung::Menge if is_settled => {
                self.after.insert(&step.code, self.kg);
            }
            Wirkung::Menge => self.kg = None,
            Wirkung::Preis if !is_settled => self.price = None,
            Wirkung::Kosten if !is_settled => self.cents = None,
            _ => {}
        }
        Ok(())
    }

    /// The rate of a step; `None` if its value was not measured and may be missing.
    fn found(&self, step: &Schritt) -> Result<Option<Found>, Befund> {
        let Some(merkmal) = &step.merkmal else {
            return Ok(Some(Rate::of(step.satz.unwrap_or_default()).into()));
        };
        let against = |code, wert, text: String| Befund {
            code,
            aktion: Grenzfolge::Sperren,
            merkmal: Some(merkmal.clone()),
            wert,
            grenze: None,
            text,
        };
        let Some(wert) = self.werte.get(merkmal).copied() else {
            let text = || format!("Für „{}“ fehlt der Messwert {merkmal}.", step.text);
            return match step.fehlt {
                Fehlt::Keine => Ok(None),
                Fehlt::Sperren => Err(against(Grund::MerkmalFehlt, None, text())),
            };
        };
        found(step, wert).map(Some).ok_or_else(|| {
            let text = format!(
                "„{}“ reicht nicht bis {merkmal} {}; es wird nichts fortgeschrieben.",
                step.text,
                plain(wert)
            );
            against(Grund::TabelleEndet, Some(wert), text)
        })
    }

    /// Adds the row of a step; false if the figure it refers to is unknown.
    fn row(&mut self, step: &Schritt, found: Found) -> Result<bool, TooLarge> {
        let Some(bezug) = self.reference(step) else { return Ok(false) };
        let (ergebnis, danach) = match step.wirkung {
            Wirkung::Menge => self.quantity(found.rate, bezug)?,
            Wirkung::Preis => self.price(found.rate, bezug)?,
            Wirkung::Kosten => self.costs(step.einheit, found.rate, bezug)?,
        };
        let as_printed = |bezug| match step.wirkung {
            Wirkung::Preis => Price::from_wide(bezug).map(Groesse::JeTonne),
            _ => kg(bezug),
        };
        self.zeilen.push(Zeile {
            nr: step.nr,
            code: step.code.clone(),
            text: step.text.clone(),
            wirkung: step.wirkung,
            merkmal: step.merkmal.clone(),
            wert: step.merkmal.as_ref().and_then(|merkmal| self.werte.get(merkmal)).copied(),
            satz: found.rate.text(),
            rechnung: found.rechnung,
            einheit: step.einheit,
            treffer: found.treffer,
            bezug: bezug.map(as_printed).transpose()?,
            ergebnis,
            danach,
        });
        let is_settled = match step.wirkung {
            Wirkung::Menge => self.kg.is_some(),
            Wirkung::Preis => self.price.is_some(),
            Wirkung::Kosten => self.cents.is_some(),
        };
        Ok(is_settled)
    }

    /// The figure that the rate of a step refers to: `Some(None)` if it refers to none, `None` if the figure
    /// is unknown.
    fn reference(&self, step: &Schritt) -> Option<Option<i128>> {
        match (step.wirkung, step.bezug.as_deref()) {
            (_, None) => Some(None),
            (Wirkung::Preis, Some("vorher")) => self.price.map(Some),
            (Wirkung::Preis, Some(_)) => self.grundpreis.map(Some),
            (_, Some("brutto")) => Some(Some(self.brutto)),
            (_, Some(bezug)) => match after(bezug) {
                Some(code) => self.after.get(code).copied().flatten().map(Some),
                None => self.kg.map(Some),
            },
        }
    }

    /// Applies a rate in per cent of a weight, rounded to whole kg.
    fn quantity(&mut self, rate: Rate, bezug: Option<i128>) -> Result<(Groesse, Option<Groesse>), TooLarge> {
        let taken = rate.of_reference(bezug.unwrap_or_default(), 100)?;
        self.kg = self.kg.map(|left| left - taken);
        Ok((kg(-taken)?, self.kg.map(kg).transpose()?))
    }

    /// Applies a rate in EUR/t or in per cent of a price, rounded to the decimals of the scheme.
    fn price(&mut self, rate: Rate, bezug: Option<i128>) -> Result<(Groesse, Option<Groesse>), TooLarge> {
        let steps = match bezug {
            Some(price) => rate.of_reference(price, 100 * self.price_grid)?,
            None => rate.of_reference(ONE, self.price_grid)?,
        };
        let added = steps * self.price_grid;
        self.price = self.price.map(|price| price + added);
        let printed = |units| Price::from_wide(units).map(Groesse::JeTonne);
        Ok((printed(added)?, self.price.map(printed).transpose()?))
    }

    /// Applies a rate in EUR, or in EUR/t of a weight, rounded to the cent.
    fn costs(
        &mut self,
        einheit: SatzEinheit,
        rate: Rate,
        bezug: Option<i128>,
    ) -> Result<(Groesse, Option<Groesse>), TooLarge> {
        let cents = match einheit {
            SatzEinheit::EuroJeTonne => rate.of_reference(bezug.unwrap_or_default(), 10)?,
            SatzEinheit::Euro | SatzEinheit::Prozent => rate.of_reference(100, 1)?,
        };
        self.cents = self.cents.map(|sum| sum + cents);
        Ok((Groesse::Euro(Money::from_wide(cents)?), None))
    }

    /// Refuses a weight or a price below zero.
    fn must_be_left(&self, wirkung: Wirkung) -> Result<(), Box<Refusal>> {
        match wirkung {
            Wirkung::Menge if self.kg.is_some_and(|kg| kg < 0) => {
                let message =
                    ("Die Abzüge sind größer als die Anlieferung.", "Bitte Messwerte und Schema prüfen.");
                Err(Refusal::new(Code::NettoNegativ, message))
            }
            Wirkung::Preis if self.price.is_some_and(|price| price < 0) => {
                let message = (
                    "Nach den Abzügen liegt der Preis unter 0.",
                    "Bitte Messwerte, Preis und Schema prüfen.",
                );
                Err(Refusal::new(Code::PreisNegativ, message))
            }
            _ => Ok(()),
        }
    }

    fn result(self) -> Result<Rechnung, Box<Refusal>> {
        let sums = || {
            let netto_kg = self.kg.map(|kg| Quantity::from_wide(kg * ONE)).transpose()?;
            let preis_je_t = self.price.map(Price::from_wide).transpose()?;
            let ware = netto_kg.zip(preis_je_t).map(|(kg, price)| net_amount(kg, price)).transpose()?;
            let kosten = self.cents.map(Money::from_wide).transpose()?;
            let summe = ware.zip(kosten).map(|(ware, kosten)| ware.plus(kosten)).transpose()?;
            let brutto_kg = Quantity::from_wide(self.brutto * ONE)?;
            let grundpreis = self.grundpreis.map(Price::from_wide).transpose()?;
            let (zeilen, befunde) = (self.zeilen, self.befunde);
            Ok(Rechnung { brutto_kg, netto_kg, grundpreis, preis_je_t, ware, kosten, summe, zeilen, befunde })
        };
        sums().map_err(|TooLarge| too_large())
    }
}

fn kg(whole: i128) -> Result<Groesse, TooLarge> {
    Quantity::from_wide(whole.checked_mul(ONE).ok_or(TooLarge)?).map(Groesse::Kg)
}

fn too_large() -> Box<Refusal> {
    Refusal::new(
        Code::BetragZuGross,
        ("Ein Betrag oder eine Menge wird zu groß.", "Bitte Menge, Preis und Sätze prüfen."),
    )
}

/// The rate of a step for a value; `None` if the rows of the step do not reach that far.
fn found(step: &Schritt, wert: Zahl) -> Option<Found> {
    let satz = step.satz.unwrap_or_default();
    let counted = Counted::of(step, wert);
    match step.regel {
        Schrittregel::Fest => Some(Rate::of(satz).into()),
        Schrittregel::Tabelle => {
            let hit = step.zeilen.iter().find(|row| row.von <= Some(wert) && wert <= row.bis)?;
            Some(Found { rate: Rate::of(hit.satz), rechnung: None, treffer: Some(hit.clone()) })
        }
        _ if counted.difference == 0 => Some(Rate::ZERO.into()),
        Schrittregel::Faktor => Some(match step.schritt.map(|schritt| i128::from(schritt.units())) {
            Some(each) => {
                let more = if step.angefangen { each - 1 } else { 0 };
                Rate::steps((counted.difference + more) / each, satz).into()
            }
            None => Rate::times(counted.difference, satz).into(),
        }),
        Schrittregel::Standardgewicht => Some(standard_weight(step, &counted, satz)),
        Schrittregel::Staffel => staffel(step, counted.difference),
    }
}

/// How much of a value counts: nothing if it is within the basis.
struct Counted {
    /// The value, capped at the grenzwert.
    wert: Zahl,
    from: Zahl,
    /// In millionths, not below 0.
    difference: i128,
}

impl Counted {
    fn of(step: &Schritt, wert: Zahl) -> Counted {
        let basis = step.basis.unwrap_or_default();
        let from = step.zaehlt_ab.unwrap_or(basis);
        let (is_past, wert, sign) = match step.richtung {
            Some(Basisseite::Unter) => (wert < basis, step.grenzwert.map_or(wert, |most| wert.max(most)), -1),
            _ => (wert > basis, step.grenzwert.map_or(wert, |most| wert.min(most)), 1),
        };
        let difference = (i128::from(wert.units()) - i128::from(from.units())) * sign;
        Counted { wert, from, difference: if is_past { difference.max(0) } else { 0 } }
    }
}

fn standard_weight(step: &Schritt, counted: &Counted, handling: Zahl) -> Found {
    let sign = if step.richtung == Some(Basisseite::Unter) { -1 } else { 1 };
    let rate = Rate::standard_weight(sign * counted.difference, counted.from, handling);
    let [wert, from] = [counted.wert, counted.from].map(|value| plain(value).replace('.', ","));
    let mut rechnung = format!("({wert} − {from}) / (100 − {from})");
    if !handling.is_zero() {
        rechnung.push_str(&format!(" + {} %", plain(handling).replace('.', ",")));
    }
    Found { rate, rechnung: Some(rechnung), treffer: None }
}

/// The rate of the interval that contains the difference, or of each interval it passes through (F3 of the
/// trade: "einfach", "gestaffelt").
fn staffel(step: &Schritt, difference: i128) -> Option<Found> {
    let end = |row: &SchrittZeile| i128::from(row.bis.units());
    let hit = step.zeilen.iter().position(|row| difference <= end(row))?;
    if !step.gestaffelt {
        let treffer = Some(step.zeilen[hit].clone());
        return Some(Found { rate: Rate::times(difference, step.zeilen[hit].satz), rechnung: None, treffer });
    }
    let (mut rate, mut from, mut parts) = (Rate::ZERO, 0, Vec::new());
    for row in &step.zeilen[..=hit] {
        let part = end(row).min(difference) - from;
        rate = rate.plus(Rate::times(part, row.satz));
        parts.push(
            format!("{} × {}", plain(Zahl::from_units(part as i64)), plain(row.satz)).replace('.', ","),
        );
        from = end(row);
    }
    Some(Found { rate, rechnung: Some(parts.join(" + ")), treffer: None })
}
