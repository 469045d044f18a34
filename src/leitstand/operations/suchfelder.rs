//! The search fields of the audit log.

use maud::{Markup, html};

use crate::leitstand::access::people::Person;
use crate::leitstand::kit::lists::filter as filter_field;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::choice;
use crate::platform::failure::Result;
use crate::platform::gate::access::key;
use crate::platform::gate::audit::{Filter, Who};
use crate::rules::day::{Day, Instant};

/// Milliseconds of a minute: a minute given as the end is included.
const MINUTE_MILLIS: i64 = 60_000;

/// The values of the search fields for administration events, and for those of commands alone.
pub const ADMIN_EVENTS: &str = "aenderungen";
pub const COMMANDS: &str = "befehl";

/// Groups of senders: the value of the field and its label.
const GROUPS: [(&str, &str); 5] = [
    ("", "alle"),
    ("programme", "alle Programme (Schlüssel)"),
    ("leute", "alle Leute"),
    (COMMANDS, "Kommandozeile"),
    ("fremde", "ohne gültigen Schlüssel"),
];

const RESULTS: [(&str, &str); 4] = [
    ("", "Anfragen, ohne angesehene Seiten"),
    (ADMIN_EVENTS, "was jemand geändert hat"),
    ("abgelehnt", "Anfragen, abgelehnt oder fehlgeschlagen"),
    ("seiten", "Anfragen, auch angesehene Seiten"),
];

/// The filter in the query, or a German sentence that says what is wrong with it.
pub fn filter(request: &PageRequest) -> std::result::Result<Filter, String> {
    let result = request.param("ergebnis");
    let (status_from, status_to) = match statuses(request.param("status"))? {
        Some((from, to)) => (Some(from), Some(to)),
        None => ((result == "abgelehnt").then_some(400), None),
    };
    Ok(Filter {
        tenant_id: request.tenant_id(),
        who: who(request.param("wer")),
        path: request.filled_param("pfad").map(str::to_owned),
        code: request.filled_param("code").map(str::to_ascii_uppercase),
        status_from,
        status_to,
        views: result == "seiten",
        from: time(request.param("von"), false)?,
        until: time(request.param("bis"), true)?,
        ..Filter::default()
    })
}

fn who(text: &str) -> Option<Who> {
    match text {
        "" => None,
        "programme" => Some(Who::Keys),
        "leute" => Some(Who::People),
        "fremde" => Some(Who::Strangers),
        one => match one.split_once('-') {
            Some(("schluessel", id)) => Some(Who::Key(id.to_owned())),
            Some(("person", id)) => Some(Who::Person(id.parse().ok()?)),
            _ => None,
        },
    }
}

/// Parses a status such as 404, or a group such as 4xx, to the first and the last status.
fn statuses(text: &str) -> std::result::Result<Option<(u16, u16)>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let lower = text.to_ascii_lowercase();
    let group = lower.strip_suffix("xx").and_then(|digit| digit.parse::<u16>().ok());
    if let Some(group) = group.filter(|group| (1..=5).contains(group)) {
        return Ok(Some((group * 100, group * 100 + 99)));
    }
    match lower.parse::<u16>() {
        Ok(status) if (100..600).contains(&status) => Ok(Some((status, status))),
        _ => Err(format!(
            "„{text}“ ist kein Status. Erwartet wird etwa 404, oder 4xx für alle von 400 bis 499."
        )),
    }
}

/// Parses a day or a minute in Berlin time; returns its end if it is the end of the period.
fn time(text: &str, is_last: bool) -> std::result::Result<Option<Instant>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(day) = Day::parse_plain(text).or_else(|| Day::parse_german(text)) {
        return Ok(Some(if is_last { day.tomorrow() } else { day }.begin_in_berlin()));
    }
    match Instant::parse_or_in_berlin(text) {
        Some(at) if is_last => Ok(Some(Instant::from_millis(at.millis().saturating_add(MINUTE_MILLIS)))),
        Some(at) => Ok(Some(at)),
        None => Err(format!("„{text}“ ist keine Zeit. Erwartet wird etwa 2026-07-10 oder 2026-07-10T09:00.")),
    }
}

/// The form with these fields. For a company it offers its keys and the people who see it.
pub fn form(request: &PageRequest, db: &Snapshot<'_>, people: &[Person]) -> Result<Markup> {
    let firma = request.tenant_id();
    let keys = match firma {
        Some(firma) => key::of_tenant(db.connection, firma, request.now)?,
        None => key::list(db.connection, request.now)?,
    };
    let chosen = request.param("wer");
    let option =
        |value: String, words: &str| html! { option value=(value) selected[value == chosen] { (words) } };
    let sees = |person: &&Person| firma.is_none_or(|firma| person.sees(firma));
    Ok(html! {
        form.filter method="get" {
            div.field {
                label for="feld-wer" { "Wer" }
                select id="feld-wer" name="wer" {
                    @for (value, words) in GROUPS { (option(value.to_owned(), words)) }
                    optgroup label="Schlüssel" {
                        @for key in &keys { (option(format!("schluessel-{}", key.id), &key.label)) }
                    }
                    optgroup label="Personen" {
                        @for person in people.iter().filter(sees) {
                            (option(format!("person-{}", person.id), &person.name))
                        }
                    }
                }
            }
            (choice(request, "ergebnis", "Was davon", RESULTS, request.param("ergebnis")))
            (filter_field(request, "pfad", "Route oder Pfad, etwa POST /api/v1/belege", "search"))
            (filter_field(request, "status", "Status, etwa 404 oder 4xx", "text"))
            (filter_field(request, "code", "Fehlercode", "text"))
            (filter_field(request, "von", "Von", "datetime-local"))
            (filter_field(request, "bis", "Bis", "datetime-local"))
            button type="submit" { "Suchen" }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_understood_or_refused() {
        for (typed, understood) in [
            ("", Some(None)),
            ("404", Some(Some((404, 404)))),
            ("4xx", Some(Some((400, 499)))),
            ("5XX", Some(Some((500, 599)))),
            ("9xx", None),
            ("40", None),
            ("-1", None),
            ("viele", None),
        ] {
            assert_eq!(statuses(typed).ok(), understood, "{typed}");
        }
        for (typed, is_last, understood) in [
            ("2026-07-10", false, Some("2026-07-09T22:00:00.000Z")),
            ("2026-07-10", true, Some("2026-07-10T22:00:00.000Z")),
            ("10.07.2026", true, Some("2026-07-10T22:00:00.000Z")),
            ("2026-07-10T09:30", false, Some("2026-07-10T07:30:00.000Z")),
            ("2026-07-10T09:30", true, Some("2026-07-10T07:31:00.000Z")),
            ("gestern", true, None),
        ] {
            let expected = understood.map(|text| Instant::parse(text).unwrap());
            assert_eq!(time(typed, is_last).ok().flatten(), expected, "{typed}");
        }
    }
}
