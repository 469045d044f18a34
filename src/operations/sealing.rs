//! Begins the sealing of a database (`platform::db::seals::seal`): creates the secret if there is none, and seals
//! the chains from then on.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::master::{anhaenge, kunden, tenants};
use crate::platform::db::seals::evidence::{self, Subject};
use crate::platform::db::seals::seal::{self, Seal, Secret};
use crate::platform::db::tx::Tx;
use crate::platform::db::{Clock, log};
use crate::platform::failure::Result;
use crate::platform::gate::audit::{self, Sealed};
use crate::rules::day::Instant;
use crate::trade::belege;

/// Makes a connection seal with the secret beside its database, and begins sealing if that secret has sealed nothing
/// yet. If a secret can be neither read nor created, the connection stays unsealed, and the log says so. No server
/// may be running.
pub fn settle(connection: &mut Connection, database: &Path, clock: &Clock) -> Result<Option<Secret>> {
    let found = Secret::read(database).and_then(|found| found.map_or_else(|| Secret::create(database), Ok));
    let Some(mut secret) = usable(found) else { return Ok(None) };
    seal::install(connection, Some(&secret))?;
    if secret.begun.is_empty() {
        let before = audit::sealed(connection, Some(&secret))?;
        let begun = begin(connection, database, &secret, clock)?;
        // The next start tries again.
        if let Err(failure) = secret.set_begun(database, &[begun]) {
            log(&format!("that sealing began is not written down: {failure}"));
        }
        // Of a new database there is nothing to say.
        if audit::is_of_new_database(connection)? {
            return Ok(Some(secret));
        }
        if let Sealed::Not(why) = before {
            log(&format!("a new chain of seals begins in {}: {why}", database.display()));
        }
    }
    say(connection, &secret)?;
    Ok(Some(secret))
}

fn usable(found: Result<Secret>) -> Option<Secret> {
    found.inspect_err(|failure| log(&format!("nothing is sealed: {failure}"))).ok()
}

fn say(connection: &Connection, secret: &Secret) -> Result<()> {
    match audit::sealed(connection, Some(secret))? {
        Sealed::Since(_, how) => tracing::info!("the log and the documents are sealed {how}"),
        Sealed::Not(why) => log(&format!("the log and the documents are not sealed: {why}")),
        Sealed::Broken(what) => log(&format!("the log and the documents were tampered with: {what}")),
    }
    Ok(())
}

/// Begins sealing, unless the newest beginning was made with this secret; returns the seal of the beginning.
pub fn begin(connection: &mut Connection, database: &Path, secret: &Secret, clock: &Clock) -> Result<Seal> {
    let newest = audit::newest_beginning(connection, secret)?;
    if let Some((seal, true)) = newest {
        return Ok(seal);
    }
    if newest.is_none() {
        // What was written while no secret could be made has no seals: it is taken in this once.
        audit::catch_up(connection, database, None, clock.clone())?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let begun = audit::begin(&transaction, secret, clock())?;
    tenants::testfirma::seal(&transaction, None)?;
    transaction.commit()?;
    Ok(begun)
}

/// Finds the secret that a copy of a database was sealed with, beside one of these databases. Returns it without its
/// beginnings, because the copy may be older than the newest.
pub fn secret_of(copy: &Connection, beside: &[&Path]) -> Result<Option<Secret>> {
    for database in beside {
        let Ok(Some(secret)) = Secret::read(database) else { continue };
        seal::install(copy, Some(&secret))?;
        if audit::newest_beginning(copy, &secret)?.is_some_and(|(_, ours)| ours) {
            return Ok(Some(secret.without_beginnings()));
        }
    }
    seal::install(copy, None)?;
    Ok(None)
}

/// The secret, and the beginning, with which a restored database continues.
pub struct Restored {
    secret: Secret,
    begun: Seal,
}

/// Installs the secret for sealing in a restored copy: the one beside the replaced database, else the one beside
/// the backup, else a new one.
pub fn take_over(
    copy: &mut Connection,
    part: &Path,
    backup: &Path,
    database: &Path,
    clock: &Clock,
) -> Result<Option<Restored>> {
    let found = Secret::read(database).and_then(|own| {
        let found = own.or_else(|| Secret::read(backup).ok().flatten());
        found.map_or_else(|| Secret::create(database), Ok)
    });
    let Some(secret) = usable(found) else { return Ok(None) };
    seal::install(copy, Some(&secret))?;
    let begun = begin(copy, part, &secret, clock)?;
    Ok(Some(Restored { secret, begun }))
}

impl Restored {
    /// Stores the secret with the beginnings of both databases, so that it fits whichever is in place.
    pub fn before_exchange(&mut self, database: &Path) -> Result<()> {
        let old = Secret::read(database).ok().flatten();
        let old = old.map_or(Vec::new(), |old| old.begun);
        let both: Vec<Seal> = old.into_iter().chain([self.begun]).collect();
        self.secret.set_begun(database, &both)
    }

    pub fn after_exchange(&mut self, database: &Path) -> Result<()> {
        self.secret.set_begun(database, &[self.begun])
    }
}

/// Returns the first fault in the chain of evidence, as a German sentence that names the record.
pub fn broken_evidence(connection: &Connection, is_sealed: bool, clock: &Clock) -> Result<Option<String>> {
    let now = clock();
    let emptied = tenants::testfirma::all(connection, is_sealed)?;
    let mut forgotten = HashSet::new();
    for tenant in tenants::list(connection)? {
        let attachments = kunden::forgotten_attachments(&Tx::new(connection, tenant.id, now))?;
        forgotten.extend(attachments.into_iter().map(|id| (tenant.id, id)));
    }
    // Test companies are emptied, and partners forgotten.
    let may_be_gone = |tenant, subject| match subject {
        _ if emptied.contains(&tenant) => true,
        Subject::Attachment(id) => forgotten.contains(&(tenant, id)),
        _ => false,
    };
    let broken = evidence::verify(connection, is_sealed, may_be_gone, |tenant, subject| {
        let tx = Tx::new(connection, tenant, now);
        match subject {
            Subject::Attachment(_) => anhaenge::digest(&tx, subject),
            Subject::Partner(..) => kunden::digest(&tx, subject),
            _ => belege::digest(&tx, subject),
        }
    })?;
    if broken.is_some() {
        return Ok(broken);
    }
    inserted_subject(connection, now)
}

/// Returns the first record without evidence, as a German sentence: something other than partnerd inserted it.
fn inserted_subject(connection: &Connection, now: Instant) -> Result<Option<String>> {
    for tenant in tenants::list(connection)? {
        let tx = Tx::new(connection, tenant.id, now);
        let inserted = belege::without_evidence(&tx)?
            .into_iter()
            .chain(anhaenge::without_evidence(&tx)?)
            .chain(kunden::without_evidence(&tx)?)
            .next();
        if let Some(subject) = inserted {
            return Ok(Some(format!("{subject} wurde eingefügt")));
        }
    }
    Ok(None)
}
