//! Instants and calendar days (D15). A business day is a day in Berlin.

use std::borrow::Cow;
use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Europe/Berlin, compiled in: the machine needs no time-zone database.
static BERLIN: TimeZone = jiff::tz::get!("Europe/Berlin");

/// Day numbers of 0001-01-01 and 9999-12-31: a year is written with four digits.
const FIRST_NUMBER: i64 = -719_162;
const LAST_NUMBER: i64 = 2_932_896;

/// A calendar day; on the wire `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

/// A calendar day in a field that the specification types as a date-time: `YYYY-MM-DDT00:00:00.000Z`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayTime(pub Day);

/// An instant in milliseconds since 1970-01-01T00:00Z; on the wire `YYYY-MM-DDTHH:MM:SS.mmmZ`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Day {
    pub const fn new(year: i16, month: i8, day: i8) -> Day {
        Day(jiff::civil::date(year, month, day))
    }

    pub fn year(self) -> i64 {
        i64::from(self.0.year())
    }

    /// 1 for January.
    pub fn month(self) -> i8 {
        self.0.month()
    }

    pub fn day_of_month(self) -> i8 {
        self.0.day()
    }

    /// Returns a day of a month; the last day if the month is shorter. Years are clamped to the calendar.
    pub fn in_month(year: i64, month: i8, day: i8) -> Day {
        let year = i16::try_from(year).unwrap_or(i16::MAX).clamp(1, 9_999);
        let first = jiff::civil::date(year, month.clamp(1, 12), 1);
        let later = Span::new().days(i64::from(day.clamp(1, first.days_in_month()) - 1));
        Day(first.saturating_add(later))
    }

    /// Returns the same day `months` calendar months later, or earlier if negative; the last day if that
    /// month is shorter.
    pub fn plus_months(self, months: i64) -> Day {
        Day(self.0.saturating_add(Span::new().months(months)))
    }

    pub fn next_year(self) -> Day {
        Day(self.0.saturating_add(Span::new().years(1)))
    }

    /// Returns 31 December `years` years later: retention counts from the end of a year (AO § 147 (4)).
    pub fn end_of_year_after(self, years: i16) -> Day {
        Day(jiff::civil::date(self.0.year().saturating_add(years).min(jiff::civil::Date::MAX.year()), 12, 31))
    }

    pub fn tomorrow(self) -> Day {
        Day(self.0.saturating_add(Span::new().days(1)))
    }

    pub fn yesterday(self) -> Day {
        Day(self.0.saturating_sub(Span::new().days(1)))
    }

    pub fn in_berlin(instant: Instant) -> Day {
        Day(BERLIN.to_datetime(instant.timestamp()).date())
    }

    /// Returns the day of an instant in UTC, for limits that count by UTC day.
    pub fn in_utc(instant: Instant) -> Day {
        Day(TimeZone::UTC.to_datetime(instant.timestamp()).date())
    }

    /// Returns the day with this number, counted from 1970-01-01; clamped to the first and last day of the
    /// calendar.
    pub fn of_number(number: i64) -> Day {
        let days = number.clamp(FIRST_NUMBER, LAST_NUMBER);
        Day(jiff::civil::date(1970, 1, 1).saturating_add(Span::new().days(days)))
    }

    /// Days since 1970-01-01.
    pub fn number(self) -> i64 {
        // Counts days instead of instants, because the last day of the calendar has no instant.
        self.0.duration_since(jiff::civil::date(1970, 1, 1)).as_secs() / 86_400
    }

    /// Returns the instant at which this day begins in Berlin.
    pub fn begin_in_berlin(self) -> Instant {
        let midnight = self.0.to_datetime(Time::midnight());
        // Only days at the very ends of the calendar have no instant; they are clamped.
        BERLIN.to_timestamp(midnight).map_or(Instant(i64::MAX), Instant::from)
    }

    /// `DD.MM.YYYY`.
    pub fn german(self) -> String {
        self.to_string().rsplit('-').collect::<Vec<_>>().join(".")
    }

    fn text(self, buffer: &mut Buffer) -> &str {
        text(self.0.to_datetime(Time::midnight()), buffer).get(..10).unwrap_or_default()
    }

    /// Parses a day: `YYYY-MM-DD`, an RFC 3339 instant (its day in Berlin) or a date-time without offset (its
    /// date part).
    pub fn parse(text: &str) -> Option<Day> {
        if let Some(day) = Day::parse_plain(text) {
            return Some(day);
        }
        // RFC 3339 allows neither expanded nor truncated years.
        Day::parse_plain(text.get(..10)?)?;
        if !matches!(text.as_bytes().get(10), Some(b'T' | b't' | b' ')) {
            return None;
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return Instant::of_timestamp(timestamp).map(Day::in_berlin);
        }
        if text.contains('[') {
            return None;
        }
        text.parse::<DateTime>().ok().map(|datetime| Day(datetime.date()))
    }

    pub fn parse_plain(text: &str) -> Option<Day> {
        let bytes: &[u8; 10] = text.as_bytes().try_into().ok()?;
        let number = |digits: &[u8]| {
            let add = |number: i16, digit: &u8| {
                digit.is_ascii_digit().then(|| number * 10 + i16::from(*digit - b'0'))
            };
            digits.iter().try_fold(0, add)
        };
        let (year, month, day) = (number(&bytes[..4])?, number(&bytes[5..7])?, number(&bytes[8..])?);
        if [bytes[4], bytes[7]] != *b"--" || year == 0 {
            return None;
        }
        Date::new(year, month as i8, day as i8).ok().map(Day)
    }

    /// Parses `DD.MM.YYYY`, as German spreadsheets write it.
    pub fn parse_german(text: &str) -> Option<Day> {
        let mut parts = text.split('.');
        let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || year.len() != 4 || day.len() > 2 || month.len() > 2 {
            return None;
        }
        Day::parse_plain(&format!("{year}-{month:0>2}-{day:0>2}"))
    }
}

/// Parses a day and time without offset: `DD.MM.YYYY HH:MM`, also with seconds or `Uhr`, or
/// `YYYY-MM-DDTHH:MM:SS`.
fn local(text: &str) -> Option<DateTime> {
    let (day, time) = text.trim().split_once([' ', 'T'])?;
    let day = Day::parse_german(day.trim_end_matches(',')).or_else(|| Day::parse_plain(day))?;
    let time = time.trim().trim_end_matches("Uhr").trim_end();
    let time = if time.find(':') == Some(1) { format!("0{time}") } else { time.to_owned() };
    let is_time = time.len() >= 5 && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    let time = time.parse::<Time>().ok().filter(|_| is_time)?;
    Some(day.0.to_datetime(time))
}

impl Day {
    /// Parses a day and time without offset, and returns its day.
    pub fn of_local(text: &str) -> Option<Day> {
        local(text).map(|moment| Day(moment.date()))
    }
}

impl Instant {
    /// Parses a day and time in Berlin; `None` for a time that the clock change repeats or skips.
    pub fn of_local(text: &str) -> Option<Instant> {
        let moment = BERLIN.to_ambiguous_timestamp(local(text)?).unambiguous().ok()?;
        Instant::of_timestamp(moment)
    }
}

impl DayTime {
    fn text(self, buffer: &mut Buffer) -> &str {
        text(self.0.0.to_datetime(Time::midnight()), buffer)
    }
}

impl Instant {
    pub const MILLIS_PER_DAY: i64 = 86_400_000;

    /// `DD.MM.YYYY HH:MM:SS` on the clocks of Berlin.
    pub fn german(self) -> String {
        BERLIN.to_datetime(self.timestamp()).strftime("%d.%m.%Y %H:%M:%S").to_string()
    }

    /// Minutes since midnight on the clocks of Berlin.
    pub fn minute_in_berlin(self) -> u32 {
        let time = BERLIN.to_datetime(self.timestamp()).time();
        u32::from(time.hour().unsigned_abs()) * 60 + u32::from(time.minute().unsigned_abs())
    }

    /// `YYYYMMDDHHMMSSmmm` on the clocks of Berlin.
    pub fn digits_in_berlin(self) -> String {
        let local = BERLIN.to_datetime(self.timestamp());
        format!("{}{:03}", local.strftime("%Y%m%d%H%M%S"), self.0.rem_euclid(1_000))
    }

    pub const fn from_millis(millis: i64) -> Instant {
        Instant(millis)
    }

    /// Milliseconds since 1970, as stored.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// The UTC day, in days since 1970-01-01, as limits and the audit log count it.
    pub const fn utc_day(self) -> i64 {
        self.0.div_euclid(Instant::MILLIS_PER_DAY)
    }

    /// Milliseconds until the next UTC day begins: 1 to 86,400,000.
    pub const fn millis_to_next_utc_day(self) -> i64 {
        Instant::MILLIS_PER_DAY - self.0.rem_euclid(Instant::MILLIS_PER_DAY)
    }

    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX)
    }

    /// RFC 3339 in UTC.
    pub fn text(self, buffer: &mut Buffer) -> &str {
        text(TimeZone::UTC.to_datetime(self.timestamp()), buffer)
    }

    /// Parses an RFC 3339 instant, or a date-time without offset as the time in Berlin. If an hour occurs
    /// twice, takes the first; moves a time in a skipped hour one hour ahead.
    pub fn parse_or_in_berlin(text: &str) -> Option<Instant> {
        Instant::parse(text).or_else(|| {
            Day::parse_plain(text.get(..10)?)?;
            let has_time = text.len() > 10 && !text.contains('[');
            let datetime = text.parse::<DateTime>().ok().filter(|_| has_time)?;
            BERLIN.to_timestamp(datetime).ok().and_then(Instant::of_timestamp)
        })
    }

    /// Parses an RFC 3339 instant.
    pub fn parse(text: &str) -> Option<Instant> {
        Day::parse_plain(text.get(..10)?)?;
        if text.contains('[') {
            return None;
        }
        text.parse::<Timestamp>().ok().and_then(Instant::of_timestamp)
    }

    /// Returns `None` before 0001-01-01, which an offset can reach: such an instant could be written but not
    /// read back.
    fn of_timestamp(timestamp: Timestamp) -> Option<Instant> {
        let instant = Instant::from(timestamp);
        (instant.utc_day() >= FIRST_NUMBER).then_some(instant)
    }
}

/// The layout of an instant as text, with all digits zero.
const BLANK: Buffer = *b"0000-00-00T00:00:00.000Z";

type Buffer = [u8; 24];

/// Writes an instant as text, digit by digit from the end of each part: a page of customers has 200 of them,
/// so speed matters.
fn text(at: DateTime, buffer: &mut Buffer) -> &str {
    *buffer = BLANK;
    let (month, day) = (at.month().into(), at.day().into());
    let (hour, minute, second) = (at.hour().into(), at.minute().into(), at.second().into());
    let ends = [4, 7, 10, 13, 16, 19, 23];
    for (end, part) in ends.into_iter().zip([at.year(), month, day, hour, minute, second, at.millisecond()]) {
        let (mut at, mut left) = (end, part.unsigned_abs());
        while left > 0 {
            at -= 1;
            buffer[at] = b'0' + (left % 10) as u8;
            left /= 10;
        }
    }
    str::from_utf8(buffer).unwrap_or_default()
}

impl From<Timestamp> for Instant {
    fn from(timestamp: Timestamp) -> Instant {
        Instant(timestamp.as_millisecond())
    }
}

/// Displays and serialises these types as their text.
macro_rules! shown_as_text {
    ($($type:ty),+) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.text(&mut Default::default()))
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.text(&mut Default::default()))
            }
        }
    )+};
}

shown_as_text!(Day, DayTime, Instant);

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Day::parse_plain(&text).ok_or_else(|| D::Error::custom(format!("{text} is no day")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_as_berlin_has_them() {
        let table = [
            ("2026-07-10", Some("2026-07-10")),
            ("2026-07-10T00:00:00Z", Some("2026-07-10")),
            ("2026-07-09T22:00:00.000Z", Some("2026-07-10")),
            ("2026-07-10T00:00:00+02:00", Some("2026-07-10")),
            ("2026-07-10T23:30:00", Some("2026-07-10")),
            ("2026-07-10 23:30:00", Some("2026-07-10")),
            ("2026-02-29", None),
            ("10.07.2026", None),
            ("0000-00-00", None),
            ("2026-7-1", None),
            ("2026-07-10T", None),
            ("20260710", None),
            ("-002026-07-10", None),
            ("2026-07-10T23:30:00[Europe/Berlin]", None),
            ("2026-07-10x", None),
            ("0001-01-01T00:00:00Z", Some("0001-01-01")),
            ("0001-01-01T00:00:00+00:01", None),
            ("", None),
        ];
        for (text, day) in table {
            assert_eq!(Day::parse(text).map(|day| day.to_string()).as_deref(), day, "{text}");
        }
    }

    #[test]
    fn instants_and_midnights_are_written_as_the_wire_has_them() {
        let change = Day::new(2026, 10, 25).begin_in_berlin();
        assert_eq!(change.to_string(), "2026-10-24T22:00:00.000Z");
        assert_eq!(DayTime(Day::in_berlin(change)).to_string(), "2026-10-25T00:00:00.000Z");
        let local = |text| Instant::parse_or_in_berlin(text).map(|instant| instant.to_string());
        assert_eq!(local("2026-07-10T00:30:00").as_deref(), Some("2026-07-09T22:30:00.000Z"));
        assert_eq!(local("2026-07-10T00:30:00.5+01:00").as_deref(), Some("2026-07-09T23:30:00.500Z"));
        assert_eq!(local("2026-10-25T02:30:00").as_deref(), Some("2026-10-25T00:30:00.000Z"));
        assert_eq!(local("2026-03-29T02:30:00").as_deref(), Some("2026-03-29T01:30:00.000Z"));
        assert_eq!((local("2026-07-10"), local("heute")), (None, None));
        assert_eq!(local("0001-01-01T01:00:00").as_deref(), Some("0001-01-01T00:06:32.000Z"));
        assert_eq!((local("0001-01-01T00:00:00"), local("0001-01-01T00:00:00+00:01")), (None, None));
        assert_eq!(Day::parse_german("1.7.2026"), Some(Day::new(2026, 7, 1)));
        for none in ["31.02.2026", "1.7.2026.", "1.7", "...", "1.7.26"] {
            assert_eq!(Day::parse_german(none), None, "{none}");
        }
        let days = [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2026-07-10", 20_644),
            ("0001-01-01", FIRST_NUMBER),
            ("9999-12-31", LAST_NUMBER),
        ];
        for (day, number) in days {
            assert_eq!(Day::parse(day).map(Day::number), Some(number), "{day}");
            assert_eq!(Day::of_number(number).to_string(), day);
        }
        assert_eq!(Day::of_number(i64::MIN).to_string(), "0001-01-01");
        assert_eq!(Day::of_number(i64::MAX).to_string(), "9999-12-31");
    }

    #[test]
    fn a_utc_day_ends_with_its_last_millisecond() {
        let table = [(-1, -1, 1), (0, 0, 86_400_000), (86_399_999, 0, 1), (86_400_000, 1, 86_400_000)];
        for (millis, day, left) in table {
            let instant = Instant::from_millis(millis);
            assert_eq!((instant.utc_day(), instant.millis_to_next_utc_day()), (day, left), "{millis}");
            assert_eq!(Day::in_utc(instant).number(), day, "{millis}");
        }
    }
}
