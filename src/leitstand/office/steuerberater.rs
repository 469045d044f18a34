//! The data for the tax adviser (D32): the months, trying and making a Stapel, and the list of Stapel.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::kontoluecken;
use crate::leitstand::kit::done::{Done, FirmaChange, Response, TRY, sentences};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{field, form, linked, moment, number, refusal, table, tick};
use crate::leitstand::kit::{frame, lists};
use crate::master::tenants::{self, Einstellungen};
use crate::office::buchhaltung::{self, Monat, Stapel};
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::rules::day::Day;
use crate::rules::error::{Code, Refusal};

const LOCKS: &str = "sperren";

const MONATE: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

/// Month and year, as `Oktober 2026`.
pub fn month_of(day: Day) -> String {
    let name = usize::try_from(day.month() - 1).ok().and_then(|at| MONATE.get(at));
    format!("{} {}", name.copied().unwrap_or_default(), day.year())
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let einstellungen = tenants::load(&db.tx)?;
    let today = db.tx.today();
    let missing = missing(&einstellungen);
    let bis = match request.filled("bis").or(request.filled_param("bis")) {
        Some(typed) => typed.to_owned(),
        None => Day::in_month(today.year(), today.month(), 1).yesterday().to_string(),
    };
    let begin = einstellungen.datev_wj_beginn.up_to(today);
    let previous = einstellungen.datev_wj_beginn.up_to(begin.yesterday());
    let end = Day::in_month(today.year(), today.month(), 31);
    let monate = buchhaltung::monate(&db.tx, previous, end, einstellungen.datev_ab)?;
    let found = buchhaltung::list_stapel(&db.tx, lists::page_of(request))?;
    let here = request.of_firma("steuerberater");
    let body = html! {
        (lacks(request, &missing))
        p.actions {
            @if request.sees_management() { a.button href=(format!("{here}/konten")) { "Konten" } }
            a.button href=(request.of_firma("umsatzsteuer")) { "Umsatzsteuer, ZM, Intrastat" }
        }
        h2 { "Monate" }
        p {
            "Rechnungen, Gutschriften und ihre Stornos im laufenden und im vorigen Wirtschaftsjahr"
            @if let Some(ab) = einstellungen.datev_ab { "; übergeben wird, was ab dem " (ab.german()) " datiert ist" }
            "."
        }
        (months(&monate, today, missing.is_empty() && request.may_change()))
        @if let Some(vorjahr) = buchhaltung::Vorjahr::of(&db.tx, today)? { (left_behind(request, &vorjahr)) }
        @if missing.is_empty() && request.may_change() {
            h2 id="neu" { "Neuer Stapel" }
            (new_form(request, &bis))
            (result(request))
            @if let Some(refusal) = lacking(request) { (kontoluecken::section(request, refusal, &bis)) }
        }
        h2 { "Stapel" }
        (batches(request, &found.rows))
        (pager(request, &here, found.count))
    };
    Ok(frame::page(request, "Steuerberater", body))
}

fn left_behind(request: &PageRequest, vorjahr: &buchhaltung::Vorjahr) -> Markup {
    html! { div.refused {
        p {
            "Aus früheren Wirtschaftsjahren ist noch nicht übergeben: " (vorjahr.nummern.join(", "))
            @if vorjahr.anzahl > vorjahr.nummern.len() as i64 { " und weitere" }
            "."
        }
        @if request.may_change() {
            p.actions { a.button href=(format!("?bis={}#neu", vorjahr.bis)) { "Stapel bis " (vorjahr.bis.german()) } }
        }
    } }
}

/// The settings that the tax adviser must still name: name and label.
fn missing(einstellungen: &Einstellungen) -> Vec<(&'static str, &'static str)> {
    let of = [
        (einstellungen.datev_berater.is_none(), "datev_berater", "die Beraternummer"),
        (einstellungen.datev_mandant.is_none(), "datev_mandant", "die Mandantennummer"),
        (einstellungen.datev_ab.is_none(), "datev_ab", "der erste Tag, dessen Rechnungen übergeben werden"),
    ];
    of.into_iter().filter(|(is_missing, ..)| *is_missing).map(|(_, name, words)| (name, words)).collect()
}

fn lacks(request: &PageRequest, missing: &[(&str, &str)]) -> Markup {
    html! { @if !missing.is_empty() {
        div.refused {
            p { "Ehe ein Stapel entstehen kann, fehlt unter Einstellungen noch, was der Steuerberater sagt:" }
            ul { @for (name, words) in missing { li {
                @if request.sees_management() {
                    a href=(request.of_firma(&format!("einstellungen#feld-{name}"))) { (words) }
                }
                @else { (words) }
            } } }
            @if !request.may_manage() { p { "Das trägt ein, wer diese Firma verwaltet." } }
        }
    } }
}

fn months(monate: &[Monat], today: Day, may_begin: bool) -> Markup {
    let name = |monat: &Monat| month_of(monat.first);
    let waiting = |monat: &Monat| {
        let end = Day::in_month(monat.first.year(), monat.first.month(), 31);
        let leads_on = may_begin && monat.neu > 0 && end < today;
        html! {
            @if leads_on {
                a href=(format!("?bis={end}#neu")) {
                    (number(monat.neu)) span.unseen { " im " (name(monat)) " übergeben" }
                }
            }
            @else { (number(monat.neu)) }
        }
    };
    let empty = "In diesem und im vorigen Wirtschaftsjahr gibt es noch keine Rechnung.";
    html! { (table("Monate", empty, monate)
    .text("Monat", name)
    .numbers("Belege", |monat| number(monat.belege))
    .with("noch nicht übergeben", true, waiting)
    .numbers("noch offen", |monat| number(monat.offen))) }
}

fn new_form(request: &PageRequest, bis: &str) -> Markup {
    let inside = html! {
        @if lacking(request).is_none() { (refusal(request, &["bis", LOCKS])) }
        p {
            "Alle abgeschlossenen Rechnungen bis zu diesem Tag, die noch in keinem Stapel sind. Jede geht \
             genau einmal hinaus."
        }
        (field(request, "bis", "Bis einschließlich", "date", bis, "off"))
        @if request.may_manage() {
            (tick(LOCKS, request.is_sent(LOCKS),
                "Zeitraum sperren: Bis zu diesem Tag werden dann keine Belege mehr angelegt oder geändert."))
        }
        button type="submit" name="schritt" value=(TRY) { "Prüfen" } " "
    };
    form(request, inside, "Erstellen", false)
}

/// The refusal that lists the gaps, if a Stapel cannot be made.
fn lacking(request: &PageRequest) -> Option<&Refusal> {
    request.refusal.as_deref().filter(|refusal| refusal.code == Code::DatevUnvollstaendig)
}

/// The content that a Stapel would have.
fn result(request: &PageRequest) -> Markup {
    let Some(tried) = request.tried.as_deref() else { return html! {} };
    let of = |field: &str| number(tried[field].as_i64().unwrap_or_default());
    let konten = tried["konten"].as_array().cloned().unwrap_or_default();
    html! {
        section.tried {
            @if tried["belege"] == 0 {
                h2 { "Nichts ist neu" }
                p.note { "Bis zu diesem Tag ist alles übergeben, was abgeschlossen ist." }
            } @else {
                h2 { "Das wäre darin; noch ist nichts gespeichert" }
                div.tiles {
                    div.tile { "Belege" strong { (of("belege")) } }
                    div.tile { "Buchungszeilen" strong { (of("zeilen")) } }
                    div.tile { "Summe (EUR)" strong { (number(tried["summe"].as_str().unwrap_or_default())) } }
                }
            }
            (hints(&tried["hinweise"]))
            @if !konten.is_empty() {
                (table("Summen der Konten", "", &konten)
                    .numbers("Konto", |sum| sum["konto"].to_string())
                    .numbers("Zeilen", |sum| number(&sum["zeilen"]))
                    .numbers("Soll (EUR)", |sum| side(sum, false))
                    .numbers("Haben (EUR)", |sum| side(sum, true)))
            }
        }
    }
}

/// The balance of an account if it is on this side, otherwise blank.
fn side(sum: &Value, is_credit: bool) -> String {
    let saldo = sum["saldo"].as_str().unwrap_or_default();
    match (saldo.strip_prefix('-'), is_credit) {
        (Some(credit), true) => number(credit),
        (None, false) => number(saldo),
        _ => String::new(),
    }
}

/// The sentences of hints.
pub fn hints(hinweise: &Value) -> Markup {
    let hints: Vec<_> = sentences(hinweise).collect();
    html! { @if !hints.is_empty() {
        h3 { "Hinweise" }
        ul.sorgen.hints { @for hint in hints { li { (hint) } } }
    } }
}

fn batches(request: &PageRequest, stapel: &[Stapel]) -> Markup {
    let to = |stapel: &Stapel| request.page_of("steuerberater", stapel.id);
    let empty = "Noch ist nichts übergeben. Der erste Stapel entsteht oben mit „Erstellen“.";
    html! {
        (linked("Stapel, der neueste zuerst", empty, stapel, to)
            .text("Stapel", |stapel| stapel.nr.to_string())
            .text("Bis", |stapel| stapel.bis.german())
            .numbers("Belege", |stapel| number(stapel.belege))
            .numbers("Zeilen", |stapel| number(stapel.zeilen))
            .numbers("Summe (EUR)", |stapel| number(stapel.summe))
            .text("Angelegt", |stapel| moment(stapel.created_at))
            .text("Stand", state)
            .with("Dateien", false, |stapel| html! {
                a href=(format!("{}/datei", to(stapel))) {
                    "Laden" span.unseen { " von Stapel " (stapel.nr) }
                }
            }))
    }
}

/// Whether a Stapel is valid or was discarded, in words.
pub fn state(stapel: &Stapel) -> String {
    match stapel.verworfen_am {
        Some(am) => format!("verworfen am {}", Day::in_berlin(am).german()),
        None => "gilt".to_owned(),
    }
}

pub fn create(request: &PageRequest, db: &Snapshot<'_>) -> Result<FirmaChange> {
    let locks = request.is_sent(LOCKS);
    if locks && !request.may_manage() {
        let message = "Einen Zeitraum sperrt, wer diese Firma verwaltet.";
        return Err(Refusal::field(Code::ScopeFehlt, LOCKS, message).into());
    }
    let is_trial = request.step().is_some();
    let body = json!({"bis": request.filled("bis"), "sperren": locks, "pruefen": is_trial});
    let write = request.draft(db, "/api/v1/datev/stapel", &body)?;
    let (here, page) = (request.of_firma("steuerberater"), request.page_of("steuerberater", ""));
    Ok(Box::new(move |tx| {
        let done = write(tx)?;
        if is_trial {
            return Ok(Done::of(Response::Tried(Ok(done.answer))));
        }
        let (to, note) = match (done.answer["nr"].as_i64(), done.answer["id"].as_str()) {
            (Some(nr), Some(id)) => (format!("{page}{id}"), format!("Stapel {nr} ist angelegt.")),
            _ => (here.clone(), "Nichts ist neu: Es ist kein Stapel angelegt.".to_owned()),
        };
        Ok(Done { response: Response::Redirect(to), notes: vec![note], ..done })
    }))
}
