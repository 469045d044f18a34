//! Lays out rows on a terminal: as a table if it fits without breaking a word, else as one block per row.
//! Ids, numbers and paths count as words, so that they can always be copied.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

const GAP: usize = 2;

/// Minimum width of a table whose cells wrap; below it, blocks are easier to read.
const TABLE_WIDTH_MIN: usize = 80;

/// Lays out the rows in lines of at most `width` characters; `None` means no limit.
pub fn layout(header: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let Some(width) = width else { return table(header, rows, None) };
    let needed = |of: fn(&str) -> usize| {
        header.len().saturating_sub(1) * GAP + widths(header, rows, of).sum::<usize>()
    };
    if needed(length) <= width {
        return table(header, rows, None);
    }
    if width >= TABLE_WIDTH_MIN && needed(longest_word) <= width {
        return table(header, rows, Some(width));
    }
    let blocks: Vec<_> = rows.iter().map(|row| block(header, row, width)).collect();
    blocks.join("\n\n")
}

fn widths(header: &[&str], rows: &[Vec<String>], of: fn(&str) -> usize) -> impl Iterator<Item = usize> {
    header.iter().enumerate().map(move |(at, name)| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| of(cell));
        cells.fold(of(name), usize::max)
    })
}

fn length(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0)
}

fn table(header: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec()).add_rows(rows);
    if let Some(width) = width {
        // The outer padding does not count, as nothing is in it.
        table
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    let least: Vec<_> = widths(header, rows, longest_word).collect();
    for (at, (column, least)) in table.column_iter_mut().zip(least).enumerate() {
        let gap = if at + 1 == header.len() { 0 } else { GAP };
        column.set_padding((0, gap as u16));
        if width.is_some() {
            let least = u16::try_from(least + gap).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
    }
    table.trim_fmt()
}

/// Formats a row as lines of name and value, without empty values. A word longer than a line is not broken.
fn block(header: &[&str], row: &[String], width: usize) -> String {
    let names = header.iter().map(|name| length(name)).max().unwrap_or(0);
    let room = width.saturating_sub(names + GAP).max(1);
    let mut lines = Vec::new();
    for (name, cell) in header.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
        for (at, line) in wrapped(cell, room).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            lines.push(format!("{name:names$}  {line}"));
        }
    }
    lines.join("\n")
}

fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [&str; 3] = ["id", "label", "scopes"];

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![
            row([
                "8c688b50b1b5",
                "shop",
                "kunden:read kunden:write artikel:read artikelgruppen:read belege:read",
            ]),
            row(["97032e4844a3", "", "all"]),
        ]
    }

    #[test]
    fn no_width_breaks_a_word_and_no_line_is_longer_than_it() {
        for width in 36..140 {
            let text = layout(&HEADER, &rows(), Some(width));
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            for word in rows().iter().flatten().flat_map(|cell| cell.split(' ')) {
                assert!(text.contains(word), "{width}: {word}\n{text}");
            }
        }
    }

    #[test]
    fn rows_are_a_table_where_it_fits_and_blocks_elsewhere() {
        let is_table = |width| layout(&HEADER, &rows(), width).starts_with("id            label  scopes");
        assert!(is_table(None) && is_table(Some(120)) && is_table(Some(80)));
        assert!(!is_table(Some(79)));
        let blocks = layout(&HEADER, &rows(), Some(60));
        let expected = "id      8c688b50b1b5
label   shop
scopes  kunden:read kunden:write artikel:read
        artikelgruppen:read belege:read

id      97032e4844a3
scopes  all";
        assert_eq!(blocks, expected);
    }
}
