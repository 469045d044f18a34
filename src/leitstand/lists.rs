//! The pages of lists: filters, a table that the server sorts, and the way through its pages.

use maud::{Markup, html};
use uuid::Uuid;

use super::page::{Ask, Seen};
use super::parts::{Order, ROWS, Table, choice, field, linked, pager};
use crate::db::list::Page;
use crate::failure::Result;
use crate::kunden;
use crate::listing::Records;
use crate::rules::verweis::parse_uuid;

pub fn page_of(ask: &Ask) -> Page {
    Page { limit: Some(ROWS), offset: i64::from(ask.list_page() * ROWS) }
}

pub struct List<'l, T> {
    /// Its path below the company's, and what leads from there to the page of a record; none: it has no page.
    pub path: &'static str,
    pub id: Option<fn(&T) -> Uuid>,
    pub caption: &'static str,
    /// How it gets filled.
    pub empty: &'static str,
    pub found: &'l Records<T>,
    /// The fields that filter it, and parameters that no field shows.
    pub filters: Markup,
    pub keeps: &'l [&'l str],
    /// The order where none was chosen; `-` before it: descending. Blank: it cannot be sorted.
    pub order: &'static str,
    /// What stands between filters and table.
    pub above: Markup,
}

/// The page of a list: its filters, its table, and the way through its pages.
pub fn body<T>(ask: &Ask, list: List<'_, T>, columns: impl FnOnce(Table<'_, T>) -> Table<'_, T>) -> Markup {
    let here = ask.of_firma(list.path);
    let to = |row: &T| list.id.map(|id| format!("{here}/{}", id(row))).unwrap_or_default();
    let order = Order { ask, path: &here, default: list.order };
    let order = (!list.order.is_empty()).then_some(order);
    let kept = list.keeps.iter().copied().chain(order.as_ref().map(|_| "sortierung"));
    html! {
        form.filter method="get" {
            (list.filters)
            @for name in kept.filter(|name| !ask.param(name).is_empty()) {
                input type="hidden" name=(name) value=(ask.param(name));
            }
            button type="submit" { "Suchen" }
        }
        (list.above)
        (columns(linked(list.caption, list.empty, &list.found.rows, to)).ordered(order))
        (pager(ask, &here, list.found.count))
    }
}

pub fn filter(ask: &Ask, name: &str, label: &str, kind: &str) -> Markup {
    field(ask, name, label, kind, ask.param(name), "off")
}

/// A choice that filters a list: of all, or of these values, each with its text.
pub fn filter_choice<T: AsRef<str> + From<&'static str>>(
    ask: &Ask,
    name: &str,
    label: &str,
    options: impl IntoIterator<Item = (T, T)>,
) -> Markup {
    let options = [("".into(), "alle".into())].into_iter().chain(options);
    choice(ask, name, label, options, ask.param(name))
}

/// Says whose records a list shows where it shows those of one partner, with the way to all of them.
pub fn only_partner(ask: &Ask, seen: &Seen<'_>, name: &str, page: &str, what: &str) -> Result<Markup> {
    let partner = parse_uuid(ask.param(name)).map(|id| kunden::find(&seen.tx, id)).transpose()?.flatten();
    Ok(html! { @if let Some(kunde) = partner {
        (only(ask, &ask.page_of("partner", kunde.id), &kunde.name, page, what))
    } })
}

/// The same of any record, by its page and name.
pub fn only(ask: &Ask, to: &str, name: &str, page: &str, what: &str) -> Markup {
    html! { p { "Nur " (what) " zu " a href=(to) { (name) } ". " a href=(ask.of_firma(page)) { "Alle " (what) } } }
}
