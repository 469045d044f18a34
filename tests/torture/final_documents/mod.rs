//! P13: a final document cannot be altered, by the interface or by SQL on a connection of ours.
//!
//! A trial is a random statement against the rows of final documents and their dependent rows (update,
//! delete, replace, upsert, a key removed or given to another row), on a connection as the server opens it;
//! or a request that would change one of them. Afterwards each of their rows is unchanged, except for the
//! columns that record later events, and no position was added.

mod found;
mod scene;
mod statement;

use std::collections::BTreeSet;

use partnerd::platform::db::file::connection::open_writer;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::described::operations;
use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::{Mill, Mills, copied};
use crate::process::Folder;
use crate::tenants::body;
use scene::Scene;
use statement::Target;

pub use found::EXPERIMENT as FOUND;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P13",
    what: "statements and requests against final documents and what hangs on them: no row changed",
    needs: &[],
    seeds: 3,
    case,
    fault: "the triggers of one table are dropped: of each table it is found",
    control_seeds: 3,
};

/// Statements and requests per seed.
const STATEMENTS: u64 = 1_000;
const REQUESTS: u64 = 40;

/// A table, and which of its rows are final.
struct Kept {
    table: &'static str,
    rows: &'static str,
    /// Columns that may change: later events of a finalised document.
    free: &'static [&'static str],
    /// Whether rows may be added later: a PDF, a version of the history.
    grows: bool,
}

/// Rows of the documents that were final at the beginning.
const FINAL: &str = "(tenant_id, beleg_id) in (select tenant_id, id from temp.final)";
const FINALS: &str =
    "create temp table final as select tenant_id, id from beleg where ereignis_am is not null";

const KEPT: &[Kept] = &[
    Kept {
        table: "beleg",
        rows: "(tenant_id, id) in (select tenant_id, id from temp.final)",
        free: &[
            "status",
            "ereignis_am",
            "storno_grund",
            "version",
            "geaendert_am",
            "such_text",
            "ohne_gegenbeleg",
        ],
        grows: true,
    },
    Kept { table: "beleg_position", rows: FINAL, free: &[], grows: false },
    Kept { table: "ausfertigung", rows: FINAL, free: &[], grows: false },
    Kept { table: "beleg_verlauf", rows: FINAL, free: &[], grows: true },
    Kept { table: "beleg_verlauf_positionen", rows: FINAL, free: &[], grows: true },
    Kept { table: "beleg_pdf", rows: FINAL, free: &[], grows: true },
    Kept { table: "anhang", rows: FINAL, free: &[], grows: true },
    Kept { table: "lagerbewegung", rows: FINAL, free: &[], grows: true },
    Kept { table: "datev_beleg", rows: FINAL, free: &["verworfen"], grows: true },
    Kept { table: "abrechnung", rows: FINAL, free: &[], grows: true },
    Kept {
        table: "abrechnung_annahme",
        rows: "(tenant_id, abrechnung_id) in (select a.tenant_id, a.id from abrechnung a
            join temp.final f on f.tenant_id = a.tenant_id and f.id = a.beleg_id)",
        free: &[],
        grows: true,
    },
    Kept { table: "firma", rows: "true", free: &[], grows: true },
];

/// Tables that name a document and are not part of it: pairs of goods and names without goods, which later
/// documents change (D8, D38); data dropped when a document becomes final or its partner is forgotten; and its
/// e-mails, which are stored before their outcome is known.
const NOT_KEPT: &[&str] =
    &["lager_offen", "beleg_fluss", "beleg_lieferanten_nr", "beleg_frueherer_kunde", "nachweis", "versand"];

fn case(case: &mut Case) -> Result<u64, String> {
    let scene = Scene::get();
    if case.has_fault {
        return all_found(scene, &mut case.dice);
    }
    let folder = copied(&scene.folder);
    let database = opened(&folder);
    all_tables_are_named(&database)?;
    if let Some(empty) = KEPT.iter().find(|kept| kept.rows(&database).is_empty()) {
        return Err(format!("{} has no rows: nothing of it is tried", empty.table));
    }
    by_statements(&database, &mut case.dice)?;
    drop(database);
    let requests = by_requests(&folder, scene, &mut case.dice)?;
    Ok(STATEMENTS + requests)
}

/// Error for the control, if the missing triggers of every table were detected.
fn all_found(scene: &Scene, dice: &mut Dice) -> Result<u64, String> {
    let mut found = Vec::new();
    for kept in KEPT {
        let folder = copied(&scene.folder);
        let database = opened(&folder);
        drop_triggers(&database, kept.table);
        match by_statements(&database, dice) {
            Err(wrong) => found.push(wrong),
            Ok(()) => return Ok(STATEMENTS),
        }
    }
    Err(found.join("\n"))
}

/// A connection as the server opens it, with a list of what is final.
fn opened(folder: &Folder) -> Connection {
    let database = open_writer(&folder.file("partnerd.db")).unwrap();
    database.execute_batch(FINALS).unwrap();
    database
}

fn by_statements(database: &Connection, dice: &mut Dice) -> Result<(), String> {
    let before = Rows::of(database);
    for _ in 0..STATEMENTS {
        let statement = Target::of(database, &KEPT[dice.below(KEPT.len())]).statement(dice);
        database.execute_batch("begin").unwrap();
        let changes = database.total_changes();
        let _ = database.execute_batch(&statement);
        // A statement that fails in the middle may have changed something, too.
        if database.total_changes() > changes {
            before.stand_in(database).map_err(|wrong| format!("{wrong} by {statement}"))?;
        }
        // RAISE(ABORT) leaves the transaction open.
        let _ = database.execute_batch("rollback");
    }
    Ok(())
}

/// Fails if a table that names a document is in no list.
fn all_tables_are_named(database: &Connection) -> Result<(), String> {
    let select = "select distinct t.name from sqlite_schema t, pragma_table_info(t.name) c
        where t.type = 'table' and c.name = 'beleg_id'";
    let tables = texts(database, select);
    let is_named =
        |table: &String| NOT_KEPT.contains(&table.as_str()) || KEPT.iter().any(|kept| kept.table == table);
    match tables.iter().find(|table| !is_named(table)) {
        Some(table) => Err(format!("{table} names documents: it is kept, or named among those that are not")),
        None => Ok(()),
    }
}

fn texts(database: &Connection, select: &str) -> Vec<String> {
    let mut statement = database.prepare(select).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn drop_triggers(database: &Connection, table: &str) {
    let select = format!("select name from sqlite_schema where type = 'trigger' and tbl_name = '{table}'");
    for name in texts(database, &select) {
        database.execute_batch(&format!("drop trigger {name}")).unwrap();
    }
}

/// The protected rows, as a set for each table.
struct Rows(Vec<BTreeSet<String>>);

impl Rows {
    fn of(database: &Connection) -> Rows {
        Rows(KEPT.iter().map(|kept| kept.rows(database)).collect())
    }

    fn stand_in(&self, database: &Connection) -> Result<(), String> {
        for (kept, before) in KEPT.iter().zip(&self.0) {
            let after = kept.rows(database);
            if let Some(row) = before.difference(&after).next() {
                return Err(format!("a row of {} was altered or removed ({row})", kept.table));
            }
            if !kept.grows && after.len() > before.len() {
                return Err(format!("a row of {} was added", kept.table));
            }
        }
        Ok(())
    }
}

impl Kept {
    fn columns(&self, database: &Connection) -> Vec<String> {
        texts(database, &format!("select name from pragma_table_info('{}')", self.table))
    }

    fn rows(&self, database: &Connection) -> BTreeSet<String> {
        let columns =
            self.columns(database).into_iter().filter(|column| !self.free.contains(&column.as_str()));
        let values = columns.map(|column| format!("quote({column})")).collect::<Vec<_>>().join(" || '|' || ");
        texts(database, &format!("select {values} from {} where {}", self.table, self.rows))
            .into_iter()
            .collect()
    }
}

/// Sends requests that could change final documents; returns their number.
fn by_requests(folder: &Folder, scene: &Scene, dice: &mut Dice) -> Result<u64, String> {
    let server = folder.serve(&[]);
    let own = &Mills::get().own;
    let client = server.client(&own.key);
    let writing: Vec<_> = operations()
        .iter()
        .filter(|operation| operation.pattern.starts_with("/api/v1/belege/{id}") && operation.method != "GET")
        .collect();
    let database = opened(folder);
    let before = Rows::of(&database);
    for _ in 0..REQUESTS {
        let operation = writing[dice.below(writing.len())];
        let id = &scene.finals[dice.below(scene.finals.len())];
        let path = operation.pattern.replace("{id}", id);
        let sent = drawn(own, &operation.name(), dice)?;
        let answer = client.send(&operation.method, &path, Some(&sent)).map_err(|error| error.to_string())?;
        let said = format!("{} {path} {sent}: {} {}", operation.method, answer.status, answer.body);
        if operation.method == "PUT" && answer.status < 400 {
            return Err(format!("a final document was changed: {said}"));
        }
        before.stand_in(&database).map_err(|wrong| format!("{wrong} by {said}"))?;
    }
    Ok(REQUESTS)
}

/// A body for a route, with some further fields of documents.
fn drawn(own: &Mill, route: &str, dice: &mut Dice) -> Result<Value, String> {
    let mut sent = body(route, own)?;
    let more = json!({"notizen": "x", "summe_netto": "1.00", "status": "offen", "zahlungsziel_tage": 1, "kunden_id": 31,
        "beleg_datum": "2026-01-01", "abschliessen": false, "steuergruppen": null, "external_ref": "x",
        "gutschrift": true});
    for (field, value) in more.as_object().unwrap() {
        if dice.once_in(3) {
            sent[field] = value.clone();
        }
    }
    Ok(sent)
}
