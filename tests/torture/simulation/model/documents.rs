//! Writing and changing documents: numbers, sums, refusals (D4, D5, D6, D7, D19).

use serde_json::{Value, json};

use super::goods::{Moved, Moves, Placed};
use super::{Document, Expected, Model, Row, id, refused};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::date;
use crate::simulation::money::{Line, line, money, sums};
use crate::simulation::step::{Flaw, Head, Item, Match, Name, Step};

/// The refusal of a malformed body, which is checked before anything else.
fn form(flaw: Flaw) -> Option<Expected> {
    let code = match flaw {
        Flaw::NoJson => "UNGUELTIGES_JSON",
        Flaw::Comma => "FELD_UNGUELTIG",
        Flaw::HugeDiscount | Flaw::Type => "WERT_UNGUELTIG",
        _ => return None,
    };
    Some(refused(400, code))
}

fn rule(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::NoJson | Flaw::Comma | Flaw::HugeDiscount | Flaw::Type => unreachable!("these are of the form"),
        Flaw::NoItems => "FELD_FEHLT",
        Flaw::NoQuantity => "MENGE_UNGUELTIG",
        Flaw::UnknownArticle => "ARTIKEL_NICHT_GEFUNDEN",
        Flaw::InactiveArticle => "ARTIKEL_INAKTIV",
        Flaw::NoBatch => "CHARGE_FEHLT",
        Flaw::UnknownPartner | Flaw::ForeignPartner => "KUNDE_NICHT_GEFUNDEN",
        Flaw::NoPartner => "KUNDE_FEHLT",
        Flaw::FarDay => "DATUM_UNGUELTIG",
    }
}

pub fn sells(typ: &str) -> bool {
    ["AN", "AU", "LS", "RE"].contains(&typ)
}

pub fn is_invoice(typ: &str) -> bool {
    ["RE", "ER"].contains(&typ)
}

impl Model {
    pub fn lines(&self, typ: &str, items: &[Item]) -> Vec<Line> {
        items.iter().map(|item| line(item, sells(typ), self.wrong())).collect()
    }

    pub fn document(
        &mut self,
        step: &Step,
        typ: &'static str,
        partner: Name,
        items: &[Item],
        head: &Head,
        flaw: Option<Flaw>,
    ) -> Expected {
        if let Some(refusal) = flaw.and_then(form) {
            return refusal;
        }
        let reference = head.reference.map(|reference| self.reference(reference, typ));
        let known = reference.and_then(|reference| self.firms[step.firm].references.get(&reference));
        if let Some(known) = known.filter(|_| !self.breaks(Broken::ReferenceForgotten)) {
            let mut shows = self.shown_document(step.firm, *known);
            shows["idempotent"] = json!(true);
            return Expected::new(200, shows);
        }
        let outcome = match flaw {
            Some(flaw) => Err(rule(flaw)),
            None => self.written(step, typ, partner, items, head),
        };
        match outcome {
            Ok(moves) => {
                let made = step.made(0);
                let mut shows = self.confirmed(step.firm, made);
                shows["lagerbewegungen"] = self.shown_moves(step.firm, &moves);
                Expected::new(201, shows)
            }
            Err(code) => {
                if self.breaks(Broken::RefusedTakesNumber) {
                    self.number(step.firm, typ, date(self.today()).0);
                }
                refused(400, code)
            }
        }
    }

    fn reference(&self, reference: u32, typ: &'static str) -> (u32, &'static str) {
        (reference, if self.breaks(Broken::ReferenceByType) { typ } else { "" })
    }

    /// Tries something that may be refused, which then has no effect.
    fn try_out<T>(
        &mut self,
        firm: usize,
        attempt: impl FnOnce(&mut Model) -> Result<T, &'static str>,
    ) -> Result<T, &'static str> {
        let (batches, numbers) = (self.firms[firm].batches.clone(), self.firms[firm].numbers.clone());
        attempt(self).inspect_err(|_| {
            self.firms[firm].batches = batches;
            self.firms[firm].numbers = numbers;
        })
    }

    fn written(
        &mut self,
        step: &Step,
        typ: &'static str,
        partner: Name,
        items: &[Item],
        head: &Head,
    ) -> Result<Moved, &'static str> {
        let (made, day) = (step.made(0), self.today() - head.days_back);
        self.try_out(step.firm, |model| {
            let placed = model.place(step, None, typ, partner, items)?;
            let sums = sums(&model.lines(typ, &placed.items), model.wrong());
            let Placed { items, batches } = placed;
            let year = if model.breaks(Broken::YearOfToday) { model.today() } else { day };
            let number = model.number(step.firm, typ, date(year).0);
            let (now, status, version) = (model.now, "offen", 1);
            let (kept, cancels, event, papers) = (None, None, None, Vec::new());
            let document = Document {
                typ,
                number,
                status,
                day,
                partner,
                items,
                batches,
                sums,
                version,
                kept,
                cancels,
                event,
                papers,
                reference: head.reference,
                note: head.note,
                made: now,
                changed: now,
            };
            let moves = model.carry_out(step.firm, typ, &Moves::new(), &document.moves(), false)?;
            let mut rows = model.batch_rows(step.firm, &moves);
            let mut moved = Moved::from([(made, moves)]);
            rows.extend(model.meet_anew(step.firm, made, Some(document), &mut moved));
            if let Some(reference) = head.reference {
                let reference = model.reference(reference, typ);
                model.firms[step.firm].references.insert(reference, made);
            }
            if head.is_final {
                rows.extend(model.become_final(step.firm, made));
                model.turned(step.firm, made);
            }
            rows.push(model.document_row(step.firm, made));
            model.rows(step.firm, rows);
            Ok(moved)
        })
    }

    /// The row of the feed for the state of a document.
    pub fn document_row(&self, firm: usize, name: Name) -> Row {
        let document = &self.firms[firm].documents[&name];
        let action = match document.status {
            "offen" if document.version == 1 => "angelegt",
            "offen" => "geaendert",
            status => status,
        };
        self.row("beleg", name, action, Some(document.version))
    }

    pub fn change_document(
        &mut self,
        step: &Step,
        name: Name,
        items: Option<&[Item]>,
        note: Option<u32>,
        days_back: Option<i64>,
        matches: Match,
    ) -> Expected {
        if self.is_stale(matches) {
            return refused(412, "ZWISCHENZEITLICH_GEAENDERT");
        }
        let document = self.firms[step.firm].documents[&name].clone();
        if document.status != "offen" && !self.breaks(Broken::FinalChanges) {
            return refused(400, "BELEG_ABGESCHLOSSEN");
        }
        let day = days_back.map_or(document.day, |days| self.today() - days);
        if date(day).0 != date(document.day).0 {
            return refused(400, "DATUM_UNGUELTIG");
        }
        let rewritten = self.try_out(step.firm, |model| {
            let old = &document;
            let mut document = old.clone();
            let before = document.moves();
            if let Some(items) = items {
                let placed = model.place(step, Some(name), document.typ, document.partner, items)?;
                document.sums = sums(&model.lines(document.typ, &placed.items), model.wrong());
                (document.items, document.batches) = (placed.items, placed.batches);
            }
            let moves = model.carry_out(step.firm, document.typ, &before, &document.moves(), false)?;
            (document.day, document.note) = (day, note.or(document.note));
            (document.version, document.changed) = (document.version + 1, model.now);
            let mut touched = model.repriced(step.firm, name, old, &document);
            touched.extend(moves.clone());
            let mut rows = model.batch_rows(step.firm, &touched);
            let mut moved = Moved::from([(name, moves)]);
            match items {
                Some(_) => rows.extend(model.meet_anew(step.firm, name, Some(document), &mut moved)),
                None => drop(model.firms[step.firm].documents.insert(name, document)),
            }
            Ok((rows, moved))
        });
        match rewritten {
            Ok((mut rows, moved)) => {
                rows.push(self.document_row(step.firm, name));
                rows.extend(items.and_then(|_| self.note_row(step.firm, name)));
                self.rows(step.firm, rows);
                let mut shows = self.confirmed(step.firm, name);
                shows["lagerbewegungen"] = self.shown_moves(step.firm, &moved);
                Expected::new(200, shows)
            }
            Err(code) => refused(400, code),
        }
    }

    pub fn brief(&self, firm: usize, name: Name) -> Value {
        let document = &self.firms[firm].documents[&name];
        json!({"id": id(name), "beleg_nummer": document.number, "status": document.status})
    }

    fn confirmed(&self, firm: usize, name: Name) -> Value {
        let document = &self.firms[firm].documents[&name];
        let [net, tax, gross] = document.sums.map(money);
        let mut shows = self.brief(firm, name);
        shows["beleg_typ"] = json!(document.typ);
        (shows["summe_netto"], shows["summe_mwst"], shows["summe_brutto"]) =
            (json!(net), json!(tax), json!(gross));
        shows
    }
}
