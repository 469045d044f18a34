//! How far long work is, and what it came to.

use maud::{Markup, Render, html};
use uuid::Uuid;

use super::frame;
use super::page::{Ask, Done, HouseChange, Seen};
use super::parts::{facts, form_to, linked, moment, number};
use super::works::{Stand, Work};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use std::sync::Arc;

/// GET /leitstand/arbeit: what this person began since the service was started.
pub fn list(ask: &Ask, _: &Seen<'_>) -> Result<Reply> {
    let person = ask.person.as_ref().map_or(0, |person| person.id);
    let empty = "Hier steht, wie weit Importe, Sicherungen und Prüfungen sind, die Sie begonnen haben.";
    let to = |work: &Arc<Work>| format!("/leitstand/arbeit/{}", work.id);
    let stand = |work: &Arc<Work>| match work.stand().ended {
        None => "läuft".to_owned(),
        Some(Ok(_)) => "fertig".to_owned(),
        Some(Err(_)) => "abgebrochen".to_owned(),
    };
    let works = ask.house.works.of(person);
    let table = linked("Arbeiten", empty, &works, to)
        .text("Was", |work| work.title.clone())
        .text("Begonnen", |work| moment(work.begun))
        .text("Stand", stand);
    Ok(frame::page(ask, "Arbeiten", table.render()))
}

/// The work in the path, if this person began it.
fn own(ask: &Ask) -> Result<Arc<Work>> {
    let id = Uuid::try_parse(ask.id(0)?).ok();
    let person = ask.person.as_ref().map(|person| person.id);
    let work = id.and_then(|id| ask.house.works.find(id)).filter(|work| Some(work.person) == person);
    work.ok_or_else(|| Failure::not_found("Diese Arbeit"))
}

/// GET /leitstand/arbeit/{id}; while it runs, the page comes anew by itself.
pub fn show(ask: &Ask, _: &Seen<'_>) -> Result<Reply> {
    let work = own(ask)?;
    let stand = work.stand();
    let is_running = stand.ended.is_none();
    let body = match &stand.ended {
        None => running(ask, &work, &stand),
        Some(Ok(outcome)) => html! {
            (outcome.shown)
            @if let Some(next) = &outcome.next {
                (form_to(ask, &next.to, html! {
                    @for (name, value) in &next.fields { input type="hidden" name=(name) value=(value); }
                }, next.button, false))
            }
        },
        Some(Err(why)) => html! { p.refused role="alert" { @for line in why.lines() { (line) br; } } },
    };
    let page = frame::page(ask, &work.title, body);
    Ok(if is_running { page.with("refresh", "1".to_owned()) } else { page })
}

fn running(ask: &Ask, work: &Work, stand: &Stand) -> Markup {
    let step = if stand.step.is_empty() { "Es beginnt …" } else { stand.step.as_str() };
    html! {
        p role="status" { (step) }
        @if stand.of > 1 {
            p { progress max=(stand.of) value=(stand.done) aria-label=(step) {} " "
                (number(stand.done)) " von " (number(stand.of)) }
        }
        (facts(&[("Begonnen", moment(work.begun))]))
        p { "Dieses Fenster kann zu sein: Die Arbeit geht weiter, und unter „Arbeiten“ steht, was daraus wurde." }
        @if stand.is_last {}
        @else if work.is_given_up() { p { "Sie wird abgebrochen, sobald es geht." } }
        @else { (form_to(ask, &format!("/leitstand/arbeit/{}", work.id), html! {}, "Abbrechen", true)) }
    }
}

/// POST /leitstand/arbeit/{id}: gives it up.
pub fn give_up(ask: &Ask) -> Result<HouseChange> {
    let work = own(ask)?;
    let to = format!("/leitstand/arbeit/{}", work.id);
    Ok(Box::new(move |_| {
        work.give_up();
        Ok(Done::to(to.clone(), "Die Arbeit wird abgebrochen."))
    }))
}
