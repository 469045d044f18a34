//! The order in which open goods are met by what names none of them (D38).

use super::Store;
use super::portion::{Portion, Search, Stage, Target};
use crate::rules::fixed::Quantity;

/// How far the goods of a position have come in that order; several portions of it go on where the last one stopped.
#[derive(Default)]
pub struct Course {
    /// The whole quantity to be met, until it was looked for.
    exactly: Option<Quantity>,
    /// The position that is met until nothing of it is left.
    within: Option<Target>,
}

impl Course {
    pub fn of(menge: Quantity) -> Course {
        Course { exactly: Some(menge), within: None }
    }

    /// Finds what a search names; else of the positions of which exactly the whole quantity is open, then of those of
    /// which nothing has been met or taken back, then of the others the first.
    pub fn next<S: Store>(&mut self, search: &Search, store: &mut S) -> Result<Option<Portion>, S::Error> {
        if search.bezug.is_some() {
            return store.first(search);
        }
        if let Some(bezug) = self.within
            && let Some(found) = store.first(&Search { bezug: Some(bezug), ..*search })?
        {
            return Ok(Some(found));
        }
        let exact = self.exactly.take().map(|exactly| Search { exactly: Some(exactly), ..*search });
        let stages = [Stage::Untouched, Stage::Begun].map(|stage| Search { stage: Some(stage), ..*search });
        for search in exact.into_iter().chain(stages) {
            if let Some(found) = store.first(&search)? {
                let (role, place) = found.leading();
                self.within = Some(Target { role, beleg: place.beleg, position: Some(place.position) });
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
