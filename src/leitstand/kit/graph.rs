//! Graphs drawn from left to right. Boxes are links, arranged in columns so that every edge points right
//! unless it is part of a cycle.

use std::collections::BTreeSet;

use maud::{Markup, html};

/// Size of a box, and the distance from one box to the next, in the units of the picture.
const BOX: (i64, i64) = (184, 78);
const PITCH: (i64, i64) = (232, 92);

const EDGE: i64 = 6;

const SWEEPS_MAX: usize = 3;

#[derive(Debug, Clone)]
pub struct Node {
    pub class: &'static str,
    pub to: String,
    pub kind: &'static str,
    /// Its lines; the first is its name.
    pub lines: [String; 3],
}

#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    /// From node to node, in the direction in which goods flow.
    pub edges: BTreeSet<(usize, usize)>,
}

impl Graph {
    /// Draws the graph; `words` describe it for screen readers.
    pub fn picture(&self, title: &str, words: &str) -> Markup {
        let columns = columns(self.nodes.len(), &self.edges);
        let rows = rows(&columns, &self.edges);
        let at = |node: usize| (EDGE + columns[node] as i64 * PITCH.0, EDGE + rows[node]);
        let width = columns.iter().max().map_or(0, |most| *most as i64 * PITCH.0) + BOX.0 + 2 * EDGE;
        let height = rows.iter().max().copied().unwrap_or(0) + BOX.1 + 2 * EDGE;
        html! {
            div.scroll.graph tabindex="0" role="region" aria-label=(title) {
                svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="group"
                    aria-label=(title) {
                    title { (title) }
                    desc { (words) }
                    defs {
                        marker id="spitze" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"
                            markerHeight="8" orient="auto" {
                            path.tip d="M0 0L8 4L0 8Z" {}
                        }
                    }
                    @for (from, to) in &self.edges { (edge(at(*from), at(*to))) }
                    @for (number, node) in self.nodes.iter().enumerate() { (shown(node, at(number))) }
                }
            }
        }
    }
}

/// A curve from the right side of one box to the left side of another.
fn edge((x, y): (i64, i64), (to_x, to_y): (i64, i64)) -> Markup {
    let (x, y, to_x, to_y) = (x + BOX.0, y + BOX.1 / 2, to_x - 1, to_y + BOX.1 / 2);
    let bend = ((to_x - x) / 2).max(24);
    html! {
        path.edge d=(format!("M{x} {y}C{} {y} {} {to_y} {to_x} {to_y}", x + bend, to_x - bend))
            marker-end="url(#spitze)" {}
    }
}

fn shown(node: &Node, (x, y): (i64, i64)) -> Markup {
    let [name, second, third] = &node.lines;
    let whole = format!("{} {name}, {second}, {third}", node.kind);
    html! {
        a.(node.class) href=(node.to) {
            title { (whole) }
            rect x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="6" {}
            text.kind x=(x + 10) y=(y + 17) { (node.kind) }
            text.name x=(x + 10) y=(y + 34) { (short(name, 19)) }
            text x=(x + 10) y=(y + 51) { (short(second, 27)) }
            text x=(x + 10) y=(y + 67) { (short(third, 27)) }
        }
    }
}

fn short(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Returns the column of each node: right of all its predecessors. A node without predecessors moves right
/// next to its nearest successor. A cycle is entered at the node with the fewest unplaced predecessors.
fn columns(count: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut column = vec![0_usize; count];
    let mut waiting = vec![0; count];
    edges.iter().for_each(|(_, to)| waiting[*to] += 1);
    let mut order = Vec::with_capacity(count);
    let mut open: BTreeSet<usize> = (0..count).collect();
    while let Some(node) = open.iter().copied().min_by_key(|node| waiting[*node]) {
        open.remove(&node);
        order.push(node);
        for (_, to) in edges.range((node, 0)..=(node, usize::MAX)).filter(|(_, to)| open.contains(to)) {
            column[*to] = column[*to].max(column[node] + 1);
            waiting[*to] -= 1;
        }
    }
    for node in order.iter().rev() {
        let is_begin = edges.iter().all(|(_, to)| to != node);
        let next = edges.range((*node, 0)..=(*node, usize::MAX)).map(|(_, to)| column[*to]).min();
        if let (true, Some(next)) = (is_begin, next) {
            column[*node] = next.saturating_sub(1);
        }
    }
    column
}

/// Returns the y of each node: near its neighbours, and below the previous node of its column.
fn rows(columns: &[usize], edges: &BTreeSet<(usize, usize)>) -> Vec<i64> {
    let most = columns.iter().max().copied().unwrap_or(0);
    let mut stacks: Vec<Vec<usize>> = vec![Vec::new(); most + 1];
    columns.iter().enumerate().for_each(|(node, column)| stacks[*column].push(node));
    let mut rows = vec![0; columns.len()];
    for stack in &stacks {
        stack.iter().zip(0..).for_each(|(node, at)| rows[*node] = at * PITCH.1);
    }
    let (mut before, mut after) = (vec![Vec::new(); columns.len()], vec![Vec::new(); columns.len()]);
    for (from, to) in edges {
        after[*from].push(*to);
        before[*to].push(*from);
    }
    for _ in 0..SWEEPS_MAX {
        (0..=most).for_each(|column| settle(&mut stacks[column], &[&before, &after], &mut rows));
        (0..=most).rev().for_each(|column| settle(&mut stacks[column], &[&after, &before], &mut rows));
    }
    let top = rows.iter().min().copied().unwrap_or(0);
    rows.iter().map(|row| row - top).collect()
}

/// Moves the nodes of a column to the mean height of their neighbours on the first side or, without any
/// there, on the second.
fn settle(stack: &mut [usize], sides: &[&[Vec<usize>]; 2], rows: &mut [i64]) {
    let wish = |node: usize, rows: &[i64]| {
        let others = sides.iter().map(|side| &side[node]).find(|others| !others.is_empty());
        others.map_or(rows[node], |others| {
            others.iter().map(|other| rows[*other]).sum::<i64>() / others.len() as i64
        })
    };
    let wishes: Vec<(usize, i64)> = stack.iter().map(|node| (*node, wish(*node, rows))).collect();
    let of = |node: &usize| wishes.iter().find(|(known, _)| known == node).map_or(0, |(_, wish)| *wish);
    stack.sort_by_key(of);
    let mut free = i64::MIN;
    let mut missed = 0;
    for node in stack.iter() {
        let wish = of(node);
        rows[*node] = wish.max(free);
        free = rows[*node] + PITCH.1;
        missed += wish - rows[*node];
    }
    let shift = missed / (stack.len().max(1)) as i64;
    stack.iter().for_each(|node| rows[*node] += shift);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_to_the_right_and_circles_end() {
        for (count, edges, expected) in [
            (1, vec![], vec![0]),
            (4, vec![(0, 1), (1, 2), (2, 3)], vec![0, 1, 2, 3]),
            // A node that also feeds a late one stays left of the early one.
            (4, vec![(0, 1), (1, 2), (2, 3), (0, 3)], vec![0, 1, 2, 3]),
            // A node that begins late stands right next to its successor.
            (4, vec![(0, 1), (1, 2), (3, 2)], vec![0, 1, 2, 1]),
            (3, vec![(0, 1), (1, 2), (2, 0)], vec![0, 1, 2]),
            (2, vec![(0, 0), (0, 1)], vec![0, 1]),
        ] {
            assert_eq!(columns(count, &edges.iter().copied().collect()), expected, "{edges:?}");
        }
    }

    #[test]
    fn no_two_boxes_lie_on_each_other() {
        let star: BTreeSet<(usize, usize)> = (1..200).map(|leaf| (0, leaf)).collect();
        let columns = columns(200, &star);
        let rows = rows(&columns, &star);
        let mut leaves = rows[1..].to_vec();
        leaves.sort_unstable();
        assert!(leaves.windows(2).all(|pair| pair[1] - pair[0] >= BOX.1));
        assert_eq!(columns.iter().max(), Some(&1));
        let middle = (leaves[0] + leaves[198]) / 2;
        assert!((rows[0] - middle).abs() <= PITCH.1, "{} {middle}", rows[0]);
    }

    #[test]
    fn what_leads_to_one_thing_after_the_other_stands_in_a_row() {
        let edges: BTreeSet<(usize, usize)> = [(0, 1), (1, 2), (2, 3), (2, 4), (2, 5), (2, 6)].into();
        let rows = rows(&columns(7, &edges), &edges);
        assert_eq!(rows[0..2], [rows[2]; 2]);
        assert_eq!(rows[2], (rows[3] + rows[6]) / 2);
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        assert_eq!(short("Dinkelmehl", 10), "Dinkelmehl");
        assert_eq!(short("Grünkernmehl", 4), "Grü…");
    }
}
