//! What every reading route refuses, derived from its row in the route table: unknown ids, unknown
//! parameters, values of the wrong kind, a parameter sent twice. A new route is covered without a line here.

use partnerd::platform::http::param::{Param, ParamKind};
use partnerd::platform::http::route::Method;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::complete::named;
use super::data::{self, Company};
use super::{happy, refusal};
use crate::harness::Server;

/// Characters that a URL must escape.
const SET: &AsciiSet = &CONTROLS.add(b' ').add(b'<').add(b'>');

/// Invalid values for a parameter of this kind, the code they are refused with, and a valid value.
fn values(kind: ParamKind) -> (Vec<String>, &'static str, String) {
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let (wrong, code, right): (Vec<String>, _, &str) = match kind {
        ParamKind::Text => (Vec::new(), "", "a"),
        ParamKind::Int => (texts(&["eins", "1.5"]), "PARAMETER_UNGUELTIG", "1"),
        ParamKind::IntWithin(min, max, _) => {
            let beyond = [(min - 1).to_string(), (max + 1).to_string(), "tief".to_owned(), "1.5".to_owned()];
            return (beyond.into(), "PARAMETER_UNGUELTIG", min.to_string());
        }
        ParamKind::Quantity => (texts(&["0", "-1", "viel", "1,5"]), "PARAMETER_UNGUELTIG", "1"),
        ParamKind::Uuid => (texts(&["17", "<unknown>0"]), "PARAMETER_UNGUELTIG", "<unknown>"),
        ParamKind::Partner => (texts(&["K-2", "-1", "1.5"]), "PARAMETER_UNGUELTIG", "1"),
        ParamKind::Day | ParamKind::Since => {
            (texts(&["gestern", "2031-02-30", "01.07.2031"]), "DATUM_UNGUELTIG", "2031-07-01")
        }
        ParamKind::Bool | ParamKind::Flag => (texts(&["vielleicht", "2"]), "PARAMETER_UNGUELTIG", "true"),
        ParamKind::OneOf(known) | ParamKind::OneOfOr(known, _) => {
            let first = known[0];
            let wrong = ["farbe".to_owned(), format!("--{first}"), format!("{first},{first}")];
            return (wrong.into(), "PARAMETER_UNGUELTIG", first.to_uppercase());
        }
        ParamKind::ListOf(known) => {
            let first = known[0];
            let wrong = ["farbe".to_owned(), format!("{first},farbe"), format!("{first},")];
            return (wrong.into(), "PARAMETER_UNGUELTIG", first.to_lowercase());
        }
        ParamKind::Limit(_) => (texts(&["-1", "viele"]), "PARAMETER_UNGUELTIG", "1"),
        ParamKind::Offset => (texts(&["-1", "1.5"]), "PARAMETER_UNGUELTIG", "0"),
    };
    (wrong, code, right.to_owned())
}

/// The request without a parameter, and the separator for another one.
fn without(request: &str, param: &Param) -> (String, char) {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    let sent = format!("{}=", param.name);
    let others: Vec<_> =
        query.split('&').filter(|part| !part.is_empty() && !part.starts_with(&sent)).collect();
    match others.is_empty() {
        true => (path.to_owned(), '?'),
        false => (format!("{path}?{}", others.join("&")), '&'),
    }
}

/// Requests that a route refuses, with the refusal; `request` is one that it accepts.
fn refused(pattern: &str, query: &[Param], request: &str) -> Vec<(String, String)> {
    let mut refused = Vec::new();
    let (path, _) = request.split_once('?').unwrap_or((request, ""));
    let segments: Vec<_> = path.split('/').collect();
    for (at, _) in pattern.split('/').enumerate().filter(|(_, segment)| segment.starts_with('{')) {
        for nobody in ["<unknown>", "17"] {
            let mut segments = segments.clone();
            segments[at] = nobody;
            refused.push((segments.join("/"), "404 NICHT_GEFUNDEN".to_owned()));
        }
    }
    let and = if request.contains('?') { '&' } else { '?' };
    refused.push((format!("{request}{and}foo=1"), "400 UNBEKANNTER_PARAMETER".to_owned()));
    for param in query {
        let ((request, and), (wrong, code, right)) = (without(request, param), values(param.kind));
        let name = param.name;
        refused.extend(
            wrong.iter().map(|value| (format!("{request}{and}{name}={value}"), format!("400 {code}"))),
        );
        if name != "suche" {
            let blanks = ["", "%20"].map(|blank| format!("{request}{and}{name}={blank}"));
            refused.extend(blanks.map(|path| (path, "400 PARAMETER_UNGUELTIG".to_owned())));
        }
        let twice = format!("{request}{and}{name}={right}&{name}={right}");
        refused.push((twice, "400 PARAMETER_UNGUELTIG".to_owned()));
        if param.required {
            refused.push((request, "400 PARAMETER_FEHLT".to_owned()));
        }
    }
    refused
}

#[test]
fn what_the_row_of_a_reading_route_excludes_is_refused() {
    let server = Server::start_at(data::BEGIN);
    let company = Company::of(&server);
    let (mut wrong, mut sent) = (Vec::new(), 0);
    for (name, route) in named().filter(|(_, route)| route.method == Method::Get) {
        let Some((_, _, request, _)) = happy(name) else { continue };
        let request =
            if request.starts_with('/') { (*request).to_owned() } else { format!("{name}{request}") };
        for (path, expected) in refused(name, route.query, &request) {
            let path = utf8_percent_encode(&company.filled(&path), SET).to_string();
            let answer = company.client.get(&format!("/api/v1{path}"));
            sent += 1;
            if refusal(&answer) != expected {
                wrong.push(format!("{path}: expected {expected}, came {}", refusal(&answer)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {sent}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(sent > 400, "only {sent} requests were tried");
}
