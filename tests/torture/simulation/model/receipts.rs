//! Goods receipts (D21a, D23) and production orders without a recipe (D13).

use serde_json::{Value, json};

use super::goods::{Moved, Moves};
use super::{Document, Expected, Model, Row, id, refused};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::{date, day_time};
use crate::simulation::money::{divided, money, quantity, sums};
use crate::simulation::step::{Goods, Grain, Item, Name, Named, Step, WHEAT};

/// A goods receipt.
#[derive(Debug, Clone)]
pub struct Receipt {
    pub number: String,
    pub partner: Name,
    pub status: &'static str,
    pub grain: Grain,
    pub day: i64,
    /// In whole kilogrammes.
    pub net: i64,
    pub delivery: Option<Name>,
}

/// A production order.
#[derive(Debug, Clone)]
pub struct Order {
    pub number: String,
    pub status: usize,
    pub day: Option<i64>,
    pub version: i64,
}

/// The states of an order, in their sequence.
pub const STATES: [&str; 5] = ["schwebend", "geplant", "in_bearbeitung", "erledigt", "storniert"];

impl Grain {
    /// The net weight in whole kilogrammes, rounded half up; `None` below zero. Percentages and the factor
    /// are in tenths.
    fn net(&self, wrong: bool) -> Option<i64> {
        let dirt = i128::from((self.dirt - self.base_dirt).max(0));
        let moist = i128::from((self.moisture - self.base_moisture).max(0) * self.factor);
        let cleaned = i128::from(self.delivered) * (1_000 - dirt);
        let (dry, scale) = match wrong {
            // Both deductions from the delivered weight.
            true => (i128::from(self.delivered) * (10_000_000 - 10_000 * dirt - 1_000 * moist), 10_000_000),
            false => (cleaned * (10_000 - moist), 10_000_000),
        };
        let left = dry - i128::from(self.deducted) * scale;
        (left >= 0).then(|| ((2 * left + scale) / (2 * scale)) as i64)
    }
}

impl Model {
    pub fn receipt(&mut self, step: &Step, partner: Name, grain: &Grain) -> Expected {
        let Some(net) = grain.net(self.breaks(Broken::DeductsAtOnce)) else {
            return refused(400, "NETTO_NEGATIV");
        };
        if grain.lot.is_some() && net == 0 {
            return refused(400, "MENGE_UNGUELTIG");
        }
        let number = self.number_of_today(step.firm, "AS");
        let made = step.made(0);
        let mut rows = Vec::new();
        let mut moves = Moves::new();
        let delivery = grain.lot.map(|lot| {
            moves = self.deliver(step, partner, grain, net, lot);
            rows = self.batch_rows(step.firm, &moves);
            rows.push(self.document_row(step.firm, step.made(1)));
            step.made(1)
        });
        let receipt = Receipt {
            number,
            partner,
            status: "offen",
            grain: grain.clone(),
            day: self.today(),
            net,
            delivery,
        };
        self.firms[step.firm].receipts.insert(made, receipt);
        rows.push(self.row("annahmeschein", made, "angelegt", None));
        self.rows(step.firm, rows);
        let mut shows = self.shown_receipt(step.firm, made);
        if let Some(delivery) = delivery {
            shows["lagerbewegungen"] = self.shown_moves(step.firm, &Moved::from([(delivery, moves)]));
        }
        Expected::new(201, shows)
    }

    /// Books the delivery over the net quantity, in tonnes.
    fn deliver(&mut self, step: &Step, partner: Name, grain: &Grain, net: i64, lot: u32) -> Moves {
        let item = Item {
            article: Some(WHEAT),
            quantity: net,
            in_tonnes: true,
            price: Some(grain.price),
            rate: None,
            discount: 0,
            batch: Named::Foreign(lot),
            weighing: None,
            has_contract: false,
            goods: Goods::ByTyp,
        };
        let placed = self.place(step, None, "EL", partner, &[item]).expect("a delivery with a batch");
        let sums = sums(&self.lines("EL", &placed.items), self.wrong());
        let number = self.number(step.firm, "EL", date(self.today()).0);
        let document = Document {
            typ: "EL",
            number,
            status: "offen",
            day: self.today(),
            partner,
            items: placed.items,
            batches: placed.batches,
            sums,
            reference: None,
            note: None,
            made: self.now,
            changed: self.now,
            version: 1,
            kept: None,
            cancels: None,
            event: None,
            papers: Vec::new(),
        };
        let moves = self.carry_out(step.firm, "EL", &Moves::new(), &document.moves(), false);
        self.firms[step.firm].documents.insert(step.made(1), document);
        moves.expect("what comes in may")
    }

    pub fn cancel_receipt(&mut self, step: &Step, name: Name) -> Expected {
        let firm = &mut self.firms[step.firm];
        let receipt = firm.receipts.get_mut(&name).expect("a receipt");
        let is_live = receipt.delivery.is_some_and(|delivery| firm.documents[&delivery].is_live());
        if receipt.status != "offen" || is_live {
            return refused(400, "ANNAHMESCHEIN_NICHT_STORNIERBAR");
        }
        receipt.status = "storniert";
        let shows = json!({"id": id(name), "belegnummer": receipt.number, "status": "storniert"});
        self.rows(step.firm, vec![self.row("annahmeschein", name, "storniert", None)]);
        Expected::new(200, shows)
    }

    /// The row of the receipt whose delivery is rewritten or cancelled, as its counterparts change.
    pub fn note_row(&self, firm: usize, delivery: Name) -> Option<Row> {
        let mut receipts = self.firms[firm].receipts.iter();
        let (name, _) = receipts.find(|(_, receipt)| receipt.delivery == Some(delivery))?;
        Some(self.row("annahmeschein", *name, "geaendert", None))
    }

    /// The receipt as in its confirmation.
    fn shown_receipt(&self, firm: usize, name: Name) -> Value {
        let receipt = &self.firms[firm].receipts[&name];
        let amount = divided(i128::from(receipt.net) * i128::from(receipt.grain.price), 100_000);
        let number = receipt.delivery.map(|delivery| &self.firms[firm].documents[&delivery].number);
        let is_billed = receipt.delivery.is_some_and(|delivery| self.is_billed(firm, delivery));
        let status = if is_billed { "abgerechnet" } else { receipt.status };
        let mut shown = json!({"id": id(name), "belegnummer": receipt.number, "status": status,
            "anliefermenge_kg": quantity(receipt.grain.delivered * 1_000),
            "netto_menge_kg": quantity(receipt.net * 1_000), "netto_betrag": money(amount),
            "partner_id": id(receipt.partner)});
        if let Some(delivery) = receipt.delivery {
            (shown["el_id"], shown["el_beleg_nummer"]) = (id(delivery), json!(number));
        }
        shown
    }

    pub fn receipt_list(&self, firm: usize) -> Vec<Value> {
        let receipts = self.firms[firm].receipts.iter();
        let mut order: Vec<(i64, Name)> = receipts.map(|(name, receipt)| (receipt.day, *name)).collect();
        order.sort_by_key(|(day, name)| (std::cmp::Reverse(*day), *name));
        let row = |(day, name): (i64, Name)| {
            let mut shown = self.shown_receipt(firm, name);
            shown["lieferdatum"] = json!(day_time(day));
            shown
        };
        order.into_iter().map(row).collect()
    }

    pub fn order(&mut self, step: &Step, day: Option<i64>) -> Expected {
        let number = self.number_of_today(step.firm, "PA");
        let day = day.map(|day| self.today() + day);
        let (made, status) = (step.made(0), usize::from(day.is_some()));
        self.firms[step.firm].orders.insert(made, Order { number, status, day, version: 1 });
        self.rows(step.firm, vec![self.row("produktionsauftrag", made, "angelegt", Some(1))]);
        Expected::new(201, self.shown_order(step.firm, made))
    }

    pub fn turn_order(&mut self, step: &Step, name: Name, to: usize) -> Expected {
        let goes_back = self.breaks(Broken::OrdersGoBack);
        let order = self.firms[step.firm].orders.get_mut(&name).expect("an order");
        if to <= order.status && !(goes_back && to < order.status) {
            return refused(400, "PA_STATUS_UNGUELTIG");
        }
        (order.status, order.version) = (to, order.version + 1);
        let version = order.version;
        let action =
            if STATES[to] == "erledigt" || STATES[to] == "storniert" { STATES[to] } else { "geaendert" };
        self.rows(step.firm, vec![self.row("produktionsauftrag", name, action, Some(version))]);
        Expected::new(200, self.shown_order(step.firm, name))
    }

    pub fn shown_order(&self, firm: usize, name: Name) -> Value {
        let order = &self.firms[firm].orders[&name];
        json!({"id": id(name), "pa_nummer": order.number, "status": STATES[order.status]})
    }

    /// Latest date first, orders without a date last.
    pub fn order_list(&self, firm: usize) -> Vec<Value> {
        let orders = self.firms[firm].orders.iter();
        let mut order: Vec<(Option<i64>, Name)> = orders.map(|(name, order)| (order.day, *name)).collect();
        order.sort_by_key(|(day, name)| (std::cmp::Reverse(*day), *name));
        order.into_iter().map(|(_, name)| self.shown_order(firm, name)).collect()
    }
}
