//! Where requests go that cannot be answered where they are: to the slow lane, or to the writer. A key and a session
//! take the same ways.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::Gate;
use crate::db::TenantId;
use crate::db::batch::{Batch, Ended};
use crate::failure::{Failure, Result, unpanicked};

impl Gate {
    pub async fn slowly<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        self.metrics.count_slow();
        let (tell, told) = oneshot::channel();
        let work = move || drop(tell.send(unpanicked(|| Ok(read()))));
        if !self.readers.submit_slow(work) {
            return Err(Failure::Busy("too many long reads wait".into()));
        }
        told.await.unwrap_or_else(|_| Err(Failure::Busy("the service stops".into())))
    }

    /// Runs `run` in a batch of the writer and returns once the batch is on the disk. Then wakes the requests that wait for
    /// a change of `tenant`. `bytes` counts towards the size of the batch.
    pub async fn write<T: Send + 'static>(
        self: &Arc<Gate>,
        tenant: Option<TenantId>,
        bytes: usize,
        run: impl FnMut(&Batch<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let gate = Arc::clone(self);
        self.writer.submit(bytes, run, move |done, ended| {
            let result = match (done, ended) {
                (Some(Ok(done)), Ended::Committed) => {
                    tenant.iter().for_each(|tenant| gate.waiters.ring(*tenant));
                    Ok(done)
                }
                (Some(Ok(_)), Ended::Unknown) => Err(Failure::OutcomeUnknown),
                (Some(Err(failure)), Ended::Committed) => Err(failure),
                _ => Err(Failure::Busy("this write was not carried out".into())),
            };
            // A client that hung up has nobody left to tell; what was done for it is kept all the same.
            drop(tell.send(result));
        });
        told.await.unwrap_or_else(|_| Err(Failure::Busy("the writer is gone".into())))
    }
}
