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
use crate::rules::error::{Code, Refusal};
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

/// The terms of a contract for one article.
struct Vereinbart {
    nummer: String,
    /// Per t; `None` if the contract has no price.
    preis: Option<Price>,
    /// Open quantity in kg; `None` if the contract has no quantity by weight.
    offen: Option<Quantity>,
}

/// The contracts of a settlement, each with the quantity that the receipts so far left open; `None` if a
/// contract does not apply to this partner.
pub struct Kontrakte<'k> {
    tx: &'k Tx<'k>,
    pub kunde: &'k Kunde,
    pub art: Abrechnungsart,
    known: BTreeMap<(Uuid, Uuid), Option<Vereinbart>>,
}

impl<'k> Kontrakte<'k> {
    pub fn of(tx: &'k Tx<'k>, kunde: &'k Kunde, art: Abrechnungsart) -> Kontrakte<'k> {
        Kontrakte { tx, kunde, art, known: BTreeMap::new() }
    }

    /// Splits the paid quantity `netto` of a receipt by price: preis_je_t, else its contract's price, else
    /// its own. Empty for an advance that states its own price while that of the goods is still unknown, as
    /// in a pool.
    pub fn prices(
        &mut self,
        new: &NewAbrechnung,
        schein: &Annahmeschein,
        artikel: Uuid,
        netto: Quantity,
    ) -> Result<Vec<Preisteil>> {
        let art = self.art;
        let needs_none = new.abschlag.as_ref().is_some_and(|abschlag| abschlag.preis_je_t.is_some());
        let vereinbart =
            schein.kontrakt_id.map(|kontrakt| self.agreed(kontrakt, artikel)).transpose()?.flatten();
        let of_kontrakt = vereinbart.as_ref().and_then(|vereinbart| vereinbart.preis);
        let Some(preis) = new.preis_je_t.or(of_kontrakt).or(schein.preis_je_t) else {
            return if needs_none { Ok(Vec::new()) } else { Err(price_missing(schein).into()) };
        };
        let Some(vereinbart) = vereinbart else {
            return Ok(vec![Preisteil { kontrakt: None, kg: netto, preis }]);
        };
        let nummer = Some(vereinbart.nummer.clone());
        let within = vereinbart.offen.map_or(netto, |offen| offen.max(Quantity::ZERO).min(netto));
        let rest = netto.minus(within)?;
        // An advance does not reduce the contract, and the price of the rest is not known yet.
        if rest.is_zero() || art == Abrechnungsart::Abschlag {
            vereinbart.offen = vereinbart.offen.map(|offen| offen.minus(within)).transpose()?;
            return Ok(vec![Preisteil { kontrakt: nummer, kg: netto, preis }]);
        }
        let over = || over_delivered(schein, &vereinbart.nummer, rest);
        let rest_preis = new.rest_preis_je_t.ok_or_else(over)?;
        vereinbart.offen = Some(Quantity::ZERO);
        let parts = [
            Preisteil { kontrakt: nummer, kg: within, preis },
            Preisteil { kontrakt: None, kg: rest, preis: rest_preis },
        ];
        Ok(parts.into_iter().filter(|part| !part.kg.is_zero()).collect())
    }

    fn agreed(&mut self, kontrakt: Uuid, artikel: Uuid) -> Result<Option<&mut Vereinbart>> {
        let known = match self.known.entry((kontrakt, artikel)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(read(self.tx, self.kunde, kontrakt, artikel)?),
        };
        Ok(known.as_mut())
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
    let position = positionen.iter().find(|position| position.artikel_id == Some(artikel_id));
    let einheit = kontrakt.gesamtmenge_einheit.as_deref().or(artikel.einheit.as_deref()).unwrap_or("t");
    let per_tonne = Conversion::between(einheit, "t");
    let in_kg = Conversion::between(einheit, "kg");
    let preis = position.and_then(|position| position.preis);
    let preis = preis.zip(per_tonne).map(|(preis, conversion)| conversion.price(preis)).transpose()?;
    let agreed = position.and_then(|position| position.menge).or(kontrakt.gesamtmenge);
    let agreed = agreed.zip(in_kg).map(|(menge, conversion)| conversion.quantity(menge)).transpose()?;
    let paid = kontrakte::settled(tx, &[id])?.into_iter().find(|paid| paid.artikel_id == artikel_id);
    let paid = paid.map(|paid| paid.kg).unwrap_or_default();
    let offen = agreed.map(|agreed| agreed.minus(paid)).transpose()?;
    Ok(Some(Vereinbart { nummer: kontrakt.kontrakt_nr, preis, offen }))
}
