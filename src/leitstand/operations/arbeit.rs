//! Long-running jobs: their progress and their outcome.

use maud::{Markup, Render, html};
use uuid::Uuid;

use crate::leitstand::kit::done::{Done, InstallationChange};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::jobs::{Job, Next, Progress};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{facts, form_to, linked, moment, number};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use std::sync::Arc;

/// The jobs that this person began since the service started.
pub fn list(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let person = request.person_id();
    let empty = "Hier steht, wie weit Importe, Sicherungen und Prüfungen sind, die Sie begonnen haben.";
    let to = |job: &Arc<Job>| format!("/leitstand/arbeit/{}", job.id);
    let stand = |job: &Arc<Job>| match job.progress().ended {
        None => "läuft".to_owned(),
        Some(Ok(_)) => "fertig".to_owned(),
        Some(Err(_)) => "abgebrochen".to_owned(),
    };
    let jobs = request.app.jobs.of(person);
    let table = linked("Arbeiten", empty, &jobs, to)
        .text("Was", |job| job.title.clone())
        .text("Begonnen", |job| moment(job.begun))
        .text("Stand", stand);
    Ok(frame::page(request, "Arbeiten", table.render()))
}

fn own(request: &PageRequest) -> Result<Arc<Job>> {
    let id = Uuid::try_parse(request.id(0)?).ok();
    let job = id.and_then(|id| request.app.jobs.find(id)).filter(|job| job.person == request.person_id());
    job.ok_or_else(|| Failure::not_found("Diese Arbeit"))
}

/// Shows a job. While it runs, the page reloads by itself.
pub fn show(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let job = own(request)?;
    let progress = job.progress();
    let is_running = progress.ended.is_none();
    let body = match &progress.ended {
        None => running(request, &job, &progress),
        Some(Ok(outcome)) => html! {
            (outcome.shown)
            @if let Some(next) = &outcome.next { (form_to(request, &next.to, confirmed(next), "Importieren", false)) }
        },
        Some(Err(why)) => html! { p.refused role="alert" { @for line in why.lines() { (line) br; } } },
    };
    let page = frame::page(request, &job.title, body);
    Ok(if is_running { page.with("refresh", "1".to_owned()) } else { page })
}

/// The fields of the form that imports a file.
fn confirmed(next: &Next) -> Markup {
    html! {
        input type="hidden" name="datei" value=(next.file);
        @if next.is_doubtful {
            div.field {
                label {
                    input type="checkbox" name="trotzdem" value="ja" required;
                    " Trotzdem importieren: Was auffällig ist, soll so sein."
                }
            }
        }
    }
}

fn running(request: &PageRequest, job: &Job, progress: &Progress) -> Markup {
    let step = if progress.step.is_empty() { "Es beginnt …" } else { progress.step.as_str() };
    html! {
        p role="status" { (step) }
        @if progress.of > 1 {
            p { progress max=(progress.of) value=(progress.done) aria-label=(step) {} " "
                (number(progress.done)) " von " (number(progress.of)) }
        }
        (facts(&[("Begonnen", moment(job.begun))]))
        p {
            "Dieses Fenster kann zu sein: Die Arbeit geht weiter, und unter „Arbeiten“ in der Verwaltung \
             steht, was daraus wurde."
        }
        @if progress.is_last {}
        @else if job.is_given_up() { p { "Sie wird abgebrochen, sobald es geht." } }
        @else { (form_to(request, &format!("/leitstand/arbeit/{}", job.id), html! {}, "Abbrechen", true)) }
    }
}

pub fn give_up(request: &PageRequest) -> Result<InstallationChange> {
    let job = own(request)?;
    let to = format!("/leitstand/arbeit/{}", job.id);
    Ok(Box::new(move |_| {
        job.give_up();
        Ok(Done::to(to.clone(), "Die Arbeit wird abgebrochen."))
    }))
}
