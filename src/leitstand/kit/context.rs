//! The context of a request for a page, the change that its form makes, and its row in the audit log.

use std::net::IpAddr;
use std::sync::Arc;

use rusqlite::Connection;

use super::akteure;
use super::done::{Done, FirmaChange, InstallationChange};
use super::page::PageRequest;
use crate::platform::db::TenantId;
use crate::platform::db::tx::WriteTx;
use crate::platform::db::writer::batch::Batch;
use crate::platform::db::writer::fair_queue::QueueKey;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::address::neighbourhood;
use crate::platform::gate::administration::{self, Akteur};
use crate::platform::gate::audit::Row;
use crate::platform::gate::flow::completion::shortened;
use crate::platform::http::reply::Reply;
use crate::platform::http::request::Request;

/// A request for a page while it is being answered.
#[derive(Clone)]
pub struct PageContext {
    pub request: Arc<Request>,
    pub page_request: PageRequest,
    pub address: IpAddr,
    /// Whether its audit row is still to be written.
    pub needs_row: bool,
}

/// The change that a form makes, and the company it belongs to, if any.
pub enum FormChange {
    Firma(TenantId, FirmaChange),
    Haus(InstallationChange),
}

impl FormChange {
    /// Executes the change within a batch and writes its audit row and its administration event.
    pub fn run(&self, batch: &Batch<'_>, context: &PageContext) -> Result<Done> {
        match self {
            FormChange::Firma(firma, change) => {
                let person = context.page_request.person.as_ref().map(|person| akteure::of_person(person.id));
                let run = |tx: &WriteTx<'_>| noted(context, batch.connection(), change(tx)?);
                batch.whole(*firma, person.as_deref(), run)
            }
            FormChange::Haus(change) => {
                batch.apart(|connection| noted(context, connection, change(connection)?))
            }
        }
    }
}

/// Writes the audit row of a form and the administration event of its change; nothing if the form was only
/// tried (D27).
fn noted(context: &PageContext, connection: &Connection, done: Done) -> Result<Done> {
    if done.is_trial() {
        return Ok(done);
    }
    let reply = Reply { status: 303, subject: done.subject, ..Reply::default() };
    let row = context.row(&reply, done.person);
    let row = Row { tenant_id: done.firma.or(row.tenant_id), ..row };
    if let Some(event) = &done.event {
        let person = row.person.ok_or_else(|| Failure::Broken("nobody did this".into()))?;
        administration::note(connection, context.request.at, &Akteur::Person(person), row.tenant_id, event)?;
    }
    row.insert(connection)?;
    Ok(done)
}

impl PageContext {
    /// The account that memory is charged to: the person, or the network of the address.
    pub fn account(&self) -> String {
        match &self.page_request.person {
            Some(person) => format!("person {}", person.id),
            None => neighbourhood(self.address).to_string(),
        }
    }

    /// The queue key of this request, for the slow lane and the writer.
    pub fn in_turn(&self) -> QueueKey {
        QueueKey { firma: self.page_request.firma_id(), name: self.account() }
    }

    /// The audit row of an answer. `logged_in` names the person of the request that logs them in.
    pub fn row(&self, reply: &Reply, logged_in: Option<i64>) -> Row {
        let person = logged_in.or(self.page_request.person.as_ref().map(|person| person.id));
        row(&self.request, self.address, reply, person, self.page_request.tenant_id())
    }
}

/// The audit row of an answer, with or without a person.
pub fn row(
    request: &Request,
    address: IpAddr,
    reply: &Reply,
    person: Option<i64>,
    tenant_id: Option<TenantId>,
) -> Row {
    Row {
        person,
        tenant_id,
        am: request.at.millis(),
        request_id: request.id,
        adresse: address.to_string(),
        methode: shortened(&request.method),
        pfad: shortened(&request.path),
        status: reply.status,
        dauer_us: i64::try_from(request.started.elapsed().as_micros()).unwrap_or(i64::MAX),
        bytes_ein: request.body.byte_count() as i64,
        bytes_aus: reply.body.len() as i64,
        subjekt: reply.subject,
        anzahl: 1,
        code: reply.code.map(|code| code.as_str().to_owned()),
        ..Row::default()
    }
}
