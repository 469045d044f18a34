//! Contracts: the list and a record, with the quantities agreed and delivered.

use maud::{Markup, html};
use serde_json::Value;

use crate::goods::kontrakte::{self, Auswahl, Kontrakt, Position};
use crate::leitstand::kit::fields::elsewhere;
use crate::leitstand::kit::lists::{self, List, filter, filter_choice, new_button};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    self, ROWS, amount, facts, in_unit, joined, number, optional, or_blank, price, table,
};
use crate::leitstand::kit::verlauf::{self, Lesart};
use crate::leitstand::kit::{fields, frame};
use crate::master::artikel;
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::day::DayTime;
use crate::rules::fixed::{self, Quantity};

/// Most contracts that are summed: the deliveries on each are looked up.
const SUMMED_MAX: u32 = 500;

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/kontrakte")?;
    let (auswahl, page) = (Auswahl::of(&query)?, lists::page_of(request));
    if let Some(file) = kontrakte::as_file(&db.tx, &query, &auswahl)? {
        return Ok(file);
    }
    let all = kontrakte::find_page(&db.tx, &auswahl, Page { limit: Some(SUMMED_MAX), offset: 0 })?;
    let (sums, found) = match all.count > i64::from(SUMMED_MAX) {
        true => (too_many_to_sum(), kontrakte::find_page(&db.tx, &auswahl, page)?),
        false => (sums(&all)?, of_page(all, page)),
    };
    let list = List {
        empty: "Keine Kontrakte gefunden. Sie kommen durch „Neuer Kontrakt“ oder einen Import; vielleicht \
         ist auch die Suche zu eng.",
        filters: html! {
            (filter(request, "suche", "Nummer oder Referenz", "search"))
            (filter_choice(request, "erledigt", "Welche", [("false", "offene"), ("true", "erledigte")]))
            (filter(request, "erntejahr", "Erntejahr", "number"))
        },
        keeps: &[("partner_id", "zu", "partner")],
        above: html! {
            (new_button(request, "kontrakte/neu", "Neuer Kontrakt"))
            (sums)
        },
        ..List::of("kontrakte", "Kontrakte", |kontrakt: &Kontrakt| kontrakt.id, &found)
    };
    lists::page(request, db, list, |table| {
        table
            .text("Kontrakt", |kontrakt| kontrakt.kontrakt_nr.clone())
            .text("Partner", |kontrakt| or_blank(&kontrakt.partner_name))
            .text("Gültig bis", |kontrakt| day(kontrakt.gueltig_bis))
            .numbers("Vereinbart", |kontrakt| quantity(kontrakt, kontrakt.gesamtmenge))
            .numbers("Geliefert", |kontrakt| quantity(kontrakt, kontrakt.geliefert))
            .numbers("Offen", |kontrakt| quantity(kontrakt, kontrakt.offen))
    })
}

fn too_many_to_sum() -> Markup {
    html! { p { "Summen gibt es für höchstens " (number(SUMMED_MAX)) " Kontrakte; bitte enger suchen." } }
}

/// The sums of contracts by unit; one without a unit is not counted.
fn sums(all: &Records<Kontrakt>) -> Result<Markup> {
    let with_unit: Vec<_> =
        all.rows.iter().filter_map(|row| Some((row.gesamtmenge_einheit.clone()?, row))).collect();
    let sum = |of: fn(&Kontrakt) -> Option<Quantity>| {
        fixed::sums(with_unit.iter().filter_map(|(unit, row)| Some((unit.clone(), of(row)?))))
    };
    let sums = [
        ("vereinbart", sum(|row| row.gesamtmenge)?),
        ("geliefert", sum(|row| row.geliefert)?),
        ("offen", sum(|row| row.offen)?),
    ];
    let without = all.rows.len() - with_unit.len();
    Ok(html! {
        (parts::sums(&format!("Zusammen ({})", number(with_unit.len())), sums))
        @if without > 0 { p { (number(without)) " ohne Einheit zählen darin nicht mit." } }
    })
}

/// One page of all contracts found.
fn of_page(all: Records<Kontrakt>, page: Page) -> Records<Kontrakt> {
    let from = usize::try_from(page.offset).unwrap_or(usize::MAX);
    Records { rows: all.rows.into_iter().skip(from).take(ROWS as usize).collect(), ..all }
}

fn quantity(kontrakt: &Kontrakt, menge: Option<Quantity>) -> String {
    optional(menge, |menge| in_unit(amount(menge), kontrakt.gesamtmenge_einheit.as_deref()))
}

fn day(day: Option<DayTime>) -> String {
    optional(day, |day| day.0.german())
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kontrakt = kontrakte::complete(&db.tx, request.uuid(0)?)?;
    let here = request.page_of("kontrakte", kontrakt.id);
    let changes = kontrakte::VERLAUF.changes(&db.tx, kontrakt.id, lists::page_of(request))?;
    let with_article = |position: &Position| {
        let artikel = position.artikel_id.map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
        Ok((position.clone(), artikel))
    };
    let positions = kontrakt.positionen.iter().map(with_article).collect::<Result<Vec<_>>>()?;
    let body = html! {
        (facts(&facts_of(&kontrakt)))
        (share(&kontrakt))
        p.actions {
            @if request.may_change() { a.button href=(format!("{here}/aendern")) { "Ändern" } }
            (request.links([
                (kontrakt.partner_id, "partner", "Zum Partner"),
                (kontrakt.schema_id, "annahme/schemata", "Zum Schema")
            ]))
            a.button href=(request.of_firma(&format!("belege?kontrakt_id={}", kontrakt.id))) { "Belege" }
        }
        h2 { "Positionen" }
        (table("Positionen", "Dieser Kontrakt hat keine Positionen.", &positions)
            .numbers("Nr.", |(position, _)| position.position.to_string())
            .text("Artikel", |(_, artikel)| optional(artikel.as_ref(), |artikel| artikel.bezeichnung.clone()))
            .numbers("Menge", |(position, _)| optional(position.menge, amount))
            .numbers("Preis", |(position, _)| optional(position.preis, price)))
        (verlauf::section(request, db, &here, changes, LESART)?)
    };
    Ok(frame::page(request, &kontrakt.kontrakt_nr, body))
}

/// The fields of a contract; quantities with its unit.
fn facts_of(kontrakt: &Kontrakt) -> Vec<(&'static str, String)> {
    let quantities = [
        ("gesamtmenge", kontrakt.gesamtmenge),
        ("geliefert", kontrakt.geliefert),
        ("offen", kontrakt.offen),
        ("abgerechnet", kontrakt.abgerechnet),
    ];
    let quantities = quantities.map(|(name, menge)| (name, quantity(kontrakt, menge)));
    let own = [&quantities[..], &elsewhere(["kontrakt_nr", "gesamtmenge_einheit"])].concat();
    fields::facts_of(kontrakt, &own)
}

const LESART: Lesart = (label_of, words_of);

fn label_of(name: &str) -> Option<&str> {
    match name {
        "partner_id" => None, // the name says it
        "positionen" => Some("Position"),
        name => fields::label_of::<Kontrakt>(name),
    }
}

fn words_of(name: &str, value: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match (name, value) {
        ("positionen", Value::Object(position)) => {
            let (menge, preis) = (text(&position["menge"]), text(&position["preis"]));
            let preis = preis.map(|preis| format!("zu {} EUR", price(preis)));
            format!("Nr. {}: {}", position["position"], joined([&menge.map(amount), &preis], " "))
        }
        _ => fields::words_of::<Kontrakt>(name, value),
    }
}

/// A bar of the delivered share of the agreed quantity, in words, too; empty if either is unknown.
fn share(kontrakt: &Kontrakt) -> Markup {
    let Some(percent) = kontrakt.percent() else { return html! {} };
    let width = percent.min(100) * 6;
    let words = match percent {
        0..=100 => format!("{percent} % geliefert"),
        _ => format!("{percent} % geliefert, mehr als vereinbart"),
    };
    html! {
        figure {
            svg viewBox="0 0 600 24" width="600" height="24" role="img" aria-label=(words) {
                rect.then x="0" y="4" width="600" height="16" rx="4" {}
                rect.now x="0" y="4" width=(width) height="16" rx="4" {}
            }
            figcaption { (words) }
        }
    }
}
