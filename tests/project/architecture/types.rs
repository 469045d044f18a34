//! The document types have the same properties in Rust and in the schema.

use std::collections::BTreeSet;

use partnerd::platform::db::migrate::MIGRATIONS;
use partnerd::rules::choice::Choice;
use partnerd::rules::document::{BelegTyp, Lagerrolle, Seite};
use rusqlite::Connection;

use crate::architecture::{literals, sources};

/// The properties of a type are in `BelegTyp::facts` and in the table `belegtyp`; statements query the table
/// and list no types.
#[test]
fn the_schema_and_the_program_say_the_same_of_types_of_documents() {
    let said: BTreeSet<_> = BelegTyp::ALL
        .iter()
        .map(|typ| {
            let seite = match typ.seite() {
                Seite::Verkauf => "verkauf",
                Seite::Einkauf => "einkauf",
            };
            let rolle = match typ.lagerrolle() {
                Lagerrolle::Keine => None,
                Lagerrolle::Lieferung => Some("lieferung".to_owned()),
                Lagerrolle::Rechnung => Some("rechnung".to_owned()),
            };
            (typ.as_str().to_owned(), seite.to_owned(), rolle)
        })
        .collect();
    let schema = Connection::open_in_memory().unwrap();
    MIGRATIONS.iter().for_each(|migration| schema.execute_batch(migration.sql).unwrap());
    let mut rows = schema.prepare("select typ, seite, lagerrolle from belegtyp").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert_eq!(rows.collect::<Result<BTreeSet<_>, _>>().unwrap(), said);
    for source in sources() {
        for literal in literals(&source.code()) {
            let all = !literal.contains("AN, AU") || literal.contains(&BelegTyp::texts());
            assert!(all, "{} lists not all types, or in another order: {literal}", source.name());
            let names = literal.split('\'').skip(1).step_by(2);
            let is_listed =
                ["select ", "update ", "insert ", "delete "].iter().any(|verb| literal.contains(verb))
                    && names.map(BelegTyp::parse).any(|typ| typ.is_some());
            assert!(
                !is_listed,
                "{} names a type in SQL, where belegtyp would say what it is: {literal}",
                source.name()
            );
        }
    }
}
