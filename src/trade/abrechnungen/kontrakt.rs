//! Prices of a receipt's quantity: the contract's up to the agreed quantity, then the price for the rest
//! (D29g).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

use super::model::NewAbrechnung;
use crate::goods::kontrakte;
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
    pub kg: Quantity,
    /// Per t, before the steps of the scheme.
    pub preis: Price,
}

/// A position of a contract, or the whole contract for an article that none of its positions names.
struct Tranche {
    /// Per t; `None` if it has no price.
    preis: Option<Price>,
    /// Open quantity in kg; `None` if it has no quantity by weight.
    offen: Option<Quantity>,
}

/// The terms of a contract for one article, in the order in which its positions are paid.
struct Vereinbart {
    nummer: String,
    tranchen: Vec<Tranche>,
    /// Open quantity of the whole contract in kg before this settlement; `None` if it has none by weight.
    whole: Option<Quantity>,
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

    /// Splits the paid quantity `netto` of a receipt by price: preis_je_t, else that of each position of its contract, up
    /// to what is left of it and of the contract, else its own. Empty for an advance that states its own price while
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
        let first = known.as_ref().and_then(|(vereinbart, _)| vereinbart.tranchen.first());
        let Some(preis) = price_of(first) else {
            return if needs_none { Ok(Vec::new()) } else { Err(price_missing(schein).into()) };
        };
        let Some((vereinbart, whole)) = known else {
            return Ok(vec![Preisteil { kontrakt: None, kg: netto, preis }]);
        };
        let price_of = |tranche: &Tranche| price_of(Some(tranche)).ok_or_else(|| price_missing(schein));
        let (mut parts, rest) = vereinbart.fill(netto, whole, price_of)?;
        if rest.is_zero() {
            return Ok(parts);
        }
        // An advance does not reduce the contract, and the price of the rest is not known yet.
        let (kontrakt, preis) = match vereinbart.tranchen.last().filter(|_| is_advance) {
            Some(last) => (Some(vereinbart.nummer.clone()), price_of(last)?),
            None => {
                let over = || over_delivered(schein, &vereinbart.nummer, rest);
                (None, new.rest_preis_je_t.ok_or_else(over)?)
            }
        };
        match parts.last_mut().filter(|last| (&last.kontrakt, last.preis) == (&kontrakt, preis)) {
            Some(last) => last.kg = last.kg.plus(rest)?,
            None => parts.push(Preisteil { kontrakt, kg: rest, preis }),
        }
        Ok(parts)
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

impl Vereinbart {
    /// Fills the positions one after the other with a quantity in kg, each up to what is left of it and of the whole
    /// contract; returns the part of each at its price, and what none of them takes.
    fn fill(
        &mut self,
        kg: Quantity,
        whole: &mut Option<Quantity>,
        price_of: impl Fn(&Tranche) -> Checked<Price>,
    ) -> Result<(Vec<Preisteil>, Quantity)> {
        let (mut rest, mut parts) = (kg, Vec::new());
        for tranche in &mut self.tranchen {
            let bounds = [tranche.offen, *whole].into_iter().flatten();
            let kg = bounds.fold(rest, Quantity::min).max(Quantity::ZERO);
            for left in [&mut tranche.offen, &mut *whole] {
                *left = left.map(|left| left.minus(kg)).transpose()?;
            }
            rest = rest.minus(kg)?;
            if !kg.is_zero() {
                parts.push(Preisteil { kontrakt: Some(self.nummer.clone()), kg, preis: price_of(tranche)? });
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
    let positionen = kontrakte::positions(tx, id)?;
    let einheit = kontrakt.gesamtmenge_einheit.as_deref().or(artikel.einheit.as_deref()).unwrap_or("t");
    let (per_tonne, in_kg) = (Conversion::between(einheit, "t"), Conversion::between(einheit, "kg"));
    let settled = kontrakte::settled(tx, &[id])?;
    let all = settled.iter().map(|paid| paid.kg).try_fold(Quantity::ZERO, Quantity::plus)?;
    let whole =
        kontrakt.gesamtmenge.zip(in_kg).map(|(menge, conversion)| conversion.quantity(menge)?.minus(all));
    // What was paid filled the positions of the article one after the other.
    let paid = settled.into_iter().find(|paid| paid.artikel_id == artikel_id);
    let mut paid = paid.map(|paid| paid.kg).unwrap_or_default();
    let mut tranchen = Vec::new();
    for position in positionen.iter().filter(|position| position.artikel_id == Some(artikel_id)) {
        let preis = position.preis.zip(per_tonne);
        let menge = position.menge.zip(in_kg).map(|(menge, conversion)| conversion.quantity(menge));
        let menge = menge.transpose()?;
        let filled = menge.map_or(paid, |menge| menge.min(paid));
        paid = paid.minus(filled)?;
        tranchen.push(Tranche {
            preis: preis.map(|(preis, conversion)| conversion.price(preis)).transpose()?,
            offen: menge.map(|menge| menge.minus(filled)).transpose()?,
        });
    }
    if tranchen.is_empty() {
        tranchen.push(Tranche { preis: None, offen: None });
    }
    Ok(Some(Vereinbart { nummer: kontrakt.kontrakt_nr, tranchen, whole: whole.transpose()? }))
}
