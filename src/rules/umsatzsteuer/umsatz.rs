//! The input of the VAT reports.

use crate::rules::datev::Fall;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::Gebiet;

/// The sums of one document for one case and rate, as the VAT reports count them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Umsatz {
    /// Date of the document.
    pub datum: Day,
    pub fall: Fall,
    /// Rate in per cent; `None` if the case has no rates.
    pub satz: Option<Percent>,
    /// Whether the company was a Kleinunternehmer on the day of the goods.
    pub is_kleinunternehmer: bool,
    /// Place of the partner.
    pub gebiet: Gebiet,
    /// Net amount.
    pub basis: Money,
    /// Tax as the document states it: 0 if the company owes it itself.
    pub steuer: Money,
}
