//! Chooses the entry to evict from a bounded list, so that one person cannot drive out the entries of others.

/// Returns the index to evict before an entry of the person `next` is added; `persons` are the owners of the
/// entries, oldest first. Evicts the oldest entry of `next`, or, if they have none, of the person with the
/// most entries.
pub fn evict_index(persons: &[i64], next: i64) -> Option<usize> {
    let count = |person: i64| persons.iter().filter(|known| **known == person).count();
    let most = persons.iter().rev().max_by_key(|person| count(**person))?;
    let whose = if persons.contains(&next) { next } else { *most };
    persons.iter().position(|person| *person == whose)
}

#[cfg(test)]
mod tests {
    use super::evict_index;

    #[test]
    fn who_has_something_makes_room_before_others_do() {
        // Owners of the entries, owner of the next one, index to evict.
        for (persons, next, expected) in [
            (&[][..], 1, None),
            (&[1, 1, 1, 1], 1, Some(0)),
            (&[1, 1, 1, 1], 2, Some(0)),
            (&[1, 2, 1, 1], 2, Some(1)),
            (&[2, 1, 3, 1], 1, Some(1)),
            (&[2, 1, 3, 1], 4, Some(1)),
            (&[2, 1, 1, 2], 3, Some(0)),
            (&[2, 1, 3, 4], 5, Some(0)),
        ] {
            assert_eq!(evict_index(persons, next), expected, "{persons:?} {next}");
        }
    }
}
