//! Maps failures to HTTP statuses; no other place does (wall 5).

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::reply::Reply;
use crate::platform::db::error::is_passing;
use crate::platform::db::log;
use crate::platform::failure::Failure;
use crate::rules::error::{Code, Message, PositionError, Refusal};

/// The error body: a superset of both shapes in the specification (D19).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fehler")]
pub struct ErrorBody<'e> {
    #[schemars(with = "String")]
    error: Code,
    #[schemars(with = "String")]
    message: &'e Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    feld: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details<'e>>,
    request_id: Uuid,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FehlerDetails")]
struct Details<'e> {
    fehler: &'e [PositionError],
}

/// Returns the status of a code (specification, Errors 2; D19).
pub const fn status(code: Code) -> u16 {
    match code {
        Code::ApiKeyFehlt | Code::ApiKeyUngueltig | Code::ApiKeyAbgelaufen | Code::ApiKeyDeaktiviert => 401,
        Code::ScopeFehlt => 403,
        Code::NichtGefunden | Code::KeinPdf | Code::KeineErechnung => 404,
        Code::MethodeNichtErlaubt => 405,
        Code::ZeitUeberschritten => 408,
        Code::KundennrBereitsVergeben
        | Code::ChargeNrBereitsVergeben
        | Code::FremdeChargeNrBereitsVergeben
        | Code::IdempotenzKonflikt => 409,
        Code::CursorAbgelaufen => 410,
        Code::ZwischenzeitlichGeaendert => 412,
        Code::ZuGross => 413,
        Code::KodierungNichtUnterstuetzt => 415,
        Code::TageslimitErreicht | Code::ZuVieleAnfragen => 429,
        Code::InternerFehler => 500,
        Code::NichtVerfuegbar | Code::AusgangUnbekannt => 503,
        _ => 400,
    }
}

/// Returns the answer to a failure. Details of our own failures go to the log, never to the client.
pub fn reply(failure: &Failure, request_id: Uuid) -> Reply {
    let is_passing = match failure {
        Failure::Refused(refusal) => return refused(refusal, request_id),
        Failure::OutcomeUnknown => return outcome_unknown(request_id),
        Failure::Busy(_) => true,
        Failure::Sql(error) => is_passing(error),
        Failure::Broken(_) => false,
    };
    log(&format!("request {request_id}: {failure}"));
    if is_passing { unavailable(request_id) } else { broken(request_id) }
}

/// The answer to a fault of ours: nothing was stored, and retrying does not help.
pub fn broken(request_id: Uuid) -> Reply {
    let message =
        "Im Dienst ist ein Fehler aufgetreten; es wurde nichts gespeichert. Bitte die request_id melden.";
    refused(&Refusal::new(Code::InternerFehler, message), request_id)
}

pub fn too_slow() -> Box<Refusal> {
    let message = ("Die Daten kamen nicht vollständig an.", "Bitte die Anfrage wiederholen.");
    Refusal::new(Code::ZeitUeberschritten, message)
}

/// The answer when nothing was stored and retrying may help.
pub fn unavailable(request_id: Uuid) -> Reply {
    let message = "Der Dienst kann die Anfrage gerade nicht ausführen; es wurde nichts gespeichert. Bitte \
         später wiederholen.";
    refused(&Refusal::new(Code::NichtVerfuegbar, message), request_id)
}

/// The answer when it is unknown whether anything was stored.
pub fn outcome_unknown(request_id: Uuid) -> Reply {
    let message = "Ob die Daten gespeichert wurden, ist nicht bekannt: Die Festplatte des Dienstes meldet \
         einen Fehler. Bitte mit derselben external_ref oder demselben Idempotency-Key wiederholen.";
    refused(&Refusal::new(Code::AusgangUnbekannt, message), request_id)
}

fn refused(refusal: &Refusal, request_id: Uuid) -> Reply {
    let details = (!refusal.fehler.is_empty()).then_some(Details { fehler: &refusal.fehler });
    let body = ErrorBody {
        error: refusal.code,
        message: &refusal.message,
        feld: refusal.feld.as_deref(),
        details,
        request_id,
    };
    // Serializing these types cannot fail.
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let reply = Reply { status: status(refusal.code), body, code: Some(refusal.code), ..Reply::default() };
    match reply.status {
        // RFC 9110 11.6.1: names the missing authentication scheme for generic clients.
        401 => reply.with("www-authenticate", "ApiKey"),
        503 => reply.with("retry-after", "1"),
        _ => reply,
    }
}
