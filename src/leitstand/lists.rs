//! The pages of lists: filters, a table that the server sorts, and the way through its pages.

use std::sync::Arc;

use maud::{Markup, html};
use uuid::Uuid;

use super::page::{Ask, Snapshot};
use super::parts::{Order, ROWS, Table, choice, field, linked, pager};
use crate::artikel::{self, Artikel};
use crate::db::list::Page;
use crate::failure::Result;
use crate::kunden;
use crate::listing::Records;
use crate::rules::verweis::parse_uuid;

pub fn page_of(ask: &Ask) -> Page {
    Page { limit: Some(ROWS), offset: i64::from(ask.list_page() * ROWS) }
}

pub struct List<'l, T> {
    /// Its path below the company's, and what leads from there to the page of a record.
    pub path: &'static str,
    pub id: fn(&T) -> Uuid,
    pub caption: &'static str,
    pub empty: &'static str,
    pub found: &'l Records<T>,
    /// The fields that filter it, and parameters that no field shows.
    pub filters: Markup,
    pub keeps: &'l [&'l str],
    /// The order where none was chosen; `-` before it: descending. Blank: it cannot be sorted.
    pub order: &'static str,
    pub above: Markup,
}

/// The page of a list: its filters, its table, and the way through its pages.
pub fn body<T>(ask: &Ask, list: List<'_, T>, columns: impl FnOnce(Table<'_, T>) -> Table<'_, T>) -> Markup {
    let here = ask.of_firma(list.path);
    let to = |row: &T| format!("{here}/{}", (list.id)(row));
    let order = Order { ask, path: &here, default: list.order };
    let order = (!list.order.is_empty()).then_some(order);
    let kept = list.keeps.iter().copied().chain(order.as_ref().map(|_| "sortierung"));
    let kept = kept.filter_map(|name| Some((name, ask.filled_param(name)?)));
    html! {
        form.filter method="get" {
            (list.filters)
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
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

/// The article whose records a list shows, where it shows those of one.
pub fn chosen_artikel(ask: &Ask, db: &Snapshot<'_>) -> Result<Option<Arc<Artikel>>> {
    Ok(parse_uuid(ask.param("artikel_id")).map(|id| artikel::find(&db.tx, id)).transpose()?.flatten())
}

/// Says whose records a list shows where it shows those of one partner, with the way to all of them.
pub fn only_partner(ask: &Ask, db: &Snapshot<'_>, name: &str, page: &str, what: &str) -> Result<Markup> {
    let partner = parse_uuid(ask.param(name)).map(|id| kunden::find(&db.tx, id)).transpose()?.flatten();
    Ok(html! { @if let Some(kunde) = partner {
        (only(ask, &ask.page_of("partner", kunde.id), &kunde.name, page, what))
    } })
}

/// The same of any record, by its page and name.
pub fn only(ask: &Ask, to: &str, name: &str, page: &str, what: &str) -> Markup {
    html! { p { "Nur " (what) " zu " a href=(to) { (name) } ". " a href=(ask.of_firma(page)) { "Alle " (what) } } }
}
