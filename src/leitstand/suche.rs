//! The search of every page: documents, partners, articles, batches and weighings, with the first hits of each.

use maud::{Markup, html};
use serde_json::Value;

use super::artikel::name_of;
use super::page::{Ask, Seen, encoded};
use super::partner::town;
use super::parts::{Cells, Column, amount_of, date_of, day_of, number, table, text};
use super::{belege, frame};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;

/// Hits of each kind that are shown.
const HITS: usize = 10;

/// What was found of one kind.
struct Group {
    title: &'static str,
    columns: &'static [Column],
    hits: Vec<Cells>,
    /// How many there are in all.
    count: i64,
    /// Where all of them are listed; blank: they are all shown.
    list: String,
}

/// GET /leitstand/suche: from a page of no company to the search of the one that was chosen there.
pub fn in_chosen(ask: &Ask, _: &Seen<'_>) -> Result<Reply> {
    let chosen = ask.firmen.iter().find(|firma| firma.id.to_string() == ask.param("firma"));
    let firma = chosen.ok_or_else(|| Failure::not_found("Diese Firma"))?;
    let to = format!("/leitstand/f/{}/suche?suche={}", firma.id, encoded(ask.param("suche")));
    Ok(frame::guarded(Reply { status: 303, ..Reply::default() }.with("location", to)))
}

/// GET /leitstand/f/{firma}/suche
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    if ask.param("suche").is_empty() {
        return Ok(frame::page(ask, "Suche", html! { p.empty { (HOW) } }));
    }
    let groups = [documents, partner, artikel, chargen, wiegungen];
    let groups = groups.into_iter().map(|search| search(ask, seen)).collect::<Result<Vec<_>>>()?;
    let mut hits = groups.iter().flat_map(|group| &group.hits);
    if let (Some(only), None) = (hits.next(), hits.next()) {
        let reply = Reply { status: 303, ..Reply::default() }.with("location", only.0.clone());
        return Ok(frame::guarded(reply));
    }
    let found: Vec<_> = groups.iter().filter(|group| group.count > 0).collect();
    let body = html! {
        @if found.is_empty() { p.empty { "Nichts gefunden. " (HOW) } }
        @for group in found { (section(group)) }
    };
    Ok(frame::page(ask, &format!("Suche nach „{}“", ask.param("suche")), body))
}

const HOW: &str = "Gesucht wird in Belegen (Nummer, fremde Nummer, Partner), Partnern (Name, Nummer, Ort, E-Mail), Artikeln (Bezeichnung, Nummer, EAN) und Chargen (Nummer, auch die des Lieferanten); Wiegungen findet man über die ganze Nummer oder das ganze Kennzeichen.";

fn section(group: &Group) -> Markup {
    let more = group.count > group.hits.len() as i64;
    html! {
        h2 { (group.title) " (" (number(&group.count.to_string())) ")" }
        (table(group.title, group.columns, &group.hits, ""))
        @if more && !group.list.is_empty() { p { a href=(group.list) { "Alle " (number(&group.count.to_string())) " anzeigen" } } }
    }
}

/// The first hits of a list of the interface, and how many there are.
fn first(ask: &Ask, seen: &Seen<'_>, path: &str, param: &str) -> Result<(Vec<Value>, i64)> {
    let path = format!("{path}?limit={HITS}&{param}={}", encoded(ask.param("suche")));
    let (mut found, total) = ask.get_list(seen, &path)?;
    let rows = if found.is_array() { found.take() } else { found["data"].take() };
    Ok((rows.as_array().cloned().unwrap_or_default(), total))
}

/// A group of hits, each of which leads to `page/id`.
fn group(
    ask: &Ask,
    (title, page): (&'static str, &str),
    columns: &'static [Column],
    (rows, count): (Vec<Value>, i64),
    cells: impl Fn(&Value) -> Vec<String>,
) -> Group {
    let hit = |row: &Value| Cells(ask.of_firma(&format!("{page}/{}", text(row, "id"))), cells(row));
    let list = ask.of_firma(&format!("{page}?suche={}", encoded(ask.param("suche"))));
    Group { title, columns, hits: rows.iter().take(HITS).map(hit).collect(), count, list }
}

fn plain(row: &Value, name: &str) -> String {
    text(row, name).to_owned()
}

fn documents(ask: &Ask, seen: &Seen<'_>) -> Result<Group> {
    let found = first(ask, seen, "/api/v1/belege", "suche")?;
    Ok(group(ask, ("Belege", "belege"), &belege::COLUMNS, found, belege::cells_of))
}

const PARTNER: [Column; 3] = [Column("Name", false), Column("Nummer", false), Column("Ort", false)];

fn partner(ask: &Ask, seen: &Seen<'_>) -> Result<Group> {
    let found = first(ask, seen, "/api/v1/kunden", "suche")?;
    Ok(group(ask, ("Partner", "partner"), &PARTNER, found, |kunde| {
        vec![plain(kunde, "name"), plain(kunde, "kundennr"), town(kunde)]
    }))
}

const ARTIKEL: [Column; 3] =
    [Column("Bezeichnung", false), Column("Nummer", false), Column("Einheit", false)];

fn artikel(ask: &Ask, seen: &Seen<'_>) -> Result<Group> {
    let found = first(ask, seen, "/api/v1/artikel", "suche")?;
    Ok(group(ask, ("Artikel", "artikel"), &ARTIKEL, found, |artikel| {
        vec![name_of(artikel), plain(artikel, "artikelnummer"), plain(artikel, "einheit")]
    }))
}

const CHARGEN: [Column; 5] = [
    Column("Charge", false),
    Column("Nummer des Lieferanten", false),
    Column("Artikel", false),
    Column("Haltbar bis", false),
    Column("Bestand", true),
];

fn chargen(ask: &Ask, seen: &Seen<'_>) -> Result<Group> {
    let found = first(ask, seen, "/api/v1/chargen", "suche")?;
    Ok(group(ask, ("Chargen", "chargen"), &CHARGEN, found, |charge| {
        let [number, foreign, article] =
            ["charge_nr", "fremde_charge_nr", "artikel_bezeichnung"].map(|name| plain(charge, name));
        vec![number, foreign, article, day_of(charge, "mhd"), amount_of(charge, "bestand")]
    }))
}

const WIEGUNGEN: [Column; 5] = [
    Column("Wiegeschein", false),
    Column("Gewogen", false),
    Column("Kennzeichen", false),
    Column("Partner", false),
    Column("Netto (kg)", true),
];

/// By the whole number or the whole plate, as the interface finds them.
fn wiegungen(ask: &Ask, seen: &Seen<'_>) -> Result<Group> {
    let (mut found, of_number) = first(ask, seen, "/api/v1/wiegungen", "wiegeschein_nr")?;
    let (by_plate, of_plate) = first(ask, seen, "/api/v1/wiegungen", "kennzeichen")?;
    found.extend(by_plate);
    let found = (found, of_number + of_plate);
    let group = group(ask, ("Wiegungen", "wiegungen"), &WIEGUNGEN, found, |wiegung| {
        let [number, plate, partner] =
            ["wiegeschein_nr", "kennzeichen", "partner_name"].map(|name| plain(wiegung, name));
        vec![number, date_of(wiegung, "ts_erst"), plate, partner, amount_of(wiegung, "gewicht_netto_kg")]
    });
    let list = ask.of_firma(&format!("wiegungen?kennzeichen={}", encoded(ask.param("suche"))));
    Ok(Group { list, ..group })
}
