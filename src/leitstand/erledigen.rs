//! A document is paid, and perhaps nothing more comes that belongs to it.

use maud::html;
use serde_json::json;

use super::frame;
use super::page::{Ask, FirmaChange, Snapshot};
use super::parts::{amount, in_unit, made_from};
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::{artikel, belege};

/// The box of what an invoice, or a delivery, still waits for.
const NOTHING_COMES: &str = "ohne_gegenbeleg";

pub fn show(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::found(&db.tx, ask.uuid(0)?)?;
    let open = belege::open_of(&db.tx, &beleg)?.into_iter();
    let open = open.map(|(id, menge)| Ok((artikel::must_have(&db.tx, id)?, menge)));
    let open = open.collect::<Result<Vec<_>>>()?;
    let counterpart = if beleg.beleg_typ.ist_rechnung() { "eine Lieferung" } else { "eine Rechnung" };
    let inside = html! {
        (made_from(ask, "version", beleg.version))
        p { (beleg.beleg_nummer) " ist dann bezahlt und steht nicht mehr unter dem, was offen ist." }
        @if !open.is_empty() && !beleg.ohne_gegenbeleg {
            fieldset {
                legend { "Zu dieser Ware fehlt noch " (counterpart) }
                ul { @for (artikel, menge) in &open { li { (in_unit(amount(menge), artikel.einheit.as_deref())) " " (artikel.bezeichnung) } } }
                label { input type="checkbox" name=(NOTHING_COMES) value="ja" checked[ask.is_sent(NOTHING_COMES)];
                    "Es kommt nichts mehr: Spätere Belege treffen diese Ware nicht." }
            }
        }
    };
    frame::form_page(ask, "Beleg erledigen", &[], inside, "Erledigt", false)
}

pub fn settle(ask: &Ask) -> Result<FirmaChange> {
    let id = ask.id(0)?;
    let body = json!({NOTHING_COMES: ask.is_sent(NOTHING_COMES)});
    let (path, to) = (format!("/api/v1/belege/{id}/erledigen"), ask.page_of("belege", id));
    ask.change(Method::Post, &path, &body, to, "Der Beleg ist erledigt.")
}
