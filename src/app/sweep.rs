//! What is dropped when it is old enough, a little at a time, so that nobody who writes has to wait.

use rusqlite::Connection;

use crate::db::batch::{Batch, Ended, Job};
use crate::db::readers::{Lane, Readers};
use crate::db::writer::WriterQueue;
use crate::db::{TenantId, feed, log};
use crate::failure::Result;
use crate::gate::idempotency;
use crate::rules::day::Instant;
use crate::tenants;

struct Kept {
    what: &'static str,
    days: i64,
    /// Drops some of what a company has from before an instant; how many.
    drop_some: fn(&Connection, TenantId, Instant) -> Result<usize>,
}

/// Changes for pollers (D28), and answers to requests that may come again (D19).
static KEPT: [Kept; 2] = [
    Kept { what: "changes", days: feed::DAYS, drop_some: feed::drop_some },
    Kept { what: "stored answers", days: idempotency::DAYS, drop_some: idempotency::drop_some },
];

pub fn begin(readers: &Readers, writer: &WriterQueue, now: Instant) {
    let tenants = match readers.read(Lane::Slow, tenants::list) {
        Ok(tenants) => tenants,
        Err(failure) => return log(&format!("nothing old was dropped: {failure}")),
    };
    for (tenant, kept) in tenants.iter().flat_map(|tenant| KEPT.iter().map(move |kept| (tenant.id, kept))) {
        let before = Instant::from_millis(now.millis() - kept.days * Instant::MILLIS_PER_DAY);
        writer.submit(Box::new(Sweep { tenant, kept, before, writer: writer.clone(), dropped: 0 }));
    }
}

/// Drops some of a company, and comes again while there is more.
struct Sweep {
    tenant: TenantId,
    kept: &'static Kept,
    /// The first instant from which it is kept.
    before: Instant,
    writer: WriterQueue,
    dropped: usize,
}

impl Job for Sweep {
    fn run(&mut self, batch: &Batch<'_>) {
        let dropped = batch.apart(|connection| (self.kept.drop_some)(connection, self.tenant, self.before));
        self.dropped = dropped.unwrap_or_else(|failure| {
            log(&format!("old {} were not dropped: {failure}", self.kept.what));
            0
        });
    }

    fn finish(self: Box<Self>, ended: Ended) {
        if ended == Ended::Committed && self.dropped > 0 {
            let writer = self.writer.clone();
            writer.submit(self);
        }
    }
}
