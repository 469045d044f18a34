//! The test list of D8, and errors from before pairs were stored: each row is a story with its result,
//! carried out by the model and by the server.

use std::collections::BTreeMap;

use crate::process::Folder;
use crate::stock::http::Company;
use crate::stock::model::{Model, Outcome};
use crate::stock::notation::{self, Batch, Item, Named, Op};

/// Something that carries out stories and shows the results.
pub trait Mill {
    fn play(&mut self, op: &Op) -> Outcome;
    fn stocks(&mut self) -> BTreeMap<Batch, i64>;
    /// What a batch's partners brought or took, by document.
    fn partners(&mut self, batch: Batch) -> BTreeMap<u32, i64>;
    fn delivered(&mut self) -> i64;
}

impl Mill for Model {
    fn play(&mut self, op: &Op) -> Outcome {
        assert!(self.allows(op), "{op}");
        Model::play(self, op)
    }

    fn stocks(&mut self) -> BTreeMap<Batch, i64> {
        Model::stocks(self)
    }

    fn partners(&mut self, batch: Batch) -> BTreeMap<u32, i64> {
        Model::partners(self, batch)
    }

    fn delivered(&mut self) -> i64 {
        Model::delivered(self)
    }
}

/// Stories of one article of any kind. After `=>` follows the change of the stock since the beginning.
const ANY: &[&str] = &[
    "RE 10; LS 10; storno 1 => -10",
    "LS 10; RE 10; storno 1; LS 10 => -10",
    "LS 10; RE 10; RE -10; RE 10 => -10",
    "RE 10; RE -10; RE 10 => -10",
    "RE 10; RE -10; LS -10 => 0",
    "RE 10; LS -10; RE -10 => 0; LS 10 => -10",
    "LS 10 -5; RE 10 -5 => -5",
    "LS 10; LS -5; RE 10; RE -5 => -5",
    "EL 100; ER 100; ER -100; ER 100 => 100",
    "EL 100 -20; ER 100 -20 => 80",
    "RE -10 => 0; LS -10 => 10",
    "LS 5; RE 5; LS -5; RE -5; RE 5 => -5",
    "RE 10; LS 10; RE -10; RE 10; LS -10 => 0",
    "RE 10; RE -10; storno 2 => -10",
    "LS 10; LS -10; storno 2 => -10",
    "RE 10; RE -10; storno 1 => 0",
    "RE 10; RE -10; LS -10; storno 1 => 10",
    "RE 10; LS -10; RE -10; storno 1; RE 10; RE -10 => 10",
    "RE 10; RE -10; LS -10; LS -10; storno 3 => 0",
    "LS -10 5; RE 5 -10; storno 1 => -5",
    // Once wrong.
    "LS 10; RE 10; RE -10 10 => -10",
    "RE -10 10 => -10",
    // Consequences of the text of D8.
    "RE 10; RE -10; LS -10; storno 1; storno 3 => 0; storno 2 => 0",
    "LS 10; RE 10; RE -10; storno 3 => -10; storno 1 => -10",
    "LS 10; RE 10; LS 10; storno 1 => -10",
    "LS 10; RE 4 6; put 1: 4 => -10; put 1: 10 => -10; note 1 => -10",
    "LS 10; RE 10~ => -10; RE 10 => -10; RE 10! => -10; LS 10! => -10",
    "lieferung on; RE 10; RE -10 => 0; LS 10; lieferung off; RE 12 => -12",
    "LS 10; LS 10; RE 10^2 => -20; RE 10 => -20; RE 10^2 => -20",
    // What is named goes before what was proposed.
    "LS 10; LS 10; RE 10; RE 10^1 => -20; storno 3 => -20",
    "LS 10; RE 11^1 => -10; storno 1 => -10",
    "RE 10; RE -1~; LS 5^2 !BEZUG_PASST_NICHT => -10",
    "LS 10; storno 1 => 0; RE 10; RE -4^2 => -6; LS -4^3 => -6; LS 6^2 => -6; LS 6^2 => -12",
    "RE 10; LS 10^1; RE 10; LS -4^2; LS 10^3 => -16; RE -4^1 => -16; RE -1^3 => -16; LS -1^5 => -15",
    "LS 100; RE 99^1; RE 5 => -105; LS -1 => -104; RE 1 => -105",
    "LS 200; RE 199^1; RE 1 => -200",
    "LS 600; RE 600; LS -100; RE -100 => -500; RE 100 => -600",
    "RE 10; RE 10; LS -10; RE -10^1 => -10; LS -10^2 => 0; RE -10^2 => 0",
    "LS 10; RE 10; RE 10; LS -10; RE -10^2 => -10; storno 5 => -20; storno 4 => -20",
    "LS 10; LS -10; LS -10^1 => 10; storno 3 => 0",
    "LS 10; RE 10; partner 1/2 => -20; partner 2/2 => -10; partner 1/1 => -20",
];

/// Stories about batches.
const BATCHES: &[&str] = &[
    // A corrected invoice needs no batch either, and a customer who got 10 is listed with 10.
    "LS 10@B0; RE 10; RE -10; RE 10 => B0=-10 B0/1=10",
    "LS 10@B0; RE 10; RE -10 10 => B0=-10 B0/1=10",
    "RE 10 !CHARGE_FEHLT; LS 10 !CHARGE_FEHLT; EL 10 !CHARGE_FEHLT; ER 10 !CHARGE_FEHLT; RE -10 => 0",
    "LS 6@B0; LS 4@B1; RE 10 => B0=-6 B1=-4; RE 5@B0; storno 1 => B0=-11 B1=-4",
    // Changing the notes of one document moves nothing of others.
    "LS/2 73@B0; fefo on; LS 17@B0 15; final 2; LS 3@B2 => B0=-100 B1=-5 B2=-3 B1/1=5; \
     note 3 => B0=-100 B1=-5 B2=-3 B1/1=5",
    "LS 6@B1; LS 4@B2; RE 10 5@B0; final 3; storno 1; LS 1@B2 => B0=-5 B1=-5 B2=-5; note 4 => B0=-5 B1=-5 B2=-5; \
     note 4 => B0=-5 B1=-5 B2=-5",
    "EL 100#1; ER 10#9; EL 29%1 7#1; EL 1#8 => T1=107 T9=10 M1/1=19; note 4 => T1=107 T9=10 M1/1=19 T8=1; \
     note 4 => T1=107",
    // The delivery determines the batch.
    "LS 10@B0; RE 10; put 1: 10@B1 => B0=0 B1=-10 B0/1=0 B1/1=10",
    "LS 10@B0; RE 10; storno 1; LS 10@B1 => B0=0 B1=-10 B1/1=10",
    "LS 10@B0; RE 10; final 2; storno 1; LS 10@B1 => B0=0 B1=-10 B1/1=10",
    "LS 10@B0; RE 10; final 2; put 1: 10@B1 => B0=0 B1=-10 B1/1=10",
    "fefo on; RE 10; LS 10@B1 => B0=0 B1=-10; storno 1 => B1=-10",
    "EL 10#1; ER 10; put 1: 10#2 => T1=0 T2=10",
    "EL 10#1; ER 10; storno 1; EL 10#2 => T1=0 T2=10",
    "RE 10@B0; LS 10@B1 => B0=-10 B1=-10",
    "RE 10@B0; LS 10@B1^1 !CHARGE_WIDERSPRUCH; LS 12@B0^1 => B0=-12",
    "fefo on; RE 10; RE -10@B1 => B0=-10 B1=0; RE -4@B0 => B0=-6",
    "fefo on; LS 10; RE 10@B1 => B0=0 B1=-10",
    "LS 10@B0; RE 10; put 2: 10@B0; put 1: 10@B1 => B0=0 B1=-10; put 2: 10@B1; put 1: 10@B2 => B1=0 B2=-10",
    "EL 10%2; ER 10#1 => M2/1=0 T1=10; put 1: 10%3 => M2/1=0 T1=10; storno 2 => T1=10",
    "ER 10%4; EL 6#1 => M4/1=4 T1=6; EL 4%5 => M4/1=0 M5/1=4 T1=6",
    "ER 10%6; LS 6@M6/1; EL 10#1 !CHARGE_BEREITS_VERWENDET; EL -10@M6/1 => M6/1=-6",
    // Of one invoice, the part in the batch of the delivery is matched first.
    "fefo on; RE 104; LS 4@B1 => B0=-100 B1=-4; LS 5@B1 => B0=-95 B1=-9",
    // A return matches goods in its batch.
    "RE 10@B0; RE 10@B1; LS -4@B0; RE -4@B0 => B0=-6 B1=-10; RE -16 => 0",
    "LS 10@B0; RE 10; LS -10@B1 => B0=-10 B1=10; storno 3; LS -10@B0 => 0",
    "fefo on; RE 120 => B0=-100 B1=-20; RE -30 => B0=-90 B1=0; LS -90@B0; RE -60 => B0=-10",
    // Received goods that were used must stay.
    "EL 10#1; LS 6@T1; storno 1 !CHARGE_BEREITS_VERWENDET; put 1: 5#1 !CHARGE_BEREITS_VERWENDET; put 1: 6#1 => T1=0",
    "ER 10#1; EL 10#1; LS 6@T1; storno 1 => T1=4; storno 2 !CHARGE_BEREITS_VERWENDET",
    // The contract counts delivered goods once.
    "LS 10@B0$; RE 10$ => K=10; RE 5@B0$ => K=15; RE -5$ => K=10; LS -3@B0$ => K=10; LS -3@B0$ => K=9",
    "LS 10@B0$ 10!$; RE 4@B0~$ => K=10",
    // It is enough if one side names it.
    "LS 10@B0; RE 10$ => K=10; LS -3@B0 => K=7; RE -3$ => K=7",
    "RE 10@B0$; LS 6@B0 => K=10; storno 1 => K=0",
];

/// How a story of any article is carried out.
#[derive(Debug, Clone, Copy)]
enum Way {
    Untracked,
    Named,
    /// Sales take batches automatically.
    Fefo,
}

fn dress(way: Way, op: &mut Op) {
    let (sells, items): (bool, &mut Vec<Item>) = match op {
        Op::Post { typ, items, .. } => (typ.sells(), items),
        Op::Put { items, .. } => (true, items),
        _ => return,
    };
    for item in items {
        item.tracked = !matches!(way, Way::Untracked);
        item.named = match way {
            Way::Untracked => Named::Nothing,
            Way::Fefo if item.quantity > 0 => Named::Nothing,
            _ if sells => Named::Charge(Batch::Opening(0)),
            _ => Named::Foreign(1, None),
        };
    }
}

/// The story so far, and its results.
struct Told<'m> {
    mill: &'m mut dyn Mill,
    change: i64,
    partners: BTreeMap<u32, u32>,
    live: Vec<u32>,
    /// The stock of the batches before.
    before: BTreeMap<Batch, i64>,
}

impl Told<'_> {
    fn op(&mut self, op: &Op, code: Option<&str>) -> Result<(), String> {
        if let Op::Post { number, partner, .. } | Op::Partner { number, partner } = op {
            self.partners.insert(*number, *partner);
        }
        match (self.mill.play(op), code) {
            (Ok(moved), None) => self.change += moved.values().sum::<i64>(),
            (Err(found), Some(code)) if found == code => return Ok(()),
            (found, code) => return Err(format!("{op}: {found:?}, expected {code:?}")),
        }
        match op {
            Op::Post { number, .. } => self.live.push(*number),
            Op::Cancel(number) => self.live.retain(|live| live != number),
            _ => {}
        }
        Ok(())
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        let (what, value) = expected.split_once('=').unwrap_or(("change", expected));
        let found = match what.split_once('/') {
            _ if what == "change" => self.change,
            _ if what == "K" => self.mill.delivered(),
            Some((batch, partner)) if batch.starts_with('B') => {
                let by_document = self.mill.partners(notation::batch(batch));
                let of = |number: &u32| self.partners[number].to_string() == partner;
                by_document.iter().filter(|(number, _)| of(number)).map(|(_, sum)| sum).sum()
            }
            _ => {
                let batch = notation::batch(what);
                self.mill.stocks().get(&batch).copied().unwrap_or(0)
                    - self.before.get(&batch).copied().unwrap_or(0)
            }
        };
        let is_right = value.parse() == Ok(found);
        if is_right { Ok(()) } else { Err(format!("{what} is {found}, expected {value}")) }
    }

    /// After all documents are cancelled, nothing has changed.
    fn cancel_all(&mut self) -> Result<(), String> {
        for _ in 0..self.live.len() {
            for number in self.live.clone() {
                if let Ok(moved) = self.mill.play(&Op::Cancel(number)) {
                    self.change += moved.values().sum::<i64>();
                    self.live.retain(|live| *live != number);
                }
            }
        }
        let after = self.mill.stocks();
        let changed: Vec<_> = after
            .iter()
            .filter(|(batch, stock)| **stock != self.before.get(batch).copied().unwrap_or(0))
            .collect();
        if self.live.is_empty() && self.change == 0 && changed.is_empty() {
            return Ok(());
        }
        Err(format!("all cancelled: {:?} live, change {}, other stock: {changed:?}", self.live, self.change))
    }
}

/// Carries out a story to its end, cancels its documents and restores the settings.
fn tell(mill: &mut dyn Mill, row: &str, way: Option<Way>) -> Result<(), String> {
    let before = mill.stocks();
    let mut told = Told { mill, change: 0, partners: BTreeMap::new(), live: Vec::new(), before };
    let mut next = 1;
    if matches!(way, Some(Way::Fefo)) {
        told.op(&Op::Fefo(true), None)?;
    }
    for part in row.split(';') {
        let (part, expected) = part.split_once("=>").unwrap_or((part, ""));
        let (part, code) = match part.split_once(" !") {
            Some((part, code)) => (part, Some(code.trim())),
            None => (part, None),
        };
        let mut op = notation::op(part, next);
        if matches!(op, Op::Post { .. }) && code.is_none() {
            next += 1;
        }
        if let Some(way) = way {
            dress(way, &mut op);
        }
        told.op(&op, code)?;
        expected.split_whitespace().try_for_each(|expected| told.expect(expected))?;
    }
    told.cancel_all()?;
    if row.contains("fefo") || matches!(way, Some(Way::Fefo)) {
        told.op(&Op::Fefo(false), None)?;
    }
    Ok(())
}

/// Carries out every row in every way; returns the failures, and the number of stories.
fn tell_all(mut tell: impl FnMut(&str, Option<Way>) -> Result<(), String>) -> (Vec<String>, usize) {
    let (mut wrong, mut stories) = (Vec::new(), 0);
    let mut story = |row: &str, way: Option<Way>| {
        stories += 1;
        if let Err(found) = tell(row, way) {
            wrong.push(format!("{row}   {way:?}: {found}"));
        }
    };
    for row in ANY {
        story(row, Some(Way::Untracked));
        story(row, Some(Way::Named));
        if !row.contains("EL") {
            story(row, Some(Way::Fefo));
        }
    }
    BATCHES.iter().for_each(|row| story(row, None));
    (wrong, stories)
}

#[test]
fn the_model_follows_the_list() {
    let (wrong, stories) = tell_all(|row, way| tell(&mut Model::new(), row, way));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(stories > 80);
}

#[test]
fn the_server_follows_the_list() {
    let folder = Folder::new();
    let server = folder.serve(&[]);
    let mut companies = 0;
    let mut company: Option<Company<'_>> = None;
    let (wrong, _) = tell_all(|row, way| {
        let mut mill = company.take().unwrap_or_else(|| {
            companies += 1;
            Company::new(&folder, &server, &format!("Mühle {companies}"))
        });
        tell(&mut mill, row, way)?;
        // After a failed story the next one gets a new company.
        company = Some(mill);
        Ok(())
    });
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}
