//! Hands requests that cannot be answered in place to the slow lane or to the writer. Requests with a key and
//! those of a session take the same ways.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::platform::db::writer::batch::{Batch, Ended};
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::{Failure, Result, unpanicked};
use crate::platform::gate::Gate;

impl Gate {
    /// Runs a read on the slow lane when it is the queue key's turn.
    pub async fn slowly<T: Send + 'static>(
        &self,
        account: QueueKey,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.metrics.count_slow();
        let too_many = || Failure::Busy("too many long reads wait".into());
        let stops = || Failure::Busy("the service stops".into());
        let _turn = self.turns.wait(account).ok_or_else(too_many)?.await.map_err(|_| stops())?;
        let (tell, told) = oneshot::channel();
        let work = move || drop(tell.send(unpanicked(|| Ok(read()))));
        if !self.readers.submit_slow(work) {
            return Err(stops());
        }
        told.await.unwrap_or_else(|_| Err(stops()))
    }

    /// Hands `run` to the writer under a queue key. The future yields the outcome once the batch is on the
    /// disk; after a commit, requests that wait for a change of the tenant are woken. `bytes` counts towards
    /// the size of the batch.
    pub fn write<T, R>(
        self: &Arc<Gate>,
        account: QueueKey,
        bytes: usize,
        run: R,
    ) -> impl Future<Output = Result<T>> + use<T, R>
    where
        T: Send + 'static,
        R: FnMut(&Batch<'_>) -> Result<T> + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        let (gate, firma) = (Arc::clone(self), account.firma);
        self.writer.submit(account, bytes, run, move |done, ended| {
            let result = match (done, ended) {
                (Some(Ok(done)), Ended::Committed) => {
                    gate.waiters.notify(firma);
                    Ok(done)
                }
                (Some(Ok(_)), Ended::Unknown) => Err(Failure::OutcomeUnknown),
                (Some(Err(failure)), Ended::Committed) => Err(failure),
                _ => Err(Failure::Busy("this write was not carried out".into())),
            };
            // The client may have hung up; its write is committed all the same.
            drop(tell.send(result));
        });
        async { told.await.unwrap_or_else(|_| Err(Failure::Busy("the writer is gone".into()))) }
    }
}
