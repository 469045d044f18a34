//! Alterations of the log tables by somebody who can write the file and has the program, but not the secret.

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::audit::Row;
use rusqlite::Connection;

use crate::dice::Dice;
use crate::process::Folder;

/// Tables of the logs, in which every value is protected.
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

/// Alters something of the logs; returns what was done.
pub fn altered(folder: &Folder, dice: &mut Dice) -> String {
    if dice.once_in(4) {
        return rewritten(folder, dice);
    }
    let table = Table::of(&folder.database(), TABLES[dice.below(TABLES.len())]);
    // Draws again if the statement changed nothing, such as a value that was the same before.
    for _ in 0..100 {
        let statement = table.statement(dice);
        if without_triggers(folder, &statement) {
            return statement;
        }
    }
    panic!("no statement changed {}", table.name);
}

/// A table, its columns and its key columns, and its number of rows.
struct Table {
    name: &'static str,
    columns: Vec<String>,
    key: Vec<String>,
    rows: i64,
}

impl Table {
    fn of(database: &Connection, name: &'static str) -> Table {
        let names = |condition: &str| -> Vec<String> {
            let select = format!("select name from pragma_table_info('{name}') where {condition}");
            let mut statement = database.prepare(&select).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let count = format!("select count(*) from {name}");
        let rows = database.query_row(&count, [], |row| row.get(0)).unwrap();
        Table { name, columns: names("true"), key: names("pk > 0"), rows }
    }

    /// A condition that holds for some rows.
    fn condition(&self, order: &str, limit: usize, offset: usize) -> String {
        let (name, key) = (self.name, self.key.join(", "));
        format!("({key}) in (select {key} from {name} order by {order} limit {limit} offset {offset})")
    }

    fn one(&self, dice: &mut Dice) -> String {
        self.condition(&self.key.join(", "), 1, dice.below(self.rows as usize))
    }

    /// A statement that deletes, cuts, copies, swaps or changes rows.
    fn statement(&self, dice: &mut Dice) -> String {
        let (name, one) = (self.name, self.one(dice));
        match dice.below(6) {
            0 => format!("delete from {name} where {one}"),
            1 => {
                let newest = format!("{} desc", self.key.join(" desc, "));
                format!("delete from {name} where {}", self.condition(&newest, 1 + dice.below(3), 0))
            }
            // An additional row there is the head of nothing.
            2 if name != "kette" => self.copy(&one),
            3 => self.swap(&one, &self.one(dice)),
            _ => {
                let column = &self.columns[dice.below(self.columns.len())];
                let value = self.value(column, dice);
                format!("update {name} set {column} = {value} where {one}")
            }
        }
    }

    /// Copies a row, with the next number.
    fn copy(&self, one: &str) -> String {
        let (name, last) = (self.name, &self.key[self.key.len() - 1]);
        let value = |column: &String| match column == last {
            true => format!("(select max({last}) + 1 from {name})"),
            false => column.clone(),
        };
        let values = self.columns.iter().map(value).collect::<Vec<_>>().join(", ");
        format!("insert into {name} select {values} from {name} where {one}")
    }

    /// Swaps two rows, except for their keys.
    fn swap(&self, one: &str, other: &str) -> String {
        let own = self.columns.iter().filter(|column| !self.key.contains(column)).cloned();
        let (name, own) = (self.name, own.collect::<Vec<_>>().join(", "));
        format!(
            "create temp table a as select {own} from {name} where {one};
             create temp table b as select {own} from {name} where {other};
             update {name} set ({own}) = (select * from b) where {one};
             update {name} set ({own}) = (select * from a) where {other}"
        )
    }

    fn value(&self, column: &str, dice: &mut Dice) -> String {
        match dice.below(5) {
            0 => "null".to_owned(),
            1 => format!("{column} + 1"),
            2 => format!("cast(substr({column}, 2) as blob)"),
            3 => format!("(select {column} from {} where {})", self.name, self.one(dice)),
            _ => format!(
                "case typeof({column}) when 'blob' then randomblob(length({column}))
                 when 'text' then {column} || 'x' else {} end",
                dice.below(1000)
            ),
        }
    }
}

/// Runs a statement without the triggers, which are restored afterwards; returns whether it ran and changed something.
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

/// Drops, alters or duplicates a row of the log, and lets the program rewrite the later ones with their
/// checksums and their head, without the secret.
fn rewritten(folder: &Folder, dice: &mut Dice) -> String {
    let database = folder.database();
    let days: i64 = database.query_row("select count(*) from audit_tag", [], |row| row.get(0)).unwrap();
    let tag = format!("select tag from audit_tag order by tag limit 1 offset {}", dice.below(days as usize));
    let tag: i64 = database.query_row(&tag, [], |row| row.get(0)).unwrap();
    let last: i64 =
        database.query_row("select max(lfd_nr) from audit where tag = ?1", [tag], |row| row.get(0)).unwrap();
    let from = 1 + dice.below(last as usize);
    let select =
        "select am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, code, dauer_us,
        bytes_ein, bytes_aus, subjekt, anzahl from audit where tag = ?1 and lfd_nr >= ?2 order by lfd_nr";
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
