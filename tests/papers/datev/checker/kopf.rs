//! The header: 31 fields (developer portal of DATEV, page «Einstieg»).

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};

use super::raw::Field;
use super::{Faults, digits};

/// The fields of the header that the checks of the records need.
#[derive(Debug, Clone)]
pub struct Kopf {
    /// 21 or 16.
    pub kategorie: u64,
    pub version: u64,
    pub berater: u64,
    pub mandant: u64,
    pub wj_beginn: Date,
    /// Digits of a Sachkonto; a Personenkonto has one more.
    pub laenge: usize,
    /// Only a Stapel has them.
    pub von: Option<Date>,
    pub bis: Option<Date>,
    pub bezeichnung: String,
    /// Empty means yes.
    pub festschreibung: bool,
    /// `03`, `04`, another chart, or empty.
    pub rahmen: String,
}

const TEXTS: &[usize] = &[1, 4, 8, 9, 10, 17, 18, 22, 24, 27, 30, 31];
const RESERVED: &[usize] = &[7, 23, 24, 25, 26, 29, 30];

pub fn check(fields: &[Field], faults: &mut Faults) -> Option<Kopf> {
    if fields.len() != 31 {
        faults.add(0, format!("{} fields instead of 31", fields.len()));
        return None;
    }
    let text = |nr: usize| fields[nr - 1].text.as_str();
    for (index, field) in fields.iter().enumerate() {
        match (TEXTS.contains(&(index + 1)), field.quoted) {
            (true, false) => faults.add(index + 1, "a text without quotes"),
            (false, true) => faults.add(index + 1, "a number in quotes"),
            _ => {}
        }
    }
    for nr in RESERVED {
        faults.expect(text(*nr).is_empty(), *nr, "is reserved and stays empty");
    }
    faults.expect(text(1) == "EXTF", 1, "the mark is not EXTF");
    faults.expect(text(2) == "700", 2, "the version of the header is not 700");
    let kategorie = digits(text(3), 2).unwrap_or(0);
    let version = digits(text(5), 3).unwrap_or(0);
    let (name, versions): (_, &[u64]) = match kategorie {
        21 => ("Buchungsstapel", &[12, 13]),
        16 => ("Debitoren/Kreditoren", &[5]),
        _ => {
            faults.add(3, "neither category 21 nor 16");
            return None;
        }
    };
    faults.expect(text(4) == name, 4, format!("category {kategorie} is called {name}"));
    if !versions.contains(&version) {
        faults.add(5, format!("the version is none of {versions:?}"));
        return None;
    }
    faults.expect(instant(text(6)), 6, "not an instant YYYYMMDDHHMMSSFFF");
    words(&text, faults);
    let between = |faults: &mut Faults, nr: usize, least: u64, most: u64| {
        let value = digits(text(nr), 17).filter(|value| (least..=most).contains(value));
        faults.expect(value.is_some(), nr, format!("not a number from {least} to {most}"));
        value
    };
    let berater = between(faults, 11, 1001, 9_999_999);
    let mandant = between(faults, 12, 1, 99_999);
    let laenge = between(faults, 14, 4, 8);
    let wj_beginn = day(text(13));
    faults.expect(wj_beginn.is_some(), 13, "not a day YYYYMMDD");
    let wj_beginn = wj_beginn?;
    let (von, bis) = (day(text(15)), day(text(16)));
    if kategorie == 21 {
        stapel(&text, wj_beginn, faults);
    } else {
        faults.expect(text(15).is_empty(), 15, "master data have no period");
        faults.expect(text(16).is_empty(), 16, "master data have no period");
    }
    Some(Kopf {
        kategorie,
        version,
        berater: berater?,
        mandant: mandant?,
        wj_beginn,
        laenge: usize::try_from(laenge?).ok()?,
        von,
        bis,
        bezeichnung: text(17).to_owned(),
        festschreibung: text(21) != "0",
        rahmen: text(27).to_owned(),
    })
}

/// Checks the texts: their lengths and letters.
fn words<'a>(text: &impl Fn(usize) -> &'a str, faults: &mut Faults) {
    for (nr, most) in [(8, 2), (9, 25), (10, 25), (17, 30), (31, 16)] {
        let length = text(nr).chars().count();
        faults.expect(length <= most, nr, format!("{length} characters are more than {most}"));
    }
    let of_a_name = |letter: char| letter.is_alphanumeric() || "_ .-/".contains(letter);
    faults.expect(
        text(17).chars().all(of_a_name),
        17,
        "a character other than letters, digits, _ . - / and blank",
    );
    let capitals = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    faults.expect(text(18).is_empty() || capitals(text(18)), 18, "not two capitals");
    let rahmen = text(27).is_empty() || (text(27).len() == 2 && digits(text(27), 2).is_some());
    faults.expect(rahmen, 27, "not two digits");
    faults.expect(text(28).is_empty() || digits(text(28), 10).is_some(), 28, "not a number");
}

/// Checks the fields of a Stapel only: its period, within one fiscal year, and how it is booked.
fn stapel<'a>(text: &impl Fn(usize) -> &'a str, wj_beginn: Date, faults: &mut Faults) {
    let (von, bis) = (day(text(15)), day(text(16)));
    faults.expect(von.is_some(), 15, "not a day YYYYMMDD");
    faults.expect(bis.is_some(), 16, "not a day YYYYMMDD");
    if let (Some(von), Some(bis)) = (von, bis) {
        faults.expect(von <= bis, 16, "the period ends before it begins");
        faults.expect(von >= wj_beginn, 15, "the period begins before the fiscal year");
        faults.expect(bis < wj_beginn.saturating_add(1.year()), 16, "the period spans two fiscal years");
    }
    faults.expect(["1", "2"].contains(&text(19)), 19, "not 1 or 2");
    faults.expect(["0", "30", "40", "50", "64"].contains(&text(20)), 20, "not 0, 30, 40, 50 or 64");
    faults.expect(["", "0", "1"].contains(&text(21)), 21, "not 0 or 1");
    faults.expect(text(22) == "EUR", 22, "the currency is not EUR");
}

fn day(text: &str) -> Option<Date> {
    (text.len() == 8).then(|| digits(text, 8))?;
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i16>().ok();
    Date::new(part(0, 4)?, i8::try_from(part(4, 6)?).ok()?, i8::try_from(part(6, 8)?).ok()?).ok()
}

fn instant(text: &str) -> bool {
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<i8>().ok();
    let time = || {
        let date = day(text.get(..8)?)?;
        DateTime::new(date.year(), date.month(), date.day(), part(8, 10)?, part(10, 12)?, part(12, 14)?, 0)
            .ok()
    };
    text.len() == 17 && digits(text, 17).is_some() && time().is_some()
}
