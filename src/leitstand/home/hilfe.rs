//! The handbook as help: its chapters are compiled into the executable, and each page links to its section.

use std::sync::LazyLock;

use maud::{PreEscaped, html};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::leitstand::kit::frame::{self, HELP_PATH, anchor};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;

/// Lists files of the handbook, each as its name without extension and its text.
macro_rules! chapters {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../docs/handbuch/", $name, ".md")))),+]
    };
}

static CHAPTERS: LazyLock<Vec<Chapter>> = LazyLock::new(|| {
    let files = chapters![
        "README",
        "aktualisieren",
        "belegfluss",
        "daten-uebernehmen",
        "datenschutz",
        "e-rechnung",
        "ernte",
        "erste-firma",
        "installieren",
        "leitstand",
        "schluessel",
        "seiten",
        "sichern",
        "steuerberater",
        "stoerungen",
        "was-ueberrascht",
    ];
    let names = files.map(|(name, _)| name);
    files.iter().map(|(name, text)| Chapter::of(name, text, &names)).collect()
});

struct Chapter {
    name: &'static str,
    title: String,
    /// Its headings below the title: id and text.
    sections: Vec<(String, String)>,
    html: String,
}

impl Chapter {
    fn of(name: &'static str, text: &str, names: &[&str]) -> Chapter {
        let mut events = shown_offline(text, names);
        let mut sections = mark_headings(&mut events);
        // The page shows the title already.
        let body = events.iter().position(|event| matches!(event, Event::End(TagEnd::Heading(_))));
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, events.drain(..).skip(body.map_or(0, |at| at + 1)));
        let title = if sections.is_empty() { name.to_owned() } else { sections.remove(0).1 };
        Chapter { name, title, sections, html }
    }
}

/// Parses a text into events that work offline. Images are left out, HTML is shown as text, and links to
/// files outside the handbook are dropped, because the executable does not contain them.
fn shown_offline<'t>(text: &'t str, names: &[&str]) -> Vec<Event<'t>> {
    let mut events: Vec<Event<'_>> = Vec::new();
    let (mut is_in_picture, mut is_left_out, mut tables) = (false, false, 0);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Image { .. }) => is_in_picture = true,
            Event::End(TagEnd::Image) => is_in_picture = false,
            _ if is_in_picture => {}
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let to = address(&dest_url, names);
                is_left_out = to.is_none();
                let link = to.map(|to| Tag::Link { link_type, dest_url: to.into(), title, id });
                events.extend(link.map(Event::Start));
            }
            Event::End(TagEnd::Link) if is_left_out => is_left_out = false,
            Event::Html(html) | Event::InlineHtml(html) => {
                events.extend((!html.starts_with("<!--")).then_some(Event::Text(html)));
            }
            Event::Start(Tag::Table(columns)) => {
                tables += 1;
                let name = format!("aria-label=\"Tabelle {tables}\"");
                let region = format!("<div class=\"scroll\" tabindex=\"0\" role=\"region\" {name}>");
                events.extend([Event::Html(region.into()), Event::Start(Tag::Table(columns))]);
            }
            Event::End(TagEnd::Table) => {
                events.extend([Event::End(TagEnd::Table), Event::Html("</div>".into())]);
            }
            Event::End(TagEnd::Paragraph) if events.last() == Some(&Event::Start(Tag::Paragraph)) => {
                events.pop();
            }
            event => events.push(event),
        }
    }
    events
}

/// Gives the headings their ids; returns ids and texts.
fn mark_headings(events: &mut [Event<'_>]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for at in 0..events.len() {
        let (head, rest) = events.split_at_mut(at + 1);
        let Some(Event::Start(Tag::Heading { id, .. })) = head.last_mut() else { continue };
        let within = rest.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
        let words = |event: &Event<'_>| match event {
            Event::Text(words) | Event::Code(words) => Some(words.to_string()),
            _ => None,
        };
        let words: String = within.filter_map(words).collect();
        *id = Some(anchor(&words).into());
        found.push((anchor(&words), words));
    }
    found
}

/// Returns the address on the pages for a link of the handbook; `None` if it leads to a file outside.
fn address(link: &str, names: &[&str]) -> Option<String> {
    if link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, section) = link.split_once('#').map_or((link, ""), |(file, section)| (file, section));
    let section = if section.is_empty() { String::new() } else { format!("#{}", anchor(section)) };
    match file.strip_suffix(".md") {
        None => file.is_empty().then_some(section),
        Some("README") => Some(format!("{HELP_PATH}{section}")),
        Some(name) => names.contains(&name).then(|| format!("{HELP_PATH}/{name}{section}")),
    }
}

pub fn index(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    shown(request, "README")
}

pub fn show(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    shown(request, request.id(0)?)
}

fn shown(request: &PageRequest, name: &str) -> Result<Reply> {
    let chapter = CHAPTERS.iter().find(|chapter| chapter.name == name);
    let chapter = chapter.ok_or_else(|| Failure::not_found("Dieses Kapitel"))?;
    let body = html! {
        @if name != "README" {
            p {
                a href=(HELP_PATH) { "Alle Kapitel" }
                @for (id, words) in &chapter.sections { " · " a href=(format!("#{id}")) { (words) } }
            }
        }
        div.handbuch { (PreEscaped(&chapter.html)) }
    };
    Ok(frame::page(request, &chapter.title, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_html_is_text_and_what_leads_out_of_the_handbook_is_no_link() {
        let text = "# Titel <b>\n\n<script>alert(1)</script>\n\n<!-- mark -->\n\na <i>b</i> [x](y.md#Ü-1) \
            [z](../api.md) [j](javascript:alert(1)) [s](seiten.md#ärger)\n\n![Bild](b.png)\n\n## Größe & `Maß`, zwei\n";
        let chapter = Chapter::of("a", text, &["a", "seiten"]);
        assert_eq!(chapter.title, "Titel <b>");
        assert_eq!(chapter.sections, [("groesse--mass-zwei".to_owned(), "Größe & Maß, zwei".to_owned())]);
        for gone in
            ["<script", "<i>", "mark", "javascript", "api.md", "y.md", "<img", "Bild", "<p></p>", "<h1"]
        {
            assert!(!chapter.html.contains(gone), "{gone}: {}", chapter.html);
        }
        for shown in [
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "a &lt;i&gt;b&lt;/i&gt; x z j <a href=\"/leitstand/hilfe/seiten#aerger\">s</a>",
            "<h2 id=\"groesse--mass-zwei\">",
        ] {
            assert!(chapter.html.contains(shown), "{shown}: {}", chapter.html);
        }
    }
}
