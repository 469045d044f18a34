//! Compares what is billed or credited at the article's price with the price of its deliveries, or of its invoices (D6).

use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Percent, Price};
use crate::rules::unit::Conversion;
use crate::trade::belege::model::{BelegPosition, Source};
use crate::trade::belege::sql::Lieferung;

/// Adds hints for deliveries, or for invoices that are taken back, whose price differs from that of a position at the
/// article's price.
pub fn hint_other_prices(positions: &[BelegPosition], others: &[Lieferung], hints: &mut Hints) {
    for position in positions.iter().filter(|position| position.preis_des_artikels) {
        let own = others.iter().filter(|lieferung| lieferung.position == position.position);
        let mut others = own.filter(|lieferung| costs_otherwise(lieferung, position));
        let Some(first) = others.next() else { continue };
        let more = if others.next().is_some() { " (und weiteren)" } else { "" };
        let (before, now) = match position.menge.is_negative() {
            true => ("Berechnet wurde", "gutgeschrieben"),
            false => ("Geliefert ist", "berechnet"),
        };
        let message = format!(
            "{before} mit {}{more} zu {}, {now} wird der Preis des Artikels: {}. Gilt der von \
             damals, bitte ep_netto angeben, einen Rabatt in rabatt_prozent.",
            first.beleg_nummer,
            in_words(first.ep_netto, first.rabatt_prozent, first.einheit.as_deref()),
            in_words(position.ep_netto, position.rabatt_prozent, position.einheit.as_deref())
        );
        let path = Source::Items.path(position.position);
        hints.add_field(HintCode::PreisAbweichend, format!("{path}.ep_netto"), message);
    }
}

/// Whether the delivery's price or discount differs from its invoice position. Prices in different units are
/// equal if the converted and rounded one matches; one too large to convert differs.
fn costs_otherwise(lieferung: &Lieferung, position: &BelegPosition) -> bool {
    let units = lieferung.einheit.as_deref().zip(position.einheit.as_deref());
    let conversion =
        units.and_then(|(theirs, own)| Conversion::between(theirs, own)).unwrap_or(Conversion::NONE);
    let is_same = conversion.price(lieferung.ep_netto).is_ok_and(|price| price == position.ep_netto)
        || conversion.reversed().price(position.ep_netto).is_ok_and(|price| price == lieferung.ep_netto);
    !is_same || lieferung.rabatt_prozent != position.rabatt_prozent
}

fn in_words(price: Price, rabatt_prozent: Percent, einheit: Option<&str>) -> String {
    let unit = einheit.map(|einheit| format!(" je {einheit}")).unwrap_or_default();
    let discount =
        if rabatt_prozent.is_zero() { String::new() } else { format!(" mit {rabatt_prozent} % Rabatt") };
    format!("{price}{unit}{discount}")
}
