//! The stock: what is there of each article, and of one its course and its batches.

use maud::html;
use serde_json::Value;

use super::artikel::name_of;
use super::chargen::{self as charge_page, CHARGE};
use super::lists::{self, Sorting, kept_order};
use super::page::{Ask, Seen};
use super::parts::{Cells, Column, amount, amount_of, day_text, facts, field, number, pager, table, text};
use super::{frame, line};
use crate::artikel;
use crate::chargen::{self, Auswahl, COUNTED, Wovon};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::rules::verweis::parse_uuid;

const COLUMNS: [Column; 6] = [
    Column("Artikel", false),
    Column("Nummer", false),
    Column("Bestand", true),
    Column("Einheit", false),
    Column("Chargen mit Bestand", true),
    Column("Haltbar bis (früheste)", false),
];

/// The orders of the list, as its heads name them.
const ORDERS: [&str; 4] = ["bezeichnung", "-bezeichnung", "artikelnummer", "-artikelnummer"];

/// GET /leitstand/f/{firma}/bestand
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let order = ORDERS.into_iter().find(|order| *order == ask.param("sortierung"));
    let suche = Some(ask.param("suche")).filter(|suche| !suche.is_empty());
    let (found, count) = lists::read(artikel::list_in_stock(&seen.tx, suche, order, lists::page_of(ask))?)?;
    let rows = found.iter().map(|artikel| row(ask, seen, artikel)).collect::<Result<Vec<_>>>()?;
    let here = &ask.of_firma("bestand");
    let sorting = Sorting { path: here, keys: &["bezeichnung", "artikelnummer"], default: "artikelnummer" };
    let empty = "Kein Bestand gefunden. Bestand buchen Einkaufsbelege, Annahmen, die Produktion und der Import der Chargen; vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Bezeichnung, Nummer oder EAN", "search", ask.param("suche"), "off"))
            (kept_order(ask))
            button type="submit" { "Suchen" }
        }
        (lists::table(ask, "Bestand je Artikel", &sorting, &COLUMNS, &rows, empty))
        (pager(ask, here, count))
    };
    Ok(frame::page(ask, "Bestand", body))
}

fn row(ask: &Ask, seen: &Seen<'_>, artikel: &Value) -> Result<Cells> {
    let id = text(artikel, "id");
    let lagernd = parse_uuid(id).map(|id| chargen::in_stock(&seen.tx, id)).transpose()?;
    let batches = lagernd.filter(|lagernd| lagernd.chargen > 0).map(|lagernd| counted(lagernd.chargen));
    let mhd = lagernd.and_then(|lagernd| lagernd.mhd).map(day_text);
    let [number, unit] = ["artikelnummer", "einheit"].map(|name| text(artikel, name).to_owned());
    let cells = vec![
        name_of(artikel),
        number,
        amount_of(artikel, "bestand"),
        unit,
        batches.unwrap_or_default(),
        mhd.unwrap_or_default(),
    ];
    Ok(Cells(ask.of_firma(&format!("bestand/{id}")), cells))
}

/// A number of batches, which are not counted for ever.
fn counted(chargen: i64) -> String {
    let more = if chargen >= COUNTED { " oder mehr" } else { "" };
    format!("{}{more}", number(&chargen.to_string()))
}

/// GET /leitstand/f/{firma}/bestand/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let not_found = || Failure::not_found("Dieser Artikel");
    let id = parse_uuid(ask.id(0)?).ok_or_else(not_found)?;
    let artikel = artikel::find(&seen.tx, id)?.ok_or_else(not_found)?;
    let stock = artikel::stock(&seen.tx, id)?;
    let unit = artikel.einheit.as_deref().unwrap_or_default();
    let auswahl =
        Auswahl { artikel: Some(id), mit_bestand: true, sortierung: Some("mhd"), ..Auswahl::default() };
    let (found, count) = lists::read(chargen::list(&seen.tx, &auswahl, lists::page_of(ask))?)?;
    let rows: Vec<_> = found.iter().map(|charge| charge_page::row(ask, seen, charge)).collect();
    let body = html! {
        div.tiles {
            div.tile { "Bestand" @if !unit.is_empty() { " (" (unit) ")" } strong { (amount(stock)) } }
            div.tile { "Chargen mit Bestand" strong { (number(&count.to_string())) } }
        }
        (facts(&[("Nummer des Artikels", artikel.artikelnummer.clone())]))
        p.actions {
            a.button href=(ask.of_firma(&format!("chargen?artikel_id={id}"))) { "Alle Chargen" }
            a.button href=(ask.of_firma(&format!("artikel/{id}"))) { "Artikel" }
        }
        h2 { "Bestand der letzten 90 Tage" }
        (line::stock(&seen.tx, Wovon::Artikel(id), None, stock, unit)?)
        h2 { "Chargen mit Bestand" }
        (table("Chargen mit Bestand, die zuerst ablaufen, zuerst", &CHARGE, &rows, "Keine. Bestand ohne Charge steht nur beim Artikel."))
        (pager(ask, &ask.of_firma(&format!("bestand/{id}")), count))
    };
    Ok(frame::page(ask, &format!("Bestand: {}", artikel.bezeichnung), body))
}
