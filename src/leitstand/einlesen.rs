//! What an uploaded file comes to: looked at without the database, then stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maud::{Markup, html};
use rusqlite::Connection;

use super::akteure;
use super::jobs::{Job, Outcome};
use super::page::House;
use super::parts::{facts, number, or_blank, table};
use super::uploads::{Upload, named};
use crate::app::description::vorlagen::columns;
use crate::db::batch::{Batch, Ended};
use crate::db::tx::Tx;
use crate::db::waiting::Account;
use crate::failure::{Failure, Result};
use crate::gate::administration::{self, Akteur};
use crate::http::json::Json;
use crate::import::Groups;
use crate::import::check::{Mistake, MistakePlace, Mistakes};
use crate::import::file::{Complaint, Rows};
use crate::import::look;
use crate::import::parts::{self, Counts, PART_ROWS_MAX, Part, Stop, Unfinished, store_group};
use crate::import::room::UPLOAD_TABLE_BYTES_MAX;
use crate::rules::day::Instant;
use crate::rules::error::{HintCode, Hints};
use crate::rules::text::shown;

/// Rows that are shown before a file is imported, besides those with a mistake.
const ROWS_SHOWN_MAX: usize = 20;

const CELL_CHARACTERS_MAX: usize = 60;

/// Cells of a row that are shown, and columns of all of them: an object of JSON may have any names.
const CELLS_SHOWN_MAX: usize = 200;

struct Checked {
    rows: Rows,
    /// What is said of how the file was understood, each under its heading.
    notes: Vec<(&'static str, String)>,
    mistakes: Mistakes,
}

fn checked(upload: &Upload, job: &Job) -> std::result::Result<Checked, Complaint> {
    job.set_step("Die Datei wird gelesen.", 0);
    let (kind, mut notes) = (upload.kind, Vec::new());
    let say = &mut |about, said: Complaint| notes.push((about, said.german().to_owned()));
    let columns = columns(kind);
    let bytes = upload.content.to_vec();
    let file = look::Source { bytes, sheet: upload.sheet.as_deref(), bytes_max: UPLOAD_TABLE_BYTES_MAX };
    let mut rows = look::read(kind, file, |row| columns.is_example(row), say)?;
    job.set_step("Die Zeilen werden geprüft.", 0);
    let mistakes = look::judge(kind, &mut rows, upload.decimal, say)?;
    Ok(Checked { rows, notes, mistakes })
}

fn not_read(complaint: &Complaint) -> String {
    format!("{}\nEs wurde nichts gespeichert.", complaint.german())
}

const GIVEN_UP: &str = "Das Ansehen wurde abgebrochen. Es wurde nichts gespeichert.";

/// Looks at a file: its first rows as they are understood, and what is wrong with it.
pub fn look(upload: &Upload, job: &Job) -> std::result::Result<Outcome, String> {
    let checked = checked(upload, job).map_err(|complaint| not_read(&complaint))?;
    if job.is_given_up() {
        return Err(GIVEN_UP.to_owned());
    }
    let is_good = checked.mistakes.is_empty() && !checked.rows.is_empty();
    let to = format!("/leitstand/f/{}/import/speichern", upload.firma);
    Ok(Outcome { shown: preview(upload, &checked), next: is_good.then_some((to, upload.id)) })
}

fn preview(upload: &Upload, checked: &Checked) -> Markup {
    let Checked { rows, notes, mistakes } = checked;
    let mut known = vec![
        ("Datei", upload.name.clone()),
        ("Inhalt", named(upload.kind.kind)),
        ("Zeilen", number(rows.len())),
    ];
    known.extend(notes.iter().cloned());
    html! {
        (facts(&known))
        @if rows.is_empty() { p.refused { "Die Datei hat keine Zeilen." } }
        @if !mistakes.is_empty() {
            p.refused role="alert" { "Bitte diese Fehler in der Datei beheben und sie noch einmal hochladen. Es wurde nichts gespeichert." }
            (table_of(mistakes))
        }
        @if mistakes.is_empty() && rows.len() > PART_ROWS_MAX {
            p { "Es sind mehr als " (number(PART_ROWS_MAX)) " Zeilen. Sie werden in Teilen gespeichert, damit an der Waage niemand wartet; was vor einem Fehler kam, bleibt." }
        }
        h2 { "So werden die Zeilen verstanden" }
        (understood(rows, mistakes))
    }
}

fn table_of(mistakes: &Mistakes) -> Markup {
    let place = |mistake: &Mistake| match &mistake.place {
        MistakePlace::Line(line) => line.to_string(),
        MistakePlace::Receipt(receipt, line) => format!("Bon {receipt}, {line}"),
    };
    html! {
        (table("Fehler", "", mistakes.listed()).numbers("Zeile", place).text("Spalte", |mistake| or_blank(&mistake.heading)).text("Wert", |mistake| or_blank(&mistake.value)).text("Was falsch ist", |mistake| mistake.message.clone()))
        @if mistakes.is_full() { p { "Es gibt noch mehr Fehler." } }
    }
}

fn understood(rows: &Rows, mistakes: &Mistakes) -> Markup {
    let mut wrong: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for mistake in mistakes.listed() {
        if let MistakePlace::Line(line) = mistake.place {
            wrong.entry(line).or_default().extend(mistake.column.as_deref());
        }
    }
    let seen = (0..rows.len()).filter(|at| *at < ROWS_SHOWN_MAX || wrong.contains_key(&rows.line(*at)));
    let seen: Vec<(u32, Vec<(String, String)>)> =
        seen.map(|at| (rows.line(at), cells(&rows.row(at)))).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in seen.iter().flat_map(|(_, cells)| cells) {
        if names.len() < CELLS_SHOWN_MAX && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let is_wrong = |line: u32, name: &str| wrong.get(&line).is_some_and(|names| names.contains(name));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Zeilen der Datei" {
            table {
                caption.unseen { "Zeilen der Datei" }
                thead { tr { th scope="col" { "Zeile" } @for name in &names { th scope="col" { (shown(name)) } } } }
                tbody { @for (line, cells) in &seen { tr {
                    td.n data-head="Zeile" { (line) }
                    @for name in &names {
                        td.wrong[is_wrong(*line, name)] data-head=(name) {
                            @if let Some((_, value)) = cells.iter().find(|(known, _)| known == name) { (value) }
                        }
                    }
                } } }
            }
        }
        @if rows.len() > seen.len() { p { small { "und " (number(rows.len() - seen.len())) " weitere Zeilen" } } }
    }
}

/// The cells of a row that are filled, as they are understood.
fn cells(row: &Json<'_>) -> Vec<(String, String)> {
    let Json::Object(members) = row else { return Vec::new() };
    let text = |value: &Json<'_>| match value {
        Json::String(text) => text.trim().chars().take(CELL_CHARACTERS_MAX).collect(),
        Json::Number(digits) => (*digits).to_owned(),
        Json::Bool(true) => "ja".to_owned(),
        Json::Bool(false) => "nein".to_owned(),
        Json::Null => String::new(),
        Json::Array(_) | Json::Object(_) => "…".to_owned(),
    };
    let shown = members.iter().take(CELLS_SHOWN_MAX);
    shown.map(|(name, value)| (name.to_string(), text(value))).collect()
}

struct Import {
    upload: Upload,
    rows: Rows,
    groups: Groups,
}

impl Import {
    /// Stores rows from a group on within a batch: all that are left or, of many, as many as a part takes. `hints` are
    /// those of the parts before.
    fn store_part(
        &self,
        batch: &Batch<'_>,
        next: usize,
        now: Instant,
        mut hints: Hints,
    ) -> std::result::Result<(Part, Hints), Stop<Mistakes>> {
        let Import { upload, rows, groups } = self;
        let person = akteure::of_person(upload.person);
        let mut why = None;
        let stored = batch.apart(|connection| {
            let store = |group| {
                let tx = Tx::new(connection, upload.firma, now);
                store_group(tx, Some(&person), upload.kind, rows, &groups.rows(group), &mut hints)
            };
            match parts::store_part(next..groups.count(), rows.len() > PART_ROWS_MAX, store) {
                Ok(part) => {
                    self.note(connection, &part.counts, now)?;
                    Ok(part)
                }
                Err(not_kept) => {
                    why = Some(not_kept);
                    Err(Failure::Broken("a part of an import is not kept".to_owned()))
                }
            }
        });
        stored.map(|part| (part, hints)).map_err(|failure| why.unwrap_or(Stop::Failed(failure)))
    }

    fn note(&self, connection: &Connection, stored: &Counts, now: Instant) -> Result<()> {
        let Upload { kind, name, firma, person, .. } = &self.upload;
        let deed = stored.deed(kind.kind, name.clone());
        administration::note(connection, now, &Akteur::Person(*person), Some(*firma), &deed)
    }
}

/// Stores the rows of a file through the writer: all of them or none, many in parts.
pub fn store(upload: &Upload, house: &House, job: &Job) -> std::result::Result<Outcome, String> {
    let Checked { rows, mistakes, .. } = checked(upload, job).map_err(|complaint| not_read(&complaint))?;
    if !mistakes.is_empty() {
        return Err("Die Datei hat Fehler. Bitte noch einmal hochladen.".to_owned());
    }
    let groups = upload.kind.groups(&rows).map_err(|complaint| not_read(&complaint))?;
    job.set_step("Die Zeilen werden gespeichert.", rows.len());
    let import = Arc::new(Import { upload: upload.clone(), rows, groups });
    let (gate, mut hints, mut turn) = (&house.gate, Hints::default(), None);
    let stored = parts::store_parts(import.groups.count(), false, |next| {
        drop(turn.take());
        turn = Some(house.import_turn.blocking_lock());
        if job.is_given_up() {
            return Err(Stop::GivenUp);
        }
        let (part_of, so_far, now) = (Arc::clone(&import), hints.clone(), (gate.clock)());
        let account = Account { firma: upload.firma, name: "import".to_owned() };
        let carried =
            gate.writer.run_alone(account, move |batch| part_of.store_part(batch, next, now, so_far.clone()));
        let (part, said) = match carried {
            (Some(done), Ended::Committed) => done?,
            _ => return Err(Stop::Failed(Failure::Busy("the disk did not take this part".to_owned()))),
        };
        hints = said;
        job.add_done(part.counts.sum());
        Ok(part)
    });
    match stored {
        Ok(counts) => Ok(Outcome { shown: came_to(upload, &counts, &hints), next: None }),
        Err(unfinished) => not_finished(unfinished, import.rows.len()),
    }
}

fn came_to(upload: &Upload, counts: &Counts, hints: &Hints) -> Markup {
    let said = |code| code != HintCode::UnbekanntesFeld;
    html! {
        p.note { (upload.name) " ist importiert." }
        (facts(&[
            ("Angelegt", number(counts.created)),
            ("Geändert", number(counts.changed)),
            ("Schon so da", number(counts.unchanged)),
        ]))
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
        p.actions { a.button href=(format!("/leitstand/f/{}/import", upload.firma)) { "Noch eine Datei" } }
    }
}

fn not_finished(Unfinished { why, kept }: Unfinished, rows: usize) -> std::result::Result<Outcome, String> {
    let stays = match kept {
        0 => "Es wurde nichts gespeichert.".to_owned(),
        kept => format!(
            "{} von {} Zeilen sind gespeichert und bleiben. Wer die Datei noch einmal importiert, lässt sie, wie sie sind.",
            number(kept),
            number(rows)
        ),
    };
    match why {
        Stop::GivenUp => Err(format!("Der Import wurde abgebrochen. {stays}")),
        Stop::Failed(failure) => {
            Err(format!("Das Speichern ist nicht gelungen. Was das Programm dazu sagt:\n{failure}\n{stays}"))
        }
        Stop::Refused(mistakes) => {
            let shown = html! { p.refused role="alert" { "Die Datei passt nicht zu dem, was da ist. " (stays) } (table_of(&mistakes)) };
            Ok(Outcome { shown, next: None })
        }
    }
}
