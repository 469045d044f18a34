//! Limits how many goods one document may share with others, so that no request, nor the cancellation of a
//! document, blocks the writer for long (D8).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::sql;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::pairing::{Portion, PositionKey, Role};
use crate::trade::belege::sql::number_and_type;

/// Maximum number of goods (`lager_paar`) that a document shares with others, and that one request pairs.
const SHARED_MAX: usize = 750;

/// Maximum number of documents that share goods with a document, and that one request pairs with: each gets a new
/// version.
const DOCUMENTS_MAX: usize = 500;

/// Taking goods back splits their portions, so a full document has this many times the room for it.
const TAKEN_BACK: usize = 2;

pub struct PairingBound {
    /// The document being written.
    own: Uuid,
    /// The current sharing of each document examined by the request.
    shared: HashMap<Uuid, Shared>,
    /// Number of portions paired with freed goods; from `begin_to_enter` on, paired with entered positions.
    met: usize,
    /// The documents that they were paired with.
    documents: HashSet<Uuid>,
    is_entering: bool,
    /// A document with freed goods that were left open for lack of room.
    left_open: Option<Uuid>,
}

struct Shared {
    goods: usize,
    /// Number of documents, or an upper bound: one that no longer shares anything still counts.
    documents: usize,
}

impl PairingBound {
    pub fn new(own: Uuid) -> PairingBound {
        let (shared, documents) = (HashMap::new(), HashSet::new());
        PairingBound { own, shared, met: 0, documents, is_entering: false, left_open: None }
    }

    /// Ends the withdrawal: from now on a pair without room is refused.
    pub fn begin_to_enter(&mut self) {
        (self.is_entering, self.met) = (true, 0);
        self.documents.clear();
    }

    /// Counts stored goods.
    pub fn came(&mut self, portion: &Portion) {
        self.of_each(portion, |shared| shared.goods += 1);
    }

    /// Counts goods that are completely removed.
    pub fn went(&mut self, portion: &Portion) {
        self.of_each(portion, |shared| shared.goods = shared.goods.saturating_sub(1));
    }

    fn of_each(&mut self, portion: &Portion, change: impl Fn(&mut Shared)) {
        for (_, place) in portion.positions().filter(|_| !sql::is_open(portion.kind())) {
            self.shared.entry(place.beleg).and_modify(&change);
        }
    }

    /// Whether goods of a position may be paired with these. Without room, freed goods stay open and entered
    /// ones are refused. Goods that are already shared and are taken completely need no more room.
    pub fn may_match(&mut self, tx: &Tx<'_>, own: &Portion, found: &Portion) -> Result<bool> {
        let becomes_more = sql::is_open(found.kind()) || own.menge < found.menge;
        let times = if own.leading().0.takes_back() { TAKEN_BACK } else { 1 };
        // Taking back an invoiced delivery adds one more document: its invoice counts together with it.
        let Some((_, first)) = found.positions().next() else { return Ok(true) };
        let is_new = !self.documents.contains(&first.beleg);
        let beleg_of = |(_, place): (Role, PositionKey)| place.beleg;
        let mut full = None;
        for beleg in own.positions().chain(found.positions().filter(|_| becomes_more)).map(beleg_of) {
            let shared = self.shared(tx, beleg)?;
            if shared.goods >= times * SHARED_MAX || is_new && shared.documents >= times * DOCUMENTS_MAX {
                full.get_or_insert(beleg);
            }
        }
        let is_bounded = self.met < SHARED_MAX && (!is_new || self.documents.len() < DOCUMENTS_MAX);
        if full.is_none() && is_bounded {
            self.met += 1;
            if is_new {
                for beleg in own.positions().chain(found.positions()).map(beleg_of) {
                    self.shared.entry(beleg).and_modify(|shared| shared.documents += 1);
                }
                self.documents.insert(first.beleg);
            }
            return Ok(true);
        }
        if !self.is_entering || own.leading().1.beleg != self.own {
            self.left_open.get_or_insert(own.leading().1.beleg);
            return Ok(false);
        }
        Err(match full.filter(|full| *full != self.own) {
            None => too_many().into(),
            Some(full) => already_full(&number_and_type(tx, full)?.0).into(),
        })
    }

    /// Counts each batch of a position's goods after the first as a pair.
    pub fn check_parts(&mut self, parts: usize) -> Result<()> {
        self.met += parts.saturating_sub(1);
        if self.met > SHARED_MAX { Err(too_many().into()) } else { Ok(()) }
    }

    /// Adds a hint if freed goods were left open because a request may pair no more.
    pub fn hint_left_open(&self, tx: &Tx<'_>, hints: &mut Hints) -> Result<()> {
        let Some(beleg) = self.left_open else { return Ok(()) };
        let (nummer, _) = number_and_type(tx, beleg)?;
        let message = format!(
            "Was frei wurde, trifft in einer Anfrage höchstens {SHARED_MAX} Mengen von {DOCUMENTS_MAX} \
             Belegen; der Rest bleibt offen, zuerst der von {nummer}. Bitte prüfen, ob dort Ware doppelt \
             gebucht ist."
        );
        hints.add(HintCode::ZuVieleGegenbelege, message);
        Ok(())
    }

    fn shared(&mut self, tx: &Tx<'_>, beleg: Uuid) -> Result<&Shared> {
        Ok(match self.shared.entry(beleg) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let goods = sql::shared(tx, beleg, TAKEN_BACK * SHARED_MAX)?;
                let documents = if goods < DOCUMENTS_MAX { goods } else { sql::shared_with(tx, beleg)? };
                unknown.insert(Shared { goods, documents })
            }
        })
    }
}

fn already_full(nummer: &str) -> Box<Refusal> {
    let message = format!(
        "{nummer} hat schon mit {SHARED_MAX} Mengen oder {DOCUMENTS_MAX} Belegen zu tun. Bitte mit \
         bezug_beleg_id einen anderen Beleg nennen."
    );
    Refusal::field(Code::ZuVieleGegenbelege, "items", message)
}

fn too_many() -> Box<Refusal> {
    let message = format!(
        "Der Beleg träfe mehr als {SHARED_MAX} Mengen oder {DOCUMENTS_MAX} andere Belege, oder seine Ware \
         läge in so vielen Chargen. Bitte auf mehrere Belege verteilen oder mit bezug_beleg_id sagen, \
         welcher Beleg gemeint ist."
    );
    Refusal::field(Code::ZuVieleGegenbelege, "items", message)
}
