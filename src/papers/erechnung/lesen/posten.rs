//! Turns an e-invoice into the items of a document here: quantity, price and discount are chosen so that the
//! total of each line is the printed one to the cent (D6).

use rust_decimal::Decimal;

use super::model::{Gelesen, Steuergruppe, Unlesbar, Zeile, Zuschlag};
use super::values::too_many_lines;
use crate::rules::fixed::{Fixed, Money, Percent, Price, Quantity};
use crate::rules::price::line_total;
use crate::rules::tax::{Gedruckt, GedruckteGruppe, Steuerkategorie};
use crate::rules::unit::{Conversion, of_unece_code};

/// Longest name and longest description of an item, in characters (D18).
const NAME_CHARS_MAX: usize = 255;
const TEXT_CHARS_MAX: usize = 4_000;

const ROUNDING: &str = "Rundung";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posten {
    /// Index of its line, from 0; `None` for an allowance or charge of the document, for a rounding, and for
    /// a sum that replaces lines the invoice does not have.
    pub zeile: Option<usize>,
    /// Negative in a credit note.
    pub menge: Quantity,
    /// The unit as it is called here, else its UN/ECE code.
    pub einheit: Option<String>,
    /// Net price of one unit before the discount; negative for an allowance.
    pub ep_netto: Price,
    pub rabatt_prozent: Percent,
    /// Rate and category are `None` if the invoice does not state them.
    pub mwst_satz: Option<Percent>,
    pub steuer_kategorie: Option<Steuerkategorie>,
    /// The printed tax of a sum that has no rate.
    pub steuer: Option<Money>,
    pub bezeichnung: String,
    pub langtext: Option<String>,
    /// Whether quantity, price and discount give the printed total of the line; if not, a rounding follows,
    /// provided that there is a total.
    pub ist_genau: bool,
    /// Whether the price is not the printed one.
    pub ist_errechnet: bool,
}

/// Returns the items of an e-invoice: its lines, then its allowances and charges. Without lines (profiles
/// MINIMUM and BASIC WL) there is one item for each tax rate, else one for the sum. The last item is the
/// rounding of the amount to pay (BT-114).
pub fn posten(gelesen: &Gelesen) -> Result<Vec<Posten>, Unlesbar> {
    let only_rate = match gelesen.gruppen.as_slice() {
        [only] => only.mwst_satz,
        _ => None,
    };
    let is_turned = gelesen.ist_gutschrift;
    let has_amount = |zeile: &Zeile| zeile.netto.is_some() || zeile.preis.is_some() && zeile.menge.is_some();
    let mut posten: Vec<_> = if gelesen.zeilen.iter().any(has_amount) {
        let of_line = |(at, zeile)| of_line(at, zeile, is_turned, only_rate);
        let lines = gelesen.zeilen.iter().enumerate().flat_map(of_line);
        let charges = gelesen.zuschlaege.iter().map(|zuschlag| of_charge(zuschlag, is_turned, only_rate));
        lines.chain(charges).collect()
    } else {
        of_sums(gelesen, is_turned)
    };
    if let Some(rundung) = rounding(gelesen) {
        let rundung = sum(signed(rundung, is_turned), Some(Percent::ZERO), ROUNDING.to_owned());
        posten.push(Posten { steuer_kategorie: Some(Steuerkategorie::NichtSteuerbar), ..rundung });
    }
    too_many_lines(posten.len().max(gelesen.gruppen.len()))?;
    Ok(posten)
}

/// The printed tax groups (BG-23), including the rounding of the amount to pay; `None` if a group lacks a
/// figure.
pub fn gedruckt(gelesen: &Gelesen) -> Option<Gedruckt> {
    let is_turned = gelesen.ist_gutschrift;
    let group = |group: &Steuergruppe| {
        Some(GedruckteGruppe {
            mwst_satz: group.mwst_satz.or_else(|| rate(group.steuer_kategorie))?,
            basis: signed(group.netto?, is_turned),
            steuer: signed(group.steuer?, is_turned),
        })
    };
    let mut groups = gelesen.gruppen.iter().map(group).collect::<Option<Vec<_>>>()?;
    if groups.is_empty() {
        return None;
    }
    if let Some(rundung) = rounding(gelesen) {
        let basis = signed(rundung, is_turned);
        groups.push(GedruckteGruppe { mwst_satz: Percent::ZERO, basis, steuer: Money::ZERO });
    }
    Some(Gedruckt(groups))
}

fn rounding(gelesen: &Gelesen) -> Option<Money> {
    gelesen.summen.rundung.filter(|rundung| !rundung.is_zero())
}

fn signed<const SCALE: u32, const SHOWN: usize>(
    value: Fixed<SCALE, SHOWN>,
    is_turned: bool,
) -> Fixed<SCALE, SHOWN> {
    if is_turned { -value } else { value }
}

impl Posten {
    /// The net total; an item whose total would be too large has no price.
    pub fn netto(&self) -> Money {
        line_total(self.menge, self.ep_netto, self.rabatt_prozent).unwrap_or_default()
    }
}

/// Returns the item of a line, and a rounding if the total of the line differs from that of the item.
fn of_line(at: usize, zeile: &Zeile, is_turned: bool, only_rate: Option<Percent>) -> Vec<Posten> {
    let amounts = Amounts::of(zeile);
    let mwst_satz = zeile.mwst_satz.or_else(|| rate(zeile.steuer_kategorie)).or(only_rate);
    let code = zeile.einheit.as_deref();
    let name = zeile.bezeichnung.as_deref().or(zeile.beschreibung.as_deref());
    let description = zeile.beschreibung.as_deref().filter(|text| Some(*text) != name);
    let posten = Posten {
        zeile: Some(at),
        menge: signed(amounts.menge, is_turned),
        einheit: code.map(|code| one_line(of_unece_code(code).unwrap_or(code), NAME_CHARS_MAX)),
        ep_netto: amounts.preis,
        rabatt_prozent: amounts.rabatt,
        mwst_satz,
        steuer_kategorie: zeile.steuer_kategorie,
        steuer: None,
        bezeichnung: name
            .map_or_else(|| format!("Position {}", at + 1), |name| one_line(name, NAME_CHARS_MAX)),
        langtext: description.map(|text| lines(text, TEXT_CHARS_MAX)).filter(|text| !text.is_empty()),
        ist_genau: amounts.ist_genau,
        ist_errechnet: amounts.ist_errechnet,
    };
    let name = format!("{ROUNDING} zu Position {}", at + 1);
    let rounding = Posten {
        steuer_kategorie: zeile.steuer_kategorie,
        ..sum(signed(amounts.rest, is_turned), mwst_satz, name)
    };
    [Some(posten), Some(rounding).filter(|_| !amounts.rest.is_zero())].into_iter().flatten().collect()
}

/// The item of an allowance or a charge: one piece at its amount; a negative amount is a discount line (D6).
fn of_charge(zuschlag: &Zuschlag, is_turned: bool, only_rate: Option<Percent>) -> Posten {
    let name = if zuschlag.betrag.is_negative() { "Abschlag" } else { "Zuschlag" };
    let grund = zuschlag.grund.as_deref().unwrap_or(name);
    let rate = zuschlag.mwst_satz.or_else(|| rate(zuschlag.steuer_kategorie)).or(only_rate);
    Posten {
        steuer_kategorie: zuschlag.steuer_kategorie,
        ..sum(signed(zuschlag.betrag, is_turned), rate, one_line(grund, NAME_CHARS_MAX))
    }
}

fn of_sums(gelesen: &Gelesen, is_turned: bool) -> Vec<Posten> {
    let nummer = gelesen.nummer.as_deref().unwrap_or_default();
    let name = one_line(&format!("Rechnung {nummer}"), NAME_CHARS_MAX);
    let groups = gelesen.gruppen.iter().filter_map(|group| {
        let rate = group.mwst_satz.or_else(|| rate(group.steuer_kategorie));
        let posten = sum(signed(group.netto?, is_turned), rate, name.clone());
        let steuer = group.steuer.map(|steuer| signed(steuer, is_turned));
        Some(Posten { steuer_kategorie: group.steuer_kategorie, steuer, ..posten })
    });
    let groups: Vec<_> = groups.collect();
    match (groups.is_empty(), gelesen.summen.netto) {
        (true, Some(netto)) => {
            let steuer = gelesen.summen.mwst.map(|steuer| signed(steuer, is_turned));
            vec![Posten { steuer, ..sum(signed(netto, is_turned), None, name) }]
        }
        _ => groups,
    }
}

fn sum(betrag: Money, mwst_satz: Option<Percent>, bezeichnung: String) -> Posten {
    Posten {
        zeile: None,
        menge: Quantity::whole(1),
        einheit: None,
        ep_netto: Price::round(betrag.decimal()).unwrap_or_default(),
        rabatt_prozent: Percent::ZERO,
        mwst_satz,
        steuer_kategorie: None,
        steuer: None,
        bezeichnung,
        langtext: None,
        ist_genau: true,
        ist_errechnet: false,
    }
}

/// The rate that follows from a category: 0 if it is untaxed.
fn rate(kategorie: Option<Steuerkategorie>) -> Option<Percent> {
    kategorie.filter(|kategorie| *kategorie != Steuerkategorie::Steuerpflichtig).map(|_| Percent::ZERO)
}

struct Amounts {
    menge: Quantity,
    preis: Price,
    rabatt: Percent,
    /// By how much the total exceeds what these give.
    rest: Money,
    ist_genau: bool,
    ist_errechnet: bool,
}

impl Amounts {
    /// Takes the printed price if it gives the printed total (BT-131) with the allowances and charges of the line, an
    /// allowance being a discount. Else derives the price from the total, with a rest due to its decimals: a discount
    /// that the line does not print is no fact of the invoice.
    fn of(zeile: &Zeile) -> Amounts {
        let menge = zeile.menge.filter(|menge| !menge.is_zero()).unwrap_or(Quantity::whole(1));
        let printed = zeile.preis.and_then(|preis| per_unit(preis, zeile));
        let gives = |preis, rabatt| line_total(menge, preis, rabatt).ok();
        let found = |preis, rabatt, rest: Money, ist_genau| Amounts {
            menge,
            preis,
            rabatt,
            rest,
            ist_genau,
            ist_errechnet: false,
        };
        let Some(netto) = zeile.netto else {
            let printed = printed.filter(|preis| gives(*preis, Percent::ZERO).is_some());
            return found(printed.unwrap_or_default(), Percent::ZERO, Money::ZERO, printed.is_some());
        };
        let fits = |preis: &Price| {
            gives(*preis, Percent::ZERO).and_then(|total| total.plus(zeile.zuschlag).ok()) == Some(netto)
        };
        if let Some(preis) = printed.filter(|_| !zeile.is_without_quantity()).filter(fits) {
            let discounts =
                [Some(Percent::ZERO), discount(menge, preis, netto, 2), discount(menge, preis, netto, 6)];
            let fits = |rabatt: &Percent| gives(preis, *rabatt) == Some(netto);
            if let Some(rabatt) = discounts.into_iter().flatten().find(fits) {
                return found(preis, rabatt, Money::ZERO, true);
            }
        }
        let preis = Price::round(netto.decimal() / menge.decimal()).unwrap_or_default();
        let (preis, total) =
            gives(preis, Percent::ZERO).map_or_else(Default::default, |total| (preis, total));
        let rest = netto.minus(total).unwrap_or(netto);
        Amounts { ist_errechnet: true, ..found(preis, Percent::ZERO, rest, rest.is_zero()) }
    }
}

impl Zeile {
    fn is_without_quantity(&self) -> bool {
        self.menge.is_some_and(|menge| menge.is_zero())
    }
}

/// The discount in per cent, rounded to `decimals` decimals, that gives a line this total; `None` if there is
/// none.
fn discount(menge: Quantity, preis: Price, netto: Money, decimals: u32) -> Option<Percent> {
    let gross = menge.decimal().checked_mul(preis.decimal()).filter(|gross| !gross.is_zero())?;
    let share = Decimal::ONE.checked_sub(netto.decimal().checked_div(gross)?)?;
    let percent = Percent::round(share.checked_mul(Decimal::ONE_HUNDRED)?.round_dp(decimals)).ok()?;
    (Percent::ZERO..=Percent::whole(100)).contains(&percent).then_some(percent)
}

/// The printed price of one unit of the quantity, where the price is for another number of units, or for another unit of
/// mass.
fn per_unit(preis: Price, zeile: &Zeile) -> Option<Price> {
    let basis = zeile.basis.filter(|basis| !basis.is_zero()).unwrap_or(Quantity::whole(1));
    let unit = |code: &Option<String>| code.as_deref().and_then(of_unece_code);
    let units = unit(&zeile.basis_einheit).zip(unit(&zeile.einheit));
    let conversion = units.and_then(|(from, to)| Conversion::between(from, to)).unwrap_or(Conversion::NONE);
    let in_unit = conversion.quantity(basis).ok().filter(|basis| !basis.is_zero())?;
    Price::round(preis.decimal().checked_div(in_unit.decimal())?).ok()
}

/// Puts a text on one line without control characters, cut to `max` characters.
pub fn one_line(text: &str, max: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    cut(&words.collect::<Vec<_>>().join(" "), max)
}

/// Keeps the lines of a text but no other control characters, cut to `max` characters.
fn lines(text: &str, max: usize) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    cut(kept.trim(), max)
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => text.get(..end).unwrap_or_default().trim_end().to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number<const SCALE: u32, const SHOWN: usize>(text: &str) -> Option<Fixed<SCALE, SHOWN>> {
        (!text.is_empty()).then(|| Fixed::parse(text).unwrap().value)
    }

    #[test]
    fn quantity_price_and_discount_give_the_printed_total() {
        // Quantity, price, base quantity, total; then quantity, price, discount, rest of the total; - if none
        // is known.
        let table = [
            ("10", "2.5", "", "25.00", "10.000 2.5000 0.00 0.00"),
            ("24860", "253.50", "1000", "6302.01", "24860.000 0.2535 0.00 0.00"),
            ("7", "3.335", "", "20.43", "7.000 2.918571 0.00 0.00"),
            ("3", "100", "", "0", "3.000 0.0000 0.00 0.00"),
            ("-7", "3.335", "", "-20.43", "-7.000 2.918571 0.00 0.00"),
            ("3", "33.33", "", "100.00", "3.000 33.333333 0.00 0.00"),
            ("3", "", "", "100.00", "3.000 33.333333 0.00 0.00"),
            ("", "", "", "100.00", "1.000 100.0000 0.00 0.00"),
            ("0", "5", "", "12.00", "1.000 12.0000 0.00 0.00"),
            ("4", "2.5", "0", "10.00", "4.000 2.5000 0.00 0.00"),
            ("4", "2.5", "", "", "4.000 2.5000 0.00 0.00"),
            ("999999999999", "999999999999", "", "", "999999999999.000 0.0000 0.00 -"),
            ("4", "", "", "", "4.000 0.0000 0.00 -"),
            ("999999", "1", "", "1000000.25", "999999.000 1.000001 0.00 0.25"),
            ("1", "999999999999", "0.000001", "5", "1.000 5.0000 0.00 0.00"),
            ("999999999999", "999999999999", "", "1", "999999999999.000 0.0000 0.00 1.00"),
        ];
        for (menge, preis, basis, netto, expected) in table {
            let zeile = Zeile {
                menge: number(menge),
                preis: number(preis),
                basis: number(basis),
                netto: number(netto),
                ..Zeile::default()
            };
            let found = Amounts::of(&zeile);
            let is_open = !found.ist_genau && found.rest.is_zero();
            let rest = if is_open { "-".to_owned() } else { found.rest.to_string() };
            let shown = format!("{} {} {} {rest}", found.menge, found.preis, found.rabatt);
            assert_eq!(shown, expected, "{menge} × {preis} / {basis} = {netto}");
        }
    }

    #[test]
    fn an_allowance_of_the_line_is_a_discount_and_a_price_is_of_its_unit() {
        // Quantity and unit, price, its quantity and unit, charges less allowances, total; then price, discount, whether
        // the price is derived.
        let table = [
            ("12000", "KGM", "24.55", "1", "DTN", "0", "2946.00", "0.2455 0.00 false"),
            ("12000", "KGM", "245.50", "1", "TNE", "0", "2946.00", "0.2455 0.00 false"),
            ("12", "TNE", "24.55", "100", "KGM", "0", "2946.00", "245.5000 0.00 false"),
            ("12000", "KGM", "24.55", "", "", "0", "2946.00", "0.2455 0.00 true"),
            ("12000", "KGM", "24.55", "1", "XSA", "0", "2946.00", "0.2455 0.00 true"),
            ("12000", "KGM", "0.27", "", "", "-294.60", "2945.40", "0.2700 9.092593 false"),
            ("10", "H87", "10", "", "", "-5", "95.00", "10.0000 5.00 false"),
            ("10", "H87", "10", "", "", "5", "105.00", "10.5000 0.00 true"),
            ("3", "H87", "100", "", "", "-300", "0", "100.0000 100.00 false"),
            ("0", "H87", "5", "", "", "12", "12.00", "12.0000 0.00 true"),
        ];
        for (menge, einheit, preis, basis, of, zuschlag, netto, expected) in table {
            let zeile = Zeile {
                menge: number(menge),
                einheit: Some(einheit.to_owned()),
                preis: number(preis),
                basis: number(basis),
                basis_einheit: Some(of.to_owned()).filter(|of| !of.is_empty()),
                zuschlag: number(zuschlag).unwrap_or_default(),
                netto: number(netto),
                ..Zeile::default()
            };
            let found = Amounts::of(&zeile);
            let shown = format!("{} {} {}", found.preis, found.rabatt, found.ist_errechnet);
            assert_eq!(shown, expected, "{menge} {einheit} × {preis} / {basis} {of}");
        }
    }

    #[test]
    fn texts_are_cut_and_cleaned() {
        assert_eq!(one_line(" Weizen\r\n\u{b} A \u{0}", 255), "Weizen A");
        assert_eq!(one_line("äöü äöü", 4), "äöü");
        assert_eq!(lines(" a\r\nb\rc\u{7}d ", 255), "a\nb\nc d");
    }
}
