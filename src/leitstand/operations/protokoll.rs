//! The audit log of all requests: of a company for people who see its administration, of all companies for
//! people who manage the installation. Searches by person, path, status and time, shows one row in full, and
//! proves that no row was altered.

use std::path::Path;
use std::sync::Arc;

use maud::{Markup, Render, html};
use rusqlite::Connection;

use super::{suchfelder, taten};
use crate::interface::description::meaning_of;
use crate::interface::routes;
use crate::leitstand::access::people::{self, Person, name_of};
use crate::leitstand::kit::done::{InstallationChange, start_job};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::jobs::{Job, Outcome};
use crate::leitstand::kit::page::{Page, PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    ROWS, facts, form_to, linked, moment, number, or_blank, other_params, tenths, to_second,
};
use crate::operations::backups;
use crate::platform::db::file::connection::open_to_look;
use crate::platform::db::seals::seal::{self, Secret};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::audit::{self, Entry, Sealed};
use crate::platform::http::reply::Reply;
use crate::rules::day::{Day, Instant};

const HOUSE_LOG_PATH: &str = "/leitstand/protokoll";

fn here(request: &PageRequest) -> String {
    if request.firma.is_some() { request.of_firma("protokoll") } else { HOUSE_LOG_PATH.to_owned() }
}

/// GET /leitstand/f/{firma}/protokoll, GET /leitstand/protokoll: requests, or administration events of people
/// and the command line.
pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let people = people::list(db.connection)?;
    let is_house = request.firma.is_none();
    // Commands are only in the administration log.
    let is_admin_log =
        request.param("ergebnis") == suchfelder::ADMIN_EVENTS || request.param("wer") == suchfelder::COMMANDS;
    let empty = "Nichts gefunden. Vielleicht ist die Suche zu eng; „Ältere“ sucht weiter, wo es das gibt.";
    let (shown, next, mistake) = match suchfelder::filter(request) {
        Err(mistake) => (html! {}, None, Some(mistake)),
        Ok(filter) if is_admin_log => {
            let (found, next) = taten::page(request, db, &filter)?;
            (taten::rows(request, &found, &people, empty), next.map(|nr| nr.to_string()), None)
        }
        Ok(filter) => {
            let before = request.param("vor").parse().ok();
            let found = audit::log_page(db.connection, &filter, before, ROWS as usize)?;
            (rows(request, &found.rows, &people, empty), found.next.map(|number| number.to_string()), None)
        }
    };
    let body = html! {
        @if let Some(mistake) = mistake { p.refused role="alert" { (mistake) } }
        @if !is_admin_log {
            p.actions { a.button href=(format!("{}?ergebnis={}", here(request), suchfelder::ADMIN_EVENTS)) {
                "Was jemand geändert hat"
            } }
        }
        (suchfelder::form(request, db, &people)?)
        div.wrap { (shown) }
        (older(request, next))
        @if is_house {
            h2 { "Ist das Protokoll echt?" }
            p { "Die Zeilen sind verkettet und versiegelt. Die Prüfung findet, ob eine geändert, entfernt \
                 oder eingefügt wurde." }
            (form_to(request, &format!("{HOUSE_LOG_PATH}/pruefen"), html! {}, "Protokoll prüfen", false))
        }
    };
    let title = if is_house { "Protokoll aller Firmen" } else { "Protokoll" };
    Ok(frame::page(request, title, body))
}

/// Links to older rows and back to the newest.
fn older(request: &PageRequest, next: Option<String>) -> Markup {
    let others = other_params(request, &["vor"]);
    let to = |place: &str| format!("{}?vor={place}{others}", here(request));
    html! {
        nav.pager aria-label="Seiten" {
            @if !request.param("vor").is_empty() { a href=(to("")) { "← das Neueste" } }
            @if let Some(next) = next { a href=(to(&next)) rel="next" { "Ältere →" } }
        }
    }
}

fn rows(request: &PageRequest, found: &[Entry], people: &[Person], empty: &str) -> Markup {
    let to = |entry: &Entry| format!("{}/{}", here(request), entry.number);
    let mut table = linked(taten::CAPTION, empty, found, to)
        .text("Wann", |entry| to_second(entry.at))
        .text("Wer", |entry| who(entry, people));
    if request.firma.is_none() {
        table = table.text("Firma", |entry| or_blank(&entry.tenant));
    }
    table
        .text("Was", |entry| in_words(request, entry))
        .text("Bedeutung", meaning)
        .text("Technisch", what)
        .render()
}

/// Who sent a request: a key by its label, a person by their name, otherwise the address.
fn who(entry: &Entry, people: &[Person]) -> String {
    match (entry.person, &entry.key_label, &entry.key_id) {
        (Some(id), ..) => name_of(id, people),
        (None, Some(label), _) => format!("Schlüssel {label}"),
        (None, None, Some(id)) => format!("Schlüssel {id}"),
        (None, None, None) => format!("ohne Schlüssel, von {}", entry.address),
    }
}

/// The request, the status of its answer, and the number of requests if the row stands for several.
fn what(entry: &Entry) -> String {
    let asked = format!("{} {}", entry.method, entry.path);
    let asked = format!("{} {}", asked.trim(), entry.status);
    match entry.count {
        1 => asked,
        count => format!("{asked} ({} Mal)", number(count)),
    }
}

/// The request in the words of the interface or of the menu, and whether it succeeded.
fn in_words(request: &PageRequest, entry: &Entry) -> String {
    let pattern = entry.route.as_deref().unwrap_or_default();
    let route = routes::all().find(|route| route.pattern == pattern && route.method.as_str() == entry.method);
    let asked = match route {
        Some(route) if entry.method == "GET" && entry.status < 400 => format!("Gelesen: {}", route.summary),
        Some(route) => route.summary.to_owned(),
        None if entry.path.starts_with("/leitstand") => on_a_page(request, entry),
        None => "Unbekannte Anfrage".to_owned(),
    };
    match entry.status {
        ..400 => asked,
        400..500 => format!("{asked}: abgelehnt"),
        500.. => format!("{asked}: ging gerade nicht"),
    }
}

/// A request for a page in words: the entry in the menu, and what its form does.
fn on_a_page(request: &PageRequest, entry: &Entry) -> String {
    let pages = request.app.pages;
    let page = pages.iter().find(|page| page.matches(&entry.path).is_some());
    let above = |page: &Page| {
        let above = pages.iter().filter(|above| page.pattern.starts_with(above.pattern));
        above.filter(|above| above.menu.is_some()).max_by_key(|above| above.pattern.len())?.menu
    };
    let done = match (entry.method.as_str(), entry.path.rsplit('/').next().unwrap_or_default()) {
        // A step of a form that showed the form again.
        ("POST", _) if entry.status == 200 && page.is_some_and(|page| page.has_steps) => "ausgefüllt",
        ("POST", "neu") => "angelegt",
        ("POST", "aendern" | "berichtigen" | "status" | "firma" | "einstellungen" | "postausgang") => {
            "geändert"
        }
        ("POST", "email") => "E-Mail abgeschickt",
        ("POST", "test") => "Testmail abgeschickt",
        ("POST", "abschliessen") => "abgeschlossen",
        ("POST", "storno") => "storniert",
        ("POST", "sperren") => "gesperrt",
        ("POST", "freigeben") => "freigegeben",
        ("POST", "loeschen") => "gelöscht",
        ("POST", "pruefen") => "geprüft",
        ("POST", "anmelden" | "passwort") => "angemeldet",
        ("POST", "abmelden") => "abgemeldet",
        ("POST", _) => "gesendet",
        _ => "angesehen",
    };
    format!("{}: {done}", page.and_then(above).unwrap_or("Leitstand"))
}

fn meaning(entry: &Entry) -> String {
    let code = entry.code.as_deref().unwrap_or_default();
    match meaning_of(code) {
        "" => code.to_owned(),
        meaning => format!("{code}: {meaning}"),
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let number = request.id(0)?.parse().ok();
    let found = number.map(|number| audit::find(db.connection, number, request.tenant_id()));
    let found = found.transpose()?.flatten();
    let entry = found.ok_or_else(|| Failure::not_found("Diese Zeile des Protokolls"))?;
    let people = people::list(db.connection)?;
    let meaning = meaning(&entry);
    let record = record_of(request, db, &entry)?;
    let body = html! {
        (facts(&facts_of(&entry, &people)))
        @if !meaning.is_empty() { p.refused { (meaning) } }
        @if let Some((to, words)) = record { p.actions { a.button href=(to) { (words) } } }
        p { a href=(here(request)) { "Zum Protokoll" } }
    };
    Ok(frame::page(request, &in_words(request, &entry), body))
}

fn facts_of(entry: &Entry, people: &[Person]) -> Vec<(&'static str, String)> {
    let key = entry.key_id.as_ref().map(|id| format!("ak_{id}_")).unwrap_or_default();
    vec![
        ("Wann", to_second(entry.at)),
        ("Wer", who(entry, people)),
        ("Schlüssel beginnt mit", key),
        ("Firma", entry.tenant.clone().unwrap_or_default()),
        ("Von der Adresse", entry.address.clone()),
        ("Anfrage", what(entry)),
        ("Route", entry.route.clone().unwrap_or_default()),
        ("Antwort", entry.status.to_string()),
        ("Dauer (ms)", tenths(entry.duration_us.unsigned_abs() / 100)),
        ("Gesendet (Byte)", number(entry.bytes_in)),
        ("Geantwortet (Byte)", number(entry.bytes_out)),
        ("Datensatz", entry.subject.map(|id| id.to_string()).unwrap_or_default()),
        ("Nummer der Anfrage", entry.request_id.to_string()),
        ("Zeile der Kette", entry.number.to_string()),
        ("Prüfsumme", entry.checksum.clone()),
    ]
}

/// Records with a page: their name in paths of the interface and of the pages, and the label of the link.
const RECORDS: [(&str, &str, &str); 6] = [
    ("belege", "belege", "Zum Beleg"),
    ("kunden", "partner", "Zum Partner"),
    ("artikel", "artikel", "Zum Artikel"),
    ("chargen", "chargen", "Zur Charge"),
    ("wiegungen", "wiegungen", "Zur Wiegung"),
    ("produktionsauftraege", "produktion", "Zum Produktionsauftrag"),
];

/// The address of the record that a row is about, and the label of the link; `None` if it has no page or no
/// longer exists.
fn record_of(
    request: &PageRequest,
    db: &Snapshot<'_>,
    entry: &Entry,
) -> Result<Option<(String, &'static str)>> {
    let (Some(id), Some(firma)) = (entry.subject, entry.tenant_id) else { return Ok(None) };
    let names = |name: &str| entry.path.split('/').any(|segment| segment == name);
    let known = RECORDS.iter().find(|(api, page, _)| names(api) || names(page));
    let Some((api, page, words)) = known else { return Ok(None) };
    let db = Snapshot { tx: Tx::new(db.connection, firma, request.now), connection: db.connection };
    match request.get(&db, &format!("/api/v1/{api}/{id}")) {
        Ok(_) => Ok(Some((format!("/leitstand/f/{firma}/{page}/{id}"), words))),
        Err(Failure::Refused(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub fn prove(request: &PageRequest) -> Result<InstallationChange> {
    let (gate, database) = (Arc::clone(&request.app.gate), request.app.database.clone());
    Ok(start_job("Prüfung des Protokolls".to_owned(), move |job| {
        let began = |_: &str| {
            job.set_step("Die Datenbank wird kopiert.", 0);
            Ok(())
        };
        let look = |copy: &Path| proof(copy, &database, (gate.clock)(), job);
        backups::with_copy(|copy| gate.writer.copy(copy), &database, &began, look)
            .map_err(|failure| format!("Die Prüfung ging nicht zu Ende:\n{}", failure.in_german()))
    }))
}

fn proof(copy: &Path, database: &Path, now: Instant, job: &Job) -> Result<Outcome> {
    let secret = Secret::read(database)?;
    let connection = open_to_look(copy)?;
    seal::install(&connection, secret.as_ref())?;
    let snapshot = connection.unchecked_transaction()?;
    job.set_step("Jede Zeile wird geprüft.", 0);
    let mut before = 0;
    let watch = |done: i64, all: i64| {
        if before == 0 {
            job.set_step("Jede Zeile wird geprüft.", usize::try_from(all).unwrap_or(0));
        }
        job.add_done(usize::try_from(done - before).unwrap_or(0));
        before = done;
        if job.is_given_up() { Err(Failure::Broken("Sie wurde abgebrochen.".into())) } else { Ok(()) }
    };
    let sealed = audit::sealed(&snapshot, secret.as_ref())?;
    let shown = match audit::verify(&snapshot, secret.as_ref(), now, watch)? {
        Err(what) => broken(&what),
        Ok(rows) => whole(&snapshot, rows, &sealed)?,
    };
    Ok(Outcome { shown, next: None })
}

fn broken(what: &str) -> Markup {
    html! {
        p.refused role="alert" { "Das Protokoll ist verändert worden." }
        (facts(&[("Was das Programm dazu sagt", what.to_owned())]))
        p { "Bitte diese Datenbank so aufheben, wie sie ist, und mit der letzten guten Sicherung vergleichen: "
            code { "partnerd audit verify --against SICHERUNG.db" } }
    }
}

fn whole(connection: &Connection, rows: i64, sealed: &Sealed) -> Result<Markup> {
    let days = audit::days(connection)?.map_or_else(String::new, |(first, last): (Day, Day)| {
        format!(" vom {} bis zum {}", first.german(), last.german())
    });
    Ok(html! {
        p.note {
            (if matches!(sealed, Sealed::Since(..)) {
                "Das Protokoll ist echt: "
            } else {
                "Die Prüfsummen stimmen: "
            })
            (number(rows)) " Zeilen" (days) ", keine geändert, entfernt oder eingefügt."
        }
        p {
            @match sealed {
                Sealed::Since(since, _) => {
                    "Versiegelt ist es seit dem " (moment(*since))
                    " mit dem Geheimnis neben der Datenbank: Wer seitdem eine Zeile ändert und alle \
                     Prüfsummen neu rechnet, fällt auf."
                },
                Sealed::Not(_) | Sealed::Broken(_) => {
                    "Versiegelt ist es nicht: Geprüft sind die Prüfsummen allein. Wer sie alle neu rechnet, \
                     fällt so nicht auf."
                },
            }
        }
        p {
            "Dazu gehört auch, was jemand geändert hat; das wird zehn Jahre aufgehoben. Ob alte Zeilen \
             mitsamt ihrem Ende zurückgesetzt wurden, zeigt nur der Vergleich mit einer Sicherung: "
            code { "partnerd audit verify --against SICHERUNG.db" }
        }
    })
}
