//! Carries out a story on the server and the model side by side.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::base::{self, ARTICLES, Base, FIRMS, PERSON};
use super::broken::Broken;
use super::calendar::SECOND;
use super::client::{Answer, Client};
use super::model::{Expected, Model, TICK};
use super::money::quantity;
use super::names::Names;
use super::request::{self, Request};
use super::server::Served;
use super::step::{CONTRACT, Deed, Match, Name, Step, World};
use super::story::BEGIN;
use crate::calls::browser::Browser;
use crate::dice::Dice;
use crate::process::Folder;

pub struct Player {
    pub folder: Folder,
    pub served: Option<Served>,
    pub client: Client,
    pub model: Model,
    pub names: [Names; 2],
    /// The answers to the steps with an Idempotency-Key.
    answers: BTreeMap<u32, Value>,
    steps: BTreeMap<u32, (Step, i64)>,
    /// Answered requests, and when.
    pub answered: Vec<(String, i64)>,
    pub cursors: [Option<String>; 2],
    pub backup: Option<usize>,
    /// What happens during the next step with an Idempotency-Key.
    pub under: Option<World>,
    /// A person's session in the Leitstand, and until when it is used.
    pub session: (String, i64),
    pub dice: Dice,
    pub asked: u64,
}

/// How long a session is used (D27: it lasts 12 hours).
const SESSION: i64 = 11 * 60 * 60 * SECOND;

impl Player {
    pub fn new(seed: u64, broken: Option<Broken>) -> Result<Player, String> {
        let folder = Base::get().copy();
        let mut names = <[Names; 2]>::default();
        let database = base::look(&folder);
        for (firm, names) in names.iter_mut().enumerate() {
            for (name, number) in ARTICLES {
                names.bind(name, &base::id(&database, firm, "artikel", number));
            }
            names.bind(CONTRACT, &base::id(&database, firm, "kontrakt", "V"));
        }
        let mut player = Player {
            folder,
            served: None,
            client: Client::new(),
            model: Model::new(BEGIN, broken),
            names,
            answers: BTreeMap::new(),
            steps: BTreeMap::new(),
            answered: Vec::new(),
            cursors: [None, None],
            backup: None,
            under: None,
            session: (Base::get().session.clone(), BEGIN + SESSION),
            dice: Dice::new(seed),
            asked: 0,
        };
        player.start()?;
        player.begin_feed()?;
        Ok(player)
    }

    pub fn start(&mut self) -> Result<(), String> {
        let served = Served::start(&self.folder.file("partnerd.db"), self.model.now)?;
        self.client.base = format!("http://{}", served.address);
        self.served = Some(served);
        Ok(())
    }

    pub fn stop(&mut self) {
        self.served.take().unwrap().stop();
    }

    pub fn kill(&mut self) {
        self.served.take().unwrap().kill();
    }

    /// Plays a step on both; returns whether it was carried out.
    pub fn play(&mut self, step: &Step) -> Result<bool, String> {
        if !self.model.allows(step) {
            return Ok(false);
        }
        self.served.as_mut().unwrap().set_clock(self.model.now + TICK);
        match step.deed {
            Deed::World(world) => self.turn(step, world)?,
            Deed::SwitchSmallKey => {
                let is_off = self.model.firms[step.firm].keys[1].is_off;
                let key = &Base::get().keys[step.firm][1];
                self.folder.result(&["key", if is_off { "activate" } else { "deactivate" }, key]);
                self.model.play(step);
            }
            Deed::Import(_) | Deed::ImportCounts(_) => self.import(step)?,
            _ if step.by_form => self.fill(step)?,
            _ => self.ask(step)?,
        }
        Ok(true)
    }

    /// Imports a file, and compares the partners afterwards.
    fn import(&mut self, step: &Step) -> Result<(), String> {
        let batches = &self.model.firms[step.firm].batches;
        let count = |(batch, stock): &(Name, i64)| {
            json!({"artikelnummer": "W",
            "charge_nr": batches[batch].number, "bestand": quantity(*stock), "grund": "Zählung"})
        };
        let (kind, rows) = match &step.deed {
            Deed::ImportCounts(counts) => ("inventur", counts.iter().map(count).collect()),
            Deed::Import(rows) => ("kunden", request::import(rows)),
            _ => unreachable!("no file"),
        };
        let file = self.folder.write("import.json", &rows.to_string());
        let output = self.folder.run(&["import", kind, &file, "--tenant", FIRMS[step.firm]]);
        let expected = self.model.play(step).ok_or("nothing was imported")?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let is_right = match expected.status {
            0 => output.status.success() && expected.shows == said,
            _ => output.status.code() == Some(1),
        };
        if !is_right {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{said} {errors}\n  instead of {}", expected.shows));
        }
        let partners = self.model.partner_list(step.firm);
        let found = self.list(step.firm, "/api/v1/kunden", partners.len())?;
        self.names[step.firm].agrees(&partners.into(), &found, "kunden")
    }

    /// Sends the form equivalent to a request; it is refused if the request would be.
    fn fill(&mut self, step: &Step) -> Result<(), String> {
        let (path, typed) = request::form(step);
        let path = self.names[step.firm].path(&format!("/leitstand/f/{}/{path}", step.firm + 1));
        let typed: Vec<(&str, &str)> = typed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        if self.session.1 <= self.model.now {
            let session = Browser::log_in(&self.client.base, PERSON)?;
            self.session = (session, self.model.now + SESSION);
        }
        let browser = Browser::at(&self.client.base, &self.session.0);
        let status = match browser.open(&path) {
            Ok(form) => browser.send(&form.typed(&typed))?.status,
            Err(refused) => refused.split(' ').find_map(|word| word.parse().ok()).ok_or(refused)?,
        };
        let expected = self.model.play(step).ok_or("nothing was asked")?;
        match (status, expected.status) {
            (303, 200..300) | (400..500, 400..500) => self.read_back(step),
            _ => Err(format!("the form was answered {status}, instead of {}", expected.status)),
        }
    }

    fn ask(&mut self, step: &Step) -> Result<(), String> {
        let today = self.model.today();
        if step.is_keyed {
            self.steps.insert(step.nr, (step.clone(), today));
        }
        let key = usize::from(matches!(step.deed, Deed::Small(_)));
        let (asked, headers) = self.request(step, today);
        let under = self.under.take_if(|_| step.is_keyed);
        let before = match under {
            Some(under) => self.send_under(under, step.firm, key, &asked, &headers)?,
            None => None,
        };
        let answer = self.send(step.firm, key, &asked, &headers)?;
        if let Some(before) = before.filter(|before| before.status < 300 && before.body != answer.body) {
            return Err(format!("answered {}, and sent again {}", before.body, answer.body));
        }
        let expected = self.model.play(step).ok_or("nothing was asked")?;
        self.compare(step, &expected, &answer)?;
        self.look_at_remaining(step.firm, key, &answer, under.is_some())?;
        self.read_back(step)
    }

    /// The request of a step with ids for names, and its headers.
    fn request(&mut self, step: &Step, today: i64) -> (Request, Vec<(&'static str, String)>) {
        let mut headers = Vec::new();
        let (of, mut asked) = match &step.deed {
            Deed::Again { step: nr, is_changed } => {
                let (first, day) = &self.steps[nr];
                let mut asked = request::of(first, *day);
                if let (true, Some(body)) = (is_changed, &mut asked.body) {
                    body["kontaktperson"] = "Frau Huber".into();
                }
                headers.push(("idempotency-key", first.nr.to_string()));
                (first.clone(), asked)
            }
            _ => (step.clone(), request::of(step, today)),
        };
        if step.is_keyed {
            headers.push(("idempotency-key", of.nr.to_string()));
        }
        let foreign = matches!(step.deed, Deed::Foreign(..));
        let names = &self.names[if foreign { 1 - step.firm } else { step.firm }];
        asked.path = names.path(&asked.path);
        asked.body = asked.body.map(|body| names.body(&body));
        if let Some(body) = asked.body.as_mut().filter(|_| matches!(of.deed, Deed::Document { .. })) {
            // The partner of the other company has no name in this one.
            if body["kunden_id"] == "00000000-0000-7000-8000-000000000000" {
                let other = self.model.firms[1 - step.firm].partners.keys().next();
                other.iter().for_each(|name| body["kunden_id"] = self.names[1 - step.firm].id(**name).into());
            }
        }
        let matches = match step.deed {
            Deed::ChangePartner { matches, .. } | Deed::ChangeDocument { matches, .. } => matches,
            _ => Match::Nothing,
        };
        match matches {
            Match::Nothing => {}
            Match::Stale => headers.push(("if-match", "\"0\"".to_owned())),
            Match::Current => {
                let tag = self.read(step.firm, &asked.path).ok().and_then(|answer| answer.etag);
                headers.push(("if-match", tag.unwrap_or_default()));
            }
        }
        (asked, headers)
    }

    /// Sends a request and records that it was answered.
    fn send(
        &mut self,
        firm: usize,
        key: usize,
        asked: &Request,
        headers: &[(&'static str, String)],
    ) -> Result<Answer, String> {
        let key = &Base::get().keys[firm][key];
        let answer = self.client.send(key, asked.method, &asked.path, &body(asked), headers)?;
        self.asked += 1;
        self.answered.push((answer.request_id.clone(), self.model.now));
        match answer.status {
            500.. => Err(format!("{} {}: {}", asked.method, asked.path, answer.body)),
            _ => Ok(answer),
        }
    }

    /// Sends a read that is no step of the story.
    pub fn read(&mut self, firm: usize, path: &str) -> Result<Answer, String> {
        let path = path.to_owned();
        let asked = Request { method: "GET", path, body: None, is_broken: false };
        let answer = self.send(firm, 0, &asked, &[])?;
        self.model.count(firm, answer.status);
        match answer.status {
            200 | 410 => Ok(answer),
            status => Err(format!("GET {}: {status} {}", asked.path, answer.body)),
        }
    }

    fn compare(&mut self, step: &Step, expected: &Expected, answer: &Answer) -> Result<(), String> {
        if answer.status != expected.status {
            let Answer { status, body, .. } = answer;
            return Err(format!("{status} {body}\n  instead of {} {}", expected.status, expected.shows));
        }
        if let Some(first) = expected.same_as.and_then(|nr| self.answers.get(&nr)) {
            return match first == &answer.body {
                true => Ok(()),
                false => Err(format!("another answer under the same key: {} and {first}", answer.body)),
            };
        }
        if step.is_keyed {
            self.answers.insert(step.nr, answer.body.clone());
        }
        self.names[step.firm].agrees(&expected.shows, &answer.body, "")
    }

    /// Compares the remaining quota; a request during which the server was killed may or may not have been counted.
    fn look_at_remaining(
        &mut self,
        firm: usize,
        key: usize,
        answer: &Answer,
        was_killed: bool,
    ) -> Result<(), String> {
        let Some(found) = answer.remaining else { return Ok(()) };
        let expected = self.model.remaining(firm, key).max(0);
        if was_killed && found == expected - 1 {
            self.model.adopt_remaining(firm, key, found);
            return Ok(());
        }
        match found == expected {
            true => Ok(()),
            false => Err(format!("X-RateLimit-Remaining: {found} instead of {expected}")),
        }
    }

    /// Occasionally reads the record that a step created or changed.
    fn read_back(&mut self, step: &Step) -> Result<(), String> {
        let name: Name = match &step.deed {
            Deed::ChangePartner { partner: name, .. }
            | Deed::ChangeDocument { document: name, .. }
            | Deed::Finish(name)
            | Deed::Settle(name)
            | Deed::Cancel(name)
            | Deed::SecondWeighing { weighing: name, .. }
            | Deed::CountBatch { batch: name, .. } => *name,
            _ => step.made(0),
        };
        let mut made = self.model.firms[step.firm].batches.range(step.made(10)..step.made(100));
        let is_due = made.any(|(batch, _)| !self.names[step.firm].has(*batch)) || self.dice.once_in(3);
        let record = self.model.record(step.firm, name).filter(|_| is_due);
        let Some((path, shows)) = record else { return Ok(()) };
        let records = [Some((path, shows)), self.model.history(step.firm, name)];
        records.into_iter().flatten().try_for_each(|(path, shows)| {
            let answer = self.read(step.firm, &self.names[step.firm].path(&path))?;
            self.names[step.firm].agrees(&shows, &answer.body, &path)
        })
    }
}

/// The body as it is sent.
pub fn body(asked: &Request) -> Option<String> {
    let text = asked.body.as_ref().map(Value::to_string);
    if asked.is_broken { text.map(|text| text + "}") } else { text }
}
