//! Articles: the list with its search, one with prices, stock, attachments and who changed it. They are written by
//! imports.

use maud::{Markup, html};
use serde_json::Value;

use super::lists::{self, Sorting, kept_order};
use super::page::{Ask, Change, Seen, encoded};
use super::parts::{Cells, Column, ROWS, amount_of, choice, facts, field, pager, price_of, table, text};
use super::verlauf::{self, Lesart};
use super::{anhaenge, frame};
use crate::failure::Result;
use crate::http::reply::Reply;

const COLUMNS: [Column; 6] = [
    Column("Bezeichnung", false),
    Column("Nummer", false),
    Column("Gruppe", false),
    Column("Bestand", true),
    Column("Einheit", false),
    Column("Preis netto (EUR)", true),
];

/// GET /leitstand/f/{firma}/artikel
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/artikel?bestand=true&limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["suche", "gruppe_id", "sortierung"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let found = ask.get(seen, &path)?;
    let row = |artikel: &Value| {
        let to = ask.of_firma(&format!("artikel/{}", text(artikel, "id")));
        let [number, group, unit] =
            ["artikelnummer", "gruppe", "einheit"].map(|name| text(artikel, name).to_owned());
        let stock = amount_of(artikel, "bestand");
        Cells(to, vec![name_of(artikel), number, group, stock, unit, price_of(artikel, "preis")])
    };
    let rows: Vec<_> = found["data"].as_array().into_iter().flatten().map(row).collect();
    let here = &ask.of_firma("artikel");
    let sorting = Sorting { path: here, keys: &["bezeichnung", "artikelnummer"], default: "artikelnummer" };
    let empty = "Keine aktiven Artikel gefunden. Artikel kommen mit einem Import herein (Seite Import, Art Artikel); vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Bezeichnung, Nummer oder EAN", "search", ask.param("suche"), "off"))
            (groups(ask, seen)?)
            (kept_order(ask))
            button type="submit" { "Suchen" }
        }
        (lists::table(ask, "Artikel", &sorting, &COLUMNS, &rows, empty))
        (pager(ask, here, found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, "Artikel", body))
}

/// What an article is called, with its second line: several can share the first.
pub fn name_of(artikel: &Value) -> String {
    let lines = ["bezeichnung", "bezeichnung2"].map(|name| text(artikel, name));
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The choice of a group, where there are some.
fn groups(ask: &Ask, seen: &Seen<'_>) -> Result<Markup> {
    let found = ask.get(seen, "/api/v1/artikelgruppen?limit=500")?;
    let groups: Vec<_> = found["data"].as_array().into_iter().flatten().collect();
    let ids: Vec<_> = groups.iter().map(|group| group["id"].to_string()).collect();
    let named = ids.iter().map(String::as_str).zip(groups.iter().map(|group| text(group, "name")));
    let options: Vec<_> = [("", "alle")].into_iter().chain(named).collect();
    Ok(
        html! { @if !groups.is_empty() { (choice(ask, "gruppe_id", "Gruppe", &options, ask.param("gruppe_id"))) } },
    )
}

fn path_of(ask: &Ask) -> Result<String> {
    Ok(format!("/api/v1/artikel/{}", ask.id(0)?))
}

/// The page of the article in the path.
fn here(ask: &Ask) -> Result<String> {
    Ok(ask.of_firma(&format!("artikel/{}", ask.id(0)?)))
}

const TIERS: [Column; 2] = [Column("Ab Menge", true), Column("Preis netto (EUR)", true)];

/// GET /leitstand/f/{firma}/artikel/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let path = path_of(ask)?;
    let artikel = ask.get(seen, &path)?;
    let stock = ask.get(seen, &format!("{path}/bestand"))?;
    let (id, here) = (text(&artikel, "id"), here(ask)?);
    let tiers = artikel["staffelpreise"].as_array().into_iter().flatten();
    let tiers: Vec<_> = tiers
        .map(|tier| Cells(String::new(), vec![amount_of(tier, "ab_menge"), price_of(tier, "preis")]))
        .collect();
    let body = html! {
        div.tiles { div.tile { "Bestand" @if !text(&artikel, "einheit").is_empty() { " (" (text(&artikel, "einheit")) ")" }
            strong { (amount_of(&stock, "bestand")) } } }
        (facts(&FELDER.map(|(name, label)| (label, wert(&artikel, name)))))
        p.actions {
            a.button href=(ask.of_firma(&format!("chargen?artikel_id={id}"))) { "Chargen" }
            a.button href=(ask.of_firma(&format!("belege?artikel_id={id}"))) { "Belege" }
        }
        h2 { "Staffelpreise" }
        (table("Staffelpreise", &TIERS, &tiers, "Keine: Es gilt der Preis. Staffeln kommen mit einem Import herein (Seite Import, Art Staffelpreise)."))
        (anhaenge::section(ask, seen, &path, &here)?)
        (verlauf::section(ask, seen, &path, &here, &LESART)?)
    };
    Ok(frame::page(ask, text(&artikel, "bezeichnung"), body))
}

/// The fields of an article, with their labels.
const FELDER: [(&str, &str); 12] = [
    ("artikelnummer", "Nummer"),
    ("artikelnr", "Zweite Nummer"),
    ("bezeichnung2", "Zusatz"),
    ("gruppe", "Gruppe"),
    ("einheit", "Einheit"),
    ("preis", "Verkaufspreis netto (EUR)"),
    ("ep_netto", "Einkaufspreis netto (EUR)"),
    ("mwst_satz", "Steuersatz"),
    ("ean", "EAN"),
    ("status", "Status"),
    ("chargenpflichtig", "Chargenpflichtig"),
    ("langtext", "Beschreibung"),
];

/// How its history is read.
const LESART: Lesart = Lesart { label: label_of, wert };

fn label_of(name: &str) -> Option<&str> {
    match name {
        "artikelgruppe_id" => None, // the name of the group says it
        "bezeichnung" => Some("Bezeichnung"),
        "staffelpreise" => Some("Staffelpreis"),
        name => Some(FELDER.iter().find(|feld| feld.0 == name).map_or(name, |feld| feld.1)),
    }
}

fn wert(answer: &Value, name: &str) -> String {
    match (name, &answer[name]) {
        (_, Value::Null) => String::new(),
        ("preis" | "ep_netto", _) => price_of(answer, name),
        ("mwst_satz", _) => format!("{} %", amount_of(answer, name)),
        ("chargenpflichtig", is_tracked) => if *is_tracked == true { "ja" } else { "nein" }.to_owned(),
        ("staffelpreise", tier) => {
            let inactive = if tier["aktiv"] == false { " (inaktiv)" } else { "" };
            format!("ab {}: {}{inactive}", amount_of(tier, "ab_menge"), price_of(tier, "preis"))
        }
        _ => text(answer, name).to_owned(),
    }
}

/// GET /leitstand/f/{firma}/artikel/{id}/anhaenge
pub fn show_attach(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let artikel = ask.get(seen, &path_of(ask)?)?;
    Ok(anhaenge::show_form(ask, text(&artikel, "bezeichnung"), &here(ask)?))
}

/// POST /leitstand/f/{firma}/artikel/{id}/anhaenge
pub fn attach(ask: &Ask) -> Result<Change> {
    anhaenge::attach(ask, &path_of(ask)?, here(ask)?)
}

/// GET /leitstand/f/{firma}/artikel/{id}/anhaenge/{id}
pub fn attachment(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    anhaenge::download(ask, seen, &path_of(ask)?)
}
