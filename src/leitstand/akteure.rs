//! Who did something, as histories name them: a key by its label, a person by their name.

use rusqlite::Connection;

use super::page::{Ask, Seen};
use super::people;
use crate::failure::Result;
use crate::gate::key::{self, StoredKey};

/// What stands for a person in histories, where a key has its id.
const PERSON: &str = "person ";

/// A person, as histories say who changed something.
pub fn of_person(id: i64) -> String {
    format!("{PERSON}{id}")
}

pub struct Akteure<'c> {
    connection: &'c Connection,
    keys: Vec<StoredKey>,
}

impl<'c> Akteure<'c> {
    pub fn of(ask: &Ask, seen: &Seen<'c>) -> Result<Akteure<'c>> {
        let keys = key::of_tenant(seen.connection, ask.firma_id(), ask.now)?;
        Ok(Akteure { connection: seen.connection, keys })
    }

    /// The entries of a history, each with the name of who made it.
    pub fn named<T>(&self, entries: Vec<T>, who: fn(&T) -> Option<&str>) -> Result<Vec<(T, String)>> {
        let named = |entry| {
            let name = self.name(who(&entry))?;
            Ok((entry, name))
        };
        entries.into_iter().map(named).collect()
    }

    /// The name behind a `key_id` of a history: that of a key, `person 3`, or nothing for the command line.
    pub fn name(&self, id: Option<&str>) -> Result<String> {
        let Some(id) = id else { return Ok("Kommandozeile".to_owned()) };
        if let Some(number) = id.strip_prefix(PERSON).and_then(|number| number.parse().ok()) {
            let person = people::by_id(self.connection, number)?;
            return Ok(person.map_or_else(|| id.to_owned(), |person| person.name));
        }
        let key = self.keys.iter().find(|key| key.id == id);
        Ok(key.map_or_else(|| id.to_owned(), |key| key.label.clone()))
    }
}
