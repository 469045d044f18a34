//! Resumes a form that was sent after its session had ended. The typed values pass through the log-in page in
//! one of its fields and return to their own page. Nothing is executed.

use maud::{Markup, html};

use super::done::{Done, Response};
use super::page::{FIELDS_MAX, PageRequest, Take};
use crate::platform::http::request::Request;

/// Largest form kept, in bytes of JSON; percent-encoding in the log-in form may triple it.
const KEPT_BYTES_MAX: usize = 20 << 10;

/// The fields of the log-in page: the path the form was sent to, and the typed values as JSON.
const TO: &str = "zurueck";
const FORM: &str = "formular";

/// The path of a form, and its fields.
pub type Kept = (String, Vec<(String, String)>);

/// Whether a value must reach no page but the one it was typed for.
pub fn is_secret(field: &str) -> bool {
    field.contains("passwor") || ["wiederholung", "bisher", "token"].contains(&field)
}

/// Returns a form as fields of the log-in page, without the typed values if those are too large or could not
/// be read.
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

/// The hidden fields of the log-in page for a form to resume, with an explanation.
pub fn hidden(page_request: &PageRequest) -> Markup {
    html! {
        @if page_request.is_sent(TO) {
            p.note role="status" {
                "Die Anmeldung ist abgelaufen; gespeichert ist nichts. "
                @if page_request.is_sent(FORM) {
                    "Nach dem Anmelden kommt das Formular wieder, so wie es ausgefüllt war. Passwörter und \
                     Dateien bitte dann noch einmal eingeben."
                }
                @else {
                    "Das Formular ist zu lang, um es aufzuheben: vielleicht hat es der Browser noch, mit \
                     „Zurück“."
                }
            }
            input type="hidden" name=(TO) value=(page_request.field(TO));
            @if page_request.is_sent(FORM) {
                input type="hidden" name=(FORM) value=(page_request.field_as_typed(FORM));
            }
        }
    }
}

/// Returns the form to resume after a log-in; `None` if there is none or it belongs to none of our pages.
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
    // Marks the form as sent rather than just opened (`parts::made_from`).
    fields.push(("token".to_owned(), String::new()));
    Some((to.to_owned(), fields))
}

pub fn resumed((to, form): Kept) -> Done {
    let note =
        "Das Formular ist wieder da, aber noch nicht gespeichert: bitte ansehen und noch einmal absenden.";
    Done { notes: vec![note.to_owned()], ..Done::of(Response::Refill(to, form)) }
}
