//! Storing what was read: all of it in one transaction, or part by part.

use std::fmt::{Display, Formatter};
use std::time::{Duration, Instant as Moment};

use rusqlite::{Connection, TransactionBehavior};
use serde::Serialize;

use super::check::{Mistake, Mistakes};
use super::file::Rows;
use super::{ImportKind, Upserted};
use crate::db::TenantId;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::http::json::Json;
use crate::rules::day::Instant;
use crate::rules::deed::tally;
use crate::rules::error::Hints;

/// Rows above which an import must be taken in parts, so that nobody at the scale waits long.
pub const MAX_ROWS: usize = 20_000;

/// Pause between two parts.
const PAUSE: Duration = Duration::from_millis(200);

/// Most rows of one part.
const PART: usize = 5_000;

/// How long a part holds the writer, its commit not counted.
const PART_TIME: Duration = Duration::from_millis(300);

#[derive(Debug, Default, Clone, Serialize)]
pub struct Counts {
    pub created: usize,
    pub changed: usize,
    pub unchanged: usize,
}

/// Why something was not stored.
pub enum Stop {
    /// It is wrong; others may be, too.
    Refused(Mistake),
    Failed(Failure),
}

/// Why an import ended before its end.
pub enum Why {
    Mistakes(Mistakes),
    /// Somebody does not want it any more.
    GivenUp,
    Failed(Failure),
}

/// An import that ended before its end, and how many of its rows were stored and stay.
pub struct Unfinished {
    pub why: Why,
    /// Rows that stay.
    pub kept: usize,
    pub rows: usize,
}

/// What is to be stored: groups of rows, each of them at once.
pub struct Work<'w> {
    pub groups: usize,
    pub size: &'w dyn Fn(usize) -> usize,
    /// What came before an error stays.
    pub in_parts: bool,
    pub dry_run: bool,
}

pub trait Watching {
    /// So many rows more were looked at.
    fn has_stored(&self, rows: usize);
    fn is_given_up(&self) -> bool;
    /// Writes down what a transaction stores, within it.
    fn note(&self, connection: &Connection, stored: &Counts) -> Result<()>;
}

/// Stores what belongs together, all of it or part by part; what it came to. `store` stores a group within a
/// transaction.
pub fn store_parts(
    connection: &mut Connection,
    work: &Work<'_>,
    watching: &impl Watching,
    hints: &mut Hints,
    store: impl Fn(&Connection, usize, &mut Hints) -> std::result::Result<Counts, Stop>,
) -> std::result::Result<Counts, Unfinished> {
    let mut counts = Counts::default();
    let rows = (0..work.groups).map(work.size).sum();
    let mut next = 0;
    loop {
        let kept = if work.dry_run { 0 } else { counts.sum() };
        let unfinished = |why| Unfinished { why, kept, rows };
        let part = Part { work, watching };
        let (stored, after) = part.carry_out(connection, next, hints, &store).map_err(unfinished)?;
        counts.add(&stored);
        next = after;
        if next >= work.groups {
            return Ok(counts);
        }
        if !work.dry_run {
            // Whoever waits at the scale comes first.
            std::thread::sleep(PAUSE);
        }
    }
}

struct Part<'p, W> {
    work: &'p Work<'p>,
    watching: &'p W,
}

impl<W: Watching> Part<'_, W> {
    /// Stores groups from `next` on in a transaction; what came of them, and the group that is next.
    fn carry_out(
        &self,
        connection: &mut Connection,
        next: usize,
        hints: &mut Hints,
        store: &impl Fn(&Connection, usize, &mut Hints) -> std::result::Result<Counts, Stop>,
    ) -> std::result::Result<(Counts, usize), Why> {
        let failed = |error: rusqlite::Error| Why::Failed(error.into());
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let (stored, after) = self.store(&transaction, next, hints, store)?;
        self.watching.note(&transaction, &stored).map_err(Why::Failed)?;
        if !self.work.dry_run {
            transaction.commit().map_err(failed)?;
        }
        Ok((stored, after))
    }

    /// Stores all groups, or as many as a part takes. A mistake does not end it, so that others are named too; the
    /// transaction must not be kept then.
    fn store(
        &self,
        connection: &Connection,
        mut next: usize,
        hints: &mut Hints,
        store: &impl Fn(&Connection, usize, &mut Hints) -> std::result::Result<Counts, Stop>,
    ) -> std::result::Result<(Counts, usize), Why> {
        let mut counts = Counts::default();
        let mut mistakes = Mistakes::default();
        let began = Moment::now();
        while next < self.work.groups && !mistakes.is_full() {
            if self.watching.is_given_up() {
                return Err(Why::GivenUp);
            }
            match store(connection, next, hints) {
                Ok(stored) => counts.add(&stored),
                Err(Stop::Refused(mistake)) => mistakes.add(mistake),
                Err(Stop::Failed(failure)) => return Err(Why::Failed(failure)),
            }
            self.watching.has_stored((self.work.size)(next));
            next += 1;
            if self.work.in_parts && (counts.sum() >= PART || began.elapsed() >= PART_TIME) {
                break;
            }
        }
        if mistakes.is_empty() { Ok((counts, next)) } else { Err(Why::Mistakes(mistakes)) }
    }
}

/// Whose rows are stored, when, and who stores them, as histories say it; none is the command line.
pub struct Storing<'s> {
    pub tenant: TenantId,
    pub now: Instant,
    pub who: Option<&'s str>,
}

impl Storing<'static> {
    /// Rows that a command stores.
    pub fn by_command(tenant: TenantId, now: Instant) -> Storing<'static> {
        Storing { tenant, now, who: None }
    }
}

/// Stores rows that belong together, within a transaction.
pub fn store_group(
    connection: &Connection,
    Storing { tenant, now, who }: Storing<'_>,
    kind: ImportKind,
    rows: &Rows<'_>,
    group: &[usize],
    hints: &mut Hints,
) -> std::result::Result<Counts, Stop> {
    let read: Vec<Json<'_>> = group.iter().map(|at| rows.row(*at)).collect();
    let tx = Tx::new(connection, tenant, now);
    let store = |tx: &WriteTx<'_>| Ok(kind.store(tx, &read.iter().collect::<Vec<_>>(), &mut rows.at(hints)));
    let stored = WriteTx::carry_out(tx, who, store).map_err(Stop::Failed)?;
    let stored = stored.map_err(|(at, failure)| match (failure, read.get(at)) {
        (Failure::Refused(refusal), Some(row)) => {
            Stop::Refused(Mistake::of_row(group.get(at).map_or(0, |at| rows.line(*at)), row, &refusal))
        }
        (failure, _) => Stop::Failed(failure),
    })?;
    Ok(Counts::of(&stored))
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&tally(self.numbers()))
    }
}

impl Counts {
    /// What the log says of them: created, changed, unchanged.
    pub fn numbers(&self) -> [usize; 3] {
        [self.created, self.changed, self.unchanged]
    }

    fn add(&mut self, other: &Counts) {
        self.created += other.created;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
    }

    fn sum(&self) -> usize {
        self.created + self.changed + self.unchanged
    }

    pub fn of(upserted: &[Upserted]) -> Counts {
        let mut counts = Counts::default();
        for one in upserted {
            match one {
                Upserted::Created => counts.created += 1,
                Upserted::Changed => counts.changed += 1,
                Upserted::Unchanged => counts.unchanged += 1,
            }
        }
        counts
    }
}
