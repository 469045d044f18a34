//! What happens to a request from its head to its answer, in the order of D19.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::time::sleep;

use super::admission::{Admitted, AfterChecks, Head, Prepared, PreparedWrite, Thread};
use super::completion::{Trail, Written};
use crate::platform::db::error::exceeded_budget;
use crate::platform::db::writer::batch::Batch;
use crate::platform::db::writer::fair_queue::Account;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Gate;
use crate::platform::gate::access::address;
use crate::platform::gate::access::key::PresentedKey;
use crate::platform::gate::administration::{self, Akteur};
use crate::platform::http::answering::Answering;
use crate::platform::http::client::Client;
use crate::platform::http::cpu_pool::off_sockets;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::Run;

/// A body above this size is parsed on a thread that serves no sockets, in bytes.
pub const LARGE_BODY_BYTES: usize = 64 << 10;

/// What a small body of a heavy route counts for in the share of its key, in bytes: it may be a file that is packed.
const HEAVY_BODY_BYTES: usize = 1 << 20;

impl Answering for Gate {
    async fn answer(self: Arc<Gate>, request: Request, client: &mut Client) -> Reply {
        let mut trail = Trail::new(self.address_of(&request));
        let request = Arc::new(request);
        // A panic is a bug; it has its answer and its audit row like any other fault of ours.
        let outcome = AssertUnwindSafe(self.outcome(&request, &mut trail, client)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(Failure::Broken("a request panicked".into())));
        let reply = outcome.unwrap_or_else(|failure| self.refuse(failure, &request, &mut trail));
        self.complete(&request, &trail, reply)
    }

    fn client(&self, peer: IpAddr) -> Option<IpAddr> {
        let peer = peer.to_canonical();
        let is_proxy = self.policy.proxies.iter().any(|network| network.contains(&peer));
        (!is_proxy).then(|| address::neighbourhood(peer))
    }
}

impl Gate {
    /// The answer to a request, or why it has none.
    async fn outcome(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        trail: &mut Trail,
        client: &mut Client,
    ) -> Result<Reply> {
        let (key, found) = match self.check_head(request, trail)? {
            Head::Answered(reply) => return Ok(reply),
            Head::OfKey(key, found) => (key, found),
        };
        if !self.keys.is_verified(&key) {
            self.verifying.verify(&key, address::neighbourhood(trail.address)).await?;
        }
        client.mark_accepted();
        let mut waiting = None;
        let admitted = loop {
            match self.read(request, &key, found, trail).await? {
                AfterChecks::Answered(reply) => return Ok(reply),
                AfterChecks::Writes(admitted) => break admitted,
                AfterChecks::WaitsForChange(wait, caller) => {
                    let looked =
                        self.waiters.wait(&mut waiting, &caller.key_id, caller.tenant, wait, client).await?;
                    trail.looked = Some(looked);
                }
                AfterChecks::Asks(admitted) => receive(request, &admitted, client).await?,
                AfterChecks::IsHeavy => return Err(Failure::Broken("heavy work found no thread".into())),
            }
        };
        if request.body.is_awaited() {
            receive(request, &admitted, client).await?;
        }
        if let Run::Each(single) = admitted.route.run {
            return self.answer_each(single, request, &admitted, trail).await;
        }
        match self.with_body(request, &admitted, Gate::prepare).await? {
            Prepared::Repeated(reply) => Ok(reply),
            Prepared::Write(write) => self.carry_out(request, trail, write).await,
        }
    }

    /// Runs the checks and the read: first on this thread; a heavy route off the sockets; what exceeded its budget again on
    /// the slow lane.
    async fn read(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        key: &PresentedKey,
        found: Option<usize>,
        trail: &mut Trail,
    ) -> Result<AfterChecks> {
        // Another thread works on a copy of what is known of the request, and gives it back.
        let on = |thread: Thread, trail: &Trail| {
            let (gate, request, key) = (Arc::clone(self), Arc::clone(request), key.clone());
            let mut trail = trail.clone();
            move || {
                let read = gate.check_and_read(&request, &key, found, &mut trail, thread);
                (trail, read)
            }
        };
        let mut read = self.check_and_read(request, key, found, trail, Thread::Socket);
        if matches!(read, Ok(AfterChecks::IsHeavy)) {
            (*trail, read) = off_sockets(on(Thread::Heavy, trail)).await?;
        }
        if read.as_ref().is_err_and(exceeded_budget) {
            let firma = trail.caller.as_ref().map_or(0, |caller| caller.tenant);
            let account = Account { firma, name: key.id.clone() };
            (*trail, read) = self.slowly(account, on(Thread::SlowLane, trail)).await?;
        }
        read
    }

    /// Reads the body of a request: on this thread; a large one, or that of a heavy route, off the sockets, after a pause where
    /// its key has had its share of the machine; what is computed before it is written, on the slow lane.
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
        if is_draft { self.slowly(account, work).await? } else { off_sockets(work).await? }
    }

    /// Has the writer carry a request out. The audit row of what is kept is part of it.
    async fn carry_out(
        self: &Arc<Gate>,
        request: &Arc<Request>,
        trail: &mut Trail,
        write: PreparedWrite,
    ) -> Result<Reply> {
        let (gate, account) = (Arc::clone(self), write.caller.account());
        let (sent, so_far) = (Arc::clone(request), trail.clone());
        let run = move |batch: &Batch<'_>| gate.run_write(batch, &sent, &so_far, &write);
        let reply = self.write(account, request.body.byte_count(), run).await?;
        trail.written = Written::WithItsRow;
        Ok(reply)
    }

    /// Carries a request out within a batch.
    pub(in crate::platform::gate) fn run_write(
        &self,
        batch: &Batch<'_>,
        request: &Request,
        trail: &Trail,
        write: &PreparedWrite,
    ) -> Result<Reply> {
        batch.whole(write.caller.tenant, Some(&write.caller.key_id), |tx| {
            let reply = write.run_or_repeat(tx)?;
            if let Some(deed) = &reply.deed {
                let akteur = Akteur::Schluessel(write.caller.key_id.clone());
                administration::note(batch.connection(), tx.now(), &akteur, Some(tx.tenant()), deed)?;
            }
            self.audit_row(request, trail, &reply).insert(batch.connection())?;
            Ok(reply)
        })
    }
}

/// Reads the body of a request that passed every check before it.
async fn receive(request: &Request, admitted: &Admitted, client: &mut Client) -> Result<()> {
    request.check_encoding()?;
    request.body.set(client.body(admitted.route.body_bytes_max, &admitted.caller.key_id).await);
    Ok(())
}
