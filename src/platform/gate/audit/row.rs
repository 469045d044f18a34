//! A row of the audit log: in the table and in the journal.

use serde::ser::SerializeTuple;
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use crate::platform::db::record::record;

/// Bytes that a line of the journal has, as a rule.
const LINE: usize = 384;

record! {
    /// A row of the audit log. A line of the journal is the list of its fields as they stand here.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
    pub struct Row from audit as a {
        am: i64,
        request_id: Uuid,
        key_id: Option<String>,
        tenant_id: Option<i64>,
        adresse: String,
        methode: String,
        route_id: Option<i64>,
        pfad: String,
        status: u16,
        dauer_us: i64,
        bytes_ein: i64,
        bytes_aus: i64,
        subjekt: Option<Uuid>,
        /// Requests that the row stands for: 1, or those of a flood.
        anzahl: i64,
        /// One of a flood: counted, not listed.
        flut: bool = { false },
        /// The person who acted with a browser.
        person: Option<i64>,
        /// The error code of the answer, where it was a refusal.
        code: Option<String>,
    }
}

impl Row {
    /// The row as a line of the journal: its fields in their order, without their names.
    pub fn line(&self) -> std::io::Result<Vec<u8>> {
        let mut line = Vec::with_capacity(LINE);
        serde_json::to_writer(&mut line, &Fields(self))?;
        Ok(line)
    }
}

/// The fields of a row in their order, without their names.
struct Fields<'r>(&'r Row);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let row = self.0;
        let mut fields = serializer.serialize_tuple(17)?;
        fields.serialize_element(&row.am)?;
        fields.serialize_element(&row.request_id)?;
        fields.serialize_element(&row.key_id)?;
        fields.serialize_element(&row.tenant_id)?;
        fields.serialize_element(&row.adresse)?;
        fields.serialize_element(&row.methode)?;
        fields.serialize_element(&row.route_id)?;
        fields.serialize_element(&row.pfad)?;
        fields.serialize_element(&row.status)?;
        fields.serialize_element(&row.dauer_us)?;
        fields.serialize_element(&row.bytes_ein)?;
        fields.serialize_element(&row.bytes_aus)?;
        fields.serialize_element(&row.subjekt)?;
        fields.serialize_element(&row.anzahl)?;
        fields.serialize_element(&row.flut)?;
        fields.serialize_element(&row.person)?;
        fields.serialize_element(&row.code)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_journal_is_read_as_it_was_written() {
        let row = Row {
            am: 1_795_260_000_000,
            request_id: Uuid::from_u128(7),
            key_id: Some("8c688b50b1b5".to_owned()),
            tenant_id: Some(1),
            adresse: "127.0.0.1".to_owned(),
            methode: "GET".to_owned(),
            route_id: None,
            pfad: "/api/v1/\"kunden\"".to_owned(),
            status: 404,
            dauer_us: 12,
            bytes_ein: 0,
            bytes_aus: 99,
            subjekt: None,
            anzahl: 1,
            flut: true,
            person: None,
            code: Some("NICHT_GEFUNDEN".to_owned()),
        };
        let line = row.line().unwrap();
        assert_eq!(serde_json::from_slice::<Row>(&line).unwrap(), row);
        let of_person = Row { key_id: None, person: Some(3), ..row };
        assert_eq!(serde_json::from_slice::<Row>(&of_person.line().unwrap()).unwrap(), of_person);
    }
}
