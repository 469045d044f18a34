//! Counting the stock of a batch or of an article without batches.

use maud::{Markup, html};
use serde_json::json;

use crate::goods::chargen;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, field, in_unit, json_number};
use crate::master::artikel;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::fixed::Quantity;

pub fn show_charge(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, request.uuid(0)?)?;
    let what = html! { "Charge " (charge.charge_nr) ", " (charge.artikel_bezeichnung) };
    show(request, what, charge.bestand, charge.einheit.as_deref())
}

pub fn count_charge(request: &PageRequest) -> Result<FirmaChange> {
    count(request, "chargen", "chargen")
}

pub fn show_artikel(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let artikel = artikel::found(&db.tx, request.uuid(0)?)?;
    let bestand = artikel::stock(&db.tx, artikel.id)?;
    show(request, html! { (artikel.bezeichnung) }, bestand, artikel.einheit.as_deref())
}

pub fn count_artikel(request: &PageRequest) -> Result<FirmaChange> {
    count(request, "artikel", "bestand")
}

fn show(request: &PageRequest, what: Markup, bestand: Quantity, einheit: Option<&str>) -> Result<Reply> {
    let inside = html! {
        p {
            (what) ": gebucht sind " strong { (in_unit(amount(bestand), einheit)) }
            ". Der Unterschied zum gezählten Bestand wird als Korrektur gebucht."
        }
        (field(
            request,
            "bestand",
            &in_unit(
                "Gezählter Bestand".to_owned(),
                einheit.map(|einheit| format!("({einheit})")).as_deref()
            ),
            "text",
            "",
            "off"
        ))
        (field(request, "grund", "Grund, etwa: Inventur zum Jahresende", "text", "", "off"))
    };
    frame::form_page(request, "Bestand zählen", &["bestand", "grund"], inside, "Buchen", false)
}

fn count(request: &PageRequest, api: &str, page: &str) -> Result<FirmaChange> {
    let body = json!({"bestand": json_number(request.field("bestand")), "grund": request.filled("grund")});
    let path = format!("{api}/{{id}}/inventur");
    request.change_record(Method::Post, &path, &body, page, "Der gezählte Bestand ist gebucht.")
}
