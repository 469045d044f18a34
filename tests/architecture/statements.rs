//! Where the statements of a slice stand.

use std::collections::BTreeSet;

use crate::{literals, order, sources};

const TABLE: &str = "it is about one table, and holds all that is said of it";
const ALONE: &str = "it asks this for its own purpose, and nobody else asks it";
const SMALL: &str = "the slice has so few that they need no file";

/// Files besides `sql.rs` and `checks.rs` that hold statements, and why.
const STATEMENTS: &[(&str, &str)] = &[
    ("belege/abrechnung.rs", "it is about settlements and their notes, and holds all that is said of them"),
    ("belege/dokumente.rs", ALONE),
    ("belege/lager/note.rs", ALONE),
    ("belege/lager/open.rs", TABLE),
    ("belege/lager/portions.rs", ALONE),
    ("belege/lager/receipt.rs", ALONE),
    ("belege/lager/search.rs", "it asks for goods in the order of an index, and holds all that is asked so"),
    ("belege/lieferanten_nr.rs", "it is about two tables, and holds all that is said of them"),
    ("belege/nachweis.rs", TABLE),
    ("belege/offen.rs", ALONE),
    ("belege/pdf.rs", TABLE),
    ("belege/tagesende.rs", ALONE),
    ("belege/verlauf.rs", TABLE),
    ("biozertifikate/mod.rs", SMALL),
    ("chargen/moved.rs", ALONE),
    ("chargen/stock.rs", TABLE),
    ("chargen/verlauf.rs", TABLE),
    ("kontrakte/bezug.rs", ALONE),
    ("kunden/suche.rs", TABLE),
    ("kunden/verlauf.rs", TABLE),
    ("leitstand/people.rs", "it holds all that is said of people, their links and their sessions"),
    ("steuersaetze/mod.rs", SMALL),
    ("tenants/firma.rs", TABLE),
    ("tenants/mod.rs", SMALL),
    ("tenants/settings.rs", TABLE),
    ("tenants/testfirma.rs", ALONE),
    ("versand/postausgang.rs", "a mail server is one record with its password, which nothing else reads"),
    ("vertriebler/mod.rs", SMALL),
    ("z3/tabelle.rs", "it makes the statement of a table of the hand-over from its columns"),
];

#[test]
fn statements_of_a_slice_stand_in_sql_rs_or_where_it_says_why() {
    let order = order();
    let place = |module: &str| order.iter().position(|known| known == module).unwrap();
    let slices = &order[place("import") + 1..place("app")];
    let has_sql = |module: &String| slices.contains(module) || module == "leitstand";
    let mut with_statements = BTreeSet::new();
    for source in sources().iter().filter(|source| has_sql(&source.module)) {
        let code = source.code();
        let begins = |literal: &String| {
            ["select ", "insert into ", "update ", "delete from ", "with "]
                .iter()
                .any(|word| literal.starts_with(word))
        };
        let is_built = ["tx.insert(", "tx.insert_all(", "tx.update("].iter().any(|call| code.contains(call));
        let file = source.path.file_name().unwrap();
        if (is_built || literals(&code).iter().any(begins)) && file != "sql.rs" && file != "checks.rs" {
            with_statements.insert(source.name());
        }
    }
    let listed: BTreeSet<_> = STATEMENTS.iter().map(|(file, _)| (*file).to_owned()).collect();
    let new: Vec<_> = with_statements.difference(&listed).collect();
    assert!(
        new.is_empty(),
        "{new:?}: move the statements to sql.rs, or say in STATEMENTS why they stand there"
    );
    let stale: Vec<_> = listed.difference(&with_statements).collect();
    assert!(stale.is_empty(), "{stale:?} hold no statements any more: take them out of STATEMENTS");
}
