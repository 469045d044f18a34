//! Logging in and out, setting a password with a link, and the person's own account.

use maud::html;
use rusqlite::Connection;

use super::passwords::check;
use super::people::{self, Person};
use super::zugaenge::companies;
use crate::leitstand::home::zustand::CANNOT_WRITE;
use crate::leitstand::kit::done::{Done, Hashed, InstallationChange, Response};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{facts, field, form, form_to, refusal};
use crate::leitstand::kit::{frame, resume};
use crate::leitstand::operations::zurueckgespielt::last_in_words;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::key::{has_hash, hash};
use crate::platform::http::reply::Reply;
use crate::rules::admin_event::AdminAction;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

pub const LOG_IN_PATH: &str = "/leitstand/anmelden";

pub fn show_log_in(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let inside = html! {
        (refusal(request, &["name", "passwort"]))
        (resume::hidden(request))
        (field(request, "name", "Name", "text", "", "username"))
        (field(request, "passwort", "Passwort", "password", "", "current-password"))
    };
    let cannot_write = request.app.gate.writer.watch.has_failed();
    let body = html! {
        (last_in_words(request))
        // Logging in writes a session, which fails, too.
        @if cannot_write {
            p.refused {
                (CANNOT_WRITE)
                " Anmelden geht erst, wenn wieder Platz ist: Dateien löschen oder die Platte vergrößern."
            }
        }
        (form_to(request, LOG_IN_PATH, inside, "Anmelden", false))
        @if !people::is_anybody(db.connection)? {
            p.empty {
                "Noch hat niemand einen Zugang. Der erste entsteht auf der Kommandozeile: partnerd user \
                 create NAME"
            }
        }
        h2 { "Passwort vergessen?" }
        p {
            "Wer alles verwaltet, macht einen Link für ein neues: im Leitstand unter Zugänge, auf der Seite \
             der Person, mit „Neuer Link“. "
            "Ist das niemand anderes, macht ihn am Server dieser Befehl: "
            code { "partnerd user link \"NAME\"" }
        }
    };
    Ok(frame::page(request, "Anmelden", body))
}

/// Logs in. An unknown name takes as long as a wrong password and gets the same answer.
pub fn log_in(request: &PageRequest, db: &Snapshot<'_>) -> Result<Hashed> {
    let (name, password) = (request.field("name").to_owned(), request.field_as_typed("passwort").to_owned());
    let known = people::hash_of(db.connection, &name)?;
    // After the last statement: an aborted read runs again, and the attempt must count once.
    let attempt = request.app.attempts.begin(&name, request.address, request.now)?;
    let (now, before) = (request.now, request.cookie.clone());
    let back = resume::back(request);
    Ok(Box::new(move || {
        let holds = has_hash(&password, known.as_ref().map(|(_, hash)| hash.as_str()))?;
        attempt.end(holds);
        let Some((id, hash)) = known.filter(|_| holds) else {
            let message = "Name oder Passwort stimmt nicht. Bitte noch einmal versuchen.";
            return Err(Refusal::field(Code::WertUngueltig, "passwort", message).into());
        };
        let cookie = people::secret()?;
        let change: InstallationChange = Box::new(move |connection| {
            // The person may have been deactivated meanwhile, or the password changed.
            if people::hash_of(connection, &name)? != Some((id, hash.clone())) {
                return Err(Failure::not_found("Dieser Zugang"));
            }
            people::end_session(connection, &before)?;
            people::begin_session(connection, id, &cookie, now)?;
            let cookie = Some(cookie.clone());
            let to = || Done::of(Response::Redirect("/leitstand".to_owned()));
            Ok(Done { cookie, person: Some(id), ..back.clone().map_or_else(to, resume::resumed) })
        });
        Ok(change)
    }))
}

pub fn show_log_out(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let what = html! { p { "Auf diesem Gerät abmelden?" } };
    frame::form_page(request, "Abmelden", &[], what, "Abmelden", false)
}

pub fn log_out(request: &PageRequest) -> Result<InstallationChange> {
    let cookie = request.cookie.clone();
    Ok(Box::new(move |connection| {
        people::end_session(connection, &cookie)?;
        let response = Response::Redirect(LOG_IN_PATH.to_owned());
        Ok(Done { cookie: Some(String::new()), ..Done::of(response) })
    }))
}

/// Returns the person of the link; refuses if it is no longer valid.
fn of_link(request: &PageRequest, connection: &Connection) -> Result<Person> {
    let secret = request.param("link");
    people::of_link(connection, secret, request.now)?.ok_or_else(|| {
        let message = "Dieser Link gilt nicht mehr: Er gilt eine Stunde lang und nur einmal. Einen neuen \
             gibt, wer die Zugänge verwaltet.";
        Refusal::new(Code::NichtGefunden, message).into()
    })
}

pub fn show_set_password(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let person = of_link(request, db.connection)?;
    let inside = html! {
        (refusal(request, &["passwort", "wiederholung"]))
        input type="hidden" name="name" value=(person.name) autocomplete="username";
        (field(request, "passwort", "Neues Passwort (mindestens 10 Zeichen)", "password", "", "new-password"))
        (field(request, "wiederholung", "Noch einmal", "password", "", "new-password"))
    };
    let body = html! {
        p { "Zugang von " strong { (person.name) } ". Am besten sind mehrere Wörter, die niemand errät." }
        (form(request, inside, "Passwort setzen", false))
    };
    Ok(frame::page(request, "Passwort setzen", body))
}

fn new_password(request: &PageRequest, name: &str) -> Result<String> {
    let password = request.field_as_typed("passwort").to_owned();
    check(&password, name)?;
    if password != request.field_as_typed("wiederholung") {
        let message = "Die beiden Eingaben sind verschieden. Bitte noch einmal tippen.";
        return Err(Refusal::field(Code::WertUngueltig, "wiederholung", message).into());
    }
    Ok(password)
}

pub fn set_password(request: &PageRequest, db: &Snapshot<'_>) -> Result<Hashed> {
    let person = of_link(request, db.connection)?;
    let password = new_password(request, &person.name)?;
    let (secret, now) = (request.param("link").to_owned(), request.now);
    // The second of two forms with the same link is refused.
    let whose = move |connection: &Connection| {
        people::of_link(connection, &secret, now)?.ok_or_else(|| Failure::not_found("Dieser Link"))
    };
    Ok(Box::new(move || with_password(whose, &password, now, "/leitstand", "Das Passwort ist gesetzt.")))
}

/// Hashes the password, then sets it for the person that `whose` returns and begins their only session.
fn with_password(
    whose: impl Fn(&Connection) -> Result<Person> + Send + 'static,
    password: &str,
    now: Instant,
    to: &'static str,
    note: &'static str,
) -> Result<InstallationChange> {
    let (hash, cookie) = (hash(password)?, people::secret()?);
    Ok(Box::new(move |connection| {
        let person = whose(connection)?;
        people::set_password(connection, person.id, &hash)?;
        people::begin_session(connection, person.id, &cookie, now)?;
        let event = Some(person.event(AdminAction::PasswortGesetzt));
        let cookie = Some(cookie.clone());
        Ok(Done { cookie, person: Some(person.id), event, ..Done::to(to.to_owned(), note) })
    }))
}

pub fn show_account(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let Some(person) = &request.person else { return Err(Failure::not_found("Dieser Zugang")) };
    let inside = html! {
        h2 { "Passwort ändern" }
        (refusal(request, &["bisher", "passwort", "wiederholung"]))
        (field(request, "bisher", "Bisheriges Passwort", "password", "", "current-password"))
        (field(request, "passwort", "Neues Passwort (mindestens 10 Zeichen)", "password", "", "new-password"))
        (field(request, "wiederholung", "Noch einmal", "password", "", "new-password"))
        p { "Danach gilt die Anmeldung nur noch auf diesem Gerät." }
    };
    let body = html! {
        (facts(&[
            ("Name", person.name.clone()),
            ("Rolle", person.rolle.as_str().to_owned()),
            ("Firmen", companies(request, person))
        ]))
        p.actions { a.button href="/leitstand/abmelden" { "Abmelden" } }
        (form(request, inside, "Passwort ändern", false))
    };
    Ok(frame::page(request, "Mein Zugang", body))
}

/// Returns a check that `field` contains the password of the logged-in person. The check hashes, so it runs on
/// the password thread. A wrong password counts like a failed log-in.
pub fn own_password(
    request: &PageRequest,
    db: &Snapshot<'_>,
    field: &'static str,
    wrong: &'static str,
) -> Result<impl FnOnce() -> Result<()> + Send + use<>> {
    let name = request.person.as_ref().map_or("", |person| person.name.as_str());
    let (typed, known) = (request.field_as_typed(field).to_owned(), people::hash_of(db.connection, name)?);
    // After the last statement, as in `log_in`.
    let attempt = request.app.attempts.begin(name, request.address, request.now)?;
    Ok(move || {
        let holds = has_hash(&typed, known.as_ref().map(|(_, hash)| hash.as_str()))?;
        attempt.end(holds);
        if holds { Ok(()) } else { Err(Refusal::field(Code::WertUngueltig, field, wrong).into()) }
    })
}

pub fn change_password(request: &PageRequest, db: &Snapshot<'_>) -> Result<Hashed> {
    let Some(person) = request.person.clone() else { return Err(Failure::not_found("Dieser Zugang")) };
    let password = new_password(request, &person.name)?;
    let (proved, now) =
        (own_password(request, db, "bisher", "Das bisherige Passwort stimmt nicht.")?, request.now);
    Ok(Box::new(move || {
        proved()?;
        let whose = move |_: &Connection| Ok(person.clone());
        with_password(whose, &password, now, "/leitstand/konto", "Das Passwort ist geändert.")
    }))
}
