//! The form of a partner, to create or to change one.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields::wording;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{field as typed_day, form, made_from, refusal, tick, with_way_back};
use crate::leitstand::kit::{fields, frame};
use crate::master::kunden::{self, Kunde};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::field::Field;
use crate::rules::stammdaten::PartnerTyp;

pub fn show_new(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let form = form(request, form_fields(request, None), "Anlegen", false);
    Ok(frame::page(request, "Neuer Partner", with_way_back(form, request.of_firma("partner"))))
}

pub fn create(request: &PageRequest) -> Result<FirmaChange> {
    let (body, to) = (body(request, true), request.of_firma("partner/{id}"));
    request.change(Method::Post, "/api/v1/kunden", &body, to, "Der Partner ist angelegt.")
}

pub fn show_change(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kunde = kunden::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        (made_from(request, "version", kunde.version))
        (form_fields(request, Some(&kunde)))
    };
    let form = form(request, inside, "Speichern", false);
    let back = request.page_of("partner", kunde.id);
    Ok(frame::page(request, &format!("{} ändern", kunde.name), with_way_back(form, back)))
}

pub fn change(request: &PageRequest) -> Result<FirmaChange> {
    let body = body(request, false);
    request.change_record(Method::Put, "kunden/{id}", &body, "partner", "Der Partner ist geändert.")
}

/// The fields in their groups, with the stored or typed values.
fn form_fields(request: &PageRequest, kunde: Option<&Kunde>) -> Markup {
    let asked: Vec<_> = fields::asked(kunde).collect();
    let names: Vec<&str> = asked.iter().map(|field| field.name).chain([ROLLEN, AB]).collect();
    let preset = kunden::preset();
    let shown = kunde.unwrap_or(&preset);
    let input = |field: &Field<Kunde>| match field.name {
        // A change holds from a day on; the first Besteuerung for all days.
        "steuerart" => html! {
            (fields::input(request, field, shown))
            @if kunde.is_some_and(|kunde| !kunde.besteuerungen.is_empty()) {
                (typed_day(request, AB, "Geänderte Besteuerung gilt ab", "date", "", "off"))
            }
        },
        "nachname_firma" => html! {
            (fields::input(request, field, shown))
            (rollen(request, kunde))
        },
        _ => fields::input(request, field, shown),
    };
    html! {
        (refusal(request, &names))
        (fields::groups(kunden::GRUPPEN, &asked, input))
    }
}

/// The day from which a changed Besteuerung holds.
const AB: &str = "steuerart_ab";

/// The roles, which are boxes to tick.
const ROLLEN: &str = "partner_typen";

fn box_of(rolle: PartnerTyp) -> String {
    format!("rolle-{}", rolle.as_str())
}

/// The roles that a form offers: a POST takes no carriers (specification), a PUT does.
fn offered(is_new: bool) -> impl Iterator<Item = PartnerTyp> {
    PartnerTyp::ALL.iter().copied().filter(move |rolle| !is_new || *rolle != PartnerTyp::Spediteur)
}

fn rollen(request: &PageRequest, kunde: Option<&Kunde>) -> Markup {
    let stored = kunde.map(|kunde| kunde.partner_typen).unwrap_or_default();
    let has = |rolle: PartnerTyp| match request.is_sent(ROLLEN) {
        true => request.is_sent(&box_of(rolle)),
        false => stored.each().any(|known| known == rolle),
    };
    html! {
        fieldset { legend { "Rollen" }
            // Browsers do not send unticked boxes: this field says that they were shown.
            input type="hidden" name=(ROLLEN) value="gezeigt";
            @for rolle in offered(kunde.is_none()) {
                (tick(&box_of(rolle), has(rolle), wording(rolle.as_str())))
            }
        }
    }
}

/// The body of the request; a field that was not sent stays unchanged.
fn body(request: &PageRequest, is_new: bool) -> Value {
    let mut body = fields::body_of::<Kunde>(request);
    if request.is_sent(ROLLEN) {
        let chosen = offered(is_new).filter(|rolle| request.is_sent(&box_of(*rolle)));
        body.insert(ROLLEN.to_owned(), chosen.map(|rolle| json!(rolle)).collect());
    }
    if let Some(ab) = request.filled(AB) {
        body.insert(AB.to_owned(), json!(ab));
    }
    Value::Object(body)
}
