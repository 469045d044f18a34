//! Room for what people leave behind, and whose goes where there is none.

/// What goes so that something of the person `next` may come: the place of it among things whose persons these are, the
/// oldest first. Their own oldest goes; for who has none, the oldest of whoever has most.
pub fn goes(persons: &[i64], next: i64) -> Option<usize> {
    let count = |person: i64| persons.iter().filter(|known| **known == person).count();
    let most = persons.iter().rev().max_by_key(|person| count(**person))?;
    let whose = if persons.contains(&next) { next } else { *most };
    persons.iter().position(|person| *person == whose)
}

#[cfg(test)]
mod tests {
    use super::goes;

    #[test]
    fn who_has_something_makes_room_before_others_do() {
        // Persons of what is there, whose is to come; what goes.
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
            assert_eq!(goes(persons, next), expected, "{persons:?} {next}");
        }
    }
}
