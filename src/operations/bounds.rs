//! Fields whose stored value lies outside the bound that their type checks (D39).

use rusqlite::Connection;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::goods::chargen::NewCharge;
use crate::goods::kontrakte::{KontraktChange, PositionEingabe};
use crate::master::artikel::{ArtikelChange, StaffelEingabe};
use crate::master::kunden::KundeChange;
use crate::platform::failure::Result;

/// The tables, each with the body that its records are written with.
fn tables() -> [(&'static str, Value); 6] {
    fn shape<T: JsonSchema>() -> Value {
        T::json_schema(&mut SchemaGenerator::default()).into()
    }
    [
        ("artikel", shape::<ArtikelChange>()),
        ("staffelpreis", shape::<StaffelEingabe>()),
        ("kunde", shape::<KundeChange>()),
        ("kontrakt", shape::<KontraktChange>()),
        ("kontrakt_position", shape::<PositionEingabe>()),
        ("charge", shape::<NewCharge>()),
    ]
}

/// The condition for a value of a column that is outside. Decimals are stored scaled, so that only their sign is known
/// here.
fn outside(column: &str, field: &Value) -> Option<String> {
    let is_whole = field["type"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "integer"));
    let (least, most) = (field["minimum"].as_i64(), field["maximum"].as_i64());
    match (least, most, field["maxLength"].as_u64()) {
        (Some(least), Some(most), _) if is_whole => Some(format!("{column} not between {least} and {most}")),
        (Some(0), ..) => Some(format!("{column} < 0")),
        (_, _, Some(longest)) => Some(format!("length({column}) > {longest}")),
        _ => None,
    }
}

/// Returns how many values of each column are outside, as `artikel.preis (3)`; empty if none is. Nothing is wrong with
/// the file: an older version took them.
pub fn exceeded(connection: &Connection) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (table, shape) in tables() {
        let mut columns = connection.prepare("select name from pragma_table_info(?)")?;
        let columns = columns.query_map([table], |row| row.get::<_, String>(0))?;
        let columns = columns.collect::<rusqlite::Result<Vec<_>>>()?;
        let bounded = columns
            .iter()
            .filter_map(|column| Some((column, outside(column, shape["properties"].get(column)?)?)));
        let (names, conditions): (Vec<_>, Vec<_>) = bounded.unzip();
        let counts = conditions.iter().map(|condition| format!("count(*) filter (where {condition})"));
        let select = format!("select {} from {table}", counts.collect::<Vec<_>>().join(", "));
        connection.query_row(&select, [], |row| {
            for (at, name) in names.iter().enumerate() {
                let count: i64 = row.get(at)?;
                found.extend((count > 0).then(|| format!("{table}.{name} ({count})")));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// What there is to know of them, in words; `None` if no value is outside.
pub fn in_words(connection: &Connection) -> Result<Option<String>> {
    let found = exceeded(connection)?;
    let sentence = format!("Werte außerhalb: {}; bitte berichtigen", found.join(", "));
    Ok((!found.is_empty()).then_some(sentence))
}
