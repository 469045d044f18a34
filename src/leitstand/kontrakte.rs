//! Contracts: what was agreed and what was delivered.

use maud::{Markup, html};
use serde_json::Value;
use uuid::Uuid;

use super::page::{Ask, Seen, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, day_of, facts, field, pager, price_of, table, text,
};
use super::{frame, lists};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::kontrakte;

const COLUMNS: [Column; 6] = [
    Column("Kontrakt", false),
    Column("Partner", false),
    Column("Gültig bis", false),
    Column("Vereinbart", true),
    Column("Geliefert", true),
    Column("Offen", true),
];

const STATES: [(&str, &str); 3] = [("", "alle"), ("false", "offene"), ("true", "erledigte")];

/// GET /leitstand/f/{firma}/kontrakte
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/kontrakte?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["suche", "erledigt", "erntejahr", "partner_id"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let found = ask.get(seen, &path)?;
    let row = |kontrakt: &Value| {
        let to = ask.of_firma(&format!("kontrakte/{}", text(kontrakt, "id")));
        let [number, partner] = ["kontrakt_nr", "partner_name"].map(|name| text(kontrakt, name).to_owned());
        let [agreed, delivered, open] =
            ["gesamtmenge", "geliefert", "offen"].map(|name| quantity(kontrakt, name));
        Cells(to, vec![number, partner, day_of(kontrakt, "gueltig_bis"), agreed, delivered, open])
    };
    let rows: Vec<_> = found["data"].as_array().into_iter().flatten().map(row).collect();
    let empty =
        "Keine Kontrakte gefunden. Kontrakte kommen durch den Import; vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Nummer oder Referenz", "search", ask.param("suche"), "off"))
            (choice(ask, "erledigt", "Welche", &STATES, ask.param("erledigt")))
            (field(ask, "erntejahr", "Erntejahr", "number", ask.param("erntejahr"), "off"))
            (lists::kept(ask, &["partner_id"]))
            button type="submit" { "Suchen" }
        }
        (lists::only_partner(ask, seen, "partner_id", "kontrakte", "Kontrakte")?)
        (table("Kontrakte", &COLUMNS, &rows, empty))
        (pager(ask, &ask.of_firma("kontrakte"), found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, "Kontrakte", body))
}

/// A quantity of a contract in its unit; blank where there is none.
fn quantity(kontrakt: &Value, name: &str) -> String {
    let amount = amount_of(kontrakt, name);
    if amount.is_empty() { amount } else { format!("{amount} {}", text(kontrakt, "gesamtmenge_einheit")) }
}

const POSITION: [Column; 4] =
    [Column("Nr.", true), Column("Artikel", false), Column("Menge", true), Column("Preis", true)];

/// GET /leitstand/f/{firma}/kontrakte/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let not_found = || Failure::not_found("Dieser Kontrakt");
    let id = Uuid::try_parse(ask.id(0)?).map_err(|_| not_found())?;
    let kontrakt = kontrakte::complete(&seen.tx, id)?.ok_or_else(not_found)?;
    let kontrakt = serde_json::to_value(kontrakt).map_err(|error| Failure::Broken(error.to_string()))?;
    let position = |position: &Value| {
        let article = text(position, "artikel_bezeichnung").to_owned();
        let [number, amount] = ["position", "menge"].map(|name| amount_of(position, name));
        Cells(String::new(), vec![number, article, amount, price_of(position, "preis")])
    };
    let positions: Vec<_> = kontrakt["positionen"].as_array().into_iter().flatten().map(position).collect();
    let partner = text(&kontrakt, "partner_id");
    let body = html! {
        (facts(&facts_of(&kontrakt)))
        (share(&kontrakt))
        @if !partner.is_empty() { p.actions { a.button href=(ask.of_firma(&format!("partner/{partner}"))) { "Zum Partner" } } }
        h2 { "Positionen" }
        (table("Positionen", &POSITION, &positions, "Dieser Kontrakt hat keine Positionen."))
    };
    Ok(frame::page(ask, text(&kontrakt, "kontrakt_nr"), body))
}

fn facts_of(kontrakt: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(kontrakt, name).to_owned();
    let amount = |name: &str| quantity(kontrakt, name);
    vec![
        ("Partner", plain("partner_name")),
        ("Art", plain("kontrakt_typ")),
        ("Gültig von", day_of(kontrakt, "gueltig_von")),
        ("Gültig bis", day_of(kontrakt, "gueltig_bis")),
        ("Erntejahr", kontrakt["erntejahr"].as_i64().map(|year| year.to_string()).unwrap_or_default()),
        ("Vereinbart", amount("gesamtmenge")),
        ("Geliefert", amount("geliefert")),
        ("Offen", amount("offen")),
        ("Parität", plain("paritat")),
        ("Zahlungsbedingung", plain("zahlungsbedingung")),
        ("Referenz", plain("referenz")),
        ("Stand", if kontrakt["erledigt"] == true { "erledigt".to_owned() } else { "offen".to_owned() }),
        ("Notizen", plain("notizen")),
    ]
}

/// Delivered against agreed as a bar with its words; nothing where either is not known.
fn share(kontrakt: &Value) -> Markup {
    let thousandths = |name: &str| {
        let (whole, rest) = text(kontrakt, name).split_once('.')?;
        format!("{whole}{rest:0<3.3}").parse::<i128>().ok()
    };
    let (Some(delivered), Some(open)) = (thousandths("geliefert"), thousandths("offen")) else {
        return html! {};
    };
    let agreed = delivered + open;
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
