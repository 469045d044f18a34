//! Contracts: what was agreed and what was delivered.

use maud::{Markup, html};

use super::frame;
use super::lists::{self, List, filter, filter_choice};
use super::page::{Ask, Snapshot};
use super::parts::{amount, facts, in_unit, optional, or_blank, price, table};
use crate::artikel;
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::kontrakte::{self, Kontrakt, Position};
use crate::rules::day::DayTime;
use crate::rules::fixed::Quantity;

pub fn list(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let query = ask.query_of("/api/v1/kontrakte")?;
    let found = kontrakte::find_page(&db.tx, &query, lists::page_of(ask))?;
    let list = List {
        empty: "Keine Kontrakte gefunden. Kontrakte kommen durch den Import; vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(ask, "suche", "Nummer oder Referenz", "search"))
            (filter_choice(ask, "erledigt", "Welche", [("false", "offene"), ("true", "erledigte")]))
            (filter(ask, "erntejahr", "Erntejahr", "number"))
        },
        keeps: &[("partner_id", "zu", "partner")],
        ..List::of("kontrakte", "Kontrakte", |kontrakt: &Kontrakt| kontrakt.id, &found)
    };
    let body = lists::body(ask, db, list, |table| {
        table
            .text("Kontrakt", |kontrakt| kontrakt.kontrakt_nr.clone())
            .text("Partner", |kontrakt| or_blank(&kontrakt.partner_name))
            .text("Gültig bis", |kontrakt| day(kontrakt.gueltig_bis))
            .numbers("Vereinbart", |kontrakt| quantity(kontrakt, kontrakt.gesamtmenge))
            .numbers("Geliefert", |kontrakt| quantity(kontrakt, kontrakt.geliefert))
            .numbers("Offen", |kontrakt| quantity(kontrakt, kontrakt.offen))
    })?;
    Ok(frame::page(ask, "Kontrakte", body))
}

fn quantity(kontrakt: &Kontrakt, menge: Option<Quantity>) -> String {
    optional(menge, |menge| in_unit(amount(menge), kontrakt.gesamtmenge_einheit.as_deref()))
}

fn day(day: Option<DayTime>) -> String {
    optional(day, |day| day.0.german())
}

pub fn show(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let kontrakt = kontrakte::complete(&db.tx, ask.uuid(0)?)?;
    let with_article = |position: &Position| {
        let artikel = position.artikel_id.map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
        Ok((position.clone(), artikel))
    };
    let positions = kontrakt.positionen.iter().map(with_article).collect::<Result<Vec<_>>>()?;
    let body = html! {
        (facts(&facts_of(&kontrakt)))
        (share(&kontrakt))
        @if kontrakt.partner_id.is_some() { p.actions { (ask.links([(kontrakt.partner_id, "partner", "Zum Partner")])) } }
        h2 { "Positionen" }
        (table("Positionen", "Dieser Kontrakt hat keine Positionen.", &positions).numbers("Nr.", |(position, _)| position.position.to_string()).text("Artikel", |(_, artikel)| optional(artikel.as_ref(), |artikel| artikel.bezeichnung.clone())).numbers("Menge", |(position, _)| optional(position.menge, amount)).numbers("Preis", |(position, _)| optional(position.preis, price)))
    };
    Ok(frame::page(ask, &kontrakt.kontrakt_nr, body))
}

fn facts_of(kontrakt: &Kontrakt) -> Vec<(&'static str, String)> {
    vec![
        ("Partner", or_blank(&kontrakt.partner_name)),
        ("Art", or_blank(&kontrakt.kontrakt_typ)),
        ("Gültig von", day(kontrakt.gueltig_von)),
        ("Gültig bis", day(kontrakt.gueltig_bis)),
        ("Erntejahr", optional(kontrakt.erntejahr, |year| year.to_string())),
        ("Vereinbart", quantity(kontrakt, kontrakt.gesamtmenge)),
        ("Geliefert", quantity(kontrakt, kontrakt.geliefert)),
        ("Offen", quantity(kontrakt, kontrakt.offen)),
        ("Parität", or_blank(&kontrakt.paritat)),
        ("Zahlungsbedingung", or_blank(&kontrakt.zahlungsbedingung)),
        ("Referenz", or_blank(&kontrakt.referenz)),
        ("Stand", if kontrakt.erledigt { "erledigt".to_owned() } else { "offen".to_owned() }),
        ("Notizen", or_blank(&kontrakt.notizen)),
    ]
}

/// Delivered against agreed as a bar with its words; nothing where either is not known.
fn share(kontrakt: &Kontrakt) -> Markup {
    let (Some(delivered), Some(open)) = (kontrakt.geliefert, kontrakt.offen) else { return html! {} };
    let delivered = i128::from(delivered.units());
    let agreed = delivered + i128::from(open.units());
    if agreed <= 0 {
        return html! {};
    }
    let percent = delivered.max(0) * 100 / agreed;
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
