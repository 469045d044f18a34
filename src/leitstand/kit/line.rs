//! Line charts: the stock of an article or a batch, day by day.

use maud::{Markup, html};

use super::parts::{amount, in_unit};
use crate::goods::chargen::{self, Wovon};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;

const DAYS_SHOWN_MAX: i64 = 90;

/// Size of the line in the units of the picture, and the space above and below it.
const WIDTH: i64 = 728;
const HEIGHT: i64 = 160;
const ABOVE: i64 = 28;
const BELOW: i64 = 28;

/// Returns the stock at the end of each of the last days, oldest first: counted back from the current stock
/// by the movements of each day.
fn points(tx: &Tx<'_>, wovon: Wovon, begin: Option<Day>, now: Quantity) -> Result<Vec<(Day, Quantity)>> {
    let today = tx.today();
    let earliest = begin.map_or(i64::MIN, |day| day.number() - 1).min(today.number() - 1);
    let since = Day::of_number(earliest.max(today.number() - DAYS_SHOWN_MAX));
    let bewegt = chargen::moved_by_day(tx, wovon, since)?;
    let mut points = Vec::new();
    let mut stock = now;
    for day in (bewegt.ab.number()..=today.number()).rev().map(Day::of_number) {
        points.push((day, stock));
        stock = stock.minus(bewegt.tage.get(&day).copied().unwrap_or_default())?;
    }
    points.reverse();
    Ok(points)
}

/// The stock over the last 90 days, or since the day before `begin`, as a picture and in words.
pub fn stock(tx: &Tx<'_>, wovon: Wovon, begin: Option<Day>, now: Quantity, einheit: &str) -> Result<Markup> {
    let points = points(tx, wovon, begin, now)?;
    let most = points.iter().max_by_key(|(_, stock)| *stock);
    let least = points.iter().min_by_key(|(_, stock)| *stock);
    let (Some(first), Some(last), Some(most), Some(least)) = (points.first(), points.last(), most, least)
    else {
        return Ok(
            html! { p.empty { "Heute gab es so viele Bewegungen, dass der Verlauf nicht gezeigt wird." } },
        );
    };
    let told = |stock: Quantity| in_unit(amount(stock), Some(einheit));
    let words = match most.1 == least.1 {
        true => format!("Seit dem {} unverändert {}.", first.0.german(), told(last.1)),
        false => format!(
            "Am {} waren es {}, heute sind es {}. Am meisten: {} am {}; am wenigsten: {} am {}.",
            first.0.german(),
            told(first.1),
            told(last.1),
            told(most.1),
            most.0.german(),
            told(least.1),
            least.0.german()
        ),
    };
    Ok(html! {
        figure {
            (picture(&points, (least.1, most.1), &told(most.1), &words))
            figcaption { (words) }
        }
    })
}

/// Draws the steps of a line between the least and the most; 0 is always in view. `top_label` stands at the
/// highest.
fn picture(
    points: &[(Day, Quantity)],
    (least, most): (Quantity, Quantity),
    top_label: &str,
    words: &str,
) -> Markup {
    let (bottom, top) = (least.min(Quantity::ZERO), most.max(Quantity::ZERO));
    let span = (i128::from(top.units()) - i128::from(bottom.units())).max(1);
    let y = |stock: Quantity| {
        let above = i128::from(stock.units()) - i128::from(bottom.units());
        ABOVE + HEIGHT - i64::try_from(above * i128::from(HEIGHT) / span).unwrap_or(0)
    };
    let steps = i64::try_from(points.len()).unwrap_or(1).max(1);
    let x = |at: usize| 1 + i64::try_from(at).unwrap_or(0) * (WIDTH - 2) / steps;
    let line: String = points
        .iter()
        .enumerate()
        .map(|(at, (_, stock))| {
            format!("{}{} {}H{}", if at == 0 { "M" } else { "L" }, x(at), y(*stock), x(at + 1))
        })
        .collect();
    let (zero, end) = (y(Quantity::ZERO), x(points.len()));
    html! {
        svg.line viewBox=(format!("0 0 {WIDTH} {}", ABOVE + HEIGHT + BELOW)) width=(WIDTH)
            height=(ABOVE + HEIGHT + BELOW) role="img" {
            title { "Bestand über die Zeit" }
            desc { (words) }
            path.area d=(format!("{line}L{end} {zero}H1Z")) {}
            path.zero d=(format!("M1 {zero}H{end}M1 {}H{end}", y(most))) {}
            text x="1" y=(y(most) - 6) { (top_label) }
            path.steps d=(line) {}
            @if let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) {
                text x="1" y=(ABOVE + HEIGHT + 20) { (first.german()) }
                text x=(end) y=(ABOVE + HEIGHT + 20) text-anchor="end" { (last.german()) }
            }
        }
    }
}
