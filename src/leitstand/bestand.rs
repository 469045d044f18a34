//! The stock of each article.

use maud::html;
use serde_json::Value;

use super::frame;
use super::lists::{self, Sorting, kept_order};
use super::page::{Ask, Seen, encoded};
use super::parts::{Cells, Column, ROWS, amount_of, field, pager, text};
use crate::failure::Result;
use crate::http::reply::Reply;

const COLUMNS: [Column; 4] =
    [Column("Artikel", false), Column("Nummer", false), Column("Bestand", true), Column("Einheit", false)];

/// GET /leitstand/f/{firma}/bestand
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/artikel?bestand=true&limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["suche", "sortierung"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let (found, count) = ask.get_list(seen, &path)?;
    let row = |artikel: &Value| {
        let id = text(artikel, "id");
        let to = ask.of_firma(&format!("chargen?artikel_id={id}&mit_bestand=true"));
        let [name, number, unit] =
            ["bezeichnung", "artikelnummer", "einheit"].map(|name| text(artikel, name).to_owned());
        Cells(to, vec![name, number, amount_of(artikel, "bestand"), unit])
    };
    let list = found["data"].as_array().or(found.as_array());
    let rows: Vec<_> = list.into_iter().flatten().map(row).collect();
    let here = ask.of_firma("bestand");
    let sorting =
        Sorting { path: &here, keys: &["bezeichnung", "artikelnummer", "", ""], default: "bezeichnung" };
    let empty = "Keine Artikel gefunden. Artikel kommen durch den Import, ihr Bestand durch Wareneingänge und Anfangsbestände.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Artikel", "search", ask.param("suche"), "off"))
            (kept_order(ask))
            button type="submit" { "Suchen" }
        }
        (lists::table(ask, "Bestand", &sorting, &COLUMNS, &rows, empty))
        (pager(ask, &here, count))
    };
    Ok(frame::page(ask, "Bestand", body))
}
