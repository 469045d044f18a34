//! Importing a file: it is chosen, checked, then stored; and templates to fill in (D22).

use std::sync::Arc;

use maud::html;
use uuid::Uuid;

use super::{einlesen, ruecknahme};
use crate::interface::description::vorlagen::columns;
use crate::interface::imports;
use crate::leitstand::kit::done::{InstallationChange, start_job};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{choice, field, form_to, refusal};
use crate::leitstand::kit::uploads::{Upload, named};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::wire::Decimal;
use crate::platform::import::Import;
use crate::platform::import::encoding::CodePage;
use crate::rules::choice::Choice;
use crate::rules::error::{Code, Refusal};

/// Decimal separators: value and label of each option.
const DECIMALS: [(&str, &str); 3] = [
    ("", "aus der Datei erkennen"),
    ("komma", "Komma: 24.860 heißt 24860"),
    ("punkt", "Punkt: 24.860 heißt 24,86"),
];

/// Shows the form; also if the uploaded file is no longer kept.
pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kinds: Vec<_> = imports::all().map(|kind| (kind.kind, named(kind.kind))).collect();
    let recognised = std::iter::once(("", "aus der Datei erkennen"));
    let encodings = recognised.chain(CodePage::ALL.iter().map(|page| (page.as_str(), page.name())));
    let inside = html! {
        (refusal(request, &["datei", "blatt"]))
        (choice(request, "art", "Was die Datei enthält", kinds.iter().map(|(kind, name)| (kind, name)), ""))
        (field(request, "datei", "Datei (.xlsx, .ods, .csv oder .json, bis 14 MB)", "file", "", "off"))
        (field(request, "blatt", "Blatt einer Tabelle, wenn es nicht das erste ist", "text", "", "off"))
        (choice(request, "dezimal", "Was Dezimalen trennt", DECIMALS, ""))
        (choice(request, "kodierung", "Kodierung einer CSV", encodings, ""))
    };
    let body = html! {
        p {
            "Die Datei wird erst gelesen und gezeigt; gespeichert wird, wenn Sie danach „Importieren“ \
             drücken. Was es schon gibt, wird geändert, nichts gelöscht. Ein Import lässt sich danach \
             zurücknehmen."
        }
        @if request.may_manage() { (form_to(request, &request.of_firma("import"), inside, "Ansehen", false)) }
        @else { p.empty { "Importieren darf, wer diese Firma verwaltet." } }
        (ruecknahme::section(request, db)?)
        h2 { "Vorlagen" }
        p {
            "Jede Vorlage hat alle Spalten, ihre Bedeutung und eine Beispielzeile. Neue Firmen beginnen \
             oben. Ein neues Abrechnungsschema und eine neue Rezeptur brauchen eine JSON-Datei; ihre Vorlage \
             ändert, was es schon gibt."
        }
        ul { @for (kind, name) in &kinds {
            li { (name) ": "
                a href=(request.of_firma(&format!("import/vorlage/{kind}"))) { "Excel" } ", "
                a href=(request.of_firma(&format!("import/vorlage/{kind}?art=csv"))) { "CSV" } }
        } }
    };
    Ok(frame::page(request, "Import", body))
}

fn kind(name: &str) -> Option<&'static Import> {
    imports::all().find(|kind| kind.kind == name)
}

/// Checks the file and keeps it until it is imported or expires.
pub fn look(request: &PageRequest) -> Result<InstallationChange> {
    let kind = kind(request.field("art")).ok_or_else(|| Failure::not_found("Diese Art Import"))?;
    let file = request.file("datei")?;
    let decimal = match request.field("dezimal") {
        "komma" => Some(Decimal::Comma),
        "punkt" => Some(Decimal::Point),
        _ => None,
    };
    // Refuses now, while the form can be shown again, and not only when the job is to begin.
    request.app.jobs.check_room(request.tenant_id())?;
    let upload = Upload {
        id: Uuid::now_v7(),
        person: request.person_id(),
        firma: request.firma_id(),
        at: request.now,
        kind,
        name: file.name.clone(),
        sheet: request.filled("blatt").map(str::to_owned),
        decimal,
        encoding: CodePage::parse(request.field("kodierung")),
        content: file.content.clone(),
    };
    let app = Arc::clone(&request.app);
    Ok(start_job(format!("{} ansehen", upload.name), move |job| {
        // StoredBackup only once the job runs, because its page is the way to the file.
        app.uploads.keep(upload.clone());
        einlesen::look(&upload, &app, job)
    }))
}

pub fn store(request: &PageRequest) -> Result<InstallationChange> {
    let app = Arc::clone(&request.app);
    let upload = app.uploads.find(request.field("datei"), request.person_id(), request.firma_id());
    let upload = upload.ok_or_else(|| {
        Refusal::new(Code::NichtGefunden, "Diese Datei ist nicht mehr da. Bitte noch einmal hochladen.")
    })?;
    let accepts = request.field("trotzdem") == "ja";
    Ok(start_job(format!("Import {}", upload.name), move |job| einlesen::store(&upload, accepts, &app, job)))
}

pub fn template(request: &PageRequest, _: &Snapshot<'_>) -> Result<Reply> {
    let kind = kind(request.id(0)?).ok_or_else(|| Failure::not_found("Diese Vorlage"))?;
    let (columns, name) = (columns(kind), kind.kind);
    if request.param("art") == "csv" {
        return Ok(frame::guarded(Reply::csv(name, columns.csv().into_bytes())));
    }
    let file = columns.xlsx().map_err(|error| Failure::Broken(format!("no template: {error}")))?;
    let content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    Ok(frame::guarded(Reply::attachment(content_type, &format!("{name}.xlsx"), file)))
}
