//! A request for a page on its way, the change that its form asks for, and its row in the log.

use std::net::IpAddr;
use std::sync::Arc;

use rusqlite::Connection;

use super::akteure;
use super::entry::Refused;
use super::page::{Ask, Done, HouseChange};
use crate::db::batch::Batch;
use crate::db::tx::WriteTx;
use crate::failure::{Failure, Result};
use crate::gate::address::neighbourhood;
use crate::gate::administration::{self, Akteur};
use crate::gate::audit::Row;
use crate::http::reply::Reply;
use crate::http::request::Request;

/// A request for a page on its way.
#[derive(Clone)]
pub struct Visit {
    pub request: Arc<Request>,
    pub ask: Ask,
    pub address: IpAddr,
    /// Its audit row is still to be written.
    pub needs_row: bool,
}

/// What is written, and whose it is.
pub enum Change {
    Firma(i64, super::page::Change),
    Haus(HouseChange),
}

impl Change {
    /// Carries it out within a batch, with its audit row and those of what it changed.
    pub fn run(&self, batch: &Batch<'_>, visit: &Visit) -> Result<Done> {
        match self {
            Change::Firma(firma, change) => {
                let person = visit.ask.person.as_ref().map(|person| akteure::of_person(person.id));
                batch.whole(*firma, person.as_deref(), |tx: &WriteTx<'_>| {
                    let done = change(tx)?;
                    note(visit, batch.connection(), &done)?;
                    Ok(done)
                })
            }
            Change::Haus(change) => batch.apart(|connection| {
                let done = change(connection)?;
                note(visit, connection, &done)?;
                Ok(done)
            }),
        }
    }
}

/// Writes down what a form did: its request, and what it changed.
fn note(visit: &Visit, connection: &Connection, done: &Done) -> Result<()> {
    let reply = Reply { status: 303, subject: done.subject, ..Reply::default() };
    let row = audit_row(visit, &reply, done.person);
    let row = Row { tenant_id: done.firma.or(row.tenant_id), ..row };
    if let Some(deed) = &done.deed {
        let person = row.person.ok_or_else(|| Failure::Broken("nobody did this".into()))?;
        administration::note(connection, visit.request.at, &Akteur::Person(person), row.tenant_id, deed)?;
    }
    row.insert(connection)
}

impl Visit {
    /// On whose account memory is taken.
    pub fn account(&self) -> String {
        match &self.ask.person {
            Some(person) => format!("person {}", person.id),
            None => neighbourhood(self.address).to_string(),
        }
    }
}

/// The row of an answer to a person, or to a stranger.
fn row(request: &Request, address: IpAddr, reply: &Reply, person: Option<i64>) -> Row {
    let shortened = crate::gate::completion::shortened;
    Row {
        person,
        am: request.at.millis(),
        request_id: request.id,
        adresse: address.to_string(),
        methode: shortened(&request.method),
        pfad: shortened(&request.path),
        status: reply.status,
        dauer_us: i64::try_from(request.started.elapsed().as_micros()).unwrap_or(i64::MAX),
        bytes_ein: request.body.len() as i64,
        bytes_aus: reply.body.len() as i64,
        subjekt: reply.subject,
        anzahl: 1,
        code: reply.code.map(|code| code.as_str().to_owned()),
        ..Row::default()
    }
}

/// The audit row of an answer: who it was is a person, also of the request that logs them in.
pub fn audit_row(visit: &Visit, reply: &Reply, logged_in: Option<i64>) -> Row {
    let person = logged_in.or(visit.ask.person.as_ref().map(|person| person.id));
    Row {
        tenant_id: visit.ask.firma.as_ref().map(|firma| firma.id),
        ..row(&visit.request, visit.address, reply, person)
    }
}

/// The audit row of a request that was not let in.
pub fn refused_row(request: &Request, address: IpAddr, refused: &Refused) -> Row {
    let person = refused.person.as_ref().map(|person| person.id);
    Row { tenant_id: refused.firma, ..row(request, address, &refused.reply, person) }
}
