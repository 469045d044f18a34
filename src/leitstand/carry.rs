//! How a form is carried out: through the writer, as every write of the server.

use rusqlite::Connection;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::akteure;
use super::page::Done;
use super::visit::{Change, Visit, audit_row};
use crate::db::batch::{Batch, Ended, Job};
use crate::db::tx::WriteTx;
use crate::failure::{Failure, Result};
use crate::gate::audit::Row;
use crate::http::answering::Next;
use crate::http::reply::Reply;

/// Writes down what a form did: its request, and what it changed.
fn note(visit: &Visit, connection: &Connection, done: &Done) -> Result<()> {
    let reply = Reply { status: 303, subject: done.subject, ..Reply::default() };
    let row = audit_row(visit, &reply, done.person);
    let row = Row { tenant_id: done.firma.or(row.tenant_id), ..row };
    for change in &done.changed {
        let (pfad, akteur) = (change.to_string(), row.akteur.clone());
        let (am, request_id, tenant_id) = (row.am, Uuid::now_v7(), row.tenant_id);
        Row { am, request_id, tenant_id, pfad, akteur, status: 200, anzahl: 1, ..Row::default() }
            .insert(connection)?;
    }
    row.insert(connection)
}

/// What became of a form.
pub enum Carried {
    /// It is kept.
    Out(Done),
    /// It was refused.
    Refused(Failure),
    /// Nobody knows whether it is kept.
    Unknown,
    /// It is not kept.
    Not,
}

/// How it goes on then.
pub type GoOn = Box<dyn FnOnce(Visit, Carried) -> Next + Send>;

/// A form on its way through the writer. Its audit row is part of what is kept.
pub struct Queued {
    visit: Visit,
    change: Change,
    done: Option<Result<Done>>,
    tell: oneshot::Sender<Next>,
    go_on: GoOn,
}

impl Queued {
    /// A form that has been read; `tell` is told how it goes on.
    pub fn new(visit: Visit, change: Change, tell: oneshot::Sender<Next>, go_on: GoOn) -> Queued {
        Queued { visit, change, done: None, tell, go_on }
    }
}

impl Job for Queued {
    fn bytes(&self) -> usize {
        self.visit.request.body.len()
    }

    fn run(&mut self, batch: &Batch<'_>) {
        let done = match &self.change {
            Change::Firma(firma, change) => {
                let person = self.visit.ask.person.as_ref().map(|person| akteure::of_person(person.id));
                batch.whole(*firma, person.as_deref(), |tx: &WriteTx<'_>| {
                    let done = change(tx)?;
                    note(&self.visit, batch.connection(), &done)?;
                    Ok(done)
                })
            }
            Change::Haus(change) => batch.apart(|connection| {
                let done = change(connection)?;
                note(&self.visit, connection, &done)?;
                Ok(done)
            }),
        };
        self.done = Some(done);
    }

    fn finish(self: Box<Self>, ended: Ended) {
        let carried = match (self.done, ended) {
            (Some(Ok(done)), Ended::Committed) => Carried::Out(done),
            (Some(Err(failure)), Ended::Committed) => Carried::Refused(failure),
            (Some(Ok(_)), Ended::Unknown) => Carried::Unknown,
            _ => Carried::Not,
        };
        let next = (self.go_on)(self.visit, carried);
        drop(self.tell.send(next));
    }
}
