//! The people who may log in: the list, adding one, a new link, deactivation. Only for people who manage
//! everything.

use maud::html;
use rusqlite::Connection;

use super::people::{self, Person, Rolle};
use crate::leitstand::kit::done::{Done, InstallationChange, Response};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{choice, facts, field, linked, made_from, moment, tick};
use crate::master::tenants::Tenant;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::audit::{Filter, Who, log_page};
use crate::platform::http::reply::Reply;
use crate::rules::admin_event::AdminAction;
use crate::rules::choice::Choice;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

const PEOPLE_PATH: &str = "/leitstand/zugaenge";

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let to = |person: &Person| format!("{PEOPLE_PATH}/{}", person.id);
    let firmen =
        |person: &Person| person.firmen.as_ref().map_or("alle".to_owned(), |firmen| firmen.len().to_string());
    let body = html! {
        p.actions { a.button href="/leitstand/zugaenge/neu" { "Neue Person" } }
        (linked("Personen", "Noch niemand.", &people::list(db.connection)?, to)
            .text("Name", |person| person.name.clone())
            .text("Rolle", |person| person.rolle.as_str().to_owned())
            .text("Firmen", firmen)
            .text("Stand", |person| person.state().in_words().to_owned()))
    };
    Ok(frame::page(request, "Zugänge", body))
}

/// The companies that a person sees, by name, or `alle`. `request.firmen` has all of them: the reader manages
/// everything, or is that person.
pub fn companies(request: &PageRequest, person: &Person) -> String {
    let names = request.firmen.iter().filter(|firma| person.sees(firma.id)).map(|firma| firma.name.as_str());
    match person.firmen {
        None => "alle".to_owned(),
        Some(_) => names.collect::<Vec<_>>().join(", "),
    }
}

/// Rows of the audit log searched for a log-in.
const LOG_ROWS_LOOKED_AT: i64 = 10_000;

/// When a person last logged in, according to their sessions and the newest rows of the audit log.
fn last_log_in(db: &Snapshot<'_>, person: &Person) -> Result<Option<Instant>> {
    let mut last = people::newest_session(db.connection, person.id)?;
    for path in ["POST /leitstand/anmelden", "POST /leitstand/passwort"] {
        let filter = Filter {
            who: Some(Who::Person(person.id)),
            path: Some(path.to_owned()),
            status_to: Some(399),
            looked_at: Some(LOG_ROWS_LOOKED_AT),
            ..Filter::default()
        };
        let found = log_page(db.connection, &filter, None, 1)?;
        last = last.max(found.rows.first().map(|entry| entry.at));
    }
    Ok(last)
}

pub fn show_new(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let roles =
        Rolle::ALL.iter().map(|rolle| (rolle.as_str(), format!("{}: {}", rolle.as_str(), rolle.meaning())));
    let inside = html! {
        (field(request, "name", "Name", "text", "", "off"))
        (choice(request, "rolle", "Rolle", roles, Rolle::Ansehen.as_str()))
        fieldset { legend { "Firmen (keine angekreuzt: alle)" }
            @for firma in &request.firmen { @let name = format!("firma-{}", firma.id);
                (tick(&name, request.field(&name) == "ja", &firma.name))
            }
        }
    };
    frame::form_page(request, "Neue Person", &["name", "rolle"], inside, "Anlegen", false)
}

pub fn create(request: &PageRequest) -> Result<InstallationChange> {
    let name = request.field("name").to_owned();
    let rolle = Rolle::parse(request.field("rolle")).ok_or_else(|| {
        let known = Rolle::TEXTS.join(", ");
        Refusal::field(Code::WertUngueltig, "rolle", format!("Die Rolle ist eine von: {known}."))
    })?;
    let is_chosen = |firma: &&Tenant| request.field(&format!("firma-{}", firma.id)) == "ja";
    let firmen: Vec<Tenant> = request.firmen.iter().filter(is_chosen).cloned().collect();
    let (secret, now, request) = (people::secret()?, request.now, request.clone());
    Ok(Box::new(move |connection| {
        if people::find(connection, &name)?.is_some() {
            let message = format!(
                "„{name}“ gibt es schon. Wurde dieses Formular zweimal gesendet, ist die Person trotzdem nur \
                 einmal angelegt; einen neuen Link gibt es auf ihrer Seite."
            );
            return Err(Refusal::field(Code::WertUngueltig, "name", message).into());
        }
        let ids: Vec<_> = firmen.iter().map(|firma| firma.id).collect();
        let names: Vec<_> = firmen.iter().map(|firma| firma.name.as_str()).collect();
        let only = (!ids.is_empty()).then_some(ids.as_slice());
        let id = people::create(connection, &name, rolle, only, now)?;
        people::store_link(connection, id, &secret, now)?;
        let event = Some(people::created(id, &name, rolle, &names));
        Ok(Done { event, ..link_of(&request, &name, &secret) })
    }))
}

/// The page with a link, which is shown only this once.
fn link_of(request: &PageRequest, name: &str, secret: &str) -> Done {
    let until = moment(Instant::from_millis(request.now.millis() + people::LINK_MILLIS));
    let body = html! {
        p {
            "Diesen Link an " strong { (name) } " geben, auf einem Weg, den niemand sonst liest. Er gilt bis "
            (until) ", eine Stunde lang, und nur einmal. Gezeigt wird er nur jetzt."
        }
        (frame::to_copy(&format!("{}/leitstand/passwort?link={secret}", request.base)))
        (facts(&[("Name zum Anmelden", name.to_owned())]))
        p { "Geöffnet wird er an einem Rechner, an dem der Leitstand zu sehen ist." }
        p { a href=(PEOPLE_PATH) { "Zurück zu den Zugängen" } }
    };
    Done::of(Response::Once("Link für das Passwort", body))
}

fn number(request: &PageRequest) -> Result<i64> {
    request.id(0)?.parse().map_err(|_| Failure::not_found("Dieser Zugang"))
}

fn by_id(connection: &Connection, id: i64) -> Result<Person> {
    people::by_id(connection, id)?.ok_or_else(|| Failure::not_found("Dieser Zugang"))
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let person = by_id(db.connection, number(request)?)?;
    let last = last_log_in(db, &person)?;
    let last = last.map_or_else(|| "vor so langer Zeit, dass es nicht bekannt ist".to_owned(), moment);
    let last = if person.has_password { last } else { "noch nie".to_owned() };
    let body = html! {
        (facts(&[
            ("Name", person.name.clone()),
            ("Rolle", person.rolle.as_str().to_owned()),
            ("Firmen", companies(request, &person)),
            ("Stand", person.state().in_words().to_owned()),
            ("Zuletzt angemeldet", last),
        ]))
        p.actions {
            a.button href=(format!("{PEOPLE_PATH}/{}/link", person.id)) { "Neuer Link" }
            @if person.aktiv { a.button.danger href=(format!("{PEOPLE_PATH}/{}/sperren", person.id)) { "Sperren" } }
            @else { a.button href=(format!("{PEOPLE_PATH}/{}/freigeben", person.id)) { "Wieder freigeben" } }
        }
    };
    Ok(frame::page(request, &person.name, body))
}

pub fn show_link(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let person = by_id(db.connection, number(request)?)?;
    let link = people::link_of(db.connection, person.id)?;
    let until = link.as_ref().map(|(until, _)| *until);
    let what = html! {
        (made_from(request, "stand", stand(link)))
        p { "Mit dem Link setzt " (person.name) " ein neues Passwort. Das bisherige gilt, bis das geschehen ist." }
        @if let Some(until) = until.filter(|until| *until > request.now) {
            p { "Ein Link gilt noch bis " (moment(until)) "; der neue ersetzt ihn." }
        }
    };
    frame::form_page(request, "Neuer Link", &[], what, "Link machen", false)
}

fn stand(link: Option<(Instant, String)>) -> String {
    link.map_or("keiner".to_owned(), |(_, stand)| stand)
}

pub fn make_link(request: &PageRequest) -> Result<InstallationChange> {
    let (id, secret, now, request) = (number(request)?, people::secret()?, request.now, request.clone());
    Ok(Box::new(move |connection| {
        let person = people::by_id(connection, id)?.filter(|person| person.aktiv);
        let person = person.ok_or_else(|| Failure::not_found("Dieser Zugang"))?;
        if stand(people::link_of(connection, id)?) != request.field("stand") {
            let message = "Der Link ist schon gemacht: Dieses Formular wurde zweimal gesendet, oder jemand \
                 anderes war schneller. Ein zweiter entstand nicht.";
            return Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message).into());
        }
        people::store_link(connection, id, &secret, now)?;
        let event = Some(person.event(AdminAction::LinkErzeugt));
        Ok(Done { event, ..link_of(&request, &person.name, &secret) })
    }))
}

pub fn show_lock(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let person = by_id(db.connection, number(request)?)?;
    let what = html! {
        p {
            (person.name)
            " ist dann sofort überall abgemeldet und kommt nicht mehr herein. Das lässt sich rückgängig \
             machen."
        }
    };
    frame::form_page(request, "Zugang sperren", &[], what, "Sperren", true)
}

pub fn show_unlock(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let person = by_id(db.connection, number(request)?)?;
    let what = html! { p { (person.name) " kann sich dann wieder anmelden." } };
    frame::form_page(request, "Zugang freigeben", &[], what, "Freigeben", false)
}

/// Activates or deactivates the person in the path. Nobody deactivates themselves, so somebody always
/// remains.
pub fn set_active(request: &PageRequest, active: bool) -> Result<InstallationChange> {
    let id = number(request)?;
    if !active && request.person_id() == id {
        let message = "Den eigenen Zugang kann man nicht sperren. Bitte jemand anderen darum bitten.";
        return Err(Refusal::new(Code::WertUngueltig, message).into());
    }
    let (tat, note) = match active {
        true => (AdminAction::Freigegeben, "Der Zugang ist frei."),
        false => (AdminAction::Gesperrt, "Der Zugang ist gesperrt."),
    };
    Ok(Box::new(move |connection| {
        let person = by_id(connection, id)?;
        let event = (person.aktiv != active).then(|| person.event(tat));
        people::set_active(connection, id, active)?;
        Ok(Done { event, ..Done::to(format!("{PEOPLE_PATH}/{id}"), note) })
    }))
}
