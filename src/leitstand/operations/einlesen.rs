//! Imports an uploaded file: checks it without the database, tries it without keeping anything, and stores
//! it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maud::{Markup, html};
use rusqlite::Connection;

use crate::interface::description::vorlagen::columns;
use crate::interface::imports;
use crate::leitstand::kit::akteure;
use crate::leitstand::kit::jobs::{Job, Next, Outcome};
use crate::leitstand::kit::page::AppState;
use crate::leitstand::kit::parts::{facts, number, or_blank, table};
use crate::leitstand::kit::uploads::{Upload, named};
use crate::platform::db::feed;
use crate::platform::db::readers::Lane;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::db::writer::batch::{Batch, Ended};
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::administration::{self, Akteur};
use crate::platform::http::json::Json;
use crate::platform::import::check::{Mistake, MistakePlace, Mistakes};
use crate::platform::import::file::{ParseError, Rows, Source};
use crate::platform::import::memory_budget::UPLOAD_TABLE_BYTES_MAX;
use crate::platform::import::parts::{
    self, Counts, NOTHING_STORED, PART_ROWS_MAX, Part, Stop, Unfinished, store_group,
};
use crate::platform::import::{self, Groups, Upserted, look, suspicions};
use crate::rules::day::Instant;
use crate::rules::error::{HintCode, Hints};
use crate::rules::text::shown;

/// Most rows shown before a file is imported, besides those with a mistake.
const ROWS_SHOWN_MAX: usize = 20;

const CELL_CHARACTERS_MAX: usize = 60;

/// Most cells shown of a row, and most columns of the table: a JSON object may have any names.
const CELLS_SHOWN_MAX: usize = 200;

struct Checked {
    rows: Rows,
    /// How the file was understood, in sentences, each under its heading.
    notes: Vec<(&'static str, String)>,
    mistakes: Mistakes,
    suspicions: Mistakes,
}

fn checked(upload: &Upload, app: &AppState, job: &Job) -> std::result::Result<Checked, String> {
    job.set_step("Die Datei wird gelesen.", 0);
    let (kind, mut notes) = (upload.kind, Vec::new());
    let say = &mut |about, said| notes.push((about, said));
    let columns = columns(kind);
    let bytes = upload.content.to_vec();
    let (sheet, encoding) = (upload.sheet.as_deref(), upload.encoding);
    let file = Source { bytes, sheet, encoding, bytes_max: UPLOAD_TABLE_BYTES_MAX };
    let rows = look::read(kind, file, |row| columns.is_example(row), say);
    let mut rows = rows.map_err(|complaint| not_read(&complaint))?;
    job.set_step("Die Zeilen werden geprüft.", 0);
    let mistakes =
        look::judge(kind, &mut rows, upload.decimal, say).map_err(|complaint| not_read(&complaint))?;
    let known = |connection: &Connection| imports::known(&Tx::new(connection, upload.firma, upload.at));
    let known =
        app.gate.readers.read(Lane::Fast, known).map_err(|failure| failed(&failure, NOTHING_STORED))?;
    let suspicions = suspicions::find(kind, &rows, known);
    Ok(Checked { rows, notes, mistakes, suspicions })
}

fn not_read(complaint: &ParseError) -> String {
    format!("{complaint}\n{NOTHING_STORED}")
}

fn failed(failure: &Failure, stays: &str) -> String {
    format!("Das ist nicht gelungen. Was das Programm dazu sagt:\n{}\n{stays}", failure.in_german())
}

const GIVEN_UP: &str = "Das Ansehen wurde abgebrochen. Es wurde nichts gespeichert.";

/// Checks a file: what would happen to each row, the first rows as they would be stored, and mistakes or
/// suspicious values.
pub fn look(upload: &Upload, app: &AppState, job: &Job) -> std::result::Result<Outcome, String> {
    let Checked { rows, notes, mut mistakes, suspicions } = checked(upload, app, job)?;
    let is_tried = mistakes.is_empty() && !rows.is_empty();
    let groups = match is_tried {
        true => upload.kind.groups(&rows).map_err(|complaint| not_read(&complaint))?,
        false => Groups::Each(0),
    };
    let import = Arc::new(Import { upload: upload.clone(), rows, groups, is_trial: true });
    let (mut fates, mut hints) = (Vec::new(), Hints::default());
    if is_tried {
        job.set_step("Die Zeilen werden mit dem verglichen, was da ist.", import.rows.len());
        let tried = carry_out(&import, app, job);
        match tried {
            Ok(stored) => (fates, hints) = (stored.fates, stored.hints),
            Err(Unfinished { why: Stop::Refused(found), .. }) => mistakes = found,
            Err(Unfinished { why: Stop::GivenUp, .. }) => return Err(GIVEN_UP.to_owned()),
            Err(Unfinished { why: Stop::Failed(failure), .. }) => {
                return Err(failed(&failure, NOTHING_STORED));
            }
        }
    }
    if job.is_given_up() {
        return Err(GIVEN_UP.to_owned());
    }
    let is_new = fates.iter().any(|(_, fate)| *fate != Upserted::Unchanged);
    let to = format!("/leitstand/f/{}/import/speichern", upload.firma);
    let next = Next { to, file: upload.id, is_doubtful: !suspicions.is_empty() };
    let shown = preview(upload, &Looked { rows: &import.rows, notes, mistakes, suspicions, fates, hints });
    Ok(Outcome { shown, next: is_new.then_some(next) })
}

/// The preview of a file before its import.
struct Looked<'r> {
    rows: &'r Rows,
    notes: Vec<(&'static str, String)>,
    mistakes: Mistakes,
    suspicions: Mistakes,
    /// What would happen to each row.
    fates: Vec<(usize, Upserted)>,
    /// What the import will say.
    hints: Hints,
}

fn preview(upload: &Upload, looked: &Looked<'_>) -> Markup {
    let Looked { rows, notes, mistakes, suspicions, fates, hints } = looked;
    let count = |fate| match fates.is_empty() {
        true => String::new(),
        false => number(fates.iter().filter(|(_, other)| *other == fate).count()),
    };
    let mut known = vec![
        ("Datei", upload.name.clone()),
        ("Inhalt", named(upload.kind.kind)),
        ("Zeilen", number(rows.len())),
        ("Neu", count(Upserted::Created)),
        ("Geändert", count(Upserted::Changed)),
        ("Unverändert", count(Upserted::Unchanged)),
        ("Auffällig", number(suspicions.listed().len())),
    ];
    known.extend(notes.iter().cloned());
    let is_old = !fates.is_empty() && fates.iter().all(|(_, fate)| *fate == Upserted::Unchanged);
    html! {
        (facts(&known))
        @if rows.is_empty() { p.refused { "Die Datei hat keine Zeilen." } }
        @if is_old { p.note { "Alle Zeilen stehen schon so da. Es gibt nichts zu importieren." } }
        @if !mistakes.is_empty() {
            p.refused role="alert" { "Bitte diese Fehler in der Datei beheben und sie noch einmal hochladen. "
                (NOTHING_STORED) }
            (table_of("Fehler", mistakes))
        }
        @if !suspicions.is_empty() {
            h2 { "Auffällig" }
            p { "Das ist vermutlich nicht gemeint. Bitte in der Datei berichtigen, oder unten bestätigen, \
                 dass es so sein soll." }
            (table_of("Auffälligkeiten", suspicions))
        }
        @if mistakes.is_empty() && rows.len() > PART_ROWS_MAX {
            p { "Es sind mehr als " (number(PART_ROWS_MAX))
                " Zeilen. Sie werden in Teilen gespeichert, damit an der Waage niemand wartet; was vor einem \
                 Fehler kam, bleibt." }
        }
        (list_of(hints)) @if !rows.is_empty() { h2 { "So werden die Zeilen gespeichert" } (understood(upload.kind, looked)) }
    }
}

fn table_of(title: &'static str, mistakes: &Mistakes) -> Markup {
    let place = |mistake: &Mistake| match &mistake.place {
        MistakePlace::Line(line) => line.to_string(),
        MistakePlace::Sheet(name) => format!("Blatt {name}"),
        MistakePlace::Receipt(receipt, line) => format!("Bon {receipt}, {line}"),
    };
    let what = if title == "Fehler" { "Was falsch ist" } else { "Was auffällt" };
    html! {
        (table(title, "", mistakes.listed())
            .numbers("Zeile", place)
            .text("Spalte", |mistake| or_blank(&mistake.heading))
            .text("Wert", |mistake| or_blank(&mistake.value))
            .text(what, |mistake| mistake.message.clone()))
        @if mistakes.is_full() { p { "Es gibt noch mehr davon." } }
    }
}

/// The columns with a mistake or a suspicious value, by line.
fn marked<'l>(looked: &'l Looked<'_>) -> BTreeMap<u32, BTreeSet<&'l str>> {
    let mut marked: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for mistake in looked.mistakes.listed().iter().chain(looked.suspicions.listed()) {
        if let MistakePlace::Line(line) = mistake.place {
            marked.entry(line).or_default().extend(mistake.column.as_deref());
        }
    }
    marked
}

/// The rows that are shown: the marked ones, and the first ones of each outcome.
fn seen(looked: &Looked<'_>, marked: &BTreeMap<u32, BTreeSet<&str>>) -> Vec<(usize, &'static str)> {
    let mut fates = vec![""; looked.rows.len()];
    for (at, fate) in &looked.fates {
        if let Some(place) = fates.get_mut(*at) {
            *place = match fate {
                Upserted::Created => "neu",
                Upserted::Changed => "geändert",
                Upserted::Unchanged => "unverändert",
            };
        }
    }
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    let mut is_shown = |(at, fate): &(usize, &'static str)| {
        let count = shown.entry(fate).or_default();
        *count += 1;
        *count <= ROWS_SHOWN_MAX || marked.contains_key(&looked.rows.line(*at))
    };
    fates.into_iter().enumerate().filter(|row| is_shown(row)).collect()
}

fn understood(kind: &import::Import, looked: &Looked<'_>) -> Markup {
    let (rows, marked) = (looked.rows, marked(looked));
    let seen = seen(looked, &marked);
    let seen: Vec<_> =
        seen.into_iter().map(|(at, fate)| (rows.line(at), fate, cells(kind, rows, at))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in seen.iter().flat_map(|(_, _, cells)| cells) {
        if names.len() < CELLS_SHOWN_MAX && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let is_marked = |line: u32, name: &str| marked.get(&line).is_some_and(|names| names.contains(name));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Zeilen der Datei" {
            table {
                caption.unseen { "Zeilen der Datei" }
                thead { tr {
                    th scope="col" { "Zeile" }
                    @if !looked.fates.is_empty() { th scope="col" { "Stand" } }
                    @for name in &names { th scope="col" { (shown(name)) } }
                } }
                tbody { @for (line, fate, cells) in &seen { tr {
                    td.n data-head="Zeile" { (line) }
                    @if !looked.fates.is_empty() { td data-head="Stand" { (fate) } }
                    @for name in &names {
                        td.wrong[is_marked(*line, name)] data-head=(name) {
                            @if let Some((_, value)) = cells.iter().find(|(known, _)| known == name) { (value) }
                        }
                    }
                } } }
            }
        }
        @if rows.len() > seen.len() { p { small { "und " (number(rows.len() - seen.len())) " weitere Zeilen" } } }
    }
}

/// The filled cells of a row, as they would be stored.
fn cells(kind: &import::Import, rows: &Rows, at: usize) -> Vec<(String, String)> {
    let row = rows.row(at);
    let Json::Object(members) = &row else { return Vec::new() };
    let read = look::values(kind, rows, &row);
    let text = |value: &Json<'_>| match value {
        Json::String(text) => text.trim().to_owned(),
        Json::Number(digits) => (*digits).to_owned(),
        Json::Bool(true) => "ja".to_owned(),
        Json::Bool(false) => "nein".to_owned(),
        Json::Null => String::new(),
        Json::Array(_) | Json::Object(_) => "…".to_owned(),
    };
    let cell = |(name, value): &(Cow<'_, str>, Json<'_>)| {
        let text = read.get(name.as_ref()).cloned().unwrap_or_else(|| text(value));
        (name.to_string(), text.chars().take(CELL_CHARACTERS_MAX).collect())
    };
    members.iter().take(CELLS_SHOWN_MAX).map(cell).collect()
}

struct Import {
    upload: Upload,
    rows: Rows,
    groups: Groups,
    /// Whether everything is undone at the end.
    is_trial: bool,
}

/// The outcome of rows, each by its index in the file, with counts and hints.
#[derive(Default)]
struct Stored {
    counts: Counts,
    hints: Hints,
    fates: Vec<(usize, Upserted)>,
}

/// A stored part, the hints of all parts so far, and the outcome of its rows.
type Carried = (Part, Hints, Vec<(usize, Upserted)>);

impl Import {
    /// Stores the groups of rows from `next` on within a batch: all that are left or, of a large file, as
    /// many as a part takes. `hints` are those of the earlier parts.
    fn store_part(
        &self,
        batch: &Batch<'_>,
        next: usize,
        now: Instant,
        mut hints: Hints,
    ) -> std::result::Result<Carried, Stop<Mistakes>> {
        let Import { upload, rows, groups, is_trial } = self;
        let person = akteure::of_person(upload.person);
        let (mut why, mut fates) = (None, Vec::new());
        let stored = batch.apart(|connection| {
            let tx = || Tx::new(connection, upload.firma, now);
            let store = |group| {
                let group = groups.rows(group);
                let stored = store_group(tx(), Some(&person), upload.kind, rows, &group, &mut hints)?;
                fates.extend(group.into_iter().zip(stored.iter().copied()));
                Ok(Counts::of(&stored))
            };
            let before = feed::newest(connection, upload.firma)?;
            let run = || parts::store_part(next..groups.count(), rows.len() > PART_ROWS_MAX, store);
            if *is_trial {
                return WriteTx::carry_out(tx(), None, |tx| tx.undone(|| Ok(run())));
            }
            match run() {
                Ok(part) => {
                    self.note(connection, &part.counts, before, now)?;
                    Ok(Ok(part))
                }
                Err(not_kept) => {
                    why = Some(not_kept);
                    Err(Failure::Broken("a part of an import is not kept".to_owned()))
                }
            }
        });
        match stored {
            Ok(part) => part.map(|part| (part, hints, fates)),
            Err(failure) => Err(why.unwrap_or(Stop::Failed(failure))),
        }
    }

    fn note(&self, connection: &Connection, stored: &Counts, before: i64, now: Instant) -> Result<()> {
        let Upload { kind, name, firma, person, .. } = &self.upload;
        let feed = (before, feed::newest(connection, *firma)?);
        let event = stored.event(kind.kind, name.clone(), feed);
        administration::note(connection, now, &Akteur::Person(*person), Some(*firma), &event)
    }
}

/// Stores the rows of a file through the writer: all or none, a large file in parts. A file with suspicious
/// values is only stored if the person `accepts` them.
pub fn store(
    upload: &Upload,
    accepts: bool,
    app: &AppState,
    job: &Job,
) -> std::result::Result<Outcome, String> {
    let Checked { rows, mistakes, suspicions, .. } = checked(upload, app, job)?;
    if !mistakes.is_empty() {
        return Err("Die Datei hat Fehler. Bitte noch einmal hochladen.".to_owned());
    }
    if !suspicions.is_empty() && !accepts {
        return Err(format!(
            "In der Datei ist etwas auffällig, und „Trotzdem importieren“ war nicht angekreuzt. {NOTHING_STORED}"
        ));
    }
    app.uploads.forget(upload.id);
    let groups = upload.kind.groups(&rows).map_err(|complaint| not_read(&complaint))?;
    job.set_step("Die Zeilen werden gespeichert.", rows.len());
    let import = Arc::new(Import { upload: upload.clone(), rows, groups, is_trial: false });
    match carry_out(&import, app, job) {
        Ok(stored) => Ok(Outcome { shown: came_to(upload, &stored.counts, &stored.hints), next: None }),
        Err(unfinished) => not_finished(unfinished, import.rows.len()),
    }
}

/// Stores an import through the writer part by part; other waiting writes go before each part.
fn carry_out(import: &Arc<Import>, app: &AppState, job: &Job) -> std::result::Result<Stored, Unfinished> {
    let (gate, mut turn, mut stored) = (&app.gate, None, Stored::default());
    let counts = parts::store_parts(import.groups.count(), false, |next| {
        drop(turn.take());
        turn = Some(app.import_turn.blocking_lock());
        if job.is_given_up() {
            return Err(Stop::GivenUp);
        }
        let (part_of, so_far, now) = (Arc::clone(import), stored.hints.clone(), (gate.clock)());
        let account = QueueKey { firma: import.upload.firma, name: "import".to_owned() };
        let carried =
            gate.writer.run_alone(account, move |batch| part_of.store_part(batch, next, now, so_far.clone()));
        let (part, hints, fates) = match carried {
            (Some(done), Ended::Committed) => done?,
            _ => {
                return Err(Stop::Failed(Failure::Busy(
                    "die Platte hat diesen Teil nicht genommen".to_owned(),
                )));
            }
        };
        stored.hints = hints;
        stored.fates.extend(fates);
        job.add_done(part.counts.sum());
        Ok(part)
    });
    counts.map(|counts| Stored { counts, ..stored })
}

/// The hints of an import, without those that the columns not used already say.
fn list_of(hints: &Hints) -> Markup {
    let said = |code| code != HintCode::UnbekanntesFeld;
    html! {
        @if hints.iter().any(|hint| said(hint.code)) {
            h2 { "Hinweise" }
            ul { @for hint in hints.iter().filter(|hint| said(hint.code)) {
                li {
                    @if let Some(feld) = &hint.feld { (feld) ": " }
                    (hint.message)
                    @if hint.more > 0 { " (" (number(hint.more)) " weitere dieser Art stehen hier nicht)" }
                }
            } }
        }
    }
}

fn came_to(upload: &Upload, counts: &Counts, hints: &Hints) -> Markup {
    html! {
        p.note { (upload.name) " ist importiert." }
        (facts(&[
            ("Angelegt", number(counts.created)),
            ("Geändert", number(counts.changed)),
            ("Schon so da", number(counts.unchanged)),
        ]))
        (list_of(hints))
        p.actions { a.button href=(format!("/leitstand/f/{}/import", upload.firma)) { "Noch eine Datei" } }
    }
}

fn not_finished(Unfinished { why, kept }: Unfinished, rows: usize) -> std::result::Result<Outcome, String> {
    let stays = match kept {
        0 => NOTHING_STORED.to_owned(),
        kept => format!(
            "{} von {} Zeilen sind gespeichert und bleiben. Wer die Datei noch einmal importiert, lässt sie, \
             wie sie sind.",
            number(kept),
            number(rows)
        ),
    };
    match why {
        Stop::GivenUp => Err(format!("Der Import wurde abgebrochen. {stays}")),
        Stop::Failed(failure) => Err(failed(&failure, &stays)),
        Stop::Refused(mistakes) => {
            let shown = html! {
                p.refused role="alert" { "Die Datei passt nicht zu dem, was da ist. " (stays) }
                (table_of("Fehler", &mistakes))
            };
            Ok(Outcome { shown, next: None })
        }
    }
}
