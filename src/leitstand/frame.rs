//! The frame of every page: head, menu, search, choice of the company; and the headers that keep it to itself.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::page::{Access, Ask, Seen};
use crate::db::feed;
use crate::failure::Result;
use crate::http::reply::Reply;

/// Only what this server sends is shown, nothing runs, and no page elsewhere shows it in a frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What pages load: the stylesheet, and the script of those that show what is new.
const STYLE: &str = include_str!("stil.css");
const SCRIPT: &str = include_str!("live.js");

/// What pages load, by its path.
pub fn asset(path: &str) -> Option<Reply> {
    let (kind, text) = match path {
        "/leitstand/stil.css" => ("text/css; charset=utf-8", STYLE),
        "/leitstand/live.js" => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return None,
    };
    Some(guarded(Reply::text(kind, text.to_owned())).with("cache-control", "private, max-age=300"))
}

/// A page that shows by itself what is new, where the browser runs scripts: it asks for the newest change of the company
/// from the one on that it shows.
pub fn live_page(ask: &Ask, seen: &Seen<'_>, title: &str, body: Markup) -> Result<Reply> {
    let firma = ask.firma.as_ref().map_or(0, |firma| firma.id);
    let newest = feed::newest(seen.connection, firma)?;
    let body = html! {
        div data-neues=(ask.of_firma("neues")) data-seit=(newest) { (body) }
        script src="/leitstand/live.js" defer {}
    };
    Ok(page(ask, title, body))
}

/// A page of this person with a title.
pub fn page(ask: &Ask, title: &str, body: Markup) -> Reply {
    let firma = ask.firma.as_ref();
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
                @if ask.person.is_some() { (head(ask)) }
                main id="inhalt" tabindex="-1" {
                    @for note in &ask.notes { p.note role="status" { (note) } }
                    h1 { (title) }
                    (body)
                }
            }
        }
    };
    shown(200, whole)
}

/// The line at the top: company, search, menu, who is logged in.
fn head(ask: &Ask) -> Markup {
    let in_menu = ask.house.pages.iter().filter_map(|page| Some((page, page.menu?)));
    let keeps_house = ask.person.as_ref().is_some_and(|person| person.keeps_house());
    let of_firma = in_menu.clone().filter(|(page, _)| page.access == Access::Firma && ask.firma.is_some());
    let others = in_menu.filter(|(page, _)| match page.access {
        Access::Person => true,
        Access::Haus => keeps_house,
        Access::Open | Access::Firma => false,
    });
    let to = |pattern: &str| {
        let firma = ask.firma.as_ref().map_or(0, |firma| firma.id);
        pattern.replace("{firma}", &firma.to_string())
    };
    html! {
        header {
            div.bar {
                a.brand href="/leitstand" { "Leitstand" }
                @if let Some(firma) = &ask.firma {
                    span.firma { (firma.name) @if firma.test { " (Test)" } }
                    @if ask.firmen.len() > 1 { a href="/leitstand/firmen" { "wechseln" } }
                    form.search role="search" action=(ask.of_firma("suche")) method="get" {
                        label.unseen for="suche" { "Suche" }
                        input id="suche" name="suche" type="search" placeholder="Nummer, Partner, Artikel …" value=(ask.param("suche"));
                        button type="submit" { "Suchen" }
                    }
                }
            }
            nav aria-label="Menü" { ul {
                @for (page, name) in of_firma.chain(others) {
                    li { a href=(to(page.pattern)) aria-current=[std::ptr::eq(page, ask.page).then_some("page")] { (name) } }
                }
            } }
        }
    }
}

/// A page for somebody about whom nothing is known: why there is nothing to see.
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

fn shown(status: u16, whole: PreEscaped<String>) -> Reply {
    let reply = Reply { status, body: whole.into_string().into_bytes(), ..Reply::default() };
    guarded(reply.with("content-type", "text/html; charset=utf-8"))
}

/// The answer with the headers that every answer of these pages has. The server adds nosniff and no-store. Without a
/// referrer browsers would send their forms from the origin `null`, which is nobody's.
pub fn guarded(reply: Reply) -> Reply {
    reply
        .with("content-security-policy", POLICY)
        .with("x-frame-options", "DENY")
        .with("referrer-policy", "same-origin")
        .with("cross-origin-opener-policy", "same-origin")
        .with("cross-origin-resource-policy", "same-origin")
}
