//! The form of a partner: a new one, and the change of one who is there.

use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::frame;
use super::page::{Ask, Change, Seen, VERSION};
use super::partner_felder::{Art, Feld, GRUPPEN, Wann, felder, wert, wording};
use super::parts::{choice, field, form, lines, made_from, refusal, text};
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::stammdaten::PartnerTyp;

/// The fields of one of both forms.
fn shown_in(wann: Wann) -> impl Iterator<Item = &'static Feld> {
    felder().filter(move |feld| feld.3 == Wann::Immer || feld.3 == wann)
}

/// GET /leitstand/f/{firma}/partner/neu
pub fn show_new(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let blank =
        json!({"staat": "DE", "e_rechnung": "zugferd", "zahlungsziel_tage": 30, "partner_typen": ["kunde"]});
    let inside = fields(ask, seen, &blank, Wann::Neu)?;
    Ok(frame::page(
        ask,
        "Neuer Partner",
        with_way_back(form(ask, inside, "Anlegen", false), ask.of_firma("partner")),
    ))
}

/// POST /leitstand/f/{firma}/partner/neu
pub fn create(ask: &Ask) -> Result<Change> {
    let (body, to) = (body(ask, Wann::Neu), ask.of_firma("partner/{id}"));
    ask.change(Method::Post, "/api/v1/kunden", &body, None, to, "Der Partner ist angelegt.")
}

/// GET /leitstand/f/{firma}/partner/{id}/aendern
pub fn show_change(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let kunde = ask.get(seen, &format!("/api/v1/kunden/{}", ask.id(0)?))?;
    let inside = html! {
        (made_from(ask, "version", text(&kunde, VERSION)))
        (fields(ask, seen, &kunde, Wann::Spaeter)?)
    };
    let title = format!("{} ändern", text(&kunde, "name"));
    let back = ask.of_firma(&format!("partner/{}", ask.id(0)?));
    Ok(frame::page(ask, &title, with_way_back(form(ask, inside, "Speichern", false), back)))
}

/// POST /leitstand/f/{firma}/partner/{id}/aendern
pub fn change(ask: &Ask) -> Result<Change> {
    let id = ask.id(0)?;
    let (path, to) = (format!("/api/v1/kunden/{id}"), ask.of_firma(&format!("partner/{id}")));
    let body = body(ask, Wann::Spaeter);
    ask.change(Method::Put, &path, &body, Some(ask.field("version")), to, "Der Partner ist geändert.")
}

fn with_way_back(form: Markup, back: String) -> Markup {
    html! { (form) p { a href=(back) { "Zurück, ohne zu speichern" } } }
}

/// The fields in their groups, with what is stored or what was typed.
fn fields(ask: &Ask, seen: &Seen<'_>, kunde: &Value, wann: Wann) -> Result<Markup> {
    let names: Vec<&str> = shown_in(wann).map(|feld| feld.0).collect();
    let laender = ask.get(seen, "/api/v1/laender")?;
    Ok(html! {
        (refusal(ask, &names))
        @for (group, felder) in GRUPPEN {
            fieldset.fields { legend { (group) }
                @for feld in felder.iter().filter(|feld| names.contains(&feld.0)) { (one(ask, feld, kunde, &laender)) }
            }
        }
    })
}

fn one(ask: &Ask, Feld(name, label, art, _): &Feld, kunde: &Value, laender: &Value) -> Markup {
    match art {
        Art::Zeile(kind) => field(ask, name, label, kind, &wert(kunde, name), "off"),
        Art::Zahl => field(ask, name, label, "text", &wert(kunde, name), "off"),
        Art::Tag => field(ask, name, label, "date", text(kunde, name), "off"),
        Art::Text => lines(ask, name, label, text(kunde, name)),
        Art::Auswahl(values, is_optional) => {
            let none = is_optional.then_some(("", "keine Angabe"));
            let options = none.into_iter().chain(values().into_iter().map(|value| (value, wording(value))));
            choice(ask, name, label, &options.collect::<Vec<_>>(), text(kunde, name))
        }
        Art::Land => {
            let laender = laender["data"].as_array().into_iter().flatten();
            let options: Vec<_> = laender.map(|land| (text(land, "iso2"), text(land, "name_de"))).collect();
            choice(ask, name, label, &options, text(kunde, name))
        }
        Art::Rollen => rollen(ask, name, label, kunde),
    }
}

/// The name of the box of a role.
fn box_of(rolle: PartnerTyp) -> String {
    format!("rolle-{}", rolle.as_str())
}

/// The roles that a form offers: a POST takes no carriers (specification), a PUT does.
fn offered(is_new: bool) -> impl Iterator<Item = PartnerTyp> {
    PartnerTyp::ALL.iter().copied().filter(move |rolle| !is_new || *rolle != PartnerTyp::Spediteur)
}

fn rollen(ask: &Ask, name: &str, label: &str, kunde: &Value) -> Markup {
    let has = |rolle: PartnerTyp| match ask.is_sent(name) {
        true => ask.is_sent(&box_of(rolle)),
        false => kunde[name].as_array().is_some_and(|rollen| rollen.contains(&json!(rolle))),
    };
    let is_new = kunde["id"].is_null();
    html! {
        fieldset { legend { (label) }
            // Boxes that are not ticked are not sent: this says that they were there.
            input type="hidden" name=(name) value="gezeigt";
            @for rolle in offered(is_new) {
                div { label { input type="checkbox" name=(box_of(rolle)) value="ja" checked[has(rolle)]; " " (wording(rolle.as_str())) } }
            }
        }
    }
}

/// What the form says, as the interface takes it; a field that was not sent stays as it is.
fn body(ask: &Ask, wann: Wann) -> Value {
    let mut body = Map::new();
    for Feld(name, _, art, _) in shown_in(wann).filter(|feld| ask.is_sent(feld.0)) {
        let value = match (art, ask.field(name)) {
            (Art::Rollen, _) => {
                let chosen = offered(wann == Wann::Neu).filter(|rolle| ask.is_sent(&box_of(*rolle)));
                chosen.map(|rolle| json!(rolle)).collect()
            }
            (_, "") => Value::Null,
            (Art::Zahl, typed) => json!(typed.replace(',', ".")),
            (_, typed) => json!(typed),
        };
        body.insert((*name).to_owned(), value);
    }
    Value::Object(body)
}
