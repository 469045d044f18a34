//! The daily limit of a key (D20): a number of requests per UTC day, counted exactly, even across a kill -9.
//!
//! Every request is counted in memory before it is answered. The audit log, which has a row for each answered
//! request, survives the process: at startup the day's count is taken from it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use rusqlite::{Connection, params};

use crate::platform::failure::{Result, locked};
use crate::platform::http::call::Caller;
use crate::platform::http::reply::Reply;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// Requests of a key per UTC day, unless the key has its own limit (specification, Limits).
pub const DAILY_LIMIT: u32 = 10_000;

/// Days that are remembered: those nearest to today, whichever way the clock jumps.
const DAYS_REMEMBERED: usize = 3;

/// Refusals of a key per day that get an audit row each.
const REFUSALS_LISTED: u32 = 10_000;

/// What a key has left today, as shown in every answer to a request with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Requests refused beyond the limit so far.
    refused: u32,
    limit: u32,
    remaining: u32,
    /// Seconds until 00:00 UTC.
    reset: i64,
    exceeded: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    requests: u32,
    refused: u32,
    last: i64,
    /// Changed since it was last written to the database.
    unsaved: bool,
}

#[derive(Default)]
pub struct Quota {
    days: Mutex<BTreeMap<i64, HashMap<String, Use>>>,
}

impl Quota {
    /// Counts the day from the audit log, once, before the first request is answered: all requests that
    /// passed the key check and were not refused for their quota. The audit row of a 401 also names a
    /// deactivated or expired key.
    pub fn load(&self, connection: &Connection, now: Instant) -> Result<()> {
        let day = now.utc_day();
        // Grouped here: SQLite would first sort all rows of the day in memory.
        let mut statement = connection.prepare(
            "select key_id, am from audit where tag = ?1 and key_id is not null and status not in (401, 429)",
        )?;
        let mut rows = statement.query([day])?;
        let mut keys = HashMap::<String, Use>::new();
        while let Some(row) = rows.next()? {
            let key = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let last: i64 = row.get(1)?;
            let entry = match keys.get_mut(key) {
                Some(entry) => entry,
                None => keys.entry(key.to_owned()).or_default(),
            };
            let requests = entry.requests.saturating_add(1);
            *entry = Use { requests, refused: 0, last: entry.last.max(last), unsaved: true };
        }
        locked(&self.days).insert(day, keys);
        Ok(())
    }

    /// Counts a request of a key. Refused requests do not count (D20).
    pub fn take(&self, caller: &Caller, now: Instant) -> Allowance {
        let mut days = locked(&self.days);
        let day = now.utc_day();
        let entry = days.entry(day).or_default().entry(caller.key_id.clone()).or_default();
        let exceeded = entry.requests >= caller.daily_limit;
        if exceeded {
            entry.refused = entry.refused.saturating_add(1);
        } else {
            *entry = Use { requests: entry.requests + 1, last: now.millis(), unsaved: true, ..*entry };
        }
        let refused = entry.refused;
        let remaining = caller.daily_limit.saturating_sub(entry.requests);
        while days.len() > DAYS_REMEMBERED {
            // The clock may have been set back: the most distant day is forgotten.
            let furthest = days.keys().copied().max_by_key(|other| other.abs_diff(day));
            furthest.map(|furthest| days.remove(&furthest));
        }
        // Rounded up, so that a client that waits this long arrives on the next day.
        let reset = (now.millis_to_next_utc_day() + 999) / 1_000;
        Allowance { refused, limit: caller.daily_limit, remaining, reset, exceeded }
    }

    pub fn is_unsaved(&self) -> bool {
        locked(&self.days).values().flat_map(HashMap::values).any(|entry| entry.unsaved)
    }

    /// Writes the use of each key to the database, from where `key list` reads it.
    pub fn save(&self, connection: &Connection) -> Result<()> {
        let mut unsaved = Vec::new();
        for (day, keys) in locked(&self.days).iter_mut() {
            for (key, entry) in keys.iter_mut().filter(|(_, entry)| entry.unsaved) {
                entry.unsaved = false;
                unsaved.push((key.clone(), *day, *entry));
            }
        }
        let mut statement = connection.prepare_cached(
            "insert into api_key_nutzung (key_id, tag, anfragen, zuletzt_am)
             select ?1, ?2, ?3, ?4 where exists (select 1 from api_key where id = ?1)
             on conflict (key_id) do update set tag = ?2, anfragen = ?3, zuletzt_am = ?4
               where ?2 >= tag",
        )?;
        for (key, day, entry) in unsaved {
            statement.execute(params![key, day, entry.requests, entry.last])?;
        }
        Ok(())
    }
}

impl Allowance {
    /// Returns this allowance with the remaining requests of a later one.
    pub fn left_by(self, later: Allowance) -> Allowance {
        Allowance { remaining: later.remaining, ..self }
    }

    pub fn check(self) -> Result<()> {
        if !self.exceeded {
            return Ok(());
        }
        let message = format!(
            "Der Schlüssel hat heute schon {} Anfragen gestellt. Ab 00:00 UTC geht es weiter.",
            self.limit
        );
        Err(Refusal::new(Code::TageslimitErreicht, message).into())
    }

    /// Whether a client keeps sending beyond its limit: then its requests are counted, no longer listed.
    pub fn is_flood(self) -> bool {
        self.exceeded && self.refused > REFUSALS_LISTED
    }

    /// Adds the remaining requests to the answer; a refusal also says when to retry.
    pub fn shown_in(self, reply: Reply) -> Reply {
        let reply = reply
            .with("x-ratelimit-limit", self.limit.to_string())
            .with("x-ratelimit-remaining", self.remaining.to_string())
            .with("x-ratelimit-reset", self.reset.to_string());
        if self.exceeded { reply.with("retry-after", self.reset.to_string()) } else { reply }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_whichever_way_the_clock_jumps() {
        let quota = Quota::default();
        let caller = Caller {
            key_id: "k".to_owned(),
            tenant: 1,
            scopes: Default::default(),
            daily_limit: 5,
            strictness: Default::default(),
            test: false,
        };
        for day in [10, 11, 12, 13, 2, 40, 2, 13] {
            let now = Instant::from_millis(day * Instant::MILLIS_PER_DAY);
            let allowed = (0..20).filter(|_| quota.take(&caller, now).check().is_ok()).count();
            assert!(allowed <= 5, "day {day}: {allowed}");
        }
    }
}
