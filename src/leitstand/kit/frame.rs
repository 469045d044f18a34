//! The frame of every page: header, menu, search, choice of the company; and the security headers.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::page::{Page, PageRequest, Snapshot};
use super::parts::{form, refusal};
use crate::master::tenants::Tenant;
use crate::platform::db::feed;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::error;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;

/// Loads only content from this server, runs no inline script, and forbids other sites to show a page in a
/// frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub const HELP_PATH: &str = "/leitstand/hilfe";

const STYLE: &str = include_str!("stil.css");
const SCRIPT: &str = include_str!("live.js");
const TRYING_SCRIPT: &str = include_str!("rechnen.js");

pub fn asset(path: &str) -> Option<Reply> {
    let (kind, text) = match path {
        "/leitstand/stil.css" => ("text/css; charset=utf-8", STYLE),
        "/leitstand/live.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "/leitstand/rechnen.js" => ("text/javascript; charset=utf-8", TRYING_SCRIPT),
        _ => return None,
    };
    Some(guarded(Reply::text(kind, text.to_owned())).with("cache-control", "private, max-age=300"))
}

/// Returns a page that updates itself if the browser runs scripts: it waits for a change of the company newer
/// than the newest one it shows.
pub fn live_page(page_request: &PageRequest, db: &Snapshot<'_>, title: &str, body: Markup) -> Result<Reply> {
    let firma = page_request.firma_id();
    let newest = feed::newest(db.connection, firma)?;
    let body = html! {
        div data-neues=(page_request.of_firma("neues")) data-seit=(newest) { (body) }
        (script())
    };
    Ok(page(page_request, title, body))
}

fn script() -> Markup {
    html! { script src="/leitstand/live.js" defer {} }
}

/// Shows a text to be copied, with a copy button if the browser runs scripts; a click selects all of it.
pub fn to_copy(text: &str) -> Markup {
    html! {
        div id="einmal" { p.once { (text) } }
        p.actions { button type="button" hidden data-kopiere="einmal" { "Kopieren" } span role="status" {} }
        (script())
    }
}

pub fn page(page_request: &PageRequest, title: &str, body: Markup) -> Reply {
    let firma = page_request.firma.as_ref();
    let whole = html! {
        (DOCTYPE)
        html lang="de" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) @if let Some(firma) = firma { " – " (firma.name) } " – Leitstand" }
                link rel="stylesheet" href="/leitstand/stil.css";
                link rel="icon" href="data:,";
            }
            body {
                a.skip href="#inhalt" { "Zum Inhalt" }
                @if page_request.person.is_some() { (head(page_request)) }
                @else { header { div.bar { (help(page_request)) } } }
                main id="inhalt" tabindex="-1" {
                    @for note in &page_request.notes { p.note role="status" { (note) } }
                    h1 { (title) }
                    (body)
                }
            }
        }
    };
    shown(200, whole)
}

/// A page with a form in steps. If the browser runs scripts, the form is tried while the person types.
pub fn steps_page(page_request: &PageRequest, title: &str, body: Markup) -> Reply {
    page(
        page_request,
        title,
        html! { div.steps data-rechnet { (body) } script src="/leitstand/rechnen.js" defer {} },
    )
}

/// A page with nothing but a form, such as a confirmation. Refusals of these fields are shown at the fields.
pub fn form_page(
    page_request: &PageRequest,
    title: &str,
    fields: &[&str],
    inside: Markup,
    button: &str,
    is_destructive: bool,
) -> Result<Reply> {
    let inside = html! { (refusal(page_request, fields)) (inside) };
    Ok(page(page_request, title, form(page_request, inside, button, is_destructive)))
}

/// The header: company, search, menu. A page of no company shows the only company, if there is just one.
fn head(page_request: &PageRequest) -> Markup {
    let only = || if let [only] = page_request.firmen.as_slice() { Some(only) } else { None };
    let firma = page_request.firma.as_ref().or_else(only);
    html! {
        header {
            div.bar {
                a.brand href="/leitstand" { "Leitstand" }
                @if let Some(firma) = firma {
                    span.firma { (firma.name) @if firma.test { " (Test)" } }
                    @if page_request.firmen.len() > 1 { a href="/leitstand/firmen" { "wechseln" } }
                }
                (help(page_request))
                @if !page_request.firmen.is_empty() { (search(page_request, firma)) }
            }
            (menu(page_request, firma.map(|firma| firma.id)))
        }
    }
}

/// Links to the section of the handbook about a page. The section's heading is the page's menu entry or,
/// without one, its place in the path.
fn help(page_request: &PageRequest) -> Markup {
    let place = place(page_request.page);
    let entry =
        page_request.app.pages.iter().filter(|page| self::place(page) == place).find_map(|page| page.menu);
    let to = match place {
        "hilfe" => HELP_PATH.to_owned(),
        place => format!("{HELP_PATH}/seiten#{}", anchor(entry.unwrap_or(place))),
    };
    html! { a href=(to) { "Hilfe" } }
}

/// The first segment of a page's path, which it shares with the pages below it.
fn place(page: &Page) -> &'static str {
    let path = page.pattern.trim_start_matches("/leitstand").trim_start_matches("/f/{firma}");
    path.split('/').nth(1).unwrap_or_default()
}

/// The id of a heading in the handbook as its links spell it (GitHub's scheme), with umlauts in ASCII as in
/// page paths.
pub fn anchor(words: &str) -> String {
    let letter = |letter: char| match letter {
        'ä' => "ae".to_owned(),
        'ö' => "oe".to_owned(),
        'ü' => "ue".to_owned(),
        'ß' => "ss".to_owned(),
        ' ' => "-".to_owned(),
        letter if letter.is_ascii_alphanumeric() || letter == '-' => letter.to_string(),
        _ => String::new(),
    };
    words.to_lowercase().chars().map(letter).collect()
}

/// The search in a company; without one, the company is chosen beside the search field.
fn search(page_request: &PageRequest, firma: Option<&Tenant>) -> Markup {
    let to = match firma {
        Some(firma) => format!("/leitstand/f/{}/suche", firma.id),
        None => "/leitstand/suche".to_owned(),
    };
    html! {
        form.search role="search" action=(to) method="get" {
            @if firma.is_none() {
                label.unseen for="suche-firma" { "Firma" }
                select id="suche-firma" name="firma" {
                    @for firma in &page_request.firmen { option value=(firma.id) { (firma.name) } }
                }
            }
            label.unseen for="suche" { "Suche" }
            input id="suche" name="suche" type="search" placeholder="Nummer, Partner, Artikel …"
                value=(page_request.param("suche"));
            button type="submit" { "Suchen" }
        }
    }
}

/// The menu: everyday work in a row, administration in a collapsed list. Marks the entry of the current page or,
/// if it has none, the entry nearest above it.
fn menu(page_request: &PageRequest, firma: Option<i64>) -> Markup {
    let is_seen = |page: &&Page| {
        let is_there = firma.is_some() || !page.access.is_of_firma();
        page.menu.is_some() && is_there && page_request.rights(page.access).sees
    };
    let entries = page_request.app.pages.iter().filter(is_seen);
    let is_above = |page: &&Page| {
        page_request
            .page
            .pattern
            .strip_prefix(page.pattern)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let current = entries.clone().filter(is_above).max_by_key(|page| page.pattern.len());
    let current = current.map(|page| (page.pattern, page.is_administration));
    let to = |page: &Page| page.pattern.replace("{firma}", &firma.unwrap_or(0).to_string());
    let mark = |page: &Page| {
        let is_marked = current.is_some_and(|(pattern, _)| pattern == page.pattern);
        is_marked.then_some(if page.pattern == page_request.page.pattern { "page" } else { "true" })
    };
    let part = |is_administration: bool| {
        let part = entries.clone().filter(move |page| page.is_administration == is_administration);
        html! {
            ul {
                @for page in part {
                    li { a href=(to(page)) aria-current=[mark(page)] { (page.menu.unwrap_or_default()) } }
                }
            }
        }
    };
    let is_inside = current.is_some_and(|(_, is_administration)| is_administration);
    html! {
        nav aria-label="Menü" {
            (part(false))
            details { summary.current[is_inside] { "Verwaltung" } (part(true)) }
        }
    }
}

/// A page without header and menu that says why there is nothing to see; the person may be unknown.
pub fn refused(status: u16, message: &str) -> Reply {
    let whole = html! {
        (DOCTYPE)
        html lang="de" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "Leitstand" }
                link rel="stylesheet" href="/leitstand/stil.css";
            }
            body { main id="inhalt" { h1 { "Das geht hier nicht" } p.refused role="alert" { (message) }
                p { a href="/leitstand" { "Zum Leitstand" } } } }
        }
    };
    shown(status, whole)
}

const BUSY: &str = "Der Dienst kann das gerade nicht ausführen; es wurde nichts gespeichert. Bitte gleich \
     noch einmal versuchen.";

pub fn busy(request: &Request) -> Reply {
    tracing::warn!(request_id = %request.id, "too much to do for a page");
    refused(503, BUSY).with("retry-after", "1")
}

pub fn failed(failure: &Failure, request: &Request) -> Reply {
    match failure {
        Failure::Refused(refusal) => {
            let reply = refused(error::status(refusal.code), &refusal.message.to_string());
            Reply { code: Some(refusal.code), ..reply }
        }
        Failure::OutcomeUnknown => {
            let message = "Ob gespeichert wurde, ist nicht bekannt: Die Festplatte meldet einen Fehler. \
                 Bitte nachsehen.";
            refused(503, message)
        }
        Failure::Busy(_) => busy(request),
        // The body of the general answer is for programs; its status and its log line apply here, too.
        failure => {
            let status = error::reply(failure, request.id).status;
            let message = format!("{BUSY} Hilft das nicht, bitte diese Nummer melden: {}", request.id);
            refused(status, &message)
        }
    }
}

fn shown(status: u16, whole: PreEscaped<String>) -> Reply {
    let reply = Reply { status, body: whole.into_string().into_bytes(), ..Reply::default() };
    guarded(reply.with("content-type", "text/html; charset=utf-8"))
}

pub fn redirect(to: impl Into<String>) -> Reply {
    guarded(Reply { status: 303, ..Reply::default() }.with("location", to))
}

/// Answers GET on a path that only takes a form: redirects to its list, the first two segments of the path.
pub fn back(page_request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let list: Vec<_> = page_request.page.pattern.split('/').take(3).collect();
    Ok(redirect(list.join("/")))
}

/// Adds the headers that every answer of these pages has; the server adds nosniff and no-store. With no
/// referrer at all browsers would send forms with the origin `null`, which is refused.
pub fn guarded(reply: Reply) -> Reply {
    reply
        .with("content-security-policy", CONTENT_SECURITY_POLICY)
        .with("x-frame-options", "DENY")
        .with("referrer-policy", "same-origin")
        .with("cross-origin-opener-policy", "same-origin")
        .with("cross-origin-resource-policy", "same-origin")
}
