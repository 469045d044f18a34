//! Somebody alters the logs: with plain SQL on the database, who knows how checksums are made and has the program but
//! not the secret, and in the files of the journal that a killed server left behind.
//!
//! A trial is an alteration of a copy. `audit verify` or `check` must say so; of the journal the start of the next server
//! says it, or keeps the damaged file. What nobody can find without something to compare with is not tried: a journal whose
//! last lines are gone. A database that was put back to an earlier state is found against a backup.

use std::path::PathBuf;
use std::sync::OnceLock;

use partnerd::db::connection::open_writer;
use partnerd::gate::audit::Row;
use rusqlite::Connection;

use super::clients::life;
use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::{Mills, copied};
use crate::process::Folder;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P12",
    what: "alterations of both logs, their heads and seals, the evidence, the journal: each is found",
    needs: &[],
    seeds: 3,
    case,
    fault: "one alteration in three changes nothing, and is not found",
    control_seeds: 2,
};

/// Alterations of the database and of the journal in one seed.
const ALTERATIONS: u64 = 14;
const OF_JOURNAL: u64 = 3;

/// Tables of the logs, of which each value is proved.
const TABLES: &[&str] = &[
    "audit",
    "audit",
    "audit",
    "audit_tag",
    "audit_kopf",
    "verwaltung",
    "verwaltung",
    "nachweis",
    "kette",
    "siegel_beginn",
];

/// A company that was served: its log has rows of three days, and there is an older state of it.
struct Scene {
    folder: Folder,
    /// The same before the last requests.
    before: Folder,
    /// Killed, with rows in its journal.
    killed: Folder,
}

impl Scene {
    fn get() -> &'static Scene {
        static SCENE: OnceLock<Scene> = OnceLock::new();
        SCENE.get_or_init(|| {
            let mills = Mills::get();
            let folder = mills.copy();
            let keys = [mills.own.key.as_str(); 2];
            let database = open_writer(&folder.file("partnerd.db")).unwrap();
            let last: i64 = database.query_row("select max(am) from audit", [], |row| row.get(0)).unwrap();
            for (day, nr) in (1..3).flat_map(|day| (0..5).map(move |nr| (day, nr))) {
                let am = last + day * 86_400_000 + nr;
                let row = Row { am, pfad: format!("/api/v1/{nr}"), status: 401, anzahl: 1, ..Row::default() };
                row.insert(&database).unwrap();
            }
            drop(database);
            let before = copied(&folder);
            life(&folder, keys, "TERM", 1, 40).unwrap();
            let killed = copied(&folder);
            life(&killed, keys, "KILL", 2, 60).unwrap();
            Scene { folder, before, killed }
        })
    }
}

fn case(case: &mut Case) -> Result<u64, String> {
    let scene = Scene::get();
    if let Some(said) = said_of(&scene.folder) {
        return Err(format!("nothing was altered, and it says: {said}"));
    }
    for _ in 0..ALTERATIONS {
        let folder = copied(&scene.folder);
        let what = match case.has_fault && case.dice.once_in(3) {
            true => {
                folder.database().execute_batch("update audit set pfad = pfad").unwrap();
                "the paths of all rows as they were".to_owned()
            }
            false => altered(&folder, &mut case.dice),
        };
        said_of(&folder).ok_or_else(|| format!("not found: {what}"))?;
    }
    for _ in 0..OF_JOURNAL {
        let folder = copied(&scene.killed);
        let what = journal_altered(&folder, &mut case.dice);
        let log = folder.log_of_start(&[]);
        let is_kept = files(&folder, "audit-damaged-").next().is_some();
        if !is_kept && !log.contains("are missing") {
            return Err(format!("not found in the journal: {what}"));
        }
    }
    put_back(scene)?;
    Ok(ALTERATIONS + OF_JOURNAL + 1)
}

/// What `audit verify` or `check` says is wrong; none where both are content.
fn said_of(folder: &Folder) -> Option<String> {
    [&["audit", "verify"][..], &["check"]].iter().find_map(|command| {
        let output = folder.run(command);
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    })
}

/// An earlier state is whole by itself; a backup that was made since tells.
fn put_back(scene: &Scene) -> Result<(), String> {
    let (old, new) = (copied(&scene.before), copied(&scene.folder));
    new.result(&["backup", "b.db"]);
    let backup = new.file("b.db");
    match old.run(&["audit", "verify", "--against", backup.to_str().unwrap()]).status.success() {
        true => Err("not found against a backup: the database was put back to an earlier state".to_owned()),
        false => Ok(()),
    }
}

/// Alters something of the logs; what was done.
fn altered(folder: &Folder, dice: &mut Dice) -> String {
    if dice.once_in(4) {
        return rewritten(folder, dice);
    }
    let table = TABLES[dice.below(TABLES.len())];
    // The statement that nothing came of is drawn again: a value that was the same before.
    for _ in 0..100 {
        let statement = statement(folder, table, dice);
        if without_triggers(folder, &statement) {
            return statement;
        }
    }
    panic!("no statement changed {table}");
}

/// A statement that deletes, changes, swaps, copies or cuts rows of a table.
fn statement(folder: &Folder, table: &str, dice: &mut Dice) -> String {
    let database = folder.database();
    let names = |condition: &str| -> Vec<String> {
        let select = format!("select name from pragma_table_info('{table}') where {condition}");
        let mut statement = database.prepare(&select).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let (columns, key) = (names("true"), names("pk > 0"));
    let rows: i64 =
        database.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0)).unwrap();
    let order = key.join(", ");
    let mut row = || {
        format!(
            "({order}) in (select {order} from {table} order by {order} limit 1 offset {})",
            dice.below(rows as usize)
        )
    };
    let (one, other) = (row(), row());
    let column = columns[dice.below(columns.len())].clone();
    let last = &key[key.len() - 1];
    match dice.below(6) {
        0 => format!("delete from {table} where {one}"),
        1 => {
            // Rows of the end; of a log the newest day, of a chain the highest numbers.
            let cut = 1 + dice.below(3);
            format!(
                "delete from {table} where ({order}) in (select {order} from {table} order by {} desc limit {cut})",
                key.join(" desc, ")
            )
        }
        // A further row there is the head of nothing.
        2 if table != "kette" => {
            let values = columns.iter().map(|name| {
                if name == last { format!("(select max({last}) + 1 from {table})") } else { name.clone() }
            });
            let values = values.collect::<Vec<_>>().join(", ");
            format!("insert into {table} select {values} from {table} where {one}")
        }
        3 => {
            // Both rows have what the other had, but for their keys.
            let own =
                columns.iter().filter(|name| !key.contains(name)).cloned().collect::<Vec<_>>().join(", ");
            format!("create temp table a as select {own} from {table} where {one}; create temp table b as select {own} from {table} where {other};
                update {table} set ({own}) = (select * from b) where {one}; update {table} set ({own}) = (select * from a) where {other}")
        }
        _ => {
            let value = match dice.below(5) {
                0 => "null".to_owned(),
                1 => format!("{column} + 1"),
                2 => format!("cast(substr({column}, 2) as blob)"),
                3 => format!("(select {column} from {table} where {other})"),
                _ => format!(
                    "case typeof({column}) when 'blob' then randomblob(length({column})) when 'text' then {column} || 'x' else {} end",
                    dice.below(1000)
                ),
            };
            format!("update {table} set {column} = {value} where {one}")
        }
    }
}

/// Runs a statement with the triggers out of the way, which stand there afterwards as before; whether it ran and changed
/// something.
fn without_triggers(folder: &Folder, statement: &str) -> bool {
    let database = folder.database();
    database.pragma_update(None, "foreign_keys", false).unwrap();
    let before = content(&database);
    let mut triggers =
        database.prepare("select name, sql from sqlite_schema where type = 'trigger'").unwrap();
    let triggers: Vec<(String, String)> =
        triggers.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let run = || -> rusqlite::Result<()> {
        triggers.iter().try_for_each(|(name, _)| database.execute_batch(&format!("drop trigger {name}")))?;
        database.execute_batch(statement)?;
        triggers.iter().try_for_each(|(_, sql)| database.execute_batch(sql))
    };
    database.execute_batch("begin").unwrap();
    let is_done = run().is_ok() && content(&database) != before;
    database.execute_batch(if is_done { "commit" } else { "rollback" }).unwrap();
    is_done
}

/// All rows of the tables of the logs.
fn content(database: &Connection) -> Vec<String> {
    let rows = |table: &&str| -> Vec<String> {
        let mut statement = database.prepare(&format!("select * from {table}")).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
            let values = (0..columns).map(|at| row.get_ref(at).map(|value| format!("{value:?}")));
            Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        };
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    TABLES.iter().flat_map(rows).collect()
}

/// A row of the log is dropped, altered or doubled, and those behind it are written anew by the program, which makes their
/// checksums and their head, without the secret.
fn rewritten(folder: &Folder, dice: &mut Dice) -> String {
    let database = folder.database();
    let days: i64 = database.query_row("select count(*) from audit_tag", [], |row| row.get(0)).unwrap();
    let tag = format!("select tag from audit_tag order by tag limit 1 offset {}", dice.below(days as usize));
    let tag: i64 = database.query_row(&tag, [], |row| row.get(0)).unwrap();
    let last: i64 =
        database.query_row("select max(lfd_nr) from audit where tag = ?1", [tag], |row| row.get(0)).unwrap();
    let from = 1 + dice.below(last as usize);
    let select = "select am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, code, dauer_us, bytes_ein,
        bytes_aus, subjekt, anzahl from audit where tag = ?1 and lfd_nr >= ?2 order by lfd_nr";
    let mut statement = database.prepare(select).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Row {
            am: row.get(0)?,
            request_id: row.get(1)?,
            key_id: row.get(2)?,
            tenant_id: row.get(3)?,
            adresse: row.get(4)?,
            methode: row.get(5)?,
            route_id: row.get(6)?,
            pfad: row.get(7)?,
            status: row.get(8)?,
            code: row.get(9)?,
            dauer_us: row.get(10)?,
            bytes_ein: row.get(11)?,
            bytes_aus: row.get(12)?,
            subjekt: row.get(13)?,
            anzahl: row.get(14)?,
            ..Row::default()
        })
    };
    let mut rows: Vec<Row> =
        statement.query_map(rusqlite::params![tag, from as i64], read).unwrap().map(Result::unwrap).collect();
    drop(statement);
    let what = ["dropped", "altered", "doubled"][dice.below(3)];
    match what {
        "dropped" => drop(rows.remove(0)),
        "altered" => rows[0].status = 418,
        _ => rows.insert(0, rows[0].clone()),
    }
    without_triggers(folder, &format!(
        "update audit_tag set letzte_nr = {from} - 1, pruefsumme = coalesce(
           (select pruefsumme from audit where tag = {tag} and lfd_nr = {from} - 1), ab_pruefsumme) where tag = {tag};
         delete from audit where tag = {tag} and lfd_nr >= {from}"
    ));
    let (secret, aside) = (folder.file("partnerd.db-secret"), folder.file("aside"));
    std::fs::rename(&secret, &aside).unwrap();
    let writer = open_writer(&folder.file("partnerd.db")).unwrap();
    rows.iter().for_each(|row| row.insert(&writer).unwrap());
    drop(writer);
    std::fs::rename(&aside, &secret).unwrap();
    format!("day {tag}, row {from} {what}, and all behind it written anew")
}

fn files(folder: &Folder, part: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let part = part.to_owned();
    entries.filter(move |path| path.to_string_lossy().contains(&part))
}

/// Alters a file of the journal; what was done. The end of its last line stays: without it the line would be one that a
/// power cut left in halves.
fn journal_altered(folder: &Folder, dice: &mut Dice) -> String {
    let file =
        files(folder, "audit-journal-").max_by_key(|file| std::fs::metadata(file).unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (at, other) = (dice.below(lines.len() - 1), lines.len() - 1);
    let what = match dice.below(4) {
        0 => {
            let at = dice.below(bytes.len() - 1);
            bytes[at] ^= 1 << dice.below(8);
            std::fs::write(&file, bytes).unwrap();
            return format!("byte {at} of {}", file.display());
        }
        1 => {
            lines.remove(at);
            "line removed"
        }
        2 => {
            lines.swap(at, other);
            "line swapped with the last"
        }
        _ => {
            let line = lines[at].clone();
            lines.push(line);
            "line doubled at the end"
        }
    };
    std::fs::write(&file, lines.concat()).unwrap();
    format!("{what}: {at} of {}", lines.len())
}
