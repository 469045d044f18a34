//! The fields in which two versions of a record differ, as histories show them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::day::Instant;

pub const COMMAND_LINE: &str = "Kommandozeile";

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GeaendertesFeld {
    pub feld: String,
    #[schemars(schema_with = "anything")]
    pub alt: Box<RawValue>,
    #[schemars(schema_with = "anything")]
    pub neu: Box<RawValue>,
}

/// A change of a record: when, by which key (`None` for the command line), and the changed fields.
#[derive(Debug)]
pub struct Aenderung {
    pub am: Instant,
    pub key_id: Option<String>,
    pub felder: Vec<GeaendertesFeld>,
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    json_schema!({})
}

/// Returns the fields that differ, ordered by name, with the texts that answers show.
pub fn differing<T: Serialize>(old: &T, new: &T) -> serde_json::Result<Vec<GeaendertesFeld>> {
    let (old, new) = (serde_json::to_string(old)?, serde_json::to_string(new)?);
    let [old, new]: [BTreeMap<&str, &RawValue>; 2] =
        [serde_json::from_str(&old)?, serde_json::from_str(&new)?];
    let differing = old.into_iter().filter_map(|(feld, alt)| {
        let neu = *new.get(feld)?;
        let changed = || GeaendertesFeld { feld: feld.to_owned(), alt: alt.to_owned(), neu: neu.to_owned() };
        (alt.get() != neu.get()).then(changed)
    });
    Ok(differing.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_differs_where_its_text_does() {
        let table = [
            (json!({"a": 1, "b": "x"}), json!({"a": 1, "b": "x"}), json!([])),
            (json!({"a": "1.5"}), json!({"a": "1.50"}), json!([{"feld": "a", "alt": "1.5", "neu": "1.50"}])),
            (
                json!({"b": ["x"], "a": null}),
                json!({"a": "y", "b": []}),
                json!([{"feld": "a", "alt": null, "neu": "y"}, {"feld": "b", "alt": ["x"], "neu": []}]),
            ),
        ];
        for (old, new, expected) in table {
            assert_eq!(json!(differing(&old, &new).unwrap()), expected, "{old} {new}");
        }
    }
}
