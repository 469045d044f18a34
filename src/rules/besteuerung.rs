//! How a partner is taxed, by day: what he was on the day of the goods counts, not what he is today (D29).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::day::Day;
use super::field::{Kind, Typed, Value};
use super::tax::Steuerart;

/// A Besteuerung, and the day from which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Besteuerung {
    /// `None` in the first one, which holds for all days before the next.
    pub ab: Option<Day>,
    /// `None`: not known.
    pub steuerart: Option<Steuerart>,
}

/// The Besteuerungen of a partner in the order of their days, no two neighbours alike; empty: never known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Besteuerungen(Vec<Besteuerung>);

impl Besteuerungen {
    pub fn always(steuerart: Option<Steuerart>) -> Besteuerungen {
        Besteuerungen::of(vec![Besteuerung { ab: None, steuerart }])
    }

    fn of(mut all: Vec<Besteuerung>) -> Besteuerungen {
        all.sort_by_key(|one| one.ab);
        all.dedup_by_key(|one| one.steuerart);
        let is_unknown = all.iter().all(|one| one.steuerart.is_none());
        Besteuerungen(if is_unknown { Vec::new() } else { all })
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no Besteuerung was ever known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn on(&self, day: Day) -> Option<Steuerart> {
        self.at(day).and_then(|at| self.0[at].steuerart)
    }

    /// The index of what holds on a day.
    fn at(&self, day: Day) -> Option<usize> {
        self.0.iter().rposition(|one| one.ab.is_none_or(|ab| ab <= day))
    }

    /// With another one from a day on, up to the next one; it replaces that of the same day.
    pub fn from(&self, ab: Day, steuerart: Option<Steuerart>) -> Besteuerungen {
        let others = self.0.iter().copied().filter(|one| one.ab != Some(ab));
        Besteuerungen::of(others.chain([Besteuerung { ab: Some(ab), steuerart }]).collect())
    }

    /// With another one in the place of what holds on a day.
    pub fn instead(&self, day: Day, steuerart: Option<Steuerart>) -> Besteuerungen {
        let mut all = self.0.clone();
        match self.at(day) {
            Some(at) => all[at].steuerart = steuerart,
            None => all.push(Besteuerung { ab: None, steuerart }),
        }
        Besteuerungen::of(all)
    }

    /// One after the other, each with its day: "regel; pauschal_24 ab 01.01.2027".
    pub fn in_words(&self, word: impl Fn(Steuerart) -> String) -> String {
        let words = |one: &Besteuerung| {
            let steuerart = one.steuerart.map_or_else(|| "nicht bekannt".to_owned(), &word);
            match one.ab {
                Some(ab) => format!("{steuerart} ab {}", ab.german()),
                None => steuerart,
            }
        };
        self.0.iter().map(words).collect::<Vec<_>>().join("; ")
    }
}

impl Typed for Besteuerungen {
    const KIND: Kind = Kind::Text;

    fn value(&self) -> Value {
        match self.is_empty() {
            true => Value::Empty,
            false => Value::Text(self.in_words(|steuerart| steuerart.as_str().to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Option<Steuerart> = Some(Steuerart::Pauschal24);
    const R: Option<Steuerart> = Some(Steuerart::Regel);

    fn day(year: i16) -> Day {
        Day::new(year, 1, 1)
    }

    fn words(all: &Besteuerungen) -> String {
        all.in_words(|steuerart| steuerart.as_str().to_owned())
    }

    #[test]
    fn the_first_one_holds_for_all_days_before_the_next() {
        let all = Besteuerungen::always(P).from(day(2026), R);
        assert_eq!(words(&all), "pauschal_24; regel ab 01.01.2026");
        let on = [Day::new(1990, 5, 1), Day::new(2025, 12, 31), day(2026), day(2040)].map(|day| all.on(day));
        assert_eq!(on, [P, P, R, R]);
        assert_eq!(Besteuerungen::default().on(day(2026)), None);
    }

    #[test]
    fn a_change_replaces_that_of_its_day_and_neighbours_differ() {
        let all = Besteuerungen::always(P).from(day(2026), R);
        assert_eq!(words(&all.from(day(2025), R)), "pauschal_24; regel ab 01.01.2025");
        assert_eq!(words(&all.from(day(2026), P)), "pauschal_24");
        assert_eq!(
            words(&all.from(day(2028), P)),
            "pauschal_24; regel ab 01.01.2026; pauschal_24 ab 01.01.2028"
        );
        assert_eq!(
            words(&all.from(day(2027), None)),
            "pauschal_24; regel ab 01.01.2026; nicht bekannt ab 01.01.2027"
        );
        assert_eq!(words(&all.instead(day(2027), P)), "pauschal_24");
        assert_eq!(words(&all.instead(day(2025), None)), "nicht bekannt; regel ab 01.01.2026");
        assert!(Besteuerungen::always(P).instead(day(2025), None).is_empty());
    }
}
