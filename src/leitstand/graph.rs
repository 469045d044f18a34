//! The way of a batch as a picture: suppliers on the left, what went in, the batch, what came out, recipients on the
//! right. Columns follow from the steps of production, lines from the orders and documents.

use std::collections::BTreeMap;

use maud::{Markup, html};
use uuid::Uuid;

use super::page::Ask;
use super::parts::with_unit;
use crate::herkunft::{Beteiligter, Herkunft, Knoten};

/// Boxes of a picture at most; the tables below it have more.
const BOXES: usize = 150;

/// Size of a box, and between two of them, in pixels.
const WIDTH: i64 = 236;
const HEIGHT: i64 = 58;
const BESIDE: i64 = 70;
const BELOW: i64 = 16;

/// Letters of a line of a box.
const LETTERS: usize = 27;

/// What a box stands for: a batch, or a partner who delivered or got a batch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Batch(Uuid),
    Partner(Uuid, i64),
}

/// A box.
struct Kasten {
    column: i64,
    to: String,
    lines: [String; 3],
    is_asked: bool,
}

/// Boxes and the lines between them.
#[derive(Default)]
struct Bild {
    boxes: BTreeMap<Key, Kasten>,
    /// In the order in which they were found: the nearest first.
    order: Vec<Key>,
    lines: Vec<(Key, Key)>,
    left_out: usize,
}

impl Bild {
    /// Adds a box, unless it is there or there are too many.
    fn add(&mut self, key: Key, kasten: Kasten) {
        if self.boxes.contains_key(&key) {
            return;
        }
        if self.boxes.len() >= BOXES {
            self.left_out += 1;
            return;
        }
        self.order.push(key);
        self.boxes.insert(key, kasten);
    }

    /// Adds a line, once, where both boxes are there.
    fn join(&mut self, from: Key, to: Key) {
        let is_there = self.boxes.contains_key(&from) && self.boxes.contains_key(&to);
        if is_there && !self.lines.contains(&(from, to)) {
            self.lines.push((from, to));
        }
    }
}

/// The picture of a batch.
pub fn picture(ask: &Ask, herkunft: &Herkunft) -> Markup {
    let bild = drawn(ask, herkunft);
    if bild.boxes.len() < 2 {
        return html! { p.empty { "Diese Charge kam von niemandem und ging nirgendwohin. Das Bild füllt sich mit dem ersten Beleg." } };
    }
    let first = bild.boxes.values().map(|kasten| kasten.column).min().unwrap_or(0);
    let last = bild.boxes.values().map(|kasten| kasten.column).max().unwrap_or(0);
    let mut rows: BTreeMap<i64, i64> = BTreeMap::new();
    let mut places: BTreeMap<Key, (i64, i64)> = BTreeMap::new();
    for key in &bild.order {
        let Some(kasten) = bild.boxes.get(key) else { continue };
        let row = rows.entry(kasten.column).or_default();
        places.insert(*key, ((kasten.column - first) * (WIDTH + BESIDE), *row * (HEIGHT + BELOW)));
        *row += 1;
    }
    let tallest = rows.values().copied().max().unwrap_or(1);
    // Each column stands in the middle of the picture.
    for (key, place) in &mut places {
        let column = bild.boxes.get(key).map_or(0, |kasten| kasten.column);
        let own = rows.get(&column).copied().unwrap_or(tallest);
        place.1 += (tallest - own) * (HEIGHT + BELOW) / 2 + 2;
    }
    let (width, height) =
        ((last - first + 1) * (WIDTH + BESIDE) - BESIDE + 4, tallest * (HEIGHT + BELOW) + 4);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Bild von Herkunft und Verbleib" {
            svg.weg viewBox=(format!("-2 0 {width} {height}")) width=(width) height=(height) role="group"
                aria-label="Von links nach rechts: Lieferanten, woraus die Charge entstand, die Charge, was daraus wurde, Empfänger" {
                @for (from, to) in &bild.lines { (edge(places.get(from), places.get(to))) }
                @for key in &bild.order { (drawn_box(bild.boxes.get(key), places.get(key))) }
            }
        }
        @if bild.left_out > 0 { p { "Das Bild zeigt die nächsten " (BOXES) "; weitere " (bild.left_out) " stehen in den Tabellen." } }
    }
}

fn edge(from: Option<&(i64, i64)>, to: Option<&(i64, i64)>) -> Markup {
    let (Some((from_x, from_y)), Some((to_x, to_y))) = (from, to) else { return html! {} };
    let (x, y, to_y) = (from_x + WIDTH, from_y + HEIGHT / 2, to_y + HEIGHT / 2);
    let middle = (x + to_x) / 2;
    html! { path d=(format!("M{x} {y} C{middle} {y} {middle} {to_y} {to_x} {to_y}")) {} }
}

fn drawn_box(kasten: Option<&Kasten>, place: Option<&(i64, i64)>) -> Markup {
    let (Some(kasten), Some((x, y))) = (kasten, place) else { return html! {} };
    html! {
        a href=(kasten.to) {
            rect.mitte[kasten.is_asked] x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="6" {}
            @for (at, line) in kasten.lines.iter().enumerate() {
                text.kopf[at == 0] x=(x + 8) y=(y + 18 + 16 * at as i64) { (line) }
            }
        }
    }
}

/// All boxes and lines, the nearest first.
fn drawn(ask: &Ask, herkunft: &Herkunft) -> Bild {
    let mut bild = Bild::default();
    let charge = &herkunft.charge;
    let stock = format!("Bestand {}", with_unit(charge.bestand, charge.einheit.as_deref()));
    let number = named(&charge.charge_nr, charge.fremde_charge_nr.as_deref());
    let lines = [number, charge.artikel_bezeichnung.clone(), stock];
    let to = ask.of_firma(&format!("chargen/{}", charge.id));
    bild.add(
        Key::Batch(charge.id),
        Kasten { column: 0, to, lines: lines.map(|line| cut(&line)), is_asked: true },
    );
    for (knoten, side) in herkunft
        .rueckwaerts
        .iter()
        .map(|knoten| (knoten, -1))
        .chain(herkunft.vorwaerts.iter().map(|knoten| (knoten, 1)))
    {
        bild.add(Key::Batch(knoten.charge_id), of_batch(ask, knoten, side));
        let (near, far) = (Key::Batch(knoten.von), Key::Batch(knoten.charge_id));
        if side < 0 { bild.join(far, near) } else { bild.join(near, far) }
    }
    let deepest =
        |side: i64| bild.boxes.values().map(|kasten| kasten.column * side).max().unwrap_or(0).max(0) + 1;
    let (left, right) = (deepest(-1), deepest(1));
    add_partners(ask, &mut bild, &herkunft.lieferanten, -left);
    add_partners(ask, &mut bild, &herkunft.empfaenger, right);
    bild
}

/// Adds partners, each once with all that they delivered or got: on the left the suppliers, on the right the others.
fn add_partners(ask: &Ask, bild: &mut Bild, partners: &[Beteiligter], column: i64) {
    let mut documents: BTreeMap<Uuid, usize> = BTreeMap::new();
    for partner in partners {
        *documents.entry(partner.partner_id).or_default() += 1;
    }
    for partner in partners {
        let key = Key::Partner(partner.partner_id, column.signum());
        let count = documents.get(&partner.partner_id).copied().unwrap_or(1);
        bild.add(key, of_partner(ask, partner, count, column));
        let batch = Key::Batch(partner.charge_id);
        if column < 0 { bild.join(key, batch) } else { bild.join(batch, key) }
    }
}

fn of_batch(ask: &Ask, knoten: &Knoten, side: i64) -> Kasten {
    let amount = with_unit(knoten.menge, knoten.einheit.as_deref());
    let lines = [
        named(&knoten.charge_nr, knoten.fremde_charge_nr.as_deref()),
        knoten.artikel_bezeichnung.clone(),
        format!("{amount}, {}", knoten.ueber.nummer),
    ];
    let to = ask.of_firma(&format!("chargen/{}/herkunft", knoten.charge_id));
    Kasten { column: knoten.tiefe * side, to, lines: lines.map(|line| cut(&line)), is_asked: false }
}

fn of_partner(ask: &Ask, partner: &Beteiligter, count: usize, column: i64) -> Kasten {
    let place = [&partner.plz, &partner.ort].map(|text| text.as_deref().unwrap_or_default()).join(" ");
    let amount = with_unit(partner.menge, partner.einheit.as_deref());
    let document = partner.beleg_nummer.as_deref().unwrap_or("Anfangsbestand");
    let what = if count > 1 { format!("{count} Belege") } else { format!("{amount}, {document}") };
    let lines = [partner.name.clone(), place.trim().to_owned(), what];
    let to = ask.of_firma(&format!("partner/{}", partner.partner_id));
    Kasten { column, to, lines: lines.map(|line| cut(&line)), is_asked: false }
}

/// A batch by its number and that of its supplier.
fn named(number: &str, foreign: Option<&str>) -> String {
    foreign.map_or_else(|| number.to_owned(), |foreign| format!("{number} ({foreign})"))
}

/// A line as far as it fits into a box.
fn cut(line: &str) -> String {
    if line.chars().count() <= LETTERS {
        return line.to_owned();
    }
    line.chars().take(LETTERS - 1).chain(['…']).collect()
}
