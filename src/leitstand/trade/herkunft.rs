//! The origin and destination of a batch: as a graph, as tables with the same content, and as the sheet for
//! the authority.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use uuid::Uuid;

use crate::goods::chargen::{self, Charge};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::graph::{Graph, Node};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, in_unit, joined, linked, optional};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::trade::herkunft::{self, Beteiligter, Knoten, STEPS_MAX, Schritt, Weg};

const PARTNER_BOXES_MAX: usize = 6;

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, request.uuid(0)?)?;
    let id = charge.id;
    let back = herkunft::walk(&db.tx, id, Schritt::Rueckwaerts, STEPS_MAX, true)?;
    let forth = herkunft::walk(&db.tx, id, Schritt::Vorwaerts, STEPS_MAX, true)?;
    let here = request.page_of("chargen", id);
    let is_cut = [&back, &forth].iter().any(|weg| weg.is_cut || weg.deeper);
    let body = html! {
        p {
            "Von links nach rechts: wer geliefert hat, woraus " a href=(here) { (charge.charge_nr) }
            " entstand, was daraus wurde " "und wer es bekam."
        }
        p.actions {
            a.button href=(format!("{here}/herkunft.csv")) { "CSV für die Behörde" }
            @if is_cut {
                a.button href=(format!("{here}/herkunft.csv?richtung=rueckwaerts")) { "CSV nur Herkunft" }
                a.button href=(format!("{here}/herkunft.csv?richtung=vorwaerts")) { "CSV nur Verbleib" }
            }
        }
        @if is_cut {
            p.note {
                "Es gibt mehr, als hier gezeigt wird: In jede Richtung stehen hier bis zu 100 Chargen und \
                 100 Belege, die neuesten zuerst. Die CSV enthält alles."
            }
        }
        (drawn(request, &charge, &back, &forth))
        (section(request, &HERKUNFT, &back))
        (section(request, &VERBLEIB, &forth))
    };
    Ok(frame::page(request, &format!("Woher und wohin: {}", charge.charge_nr), body))
}

pub fn csv(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let richtung = ["rueckwaerts", "vorwaerts"].into_iter().find(|known| *known == request.param("richtung"));
    let richtung = richtung.unwrap_or("beide");
    let query = format!("format=csv&tiefe={STEPS_MAX}&richtung={richtung}");
    request.file_of(db, &format!("chargen/{{id}}/herkunft?{query}"))
}

/// A direction from the batch, in words.
struct Richtung {
    schritt: Schritt,
    title: &'static str,
    /// The id of its table.
    anchor: &'static str,
    partner: &'static str,
    charge: &'static str,
    empty: &'static str,
}

const HERKUNFT: Richtung = Richtung {
    schritt: Schritt::Rueckwaerts,
    title: "Herkunft",
    anchor: "herkunft",
    partner: "Lieferant",
    charge: "Vorstufe",
    empty: "Nichts: Kein Beleg und keine Produktion hat diese Charge gebracht.",
};

const VERBLEIB: Richtung = Richtung {
    schritt: Schritt::Vorwaerts,
    title: "Verbleib",
    anchor: "verbleib",
    partner: "Empfänger",
    charge: "Folgestufe",
    empty: "Nichts: Diese Charge ist nicht verkauft und nicht verarbeitet worden.",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Charge(Uuid),
    Auftrag(Uuid),
    /// A partner and the delivered batch; `true` if the partner received it.
    Partner(Uuid, Uuid, bool),
    /// The partners of a batch that share one box; `true` if they received it.
    Weitere(Uuid, bool),
}

struct Drawing<'a> {
    request: &'a PageRequest,
    graph: Graph,
    known: BTreeMap<Key, usize>,
}

impl Drawing<'_> {
    fn node(&mut self, key: Key, node: impl FnOnce() -> Node) -> usize {
        let graph = &mut self.graph;
        *self.known.entry(key).or_insert_with(|| {
            graph.nodes.push(node());
            graph.nodes.len() - 1
        })
    }

    /// Draws an edge in the direction of the goods: from `near` to `far` forwards, otherwise from `far` to
    /// `near`.
    fn join(&mut self, near: usize, far: usize, schritt: Schritt) {
        self.graph.edges.insert(match schritt {
            Schritt::Rueckwaerts => (far, near),
            Schritt::Vorwaerts => (near, far),
        });
    }
}

fn told(menge: Quantity, einheit: Option<&str>) -> String {
    in_unit(amount(menge), einheit)
}

fn drawn(request: &PageRequest, charge: &Charge, back: &Weg, forth: &Weg) -> Markup {
    let mut drawing = Drawing { request, graph: Graph::default(), known: BTreeMap::new() };
    let stock = format!("Bestand {}", told(charge.bestand, charge.einheit.as_deref()));
    drawing.node(Key::Charge(charge.id), || Node {
        class: "start",
        to: request.page_of("chargen", charge.id),
        kind: "Diese Charge",
        lines: [charge.charge_nr.clone(), charge.artikel_bezeichnung.clone(), stock],
    });
    for (weg, richtung) in [(back, &HERKUNFT), (forth, &VERBLEIB)] {
        draw_batches(&mut drawing, weg, richtung.schritt);
        draw_partners(&mut drawing, weg, richtung);
    }
    let count = |weg: &Weg| {
        let batches: BTreeSet<_> = weg.knoten.iter().map(|knoten| knoten.charge_id).collect();
        format!("{} Chargen, {} Belege", batches.len(), weg.beteiligte.len())
    };
    let words =
        format!("Davor: {}. Danach: {}. Dasselbe steht in den Tabellen darunter.", count(back), count(forth));
    drawing.graph.picture(&format!("Weg der Charge {}", charge.charge_nr), &words)
}

fn draw_batches(drawing: &mut Drawing<'_>, weg: &Weg, schritt: Schritt) {
    let request = drawing.request;
    for knoten in &weg.knoten {
        // A batch that is reached in both directions keeps its first box.
        let menge = told(moved(weg, knoten.charge_id), knoten.einheit.as_deref());
        let batch = drawing.node(Key::Charge(knoten.charge_id), || Node {
            class: "batch",
            to: request.page_of("chargen", knoten.charge_id),
            kind: "Charge",
            lines: [knoten.charge_nr.clone(), knoten.artikel_bezeichnung.clone(), menge],
        });
        let order = drawing.node(Key::Auftrag(knoten.ueber.id), || Node {
            class: "order",
            to: request.page_of("produktion", knoten.ueber.id),
            kind: "Produktion",
            lines: [knoten.ueber.nummer.clone(), optional(knoten.ueber.datum, Day::german), String::new()],
        });
        drawing.join(order, batch, schritt);
        if let Some(near) = drawing.known.get(&Key::Charge(knoten.von)).copied() {
            drawing.join(near, order, schritt);
        }
    }
}

/// The quantity of a batch in all production orders of one direction. An order is listed once for each batch on its
/// other side, each time with the whole quantity, but counts once.
fn moved(weg: &Weg, charge: Uuid) -> Quantity {
    let of_batch = weg.knoten.iter().filter(|knoten| knoten.charge_id == charge);
    let orders: BTreeMap<_, _> = of_batch.map(|knoten| (knoten.ueber.id, knoten.menge)).collect();
    sum(orders.into_values())
}

/// The sum; a quantity that would overflow it is left out.
fn sum(mengen: impl Iterator<Item = Quantity>) -> Quantity {
    mengen.fold(Quantity::ZERO, |sum, menge| sum.plus(menge).unwrap_or(sum))
}

fn draw_partners(drawing: &mut Drawing<'_>, weg: &Weg, richtung: &Richtung) {
    let (schritt, is_forth) = (richtung.schritt, richtung.schritt == Schritt::Vorwaerts);
    let mut by_batch: BTreeMap<Uuid, BTreeMap<Uuid, Vec<&Beteiligter>>> = BTreeMap::new();
    for partner in &weg.beteiligte {
        let partners = by_batch.entry(partner.charge_id).or_default();
        partners.entry(partner.partner_id).or_default().push(partner);
    }
    for (charge, partners) in by_batch {
        let Some(near) = drawing.known.get(&Key::Charge(charge)).copied() else { continue };
        let partners: Vec<_> = partners.into_values().collect();
        // One box for all others is only worthwhile from two partners on.
        let own = if partners.len() > PARTNER_BOXES_MAX { PARTNER_BOXES_MAX - 1 } else { partners.len() };
        let (shown, others) = partners.split_at(own);
        let mut boxes = Vec::new();
        for documents in shown {
            let Some(first) = documents.first() else { continue };
            let key = Key::Partner(first.partner_id, charge, is_forth);
            boxes.push((key, box_of(drawing.request, richtung, documents, first)));
        }
        if let Some(first) = others.first().and_then(|documents| documents.first()) {
            let menge = sum(others.iter().flatten().map(|document| document.menge));
            let (to, menge) = (format!("#{}", richtung.anchor), told(menge, first.einheit.as_deref()));
            let lines = [format!("{} weitere", others.len()), "in der Tabelle".to_owned(), menge];
            let node = Node { class: "partner", to, kind: richtung.partner, lines };
            boxes.push((Key::Weitere(charge, is_forth), node));
        }
        for (key, node) in boxes {
            let far = drawing.node(key, || node);
            drawing.join(near, far, schritt);
        }
    }
}

fn box_of(
    request: &PageRequest,
    richtung: &Richtung,
    documents: &[&Beteiligter],
    first: &Beteiligter,
) -> Node {
    let number = match (documents.len(), &first.beleg_nummer) {
        (1, Some(number)) => number.clone(),
        (1, None) => "Anfangsbestand".to_owned(),
        (count, _) => format!("{count} Belege"),
    };
    let to = match (documents.len(), first.beleg_id) {
        (1, Some(beleg)) => format!("belege/{beleg}"),
        _ => format!("partner/{}", first.partner_id),
    };
    let menge = sum(documents.iter().map(|document| document.menge));
    Node {
        class: "partner",
        to: request.of_firma(&to),
        kind: richtung.partner,
        lines: [first.name.clone(), number, told(menge, first.einheit.as_deref())],
    }
}

/// A row of one direction: its link, its distance in steps, and its cells.
struct Row {
    to: String,
    tiefe: i64,
    number: String,
    what: String,
    name: String,
    menge: String,
    over: String,
    datum: Option<Day>,
}

/// One direction as a table: the content of the graph, with addresses.
fn section(request: &PageRequest, richtung: &Richtung, weg: &Weg) -> Markup {
    let mut rows: Vec<Row> = weg.knoten.iter().map(|knoten| batch_row(request, richtung, knoten)).collect();
    rows.extend(weg.beteiligte.iter().map(|partner| {
        let near = weg.knoten.iter().find(|knoten| knoten.charge_id == partner.charge_id);
        partner_row(request, richtung, partner, near.map_or(0, |knoten| knoten.tiefe))
    }));
    rows.sort_by_key(|row| row.tiefe);
    html! {
        h2 id=(richtung.anchor) { (richtung.title) }
        div.way {
            (linked(richtung.title, richtung.empty, &rows, |row| row.to.clone())
                .text("Nummer", |row| row.number.clone())
                .text("Was", |row| row.what.clone())
                .numbers("Stufe", |row| row.tiefe.to_string())
                .text("Artikel oder Partner", |row| row.name.clone())
                .numbers("Menge", |row| row.menge.clone())
                .text("Über", |row| row.over.clone())
                .text("Datum", |row| optional(row.datum, Day::german)))
        }
    }
}

fn batch_row(request: &PageRequest, richtung: &Richtung, knoten: &Knoten) -> Row {
    Row {
        to: request.page_of("chargen", knoten.charge_id),
        tiefe: knoten.tiefe,
        number: knoten.charge_nr.clone(),
        what: richtung.charge.to_owned(),
        name: format!("{} ({})", knoten.artikel_bezeichnung, knoten.artikelnummer),
        menge: told(knoten.menge, knoten.einheit.as_deref()),
        over: knoten.ueber.nummer.clone(),
        datum: knoten.ueber.datum,
    }
}

fn partner_row(request: &PageRequest, richtung: &Richtung, partner: &Beteiligter, tiefe: i64) -> Row {
    let town = Some(joined([&partner.plz, &partner.ort], " "));
    let address = [&Some(partner.name.clone()), &partner.strasse, &town, &partner.staat];
    Row {
        to: match partner.beleg_id {
            Some(beleg) => request.page_of("belege", beleg),
            None => request.page_of("partner", partner.partner_id),
        },
        tiefe,
        number: partner.beleg_nummer.clone().unwrap_or_else(|| "Anfangsbestand".to_owned()),
        what: match partner.beleg_typ {
            Some(typ) => format!("{}, {}", richtung.partner, typ.bezeichnung()),
            None => richtung.partner.to_owned(),
        },
        name: joined(address, ", "),
        menge: told(partner.menge, partner.einheit.as_deref()),
        over: format!("Charge {}", partner.charge_nr),
        datum: partner.datum,
    }
}
