//! What DATEV makes of the lines of a Stapel: net and tax of each document, account and rate.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;

use super::konten::{Funktion, funktion, is_personenkonto, key};
use super::stapel::{belegdatum, cents};
use super::{File, Record, digits};

/// A document as named by a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Beleg {
    /// The firm's number: the additional information `Belegnummer` if the line has it, else Belegfeld 1.
    pub nummer: String,
    pub belegfeld1: String,
    pub datum: Date,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Posten {
    pub beleg: Beleg,
    pub konto: u64,
    /// Hundredths of a percent.
    pub satz: u32,
}

/// Cents, debit minus credit of the account: sales are negative, purchases positive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Betrag {
    pub netto: i64,
    /// Taken out of the gross.
    pub steuer: i64,
    /// For acquisitions and § 13b: added on both sides, so nobody pays it, and the amount of the line is net.
    pub beidseitig: i64,
}

/// Returns what DATEV books on each Sachkonto except those of cash.
///
/// The sides of a Generalumkehr line are already swapped (DATEV's sample has `501` and `501 GU`), so the side
/// alone determines the sign.
///
/// # Errors
///
/// The line whose tax does not follow from what is known about its accounts and its key.
pub fn recompute(file: &File) -> Result<BTreeMap<Posten, Betrag>, String> {
    let mut sums = BTreeMap::new();
    let mut known = HashMap::new();
    for record in &file.records {
        let line = Line::read(record, file).ok_or(format!("line {}: cannot be read", record.line))?;
        line.book(file, &mut known, &mut sums).map_err(|reason| format!("line {}: {reason}", record.line))?;
    }
    Ok(sums)
}

/// The sum that each document books on its Personenkonto, in cents, debit minus credit.
pub fn open_items(file: &File) -> BTreeMap<Beleg, i64> {
    let mut sums = BTreeMap::new();
    for line in file.records.iter().filter_map(|record| Line::read(record, file)) {
        for (konto, amount) in line.sides() {
            if is_personenkonto(konto, &file.kopf) {
                *sums.entry(line.beleg.clone()).or_default() += amount;
            }
        }
    }
    sums
}

struct Line<'a> {
    beleg: Beleg,
    konto: u64,
    gegenkonto: u64,
    /// Amount on the Konto, debit minus credit.
    cents: i64,
    bu: &'a str,
}

impl<'a> Line<'a> {
    fn read(record: &'a Record, file: &File) -> Option<Line<'a>> {
        let amount = i64::try_from(cents(record.get(1), true)?).ok()?;
        let belegfeld1 = record.get(11).to_owned();
        let own =
            (21..36).step_by(2).chain((48..87).step_by(2)).find(|art| record.get(*art) == "Belegnummer");
        let beleg = Beleg {
            nummer: own.map_or_else(|| belegfeld1.clone(), |art| record.get(art + 1).to_owned()),
            belegfeld1,
            datum: belegdatum(record.get(10), &file.kopf)?,
        };
        Some(Line {
            beleg,
            konto: digits(record.get(7), 9)?,
            gegenkonto: digits(record.get(8), 9)?,
            cents: if record.get(2) == "S" { amount } else { -amount },
            bu: record.get(9),
        })
    }

    fn sides(&self) -> [(u64, i64); 2] {
        [(self.konto, self.cents), (self.gegenkonto, -self.cents)]
    }

    fn book(
        &self,
        file: &File,
        known: &mut HashMap<(Beleg, u64), u32>,
        sums: &mut BTreeMap<Posten, Betrag>,
    ) -> Result<(), String> {
        let function = |konto| match funktion(konto, &file.kopf) {
            _ if is_personenkonto(konto, &file.kopf) => Some(Funktion::Geld),
            Some(Funktion::Vorsteuer(780)) if file.kopf.wj_beginn.year() < 2025 => None,
            function => Some(function.unwrap_or(Funktion::Ohne)),
        };
        let functions = self.sides().map(|(konto, _)| function(konto));
        let [Some(first), Some(second)] = functions else {
            return Err("the rate of the account in that year is not known".to_owned());
        };
        let taxed = self.taxed([first, second])?;
        for (side, (konto, amount)) in self.sides().into_iter().enumerate() {
            let own = [first, second][side];
            if own == Funktion::Geld {
                continue;
            }
            let does = taxed.filter(|(at, _)| *at == side).map_or(Funktion::Frei, |(_, does)| does);
            let (satz, betrag) = split(does, amount);
            let satz = if taxed.is_some_and(|(at, _)| at == side) {
                known.insert((self.beleg.clone(), konto), satz);
                satz
            } else {
                self.rate_of_net(side, [first, second], known)
            };
            let sum: &mut Betrag = sums.entry(Posten { beleg: self.beleg.clone(), konto, satz }).or_default();
            sum.netto += betrag.netto;
            sum.steuer += betrag.steuer;
            sum.beidseitig += betrag.beidseitig;
        }
        Ok(())
    }

    /// The side that bears the tax, and its function.
    fn taxed(&self, functions: [Funktion; 2]) -> Result<Option<(usize, Funktion)>, String> {
        let [first, second] = functions;
        match self.bu {
            "40" => Ok(None),
            "" => match (first.is_automatic(), second.is_automatic()) {
                (false, false) => Ok(None),
                (true, false) => Ok(Some((0, first))),
                (false, true) => Ok(Some((1, second))),
                (true, true) => Err("both accounts have an automatic".to_owned()),
            },
            bu => {
                let does = key(bu).ok_or(format!("key {bu} is not known"))?;
                match (first, second) {
                    (_, Funktion::Ohne) => Ok(Some((1, does))),
                    (Funktion::Ohne, _) => Ok(Some((0, does))),
                    _ => Err(format!("no account that takes key {bu}")),
                }
            }
        }
    }

    /// The rate of a net amount: that of its account, else the rate that its account or the other one had
    /// earlier in the document.
    fn rate_of_net(&self, side: usize, functions: [Funktion; 2], known: &HashMap<(Beleg, u64), u32>) -> u32 {
        let of = |side: usize| match functions[side] {
            Funktion::Umsatzsteuer(satz) | Funktion::Vorsteuer(satz) | Funktion::Sonder(satz) => Some(satz),
            _ => known.get(&(self.beleg.clone(), self.sides()[side].0)).copied(),
        };
        of(side).or_else(|| of(1 - side)).unwrap_or(0)
    }
}

/// The rate, and the amount of a line split into net and tax.
fn split(does: Funktion, amount: i64) -> (u32, Betrag) {
    let tax = |of: i64, satz: u32, whole: i64| {
        // Half up of the magnitude, in integers.
        let doubled = 2 * of.abs() * i64::from(satz);
        (doubled + whole) / (2 * whole) * of.signum()
    };
    match does {
        Funktion::Umsatzsteuer(satz) | Funktion::Vorsteuer(satz) => {
            let steuer = tax(amount, satz, 10_000 + i64::from(satz));
            (satz, Betrag { netto: amount - steuer, steuer, beidseitig: 0 })
        }
        Funktion::Sonder(satz) => {
            (satz, Betrag { netto: amount, steuer: 0, beidseitig: tax(amount, satz, 10_000) })
        }
        Funktion::Frei | Funktion::Geld | Funktion::Ohne => {
            (0, Betrag { netto: amount, ..Betrag::default() })
        }
    }
}
