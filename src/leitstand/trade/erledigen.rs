//! Settling a document: it is paid, and perhaps no counterpart is to come.

use maud::html;
use serde_json::json;

use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, in_unit, made_from};
use crate::master::artikel;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::trade::belege::{self, Beleg};

/// The checkbox that says that an invoice's delivery, or a delivery's invoice, is not to come.
pub const NO_COUNTERPART: &str = "ohne_gegenbeleg";

/// Goods without a counterpart that may still get one: `3 Stk Sack`.
pub fn open_of(db: &Snapshot<'_>, beleg: &Beleg) -> Result<Vec<String>> {
    if beleg.ohne_gegenbeleg {
        return Ok(Vec::new());
    }
    let in_words = |(id, menge)| {
        let artikel = artikel::must_have(&db.tx, id)?;
        Ok(format!("{} {}", in_unit(amount(menge), artikel.einheit.as_deref()), artikel.bezeichnung))
    };
    belege::open_of(&db.tx, beleg)?.into_iter().map(in_words).collect()
}

pub fn counterpart(beleg: &Beleg) -> &'static str {
    if beleg.beleg_typ.ist_rechnung() { "eine Lieferung" } else { "eine Rechnung" }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::found(&db.tx, request.uuid(0)?)?;
    let open = open_of(db, &beleg)?;
    let inside = html! {
        (made_from(request, "version", beleg.version))
        p { (beleg.beleg_nummer) " ist dann bezahlt und steht nicht mehr unter dem, was offen ist." }
        @if !open.is_empty() {
            fieldset {
                legend { "Zu dieser Ware fehlt noch " (counterpart(&beleg)) }
                ul { @for open in &open { li { (open) } } }
                label { input type="checkbox" name=(NO_COUNTERPART) value="ja" checked[request.is_sent(NO_COUNTERPART)];
                    "Es kommt nichts mehr: Spätere Belege treffen diese Ware nicht." }
            }
        }
    };
    frame::form_page(request, "Beleg erledigen", &[], inside, "Erledigt", false)
}

pub fn settle(request: &PageRequest) -> Result<FirmaChange> {
    let body = json!({NO_COUNTERPART: request.is_sent(NO_COUNTERPART)});
    request.change_record(Method::Post, "belege/{id}/erledigen", &body, "belege", "Der Beleg ist erledigt.")
}
