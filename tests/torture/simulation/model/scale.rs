//! Weighings (D12).

use serde_json::{Value, json};

use super::{Expected, Model, Weighing, id, refused};
use crate::simulation::broken::Broken;
use crate::simulation::calendar::instant;
use crate::simulation::money::quantity;
use crate::simulation::step::{Name, Step};

impl Weighing {
    /// Net, in thousandths of a kilogramme.
    pub fn net(&self) -> Option<i64> {
        self.second.map(|second| (self.first - second).abs() * 1_000)
    }

    fn direction(&self) -> Option<&'static str> {
        self.second.map(|second| if self.first > second { "eingang" } else { "ausgang" })
    }
}

impl Model {
    pub fn weighing(&mut self, step: &Step, partner: Name, first: i64) -> Expected {
        if first <= 0 {
            return refused(400, "WERT_UNGUELTIG");
        }
        let number = self.number_of_today(step.firm, "WS");
        let (made, begun) = (step.made(0), self.now);
        let weighing = Weighing { number, partner, status: "offen", first, second: None, begun, version: 1 };
        self.firms[step.firm].weighings.insert(made, weighing);
        self.rows(step.firm, vec![self.row("wiegung", made, "angelegt", Some(1))]);
        Expected::new(201, self.confirmed_weighing(step.firm, made))
    }

    pub fn second_weighing(&mut self, step: &Step, name: Name, second: i64) -> Expected {
        let weighing = &self.firms[step.firm].weighings[&name];
        if weighing.status != "offen" && !self.breaks(Broken::WeighsTwice) {
            return refused(400, "WIEGUNG_NICHT_OFFEN");
        }
        if weighing.first == second {
            return refused(400, "NETTO_NULL");
        }
        self.change_weighing(step.firm, name, "abgeschlossen", |weighing| {
            (weighing.status, weighing.second) = ("fertig", Some(second));
        })
    }

    pub fn cancel_weighing(&mut self, step: &Step, name: Name) -> Expected {
        let firm = &self.firms[step.firm];
        if firm.weighings[&name].status == "storno" {
            return refused(400, "WIEGUNG_NICHT_STORNIERBAR");
        }
        if firm.billing(name).is_some() && !self.breaks(Broken::BilledCancels) {
            return refused(400, "WIEGUNG_ABGERECHNET");
        }
        self.change_weighing(step.firm, name, "storniert", |weighing| weighing.status = "storno")
    }

    fn change_weighing(
        &mut self,
        firm: usize,
        name: Name,
        action: &'static str,
        change: impl FnOnce(&mut Weighing),
    ) -> Expected {
        let weighing = self.firms[firm].weighings.get_mut(&name).expect("a weighing");
        change(weighing);
        weighing.version += 1;
        let version = weighing.version;
        self.rows(firm, vec![self.row("wiegung", name, action, Some(version))]);
        Expected::new(200, self.confirmed_weighing(firm, name))
    }

    fn confirmed_weighing(&self, firm: usize, name: Name) -> Value {
        let weighing = &self.firms[firm].weighings[&name];
        let net = match (weighing.second, self.breaks(Broken::SignedNet)) {
            (Some(second), true) => Some((weighing.first - second) * 1_000),
            _ => weighing.net(),
        };
        json!({"id": id(name), "wiegeschein_nr": weighing.number, "status": weighing.status,
            "gewicht_netto_kg": net.map(quantity), "richtung": weighing.direction()})
    }

    pub fn shown_weighing(&self, firm: usize, name: Name) -> Value {
        let weighing = &self.firms[firm].weighings[&name];
        let mut shown = self.confirmed_weighing(firm, name);
        shown["partner_id"] = id(weighing.partner);
        shown["gewicht_erst_kg"] = json!(quantity(weighing.first * 1_000));
        shown["gewicht_zweit_kg"] = json!(weighing.second.map(|second| quantity(second * 1_000)));
        shown["ts_erst"] = json!(instant(weighing.begun));
        shown["beleg_id"] = self.firms[firm].billing(name).map_or(Value::Null, id);
        shown
    }
}
