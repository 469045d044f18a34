//! Checks that a state after a power cut is whole, and contains everything answered before.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::Connection;
use uuid::Uuid;

use super::disk::Image;
use super::writers::{Answered, Promise};
use crate::process::{Answer, Folder};

/// Writes a state into a separate folder.
pub fn lay_out(image: &Image, folder: &Path) {
    for (name, bytes) in image {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Opens a database with SQLite, like any program, and searches it for everything answered.
pub fn look(database: &Path, answered: &[Answered]) -> Result<(), String> {
    let connection = Connection::open(database).map_err(|error| error.to_string())?;
    let looked = is_whole(&connection).and_then(|()| {
        let requests = requests(&connection).map_err(|error| error.to_string())?;
        answered.iter().try_for_each(|answered| has(&connection, &requests, answered))
    });
    looked.and_then(|()| numbers_have_no_gap(&connection))
}

fn text(connection: &Connection, sql: &str) -> Result<String, String> {
    connection.query_row(sql, [], |row| row.get(0)).map_err(|error| format!("{sql}: {error}"))
}

/// Checks the structure of the file, its references, and the stock.
fn is_whole(connection: &Connection) -> Result<(), String> {
    let found = text(connection, "pragma integrity_check")?;
    if found != "ok" {
        return Err(format!("corrupt: integrity_check says {found}"));
    }
    let broken = count(connection, "select count(*) from pragma_foreign_key_check")?;
    let off = count(
        connection,
        "select coalesce((select sum(menge) from lagerbewegung), 0) - (select sum(bestand) from charge)",
    )?;
    let halves = "select count(*) from beleg b where not exists
        (select 1 from beleg_position p where p.tenant_id = b.tenant_id and p.beleg_id = b.id)";
    let halves = count(connection, halves)?;
    match (broken, off, halves) {
        (0, 0, 0) => Ok(()),
        _ => Err(format!(
            "{broken} broken references, stock off by {off}, {halves} documents without positions"
        )),
    }
}

/// Whether the audit log has rows older than the 90 days that a server keeps, counted from the last event of
/// a command.
pub fn has_old_rows(folder: &Folder) -> bool {
    let sql = "select count(*) from audit_tag where letzte_nr > ab_nr
        and tag < (select max(am) / 86400000 from verwaltung) - 90";
    count(&folder.database(), sql) != Ok(0)
}

fn count(connection: &Connection, sql: &str) -> Result<i64, String> {
    connection.query_row(sql, [], |row| row.get(0)).map_err(|error| format!("{sql}: {error}"))
}

/// The number of audit rows of each request.
fn requests(connection: &Connection) -> rusqlite::Result<HashMap<Uuid, usize>> {
    let mut statement = connection.prepare("select request_id from audit")?;
    let mut requests = HashMap::new();
    for id in statement.query_map([], |row| row.get(0))? {
        *requests.entry(id?).or_default() += 1;
    }
    Ok(requests)
}

/// Checks that the promise of an answer is stored, exactly once, in the first company.
fn has(connection: &Connection, requests: &HashMap<Uuid, usize>, answered: &Answered) -> Result<(), String> {
    let lost = |what: &str| {
        let Answered { at, request_id, promise } = answered;
        format!("{what}, answered at {at} (request {request_id}): {promise:?}")
    };
    let id =
        |id: &str| Uuid::parse_str(id).map_err(|_| lost("an answer without an id")).map(Uuid::into_bytes);
    let found = match &answered.promise {
        Promise::Beleg { id: beleg, nummer, sent } => {
            let sql = "select count(*) from beleg where tenant_id = 1 and external_ref = ?1 and beleg_nummer = \
                       ?2 and id = ?3";
            let external_ref = sent["external_ref"].as_str();
            connection.query_row(sql, (external_ref, nummer, id(beleg)?), |row| row.get(0))
        }
        Promise::Kunde { id: kunde, kundennr } => {
            let sql = "select count(*) from kunde where tenant_id = 1 and kundennr = ?1 and id = ?2";
            connection.query_row(sql, (kundennr, id(kunde)?), |row| row.get(0))
        }
        Promise::Storno { id: beleg, counter, nummer } => {
            let sql = "select count(*) from beleg a join beleg b on b.tenant_id = a.tenant_id and \
                       b.storno_von_beleg_id = a.id
                where a.tenant_id = 1 and a.status = 'storniert' and a.id = ?1 and b.id = ?2 and b.beleg_nummer = ?3";
            connection.query_row(sql, (id(beleg)?, id(counter)?, nummer), |row| row.get(0))
        }
        Promise::Notiz { table, id: of, at_least } => {
            let sql = format!(
                "select count(*) from {table} where tenant_id = 1 and id = ?1 and cast(notizen as integer) >= ?2"
            );
            connection.query_row(&sql, (id(of)?, at_least), |row| row.get(0))
        }
        Promise::Anhang { id: anhang, bytes } => {
            let sql = "select count(*) from anhang where tenant_id = 1 and id = ?1 and length(inhalt) = ?2";
            connection.query_row(sql, (id(anhang)?, bytes), |row| row.get(0))
        }
        Promise::Abrechnung { id: abrechnung, schein, nummer } => {
            let sql = "select count(*) from abrechnung a
                join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
                join annahmeschein s on s.tenant_id = a.tenant_id and s.id = x.annahmeschein_id and \
                s.abrechnung_id = a.id
                join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
                where a.tenant_id = 1 and a.id = ?1 and s.id = ?2 and b.beleg_nummer = ?3 and b.status = \
                'abgeschlossen'";
            connection.query_row(sql, (id(abrechnung)?, id(schein)?, nummer), |row| row.get(0))
        }
        Promise::Stapel { id: stapel, nr, belege } => {
            let sql = "select count(*) from datev_stapel s where s.tenant_id = 1 and s.id = ?1 and s.nr = ?2 and ?3 =
                  (select count(*) from datev_beleg d where d.tenant_id = s.tenant_id and d.stapel_nr = s.nr)
                and exists (select 1 from datev_datei f where f.tenant_id = s.tenant_id and f.stapel_nr = s.nr)";
            connection.query_row(sql, (id(stapel)?, nr, belege), |row| row.get(0))
        }
        Promise::Liste => Ok(1),
    };
    match found {
        Ok(1) => {}
        Ok(0) => return Err(lost("lost")),
        Ok::<i64, _>(times) => return Err(lost(&format!("there {times} times"))),
        Err(error) => return Err(lost(&error.to_string())),
    }
    match Uuid::parse_str(&answered.request_id).ok().and_then(|id| requests.get(&id)) {
        Some(1) => Ok(()),
        rows => Err(lost(&format!("{} audit rows", rows.copied().unwrap_or(0)))),
    }
}

/// The number of audit rows of an answered request.
pub fn audit_rows(folder: &Folder, answer: &Answer) -> Result<i64, String> {
    let id = Uuid::parse_str(&answer.request_id).map_err(|error| error.to_string())?;
    let sql = "select count(*) from audit where request_id = ?1";
    folder.database().query_row(sql, [id], |row| row.get(0)).map_err(|error| error.to_string())
}

/// The last number of each series equals its number of documents; numbers are unique.
fn numbers_have_no_gap(connection: &Connection) -> Result<(), String> {
    let gaps = "select group_concat(reihe || ' ' || jahr) from nummernkreis n
        where reihe = 'RE' and letzte <> (select count(*) from beleg b
            where b.tenant_id = n.tenant_id and b.beleg_nummer like n.reihe || '-' || n.jahr || '-%')";
    let gaps: Option<String> =
        connection.query_row(gaps, [], |row| row.get(0)).map_err(|error| error.to_string())?;
    gaps.map_or(Ok(()), |gaps| Err(format!("the numbers have a gap: {gaps}")))
}

/// Checks a state with the executable itself. Without the secret it proves less and succeeds, so that must exist, too.
pub fn prove(folder: &Folder) -> Result<(), String> {
    for command in [&["check"][..], &["audit", "verify"]] {
        let output = folder.run(command);
        let [said, why] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        if !output.status.success() || why.contains("no secret beside the database") {
            return Err(format!("{command:?} says: {said}{why}"));
        }
    }
    Ok(())
}

/// Starts a server on a state and repeats each answered document: the existing one is returned.
pub fn repeat(folder: &Folder, key: &str, answered: &[Answered]) -> Result<(), String> {
    let server = std::panic::catch_unwind(|| folder.serve(&[])).map_err(|_| "no server starts on it")?;
    let client = server.client(key);
    for answered in answered {
        let Promise::Beleg { id, nummer, sent } = &answered.promise else { continue };
        let again = client.send("POST", "/api/v1/belege", Some(sent)).map_err(|error| error.to_string())?;
        let same = again.body["id"] == id.as_str() && again.body["beleg_nummer"] == nummer.as_str();
        if again.status != 200 || !same {
            return Err(format!("a repeat of {nummer} is answered {} {}", again.status, again.body));
        }
    }
    Ok(())
}
