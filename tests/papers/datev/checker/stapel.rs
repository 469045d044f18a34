//! Records of category 21, Buchungsstapel: 125 columns in version 13, 124 in version 12.

use jiff::ToSpan;
use jiff::civil::Date;

use super::konten::{Funktion, funktion, is_personenkonto};
use super::kopf::Kopf;
use super::{Faults, Lenient, Record, digits, quoted_as_typed};

fn is_text(column: usize) -> bool {
    matches!(column, 2 | 3 | 6 | 9 | 11 | 12 | 14 | 16 | 20..=38 | 40 | 42 | 48..=87 | 91 | 95 | 96 | 98)
        || matches!(column, 102 | 103 | 105 | 107 | 109 | 110 | 112 | 118 | 120 | 121 | 123)
}

/// The maximum length of a text in characters, where DATEV defines one.
fn longest(column: usize) -> Option<usize> {
    match column {
        9 => Some(4),
        12 => Some(12),
        14 => Some(60),
        20 => Some(210),
        // Beleginfo and Zusatzinformation: kind and content alternate.
        21..=36 => Some(if column % 2 == 1 { 20 } else { 210 }),
        48..=87 => Some(if column.is_multiple_of(2) { 20 } else { 210 }),
        11 | 37 | 38 => Some(36),
        40 => Some(15),
        _ => None,
    }
}

pub fn check(record: &Record, kopf: &Kopf, lenient: &[Lenient], faults: &mut Faults) {
    let of_sample = lenient.contains(&Lenient::EmptyNumberQuoted);
    quoted_as_typed(record, is_text, |column| of_sample && [19, 44, 108].contains(&column), faults);
    for column in 1..=kopf_columns(kopf) {
        let length = record.get(column).chars().count();
        if let Some(most) = longest(column).filter(|most| length > *most) {
            faults.add(column, format!("{length} characters are more than {most}"));
        }
    }
    amount(record.get(1), lenient, faults);
    faults.expect(["S", "H"].contains(&record.get(2)), 2, "not S or H");
    for column in [3, 6] {
        let currency = record.get(column);
        let iso = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
        faults.expect(currency.is_empty() || iso, column, "not a currency");
    }
    accounts(record, kopf, lenient, faults);
    dates(record, kopf, faults);
    let of_belegfeld = |byte: u8| byte.is_ascii_alphanumeric() || b"_$&%*+-/".contains(&byte);
    let allowed = record.get(11).bytes().all(of_belegfeld);
    faults.expect(allowed, 11, "a character other than letters, digits and _ $ & % * + - /");
    let empty = record.get(118).is_empty() && lenient.contains(&Lenient::GeneralumkehrEmpty);
    faults.expect(empty || ["0", "1", "G"].contains(&record.get(118)), 118, "not 0, 1 or G");
    match record.get(114) {
        // Empty counts as 1.
        "" | "1" => faults.expect(kopf.festschreibung, 114, "locks the Stapel, but the header says 0"),
        "0" => faults.expect(!kopf.festschreibung, 114, "is 0, but the header locks the Stapel"),
        _ => faults.add(114, "not 0 or 1"),
    }
}

fn kopf_columns(kopf: &Kopf) -> usize {
    if kopf.version == 13 { 125 } else { 124 }
}

/// `^\d{1,10}[,]\d{2}$`, and not 0,00.
fn amount(text: &str, lenient: &[Lenient], faults: &mut Faults) {
    let cents = cents(text, lenient.contains(&Lenient::WholeEuros));
    faults.expect(cents.is_some(), 1, "not an amount with two decimals");
    faults.expect(cents != Some(0), 1, "an amount of 0");
}

/// An Umsatz in cents.
pub fn cents(text: &str, whole_euros: bool) -> Option<u64> {
    let (euros, cents) = match text.split_once(',') {
        Some((euros, cents)) => (euros, (cents.len() == 2).then_some(cents)?),
        None if whole_euros => (text, "00"),
        None => return None,
    };
    Some(digits(euros, 10)? * 100 + digits(cents, 2)?)
}

fn accounts(record: &Record, kopf: &Kopf, lenient: &[Lenient], faults: &mut Faults) {
    let mut automatic = false;
    for column in [7, 8] {
        let Some(number) = digits(record.get(column), 9).filter(|number| *number > 0) else {
            faults.add(column, "not an account");
            continue;
        };
        let most = kopf.laenge + 1;
        faults.expect(record.get(column).len() <= most, column, format!("more than {most} digits"));
        if !is_personenkonto(number, kopf) {
            automatic |= funktion(number, kopf).is_some_and(Funktion::is_automatic);
        }
    }
    match record.get(9) {
        "" => {}
        "40" => faults.expect(automatic, 9, "key 40, but no account has an automatic to suspend"),
        "20" if lenient.contains(&Lenient::Key20) => {}
        key => {
            faults.expect(digits(key, 4).is_some(), 9, "not a key");
            faults.expect(!automatic, 9, format!("key {key} on an account that has its automatic"));
        }
    }
}

fn dates(record: &Record, kopf: &Kopf, faults: &mut Faults) {
    match (record.get(10), kopf.von, kopf.bis) {
        (text, _, _) if text.len() != 4 || digits(text, 4).is_none() => faults.add(10, "not a day DDMM"),
        (text, Some(von), Some(bis)) => {
            let day = belegdatum(text, kopf);
            let inside = day.is_some_and(|day| (von..=bis).contains(&day));
            faults.expect(inside, 10, "not a day of the period in the header");
        }
        _ => {}
    }
    for column in [93, 104, 111, 115, 116, 117] {
        let text = record.get(column);
        faults.expect(text.is_empty() || date(text).is_some(), column, "not a day DDMMYYYY");
    }
    let is_personal =
        |column| digits(record.get(column), 9).is_some_and(|number| is_personenkonto(number, kopf));
    let due = !record.get(117).is_empty();
    faults.expect(!due || is_personal(7) || is_personal(8), 117, "a due date without a Personenkonto");
}

/// The day of a Belegdatum, which has no year, within the fiscal year of the header.
pub fn belegdatum(text: &str, kopf: &Kopf) -> Option<Date> {
    let year = kopf.wj_beginn.year();
    let (day, month) = (text.get(..2)?.parse().ok()?, text.get(2..4)?.parse().ok()?);
    let of = |year| Date::new(year, month, day).ok();
    let end = kopf.wj_beginn.saturating_add(1.year());
    [of(year), of(year + 1)].into_iter().flatten().find(|day| (kopf.wj_beginn..end).contains(day))
}

/// A day DDMMYYYY.
pub fn date(text: &str) -> Option<Date> {
    (text.len() == 8).then(|| digits(text, 8))?;
    let (day, month, year) = (text[..2].parse().ok()?, text[2..4].parse().ok()?, text[4..].parse().ok()?);
    Date::new(year, month, day).ok()
}
