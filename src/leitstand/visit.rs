//! A request for a page on its way, and its row in the log.

use std::net::IpAddr;

use super::entry::Refused;
use super::page::{Ask, HouseChange};
use crate::gate::address::neighbourhood;
use crate::gate::audit::{Akteur, Row};
use crate::http::reply::Reply;
use crate::http::request::Request;

/// A request for a page on its way.
pub struct Visit {
    pub request: Request,
    pub ask: Ask,
    pub address: IpAddr,
}

/// What is written, and whose it is.
pub enum Change {
    Firma(i64, super::page::Change),
    Haus(HouseChange),
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
        akteur: person.map(|id| Akteur::Person(id.to_string())),
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
