//! Articles: the list with its search, and a record with prices, stock, attachments and history.

use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields::{self, elsewhere, facts_of};
use crate::leitstand::kit::lists::{self, List, filter, filter_choice, new_button};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, facts, joined, optional, or_blank, price, table};
use crate::leitstand::kit::verlauf::{self, Lesart};
use crate::leitstand::kit::{anhaenge, frame};
use crate::master::anhaenge::Besitzer;
use crate::master::artikel::{self, Artikel, ArtikelZeile, Artikelgruppe, Auswahl, Staffel};
use crate::platform::db::list::{MAX_LIMIT, Page};
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/artikel")?;
    let auswahl = Auswahl { mit_bestand: true, ..Auswahl::of(&query)? };
    if let Some(file) = list_file::asked(&query, "artikel", |page| artikel::list(&db.tx, &auswahl, page))? {
        return Ok(file);
    }
    let found = artikel::list(&db.tx, &auswahl, lists::page_of(request))?;
    let list = List {
        empty: "Keine aktiven Artikel gefunden. Viele auf einmal kommen mit einem Import herein (Seite \
         Import, Art Artikel); vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(request, "suche", "Bezeichnung, Nummer oder EAN", "search"))
            (groups(request, db)?)
        },
        order: "artikelnummer",
        above: new_button(request, "artikel/neu", "Neuer Artikel"),
        ..List::of("artikel", "Artikel", |row: &ArtikelZeile| row.artikel.id, &found)
    };
    lists::page(request, db, list, |table| {
        table
            .text("Bezeichnung", |row| name_of(&row.artikel))
            .sorts("bezeichnung")
            .text("Nummer", |row| row.artikel.artikelnummer.clone())
            .sorts("artikelnummer")
            .text("Gruppe", |row| or_blank(&row.artikel.gruppe))
            .numbers("Bestand", |row| optional(row.bestand, amount))
            .text("Einheit", |row| or_blank(&row.artikel.einheit))
            .numbers("Preis netto (EUR)", |row| optional(row.artikel.preis, price))
    })
}

/// The name of an article with its second line, because several can share the first.
pub fn name_of(artikel: &Artikel) -> String {
    joined([&Some(artikel.bezeichnung.clone()), &artikel.bezeichnung2], ", ")
}

fn groups(request: &PageRequest, db: &Snapshot<'_>) -> Result<Markup> {
    let groups = groups_of(db)?;
    Ok(html! { @if !groups.is_empty() { (filter_choice(request, "gruppe_id", "Gruppe", groups)) } })
}

/// The groups, each with its number and its name.
pub fn groups_of(db: &Snapshot<'_>) -> Result<Vec<(String, String)>> {
    let page = Page { limit: Some(MAX_LIMIT), offset: 0 };
    let Records { rows, .. } = artikel::list_gruppen(&db.tx, page)?;
    Ok(rows.iter().map(|gruppe: &Artikelgruppe| (gruppe.id.to_string(), gruppe.name.clone())).collect())
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let artikel = artikel::found(&db.tx, request.uuid(0)?)?;
    let stock = artikel::stock(&db.tx, artikel.id)?;
    let (id, here) = (artikel.id, request.page_of("artikel", artikel.id));
    let tiers = artikel::tiers(&db.tx, id)?;
    let no_tiers = "Keine: Es gilt der Preis.";
    let changes = artikel::VERLAUF.changes(&db.tx, id, lists::page_of(request))?;
    let body = html! {
        div.tiles {
            div.tile {
                "Bestand"
                @if let Some(einheit) = &artikel.einheit { " (" (einheit) ")" }
                strong { (amount(stock)) }
            }
        }
        (facts(&facts_of(artikel.as_ref(), &elsewhere(["bezeichnung"]))))
        p.actions {
            @if request.may_change() {
                a.button href=(format!("{here}/aendern")) { "Ändern" }
                @if !artikel.chargenpflichtig { a.button href=(format!("{here}/inventur")) { "Bestand zählen" } }
            }
            a.button href=(request.of_firma(&format!("chargen?artikel_id={id}"))) { "Chargen" }
            a.button href=(request.of_firma(&format!("belege?artikel_id={id}"))) { "Belege" }
        }
        h2 { "Staffelpreise" }
        (table("Staffelpreise", no_tiers, &tiers)
            .numbers("Ab Menge", |tier| amount(tier.ab_menge))
            .numbers("Preis netto (EUR)", |tier| price(tier.preis)))
        (anhaenge::section(request, db, Besitzer::Artikel(id), &here)?)
        (verlauf::section(request, db, &here, changes, LESART)?)
    };
    Ok(frame::page(request, &artikel.bezeichnung, body))
}

const LESART: Lesart = (label_of, words_of);

fn label_of(name: &str) -> Option<&str> {
    match name {
        "artikelgruppe_id" => None, // the name of the group says it
        "staffelpreise" => Some("Staffelpreis"),
        name => fields::label_of::<Artikel>(name),
    }
}

fn words_of(name: &str, value: &Value) -> String {
    match name {
        "staffelpreise" => optional(Staffel::deserialize(value).ok(), |tier: Staffel| {
            let inactive = if tier.aktiv { "" } else { " (inaktiv)" };
            format!("ab {}: {}{inactive}", amount(tier.ab_menge), price(tier.preis))
        }),
        name => fields::words_of::<Artikel>(name, value),
    }
}

pub fn show_attach(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let artikel = artikel::found(&db.tx, request.uuid(0)?)?;
    Ok(anhaenge::show_form(request, &artikel.bezeichnung, &request.page_of("artikel", artikel.id)))
}

pub fn attach(request: &PageRequest) -> Result<FirmaChange> {
    anhaenge::attach(request, "artikel", "artikel")
}

pub fn attachment(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    anhaenge::download(request, db, Besitzer::Artikel(artikel::found(&db.tx, request.uuid(0)?)?.id))
}
