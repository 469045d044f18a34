//! Backups: the list, making one at once, downloading and verifying one, and verifying the database itself.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use maud::{Markup, html};
use uuid::Uuid;

use super::zurueckgespielt::last_in_words;
use crate::leitstand::kit::done::{Done, InstallationChange, Response, start_job};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::jobs::{Job, NewJob, Outcome};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    facts, form, form_to, linked, moment, number, optional, or_blank, refusal, table, tenths,
};
use crate::operations::backup::{COPYING, Content};
use crate::operations::backups::{self, StoredBackup};
use crate::operations::check::{CheckLine, steps};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::day::Day;
use crate::rules::error::{Code, Refusal};

pub const BACKUPS_PATH: &str = "/leitstand/sicherung";

/// Most backups made by hand; beyond it one must be deleted first.
const BACKUPS_BY_HAND_MAX: usize = 20;

fn places(request: &PageRequest) -> (&Path, &Path) {
    let database = &request.app.database;
    (database, backups::folder(database, request.app.gate.policy.nightly.as_ref()))
}

fn megabytes(bytes: u64) -> String {
    tenths(bytes.div_ceil(100_000))
}

fn kind(kept: &StoredBackup) -> &'static str {
    match (kept.is_proved, kept.is_by_hand) {
        (false, _) => "fehlerhaft: darin ist etwas beschädigt",
        (true, true) => "von Hand",
        (true, false) => "jede Nacht",
    }
}

pub fn list(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let (database, folder) = places(request);
    let found = backups::list_backups(database, folder);
    request.app.lookout.wake();
    let free = fs4::available_space(crate::platform::db::file::files::folder_of(database)).ok();
    let to = |kept: &StoredBackup| format!("{BACKUPS_PATH}/{}", kept.id);
    let none = "Noch keine Sicherung. „Jetzt sichern“ macht die erste.";
    let body = html! {
        (last_in_words(request))
        (refusal(request, &[]))
        (nightly(request, found.as_deref().unwrap_or_default()))
        (form(request, html! {}, "Jetzt sichern", false))
        @match &found {
            Ok(found) => (linked("Sicherungen", none, found, to)
                .text("Sicherung", |kept| kept.id.clone())
                .text("Fertig", |kept| optional(kept.made, moment))
                .text("Art", |kept| kind(kept).to_owned())
                .numbers("Größe (MB)", |kept| megabytes(kept.bytes))),
            Err(failure) => p.refused role="alert" { "Der Ordner ist nicht zu lesen: " (failure.in_german()) }
        }
        h2 { "Die Datenbank" }
        (facts(&[("Datei", whole(database)), ("Frei auf dieser Platte", free.map(gigabytes).unwrap_or_default())]))
        (form_to(
            request,
            &format!("{BACKUPS_PATH}/pruefen"),
            html! { p { "Geprüft wird an einer Kopie auf derselben Platte, die danach gelöscht wird." } },
            "Datenbank prüfen",
            false
        ))
        h2 { "Zurückspielen" }
        p { "Oben die Sicherung öffnen, dann „Zurückspielen“: Die Seite sagt zuerst, was danach fehlt." }
        p {
            "Ist der Leitstand nicht mehr zu sehen, geht es auf dem Server. Den Dienst anhalten, dies \
             eingeben, den Dienst wieder starten:"
        }
        p.once { "partnerd --db " (whole(database)) " restore SICHERUNG.db" }
    };
    Ok(frame::page(request, "Sicherung", body))
}

/// The absolute path: the reader does not know where the server was started.
pub fn whole(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// The settings for nightly backups, as an example.
const NIGHTLY_SETTINGS: &str =
    "backup_folder = \"/mnt/sicherung/partnerd\"\nbackup_time = \"02:30\"\nbackup_keep = 14";

/// Nightly backups: the folder, the last one and the next; or how to set them up.
fn nightly(request: &PageRequest, kept: &[StoredBackup]) -> Markup {
    let folder = whole(places(request).1);
    let Some(nightly) = &request.app.gate.policy.nightly else {
        return html! {
            p {
                "Von selbst wird noch nicht gesichert. Damit es jede Nacht geschieht, gehören diese Zeilen \
                 in die Einstellungen des Servers (bei Debian "
                code { "/etc/partnerd/partnerd.toml" } ", unter Windows "
                code { "C:\\ProgramData\\partnerd\\partnerd.toml" } ", sonst die Datei hinter "
                code { "--config" } "):"
            }
            pre tabindex="0" { (NIGHTLY_SETTINGS) }
            p { "Der Ordner muss da sein, am besten auf einer anderen Platte, und dem Benutzer des Dienstes \
                 gehören. Danach den Dienst neu starten (bei Debian "
                code { "systemctl restart partnerd" } "). Bis dahin gehen Sicherungen von Hand nach " (folder)
                ", auf dieselbe Platte wie die Datenbank." }
        };
    };
    let (today, minute) = (Day::in_berlin(request.now), request.now.minute_in_berlin());
    let last = kept.iter().find(|kept| !kept.is_by_hand && kept.is_proved);
    let is_made = kept.iter().any(|kept| !kept.is_by_hand && kept.id == today.to_string());
    let at = format!("{:02}:{:02} Uhr", nightly.minute / 60, nightly.minute % 60);
    let next = match (is_made, minute < nightly.minute) {
        (false, true) => format!("heute ab {at}"),
        (false, false) => {
            "gleich; die von heute fehlt noch. Gelingt sie nicht, sagt das Protokoll des Dienstes, warum"
                .to_owned()
        }
        (true, _) => format!("morgen ab {at}"),
    };
    html! {
        p { "Jede Nacht entsteht von selbst eine geprüfte Sicherung in " (folder) "; die neuesten "
            (nightly.keep) " bleiben." }
        (facts(&[
            ("Zuletzt", last.and_then(|kept| kept.made).map_or("noch keine".to_owned(), moment)),
            ("Die nächste", next),
        ]))
    }
}

pub fn gigabytes(bytes: u64) -> String {
    format!("{} GB", tenths(bytes / 100_000_000))
}

pub fn make(request: &PageRequest) -> Result<InstallationChange> {
    let (database, folder) = places(request);
    let by_hand = backups::list_backups(database, folder)?.iter().filter(|kept| kept.is_by_hand).count();
    if by_hand >= BACKUPS_BY_HAND_MAX {
        let message =
            format!("Es gibt schon {BACKUPS_BY_HAND_MAX} Sicherungen von Hand. Bitte erst eine löschen.");
        return Err(Refusal::new(Code::WertUngueltig, message).into());
    }
    let (database, folder) = (database.to_owned(), folder.to_owned());
    let app = Arc::clone(&request.app);
    Ok(start_job("Sicherung".to_owned(), move |job| {
        let began = told(job, steps() + 1);
        let given_up = "Die Sicherung wurde abgebrochen; sie ist nicht entstanden.";
        let failed = "Die Sicherung ist nicht gelungen. Was das Programm dazu sagt:";
        let made = backups::make(&app.gate.writer, &database, &folder, &app.gate.clock, began);
        app.lookout.wake();
        made.map(|content| Outcome { shown: made_of(&content), next: None })
            .map_err(|failure| not_done(job, &failure, given_up, failed))
    }))
}

/// Returns a callback that reports each of `of` steps to a job, and fails once the job is cancelled.
fn told(job: &Job, of: usize) -> impl Fn(&str) -> Result<()> {
    let number = Cell::new(0);
    move |step| {
        if job.is_given_up() {
            return Err(Failure::Broken("es wurde abgebrochen".to_owned()));
        }
        number.set(number.get() + 1);
        let words = match step {
            COPYING => "Die Datenbank wird kopiert.".to_owned(),
            rule => format!("Geprüft wird: {rule}"),
        };
        job.set_numbered_step(&words, number.get(), of);
        Ok(())
    }
}

fn not_done(job: &Job, failure: &Failure, given_up: &str, failed: &str) -> String {
    if job.is_given_up() { given_up.to_owned() } else { format!("{failed}\n{}", failure.in_german()) }
}

fn made_of(content: &Content) -> Markup {
    html! {
        p { "Die Sicherung ist fertig und geprüft. " a href=(BACKUPS_PATH) { "Zu den Sicherungen" } }
        (facts(&[
            ("Datei", whole(Path::new(&content.file))),
            ("Größe (MB)", megabytes(content.bytes)),
            ("Firmen", number(content.companies)),
            ("Partner", number(content.customers)),
            ("Belege", number(content.documents)),
            ("Wiegungen", number(content.weighings)),
            ("Bons", number(content.receipts)),
        ]))
    }
}

pub fn found(request: &PageRequest) -> Result<(StoredBackup, PathBuf)> {
    let (database, folder) = places(request);
    backups::find(database, folder, request.id(0)?)?.ok_or_else(|| Failure::not_found("Diese Sicherung"))
}

pub fn show(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let (kept, file) = found(request)?;
    let here = format!("{BACKUPS_PATH}/{}", kept.id);
    let made = kept.made.map(moment).unwrap_or_default();
    let body = html! {
        (facts(&[
            ("Datei", whole(&file)),
            ("Fertig", made),
            ("Art", kind(&kept).to_owned()),
            ("Größe (MB)", megabytes(kept.bytes))
        ]))
        p.actions {
            a.button href=(format!("{here}/datei")) { "Herunterladen" }
            @if kept.is_proved { a.button.danger href=(format!("{here}/zurueckspielen")) { "Zurückspielen" } }
            @if kept.is_by_hand { a.button.danger href=(format!("{here}/loeschen")) { "Löschen" } }
        }
        (form_to(request, &format!("{here}/pruefen"), html! {}, "Noch einmal prüfen", false))
        p { "Wer diese Datei hat, kann alles lesen, was in der Datenbank steht. Bitte sicher aufbewahren." }
    };
    Ok(frame::page(request, &format!("Sicherung {}", kept.id), body))
}

pub fn download(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let (_, file) = found(request)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let reply = Reply::download("application/vnd.sqlite3", &name, backups::open(&file)?);
    Ok(frame::guarded(reply.map_err(|error| Failure::Broken(format!("{}: {error}", file.display())))?))
}

pub fn show_delete(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let (kept, file) = found(request)?;
    let what = html! { p { (whole(&file)) " wird gelöscht. Das lässt sich nicht rückgängig machen." } };
    frame::form_page(request, &format!("Sicherung {} löschen", kept.id), &[], what, "Löschen", true)
}

pub fn delete(request: &PageRequest) -> Result<InstallationChange> {
    let (kept, file) = found(request)?;
    if !kept.is_by_hand {
        let message = "Sicherungen jeder Nacht gehen von selbst, wenn neuere da sind.";
        return Err(Refusal::new(Code::WertUngueltig, message).into());
    }
    let (app, id) = (Arc::clone(&request.app), Uuid::now_v7());
    Ok(Box::new(move |_| {
        app.jobs.check_room(None)?;
        let event =
            Some(AdminEvent::new(AdminAction::Geloescht, Art::Sicherung).name(file.display().to_string()));
        let title = format!("Sicherung {} löschen", kept.id);
        let (app, kept, file) = (Arc::clone(&app), kept.clone(), file.clone());
        // Deleted only after the audit row is written; and on the job's thread, so that a hanging disk does
        // not block the writer.
        let doing = move |job: &Job| {
            job.set_numbered_step("Die Datei wird gelöscht.", 1, 1);
            backups::delete(&kept, &file)
                .map_err(|failure| format!("Die Sicherung ist nicht gelöscht:\n{}", failure.in_german()))?;
            app.lookout.wake();
            let shown = html! {
                p.note { "Die Sicherung ist gelöscht. " a href=(BACKUPS_PATH) { "Zu den Sicherungen" } }
            };
            Ok(Outcome { shown, next: None })
        };
        Ok(Done { event, ..Done::of(Response::Job(NewJob { id, title, doing: Arc::new(doing) })) })
    }))
}

pub fn prove(request: &PageRequest) -> Result<InstallationChange> {
    let (kept, file) = found(request)?;
    let (gate, database, named) = (Arc::clone(&request.app.gate), places(request).0.to_owned(), file.clone());
    let prove = move |job: &Job| backups::prove(&file, &database, &gate.clock, told(job, steps()));
    Ok(proof(named, format!("Prüfung der Sicherung {}", kept.id), prove))
}

pub fn prove_database(request: &PageRequest) -> Result<InstallationChange> {
    let (gate, database) = (Arc::clone(&request.app.gate), places(request).0.to_owned());
    let named = database.clone();
    let prove =
        move |job: &Job| backups::prove_running(&gate.writer, &database, &gate.clock, told(job, steps() + 1));
    Ok(proof(named, "Prüfung der Datenbank".to_owned(), prove))
}

fn proof(
    named: PathBuf,
    title: String,
    prove: impl Fn(&Job) -> Result<Vec<CheckLine>> + Send + Sync + 'static,
) -> InstallationChange {
    start_job(title, move |job| {
        let (given_up, failed) = ("Die Prüfung wurde abgebrochen.", "Die Prüfung ging nicht zu Ende:");
        let lines = prove(job).map_err(|failure| not_done(job, &failure, given_up, failed))?;
        Ok(Outcome { shown: proved(&named, &lines), next: None })
    })
}

fn proved(file: &Path, lines: &[CheckLine]) -> Markup {
    let broken: i64 = lines.iter().map(|line| line.violations).sum();
    html! {
        @if broken == 0 { p.note { (file.display()) " ist in Ordnung: Alle " (lines.len()) " Regeln gelten." } }
        @else {
            p.refused {
                (file.display())
                " ist beschädigt. Bitte diese Datei so aufheben, wie sie ist, und die letzte gute Sicherung \
                 zurückspielen."
            }
        }
        (table("Regeln", "", lines)
            .text("Regel", |line| line.rule.clone())
            .numbers("Verstöße", |line| number(line.violations))
            .text("Befund", |line| or_blank(&line.finding)))
    }
}
