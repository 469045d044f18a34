//! What was counted, of a batch or of an article without batches.

use maud::{Markup, html};
use serde_json::json;

use crate::goods::chargen;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{Ask, Snapshot};
use crate::leitstand::kit::parts::{amount, field, in_unit, json_number};
use crate::master::artikel;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::fixed::Quantity;

pub fn show_charge(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let charge = chargen::found(&db.tx, ask.uuid(0)?)?;
    let what = html! { "Charge " (charge.charge_nr) ", " (charge.artikel_bezeichnung) };
    show(ask, what, charge.bestand, charge.einheit.as_deref())
}

pub fn count_charge(ask: &Ask) -> Result<FirmaChange> {
    count(ask, "chargen", "chargen")
}

pub fn show_artikel(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let artikel = artikel::found(&db.tx, ask.uuid(0)?)?;
    let bestand = artikel::stock(&db.tx, artikel.id)?;
    show(ask, html! { (artikel.bezeichnung) }, bestand, artikel.einheit.as_deref())
}

pub fn count_artikel(ask: &Ask) -> Result<FirmaChange> {
    count(ask, "artikel", "bestand")
}

fn show(ask: &Ask, what: Markup, bestand: Quantity, einheit: Option<&str>) -> Result<Reply> {
    let inside = html! {
        p { (what) ": gebucht sind " strong { (in_unit(amount(bestand), einheit)) } ". Der Unterschied zum gezählten Bestand wird als Korrektur gebucht." }
        (field(ask, "bestand", &in_unit("Gezählter Bestand".to_owned(), einheit.map(|einheit| format!("({einheit})")).as_deref()), "text", "", "off"))
        (field(ask, "grund", "Grund, etwa: Inventur zum Jahresende", "text", "", "off"))
    };
    frame::form_page(ask, "Bestand zählen", &["bestand", "grund"], inside, "Buchen", false)
}

fn count(ask: &Ask, api: &str, page: &str) -> Result<FirmaChange> {
    let body = json!({"bestand": json_number(ask.field("bestand")), "grund": ask.filled("grund")});
    let path = format!("{api}/{{id}}/inventur");
    ask.change_record(Method::Post, &path, &body, page, "Der gezählte Bestand ist gebucht.")
}
