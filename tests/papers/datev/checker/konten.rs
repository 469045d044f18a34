//! What DATEV computes by itself on an account (Kontenfunktionen of the charts SKR03 and SKR04 of 2026), for
//! the accounts a grain trader needs.

use super::kopf::Kopf;

/// Rates are in hundredths of a percent: 700 is 7 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Funktion {
    /// AM: VAT is taken out of the gross.
    Umsatzsteuer(u32),
    /// AV: input tax is taken out of the gross.
    Vorsteuer(u32),
    /// Automatic without tax; a key is refused, too.
    Frei,
    /// Acquisition and § 13b: the tax is added both ways, the amount is net.
    Sonder(u32),
    /// KU: cash and transit, never taxed.
    Geld,
    /// No automatic; a key is allowed.
    Ohne,
}

impl Funktion {
    pub fn is_automatic(self) -> bool {
        !matches!(self, Funktion::Geld | Funktion::Ohne)
    }
}

use Funktion::{Frei, Geld, Ohne, Sonder, Umsatzsteuer, Vorsteuer};

/// First and last account of SKR03, the first one of SKR04, and the function.
const TABLE: &[(u64, u64, u64, Funktion)] = &[
    (8300, 8309, 4300, Umsatzsteuer(700)),
    (8400, 8419, 4400, Umsatzsteuer(1900)),
    (8290, 8290, 4290, Frei),
    (8125, 8125, 4125, Frei),
    (8120, 8120, 4120, Frei),
    (8337, 8337, 4337, Frei),
    (8336, 8336, 4336, Frei),
    (8338, 8339, 4338, Frei),
    (8100, 8104, 4100, Frei),
    (8192, 8192, 4184, Frei),
    (3300, 3309, 5300, Vorsteuer(700)),
    (3400, 3409, 5400, Vorsteuer(1900)),
    (3540, 3549, 5540, Vorsteuer(780)),
    (3505, 3509, 5505, Vorsteuer(550)),
    (3010, 3010, 5110, Vorsteuer(700)),
    (3030, 3030, 5130, Vorsteuer(1900)),
    (3071, 3071, 5171, Vorsteuer(780)),
    (3420, 3424, 5420, Sonder(700)),
    (3425, 3429, 5425, Sonder(1900)),
    (3550, 3550, 5550, Frei),
    (3123, 3123, 5923, Sonder(1900)),
    (3125, 3125, 5925, Sonder(1900)),
    (3200, 3200, 5200, Ohne),
    (3106, 3106, 5906, Vorsteuer(1900)),
    (1000, 1000, 1600, Geld),
    (1360, 1360, 1460, Geld),
];

/// The function of a Sachkonto, `None` if the table does not know it. Charts have accounts of four digits;
/// longer ones are padded with zeros on the right.
pub fn funktion(konto: u64, kopf: &Kopf) -> Option<Funktion> {
    let konto = konto / 10_u64.pow(u32::try_from(kopf.laenge).ok()?.checked_sub(4)?);
    let of_chart = |&(from, to, skr04, does): &(u64, u64, u64, Funktion)| match kopf.rahmen.as_str() {
        "03" => Some((from, to, does)),
        "04" => Some((skr04, skr04 + (to - from), does)),
        _ => None,
    };
    let rows = TABLE.iter().filter_map(of_chart);
    rows.into_iter().find(|(from, to, _)| (*from..=*to).contains(&konto)).map(|(_, _, does)| does)
}

/// A Personenkonto has one digit more than a Sachkonto.
pub fn is_personenkonto(konto: u64, kopf: &Kopf) -> bool {
    konto.to_string().len() > kopf.laenge
}

/// The function of a key on an account without automatic; 40 suspends and is not among them.
pub fn key(bu: &str) -> Option<Funktion> {
    match bu {
        "101" | "3" => Some(Umsatzsteuer(1900)),
        "102" | "2" => Some(Umsatzsteuer(700)),
        "401" | "9" => Some(Vorsteuer(1900)),
        "402" | "8" => Some(Vorsteuer(700)),
        "18" | "91" => Some(Sonder(700)),
        "19" | "94" => Some(Sonder(1900)),
        _ => None,
    }
}
