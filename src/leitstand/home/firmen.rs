//! The companies, to choose one.

use maud::html;

use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;

/// Redirects to the only company, to the form that adds one, or to the list.
pub fn start(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let to = match request.firmen.as_slice() {
        [only] => format!("/leitstand/f/{}", only.id),
        [] if request.manages_installation() => "/leitstand/firmen/neu".to_owned(),
        _ => "/leitstand/firmen".to_owned(),
    };
    Ok(frame::redirect(to))
}

pub fn list(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let body = html! {
        @if request.firmen.is_empty() {
            p.empty { "Noch ist keine Firma zu sehen. "
                @if request.manages_installation() { a href="/leitstand/firmen/neu" { "Die erste anlegen" } "." }
                @else { "Wer alles verwaltet, kann eine freigeben." } }
        }
        ul { @for firma in &request.firmen {
            li { a href=(format!("/leitstand/f/{}", firma.id)) { (firma.name) } @if firma.test { " (Test)" } }
        } }
        @if request.manages_installation() && !request.firmen.is_empty() {
            p.actions { a.button href="/leitstand/firmen/neu" { "Neue Firma" } }
        }
    };
    Ok(frame::page(request, "Firmen", body))
}
