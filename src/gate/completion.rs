//! Completion: the last step of every request. It takes memory for the answer, writes the audit row and the line in
//! the log, counts it, and tells the client what is left of its limits. [`Trail`] is what the steps before it found out.

use std::net::IpAddr;

use super::audit::Row;
use super::quota::Allowance;
use super::waiters::Waited;
use super::{Gate, address};
use crate::http::call::Caller;
use crate::http::error;
use crate::http::reply::Reply;
use crate::http::request::Request;
use crate::http::route::Run;
use crate::rules::error::Code;

/// Answers up to this size take no part in the memory for answers, in bytes.
const SMALL_ANSWER: usize = 16 << 10;

/// What is known of a request on its way, besides what it says itself.
pub struct Trail {
    /// Where it comes from.
    pub address: IpAddr,
    /// Whose key it has.
    pub caller: Option<Caller>,
    /// The public part of a whole key that is deactivated or past its last day: the audit row names it (D19).
    pub refused_key: Option<String>,
    /// Its route, by its place in the table.
    pub route: Option<usize>,
    /// The hash of its key was verified for it.
    pub verified: bool,
    /// What its key has left; set when it was counted.
    pub allowance: Option<Allowance>,
    /// It was counted as one of a critical route.
    pub counted_for_address: bool,
    /// Seconds until its address may come again.
    pub retry_after: Option<i64>,
    /// It runs on a thread that serves no sockets.
    pub off_sockets: bool,
    /// It waits for a change.
    pub waited: Option<Waited>,
}

impl Trail {
    /// At the beginning.
    pub fn new(address: IpAddr) -> Trail {
        Trail {
            address,
            caller: None,
            refused_key: None,
            route: None,
            verified: false,
            allowance: None,
            counted_for_address: false,
            retry_after: None,
            off_sockets: false,
            waited: None,
        }
    }

    /// The public part of its key: also of one that is deactivated or past its last day (D19).
    fn key_id(&self) -> Option<&str> {
        self.caller.as_ref().map(|caller| caller.key_id.as_str()).or(self.refused_key.as_deref())
    }

    /// Whether it has waited as long as it may.
    pub(super) fn must_answer(&self) -> bool {
        self.waited.as_ref().is_some_and(|waited| waited.is_over)
    }

    /// The answer with what the client is told about its limits, and that its company is one for tests.
    fn with_limits(&self, reply: Reply) -> Reply {
        let reply = match self.allowance {
            Some(allowance) => allowance.shown_in(reply),
            None => reply,
        };
        let reply = match &self.caller {
            Some(caller) if caller.test => reply.with("x-test", "true"),
            _ => reply,
        };
        match self.retry_after {
            Some(seconds) => reply.with("retry-after", seconds.to_string()),
            None => reply,
        }
    }
}

impl Gate {
    /// The answer with its share of the memory; none where there is no room for it. Small ones need none: the
    /// buffers of the operating system take them.
    fn reserve(&self, reply: Reply, trail: &Trail) -> Option<Reply> {
        let bytes = reply.body.len();
        if bytes <= SMALL_ANSWER {
            return Some(reply);
        }
        let held = match &trail.caller {
            Some(caller) => self.answers.take(&caller.key_id, bytes),
            None => self.answers_of_strangers.take(&address::neighbourhood(trail.address).to_string(), bytes),
        };
        held.map(|held| Reply { held: Some(held), ..reply })
    }

    /// The same for an answer that must not be lost: its request was carried out.
    pub(super) fn reserve_anyway(&self, reply: Reply, trail: &Trail) -> Reply {
        match &trail.caller {
            Some(caller) if reply.body.len() > SMALL_ANSWER => {
                let held = self.answers.take_anyway(&caller.key_id, reply.body.len());
                Reply { held: Some(held), ..reply }
            }
            _ => reply,
        }
    }

    /// Writes the audit row of an answer that the writer has no part in.
    pub(super) fn finish_audited(&self, request: &Request, trail: Trail, reply: Reply) -> Reply {
        let reply = self.reserve(reply, &trail).unwrap_or_else(|| error::unavailable(request.id));
        // Probes come every second from whoever watches, and are not part of the interface.
        let is_probe = trail.route.is_some_and(|at| matches!(self.router.route(at).run, Run::Status(_)));
        if !is_probe {
            let row = self.audit_row(request, &trail, &reply);
            match trail.caller {
                Some(_) => self.journal.append(row),
                None => {
                    let network = address::neighbourhood(trail.address);
                    self.journal.append_of_stranger(row, network, (self.clock)());
                }
            }
        }
        self.finish(request, &trail, reply)
    }

    /// The last step of every request: it is counted, has its line in the log, and the answer says
    /// what the client has left.
    pub(super) fn finish(&self, request: &Request, trail: &Trail, reply: Reply) -> Reply {
        let duration = request.started.elapsed();
        let (method, route) = match trail.route.map(|at| self.router.route(at)) {
            Some(route) => (route.method.as_str(), route.pattern),
            None => ("", ""),
        };
        self.metrics.count(method, route, reply.status, duration);
        tracing::info!(
            request_id = %request.id,
            method = %shortened(&request.method),
            path = %shortened(&request.path),
            status = reply.status,
            duration_us = duration.as_micros() as u64,
            address = %trail.address,
            key = trail.key_id(),
            code = reply.code.map(Code::as_str),
            "request"
        );
        let reply = match trail.route.and_then(|at| self.router.route(at).deprecated) {
            Some(deprecation) => deprecation.shown_in(reply),
            None => reply,
        };
        self.origins.shown_in(trail.with_limits(reply), request)
    }

    /// The audit row of an answer.
    pub(super) fn audit_row(&self, request: &Request, trail: &Trail, reply: &Reply) -> Row {
        // What is refused because of its address, or on and on, is counted, not listed.
        let of_stranger = trail.caller.is_none() && [429, 503].contains(&reply.status);
        let flut = of_stranger || trail.allowance.is_some_and(Allowance::is_flood);
        let address = if flut { address::neighbourhood(trail.address) } else { trail.address };
        Row {
            am: request.at.millis(),
            request_id: request.id,
            key_id: trail.key_id().map(str::to_owned),
            tenant_id: trail.caller.as_ref().map(|caller| caller.tenant),
            adresse: address.to_string(),
            methode: shortened(&request.method),
            route_id: trail.route.map(|at| self.route_ids[at]),
            pfad: shortened(&request.path),
            status: reply.status,
            dauer_us: i64::try_from(request.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            bytes_ein: request.body.len() as i64,
            bytes_aus: reply.body.len() as i64,
            subjekt: reply.subject,
            anzahl: 1,
            flut,
            akteur: None,
            code: reply.code.map(|code| code.as_str().to_owned()),
        }
    }
}

/// A text of a client, short enough for a message or an audit row.
pub fn shortened(text: &str) -> String {
    const MAX: usize = 200;
    if text.len() <= MAX && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX).collect()
}
