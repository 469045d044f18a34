//! Records of category 16, Debitoren/Kreditoren, version 5: 254 columns. Texts are the columns that DATEV's
//! sample quotes; their maximum lengths are from DATEV's document 1036228, as quoted by
//! `lib/datev/base/contact.rb` of ledermann/datev.

use super::konten::is_personenkonto;
use super::kopf::Kopf;
use super::stapel::date;
use super::{Faults, Record, digits, quoted_as_typed};

/// First columns of the ten bank accounts, of eleven columns each: nine texts, two days.
const BANKS: [usize; 10] = [41, 52, 63, 74, 85, 165, 176, 187, 198, 209];

/// The position of a column within its bank account, from 0.
fn in_bank(column: usize) -> Option<usize> {
    BANKS.iter().find(|first| (**first..**first + 11).contains(&column)).map(|first| column - first)
}

fn is_text(column: usize) -> bool {
    if let Some(place) = in_bank(column) {
        return place < 9;
    }
    matches!(column, 2..=25 | 29..=40 | 96..=104 | 107 | 133 | 134 | 136..=162 | 220 | 222..=231 | 244 | 247 | 249)
}

fn is_day(column: usize) -> bool {
    in_bank(column).is_some_and(|place| place >= 9) || matches!(column, 27 | 28 | 163 | 164 | 233..=235)
}

/// The maximum length of a column in characters.
fn longest(column: usize) -> Option<usize> {
    if let Some(place) = in_bank(column) {
        return [8, 30, 10, 2, 34, 1, 11, 70, 1].get(place).copied();
    }
    Some(match column {
        7 | 106 | 107 | 121..=126 => 1,
        9 | 20 | 158 | 101 | 112 | 114 | 117 | 119 => 2,
        15 | 153 | 109 | 110 | 116 => 3,
        17 | 18 | 155 | 156 | 108 => 10,
        10 => 13,
        14 => 14,
        8 | 13 | 99 | 220 => 15,
        100 => 20,
        12 => 25,
        4 | 5 | 11 | 19 | 23 | 152 | 157 => 30,
        222..=231 => 35,
        16 | 22 | 25 | 154 | 160 | 162 => 36,
        30 | 32 | 34 | 36 | 38 | 40 | 102..=104 | 137..=151 => 40,
        2 | 3 | 6 | 21 | 24 | 98 | 159 | 161 => 50,
        29 | 31 | 33 | 35 | 37 | 39 => 60,
        97 => 100,
        _ => return None,
    })
}

pub fn check(record: &Record, kopf: &Kopf, faults: &mut Faults) {
    quoted_as_typed(record, is_text, |_| false, faults);
    for column in 1..=254 {
        let text = record.get(column);
        let length = text.chars().count();
        if let Some(most) = longest(column).filter(|most| length > *most) {
            faults.add(column, format!("{length} characters are more than {most}"));
        }
        let day = !is_day(column) || text.is_empty() || date(text).is_some();
        faults.expect(day, column, "not a day DDMMYYYY");
    }
    let konto = digits(record.get(1), 9).filter(|number| is_personenkonto(*number, kopf));
    let fits = konto.is_some() && record.get(1).len() == kopf.laenge + 1;
    faults.expect(fits, 1, format!("not a Personenkonto of {} digits", kopf.laenge + 1));
    faults.expect(["", "0", "1", "2"].contains(&record.get(7)), 7, "not 0, 1 or 2");
}
