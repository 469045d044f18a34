//! Days and instants of the model, computed only from the rules of the calendar, without a time-zone database.

pub const SECOND: i64 = 1_000;
pub const DAY: i64 = 24 * 60 * 60 * SECOND;
const HOUR: i64 = 60 * 60 * SECOND;

/// Days since 1970-01-01 of a date (the algorithm of Howard Hinnant).
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of days since 1970-01-01.
pub fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// One o'clock UTC on the last Sunday of a month with 31 days, when the clocks change in Berlin.
pub fn clocks_change(year: i64, month: i64) -> i64 {
    let last = days(year, month, 31);
    // 1970-01-01 was a Thursday.
    let since_sunday = (last + 4).rem_euclid(7);
    (last - since_sunday) * DAY + HOUR
}

/// The offset of Berlin from UTC, in milliseconds.
fn ahead(millis: i64) -> i64 {
    let (year, ..) = date(millis.div_euclid(DAY));
    let is_summer = (clocks_change(year, 3)..clocks_change(year, 10)).contains(&millis);
    if is_summer { 2 * HOUR } else { HOUR }
}

/// The day in Berlin, as days since 1970-01-01.
pub fn berlin_day(millis: i64) -> i64 {
    (millis + ahead(millis)).div_euclid(DAY)
}

/// The instant at which a day begins in Berlin.
pub fn berlin_midnight(day: i64) -> i64 {
    let begun = |ahead: i64| day * DAY - ahead;
    let (winter, summer) = (begun(HOUR), begun(2 * HOUR));
    if ahead(summer) == 2 * HOUR { summer } else { winter }
}

pub fn day_text(day: i64) -> String {
    let (year, month, day) = date(day);
    format!("{year}-{month:02}-{day:02}")
}

/// A day in an answer where the specification speaks of an instant (D15).
pub fn day_time(day: i64) -> String {
    format!("{}T00:00:00.000Z", day_text(day))
}

pub fn instant(millis: i64) -> String {
    let day = day_text(millis.div_euclid(DAY));
    let of_day = millis.rem_euclid(DAY);
    let (seconds, millis) = (of_day / SECOND, of_day % SECOND);
    format!("{day}T{:02}:{:02}:{:02}.{millis:03}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
