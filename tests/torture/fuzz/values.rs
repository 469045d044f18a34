//! Single values: numbers, days, cursors, texts.

use partnerd::interface::aenderungen::cursor::Cursor;
use partnerd::rules::day::{Day, Instant};
use partnerd::rules::fixed::{Fixed, Money, NumberError, Parsed, Price, parse_whole};
use partnerd::rules::text::{
    Search, case_key, cell, din_5007_key, folded_key, natural_key, nearest, searchable, shown, steers,
};
use partnerd::rules::verweis::{Verweis, parse_uuid};

use crate::exactly::{self, Exact, exact};

type Read = Result<(), String>;

/// Error if two values differ that should be equal.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Read {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}")) }
}

pub fn decimal(bytes: &[u8]) -> Read {
    let text = String::from_utf8_lossy(bytes);
    decimal_as(&text, Money::parse)?;
    decimal_as(&text, Price::parse)?;
    same("whole number", parse_whole(&text), exactly::whole(&text))
}

/// A number read by `parse` has its exact value, and its printed form is read back as the same.
pub fn decimal_as<const SCALE: u32, const SHOWN: usize>(
    text: &str,
    parse: fn(&str) -> Result<Parsed<Fixed<SCALE, SHOWN>>, NumberError>,
) -> Read {
    let found = parse(text);
    let expected = match exact(text, SCALE) {
        Exact::NoNumber => Err(NumberError::Malformed),
        Exact::TooLarge => Err(NumberError::TooLarge),
        Exact::Units(units, rounded) => Ok(Parsed { value: Fixed::from_units(units), rounded }),
    };
    same("read", found, expected)?;
    let Ok(Parsed { value, .. }) = found else { return Ok(()) };
    let printed = value.to_string();
    same("printed", printed.clone(), exactly::shown(value.units(), SCALE, SHOWN as u32))?;
    same("read again", parse(&printed), Ok(Parsed { value, rounded: false }))
}

pub fn day(bytes: &[u8]) -> Read {
    let text = String::from_utf8_lossy(bytes);
    for day in [Day::parse(&text), Day::parse_plain(&text), Day::parse_german(&text)].into_iter().flatten() {
        same("day", Day::parse(&day.to_string()), Some(day))?;
        same("German day", Day::parse_german(&day.german()), Some(day))?;
        same("number of day", Day::of_number(day.number()), day)?;
    }
    for instant in [Instant::parse(&text), Instant::parse_or_in_berlin(&text)].into_iter().flatten() {
        same("instant", Instant::parse(&instant.to_string()), Some(instant))?;
        let day = Day::in_berlin(instant);
        same("day of instant", Day::parse(&day.to_string()), Some(day))?;
        let (begin, end) = (day.begin_in_berlin(), day.tomorrow().begin_in_berlin());
        same("within its day", begin <= instant && (instant < end || end == begin), true)?;
    }
    Ok(())
}

/// An accepted cursor is one that we wrote.
pub fn cursor(bytes: &[u8]) -> Read {
    let text = String::from_utf8_lossy(bytes);
    Cursor::read(&text).map_or(Ok(()), |cursor| same("cursor", cursor.to_string().as_str(), &text))
}

/// Texts are compared, searched, sorted and shown.
pub fn text(bytes: &[u8]) -> Read {
    let text = String::from_utf8_lossy(bytes);
    same("steers the terminal", shown(&text).contains(steers), false)?;
    same("a cell that is a formula", cell(&text).starts_with(['=', '+', '-', '@']), false)?;
    if let Search::Words(words) = Search::parse(Some(&text)) {
        same("a blank word", words.iter().any(|word| word.spelled.trim().is_empty()), false)?;
        let hay = searchable([text.as_ref()]);
        let lost = words.iter().find(|word| !hay.contains(&word.spelled) && !hay.contains(&word.stripped));
        same("a word that is not found in its own text", lost, None)?;
    }
    if let Some(id) = parse_uuid(&text) {
        same("uuid", id.to_string(), text.to_lowercase())?;
    }
    if let Verweis::Name(name) = Verweis::of_text(&text) {
        same("name", name.as_str(), &text)?;
    }
    drop([folded_key(&text), case_key(&text), natural_key(&text), din_5007_key(&text)]);
    same("nearest", nearest(&text, ["kundennr", "name"]).is_some(), true)
}
