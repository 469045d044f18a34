//! Tax keys (BU-Schlüssel): which tax DATEV computes where a line names one (D31).

use std::ops::RangeInclusive;

use super::fall::{Fall, rate};
use crate::choice;
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::rules::fixed::Percent;

choice! {
    /// The kind of tax that a key computes.
    pub enum BuArt {
        Umsatzsteuer = "umsatzsteuer",
        Vorsteuer = "vorsteuer",
        /// Acquisition from the EU: the company owes the tax and deducts it.
        IgErwerb = "ig_erwerb",
        /// § 13b UStG: likewise.
        Leistung13b = "leistung_13b",
        IgLieferung = "ig_lieferung",
        Frei = "frei",
    }
}

/// Whether a text is a tax key of so many digits.
pub fn is_bu(text: &str, digits: RangeInclusive<usize>) -> bool {
    digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a tax key means in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuSchluessel {
    pub art: BuArt,
    pub seite: Seite,
    /// Per cent.
    pub satz: Percent,
    pub von: Day,
    pub bis: Option<Day>,
    /// The form of one or two digits.
    pub kurz: Option<String>,
    /// The form of three or four digits.
    pub lang: Option<String>,
    pub bezeichnung: Option<String>,
}

impl BuSchluessel {
    pub fn is_named(&self, bu: &str) -> bool {
        [&self.kurz, &self.lang].into_iter().flatten().any(|form| form == bu)
    }

    pub fn holds_on(&self, day: Day) -> bool {
        self.von <= day && self.bis.is_none_or(|bis| day <= bis)
    }

    /// Whether it computes the tax that positions of this case have; `satz` is `None` for several rates, each of which is checked
    /// later.
    pub fn fits(&self, fall: Fall, satz: Option<Percent>) -> bool {
        let is_kind = match self.art {
            BuArt::Umsatzsteuer => fall == Fall::Erloes,
            BuArt::Vorsteuer => fall == Fall::Aufwand,
            BuArt::IgErwerb => fall == Fall::AufwandIg,
            BuArt::Leistung13b => fall == Fall::Aufwand13b,
            BuArt::IgLieferung => fall == Fall::ErloesIg,
            BuArt::Frei => !fall.has_rate() || fall.is_taxed() && satz.is_some_and(Percent::is_zero),
        };
        is_kind
            && fall.seite() == self.seite
            && (!fall.has_rate() || satz.is_none_or(|satz| satz == self.satz))
    }

    pub fn in_words(&self) -> String {
        let what = match self.art {
            BuArt::Umsatzsteuer => "Umsatzsteuer",
            BuArt::Vorsteuer => "Vorsteuer",
            BuArt::IgErwerb => "Erwerb aus der EU",
            BuArt::Leistung13b => "Steuer nach § 13b",
            BuArt::IgLieferung => return "Lieferung in die EU".to_owned(),
            BuArt::Frei => return "ohne Steuer".to_owned(),
        };
        format!("{what} {}", rate(self.satz))
    }
}
