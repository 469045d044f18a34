//! Weighings: the open ones first, then by day; one with its weights, its slip, and its storno.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::lists::Sorting;
use super::page::{Ask, Change, Seen, VERSION, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, date_of, facts, field, form, made_from, pager, refusal, table,
    text,
};
use super::{belege, frame, lists};
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::http::route::Method;

/// Columns of weighings, open or not.
const COLUMNS: [Column; 6] = [
    Column("Wiegeschein", false),
    Column("Erstwiegung", false),
    Column("Kennzeichen", false),
    Column("Partner", false),
    Column("Artikel", false),
    Column("Netto (kg)", true),
];

/// Open weighings that are shown at once.
const OPEN: u32 = 100;

const STATUS: [(&str, &str); 4] =
    [("", "alle"), ("offen", "offen"), ("fertig", "fertig"), ("storno", "storniert")];

/// The state of a weighing, in words.
fn state_of(wiegung: &Value) -> &str {
    let status = text(wiegung, "status");
    STATUS.iter().find(|(value, _)| *value == status).map_or(status, |(_, words)| words)
}

/// A weighing as a row of a list.
fn row(ask: &Ask, wiegung: &Value) -> Cells {
    let to = ask.of_firma(&format!("wiegungen/{}", text(wiegung, "id")));
    let plain = |name: &str| text(wiegung, name).to_owned();
    let net = match text(wiegung, "status") {
        "offen" => format!("offen, erst {}", amount_of(wiegung, "gewicht_erst_kg")),
        "storno" => state_of(wiegung).to_owned(),
        _ => amount_of(wiegung, "gewicht_netto_kg"),
    };
    let (since, [number, plate, partner, article]) = (
        date_of(wiegung, "ts_erst"),
        ["wiegeschein_nr", "kennzeichen", "partner_name", "artikel_bezeichnung"].map(plain),
    );
    Cells(to, vec![number, since, plate, partner, article, net])
}

/// The open weighings of a company, the oldest last; what to say where there is none.
pub fn open(ask: &Ask, seen: &Seen<'_>) -> Result<Markup> {
    let found = ask.get(seen, &format!("/api/v1/wiegungen?status=offen&limit={OPEN}"))?;
    let rows: Vec<_> = found.as_array().into_iter().flatten().map(|wiegung| row(ask, wiegung)).collect();
    Ok(table("Offene Wiegungen", &COLUMNS, &rows, "Keine offen: Jedes Fahrzeug ist zweimal gewogen."))
}

/// GET /leitstand/f/{firma}/wiegungen
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/wiegungen?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    let filters = ["status", "von", "bis", "kennzeichen", "wiegeschein_nr", "partner_id", "sortierung"];
    for name in filters.into_iter().filter(|name| !ask.param(name).is_empty()) {
        path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
    }
    let (found, count) = ask.get_list(seen, &path)?;
    let rows: Vec<_> = found.as_array().into_iter().flatten().map(|wiegung| row(ask, wiegung)).collect();
    let is_plain = filters.iter().all(|name| ask.param(name).is_empty()) && ask.list_page() == 0;
    let here = ask.of_firma("wiegungen");
    let keys = ["", "ts_erst", "", "", "", "gewicht_netto_kg"];
    let sorting = Sorting { path: &here, keys: &keys, default: "-ts_erst" };
    let empty = "Keine Wiegungen gefunden. Wiegungen legt die Waage an (POST /api/v1/wiegungen); vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "kennzeichen", "Kennzeichen", "search", ask.param("kennzeichen"), "off"))
            (field(ask, "wiegeschein_nr", "Wiegeschein", "search", ask.param("wiegeschein_nr"), "off"))
            (choice(ask, "status", "Status", &STATUS, ask.param("status")))
            (field(ask, "von", "Von", "date", ask.param("von"), "off"))
            (field(ask, "bis", "Bis", "date", ask.param("bis"), "off"))
            (lists::kept(ask, &["partner_id", "sortierung"]))
            button type="submit" { "Suchen" }
        }
        (lists::only_partner(ask, seen, "partner_id", "wiegungen", "Wiegungen")?)
        @if is_plain { h2 { "Offen" } (open(ask, seen)?) h2 { "Alle" } }
        (lists::table(ask, "Wiegungen", &sorting, &COLUMNS, &rows, empty))
        (pager(ask, &here, count))
    };
    frame::live_page(ask, seen, "Wiegungen", body)
}

fn one(ask: &Ask, seen: &Seen<'_>) -> Result<Value> {
    ask.get(seen, &format!("/api/v1/wiegungen/{}", ask.id(0)?))
}

/// GET /leitstand/f/{firma}/wiegungen/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let wiegung = one(ask, seen)?;
    let here = ask.of_firma(&format!("wiegungen/{}", text(&wiegung, "id")));
    let status = text(&wiegung, "status");
    let link = |id: &str, path: &str, name: &str| {
        let to = ask.of_firma(&format!("{path}/{}", text(&wiegung, id)));
        html! { @if !text(&wiegung, id).is_empty() { a.button href=(to) { (name) } } }
    };
    let body = html! {
        (facts(&facts_of(&wiegung)))
        p.actions {
            @if status == "fertig" { a.button href=(format!("{here}/pdf")) { "Wiegeschein (PDF)" } }
            (link("partner_id", "partner", "Zum Partner"))
            (link("beleg_id", "belege", "Zum Beleg"))
            (link("charge_id", "chargen", "Zur Charge"))
            @if ask.may_change() && status != "storno" { a.button.danger href=(format!("{here}/storno")) { "Stornieren" } }
        }
    };
    Ok(frame::page(ask, text(&wiegung, "wiegeschein_nr"), body))
}

fn facts_of(wiegung: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(wiegung, name).to_owned();
    vec![
        ("Status", state_of(wiegung).to_owned()),
        ("Richtung", plain("richtung")),
        ("Kennzeichen", plain("kennzeichen")),
        ("Fahrer", plain("fahrer")),
        ("Partner", plain("partner_name")),
        ("Artikel", plain("artikel_bezeichnung")),
        ("Charge", plain("charge_nr")),
        ("Erstgewicht (kg)", amount_of(wiegung, "gewicht_erst_kg")),
        ("Erstwiegung", date_of(wiegung, "ts_erst")),
        ("Zweitgewicht (kg)", amount_of(wiegung, "gewicht_zweit_kg")),
        ("Zweitwiegung", date_of(wiegung, "ts_zweit")),
        ("Netto (kg)", amount_of(wiegung, "gewicht_netto_kg")),
        ("Waage", amount_of(wiegung, "waage_id")),
        ("Fremdwiegung", if wiegung["fremdwiegung"] == true { "ja".to_owned() } else { String::new() }),
        ("Bemerkung", plain("bemerkung")),
        ("Grund des Stornos", plain("storno_grund")),
    ]
}

/// GET /leitstand/f/{firma}/wiegungen/{id}/pdf
pub fn pdf(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let path = format!("/api/v1/wiegungen/{}/pdf", ask.id(0)?);
    Ok(belege::file(ask.get_reply(seen, &path, &[("accept", "application/pdf")])?))
}

/// GET /leitstand/f/{firma}/wiegungen/{id}/storno
pub fn show_cancel(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let wiegung = one(ask, seen)?;
    let inside = html! {
        (refusal(ask, &["grund"]))
        (made_from(ask, "version", text(&wiegung, VERSION)))
        p { (text(&wiegung, "wiegeschein_nr")) " zählt dann nirgends mehr und lässt sich nicht mehr verwenden. Rückgängig machen lässt sich das nicht." }
        (field(ask, "grund", "Grund", "text", "", "off"))
    };
    Ok(frame::page(ask, "Wiegung stornieren", form(ask, inside, "Stornieren", true)))
}

/// POST /leitstand/f/{firma}/wiegungen/{id}/storno
pub fn cancel(ask: &Ask) -> Result<Change> {
    let id = ask.id(0)?;
    let grund = Some(ask.field("grund")).filter(|grund| !grund.is_empty());
    ask.change(
        Method::Put,
        &format!("/api/v1/wiegungen/{id}/storno"),
        &json!({"grund": grund}),
        Some(ask.field("version")),
        ask.of_firma(&format!("wiegungen/{id}")),
        "Die Wiegung ist storniert.",
    )
}
