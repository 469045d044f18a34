//! Random statements against protected rows.

use rusqlite::Connection;

use super::{Kept, texts};
use crate::dice::Dice;

/// A targeted row is among this many first ones.
const FIRST: usize = 6;

/// The conflict clause of an insert or update.
const CONFLICTS: &[&str] = &["", "or replace", "or ignore", "or fail", "or rollback"];

/// A table with protected rows.
pub struct Target {
    kept: &'static Kept,
    columns: Vec<String>,
    /// Its key columns, separated by commas.
    key: String,
}

impl Target {
    pub fn of(database: &Connection, kept: &'static Kept) -> Target {
        let select = format!(
            "select name from pragma_table_info('{}') where pk > 0 or name in ('tenant_id', 'id')",
            kept.table
        );
        Target { kept, columns: kept.columns(database), key: texts(database, &select).join(", ") }
    }

    /// A condition that selects one of these rows.
    fn one(&self, dice: &mut Dice, rows: &str) -> String {
        let Target { kept: Kept { table, .. }, key, .. } = self;
        let offset = dice.below(FIRST);
        format!("({key}) in (select {key} from {table} where {rows} order by {key} limit 1 offset {offset})")
    }

    pub fn statement(&self, dice: &mut Dice) -> String {
        let Target { kept: Kept { table, rows, .. }, columns, key } = self;
        let own = if dice.once_in(8) { (*rows).to_owned() } else { self.one(dice, rows) };
        let any = self.one(dice, "true");
        let column = &columns[dice.below(columns.len())];
        let value = self.value(column, &any, dice);
        let (or, all) = (CONFLICTS[dice.below(CONFLICTS.len())], columns.join(", "));
        match dice.below(9) {
            0 => format!("delete from {table} where {own}"),
            1 => format!("insert or replace into {table} {} where {own}", self.selected(column, &value)),
            2 => format!("insert {or} into {table} {} where {any}", self.selected(column, &value)),
            3 => {
                let update = format!("on conflict do update set {column} = {value}");
                format!("insert into {table} select * from {table} where {own} {update}")
            }
            4 => {
                // Gives the key of a protected row to another one.
                let taken = format!("(select {key} from {table} where {own} limit 1)");
                format!("update or replace {table} set ({key}) = {taken} where {any}")
            }
            5 => {
                let other = format!("(select {all} from {table} where {any})");
                format!("update {or} {table} set ({all}) = {other} where {own}")
            }
            _ => format!("update {or} {table} set {column} = {value} where {own}"),
        }
    }

    /// Rows with another value in one column.
    fn selected(&self, column: &str, value: &str) -> String {
        let values = self.columns.iter().map(|name| if name == column { value } else { name });
        format!("select {} from {}", values.collect::<Vec<_>>().join(", "), self.kept.table)
    }

    fn value(&self, column: &str, any: &str, dice: &mut Dice) -> String {
        match dice.below(7) {
            0 => "null".to_owned(),
            1 => format!("{column} + 1"),
            2 => "randomblob(16)".to_owned(),
            3 => "'offen'".to_owned(),
            4 => format!("{column} || 'x'"),
            5 => format!("cast({column} as text)"),
            _ => format!("(select o.{column} from {} o where {any} limit 1)", self.kept.table),
        }
    }
}
