//! Calendar days and the time in Berlin, computed from their rules alone.

use std::fmt;

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

impl fmt::Display for Civil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Civil {
    /// Days since 1970-01-01, counted year by year and month by month.
    pub fn number(self) -> i64 {
        let years: i64 = (1970..self.year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
        let months: i64 = (1..self.month).map(|month| days_of(self.year, month)).sum();
        years + months + self.day - 1
    }

    /// The day with this number, which is not negative.
    pub fn of(mut number: i64) -> Civil {
        let (mut year, mut month) = (1970, 1);
        while number >= 365 + i64::from(is_leap(year)) {
            number -= 365 + i64::from(is_leap(year));
            year += 1;
        }
        while number >= days_of(year, month) {
            number -= days_of(year, month);
            month += 1;
        }
        Civil { year, month, day: number + 1 }
    }

    /// The same day some months later, or the last day of that month.
    pub fn plus_months(self, months: i32) -> Civil {
        let all = self.year * 12 + self.month - 1 + i64::from(months);
        let (year, month) = (all.div_euclid(12), all.rem_euclid(12) + 1);
        Civil { year, month, day: self.day.min(days_of(year, month)) }
    }
}

/// The time in Berlin by directive 2000/84/EC: an hour ahead of UTC, two between the last Sundays of March
/// and October.
pub struct Berlin {
    /// The hour in UTC at which the clocks change: 1.
    pub change_hour: i64,
}

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

impl Berlin {
    /// Local time at an instant, in milliseconds since 1970-01-01T00:00 local time.
    pub fn local(&self, millis: i64) -> i64 {
        millis + self.offset(millis)
    }

    /// The instant of a local time: the first one in an hour that occurs twice, the one after in a skipped hour.
    pub fn instant(&self, local: i64) -> i64 {
        let [summer, winter] = [local - 2 * HOUR, local - HOUR];
        if self.offset(summer) == 2 * HOUR { summer } else { winter }
    }

    fn offset(&self, millis: i64) -> i64 {
        let year = Civil::of(millis.div_euclid(DAY)).year;
        let change = |month| last_sunday(year, month) * DAY + self.change_hour * HOUR;
        if (change(3)..change(10)).contains(&millis) { 2 * HOUR } else { HOUR }
    }
}

/// The last Sunday of a month with 31 days, as a number. 1970-01-01 was a Thursday.
fn last_sunday(year: i64, month: i64) -> i64 {
    let last = Civil { year, month, day: 31 }.number();
    last - (last + 4).rem_euclid(7)
}
