//! Completion: the last step of every request. It reserves memory for the answer, writes the audit row and
//! the log line, counts the request, and adds the remaining limits to the answer. [`RequestContext`] holds
//! what the earlier steps learned about the request.

use std::net::IpAddr;
use std::sync::Arc;

use super::waiters::Looked;
use crate::platform::gate::Gate;
use crate::platform::gate::access::address;
use crate::platform::gate::access::quota::Allowance;
use crate::platform::gate::audit::Row;
use crate::platform::http::budget::Budget;
use crate::platform::http::call::Caller;
use crate::platform::http::error;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;
use crate::platform::http::route::Run;
use crate::rules::error::Code;

/// Answers up to this size, in bytes, are not charged to the memory for answers.
const SMALL_ANSWER_BYTES_MAX: usize = 16 << 10;

/// What the gate learns about a request on its way, beyond the request itself.
#[derive(Clone)]
pub struct RequestContext {
    pub address: IpAddr,
    pub caller: Option<Arc<Caller>>,
    /// The public id of a complete key that is deactivated or expired: the audit row names it (D19).
    pub refused_key: Option<String>,
    /// Its route, as an index into the route table.
    pub route: Option<usize>,
    /// What its key has left today; set when the request is counted.
    pub allowance: Option<Allowance>,
    /// Seconds until its address may try again.
    pub retry_after: Option<i64>,
    /// Result of the last look, for a request that waits for a change.
    pub looked: Option<Looked>,
    pub written: Written,
}

/// What has already been committed for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Nothing,
    /// Some of its items, each with an audit row of its own.
    Items,
    /// All of it, including its audit row.
    WithItsRow,
}

impl RequestContext {
    pub fn new(address: IpAddr) -> RequestContext {
        RequestContext {
            address,
            caller: None,
            refused_key: None,
            route: None,
            allowance: None,
            retry_after: None,
            looked: None,
            written: Written::Nothing,
        }
    }

    /// The public id of its key, even if the key is deactivated or expired (D19).
    fn key_id(&self) -> Option<&str> {
        self.caller.as_ref().map(|caller| caller.key_id.as_str()).or(self.refused_key.as_deref())
    }

    /// Adds the remaining limits to the answer, and a header if the tenant is a test tenant.
    fn with_limits(&self, reply: Reply) -> Reply {
        let reply = match self.allowance {
            Some(allowance) => allowance.shown_in(reply),
            None => reply,
        };
        let is_test = self.caller.as_ref().is_some_and(|caller| caller.test);
        let reply = if is_test { reply.with("x-test", "true") } else { reply };
        match self.retry_after {
            Some(seconds) => reply.with("retry-after", seconds.to_string()),
            None => reply,
        }
    }
}

impl Gate {
    /// Completes a request: writes its audit row and its log line, counts it, and adds its remaining limits
    /// to the answer.
    pub(in crate::platform::gate) fn complete(
        &self,
        request: &Request,
        context: &RequestContext,
        reply: Reply,
    ) -> Reply {
        let reserved = match &context.caller {
            Some(caller) => {
                reserve(reply, &self.answers, &caller.key_id, context.written != Written::Nothing)
            }
            None => {
                let account = address::neighbourhood(context.address).to_string();
                reserve(reply, &self.answers_of_strangers, &account, false)
            }
        };
        let reply = reserved.unwrap_or_else(|| error::unavailable(request.id));
        // Probes come every second from monitoring, and are not part of the interface.
        let is_probe = context.route.is_some_and(|at| matches!(self.router.route(at).run, Run::Status(_)));
        if !is_probe && context.written != Written::WithItsRow {
            self.write_down(
                self.audit_row(request, context, &reply),
                context.address,
                context.caller.is_none(),
            );
        }
        self.note(request, context, &reply);
        let reply = match context.route.and_then(|at| self.router.route(at).deprecated) {
            Some(deprecation) => deprecation.shown_in(reply),
            None => reply,
        };
        self.policy.origins.shown_in(context.with_limits(reply), request)
    }

    /// Writes the audit row of a request; if a stranger sends too many, only counts it.
    pub fn write_down(&self, row: Row, address: IpAddr, is_stranger: bool) {
        match is_stranger {
            true => self.journal.append_of_stranger(row, address::neighbourhood(address), (self.clock)()),
            false => self.journal.append(row),
        }
    }

    fn note(&self, request: &Request, context: &RequestContext, reply: &Reply) {
        let duration = request.started.elapsed();
        let (method, route) = match context.route.map(|at| self.router.route(at)) {
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
            address = %context.address,
            key = context.key_id(),
            code = reply.code.map(Code::as_str),
            "request"
        );
    }

    pub(in crate::platform::gate) fn audit_row(
        &self,
        request: &Request,
        context: &RequestContext,
        reply: &Reply,
    ) -> Row {
        // Requests refused because of their address, or refused again and again, are counted, not listed.
        let of_stranger = context.caller.is_none() && [429, 503].contains(&reply.status);
        let flut = of_stranger || context.allowance.is_some_and(Allowance::is_flood);
        let address = if flut { address::neighbourhood(context.address) } else { context.address };
        Row {
            am: request.at.millis(),
            request_id: request.id,
            key_id: context.key_id().map(str::to_owned),
            tenant_id: context.caller.as_ref().map(|caller| caller.tenant),
            adresse: address.to_string(),
            methode: shortened(&request.method),
            route_id: context.route.map(|at| self.route_ids[at]),
            pfad: shortened(&request.path),
            status: reply.status,
            dauer_us: i64::try_from(request.started.elapsed().as_micros()).unwrap_or(i64::MAX),
            bytes_ein: request.body.byte_count() as i64,
            bytes_aus: reply.body.len() as i64,
            subjekt: reply.subject,
            anzahl: 1,
            flut,
            person: None,
            code: reply.code.map(|code| code.as_str().to_owned()),
        }
    }
}

/// Reserves memory for an answer. Returns `None` if there is no room, unless its request was already carried
/// out. Small answers need no reservation, because the buffers of the operating system take them; neither do
/// answers that already hold one.
pub fn reserve(reply: Reply, memory: &Arc<Budget>, account: &str, is_carried_out: bool) -> Option<Reply> {
    let bytes = reply.body.len();
    if bytes <= SMALL_ANSWER_BYTES_MAX || reply.held.is_some() {
        return Some(reply);
    }
    let held = match is_carried_out {
        true => memory.take_anyway(account, bytes),
        false => memory.take(account, bytes)?,
    };
    Some(Reply { held: Some(held), ..reply })
}

/// Shortens a client's text for a message or an audit row and replaces control characters.
pub fn shortened(text: &str) -> String {
    const MAX: usize = 200;
    if text.len() <= MAX && text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.to_owned();
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX).collect()
}
