//! Value added tax: sums by rate group, and the rate of an item (D7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::day::Day;
use super::document::{BelegTyp, Seite};
use super::error::HintCode;
use super::fixed::{Money, Percent, TooLarge, divide_rounded};
use crate::choice;

/// The rate of an item if no source gives one (specification: "default stated as 7").
pub const RATE_OF_LAST_RESORT: Percent = Percent::whole(7);

/// Computes the tax on an amount, or a Skonto: `round2(base × rate / 100)`, half away from zero (EN 16931
/// BR-CO-17).
pub fn share(base: Money, rate: Percent) -> Money {
    part(base, rate, Percent::whole(100))
}

/// Computes the tax contained in a gross amount (D7, cash lines): `round2(gross × rate / (100 + rate))`, half
/// away from zero.
pub fn contained_tax(gross: Money, rate: Percent) -> Money {
    part(gross, rate, Percent::from_units(Percent::whole(100).units() + rate.units()))
}

fn part(amount: Money, rate: Percent, whole: Percent) -> Money {
    let product = i128::from(amount.units()) * i128::from(rate.units());
    // A rate is at most 100 %, so its part is no larger than the amount.
    Money::from_wide(divide_rounded(product, i128::from(whole.units()))).unwrap_or(amount)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summen {
    pub netto: Money,
    /// Sum of the taxes of all rate groups.
    pub mwst: Money,
    pub brutto: Money,
}

impl Summen {
    /// Sums up lines; tax is computed per rate group, not per line.
    pub fn of(lines: impl IntoIterator<Item = (Money, Percent)>) -> Result<Summen, TooLarge> {
        Summen::of_groups(&groups(lines.into_iter().map(|(total, rate)| ((), rate, total)))?)
    }

    pub fn of_groups<K>(groups: &[Gruppe<K>]) -> Result<Summen, TooLarge> {
        let netto = groups.iter().map(|group| group.netto).try_fold(Money::ZERO, Money::plus)?;
        let mwst = groups.iter().map(|group| group.steuer).try_fold(Money::ZERO, Money::plus)?;
        Ok(Summen { netto, mwst, brutto: netto.plus(mwst)? })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gruppe<K> {
    /// Distinguishes groups with the same rate; `()` if nothing does.
    pub merkmal: K,
    /// Rate in per cent.
    pub satz: Percent,
    pub netto: Money,
    /// The [`share`] of `netto` at this rate.
    pub steuer: Money,
}

/// Groups lines by tax rate, in order of appearance (D7, EN 16931 BG-23).
pub fn groups<K: Copy + PartialEq>(
    lines: impl IntoIterator<Item = (K, Percent, Money)>,
) -> Result<Vec<Gruppe<K>>, TooLarge> {
    let mut groups: Vec<Gruppe<K>> = Vec::new();
    for (merkmal, satz, total) in lines {
        match groups.iter_mut().find(|group| group.merkmal == merkmal && group.satz == satz) {
            Some(group) => group.netto = group.netto.plus(total)?,
            None => groups.push(Gruppe { merkmal, satz, netto: total, steuer: Money::ZERO }),
        }
    }
    for group in &mut groups {
        group.steuer = share(group.netto, group.satz);
    }
    Ok(groups)
}

/// The amounts that a supplier's invoice prints for one rate (D18).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Steuergruppe")]
pub struct GedruckteGruppe {
    pub mwst_satz: Percent,
    pub basis: Money,
    pub steuer: Money,
}

/// The printed amounts of all rates; a rate may occur more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Gedruckt(pub Vec<GedruckteGruppe>);

/// Largest accepted difference between a printed and a computed amount (D18).
const PRINTED_TOLERANCE: Money = Money::from_units(5);

/// A rate whose printed amounts differ from the computed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abweichung {
    pub satz: Percent,
    pub is_too_large: bool,
}

impl Gedruckt {
    pub fn summen(&self) -> Result<Summen, TooLarge> {
        let sum = |amount: fn(&GedruckteGruppe) -> Money| {
            self.0.iter().map(amount).try_fold(Money::ZERO, Money::plus)
        };
        let (netto, mwst) = (sum(|group| group.basis)?, sum(|group| group.steuer)?);
        Ok(Summen { netto, mwst, brutto: netto.plus(mwst)? })
    }

    /// The same amounts with opposite signs, for a counter document.
    pub fn negated(&self) -> Gedruckt {
        let negated = |group: &GedruckteGruppe| GedruckteGruppe {
            mwst_satz: group.mwst_satz,
            basis: -group.basis,
            steuer: -group.steuer,
        };
        Gedruckt(self.0.iter().map(negated).collect())
    }

    /// Returns the first rate that differs from the computed groups by more than the tolerance, else the
    /// first that differs at all.
    pub fn differs<K>(&self, computed: &[Gruppe<K>]) -> Option<Abweichung> {
        let rates = computed.iter().map(|group| group.satz).chain(self.0.iter().map(|group| group.mwst_satz));
        let differing = rates.filter_map(|satz| {
            let printed = self.0.iter().filter(|group| group.mwst_satz == satz);
            let (mut basis, mut steuer) = (0, 0);
            for group in printed {
                basis += i128::from(group.basis.units());
                steuer += i128::from(group.steuer.units());
            }
            for group in computed.iter().filter(|group| group.satz == satz) {
                basis -= i128::from(group.netto.units());
                steuer -= i128::from(group.steuer.units());
            }
            let most = basis.abs().max(steuer.abs());
            let is_too_large = most > i128::from(PRINTED_TOLERANCE.units());
            (most > 0).then_some(Abweichung { satz, is_too_large })
        });
        let found: Vec<Abweichung> = differing.collect();
        found.iter().find(|rate| rate.is_too_large).or(found.first()).copied()
    }
}

choice! {
    /// Why an item is taxed or not: a code of UNCL5305 (D24, EN 16931 BT-151).
    #[derive(Default)]
    pub enum Steuerkategorie {
        /// Taxed; the only category with a rate above zero.
        #[default]
        Steuerpflichtig = "S",
        /// Taxed at 0 % (§ 12 Abs. 3 UStG).
        Nullsatz = "Z",
        /// Exempt: sold by a Kleinunternehmer, or for another reason of § 4 UStG.
        Steuerfrei = "E",
        /// The customer owes the tax (§ 13b UStG).
        Steuerschuldumkehr = "AE",
        /// Delivered to a business in another country of the EU (§ 6a UStG).
        IgLieferung = "K",
        /// Delivered to a country outside of the EU (§ 6 UStG).
        Ausfuhr = "G",
        /// Outside the scope of the tax.
        NichtSteuerbar = "O",
    }
}

impl Steuerkategorie {
    /// The category of a rate that comes without a reason: taxed above zero, else exempt (D24).
    pub fn of_rate(satz: Percent) -> Steuerkategorie {
        match satz == Percent::ZERO {
            true => Steuerkategorie::Steuerfrei,
            false => Steuerkategorie::Steuerpflichtig,
        }
    }

    /// The category of a partner who is not taxed, by the hint that says why. A supplier's invoice uses the
    /// same category for a delivery into another country as ours does (D24).
    pub fn without_tax(hint: Option<HintCode>) -> Steuerkategorie {
        match hint {
            Some(HintCode::IgLieferung | HintCode::IgErwerb) => Steuerkategorie::IgLieferung,
            Some(HintCode::Ausfuhr | HintCode::Einfuhr) => Steuerkategorie::Ausfuhr,
            _ => Steuerkategorie::Steuerfrei,
        }
    }

    /// Whether the category fits a rate: `S` requires a rate above zero, all others zero (EN 16931 BR-S-05,
    /// BR-E-05, BR-Z-05).
    pub fn fits(self, satz: Percent) -> bool {
        (self == Steuerkategorie::Steuerpflichtig) == (satz > Percent::ZERO)
    }
}

choice! {
    /// A class of tax rates: `schluessel` in the tax-rate table.
    pub enum Klasse {
        Normal = "normal",
        Ermaessigt = "ermaessigt",
        Pauschal24 = "pauschal_24",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Satz {
    /// The class: `normal`, `ermaessigt`, `pauschal_24`, `frei`, or an imported one.
    pub schluessel: String,
    /// Rate in per cent.
    pub satz: Percent,
    pub gueltig_von: Day,
    /// Last day; `None` means until further notice.
    pub gueltig_bis: Option<Day>,
}

pub fn rate_on(rates: &[Satz], klasse: Klasse, day: Day) -> Option<Percent> {
    let valid = rates.iter().filter(|rate| {
        rate.schluessel == klasse.as_str()
            && rate.gueltig_von <= day
            && rate.gueltig_bis.is_none_or(|last| day <= last)
    });
    valid.max_by_key(|rate| rate.gueltig_von).map(|rate| rate.satz)
}

/// The class that a rate in the master data stands for: the normal or the reduced one, if it had this rate on
/// any date (D7). The flat rates of UStG § 24 stand for none.
pub fn class_of(rates: &[Satz], rate: Percent) -> Option<Klasse> {
    let has = |klasse: &Klasse| rates.iter().any(|of| of.schluessel == klasse.as_str() && of.satz == rate);
    [Klasse::Normal, Klasse::Ermaessigt].into_iter().find(has)
}

/// The rate in force on a day for a rate in the master data: that of its class (19 and 7 are 16 and 5 in the
/// second half of 2020).
pub fn derived_rate(rates: &[Satz], rate: Percent, day: Day) -> Percent {
    class_of(rates, rate).and_then(|klasse| rate_on(rates, klasse, day)).unwrap_or(rate)
}

/// Whether only farmers use this rate (UStG § 24).
pub fn is_flat_rate(rates: &[Satz], rate: Percent) -> bool {
    let is_flat = |of: &Satz| of.schluessel == Klasse::Pauschal24.as_str() && of.satz == rate;
    class_of(rates, rate).is_none() && rates.iter().any(is_flat)
}

/// The rate at which a base has this tax to the cent, among those valid on this day, else among all; `None`
/// if no rate or several give it.
pub fn rate_that_gives(rates: &[Satz], netto: Money, steuer: Money, day: Day) -> Option<Percent> {
    if steuer.is_zero() {
        return Some(Percent::ZERO);
    }
    let holds = |rate: &&Satz| rate.gueltig_von <= day && rate.gueltig_bis.is_none_or(|last| day <= last);
    let only = |mut found: Vec<Percent>| {
        found.retain(|satz| share(netto, *satz) == steuer);
        found.dedup();
        found
    };
    let mut rates: Vec<&Satz> = rates.iter().collect();
    rates.sort_by_key(|rate| rate.satz);
    let today = only(rates.iter().copied().filter(holds).map(|rate| rate.satz).collect());
    let found = if today.is_empty() { only(rates.iter().map(|rate| rate.satz).collect()) } else { today };
    match found.as_slice() {
        [satz] => Some(*satz),
        _ => None,
    }
}

choice! {
    pub enum Steuerart {
        Regel = "regel",
        Pauschal24 = "pauschal_24",
        Kleinunternehmer = "kleinunternehmer",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gebiet {
    Inland,
    Eu,
    Drittland,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steuerpartner {
    pub steuerart: Option<Steuerart>,
    pub gebiet: Gebiet,
    /// Whether the partner has a VAT id of a country other than Germany.
    pub fremde_ust_id: bool,
}

/// What a partner implies for items sent without a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partnerregel {
    /// Nothing: the article's rate applies, and the hint, if any, is given.
    Artikelsatz(Option<HintCode>),
    Klasse(Klasse),
    Null(Option<HintCode>),
}

/// Returns the rule for a partner (D7): steuerart first, then the country.
pub fn partner_rule(typ: BelegTyp, partner: Steuerpartner, ausland_automatik: bool) -> Partnerregel {
    let purchase = typ.seite() == Seite::Einkauf;
    match partner.steuerart {
        Some(Steuerart::Pauschal24) if purchase => return Partnerregel::Klasse(Klasse::Pauschal24),
        Some(Steuerart::Kleinunternehmer) if purchase => return Partnerregel::Null(None),
        _ => {}
    }
    let check = Partnerregel::Artikelsatz(Some(HintCode::SteuerAuslandPruefen));
    match partner.gebiet {
        Gebiet::Inland => Partnerregel::Artikelsatz(None),
        _ if !ausland_automatik => check,
        Gebiet::Eu if purchase => Partnerregel::Null(Some(HintCode::IgErwerb)),
        Gebiet::Eu if partner.fremde_ust_id => Partnerregel::Null(Some(HintCode::IgLieferung)),
        Gebiet::Eu => check,
        Gebiet::Drittland if purchase => Partnerregel::Null(Some(HintCode::Einfuhr)),
        Gebiet::Drittland => Partnerregel::Null(Some(HintCode::Ausfuhr)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_for_a_partner_follows_from_country_and_kind_of_farmer() {
        use BelegTyp::{Er, Re};
        use Gebiet::{Drittland, Eu, Inland};
        use Partnerregel::{Artikelsatz, Klasse as Of, Null};
        let flat = Some(Steuerart::Pauschal24);
        let small = Some(Steuerart::Kleinunternehmer);
        let regel = Some(Steuerart::Regel);
        let check = Artikelsatz(Some(HintCode::SteuerAuslandPruefen));
        let table = [
            (Re, None, Inland, false, true, Artikelsatz(None)),
            (Re, flat, Inland, false, true, Artikelsatz(None)),
            (Er, flat, Inland, false, true, Of(Klasse::Pauschal24)),
            (Er, flat, Eu, true, true, Of(Klasse::Pauschal24)),
            (Er, small, Drittland, false, false, Null(None)),
            (Er, regel, Inland, false, false, Artikelsatz(None)),
            (Re, None, Eu, true, true, Null(Some(HintCode::IgLieferung))),
            (Re, None, Eu, false, true, check),
            (Re, None, Eu, true, false, check),
            (Re, None, Drittland, false, true, Null(Some(HintCode::Ausfuhr))),
            (Er, None, Eu, true, true, Null(Some(HintCode::IgErwerb))),
            (Er, None, Drittland, false, true, Null(Some(HintCode::Einfuhr))),
            (Er, None, Drittland, false, false, check),
        ];
        for (typ, steuerart, gebiet, fremde_ust_id, automatik, expected) in table {
            let partner = Steuerpartner { steuerart, gebiet, fremde_ust_id };
            assert_eq!(partner_rule(typ, partner, automatik), expected, "{typ:?} {partner:?}");
        }
    }
}
