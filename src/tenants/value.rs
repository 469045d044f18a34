//! What a setting of a company can hold: how it is typed, stored and read.

use rusqlite::types::{FromSqlError, FromSqlResult, Value, ValueRef};

use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::document::Belegart;

pub trait SettingValue: Sized {
    /// What can be typed, in German.
    fn values() -> String;

    fn typed(text: &str) -> Option<Self>;

    fn as_typed(&self) -> String;

    /// What the value means, in German, for the pages; blank where it is nothing.
    fn in_words(&self) -> String;

    /// The value as its column holds it.
    fn stored(&self) -> Value;

    fn read(column: ValueRef<'_>) -> FromSqlResult<Self>;
}

impl SettingValue for bool {
    fn values() -> String {
        "true, false".to_owned()
    }

    fn typed(text: &str) -> Option<bool> {
        text.parse().ok()
    }

    fn as_typed(&self) -> String {
        self.to_string()
    }

    fn in_words(&self) -> String {
        if *self { "ja" } else { "nein" }.to_owned()
    }

    fn stored(&self) -> Value {
        (*self).into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<bool> {
        Ok(column.as_i64()? != 0)
    }
}

/// A number of calendar months.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Monate(pub i32);

impl SettingValue for Monate {
    fn values() -> String {
        "0 bis 1200".to_owned()
    }

    fn typed(text: &str) -> Option<Monate> {
        text.parse().ok().filter(|months| (0..=1_200).contains(months)).map(Monate)
    }

    fn as_typed(&self) -> String {
        self.0.to_string()
    }

    fn in_words(&self) -> String {
        self.as_typed()
    }

    fn stored(&self) -> Value {
        self.0.into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<Monate> {
        i32::try_from(column.as_i64()?).map(Monate).map_err(|_| FromSqlError::OutOfRange(0))
    }
}

pub trait Worded: Choice {
    fn words(self) -> &'static str;
}

impl<T: Worded> SettingValue for T {
    fn values() -> String {
        T::texts()
    }

    fn typed(text: &str) -> Option<T> {
        T::parse(text)
    }

    fn as_typed(&self) -> String {
        self.text().to_owned()
    }

    fn in_words(&self) -> String {
        self.words().to_owned()
    }

    fn stored(&self) -> Value {
        self.text().to_owned().into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<T> {
        T::parse(column.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

impl SettingValue for Option<Day> {
    fn values() -> String {
        "ein Tag wie 30.06.2026 oder nichts".to_owned()
    }

    fn typed(text: &str) -> Option<Option<Day>> {
        match text {
            "" => Some(None),
            day => Day::parse_plain(day).or_else(|| Day::parse_german(day)).map(Some),
        }
    }

    fn as_typed(&self) -> String {
        self.map_or_else(String::new, |day| day.to_string())
    }

    fn in_words(&self) -> String {
        self.map_or_else(String::new, Day::german)
    }

    fn stored(&self) -> Value {
        self.map(|day| day.to_string()).into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<Option<Day>> {
        let day = |text| Day::parse_plain(text).ok_or(FromSqlError::InvalidType);
        column.as_str_or_null()?.map(day).transpose()
    }
}

/// Separated by commas or blanks where they are typed, by blanks where they are stored. What has a name in words is taken by
/// that, too.
impl<T: Belegart> SettingValue for Vec<T> {
    fn values() -> String {
        let types = T::ALL.iter().map(|typ| format!("{} ({})", typ.text(), typ.in_words()));
        format!("einige von {}, mit Komma getrennt, oder nichts", types.collect::<Vec<_>>().join(", "))
    }

    fn typed(text: &str) -> Option<Vec<T>> {
        let in_words = |name: &str| {
            T::ALL.iter().copied().find(|typ| typ.in_words().to_lowercase() == name.to_lowercase())
        };
        let named = |name: &str| in_words(name).or_else(|| T::named(name));
        let mut found = Vec::new();
        for part in text.split(',').map(str::trim) {
            match in_words(part) {
                Some(typ) => found.push(typ),
                None => found.extend(part.split_whitespace().map(named).collect::<Option<Vec<_>>>()?),
            }
        }
        Some(found)
    }

    fn as_typed(&self) -> String {
        self.iter().map(|typ| typ.text()).collect::<Vec<_>>().join(",")
    }

    fn in_words(&self) -> String {
        self.iter().map(|typ| typ.in_words()).collect::<Vec<_>>().join(", ")
    }

    fn stored(&self) -> Value {
        self.iter().map(|typ| typ.text()).collect::<Vec<_>>().join(" ").into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<Vec<T>> {
        Ok(column.as_str()?.split(' ').filter_map(T::parse).collect())
    }
}
