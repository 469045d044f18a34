//! The companies: the choice of one.

use maud::html;

use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{Ask, Snapshot};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;

/// The first page of the company, or the choice of one.
pub fn start(ask: &Ask, _: &Snapshot<'_>) -> Result<Reply> {
    let to = match ask.firmen.as_slice() {
        [only] => format!("/leitstand/f/{}", only.id),
        [] if ask.keeps_house() => "/leitstand/firmen/neu".to_owned(),
        _ => "/leitstand/firmen".to_owned(),
    };
    Ok(frame::redirect(to))
}

pub fn list(ask: &Ask, _: &Snapshot<'_>) -> Result<Reply> {
    let body = html! {
        @if ask.firmen.is_empty() {
            p.empty { "Noch ist keine Firma zu sehen. "
                @if ask.keeps_house() { a href="/leitstand/firmen/neu" { "Die erste anlegen" } "." }
                @else { "Wer alles verwaltet, kann eine freigeben." } }
        }
        ul { @for firma in &ask.firmen {
            li { a href=(format!("/leitstand/f/{}", firma.id)) { (firma.name) } @if firma.test { " (Test)" } }
        } }
        @if ask.keeps_house() && !ask.firmen.is_empty() { p.actions { a.button href="/leitstand/firmen/neu" { "Neue Firma" } } }
    };
    Ok(frame::page(ask, "Firmen", body))
}
