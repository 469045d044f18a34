//! Business numbers (D2, D5).

use super::document::BelegTyp;

/// A series of numbers, without gaps per tenant and year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reihe {
    Beleg(BelegTyp),
    /// Weighing slips.
    Wiegeschein,
    /// Batches.
    Charge,
    /// Production orders.
    Produktionsauftrag,
    /// Goods receipts.
    Annahmeschein,
}

impl Reihe {
    pub const fn as_str(self) -> &'static str {
        match self {
            Reihe::Beleg(typ) => typ.as_str(),
            Reihe::Wiegeschein => "WS",
            Reihe::Charge => "CH",
            Reihe::Produktionsauftrag => "PA",
            Reihe::Annahmeschein => "AS",
        }
    }

    /// `{TYP}-{YYYY}-{NNNNN}`.
    pub fn format(self, year: i64, number: i64) -> String {
        format!("{}-{year:04}-{number:05}", self.as_str())
    }

    /// Parses year and number from a text in the form of this series, in any case.
    pub fn parse(self, text: &str) -> Option<(i64, i64)> {
        let [prefix, year, number]: [&str; 3] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let fits = prefix.eq_ignore_ascii_case(self.as_str())
            && year.len() == 4
            && (5..=9).contains(&number.len())
            && digits(year)
            && digits(number);
        if fits { Some((year.parse().ok()?, number.parse().ok()?)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_batch_numbers_are_reserved() {
        assert_eq!(Reihe::Charge.parse(&Reihe::Charge.format(2026, 7)), Some((2026, 7)));
        assert_eq!(Reihe::Charge.parse("ch-2026-123456"), Some((2026, 123_456)));
        for free in ["CH-2026-007", "CH-26-00007", "CH-2026-0000a", "X-2026-00007", "CH-2026-00007-1"] {
            assert_eq!(Reihe::Charge.parse(free), None, "{free}");
        }
        assert_eq!(Reihe::Annahmeschein.parse("AS-2025-00017"), Some((2025, 17)));
        assert_eq!(Reihe::Annahmeschein.parse("AS-2025-9223372036854775807"), None);
    }
}
