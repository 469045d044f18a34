//! The pages of lists: filters, a table sorted by the server, and the pager.

use maud::{Markup, Render, html};
use uuid::Uuid;

use super::frame;
use super::page::{PageRequest, Snapshot};
use super::pager::pager;
use super::parts::{Order, ROWS, Table, choice, field, linked, number, other_params};
use crate::master::{artikel, kunden};
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::verweis::parse_uuid;

pub fn page_of(request: &PageRequest) -> Page {
    Page { limit: Some(ROWS), offset: i64::from(request.list_page() * ROWS) }
}

/// The order that the page asks for, if it is one of these.
pub fn sorted(request: &PageRequest, known: &[&'static str]) -> Option<&'static str> {
    known.iter().copied().find(|order| *order == request.param("sortierung"))
}

pub struct List<'l, T> {
    /// The path of the list, relative to the company's.
    pub path: &'static str,
    /// The path above the pages of its records; usually the same.
    pub records: &'static str,
    pub id: fn(&T) -> Uuid,
    pub caption: &'static str,
    pub empty: &'static str,
    pub found: &'l Records<T>,
    pub filters: Markup,
    /// Parameters without a field, each the id of a partner or article that restricts the list. Each has its
    /// name, the words for its relation to the rows, and the list with the record's page.
    pub keeps: &'l [(&'l str, &'l str, &'l str)],
    /// The default order, with `-` in front if descending. Blank: the list cannot be sorted.
    pub order: &'static str,
    pub above: Markup,
    /// Wraps the table, for example in a form.
    pub around: Option<fn(&PageRequest, Markup) -> Markup>,
}

impl<'l, T> List<'l, T> {
    pub fn of(
        path: &'static str,
        caption: &'static str,
        id: fn(&T) -> Uuid,
        found: &'l Records<T>,
    ) -> List<'l, T> {
        let (empty, filters, keeps, order, above, around) = ("", html! {}, &[], "", html! {}, None);
        List { path, records: path, id, caption, empty, found, filters, keeps, order, above, around }
    }
}

/// The page of a list under its caption.
pub fn page<'l, T>(
    request: &'l PageRequest,
    db: &Snapshot<'_>,
    list: List<'l, T>,
    columns: impl FnOnce(Table<'l, T>) -> Table<'l, T>,
) -> Result<Reply> {
    Ok(frame::page(request, list.caption, body(request, db, list, columns)?))
}

/// The body of a list's page: filters, table, pager, and the link to all that is filtered as a file (D39).
pub fn body<'l, T>(
    request: &'l PageRequest,
    db: &Snapshot<'_>,
    list: List<'l, T>,
    columns: impl FnOnce(Table<'l, T>) -> Table<'l, T>,
) -> Result<Markup> {
    let here = request.of_firma(list.path);
    let (records, id) = (list.records, list.id);
    let to = move |row: &T| request.page_of(records, id(row));
    let order = Order { request, path: here.clone(), default: list.order };
    let order = (!list.order.is_empty()).then_some(order);
    let kept = list.keeps.iter().map(|(name, ..)| *name).chain(order.as_ref().map(|_| "sortierung"));
    let kept = kept.filter_map(|name| Some((name, request.filled_param(name)?)));
    let table = columns(linked(list.caption, list.empty, &list.found.rows, to)).ordered(order).render();
    let table = match list.around {
        Some(around) if !list.found.rows.is_empty() => around(request, table),
        _ => table,
    };
    Ok(html! {
        form.filter method="get" {
            (list.filters)
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
            button type="submit" { "Suchen" }
        }
        (restriction(request, db, &list)?)
        (list.above)
        (table)
        (pager(request, &here, list.found.count))
        (file_link(request, &here, list.found.count))
    })
}

/// The button that leads to the form of a new record, for who may fill it in.
pub fn new_button(request: &PageRequest, to: &str, words: &str) -> Markup {
    html! { @if request.may_change() { p.actions { a.button href=(request.of_firma(to)) { (words) } } } }
}

/// The link to all that a list finds as a file (D39).
pub fn file_link(request: &PageRequest, here: &str, count: i64) -> Markup {
    let others = other_params(request, &["format", "seite"]);
    html! { @if count > 0 {
        p { a href=(format!("{here}?format=csv{others}")) download {
            "Alle " (number(count)) " als Tabelle (CSV)"
        } }
    } }
}

pub fn filter(request: &PageRequest, name: &str, label: &str, kind: &str) -> Markup {
    field(request, name, label, kind, request.param(name), "off")
}

/// A choice that filters a list: all, or one of these values, each with its text.
pub fn filter_choice<T: AsRef<str> + From<&'static str>>(
    request: &PageRequest,
    name: &str,
    label: &str,
    options: impl IntoIterator<Item = (T, T)>,
) -> Markup {
    let options = [("".into(), "alle".into())].into_iter().chain(options);
    choice(request, name, label, options, request.param(name))
}

/// Says that a list shows only the records of one partner or article, with a link to all of them.
fn restriction<T>(request: &PageRequest, db: &Snapshot<'_>, list: &List<'_, T>) -> Result<Markup> {
    let mut shown = Vec::new();
    for (name, relation, page) in list.keeps {
        let Some(id) = parse_uuid(request.param(name)) else { continue };
        let found = match *page {
            "partner" => kunden::find(&db.tx, id)?.map(|kunde| kunde.name.clone()),
            _ => artikel::find(&db.tx, id)?.map(|artikel| artikel.bezeichnung.clone()),
        };
        shown.extend(found.map(|name| (relation, request.page_of(page, id), name)));
    }
    Ok(html! { @for (relation, to, name) in shown {
        p { "Nur " (list.caption) " " (relation) " " a href=(to) { (name) } ". "
            a href=(request.of_firma(list.path)) { "Alle " (list.caption) } }
    } })
}
