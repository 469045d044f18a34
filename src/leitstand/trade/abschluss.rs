//! The check before a document is finalised: what finalising would report, and where to fix it.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use super::entwurf::{self, HEAD_TEXTS, PARTNER};
use crate::leitstand::kit::done::{FirmaChange, TRY, tried};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{form_to, made_from, refusal};
use crate::papers::erechnung::Wo;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::error::HintCode;
use crate::trade::belege::{self, Beleg};

/// The button on the page of an open document; it first asks what finalising would report.
pub fn button(request: &PageRequest, beleg: &Beleg, here: &str) -> Markup {
    let inside = html! {
        (made_from(request, "version", beleg.version))
        input type="hidden" name="schritt" value=(TRY);
    };
    html! {
        div.pressed {
            (form_to(request, &format!("{here}/abschliessen"), inside, "Prüfen und abschließen", false))
        }
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::found(&db.tx, request.uuid(0)?)?;
    let here = request.page_of("belege", beleg.id);
    let title = format!("{} abschließen", beleg.beleg_nummer);
    let Some(tried) = request.tried.as_deref() else {
        let body = html! {
            (refusal(request, &[])) (button(request, &beleg, &here))
            p { a href=(here) { "Zum Beleg" } }
        };
        return Ok(frame::page(request, &title, body));
    };
    let [refusals, hints] = ["ablehnungen", "hinweise"].map(|field| sentences(&here, &tried[field]));
    let lacks = belege::missing(&db.tx, &beleg)?.unwrap_or_default();
    let lacks: Vec<_> = lacks
        .iter()
        .map(|fehlt| (place(request, &beleg, fehlt.wo, fehlt.feld), format!("{}: {}", fehlt.wo, fehlt.was)))
        .collect();
    let body = html! {
        (list("So lässt er sich nicht abschließen", "refused", &refusals))
        (list("Für die E-Rechnung fehlt", "lacks", &lacks))
        (list("Bitte prüfen", "hints", &hints))
        @if refusals.is_empty() && lacks.is_empty() && hints.is_empty() {
            p.note { "Nichts fehlt, und nichts ist ungewöhnlich." }
        }
        @if refusals.is_empty() {
            p {
                "Nach dem Abschließen lässt sich " (beleg.beleg_nummer)
                " nicht mehr ändern, nur noch stornieren"
                @if beleg.beleg_typ.ist_rechnung() { ", mit einem Stornobeleg" }
                ". "
                "Die angeschlossenen Programme sehen ihn, und Blatt und E-Rechnung stehen fest."
            }
            (form_to(request, "", made_from(request, "version", beleg.version), "Endgültig abschließen", false))
        }
        p.actions { a.button href=(here) { "Zum Beleg" } a.button href=(format!("{here}/pdf")) { "Vorschau (PDF)" } }
    };
    Ok(frame::page(request, &title, body))
}

/// Sentences, each with a link to where it can be fixed.
fn list(title: &str, class: &str, sentences: &[(Option<String>, String)]) -> Markup {
    html! { @if !sentences.is_empty() {
        h2 { (title) }
        ul.sorgen.(class) { @for (to, sentence) in sentences { li {
            (sentence) @if let Some(to) = to { " " a href=(to) { "Dort ergänzen oder ändern" } }
        } } }
    } }
}

/// The sentence of each refusal or hint in an answer, and where to fix it. Gaps of the e-invoice are left
/// out; they are shown separately.
fn sentences(here: &str, of: &Value) -> Vec<(Option<String>, String)> {
    let of = of.as_array().into_iter().flatten();
    let of = of.filter(|one| one["code"] != HintCode::ErechnungUnvollstaendig.as_str());
    let text = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
    of.map(|one| (of_field(here, &text(one, "feld")), text(one, "message"))).collect()
}

/// The link to a field of the document in its form, if it is there.
fn of_field(here: &str, feld: &str) -> Option<String> {
    let feld = entwurf::in_form(&[], feld);
    let is_there = entwurf::parts(&feld).is_some() || feld == PARTNER || HEAD_TEXTS.contains(&feld.as_str());
    is_there.then(|| format!("{here}/aendern#feld-{feld}"))
}

fn place(request: &PageRequest, beleg: &Beleg, wo: Wo, feld: &str) -> Option<String> {
    let partner = |id: Uuid| format!("{}/aendern#feld-{feld}", request.page_of("partner", id));
    match wo {
        Wo::Firma => {
            request.manages_installation().then(|| format!("{}#feld-{feld}", request.of_firma("firma")))
        }
        Wo::Kunde => Some(partner(beleg.kunde_id)),
        Wo::Beleg | Wo::Position(_) => Some(format!("{}/aendern", request.page_of("belege", beleg.id))),
    }
}

pub fn finalise(request: &PageRequest) -> Result<FirmaChange> {
    let is_trial = request.step().is_some();
    let path = if is_trial { "belege/{id}/abschliessen?pruefen=true" } else { "belege/{id}/abschliessen" };
    let note = "Der Beleg ist abgeschlossen.";
    let write = request.change_record(Method::Post, path, &json!({}), "belege", note)?;
    Ok(Box::new(move |tx| if is_trial { tried(tx, || Ok(write(tx)?.answer)) } else { write(tx) }))
}
