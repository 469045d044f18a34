//! Parts of pages: tables, forms, German numbers and dates.

use std::collections::BTreeMap;
use std::fmt::Display;

use maud::{Markup, Render, html};
use serde_json::Value;

use super::page::{PageRequest, encoded};
use super::resume;
use crate::papers::blatt::numbers::{decimals, german, grouped};
use crate::papers::blatt::{Tabelle, Wert};
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, Message, Refusal};
use crate::rules::fixed::{Money, Quantity};

pub const ROWS: u32 = 50;

/// Refusal of a list's form that has more rows than a page.
pub const TOO_MANY: &str = "Auf einmal geht nur, was auf einer Seite steht. Bitte in mehreren Schritten.";

pub fn or_blank(text: &Option<String>) -> String {
    text.clone().unwrap_or_default()
}

/// Joins the texts that are present and not blank.
pub fn joined<'a>(texts: impl IntoIterator<Item = &'a Option<String>>, between: &str) -> String {
    let there = texts.into_iter().flatten().filter(|text| !text.is_empty());
    there.map(String::as_str).collect::<Vec<_>>().join(between)
}

/// Formats a value that may be missing; blank without one.
pub fn optional<T, W: Default>(value: Option<T>, words: impl FnOnce(T) -> W) -> W {
    value.map(words).unwrap_or_default()
}

/// Formats a number in German: `-1234.50` becomes `-1.234,50`.
pub fn number(number: impl Display) -> String {
    let text = number.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let comma = if rest.is_empty() { "" } else { "," };
    format!("{sign}{}{comma}{rest}", grouped(whole))
}

/// Formats tenths as a number: 12 becomes `1,2`.
pub fn tenths(tenths: u64) -> String {
    number(format!("{}.{}", tenths / 10, tenths % 10))
}

/// Formats a number without trailing zeros: `14560.000` becomes `14.560`.
pub fn amount(amount: impl Display) -> String {
    let text = number(amount);
    match text.contains(',') {
        true => text.trim_end_matches('0').trim_end_matches(',').to_owned(),
        false => text,
    }
}

/// Formats a quantity with its sign and without trailing zeros: `+1.200`, `-40`.
pub fn signed(menge: Quantity) -> String {
    format!("{}{}", if menge > Quantity::ZERO { "+" } else { "" }, amount(menge))
}

/// Appends the unit, if any, to a formatted quantity.
pub fn in_unit(amount: String, unit: Option<&str>) -> String {
    format!("{amount} {}", unit.unwrap_or_default()).trim().to_owned()
}

/// Formats a price with at least two decimals: `0.3200` becomes `0,32`, `12` becomes `12,00`.
pub fn price(price: impl Display) -> String {
    let text = number(price);
    let (whole, rest) = text.split_once(',').unwrap_or((&text, ""));
    let more = rest.trim_end_matches('0');
    format!("{whole},{more:0<2}")
}

/// Converts a typed number to the form of the interface: `1.234,5` becomes `1234.5`. Points separate
/// thousands if exactly three digits follow each, as on the pages. Text that is no number stays unchanged.
pub fn typed_number(typed: &str) -> String {
    let (whole, fraction) = typed.split_once(',').map_or((typed, None), |(whole, rest)| (whole, Some(rest)));
    let (first, groups) = whole.trim_start_matches('-').split_once('.').unwrap_or((whole, ""));
    let is_grouped = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && groups
            .split('.')
            .all(|group| group.len() == 3 && group.bytes().all(|digit| digit.is_ascii_digit()));
    match fraction {
        _ if whole.contains('.') && !is_grouped => typed.to_owned(),
        None => whole.replace('.', ""),
        Some(fraction) => format!("{}.{fraction}", whole.replace('.', "")),
    }
}

/// Converts a typed number to a JSON value; null if nothing was typed.
pub fn json_number(typed: &str) -> Value {
    if typed.is_empty() { Value::Null } else { typed_number(typed).into() }
}

/// Formats a number for an input field: `1000`, without thousands separators.
pub fn plain(number: impl Display) -> String {
    amount(number).replace('.', "")
}

/// Formats a price for an input field: `0,32`, `12,00`.
pub fn plain_price(number: impl Display) -> String {
    price(number).replace('.', "")
}

/// Parses a typed amount of money: `1.234,50`, with or without `EUR` or `€` after it. `None` if it is not
/// exact to the cent.
pub fn typed_money(typed: &str) -> Option<Money> {
    let number = typed.trim_end_matches("EUR").trim_end_matches('€').trim();
    Money::parse(&typed_number(number)).ok().filter(|parsed| !parsed.rounded).map(|parsed| parsed.value)
}

pub fn yes_or_no(is_so: bool) -> String {
    if is_so { "ja" } else { "nein" }.to_owned()
}

/// Formats an instant as `10.07.2026, 12:00`, in Berlin time.
pub fn moment(instant: Instant) -> String {
    let minute = instant.minute_in_berlin();
    format!("{}, {:02}:{:02}", Day::in_berlin(instant).german(), minute / 60, minute % 60)
}

/// Formats an instant with seconds: `10.07.2026, 12:00:07`.
pub fn to_second(at: Instant) -> String {
    format!("{}:{:02}", moment(at), at.millis().div_euclid(1_000).rem_euclid(60))
}

/// A column of a table: its heading, its cell for a record, and its value of `sortierung` (blank: not
/// sortable).
struct Column<'t, T> {
    head: &'static str,
    is_number: bool,
    sort_key: &'static str,
    cell: Box<dyn Fn(&T) -> Markup + 't>,
}

/// A table of records; `empty` is shown without any and says how they come about.
pub struct Table<'t, T> {
    caption: &'t str,
    empty: &'t str,
    rows: &'t [T],
    /// The link of a row's first cell; blank: none.
    to: Box<dyn Fn(&T) -> String + 't>,
    columns: Vec<Column<'t, T>>,
    order: Option<Order<'t>>,
}

/// How a list is sorted: the path of its page, and the default order, with `-` in front if descending.
pub struct Order<'t> {
    pub request: &'t PageRequest,
    pub path: String,
    pub default: &'static str,
}

pub fn table<'t, T>(caption: &'t str, empty: &'t str, rows: &'t [T]) -> Table<'t, T> {
    linked(caption, empty, rows, |_| String::new())
}

pub fn linked<'t, T>(
    caption: &'t str,
    empty: &'t str,
    rows: &'t [T],
    to: impl Fn(&T) -> String + 't,
) -> Table<'t, T> {
    Table { caption, empty, rows, to: Box::new(to), columns: Vec::new(), order: None }
}

impl<'t, T> Table<'t, T> {
    pub fn text(self, head: &'static str, cell: impl Fn(&T) -> String + 't) -> Table<'t, T> {
        self.with(head, false, move |row| html! { (cell(row)) })
    }

    pub fn numbers(self, head: &'static str, cell: impl Fn(&T) -> String + 't) -> Table<'t, T> {
        self.with(head, true, move |row| html! { (cell(row)) })
    }

    /// A column of any markup, such as checkboxes.
    pub fn with(
        mut self,
        head: &'static str,
        is_number: bool,
        cell: impl Fn(&T) -> Markup + 't,
    ) -> Table<'t, T> {
        self.columns.push(Column { head, is_number, sort_key: "", cell: Box::new(cell) });
        self
    }

    pub fn sorts(mut self, key: &'static str) -> Table<'t, T> {
        self.columns.iter_mut().last().into_iter().for_each(|column| column.sort_key = key);
        self
    }

    pub fn ordered(self, order: Option<Order<'t>>) -> Table<'t, T> {
        Table { order, ..self }
    }
}

impl<T> Render for Table<'_, T> {
    fn render(&self) -> Markup {
        if self.rows.is_empty() {
            return html! { p.empty { (self.empty) } };
        }
        html! {
            div.scroll tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption.unseen { (self.caption) }
                    thead class=[self.order.as_ref().map(|_| "sorted")] {
                        tr { @for column in &self.columns { (head(column, self.order.as_ref())) } }
                    }
                    tbody {
                        @for row in self.rows { @let to = (self.to)(row);
                            tr { @for (at, column) in self.columns.iter().enumerate() { @let cell = (column.cell)(row);
                                td class=[column.is_number.then_some("n")] data-head=(column.head) {
                                    @if at == 0 && !to.is_empty() { a href=(to) { (cell) } } @else { (cell) }
                                }
                            } }
                        }
                    }
                }
            }
        }
    }
}

/// A column heading. If the column is sortable, it links to the list sorted by it, or in reverse if that is
/// the order already.
fn head<T>(column: &Column<'_, T>, order: Option<&Order<'_>>) -> Markup {
    let Column { head, is_number, sort_key: key, .. } = *column;
    let Some(Order { request, path, default }) = order.filter(|_| !key.is_empty()) else {
        return html! { th scope="col" class=[is_number.then_some("n")] { (head) } };
    };
    let chosen = request.filled_param("sortierung").unwrap_or(default);
    let (is_descending, by) = chosen.strip_prefix('-').map_or((false, chosen), |by| (true, by));
    let is_chosen = by == key;
    let next = if is_chosen && !is_descending { format!("-{key}") } else { key.to_owned() };
    let others = other_params(request, &["seite", "sortierung"]);
    let (sorted, arrow) = if is_descending { ("descending", " ▼") } else { ("ascending", " ▲") };
    html! {
        th.sorts.n[is_number] scope="col" aria-sort=[is_chosen.then_some(sorted)] {
            a href=(format!("{path}?sortierung={next}{others}")) { (head)
                @if is_chosen { span aria-hidden="true" { (arrow) } } }
        }
    }
}

/// The parameters of the query except `without`, to append to others: `&suche=Huber`.
pub fn other_params(request: &PageRequest, without: &[&str]) -> String {
    let others =
        request.query.iter().filter(|(name, value)| !without.contains(&name.as_str()) && !value.is_empty());
    others.map(|(name, value)| format!("&{}={}", encoded(name), encoded(value))).collect()
}

/// The refusal of a form, without the mistakes in `fields`, which are shown at the fields.
pub fn refusal(request: &PageRequest, fields: &[&str]) -> Markup {
    let Some(refusal) = request.refusal.as_ref() else { return html! {} };
    let elsewhere: Vec<_> =
        mistakes(refusal).filter(|(feld, _)| !feld.is_some_and(|feld| fields.contains(&feld))).collect();
    html! { @if !elsewhere.is_empty() {
        p.refused role="alert" {
            @for (at, (feld, message)) in elsewhere.iter().enumerate() {
                @if at > 0 { br; }
                @if let (Some(feld), true) = (feld, elsewhere.len() > 1) { (feld) ": " }
                (message)
            }
            @if refusal.code == Code::ZwischenzeitlichGeaendert { " " a href="" { "Seite neu laden" } }
        }
    } }
}

/// Returns each mistake that a refusal names, with its field and sentence. The refusal's own message is left
/// out if it repeats one of them.
fn mistakes(refusal: &Refusal) -> impl Iterator<Item = (Option<&str>, &Message)> {
    let is_among = refusal.fehler.iter().any(|mistake| mistake.message == refusal.message);
    let own = (refusal.feld.as_deref(), &refusal.message);
    let all = refusal.fehler.iter().map(|mistake| (Some(mistake.feld.as_str()), &mistake.message));
    (!is_among).then_some(own).into_iter().chain(all)
}

/// A hidden field with the state of the record that the form was made from. A form shown again keeps the
/// state it was sent with, because the typed values belong to that.
pub fn made_from(request: &PageRequest, name: &str, now: impl Display) -> Markup {
    let value =
        if request.is_sent("token") { request.field_as_typed(name).to_owned() } else { now.to_string() };
    html! { input type="hidden" name=(name) value=(value); }
}

/// An input with its label, the value typed before and its refusal.
pub fn field(
    request: &PageRequest,
    name: &str,
    label: &str,
    kind: &str,
    value: &str,
    autocomplete: &str,
) -> Markup {
    debug_assert!(kind != "password" || resume::is_secret(name), "{name} would go through the log-in page");
    let shown = (!["password", "file"].contains(&kind)).then(|| typed(request, name, value));
    labelled(request, name, label, |id, invalid, why| {
        html! {
            input id=(id) name=(name) type=(kind) value=[shown] autocomplete=(autocomplete)
                aria-invalid=[invalid] aria-describedby=[why];
        }
    })
}

/// A select with its label; each option has its value and its text.
pub fn choice<V: AsRef<str>, T: AsRef<str>>(
    request: &PageRequest,
    name: &str,
    label: &str,
    options: impl IntoIterator<Item = (V, T)>,
    value: &str,
) -> Markup {
    let shown = typed(request, name, value);
    labelled(request, name, label, |id, invalid, why| {
        html! {
            select id=(id) name=(name) aria-invalid=[invalid] aria-describedby=[why] {
                @for (value, text) in options {
                    option value=(value.as_ref()) selected[value.as_ref() == shown] { (text.as_ref()) }
                }
            }
        }
    })
}

pub fn lines(request: &PageRequest, name: &str, label: &str, value: &str) -> Markup {
    labelled(request, name, label, |id, invalid, why| {
        html! {
            textarea id=(id) name=(name) rows="4" aria-invalid=[invalid] aria-describedby=[why] {
                (typed(request, name, value))
            }
        }
    })
}

/// A box to tick.
pub fn tick(name: &str, is_ticked: bool, words: impl Render) -> Markup {
    html! { label.tick { input type="checkbox" name=(name) value="ja" checked[is_ticked]; (words) } }
}

/// An input without a visible label, in the cell of a table, with what was typed and its refusal.
pub fn cell(request: &PageRequest, name: &str, label: &str, inputmode: &str) -> Markup {
    let why = format!("fehler-{name}");
    let refusal = request.refusal.as_ref().and_then(|refusal| refusal.of_field(name));
    html! {
        div {
            input type="text" id=(format!("feld-{name}")) name=(name) value=(request.field(name))
                inputmode=(inputmode) autocomplete="off" aria-label=(label)
                aria-invalid=[refusal.map(|_| "true")] aria-describedby=[refusal.map(|_| &why)];
            @if let Some(refusal) = refusal { p.refused id=(why) role="alert" { (refusal) } }
        }
    }
}

/// Returns the value that was sent, or `value` if the form was not sent yet.
fn typed<'a>(request: &'a PageRequest, name: &str, value: &'a str) -> &'a str {
    if request.is_sent(name) { request.field(name) } else { value }
}

/// A control with its label and its refusal. `control` is given its id and, if refused, the values of
/// `aria-invalid` and `aria-describedby`.
fn labelled(
    request: &PageRequest,
    name: &str,
    label: &str,
    control: impl FnOnce(&str, Option<&str>, Option<&str>) -> Markup,
) -> Markup {
    let (id, why) = (format!("feld-{name}"), format!("fehler-{name}"));
    let refusal = request.refusal.as_ref().and_then(|refusal| refusal.of_field(name));
    html! {
        div.field {
            label for=(id) { (label) }
            (control(&id, refusal.map(|_| "true"), refusal.map(|_| why.as_str())))
            @if let Some(refusal) = refusal { p.refused id=(why) role="alert" { (refusal) } }
        }
    }
}

/// A form that is sent to its own page; includes the token.
pub fn form(request: &PageRequest, inside: Markup, button: &str, is_destructive: bool) -> Markup {
    form_to(request, "", inside, button, is_destructive)
}

pub fn form_to(
    request: &PageRequest,
    to: &str,
    inside: Markup,
    button: &str,
    is_destructive: bool,
) -> Markup {
    let to = Some(to).filter(|to| !to.is_empty());
    let kind = request.page.has_upload.then_some("multipart/form-data");
    html! {
        form method="post" action=[to] enctype=[kind] {
            input type="hidden" name="token" value=(request.token());
            (inside)
            button.danger[is_destructive] type="submit" { (button) }
        }
    }
}

/// A form with a link back without saving.
pub fn with_way_back(form: Markup, back: String) -> Markup {
    html! { (form) p { a href=(back) { "Zurück, ohne zu speichern" } } }
}

/// A line of sums by unit: kilograms are never added to tonnes.
pub fn sums<'s>(of: &str, sums: impl IntoIterator<Item = (&'s str, BTreeMap<String, Quantity>)>) -> Markup {
    let in_words = |by_unit: BTreeMap<String, Quantity>| {
        let each = by_unit.into_iter().map(|(unit, sum)| in_unit(amount(sum), Some(&unit)));
        each.collect::<Vec<_>>().join(" + ")
    };
    let sums: Vec<_> = sums.into_iter().map(|(what, by_unit)| (what, in_words(by_unit))).collect();
    html! { @if sums.iter().any(|(_, sum)| !sum.is_empty()) {
        p.sums { (of) ": " @for (what, sum) in sums.iter().filter(|(_, sum)| !sum.is_empty()) {
            span { (what) " " strong { (sum) } }
        } }
    } }
}

/// A table of a sheet (`Blatt`) as markup.
pub fn settled(tabelle: &Tabelle) -> Markup {
    let text = |wert: &Wert| match wert {
        Wert::Leer => String::new(),
        Wert::Text(text) => text.clone(),
        Wert::Menge(menge, einheit) => format!("{} {einheit}", german(*menge, decimals(einheit))),
        Wert::Prozent(prozent) => format!("{} %", german(*prozent, 2)),
        Wert::Zahl(zahl) => german(*zahl, 0),
        Wert::Betrag(betrag) => format!("{} €", german(*betrag, 2)),
        Wert::Preis(preis, einheit) => format!("{} €/{einheit}", german(*preis, 2)),
    };
    let title = tabelle.ueberschrift.as_deref().unwrap_or_default();
    html! {
        h2 { (title) }
        div.scroll tabindex="0" role="region" aria-label=(title) { table {
            thead {
                tr {
                    @for (at, head) in tabelle.spalten.iter().enumerate() {
                        th scope="col" class=[tabelle.has_numbers(at).then_some("n")] { (head) }
                    }
                }
            }
            tbody { @for zeile in &tabelle.zeilen { tr {
                @for (at, (wert, head)) in zeile.zellen.iter().zip(&tabelle.spalten).enumerate() {
                    td class=[tabelle.has_numbers(at).then_some("n")] data-head=(head) {
                        @if zeile.summe { strong { (text(wert)) } } @else { (text(wert)) }
                    }
                }
            } } }
        } }
    }
}

/// Pairs of name and value; blank values are left out.
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
        for (typed, sent) in [
            ("0,32", "0.32"),
            ("-1.234,5", "-1234.5"),
            ("14.560", "14560"),
            ("1.234.567", "1234567"),
            ("19.5", "19.5"),
            ("0.125", "0.125"),
            ("1.23,4", "1.23,4"),
            ("zwölf", "zwölf"),
        ] {
            assert_eq!(typed_number(typed), sent);
        }
        assert_eq!(moment(Instant::parse("2026-07-10T22:30:00Z").unwrap()), "11.07.2026, 00:30");
    }
}
