//! The course of a request from its head to its answer, in the order of D19.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::time::sleep;

use super::admission::{Admitted, Claim, PreparedWrite, Stage, Thread};
use super::completion::{RequestContext, Written};
use crate::platform::db::error::exceeded_budget;
use crate::platform::db::writer::batch::Batch;
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Gate;
use crate::platform::gate::access::address;
use crate::platform::gate::administration::{self, Akteur};
use crate::platform::http::answering::Answering;
use crate::platform::http::client::Client;
use crate::platform::http::cpu_pool::on_cpu_pool;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::Run;

/// A body above this size is parsed on a thread that serves no sockets, in bytes.
pub const LARGE_BODY_BYTES: usize = 64 << 10;

/// What a small body of a heavy route at least counts in the share of its key, in bytes: it may be a
/// compressed file.
const HEAVY_BODY_BYTES: usize = 1 << 20;

impl Answering for Gate {
    async fn answer(self: Arc<Gate>, request: Request, client: &mut Client) -> Reply {
        let mut context = RequestContext::new(self.address_of(&request));
        let request = Arc::new(request);
        // A panic is a bug; it has its answer and its audit row like any other fault of ours.
        let outcome = AssertUnwindSafe(self.outcome(&request, &mut context, client)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(Failure::Broken("a request panicked".into())));
        let reply = outcome.unwrap_or_else(|failure| self.refuse(failure, &request, &mut context));
        self.complete(&request, &context, reply)
    }

    fn client(&self, peer: IpAddr) -> Option<IpAddr> {
        let peer = peer.to_canonical();
        let is_proxy = self.policy.proxies.iter().any(|network| network.contains(&peer));
        (!is_proxy).then(|| address::neighbourhood(peer))
    }
}

impl Gate {
    /// Takes a request from stage to stage; returns its answer, or why it has none.
    async fn outcome(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        context: &mut RequestContext,
        client: &mut Client,
    ) -> Result<Reply> {
        let claim = match self.check_head(request, context)? {
            Stage::Claims(claim) => claim,
            stage => return stage.answer(),
        };
        if !self.keys.is_verified(&claim.key) {
            self.verifying.verify(&claim.key, address::neighbourhood(context.address)).await?;
        }
        client.mark_accepted();
        let mut waiting = None;
        let admitted = loop {
            match self.read(request, &claim, context).await? {
                Stage::NeedsBody(admitted) => receive(request, &admitted, client).await?,
                Stage::WaitsForChange(wait, caller) => {
                    let looked =
                        self.waiters.wait(&mut waiting, &caller.key_id, caller.tenant, wait, client).await?;
                    context.looked = Some(looked);
                }
                Stage::Writes(admitted) => break admitted,
                stage => return stage.answer(),
            }
        };
        if request.body.is_awaited() {
            receive(request, &admitted, client).await?;
        }
        if let Run::Each(single) = admitted.route.run {
            return self.answer_each(single, request, &admitted, context).await;
        }
        match self.with_body(request, &admitted, Gate::prepare).await? {
            Stage::Prepared(write) => self.carry_out(request, context, write).await,
            stage => stage.answer(),
        }
    }

    /// Runs the checks and the read: on this thread; a heavy route on the CPU pool; what exceeds its budget
    /// once more on the slow lane.
    async fn read(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        claim: &Claim,
        context: &mut RequestContext,
    ) -> Result<Stage> {
        let mut stage = self.check_and_read(request, claim, context, Thread::Socket);
        if matches!(stage, Ok(Stage::IsHeavy)) {
            stage = self.read_on(Thread::Heavy, request, claim, context).await;
        }
        if stage.as_ref().is_err_and(exceeded_budget) {
            stage = self.read_on(Thread::SlowLane, request, claim, context).await;
        }
        stage
    }

    /// Does the same on another thread, which gets a copy of the context and returns it. If no thread is
    /// free, the request still has its own.
    async fn read_on(
        self: &Arc<Gate>,
        thread: Thread,
        request: &Arc<Request>,
        claim: &Claim,
        context: &mut RequestContext,
    ) -> Result<Stage> {
        let (gate, request, name) = (Arc::clone(self), Arc::clone(request), claim.key.id.clone());
        let (claim, mut copy) = (claim.clone(), context.clone());
        let work = move || {
            let stage = gate.check_and_read(&request, &claim, &mut copy, thread);
            (copy, stage)
        };
        let firma = context.caller.as_ref().map_or(0, |caller| caller.tenant);
        let stage;
        (*context, stage) = match thread {
            Thread::SlowLane => self.slowly(QueueKey { firma, name }, work).await?,
            Thread::Socket | Thread::Heavy => on_cpu_pool(work).await?,
        };
        stage
    }

    /// Runs `work` on the body of a request: on this thread; a large body, or that of a heavy route, on the
    /// CPU pool, after a pause if its key has had its share; a draft, which computes before it writes, on the
    /// slow lane.
    pub(in crate::platform::gate) async fn with_body<T: Send + 'static>(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        admitted: &Admitted,
        work: fn(&Gate, &Request, &Admitted) -> Result<T>,
    ) -> Result<T> {
        let (is_heavy, bytes) = (admitted.route.is_heavy, request.body.byte_count());
        let is_draft = matches!(admitted.route.run, Run::Draft(_));
        if bytes <= LARGE_BODY_BYTES && !is_heavy && !is_draft {
            return work(self, request, admitted);
        }
        let counted = if is_heavy { bytes.max(HEAVY_BODY_BYTES) } else { bytes };
        let pause = self.shares.charge_body(&admitted.caller.key_id, counted, (self.clock)());
        if !pause.is_zero() {
            sleep(pause).await;
        }
        let account = admitted.caller.account();
        let (gate, request, admitted) = (Arc::clone(self), Arc::clone(request), admitted.clone());
        let work = move || work(&gate, &request, &admitted);
        if is_draft { self.slowly(account, work).await? } else { on_cpu_pool(work).await? }
    }

    /// Has the writer carry a request out. If it is committed, so is its audit row.
    async fn carry_out(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        context: &mut RequestContext,
        write: PreparedWrite,
    ) -> Result<Reply> {
        let (gate, account) = (Arc::clone(self), write.caller.account());
        let (sent, so_far) = (Arc::clone(request), context.clone());
        let run = move |batch: &Batch<'_>| gate.run_write(batch, &sent, &so_far, &write);
        let reply = self.write(account, request.body.byte_count(), run).await?;
        context.written = Written::WithItsRow;
        Ok(reply)
    }

    /// Carries a request out within a batch.
    pub(in crate::platform::gate) fn run_write(
        &self,
        batch: &Batch<'_>,
        request: &Request,
        context: &RequestContext,
        write: &PreparedWrite,
    ) -> Result<Reply> {
        batch.whole(write.caller.tenant, Some(&write.caller.key_id), |tx| {
            let reply = write.run_or_repeat(tx)?;
            if let Some(event) = &reply.event {
                let akteur = Akteur::Schluessel(write.caller.key_id.clone());
                administration::note(batch.connection(), tx.now(), &akteur, Some(tx.tenant()), event)?;
            }
            self.audit_row(request, context, &reply).insert(batch.connection())?;
            Ok(reply)
        })
    }
}

/// Receives the body of a request that passed every check before it.
async fn receive(request: &Request, admitted: &Admitted, client: &mut Client) -> Result<()> {
    request.check_encoding()?;
    request.body.set(client.body(admitted.route.body_bytes_max, &admitted.caller.key_id).await);
    Ok(())
}
