//! Turns an item of a request into a position: article, weighing, quantity, price, tax rate, batch.

use std::sync::Arc;

use uuid::Uuid;

use super::anteile::{Anteile, USED_UP, hint_contradictions, takes_share, weight_in};
use super::bezug::{AllNamed, Bezug, Meant};
use super::chargenpflicht::must_state_batch;
use super::header::Context;
use super::ids;
use super::kontraktwahl::Kontraktwahl;
use super::steuer;
use super::uebernahme::{Taken, left_of};
use crate::goods::chargen;
use crate::goods::kontrakte::{self, KontraktBezug};
use crate::goods::waage::{self, FertigeWiegung, Wiegung};
use crate::master::artikel::{self, Artikel};
use crate::master::biozertifikate;
use crate::master::tenants::Lagerbuchung;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Result, keep_refused};
use crate::rules::day::Day;
use crate::rules::document::{BelegTyp, Lagerrolle, Seite};
use crate::rules::error::{Code, HintCode, Hints, Refusals, refuse_if, required};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::price::{line_total, tier_price};
use crate::rules::stammdaten::ArtikelStatus;
use crate::rules::tax::Steuerkategorie;
use crate::rules::unit::Conversion;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::lager::batch_missing;
use crate::trade::belege::model::BelegPosition;
use crate::trade::belege::sql;

/// Returns the positions of the items, or all errors at once; `before` are those that they replace.
pub fn resolve(
    tx: &WriteTx<'_>,
    context: &Context<'_>,
    items: Vec<NewItem>,
    before: &[BelegPosition],
    hints: &mut Hints,
) -> Result<Vec<BelegPosition>> {
    let mut errors = Refusals::default();
    let mut positions = Vec::with_capacity(items.len());
    let ids: Vec<_> = items.iter().map(|item| item.id).collect();
    let mut anteile = Anteile::of(context, &items);
    let mut named = AllNamed::default();
    let mut wahl = Kontraktwahl::default();
    let mut resolved = Vec::with_capacity(items.len());
    let mut items: Vec<_> = (1..).zip(items).collect();
    // Items without a quantity come last: they take what the others leave of a weighing.
    items.sort_by_key(|(_, item)| item.menge.is_none());
    for (number, item) in items {
        let mut hints = Hints::default();
        let anteile = &mut anteile;
        let named = &mut named;
        let wahl = &mut wahl;
        let at = number as usize - 1;
        let mut resolver = Resolver { tx, context, anteile, named, wahl, at, before, hints: &mut hints };
        let position = resolver.resolve(item);
        resolved.push((number, position, hints));
    }
    resolved.sort_by_key(|(number, ..)| *number);
    for (number, resolved, item_hints) in resolved {
        let path = context.source.path(number);
        let position = keep_refused(&mut errors, resolved, &path)?;
        hints.extend(item_hints.below(&path));
        positions.extend(position.map(|p| BelegPosition { position: number, ..p }));
    }
    errors.into_result()?;
    ids::give(tx, context, &ids, before, &mut positions, hints)?;
    Ok(positions)
}

struct Amounts {
    menge: Quantity,
    /// menge in the unit of the article; `None` without an article.
    lager_menge: Option<Quantity>,
    ep_netto: Price,
    preis_des_artikels: bool,
    preis_fehlt: bool,
    rabatt_prozent: Percent,
    gesamtpreis: Money,
    steuer: steuer::Steuer,
    satz_datum: Day,
    /// Tax of the position that it goes on with, where it was asked anew.
    steuer_davor: Option<(Percent, Steuerkategorie)>,
}

/// The price of an item (D6).
struct Preis {
    ep_netto: Price,
    /// The discount that comes with the price.
    rabatt_prozent: Percent,
    /// Whether it is the article's price: neither the request nor another document gave one.
    des_artikels: bool,
    /// Whether it is 0 because nobody knew one.
    fehlt: bool,
}

struct Resolver<'r, 'c> {
    tx: &'r Tx<'r>,
    context: &'r Context<'c>,
    anteile: &'r mut Anteile,
    named: &'r mut AllNamed,
    wahl: &'r mut Kontraktwahl,
    /// Its index.
    at: usize,
    /// The positions that the document had before.
    before: &'r [BelegPosition],
    hints: &'r mut Hints,
}

impl Resolver<'_, '_> {
    fn typ(&self) -> BelegTyp {
        self.context.beleg.beleg_typ
    }

    fn resolve(&mut self, mut item: NewItem) -> Result<BelegPosition> {
        let bezug = self.named.of(self.tx, self.context.kunde.id, &mut item, self.before)?;
        let from = bezug.as_ref().and_then(|bezug| Some((bezug, bezug.position()?.position)));
        let from =
            from.map(|(bezug, number)| sql::position(self.tx, bezug.named.beleg.id, number)).transpose()?;
        if let Some(from) = &from {
            item.take_article_of(from);
        }
        let artikel = self.artikel(&item)?;
        let artikel = artikel.as_deref();
        let artikel_id = artikel.map(|artikel| artikel.id);
        let wiegung = self.wiegung(&item, artikel)?;
        if let Some(wiegung) = &wiegung {
            item.take_over(&wiegung.wiegung, artikel.is_some());
        }
        let bezug = bezug.map(|bezug| self.checked(bezug, &item, artikel_id)).transpose()?;
        if let (Some(from), Some((bezug, meant))) =
            (from.filter(|from| from.artikel_id == artikel_id), &bezug)
        {
            item.take_over_from(&from, bezug.named.beleg.beleg_typ, meant);
        }
        let message = "Es fehlt der Artikel. Bitte artikel_id oder artikelnr angeben, oder eine bezeichnung.";
        let is_unnamed = artikel.is_none() && item.bezeichnung.is_none();
        refuse_if(is_unnamed, Code::ArtikelFehlt, "artikel_id", message)?;
        item.einheit = item.einheit.or_else(|| artikel.and_then(|artikel| artikel.einheit.clone()));
        let back = bezug.as_ref().filter(|(_, meant)| meant.takes_back);
        let had = self.before.iter().find(|known| item.id == Some(known.id)).or(self.before.get(self.at));
        let of = (artikel, back);
        let kontrakt_gewaehlt = self.wahl.choose(self.tx, self.context, &mut item, of, had, self.hints)?;
        let amounts = self.amounts(&item, artikel, wiegung.as_ref(), bezug.as_ref())?;
        self.ignore_purchase_fields(&mut item);
        item.lager_buchen = Some(self.takes_part_in_stock(&item, artikel, amounts.ep_netto));
        let mut position = self.position(item, artikel, &amounts);
        position.kontrakt_gewaehlt = kontrakt_gewaehlt;
        self.check_batch(&position, artikel)?;
        bind_contract(self.tx, self.context, &mut position, self.hints)?;
        self.wahl.take(&position)?;
        Ok(position)
    }

    fn checked(&self, bezug: Bezug, item: &NewItem, artikel: Option<Uuid>) -> Result<(Bezug, Meant)> {
        let (bezug, meant) = bezug.checked(self.context, item, artikel)?;
        // Nobody names a new document.
        if !self.before.is_empty() {
            bezug.refuse_circle(self.tx, self.context.beleg, artikel)?;
        }
        Ok((bezug, meant))
    }

    fn amounts(
        &mut self,
        item: &NewItem,
        artikel: Option<&Artikel>,
        wiegung: Option<&FertigeWiegung>,
        bezug: Option<&(Bezug, Meant)>,
    ) -> Result<Amounts> {
        let einheit = item.einheit.as_deref();
        let conversion = artikel.map(|artikel| artikel.conversion_from(einheit)).transpose()?;
        let left = bezug.filter(|_| item.menge.is_none() && wiegung.is_none());
        let left = left.map(|(bezug, meant)| left_of(self.tx, bezug, meant, conversion)).transpose()?;
        let menge = self.menge(item, left, artikel, wiegung)?;
        let lager_menge = conversion.map(|conversion| conversion.quantity(menge)).transpose()?;
        if let Some(wiegung) = wiegung.filter(|_| takes_share(self.context, item)) {
            self.anteile.take(wiegung, menge, einheit)?;
        }
        let stock = lager_menge.unwrap_or(menge);
        let taken =
            bezug.map(|(bezug, meant)| Taken::of(self.tx, bezug, meant, stock, item)).transpose()?.flatten();
        let Preis { ep_netto, rabatt_prozent, des_artikels: preis_des_artikels, fehlt: preis_fehlt } =
            self.preis(item, artikel, lager_menge, taken.as_ref())?;
        let rabatt_prozent = item.rabatt_prozent.unwrap_or(rabatt_prozent);
        let gesamtpreis = line_total(menge, ep_netto, rabatt_prozent)?;
        let back = taken.as_ref().filter(|taken| taken.takes_back).map(|taken| &taken.line);
        let steuer = steuer::of_item(self.tx, self.context, item, artikel, back, self.hints)?;
        let satz_datum = back.map_or(self.context.beleg.satz_datum(), |line| line.satz_datum);
        let steuer_davor = taken.and_then(|taken| taken.tax_asked_anew(item));
        Ok(Amounts {
            menge,
            lager_menge,
            ep_netto,
            preis_des_artikels,
            preis_fehlt,
            rabatt_prozent,
            gesamtpreis,
            steuer,
            satz_datum,
            steuer_davor,
        })
    }

    /// Builds the position of a checked and completed item; its id and number are assigned later.
    fn position(&self, item: NewItem, artikel: Option<&Artikel>, amounts: &Amounts) -> BelegPosition {
        let charge_gesendet = item.charge_id.is_some();
        let satz_gesendet =
            item.mwst_satz.is_some() || item.steuer_kategorie.is_some_and(|sent| sent.fits(Percent::ZERO));
        let mut position = BelegPosition::default();
        item.apply_to(&mut position);
        let BelegPosition { bezeichnung, bezeichnung2, langtext, .. } = position;
        BelegPosition {
            beleg_id: self.context.beleg.id,
            artikel_id: artikel.map(|artikel| artikel.id),
            bezeichnung: bezeichnung.or_else(|| artikel.map(|artikel| artikel.bezeichnung.clone())),
            bezeichnung2: bezeichnung2.or_else(|| artikel?.bezeichnung2.clone()),
            langtext: langtext.or_else(|| artikel?.langtext.clone()),
            menge: amounts.menge,
            einzelpreis: amounts.ep_netto,
            ep_netto: amounts.ep_netto,
            mwst_satz: amounts.steuer.satz,
            steuer_kategorie: amounts.steuer.kategorie,
            gesamtpreis: amounts.gesamtpreis,
            rabatt_prozent: amounts.rabatt_prozent,
            charge_gesendet,
            artikel_name: artikel.map(|artikel| artikel.bezeichnung.clone()),
            satz_gesendet,
            satz_datum: amounts.satz_datum,
            lager_menge: amounts.lager_menge,
            preis_des_artikels: amounts.preis_des_artikels,
            preis_fehlt: amounts.preis_fehlt,
            steuer_davor: amounts.steuer_davor,
            ..position
        }
    }

    /// Finds the article by id, number or both (D6); `None` for freight and text.
    fn artikel(&self, item: &NewItem) -> Result<Option<Arc<Artikel>>> {
        let number = item.artikelnr.as_deref();
        let Some(artikel) = artikel::named(self.tx, item.artikel_id, number)? else {
            return Ok(None);
        };
        let feld = if item.artikel_id.is_some() { "artikel_id" } else { "artikelnr" };
        let message = format_args!("Der Artikel {} ist inaktiv.", artikel.artikelnummer);
        refuse_if(artikel.status == ArtikelStatus::Inaktiv, Code::ArtikelInaktiv, feld, message)?;
        Ok(Some(artikel))
    }

    /// Returns the sent quantity, that of the weighing in the unit of the item (D12), or what is left of what the item
    /// names.
    fn menge(
        &mut self,
        item: &NewItem,
        named: Option<Quantity>,
        artikel: Option<&Artikel>,
        wiegung: Option<&FertigeWiegung>,
    ) -> Result<Quantity> {
        let einheit = item.einheit.as_deref();
        let left = match wiegung {
            Some(wiegung) if takes_share(self.context, item) => {
                self.anteile.left(self.tx, self.context, wiegung)?
            }
            Some(wiegung) => wiegung.netto,
            None => Quantity::ZERO,
        };
        let menge = match (item.menge, wiegung) {
            (None, Some(_)) => {
                let is_used_up = left.is_zero() || left.is_negative();
                refuse_if(is_used_up, Code::WiegungBereitsVerwendet, "wiegung_id", USED_UP)?;
                let einheit = einheit.unwrap_or("kg");
                Some(weight_in(einheit, left)?.ok_or_else(|| Conversion::missing("kg", einheit))?)
            }
            (sent, _) => sent.or(named),
        };
        let menge = required(menge, "menge")?;
        let message = "Die Menge eines Artikels darf nicht 0 sein.";
        refuse_if(menge.is_zero() && artikel.is_some(), Code::MengeUngueltig, "menge", message)?;
        if let Some(wiegung) = wiegung {
            let is_shared = self.anteile.is_shared(wiegung);
            hint_contradictions(wiegung, self.typ(), menge, einheit, is_shared, self.hints)?;
        }
        Ok(menge)
    }

    /// Returns the weighing that an item names, which must be finished and usable for this document.
    fn wiegung(&mut self, item: &NewItem, artikel: Option<&Artikel>) -> Result<Option<FertigeWiegung>> {
        let Some(id) = item.wiegung_id else { return Ok(None) };
        let wiegung = waage::finished(self.tx, id, artikel.map(|artikel| artikel.id))?;
        wiegung.hint_other_partner(self.context.kunde.id, self.hints);
        Ok(Some(wiegung))
    }

    /// Returns the net unit price: sent, derived, or zero where that is allowed (D6).
    fn preis(
        &mut self,
        item: &NewItem,
        artikel: Option<&Artikel>,
        lager_menge: Option<Quantity>,
        taken: Option<&Taken>,
    ) -> Result<Preis> {
        let said =
            |ep_netto, rabatt_prozent| Preis { ep_netto, rabatt_prozent, des_artikels: false, fehlt: false };
        if let Some(sent) = item.ep_netto {
            return Ok(said(sent, Percent::ZERO));
        }
        let artikel = artikel.filter(|_| self.context.auto_price);
        let has_price = |taken: &&Taken| self.context.auto_price && !taken.line.preis_fehlt;
        if let Some(Taken { nummer, line, .. }) = taken.filter(has_price) {
            let from = format!("aus {nummer}");
            if let Some(price) = self.per_unit_of(item, line.ep_netto, line.einheit.as_deref(), &from)? {
                return Ok(said(price, line.rabatt_prozent));
            }
        }
        let (kunde, seite) = (self.context.kunde.id, self.typ().seite());
        if let (Some(artikel), Some(position)) = (artikel, item.kontrakt_position_id)
            && let Some(agreed) = kontrakte::agreed_price(self.tx, position, artikel.id, kunde, seite)?
        {
            let einheit = agreed.einheit.as_deref().or(artikel.einheit.as_deref());
            let from = format!("aus Kontrakt {}", agreed.kontrakt_nr);
            if let Some(price) = self.per_unit_of(item, agreed.preis, einheit, &from)? {
                return Ok(said(price, Percent::ZERO));
            }
        }
        let own = self.own_price(item, artikel, lager_menge)?;
        let (ep_netto, fehlt) = (own.unwrap_or_default(), own.is_none());
        Ok(Preis { ep_netto, rabatt_prozent: Percent::ZERO, des_artikels: true, fehlt })
    }

    /// Returns the price of the article; `None` without one, where that is allowed.
    fn own_price(
        &mut self,
        item: &NewItem,
        artikel: Option<&Artikel>,
        lager_menge: Option<Quantity>,
    ) -> Result<Option<Price>> {
        if let Some(artikel) = artikel
            && let Some(price) = self.master_price(artikel, lager_menge)?
        {
            return self.converted(price, artikel.conversion_from(item.einheit.as_deref())?).map(Some);
        }
        let message = ("Es fehlt der Preis.", "Bitte ep_netto angeben.");
        refuse_if(self.typ().ist_rechnung(), Code::PreisFehlt, "ep_netto", message)?;
        let message = "Es gibt keinen Preis; die Position steht mit 0.";
        self.hints.add_field(HintCode::PreisFehlt, "ep_netto", message);
        Ok(None)
    }

    /// Converts another document's price to the unit of the item; `None`, with a hint, if the units do not
    /// convert.
    fn per_unit_of(
        &mut self,
        item: &NewItem,
        price: Price,
        einheit: Option<&str>,
        from: &str,
    ) -> Result<Option<Price>> {
        let conversion = match (item.einheit.as_deref(), einheit) {
            (Some(own), Some(other)) => Conversion::between(own, other),
            _ => Some(Conversion::NONE),
        };
        let Some(conversion) = conversion else {
            let message =
                format!("Der Preis {from} gilt für eine andere Einheit; er wurde nicht übernommen.");
            self.hints.add_field(HintCode::FeldIgnoriert, "ep_netto", message);
            return Ok(None);
        };
        let price = self.converted(price, conversion)?;
        let message = format!("Preis {from} übernommen: {price}.");
        self.hints.add_field(HintCode::PreisUebernommen, "ep_netto", message);
        Ok(Some(price))
    }

    /// Converts a price to the unit of the item; `conversion` is from the item's unit to that of the price.
    fn converted(&mut self, price: Price, conversion: Conversion) -> Result<Price> {
        let converted = conversion.reversed().price(price)?;
        if conversion.price(converted)? != price {
            let message =
                format!("Der Preis {price} wurde in der Einheit der Position auf {converted} gerundet.");
            self.hints.add_field(HintCode::Gerundet, "ep_netto", message);
        }
        Ok(converted)
    }

    /// Returns the article's price per its own unit.
    fn master_price(&self, artikel: &Artikel, menge: Option<Quantity>) -> Result<Option<Price>> {
        if self.typ().seite() == Seite::Einkauf {
            return Ok(artikel.ep_netto);
        }
        let Some(menge) = menge else { return Ok(artikel.preis) };
        Ok(tier_price(&artikel::tiers(self.tx, artikel.id)?, menge).or(artikel.preis))
    }

    /// Drops purchase-only fields from sales, with a hint (D8).
    fn ignore_purchase_fields(&mut self, item: &mut NewItem) {
        if self.typ().seite() == Seite::Einkauf {
            return;
        }
        let dropped = [
            ("fremde_charge_nr", item.fremde_charge_nr.take().is_some()),
            ("mhd", item.mhd.take().is_some()),
            ("herkunftsland", item.herkunftsland.take().is_some()),
            ("biozertifikat_id", item.biozertifikat_id.take().is_some()),
        ];
        for (feld, _) in dropped.into_iter().filter(|(_, was_sent)| *was_sent) {
            self.hints.add_ignored(feld);
        }
    }

    /// Whether the position moves goods or is paired with one that does (D8).
    fn takes_part_in_stock(&mut self, item: &NewItem, artikel: Option<&Artikel>, ep_netto: Price) -> bool {
        let declined = item.lager_buchen == Some(false);
        if artikel.is_none() || ep_netto.is_negative() {
            return false;
        }
        match self.typ().lagerrolle() {
            Lagerrolle::Keine => false,
            Lagerrolle::Lieferung => {
                if declined {
                    let message = "Lieferungen buchen immer den Bestand; lager_buchen wurde nicht beachtet.";
                    self.hints.add_field(HintCode::FeldIgnoriert, "lager_buchen", message);
                }
                true
            }
            Lagerrolle::Rechnung => {
                !declined && self.context.einstellungen.lagerbuchung == Lagerbuchung::Beleg
            }
        }
    }

    /// Checks the batch: a named one must exist and match, and a delivery of a tracked article must always
    /// name or describe one (D8). Invoices are checked when they are paired.
    fn check_batch(&mut self, position: &BelegPosition, artikel: Option<&Artikel>) -> Result<()> {
        // Without an article, any batch belongs to another article.
        chargen::check_named(self.tx, position.charge_id, Some(position.artikel_id.unwrap_or_default()))?;
        if let Some(id) = position.biozertifikat_id {
            let zertifikat = biozertifikate::must_have(self.tx, id)?;
            // An order only announces the goods: the certificate may be renewed before they come.
            if !self.typ().kuendigt_an() {
                zertifikat.hint_expired(self.context.beleg.satz_datum(), self.hints);
            }
        }
        let has_told = position.charge_id.is_some() || position.states_batch();
        if has_told || !artikel.is_some_and(|artikel| artikel.chargenpflichtig) {
            return Ok(());
        }
        let takes_back = position.menge.is_negative();
        match must_state_batch(self.typ(), self.context.einstellungen, takes_back, position.lager_buchen) {
            true => Err(batch_missing(self.typ()).into()),
            false => Ok(()),
        }
    }
}

impl NewItem {
    /// Takes batch and contract from the weighing if the item names none (D12). Without an article there is
    /// no batch; a contract position is valid only for its own contract.
    fn take_over(&mut self, wiegung: &Wiegung, has_artikel: bool) {
        if has_artikel {
            self.charge_id = self.charge_id.or(wiegung.charge_id);
        }
        let (Some(kontrakt), None) = (wiegung.kontrakt_id, self.kontrakt_position_id) else { return };
        if self.kontrakt_id.is_none_or(|sent| sent == kontrakt) {
            self.kontrakt_id = Some(kontrakt);
            self.kontrakt_position_id = wiegung.kontrakt_position_id;
        }
    }
}

/// Checks that a named contract exists; a contract position implies its contract.
pub fn bind_contract(
    tx: &Tx<'_>,
    context: &Context<'_>,
    position: &mut BelegPosition,
    hints: &mut Hints,
) -> Result<()> {
    let BelegPosition { artikel_id, kontrakt_id, kontrakt_position_id, .. } = *position;
    let bezug = KontraktBezug { kontrakt_id, kontrakt_position_id }.checked(tx)?;
    bezug.hints(tx, context.kunde.id, artikel_id, context.beleg.beleg_typ.seite(), hints)?;
    bezug.hint_over(tx, context.beleg.satz_datum(), hints)?;
    position.kontrakt_id = bezug.kontrakt_id;
    position.kontrakt_position_id = bezug.kontrakt_position_id;
    Ok(())
}
