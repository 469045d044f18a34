//! Goods-receipt notes: weight, analysis, deductions, net; their sheet and their storno.

use maud::html;
use serde_json::{Value, json};
use uuid::Uuid;

use super::page::{Ask, Change, Seen, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, day_of, facts, field, form, number_of, pager, price_of, refusal,
    table, text,
};
use super::{belege, frame};
use crate::annahmescheine;
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::http::route::Method;

const COLUMNS: [Column; 6] = [
    Column("Annahmeschein", false),
    Column("Lieferdatum", false),
    Column("Partner", false),
    Column("Artikel", false),
    Column("Status", false),
    Column("Netto (kg)", true),
];

const STATUS: [(&str, &str); 4] =
    [("", "alle"), ("offen", "offen"), ("abgerechnet", "abgerechnet"), ("storniert", "storniert")];

/// GET /leitstand/f/{firma}/annahme
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/annahmescheine?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["status", "von", "bis"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let found = ask.get(seen, &path)?;
    let row = |schein: &Value| {
        let to = ask.of_firma(&format!("annahme/{}", text(schein, "id")));
        let [number, partner, article, status] =
            ["belegnummer", "partner_name", "artikel_bezeichnung", "status"]
                .map(|name| text(schein, name).to_owned());
        let (date, net) = (day_of(schein, "lieferdatum"), amount_of(schein, "netto_menge_kg"));
        Cells(to, vec![number, date, partner, article, status, net])
    };
    let rows: Vec<_> = found["data"].as_array().into_iter().flatten().map(row).collect();
    let empty = "Keine Annahmescheine gefunden. Sie entstehen bei der Warenannahme (POST /api/v1/annahmescheine) oder durch den Import.";
    let body = html! {
        form.filter method="get" {
            (choice(ask, "status", "Status", &STATUS, ask.param("status")))
            (field(ask, "von", "Von", "date", ask.param("von"), "off"))
            (field(ask, "bis", "Bis", "date", ask.param("bis"), "off"))
            button type="submit" { "Suchen" }
        }
        (table("Annahmescheine", &COLUMNS, &rows, empty))
        (pager(ask, &ask.of_firma("annahme"), found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, "Annahme", body))
}

fn one(ask: &Ask, seen: &Seen<'_>) -> Result<Value> {
    let not_found = || Failure::not_found("Dieser Annahmeschein");
    let id = Uuid::try_parse(ask.id(0)?).map_err(|_| not_found())?;
    let schein = annahmescheine::find(&seen.tx, id)?.ok_or_else(not_found)?;
    serde_json::to_value(schein).map_err(|error| Failure::Broken(error.to_string()))
}

/// GET /leitstand/f/{firma}/annahme/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let schein = one(ask, seen)?;
    let here = ask.of_firma(&format!("annahme/{}", text(&schein, "id")));
    let is_open = text(&schein, "status") == "offen";
    let ways = [
        ("partner_id", "partner", "Zum Partner"),
        ("wiegung_id", "wiegungen", "Zur Wiegung"),
        ("el_id", "belege", "Zum Lieferschein"),
        ("charge_id", "chargen", "Zur Charge"),
        ("kontrakt_id", "kontrakte", "Zum Kontrakt"),
    ];
    let body = html! {
        (facts(&facts_of(&schein)))
        p.actions {
            a.button href=(format!("{here}/pdf")) { "Annahmeschein (PDF)" }
            @for (id, path, name) in ways { @if !text(&schein, id).is_empty() {
                a.button href=(ask.of_firma(&format!("{path}/{}", text(&schein, id)))) { (name) }
            } }
            @if ask.may_change() && is_open { a.button.danger href=(format!("{here}/storno")) { "Stornieren" } }
        }
    };
    Ok(frame::page(ask, text(&schein, "belegnummer"), body))
}

fn facts_of(schein: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(schein, name).to_owned();
    let amount = |name: &str| amount_of(schein, name);
    vec![
        ("Status", plain("status")),
        ("Lieferdatum", day_of(schein, "lieferdatum")),
        ("Partner", plain("partner_name")),
        ("Artikel", plain("artikel_bezeichnung")),
        ("Angeliefert (kg)", amount("anliefermenge_kg")),
        ("Feuchte (%)", amount("feuchte_prozent")),
        ("Basisfeuchte (%)", amount("basisfeuchte_prozent")),
        ("Schwundfaktor", amount("schwundfaktor")),
        ("Besatz (%)", amount("besatz_prozent")),
        ("Basisbesatz (%)", amount("basisbesatz_prozent")),
        ("Sonstige Abzüge (kg)", amount("sonstige_abzuege_kg")),
        ("Netto (kg)", amount("netto_menge_kg")),
        ("Preis je t (EUR)", price_of(schein, "preis_je_t")),
        ("Betrag (EUR)", number_of(schein, "netto_betrag")),
        ("Fremde Charge", plain("fremde_charge_nr")),
        ("Herkunft", plain("herkunftsland")),
        ("Lieferschein", plain("el_beleg_nummer")),
        ("Bemerkung", plain("bemerkung")),
        ("Grund des Stornos", plain("storno_grund")),
    ]
}

/// GET /leitstand/f/{firma}/annahme/{id}/pdf
pub fn pdf(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let path = format!("/api/v1/annahmescheine/{}/pdf", ask.id(0)?);
    Ok(belege::file(ask.get_reply(seen, &path, &[("accept", "application/pdf")])?))
}

/// GET /leitstand/f/{firma}/annahme/{id}/storno
pub fn show_cancel(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let schein = one(ask, seen)?;
    let inside = html! {
        (refusal(ask, &["grund"]))
        p { (text(&schein, "belegnummer")) " zählt dann nicht mehr, und seine Wiegung ist wieder frei. Rückgängig machen lässt sich das nicht." }
        (field(ask, "grund", "Grund", "text", "", "off"))
    };
    Ok(frame::page(ask, "Annahmeschein stornieren", form(ask, inside, "Stornieren", true)))
}

/// POST /leitstand/f/{firma}/annahme/{id}/storno
pub fn cancel(ask: &Ask) -> Result<Change> {
    let id = ask.id(0)?;
    let grund = Some(ask.field("grund")).filter(|grund| !grund.is_empty());
    ask.change(
        Method::Put,
        &format!("/api/v1/annahmescheine/{id}/storno"),
        &json!({"grund": grund}),
        None,
        ask.of_firma(&format!("annahme/{id}")),
        "Der Annahmeschein ist storniert.",
    )
}
