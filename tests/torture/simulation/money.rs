//! Sums of the model: integers of fixed scale, rounded half away from zero.

use std::collections::BTreeMap;

use super::step::{Item, Name, SACK, SALT, WHEAT};
use crate::exactly::shown;

pub fn divided(number: i128, by: i128) -> i64 {
    let half = by / 2 * number.signum();
    ((number + half) / by) as i64
}

/// The data of articles: rate, sales price and tiers by thousandths of the unit, purchase price.
struct Article {
    rate: i64,
    price: i64,
    tiers: &'static [(i64, i64)],
    purchase: i64,
}

fn article(name: Name) -> Article {
    match name {
        WHEAT => Article {
            rate: 7,
            price: 3_200,
            tiers: &[(1_000_000, 2_900), (5_000_000, 2_700), (25_000_000, 2_455)],
            purchase: 1_985,
        },
        SACK => Article { rate: 19, price: 20_000, tiers: &[], purchase: 12_000 },
        SALT => Article { rate: 7, price: 5_000, tiers: &[], purchase: 4_111 },
        _ => Article { rate: 19, price: 0, tiers: &[], purchase: 0 },
    }
}

/// The amounts of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub price: i64,
    pub rate: i64,
    pub total: i64,
}

/// The broken rules about money.
#[derive(Default, Clone, Copy)]
pub struct Wrong {
    /// Tax is rounded line by line.
    pub by_line: bool,
    /// A tier applies only above its quantity.
    pub beyond: bool,
    /// Halves are cut off.
    pub cut: bool,
}

pub fn line(item: &Item, sells: bool, wrong: Wrong) -> Line {
    let of = item.article.map(article);
    let rate = item.rate.or(of.as_ref().map(|of| of.rate)).unwrap_or(7);
    let of_article = || {
        let of = of.as_ref()?;
        let stock = stock_quantity(item).abs();
        let reached = |(from, _): &&(i64, i64)| if wrong.beyond { *from < stock } else { *from <= stock };
        let tier = of.tiers.iter().rfind(reached).map_or(of.price, |(_, price)| *price);
        let price = if sells { tier } else { of.purchase };
        Some(if item.in_tonnes { price * 1_000 } else { price })
    };
    let price = item.price.or_else(of_article).unwrap_or(0);
    let exact = i128::from(item.quantity) * i128::from(price) * i128::from(100 - item.discount);
    let total = if wrong.cut { (exact / 10_000_000) as i64 } else { divided(exact, 10_000_000) };
    Line { price, rate, total }
}

/// The quantity in the article's unit.
pub fn stock_quantity(item: &Item) -> i64 {
    if item.in_tonnes { item.quantity * 1_000 } else { item.quantity }
}

/// Net, tax and gross in cents.
pub fn sums(lines: &[Line], wrong: Wrong) -> [i64; 3] {
    let tax = |net: i64, rate: i64| divided(i128::from(net) * i128::from(rate), 100);
    let mut groups: BTreeMap<i64, i64> = BTreeMap::new();
    lines.iter().for_each(|line| *groups.entry(line.rate).or_default() += line.total);
    let net = groups.values().sum();
    let taxes = if wrong.by_line {
        lines.iter().map(|line| tax(line.total, line.rate)).sum()
    } else {
        groups.iter().map(|(rate, net)| tax(*net, *rate)).sum::<i64>()
    };
    [net, taxes, net + taxes]
}

pub fn money(cents: i64) -> String {
    shown(cents, 2, 2)
}

pub fn quantity(thousandths: i64) -> String {
    shown(thousandths, 3, 3)
}

pub fn price(ten_thousandths: i64) -> String {
    shown(ten_thousandths, 4, 4)
}

pub fn percent(whole: i64) -> String {
    shown(whole, 0, 2)
}
