//! Since when the chains are sealed, and with which secret. Each beginning is a row that names its secret;
//! what is older is proved by checksums alone.

use rusqlite::{Connection, params};

use crate::platform::db::all;
use crate::platform::db::seals::chain;
use crate::platform::db::seals::seal::{Seal, Secret};
use crate::platform::failure::Result;
use crate::rules::bytes::hex;
use crate::rules::day::Instant;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sealed {
    /// They are made with the secret that stands beside the database, since then; what is said of it.
    Since(Instant, String),
    /// There are none that could be looked at: why.
    Not(String),
    /// They were removed or altered: how.
    Broken(String),
}

struct Beginning {
    number: i64,
    am: Instant,
    secret: Vec<u8>,
    anlass: String,
    seal: Seal,
    /// Its seal is the one that this machine makes.
    holds: bool,
}

impl Beginning {
    fn since(&self) -> Sealed {
        let why = match self.anlass.as_str() {
            "neu" => "seit die Datenbank angelegt wurde",
            _ => "seit ein anderes Geheimnis daneben liegt; Älteres beweisen nur Prüfsummen",
        };
        let how = format!("mit dem Geheimnis {} seit {}, {why}", hex(&self.secret), self.am);
        Sealed::Since(self.am, how)
    }
}

/// The seal of a beginning covers the one before it.
const BEGINNING: &str = "siegel('siegel_beginn', b.nr, b.am, b.geheimnis, b.anlass,
    (select mac from siegel_beginn where nr = b.nr - 1))";

fn beginnings(connection: &Connection) -> rusqlite::Result<Vec<Beginning>> {
    let rows = format!(
        "select b.nr, b.am, b.geheimnis, b.anlass, b.mac, b.mac is {BEGINNING} from siegel_beginn b order by b.nr"
    );
    all(connection, &rows, [], |row| {
        Ok(Beginning {
            number: row.get(0)?,
            am: row.get(1)?,
            secret: row.get(2)?,
            anlass: row.get(3)?,
            seal: row.get(4)?,
            holds: row.get(5)?,
        })
    })
}

/// Said if the secret has sealed this database, and the database knows nothing of it.
const REMOVED: &str = "die Siegel wurden entfernt, oder hier wurde von Hand eine andere Datenbank hingelegt: mit \
     `partnerd restore` eine gute Sicherung zurückholen, oder, um bewusst so weiterzumachen, den Server anhalten \
     und das Geheimnis wegräumen";

/// What the seals are worth on a connection that seals with this secret.
pub fn sealed(connection: &Connection, secret: Option<&Secret>) -> Result<Sealed> {
    let Ok(beginnings) = beginnings(connection) else {
        return Ok(Sealed::Broken("ein Anfang der Siegel wurde geändert".to_owned()));
    };
    if let Some((expected, _)) = (1..).zip(&beginnings).find(|(expected, found)| *expected != found.number) {
        return Ok(Sealed::Broken(format!("Anfang {expected} der Siegel wurde entfernt")));
    }
    let Some(secret) = secret else {
        return Ok(Sealed::Not(
            "neben der Datenbank liegt kein lesbares Geheimnis: Was jemand änderte, der die Prüfsummen neu \
             rechnete, wird nicht gefunden"
                .to_owned(),
        ));
    };
    let (newest, id) = (beginnings.last(), secret.id());
    // What the file says was made with it: no other row may stand in its place.
    let is_known =
        |newest: &Beginning| secret.begun.contains(&newest.seal) && newest.secret == id && newest.holds;
    if !secret.begun.is_empty() && !newest.is_some_and(is_known) {
        return Ok(Sealed::Broken(REMOVED.to_owned()));
    }
    let Some(newest) = newest else {
        return Ok(Sealed::Not("versiegelt wird erst ab dem nächsten Start des Servers".to_owned()));
    };
    if newest.secret != id {
        return Ok(Sealed::Not(format!(
            "versiegelt wurde mit einem anderen Geheimnis ({}) als dem daneben ({}): es beweisen nur Prüfsummen",
            hex(&newest.secret),
            hex(&id)
        )));
    }
    if let Some(altered) = beginnings.iter().find(|beginning| beginning.secret == id && !beginning.holds) {
        return Ok(Sealed::Broken(format!("Anfang {} der Siegel wurde geändert", altered.number)));
    }
    Ok(newest.since())
}

/// Whether the newest beginning is that of a database which had nothing in it yet.
pub fn is_of_new_database(connection: &Connection) -> Result<bool> {
    let newest = "select exists (select 1 from siegel_beginn where anlass = 'neu' and nr = (select max(nr) \
         from siegel_beginn))";
    Ok(connection.query_row(newest, [], |row| row.get(0))?)
}

/// The seal of the newest beginning, and whether it was made with this secret.
pub fn newest_beginning(connection: &Connection, secret: &Secret) -> Result<Option<(Seal, bool)>> {
    let newest = beginnings(connection)?.pop();
    Ok(newest.map(|newest| (newest.seal, newest.secret == secret.id() && newest.holds)))
}

/// Begins to seal all chains as they stand, on a connection that seals with this secret; the seal of this beginning.
pub fn begin(connection: &Connection, secret: &Secret, now: Instant) -> Result<Seal> {
    let before: i64 = connection.query_row("select count(*) from siegel_beginn", [], |row| row.get(0))?;
    let is_used = "select exists (select 1 from kette where letzte_nr > 0)";
    let is_used: bool = connection.query_row(is_used, [], |row| row.get(0))?;
    let anlass = if before == 0 && !is_used { "neu" } else { "geheimnis" };
    connection.execute(
        &format!(
            "insert into siegel_beginn (nr, am, geheimnis, anlass, mac)
             select b.nr, b.am, b.geheimnis, b.anlass, {BEGINNING}
             from (select ?1 as nr, ?2 as am, ?3 as geheimnis, ?4 as anlass) b"
        ),
        params![before + 1, now, secret.id(), anlass],
    )?;
    chain::begin(connection)?;
    let seal = "select mac from siegel_beginn where nr = ?1";
    Ok(connection.query_row(seal, [before + 1], |row| row.get(0))?)
}
