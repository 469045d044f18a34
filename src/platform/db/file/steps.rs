//! Work that is done a little at a time, so that nobody who writes has to wait.

use crate::platform::db::log;
use crate::platform::db::writer::WriterQueue;
use crate::platform::db::writer::batch::{Batch, Ended};
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::Result;

/// Has the writer take steps, each in a batch, until one says that nothing is left. A step begins where the one before
/// got to; one that is undone with its batch ends them. `failed` is what the log says of a failure, which ends them, too.
pub fn begin<P: Copy + Send + 'static>(
    writer: &WriterQueue,
    failed: String,
    place: P,
    step: impl Fn(&Batch<'_>, P) -> Result<Option<P>> + Clone + Send + 'static,
) {
    let (again, next_step) = (writer.clone(), step.clone());
    writer.submit(
        QueueKey::house(),
        0,
        move |batch| step(batch, place),
        move |next, ended| match (next, ended) {
            (Some(Err(failure)), _) => log(&format!("{failed}: {failure}")),
            (Some(Ok(Some(next))), Ended::Committed) => begin(&again, failed, next, next_step),
            _ => {}
        },
    );
}
