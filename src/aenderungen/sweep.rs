//! Changes are kept for 90 days (D28), and dropped a little at a time, so that nobody who writes has to wait.

use crate::db::batch::{Batch, Ended, Job};
use crate::db::readers::{Lane, Readers};
use crate::db::writer::WriterQueue;
use crate::db::{TenantId, feed, log};
use crate::rules::day::Instant;
use crate::tenants;

/// Days that changes are kept.
const DAYS: i64 = 90;

/// Begins to drop what is older than it must be kept.
pub fn begin(readers: &Readers, writer: &WriterQueue, now: Instant) {
    let before = Instant::from_millis(now.millis() - DAYS * Instant::MILLIS_PER_DAY);
    match readers.read(Lane::Slow, tenants::list) {
        Ok(tenants) => tenants.into_iter().for_each(|tenant| {
            writer.submit(Box::new(Sweep { tenant: tenant.id, before, writer: writer.clone(), dropped: 0 }));
        }),
        Err(failure) => log(&format!("old changes were not dropped: {failure}")),
    }
}

/// Drops some changes of a company, and comes again while there are more.
struct Sweep {
    tenant: TenantId,
    /// The first instant whose changes are kept.
    before: Instant,
    writer: WriterQueue,
    dropped: usize,
}

impl Job for Sweep {
    fn run(&mut self, batch: &Batch<'_>) {
        let dropped = batch.apart(|connection| feed::drop_some(connection, self.tenant, self.before));
        self.dropped = dropped.unwrap_or_else(|failure| {
            log(&format!("old changes were not dropped: {failure}"));
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
