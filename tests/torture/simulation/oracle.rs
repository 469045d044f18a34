//! Checks between steps: all lists, the feed, the log of requests, and the results of `partnerd check` and
//! `audit verify`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::base::{self, FIRMS};
use super::calendar::DAY;
use super::model::Row;
use super::player::Player;
use super::story::END;

/// Rows of the log are kept for 90 days.
const LOGGED_DAYS: i64 = 89;

impl Player {
    /// Compares everything that the server shows with the model.
    pub fn compare_all(&mut self) -> Result<(), String> {
        for firm in 0..FIRMS.len() {
            for list in self.model.lists(firm) {
                let found = self.list(firm, &list.path, list.rows.len())?;
                let expected = Value::Array(list.rows);
                let names = &mut self.names[firm];
                names.agrees(&expected, &found, &list.path)?;
            }
            for (path, shows) in self.model.stocks(firm) {
                let path = self.names[firm].path(&path);
                let answer = self.read(firm, &path)?;
                self.names[firm].agrees(&shows, &answer.body, &path)?;
            }
        }
        self.read_feeds()
    }

    /// Reads a list from its first to its last page, of random size.
    pub fn list(&mut self, firm: usize, path: &str, expected: usize) -> Result<Value, String> {
        let path = self.names[firm].path(path);
        if path.contains("since") || path.ends_with("dokumente") {
            return Ok(self.read(firm, &path)?.body);
        }
        let limit = if self.dice.once_in(2) { 5_000 } else { 1 + expected / (1 + self.dice.below(4)) };
        let sign = if path.contains('?') { '&' } else { '?' };
        let mut rows = Vec::new();
        loop {
            let answer = self.read(firm, &format!("{path}{sign}limit={limit}&offset={}", rows.len()))?.body;
            let page = answer["data"].as_array().or(answer.as_array()).ok_or("no list")?;
            rows.extend(page.iter().cloned());
            if page.len() < limit {
                return Ok(rows.into());
            }
        }
    }

    /// Starts reading the feed at its current end.
    pub fn begin_feed(&mut self) -> Result<(), String> {
        for firm in 0..FIRMS.len() {
            let answer = self.read(firm, "/api/v1/aenderungen")?;
            self.cursors[firm] = answer.body["cursor"].as_str().map(str::to_owned);
        }
        Ok(())
    }

    /// Compares the rows of each request, in the order of the requests; those of one request in any order.
    pub fn read_feeds(&mut self) -> Result<(), String> {
        for firm in 0..FIRMS.len() {
            let mut found = self.feed(firm)?;
            for group in std::mem::take(&mut self.model.firms[firm].feed) {
                let rest = found.split_off(group.len().min(found.len()));
                let mut rows = std::mem::replace(&mut found, rest);
                rows.sort();
                if rows != group {
                    found.truncate(3);
                    return Err(format!("feed: {rows:?}, then {found:?}\n  instead of {group:?}"));
                }
            }
            if !found.is_empty() {
                return Err(format!("feed: {found:?} beyond what happened"));
            }
        }
        Ok(())
    }

    fn feed(&mut self, firm: usize) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        loop {
            let cursor = self.cursors[firm].clone().unwrap_or_default();
            let limit = 1 + self.dice.below(500);
            let answer = self.read(firm, &format!("/api/v1/aenderungen?seit={cursor}&limit={limit}"))?;
            let page = answer.body["data"].as_array().ok_or_else(|| format!("feed: {}", answer.body))?;
            for row in page {
                rows.push(self.row(firm, row)?);
            }
            self.cursors[firm] = answer.body["cursor"].as_str().map(str::to_owned);
            if page.is_empty() {
                return Ok(rows);
            }
        }
    }

    fn row(&self, firm: usize, row: &Value) -> Result<Row, String> {
        let text = |field: &str| row[field].as_str().unwrap_or_default();
        let known = |text: &str| KNOWN.iter().find(|known| **known == text).copied();
        let read = || {
            let (kind, action) = (known(text("art"))?, known(text("aktion"))?);
            let at = text("am").parse::<jiff::Timestamp>().ok()?.as_millisecond();
            // Rows of a command have the clock of the machine, which is later than all stories.
            let at = if at > END { 0 } else { at };
            Some(Row {
                kind,
                name: self.names[firm].name(text("id"))?,
                action,
                version: row["version"].as_i64(),
                at,
            })
        };
        read().ok_or_else(|| format!("feed: {row}"))
    }

    /// Checks the files of a stopped server: each answered request is in the log once, and everything is whole.
    pub fn prove(&mut self) -> Result<(), String> {
        self.start()?;
        self.stop();
        let database = base::look(&self.folder);
        let mut statement = database.prepare("select request_id, count(*) from audit group by 1").unwrap();
        let rows = statement.query_map([], |row| Ok((row.get::<_, uuid::Uuid>(0)?.to_string(), row.get(1)?)));
        let rows: BTreeMap<String, i64> = rows.unwrap().map(Result::unwrap).collect();
        if let Some((id, count)) = rows.iter().find(|(_, count)| **count > 1) {
            return Err(format!("request {id} has {count} rows in the log"));
        }
        let kept = self.model.now - LOGGED_DAYS * DAY;
        let missing = self.answered.iter().find(|(id, at)| *at > kept && !rows.contains_key(id));
        if let Some((id, _)) = missing {
            return Err(format!("request {id} was answered and is not in the log"));
        }
        drop(statement);
        drop(database);
        for proof in [&["check"][..], &["audit", "verify"]] {
            let output = self.folder.run(proof);
            if !output.status.success() {
                let said = [output.stdout, output.stderr].concat();
                return Err(format!("{}: {}", proof.join(" "), String::from_utf8_lossy(&said)));
            }
        }
        Ok(())
    }

    /// The last check of everything.
    pub fn end(&mut self) -> Result<(), String> {
        self.compare_all()?;
        self.kill();
        self.prove()
    }
}

/// Known words of the feed.
const KNOWN: &[&str] = &[
    "kunde",
    "artikel",
    "beleg",
    "wiegung",
    "charge",
    "angelegt",
    "geaendert",
    "inaktiv",
    "abgeschlossen",
    "erledigt",
    "storniert",
    "annahmeschein",
    "produktionsauftrag",
];
