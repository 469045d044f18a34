//! The form of a partner, to create or to change one.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::partner_felder::{Art, Feld, GRUPPEN, Wann, felder, wording};
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    choice, field, form, lines, made_from, refusal, typed_number, with_way_back,
};
use crate::master::kunden::{self, Kunde, PartnerTypen};
use crate::master::laender;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::stammdaten::PartnerTyp;

fn shown_in(wann: Wann) -> impl Iterator<Item = &'static Feld> {
    felder().filter(move |feld| [Wann::Immer, Wann::Einmal, wann].contains(&feld.3))
}

pub fn show_new(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let form = form(request, fields(request, None), "Anlegen", false);
    Ok(frame::page(request, "Neuer Partner", with_way_back(form, request.of_firma("partner"))))
}

pub fn create(request: &PageRequest) -> Result<FirmaChange> {
    let (body, to) = (body(request, Wann::Neu), request.of_firma("partner/{id}"));
    request.change(Method::Post, "/api/v1/kunden", &body, to, "Der Partner ist angelegt.")
}

pub fn show_change(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kunde = kunden::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        (made_from(request, "version", kunde.version))
        (fields(request, Some(&kunde)))
    };
    let form = form(request, inside, "Speichern", false);
    let back = request.page_of("partner", kunde.id);
    Ok(frame::page(request, &format!("{} ändern", kunde.name), with_way_back(form, back)))
}

pub fn change(request: &PageRequest) -> Result<FirmaChange> {
    let body = body(request, Wann::Spaeter);
    request.change_record(Method::Put, "kunden/{id}", &body, "partner", "Der Partner ist geändert.")
}

/// The fields in their groups, with the stored or typed values.
fn fields(request: &PageRequest, kunde: Option<&Kunde>) -> Markup {
    let wann = if kunde.is_some() { Wann::Spaeter } else { Wann::Neu };
    let is_given =
        |feld: &&Feld| feld.3 == Wann::Einmal && kunde.is_some_and(|kunde| !feld.4(kunde).is_empty());
    let names: Vec<&str> = shown_in(wann).filter(|feld| !is_given(feld)).map(|feld| feld.0).collect();
    html! {
        (refusal(request, &names))
        @for (group, felder) in GRUPPEN.iter().filter(|(_, felder)| felder.iter().any(|feld| names.contains(&feld.0))) {
            fieldset.fields { legend { (group) }
                @for feld in felder.iter().filter(|feld| names.contains(&feld.0)) { (one(request, feld, kunde)) }
            }
        }
    }
}

fn preset(name: &str) -> &'static str {
    match name {
        "staat" => "DE",
        "e_rechnung" => "zugferd",
        "zahlungsziel_tage" => "30",
        _ => "",
    }
}

fn one(request: &PageRequest, Feld(name, label, art, _, value): &Feld, kunde: Option<&Kunde>) -> Markup {
    let value = kunde.map_or_else(|| preset(name).to_owned(), value);
    match art {
        Art::Zeile(kind) => field(request, name, label, kind, &value, "off"),
        Art::Zahl => field(request, name, label, "text", &value, "off"),
        Art::Tag => field(request, name, label, "date", &value, "off"),
        Art::Text => lines(request, name, label, &value),
        Art::Auswahl(values, is_optional) => {
            let none = is_optional.then_some(("", "keine Angabe"));
            let options = none.into_iter().chain(values().into_iter().map(|value| (value, wording(value))));
            choice(request, name, label, options, &value)
        }
        Art::Land => {
            let laender = laender::all().iter().map(|land| (&land.iso2, &land.name_de));
            choice(request, name, label, laender, &value)
        }
        Art::Rollen => rollen(request, name, label, kunde),
    }
}

fn box_of(rolle: PartnerTyp) -> String {
    format!("rolle-{}", rolle.as_str())
}

/// The roles that a form offers: a POST takes no carriers (specification), a PUT does.
fn offered(is_new: bool) -> impl Iterator<Item = PartnerTyp> {
    PartnerTyp::ALL.iter().copied().filter(move |rolle| !is_new || *rolle != PartnerTyp::Spediteur)
}

fn rollen(request: &PageRequest, name: &str, label: &str, kunde: Option<&Kunde>) -> Markup {
    let stored = kunde.map_or(PartnerTypen::DEFAULT, |kunde| kunde.partner_typen);
    let has = |rolle: PartnerTyp| match request.is_sent(name) {
        true => request.is_sent(&box_of(rolle)),
        false => stored.each().any(|known| known == rolle),
    };
    html! {
        fieldset { legend { (label) }
            // Browsers do not send unticked boxes: this field says that they were shown.
            input type="hidden" name=(name) value="gezeigt";
            @for rolle in offered(kunde.is_none()) {
                div {
                    label {
                        input type="checkbox" name=(box_of(rolle)) value="ja" checked[has(rolle)];
                        " " (wording(rolle.as_str()))
                    }
                }
            }
        }
    }
}

/// The body of the request; a field that was not sent stays unchanged.
fn body(request: &PageRequest, wann: Wann) -> Value {
    let mut body = Map::new();
    for Feld(name, _, art, ..) in shown_in(wann).filter(|feld| request.is_sent(feld.0)) {
        let value = match (art, request.field(name)) {
            (Art::Rollen, _) => {
                let chosen = offered(wann == Wann::Neu).filter(|rolle| request.is_sent(&box_of(*rolle)));
                chosen.map(|rolle| json!(rolle)).collect()
            }
            (_, "") => Value::Null,
            (Art::Zahl, typed) => json!(typed_number(typed)),
            (_, typed) => json!(typed),
        };
        body.insert((*name).to_owned(), value);
    }
    Value::Object(body)
}
