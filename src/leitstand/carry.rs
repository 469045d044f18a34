//! How a form is carried out: through the writer, or, where it changes what the writer caches, on a connection of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::frame;
use super::page::{Done, HouseChange};
use super::server::{Change, Leitstand, Visit, audit_row, busy};
use crate::db::batch::{Batch, Ended, Job};
use crate::db::connection::open_writer;
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::gate::audit::Row;
use crate::http::answering::{Next, Work};
use crate::http::reply::Reply;

impl Leitstand {
    /// Changes master data within a transaction of its own, with the audit row.
    pub(super) fn change_master_data(&self, visit: &Visit, change: &HouseChange) -> Result<Done> {
        let mut connection = open_writer(&self.house.place.database)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = change(&transaction)?;
        self.note(visit, &transaction, &done)?;
        transaction.commit()?;
        // Whoever reads next sees it.
        self.house.gate.writer.watch().commits.fetch_add(1, Ordering::Release);
        Ok(done)
    }

    fn note(&self, visit: &Visit, connection: &Connection, done: &Done) -> Result<()> {
        if !self.house.gate.audited {
            return Ok(());
        }
        let reply = Reply { status: 303, subject: done.subject, ..Reply::default() };
        let row = audit_row(visit, &reply, done.person);
        let row = Row { tenant_id: done.firma.or(row.tenant_id), ..row };
        for change in &done.changed {
            let (pfad, akteur) = (change.clone(), row.akteur.clone());
            let (am, request_id, tenant_id) = (row.am, Uuid::now_v7(), row.tenant_id);
            Row { am, request_id, tenant_id, pfad, akteur, status: 200, anzahl: 1, ..Row::default() }
                .insert(connection)?;
        }
        row.insert(connection)
    }
}

/// A form on its way through the writer. Its audit row is part of what is kept.
pub struct Queued {
    page: Arc<Leitstand>,
    visit: Visit,
    change: Change,
    done: Option<Result<Done>>,
    tell: oneshot::Sender<Next>,
}

impl Queued {
    /// A form that has been read; `tell` is told how it goes on.
    pub fn new(page: Arc<Leitstand>, visit: Visit, change: Change, tell: oneshot::Sender<Next>) -> Queued {
        Queued { page, visit, change, done: None, tell }
    }
}

impl Job for Queued {
    fn bytes(&self) -> usize {
        self.visit.request.body.len()
    }

    fn run(&mut self, batch: &Batch<'_>) {
        let done = match &self.change {
            Change::Firma(firma, change) => {
                let person = self.visit.ask.person.as_ref().map(|person| format!("person {}", person.id));
                batch.whole(*firma, person.as_deref(), |tx: &WriteTx<'_>| {
                    let done = change(tx)?;
                    self.page.note(&self.visit, batch.connection(), &done)?;
                    Ok(done)
                })
            }
            Change::Haus(change) => batch.apart(|connection| {
                let done = change(connection)?;
                self.page.note(&self.visit, connection, &done)?;
                Ok(done)
            }),
        };
        self.done = Some(done);
    }

    fn finish(self: Box<Self>, ended: Ended) {
        let Queued { page, visit, done, tell, .. } = *self;
        let next = match (done, ended) {
            (Some(Ok(done)), Ended::Committed) => Next::Done(page.carried_out(visit, done)),
            (Some(Err(failure)), Ended::Committed) => {
                Next::Here(Work::new(move || page.form_again(visit, failure)))
            }
            (Some(Ok(_)), Ended::Unknown) => {
                let message = "Ob gespeichert wurde, ist nicht bekannt: Die Festplatte meldet einen Fehler. Bitte nachsehen.";
                page.finish(visit, frame::refused(503, message))
            }
            _ => {
                let reply = busy(&visit.request);
                page.finish(visit, reply)
            }
        };
        drop(tell.send(next));
    }
}
