//! Full-text search of customers. Their texts are stored 64 to a row, so a search reads pages of text instead
//! of whole records.

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use crate::platform::db::readers::spend;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::text::Folded;

/// Word comparisons (one word in the text of one customer) per tick (`platform::db::readers`): SQLite's steps
/// do not count them.
const WORDS_PER_TICK: usize = 150;

/// Ends the text of a customer.
const END: u8 = 0x1e;

/// Separates the number of a customer from its text. Neither separator occurs in a text, because neither is a
/// letter.
const BETWEEN: u8 = 0x1f;

/// Returns the customers (`kunden_id`) whose text contains each word in one of its spellings (D17).
pub fn containing(tx: &Tx<'_>, words: &[Folded]) -> Result<Vec<i64>> {
    let words: Vec<Word<'_>> = words.iter().map(Word::new).collect();
    let blocks = "select texte from kunde_suche where tenant_id = :tenant";
    let (mut found, mut uncounted) = (Vec::new(), 0);
    tx.each(blocks, &[], |row| {
        let block = row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?;
        uncounted += look_through(block, &words, &mut found) * words.len();
        let ticks = uncounted / WORDS_PER_TICK;
        uncounted %= WORDS_PER_TICK;
        spend(u32::try_from(ticks).unwrap_or(u32::MAX))
    })?;
    Ok(found)
}

struct Word<'w> {
    spelled: Finder<'w>,
    /// The alternative spelling, if there is one.
    stripped: Option<Finder<'w>>,
}

impl<'w> Word<'w> {
    fn new(word: &'w Folded) -> Word<'w> {
        let stripped = (word.stripped != word.spelled).then(|| Finder::new(&word.stripped));
        Word { spelled: Finder::new(&word.spelled), stripped }
    }

    fn first_in(&self, text: &[u8]) -> Option<usize> {
        let spelled = self.spelled.find(text);
        let stripped = self.stripped.as_ref().and_then(|stripped| stripped.find(text));
        spelled.into_iter().chain(stripped).min()
    }
}

/// Jumps between occurrences of the first word instead of looking at each customer; returns the number of
/// customers examined. Each iteration passes the end of at least one customer, so the loop ends even for a
/// word that never matches.
fn look_through(block: &[u8], words: &[Word<'_>], found: &mut Vec<i64>) -> usize {
    let Some(first) = words.first() else { return 0 };
    let (mut rest, mut turns) = (block, 0);
    while !rest.is_empty()
        && let Some(at) = first.first_in(rest)
    {
        let begin = memrchr(END, &rest[..at]).map_or(0, |end| end + 1);
        let end = memchr(END, &rest[at..]).map_or(rest.len(), |end| at + end);
        if let Some((kunden_id, text)) = parts(&rest[begin..end])
            && words.iter().all(|word| word.first_in(text).is_some())
        {
            found.push(kunden_id);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
        turns += 1;
    }
    turns
}

/// Splits a line into the number of a customer and its text.
fn parts(line: &[u8]) -> Option<(i64, &[u8])> {
    let (number, text) = line.split_at_checked(memchr(BETWEEN, line)?)?;
    Some((std::str::from_utf8(number).ok()?.parse().ok()?, text.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::text::{Search, searchable};

    #[test]
    fn each_word_must_stand_in_the_text_of_one_customer() {
        let texts =
            [(7, "Müller Mühle"), (12, "Meier 7\nMünchen"), (1_912, "Raiffeisen"), (13, "Meier Mühle")];
        let line = |(id, text): (i64, &str)| format!("{id}\u{1f}{}\u{1e}", searchable([text]));
        let block: String = texts.into_iter().map(line).collect();
        let table: &[(&str, &[i64])] = &[
            ("mühle", &[7, 13]),
            ("muhle", &[7, 13]),
            ("meier mühle", &[13]),
            ("mühle meier", &[13]),
            ("müller raiffeisen", &[]),
            ("7", &[12]),
            ("12", &[]),
            ("eisen", &[1_912]),
            ("me", &[12, 13]),
            ("münchen meier 7", &[12]),
        ];
        for (suche, expected) in table {
            let Search::Words(folded) = Search::parse(Some(suche)) else {
                panic!("{suche} asks for nothing")
            };
            assert_eq!(looked_through(block.as_bytes(), &folded), *expected, "{suche}");
        }
    }

    fn looked_through(block: &[u8], folded: &[Folded]) -> Vec<i64> {
        let words: Vec<_> = folded.iter().map(Word::new).collect();
        let mut found = Vec::new();
        look_through(block, &words, &mut found);
        found
    }

    #[test]
    fn looking_ends_whatever_the_word_and_the_text_are() {
        let word = |text: &str| Folded { spelled: text.to_owned(), stripped: text.to_owned() };
        let table: &[(&str, &str, &[i64])] = &[
            ("", "7\u{1f}hof\u{1e}12\u{1f}hof\u{1e}", &[7, 12]),
            ("", "", &[]),
            ("", "\u{1e}\u{1e}\u{1e}", &[]),
            ("\u{1e}", "7\u{1f}hof\u{1e}12\u{1f}hof\u{1e}", &[]),
            ("\u{1f}", "7\u{1f}hof\u{1e}", &[]),
            ("hof", "7\u{1f}hof", &[7]),
            ("hof", "hof\u{1e}", &[]),
        ];
        for (text, block, expected) in table {
            assert_eq!(looked_through(block.as_bytes(), &[word(text)]), *expected, "{text:?} in {block:?}");
        }
    }
}
