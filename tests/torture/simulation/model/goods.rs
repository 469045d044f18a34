//! Batches and stock (D8), for the company where only deliveries move goods.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Batch, Document, Expected, Firm, Model, Row, id, refused};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::{day_time, days};
use crate::simulation::money::{quantity, stock_quantity};
use crate::simulation::step::{Goods, Item, Name, Named, SALT, Step, WHEAT};

/// Movements by article and batch.
pub type Moves = BTreeMap<(Name, Option<Name>), i64>;

/// Movements of a request, by document.
pub type Moved = BTreeMap<Name, Moves>;

/// The result of booking the items of a document.
pub struct Placed {
    pub items: Vec<Item>,
    pub batches: Vec<Option<Name>>,
}

/// Whether a document of this type brings goods in or takes them out.
pub fn direction(typ: &str) -> i64 {
    match typ {
        "EL" => 1,
        "LS" => -1,
        _ => 0,
    }
}

impl Document {
    pub fn is_live(&self) -> bool {
        self.status != "storniert"
    }

    pub fn moves(&self) -> Moves {
        moves(self.typ, &self.items, &self.batches)
    }
}

fn moves(typ: &str, items: &[Item], batches: &[Option<Name>]) -> Moves {
    let mut moves = Moves::new();
    for (item, batch) in items.iter().zip(batches) {
        if let (Some(article), Goods::ByTyp) = (item.article, item.goods) {
            *moves.entry((article, *batch)).or_default() += direction(typ) * stock_quantity(item);
        }
    }
    moves.retain(|_, sum| *sum != 0);
    moves
}

/// The movements that lead from `before` to `after`.
pub fn difference(before: &Moves, after: &Moves) -> Moves {
    let mut difference = after.clone();
    before.iter().for_each(|(key, sum)| *difference.entry(*key).or_default() -= sum);
    difference.retain(|_, sum| *sum != 0);
    difference
}

impl Item {
    /// Whether it uses a part of a weighing (D12), which items without goods movement do not.
    fn shares(&self, weighing: Name) -> bool {
        self.weighing == Some(weighing) && self.goods != Goods::StayOut
    }
}

impl Firm {
    pub fn can_name(&self, items: &[Item]) -> bool {
        items.iter().all(|item| {
            let has_batch = match item.batch {
                Named::Charge(batch) => self.batches.contains_key(&batch),
                _ => true,
            };
            has_batch && item.weighing.is_none_or(|weighing| self.weighings.contains_key(&weighing))
        })
    }

    /// The live document that was the first to reference a weighing.
    pub fn billing(&self, weighing: Name) -> Option<Name> {
        let names = |document: &Document| document.items.iter().any(|item| item.weighing == Some(weighing));
        let mut live = self.documents.iter().filter(|(_, document)| document.is_live());
        live.find(|(_, document)| names(document)).map(|(name, _)| *name)
    }

    /// The quantity of a weighing used by other live documents of a type.
    fn billed(&self, weighing: Name, typ: &str, own: Option<Name>) -> i64 {
        let others = self
            .documents
            .iter()
            .filter(|(name, document)| Some(**name) != own && document.is_live() && document.typ == typ);
        let items = others.flat_map(|(_, document)| &document.items);
        items.filter(|item| item.shares(weighing)).map(stock_quantity).sum()
    }
}

impl Model {
    /// Finds or creates the batches of items, and computes their quantities.
    pub fn place(
        &mut self,
        step: &Step,
        own: Option<Name>,
        typ: &'static str,
        partner: Name,
        items: &[Item],
    ) -> Result<Placed, &'static str> {
        let mut placed = Placed { items: Vec::new(), batches: Vec::new() };
        for (at, item) in items.iter().enumerate() {
            let mut item = item.clone();
            if let Some(weighing) = item.weighing {
                item.quantity = self.left(step.firm, &placed, own, typ, weighing)?;
            }
            let batch = match item.batch {
                _ if item.article != Some(WHEAT) => None,
                Named::Charge(batch) => Some(batch),
                Named::Foreign(_) | Named::Dated(_) => Some(self.receive(step, at, partner, &item)),
                Named::Nothing if ["EL", "LS", "BS"].contains(&typ) => return Err("CHARGE_FEHLT"),
                Named::Nothing => None,
            };
            placed.items.push(item);
            placed.batches.push(batch);
        }
        Ok(placed)
    }

    /// The remaining quantity of a weighing for one more position.
    fn left(
        &self,
        firm: usize,
        placed: &Placed,
        own: Option<Name>,
        typ: &str,
        weighing: Name,
    ) -> Result<i64, &'static str> {
        let firm = &self.firms[firm];
        let of = &firm.weighings[&weighing];
        let net = of.net().filter(|_| of.status == "fertig").ok_or("WIEGUNG_NICHT_FERTIG")?;
        let before = placed.items.iter().filter(|item| item.shares(weighing)).map(stock_quantity);
        let left = net - before.sum::<i64>() - firm.billed(weighing, typ, own);
        if left > 0 { Ok(left) } else { Err("WIEGUNG_BEREITS_VERWENDET") }
    }

    /// The batch with the supplier's number, or a new one.
    fn receive(&mut self, step: &Step, at: usize, partner: Name, item: &Item) -> Name {
        let (foreign, best_before) = match item.batch {
            Named::Foreign(number) => (Some(number), None),
            Named::Dated(day) => (None, Some(day)),
            _ => (None, None),
        };
        let is_same = |batch: &Batch| {
            let has_number = batch.foreign.is_some() && batch.foreign == foreign;
            let is_his = batch.partner == Some(partner) || self.breaks(Broken::BatchForAll);
            has_number && is_his && !self.breaks(Broken::BatchEachTime)
        };
        let mut known = self.firms[step.firm].batches.iter();
        if let Some((name, _)) = known.find(|(_, batch)| is_same(batch)) {
            return *name;
        }
        let number = self.number_of_today(step.firm, "CH");
        let (name, partner) = (step.made(10 + at as u32), Some(partner));
        let (article, stock, is_locked, version) = (WHEAT, 0, false, 0);
        let imported = None;
        let batch =
            Batch { article, partner, number, foreign, best_before, stock, imported, is_locked, version };
        self.firms[step.firm].batches.insert(name, batch);
        name
    }

    /// Carries out movements; refused if goods would be missing that have gone, or are locked.
    pub fn carry_out(
        &mut self,
        firm: usize,
        typ: &str,
        before: &Moves,
        after: &Moves,
        is_storno: bool,
    ) -> Result<Moves, &'static str> {
        let moves = difference(before, after);
        for ((_, batch), sum) in &moves {
            let Some(batch) = batch.map(|batch| &self.firms[firm].batches[&batch]) else { continue };
            let takes = *sum < 0;
            if takes && typ == "LS" && batch.is_locked && !is_storno && !self.breaks(Broken::LockedSells) {
                return Err("CHARGE_GESPERRT");
            }
            if takes && typ == "EL" && batch.stock + sum < 0 && !self.breaks(Broken::UsedReverses) {
                return Err("CHARGE_BEREITS_VERWENDET");
            }
        }
        if is_storno && self.breaks(Broken::StockStays) {
            return Ok(moves);
        }
        let firm = &mut self.firms[firm];
        for ((article, batch), sum) in &moves {
            match batch {
                Some(batch) => firm.batches.get_mut(batch).expect("a batch").stock += sum,
                None => *firm.stocks.entry(*article).or_default() += sum,
            }
        }
        Ok(moves)
    }

    /// Batches to which a changed delivery brings the same quantity at another price, if it is their oldest
    /// one: they store the purchase price (D8).
    pub fn repriced(&self, firm: usize, name: Name, before: &Document, after: &Document) -> Moves {
        let is_oldest = |batch: Name| {
            let older =
                self.firms[firm].documents.range(..name).filter(|(_, of)| of.typ == "EL" && of.is_live());
            !older
                .map(|(_, of)| of.moves())
                .any(|moves| moves.get(&(WHEAT, Some(batch))).is_some_and(|sum| *sum > 0))
        };
        let price = |of: &Document, batch: Name| {
            let lines = self.lines(of.typ, &of.items);
            let brings = |(item, of): (&Item, &Option<Name>)| {
                *of == Some(batch) && item.goods == Goods::ByTyp && item.quantity > 0
            };
            let first = of.items.iter().zip(&of.batches).position(brings);
            first.map(|at| {
                let for_a_kilogramme = if of.items[at].in_tonnes { 1 } else { 1_000 };
                i128::from(lines[at].price * for_a_kilogramme) * i128::from(100 - of.items[at].discount)
            })
        };
        let stays = after.moves();
        let brought = before.moves().into_iter().filter(|(key, sum)| *sum > 0 && stays.get(key) == Some(sum));
        let batches = brought.filter_map(|((_, batch), _)| batch);
        let repriced =
            batches.filter(|batch| is_oldest(*batch) && price(before, *batch) != price(after, *batch));
        repriced.map(|batch| ((WHEAT, Some(batch)), 0)).collect()
    }

    /// A row of the feed for each created batch and each one with a changed stock; its version only counts
    /// changes of the batch itself.
    pub fn batch_rows(&mut self, firm: usize, moves: &Moves) -> Vec<Row> {
        let moved = |name: Name| moves.keys().any(|(_, batch)| *batch == Some(name));
        let mut rows = Vec::new();
        for (name, batch) in &mut self.firms[firm].batches {
            if batch.version > 0 && !moved(*name) {
                continue;
            }
            let action = if batch.version == 0 { "angelegt" } else { "geaendert" };
            batch.version = batch.version.max(1);
            let (kind, version) = ("charge", Some(batch.version));
            rows.push(Row { kind, name: *name, action, version, at: self.now });
        }
        rows
    }

    pub fn shown_moves(&self, firm: usize, moved: &Moved) -> Value {
        let all = moved.iter().flat_map(|(document, moves)| moves.iter().map(move |of| (document, of)));
        let shown = |(document, ((article, batch), sum)): (&Name, (&(Name, Option<Name>), &i64))| {
            let number = &self.firms[firm].documents[document].number;
            let of = batch.map(|batch| &self.firms[firm].batches[&batch]);
            json!({"beleg_id": id(*document), "beleg_nummer": number, "artikel_id": id(*article),
                "charge_id": batch.map(id), "charge_nr": of.map(|of| &of.number), "menge": quantity(*sum)})
        };
        all.map(shown).collect()
    }

    pub fn batch(&mut self, step: &Step, article: Name, number: Option<u32>) -> Expected {
        let given = number.map(|number| format!("LAGER-{number}"));
        let is_same = |batch: &Batch| Some(&batch.number) == given.as_ref() && batch.article == article;
        if self.firms[step.firm].batches.values().any(is_same) {
            return refused(409, "CHARGE_NR_BEREITS_VERGEBEN");
        }
        let number = given.unwrap_or_else(|| self.number_of_today(step.firm, "CH"));
        let made = step.made(0);
        let shows = json!({"id": id(made), "charge_nr": number, "bestand": "0.000"});
        let (partner, foreign, best_before, stock, is_locked, version) = (None, None, None, 0, false, 0);
        let imported = None;
        let batch =
            Batch { article, partner, number, foreign, best_before, stock, imported, is_locked, version };
        self.firms[step.firm].batches.insert(made, batch);
        let rows = self.batch_rows(step.firm, &Moves::new());
        self.rows(step.firm, rows);
        Expected::new(201, shows)
    }

    pub fn lock_batch(&mut self, step: &Step, name: Name, is_locked: bool) -> Expected {
        let batch = self.firms[step.firm].batches.get_mut(&name).expect("a batch");
        let is_changed = batch.is_locked != is_locked;
        batch.is_locked = is_locked;
        if is_changed {
            batch.version += 1;
            let rows = self.batch_rows(step.firm, &Moves::from([((WHEAT, Some(name)), 0)]));
            self.rows(step.firm, rows);
        }
        Expected::new(200, self.shown_batch(step.firm, name))
    }

    pub fn count_batch(&mut self, step: &Step, name: Name, counted: i64) -> Expected {
        let adds = self.breaks(Broken::CountAdds);
        let batch = self.firms[step.firm].batches.get_mut(&name).expect("a batch");
        let before = batch.stock;
        (batch.stock, batch.imported) = (if adds { before + counted } else { counted }, None);
        let shows = counted_stock(step, before, batch.stock);
        let rows = self.batch_rows(step.firm, &Moves::from([((WHEAT, Some(name)), 0)]));
        self.rows(step.firm, rows);
        Expected::new(201, shows)
    }

    /// Imports counts by the command line; returns how many are new, and how many were imported before.
    pub fn import_counts(&mut self, step: &Step, counts: &[(Name, i64)]) -> Expected {
        let is_double = |at: usize| counts[..at].iter().any(|(other, _)| *other == counts[at].0);
        if (0..counts.len()).any(is_double) {
            return refused(1, "");
        }
        let (counts_again, mut counted) = (self.breaks(Broken::CountsAgain), Moves::new());
        for (name, stock) in counts {
            let batch = self.firms[step.firm].batches.get_mut(name).expect("a batch");
            if batch.imported != Some(*stock) || counts_again {
                (batch.stock, batch.imported) = (*stock, Some(*stock));
                counted.insert((WHEAT, Some(*name)), 0);
            }
        }
        let mut rows = if counted.is_empty() { Vec::new() } else { self.batch_rows(step.firm, &counted) };
        rows.iter_mut().for_each(|row| row.at = 0);
        self.rows(step.firm, rows);
        let (new, same) = (counted.len(), counts.len() - counted.len());
        Expected::new(0, json!(format!("{new} neu, 0 geändert, {same} unverändert")))
    }

    pub fn count_article(&mut self, step: &Step, article: Name, counted: i64) -> Expected {
        if article != SALT {
            return refused(400, "CHARGE_FEHLT");
        }
        let adds = self.breaks(Broken::CountAdds);
        let stock = self.firms[step.firm].stocks.entry(article).or_default();
        let before = *stock;
        *stock = if adds { before + counted } else { counted };
        let shows = counted_stock(step, before, *stock);
        self.rows(step.firm, vec![self.row("artikel", article, "geaendert", None)]);
        Expected::new(201, shows)
    }

    pub fn shown_batch(&self, firm: usize, name: Name) -> Value {
        let batch = &self.firms[firm].batches[&name];
        json!({"id": id(name), "charge_nr": batch.number, "artikel_id": id(batch.article),
            "partner_id": batch.partner.map(id), "bestand": quantity(batch.stock), "gesperrt": batch.is_locked,
            "mhd": batch.best_before.map(|day| day_time(days(2040, 1, 1) + day)),
            "fremde_charge_nr": batch.foreign.map(|number| format!("F-{number}"))})
    }
}

fn counted_stock(step: &Step, before: i64, after: i64) -> Value {
    json!({"id": id(step.made(0)), "bestand_vorher": quantity(before), "bestand": quantity(after),
        "differenz": quantity(after - before)})
}
