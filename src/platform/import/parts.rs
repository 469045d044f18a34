//! Stores imported rows: all in one transaction, or part by part.

use std::fmt::{Display, Formatter};
use std::ops::Range;
use std::time::{Duration, Instant as Moment};

use serde::Serialize;

use super::check::{Mistake, Mistakes};
use super::file::Rows;
use super::{Import, Upserted};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Failure;
use crate::platform::http::json::Json;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::rules::error::{Code, HintCode, Hints, Refusal};

/// Rows above which a command-line import must be split into parts, so that nobody at the scale waits long.
pub const ROWS_AT_ONCE_MAX: usize = 20_000;

const PAUSE_BETWEEN_PARTS: Duration = Duration::from_millis(200);

/// Maximum rows of one part. The web page stores no more at once.
pub const PART_ROWS_MAX: usize = 5_000;

/// How long a part may hold the writer, excluding its commit.
const PART_TIME_MAX: Duration = Duration::from_millis(300);

/// The log field with the first and last row of the feed of changes (D28) that an import wrote: nobody else
/// wrote in between.
pub const FEED_ROWS: &str = "feed";

/// The message after refusing an import that is all or nothing.
pub const NOTHING_STORED: &str = "Es wurde nichts gespeichert.";

#[derive(Debug, Default, Clone, Serialize)]
pub struct Counts {
    pub created: usize,
    pub changed: usize,
    pub unchanged: usize,
}

/// Why a group of rows was not stored, or an import ended early.
pub enum Stop<M = Box<Mistake>> {
    /// It is wrong; further groups are still tried, to report their mistakes, too.
    Refused(M),
    /// The user cancelled it.
    GivenUp,
    Failed(Failure),
}

/// An import that ended early, and how many of its rows stay stored.
pub struct Unfinished {
    pub why: Stop<Mistakes>,
    pub kept: usize,
}

/// The result of one transaction.
pub struct Part {
    pub counts: Counts,
    pub next: usize,
}

/// Stores groups of rows, all at once or part by part, and returns the counts. `store_part` stores the groups
/// from an index on, in a transaction of its own.
pub fn store_parts(
    groups: usize,
    dry_run: bool,
    mut store_part: impl FnMut(usize) -> std::result::Result<Part, Stop<Mistakes>>,
) -> std::result::Result<Counts, Unfinished> {
    let mut counts = Counts::default();
    let mut next = 0;
    loop {
        let kept = if dry_run { 0 } else { counts.sum() };
        let part = store_part(next).map_err(|why| Unfinished { why, kept })?;
        counts.add(&part.counts);
        next = part.next;
        if next >= groups {
            return Ok(counts);
        }
        if !dry_run {
            // Requests waiting at the scale go first.
            std::thread::sleep(PAUSE_BETWEEN_PARTS);
        }
    }
}

/// Stores these groups within a transaction: all of them, or as many as fit into a part. Continues after a
/// mistake to report further ones; the transaction must then be rolled back.
pub fn store_part(
    groups: Range<usize>,
    in_parts: bool,
    mut store: impl FnMut(usize) -> std::result::Result<Counts, Stop>,
) -> std::result::Result<Part, Stop<Mistakes>> {
    let mut counts = Counts::default();
    let mut mistakes = Mistakes::default();
    let mut next = groups.start;
    let began = Moment::now();
    while next < groups.end && !mistakes.is_full() {
        match store(next) {
            Ok(stored) => counts.add(&stored),
            Err(Stop::Refused(mistake)) => mistakes.add(*mistake),
            Err(Stop::GivenUp) => return Err(Stop::GivenUp),
            Err(Stop::Failed(failure)) => return Err(Stop::Failed(failure)),
        }
        next += 1;
        if in_parts && (counts.sum() >= PART_ROWS_MAX || began.elapsed() >= PART_TIME_MAX) {
            break;
        }
    }
    if mistakes.is_empty() { Ok(Part { counts, next }) } else { Err(Stop::Refused(mistakes)) }
}

/// Stores rows that belong together, within a transaction; returns the outcome of each. `who` is the author
/// for the histories; `None` is the command line.
pub fn store_group<'c>(
    tx: Tx<'c>,
    who: Option<&'c str>,
    kind: &Import,
    rows: &Rows,
    group: &[usize],
    hints: &mut Hints,
) -> std::result::Result<Vec<Upserted>, Stop> {
    let read: Vec<Json<'_>> = group.iter().map(|at| rows.row(*at)).collect();
    let mut found = Hints::default();
    let store = |tx: &WriteTx<'_>| {
        Ok(kind.of_file(rows).store(tx, &read.iter().collect::<Vec<_>>(), &mut rows.at(&mut found)))
    };
    let stored = WriteTx::carry_out(tx, who, store).map_err(Stop::Failed)?;
    hints.extend(match (group, read.as_slice()) {
        ([at], [row]) => placed(found, rows, *at, row),
        _ => found,
    });
    stored.map_err(|(at, failure)| match (failure, read.get(at)) {
        (Failure::Refused(refusal), Some(row)) => {
            let at = group.get(at).copied().unwrap_or_default();
            Stop::Refused(Box::new(Mistake::of_row(rows, at, row, &refusal)))
        }
        (failure, _) => Stop::Failed(failure),
    })
}

/// Returns the hints of a row; a hint about a doubtful value names its cell.
fn placed(found: Hints, rows: &Rows, at: usize, row: &Json<'_>) -> Hints {
    found.placed(HintCode::WertFraglich, |feld| {
        Mistake::of_row(rows, at, row, &Refusal::field(Code::WertUngueltig, feld, "")).place_in_words()
    })
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} neu, {} geändert, {} unverändert", self.created, self.changed, self.unchanged)
    }
}

impl Counts {
    /// Creates the log event for an import of this kind and file. `feed` holds the numbers of the newest feed
    /// row before and after the transaction.
    pub fn event(&self, kind: &str, file: String, feed: (i64, i64)) -> AdminEvent {
        let counts = [("created", self.created), ("changed", self.changed), ("unchanged", self.unchanged)];
        let counts = counts.map(|(name, count)| (name, count.to_string()));
        let rows = (feed.1 > feed.0).then(|| (FEED_ROWS, format!("{}-{}", feed.0 + 1, feed.1)));
        let fields = counts.into_iter().chain(rows).filter_map(|(name, value)| Changed::of(name, "", value));
        AdminEvent::new(AdminAction::Importiert, Art::Import).id(kind).name(file).changing(fields)
    }

    fn add(&mut self, other: &Counts) {
        self.created += other.created;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
    }

    pub fn sum(&self) -> usize {
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
