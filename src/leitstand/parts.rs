//! Pieces of pages: tables, forms, German numbers and dates.

use maud::{Markup, html};
use serde_json::Value;

use super::page::{Ask, encoded};
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, Refusal};
use crate::rules::fixed::Quantity;

/// Rows of a list on one page.
pub const ROWS: u32 = 50;

/// A text of an answer; blank where there is none.
pub fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// A number as JSON has it, in German: `-1234.50` is `-1.234,50`.
pub fn number(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push('.');
        }
        grouped.push(digit);
    }
    if rest.is_empty() { format!("{sign}{grouped}") } else { format!("{sign}{grouped},{rest}") }
}

/// A number of an answer, in German.
pub fn number_of(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::String(text) => number(text),
        Value::Number(found) => number(&found.to_string()),
        _ => String::new(),
    }
}

/// A day or an instant of an answer, in German and on the clocks of Berlin.
pub fn date_of(value: &Value, name: &str) -> String {
    let text = text(value, name);
    if let Some(day) = Day::parse_plain(text) {
        return day_text(day);
    }
    Instant::parse(text).map_or_else(|| text.to_owned(), moment)
}

/// The day of an answer, also where its midnight in UTC stands for it, as of `beleg_datum`.
pub fn day_of(value: &Value, name: &str) -> String {
    let text = text(value, name);
    text.get(..10).and_then(Day::parse_plain).map_or_else(|| text.to_owned(), day_text)
}

/// An amount of an answer, in German and without zeros at its end: `14560.000` is `14.560`.
pub fn amount_of(value: &Value, name: &str) -> String {
    short(number_of(value, name))
}

/// The same of an amount.
pub fn amount(amount: Quantity) -> String {
    short(number(&amount.to_string()))
}

/// The same of an amount that comes in or goes out: `+1.200`, `-40`.
pub fn signed(menge: Quantity) -> String {
    format!("{}{}", if menge > Quantity::ZERO { "+" } else { "" }, amount(menge))
}

/// A German number without zeros at its end.
pub fn short(text: String) -> String {
    match text.contains(',') {
        true => text.trim_end_matches('0').trim_end_matches(',').to_owned(),
        false => text,
    }
}

/// A price of an answer, in German, with two places or as many more as it has: `0.3200` is `0,32`, `12` is `12,00`.
pub fn price_of(value: &Value, name: &str) -> String {
    let text = number_of(value, name);
    if text.is_empty() {
        return text;
    }
    let (whole, rest) = text.split_once(',').unwrap_or((&text, ""));
    let more = rest.trim_end_matches('0');
    format!("{whole},{more:0<2}")
}

/// A day as `10.07.2026`.
pub fn day_text(day: Day) -> String {
    let iso = day.to_string();
    let mut parts = iso.splitn(3, '-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    format!("{}.{}.{}", day.unwrap_or_default(), month.unwrap_or_default(), year.unwrap_or_default())
}

/// An instant as `10.07.2026, 12:00`, on the clocks of Berlin.
pub fn moment(instant: Instant) -> String {
    let minute = instant.minute_in_berlin();
    format!("{}, {:02}:{:02}", day_text(Day::in_berlin(instant)), minute / 60, minute % 60)
}

/// A column of a table: its head, and whether it holds numbers.
#[derive(Clone, Copy)]
pub struct Column(pub &'static str, pub bool);

/// A row: where it leads (blank: nowhere), and its cells.
pub struct Cells(pub String, pub Vec<String>);

/// A table whose rows are links; where it is empty, `empty` says how it gets filled.
pub fn table(caption: &str, columns: &[Column], rows: &[Cells], empty: &str) -> Markup {
    let heads = html! {
        @for Column(head, is_number) in columns { th scope="col" class=[is_number.then_some("n")] { (head) } }
    };
    rows_of(caption, None, &heads, columns, rows, empty)
}

/// The same with heads that were made already, and a class for all of them.
pub fn rows_of(
    caption: &str,
    class: Option<&str>,
    heads: &Markup,
    columns: &[Column],
    rows: &[Cells],
    empty: &str,
) -> Markup {
    if rows.is_empty() {
        return html! { p.empty { (empty) } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption.unseen { (caption) }
                thead class=[class] { tr { (heads) } }
                tbody {
                    @for Cells(to, cells) in rows {
                        tr { @for (at, cell) in cells.iter().enumerate() {
                            td class=[columns.get(at).is_some_and(|c| c.1).then_some("n")] data-head=[columns.get(at).map(|c| c.0)] {
                                @if at == 0 && !to.is_empty() { a href=(to) { (cell) } } @else { (cell) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// The way through the pages of a list of `count` rows; keeps the other parameters.
pub fn pager(ask: &Ask, path: &str, count: i64) -> Markup {
    let (page, pages) = (ask.list_page(), u32::try_from(count.max(0)).unwrap_or(u32::MAX).div_ceil(ROWS));
    let others: String = ask
        .query
        .iter()
        .filter(|(name, value)| name != "seite" && !value.is_empty())
        .map(|(name, value)| format!("&{}={}", encoded(name), encoded(value)))
        .collect();
    let to = |number: u32| format!("{path}?seite={number}{others}");
    if count == 0 {
        return html! {};
    }
    html! {
        nav.pager aria-label="Seiten" {
            @if page > 0 { a href=(to(page)) rel="prev" { "← vorige" } }
            span { (number(&count.to_string())) @if count == 1 { " Eintrag" } @else { " Einträge" }
                @if pages > 1 { ", Seite " (page + 1) " von " (pages) } }
            @if page + 1 < pages { a href=(to(page + 2)) rel="next" { "weiter →" } }
        }
    }
}

/// The refusal of the whole form; what concerns one of these fields stands at the field.
pub fn refusal(ask: &Ask, fields: &[&str]) -> Markup {
    let at_a_field = |refusal: &Refusal| refusal.feld.as_deref().is_some_and(|feld| fields.contains(&feld));
    html! {
        @if let Some(refusal) = ask.refusal.as_ref() {
            @if !at_a_field(refusal) {
                p.refused role="alert" {
                    (refusal.message) @for mistake in &refusal.fehler { br; (mistake.feld) ": " (mistake.message) }
                    @if refusal.code == Code::ZwischenzeitlichGeaendert { " " a href="" { "Seite neu laden" } }
                }
            }
        }
    }
}

/// The hidden field that says which state of a record a form was made from: once it was sent, the one that came with it,
/// for what was typed belongs to that.
pub fn made_from(ask: &Ask, name: &str, now: &str) -> Markup {
    let value = if ask.is_sent(name) { ask.field_as_typed(name) } else { now };
    html! { input type="hidden" name=(name) value=(value); }
}

/// A field of a form with its label; with what was typed before and why it was refused.
pub fn field(ask: &Ask, name: &str, label: &str, kind: &str, value: &str, autocomplete: &str) -> Markup {
    let shown = (!["password", "file"].contains(&kind)).then(|| typed(ask, name, value));
    let [id, note] = ids_of(name);
    let is_refused = is_refused(ask, name);
    let input = html! {
        input id=(id) name=(name) type=(kind) value=[shown] autocomplete=(autocomplete)
            aria-invalid=[is_refused.then_some("true")] aria-describedby=[is_refused.then_some(note)];
    };
    labelled(ask, name, label, input)
}

/// A field of a form where one of some values is chosen: each has its value and its text.
pub fn choice(ask: &Ask, name: &str, label: &str, options: &[(&str, &str)], value: &str) -> Markup {
    let shown = typed(ask, name, value);
    let [id, note] = ids_of(name);
    let is_refused = is_refused(ask, name);
    let select = html! {
        select id=(id) name=(name) aria-invalid=[is_refused.then_some("true")]
            aria-describedby=[is_refused.then_some(note)] {
            @for (value, text) in options { option value=(value) selected[*value == shown] { (text) } }
        }
    };
    labelled(ask, name, label, select)
}

/// A field of a form for several lines.
pub fn lines(ask: &Ask, name: &str, label: &str, value: &str) -> Markup {
    let [id, note] = ids_of(name);
    let is_refused = is_refused(ask, name);
    let area = html! {
        textarea id=(id) name=(name) rows="4" aria-invalid=[is_refused.then_some("true")]
            aria-describedby=[is_refused.then_some(note)] { (typed(ask, name, value)) }
    };
    labelled(ask, name, label, area)
}

/// What a field shows: what was sent, or the value where the form was not sent yet.
fn typed<'a>(ask: &'a Ask, name: &str, value: &'a str) -> &'a str {
    if ask.is_sent(name) { ask.field(name) } else { value }
}

/// The ids of a field and of why it was refused.
fn ids_of(name: &str) -> [String; 2] {
    [format!("feld-{name}"), format!("fehler-{name}")]
}

fn is_refused(ask: &Ask, name: &str) -> bool {
    ask.refusal.as_ref().is_some_and(|refusal| refusal.feld.as_deref() == Some(name))
}

fn labelled(ask: &Ask, name: &str, label: &str, control: Markup) -> Markup {
    let [id, note] = ids_of(name);
    html! {
        div.field {
            label for=(id) { (label) }
            (control)
            @if let Some(refusal) = ask.refusal.as_ref().filter(|_| is_refused(ask, name)) {
                p.refused id=(note) role="alert" { (refusal.message) }
            }
        }
    }
}

/// A form that is sent to its own page; carries the token.
pub fn form(ask: &Ask, inside: Markup, button: &str, is_destructive: bool) -> Markup {
    form_to(ask, "", inside, button, is_destructive)
}

/// A form that is sent to another page.
pub fn form_to(ask: &Ask, to: &str, inside: Markup, button: &str, is_destructive: bool) -> Markup {
    let to = Some(to).filter(|to| !to.is_empty());
    let kind = ask.page.has_upload.then_some("multipart/form-data");
    html! {
        form method="post" action=[to] enctype=[kind] {
            input type="hidden" name="token" value=(ask.token);
            (inside)
            button.danger[is_destructive] type="submit" { (button) }
        }
    }
}

/// Pairs of a name and a value; blank values are left out.
pub fn facts(pairs: &[(&str, String)]) -> Markup {
    html! {
        dl { @for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            div { dt { (name) } dd { (value) } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_days_are_german() {
        for (written, german) in [
            ("0", "0"),
            ("-1234.50", "-1.234,50"),
            ("999", "999"),
            ("1000", "1.000"),
            ("1234567.891", "1.234.567,891"),
        ] {
            assert_eq!(number(written), german);
        }
        assert_eq!(moment(Instant::parse("2026-07-10T22:30:00Z").unwrap()), "11.07.2026, 00:30");
    }
}
