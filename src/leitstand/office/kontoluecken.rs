//! The gaps that keep a Stapel from being made (D31, D32): each once with its documents, and the fields to
//! enter missing accounts.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::json;

use super::konten::{in_words, noted, put};
use crate::leitstand::kit::done::{Done, FirmaChange};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot, encoded};
use crate::leitstand::kit::parts::{Table, cell, form_to, number, refusal, table, tick};
use crate::office::buchhaltung::{self, Luecke};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::rules::error::{Code, Refusal, Refusals};

/// Most accounts entered at once.
const ROWS_MAX: usize = 100;

/// Most documents named for each gap.
const DOCUMENTS_MAX: usize = 10;

/// All gaps of a refused Stapel.
pub fn section(request: &PageRequest, refusal: &Refusal, bis: &str) -> Markup {
    let (accounts, others): (Vec<_>, Vec<_>) =
        buchhaltung::luecken(refusal).into_iter().partition(|luecke| luecke.code == Code::KontoFehlt);
    html! {
        section.tried {
            h2 { "Was noch fehlt" }
            p.refused role="alert" {
                "So entsteht kein Stapel, denn es soll nichts fehlen. Bitte ergänzen und noch einmal prüfen."
            }
            @if !others.is_empty() {
                (table("Was noch fehlt", "", &others)
                    .text("Was", |luecke| luecke.message.to_string())
                    .with("Belege", false, |luecke| documents(request, &luecke.belege)))
                @if request.sees_management() {
                    p { a href=(request.of_firma("steuerberater/konten")) { "Zu den Konten" } }
                }
            }
            @if !accounts.is_empty() { (missing(request, &accounts, bis)) }
        }
    }
}

fn missing(request: &PageRequest, accounts: &[Luecke<'_>], bis: &str) -> Markup {
    let fields: Vec<_> = accounts.iter().take(ROWS_MAX).map(|luecke| luecke.feld.to_owned()).collect();
    let of = |at: &usize| accounts.get(*at);
    let rows: Vec<usize> = (0..fields.len()).collect();
    let shown = table("Konten, die fehlen", "", &rows)
        .with("Konto für", false, |at| whole(of(at).map(|luecke| luecke.feld)))
        .with(
            "Belege",
            false,
            |at| html! { @if let Some(luecke) = of(at) { (documents(request, &luecke.belege)) } },
        );
    html! {
        @if accounts.len() > ROWS_MAX {
            p.note { "Gezeigt sind die ersten " (ROWS_MAX) " von " (number(accounts.len())) "." }
        }
        @if request.may_manage() {
            (form_to(request, &request.of_firma("steuerberater/konten/fehlende"), html! {
                (hidden(&fields, bis))
                (with_fields(request, shown, &fields))
            }, "Konten speichern", false))
        } @else {
            (shown)
            p.empty { "Konten trägt ein, wer diese Firma verwaltet." }
        }
    }
}

/// The hidden fields: the accounts that the form asks for, and the last day of the Stapel.
fn hidden(fields: &[String], bis: &str) -> Markup {
    html! {
        input type="hidden" name="bis" value=(bis);
        @for (at, feld) in fields.iter().enumerate() { input type="hidden" name=(format!("luecke-{at}")) value=(feld); }
    }
}

fn with_fields<'t>(request: &'t PageRequest, shown: Table<'t, usize>, fields: &'t [String]) -> Markup {
    let what = move |at: usize| fields.get(at).map(|feld| in_words(feld)).unwrap_or_default();
    let has_group = move |at: usize| fields.get(at).and_then(|feld| buchhaltung::of_feld(feld)?.2).is_some();
    html! { (shown
    .with("Konto", false, move |at| cell(request, &format!("konto-{at}"), &format!("Konto für {}", what(*at)), "numeric"))
    .with("BU-Schlüssel", false, move |at| cell(request, &format!("bu-{at}"), &format!("BU-Schlüssel für {}", what(*at)), "numeric"))
    .with("Gilt auch für", false, move |at| html! { @if has_group(*at) {
        @let name = format!("alle-{at}");
        (tick(&name, request.is_sent(&name), html! { "alle Artikelgruppen" span.unseen { ": " (what(*at)) } }))
    } })) }
}

/// The purpose of an account; it may take several lines.
fn whole(feld: Option<&str>) -> Markup {
    html! { span.wrap { (feld.map(in_words).unwrap_or_default()) } }
}

fn documents(request: &PageRequest, numbers: &[&str]) -> Markup {
    let more = numbers.len().saturating_sub(DOCUMENTS_MAX);
    html! {
        span { @for (at, number) in numbers.iter().take(DOCUMENTS_MAX).enumerate() {
            @if at > 0 { ", " } a href=(request.of_firma(&format!("suche?suche={}", encoded(number)))) { (number) }
        }
        @if more > 0 { " und " (number(more)) " weitere" } }
    }
}

/// The accounts that the form asked for.
fn sent(request: &PageRequest) -> Vec<String> {
    let names = (0..ROWS_MAX).map(|at| format!("luecke-{at}"));
    names.map_while(|name| request.filled(&name).map(str::to_owned)).collect()
}

/// Shows the form again after a refusal.
pub fn show(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let fields = sent(request);
    if fields.is_empty() {
        return Ok(frame::redirect(request.of_firma("steuerberater")));
    }
    let at_fields: Vec<_> =
        (0..fields.len()).flat_map(|at| [format!("konto-{at}"), format!("bu-{at}")]).collect();
    let rows: Vec<usize> = (0..fields.len()).collect();
    let shown = table("Konten, die fehlen", "", &rows)
        .with("Konto für", false, |at| whole(fields.get(*at).map(String::as_str)));
    let body = html! {
        (refusal(request, &at_fields.iter().map(String::as_str).collect::<Vec<_>>()))
        (form_to(
            request,
            "",
            html! { (hidden(&fields, request.field("bis"))) (with_fields(request, shown, &fields)) },
            "Konten speichern",
            false
        ))
        p { a href=(request.of_firma("steuerberater")) { "Zurück, ohne zu speichern" } }
    };
    Ok(frame::page(request, "Konten, die fehlen", body))
}

/// Stores the accounts that were entered, all or none.
pub fn fill(request: &PageRequest) -> Result<FirmaChange> {
    let (mut changes, mut refused, mut keys) = (Vec::new(), Refusals::default(), BTreeSet::new());
    for (at, feld) in sent(request).iter().enumerate() {
        let [konto, bu] = ["konto", "bu"].map(|name| request.filled(&format!("{name}-{at}")));
        if konto.is_none() && bu.is_none() {
            continue;
        }
        let known = buchhaltung::of_feld(feld).ok_or_else(|| Failure::not_found("Dieses Konto"))?;
        let (fall, satz, gruppe) = known;
        let gruppe = gruppe.filter(|_| !request.is_sent(&format!("alle-{at}")));
        if !keys.insert(buchhaltung::feld(fall, satz, gruppe)) {
            let message = "Dafür steht weiter oben schon ein Konto. Bitte nur eines eintragen.";
            refused.keep::<()>(Err(Refusal::field(Code::FeldWiderspruch, format!("konto-{at}"), message)));
        }
        let body = json!({"fall": fall, "satz": satz, "artikelgruppe": gruppe, "konto": konto, "bu": bu});
        changes.extend(at_row(at, put(request, &body), &mut refused)?.map(|change| (at, change)));
    }
    if changes.is_empty() {
        refused.into_result()?;
        return Err(Refusal::new(Code::FeldFehlt, "Bitte mindestens ein Konto eintragen.").into());
    }
    refused.into_result()?;
    let to = format!("{}?bis={}", request.of_firma("steuerberater"), encoded(request.field("bis")));
    Ok(Box::new(move |tx| {
        noted(tx, || {
            let mut refused = Refusals::default();
            for (at, change) in &changes {
                at_row(*at, change(tx), &mut refused)?;
            }
            refused.into_result()?;
            Ok(Done::to(to.clone(), "Die Konten sind gespeichert. Bitte noch einmal prüfen."))
        })
    }))
}

/// Collects a refusal at the field of its row.
fn at_row<T>(at: usize, done: Result<T>, refused: &mut Refusals) -> Result<Option<T>> {
    match done {
        Err(Failure::Refused(refusal)) => {
            let feld = if refusal.feld.as_deref() == Some("bu") { "bu" } else { "konto" };
            let fehler = Vec::new();
            Ok(refused.keep(Err(Box::new(Refusal {
                feld: Some(format!("{feld}-{at}")),
                fehler,
                ..*refusal
            }))))
        }
        done => Ok(Some(done?)),
    }
}
