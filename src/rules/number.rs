//! Business numbers (D2, D5).

use super::document::BelegTyp;

/// A series of numbers, gap-free per tenant and year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reihe {
    /// One series per type of document.
    Beleg(BelegTyp),
    /// Weighing slips.
    Wiegeschein,
    /// Batches.
    Charge,
}

impl Reihe {
    /// The prefix of its numbers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reihe::Beleg(typ) => typ.as_str(),
            Reihe::Wiegeschein => "WS",
            Reihe::Charge => "CH",
        }
    }

    /// `{TYP}-{YYYY}-{NNNNN}`.
    pub fn format(self, year: i64, number: i64) -> String {
        format!("{}-{year:04}-{number:05}", self.as_str())
    }
}

/// Whether a batch number has the form that the service itself gives: CH-YYYY-NNNNN.
pub fn is_reserved_charge_nr(text: &str) -> bool {
    let mut parts = text.split('-');
    let digits = |part: Option<&str>, at_least: usize| {
        part.is_some_and(|part| part.len() >= at_least && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let prefix = parts.next().is_some_and(|part| part.eq_ignore_ascii_case("CH"));
    let year = parts.next();
    prefix
        && year.is_some_and(|year| year.len() == 4)
        && digits(year, 4)
        && digits(parts.next(), 5)
        && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_batch_numbers_are_reserved() {
        assert!(is_reserved_charge_nr(&Reihe::Charge.format(2026, 7)));
        assert!(is_reserved_charge_nr("ch-2026-123456"));
        for free in ["CH-2026-007", "CH-26-00007", "CH-2026-0000a", "X-2026-00007", "CH-2026-00007-1"] {
            assert!(!is_reserved_charge_nr(free), "{free}");
        }
    }
}
