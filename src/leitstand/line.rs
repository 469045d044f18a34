//! The stock of a batch over time, as a line.

use maud::{Markup, html};
use rust_decimal::Decimal;

use super::parts::{moment, quantity};
use crate::herkunft::Lagerbewegung;
use crate::rules::day::Instant;
use crate::rules::fixed::Quantity;

/// The area of the line, in pixels.
const WIDTH: i128 = 720;
const HEIGHT: i128 = 120;

/// The stock of now, walked back over movements of which the newest stands first; nothing where there is none.
pub fn stock(now: &str, unit: &str, movements: &[Lagerbewegung], at: Instant) -> Markup {
    let Some(oldest) = movements.last() else { return html! {} };
    let mut left = units(now);
    let mut points = vec![(at.millis(), left)];
    for bewegung in movements {
        points.push((bewegung.am.millis(), left));
        left -= i128::from(bewegung.menge.units());
        points.push((bewegung.am.millis(), left));
    }
    let (from, until) = (oldest.am.millis(), at.millis().max(oldest.am.millis() + 1));
    let most = points.iter().map(|(_, stock)| *stock).max().unwrap_or(0).max(1);
    let least = points.iter().map(|(_, stock)| *stock).min().unwrap_or(0).min(0);
    let x = |when: i64| i128::from(when.max(from) - from) * WIDTH / i128::from(until - from);
    let y = |stock: i128| HEIGHT - (stock - least) * HEIGHT / (most - least);
    let line: Vec<_> = points.iter().map(|(when, stock)| format!("{},{}", x(*when), y(*stock) + 4)).collect();
    let words = format!(
        "Vom {} bis heute. Am meisten: {} {unit}, jetzt: {} {unit}.",
        moment(oldest.am),
        amount(most),
        amount(units(now))
    );
    html! {
        figure {
            svg viewBox="0 0 720 132" width="720" height="132" role="img" aria-label=(format!("Bestand über die Zeit. {words}")) {
                line.then x1="0" x2="720" y1=(y(0) + 4) y2=(y(0) + 4) {}
                polyline.now points=(line.join(" ")) {}
            }
            figcaption { small { (words) } }
        }
    }
}

/// A quantity of an answer in its smallest steps.
fn units(text: &str) -> i128 {
    let mut decimal: Decimal = text.parse().unwrap_or_default();
    decimal.rescale(Quantity::ZERO.decimal().scale());
    decimal.mantissa()
}

fn amount(units: i128) -> String {
    Quantity::from_wide(units).map(quantity).unwrap_or_default()
}
