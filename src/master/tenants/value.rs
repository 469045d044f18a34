//! Values of a company's settings: how they are typed, stored and read.

use rusqlite::types::{FromSqlError, FromSqlResult, Value, ValueRef};

use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::document::Belegart;

pub trait SettingValue: Sized {
    /// Description of the accepted input, in German.
    fn values() -> String;

    fn typed(text: &str) -> Option<Self>;

    fn as_typed(&self) -> String;

    /// Meaning of the value in German, for the pages; blank for no value.
    fn in_words(&self) -> String;

    /// The value as stored in its column.
    fn stored(&self) -> Value;

    fn read(column: ValueRef<'_>) -> FromSqlResult<Self>;
}

impl SettingValue for bool {
    fn values() -> String {
        "true, false".to_owned()
    }

    fn typed(text: &str) -> Option<bool> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "ja" => Some(true),
            "false" | "nein" => Some(false),
            _ => None,
        }
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

/// A whole number from MIN to MAX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nummer<const MIN: i64, const MAX: i64>(pub i64);

/// A number of calendar months.
pub type Monate = Nummer<0, 1_200>;

impl<const MIN: i64, const MAX: i64> SettingValue for Nummer<MIN, MAX> {
    fn values() -> String {
        format!("{MIN} bis {MAX}")
    }

    fn typed(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number| (MIN..=MAX).contains(number)).map(Nummer)
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

    fn read(column: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Nummer(column.as_i64()?))
    }
}

impl<const MIN: i64, const MAX: i64> SettingValue for Option<Nummer<MIN, MAX>> {
    fn values() -> String {
        format!("{} oder nichts", Nummer::<MIN, MAX>::values())
    }

    fn typed(text: &str) -> Option<Self> {
        if text.is_empty() { Some(None) } else { Nummer::typed(text).map(Some) }
    }

    fn as_typed(&self) -> String {
        self.map_or_else(String::new, |number| number.as_typed())
    }

    fn in_words(&self) -> String {
        self.as_typed()
    }

    fn stored(&self) -> Value {
        self.map(|number| number.0).into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(column.as_i64_or_null()?.map(Nummer))
    }
}

/// A day that recurs each year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jahrestag {
    month: i8,
    day: i8,
}

impl Jahrestag {
    /// Returns its last occurrence up to and including a day; 29 February falls on the last day of the month
    /// in other years.
    pub fn up_to(self, day: Day) -> Day {
        let in_year = |year: i64| Day::in_month(year, self.month, self.day);
        let this = in_year(day.year());
        if this <= day { this } else { in_year(day.year() - 1) }
    }
}

impl SettingValue for Jahrestag {
    fn values() -> String {
        "ein Tag im Jahr wie 01-01 (Monat-Tag) oder 01.07.".to_owned()
    }

    fn typed(text: &str) -> Option<Jahrestag> {
        let in_leap_year = match text.strip_suffix('.') {
            Some(german) => Day::parse_german(&format!("{german}.2024")),
            None => Day::parse_plain(&format!("2024-{text}")),
        };
        in_leap_year.map(|day| Jahrestag { month: day.month(), day: day.day_of_month() })
    }

    fn as_typed(&self) -> String {
        format!("{:02}-{:02}", self.month, self.day)
    }

    fn in_words(&self) -> String {
        format!("{:02}.{:02}.", self.day, self.month)
    }

    fn stored(&self) -> Value {
        self.as_typed().into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<Jahrestag> {
        Jahrestag::typed(column.as_str()?).ok_or(FromSqlError::InvalidType)
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

/// Days in ascending order, typed with commas or blanks as separators and stored with blanks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tage(pub Vec<Day>);

impl SettingValue for Tage {
    fn values() -> String {
        "Tage wie 01.01.2027, mit Komma getrennt, oder nichts".to_owned()
    }

    fn typed(text: &str) -> Option<Tage> {
        let parts = text.split([',', ' ']).filter(|part| !part.is_empty());
        let days = parts.map(|part| Day::parse_plain(part).or_else(|| Day::parse_german(part)));
        let mut days = days.collect::<Option<Vec<_>>>()?;
        days.sort_unstable();
        days.dedup();
        Some(Tage(days))
    }

    fn as_typed(&self) -> String {
        self.0.iter().map(Day::to_string).collect::<Vec<_>>().join(",")
    }

    fn in_words(&self) -> String {
        self.0.iter().map(|day| day.german()).collect::<Vec<_>>().join(", ")
    }

    fn stored(&self) -> Value {
        self.0.iter().map(Day::to_string).collect::<Vec<_>>().join(" ").into()
    }

    fn read(column: ValueRef<'_>) -> FromSqlResult<Tage> {
        Tage::typed(column.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// Typed with commas or blanks as separators, stored with blanks. Types that have a German name are accepted
/// by name, too.
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
