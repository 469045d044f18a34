//! Pairing of deliveries and invoices: every quantity moves once (D8).
//!
//! Deliveries (LS, EL) and invoices (RE, ER) of one partner and one article are taken in the
//! order of their creation. Whichever comes first books; the later one books only what no open
//! counterpart covers. Returns always book, and lower what the oldest delivery of their batch
//! has open.

use uuid::Uuid;

use super::fixed::Quantity;

/// Which of the two sides of a pair an entry is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Rolle {
    Lieferung,
    Rechnung,
}

/// The batch an entry named when it was sent; an inherited one is not named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Genannt {
    /// None.
    Nichts,
    /// One that exists.
    Charge(Uuid),
    /// A supplier's number (folded) that no batch has yet.
    Neu(String),
}

/// One position that takes part in the stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posten {
    /// Its document.
    pub beleg: Uuid,
    /// Its place in the document, from 1.
    pub position: i64,
    /// Delivery or invoice.
    pub rolle: Rolle,
    /// Quantity in the article's unit; only deliveries can be negative (returns).
    pub menge: Quantity,
    /// The only document it may be paired with, if it named one.
    pub bezug: Option<Uuid>,
    /// The batch it named.
    pub genannt: Genannt,
}

/// A part of a quantity, and the batch it belongs to (none for articles without batches).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anteil {
    /// The batch.
    pub charge: Option<Uuid>,
    /// The quantity in the article's unit.
    pub menge: Quantity,
}

/// What follows for one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ergebnis {
    /// What it books itself, with the sign of its quantity.
    pub eigen: Vec<Anteil>,
    /// What counterparts that came earlier have booked for it.
    pub geerbt: Vec<Anteil>,
}

impl Ergebnis {
    /// The one batch that covers the whole entry, if it is one.
    pub fn einzige_charge(&self) -> Option<Uuid> {
        let mut charges = self.eigen.iter().chain(&self.geerbt).map(|anteil| anteil.charge);
        let first = charges.next()??;
        charges.all(|charge| charge == Some(first)).then_some(first)
    }
}

/// What an entry has booked and no counterpart has met yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offen {
    /// The entry.
    pub posten: Posten,
    /// Its open parts, in the order in which they are met; never empty.
    pub anteile: Vec<Anteil>,
}

/// The pairing as it stands after some entries.
#[derive(Debug, Default)]
pub struct Paarung {
    offen: Vec<Offen>,
}

impl Paarung {
    /// Goes on where earlier entries left this open. Of those it suffices to know the ones that the
    /// entries to come may be paired with.
    pub fn after(offen: Vec<Offen>) -> Paarung {
        Paarung { offen }
    }

    /// What is open, in the order of creation.
    pub fn offen(&self) -> &[Offen] {
        &self.offen
    }

    /// Pairs the next entry.
    ///
    /// `place(rest, covered)` says which batches its rest comes from or goes to; `rest` is positive. It
    /// is asked only for what is not covered.
    pub fn enter<E>(
        &mut self,
        entry: &Posten,
        place: impl FnOnce(Quantity, &[Anteil]) -> Result<Vec<Anteil>, E>,
    ) -> Result<Ergebnis, E> {
        if entry.menge.is_negative() {
            let returned = place(entry.menge.abs(), &[])?;
            for anteil in &returned {
                self.lower_oldest_delivery(*anteil);
            }
            let eigen = returned.iter().map(|a| Anteil { menge: -a.menge, ..*a }).collect();
            return Ok(Ergebnis { eigen, geerbt: Vec::new() });
        }
        let mut rest = entry.menge;
        let mut geerbt = Vec::new();
        for counterpart in self.offen.iter_mut().filter(|open| fits(entry, &open.posten)) {
            take(&mut counterpart.anteile, &mut rest, &mut geerbt);
        }
        self.drop_met();
        let eigen = if rest.is_zero() { Vec::new() } else { place(rest, &geerbt)? };
        if !eigen.is_empty() {
            self.offen.push(Offen { posten: entry.clone(), anteile: eigen.clone() });
        }
        Ok(Ergebnis { eigen, geerbt })
    }

    fn lower_oldest_delivery(&mut self, returned: Anteil) {
        let mut rest = returned.menge;
        for open in self.offen.iter_mut().filter(|open| open.posten.rolle == Rolle::Lieferung) {
            for anteil in open.anteile.iter_mut().filter(|a| a.charge == returned.charge) {
                let menge = anteil.menge.min(rest);
                anteil.menge = difference(anteil.menge, menge);
                rest = difference(rest, menge);
            }
            open.anteile.retain(|anteil| !anteil.menge.is_zero());
        }
        self.drop_met();
    }

    fn drop_met(&mut self) {
        self.offen.retain(|open| !open.anteile.is_empty());
    }
}

/// Pairs all entries, which stand in the order of their creation; `place(entry, rest, covered)` as in
/// [`Paarung::enter`].
pub fn pair<E>(
    posten: &[Posten],
    mut place: impl FnMut(usize, Quantity, &[Anteil]) -> Result<Vec<Anteil>, E>,
) -> Result<Vec<Ergebnis>, E> {
    let mut paarung = Paarung::default();
    let each = posten.iter().enumerate();
    each.map(|(at, entry)| paarung.enter(entry, |rest, covered| place(at, rest, covered))).collect()
}

/// Takes from the open parts in order until nothing is left of `rest`, noting what was taken.
pub fn take(open: &mut Vec<Anteil>, rest: &mut Quantity, taken: &mut Vec<Anteil>) {
    for anteil in open.iter_mut() {
        let menge = anteil.menge.min(*rest);
        if menge.is_zero() {
            continue;
        }
        anteil.menge = difference(anteil.menge, menge);
        *rest = difference(*rest, menge);
        taken.push(Anteil { charge: anteil.charge, menge });
    }
    open.retain(|anteil| !anteil.menge.is_zero());
}

/// The open parts without those that are covered, batch by batch.
pub fn without(open: &[Anteil], covered: &[Anteil]) -> Vec<Anteil> {
    let mut left = open.to_vec();
    for covered in covered {
        let mut rest = covered.menge;
        for anteil in left.iter_mut().filter(|anteil| anteil.charge == covered.charge) {
            let menge = anteil.menge.min(rest);
            anteil.menge = difference(anteil.menge, menge);
            rest = difference(rest, menge);
        }
    }
    left.retain(|anteil| !anteil.menge.is_zero());
    left
}

/// Whether two entries may be paired: other sides, neither bound to another document, and the
/// same batch where both name one.
fn fits(a: &Posten, b: &Posten) -> bool {
    let bound_to = |bezug: Option<Uuid>, other: Uuid| bezug.is_none_or(|bezug| bezug == other);
    a.rolle != b.rolle
        && bound_to(a.bezug, b.beleg)
        && bound_to(b.bezug, a.beleg)
        && (a.genannt == Genannt::Nichts || b.genannt == Genannt::Nichts || a.genannt == b.genannt)
}

/// A difference that cannot leave the range, because both are in it and positive.
fn difference(from: Quantity, taken: Quantity) -> Quantity {
    Quantity::from_units(from.units() - taken.units())
}

#[cfg(test)]
mod tests {
    use super::*;

    const B1: Uuid = Uuid::from_u128(1);
    const B2: Uuid = Uuid::from_u128(2);

    fn entry(beleg: u128, rolle: Rolle, menge: i64, charge: Option<Uuid>) -> Posten {
        Posten {
            beleg: Uuid::from_u128(beleg),
            position: 1,
            rolle,
            menge: Quantity::whole(menge),
            bezug: None,
            genannt: charge.map_or(Genannt::Nichts, Genannt::Charge),
        }
    }

    /// What each entry books, where an entry without a named batch takes B1.
    fn booked(posten: &[Posten]) -> Vec<i64> {
        let place = |at: usize, menge, _: &[Anteil]| {
            let charge = match &posten[at].genannt {
                Genannt::Charge(charge) => *charge,
                _ => B1,
            };
            Ok::<_, ()>(vec![Anteil { charge: Some(charge), menge }])
        };
        let sum = |e: &Ergebnis| e.eigen.iter().map(|a| a.menge.units() / Quantity::UNIT).sum();
        pair(posten, place).unwrap().iter().map(sum).collect()
    }

    #[test]
    fn whichever_comes_first_books_the_later_one_only_its_remainder() {
        use Rolle::{Lieferung as L, Rechnung as R};
        let table: &[(&str, Vec<Posten>, Vec<i64>)] = &[
            ("delivery first", vec![entry(1, L, 10, Some(B1)), entry(2, R, 10, None)], vec![10, 0]),
            ("invoice first", vec![entry(1, R, 10, Some(B1)), entry(2, L, 10, Some(B1))], vec![10, 0]),
            ("remainder", vec![entry(1, L, 10, Some(B1)), entry(2, R, 12, Some(B1))], vec![10, 2]),
            ("other batch", vec![entry(1, L, 10, Some(B1)), entry(2, R, 10, Some(B2))], vec![10, 10]),
            (
                "met once",
                vec![entry(1, R, 10, Some(B1)), entry(2, L, 10, Some(B1)), entry(3, L, 10, Some(B1))],
                vec![10, 0, 10],
            ),
            (
                "a return lowers what is open",
                vec![entry(1, L, 10, Some(B1)), entry(2, L, -4, Some(B1)), entry(3, R, 10, Some(B1))],
                vec![10, -4, 4],
            ),
            (
                "a return leaves what is invoiced",
                vec![
                    entry(1, L, 10, Some(B1)),
                    entry(2, R, 10, None),
                    entry(3, L, -4, Some(B1)),
                    entry(4, R, 4, Some(B1)),
                ],
                vec![10, 0, -4, 4],
            ),
            (
                "a return of another batch",
                vec![entry(1, L, 10, Some(B1)), entry(2, L, -4, Some(B2)), entry(3, R, 10, None)],
                vec![10, -4, 0],
            ),
        ];
        for (name, posten, expected) in table {
            assert_eq!(booked(posten), *expected, "{name}");
        }
    }

    #[test]
    fn an_entry_that_names_a_document_pairs_with_it_alone() {
        use Rolle::{Lieferung as L, Rechnung as R};
        let mut invoice = entry(3, R, 10, None);
        invoice.bezug = Some(Uuid::from_u128(2));
        let deliveries = [entry(1, L, 10, Some(B1)), entry(2, L, 4, Some(B2))];
        let posten = [deliveries.as_slice(), &[invoice, entry(4, R, 10, None)]].concat();
        assert_eq!(booked(&posten), [10, 4, 6, 0]);
    }

    #[test]
    fn going_on_from_what_is_open_comes_to_the_same() {
        use Rolle::{Lieferung as L, Rechnung as R};
        let posten = [
            entry(1, L, 6, Some(B1)),
            entry(2, R, 8, None),
            entry(3, L, 5, Some(B2)),
            entry(4, L, -2, Some(B2)),
            entry(5, R, 4, None),
        ];
        let place = |entry: &Posten, menge| match &entry.genannt {
            Genannt::Charge(charge) => Ok::<_, ()>(vec![Anteil { charge: Some(*charge), menge }]),
            _ => Ok(vec![Anteil { charge: Some(B1), menge }]),
        };
        let whole = pair(&posten, |at, rest, _| place(&posten[at], rest)).unwrap();
        let mut offen = Vec::new();
        for (entry, expected) in posten.iter().zip(&whole) {
            let mut paarung = Paarung::after(offen);
            assert_eq!(paarung.enter(entry, |rest, _| place(entry, rest)).unwrap(), *expected);
            offen = paarung.offen().to_vec();
        }
        let open: Vec<_> =
            offen.iter().map(|open| (open.posten.beleg.as_u128(), open.anteile.clone())).collect();
        let part = |charge, menge| vec![Anteil { charge: Some(charge), menge: Quantity::whole(menge) }];
        assert_eq!(open, [(5, part(B1, 3))]);
    }

    #[test]
    fn batches_are_inherited_in_order() {
        use Rolle::{Lieferung as L, Rechnung as R};
        let posten =
            [entry(1, L, 6, Some(B1)), entry(2, L, 4, Some(B2)), entry(3, R, 8, None), entry(4, R, 2, None)];
        let place = |at: usize, menge, _: &[Anteil]| {
            let Genannt::Charge(charge) = posten[at].genannt else { return Err("not covered") };
            Ok(vec![Anteil { charge: Some(charge), menge }])
        };
        let ergebnisse = pair(&posten, place).unwrap();
        let part = |charge, menge| Anteil { charge: Some(charge), menge: Quantity::whole(menge) };
        assert_eq!(ergebnisse[2].geerbt, [part(B1, 6), part(B2, 2)]);
        assert_eq!(ergebnisse[2].einzige_charge(), None);
        assert_eq!(ergebnisse[3].einzige_charge(), Some(B2));
    }
}
