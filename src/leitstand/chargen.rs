//! Batches: what is left of them, what moved them, and their correction.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use super::akteure::Akteure;
use super::lists::{Sorting, kept_order};
use super::page::{Ask, Change, Seen, VERSION, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, date_of, day_of, facts, field, form, moment, pager, price_of,
    quantity, refusal, table, text,
};
use super::{frame, line, lists};
use crate::failure::{Failure, Result};
use crate::herkunft::{self, Lagerbewegung};
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::fixed::Quantity;

/// Movements of a batch that are shown.
const MOVEMENTS: i64 = 200;

const COLUMNS: [Column; 7] = [
    Column("Charge", false),
    Column("Nummer des Lieferanten", false),
    Column("Artikel", false),
    Column("Lieferant", false),
    Column("MHD", false),
    Column("Bestand", true),
    Column("Einheit", false),
];

const STOCK: [(&str, &str); 2] = [("", "alle"), ("true", "nur mit Bestand")];

const EMPTY: &str = "Keine Chargen gefunden. Chargen entstehen mit Wareneingängen, der Produktion oder dem Import; vielleicht ist auch die Suche zu eng.";

/// GET /leitstand/f/{firma}/chargen
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/chargen?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["suche", "artikel_id", "partner_id", "mit_bestand", "sortierung"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let (found, count) = ask.get_list(seen, &path)?;
    let row = |charge: &Value| {
        let to = ask.of_firma(&format!("chargen/{}", text(charge, "id")));
        let [number, foreign, article, partner, unit] =
            ["charge_nr", "fremde_charge_nr", "artikel_bezeichnung", "partner_name", "einheit"]
                .map(|name| text(charge, name).to_owned());
        Cells(
            to,
            vec![
                number,
                foreign,
                article,
                partner,
                day_of(charge, "mhd"),
                amount_of(charge, "bestand"),
                unit,
            ],
        )
    };
    let rows: Vec<_> = found.as_array().into_iter().flatten().map(row).collect();
    let here = ask.of_firma("chargen");
    let sorting =
        Sorting { path: &here, keys: &["charge_nr", "", "", "", "mhd", "", ""], default: "created_at" };
    let body = html! {
        (filter(ask))
        @if let Some(charge) = found.get(0).filter(|_| !ask.param("artikel_id").is_empty()) {
            p { "Nur Chargen von " (text(charge, "artikel_bezeichnung")) ". " a href=(here) { "Alle zeigen" } }
        }
        (lists::table(ask, "Chargen", &sorting, &COLUMNS, &rows, EMPTY))
        (pager(ask, &here, count))
    };
    Ok(frame::page(ask, "Chargen", body))
}

fn filter(ask: &Ask) -> Markup {
    html! {
        form.filter method="get" {
            (field(ask, "suche", "Nummer, auch die des Lieferanten", "search", ask.param("suche"), "off"))
            (choice(ask, "mit_bestand", "Welche", &STOCK, ask.param("mit_bestand")))
            @for name in ["artikel_id", "partner_id"] { @if !ask.param(name).is_empty() {
                input type="hidden" name=(name) value=(ask.param(name));
            } }
            (kept_order(ask))
            button type="submit" { "Suchen" }
        }
    }
}

fn one(ask: &Ask, seen: &Seen<'_>) -> Result<Value> {
    ask.get(seen, &format!("/api/v1/chargen/{}", ask.id(0)?))
}

const MOVEMENT: [Column; 3] = [Column("Wann", false), Column("Wodurch", false), Column("Menge", true)];

const HISTORY: [Column; 3] = [Column("Wann", false), Column("Was geschah", false), Column("Wer", false)];

/// GET /leitstand/f/{firma}/chargen/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let charge = one(ask, seen)?;
    let id = Uuid::try_parse(text(&charge, "id")).map_err(|_| Failure::not_found("Diese Charge"))?;
    let here = ask.of_firma(&format!("chargen/{id}"));
    let movements = herkunft::movements(&seen.tx, id, MOVEMENTS)?;
    let history = ask.get(seen, &format!("/api/v1/chargen/{id}/verlauf?limit=50"))?;
    let akteure = Akteure::of(ask, seen)?;
    let list = history["data"].as_array().or(history.as_array());
    let history = list.into_iter().flatten().map(|stand| {
        let who = akteure.name(text(stand, "key_id"))?;
        Ok(Cells(String::new(), vec![date_of(stand, "am"), text(stand, "aktion").to_owned(), who]))
    });
    let body = html! {
        (facts(&facts_of(&charge)))
        p.actions {
            a.button href=(format!("{here}/herkunft")) { "Herkunft und Verbleib" }
            @if !text(&charge, "partner_id").is_empty() {
                a.button href=(ask.of_firma(&format!("partner/{}", text(&charge, "partner_id")))) { "Zum Lieferanten" }
            }
            @if ask.may_change() { a.button href=(format!("{here}/aendern")) { "Berichtigen" } }
        }
        h2 { "Bestand" }
        (line::stock(text(&charge, "bestand"), text(&charge, "einheit"), &movements, ask.now))
        h2 { "Bewegungen" }
        (table("Bewegungen", &MOVEMENT, &rows_of(ask, &movements), "Diese Charge wurde noch nicht bewegt."))
        @if movements.len() as i64 == MOVEMENTS { p { small { "Gezeigt sind die letzten " (MOVEMENTS) "." } } }
        h2 { "Verlauf" }
        (table("Frühere Stände", &HISTORY, &history.collect::<Result<Vec<_>>>()?, "Seit dem Anlegen ist nichts geändert worden."))
    };
    Ok(frame::page(ask, &format!("Charge {}", text(&charge, "charge_nr")), body))
}

fn rows_of(ask: &Ask, movements: &[Lagerbewegung]) -> Vec<Cells> {
    let row = |bewegung: &Lagerbewegung| {
        let (to, by) = match (bewegung.beleg_id, bewegung.pa_id) {
            (Some(id), _) => (format!("belege/{id}"), bewegung.beleg_nummer.clone()),
            (None, Some(id)) => (format!("produktion/{id}"), bewegung.pa_nummer.clone()),
            (None, None) => (String::new(), None),
        };
        let by = by.unwrap_or_else(|| "Anfangsbestand".to_owned());
        let to = if to.is_empty() { to } else { ask.of_firma(&to) };
        Cells(to, vec![moment(bewegung.am), by, signed(bewegung.menge)])
    };
    movements.iter().map(row).collect()
}

/// A quantity with its sign.
fn signed(menge: Quantity) -> String {
    if menge.is_negative() { quantity(menge) } else { format!("+{}", quantity(menge)) }
}

fn facts_of(charge: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(charge, name).to_owned();
    vec![
        ("Artikel", plain("artikel_bezeichnung")),
        ("Bestand", format!("{} {}", amount_of(charge, "bestand"), text(charge, "einheit"))),
        ("MHD", day_of(charge, "mhd")),
        ("Herkunftsland", plain("herkunftsland")),
        ("Nummer des Lieferanten", plain("fremde_charge_nr")),
        ("Lieferant", plain("partner_name")),
        ("Eingang", amount_of(charge, "eingang_menge")),
        ("Einkaufspreis (EUR)", price_of(charge, "eingang_ep")),
        ("Woher", plain("eingang_quelle")),
        ("Angelegt", date_of(charge, "created_at")),
    ]
}

/// GET /leitstand/f/{firma}/chargen/{id}/aendern
pub fn show_change(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let charge = one(ask, seen)?;
    let day = text(&charge, "mhd").get(..10).unwrap_or_default();
    let inside = html! {
        (refusal(ask, &["mhd", "herkunftsland", "fremde_charge_nr"]))
        input type="hidden" name="version" value=(text(&charge, VERSION));
        (field(ask, "mhd", "Mindestens haltbar bis", "date", day, "off"))
        (field(ask, "herkunftsland", "Herkunftsland, etwa DE", "text", text(&charge, "herkunftsland"), "off"))
        (field(ask, "fremde_charge_nr", "Nummer des Lieferanten", "text", text(&charge, "fremde_charge_nr"), "off"))
        p { "Der frühere Stand bleibt im Verlauf der Charge." }
    };
    let title = format!("Charge {} berichtigen", text(&charge, "charge_nr"));
    Ok(frame::page(ask, &title, form(ask, inside, "Speichern", false)))
}

/// POST /leitstand/f/{firma}/chargen/{id}/aendern
pub fn change(ask: &Ask) -> Result<Change> {
    let id = ask.id(0)?;
    let sent = |name: &str| Some(ask.field(name)).filter(|text| !text.is_empty());
    let fields =
        ["mhd", "herkunftsland", "fremde_charge_nr"].map(|name| (name.to_owned(), json!(sent(name))));
    ask.change(
        Method::Put,
        &format!("/api/v1/chargen/{id}"),
        &Value::Object(fields.into_iter().collect()),
        Some(ask.field("version")),
        ask.of_firma(&format!("chargen/{id}")),
        "Die Charge ist berichtigt.",
    )
}
