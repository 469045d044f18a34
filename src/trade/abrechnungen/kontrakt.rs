//! Prices of a receipt's quantity: the contract's up to the agreed quantity, then the price for the rest
//! (D29g).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

use super::model::NewAbrechnung;
use crate::goods::kontrakte::{self, Rest, Toleranz};
use crate::master::artikel;
use crate::master::kunden::Kunde;
use crate::papers::blatt::numbers::german;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{Checked, Code, Refusal};
use crate::rules::fixed::{Price, Quantity};
use crate::rules::settlement::Abrechnungsart;
use crate::rules::unit::Conversion;
use crate::trade::annahmescheine::Annahmeschein;

/// A part of a receipt at one price.
pub struct Preisteil {
    /// kontrakt_nr; `None` if the price is not that of a contract.
    pub kontrakt: Option<String>,
    /// The position of the contract.
    pub position: Option<Uuid>,
    pub kg: Quantity,
    /// Per t, before the steps of the scheme.
    pub preis: Price,
}

/// A position of a contract, or the whole contract for an article that none of its positions names.
struct Tranche {
    position: Option<Uuid>,
    /// Per t; `None` if it has no price.
    preis: Option<Price>,
    /// Open quantity in kg; `None` if it has no quantity by weight.
    offen: Option<Quantity>,
    /// What it takes beyond its quantity, in kg.
    toleranz: Quantity,
}

/// The terms of a contract for one article, in the order in which its positions are paid.
struct Vereinbart {
    nummer: String,
    tranchen: Vec<Tranche>,
    /// Open quantity of the whole contract in kg before this settlement; `None` if it has none by weight.
    whole: Option<Quantity>,
    /// What the whole contract takes beyond its quantity, in kg.
    toleranz: Quantity,
}

/// The contracts of a settlement, each with the quantity that the receipts so far left open; `None` if a
/// contract does not apply to this partner.
pub struct Kontrakte<'k> {
    tx: &'k Tx<'k>,
    pub kunde: &'k Kunde,
    pub art: Abrechnungsart,
    known: BTreeMap<(Uuid, Uuid), Option<Vereinbart>>,
    /// Open quantity of each whole contract in kg; `None` if it has none by weight.
    whole: BTreeMap<Uuid, Option<Quantity>>,
}

impl<'k> Kontrakte<'k> {
    pub fn of(tx: &'k Tx<'k>, kunde: &'k Kunde, art: Abrechnungsart) -> Kontrakte<'k> {
        Kontrakte { tx, kunde, art, known: BTreeMap::new(), whole: BTreeMap::new() }
    }

    /// Splits the paid quantity `netto` of a receipt by price: preis_je_t, else that of the position that it names, else of
    /// each position of its contract, up to what is left of it and of the contract, else its own. Empty for an advance that states its own price while
    /// that of the goods is still unknown, as in a pool.
    pub fn prices(
        &mut self,
        new: &NewAbrechnung,
        schein: &Annahmeschein,
        artikel: Uuid,
        netto: Quantity,
    ) -> Result<Vec<Preisteil>> {
        let is_advance = self.art == Abrechnungsart::Abschlag;
        let needs_none = new.abschlag.as_ref().is_some_and(|abschlag| abschlag.preis_je_t.is_some());
        let known = schein.kontrakt_id.map(|kontrakt| self.agreed(kontrakt, artikel)).transpose()?.flatten();
        let price_of = |tranche: Option<&Tranche>| {
            new.preis_je_t.or(tranche.and_then(|tranche| tranche.preis)).or(schein.preis_je_t)
        };
        let named = known.as_ref().and_then(|(vereinbart, _)| vereinbart.named(schein));
        let first = known.as_ref().and_then(|(vereinbart, _)| vereinbart.meant(named).next());
        let Some(preis) = price_of(first) else {
            return if needs_none { Ok(Vec::new()) } else { Err(price_missing(schein).into()) };
        };
        let Some((vereinbart, whole)) = known else {
            return Ok(vec![Preisteil { kontrakt: None, position: None, kg: netto, preis }]);
        };
        let price_of = |tranche: &Tranche| price_of(Some(tranche)).ok_or_else(|| price_missing(schein));
        let (mut parts, rest) = vereinbart.fill(netto, named, whole, price_of)?;
        if rest.is_zero() {
            return Ok(parts);
        }
        // An advance does not reduce the contract, and the price of the rest is not known yet.
        let (kontrakt, position, preis) = match vereinbart.meant(named).last().filter(|_| is_advance) {
            Some(last) => (Some(vereinbart.nummer.clone()), last.position, price_of(last)?),
            None => {
                let over = || over_delivered(schein, &vereinbart.nummer, rest);
                (None, None, new.rest_preis_je_t.ok_or_else(over)?)
            }
        };
        add(&mut parts, Preisteil { kontrakt, position, kg: rest, preis })?;
        Ok(parts)
    }

    /// Returns the present price of a position per t; `None` if it has none or is gone.
    pub fn price_now(&mut self, kontrakt: Uuid, artikel: Uuid, position: Uuid) -> Result<Option<Price>> {
        let Some((vereinbart, _)) = self.agreed(kontrakt, artikel)? else { return Ok(None) };
        let found = vereinbart.tranchen.iter().find(|tranche| tranche.position == Some(position));
        Ok(found.and_then(|tranche| tranche.preis))
    }

    /// Returns the terms of a contract for an article, and what is left of the whole contract.
    fn agreed(
        &mut self,
        kontrakt: Uuid,
        artikel: Uuid,
    ) -> Result<Option<(&mut Vereinbart, &mut Option<Quantity>)>> {
        let known = match self.known.entry((kontrakt, artikel)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(read(self.tx, self.kunde, kontrakt, artikel)?),
        };
        let Some(vereinbart) = known.as_mut() else { return Ok(None) };
        let whole = self.whole.entry(kontrakt).or_insert(vereinbart.whole);
        Ok(Some((vereinbart, whole)))
    }
}

/// Adds a part, to one of the same position at the same price where there is one.
fn add(parts: &mut Vec<Preisteil>, part: Preisteil) -> Checked<()> {
    let of = |part: &Preisteil| (part.kontrakt.clone(), part.position, part.preis);
    match parts.iter_mut().find(|known| of(known) == of(&part)) {
        Some(known) => known.kg = known.kg.plus(part.kg)?,
        None => parts.push(part),
    }
    Ok(())
}

impl Vereinbart {
    /// The position that a receipt names, if it has the article of the receipt.
    fn named(&self, schein: &Annahmeschein) -> Option<Uuid> {
        let has = |id: &Uuid| self.tranchen.iter().any(|tranche| tranche.position == Some(*id));
        schein.kontrakt_position_id.filter(has)
    }

    /// The positions that a receipt is paid by: the one that it names, else all.
    fn meant(&self, named: Option<Uuid>) -> impl Iterator<Item = &Tranche> {
        let is_meant = move |tranche: &&Tranche| named.is_none() || tranche.position == named;
        self.tranchen.iter().filter(is_meant)
    }

    /// Fills the named position, else all one after the other, with a quantity in kg, each up to what is left of it and of
    /// the whole contract, then up to their tolerance; returns the part of each at its price, and what none of them takes.
    fn fill(
        &mut self,
        kg: Quantity,
        named: Option<Uuid>,
        whole: &mut Option<Quantity>,
        price_of: impl Fn(&Tranche) -> Checked<Price>,
    ) -> Result<(Vec<Preisteil>, Quantity)> {
        let (mut rest, mut parts) = (kg, Vec::new());
        let is_meant = |tranche: &&mut Tranche| named.is_none() || tranche.position == named;
        for with_tolerance in [false, true] {
            let beyond = |toleranz: Quantity| if with_tolerance { toleranz } else { Quantity::ZERO };
            for tranche in self.tranchen.iter_mut().filter(is_meant) {
                let bounds = [(tranche.offen, tranche.toleranz), (*whole, self.toleranz)];
                let mut kg = rest;
                for (left, toleranz) in bounds {
                    let bound = left.map(|left| left.plus(beyond(toleranz))).transpose()?;
                    kg = bound.map_or(kg, |bound| bound.min(kg)).max(Quantity::ZERO);
                }
                for left in [&mut tranche.offen, &mut *whole] {
                    *left = left.map(|left| left.minus(kg)).transpose()?;
                }
                rest = rest.minus(kg)?;
                if !kg.is_zero() {
                    let (kontrakt, position) = (Some(self.nummer.clone()), tranche.position);
                    add(&mut parts, Preisteil { kontrakt, position, kg, preis: price_of(tranche)? })?;
                }
            }
        }
        Ok((parts, rest))
    }
}

fn over_delivered(schein: &Annahmeschein, kontrakt: &str, rest: Quantity) -> Box<Refusal> {
    let (nummer, kg) = (&schein.belegnummer, german(rest, 0));
    let what = format_args!("Mit {nummer} ist der Kontrakt {kontrakt} um {kg} kg überliefert.");
    let message = (what, "Bitte rest_preis_je_t angeben.");
    Refusal::field(Code::KontraktUeberliefert, "rest_preis_je_t", message)
}

fn price_missing(schein: &Annahmeschein) -> Box<Refusal> {
    let what = format_args!("Für {} gibt es keinen Preis.", schein.belegnummer);
    let advice = "Bitte preis_je_t angeben, oder ihn in Kontrakt oder Annahmeschein nennen.";
    Refusal::field(Code::PreisFehlt, "preis_je_t", (what, advice))
}

fn read(tx: &Tx<'_>, kunde: &Kunde, id: Uuid, artikel_id: Uuid) -> Result<Option<Vereinbart>> {
    let Some(kontrakt) = kontrakte::of_supplier(tx, id, kunde.id)? else { return Ok(None) };
    let artikel = artikel::must_have(tx, artikel_id)?;
    let einheit = kontrakt.gesamtmenge_einheit.as_deref().or(artikel.einheit.as_deref()).unwrap_or("t");
    let (per_tonne, in_kg) = (Conversion::between(einheit, "t"), Conversion::between(einheit, "kg"));
    let in_kg = |menge: Option<Quantity>| -> Result<Option<Quantity>> {
        Ok(menge.zip(in_kg).map(|(menge, conversion)| conversion.quantity(menge)).transpose()?)
    };
    let taken = kontrakte::taken(tx, id)?;
    let (all, _) = kontrakte::sum(taken.iter(), "kg")?;
    let agreed = in_kg(kontrakt.gesamtmenge)?;
    let whole = agreed.map(|menge| menge.minus(all)).transpose()?;
    let toleranz = Toleranz::of(tx, &kontrakt)?;
    let mut tranchen = Vec::new();
    for Rest { position, offen, ueber } in
        kontrakte::rests(&kontrakte::positions(tx, id)?, artikel_id, &taken, Some(einheit))?
    {
        let preis = position.preis.zip(per_tonne);
        // What was taken beyond its quantity is part of what is left, below 0.
        let offen = offen.map(|offen| offen.minus(ueber)).transpose()?;
        tranchen.push(Tranche {
            position: Some(position.id),
            preis: preis.map(|(preis, conversion)| conversion.price(preis)).transpose()?,
            offen: in_kg(offen)?,
            toleranz: toleranz.beyond(in_kg(position.menge)?.unwrap_or_default())?,
        });
    }
    if tranchen.is_empty() {
        tranchen.push(Tranche { position: None, preis: None, offen: None, toleranz: Quantity::ZERO });
    }
    let toleranz = toleranz.beyond(agreed.unwrap_or_default())?;
    Ok(Some(Vereinbart { nummer: kontrakt.kontrakt_nr, tranchen, whole, toleranz }))
}
