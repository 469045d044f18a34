//! Production orders: what goes in and comes out, and how they go on.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::frame;
use super::page::{Ask, Change, Seen, VERSION, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, date_of, day_of, facts, field, form, made_from, pager, refusal,
    table, text,
};
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::recipe::PaStatus;

const COLUMNS: [Column; 4] = [
    Column("Auftrag", false),
    Column("Datum", false),
    Column("Was entsteht", false),
    Column("Status", false),
];

/// GET /leitstand/f/{firma}/produktion
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/produktionsauftraege?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["status", "datum_von", "datum_bis"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let (found, count) = ask.get_list(seen, &path)?;
    let row = |auftrag: &Value| {
        let to = ask.of_firma(&format!("produktion/{}", text(auftrag, "id")));
        let (number, status) = (text(auftrag, "pa_nummer").to_owned(), state_of(auftrag));
        Cells(to, vec![number, day_of(auftrag, "produktions_datum"), made(auftrag).to_owned(), status])
    };
    let rows: Vec<_> = found.as_array().into_iter().flatten().map(row).collect();
    let empty = "Keine Produktionsaufträge gefunden. Sie legen die angeschlossenen Programme an (POST /api/v1/produktionsauftraege); Rezepturen kommen durch den Import.";
    let states = PaStatus::ALL.iter().map(|status| (status.as_str(), status.in_words()));
    let states: Vec<_> = [("", "alle")].into_iter().chain(states).collect();
    let body = html! {
        form.filter method="get" {
            (choice(ask, "status", "Status", &states, ask.param("status")))
            (field(ask, "datum_von", "Von", "date", ask.param("datum_von"), "off"))
            (field(ask, "datum_bis", "Bis", "date", ask.param("datum_bis"), "off"))
            button type="submit" { "Suchen" }
        }
        (table("Produktionsaufträge", &COLUMNS, &rows, empty))
        (pager(ask, &ask.of_firma("produktion"), count))
    };
    Ok(frame::page(ask, "Produktion", body))
}

/// The state of an order, in words.
fn state_of(auftrag: &Value) -> String {
    let status = text(auftrag, "status");
    PaStatus::parse(status).map_or_else(|| status.to_owned(), |status| status.in_words().to_owned())
}

/// What an order makes, in words.
fn made(auftrag: &Value) -> &str {
    let names = ["bezeichnung", "rezeptur_bezeichnung"].map(|name| text(auftrag, name));
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

fn one(ask: &Ask, seen: &Seen<'_>) -> Result<Value> {
    ask.get(seen, &format!("/api/v1/produktionsauftraege/{}", ask.id(0)?))
}

const LINE: [Column; 4] =
    [Column("Artikel", false), Column("Charge", false), Column("Soll", true), Column("Ist", true)];

/// What goes in, or comes out.
fn lines(ask: &Ask, caption: &str, of: &Value) -> Markup {
    let row = |line: &Value| {
        let charge = text(line, "charge_id");
        let to = if charge.is_empty() { String::new() } else { ask.of_firma(&format!("chargen/{charge}")) };
        let unit = text(line, "einheit");
        let amount = |name: &str| match amount_of(line, name) {
            amount if amount.is_empty() => amount,
            amount => format!("{amount} {unit}"),
        };
        let numbers = ["neue_charge_nr", "charge_nr", "fremde_charge_nr"].map(|name| text(line, name));
        let number = numbers.into_iter().find(|number| !number.is_empty()).unwrap_or_default();
        let article = text(line, "artikel_bezeichnung").to_owned();
        Cells(to, vec![article, number.to_owned(), amount("soll_menge"), amount("ist_menge")])
    };
    let rows: Vec<_> = of.as_array().into_iter().flatten().map(row).collect();
    html! { h2 { (caption) } (table(caption, &LINE, &rows, "Keine.")) }
}

/// GET /leitstand/f/{firma}/produktion/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let auftrag = one(ask, seen)?;
    let to = ask.of_firma(&format!("produktion/{}/status", text(&auftrag, "id")));
    let body = html! {
        (facts(&[
            ("Status", state_of(&auftrag)),
            ("Was entsteht", made(&auftrag).to_owned()),
            ("Datum", day_of(&auftrag, "produktions_datum")),
            ("Faktor", amount_of(&auftrag, "faktor")),
            ("Geplant", date_of(&auftrag, "geplant_am")),
            ("Begonnen", date_of(&auftrag, "gestartet_am")),
            ("Erledigt", date_of(&auftrag, "erledigt_am")),
            ("Bemerkung", text(&auftrag, "bemerkung").to_owned()),
        ]))
        @if ask.may_change() && !next_of(&auftrag).is_empty() { p.actions { a.button href=(to) { "Status ändern" } } }
        (lines(ask, "Was hineingeht", &auftrag["inputs"]))
        (lines(ask, "Was herauskommt", &auftrag["outputs"]))
    };
    Ok(frame::page(ask, text(&auftrag, "pa_nummer"), body))
}

/// The states that an order can come into, each as value and text.
fn next_of(auftrag: &Value) -> Vec<(&'static str, &'static str)> {
    let Some(now) = PaStatus::parse(text(auftrag, "status")) else { return Vec::new() };
    PaStatus::ALL
        .iter()
        .filter(|next| now.may_become(**next))
        .map(|next| (next.as_str(), next.in_words()))
        .collect()
}

/// GET /leitstand/f/{firma}/produktion/{id}/status
pub fn show_status(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let auftrag = one(ask, seen)?;
    let inside = html! {
        (refusal(ask, &["status"]))
        (made_from(ask, "version", text(&auftrag, VERSION)))
        p { "„erledigt“ bucht, was hineinging und herauskam, und lässt sich nicht zurücknehmen; ohne Istmengen gelten die Sollmengen. "
            "„storniert“ bucht nichts. Zurück geht es nie." }
        (choice(ask, "status", "Neuer Status", &next_of(&auftrag), ""))
    };
    let title = format!("Status von {}", text(&auftrag, "pa_nummer"));
    Ok(frame::page(ask, &title, form(ask, inside, "Ändern", false)))
}

/// POST /leitstand/f/{firma}/produktion/{id}/status
pub fn change_status(ask: &Ask) -> Result<Change> {
    let id = ask.id(0)?;
    ask.change(
        Method::Put,
        &format!("/api/v1/produktionsauftraege/{id}/status"),
        &json!({"status": ask.field("status")}),
        Some(ask.field("version")),
        ask.of_firma(&format!("produktion/{id}")),
        "Der Status ist geändert.",
    )
}
