//! Numbers in the cells of a table: decides whether comma or point is the decimal separator (D22).

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The decimal separator in the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal {
    /// 1.234,56
    Comma,
    /// 1,234.56
    Point,
}

/// The number cells of a file that reveal its decimal separator.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The first cell that is a number only with a decimal comma, and the first that is one only with a
    /// decimal point.
    comma: Option<Seen>,
    point: Option<Seen>,
    /// The first cell that is a number either way.
    either: Option<Seen>,
    line: u32,
    /// The values read from the cells of a row, in German, by column.
    pub values: BTreeMap<String, String>,
}

/// A cell that reveals something: its place and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub line: u32,
    pub column: String,
    pub cell: String,
}

impl Numbers {
    /// Sets the line of the following cells.
    pub fn go_to(&mut self, line: u32) {
        self.line = line;
    }

    pub fn see(&mut self, column: &str, cell: &str) {
        let cell = cell.trim();
        let place = if cell.contains(',') || cell.matches('.').nth(1).is_some() {
            &mut self.comma
        } else if groups_by(cell, '.').is_some() {
            &mut self.either
        } else if cell.contains('.') {
            &mut self.point
        } else {
            return;
        };
        let line = self.line;
        place.get_or_insert_with(|| Seen { line, column: column.to_owned(), cell: cell.to_owned() });
    }

    /// Returns the decimal separator of the file with a cell that reveals it, if any does; the error is a
    /// cell that could be read either way.
    pub fn decimal(self) -> Result<(Decimal, Option<Seen>), Seen> {
        match (self.comma, self.either) {
            (Some(seen), _) => Ok((Decimal::Comma, Some(seen))),
            (None, Some(seen)) => Err(seen),
            (None, None) => Ok((Decimal::Point, self.point)),
        }
    }
}

/// Returns the figure of a spreadsheet's number that its cell shows as a percentage.
pub fn shown_in_percent(digits: &str) -> Option<&str> {
    digits.strip_suffix('%')
}

/// Returns the digits of a number in groups: one to three digits that do not begin with zero, then groups of
/// exactly three, each after a separator.
fn groups_by(cell: &str, separator: char) -> Option<String> {
    let unsigned = cell.strip_prefix('-').unwrap_or(cell);
    let (first, rest) = unsigned.split_once(separator)?;
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let begins = (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0');
    let goes_on = rest.split(separator).all(|group| group.len() == 3 && is_digits(group));
    (begins && goes_on).then(|| unsigned.replace(separator, ""))
}

/// Rewrites a cell's number as JSON, without group separators and leading zeros. If it cannot be read that
/// way, the result is not a valid number.
pub fn plain_number(cell: &str, decimal: Decimal) -> Cow<'_, str> {
    let (sign, unsigned) = cell.strip_prefix('-').map_or(("", cell), |unsigned| ("-", unsigned));
    let (point, group) = match decimal {
        Decimal::Comma => (',', '.'),
        Decimal::Point => ('.', ','),
    };
    let (whole, decimals) = unsigned.split_once(point).map_or((unsigned, None), |(w, d)| (w, Some(d)));
    let whole = match whole.contains(group) {
        false => Cow::Borrowed(whole),
        true => match groups_by(whole, group) {
            Some(whole) => Cow::Owned(whole),
            // Doubling the separator makes the text invalid as a JSON number.
            None => return Cow::Owned(cell.replace(group, "..")),
        },
    };
    let digits = whole.trim_start_matches('0');
    let zero = if digits.is_empty() && !(whole.is_empty() && decimals.is_none()) { "0" } else { "" };
    match decimals {
        None => Cow::Owned(format!("{sign}{zero}{digits}")),
        Some(decimals) => Cow::Owned(format!("{sign}{zero}{digits}.{decimals}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_german_or_plain_numbers_or_none() {
        let table = [
            (Decimal::Comma, "1.234,56", "1234.56"),
            (Decimal::Comma, "1234,5", "1234.5"),
            (Decimal::Comma, "-1.234.567", "-1234567"),
            (Decimal::Comma, "24.860", "24860"),
            (Decimal::Comma, "007", "7"),
            (Decimal::Comma, ",5", "0.5"),
            (Decimal::Comma, "0,5", "0.5"),
            (Decimal::Comma, "0", "0"),
            (Decimal::Comma, "", ""),
            (Decimal::Point, "24.860", "24.860"),
            (Decimal::Point, "1,234.56", "1234.56"),
            // Neither: the result is not a JSON number, and is refused.
            (Decimal::Comma, "1,234.56", "1.234.56"),
            (Decimal::Comma, "12.5", "12..5"),
            (Decimal::Comma, "1.23,4", "1..23,4"),
            (Decimal::Comma, "0.750", "0..750"),
            (Decimal::Point, "12,5", "12..5"),
            (Decimal::Point, "1.2.3", "1.2.3"),
        ];
        for (decimal, cell, plain) in table {
            assert_eq!(plain_number(cell, decimal), plain, "{decimal:?} {cell}");
        }
    }

    #[test]
    fn the_decimal_sign_is_told_by_the_cells_or_not_at_all() {
        let table = [
            (&["24.860"][..], Err("24.860")),
            (&["24.860", "0.750"], Err("24.860")),
            (&["1.500", "19.5"], Err("1.500")),
            (&["19.5", "1.500"], Err("1.500")),
            (&["24.860", "0,75"], Ok((Decimal::Comma, Some("0,75")))),
            (&["1.234.567"], Ok((Decimal::Comma, Some("1.234.567")))),
            (&["0.750"], Ok((Decimal::Point, Some("0.750")))),
            (&["1234.567"], Ok((Decimal::Point, Some("1234.567")))),
            (&["7"], Ok((Decimal::Point, None))),
        ];
        for (cells, expected) in table {
            let mut numbers = Numbers::default();
            cells.iter().for_each(|cell| numbers.see("a", cell));
            let told = numbers.decimal();
            let told = match &told {
                Ok((decimal, seen)) => Ok((*decimal, seen.as_ref().map(|seen| seen.cell.as_str()))),
                Err(seen) => Err(seen.cell.as_str()),
            };
            assert_eq!(told, expected, "{cells:?}");
        }
    }
}
