//! A form that was sent after its session had ended: what was typed goes through the log-in page as one of its fields, and
//! comes back on its own page. Nothing is carried out.

use maud::{Markup, html};

use super::done::{Done, Response};
use super::page::{FIELDS_MAX, PageRequest, Take};
use crate::platform::http::request::Request;

/// Bytes of a form that is kept, at most: written as a field of the log-in it may have three times as many.
const KEPT_BYTES_MAX: usize = 20 << 10;

/// The fields of the log-in page: where the form was sent to, and what was typed.
const TO: &str = "zurueck";
const FORM: &str = "formular";

/// Where a form belongs, and its fields.
pub type Kept = (String, Vec<(String, String)>);

/// Whether what is typed into a field goes nowhere but where it was meant for.
pub fn is_secret(field: &str) -> bool {
    field.contains("passwor") || ["wiederholung", "bisher", "token"].contains(&field)
}

/// A form as fields of the log-in page; without what was typed where that is too much, or could not be read.
pub fn of(request: &Request, typed: Option<Vec<(String, String)>>) -> Vec<(String, String)> {
    let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
    let typed = typed.and_then(|mut fields| {
        fields.retain(|(name, _)| !is_secret(name));
        serde_json::to_string(&fields).ok()
    });
    let typed = typed.filter(|typed| typed.len() <= KEPT_BYTES_MAX);
    let to = (TO.to_owned(), format!("{}{query}", request.path));
    [to].into_iter().chain(typed.map(|typed| (FORM.to_owned(), typed))).collect()
}

/// What the log-in page carries along, and says of it.
pub fn hidden(page_request: &PageRequest) -> Markup {
    html! {
        @if page_request.is_sent(TO) {
            p.note role="status" {
                "Die Anmeldung ist abgelaufen; gespeichert ist nichts. "
                @if page_request.is_sent(FORM) { "Nach dem Anmelden kommt das Formular wieder, so wie es ausgefüllt war. Passwörter und Dateien bitte dann noch einmal eingeben." }
                @else { "Das Formular ist zu lang, um es aufzuheben: vielleicht hat es der Browser noch, mit „Zurück“." }
            }
            input type="hidden" name=(TO) value=(page_request.field(TO));
            @if page_request.is_sent(FORM) { input type="hidden" name=(FORM) value=(page_request.field_as_typed(FORM)); }
        }
    }
}

/// The form that a log-in leads back to; none where there is none, or it is no form of ours.
pub fn back(page_request: &PageRequest) -> Option<Kept> {
    let to = page_request.field(TO);
    let path = to.split('?').next().unwrap_or_default();
    let takes =
        |page: &&super::page::Page| !matches!(page.take, Take::Nothing) && page.matches(path).is_some();
    let is_ours = path.starts_with("/leitstand/") && to.bytes().all(|byte| byte.is_ascii_graphic());
    page_request.app.pages.iter().find(takes).filter(|_| is_ours)?;
    let mut fields: Vec<(String, String)> = serde_json::from_str(page_request.field_as_typed(FORM)).ok()?;
    fields.retain(|(name, _)| !is_secret(name));
    fields.truncate(FIELDS_MAX);
    // What tells a form that was sent from one that was only opened (`parts::made_from`).
    fields.push(("token".to_owned(), String::new()));
    Some((to.to_owned(), fields))
}

pub fn resumed((to, form): Kept) -> Done {
    let note =
        "Das Formular ist wieder da, aber noch nicht gespeichert: bitte ansehen und noch einmal absenden.";
    Done { notes: vec![note.to_owned()], ..Done::of(Response::Refill(to, form)) }
}
