//! A final document by e-mail: its form, sending it through the mail server, and what was sent.

use std::sync::Arc;

use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

use super::belege::art_of;
use super::versendet::{company, is_final};
use crate::leitstand::kit::done::{Done, FirmaChange, Outgoing, Response};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{field, form, lines, made_from, number, refusal, with_way_back};
use crate::leitstand::office::postausgang::{is_line, is_text, words};
use crate::master::kunden;
use crate::office::versand::{self, Anlage, Brief, Ergebnis, Worte};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::rules::error::{Code, Refusal, Refusals};
use crate::rules::plausible::is_email;
use crate::rules::verweis::parse_uuid;
use crate::trade::belege::{self, Beleg};

/// Most recipients of a mail.
const TO_MAX: usize = 5;

/// The field that identifies a form, so that sending it twice sends one mail.
const ONCE: &str = "einmal";

const FIELDS: [&str; 3] = ["an", "betreff", "text"];

/// Characters of an address that a link may contain as they are.
const ADDRESS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'@').remove(b'.').remove(b'-').remove(b'_').remove(b',');

fn words_of(request: &PageRequest, db: &Snapshot<'_>, beleg: &Beleg) -> Result<Worte> {
    Ok([
        art_of(beleg).to_owned(),
        beleg.beleg_nummer.clone(),
        beleg.datum().german(),
        format!("{} €", number(beleg.summe_brutto)),
        company(request, db)?,
    ])
}

/// Returns the document; refuses one that may not be sent.
fn outgoing(request: &PageRequest, db: &Snapshot<'_>) -> Result<Beleg> {
    let beleg = belege::found(&db.tx, request.uuid(0)?)?;
    match is_final(&beleg) {
        true => Ok(beleg),
        false => {
            let message =
                "Nur ein abgeschlossener Beleg geht per E-Mail hinaus, und keiner, der storniert ist.";
            Err(Refusal::new(Code::BelegNichtAbgeschlossen, message).into())
        }
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = outgoing(request, db)?;
    let postausgang = versand::load(&db.tx)?;
    let (to, worte) = (recipient(db, &beleg)?, words_of(request, db, &beleg)?);
    let (subject, text) = words(postausgang.as_ref());
    let said = |text: &str| versand::filled(text, &worte).unwrap_or_else(|_| text.to_owned());
    let (subject, text) = (said(subject), said(text));
    let (title, back) = (format!("{} per E-Mail", beleg.beleg_nummer), request.page_of("belege", beleg.id));
    if postausgang.is_none() {
        return Ok(frame::page(request, &title, by_hand(request, &beleg, (&to, &subject, &text), &back)));
    }
    let xml = belege::outgoing_xml(&db.tx, &beleg)?;
    let inside = html! {
        (refusal(request, &FIELDS))
        (made_from(request, ONCE, Uuid::now_v7()))
        (field(request, "an", "An (mehrere mit Komma)", "text", &to, "off"))
        (field(request, "betreff", "Betreff", "text", &subject, "off"))
        (lines(request, "text", "Text", &text))
        p { "Im Anhang: das PDF" @if let Some(xml) = &xml { " und " (xml.dateiname) } }
    };
    Ok(frame::page(request, &title, with_way_back(form(request, inside, "Senden", false), back)))
}

fn recipient(db: &Snapshot<'_>, beleg: &Beleg) -> Result<String> {
    Ok(kunden::find(&db.tx, beleg.kunde_id)?.and_then(|kunde| kunde.email).unwrap_or_default())
}

/// Without a mail server, the mail program of the person's machine writes the mail, and the person attaches
/// the file.
fn by_hand(
    request: &PageRequest,
    beleg: &Beleg,
    (to, subject, text): (&str, &str, &str),
    back: &str,
) -> Markup {
    let part = |text: &str| utf8_percent_encode(&text.replace('\n', "\r\n"), NON_ALPHANUMERIC).to_string();
    let to = utf8_percent_encode(to, ADDRESS);
    let mailto = format!("mailto:{to}?subject={}&body={}", part(subject), part(text));
    html! {
        p {
            "Für diese Firma ist kein Mailserver eingetragen. Das E-Mail-Programm dieses Rechners kann die \
             Nachricht schreiben; die Datei hängt man selbst an."
        }
        div.actions {
            a.button href=(mailto) { "E-Mail schreiben" }
            a.button href=(format!("{back}/pdf")) download=(format!("{}.pdf", beleg.beleg_nummer)) { "Datei (PDF)" }
            @if request.may_manage() { a.button href=(request.of_firma("postausgang")) { "Mailserver eintragen" } }
        }
        p { a href=(back) { "Zum Beleg" } }
    }
}

/// Parses addresses, subject and text; refuses with all mistakes at once.
fn typed(request: &PageRequest) -> Result<(Vec<String>, String, String)> {
    let mut mistakes = Refusals::default();
    let wrong = |field: &str, message: &str| Refusal::field(Code::WertUngueltig, field, message);
    let to: Vec<String> = request
        .field("an")
        .split([',', ';', ' ', '\n'])
        .filter(|to| !to.is_empty())
        .map(str::to_owned)
        .collect();
    mistakes.keep(match to.iter().find(|to| !is_email(to)) {
        _ if to.is_empty() => Err(wrong("an", "Bitte eintragen, an wen die E-Mail geht.")),
        _ if to.len() > TO_MAX => Err(wrong("an", "Mehr als fünf Empfänger gehen nicht.")),
        Some(to) => Err(wrong("an", &format!("„{to}“ ist keine E-Mail-Adresse."))),
        None => Ok(()),
    });
    let (subject, text) = (request.field("betreff").to_owned(), request.field("text").to_owned());
    let is_subject = !subject.is_empty() && is_line(&subject);
    mistakes.keep(if is_subject {
        Ok(())
    } else {
        Err(wrong("betreff", "Der Betreff hat 1 bis 200 Zeichen in einer Zeile."))
    });
    mistakes.keep(if is_text(&text) { Ok(()) } else { Err(wrong("text", "Höchstens 4.000 Zeichen.")) });
    mistakes.into_result()?;
    Ok((to, subject, text))
}

pub fn send(request: &PageRequest, db: &Snapshot<'_>) -> Result<Outgoing> {
    let (an, betreff, text) = typed(request)?;
    let beleg = outgoing(request, db)?;
    let without = || {
        Refusal::new(Code::ZwischenzeitlichGeaendert, "Für diese Firma ist kein Mailserver mehr eingetragen.")
    };
    let postausgang = versand::load(&db.tx)?.ok_or_else(without)?;
    let (pdf, xml) = (belege::outgoing(&db.tx, &beleg)?, belege::outgoing_xml(&db.tx, &beleg)?);
    let pdf = Anlage { name: pdf.dateiname, typ: "application/pdf", inhalt: pdf.inhalt };
    let xml = xml.map(|xml| Anlage { name: xml.dateiname, typ: "application/xml", inhalt: xml.inhalt });
    let brief = Brief {
        id: request.filled(ONCE).and_then(parse_uuid).unwrap_or_else(Uuid::now_v7),
        am: request.now,
        firma: company(request, db)?,
        an,
        betreff,
        text,
        anlagen: [pdf].into_iter().chain(xml).collect(),
    };
    let brief = Arc::new(brief);
    let noted = Arc::clone(&brief);
    let (id, kunde) = (beleg.id, beleg.kunde_id);
    let begun = move |tx: &WriteTx<'_>| versand::begin(tx, &noted, id, kunde);
    let (page, form) = (request.page_of("belege", beleg.id), request.form.fields.clone());
    let send = move || {
        let ergebnis = versand::send(&postausgang, &brief);
        let change = move |tx: &WriteTx<'_>| {
            versand::end(tx, brief.id, &ergebnis)?;
            Ok(Done { subject: Some(id), ..shown(&ergebnis, &page, &form) })
        };
        Box::new(change) as FirmaChange
    };
    Ok(Outgoing { begun: Some(Box::new(begun)), send: Box::new(send) })
}

/// Redirects to the document, or back to the form as it was typed.
fn shown(ergebnis: &Ergebnis, page: &str, form: &[(String, String)]) -> Done {
    match ergebnis {
        Ergebnis::Gesendet => Done::to(page.to_owned(), "Die E-Mail ist beim Mailserver."),
        Ergebnis::Ungewiss(why) => Done::to(page.to_owned(), why),
        Ergebnis::NichtGesendet(why) => {
            let typed = form.iter().filter(|(name, _)| FIELDS.contains(&name.as_str())).cloned().collect();
            let response = Response::Refill(format!("{page}/email"), typed);
            Done { notes: vec![format!("Nicht gesendet: {why}")], ..Done::of(response) }
        }
    }
}
