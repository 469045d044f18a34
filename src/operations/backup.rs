//! Backup and restore: makes a verified copy of a database in use, and puts one back (P10).

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use serde::Serialize;

use super::check::check;
use super::sealing::{self, secret_of};
use crate::platform::db::error::is_damage;
use crate::platform::db::file::connection::open_writer;
use crate::platform::db::file::copy::{copy, fill_at_once, part_of};
use crate::platform::db::file::files::{
    beside, broken, create_private, folder_of, if_there, make_private, refuse_existing, remove, remove_file,
    replace, sync, sync_folder,
};
use crate::platform::db::file::lock;
use crate::platform::db::file::owner::give_to_owner_of;
use crate::platform::db::migrate::{check_current, migrate_in_place};
use crate::platform::db::seals::seal::Secret;
use crate::platform::db::seals::{chain, evidence};
use crate::platform::db::{Clock, TenantId, feed, log};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::{administration, audit};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Content {
    pub file: String,
    pub bytes: u64,
    pub companies: i64,
    pub customers: i64,
    pub documents: i64,
    pub weighings: i64,
    pub receipts: i64,
    pub audit_rows: i64,
    /// Where the audit log ends: number and checksum of its last row.
    pub audit_head: Option<String>,
    /// Where the administration log and the chain of evidence end, in the same format.
    pub changes_head: Option<String>,
    pub evidence_head: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    #[serde(flatten)]
    pub content: Content,
    /// Where the previous database was moved, if there was one.
    pub set_aside: Option<PathBuf>,
}

/// First step that backup and restore report.
pub const COPYING: &str = "die Datenbank wird kopiert";

/// Last step of a restore: after it the copy is the database.
pub const EXCHANGING: &str = "die Datenbank wird ausgetauscht";

/// Copies a database, even while a server or commands use it. `began` gets the name of each step; if it
/// fails, the backup stops and leaves nothing behind. While the pages are copied a server cannot empty its
/// write-ahead log; therefore it makes its own backups through its writer ([`backup_by`]).
pub fn backup(
    database: &Path,
    target: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Content> {
    let fill = |part: &Path| fill_at_once(&open_writer(database)?, part);
    backup_by(fill, database, target, clock, began)
}

/// Makes a copy of the database with `fill` and verifies it. A copy that fails the check is kept under
/// another name, since it may be the best one left.
pub fn backup_by(
    fill: impl FnOnce(&Path) -> Result<()>,
    database: &Path,
    target: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Content> {
    check_can_copy(database, target)?;
    let is_given_up = Cell::new(false);
    let began = |step: &str| began(step).inspect_err(|_| is_given_up.set(true));
    began(COPYING)?;
    let part = part_of(target);
    discard(&part)?;
    let mut proof = None;
    // Copies the journal before the database: its rows that the copied database lacks are added to the copy below.
    let copied = copy_journal(database, &part).and_then(|()| {
        copy(target, fill, |part| {
            let mut connection = open_writer(part)?;
            let secret = secret_of(&connection, &[database])?;
            chain::note_copied(&connection)?;
            audit::catch_up(&mut connection, part, secret.as_ref(), clock.clone())?;
            let proved = prove(&mut connection, secret.as_ref(), target, clock, &began);
            if is_given_up.get() {
                return proved;
            }
            proof = Some(proved.and_then(|()| count(&connection, target)));
            // Leaves a single file, without a log beside it.
            connection.execute_batch("pragma journal_mode = delete")?;
            Ok(())
        })
    });
    discard(&part)?;
    copied?;
    match proof {
        Some(Ok(content)) => finished(target, content),
        Some(Err(failure)) => Err(set_aside_not_proved(target, &failure)?),
        None => Err(Failure::Broken("die Kopie wurde nicht geprüft".to_owned())),
    }
}

/// Completes the content of a finished backup with its size, and logs where its chains end.
fn finished(target: &Path, content: Content) -> Result<Content> {
    let heads = [&content.audit_head, &content.changes_head, &content.evidence_head];
    let heads = heads.map(|head| head.as_deref().unwrap_or("none")).join(", ");
    tracing::info!("the backup {} ends with {heads}", target.display());
    Ok(Content { bytes: size(target)?, ..content })
}

/// Refuses if the target exists or its folder does not, or if the database is not of this version.
fn check_can_copy(database: &Path, target: &Path) -> Result<()> {
    refuse_existing(target)?;
    if !check_current(database)? {
        return Err(Failure::Broken(format!(
            "{} ist auf einem älteren Stand: `partnerd migrate` hebt eine Kopie auf und bringt sie auf den \
             dieser Version",
            database.display()
        )));
    }
    if !folder_of(target).is_dir() {
        return Err(Failure::Broken(format!(
            "{} kann nicht angelegt werden: den Ordner {} gibt es nicht",
            target.display(),
            folder_of(target).display()
        )));
    }
    Ok(())
}

fn set_aside_not_proved(target: &Path, failure: &Failure) -> Result<Failure> {
    let kept = not_proved(target);
    fs::rename(target, &kept).map_err(broken(target, "kann nicht umbenannt werden"))?;
    Ok(Failure::Broken(format!(
        "{}. Die Datenbank lassen, wie sie ist, und die letzte gute Sicherung zurückholen. Die Kopie ist als {} \
         aufgehoben",
        failure.in_german(),
        kept.display()
    )))
}

pub fn not_proved(target: &Path) -> PathBuf {
    beside(target, "not-proved")
}

/// Replaces a database by a backup. No server and no other command may use it meanwhile. The previous
/// database is kept beside it, and at every moment there is a database.
pub fn restore(
    database: &Path,
    backup: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Restored> {
    let _no_server = lock::without_server(database)?;
    let _no_command = lock::for_exchange(database)?;
    if !backup.is_file() {
        return Err(Failure::Broken(format!("die Sicherung {} gibt es nicht", backup.display())));
    }
    if fs::canonicalize(backup).ok() == fs::canonicalize(database).ok() {
        return Err(Failure::Broken(format!("{} ist die Datenbank selbst", backup.display())));
    }
    // The backup may be the file of a server; this lock keeps that server from writing to it.
    let _unused = beside(backup, "lock").exists().then(|| lock::without_server(backup)).transpose()?;
    began(COPYING)?;
    let part = beside(database, "restore-part");
    discard(&part)?;
    let prepared =
        prepare(backup, &part, database, clock, &began).map_err(|failure| damaged(backup, failure));
    let restored = prepared.and_then(|(content, mut sealing)| {
        began(EXCHANGING)?;
        // Root may restore for the service user, who must own the file.
        let of = if database.exists() { database } else { folder_of(database) };
        let foreign = broken(database, "gehört einem anderen Benutzer: als dieser zurückholen");
        give_to_owner_of(of, &part).map_err(foreign)?;
        sync(&part)?;
        let set_aside = set_aside(database, clock)?;
        sealing.iter_mut().try_for_each(|sealing| sealing.before_exchange(database))?;
        replace(&part, database)?;
        sealing.iter_mut().try_for_each(|sealing| sealing.after_exchange(database))?;
        let content = Content { file: database.display().to_string(), bytes: size(database)?, ..content };
        Ok(Restored { content, set_aside })
    });
    discard(&part)?;
    restored
}

/// Names the backup in the error if it is damaged.
fn damaged(backup: &Path, failure: Failure) -> Failure {
    match failure {
        Failure::Sql(error) if is_damage(&error) => {
            no_backup(format!("die Sicherung {} ist beschädigt", backup.display()))
        }
        other => other,
    }
}

/// Error for a file that is damaged or no backup, with advice.
fn no_backup(why: String) -> Failure {
    Failure::Broken(format!("{why}: eine ältere Sicherung zurückholen; die Datenbank bleibt, wie sie ist"))
}

/// Deletes an unfinished copy with all files beside it; does nothing if the copy was finished.
fn discard(part: &Path) -> Result<()> {
    remove(part)?;
    let locks = ["lock", "migrate-lock"].map(str::to_owned);
    journal(part)?.chain(locks).try_for_each(|ending| remove_file(&beside(part, &ending)))
}

/// Returns the suffixes that the files of the audit journal add to the name of their database.
pub fn journal(database: &Path) -> Result<impl Iterator<Item = String>> {
    Ok(audit::segments(database)?.into_iter().map(|segment| format!("audit-journal-{segment}")))
}

/// Makes a verified copy of a backup, migrated to the schema of this version. Includes the write-ahead log
/// and the journal beside the backup, which may be the file of a server that was killed.
fn prepare(
    backup: &Path,
    part: &Path,
    database: &Path,
    clock: &Clock,
    began: &impl Fn(&str) -> Result<()>,
) -> Result<(Content, Option<sealing::Restored>)> {
    create_private(part)?;
    let copied = fs::copy(backup, part).and_then(|_| {
        let (log, copy) = (beside(backup, "wal"), beside(part, "wal"));
        if log.exists() { fs::copy(log, copy).map(drop) } else { Ok(()) }
    });
    copied.map_err(broken(part, "kann nicht geschrieben werden"))?;
    make_private(part)?;
    copy_journal(backup, part)?;
    let not_ours =
        |_| no_backup(format!("{} ist keine Sicherung von partnerd, oder beschädigt", backup.display()));
    let is_ours = Connection::open(part)?.query_row("select count(*) from installation", [], |_| Ok(()));
    is_ours.map_err(not_ours)?;
    if !check_current(part)? {
        // No other copy of the older schema is needed: the backup itself is one.
        migrate_in_place(part, clock())?;
    }
    let mut connection = open_writer(part)?;
    let secret = secret_of(&connection, &[backup, database])?;
    audit::catch_up(&mut connection, part, secret.as_ref(), clock.clone())?;
    prove(&mut connection, secret.as_ref(), backup, clock, began).map_err(|failure| match failure {
        Failure::Broken(why) => no_backup(why),
        other => other,
    })?;
    let sealing = sealing::take_over(&mut connection, part, backup, database, clock)?;
    let content = count(&connection, backup)?;
    chain::forget_copied(&connection)?;
    feed::begin_epoch(&connection)?;
    connection.execute_batch("pragma journal_mode = delete")?;
    Ok((content, sealing))
}

/// Gives the existing database a second name, so that the copy can take over the first. Moves the files beside the
/// first name to the second, so that the copy meets none of them.
fn set_aside(database: &Path, clock: &Clock) -> Result<Option<PathBuf>> {
    let instant: String = clock().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = beside(database, &format!("before-restore-{instant}"));
    refuse_existing(&aside)?;
    let kept = broken(&aside, "kann nicht angelegt werden");
    let is_there = database.exists();
    if is_there {
        match open_writer(database).and_then(|connection| close_whole(connection, database, clock)) {
            Ok(()) => {}
            Err(Failure::Busy(why)) => return Err(Failure::Broken(why)),
            // A damaged database is kept as it is.
            Err(failure) => log(&format!("the database of before is kept as it is: {failure}")),
        }
        // File systems without hard links (FAT) get a copy.
        fs::hard_link(database, &aside).or_else(|_| fs::copy(database, &aside).map(drop)).map_err(kept)?;
        sync_folder(&aside)?;
    }
    // An intact database leaves no side files; any that exist belong to one that is damaged or gone.
    for ending in journal(database)?.chain(["wal", "shm", "journal"].map(str::to_owned)) {
        if_there(fs::rename(beside(database, &ending), beside(&aside, &ending))).map_err(kept)?;
    }
    sync_folder(&aside)?;
    Ok(is_there.then_some(aside))
}

/// Moves everything beside a database into its file; refuses while another process has it open.
fn close_whole(mut connection: Connection, database: &Path, clock: &Clock) -> Result<()> {
    let secret = Secret::read(database)?;
    audit::catch_up(&mut connection, database, secret.as_ref(), clock.clone())?;
    connection.busy_timeout(Duration::from_secs(2))?;
    let mode = connection.query_row("pragma journal_mode = delete", [], |row| row.get::<_, String>(0));
    match mode {
        Ok(mode) if mode == "delete" => Ok(()),
        Ok(_) => Err(in_use(database)),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
            Err(in_use(database))
        }
        Err(error) => Err(error.into()),
    }
}

fn in_use(database: &Path) -> Failure {
    Failure::Busy(format!("ein anderes Programm hat {} offen: es zuerst beenden", database.display()))
}

fn prove(
    connection: &mut Connection,
    secret: Option<&Secret>,
    named: &Path,
    clock: &Clock,
    began: &impl Fn(&str) -> Result<()>,
) -> Result<()> {
    let lines = check(connection, secret, clock, began)?;
    match lines.iter().find(|line| line.violations > 0) {
        None => Ok(()),
        Some(line) => Err(Failure::Broken(format!(
            "{} ist nicht heil: „{}“ ist {}-mal verletzt{}",
            named.display(),
            line.rule,
            line.violations,
            line.finding.as_ref().map_or(String::new(), |finding| format!(" ({finding})"))
        ))),
    }
}

fn count(connection: &Connection, named: &Path) -> Result<Content> {
    let rows = |table: &str| -> Result<i64> {
        Ok(connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0))?)
    };
    Ok(Content {
        file: named.display().to_string(),
        bytes: 0,
        companies: rows("tenant")?,
        customers: rows("kunde")?,
        documents: rows("beleg")?,
        weighings: rows("wiegung")?,
        receipts: rows("bon")?,
        audit_rows: rows("audit")?,
        audit_head: audit::CHAIN.end_in_words(connection)?,
        changes_head: administration::CHAIN.end_in_words(connection)?,
        evidence_head: evidence::CHAIN.end_in_words(connection)?,
    })
}

/// Counts the documents, weighings and partners of a company.
pub fn holdings(connection: &Connection, tenant: TenantId) -> Result<[i64; 3]> {
    let rows = |table: &str| -> Result<i64> {
        let statement = format!("select count(*) from {table} where tenant_id = ?1");
        Ok(connection.query_row(&statement, [tenant], |row| row.get(0))?)
    };
    Ok([rows("beleg")?, rows("wiegung")?, rows("kunde")?])
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).map_err(broken(path, "kann nicht gelesen werden"))?.len())
}

/// Copies the segments of the audit journal to those of another database. A segment that vanishes meanwhile
/// was moved into the database before the copy of the database begins.
fn copy_journal(database: &Path, other: &Path) -> Result<()> {
    for ending in journal(database)? {
        let copy = beside(other, &ending);
        if_there(fs::copy(beside(database, &ending), &copy))
            .map_err(broken(&copy, "kann nicht geschrieben werden"))?;
    }
    Ok(())
}
