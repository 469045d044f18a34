//! In which files of a slice statements may be.

use std::collections::BTreeSet;

use crate::architecture::{is_slice, literals, sources};

const TABLE: &str = "it is about one table, and holds all that is said of it";
const ALONE: &str = "it asks this for its own purpose, and nobody else asks it";
const SMALL: &str = "the slice has so few that they need no file";

/// Files with statements besides `sql.rs` and `checks.rs`, and why.
const STATEMENTS: &[(&str, &str)] = &[
    (
        "trade/belege/lifecycle/abrechnung.rs",
        "it is about settlements and their notes, and holds all that is said of them",
    ),
    ("trade/belege/out/dokumente.rs", ALONE),
    ("trade/belege/lager/record.rs", ALONE),
    ("trade/belege/lager/open.rs", TABLE),
    ("trade/belege/lager/portions.rs", ALONE),
    ("trade/belege/lager/receipt.rs", ALONE),
    (
        "trade/belege/lager/search.rs",
        "it asks for goods in the order of an index, and holds all that is asked so",
    ),
    ("trade/belege/lager/settle.rs", ALONE),
    ("trade/belege/lager/settled_price.rs", ALONE),
    ("trade/abrechnungen/ware.rs", ALONE),
    ("trade/belege/create/lieferanten_nr.rs", "it is about two tables, and holds all that is said of them"),
    ("trade/belege/out/nachweis.rs", TABLE),
    (
        "trade/belege/credited.rs",
        "it is about credits that name an invoice, and holds all that is said of them",
    ),
    ("trade/belege/offen.rs", ALONE),
    ("trade/belege/out/pdf.rs", TABLE),
    ("trade/belege/lifecycle/tagesende.rs", ALONE),
    ("trade/belege/lifecycle/verlauf.rs", TABLE),
    ("master/biozertifikate/mod.rs", SMALL),
    ("goods/chargen/moved.rs", ALONE),
    ("goods/chargen/stock.rs", TABLE),
    ("goods/chargen/verlauf.rs", TABLE),
    ("goods/kontrakte/bezug.rs", ALONE),
    ("master/kunden/suche.rs", TABLE),
    ("master/kunden/verlauf.rs", TABLE),
    ("leitstand/access/people.rs", "it holds all that is said of people, their links and their sessions"),
    ("master/steuersaetze/mod.rs", SMALL),
    ("master/tenants/firma.rs", TABLE),
    ("master/tenants/mod.rs", SMALL),
    ("master/tenants/settings.rs", TABLE),
    ("master/tenants/testfirma.rs", ALONE),
    (
        "office/versand/postausgang.rs",
        "a mail server is one record with its password, which nothing else reads",
    ),
    ("master/vertriebler/mod.rs", SMALL),
    ("office/z3/tabelle.rs", "it makes the statement of a table of the hand-over from its columns"),
];

#[test]
fn statements_of_a_slice_stand_in_sql_rs_or_where_it_says_why() {
    let has_sql = |room: &str| is_slice(room) || room == "leitstand";
    let mut with_statements = BTreeSet::new();
    for source in sources().iter().filter(|source| has_sql(&source.room)) {
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
