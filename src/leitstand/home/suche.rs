//! The search in the header: documents, partners, articles, batches and weighings, with the first hits of
//! each.

use maud::{Markup, html};
use uuid::Uuid;

use crate::goods::chargen::{self, Charge};
use crate::goods::waage::{self, Wiegung};
use crate::leitstand::goods::chargen::columns as charge_columns;
use crate::leitstand::goods::wiegungen;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot, encoded};
use crate::leitstand::kit::parts::{Table, linked, number, or_blank, typed_money};
use crate::leitstand::master::artikel::name_of;
use crate::leitstand::master::partner;
use crate::leitstand::trade::belege::columns as document_columns;
use crate::master::artikel::{self, ArtikelZeile};
use crate::master::kunden::{self, Kunde};
use crate::platform::db::list::Page;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::text::case_key;
use crate::trade::belege::{self, Beleg};

const HITS_SHOWN_MAX: u32 = 10;

/// Redirects from a page of no company to the search of the company chosen there.
pub fn in_chosen(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let chosen = request.firmen.iter().find(|firma| firma.id.to_string() == request.param("firma"));
    let firma = chosen.ok_or_else(|| Failure::not_found("Diese Firma"))?;
    let to = format!("/leitstand/f/{}/suche?suche={}", firma.id, encoded(request.param("suche")));
    Ok(frame::redirect(to))
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/belege")?;
    let Some(suche) = query.search("suche")? else {
        return Ok(frame::page(request, "Suche", html! { p.empty { (HOW_TO_SEARCH) } }));
    };
    let groups = [documents, by_amount, partners, artikel, chargen, weighings];
    let groups = groups.into_iter().map(|search| search(request, db, suche)).collect::<Result<Vec<_>>>()?;
    let mut hits = groups.iter().flat_map(|group| &group.hits);
    if let (Some(only), None) = (hits.next(), hits.next()) {
        return Ok(frame::redirect(only));
    }
    let body = html! {
        @if groups.iter().all(|group| group.hits.is_empty()) { p.empty { "Nichts gefunden. " (HOW_TO_SEARCH) } }
        @for group in groups { (group.shown) }
    };
    Ok(frame::page(request, &format!("Suche nach „{suche}“"), body))
}

const HOW_TO_SEARCH: &str = "Gesucht wird in Belegen (Nummer, fremde Nummer, Partner, Betrag), Partnern \
     (Name, Nummer, Ort, E-Mail), Artikeln (Bezeichnung, Nummer, EAN) und Chargen (Nummer, auch die des \
     Lieferanten); Wiegungen findet man über die ganze Nummer oder das ganze Kennzeichen.";

/// The hits of one kind: their links, and their markup.
#[derive(Default)]
struct Group {
    hits: Vec<String>,
    shown: Markup,
}

const FIRST_HITS: Page = Page { limit: Some(HITS_SHOWN_MAX), offset: 0 };

/// A group of hits; the page of each lies below its list's. The parameter `all` finds all of them in the
/// list.
fn group<T>(
    request: &PageRequest,
    (title, page, all): (&str, &str, &str),
    found: &Records<T>,
    id: fn(&T) -> Uuid,
    columns: impl FnOnce(Table<'_, T>) -> Table<'_, T>,
) -> Group {
    let rows = &found.rows[..found.rows.len().min(HITS_SHOWN_MAX as usize)];
    let to = |row: &T| request.page_of(page, id(row));
    let list = format!("{}?{all}={}", request.of_firma(page), encoded(request.param("suche")));
    let count = number(found.count);
    let shown = html! { @if found.count > 0 {
        h2 { (title) " (" (count) ")" }
        (columns(linked(title, "", rows, to)))
        @if found.count > rows.len() as i64 { p { a href=(list) { "Alle " (count) " anzeigen" } } }
    } };
    Group { hits: rows.iter().map(to).collect(), shown }
}

fn documents(request: &PageRequest, db: &Snapshot<'_>, suche: &str) -> Result<Group> {
    let auswahl = belege::Auswahl { suche: Some(suche), ..belege::Auswahl::default() };
    let found = belege::list(&db.tx, &auswahl, FIRST_HITS)?;
    Ok(group(request, ("Belege", "belege", "suche"), &found, |beleg: &Beleg| beleg.id, document_columns))
}

/// Finds documents by net or gross sum if an amount was typed.
fn by_amount(request: &PageRequest, db: &Snapshot<'_>, suche: &str) -> Result<Group> {
    let Some(betrag) = typed_money(suche) else { return Ok(Group::default()) };
    let auswahl = belege::Auswahl { betrag: Some(betrag), ..belege::Auswahl::default() };
    let found = belege::list(&db.tx, &auswahl, FIRST_HITS)?;
    let among = number(belege::AMOUNTS_LOOKED_AT_MAX);
    let title = format!("Belege mit diesem Betrag, netto oder brutto, unter den neuesten {among}");
    Ok(group(request, (&title, "belege", "betrag"), &found, |beleg: &Beleg| beleg.id, document_columns))
}

fn partners(request: &PageRequest, db: &Snapshot<'_>, suche: &str) -> Result<Group> {
    let auswahl = kunden::Auswahl { suche: Some(suche), ..kunden::Auswahl::default() };
    let found = kunden::list(&db.tx, &auswahl, FIRST_HITS)?;
    Ok(group(request, ("Partner", "partner", "suche"), &found, |kunde: &Kunde| kunde.id, partner::columns))
}

fn artikel(request: &PageRequest, db: &Snapshot<'_>, suche: &str) -> Result<Group> {
    let auswahl = artikel::Auswahl { suche: Some(suche), ..artikel::Auswahl::default() };
    let found = artikel::list(&db.tx, &auswahl, FIRST_HITS)?;
    let id = |row: &ArtikelZeile| row.artikel.id;
    Ok(group(request, ("Artikel", "artikel", "suche"), &found, id, |table| {
        table
            .text("Bezeichnung", |row| name_of(&row.artikel))
            .text("Nummer", |row| row.artikel.artikelnummer.clone())
            .text("Einheit", |row| or_blank(&row.artikel.einheit))
    }))
}

fn chargen(request: &PageRequest, db: &Snapshot<'_>, suche: &str) -> Result<Group> {
    let auswahl = chargen::Auswahl { suche: Some(case_key(suche)), ..chargen::Auswahl::default() };
    let found = chargen::list(&db.tx, &auswahl, FIRST_HITS)?;
    let id = |charge: &Charge| charge.id;
    Ok(group(request, ("Chargen", "chargen", "suche"), &found, id, |table| {
        charge_columns(db.tx.today(), table)
    }))
}

/// Finds weighings by the whole number or the whole plate, as the interface does.
fn weighings(request: &PageRequest, db: &Snapshot<'_>, suche: &str) -> Result<Group> {
    let by_number =
        waage::Auswahl { wiegeschein_nr: Some(suche.to_uppercase()), ..waage::Auswahl::default() };
    let by_plate = waage::Auswahl { kennzeichen: Some(suche), ..waage::Auswahl::default() };
    let mut found: Records<Wiegung> = waage::list(&db.tx, &by_number, FIRST_HITS)?;
    let of_plate: Records<Wiegung> = waage::list(&db.tx, &by_plate, FIRST_HITS)?;
    found.rows.extend(of_plate.rows);
    found.count += of_plate.count;
    let id = |wiegung: &Wiegung| wiegung.id;
    Ok(group(request, ("Wiegungen", "wiegungen", "kennzeichen"), &found, id, wiegungen::columns))
}
