//! What the reports count.

use crate::rules::buchung::Fall;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::Gebiet;

/// A group of a document, as the reports count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Umsatz {
    /// Date of the document.
    pub datum: Day,
    pub fall: Fall,
    /// Rate in per cent; none where the case has none.
    pub satz: Option<Percent>,
    /// Where the partner is.
    pub gebiet: Gebiet,
    /// Net.
    pub basis: Money,
    /// As the document has it: 0 where the company owes it itself.
    pub steuer: Money,
}
