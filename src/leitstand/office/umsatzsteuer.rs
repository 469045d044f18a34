//! The figures for the VAT return, the recapitulative statement and Intrastat (D35), each with a link to its
//! documents. The page can be printed, too.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::steuerberater::{hints, month_of};
use crate::leitstand::kit::page::{PageRequest, Snapshot, encoded};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{choice, linked, moment, number, optional, table};
use crate::leitstand::kit::{frame, lists};
use crate::office::berichte::{self, Auswahl, BerichtBeleg, Intrastat, Umsatzsteuer, Zeitraum, Zm};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::rules::day::Day;
use crate::rules::error::Refusal;
use crate::rules::fixed::Money;
use crate::rules::umsatzsteuer::{IntrastatJahr, Kennzahl, Quartal, ZmArt, ZmZeile};

const PATH: &str = "umsatzsteuer";

/// How many months and how many quarters before the current one are offered.
const MONTHS: i64 = 24;
const QUARTERS: i64 = 8;

/// A month or a quarter, as the query names it: `2026-10`, `2026-Q4`.
struct Periode {
    key: String,
    name: String,
    von: Day,
    bis: Day,
}

impl Periode {
    fn month(day: Day) -> Periode {
        let (year, month) = (day.year(), day.month());
        Periode {
            key: format!("{year:04}-{month:02}"),
            name: month_of(day),
            von: Day::in_month(year, month, 1),
            bis: Day::in_month(year, month, 31),
        }
    }

    fn quarter(day: Day) -> Periode {
        let (year, quarter) = (day.year(), (day.month() - 1) / 3 + 1);
        Periode {
            key: format!("{year:04}-Q{quarter}"),
            name: format!("{quarter}. Quartal {year}"),
            von: Day::in_month(year, quarter * 3 - 2, 1),
            bis: Day::in_month(year, quarter * 3, 31),
        }
    }

    fn parse(key: &str) -> Option<Periode> {
        let (year, rest) = key.split_once('-')?;
        let year = year.parse().ok().filter(|year| (1..=9_999).contains(year))?;
        match rest.strip_prefix('Q') {
            Some(quarter) => {
                let quarter: i8 = quarter.parse().ok().filter(|quarter| (1..=4).contains(quarter))?;
                Some(Periode::quarter(Day::in_month(year, quarter * 3, 1)))
            }
            None => {
                let month = rest.parse().ok().filter(|month| (1..=12).contains(month))?;
                Some(Periode::month(Day::in_month(year, month, 1)))
            }
        }
    }

    /// The period in the query, otherwise last month.
    fn asked(request: &PageRequest, today: Day) -> Periode {
        Periode::parse(request.param("zeitraum")).unwrap_or_else(|| Periode::month(today.plus_months(-1)))
    }

    /// Key and name of each period on offer, including this one.
    fn choices(&self, today: Day) -> Vec<(String, String)> {
        let first = Day::in_month(today.year(), today.month(), 1);
        let months = (0..=MONTHS).map(|back| Periode::month(first.plus_months(-back)));
        let quarters = (0..=QUARTERS).map(|back| Periode::quarter(first.plus_months(-3 * back)));
        let mut choices: Vec<_> = months.chain(quarters).map(|periode| (periode.key, periode.name)).collect();
        if choices.iter().all(|(key, _)| *key != self.key) {
            choices.insert(0, (self.key.clone(), self.name.clone()));
        }
        choices
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let today = db.tx.today();
    let periode = Periode::asked(request, today);
    let zeitraum = Zeitraum::of(periode.von, periode.bis)?;
    let zahlen = told(berichte::umsatzsteuer(&db.tx, zeitraum))?;
    let zm = told(berichte::zm(&db.tx, zeitraum))?;
    let intrastat = told(berichte::intrastat(&db.tx, zeitraum))?;
    let noticed = [
        zahlen.as_ref().ok().map(|of| json!(of.hinweise)),
        zm.as_ref().ok().map(|of| json!(of.hinweise)),
        intrastat.as_ref().ok().map(|of| json!(of.hinweise)),
    ];
    let body = html! {
        form.filter method="get" {
            (choice(request, "zeitraum", "Zeitraum", periode.choices(today), &periode.key))
            button type="submit" { "Zeigen" }
        }
        p {
            "Nach Belegdatum, aus den abgeschlossenen Rechnungen, Gutschriften und Stornos. Barverkäufe der \
             Kasse sind nicht dabei. Eine Hilfe für die Meldungen: Übermittelt wird hier nichts. Stand: "
            (moment(request.now)) "."
        }
        (hints(&once(noticed)))
        h2 { "Umsatzsteuer-Voranmeldung" }
        @match &zahlen {
            Ok(zahlen) => (figures(request, &periode, zahlen)),
            Err(refusal) => (refused(request, refusal))
        }
        h2 { "Zusammenfassende Meldung" }
        @match &zm { Ok(zm) => (statement(request, &periode, zm)), Err(refusal) => (refused(request, refusal)) }
        h2 { "Intrastat" }
        @match &intrastat {
            Ok(intrastat) => (thresholds(request, &periode, intrastat)),
            Err(refusal) => (refused(request, refusal))
        }
        p.actions { a.button href=(request.of_firma("steuerberater")) { "Zu den Stapeln" } }
    };
    Ok(frame::page(request, &format!("Umsatzsteuer {}", periode.name), body))
}

/// Separates a refusal from a report; any other failure ends the request.
fn told<T>(report: Result<T>) -> Result<std::result::Result<T, Box<Refusal>>> {
    match report {
        Ok(report) => Ok(Ok(report)),
        Err(Failure::Refused(refusal)) => Ok(Err(refusal)),
        Err(failure) => Err(failure),
    }
}

/// The hints of several reports without duplicates.
fn once(noticed: impl IntoIterator<Item = Option<Value>>) -> Value {
    let mut hints: Vec<Value> = Vec::new();
    for hint in noticed.into_iter().flatten().flat_map(|of| of.as_array().cloned().unwrap_or_default()) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints.into()
}

fn refused(request: &PageRequest, refusal: &Refusal) -> Markup {
    html! {
        div.refused {
            p { (refusal.message) }
            @if !refusal.fehler.is_empty() { ul { @for fehler in &refusal.fehler { li {
                @if let Some(nummer) = &fehler.beleg_nummer {
                    a href=(format!("{}?suche={}", request.of_firma("suche"), encoded(nummer))) { (nummer) } ": "
                }
                (fehler.message)
            } } } }
        }
    }
}

/// The link to the documents of a sum.
fn to_documents(request: &PageRequest, periode: &Periode, (von, bis): (Day, Day), of: &str) -> String {
    format!("{}?{of}&von={von}&bis={bis}&zeitraum={}", request.of_firma("umsatzsteuer/belege"), periode.key)
}

fn euro(betrag: Option<Money>) -> String {
    optional(betrag, number)
}

fn figures(request: &PageRequest, periode: &Periode, bericht: &Umsatzsteuer) -> Markup {
    let to = |of: &Kennzahl| {
        to_documents(request, periode, (bericht.von, bericht.bis), &format!("kennzahl={}", of.kennzahl))
    };
    let numbers =
        |of: &Kennzahl| format!("{}{}", of.kennzahl, optional(of.steuer_kennzahl, |tax| format!(" / {tax}")));
    let other = bericht.anderer_monat_anzahl;
    html! {
        (linked("Kennzahlen", "In diesem Zeitraum gibt es nichts, was in die Voranmeldung gehört.",
            &bericht.kennzahlen, to)
            .text("Kennzahl", numbers)
            .text("Was", |of| of.bezeichnung.to_owned())
            .numbers("Basis", |of| euro(of.basis))
            .numbers("volle Euro", |of| optional(of.basis_euro, number))
            .numbers("Steuer", |of| euro(of.steuer))
            .numbers("im Formular", |of| euro(of.steuer_formular))
            .numbers("Unterschied", |of| euro(of.differenz)))
        p { "Beträge in EUR. Kennzahlen nach dem Vordruck " (bericht.formular) "; gezählt sind "
            (number(bericht.belege))
            " Belege, und jede Kennzahl führt zu ihren. „Steuer“ steht auf den Belegen; das Formular rechnet \
             sie aus vollen Euro, daher der Unterschied." }
        @if other > 0 {
            h3 { "Leistung in einem anderen Monat" }
            p {
                "Die Leistung liegt in einem anderen Monat als das Belegdatum: bitte prüfen, in welchen der \
                 Beleg gehört."
                @if other > bericht.anderer_monat.len() {
                    " Es sind " (number(other)) "; die ersten " (bericht.anderer_monat.len()) ":"
                }
            }
            (linked("Leistung in einem anderen Monat", "", &bericht.anderer_monat,
                |of| request.page_of("belege", of.beleg_id))
                .text("Beleg", |of| of.beleg_nummer.clone())
                .text("Belegdatum", |of| of.beleg_datum.german())
                .text("Leistung", |of| of.leistungsdatum.german())
                .numbers("Brutto (EUR)", |of| number(of.summe_brutto)))
        }
    }
}

fn in_words(art: ZmArt) -> &'static str {
    match art {
        ZmArt::Lieferung => "L, Lieferung",
        ZmArt::Leistung => "S, sonstige Leistung",
    }
}

fn statement(request: &PageRequest, periode: &Periode, bericht: &Zm) -> Markup {
    let to = |of: &ZmZeile| {
        let of = format!("zm={}&ust_id={}", of.art.as_str(), encoded(&of.ust_id));
        to_documents(request, periode, (bericht.von, bericht.bis), &of)
    };
    let quarter = |of: &Quartal| {
        let month = i8::try_from(of.quartal * 3).unwrap_or(12);
        let quarter = Periode::quarter(Day::in_month(of.jahr, month, 1));
        (quarter.name, to_documents(request, periode, (quarter.von, quarter.bis.min(bericht.bis)), "zm=L"))
    };
    let is_monthly = bericht.quartale.iter().any(|quartal| quartal.ueberschritten);
    html! {
        (linked("Zusammenfassende Meldung", "In diesem Zeitraum gibt es nichts zu melden.", &bericht.zeilen, to)
            .text("USt-IdNr.", |of| of.ust_id.clone())
            .text("Art", |of| in_words(of.art).to_owned())
            .numbers("Summe (EUR)", |of| number(of.summe))
            .numbers("volle Euro", |of| number(of.summe_euro)))
        p { "Dreiecksgeschäfte (Art D) erkennt partnerd nicht: Sie stehen hier als Lieferung." }
        (linked("Lieferungen in die EU je Quartal", "", &bericht.quartale, |of| quarter(of).1)
            .text("Lieferungen in die EU", |of| quarter(of).0)
            .numbers("Summe (EUR)", |of| number(of.summe))
            .text("über 50.000 EUR", |of| if of.ueberschritten { "ja".to_owned() } else { String::new() }))
        p {
            @if is_monthly {
                "Eines dieser Quartale liegt über 50.000 EUR: Lieferungen sind jeden Monat zu melden, bis \
                 zum 25. des folgenden."
            }
            @else {
                "Keines dieser Quartale liegt über 50.000 EUR: Gemeldet wird je Quartal, bis zum 25. des \
                 folgenden Monats."
            }
        }
    }
}

fn thresholds(request: &PageRequest, periode: &Periode, bericht: &Intrastat) -> Markup {
    let sum = |jahr: &IntrastatJahr, fall: &str, betrag: Money| {
        let von = Day::in_month(jahr.jahr, 1, 1);
        let bis = Day::in_month(jahr.jahr, 12, 31).min(bericht.bis);
        html! { a href=(to_documents(request, periode, (von, bis), &format!("fall={fall}"))) { (number(betrag)) } }
    };
    let due = |is_above| if is_above { "ja".to_owned() } else { String::new() };
    html! {
        (table("Intrastat", "", &bericht.jahre)
            .text("Jahr", |jahr| jahr.jahr.to_string())
            .with("Eingänge (EUR)", true, |jahr| sum(jahr, "aufwand_ig", jahr.eingaenge))
            .numbers("Schwelle (EUR)", |jahr| euro(jahr.schwelle_eingaenge))
            .text("zu melden", |jahr| due(jahr.eingaenge_ueberschritten))
            .with("Versendungen (EUR)", true, |jahr| sum(jahr, "erloes_ig", jahr.versendungen))
            .numbers("Schwelle (EUR)", |jahr| euro(jahr.schwelle_versendungen))
            .text("zu melden", |jahr| due(jahr.versendungen_ueberschritten)))
        p {
            "Seit dem 1. Januar, bis zum " (bericht.bis.german())
            ". Wer im Jahr davor über einer Schwelle lag, meldet auch in diesem."
        }
    }
}

/// Shows the documents behind a sum of the page.
pub fn documents(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/berichte/belege")?;
    let (zeitraum, auswahl) = berichte::behind(&query)?;
    let found = berichte::belege(&db.tx, zeitraum, &auswahl)?;
    let sum = |of: fn(&BerichtBeleg) -> Money| found.iter().map(of).try_fold(Money::ZERO, Money::plus);
    let (basis, steuer) = (sum(|beleg| beleg.basis)?, sum(|beleg| beleg.steuer)?);
    let here = request.of_firma("umsatzsteuer/belege");
    let back = format!("{}?zeitraum={}", request.of_firma(PATH), encoded(request.param("zeitraum")));
    let body = html! {
        p { "Abgeschlossene Belege vom " (zeitraum.von.german()) " bis zum " (zeitraum.bis.german()) "." }
        p.sums {
            "Summe aller: " span { "Basis " strong { (number(basis)) " EUR" } }
            span { "Steuer " strong { (number(steuer)) " EUR" } }
        }
        (linked(
            "Belege",
            "Hierzu gibt es keine Belege.",
            lists::page_of(request).of(&found),
            |of: &BerichtBeleg| request.page_of("belege", of.beleg_id)
        )
            .text("Beleg", |of| of.beleg_nummer.clone())
            .text("Datum", |of| of.beleg_datum.german())
            .text("Partner", |of| of.kunden_name.clone())
            .numbers("Basis (EUR)", |of| number(of.basis))
            .numbers("Steuer (EUR)", |of| number(of.steuer)))
        (pager(request, &here, i64::try_from(found.len()).unwrap_or(i64::MAX)))
        p.actions { a.button href=(back) { "Zur Umsatzsteuer" } }
    };
    Ok(frame::page(request, &format!("Belege: {}", what(&auswahl)), body))
}

/// The criteria of the documents, in words.
fn what(auswahl: &Auswahl) -> String {
    let words = [
        auswahl.kennzahl.map(|kennzahl| format!("Kennzahl {kennzahl}")),
        auswahl.fall.map(|fall| fall.in_words(None)),
        auswahl.zm.map(|art| format!("Zusammenfassende Meldung, {}", in_words(art))),
        auswahl.ust_id.clone(),
    ];
    let words: Vec<_> = words.into_iter().flatten().collect();
    if words.is_empty() { "alle".to_owned() } else { words.join(", ") }
}
