//! Stock: a list with the quantity of each article, and a page for one article with its batches and its stock
//! over the last 90 days.

use maud::html;

use super::chargen::columns;
use crate::goods::chargen::{self, Auswahl, COUNTED, Charge, Lagernd, Wovon};
use crate::leitstand::kit::lists::{self, List, filter};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{amount, facts, linked, number, optional, or_blank};
use crate::leitstand::kit::{frame, line};
use crate::leitstand::master::artikel::name_of;
use crate::master::artikel::{self, ArtikelZeile};
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::day::Day;

/// A summary of an article's batches in stock, and the article.
type Row = (Lagernd, ArtikelZeile);

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/artikel")?;
    let (suche, order) = (query.search("suche")?, query.one_of("sortierung")?);
    let all = |page| artikel::list_in_stock(&db.tx, suche, order, page);
    if let Some(file) = list_file::asked(&query, "bestand", all)? {
        return Ok(file);
    }
    let Records { rows, count } = artikel::list_in_stock(&db.tx, suche, order, lists::page_of(request))?;
    let in_stock = |row: ArtikelZeile| Ok((chargen::in_stock(&db.tx, row.artikel.id)?, row));
    let found = Records { rows: rows.into_iter().map(in_stock).collect::<Result<Vec<Row>>>()?, count };
    let list = List {
        empty: "Kein Bestand gefunden. Bestand buchen Einkaufsbelege, Annahmen, die Produktion und der \
         Import der Chargen; vielleicht ist auch die Suche zu eng.",
        filters: filter(request, "suche", "Bezeichnung, Nummer oder EAN", "search"),
        order: "artikelnummer",
        above: html! { p.actions { a.button href=(request.of_firma("bestand/inventur")) { "Inventur" } } },
        ..List::of("bestand", "Bestand je Artikel", |(_, row): &Row| row.artikel.id, &found)
    };
    let body = lists::body(request, db, list, |table| {
        table
            .text("Artikel", |(_, row)| name_of(&row.artikel))
            .sorts("bezeichnung")
            .text("Nummer", |(_, row)| row.artikel.artikelnummer.clone())
            .sorts("artikelnummer")
            .numbers("Bestand", |(_, row)| optional(row.bestand, amount))
            .text("Einheit", |(_, row)| or_blank(&row.artikel.einheit))
            .numbers("Chargen mit Bestand", |(lagernd, _)| counted(lagernd.chargen))
            .text("Haltbar bis (früheste)", |(lagernd, _)| optional(lagernd.mhd, Day::german))
    })?;
    Ok(frame::page(request, "Bestand", body))
}

/// A number of batches, counted up to [`COUNTED`].
fn counted(chargen: i64) -> String {
    match chargen {
        0 => String::new(),
        COUNTED.. => format!("{} oder mehr", number(chargen)),
        _ => number(chargen),
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let artikel = artikel::found(&db.tx, request.uuid(0)?)?;
    let (id, unit) = (artikel.id, artikel.einheit.as_deref().unwrap_or_default());
    let stock = artikel::stock(&db.tx, id)?;
    let auswahl =
        Auswahl { artikel: Some(id), mit_bestand: true, sortierung: Some("mhd"), ..Auswahl::default() };
    let Records { rows, count } = chargen::list(&db.tx, &auswahl, lists::page_of(request))?;
    let to = |charge: &Charge| request.page_of("chargen", charge.id);
    let (caption, empty) = (
        "Chargen mit Bestand, die zuerst ablaufen, zuerst",
        "Keine. Bestand ohne Charge steht nur beim Artikel.",
    );
    let body = html! {
        div.tiles {
            div.tile { "Bestand" @if !unit.is_empty() { " (" (unit) ")" } strong { (amount(stock)) } }
            div.tile { "Chargen mit Bestand" strong { (number(count)) } }
        }
        (facts(&[("Nummer des Artikels", artikel.artikelnummer.clone())]))
        p.actions {
            a.button href=(request.of_firma(&format!("chargen?artikel_id={id}"))) { "Alle Chargen" }
            a.button href=(request.page_of("artikel", id)) { "Artikel" }
        }
        h2 { "Bestand der letzten 90 Tage" }
        (line::stock(&db.tx, Wovon::Artikel(id), None, stock, unit)?)
        h2 { "Chargen mit Bestand" }
        (columns(db.tx.today(), linked(caption, empty, &rows, to)))
        (pager(request, &request.page_of("bestand", id), count))
    };
    Ok(frame::page(request, &format!("Bestand: {}", artikel.bezeichnung), body))
}
