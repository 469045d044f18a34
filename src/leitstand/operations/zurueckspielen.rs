//! Restoring a backup from the page: it first says what would be lost, and asks for the password again. Then
//! the service stops, its process restores as the command does, and serves again.

use std::path::Path;

use maud::html;
use rusqlite::Connection;

use super::restoring::Order;
use super::sicherung::{BACKUPS_PATH, found, whole};
use crate::leitstand::access::anmelden::own_password;
use crate::leitstand::kit::done::{Done, Hashed, InstallationChange, Response};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{field, form, made_from, moment, number, optional, refusal, table};
use crate::master::tenants;
use crate::operations::backup;
use crate::platform::db::file::connection::open_to_look;
use crate::platform::db::file::copy::is_any_in_work;
use crate::platform::db::tx::Tx;
use crate::platform::db::{TenantId, feed};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// Shows the form that the page of a backup links to; if the process cannot restore, it shows the command
/// instead.
pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let (kept, file) = found(request)?;
    let lost = lost(db, &file, request.now)?;
    let database = &request.app.database;
    let inside = html! {
        (refusal(request, &["passwort"]))
        (made_from(request, "stand", feed::epoch(&db.tx)?))
        (field(request, "passwort", "Das eigene Passwort", "password", "", "current-password"))
    };
    let body = html! {
        p {
            "An die Stelle der Datenbank kommt die Sicherung vom " (optional(kept.made, moment))
            ". Was seitdem geschrieben wurde, fehlt danach:"
        }
        (table("Was fehlen wird", "Es gibt keine Firma.", &lost)
            .text("Firma", |lost| lost.firma.clone())
            .numbers("Belege", |lost| number(lost.fewer(0)))
            .numbers("Wiegungen", |lost| number(lost.fewer(1)))
            .numbers("Partner", |lost| number(lost.fewer(2)))
            .text("Zuletzt geändert", |lost| optional(lost.now.1, moment))
            .text("In der Sicherung zuletzt", |lost| optional(lost.then.1, moment)))
        ul {
            li { "Auch Änderungen an Einstellungen, Schlüsseln und Zugängen seit damals sind weg: Was \
                 gesperrt wurde, ist wieder frei, und es gelten die Passwörter von damals." }
            li { "Die Datenbank von jetzt bleibt daneben liegen und lässt sich ebenso zurückholen." }
            li {
                "Programme und Leute warten so lange; die Seite kommt von selbst wieder. Bei einer großen \
                 Datenbank dauert das einige Minuten."
            }
        }
        @if request.app.restoring.is_possible() { (form(request, inside, "Zurückspielen", true)) }
        @else {
            p { "Hier geht es nur mit Befehlen. Den Dienst anhalten, dies eingeben, den Dienst wieder starten:" }
            p.once { "partnerd --db " (whole(database)) " restore " (whole(&file)) }
        }
        p { a href=(format!("{BACKUPS_PATH}/{}", kept.id)) { "Zurück, ohne etwas zu tun" } }
    };
    Ok(frame::page(request, &format!("Sicherung {} zurückspielen", kept.id), body))
}

pub fn order(request: &PageRequest, db: &Snapshot<'_>) -> Result<Hashed> {
    let (kept, file) = found(request)?;
    let refused = |message| Err(Refusal::new(Code::WertUngueltig, message).into());
    if !request.app.restoring.is_possible() || !kept.is_proved {
        return refused("Das geht hier nicht.");
    }
    if feed::epoch(&db.tx)?.to_string() != request.field("stand") {
        let message = "Seit diese Seite geöffnet wurde, ist schon eine Sicherung zurückgespielt worden. Noch \
             einmal geschieht es nicht.";
        return Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message).into());
    }
    request.app.jobs.check_room(None)?;
    if is_any_in_work() {
        return refused("Gerade entsteht eine Sicherung. Bitte warten, bis sie fertig ist.");
    }
    let Some(person) = &request.person else { return Err(Failure::not_found("Dieser Zugang")) };
    let order = Order { backup: file, id: kept.id, person: person.name.clone() };
    let proved = own_password(request, db, "passwort", "Das Passwort stimmt nicht.")?;
    Ok(Box::new(move || {
        proved()?;
        let change: InstallationChange = Box::new(move |_| Ok(Done::of(Response::Restore(order.clone()))));
        Ok(change)
    }))
}

/// The answer to the order: it reloads, and then waits until the service is back.
pub fn begun(request: &PageRequest) -> Reply {
    let body = html! {
        p role="status" {
            "Der Dienst hält an, spielt die Sicherung zurück, prüft sie und kommt wieder. Diese Seite lädt \
             von selbst neu und wartet, bis es so weit ist."
        }
        p { a href=(BACKUPS_PATH) { "Jetzt nachsehen" } }
    };
    let page = frame::page(request, "Die Sicherung wird zurückgespielt", body);
    page.with("refresh", format!("3; url={BACKUPS_PATH}"))
}

/// The number of a company's records by kind, and when it last changed.
type Holdings = ([i64; 3], Option<Instant>);

struct Lost {
    firma: String,
    now: Holdings,
    then: Holdings,
}

impl Lost {
    fn fewer(&self, at: usize) -> i64 {
        (self.now.0[at] - self.then.0[at]).max(0)
    }
}

fn lost(db: &Snapshot<'_>, backup: &Path, now: Instant) -> Result<Vec<Lost>> {
    let old = open_to_look(backup)?;
    let lost = |firma: tenants::Tenant| {
        let (now, then) = (holdings(db.connection, firma.id, now)?, holdings(&old, firma.id, now)?);
        Ok(Lost { firma: firma.name, now, then })
    };
    tenants::list(db.connection)?.into_iter().map(lost).collect()
}

fn holdings(connection: &Connection, firma: TenantId, now: Instant) -> Result<Holdings> {
    let newest = feed::ends(&Tx::new(connection, firma, now))?.map(|[_, (_, last)]| last);
    Ok((backup::holdings(connection, firma)?, newest))
}
