//! A step of a form in which a record is chosen. Each record found is a link back to the form that carries
//! the choice and the earlier ones along. This works without a script and with thousands of records.

use maud::{Markup, Render, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

use super::lists::filter;
use super::page::{PageRequest, Snapshot};
use super::parts::{joined, linked};
use crate::leitstand::master::artikel::name_of;
use crate::master::artikel::{self, ArtikelZeile, Auswahl};
use crate::master::kunden::{self, Kunde};
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::listing::Records;

/// Most records shown at a time.
const SHOWN: Page = Page { limit: Some(20), offset: 0 };

const NOTHING_FOUND: &str = "Nichts gefunden; vielleicht ist die Suche zu eng.";

/// Chooses a partner for `feld`; keeps the parameters in `keeps`.
pub fn partner(request: &PageRequest, db: &Snapshot<'_>, feld: &str, keeps: &[&str]) -> Result<Markup> {
    let auswahl = kunden::Auswahl { suche: request.filled_param("suche"), ..Default::default() };
    let found: Records<Kunde> = kunden::list(&db.tx, &auswahl, SHOWN)?;
    let to = |kunde: &Kunde| back(request, feld, kunde.id, keeps);
    let table = linked("Partner", NOTHING_FOUND, &found.rows, to)
        .text("Name", |kunde| kunde.name.clone())
        .text("Nummer", |kunde| kunde.kundennr.clone())
        .text("Ort", |kunde| joined([&kunde.plz, &kunde.ort], " "));
    Ok(choices(request, keeps, "Name, Nummer oder Ort", &table.render(), found.count))
}

/// Chooses an article for `feld`; keeps the parameters in `keeps`.
pub fn artikel(request: &PageRequest, db: &Snapshot<'_>, feld: &str, keeps: &[&str]) -> Result<Markup> {
    let auswahl = Auswahl { suche: request.filled_param("suche"), ..Auswahl::default() };
    let found: Records<ArtikelZeile> = artikel::list(&db.tx, &auswahl, SHOWN)?;
    let to = |row: &ArtikelZeile| back(request, feld, row.artikel.id, keeps);
    let table = linked("Artikel", NOTHING_FOUND, &found.rows, to)
        .text("Bezeichnung", |row| name_of(&row.artikel))
        .text("Nummer", |row| row.artikel.artikelnummer.clone());
    Ok(choices(request, keeps, "Bezeichnung, Nummer oder EAN", &table.render(), found.count))
}

/// The earlier choices.
fn kept<'a>(request: &'a PageRequest, keeps: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    keeps.iter().map(|name| (*name, request.param(name))).filter(|(_, value)| !value.is_empty())
}

/// The link back to the form with the choice; drops `waehlen`, which requested it.
fn back(request: &PageRequest, feld: &str, id: Uuid, keeps: &[&str]) -> String {
    let kept = kept(request, keeps).filter(|(name, _)| *name != feld && *name != "waehlen");
    let kept = kept.map(|(name, value)| format!("&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    format!("?{feld}={id}{}", kept.collect::<String>())
}

fn choices(request: &PageRequest, keeps: &[&str], label: &str, table: &Markup, count: i64) -> Markup {
    let shown = SHOWN.limit.unwrap_or(0);
    html! {
        form.filter method="get" {
            (filter(request, "suche", label, "search"))
            @for (name, value) in kept(request, keeps) { input type="hidden" name=(name) value=(value); }
            button type="submit" { "Suchen" }
        }
        (table)
        @if count > i64::from(shown) { p { "Gezeigt sind " (shown) " von " (count) ". Bitte genauer suchen." } }
    }
}
