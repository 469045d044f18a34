//! Batches: the list with its search, one with its stock, movements and history, and its correction.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use super::akteure::Akteure;
use super::lists::{self, Sorting, kept_order};
use super::page::{Ask, Change, Seen, VERSION};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, date_of, day_of, facts, field, form, made_from, moment, pager,
    price_of, refusal, signed, table, text,
};
use super::{frame, line};
use crate::chargen::{self, Auswahl, Wovon};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::text::case_key;
use crate::rules::verweis::parse_uuid;
use crate::{artikel, herkunft, laender};

/// The columns of a list of batches.
pub const CHARGE: [Column; 6] = [
    Column("Charge", false),
    Column("Nummer des Lieferanten", false),
    Column("Artikel", false),
    Column("Lieferant", false),
    Column("Haltbar bis", false),
    Column("Bestand", true),
];

/// What leaves the shelf soon, in days.
const SOON: i64 = 30;

const WHICH: [(&str, &str); 4] = [
    ("", "alle"),
    ("bestand", "mit Bestand"),
    ("bald", "mit Bestand, haltbar höchstens noch 30 Tage"),
    ("abgelaufen", "mit Bestand, abgelaufen"),
];

/// GET /leitstand/f/{firma}/chargen
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let auswahl = auswahl(ask, seen)?;
    let (found, count) = lists::read(chargen::list(&seen.tx, &auswahl, lists::page_of(ask))?)?;
    let rows: Vec<_> = found.iter().map(|charge| row(ask, seen, charge)).collect();
    let here = &ask.of_firma("chargen");
    let sorting =
        Sorting { path: here, keys: &["charge_nr", "", "", "", "mhd"], default: default_order(ask) };
    let empty = "Keine Chargen gefunden. Chargen entstehen mit Einkaufsbelegen, Annahmen, der Produktion und dem Import; vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Nummer, eigene oder fremde", "search", ask.param("suche"), "off"))
            (field(ask, "artikelnr", "Nummer des Artikels", "text", ask.param("artikelnr"), "off"))
            (choice(ask, "welche", "Welche", &WHICH, ask.param("welche")))
            @if !ask.param("artikel_id").is_empty() {
                input type="hidden" name="artikel_id" value=(ask.param("artikel_id"));
            }
            (kept_order(ask))
            button type="submit" { "Suchen" }
        }
        (restriction(ask, seen)?)
        (lists::table(ask, "Chargen", &sorting, &CHARGE, &rows, empty))
        (pager(ask, here, count))
    };
    Ok(frame::page(ask, "Chargen", body))
}

/// What the list is filtered by; a number that no article has finds nothing.
fn auswahl(ask: &Ask, seen: &Seen<'_>) -> Result<Auswahl> {
    let today = seen.tx.today();
    let by_number = match ask.param("artikelnr") {
        "" => None,
        number => {
            let found = artikel::find_by_number(&seen.tx, number)?;
            Some(found.first().map_or(Uuid::nil(), |artikel| artikel.id))
        }
    };
    let mhd_bis = match ask.param("welche") {
        "bald" => Some(Day::of_number(today.number() + SOON)),
        "abgelaufen" => Some(Day::of_number(today.number() - 1)),
        _ => None,
    };
    let order = Some(ask.param("sortierung")).filter(|order| !order.is_empty()).unwrap_or(default_order(ask));
    Ok(Auswahl {
        suche: Some(ask.param("suche")).filter(|suche| !suche.is_empty()).map(case_key),
        artikel: by_number.or(parse_uuid(ask.param("artikel_id"))),
        mit_bestand: !ask.param("welche").is_empty(),
        mhd_bis,
        sortierung: chargen::SORTIERUNG.iter().copied().find(|known| *known == order),
        ..Auswahl::default()
    })
}

/// The order where none was chosen: the newest, or what has to leave first.
fn default_order(ask: &Ask) -> &'static str {
    if ask.param("welche").is_empty() { "-created_at" } else { "mhd" }
}

/// Of which article batches are shown alone.
fn restriction(ask: &Ask, seen: &Seen<'_>) -> Result<Markup> {
    let found =
        parse_uuid(ask.param("artikel_id")).map(|id| artikel::find(&seen.tx, id)).transpose()?.flatten();
    Ok(html! {
        @if let Some(artikel) = found {
            p { "Nur Chargen von " a href=(ask.of_firma(&format!("bestand/{}", artikel.id))) { (artikel.bezeichnung) } ". "
                a href=(ask.of_firma("chargen")) { "Alle Chargen" } }
        }
    })
}

/// A batch in a list.
pub fn row(ask: &Ask, seen: &Seen<'_>, charge: &Value) -> Cells {
    let [number, foreign, article, partner] =
        ["charge_nr", "fremde_charge_nr", "artikel_bezeichnung", "partner_name"]
            .map(|name| text(charge, name).to_owned());
    let unit = text(charge, "einheit");
    let stock = format!("{} {unit}", amount_of(charge, "bestand")).trim().to_owned();
    let cells = vec![number, foreign, article, partner, shelf_life(seen, charge), stock];
    Cells(ask.of_firma(&format!("chargen/{}", text(charge, "id"))), cells)
}

/// The best-before date, and whether it is past.
fn shelf_life(seen: &Seen<'_>, charge: &Value) -> String {
    let day = text(charge, "mhd").get(..10).and_then(Day::parse_plain);
    let note = if day.is_some_and(|day| day < seen.tx.today()) { " (abgelaufen)" } else { "" };
    format!("{}{note}", day_of(charge, "mhd"))
}

fn one(ask: &Ask, seen: &Seen<'_>) -> Result<Value> {
    ask.get(seen, &format!("/api/v1/chargen/{}", ask.id(0)?))
}

/// GET /leitstand/f/{firma}/chargen/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let charge = one(ask, seen)?;
    let id = parse_uuid(text(&charge, "id")).ok_or_else(|| Failure::not_found("Diese Charge"))?;
    let stored = chargen::find(&seen.tx, id)?.ok_or_else(|| Failure::not_found("Diese Charge"))?;
    let begin = Day::in_berlin(stored.created_at);
    let here = ask.of_firma(&format!("chargen/{id}"));
    let unit = text(&charge, "einheit");
    let partner = text(&charge, "partner_id");
    let body = html! {
        div.tiles {
            div.tile { "Bestand" @if !unit.is_empty() { " (" (unit) ")" } strong { (amount_of(&charge, "bestand")) } }
            @if !text(&charge, "mhd").is_empty() { div.tile { "Haltbar bis" strong { (shelf_life(seen, &charge)) } } }
        }
        (facts(&facts_of(&charge)))
        p.actions {
            a.button href=(format!("{here}/herkunft")) { "Woher und wohin" }
            @if ask.may_change() { a.button href=(format!("{here}/berichtigen")) { "Berichtigen" } }
            a.button href=(ask.of_firma(&format!("bestand/{}", text(&charge, "artikel_id")))) { "Artikel" }
            @if !partner.is_empty() { a.button href=(ask.of_firma(&format!("partner/{partner}"))) { "Lieferant" } }
        }
        h2 { "Bestand über die Zeit" }
        (line::stock(&seen.tx, Wovon::Charge(id), Some(begin), stored.bestand, unit)?)
        (movements(ask, seen, id, unit)?)
        (history(ask, seen)?)
    };
    Ok(frame::page(ask, &format!("Charge {}", text(&charge, "charge_nr")), body))
}

fn facts_of(charge: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(charge, name).to_owned();
    let number = |name: &str| charge[name].as_i64().map(|number| number.to_string()).unwrap_or_default();
    let unit = text(charge, "einheit");
    let came = amount_of(charge, "eingang_menge");
    vec![
        ("Artikel", plain("artikel_bezeichnung")),
        ("Nummer des Artikels", plain("artikelnr")),
        ("Nummer des Lieferanten", plain("fremde_charge_nr")),
        ("Lieferant", plain("partner_name")),
        ("Herkunftsland", laender::name_de(text(charge, "herkunftsland")).to_owned()),
        ("Eingang", if came.is_empty() { came } else { format!("{came} {unit}") }),
        ("Einkaufspreis (EUR)", price_of(charge, "eingang_ep")),
        ("Entstanden durch", quelle(text(charge, "eingang_quelle")).to_owned()),
        ("Angelegt", date_of(charge, "created_at")),
        ("Biozertifikat", number("biozertifikat_id")),
        ("Niederlassung", number("niederlassung_id")),
        ("Lagerhalle", number("lagerhalle_id")),
    ]
}

/// What brought a batch about.
fn quelle(text: &str) -> &'static str {
    match EingangQuelle::parse(text) {
        Some(EingangQuelle::Beleg) => "Beleg",
        Some(EingangQuelle::Produktion) => "Produktion",
        Some(EingangQuelle::Manuell) => "Eingabe von Hand oder Import",
        None => "",
    }
}

const MOVEMENT: [Column; 5] = [
    Column("Beleg oder Auftrag", false),
    Column("Was", false),
    Column("Wann", false),
    Column("Partner", false),
    Column("Menge", true),
];

/// What moved it, a page at a time.
fn movements(ask: &Ask, seen: &Seen<'_>, id: Uuid, unit: &str) -> Result<Markup> {
    let found = herkunft::movements(&seen.tx, id, ROWS, ask.list_page() * ROWS)?;
    let row = |moved: &herkunft::Buchung| {
        let to = match (moved.beleg_id, moved.pa_id) {
            (Some(beleg), _) => ask.of_firma(&format!("belege/{beleg}")),
            (None, Some(auftrag)) => ask.of_firma(&format!("produktion/{auftrag}")),
            (None, None) => String::new(),
        };
        let what = match (moved.beleg_typ, moved.pa_id) {
            (Some(typ), _) => typ.bezeichnung(),
            (None, Some(_)) => "Produktion",
            (None, None) => "Anfangsbestand",
        };
        let number = moved.nummer.clone().unwrap_or_else(|| what.to_owned());
        let amount = format!("{} {unit}", signed(moved.menge)).trim().to_owned();
        Cells(
            to,
            vec![
                number,
                what.to_owned(),
                moment(moved.am),
                moved.partner.clone().unwrap_or_default(),
                amount,
            ],
        )
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    Ok(html! {
        h2 { "Bewegungen" }
        (table("Bewegungen, die neuesten zuerst", &MOVEMENT, &rows, "Noch keine. Bestand buchen Belege, die Produktion und der Import."))
        (pager(ask, &ask.of_firma(&format!("chargen/{id}")), herkunft::count_movements(&seen.tx, id)?))
    })
}

const HISTORY: [Column; 5] = [
    Column("Berichtigt am", false),
    Column("Von", false),
    Column("Haltbar bis vorher", false),
    Column("Nummer des Lieferanten vorher", false),
    Column("Herkunftsland vorher", false),
];

/// What it was before each correction, the newest first.
fn history(ask: &Ask, seen: &Seen<'_>) -> Result<Markup> {
    let path = format!("/api/v1/chargen/{}/verlauf?limit", ask.id(0)?);
    let count = ask.get(seen, &format!("{path}=0"))?["count"].as_i64().unwrap_or(0);
    let begin = (count - i64::from(ROWS)).max(0);
    let found = ask.get(seen, &format!("{path}={ROWS}&offset={begin}"))?;
    let akteure = Akteure::of(ask, seen)?;
    let row = |entry: &Value| {
        let before = &entry["charge"];
        let land = laender::name_de(text(before, "herkunftsland")).to_owned();
        let foreign = text(before, "fremde_charge_nr").to_owned();
        let who = akteure.name(text(entry, "key_id"))?;
        Ok(Cells(String::new(), vec![date_of(entry, "am"), who, day_of(before, "mhd"), foreign, land]))
    };
    let rows = found["data"].as_array().into_iter().flatten().rev().map(row).collect::<Result<Vec<_>>>()?;
    Ok(html! {
        h2 { "Verlauf" }
        (table("Frühere Angaben, die neuesten zuerst", &HISTORY, &rows, "Es ist nichts berichtigt worden."))
    })
}

/// GET /leitstand/f/{firma}/chargen/{id}/berichtigen
pub fn show_correct(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let charge = one(ask, seen)?;
    let found = ask.get(seen, "/api/v1/laender")?;
    let countries = found["data"].as_array().into_iter().flatten();
    let countries = countries.map(|land| (text(land, "iso2"), text(land, "name_de")));
    let countries: Vec<_> = [("", "nicht bekannt")].into_iter().chain(countries).collect();
    let day = text(&charge, "mhd").get(..10).unwrap_or_default();
    let inside = html! {
        (refusal(ask, &["mhd", "fremde_charge_nr", "herkunftsland"]))
        (made_from(ask, "version", text(&charge, VERSION)))
        p { "Was über " (text(&charge, "charge_nr")) " falsch notiert war. Der Bestand bleibt, wie er ist; die Angaben von "
            "vorher bleiben im Verlauf. Abgeschlossene Belege ändern sich nicht." }
        (field(ask, "mhd", "Haltbar bis", "date", day, "off"))
        (field(ask, "fremde_charge_nr", "Nummer des Lieferanten", "text", text(&charge, "fremde_charge_nr"), "off"))
        (choice(ask, "herkunftsland", "Herkunftsland", &countries, text(&charge, "herkunftsland")))
    };
    Ok(frame::page(ask, "Charge berichtigen", form(ask, inside, "Berichtigen", false)))
}

/// POST /leitstand/f/{firma}/chargen/{id}/berichtigen
pub fn correct(ask: &Ask) -> Result<Change> {
    let path = format!("/api/v1/chargen/{}", ask.id(0)?);
    let to = ask.of_firma(&format!("chargen/{}", ask.id(0)?));
    let sent = |name: &str| Some(ask.field(name)).filter(|value| !value.is_empty());
    let body = json!({
        "mhd": sent("mhd"),
        "fremde_charge_nr": sent("fremde_charge_nr"),
        "herkunftsland": sent("herkunftsland"),
    });
    ask.change(Method::Put, &path, &body, Some(ask.field("version")), to, "Die Charge ist berichtigt.")
}
