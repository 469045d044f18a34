//! Accounts (D31): which account a position is booked on, and what DATEV computes on that account by itself.

use std::ops::RangeInclusive;

use super::bu::{BuSchluessel, is_bu};
use super::fall::{Fall, rate};
use crate::choice;
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::rules::error::{Checked, Code, Refusal, refuse_if};
use crate::rules::fixed::Percent;

choice! {
    /// The chart of accounts, which tells DATEV what an account computes.
    pub enum Rahmen {
        Skr03 = "03",
        Skr04 = "04",
        Keiner = "keiner",
    }
}

/// An account for the positions of a case, optionally limited to a rate, an article group or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Konto {
    pub fall: Fall,
    pub satz: Option<Percent>,
    pub artikelgruppe_id: Option<i64>,
    pub konto: i64,
    /// Tax key (BU-Schlüssel), for accounts that compute nothing by themselves.
    pub bu: Option<String>,
    /// Whether the account computes its tax by itself although no [`Funktion`] covers it.
    pub automatik: bool,
}

impl Konto {
    /// The key of an account, unique within a company.
    pub fn key(&self) -> (Fall, Option<Percent>, Option<i64>) {
        (self.fall, self.satz, self.artikelgruppe_id)
    }
}

choice! {
    /// What DATEV computes on a range of accounts.
    pub enum Funktionsart {
        /// Extracts the output tax of a rate from the gross amount of a sale.
        Umsatzsteuer = "umsatzsteuer",
        /// Extracts the input tax of a rate from the gross amount of a purchase.
        Vorsteuer = "vorsteuer",
        /// Computes nothing, and allows no tax key.
        Frei = "frei",
        /// Computes the tax that the company itself owes, as output tax and as input tax.
        Sonder = "sonder",
    }
}

/// What DATEV computes on the accounts `von` to `bis` of a chart from a year on. Account numbers have four
/// digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Funktion {
    pub rahmen: Rahmen,
    pub von: i64,
    pub bis: i64,
    pub ab_jahr: i64,
    pub art: Funktionsart,
    pub satz: Option<Percent>,
    /// Name of these accounts.
    pub bezeichnung: Option<String>,
}

/// What DATEV computes on one account by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Automatik {
    pub art: Funktionsart,
    pub satz: Option<Percent>,
}

/// Digits of an account number in [`Funktion`].
const FUNKTION_DIGITS: u32 = 4;

/// The accounts of a company.
#[derive(Debug, PartialEq, Eq)]
pub struct Kontenplan {
    pub konten: Vec<Konto>,
    pub funktionen: Vec<Funktion>,
    pub schluessel: Vec<BuSchluessel>,
    pub rahmen: Rahmen,
    /// Digits of an account number, 4 to 8.
    pub laenge: u32,
}

impl Kontenplan {
    /// Returns the most specific account of a position: by rate and group, then by rate, then by group, then
    /// by case alone (D31).
    pub fn find(&self, fall: Fall, satz: Option<Percent>, gruppe: Option<i64>) -> Option<&Konto> {
        let named = |satz, gruppe| self.konten.iter().find(|konto| konto.key() == (fall, satz, gruppe));
        named(satz, gruppe)
            .or_else(|| named(satz, None))
            .or_else(|| named(None, gruppe))
            .or_else(|| named(None, None))
    }

    /// Returns what DATEV computes on an account in a year; `None` if it computes nothing.
    pub fn automatik(&self, konto: &Konto, jahr: i64) -> Option<Automatik> {
        let in_four_digits = konto.konto / 10_i64.pow(self.laenge.saturating_sub(FUNKTION_DIGITS));
        let holds = |funktion: &&Funktion| {
            funktion.rahmen == self.rahmen
                && (funktion.von..=funktion.bis).contains(&in_four_digits)
                && funktion.ab_jahr <= jahr
        };
        let known = self.funktionen.iter().filter(holds).max_by_key(|funktion| funktion.ab_jahr);
        match known {
            Some(funktion) => Some(Automatik { art: funktion.art, satz: funktion.satz }),
            None if !konto.automatik => None,
            None => Some(Automatik { art: own_art(konto.fall), satz: konto.satz }),
        }
    }

    /// Refuses an account that DATEV would refuse, or on which DATEV would compute another tax than we do
    /// (D31). `satz` is the rate of the positions; `None` if they have several.
    pub fn check(&self, konto: &Konto, satz: Option<Percent>, day: Day) -> Checked<()> {
        let nummer = konto.konto;
        let laenge = self.laenge;
        let message = format_args!(
            "Das Konto {nummer} hat mehr als {laenge} Stellen (datev_sachkontenlaenge). Bitte das Konto prüfen."
        );
        refuse_if(nummer <= 0 || nummer >= 10_i64.pow(laenge), Code::KontoUngueltig, "konto", message)?;
        let message = "Ein BU-Schlüssel hat 1 bis 4 Ziffern.";
        refuse_if(
            konto.bu.as_ref().is_some_and(|bu| !is_bu(bu, 1..=4)),
            Code::KontoUngueltig,
            "bu",
            message,
        )?;
        let is_taxed = konto.fall.has_rate() && satz.is_some_and(|satz| satz > Percent::ZERO);
        let Some(automatik) = self.automatik(konto, day.year()) else {
            let message = format_args!(
                "Auf dem Konto {nummer} rechnet DATEV keine Steuer von selbst. Bitte den BU-Schlüssel angeben, \
                 oder ein Automatikkonto."
            );
            refuse_if(is_taxed && konto.bu.is_none(), Code::BuFehlt, "bu", message)?;
            return self.check_key(konto, satz, day);
        };
        let message = format_args!(
            "Das Konto {nummer} rechnet seine Steuer von selbst, ein BU-Schlüssel ist dort nicht erlaubt. \
             Bitte bu leer lassen."
        );
        refuse_if(konto.bu.is_some(), Code::BuAufAutomatikkonto, "bu", message)?;
        if automatik.fits(konto.fall, satz) {
            return Ok(());
        }
        let message = format!(
            "Das Konto {nummer} {} und passt so nicht zu: {}. Bitte das Konto prüfen.",
            automatik.in_words(),
            konto.fall.in_words(satz.filter(|_| konto.fall.has_rate()))
        );
        Err(Refusal::field(Code::KontoSatzPasstNicht, "konto", message))
    }
}

impl Kontenplan {
    /// Refuses a tax key by which DATEV would compute another tax than positions of this case have.
    fn check_key(&self, konto: &Konto, satz: Option<Percent>, day: Day) -> Checked<()> {
        let Some(bu) = &konto.bu else { return Ok(()) };
        let named: Vec<_> = self.schluessel.iter().filter(|one| one.is_named(bu)).collect();
        let holding: Vec<_> = named.iter().filter(|one| one.holds_on(day)).collect();
        if named.is_empty() || holding.iter().any(|one| one.fits(konto.fall, satz)) {
            return Ok(());
        }
        let means = match holding.first() {
            Some(one) => format!("rechnet in DATEV {}", one.in_words()),
            None => format!("gilt am {} nicht", day.german()),
        };
        let message = format!(
            "Der BU-Schlüssel {bu} beim Konto {} {means} und passt so nicht zu: {}. Bitte den Schlüssel prüfen.",
            konto.konto,
            konto.fall.in_words(satz.filter(|_| konto.fall.has_rate()))
        );
        Err(Refusal::field(Code::KontoSatzPasstNicht, "bu", message))
    }

    /// The message that nobody knows what the tax key of an account means; `None` if it is known, or there is none.
    pub fn unknown_key(&self, konto: &Konto) -> Option<String> {
        let bu = konto.bu.as_ref().filter(|bu| !self.schluessel.iter().any(|one| one.is_named(bu)))?;
        Some(format!(
            "Was der BU-Schlüssel {bu} beim Konto {} rechnet, ist nicht bekannt; geprüft wird er nicht. Bitte den Steuerberater \
             fragen und ihn mit `import bu_schluessel` eintragen.",
            konto.konto
        ))
    }
}

/// What an account flagged `automatik` computes for this case.
fn own_art(fall: Fall) -> Funktionsart {
    match fall {
        Fall::Erloes => Funktionsart::Umsatzsteuer,
        Fall::Aufwand => Funktionsart::Vorsteuer,
        Fall::AufwandIg | Fall::Aufwand13b => Funktionsart::Sonder,
        _ => Funktionsart::Frei,
    }
}

impl Automatik {
    /// Whether the account computes the tax that positions of this case have. `satz` is `None` for several
    /// rates; each of them is checked later.
    fn fits(self, fall: Fall, satz: Option<Percent>) -> bool {
        let same = |known: Percent| satz.is_none_or(|satz| satz == known);
        match self.art {
            Funktionsart::Frei => !fall.has_rate() || fall.is_taxed() && same(Percent::ZERO),
            art => art == own_art(fall) && self.satz.is_none_or(same),
        }
    }

    fn in_words(self) -> String {
        let what = match self.art {
            Funktionsart::Frei => return "ist in DATEV ohne Steuer".to_owned(),
            Funktionsart::Umsatzsteuer => "Umsatzsteuer",
            Funktionsart::Vorsteuer => "Vorsteuer",
            Funktionsart::Sonder => "Steuer, die die Firma selbst schuldet",
        };
        match self.satz {
            Some(satz) => format!("rechnet in DATEV {} {what}", rate(satz)),
            None => format!("rechnet in DATEV {what}"),
        }
    }
}

/// Partner accounts, whose numbers have one digit more than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Personenkonto {
    Debitor,
    Kreditor,
}

impl Personenkonto {
    pub fn of(seite: Seite) -> Personenkonto {
        match seite {
            Seite::Verkauf => Personenkonto::Debitor,
            Seite::Einkauf => Personenkonto::Kreditor,
        }
    }

    /// The range of account numbers if general accounts have `laenge` digits; for four, 10000–69999 or 70000–99999
    /// (D34).
    pub fn range(self, laenge: u32) -> RangeInclusive<i64> {
        let first = 10_i64.pow(laenge);
        match self {
            Personenkonto::Debitor => first..=7 * first - 1,
            Personenkonto::Kreditor => 7 * first..=10 * first - 1,
        }
    }
}
