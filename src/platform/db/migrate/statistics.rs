//! The fixed statistics that SQLite's query planner uses for our tables.
//!
//! Without statistics the planner assumes that the first column of a key is selective. Ours is tenant_id,
//! which most rows share, so the planner would scan a whole tenant where an index leads straight to the row.
//! Measured statistics would make plans change with the data. So every database gets the same figures: a
//! large tenant, a few rows for each identifying value, many for states and types.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::platform::db::all;
use crate::platform::failure::Result;

const ROWS: i64 = 1_000_000;

const ROWS_OF_TENANT: i64 = 500_000;

/// Rows that share an identifying value: a customer, a document, an article.
const ROWS_OF_VALUE: i64 = 50;

/// Columns with only a few distinct values.
const KINDS: &[&str] = &["status", "beleg_typ", "schluessel", "reihe", "jahr", "art", "zahlart", "kasse_id"];

/// Table, index and figures, as in `sqlite_stat1`.
type StatisticsRow = (String, Option<String>, Option<String>);

/// Writes the figures for every index within the open transaction.
pub fn write(connection: &Connection) -> Result<()> {
    // Creates the statistics table; our figures replace the measured ones.
    connection.execute_batch("pragma analysis_limit = 1; analyze; delete from sqlite_stat1;")?;
    let mut insert = connection.prepare("insert into sqlite_stat1 (tbl, idx, stat) values (?1, ?2, ?3)")?;
    for entry in wanted(connection)? {
        insert.execute(entry)?;
    }
    Ok(())
}

/// Whether the database has exactly these figures: another program may have run `analyze`, and other versions
/// write others.
pub fn is_written(connection: &Connection) -> Result<bool> {
    let table = "select 1 from sqlite_schema where name = 'sqlite_stat1'";
    if !connection.prepare(table)?.exists([])? {
        return Ok(false);
    }
    let rows = "select tbl, idx, stat from sqlite_stat1 order by tbl, idx";
    let rows: Vec<StatisticsRow> = all(connection, rows, [], |row| row.try_into())?;
    Ok(rows == wanted(connection)?)
}

fn wanted(connection: &Connection) -> Result<Vec<StatisticsRow>> {
    let mut statement = connection.prepare(
        "select t.name, t.wr, i.name, i.\"unique\", i.origin, c.name
         from pragma_table_list t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
         where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' order by t.name, i.name, c.seqno",
    )?;
    let mut rows = statement.query([])?;
    // Uniqueness and columns of each index, by table and by its name in the statistics.
    let mut indexes = BTreeMap::<(String, String), (bool, Vec<Option<String>>)>::new();
    while let Some(row) = rows.next()? {
        let (table, index, origin) = (row.get(0)?, row.get(2)?, row.get::<_, String>(4)?);
        // The primary key of a table without rowid is the table itself.
        let name = if origin == "pk" && row.get(1)? { String::clone(&table) } else { index };
        indexes.entry((table, name)).or_insert((row.get(3)?, Vec::new())).1.push(row.get(5)?);
    }
    let entry = |((table, name), (unique, columns)): (_, (_, Vec<_>))| {
        (table, Some(name), Some(figures(&columns, unique)))
    };
    Ok(indexes.into_iter().map(entry).collect())
}

/// Rows of the table, then rows that share the first column, the first two, and so on.
fn figures(columns: &[Option<String>], unique: bool) -> String {
    let mut rows = ROWS;
    let mut figures = vec![ROWS];
    for (at, column) in columns.iter().enumerate() {
        let column = column.as_deref().unwrap_or_default();
        rows = if unique && at + 1 == columns.len() {
            1
        } else if column == "tenant_id" {
            ROWS_OF_TENANT
        } else if KINDS.contains(&column) {
            (rows / 4).max(1)
        } else {
            rows.min(ROWS_OF_VALUE * 2) / 2
        };
        figures.push(rows.max(1));
    }
    figures.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_are_large_and_keys_lead_to_few_rows() {
        let columns = |names: &[&str]| names.iter().map(|name| Some((*name).to_owned())).collect::<Vec<_>>();
        assert_eq!(figures(&columns(&["tenant_id", "id"]), true), "1000000 500000 1");
        let by_partner = columns(&["tenant_id", "kunde_id", "beleg_datum", "id"]);
        assert_eq!(figures(&by_partner, false), "1000000 500000 50 25 12");
        assert_eq!(figures(&columns(&["tenant_id", "status", "ts_erst"]), false), "1000000 500000 125000 50");
    }
}
