//! Weighing by hand, without a scale program: the partner is chosen, then a lorry is weighed for the first
//! and the second time.

use maud::html;
use serde_json::json;
use uuid::Uuid;

use crate::goods::waage;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, field, form, json_number, lines, made_from, or_blank, refusal};
use crate::leitstand::kit::{frame, wahl};
use crate::master::{artikel, kunden};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::verweis::parse_uuid;

const FELDER: [&str; 5] = ["gewicht_erst_kg", "kennzeichen", "fahrer", "waage_id", "bemerkung"];

/// Parameters set by the steps before the form.
const KEEPS: [&str; 3] = ["partner_id", "artikel_id", "waehlen"];

fn chosen(request: &PageRequest, name: &str) -> Option<Uuid> {
    parse_uuid(request.param(name))
}

pub fn show_new(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let title = "Fahrzeug wiegen";
    let partner = chosen(request, "partner_id").map(|id| kunden::find(&db.tx, id)).transpose()?.flatten();
    let Some(partner) = partner.filter(|_| request.param("waehlen") != "partner_id") else {
        let body = html! { h2 { "Für wen?" } (wahl::partner(request, db, "partner_id", &KEEPS)?) };
        return Ok(frame::page(request, title, body));
    };
    if request.param("waehlen") == "artikel_id" {
        let body = html! { h2 { "Was?" } (wahl::artikel(request, db, "artikel_id", &KEEPS)?) };
        return Ok(frame::page(request, title, body));
    }
    let artikel = chosen(request, "artikel_id").map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
    let query = KEEPS[..2].iter().filter_map(|name| Some(format!("{name}={}", chosen(request, name)?)));
    let query = query.collect::<Vec<_>>().join("&");
    let again = |feld: &str| format!("?{query}&waehlen={feld}");
    let inside = html! {
        p { "Partner: " strong { (partner.name) } " (" a href=(again("partner_id")) { "anderen wählen" } ")" br;
            "Artikel: " @if let Some(artikel) = &artikel { strong { (artikel.bezeichnung) } } @else { "keiner" }
            " (" a href=(again("artikel_id")) { "wählen" } ")" }
        (refusal(request, &FELDER))
        (field(request, "gewicht_erst_kg", "Gewicht der ersten Wiegung (kg)", "text", "", "off"))
        (field(request, "kennzeichen", "Kennzeichen", "text", "", "off"))
        (field(request, "fahrer", "Fahrer", "text", "", "off"))
        (field(request, "waage_id", "Nummer der Waage", "text", "1", "off"))
        (lines(request, "bemerkung", "Bemerkung", ""))
    };
    Ok(frame::page(request, title, form(request, inside, "Erste Wiegung speichern", false)))
}

pub fn create(request: &PageRequest) -> Result<FirmaChange> {
    let mut body = json!({
        "partner_id": chosen(request, "partner_id"),
        "artikel_id": chosen(request, "artikel_id"),
        "gewicht_erst_kg": json_number(request.field("gewicht_erst_kg")),
    });
    for name in &FELDER[1..] {
        body[*name] = json!(request.filled(name));
    }
    let to = request.of_firma("wiegungen/{id}");
    request.change(Method::Post, "/api/v1/wiegungen", &body, to, "Die erste Wiegung ist gespeichert.")
}

pub fn show_second(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let wiegung = waage::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        (made_from(request, "version", wiegung.version))
        p {
            (wiegung.wiegeschein_nr) ", " (or_blank(&wiegung.kennzeichen)) " "
            (or_blank(&wiegung.partner_name)) ": zuerst " strong { (amount(wiegung.gewicht_erst_kg)) " kg" }
            ". Ist das zweite Gewicht kleiner, wurde Ware gebracht, sonst geholt."
        }
        (field(request, "gewicht_zweit_kg", "Gewicht der zweiten Wiegung (kg)", "text", "", "off"))
    };
    frame::form_page(request, "Zweite Wiegung", &["gewicht_zweit_kg"], inside, "Speichern", false)
}

pub fn second(request: &PageRequest) -> Result<FirmaChange> {
    let body = json!({"gewicht_zweit_kg": json_number(request.field("gewicht_zweit_kg"))});
    let path = "wiegungen/{id}/zweitwiegung";
    request.change_record(Method::Put, path, &body, "wiegungen", "Die Wiegung ist fertig.")
}
