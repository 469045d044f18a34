//! Tables that the server sorts: the heads of some columns are links.

use maud::{Markup, html};
use serde_json::Value;

use super::page::{Ask, Seen, encoded};
use super::parts::{Cells, Column, ROWS, rows_of};
use crate::db::list::Page;
use crate::failure::{Failure, Result};
use crate::kunden;
use crate::listing::Listing;
use crate::rules::verweis::parse_uuid;

/// The rows of a list of a slice, as the interface would show them, and how many there are in all.
pub fn read(listing: Listing) -> Result<(Vec<Value>, i64)> {
    let count = listing.count;
    let rows = serde_json::from_slice(&listing.array());
    Ok((rows.map_err(|error| Failure::Broken(format!("a list is no JSON: {error}")))?, count))
}

/// The page of a list that is asked for.
pub fn page_of(ask: &Ask) -> Page {
    Page { limit: Some(ROWS), offset: i64::from(ask.list_page() * ROWS) }
}

/// How a list is sorted: its path, the value of `sortierung` for each column (blank: it is not sorted by that), and the
/// order that it has by itself.
pub struct Sorting<'s> {
    /// The path of the page.
    pub path: &'s str,
    /// The values for the columns, in their order.
    pub keys: &'s [&'s str],
    /// What holds where nothing was chosen; `-` before it: descending.
    pub default: &'s str,
}

/// A table whose rows are links, and whose heads sort it; where it is empty, `empty` says how it gets filled.
pub fn table(
    ask: &Ask,
    caption: &str,
    sorting: &Sorting<'_>,
    columns: &[Column],
    rows: &[Cells],
    empty: &str,
) -> Markup {
    let heads = html! {
        @for (at, column) in columns.iter().enumerate() {
            (head(ask, sorting, sorting.keys.get(at).copied().unwrap_or_default(), column))
        }
    };
    rows_of(caption, Some("sorted"), &heads, columns, rows, empty)
}

/// A head: sorts by its column, or the other way round where it does already.
fn head(ask: &Ask, sorting: &Sorting<'_>, key: &str, Column(head, is_number): &Column) -> Markup {
    if key.is_empty() {
        return html! { th.n[*is_number] scope="col" { (head) } };
    }
    let chosen = Some(ask.param("sortierung")).filter(|chosen| !chosen.is_empty()).unwrap_or(sorting.default);
    let (is_descending, by) = chosen.strip_prefix('-').map_or((false, chosen), |by| (true, by));
    let is_chosen = by == key;
    let next = if is_chosen && !is_descending { format!("-{key}") } else { key.to_owned() };
    let others = ask
        .query
        .iter()
        .filter(|(name, value)| !["seite", "sortierung"].contains(&name.as_str()) && !value.is_empty());
    let others: String =
        others.map(|(name, value)| format!("&{}={}", encoded(name), encoded(value))).collect();
    let (sorted, arrow) = if is_descending { ("descending", " ▼") } else { ("ascending", " ▲") };
    html! {
        th.sorts.n[*is_number] scope="col" aria-sort=[is_chosen.then_some(sorted)] {
            a href=(format!("{}?sortierung={next}{others}", sorting.path)) { (head)
                @if is_chosen { span aria-hidden="true" { (arrow) } } }
        }
    }
}

/// Says whose records a list shows where it shows those of one partner, with the way to all of them.
pub fn only_partner(ask: &Ask, seen: &Seen<'_>, name: &str, page: &str, what: &str) -> Result<Markup> {
    let partner = parse_uuid(ask.param(name)).map(|id| kunden::find(&seen.tx, id)).transpose()?.flatten();
    let partner = partner.map(|kunde| (format!("partner/{}", kunde.id), kunde.name));
    Ok(html! { @if let Some(of) = partner { (only(ask, &of, page, what)) } })
}

/// The same of any record, by its page and name.
pub fn only(ask: &Ask, (to, name): &(String, String), page: &str, what: &str) -> Markup {
    html! { p { "Nur " (what) " zu " a href=(ask.of_firma(to)) { (name) } ". " a href=(ask.of_firma(page)) { "Alle " (what) } } }
}

/// Keeps parameters that no field of a form shows.
pub fn kept(ask: &Ask, names: &[&str]) -> Markup {
    html! {
        @for name in names.iter().filter(|name| !ask.param(name).is_empty()) {
            input type="hidden" name=(name) value=(ask.param(name));
        }
    }
}

/// Keeps the chosen order in a form that filters the list.
pub fn kept_order(ask: &Ask) -> Markup {
    kept(ask, &["sortierung"])
}
