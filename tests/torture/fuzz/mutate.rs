//! Random inputs: mutations of the corpus.

use super::input::{BYTES_MAX, Input};
use crate::dice::Dice;

/// Maximum number of changes of one input.
const CHANGES_MAX: usize = 6;

/// Longest piece that is removed, duplicated or taken from another input.
const PIECE_MAX: usize = 400;

/// One in this many zips is zipped before it is changed.
const ZIPPED_FIRST: usize = 8;

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "5e-7",
    "1e3",
    "1E+05",
    "1e400",
    "1e-400",
    "1e99999999999999999999",
    "0.005",
    "0.1234565",
    "0.2999999990",
    "0.30000000000000004",
    "255",
    "256",
    "1000",
    "1048577",
    "65536",
    "4294967295",
    "4294967296",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "999999999999.999999",
    "999999999999.9999995",
    "1000000000000",
    "1.234,56",
    "24.860",
    "NaN",
    "inf",
];

const DAYS: &[&str] = &[
    "2026-02-29",
    "2024-02-29",
    "0000-00-00",
    "0001-01-01",
    "9999-12-31",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2026-03-29T02:30:00",
    "2026-10-25T02:30:00",
    "1969-12-31T23:59:59.9999Z",
    "T24:00:00",
    ":60",
    "Z",
    "-00:00",
    "+02:00:30",
    "29.2.1900",
    "[Europe/Berlin]",
];

/// Characters that are longer, shorter or different from what they seem, and invalid ones.
const LETTERS: &[&[u8]] = &[
    b"\0",
    b"\x01",
    b"\x7f",
    b"\xff",
    b"\xfe\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    "\u{feff}".as_bytes(),
    "\u{fffd}".as_bytes(),
    "\u{301}".as_bytes(),
    "\u{345}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{85}".as_bytes(),
    "\u{a0}".as_bytes(),
    "\u{10ffff}".as_bytes(),
    "ß".as_bytes(),
    "İ".as_bytes(),
    "ﬃ".as_bytes(),
    "\u{fdfa}".as_bytes(),
    "👨\u{200d}👩\u{200d}👧".as_bytes(),
    "٣".as_bytes(),
];

/// Words with a meaning for the parsers.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ":",
    ",",
    ";",
    "\t",
    "\r",
    "\n",
    "\r\n\r\n",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "null",
    "true",
    "<",
    ">",
    "</",
    "/>",
    "<a>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "&amp;",
    "&#0;",
    "&#x110000;",
    "&nbsp;",
    "<!DOCTYPE a [",
    "<?xml version='1.0' encoding='UTF-16'?>",
    " xmlns=\"\"",
    " t=\"s\"",
    " t=\"e\"",
    " t=\"d\"",
    " s=\"1\"",
    " r=\"ZZZZZZZZ1\"",
    " r=\"A0\"",
    " r=\"XFD1048576\"",
    "<f>A1</f>",
    "<mergeCell ref=\"A1:ZZZZZZZ9\"/>",
    " count=\"4294967295\"",
    " uniqueCount=\"99999999999999999999\"",
    " table:number-rows-repeated=\"1000000\"",
    " table:number-columns-repeated=\"4294967295\"",
    " office:value=\"1e999\"",
    "<text:s text:c=\"4294967295\"/>",
    "obj",
    "endobj",
    "stream",
    "endstream",
    " 0 R",
    "<<",
    ">>",
    "(",
    ")",
    "/",
    "/Length ",
    "/Filter/FlateDecode",
    "/Predictor 15",
    "/Columns 999999999",
    "/W [8 8 8]",
    "/Index [0 999999999]",
    "/Prev ",
    "/Kids [1 0 R]",
    "/N ",
    "/First ",
    "/Encrypt 1 0 R",
    "xref\n",
    "trailer",
    "startxref\n",
    "%PDF-1.7",
    "%%EOF",
    "%",
    "%00",
    "%ff",
    "%2",
    "%C3",
    "&",
    "=",
    "+",
    "--x",
    "--x--\r\n",
    "Content-Disposition: form-data; name=\"a\"; filename=\"b\"",
    "filename*=UTF-8''%ff",
    "boundary=",
    "x-forwarded-for: ",
    "\"\"",
    "# ",
    "=1+1",
    "q=0.0000",
    "ak_",
    "_",
    "-",
    ".",
    "..",
    "/../",
    " ",
];

/// Mutates a member of the corpus.
pub fn mutated(dice: &mut Dice, corpus: &[Input]) -> Input {
    let mut input = corpus[dice.below(corpus.len())].clone();
    if matches!(input, Input::Zip(_)) && dice.once_in(ZIPPED_FIRST) {
        input = Input::Plain(input.bytes());
    }
    // Occasionally nothing is changed: an intact file must be read.
    for _ in 0..dice.below(CHANGES_MAX) {
        let other = other(dice, corpus);
        match &mut input {
            Input::Plain(bytes) => change(dice, bytes, other),
            Input::Zip(files) => change_files(dice, files, other),
        }
    }
    input
}

/// Bytes of another member, from which a piece may be taken.
fn other<'c>(dice: &mut Dice, corpus: &'c [Input]) -> &'c [u8] {
    match &corpus[dice.below(corpus.len())] {
        Input::Plain(bytes) => bytes,
        Input::Zip(files) if files.is_empty() => &[],
        Input::Zip(files) => &files[dice.below(files.len())].1,
    }
}

fn change_files(dice: &mut Dice, files: &mut Vec<(String, Vec<u8>)>, other: &[u8]) {
    let count = files.len();
    if count == 0 {
        return;
    }
    let (at, beside) = (dice.below(count), dice.below(count));
    match dice.below(20) {
        0 => drop(files.remove(at)),
        1 => {
            let content = files[beside].1.clone();
            files[at].1 = content;
        }
        2 => {
            let mut name = files[at].0.clone().into_bytes();
            change(dice, &mut name, files[beside].0.as_bytes());
            files[at].0 = String::from_utf8_lossy(&name).into_owned();
        }
        _ => change(dice, &mut files[at].1, other),
    }
}

/// Makes one change of bytes.
fn change(dice: &mut Dice, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = dice.below(bytes.len() + 1);
    let end = piece_end(dice, at, bytes.len());
    match dice.below(12) {
        0 | 1 => flip(dice, bytes),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let piece = bytes[at..end].repeat(1 + dice.below(8).pow(3));
            insert(bytes, at..at, &piece);
        }
        5 => {
            let from = dice.below(other.len() + 1);
            insert(bytes, at..at, &other[from..piece_end(dice, from, other.len())]);
        }
        6 => {
            let from = dice.below(other.len() + 1);
            let all = bytes.len();
            insert(bytes, at..all, &other[from..]);
        }
        7 | 8 => insert(bytes, at..at, &token(dice)),
        9 => insert(bytes, at..end, &token(dice)),
        _ => replace_number(dice, bytes, at),
    }
}

fn flip(dice: &mut Dice, bytes: &mut [u8]) {
    if !bytes.is_empty() {
        let at = dice.below(bytes.len());
        bytes[at] ^= 1 << dice.below(8);
    }
}

/// Where a piece ends: usually soon.
fn piece_end(dice: &mut Dice, at: usize, all: usize) -> usize {
    let longest = if dice.once_in(3) { PIECE_MAX } else { 12 };
    all.min(at + dice.below(longest))
}

/// Replaces a range by a piece, unless the result would be too long.
fn insert(bytes: &mut Vec<u8>, place: std::ops::Range<usize>, piece: &[u8]) {
    if bytes.len() + piece.len() <= BYTES_MAX {
        bytes.splice(place, piece.iter().copied());
    }
}

fn token(dice: &mut Dice) -> Vec<u8> {
    let text =
        |texts: &[&'static str], dice: &mut Dice| dice.pick(texts).unwrap_or_default().as_bytes().to_vec();
    match dice.below(5) {
        0 => text(NUMBERS, dice),
        1 => text(DAYS, dice),
        2 => dice.pick(LETTERS).unwrap_or_default().to_vec(),
        _ => text(WORDS, dice),
    }
}

/// Replaces the first number after `at` by another one.
fn replace_number(dice: &mut Dice, bytes: &mut Vec<u8>, at: usize) {
    let Some(begin) = bytes[at..].iter().position(u8::is_ascii_digit).map(|found| at + found) else { return };
    let digits = bytes[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = match dice.below(2) {
        0 => dice.pick(NUMBERS).unwrap_or_default().to_owned(),
        _ => dice.below(100_000).to_string(),
    };
    insert(bytes, begin..begin + digits, number.as_bytes());
}
