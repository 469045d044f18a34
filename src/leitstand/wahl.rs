//! A step of a form in which a record is chosen: what was found stands as links, which take the choice, and what was chosen
//! before, back to the form. So it works without a script, and with thousands of records.

use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

use super::lists::filter;
use super::page::{Ask, Snapshot};
use crate::artikel::{self, ArtikelZeile, Auswahl};
use crate::db::list::Page;
use crate::failure::Result;
use crate::kunden::{self, Kunde};
use crate::listing::Records;

/// Records that are shown at a time.
const SHOWN: Page = Page { limit: Some(20), offset: 0 };

/// Chooses a partner for `feld`; the parameters in `keeps` are kept.
pub fn partner(ask: &Ask, db: &Snapshot<'_>, feld: &str, keeps: &[&str]) -> Result<Markup> {
    let found: Records<Kunde> = kunden::list(&db.tx, ask.filled_param("suche"), None, None, SHOWN)?;
    let rows = found.rows.iter().map(|kunde| {
        let place = [&kunde.plz, &kunde.ort].into_iter().flatten().cloned().collect::<Vec<_>>().join(" ");
        (kunde.id, kunde.name.clone(), format!("{} {place}", kunde.kundennr))
    });
    Ok(choices(ask, feld, keeps, "Name, Nummer oder Ort des Partners", rows, found.count))
}

/// The same of an article.
pub fn artikel(ask: &Ask, db: &Snapshot<'_>, feld: &str, keeps: &[&str]) -> Result<Markup> {
    let auswahl = Auswahl { suche: ask.filled_param("suche"), ..Auswahl::default() };
    let found: Records<ArtikelZeile> = artikel::list(&db.tx, &auswahl, SHOWN)?;
    let rows = found.rows.iter().map(|row| {
        (row.artikel.id, super::artikel::name_of(&row.artikel), row.artikel.artikelnummer.clone())
    });
    Ok(choices(ask, feld, keeps, "Bezeichnung, Nummer oder EAN des Artikels", rows, found.count))
}

fn choices(
    ask: &Ask,
    feld: &str,
    keeps: &[&str],
    label: &str,
    rows: impl Iterator<Item = (Uuid, String, String)>,
    count: i64,
) -> Markup {
    let kept: Vec<(&str, &str)> =
        keeps.iter().map(|name| (*name, ask.param(name))).filter(|(_, value)| !value.is_empty()).collect();
    let rows: Vec<_> = rows.collect();
    let to = |id: &Uuid| {
        let kept = kept.iter().filter(|(name, _)| *name != feld && *name != "waehlen");
        let kept =
            kept.map(|(name, value)| format!("&{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        format!("?{feld}={id}{}", kept.collect::<String>())
    };
    html! {
        form.filter method="get" {
            (filter(ask, "suche", label, "search"))
            @for (name, value) in &kept { input type="hidden" name=(name) value=(value); }
            button type="submit" { "Suchen" }
        }
        @if rows.is_empty() { p { "Nichts gefunden; vielleicht ist die Suche zu eng." } }
        ul { @for (id, name, more) in &rows { li { a href=(to(id)) { (name) } " " span.note { (more.trim()) } } } }
        @if count > rows.len() as i64 { p { "Gezeigt sind " (rows.len()) " von " (count) ". Bitte genauer suchen." } }
    }
}
