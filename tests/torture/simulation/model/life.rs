//! The life of documents: final, settled, cancelled, archived (D4, D11, D21c).

use serde_json::json;

use super::documents::is_invoice;
use super::goods::{Moved, Moves};
use super::{Document, Expected, Model, Row, id, refused};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::{DAY, berlin_day, date};
use crate::simulation::step::{Goods, Name, Step};

impl Model {
    /// The next instant of an event, which is strictly greater than the previous one.
    fn next_event(&mut self, firm: usize) -> i64 {
        let firm = &mut self.firms[firm];
        firm.last_event = self.now.max(firm.last_event + 1);
        firm.last_event
    }

    /// Makes a document final; returns the rows of the receipts settled by it.
    pub fn become_final(&mut self, firm: usize, name: Name) -> Vec<Row> {
        let event = self.next_event(firm);
        let partner = self.firms[firm].documents[&name].partner;
        let kept =
            (!self.breaks(Broken::NameFollows)).then(|| self.firms[firm].partners[&partner].name.clone());
        let document = self.firms[firm].documents.get_mut(&name).expect("a document");
        (document.status, document.kept, document.event) = ("abgeschlossen", kept, Some(event));
        self.notes_of(firm, name)
    }

    /// A change of status: a version, and a row of the feed.
    pub fn turned(&mut self, firm: usize, name: Name) -> Row {
        let now = self.now;
        let document = self.firms[firm].documents.get_mut(&name).expect("a document");
        (document.version, document.changed) = (document.version + 1, now);
        self.document_row(firm, name)
    }

    pub fn finish(&mut self, step: &Step, name: Name) -> Expected {
        match self.firms[step.firm].documents[&name].status {
            "storniert" => return refused(400, "BELEG_STORNIERT"),
            "offen" => {
                let mut rows = self.become_final(step.firm, name);
                rows.push(self.turned(step.firm, name));
                self.rows(step.firm, rows);
            }
            _ => {}
        }
        Expected::new(200, self.brief(step.firm, name))
    }

    pub fn settle(&mut self, step: &Step, name: Name) -> Expected {
        match self.firms[step.firm].documents[&name].status {
            "offen" if self.breaks(Broken::OpenSettles) => {}
            "offen" | "storniert" => return refused(400, "BELEG_NICHT_ABGESCHLOSSEN"),
            "erledigt" => return Expected::new(200, self.brief(step.firm, name)),
            _ => {}
        }
        let event = self.next_event(step.firm);
        let document = self.firms[step.firm].documents.get_mut(&name).expect("a document");
        (document.status, document.event) = ("erledigt", Some(event));
        let row = self.turned(step.firm, name);
        self.rows(step.firm, vec![row]);
        Expected::new(200, self.brief(step.firm, name))
    }

    pub fn cancel(&mut self, step: &Step, name: Name) -> Expected {
        let document = self.firms[step.firm].documents[&name].clone();
        let is_cancelled = !document.is_live() && !self.breaks(Broken::CancelTwice);
        if is_cancelled || document.cancels.is_some() {
            return refused(400, "BELEG_NICHT_STORNIERBAR");
        }
        let moved = self.carry_out(step.firm, document.typ, &document.moves(), &Moves::new(), true);
        let moves = match moved {
            Ok(moves) => moves,
            Err(code) => return refused(400, code),
        };
        let mut rows = self.batch_rows(step.firm, &moves);
        let mut moved = Moved::from([(name, moves)]);
        rows.extend(self.meet_anew(step.firm, name, None, &mut moved));
        let was_final = document.event.is_some();
        let counter = was_final && is_invoice(document.typ) && !self.breaks(Broken::NoCounter);
        if was_final && !self.breaks(Broken::StornoIsNoEvent) {
            let event = self.next_event(step.firm);
            self.firms[step.firm].documents.get_mut(&name).expect("a document").event = Some(event);
        }
        let counter = counter.then(|| self.counter(step, name, &document));
        rows.push(self.turned(step.firm, name));
        rows.extend(self.note_row(step.firm, name));
        let mut shows = self.brief(step.firm, name);
        if let Some(counter) = counter {
            rows.push(self.document_row(step.firm, counter));
            shows["storno_beleg_id"] = id(counter);
            shows["storno_beleg_nummer"] = json!(self.firms[step.firm].documents[&counter].number);
        }
        self.rows(step.firm, rows);
        shows["lagerbewegungen"] = self.shown_moves(step.firm, &moved);
        Expected::new(200, shows)
    }

    /// Writes the storno document of a final invoice.
    fn counter(&mut self, step: &Step, name: Name, of: &Document) -> Name {
        let day = if self.breaks(Broken::CounterBackdated) { of.day } else { self.today() };
        let number = self.number(step.firm, of.typ, date(day).0);
        let mut items = of.items.clone();
        for item in &mut items {
            (item.quantity, item.weighing, item.goods) = (-item.quantity, None, Goods::StayOut);
        }
        let sums = of.sums.map(|sum| -sum);
        let event = Some(self.next_event(step.firm));
        let (status, version) = ("abgeschlossen", 1);
        let counter = Document {
            number,
            status,
            day,
            items,
            sums,
            version,
            event,
            reference: None,
            made: self.now,
            changed: self.now,
            cancels: Some(name),
            papers: Vec::new(),
            ..of.clone()
        };
        let made = step.made(1);
        self.firms[step.firm].documents.insert(made, counter);
        made
    }

    pub fn archive(&mut self, step: &Step, name: Name, content: u32) -> Expected {
        let papers = &self.firms[step.firm].documents[&name].papers;
        let is_same = papers.last() == Some(&content);
        if !is_same {
            let is_open = self.firms[step.firm].documents[&name].status == "offen";
            let mut rows = Vec::new();
            if is_open {
                rows = self.become_final(step.firm, name);
            } else if self.firms[step.firm].documents[&name].event.is_some() {
                // A document cancelled while open has no events.
                let event = self.next_event(step.firm);
                self.firms[step.firm].documents.get_mut(&name).expect("a document").event = Some(event);
            }
            self.firms[step.firm].documents.get_mut(&name).expect("a document").papers.push(content);
            // Archiving makes no version of the document.
            rows.push(match is_open {
                true => self.turned(step.firm, name),
                false => self.document_row(step.firm, name),
            });
            self.rows(step.firm, rows);
        }
        let document = &self.firms[step.firm].documents[&name];
        let shows = json!({"beleg_id": id(name), "beleg_nummer": document.number, "status": document.status,
            "pdf_archiv_count": document.papers.len().to_string()});
        Expected::new(if is_same { 200 } else { 201 }, shows)
    }

    /// Finalises the documents created on past days.
    pub fn end_days(&mut self) {
        if self.breaks(Broken::DayNeverEnds) {
            return;
        }
        let is_utc = self.breaks(Broken::UtcDay);
        let day = |instant: i64| if is_utc { instant.div_euclid(DAY) } else { berlin_day(instant) };
        for firm in 0..self.firms.len() {
            let ends = |document: &Document| {
                let is_kind = document.typ == "RE" || document.typ == "LS" && self.breaks(Broken::NotesEnd);
                document.status == "offen" && is_kind && day(document.made) < day(self.now)
            };
            let documents = self.firms[firm].documents.iter().filter(|(_, document)| ends(document));
            let names: Vec<Name> = documents.map(|(name, _)| *name).collect();
            let mut rows = Vec::new();
            for name in names {
                rows.extend(self.become_final(firm, name));
                rows.push(self.turned(firm, name));
            }
            self.rows(firm, rows);
        }
    }
}
