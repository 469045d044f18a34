//! Partners and their files (D2, D18, D21f).

use serde_json::{Value, json};

use super::{Expected, Model, Partner, Row, id, refused};
use crate::simulation::broken::Broken;
use crate::simulation::step::{Match, Name, PartnerChange, Step};

/// A number given by a client, every other one in lower case.
pub fn given_number(number: u32) -> String {
    format!("{}-{number}", if number.is_multiple_of(2) { "K" } else { "k" })
}

pub fn partner_name(number: u32) -> String {
    format!("Hof {number}")
}

impl Model {
    pub fn partner(&mut self, step: &Step, number: Option<u32>, name: Option<u32>) -> Expected {
        self.new_partner(step.firm, step.made(0), number, name)
    }

    /// Many partners in one request: each is handled alone, and each counts as a request of the day.
    pub fn partners(&mut self, step: &Step, names: &[Option<u32>]) -> Expected {
        let (mut rows, mut made) = (Vec::new(), 0);
        for (at, name) in names.iter().enumerate() {
            let answer = match made < at && self.breaks(Broken::BulkStops) {
                true => refused(400, "NAME_FEHLT"),
                false => self.new_partner(step.firm, step.made(at as u32), None, *name),
            };
            made += usize::from(answer.status == 201);
            if !self.breaks(Broken::BulkIsOne) {
                self.count(step.firm, answer.status);
            }
            rows.push(json!({"status": answer.status, "antwort": answer.shows}));
        }
        Expected::new(200, json!({"data": rows, "angelegt": made, "abgelehnt": names.len() - made}))
    }

    /// Imports a file by the command line, completely or not at all; returns how many are new, changed, and unchanged.
    pub fn import(&mut self, step: &Step, lines: &[(u32, Option<u32>)]) -> Expected {
        let (before, mut rows, mut counts) = (self.firms[step.firm].partners.clone(), Vec::new(), [0; 3]);
        for (at, (number, name)) in lines.iter().enumerate() {
            let mut partners = self.firms[step.firm].partners.iter();
            let is_same = |partner: &Partner| partner.number.eq_ignore_ascii_case(&given_number(*number));
            let known = partners.find(|(_, partner)| is_same(partner)).map(|(record, _)| *record);
            let is_double = lines[..at].iter().any(|(other, _)| other == number);
            if is_double || known.is_none() && name.is_none() {
                if !self.breaks(Broken::ImportInParts) {
                    self.firms[step.firm].partners = before;
                }
                return refused(1, "");
            }
            let (record, new) = match (known, name.map(partner_name)) {
                (Some(record), Some(name)) => {
                    let partner = self.firms[step.firm].partners.get_mut(&record).expect("a partner");
                    let is_same = partner.name == name;
                    partner.version += i64::from(!is_same);
                    partner.name = name;
                    (record, 1 + usize::from(is_same))
                }
                (Some(record), None) => (record, 2),
                (None, _) => (self.import_new(step, at, *number, name.unwrap_or_default()), 0),
            };
            counts[new] += 1;
            let Partner { status, version, .. } = self.firms[step.firm].partners[&record];
            let action = ["angelegt", if status == "inaktiv" { status } else { "geaendert" }];
            // The command uses the clock of the machine.
            let row =
                |action: &&'static str| Row { at: 0, ..self.row("kunde", record, action, Some(version)) };
            rows.extend(action.get(new).map(row));
        }
        self.rows(step.firm, rows);
        let [new, changed, same] = counts;
        Expected::new(0, json!(format!("{new} neu, {changed} geändert, {same} unverändert")))
    }

    fn import_new(&mut self, step: &Step, at: usize, number: u32, name: u32) -> Name {
        let feed = self.firms[step.firm].feed.len();
        self.new_partner(step.firm, step.made(at as u32), Some(number), Some(name));
        self.firms[step.firm].feed.truncate(feed);
        step.made(at as u32)
    }

    fn new_partner(&mut self, firm: usize, made: Name, number: Option<u32>, name: Option<u32>) -> Expected {
        let Some(name) = name else { return refused(400, "NAME_FEHLT") };
        let number = match number {
            Some(number) if self.is_taken(firm, &given_number(number)) => {
                return refused(409, "KUNDENNR_BEREITS_VERGEBEN");
            }
            Some(number) => given_number(number),
            None => self.next_number(firm),
        };
        let partner_nr = self.firms[firm].partners.len() + 1;
        let (name, status) = (partner_name(name), "aktiv");
        let shows = json!({"id": id(made), "kundennr": number, "kunden_id": partner_nr});
        let partner =
            Partner { number, partner_nr, name, place: None, status, version: 1, files: Vec::new() };
        self.firms[firm].partners.insert(made, partner);
        self.rows(firm, vec![self.row("kunde", made, "angelegt", Some(1))]);
        Expected::new(201, shows)
    }

    fn is_taken(&self, firm: usize, number: &str) -> bool {
        let is_same = |other: &str| match self.breaks(Broken::NumberByCase) {
            true => other == number,
            false => other.to_lowercase() == number.to_lowercase(),
        };
        self.firms[firm].partners.values().any(|partner| is_same(&partner.number))
    }

    fn next_number(&self, firm: usize) -> String {
        let first = 1_000 + self.firms[firm].partners.len() + 1;
        let is_free = |number: &String| self.breaks(Broken::NumberTaken) || !self.is_taken(firm, number);
        (first..).map(|number| format!("K-{number}")).find(is_free).expect("a free number")
    }

    pub fn change_partner(
        &mut self,
        step: &Step,
        name: Name,
        change: PartnerChange,
        matches: Match,
    ) -> Expected {
        if self.is_stale(matches) {
            return refused(412, "ZWISCHENZEITLICH_GEAENDERT");
        }
        let partner = self.firms[step.firm].partners.get_mut(&name).expect("a partner");
        let before = (partner.name.clone(), partner.place.clone(), partner.status);
        match change {
            PartnerChange::Name(number) => partner.name = partner_name(number),
            PartnerChange::Place(number) => partner.place = Some(format!("Ort {number}")),
            PartnerChange::Inactive(is) => partner.status = if is { "inaktiv" } else { "aktiv" },
            PartnerChange::Nothing => {}
        }
        let is_changed = before != (partner.name.clone(), partner.place.clone(), partner.status);
        if is_changed || self.broken == Some(Broken::NothingWrites) {
            partner.version += 1;
            let (version, is_inactive) = (partner.version, partner.status == "inaktiv");
            let action = if is_inactive { "inaktiv" } else { "geaendert" };
            self.rows(step.firm, vec![self.row("kunde", name, action, Some(version))]);
        }
        Expected::new(200, self.shown_partner(step.firm, name))
    }

    pub fn shown_partner(&self, firm: usize, name: Name) -> Value {
        let partner = &self.firms[firm].partners[&name];
        json!({"id": id(name), "kundennr": partner.number, "kunden_id": partner.partner_nr, "name": partner.name,
            "nachname_firma": partner.name, "ort": partner.place, "status": partner.status, "staat": "DE",
            "partner_typen": ["kunde", "lieferant"], "zahlungsziel_tage": 30})
    }

    pub fn attach(&mut self, step: &Step, name: Name, content: u32) -> Expected {
        let made = step.made(0);
        let partner = self.firms[step.firm].partners.get_mut(&name).expect("a partner");
        partner.files.push((made, content));
        let version = partner.version;
        let action = if partner.status == "inaktiv" { "inaktiv" } else { "geaendert" };
        self.rows(step.firm, vec![self.row("kunde", name, action, Some(version))]);
        Expected::new(201, shown_file(made, content))
    }
}

pub fn file_text(content: u32) -> String {
    format!("Anhang {content}")
}

pub fn shown_file(name: Name, content: u32) -> Value {
    json!({"id": id(name), "dateiname": format!("{content}.txt"), "groesse_bytes": file_text(content).len()})
}
