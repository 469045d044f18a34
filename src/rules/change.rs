//! What a request says about a field: nothing, that it becomes empty, or a value (D18).

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

/// Applies the changes of a request to each of these fields of a record.
macro_rules! apply_each {
    ($change:ident => $record:ident: $($field:ident),+) => {
        $($record.$field = $change.$field.apply($record.$field.take());)+
    };
}

pub(crate) use apply_each;

/// Copies each of these fields from a row of a file into a record; a field that the row lacks keeps its
/// value.
macro_rules! fill_each {
    ($row:ident => $record:ident: $($field:ident),+) => {
        $($record.$field = $row.$field.or($record.$field.take());)+
    };
}

pub(crate) use fill_each;

/// Makes a row of a file into what a client would send: a field that the row lacks stays.
macro_rules! sent_each {
    ($row:ident => $change:ident { $($own:ident),* }: $($field:ident),+) => {
        $change {
            $($own,)*
            $($field: $row.$field.map_or(Change::Keep, Change::Set),)+
            ..$change::default()
        }
    };
}

pub(crate) use sent_each;

impl<T> From<Option<T>> for Change<T> {
    fn from(value: Option<T>) -> Change<T> {
        value.map_or(Change::Clear, Change::Set)
    }
}
