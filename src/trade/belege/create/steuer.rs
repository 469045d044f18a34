//! The tax of an item: its rate, and the category that gives the reason for the rate (D7, D24).

use super::header::Context;
use crate::master::artikel::{self, Artikel};
use crate::master::steuersaetze;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::Percent;
use crate::rules::tax::{
    Partnerregel, RATE_OF_LAST_RESORT, Steuerkategorie, class_of, derived_rate, partner_rule, rate_on,
};
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::sql::NamedPosition;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steuer {
    pub satz: Percent,
    /// Reason for the rate: always `S` above zero.
    pub kategorie: Steuerkategorie,
}

/// Returns the tax of an item: as sent, from the position that a credit takes back, or derived from partner
/// and article (D7).
pub fn of_item(
    tx: &Tx<'_>,
    context: &Context<'_>,
    item: &NewItem,
    artikel: Option<&Artikel>,
    taken_back: Option<&NamedPosition>,
    hints: &mut Hints,
) -> Result<Steuer> {
    on_day(tx, context, item, artikel, taken_back, (context.beleg.satz_datum(), hints))
}

/// Returns the tax of an item on another day than the document's.
pub fn on_day(
    tx: &Tx<'_>,
    context: &Context<'_>,
    item: &NewItem,
    artikel: Option<&Artikel>,
    taken_back: Option<&NamedPosition>,
    (day, hints): (Day, &mut Hints),
) -> Result<Steuer> {
    let fits = |line: &&NamedPosition| item.steuer_kategorie.is_none_or(|sent| sent == line.steuer_kategorie);
    if let Some(line) = taken_back.filter(fits).filter(|_| item.mwst_satz.is_none()) {
        return Ok(Steuer { satz: line.mwst_satz, kategorie: line.steuer_kategorie });
    }
    if context.einstellungen.is_kleinunternehmer(day) && context.beleg.beleg_typ.seite() == Seite::Verkauf {
        return Ok(of_kleinunternehmer(item, hints));
    }
    let mut found = Finder { tx, context, day, hints };
    let (satz, reason) = match (item.mwst_satz, item.steuer_kategorie) {
        (Some(sent), _) => (sent, None),
        (None, Some(kategorie)) if kategorie.fits(Percent::ZERO) => (Percent::ZERO, None),
        (None, _) => found.derived(artikel)?,
    };
    steuersaetze::hint_unknown(found.context.saetze, satz, found.hints);
    let kategorie = item.steuer_kategorie.or(reason).unwrap_or_else(|| found.of_rate(satz));
    match kategorie.fits(satz) {
        true => Ok(Steuer { satz, kategorie }),
        false => Err(does_not_fit(kategorie, satz).into()),
    }
}

/// Returns the tax of a Kleinunternehmer, who shows no tax on sales, whatever was sent (UStG § 19, D26).
fn of_kleinunternehmer(item: &NewItem, hints: &mut Hints) -> Steuer {
    let kategorie = Steuerkategorie::Steuerfrei;
    let ignored = [
        ("mwst_satz", item.mwst_satz.is_some_and(|satz| satz != Percent::ZERO)),
        ("steuer_kategorie", item.steuer_kategorie.is_some_and(|sent| sent != kategorie)),
    ];
    for (feld, _) in ignored.into_iter().filter(|(_, is_other)| *is_other) {
        let message = format!(
            "Die Firma ist Kleinunternehmer: Verkäufe stehen ohne Steuer, {feld} wurde nicht beachtet."
        );
        hints.add_field(HintCode::FeldIgnoriert, feld, message);
    }
    Steuer { satz: Percent::ZERO, kategorie }
}

fn does_not_fit(kategorie: Steuerkategorie, satz: Percent) -> Box<Refusal> {
    let message = match kategorie {
        Steuerkategorie::Steuerpflichtig => {
            "Mit S gehört ein Steuersatz über 0. Bitte mwst_satz angeben oder eine andere steuer_kategorie."
                .to_owned()
        }
        _ => format!(
            "Mit {} gehört der Steuersatz 0, nicht {satz} %. Bitte mwst_satz oder steuer_kategorie ändern.",
            kategorie.as_str()
        ),
    };
    Refusal::field(Code::SteuerKategoriePasstNicht, "steuer_kategorie", message)
}

struct Finder<'f, 'c> {
    tx: &'f Tx<'f>,
    context: &'f Context<'c>,
    /// The day whose rates apply.
    day: Day,
    hints: &'f mut Hints,
}

impl Finder<'_, '_> {
    /// Derives the rate of an item that has none: from partner, article, group, else 7 (D7); with the
    /// category if the partner decides.
    fn derived(&mut self, artikel: Option<&Artikel>) -> Result<(Percent, Option<Steuerkategorie>)> {
        let Context { beleg, kunde, einstellungen, saetze, .. } = self.context;
        let partner = super::partner::steuerpartner(kunde, self.day);
        match partner_rule(beleg.beleg_typ, partner, einstellungen.steuer_ausland_automatik) {
            Partnerregel::Null(hint) => {
                self.tax_hint(hint);
                Ok((Percent::ZERO, Some(Steuerkategorie::without_tax(hint))))
            }
            Partnerregel::Klasse(klasse) => {
                let satz = rate_on(saetze, klasse, self.day).unwrap_or_else(|| {
                    self.hint_assumed_rate(Percent::ZERO);
                    Percent::ZERO
                });
                Ok((satz, None))
            }
            Partnerregel::Artikelsatz(hint) => {
                self.tax_hint(hint);
                Ok((self.of_artikel(artikel)?, None))
            }
        }
    }

    /// Returns the rate of the article or its group, else 7, valid on the day of the goods.
    fn of_artikel(&mut self, artikel: Option<&Artikel>) -> Result<Percent> {
        let own = match artikel {
            Some(Artikel { mwst_satz: Some(satz), .. }) => Some(*satz),
            Some(Artikel { artikelgruppe_id: Some(gruppe), .. }) => artikel::gruppen_satz(self.tx, *gruppe)?,
            _ => None,
        };
        let rate = own.unwrap_or(RATE_OF_LAST_RESORT);
        let (saetze, today) = (self.context.saetze, self.tx.today());
        let current = class_of(saetze, rate).and_then(|klasse| rate_on(saetze, klasse, today));
        let derived = derived_rate(saetze, rate, self.day);
        if own.is_none() {
            self.hint_assumed_rate(derived);
        } else if let Some(current) = current.filter(|current| *current != rate) {
            let message = format!(
                "Beim Artikel stehen {rate} %; der Satz beträgt heute {current} %. Es gelten {derived} %. Bitte den \
                 Artikel berichtigen."
            );
            self.hints.add_field(HintCode::MwstSatzAlt, "mwst_satz", message);
        }
        Ok(derived)
    }

    /// Returns the category of a rate sent without a reason (D24).
    fn of_rate(&mut self, satz: Percent) -> Steuerkategorie {
        if satz == Percent::ZERO {
            let message = "Die Position ist ohne Steuer, und es ist nicht gesagt, warum; es gilt E (steuerfrei). \
                Bitte steuer_kategorie angeben.";
            self.hints.add_field(HintCode::SteuergrundFehlt, "steuer_kategorie", message);
        }
        Steuerkategorie::of_rate(satz)
    }

    fn tax_hint(&mut self, hint: Option<HintCode>) {
        let Some(code) = hint else { return };
        let message = match code {
            HintCode::IgLieferung => "Innergemeinschaftliche Lieferung: ohne Steuer.",
            HintCode::Ausfuhr => "Ausfuhr in ein Drittland: ohne Steuer.",
            HintCode::IgErwerb => "Innergemeinschaftlicher Erwerb: ohne Steuer des Lieferanten.",
            HintCode::Einfuhr => "Einfuhr aus einem Drittland: ohne Steuer des Lieferanten.",
            _ => "Der Partner ist im Ausland; es gilt der Satz des Artikels. Bitte prüfen.",
        };
        self.hints.add_field(code, "mwst_satz", message);
    }

    /// Adds a hint that the rate is assumed because none was sent or stored (D7).
    fn hint_assumed_rate(&mut self, rate: Percent) {
        let message =
            format!("Kein Steuersatz ist angegeben oder hinterlegt; es gelten {rate} %. Bitte prüfen.");
        self.hints.add_field(HintCode::MwstSatzAngenommen, "mwst_satz", message);
    }
}
