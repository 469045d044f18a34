//! Carries out stories on the server, each in a separate company with three partners, two articles, three
//! batches and a contract.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::process::{Answer, Client, Folder, Running};
use crate::stock::model::{Facts, Lot, Moved, OPENING, OPENING_STOCK, Outcome};
use crate::stock::notation::{Batch, Item, Named, Op};
use crate::stock::table::Mill;

const PARTNERS: [u32; 3] = [1, 2, 3];

pub struct Company<'f> {
    folder: &'f Folder,
    client: Client,
    name: String,
    /// Documents by number, and numbers by document.
    documents: BTreeMap<u32, String>,
    numbers: BTreeMap<String, u32>,
    batches: BTreeMap<Batch, String>,
    names: BTreeMap<String, Batch>,
    partners: BTreeMap<String, u32>,
    /// The ids of the tracked article and of the contract.
    tracked: String,
    contract: String,
    notes: u32,
    old: bool,
    database: Connection,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A quantity as an integer.
fn whole(value: &Value) -> i64 {
    let text = text(value);
    text.strip_suffix(".000").unwrap_or(&text).parse().unwrap_or_else(|_| panic!("not whole: {text}"))
}

fn day(day: u32) -> String {
    format!("{}-{:02}-{:02}", 2030 + day / 336, day / 28 % 12 + 1, day % 28 + 1)
}

impl<'f> Company<'f> {
    pub fn new(folder: &'f Folder, server: &Running, name: &str) -> Company<'f> {
        let key = folder.company(name);
        let articles = json!([
            {"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": 1, "ep_netto": 1,
             "mwst_satz": 7, "chargenpflichtig": true},
            {"artikelnummer": "S", "bezeichnung": "Salz", "einheit": "kg", "preis": 1, "ep_netto": 1,
             "mwst_satz": 7}]);
        folder.import(name, "artikel", &articles);
        let opening = OPENING
            .map(|at| json!({"artikelnummer": "W", "charge_nr": format!("B{at}"), "bestand": OPENING_STOCK}));
        folder.import(name, "chargen", &json!(opening));
        let contract = json!([{"kontrakt_nr": "V", "kontrakt_typ": "verkauf", "gesamtmenge": 1000,
            "gesamtmenge_einheit": "kg"}]);
        folder.import(name, "kontrakte", &contract);
        let client = server.client(&key);
        let partners = PARTNERS.map(|partner| {
            let name = format!("P-{partner}");
            let body = json!({"name": name, "kundennr": name, "partner_typen": ["kunde", "lieferant"]});
            (text(&done(client.post("/api/v1/kunden", &body), "a partner")["id"]), partner)
        });
        let articles = done(client.get("/api/v1/artikel"), "articles");
        let tracked =
            articles["data"].as_array().unwrap().iter().find(|article| article["artikelnummer"] == "W");
        let contracts = done(client.get("/api/v1/kontrakte"), "contracts");
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = Connection::open_with_flags(folder.file("partnerd.db"), read_only).unwrap();
        database.busy_timeout(Duration::from_secs(10)).unwrap();
        Company {
            folder,
            name: name.to_owned(),
            documents: BTreeMap::new(),
            numbers: BTreeMap::new(),
            batches: BTreeMap::new(),
            names: BTreeMap::new(),
            partners: partners.into_iter().collect(),
            tracked: text(&tracked.unwrap()["id"]),
            contract: text(&contracts["data"][0]["id"]),
            notes: 0,
            old: false,
            database,
            client,
        }
    }

    fn set(&self, setting: &str) {
        self.folder.result(&["tenant", "set", &self.name, setting]);
    }

    /// The batches with their stock from the database; remembers which is which.
    fn look(&mut self) -> BTreeMap<Batch, i64> {
        let mut statement = self.database.prepare_cached(BATCHES).unwrap();
        let rows = statement.query_map([&self.name], |row| {
            let id = |at| row.get::<_, Option<uuid::Uuid>>(at).map(|id| id.map(|id| id.to_string()));
            Ok((id(0)?.unwrap(), row.get(1)?, id(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
        });
        type Row = (String, String, Option<String>, Option<String>, Option<String>, i64);
        let rows: Vec<Row> = rows.unwrap().map(Result::unwrap).collect();
        drop(statement);
        let mut stocks = BTreeMap::new();
        for (id, own, partner, foreign, mhd, stock) in rows {
            let name = match self.names.get(&id) {
                Some(known) => *known,
                None => self.name(&own, partner.as_deref(), foreign.as_deref(), mhd.as_deref()),
            };
            self.batches.insert(name, id.clone());
            self.names.insert(id, name);
            stocks.insert(name, stock);
        }
        stocks
    }

    /// The batches with their stock as the server lists them.
    pub fn listed(&self) -> BTreeMap<Batch, i64> {
        let listed = done(self.client.get("/api/v1/chargen"), "batches");
        let batches = listed.as_array().unwrap().iter();
        batches.map(|batch| (self.names[&text(&batch["id"])], whole(&batch["bestand"]))).collect()
    }

    /// The notation of a batch that was just created.
    fn name(&self, own: &str, partner: Option<&str>, foreign: Option<&str>, mhd: Option<&str>) -> Batch {
        let nth = |is_same: &dyn Fn(Batch) -> bool| {
            self.batches.keys().filter(|of| is_same(**of)).count() as u32 + 1
        };
        match (foreign, mhd) {
            (Some(foreign), _) => {
                let number = foreign.strip_prefix("T-").unwrap().parse().unwrap();
                let partner = self.partners[partner.unwrap()];
                let same = |of: Batch| {
                    matches!(of, Batch::Foreign { number: n, partner: p, .. } if (n,
                    p) == (number, partner))
                };
                Batch::Foreign { number, partner, nth: nth(&same) }
            }
            (None, Some(mhd)) => {
                let day = (0..).find(|number| mhd.starts_with(&day(*number))).unwrap();
                let same = |of: Batch| matches!(of, Batch::Dated { day: d, .. } if d == day);
                Batch::Dated { day, nth: nth(&same) }
            }
            (None, None) => Batch::Opening(own.strip_prefix('B').unwrap().parse().unwrap()),
        }
    }

    fn batch_id(&mut self, batch: Batch) -> String {
        if !self.batches.contains_key(&batch) {
            self.look();
        }
        self.batches[&batch].clone()
    }

    fn lot(&mut self, id: &str) -> Batch {
        if !self.names.contains_key(id) {
            self.look();
        }
        self.names[id]
    }

    fn item(&mut self, item: &Item) -> Value {
        let article = if item.tracked { "W" } else { "S" };
        let mut body = json!({"artikelnr": article, "menge": item.quantity});
        match item.named {
            Named::Nothing => {}
            Named::Charge(batch) | Named::Inherited(batch) => {
                body["charge_id"] = json!(self.batch_id(batch));
            }
            Named::Foreign(number, mhd) => {
                body["fremde_charge_nr"] = json!(format!("T-{number}"));
                body["mhd"] = json!(mhd.map(day));
            }
            Named::Dated(number) => body["mhd"] = json!(day(number)),
        }
        if let Some(number) = item.refers {
            body["bezug_beleg_id"] = json!(self.documents[&number]);
        }
        if !item.books {
            body["lager_buchen"] = json!(false);
        }
        if item.deduction {
            body["ep_netto"] = json!(-1);
        }
        if item.contract {
            body["kontrakt_id"] = json!(self.contract);
        }
        body
    }

    fn items(&mut self, items: &[Item]) -> Value {
        items.iter().map(|item| self.item(item)).collect()
    }

    fn change(&self, number: u32, method: &str, rest: &str, body: &Value) -> Answer {
        let path = format!("/api/v1/belege/{}{rest}", self.documents[&number]);
        self.client.send(method, &path, Some(body)).unwrap()
    }

    fn send(&mut self, op: &Op) -> Option<Answer> {
        Some(match op {
            Op::Post { number, typ, partner, items } => {
                let items = self.items(items);
                let mut body =
                    json!({"beleg_typ": typ.code(), "kundennummer": format!("P-{partner}"), "items": items});
                if self.old {
                    body["beleg_datum"] = json!("2020-02-29");
                }
                let answer = self.client.post("/api/v1/belege", &body);
                if let Some(id) = answer.body["id"].as_str() {
                    self.documents.insert(*number, id.to_owned());
                    self.numbers.insert(id.to_owned(), *number);
                }
                answer
            }
            Op::Put { number, items } => {
                let items = self.items(items);
                self.change(*number, "PUT", "", &json!({"items": items}))
            }
            Op::Partner { number, partner } => {
                self.change(*number, "PUT", "", &json!({"kundennummer": format!("P-{partner}")}))
            }
            Op::Note(number) => {
                self.notes += 1;
                self.change(*number, "PUT", "", &json!({"notizen": format!("Notiz {}", self.notes)}))
            }
            Op::Finish(number) => self.change(*number, "POST", "/abschliessen", &json!({})),
            Op::Cancel(number) => self.change(*number, "POST", "/storno", &json!({"grund": "Versehen"})),
            Op::Close(number) => {
                self.change(*number, "POST", "/erledigen", &json!({"ohne_gegenbeleg": true}))
            }
            Op::Correct { batch, number, day: of } => {
                let path = format!("/api/v1/chargen/{}", self.batch_id(*batch));
                let fremde = number.map(|number| format!("T-{number}"));
                let body = json!({"fremde_charge_nr": fremde, "mhd": of.map(day)});
                self.client.send("PUT", &path, Some(&body)).unwrap()
            }
            Op::Old(on) => {
                self.old = *on;
                return None;
            }
            Op::Fefo(on) => {
                self.set(if *on { "charge_automatik=fefo" } else { "charge_automatik=aus" });
                return None;
            }
            Op::DeliveriesOnly(on) => {
                self.set(if *on { "lagerbuchung=lieferung" } else { "lagerbuchung=beleg" });
                return None;
            }
        })
    }

    /// Matched and open quantities from the database.
    pub fn facts(&mut self) -> Facts {
        let mut statement = self.database.prepare_cached(FACTS).unwrap();
        type Row = ([Option<(uuid::Uuid, usize)>; 4], Option<uuid::Uuid>, [Option<String>; 2], i64);
        let rows = statement.query_map([&self.name], |row| -> rusqlite::Result<Row> {
            let mut positions = [None; 4];
            for (at, position) in positions.iter_mut().enumerate() {
                let id: Option<uuid::Uuid> = row.get(2 * at)?;
                let index: Option<u32> = row.get(2 * at + 1)?;
                *position = id.zip(index.map(|index| index as usize));
            }
            Ok((positions, row.get(8)?, [row.get(9)?, row.get(10)?], row.get(11)?))
        });
        let rows: Vec<Row> = rows.unwrap().map(Result::unwrap).collect();
        drop(statement);
        let mut facts = Facts::new();
        for (positions, charge, movers, quantity) in rows {
            let numbered = |(id, index): (uuid::Uuid, usize)| (self.numbers[&id.to_string()], index - 1);
            let positions = positions.map(|position| position.map(numbered));
            let lot: Lot = charge.map(|id| self.lot(&id.to_string()));
            let known = ["lieferung", "rechnung", "rueckgabe", "gutschrift"];
            let movers =
                movers.map(|mover| mover.map(|mover| *known.iter().find(|kind| **kind == mover).unwrap()));
            *facts.entry((positions, lot, movers)).or_default() += quantity;
        }
        facts
    }
}

/// Id, number, supplier, his number, best-before date and stock of each batch.
const BATCHES: &str = "
    select c.id, c.charge_nr, c.partner_id, c.fremde_charge_nr, c.mhd, c.bestand / 1000000
      from charge c join tenant t on t.id = c.tenant_id where t.name = ?1 order by c.id";

/// Delivery, invoice, return and credit with the numbers of their positions, the batch, who moved it and who
/// moved it back, and the quantity.
const FACTS: &str = "
    with firma as (select id from tenant where name = ?1),
    offen as (
      select o.beleg_typ in ('LS', 'EL') as liefert, o.beleg_id, o.position, o.charge_id, o.menge
        from lager_offen o, firma where o.tenant_id = firma.id)
    select iif(liefert, beleg_id, null), iif(liefert, position, null),
        iif(liefert, null, beleg_id), iif(liefert, null, position), null, null, null, null,
        charge_id, iif(liefert, 'lieferung', 'rechnung'), null, menge / 1000000
      from offen
    union all
    select p.lieferung_id, p.lieferung_position, p.rechnung_id, p.rechnung_position, p.rueckgabe_id,
        p.rueckgabe_position, p.gutschrift_id, p.gutschrift_position, p.charge_id, p.bewegt_von, p.zurueck_von,
        p.menge / 1000000
      from lager_paar p, firma where p.tenant_id = firma.id";

/// The body of an answer, which must not be a refusal.
fn done(answer: Answer, what: &str) -> Value {
    assert!(answer.status < 300, "{what}: {} {}", answer.status, answer.body);
    answer.body
}

impl Mill for Company<'_> {
    fn play(&mut self, op: &Op) -> Outcome {
        let Some(answer) = self.send(op) else { return Ok(Moved::new()) };
        if answer.status >= 300 {
            return Err(answer.body["error"].as_str().map_or(format!("{answer:?}"), str::to_owned));
        }
        let mut moved = Moved::new();
        for movement in answer.body["lagerbewegungen"].as_array().into_iter().flatten() {
            let number = self.numbers[&text(&movement["beleg_id"])];
            let tracked = movement["artikel_id"] == self.tracked.as_str();
            let lot = movement["charge_id"].as_str().map(|id| self.lot(id));
            let before = moved.insert((number, tracked, lot), whole(&movement["menge"]));
            assert_eq!(before, None, "listed twice: {}", answer.body);
        }
        Ok(moved)
    }

    fn stocks(&mut self) -> BTreeMap<Batch, i64> {
        self.look()
    }

    fn partners(&mut self, batch: Batch) -> BTreeMap<u32, i64> {
        let path = format!("/api/v1/chargen/{}/herkunft?tiefe=1", self.batch_id(batch));
        let found = done(self.client.get(&path), "herkunft");
        let rows = ["lieferanten", "empfaenger"].map(|list| found[list].as_array().unwrap().clone());
        let opening = if matches!(batch, Batch::Opening(_)) { OPENING_STOCK } else { 0 };
        let sum = |at: usize| rows[at].iter().filter(|row| row["beleg_id"].is_string());
        let sum = |at: usize| sum(at).map(|row| whole(&row["menge"])).sum::<i64>();
        let balance = ["eingang", "abgang", "bestand"].map(|side| whole(&found["bilanz"][side]));
        assert_eq!(balance, [opening + sum(0), sum(1), opening + sum(0) - sum(1)], "{found}");
        let by_documents = rows.iter().flatten().filter(|row| row["beleg_id"].is_string());
        let mut by_number = BTreeMap::new();
        for row in by_documents {
            *by_number.entry(self.numbers[&text(&row["beleg_id"])]).or_default() += whole(&row["menge"]);
        }
        by_number
    }

    fn delivered(&mut self) -> i64 {
        whole(&done(self.client.get("/api/v1/kontrakte"), "contracts")["data"][0]["geliefert"])
    }
}
