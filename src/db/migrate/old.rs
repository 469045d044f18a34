//! Databases from before 1.0. They were made by eighteen migrations (`src/db/migrate/before`), which are one document now
//! (`migrations/V1__schema.sql`).
//!
//! Such a database is brought to the last of the eighteen, compared with what the document makes, and takes over the
//! document's statements and its row in the history of migrations, all in the transaction of the upgrade. The
//! comparison leaves out comments and blanks, which the document has others of; no row of a table is touched.

use std::path::Path;

use refinery::{Migration, Runner, Target};
use rusqlite::Connection;

use super::runner::{Within, in_order, not_migrated};
use super::schema::{Part, made_by, refuse_difference, schema};
use crate::failure::Result;

mod embedded {
    refinery::embed_migrations!("src/db/migrate/before");
}

/// The first of the eighteen; the document has the same number and another name.
const FIRST: (i64, &str) = (1, "grundlage");

/// A version that no migration has. partnerd before 1.0 takes the largest version in the history for that of the
/// database, and refuses one above 18 as newer: with the document's number alone it would take it for older.
pub const ABOVE_ALL: i64 = 1_000;

/// The eighteen migrations.
pub fn migrations() -> Vec<Migration> {
    in_order(&embedded::migrations::runner())
}

/// Whether a database with these applied migrations is from before the document.
pub fn is_old(applied: &[(i64, String)]) -> bool {
    applied.first().is_some_and(|(version, name)| (*version, name.as_str()) == FIRST)
}

/// Makes a database that has all of the eighteen one that has the document, or refuses it.
pub fn fold(connection: &Connection, document: &Migration, path: &Path) -> Result<()> {
    let document = std::slice::from_ref(document);
    let (live, fresh) = (schema(connection)?, made_by(document)?);
    refuse_difference(&compared(&live), &compared(&fresh), path)?;
    // Later migrations and comparisons find the same text in every database.
    connection.execute_batch("pragma writable_schema = on")?;
    let rewrite = "update sqlite_schema set sql = ?2 where type || ' ' || name = ?1";
    fresh.iter().try_for_each(|part| connection.execute(rewrite, [&part.0, &part.1]).map(drop))?;
    // Reads the schema anew.
    connection.execute_batch("pragma writable_schema = reset; delete from refinery_schema_history")?;
    let noted = Runner::new(document).set_target(Target::Fake).run(&mut Within::fresh(connection));
    noted.map(drop).map_err(not_migrated)
}

/// Lets partnerd before 1.0 refuse the database, see [`ABOVE_ALL`].
pub fn keep_older_away(connection: &Connection) -> Result<()> {
    connection.execute(
        "insert or ignore into refinery_schema_history (version, name, applied_on, checksum)
         select ?1, 'not_for_partnerd_before_1_0', applied_on, '0' from refinery_schema_history where version = 1",
        [ABOVE_ALL],
    )?;
    Ok(())
}

fn compared(schema: &[Part]) -> Vec<(String, Vec<&str>)> {
    schema.iter().map(|(name, sql)| (name.clone(), words(sql))).collect()
}

/// Words, strings and signs of a statement; no blanks, no comments, no quotes around a name.
fn words(sql: &str) -> Vec<&str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            _ if is_word(first) => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        if !word.starts_with("--") && !first.is_whitespace() {
            words.push(word.trim_matches('"'));
        }
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_quoted_names_make_no_difference_and_all_else_does() {
        let is_same = |one: &str, other: &str| words(one) == words(other);
        for (one, other) in [
            ("create table t (a, b)", "create table \"t\" (\n  a, -- it's a\n  b -- the last\n)"),
            ("check (a='x')", "check ( a = 'x' ) -- to the end"),
        ] {
            assert!(is_same(one, other), "{one} and {other}");
        }
        for (one, other) in [
            ("(a integer, b text)", "(b text, a integer)"),
            ("check (a = 'x y')", "check (a = 'xy')"),
            ("check (a = '--x')", "check (a = '--y')"),
            ("(a integer not null)", "(a integer)"),
            ("on t (a desc)", "on t (a)"),
            ("where a is not null", ""),
            ("default ''", "default ' '"),
        ] {
            assert!(!is_same(one, other), "{one} and {other}");
        }
    }
}
