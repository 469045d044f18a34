//! Which slices read tables of other slices, and why.

use std::collections::BTreeSet;

use crate::architecture::{literals, sources, writers};

const NAMES: &str = "its answers show names beside ids, a page in one statement";
const NUMBERS: &str = "its checks compare its numbers with the series that gave them";

/// Slices that read tables of another slice with their own statements, and why they do not call that slice.
const READS: &[(&str, &str, &str)] = &[
    (
        "trade/abrechnungen",
        "beleg kontrakt kunde",
        "a settlement is shown with the number, state and sums of its document, a page in one statement",
    ),
    (
        "trade/abrechnungen",
        "annahmeschein annahme_analyse",
        "what was paid on a contract counts the live settlement of each note, and a list says which notes were \
         analysed again, each in one statement",
    ),
    ("goods/abrechnungsschemata", "artikel", NAMES),
    (
        "goods/abrechnungsschemata",
        "abrechnung abrechnung_annahme beleg",
        "until which day live final settlements used a version; abrechnungen stands above it",
    ),
    (
        "trade/abrechnungen",
        "abrechnungsschema_version beleg_position",
        "whether anything that decides a settlement was written since, and what goods it paid for, in one statement",
    ),
    (
        "master/kunden",
        "abrechnung abrechnung_annahme annahmeschein beleg beleg_position",
        "which final Gutschriften show another tax than the partner's Besteuerung; belege stands above it",
    ),
    ("master/tenants", "beleg", "whether final documents lie before today; belege stands above it"),
    (
        "office/z3",
        "abrechnungsschema abrechnungsschema_version annahme_analyse",
        "a table of a hand-over is one statement",
    ),
    ("trade/belege", "annahmeschein", "a delivery knows by which settlement its receipt is paid"),
    ("interface/aenderungen", "aenderung", "proves what db wrote"),
    ("master/anhaenge", "nachweis", "finds what has no evidence, in one statement"),
    (
        "trade/annahmescheine",
        "annahmeschein_stand",
        "its check compares the states of notes with what belege brings about",
    ),
    ("trade/annahmescheine", "abrechnungsschema artikel kunde", NAMES),
    (
        "trade/annahmescheine",
        "abrechnung abrechnung_annahme",
        "a note shows its live settlement and what was paid by it; abrechnungen stands below it",
    ),
    ("trade/annahmescheine", "beleg beleg_position", "a note shows the document that it made, and its batch"),
    ("trade/annahmescheine", "nummernkreis", NUMBERS),
    (
        "operations/backup",
        "installation",
        "whether a file is a database of ours, before anything of it is used",
    ),
    (
        "office/buchhaltung",
        "artikel artikelgruppe beleg beleg_position kunde",
        "many invoices, two statements",
    ),
    (
        "office/buchhaltung",
        "aenderung",
        "whether a batch that was computed still holds, with its invoices in one statement",
    ),
    ("master/artikel", "artikel_bestand", "an article is shown with its stock; chargen stands below it"),
    (
        "trade/belege",
        "abrechnung abrechnung_annahme",
        "which documents are settlements, and what follows them",
    ),
    ("trade/belege", "artikel kunde", NAMES),
    ("trade/belege", "charge lagerbewegung", "what a document has moved is found by way of its positions"),
    ("trade/belege", "firma", "the checksum of a document covers the company as it was, in one statement"),
    ("trade/belege", "nachweis", "finds what has no evidence, in one statement"),
    ("trade/belege", "nummernkreis", NUMBERS),
    ("goods/chargen", "artikel artikelgruppe kunde", NAMES),
    ("goods/chargen", "nummernkreis", NUMBERS),
    (
        "goods/chargen",
        "beleg beleg_position",
        "a correction names the documents of a batch; belege stands below it",
    ),
    (
        "platform/gate",
        "installation kette",
        "the secret of keys, and whether anything was written before it was sealed",
    ),
    ("platform/gate", "tenant", "who calls, in one statement for each request; tenants stands below it"),
    (
        "trade/herkunft",
        "artikel beleg belegtyp charge inventur kunde lagerbewegung produktionsauftrag",
        "has no tables: the way of a \
      batch crosses these",
    ),
    ("trade/kasse", "artikel", NAMES),
    ("goods/kontrakte", "abrechnungsschema artikel kunde", NAMES),
    (
        "goods/kontrakte",
        "abrechnung abrechnung_annahme",
        "shows what was settled; abrechnungen stands below it",
    ),
    (
        "goods/kontrakte",
        "beleg beleg_position lager_offen lager_paar",
        "what was delivered is what \
      documents moved; belege asks kontrakte for it and stands below it",
    ),
    (
        "goods/kontrakte",
        "annahmeschein wiegung",
        "what may change of a contract depends on whether anything names it; \
      waage and annahmescheine stand below it",
    ),
    ("master/kunden", "api_key", "who changed a partner is shown by the label of the key"),
    ("master/kunden", "nachweis", "finds what has no evidence, in one statement"),
    ("goods/produktion", "artikel charge", NAMES),
    ("goods/produktion", "nummernkreis", NUMBERS),
    ("goods/waage", "artikel charge kunde", NAMES),
    (
        "goods/waage",
        "annahmeschein beleg beleg_position",
        "a weighing that something refers to is not cancelled; \
      belege and annahmescheine stand below it",
    ),
    ("goods/waage", "nummernkreis", NUMBERS),
    (
        "office/z3",
        "abrechnung abrechnung_annahme anhang annahmeschein api_key artikel artikel_verlauf artikelgruppe audit \
         barverkauf beleg beleg_fluss beleg_position beleg_verlauf bon charge datev_beleg datev_stapel inventur konto \
         kontrakt kontrakt_position kassendatei kunde kunde_verlauf lager_paar lagerbewegung pa_input pa_output person \
         produktionsauftrag steuersatz verwaltung wiegung",
        "an auditor gets all of a period, each table in one statement from one snapshot",
    ),
];

/// The names that a statement reads from: tables, and the names of its own inner selects.
fn read_from(statement: &str) -> BTreeSet<String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    ["from ", "join "].iter().flat_map(|verb| statement.split(verb).skip(1)).map(name).collect()
}

#[test]
fn a_table_is_read_by_its_slice_and_by_those_that_say_why() {
    let owners = writers();
    let mut reads = BTreeSet::new();
    for source in sources() {
        for literal in literals(&source.code()) {
            for table in read_from(&literal) {
                if owners.get(&table).is_some_and(|owners| !owners.contains(&source.room)) {
                    reads.insert((source.room.clone(), table));
                }
            }
        }
    }
    let pair = |slice: &str, table: &str| (slice.to_owned(), table.to_owned());
    let listed =
        READS.iter().flat_map(|(slice, tables, _)| tables.split(' ').map(|table| pair(slice, table)));
    let listed: BTreeSet<_> = listed.collect();
    let new: Vec<_> = reads.difference(&listed).collect();
    assert!(
        new.is_empty(),
        "{new:?}: let the slice ask the owner of the table, or say in READS why it does not"
    );
    let stale: Vec<_> = listed.difference(&reads).collect();
    assert!(stale.is_empty(), "{stale:?} are not read any more: take them out of READS");
}
