//! The flow around the positions of a document: lists that the style draws from left to right, joined by lines. They read as
//! lists without it (D38).

use maud::{Markup, html};

use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{amount, in_unit, number, optional, or_blank};
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, VerknuepfungArt};
use crate::rules::fixed::Quantity;
use crate::trade::belege::{self, Beleg, BelegPosition, Flow, Step};

/// Most neighbours drawn of a document.
const NEIGHBOURS_MAX: usize = 20;

pub fn section(request: &PageRequest, db: &Snapshot<'_>, beleg: &Beleg) -> Result<Markup> {
    let positions = beleg.positionen.as_deref().unwrap_or_default();
    let (flows, more) = belege::flows(&db.tx, beleg, positions, NEIGHBOURS_MAX)?;
    let of_position = |flow: &Flow| positions.iter().find(|position| position.position == flow.position);
    Ok(html! { @if !flows.is_empty() {
        h2 { "Belegfluss" }
        @for flow in &flows { @if let Some(position) = of_position(flow) {
            (lane(request, beleg, position, flow))
        } }
        @if more > 0 { p.soft { "und " (number(more)) " weitere" } }
    } })
}

fn lane(request: &PageRequest, beleg: &Beleg, position: &BelegPosition, flow: &Flow) -> Markup {
    let einheit = position.einheit.as_deref();
    let title = format!("Position {}: {}", position.position, or_blank(&position.bezeichnung));
    html! {
        section.lane aria-label=(title) {
            h3 { (title) }
            div.flow tabindex="0" role="group" aria-label="Woraus sie hervorgeht und was daraus wurde" {
                (steps(request, &flow.before, einheit, ("before", "Woraus")))
                div.here {
                    strong { (beleg.beleg_nummer) }
                    span { (said(position.menge.abs(), einheit, beleg.beleg_typ, position.menge.is_negative())) }
                    (left(beleg, position))
                }
                (steps(request, &flow.after, einheit, ("after", "Was daraus wurde")))
            }
        }
    }
}

/// What is left of a position to go on with, as a bar and in words; of an invoice nobody waits for what is left.
fn left(beleg: &Beleg, position: &BelegPosition) -> Markup {
    let is_over = beleg.beleg_typ.ist_rechnung() || beleg.ohne_gegenbeleg;
    let left = position.offen.flatten().filter(|_| !is_over);
    let done = |left: Quantity| {
        let (all, left) = (i128::from(position.menge.units()), i128::from(left.units()));
        if all > 0 { (all - left) * 100 / all } else { 100 }
    };
    optional(left, |left| {
        html! {
            svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
                rect.then width="100" height="4" {} rect.now width=(done(left)) height="4" {}
            }
            span {
                @if left.is_zero() { "nichts mehr offen" }
                @else { "offen " (in_unit(amount(left), position.einheit.as_deref())) }
            }
        }
    })
}

fn steps(
    request: &PageRequest,
    steps: &[Step],
    einheit: Option<&str>,
    (class, label): (&str, &str),
) -> Markup {
    html! { @if !steps.is_empty() { ul class=(class) aria-label=(label) { @for step in steps {
        li {
            (one(request, step, einheit))
            @if !step.beyond.is_empty() || step.more > 0 { ul aria-label=(label) {
                @for beyond in &step.beyond { li { (one(request, beyond, einheit)) } }
                @if step.more > 0 { li { span.box { "und " (number(step.more)) " weitere" } } }
            } }
        }
    } } } }
}

fn one(request: &PageRequest, step: &Step, einheit: Option<&str>) -> Markup {
    let is_guess = step.art == VerknuepfungArt::Vorgeschlagen;
    html! {
        a.box.guess[is_guess] href=(request.page_of("belege", step.beleg_id)) {
            strong { (step.beleg_nummer) }
            span { (said(step.menge, einheit, step.beleg_typ, step.takes_back)) @if is_guess { ", vermutet" } }
        }
    }
}

/// A quantity with what a document does with it.
fn said(menge: Quantity, einheit: Option<&str>, typ: BelegTyp, takes_back: bool) -> String {
    let deed = match (typ, takes_back) {
        (BelegTyp::An, _) => "angeboten",
        (BelegTyp::Au | BelegTyp::Bs, _) => "bestellt",
        (BelegTyp::Ls | BelegTyp::El, false) => "geliefert",
        (BelegTyp::Ls | BelegTyp::El, true) => "zurückgeliefert",
        (BelegTyp::Re | BelegTyp::Er, false) => "berechnet",
        (BelegTyp::Re | BelegTyp::Er, true) => "gutgeschrieben",
    };
    format!("{} {deed}", in_unit(amount(menge), einheit))
}
