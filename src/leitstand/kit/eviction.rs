//! Which entry of a bounded list is evicted, so that one person cannot drive out what others left.

/// The index to evict before an entry of the person `next` is added; `persons` owns the entries, the oldest first. It is
/// the oldest of `next`, or, where they have none, of whoever has most.
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
        // Who has entries, who adds one; which is evicted.
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
