//! Work that is done a little at a time, so that nobody who writes has to wait.

use super::batch::{Batch, Ended, Job};
use super::log;
use super::writer::WriterQueue;
use crate::failure::Result;

/// Has the writer take steps, each in a batch, until one says that nothing is left. A step begins where the one before
/// got to; one that is undone with its batch is taken again. `failed` is what the log says of a failure, which ends it.
pub fn begin<P, S>(writer: &WriterQueue, failed: String, place: P, step: S)
where
    P: Copy + Send + 'static,
    S: Fn(&Batch<'_>, P) -> Result<Option<P>> + Send + 'static,
{
    writer.submit(Box::new(Steps { writer: writer.clone(), failed, place, next: None, step }));
}

struct Steps<P, S> {
    writer: WriterQueue,
    failed: String,
    place: P,
    next: Option<P>,
    step: S,
}

impl<P: Copy + Send + 'static, S> Job for Steps<P, S>
where
    S: Fn(&Batch<'_>, P) -> Result<Option<P>> + Send + 'static,
{
    fn run(&mut self, batch: &Batch<'_>) {
        let next = (self.step)(batch, self.place);
        self.next =
            next.inspect_err(|failure| log(&format!("{}: {failure}", self.failed))).unwrap_or_default();
    }

    fn finish(mut self: Box<Self>, ended: Ended) {
        if let (Ended::Committed, Some(next)) = (ended, self.next) {
            self.place = next;
            self.writer.clone().submit(self);
        }
    }
}
