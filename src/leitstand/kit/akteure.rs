//! Names the author of a change as histories show it: a key by its label, a person by their name.

use super::page::{PageRequest, Snapshot};
use crate::leitstand::access::people;
use crate::platform::failure::Result;
use crate::platform::gate::access::key;
use crate::platform::gate::administration::PERSON_PREFIX;

pub fn of_person(id: i64) -> String {
    format!("{PERSON_PREFIX}{id}")
}

/// Pairs each entry of a history with the name of its author. `key_id` returns a key, a person (`person 3`),
/// or `None` for the command line.
pub fn named<T>(
    request: &PageRequest,
    db: &Snapshot<'_>,
    entries: Vec<T>,
    key_id: fn(&T) -> Option<&str>,
) -> Result<Vec<(T, String)>> {
    let keys = key::of_tenant(db.connection, request.firma_id(), request.now)?;
    let name = |id: &str| -> Result<String> {
        let person = id.strip_prefix(PERSON_PREFIX).and_then(|number| number.parse().ok());
        let name = match person {
            Some(person) => people::by_id(db.connection, person)?.map(|person| person.name),
            None => keys.iter().find(|key| key.id == id).map(|key| key.label.clone()),
        };
        Ok(name.unwrap_or_else(|| id.to_owned()))
    };
    let named = |entry| {
        let name = key_id(&entry).map_or_else(|| Ok("Kommandozeile".to_owned()), name)?;
        Ok((entry, name))
    };
    entries.into_iter().map(named).collect()
}
