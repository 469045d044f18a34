//! Long work done in small steps, so that no other write has to wait for it.

use crate::platform::db::log;
use crate::platform::db::writer::WriterQueue;
use crate::platform::db::writer::batch::{Batch, Ended};
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::Result;

/// Runs `step` on the writer, one batch per step, from `place` until a step returns `None`. Each step starts
/// where the previous one stopped. A failure or a rolled-back batch ends the work; `failed` prefixes the
/// failure in the log.
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
