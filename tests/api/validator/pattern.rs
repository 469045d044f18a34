//! Regular expressions for the whole of a text, with the constructs that patterns of the description have:
//! characters, `\d`, classes, groups of alternatives and quantifiers.

use std::ops::RangeInclusive;

pub struct Pattern(Vec<Piece>);

struct Piece {
    atom: Atom,
    least: usize,
    most: usize,
}

enum Atom {
    /// A character in one of the ranges, or in none of them if the class is negated.
    Class(bool, Vec<RangeInclusive<char>>),
    Group(Vec<Vec<Piece>>),
}

/// Signs that stand for themselves only behind a backslash; no other character is written behind one.
const SIGNS: &str = r"^$\.*+?()[]{}|";

impl Pattern {
    /// None if there is a construct that is not known here.
    pub fn new(text: &str) -> Option<Pattern> {
        let mut rest = text.strip_prefix('^')?.strip_suffix('$')?;
        let pieces = sequence(&mut rest)?;
        rest.is_empty().then_some(Pattern(pieces))
    }

    pub fn is_match(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        begins(&self.0, &text, &|rest| rest.is_empty())
    }
}

/// Whether a text begins with the pieces, and then holds for what follows them. Each way to read the text is
/// tried, the longest first; patterns of ours leave few.
fn begins(pieces: &[Piece], text: &[char], then: &dyn Fn(&[char]) -> bool) -> bool {
    match pieces {
        [] => then(text),
        [piece, others @ ..] => piece.begins(0, text, &|rest| begins(others, rest, then)),
    }
}

impl Piece {
    /// The same for one piece, whose group was read some times before the text.
    fn begins(&self, times: usize, text: &[char], then: &dyn Fn(&[char]) -> bool) -> bool {
        match &self.atom {
            Atom::Class(is_negated, ranges) => {
                let has = |char| ranges.iter().any(|range| range.contains(char)) != *is_negated;
                let most = text.iter().take(self.most).take_while(|char| has(char)).count();
                (self.least..=most).rev().any(|count| then(&text[count..]))
            }
            Atom::Group(choices) => {
                // A group that reads nothing is not read again for nothing.
                let again = |rest: &[char]| {
                    (rest.len() < text.len() || times < self.least) && self.begins(times + 1, rest, then)
                };
                let is_longer =
                    times < self.most && choices.iter().any(|pieces| begins(pieces, text, &again));
                is_longer || times >= self.least && then(text)
            }
        }
    }
}

/// The pieces up to the end, or to that of the alternative.
fn sequence(rest: &mut &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while !rest.is_empty() && !rest.starts_with(['|', ')']) {
        let atom = if skip(rest, "(") {
            group(rest)?
        } else if skip(rest, "[") {
            class(rest)?
        } else if skip(rest, r"\d") {
            Atom::Class(false, vec!['0'..='9'])
        } else {
            let char = char(rest)?;
            Atom::Class(false, vec![char..=char])
        };
        let (least, most) = quantifier(rest)?;
        pieces.push(Piece { atom, least, most });
    }
    Some(pieces)
}

fn group(rest: &mut &str) -> Option<Atom> {
    let mut choices = vec![sequence(rest)?];
    while skip(rest, "|") {
        choices.push(sequence(rest)?);
    }
    skip(rest, ")").then_some(Atom::Group(choices))
}

fn class(rest: &mut &str) -> Option<Atom> {
    let is_negated = skip(rest, "^");
    let mut ranges = Vec::new();
    while !skip(rest, "]") {
        let low = char(rest)?;
        let high = if skip(rest, "-") { char(rest)? } else { low };
        ranges.push((low <= high).then_some(low..=high)?);
    }
    Some(Atom::Class(is_negated, ranges))
}

/// A character, its number in `\u`, or a sign behind a backslash.
fn char(rest: &mut &str) -> Option<char> {
    if skip(rest, r"\u") {
        let (digits, after) = rest.split_at_checked(4)?;
        *rest = after;
        return char::from_u32(number(digits, 16)?);
    }
    let is_escaped = skip(rest, r"\");
    let char = rest.chars().next()?;
    *rest = &rest[char.len_utf8()..];
    (is_escaped == SIGNS.contains(char)).then_some(char)
}

fn quantifier(rest: &mut &str) -> Option<(usize, usize)> {
    for (sign, least, most) in [("?", 0, 1), ("*", 0, usize::MAX), ("+", 1, usize::MAX)] {
        if skip(rest, sign) {
            return Some((least, most));
        }
    }
    if !skip(rest, "{") {
        return Some((1, 1));
    }
    let (counts, after) = rest.split_once('}')?;
    *rest = after;
    let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
    let (least, most) = (number(least, 10)? as usize, number(most, 10)? as usize);
    (least <= most).then_some((least, most))
}

/// Digits without a sign.
fn number(digits: &str, radix: u32) -> Option<u32> {
    digits.chars().all(|char| char.is_digit(radix)).then(|| u32::from_str_radix(digits, radix).ok())?
}

fn skip(rest: &mut &str, sign: &str) -> bool {
    let after = rest.strip_prefix(sign);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

#[test]
fn a_pattern_is_for_the_whole_of_a_text() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            r"^-?\d+\.\d{2}$",
            &["1.00", "-12.34"],
            &["", "1", "1.0", "1.000", "--1.00", "a1.00", "1,00", "1.00\n", "٣.00"],
        ),
        (r"^-?(0|[1-9]\d{0,2})(\.\d+)?$", &["0", "-999", "1.5"], &["01", "1000", "1.", ".5", "-"]),
        (r"^[^\u0000-\u0008\u000B]*$", &["", "ä\n\u{1f33e}"], &["\0", "a\u{8}", "\u{b}a"]),
        ("^(a|bc)(,(a|bc))*$", &["a", "bc,a,bc"], &["", "a,", "b", "abc"]),
        ("^[a-c-]{1,3}$", &["a-c"], &["", "aaaa", "d"]),
        ("^(a?)*(b*)+$", &["", "aab"], &["ba"]),
        ("^(a?){2}(a|ab)(c|bcd)d*$", &["ac", "abcd", "aabc", "aaabcd"], &["", "ab", "aaaac"]),
        (r"^\\\(\$x{0}$", &[r"\($"], &[r"\($x"]),
    ];
    for (pattern, matching, others) in table {
        let known = Pattern::new(pattern).unwrap_or_else(|| panic!("{pattern} is not known"));
        matching.iter().for_each(|text| assert!(known.is_match(text), "{pattern} {text:?}"));
        others.iter().for_each(|text| assert!(!known.is_match(text), "{pattern} {text:?}"));
    }
}

#[test]
fn a_construct_that_is_not_known_is_refused() {
    let inside = [
        ".", r"\s", r"\t", r"\w", r"\D", r"\b", r"\1", r"\-", r"[\d]", "(?:a)", "(?=a)", "a|b", "a*?", "a++",
        "a{1,}", "a{,1}", "a{2,1}", "a{+1}", "a{1", "*a", "(a", "a)", "[a", "a]", "[b-a]", "[a-]", "[[]",
        "a$b", "a^b", r"\u12", r"\uD800", "a\\",
    ];
    let others = ["a", "^a", "a$", "^"].map(str::to_owned);
    for pattern in inside.map(|inside| format!("^{inside}$")).iter().chain(&others) {
        assert!(Pattern::new(pattern).is_none(), "{pattern}");
    }
}
