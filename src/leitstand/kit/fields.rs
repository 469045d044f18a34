//! Parts of pages made from what a record says of its fields (D39): its form, its facts and its history.

use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use super::page::PageRequest;
use super::parts::{
    self, amount, choice, json_number, lines, moment, number, plain, plain_price, price, yes_or_no,
};
use crate::master::laender;
use crate::rules::day::Day;
use crate::rules::field::{Declared, Field, Kind, Value, When};

/// A text of an enumeration in words; others are returned unchanged.
pub fn wording(text: &str) -> &str {
    match text {
        "kunde" => "Kunde",
        "lieferant" => "Lieferant",
        "spediteur" => "Spediteur",
        "regel" => "Regelbesteuerung",
        "pauschal_24" => "pauschal (§ 24 UStG)",
        "kleinunternehmer" => "Kleinunternehmer (§ 19 UStG)",
        "zugferd" => "ZUGFeRD",
        "xrechnung" => "XRechnung",
        "aus" => "keine",
        other => other,
    }
}

fn percent(share: impl std::fmt::Display) -> String {
    format!("{} %", amount(share))
}

/// The value of a field as people read it; blank without one.
fn in_words<R>(field: &Field<R>, record: &R) -> String {
    match (field.value)(record) {
        Value::Empty => String::new(),
        Value::Text(text) if matches!(field.kind, Kind::Choice(..)) => wording(&text).to_owned(),
        Value::Text(code) if field.said.country.is_some() => laender::name_de(&code).to_owned(),
        Value::Text(text) => text,
        Value::Price(found) => price(found),
        // The labels of shares end in (%).
        Value::Percent(found) => amount(found),
        Value::Decimal(found) => amount(found),
        Value::Money(found) => number(found),
        Value::Integer(found) => found.to_string(),
        Value::YesNo(is_so) => yes_or_no(is_so),
        Value::Day(day) => day.german(),
        Value::Instant(instant) => moment(instant),
    }
}

/// A value as an input has it.
fn typed<R>(field: &Field<R>, record: &R) -> String {
    match (field.value)(record) {
        Value::Price(found) => plain_price(found),
        Value::Percent(found) => plain(found),
        Value::Decimal(found) => plain(found),
        Value::Money(found) => plain(found),
        Value::Day(day) => day.to_string(),
        Value::Text(text) => text,
        _ => in_words(field, record),
    }
}

/// The label and the value of each declared field in words, or what the page says instead; blank: it does not show it.
/// What the page says itself stands first.
pub fn facts_of<R: Declared>(record: &R, own: &[(&str, String)]) -> Vec<(&'static str, String)> {
    facts_within(record, own, |_| true)
}

/// As [`facts_of`], of the fields of these groups of the form alone.
pub fn facts_within<R: Declared>(
    record: &R,
    own: &[(&str, String)],
    is_asked: impl Fn(Option<&str>) -> bool,
) -> Vec<(&'static str, String)> {
    let words = |field: &Field<R>| match own.iter().find(|(name, _)| *name == field.name) {
        Some((_, words)) => words.clone(),
        None => in_words(field, record),
    };
    let place = |field: &&Field<R>| own.iter().position(|(name, _)| *name == field.name).unwrap_or(own.len());
    let mut fields: Vec<_> = R::DECLARED.iter().filter(|field| is_asked(field.said.group)).collect();
    fields.sort_by_key(place);
    fields.into_iter().map(|field| (field.said.label, words(field))).collect()
}

/// Fields that the page does not show among its facts.
pub fn elsewhere<const N: usize>(names: [&str; N]) -> [(&str, String); N] {
    names.map(|name| (name, String::new()))
}

/// The fields that the form of a new record, or of this one, asks for.
pub fn asked<R: Declared>(record: Option<&R>) -> impl Iterator<Item = &'static Field<R>> {
    R::DECLARED.iter().filter(move |field| match field.said.when {
        _ if field.said.group.is_none() => false,
        When::Always => true,
        When::New => record.is_none(),
        When::Unset => record.is_none_or(|record| (field.value)(record) == Value::Empty),
    })
}

/// The input of a field, with the value that was typed, else that of the record.
pub fn input<R>(request: &PageRequest, field: &Field<R>, record: &R) -> Markup {
    let (Field { name, said, kind, .. }, value) = (field, typed(field, record));
    let label = &match said.hint {
        "" => said.label.to_owned(),
        hint => format!("{} ({hint})", said.label),
    };
    match (kind, said.country) {
        (Kind::Text, _) if said.is_long => lines(request, name, label, &value),
        (Kind::Text, Some(none)) => {
            let none = Some(("", none)).filter(|(_, words)| !words.is_empty());
            let known = laender::all().iter().map(|land| (land.iso2.as_str(), land.name_de.as_str()));
            choice(request, name, label, none.into_iter().chain(known), &value)
        }
        (Kind::Choice(texts, is_optional), _) => {
            let none = is_optional.then_some(("", "keine Angabe"));
            let options = none.into_iter().chain(texts.iter().map(|text| (*text, wording(text))));
            choice(request, name, label, options, &value)
        }
        (Kind::YesNo, _) => choice(request, name, label, [("nein", "nein"), ("ja", "ja")], &value),
        (Kind::Day, _) => parts::field(request, name, label, "date", &value, "off"),
        _ => parts::field(request, name, label, said.input, &value, "off"),
    }
}

/// Builds a request body from the declared fields sent; an empty one becomes null.
pub fn body_of<R: Declared>(request: &PageRequest) -> Map<String, Json> {
    let sent = R::DECLARED.iter().filter(|field| field.said.group.is_some() && request.is_sent(field.name));
    let value = |field: &Field<R>| match (field.kind, request.field(field.name)) {
        (_, "") => Json::Null,
        (Kind::YesNo, typed) => json!(typed == "ja"),
        (Kind::Price | Kind::Percent | Kind::Decimal | Kind::Integer, typed) => json_number(typed),
        (_, typed) => json!(typed),
    };
    sent.map(|field| (field.name.to_owned(), value(field))).collect()
}

/// The groups of a form, each with the inputs of its fields.
pub fn groups<R: Declared>(
    groups: &[&str],
    asked: &[&'static Field<R>],
    input: impl Fn(&Field<R>) -> Markup,
) -> Markup {
    html! {
        @for group in groups {
            @let within: Vec<_> = asked.iter().filter(|field| field.said.group == Some(group)).collect();
            @if !within.is_empty() {
                fieldset.fields { legend { (group) } @for field in within { (input(field)) } }
            }
        }
    }
}

/// The label of a field in a history.
pub fn label_of<R: Declared>(name: &str) -> Option<&str> {
    Some(R::declared(name).map_or(name, |field| field.said.label))
}

/// A value in a history in words.
pub fn words_of<R: Declared>(name: &str, value: &Json) -> String {
    let field = R::declared(name);
    match (field.map_or(Kind::Text, |field| field.kind), value) {
        (Kind::Price, Json::String(text)) => price(text),
        (Kind::Percent, Json::String(text)) => percent(text),
        (Kind::Decimal, Json::String(text)) => amount(text),
        (Kind::Day, Json::String(text)) => Day::parse_plain(text).map_or_else(|| text.clone(), Day::german),
        (Kind::Choice(..), Json::String(text)) => wording(text).to_owned(),
        (_, Json::String(code)) if field.is_some_and(|field| field.said.country.is_some()) => {
            laender::name_de(code).to_owned()
        }
        (_, Json::String(text)) => text.clone(),
        (_, Json::Bool(is_so)) => yes_or_no(*is_so),
        (_, Json::Number(found)) => found.to_string(),
        _ => String::new(),
    }
}
