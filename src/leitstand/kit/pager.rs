//! The way from page to page of a list.

use maud::{Markup, html};

use super::page::PageRequest;
use super::parts::{ROWS, number, other_params};

/// Links to the previous and next page of a list of `count` rows, and asks for the number of one where there are many;
/// keeps the other parameters.
pub fn pager(request: &PageRequest, path: &str, count: i64) -> Markup {
    let (page, pages) = (request.list_page(), u32::try_from(count.max(0)).unwrap_or(u32::MAX).div_ceil(ROWS));
    let others = other_params(request, &["seite"]);
    let to = |number: u32| format!("{path}?seite={number}{others}");
    if count == 0 {
        return html! {};
    }
    html! {
        nav.pager aria-label="Seiten" {
            @if page > 0 { a href=(to(page)) rel="prev" { "← vorige" } }
            span { (number(count)) @if count == 1 { " Eintrag" } @else { " Einträge" }
                @if pages > 1 { ", Seite " (page + 1) " von " (pages) } }
            @if page + 1 < pages { a href=(to(page + 2)) rel="next" { "weiter →" } }
            @if pages > PAGES_IN_REACH { (jump(request, path, page + 1, pages)) }
        }
    }
}

/// Up to so many pages, the links to the next and the last one reach each soon enough.
const PAGES_IN_REACH: u32 = 3;

/// Asks for the number of a page.
fn jump(request: &PageRequest, path: &str, page: u32, pages: u32) -> Markup {
    let kept = request.query.iter().filter(|(name, value)| *name != "seite" && !value.is_empty());
    html! {
        form method="get" action=(path) {
            @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
            label { "Seite " input type="number" name="seite" min="1" max=(pages) value=(page) required; }
            button type="submit" { "Zeigen" }
        }
    }
}
