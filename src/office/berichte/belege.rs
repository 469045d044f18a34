//! The documents behind a sum of a report (D35).

use super::model::{Auswahl, BerichtBeleg};
use super::zeitraum::Zeitraum;
use crate::office::buchhaltung::{self, InvoiceFilter, Rechnung};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::datev::Fall;
use crate::rules::fixed::Money;
use crate::rules::umsatzsteuer::{Umsatz, ZmArt, beitraege};

impl Auswahl {
    /// The base and tax that a group contributes to the sum; `None` if it does not belong to it.
    fn sum_of(&self, umsatz: &Umsatz) -> Option<(Money, Money)> {
        let fits = self.fall.is_none_or(|fall| fall == umsatz.fall)
            && self.zm.is_none_or(|art| ZmArt::of(umsatz) == Some(art));
        match self.kennzahl {
            _ if !fits => None,
            None => Some((umsatz.basis, umsatz.steuer)),
            Some(kennzahl) => {
                let mut beitraege = beitraege(umsatz);
                let beitrag = beitraege.find(|beitrag| i64::from(beitrag.kennzahl) == kennzahl)?;
                Some((umsatz.basis, beitrag.steuer.unwrap_or_default()))
            }
        }
    }

    /// The invoices that may contribute.
    fn welche(&self) -> InvoiceFilter {
        let is_of_eu = |fall| matches!(fall, Fall::ErloesIg | Fall::AufwandIg);
        if self.zm.is_some() || self.fall.is_some_and(is_of_eu) {
            InvoiceFilter::Eu
        } else {
            InvoiceFilter::Alle
        }
    }
}

/// Returns the documents behind a sum, by date and number. Their bases and taxes add up to the sum.
pub fn belege(tx: &Tx<'_>, zeitraum: Zeitraum, auswahl: &Auswahl) -> Result<Vec<BerichtBeleg>> {
    let is_of_buyer = |rechnung: &Rechnung| {
        let of = |ust_id: &String| rechnung.eu_ust_id().is_some_and(|found| found.text == *ust_id);
        auswahl.ust_id.as_ref().is_none_or(of)
    };
    let mut found = Vec::new();
    for (rechnung, umsaetze) in buchhaltung::umsaetze(tx, zeitraum.von, zeitraum.bis, auswahl.welche())? {
        let mut of_beleg = umsaetze.iter().filter_map(|umsatz| auswahl.sum_of(umsatz)).peekable();
        if of_beleg.peek().is_none() || !is_of_buyer(&rechnung) {
            continue;
        }
        let (mut basis, mut steuer) = (Money::ZERO, Money::ZERO);
        for (of_basis, of_steuer) in of_beleg {
            basis = basis.plus(of_basis)?;
            steuer = steuer.plus(of_steuer)?;
        }
        let Rechnung { id: beleg_id, beleg_nummer, beleg_datum, kunden_name, .. } = rechnung;
        found.push(BerichtBeleg { beleg_id, beleg_nummer, beleg_datum, kunden_name, basis, steuer });
    }
    Ok(found)
}
