//! The form that asks for the reason of a cancellation.

use maud::{Markup, html};
use serde_json::json;

use super::done::FirmaChange;
use super::frame;
use super::page::PageRequest;
use super::parts::{field, made_from};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;

/// Shows the form. A record without versions is cancelled whatever changed meanwhile.
pub fn show(request: &PageRequest, title: &str, version: Option<i64>, what: Markup) -> Result<Reply> {
    let inside = html! {
        @if let Some(version) = version { (made_from(request, "version", version)) }
        p { (what) }
        (field(request, "grund", "Grund", "text", "", "off"))
    };
    frame::form_page(request, title, &["grund"], inside, "Stornieren", true)
}

/// Cancels the record in the path. `api` is its list in the interface, `page` its list in the Leitstand.
pub fn send(
    request: &PageRequest,
    method: Method,
    api: &str,
    page: &str,
    note: &'static str,
) -> Result<FirmaChange> {
    let path = format!("{api}/{{id}}/storno");
    request.change_record(method, &path, &json!({"grund": request.filled("grund")}), page, note)
}
