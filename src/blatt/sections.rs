//! The sections of a document as tables and paragraphs.

use super::error::DrawError;
use super::flow::{Flow, LEFT, TEXT_WIDTH};
use super::model::{Abschnitt, Angabe, Aufdruck, Blatt, Position, Preis, Summen, Tabelle, Wert, Zeile};
use super::numbers::{decimals, german};
use super::page::{Belongs, Role, Shape, Tree};
use super::payment;
use super::table::{Cell, Column, Row, Table};
use super::text::{CELL, DETAIL, HEADING, LABEL, SEPARATOR, Style};
use crate::rules::fixed::{Money, Percent};

const SPACE: f32 = 15.0;
/// What the sums take beside their groups, and each of these: they are kept on the page of the last position.
const SUMS: f32 = 60.0;
const GROUP: f32 = 19.0;
/// From the text above to a line that is signed.
const SIGNATURE: f32 = 44.0;
const SIGNATURES: usize = 3;

pub fn draw(blatt: &Blatt, flow: &mut Flow) -> Result<(), DrawError> {
    for (at, abschnitt) in blatt.abschnitte.iter().enumerate() {
        flow.space(if at > 0 { SPACE } else { 0.0 });
        match abschnitt {
            Abschnitt::Text { ueberschrift, absaetze } => flow.text(ueberschrift.as_deref(), absaetze)?,
            Abschnitt::Positionen(positionen) => {
                let keep = match blatt.abschnitte.get(at + 1) {
                    Some(Abschnitt::Summen(summen)) => sums_height(summen),
                    _ => 0.0,
                };
                positions(positionen, keep, flow)?;
            }
            Abschnitt::Summen(summen) => sums(summen, flow)?,
            Abschnitt::Tabelle(tabelle) => table(tabelle, flow)?,
            Abschnitt::Zahlung(zahlung) => {
                payment::draw(zahlung, blatt.aufdruck != Some(Aufdruck::Entwurf), flow)?;
            }
            Abschnitt::Unterschriften(unterschriften) => signatures(unterschriften, flow)?,
        }
    }
    Ok(())
}

fn words(title: &str) -> Column {
    Column { title: title.to_owned(), numbers: false, takes_the_rest: false }
}

fn numbers(title: &str) -> Column {
    Column { numbers: true, ..words(title) }
}

fn rest(title: &str) -> Column {
    Column { takes_the_rest: true, ..words(title) }
}

fn number(text: String) -> Cell {
    Cell::Number(text, String::new())
}

fn text(text: String) -> Cell {
    Cell::Texts(vec![(text, CELL)])
}

/// A column of what positions cost: its title, and what it shows of a price.
type PriceColumn = (&'static str, fn(Preis) -> Option<String>);

const PRICE_COLUMNS: [PriceColumn; 4] = [
    ("Einzelpreis €", |preis| Some(german(preis.einzelpreis, 2))),
    ("Rabatt %", |preis| (!preis.rabatt.is_zero()).then(|| german(preis.rabatt, 0))),
    ("USt %", |preis| Some(german(preis.mwst_satz, 0))),
    ("Betrag €", |preis| Some(german(preis.betrag, 2))),
];

/// Those that some positions have: discounts where one is given, rates where they differ.
fn price_columns(positionen: &[Position]) -> Vec<PriceColumn> {
    let prices = || positionen.iter().filter_map(|position| position.preis);
    let rates: Vec<Percent> = prices().map(|preis| preis.mwst_satz).collect();
    let (has_prices, rates_differ) = (!rates.is_empty(), rates.windows(2).any(|two| two[0] != two[1]));
    let has_discounts = prices().any(|preis| !preis.rabatt.is_zero());
    let shown = [has_prices, has_discounts, rates_differ, has_prices];
    PRICE_COLUMNS.into_iter().zip(shown).filter(|(_, is_shown)| *is_shown).map(|(column, _)| column).collect()
}

/// Units up to this length stand behind the number, longer ones below the name.
const SHORT_UNIT: usize = 10;

fn is_short(unit: &str) -> bool {
    unit.chars().count() <= SHORT_UNIT && !unit.contains(char::is_control)
}

fn quantity(position: &Position) -> Cell {
    let unit = position.einheit.as_deref().unwrap_or_default();
    let unit_behind =
        if is_short(unit) && !unit.is_empty() { format!("\u{a0}{unit}") } else { String::new() };
    Cell::Number(german(position.menge, decimals(unit)), unit_behind)
}

fn description(position: &Position) -> Vec<(String, Style)> {
    let mut lines = vec![(position.bezeichnung.clone(), CELL)];
    lines.extend(position.bezeichnung2.clone().map(|text| (text, CELL)));
    let number = position.artikelnummer.as_ref().map(|number| Angabe::new("Art.-Nr.", number.as_str()));
    let unit = position.einheit.as_deref().filter(|unit| !is_short(unit));
    let unit = unit.map(|unit| Angabe::new("Einheit", unit));
    let facts = facts(number.iter().chain(&unit).chain(&position.merkmale));
    lines.extend((!facts.is_empty()).then_some((facts, DETAIL)));
    lines.extend(position.langtext.clone().map(|text| (text, DETAIL)));
    lines
}

fn facts<'a>(facts: impl Iterator<Item = &'a Angabe>) -> String {
    let facts = facts.map(|fact| format!("{}\u{a0}{}", fact.name.replace(' ', "\u{a0}"), fact.wert));
    facts.collect::<Vec<_>>().join(SEPARATOR)
}

fn positions(positionen: &[Position], keep: f32, flow: &mut Flow) -> Result<(), DrawError> {
    let prices = price_columns(positionen);
    let mut columns = vec![words("Pos."), rest("Bezeichnung"), numbers("Menge")];
    columns.extend(prices.iter().map(|(title, _)| numbers(title)));
    let mut sum = Some(Money::ZERO);
    let mut rows = Vec::with_capacity(positionen.len());
    for position in positionen {
        let amount = position.preis.map_or(Money::ZERO, |preis| preis.betrag);
        // A sum beyond all limits is not carried over.
        sum = sum.and_then(|sum| sum.plus(amount).ok());
        let mut cells =
            vec![text(position.nummer.to_string()), Cell::Texts(description(position)), quantity(position)];
        cells.extend(prices.iter().map(|(_, of)| position.preis.and_then(of).map_or(Cell::Empty, number)));
        rows.push(Row { cells, is_sum: false, carried: sum.filter(|_| !prices.is_empty()) });
    }
    Table { keep, is_whole: false, ..Table::new("Positionen", columns, rows) }.draw(flow)
}

fn sums_height(summen: &Summen) -> f32 {
    let reasons = summen.gruppen.iter().filter(|gruppe| gruppe.grund.is_some()).count();
    SUMS + summen.gruppen.len() as f32 * GROUP + reasons as f32 * DETAIL.leading
}

fn sums(summen: &Summen, flow: &mut Flow) -> Result<(), DrawError> {
    let columns = vec![rest("Umsatzsteuer"), numbers("Netto €"), numbers("USt €"), numbers("Brutto €")];
    let mut rows = Vec::new();
    for gruppe in &summen.gruppen {
        let mut label = vec![(format!("{} %", german(gruppe.satz, 0)), CELL)];
        label.extend(gruppe.grund.clone().map(|grund| (grund, DETAIL)));
        let gross = gruppe.netto.plus(gruppe.steuer).ok();
        let [net, tax] = [gruppe.netto, gruppe.steuer].map(|sum| number(german(sum, 2)));
        let gross = gross.map_or(Cell::Empty, |gross| number(german(gross, 2)));
        rows.push(Row { cells: vec![Cell::Texts(label), net, tax, gross], is_sum: false, carried: None });
    }
    let texts = [summen.netto, summen.steuer, summen.brutto].map(|sum| number(german(sum, 2)));
    let cells = [text(summen.bezeichnung.clone())].into_iter().chain(texts).collect();
    rows.push(Row { cells, is_sum: true, carried: None });
    Table { has_total: true, ..Table::new(&summen.bezeichnung, columns, rows) }.draw(flow)
}

fn table(tabelle: &Tabelle, flow: &mut Flow) -> Result<(), DrawError> {
    if let Some(heading) = &tabelle.ueberschrift {
        flow.heading(heading, 4.0 * CELL.leading)?;
    }
    let is_number = |at: usize| {
        tabelle
            .zeilen
            .iter()
            .any(|zeile| !matches!(zeile.zellen.get(at), None | Some(Wert::Leer | Wert::Text(_))))
    };
    let columns = tabelle.spalten.iter().enumerate().map(|(at, title)| Column {
        title: title.clone(),
        numbers: at > 0 && is_number(at),
        takes_the_rest: at == 0,
    });
    let columns: Vec<_> = columns.collect();
    let rows = tabelle.zeilen.iter().map(|zeile| row(zeile, &columns)).collect();
    // The eye should not have far to go from a name to its value.
    let width = if columns.len() > 2 { TEXT_WIDTH } else { TEXT_WIDTH / 2.0 };
    let summary = tabelle.ueberschrift.as_deref().unwrap_or("Tabelle");
    Table { width, ..Table::new(summary, columns, rows) }.draw(flow)
}

fn row(zeile: &Zeile, columns: &[Column]) -> Row {
    let cells = columns.iter().enumerate().map(|(at, column)| match zeile.zellen.get(at) {
        None | Some(Wert::Leer) => Cell::Empty,
        Some(Wert::Text(text)) if column.numbers => number(text.clone()),
        Some(Wert::Text(text)) => self::text(text.clone()),
        Some(Wert::Menge(menge, unit)) => {
            Cell::Number(german(*menge, decimals(unit)), format!("\u{a0}{unit}"))
        }
        Some(Wert::Prozent(prozent)) => Cell::Number(german(*prozent, 2), "\u{a0}%".to_owned()),
        Some(Wert::Zahl(zahl)) => number(german(*zahl, 0)),
        Some(Wert::Betrag(betrag)) => Cell::Number(german(*betrag, 2), "\u{a0}€".to_owned()),
        Some(Wert::Preis(preis, unit)) => Cell::Number(german(*preis, 2), format!("\u{a0}€/{unit}")),
    });
    Row { cells: cells.collect(), is_sum: zeile.summe, carried: None }
}

fn signatures(labels: &[String], flow: &mut Flow) -> Result<(), DrawError> {
    let labels = labels.get(..SIGNATURES.min(labels.len())).unwrap_or_default();
    flow.need(SIGNATURE + 2.0 * HEADING.leading)?;
    flow.y += SIGNATURE;
    let gap = 18.0;
    let width = (TEXT_WIDTH - gap * (SIGNATURES - 1) as f32) / SIGNATURES as f32;
    for (at, label) in labels.iter().enumerate() {
        let x = LEFT + at as f32 * (width + gap);
        flow.pages.mark(x, flow.y, Shape::Rule(width, 0.5, 60), Belongs::Decoration);
        let node = flow.pages.tree.add(Tree::ROOT, Role::Paragraph);
        let mut lines = flow.typesetter.lines(label, LABEL, width);
        lines.truncate(2);
        flow.column(x, flow.y + 2.5, &lines, LABEL, Belongs::To(node));
    }
    flow.y += 2.5 + 2.0 * LABEL.leading;
    Ok(())
}
