//! Draws the sections of a document as tables and paragraphs.

use super::error::DrawError;
use super::flow::{Flow, LEFT, TEXT_WIDTH};
use super::model::{Abschnitt, Angabe, Aufdruck, Blatt, Position, Preis, Summen, Tabelle, Wert, Zeile};
use super::numbers::{decimals, german};
use super::page::{Belongs, Role, Shape, Tree};
use super::payment;
use super::table::{Cell, Column, Row, Table};
use super::text::{CELL, DETAIL, HEADING, LABEL, SEPARATOR, Style};
use crate::rules::fixed::{Money, Percent};
use crate::rules::unit::unece_code;

/// Space between sections; the least space is used if they would otherwise not fit onto the page.
const SPACE: f32 = 15.0;
const SPACE_LEAST: f32 = 8.0;
/// Largest share of a page that the sections behind the positions may take to be kept together.
const TOGETHER: f32 = 0.6;
/// Distance from the text above to a signature line.
const SIGNATURE: f32 = 44.0;
const SIGNATURES: usize = 3;

/// Draws all sections. Those behind the positions stay on the page of the last position, or move to the next
/// page with it: neither a payment nor a greeting stands alone on a page. If it makes them fit, they move
/// closer together.
pub fn draw(blatt: &Blatt, flow: &mut Flow) -> Result<(), DrawError> {
    let is_positions = |abschnitt: &Abschnitt| matches!(abschnitt, Abschnitt::Positionen(_));
    let behind = blatt.abschnitte.iter().position(is_positions).map_or(usize::MAX, |at| at + 1);
    for (at, abschnitt) in blatt.abschnitte.iter().enumerate() {
        let mut space = if at > 0 { SPACE } else { 0.0 };
        if at >= behind && !is_table(abschnitt) {
            let group = Group::measured(blatt, at, flow)?;
            flow.ensure_room(group.least())?;
            space = group.space(flow.room());
        }
        flow.space(space);
        match abschnitt {
            Abschnitt::Positionen(positionen) => {
                let keep = Group::measured(blatt, at + 1, flow)?.least();
                positions(positionen, keep, flow)?;
            }
            _ => section(blatt, abschnitt, flow)?,
        }
    }
    Ok(())
}

/// Sections that stay on one page: all from a given one on, or the first ones that fit into [`TOGETHER`].
#[derive(Default)]
struct Group {
    /// Height without the spaces before the sections.
    height: f32,
    sections: u16,
}

impl Group {
    fn measured(blatt: &Blatt, from: usize, flow: &mut Flow) -> Result<Group, DrawError> {
        let (mut group, most) = (Group::default(), flow.whole_page() * TOGETHER);
        for abschnitt in blatt.abschnitte.iter().skip(from).take_while(|abschnitt| !is_table(abschnitt)) {
            let more = flow.measured(|flow| section(blatt, abschnitt, flow))?;
            let with_it = Group { height: group.height + more, sections: group.sections + 1 };
            if with_it.least() > most {
                break;
            }
            group = with_it;
        }
        Ok(group)
    }

    fn least(&self) -> f32 {
        self.height + f32::from(self.sections) * SPACE_LEAST
    }

    /// The space before each section with which they take at most `room`.
    fn space(&self, room: f32) -> f32 {
        let sections = f32::from(self.sections.max(1));
        ((room - self.height) / sections).clamp(SPACE_LEAST, SPACE)
    }
}

/// Whether a section is a table: behind the positions it is an annex, which is not kept together with them.
fn is_table(abschnitt: &Abschnitt) -> bool {
    matches!(abschnitt, Abschnitt::Tabelle(_))
}

fn section(blatt: &Blatt, abschnitt: &Abschnitt, flow: &mut Flow) -> Result<(), DrawError> {
    match abschnitt {
        Abschnitt::Text { ueberschrift, absaetze } => flow.text(ueberschrift.as_deref(), absaetze),
        Abschnitt::Positionen(positionen) => positions(positionen, 0.0, flow),
        Abschnitt::Summen(summen) => sums(summen, flow),
        Abschnitt::Tabelle(tabelle) => table(tabelle, flow),
        Abschnitt::Zahlung(zahlung) => {
            payment::draw(zahlung, blatt.aufdruck != Some(Aufdruck::Entwurf), flow)
        }
        Abschnitt::Unterschriften(unterschriften) => signatures(unterschriften, flow),
    }
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

/// A column for prices of positions: its title, and the cell for a price.
type PriceColumn = (&'static str, fn(&Position, Preis) -> Cell);

const PRICE_COLUMNS: [PriceColumn; 4] = [
    ("Einzelpreis", |position, preis| Cell::Number(german(preis.einzelpreis, 2), per_unit(position))),
    ("Rabatt %", |_, preis| match preis.rabatt.is_zero() {
        true => Cell::Empty,
        false => number(german(preis.rabatt, 0)),
    }),
    ("USt %", |_, preis| number(german(preis.mwst_satz, 0))),
    ("Betrag €", |_, preis| number(german(preis.betrag, 2))),
];

/// The unit of a price: euro per unit of the position; only euro for a lump sum or a long unit name.
fn per_unit(position: &Position) -> String {
    let unit = position.einheit.as_deref().filter(|unit| !unit.is_empty() && is_short(unit));
    match unit.filter(|unit| unece_code(unit) != Some(LUMP_SUM)) {
        Some(unit) => format!("\u{a0}€/{unit}"),
        None => "\u{a0}€".to_owned(),
    }
}

/// The price columns that are used: discounts if one is given, rates if they differ.
fn price_columns(positionen: &[Position]) -> Vec<PriceColumn> {
    let prices = || positionen.iter().filter_map(|position| position.preis);
    let rates: Vec<Percent> = prices().map(|preis| preis.mwst_satz).collect();
    let (has_prices, rates_differ) = (!rates.is_empty(), rates.windows(2).any(|two| two[0] != two[1]));
    let has_discounts = prices().any(|preis| !preis.rabatt.is_zero());
    let shown = [has_prices, has_discounts, rates_differ, has_prices];
    PRICE_COLUMNS.into_iter().zip(shown).filter(|(_, is_shown)| *is_shown).map(|(column, _)| column).collect()
}

/// Longest unit that stands behind the number; longer ones stand below the name.
const SHORT_UNIT: usize = 10;

/// Code of a lump sum in UN/ECE Recommendation 20.
const LUMP_SUM: &str = "LS";

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
        cells.extend(
            prices.iter().map(|(_, of)| position.preis.map_or(Cell::Empty, |preis| of(position, preis))),
        );
        rows.push(Row { cells, is_sum: false, carried: sum.filter(|_| !prices.is_empty()) });
    }
    Table { keep, is_whole: false, ..Table::new("Positionen", columns, rows) }.draw(flow)
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
    Table::new(&summen.bezeichnung, columns, rows).draw(flow)
}

fn table(tabelle: &Tabelle, flow: &mut Flow) -> Result<(), DrawError> {
    let columns = tabelle.spalten.iter().enumerate().map(|(at, title)| Column {
        title: title.clone(),
        numbers: tabelle.has_numbers(at),
        takes_the_rest: at == 0,
    });
    let columns: Vec<_> = columns.collect();
    let rows = tabelle.zeilen.iter().map(|zeile| row(zeile, &columns)).collect();
    // A narrow table keeps each name close to its value.
    let width = if columns.len() > 2 { TEXT_WIDTH } else { TEXT_WIDTH / 2.0 };
    let summary = tabelle.ueberschrift.as_deref().unwrap_or("Tabelle");
    let table = Table { width, ..Table::new(summary, columns, rows) };
    if let Some(heading) = &tabelle.ueberschrift {
        let beginning = table.least(flow);
        flow.heading(heading, beginning)?;
    }
    table.draw(flow)
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
    flow.ensure_room(SIGNATURE + 2.0 * HEADING.leading)?;
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
