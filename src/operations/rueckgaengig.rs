//! Takes an import back (D22): deletes the records that it created, and restores those that it changed.
//!
//! No other transaction writes while an import, or a part of one, is stored. So its rows in the feed of changes
//! (D28) have numbers without a gap, and the administration log keeps the first and the last. The history of a
//! record holds its previous values.

use std::time::{Duration, Instant as Moment};

use serde::Serialize;

use crate::goods::{chargen, kontrakte};
use crate::master::{artikel, kunden};
use crate::platform::db::feed::followed::Art as Followed;
use crate::platform::db::feed::{self, FeedEntry};
use crate::platform::db::list::Page;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::administration::{self, Entry, TAKEN_BACK};
use crate::platform::import::check::MISTAKES_MAX;
use crate::platform::import::parts::FEED_ROWS;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, Refusal};
use crate::rules::felder::{Aenderung, GeaendertesFeld};

/// The kinds of import whose records have a history that says what they were before.
const KINDS: [&str; 4] = ["artikel", "staffelpreise", "kunden", "kontrakte"];

/// Fields of histories that are names of other records, which may have been renamed since.
const NAMES_OF_OTHERS: [&str; 2] = ["gruppe", "partner_name"];

/// The result of taking an import back.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub deleted: usize,
    pub put_back: usize,
    /// What cannot be taken back, up to [`MISTAKES_MAX`]: which record, why, and what to do.
    pub kept: Vec<String>,
}

pub fn can_be_taken_back(event: &AdminEvent) -> bool {
    KINDS.contains(&event.gegenstand.id.as_deref().unwrap_or_default())
        && event.nachher.contains_key(FEED_ROWS)
}

/// Returns the import `nr` of this company; refuses an unknown number.
pub fn find(tx: &Tx<'_>, nr: i64) -> Result<Entry> {
    let message = format!(
        "Einen Import {nr} hat diese Firma nicht. Die Nummer sagt der Import am Ende, und die Seite Import des \
             Leitstands."
    );
    Ok(administration::import(tx, nr)?.ok_or_else(|| Refusal::new(Code::NichtGefunden, message))?)
}

/// Takes back as much of an import as possible. The caller keeps all of it or nothing: [`Report::refuse`] refuses
/// unless everything could be taken back. Gives up once it has held the writer for `at_most`.
pub fn take_back(tx: &WriteTx<'_>, import: &Entry, at_most: Option<Duration>) -> Result<Report> {
    let who = import.akteur.key_id();
    let (began, mut report) = (Moment::now(), Report::default());
    for row in rows(tx, import)?.iter().rev() {
        if at_most.is_some_and(|at_most| began.elapsed() > at_most) {
            let message = "Das hielte alle auf, die gerade speichern. Bitte den Server anhalten und auf der \
                 Kommandozeile mit `partnerd import rueckgaengig` zurücknehmen.";
            return Err(Refusal::new(Code::NichtVerfuegbar, message).into());
        }
        match take_back_row(tx, row, who.as_deref()) {
            Ok(true) => report.deleted += 1,
            Ok(false) => report.put_back += 1,
            Err(Failure::Refused(refusal)) => {
                report.kept.push(format!("{}: {}", named(row), refusal.message))
            }
            Err(failure) => return Err(failure),
        }
        if report.kept.len() >= MISTAKES_MAX {
            break;
        }
    }
    Ok(report)
}

impl Report {
    pub fn refuse(&self) -> Checked<()> {
        let message =
            format!("Es wurde nichts zurückgenommen, denn das geht nicht:\n  {}", self.kept.join("\n  "));
        if self.kept.is_empty() { Ok(()) } else { Err(Refusal::new(Code::WertUngueltig, message)) }
    }

    /// The event for the administration log.
    pub fn event(&self, import: &Entry) -> AdminEvent {
        let counts =
            [(TAKEN_BACK, import.nr), ("deleted", self.deleted as i64), ("put-back", self.put_back as i64)];
        let counts = counts.into_iter().filter_map(|(name, count)| Changed::of(name, "", count.to_string()));
        let gegenstand = import.event.gegenstand.clone();
        AdminEvent { gegenstand, ..AdminEvent::new(AdminAction::Zurueckgenommen, Art::Import) }
            .changing(counts)
    }
}

/// Returns the rows that an import wrote into the feed. Refuses an import that cannot be taken back at all: it was
/// taken back before, its kind has no history, or its rows are no longer complete.
pub fn rows(tx: &Tx<'_>, import: &Entry) -> Result<Vec<FeedEntry>> {
    let Entry { nr, am, event, .. } = import;
    let refuse = |why: String| Err(Refusal::new(Code::WertUngueltig, why).into());
    if let Some(taken_back) = administration::taken_back(tx, *nr)? {
        let day = Day::in_berlin(taken_back).german();
        return refuse(format!("Der Import {nr} ist schon zurückgenommen, am {day}."));
    }
    let kind = event.gegenstand.id.as_deref().unwrap_or_default();
    if !KINDS.contains(&kind) {
        return refuse(format!(
            "Ein Import von {kind} lässt sich nicht zurücknehmen: Nur {} haben einen Verlauf, der sagt, was \
             vorher galt. Bitte die Datei berichtigen und noch einmal importieren, oder die Sicherung von \
             davor zurückspielen.",
            KINDS.join(", ")
        ));
    }
    let range = event.nachher.get(FEED_ROWS).and_then(|range| range.split_once('-'));
    let range = range.and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    let Some((first, last)): Option<(i64, i64)> = range else {
        return refuse(format!(
            "Beim Import {nr} steht nicht, welche Datensätze er geändert hat: Er hat keine geändert, oder \
             er ist von vor der Fassung, die das festhält."
        ));
    };
    let mut rows = Vec::new();
    feed::each_from(tx, first, last - first + 1, |row| {
        rows.extend((row.nr <= last && row.am <= *am).then_some(row));
        Ok(true)
    })?;
    if rows.len() as i64 != last - first + 1 {
        return refuse(format!(
            "Was der Import {nr} geändert hat, ist nicht mehr vollständig verzeichnet: Das bleibt {} Tage, \
             und nicht über das Leeren einer Testfirma hinaus.",
            feed::DAYS
        ));
    }
    Ok(rows)
}

fn named(row: &FeedEntry) -> String {
    let art = match row.art {
        Followed::Kunde => "Partner",
        Followed::Kontrakt => "Kontrakt",
        _ => "Artikel",
    };
    format!("{art} {}", row.nummer.as_deref().unwrap_or_default())
}

/// Undoes what the import did to the record of a row: puts its newest changes back if the import made them,
/// else deletes the record if the import made it. Returns whether it was deleted; refuses what was changed
/// since.
fn take_back_row(tx: &WriteTx<'_>, row: &FeedEntry, who: Option<&str>) -> Result<bool> {
    let version = match row.art {
        Followed::Kunde => kunden::found(tx, row.id)?.version,
        Followed::Kontrakt => kontrakte::VERLAUF.version(tx, row.id)?,
        _ => artikel::VERLAUF.version(tx, row.id)?,
    };
    let mut changes = Vec::new();
    while let Some(change) = change(tx, row, changes.len() as i64)?
        && is_of_import(&change, row, version - changes.len() as i64, who)
    {
        changes.push(change);
    }
    changes.iter().try_for_each(|change| put_back(tx, row, &change.felder))?;
    if !changes.is_empty() {
        return Ok(false);
    }
    let message =
        "Seither geändert. Bitte die Werte von Hand ändern, oder ihn auf inaktiv oder erledigt setzen.";
    refuse_where(version > 1 || !is_made_by(row), message)?;
    delete(tx, row)?;
    Ok(true)
}

/// Whether the import made a change: at the instant of its transaction, and leading to the version in its feed
/// row. Only the rows of partners have a version; for others the same person or key must have made the change.
fn is_of_import(change: &Aenderung, row: &FeedEntry, version: i64, who: Option<&str>) -> bool {
    let is_same_instant = change.am == row.am;
    is_same_instant && row.version.map_or(change.key_id.as_deref() == who, |own| own == version)
}

fn refuse_where(is_so: bool, message: &str) -> Checked<()> {
    if is_so { Err(Refusal::new(Code::WertUngueltig, message)) } else { Ok(()) }
}

/// Whether the transaction of a feed row created its record. The row of a partner then has version 1; other ids
/// begin with the instant at which they were created.
fn is_made_by(row: &FeedEntry) -> bool {
    let made = row.id.get_timestamp().map(|made| made.to_unix());
    let made = made.map(|(seconds, nanos)| seconds as i64 * 1_000 + i64::from(nanos) / 1_000_000);
    row.version.map_or(made == Some(row.am.millis()), |version| version == 1)
}

/// The change of a record that is `before` changes older than its newest.
fn change(tx: &Tx<'_>, row: &FeedEntry, before: i64) -> Result<Option<Aenderung>> {
    let page = Page { limit: Some(1), offset: before };
    let found = match row.art {
        Followed::Kunde => kunden::changes(tx, row.id, page),
        Followed::Kontrakt => kontrakte::VERLAUF.changes(tx, row.id, page),
        _ => artikel::VERLAUF.changes(tx, row.id, page),
    };
    Ok(found?.rows.pop())
}

/// Restores the values from before a change. Refuses if a rule no longer allows them, or if the change this makes
/// is not exactly the reverse.
fn put_back(tx: &WriteTx<'_>, row: &FeedEntry, felder: &[GeaendertesFeld]) -> Result<()> {
    match row.art {
        Followed::Kunde => kunden::put_back(tx, row.id, felder)?,
        Followed::Kontrakt => kontrakte::put_back(tx, row.id, felder)?,
        _ => artikel::put_back(tx, row.id, felder)?,
    }
    let come_to = change(tx, row, 0)?.map(|change| change.felder).unwrap_or_default();
    let is_back = |GeaendertesFeld { feld, alt, neu }: &GeaendertesFeld| {
        come_to
            .iter()
            .any(|come| (&come.feld, come.alt.get(), come.neu.get()) == (feld, neu.get(), alt.get()))
    };
    let is_own = |feld: &&GeaendertesFeld| !NAMES_OF_OTHERS.contains(&feld.feld.as_str());
    let counts = [&come_to, felder].map(|felder| felder.iter().filter(is_own).count());
    let is_same = counts[0] == counts[1] && felder.iter().filter(is_own).all(is_back);
    Ok(refuse_where(!is_same, "Lässt sich nicht genau so zurückstellen. Bitte die Werte von Hand ändern.")?)
}

fn delete(tx: &WriteTx<'_>, row: &FeedEntry) -> Result<()> {
    let tables = match row.art {
        Followed::Kontrakt => kontrakte::delete(tx, row.id)?,
        Followed::Kunde if chargen::had_partner(tx, row.id)? => vec!["charge".to_owned()],
        art => tx.delete(art, row.id)?,
    };
    let mut words: Vec<_> = tables.iter().map(|table| in_words(table)).collect();
    words.dedup();
    let words = words.join(", ");
    let message =
        format!("Wird genannt: {words}. Braucht ihn niemand mehr, bitte auf inaktiv oder erledigt setzen.");
    Ok(refuse_where(!tables.is_empty(), &message)?)
}

/// The German name of a table's records.
fn in_words(table: &str) -> String {
    match table.split('_').next().unwrap_or_default() {
        "pa" => "Produktionsauftrag".to_owned(),
        "artikel" => "Bestand".to_owned(),
        noun => noun.chars().take(1).flat_map(char::to_uppercase).chain(noun.chars().skip(1)).collect(),
    }
}
