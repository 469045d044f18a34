//! A request that the writer carries out, alone or as one of many.

use super::Gate;
use super::admission::PreparedWrite;
use super::completion::Trail;
use crate::db::batch::{Batch, Ended};
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::request::Request;

/// A request that the writer carries out. The audit row of what is kept is part of it.
pub struct Carried {
    request: Request,
    trail: Trail,
    write: PreparedWrite,
    done: Option<Result<Reply>>,
}

impl Carried {
    /// One that is still to be carried out.
    pub fn new(request: Request, trail: Trail, write: PreparedWrite) -> Carried {
        Carried { request, trail, write, done: None }
    }

    /// Bytes that it brings along.
    pub fn bytes(&self) -> usize {
        self.request.body.len()
    }

    /// Carries it out within a batch.
    pub fn run(&mut self, gate: &Gate, batch: &Batch<'_>) {
        let Some(caller) = &self.trail.caller else { return };
        self.done = Some(batch.whole(caller.tenant, Some(&caller.key_id), |tx| {
            let reply = self.write.run_or_replay(tx)?;
            gate.audit_row(&self.request, &self.trail, &reply).insert(batch.connection())?;
            Ok(reply)
        }));
    }

    /// Its answer, when it is known how the batch ended.
    pub fn finish(self, gate: &Gate, ended: Ended) -> Reply {
        let Carried { request, trail, done, .. } = self;
        match (done, ended) {
            (Some(Ok(reply)), Ended::Committed) => {
                trail.caller.iter().for_each(|caller| gate.waiters.ring(caller.tenant));
                let reply = gate.reserve_anyway(reply, &trail);
                gate.finish(&request, &trail, reply)
            }
            (Some(Err(failure)), Ended::Committed) => {
                let reply = error::reply(&failure, request.id);
                gate.finish_audited(&request, trail, reply)
            }
            (Some(Ok(_)), Ended::Unknown) => {
                let reply = error::outcome_unknown(request.id);
                gate.finish_audited(&request, trail, reply)
            }
            _ => {
                let reply = error::unavailable(request.id);
                gate.finish_audited(&request, trail, reply)
            }
        }
    }
}

impl PreparedWrite {
    /// Carries it out, or gives the answer of the first time.
    fn run_or_replay(&self, tx: &WriteTx<'_>) -> Result<Reply> {
        let Some(repeatable) = &self.repeatable else { return Ok((self.write)(tx)?.with_notes(&self.notes)) };
        if let Some(reply) = repeatable.stored(tx)? {
            return Ok(reply);
        }
        let reply = (self.write)(tx)?.with_notes(&self.notes);
        repeatable.keep(tx, &reply)?;
        Ok(reply)
    }
}
