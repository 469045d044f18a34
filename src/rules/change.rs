//! What a request says about a field: nothing, that it becomes empty, or a value (D18).

use schemars::JsonSchema;
use serde::Serialize;

use super::day::{Day, DayTime};
use super::error::Hints;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<T> Change<T> {
    pub fn apply(self, old: Option<T>) -> Option<T> {
        match self {
            Change::Keep => old,
            Change::Clear => None,
            Change::Set(value) => Some(value),
        }
    }

    pub fn value(self) -> Option<T> {
        self.apply(None)
    }

    pub fn get(&self) -> Option<&T> {
        match self {
            Change::Set(value) => Some(value),
            Change::Keep | Change::Clear => None,
        }
    }

    /// Returns the value that is set, unless the record has it already: equal values are not asked about (D39).
    pub fn other_than(&self, old: Option<&T>) -> Option<&T>
    where
        T: PartialEq,
    {
        self.get().filter(|new| Some(*new) != old)
    }

    pub fn is_keep(&self) -> bool {
        matches!(self, Change::Keep)
    }

    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
            Change::Set(value) => Change::Set(convert(value)),
        }
    }

    /// Drops a change of a field that this request cannot set, and adds a hint.
    pub fn ignore(&mut self, feld: &str, hints: &mut Hints) {
        if !std::mem::take(self).is_keep() {
            hints.add_ignored(feld);
        }
    }
}

/// A record after a change, and what there is to say about it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Geaendert")]
pub struct Geaendert<T> {
    #[serde(flatten)]
    pub record: T,
    pub hinweise: Hints,
}

/// What a body says of a field, as a change of it; a body of plain values cannot clear.
pub trait Said<T> {
    fn change(self) -> Change<T>;
}

impl<T> Said<T> for Change<T> {
    fn change(self) -> Change<T> {
        self
    }
}

impl<T> Said<T> for Option<T> {
    fn change(self) -> Change<T> {
        self.map_or(Change::Keep, Change::Set)
    }
}

/// A field of a record, which takes what a body says of it.
pub trait Takes<T> {
    fn take(&mut self, said: impl Said<T>);
}

impl<T> Takes<T> for Option<T> {
    fn take(&mut self, said: impl Said<T>) {
        *self = said.change().apply(Option::take(self));
    }
}

impl Takes<Day> for Option<DayTime> {
    fn take(&mut self, said: impl Said<Day>) {
        Takes::<DayTime>::take(self, said.change().map(DayTime));
    }
}

/// A field that always has a value: cleared, it has the usual one.
impl<T: Default> Takes<T> for T {
    fn take(&mut self, said: impl Said<T>) {
        match said.change() {
            Change::Keep => {}
            Change::Clear => *self = T::default(),
            Change::Set(value) => *self = value,
        }
    }
}

/// Applies the changes of a request to each of these fields of a record.
macro_rules! apply_each {
    ($change:ident => $record:ident: $($field:ident),+) => {
        $($record.$field = $change.$field.apply($record.$field.take());)+
    };
}

pub(crate) use apply_each;

impl<T> From<Option<T>> for Change<T> {
    fn from(value: Option<T>) -> Change<T> {
        value.map_or(Change::Clear, Change::Set)
    }
}
