//! Proving both logs: checksums of all rows, and their seals where they were made with the secret of this
//! machine. What a proof of the file alone cannot find, old rows that were put back together with their old
//! head, a backup shows, and a head that was written down.

use rusqlite::Connection;

use super::adding::CHAIN;
use super::beginning::{Sealed, sealed};
use crate::platform::db::migrate::is_of_this_version;
use crate::platform::db::seals::chain::Proof;
use crate::platform::db::seals::evidence;
use crate::platform::db::seals::seal::Secret;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::key::mac_secret;
use crate::platform::gate::administration;
use crate::rules::day::Instant;

/// Rows after which somebody who watches hears of it.
const ROWS_BETWEEN_LOOKS: i64 = 1_000;

/// Proves both logs; run it on one snapshot of a connection that seals with this secret. `watch` is told now and then
/// how many requests have been looked at, of how many; a failure of it ends the proof.
pub fn verify(
    connection: &Connection,
    secret: Option<&Secret>,
    now: Instant,
    mut watch: impl FnMut(i64, i64) -> Result<()>,
) -> Result<Proof> {
    let is_sealed = match sealed(connection, secret)? {
        Sealed::Since(..) => true,
        Sealed::Not(_) => false,
        Sealed::Broken(sentence) => return Ok(Err(sentence)),
    };
    let too_new = "select exists (select 1 from kette where ab_tag >= ?1)";
    if connection.query_row(too_new, [now.utc_day()], |row| row.get(0))? {
        return Ok(Err("Tage, die noch nicht vorbei sind, wurden gelöscht".to_owned()));
    }
    // A head that cannot be read is found below.
    let head = CHAIN.head(connection).ok().flatten();
    let (mut seen, all) = (0, head.map_or(0, |head| head.last.saturating_sub(head.dropped)));
    let requests = CHAIN.verify(connection, is_sealed, |_| {
        seen += 1;
        if seen % ROWS_BETWEEN_LOOKS == 0 || seen == all {
            watch(seen, all)?;
        }
        Ok(None)
    })?;
    let Ok(requests) = requests else { return Ok(requests) };
    Ok(administration::CHAIN.verify(connection, is_sealed, |_| Ok(None))?.map(|changes| requests + changes))
}

/// The first thing of a backup that is missing or different, in words: of both logs and of the evidence.
pub fn against(connection: &Connection, backup: &Connection) -> Result<Option<String>> {
    if !is_of_this_version(backup)? {
        return Err(Failure::Broken(
            "die Sicherung ist auf einem älteren Stand: sie woanders zurückholen, dann vergleichen".into(),
        ));
    }
    if mac_secret(connection)? != mac_secret(backup)? {
        return Err(Failure::Broken("das ist die Sicherung einer anderen Datenbank".into()));
    }
    for chain in [&CHAIN, &administration::CHAIN, &evidence::CHAIN] {
        if let Some(missing) = chain.against(connection, backup)? {
            return Ok(Some(missing));
        }
    }
    Ok(None)
}
