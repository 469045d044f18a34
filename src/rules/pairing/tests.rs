use std::collections::BTreeMap;
use std::convert::Infallible;

use uuid::Uuid;

use super::*;

/// Portions in memory. All goods come from one batch unless a position names another.
#[derive(Default)]
struct Shelf {
    portions: Vec<Portion>,
    entries: BTreeMap<PositionKey, SentPosition>,
    last_id: i64,
}

impl Store for Shelf {
    type Error = Infallible;

    fn first(&mut self, search: &Search) -> Result<Option<Portion>, Infallible> {
        let mut found: Vec<_> = self.portions.iter().filter(|portion| matches(search, portion)).collect();
        found.sort_by_key(|portion| (sought(portion), portion.nr));
        Ok(if search.newest_first { found.last() } else { found.first() }.map(|portion| (*portion).clone()))
    }

    fn proposed(
        &mut self,
        _: &SentPosition,
        _: &Target,
        _: Option<Option<Uuid>>,
    ) -> Result<Option<Portion>, Infallible> {
        Ok(None)
    }

    fn of_same_order(&mut self, _: &SentPosition) -> Result<Vec<Target>, Infallible> {
        Ok(Vec::new())
    }

    fn waits(&mut self, _: &SentPosition) -> Result<Quantity, Infallible> {
        Ok(Quantity::ZERO)
    }

    fn waiting(&mut self, _: &SentPosition) -> Result<Option<Portion>, Infallible> {
        Ok(None)
    }

    fn may_match(&mut self, _: &Portion, _: &Portion) -> Result<bool, Infallible> {
        Ok(true)
    }

    fn take(&mut self, portion: &Portion, menge: Quantity) -> Result<(), Infallible> {
        let at = self.portions.iter().position(|other| other.id == portion.id).unwrap();
        self.portions[at].menge = difference(portion.menge, menge);
        self.portions.retain(|portion| !portion.menge.is_zero());
        Ok(())
    }

    fn add(&mut self, portion: Portion) -> Result<(), Infallible> {
        self.last_id += 1;
        let nr = portion.nr.or(Some(self.last_id));
        self.portions.push(Portion { id: self.last_id, nr, ..portion });
        Ok(())
    }

    fn last_nr(&mut self, role: Role, place: PositionKey) -> Result<Option<i64>, Infallible> {
        let of = |portion: &&Portion| portion.place(role) == Some(place);
        Ok(self.portions.iter().filter(of).filter_map(|portion| portion.nr).max())
    }

    fn entry(&mut self, _: Role, place: PositionKey, _: Option<Uuid>) -> Result<SentPosition, Infallible> {
        Ok(self.entries[&place])
    }

    fn are_purchases(&self) -> bool {
        false
    }

    fn batches_for(
        &mut self,
        entry: &SentPosition,
        menge: Quantity,
    ) -> Result<Vec<(Option<Uuid>, Quantity)>, Infallible> {
        Ok(vec![(Some(entry.named.id().unwrap_or(Uuid::from_u128(1))), menge)])
    }
}

impl Pairing<Shelf> {
    fn cancel(&mut self, beleg: Uuid) {
        let of = |portion: &&Portion| portion.positions().any(|(_, place)| place.beleg == beleg);
        let portions: Vec<_> = self.store.portions.iter().filter(of).cloned().collect();
        self.withdraw(beleg, &portions).unwrap();
    }
}

fn sought(portion: &Portion) -> PositionKey {
    match portion.kind() {
        PortionKind::Pair => portion.place(Role::Invoice).unwrap(),
        _ => portion.leading().1,
    }
}

fn matches(search: &Search, portion: &Portion) -> bool {
    portion.kind() == search.kind
        && search.named.fits(portion.named)
        && search.charge.is_none_or(|charge| charge == portion.charge)
        && search.has_moved.is_none_or(|moved| moved == portion.returned_by.is_some())
        && search.bezug.is_none_or(|to| {
            let is_named = |place: PositionKey| {
                place.beleg == to.beleg && to.position.is_none_or(|position| position == place.position)
            };
            portion.place(to.role).is_some_and(is_named)
        })
}

/// Plays a story: documents of sales and stornos, in the words of D8.
fn tell(story: &str) -> (Pairing<Shelf>, Vec<Uuid>) {
    let mut pairing = Pairing::new(Shelf::default());
    let mut documents = Vec::new();
    for step in story.split(", ") {
        let (what, numbers) = step.split_once(' ').unwrap();
        if what == "storno" {
            pairing.cancel(documents[numbers.parse::<usize>().unwrap()]);
            documents.push(Uuid::nil());
            continue;
        }
        let beleg = Uuid::from_u128(documents.len() as u128 + 1);
        documents.push(beleg);
        let mut items: Vec<i64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
        items.sort_by_key(|menge| *menge > 0);
        for (menge, position) in items.into_iter().zip(1..) {
            let role = match (what, menge > 0) {
                ("LS", true) => Role::Delivery,
                ("LS", false) => Role::Return,
                (_, true) => Role::Invoice,
                (_, false) => Role::Credit,
            };
            let place = PositionKey { beleg, position };
            let (named, reach) = (Named::default(), Reach::Any);
            let entry = SentPosition {
                role,
                place,
                named,
                states_batch: false,
                bezug: None,
                names_order: false,
                reach,
            };
            pairing.store.entries.insert(place, entry);
            pairing.enter(&entry, Quantity::whole(menge.abs())).unwrap();
        }
    }
    (pairing, documents)
}

/// Sum of all movements; deliveries count negative, because they take goods out.
fn stock(pairing: &Pairing<Shelf>) -> i64 {
    let sign = |role: Role| if role.takes_back() { 1 } else { -1 };
    let moved = |portion: &Portion| -> i64 {
        portion.movers().map(|(role, _)| sign(role) * portion.menge.units() / Quantity::UNIT).sum()
    };
    pairing.store.portions.iter().map(moved).sum()
}

const STORIES: &[(&str, i64)] = &[
    ("RE 10, LS 10, storno 0", -10),
    ("LS 10, RE 10, storno 0, LS 10", -10),
    ("LS 10, RE 10, RE -10, RE 10", -10),
    ("RE 10, RE -10, RE 10", -10),
    ("RE 10, RE -10, LS -10", 0),
    ("RE 10, LS -10, RE -10", 0),
    ("RE 10, LS -10, RE -10, LS 10", -10),
    ("LS 10 -5, RE 10 -5", -5),
    ("LS 10, LS -5, RE 10, RE -5", -5),
    ("LS 100, RE 100, RE -100, RE 100", -100),
    ("LS 100 -20, RE 100 -20", -80),
    ("RE -10", 0),
    ("RE -10, LS -10", 10),
    ("LS 5, RE 5, LS -5, RE -5, RE 5", -5),
    ("RE 10, LS 10, RE -10, RE 10, LS -10", 0),
    ("RE 10, RE -10, storno 1", -10),
    ("LS 10, LS -10, storno 1", -10),
    ("RE 10, RE -10, storno 0", 0),
    ("RE 10, RE -10, LS -10, storno 0", 10),
    ("RE 10, LS -10, RE -10, storno 0, RE 10, RE -10", 10),
    ("RE 10, RE -10, LS -10, LS -10, storno 2", 0),
    ("LS -10 5, RE 5 -10, storno 0", -5),
    // If both have moved, the first one keeps the movement.
    ("LS 10, RE 10, LS 10, storno 0", -10),
    ("LS 10, RE 10, RE -10, RE 10, storno 2", -20),
    // Several portions of one position are freed while others enter.
    ("LS 8, LS -11 7, storno 0, RE -4, RE 12, RE -10 5, storno 3", -7),
];

#[test]
fn goods_move_once_whatever_the_order() {
    for (story, expected) in STORIES {
        assert_eq!(stock(&tell(story).0), *expected, "{story}");
    }
}

#[test]
fn nothing_is_left_when_all_is_cancelled() {
    for (story, _) in STORIES {
        for backwards in [false, true] {
            let (mut pairing, mut documents) = tell(story);
            if backwards {
                documents.reverse();
            }
            for beleg in documents {
                pairing.cancel(beleg);
            }
            assert_eq!(pairing.store.portions, [], "{story}");
        }
    }
}

#[test]
fn each_quantity_is_spoken_of_once() {
    for (story, _) in STORIES {
        let (pairing, _) = tell(story);
        let spoken: i64 =
            pairing.store.portions.iter().map(|p| p.positions().count() as i64 * p.menge.units()).sum();
        let steps: Vec<_> = story.split(", ").collect();
        let said = |step: &str| -> i64 {
            let numbers = step.split(' ').skip(1).map(|number| number.parse::<i64>().unwrap().abs());
            numbers.sum::<i64>() * Quantity::UNIT
        };
        let of_step = |step: &&str| match step.strip_prefix("storno ") {
            Some(at) => -said(steps[at.parse::<usize>().unwrap()]),
            None => said(step),
        };
        assert_eq!(steps.iter().map(of_step).sum::<i64>(), spoken, "{story}");
    }
}
