//! Tables: numbers aligned by their decimal comma, headings repeated on each page, sums carried over.

use super::error::DrawError;
use super::flow::{Flow, LEFT, TEXT_WIDTH, TOGETHER, baseline};
use super::numbers::german;
use super::page::{Belongs, MM, NodeId, Role, Shape, Tree};
use super::text::{CELL, DETAIL, LABEL, Style};
use crate::rules::fixed::Money;

const GAP: f32 = 14.0;
const PADDING: f32 = 3.2;
/// Narrowest first column; if the numbers leave less, they reach into it.
pub const NARROWEST: f32 = 80.0;
/// A row of up to this share of a page is not broken if it fits onto the next page.
const UNBROKEN: f32 = 0.18;
/// A table that is whole is not broken up to this share of a page and this number of rows.
const WHOLE: f32 = 0.6;
const TOGETHER_ROWS: usize = 20;
/// Width of details, which run on below the numbers.
pub const DETAILS: f32 = 112.0 * MM;
const FINE: f32 = 0.35;
const STRONG: f32 = 0.8;
const PALE: u8 = 205;
const DARK: u8 = 60;
const CARRY_HEIGHT: f32 = CELL.leading + 2.0 * PADDING;

pub struct Column {
    pub title: String,
    pub numbers: bool,
    pub takes_the_rest: bool,
}

pub enum Cell {
    Empty,
    /// Lines in these styles, broken to the width of the column.
    Texts(Vec<(String, Style)>),
    Number(String, String),
}

pub struct Row {
    pub cells: Vec<Cell>,
    pub is_sum: bool,
    /// The sum up to and including this row, if sums are carried over.
    pub carried: Option<Money>,
}

pub struct Table {
    /// Description for readers who cannot see the table.
    pub summary: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// Height that must follow the last row on the same page.
    pub keep: f32,
    pub width: f32,
    /// Whether the table is short and should not be broken.
    pub is_whole: bool,
}

/// Position of a column, and the greatest width of its numbers before and behind the decimal comma.
#[derive(Default)]
struct ColumnPlace {
    x: f32,
    width: f32,
    whole: f32,
    decimals: f32,
    unit: f32,
}

/// A row broken to the widths of its columns.
struct BrokenRow<'r> {
    row: &'r Row,
    style: Style,
    lines: Vec<Vec<(String, Style)>>,
    height: f32,
}

impl BrokenRow<'_> {
    fn most(&self) -> usize {
        self.lines.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// Height of the lines from `begin` to `end`.
    fn depth(&self, begin: usize, end: usize) -> f32 {
        let least = if begin == 0 { self.style.leading } else { 0.0 };
        let cells = self.lines.iter().map(|lines| height(lines.iter().take(end).skip(begin)));
        cells.fold(least, f32::max)
    }

    /// The end of the lines from `begin` on that fit into `limit`: at least one line, and no single line is
    /// left over.
    fn fitting(&self, begin: usize, limit: f32) -> usize {
        let most = self.most();
        let mut deep = vec![0.0; self.lines.len()];
        let mut end = begin;
        while end < most {
            for (deep, lines) in deep.iter_mut().zip(&self.lines) {
                *deep += lines.get(end).map_or(0.0, |(_, style)| style.leading);
            }
            if deep.iter().copied().fold(0.0, f32::max) > limit && end > begin {
                break;
            }
            end += 1;
        }
        if most - end == 1 && end - begin > TOGETHER { end - 1 } else { end }
    }
}

fn split(number: &str) -> (&str, &str) {
    number.split_at(number.find(',').unwrap_or(number.len()))
}

impl Row {
    /// Sums have the same type size as their summands, so that the figures align.
    fn style(&self) -> Style {
        if self.is_sum { CELL.bold() } else { CELL }
    }
}

impl Table {
    pub fn new(summary: &str, columns: Vec<Column>, rows: Vec<Row>) -> Table {
        let summary = summary.to_owned();
        Table { summary, columns, rows, keep: 0.0, width: TEXT_WIDTH, is_whole: true }
    }

    fn places(&self, flow: &mut Flow) -> Vec<ColumnPlace> {
        let mut places: Vec<_> = (0..self.columns.len()).map(|at| self.measure(at, flow)).collect();
        let taken: f32 = places.iter().map(|place| place.width + GAP).sum::<f32>() - GAP;
        let rest = (self.width - taken).max(NARROWEST);
        let mut x = LEFT;
        for (place, column) in places.iter_mut().zip(&self.columns) {
            if column.takes_the_rest {
                place.width = rest;
            }
            place.x = x;
            x += place.width + GAP;
        }
        places
    }

    fn measure(&self, at: usize, flow: &mut Flow) -> ColumnPlace {
        let mut place = ColumnPlace::default();
        let Some(column) = self.columns.get(at).filter(|column| !column.takes_the_rest) else { return place };
        let title = flow.typesetter.one_line(&column.title);
        place.width = flow.typesetter.width(&title, LABEL);
        for row in &self.rows {
            let style = row.style();
            let mut width = |text: &str, style: Style| {
                let text = flow.typesetter.one_line(text);
                flow.typesetter.width(&text, style)
            };
            match row.cells.get(at) {
                Some(Cell::Number(number, unit)) => {
                    let (whole, decimals) = split(number);
                    place.whole = place.whole.max(width(whole, style));
                    place.decimals = place.decimals.max(width(decimals, style));
                    place.unit = place.unit.max(width(unit, style));
                }
                Some(Cell::Texts(texts)) => {
                    for (text, style) in texts {
                        place.width = place.width.max(width(text, *style).min(NARROWEST));
                    }
                }
                _ => {}
            }
        }
        place.width = place.width.max(place.whole + place.decimals + place.unit);
        place
    }

    fn broken<'r>(&self, row: &'r Row, places: &[ColumnPlace], flow: &mut Flow) -> BrokenRow<'r> {
        let style = row.style();
        let lines: Vec<Vec<(String, Style)>> = row
            .cells
            .iter()
            .zip(places)
            .map(|(cell, place)| {
                let Cell::Texts(texts) = cell else { return Vec::new() };
                let mut lines = Vec::new();
                for (text, own) in texts {
                    let below = if *own == DETAIL { DETAILS.min(LEFT + self.width - place.x) } else { 0.0 };
                    let own = if row.is_sum { style } else { *own };
                    let broken = flow.typesetter.lines(text, own, place.width.max(below));
                    lines.extend(broken.into_iter().map(|line| (line, own)));
                }
                lines
            })
            .collect();
        let heights = lines.iter().map(height).fold(style.leading, f32::max);
        BrokenRow { row, style, lines, height: heights + 2.0 * PADDING }
    }

    pub fn draw(&self, flow: &mut Flow) -> Result<(), DrawError> {
        let places = self.places(flow);
        let least = self.least(flow);
        flow.ensure_room(least)?;
        let summary = flow.typesetter.one_line(&self.summary);
        let node = flow.pages.tree.add(Tree::ROOT, Role::Table(summary));
        let head = flow.pages.tree.add(node, Role::TableHead);
        let head = flow.pages.tree.add(head, Role::Row);
        self.head(flow, &places, Some(head));
        let body = flow.pages.tree.add(node, Role::TableBody);
        let mut carried = None;
        for (at, row) in self.rows.iter().enumerate() {
            let broken = self.broken(row, &places, flow);
            let is_last = at + 1 == self.rows.len();
            if at > 0 {
                let (thick, grey) = if row.is_sum { (STRONG, DARK) } else { (FINE, PALE) };
                self.rule(flow, thick, grey);
            }
            self.row(flow, &places, &broken, carried, if is_last { self.keep } else { 0.0 }, body)?;
            carried = row.carried;
        }
        if self.rows.is_empty() {
            // A table must have a row, even an empty one.
            let row = flow.pages.tree.add(body, Role::Row);
            for place in &places {
                let cell = flow.pages.tree.add(row, Role::Cell);
                flow.pages.mark(place.x, flow.y, Shape::Nothing, Belongs::To(cell));
            }
        }
        self.rule(flow, STRONG, DARK);
        Ok(())
    }

    /// Least height on the page where the table begins: its headings and the rows that stay with them.
    pub fn least(&self, flow: &mut Flow) -> f32 {
        let places = self.places(flow);
        LABEL.leading + 2.0 * PADDING + self.beginning(&places, flow)
    }

    /// Height of the rows that must stand on the page of the headings: the first one, or all if they belong
    /// together.
    fn beginning(&self, places: &[ColumnPlace], flow: &mut Flow) -> f32 {
        let counted = if self.is_whole { TOGETHER_ROWS } else { 1 };
        let rows = self.rows.iter().take(counted);
        let height: f32 = rows.map(|row| self.broken(row, places, flow).height).sum();
        height.min(flow.whole_page() * if self.is_whole { WHOLE } else { UNBROKEN })
    }

    fn rule(&self, flow: &mut Flow, thick: f32, grey: u8) {
        flow.pages.mark(LEFT, flow.y, Shape::Rule(self.width, thick, grey), Belongs::Decoration);
    }

    /// Draws the headings: as part of the table where it begins, as decoration where it goes on.
    fn head(&self, flow: &mut Flow, places: &[ColumnPlace], row: Option<NodeId>) {
        for (column, place) in self.columns.iter().zip(places) {
            let title = flow.typesetter.one_line(&column.title);
            let behind =
                if column.numbers { place.width - flow.typesetter.width(&title, LABEL) } else { 0.0 };
            let belongs = match row {
                Some(row) => Belongs::To(flow.pages.tree.add(row, Role::HeaderCell)),
                None => Belongs::Decoration,
            };
            flow.line(place.x + behind, flow.y, &title, LABEL, belongs);
        }
        flow.y += LABEL.leading + PADDING;
        self.rule(flow, STRONG, DARK);
    }

    /// Draws a row: on this page if it fits with what must follow, on the next if it fits there, else broken.
    fn row(
        &self,
        flow: &mut Flow,
        places: &[ColumnPlace],
        broken: &BrokenRow,
        carried: Option<Money>,
        keep: f32,
        body: NodeId,
    ) -> Result<(), DrawError> {
        let carries = self.rows.iter().any(|row| row.carried.is_some());
        let carry = if carries { CARRY_HEIGHT } else { 0.0 };
        let wanted = broken.height + keep.max(carry);
        let heads = LABEL.leading + PADDING + carry;
        let fits_on_next = wanted + heads <= flow.whole_page();
        let is_small = broken.height <= flow.whole_page() * UNBROKEN;
        let beginning = broken.style.leading * TOGETHER as f32 + 2.0 * PADDING + carry;
        if flow.room() < wanted && (fits_on_next && (is_small || keep > 0.0) || flow.room() < beginning) {
            self.continue_on_next(flow, places, carried)?;
        }
        let row = flow.pages.tree.add(body, Role::Row);
        let cells: Vec<_> = places.iter().map(|_| flow.pages.tree.add(row, Role::Cell)).collect();
        flow.y += PADDING;
        self.numbers(flow, places, broken, &cells);
        let mut at = 0;
        while !self.some_lines(flow, places, broken, &cells, &mut at, carry) {
            flow.y += PADDING;
            // The lines drawn so far already show the amount of the row.
            self.continue_on_next(flow, places, broken.row.carried)?;
            flow.y += PADDING;
        }
        flow.y += PADDING;
        Ok(())
    }

    fn numbers(&self, flow: &mut Flow, places: &[ColumnPlace], broken: &BrokenRow, cells: &[NodeId]) {
        let cells = broken.row.cells.iter().zip(&broken.lines).zip(places).zip(cells);
        for (((cell, lines), place), node) in cells {
            let belongs = Belongs::To(*node);
            match cell {
                Cell::Number(number, unit) => {
                    let number = flow.typesetter.one_line(number);
                    let unit = flow.typesetter.one_line(unit);
                    let comma = place.x + place.width - place.unit - place.decimals;
                    let x = comma - flow.typesetter.width(split(&number).0, broken.style);
                    flow.line(x, flow.y, &number, broken.style, belongs);
                    if !unit.is_empty() {
                        flow.line(comma + place.decimals, flow.y, &unit, broken.style, belongs);
                    }
                }
                _ if !lines.is_empty() => {}
                _ => flow.pages.mark(place.x, flow.y + baseline(broken.style), Shape::Nothing, belongs),
            }
        }
    }

    /// Draws lines of the row from `at` on, as many as fit the page but at least one; returns whether that
    /// was all.
    fn some_lines(
        &self,
        flow: &mut Flow,
        places: &[ColumnPlace],
        broken: &BrokenRow,
        cells: &[NodeId],
        at: &mut usize,
        carry: f32,
    ) -> bool {
        let limit = flow.room() - PADDING - carry;
        let (top, begin) = (flow.y, *at);
        let end = broken.fitting(begin, limit);
        for ((lines, place), node) in broken.lines.iter().zip(places).zip(cells) {
            let mut y = top;
            for (line, style) in lines.iter().take(end).skip(begin) {
                flow.line(place.x, y, line, *style, Belongs::To(*node));
                y += style.leading;
            }
        }
        flow.y = top + broken.depth(begin, end);
        *at = end;
        end >= broken.most()
    }

    /// Ends the page and begins the next one with the headings and the sum carried over.
    fn continue_on_next(
        &self,
        flow: &mut Flow,
        places: &[ColumnPlace],
        carried: Option<Money>,
    ) -> Result<(), DrawError> {
        if let Some(carried) = carried {
            self.rule(flow, STRONG, DARK);
            self.carry(flow, places, carried);
        }
        flow.break_page()?;
        self.head(flow, places, None);
        if let Some(carried) = carried {
            self.carry(flow, places, carried);
            self.rule(flow, FINE, PALE);
        }
        Ok(())
    }

    fn carry(&self, flow: &mut Flow, places: &[ColumnPlace], carried: Money) {
        let Some(place) = places.last() else { return };
        let style = CELL.quiet();
        let number = german(carried, 2);
        let comma = place.x + place.width - place.unit - place.decimals;
        let x = comma - flow.typesetter.width(split(&number).0, style);
        let word = "Übertrag ";
        let top = flow.y + PADDING;
        let first = x - GAP - flow.typesetter.width(word, style);
        flow.line(first, top, word, style, Belongs::Decoration);
        flow.line(x, top, &number, style, Belongs::Decoration);
        flow.y = top + style.leading + PADDING;
    }
}

fn height<'l>(lines: impl IntoIterator<Item = &'l (String, Style)>) -> f32 {
    lines.into_iter().map(|(_, style)| style.leading).sum()
}
