//! People (D27): who they are, the links with which they set a password, and their sessions. Links and
//! cookies are stored only as digests.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::choice;
use crate::platform::db::{TenantId, random};
use crate::platform::failure::Result;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::bytes::hex;
use crate::rules::changed::Changed;
use crate::rules::choice::Choice;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

const PEOPLE_MAX: i64 = 1_000;

/// Most sessions of a person; beyond it the oldest end.
const SESSIONS_OF_PERSON_MAX: i64 = 10;

/// How long a link is valid, in milliseconds: an hour.
pub const LINK_MILLIS: i64 = 60 * 60 * 1_000;

/// How long a session lasts, in milliseconds: twelve hours.
pub const SESSION_MILLIS: i64 = 12 * 60 * 60 * 1_000;

const NAME_CHARACTERS_MAX: usize = 60;

choice! {
    /// `Access::rights` says what each role may see and change.
    pub enum Rolle {
        Ansehen = "ansehen",
        Buero = "buero",
        Verwalten = "verwalten",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The number, as in the audit log.
    pub id: i64,
    pub name: String,
    pub rolle: Rolle,
    /// The companies that they see; `None` means all.
    pub firmen: Option<Vec<TenantId>>,
    pub aktiv: bool,
    pub has_password: bool,
}

/// The state of a person's access, as programs compare it.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum State {
    #[serde(rename = "deactivated")]
    Deactivated,
    #[serde(rename = "no password yet")]
    NoPassword,
    #[serde(rename = "active")]
    Active,
}

impl State {
    pub fn in_words(self) -> &'static str {
        match self {
            State::Deactivated => "gesperrt",
            State::NoPassword => "noch ohne Passwort",
            State::Active => "aktiv",
        }
    }
}

impl Rolle {
    /// What the role may do, in German.
    pub const fn meaning(self) -> &'static str {
        match self {
            Rolle::Ansehen => "sieht alles, ändert nichts",
            Rolle::Buero => "schreibt Belege, wiegt, pflegt Partner, Artikel, Kontrakte und Bestand",
            Rolle::Verwalten => "ändert auch Schlüssel, Einstellungen und Angaben der Firma",
        }
    }
}

impl Person {
    pub fn sees(&self, firma: TenantId) -> bool {
        self.firmen.as_ref().is_none_or(|firmen| firmen.contains(&firma))
    }

    pub fn state(&self) -> State {
        match (self.aktiv, self.has_password) {
            (false, _) => State::Deactivated,
            (true, false) => State::NoPassword,
            (true, true) => State::Active,
        }
    }

    /// The administration event of a change of their access.
    pub fn event(&self, tat: AdminAction) -> AdminEvent {
        AdminEvent::new(tat, Art::Zugang).id(self.id).name(&self.name)
    }

    pub fn manages_installation(&self) -> bool {
        self.rolle == Rolle::Verwalten && self.firmen.is_none()
    }
}

const SELECT_PERSON: &str =
    "select p.id, p.name, p.rolle, p.alle_firmen, p.aktiv, p.hash is not null from person p";

fn person(connection: &Connection, row: &Row<'_>) -> Result<Person> {
    let (id, alle): (i64, bool) = (row.get(0)?, row.get(3)?);
    let firmen = match alle {
        true => None,
        false => {
            let mut statement = connection
                .prepare_cached("select firma_id from person_firma where person_id = ?1 order by firma_id")?;
            Some(statement.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
        }
    };
    Ok(Person {
        id,
        name: row.get(1)?,
        rolle: Rolle::parse(row.get_ref(2)?.as_str().unwrap_or_default()).unwrap_or(Rolle::Ansehen),
        firmen,
        aktiv: row.get(4)?,
        has_password: row.get(5)?,
    })
}

fn first(connection: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<Option<Person>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(|row| person(connection, row)).transpose()
}

pub fn list(connection: &Connection) -> Result<Vec<Person>> {
    let mut statement = connection.prepare_cached(&format!("{SELECT_PERSON} order by p.name"))?;
    statement.query_and_then([], |row| person(connection, row))?.collect()
}

/// Finds a person by name, ignoring case.
pub fn find(connection: &Connection, name: &str) -> Result<Option<Person>> {
    first(connection, &format!("{SELECT_PERSON} where p.name = ?1"), [name.trim()])
}

pub fn by_id(connection: &Connection, id: i64) -> Result<Option<Person>> {
    first(connection, &format!("{SELECT_PERSON} where p.id = ?1"), [id])
}

pub fn is_anybody(connection: &Connection) -> Result<bool> {
    Ok(connection.prepare_cached("select 1 from person limit 1")?.exists([])?)
}

/// Adds a person who sees these companies, or all with `None`; returns their number.
pub fn create(
    connection: &Connection,
    name: &str,
    rolle: Rolle,
    firmen: Option<&[TenantId]>,
    now: Instant,
) -> Result<i64> {
    let refused = |message: String| Err(Refusal::field(Code::WertUngueltig, "name", message).into());
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARACTERS_MAX || name.chars().any(char::is_control) {
        return refused(format!("Der Name braucht 1 bis {NAME_CHARACTERS_MAX} Zeichen in einer Zeile."));
    }
    if find(connection, name)?.is_some() {
        return refused("Diesen Namen hat schon jemand. Bitte einen anderen wählen.".to_owned());
    }
    if connection.query_row("select count(*) from person", [], |row| row.get::<_, i64>(0))? >= PEOPLE_MAX {
        return refused(format!("Mehr als {PEOPLE_MAX} Personen sind nicht vorgesehen."));
    }
    connection.execute(
        "insert into person (name, rolle, alle_firmen, angelegt_am) values (?1, ?2, ?3, ?4)",
        params![name, rolle.as_str(), firmen.is_none(), now],
    )?;
    let id = connection.last_insert_rowid();
    for firma in firmen.unwrap_or_default() {
        connection.execute(
            "insert into person_firma (person_id, firma_id) values (?1, ?2) on conflict do nothing",
            params![id, firma],
        )?;
    }
    Ok(id)
}

/// The administration event of a new person who sees these companies; all if none are named.
pub fn created(id: i64, name: &str, rolle: Rolle, firmen: &[&str]) -> AdminEvent {
    let granted = [Changed::of("role", "", rolle.as_str()), Changed::of("companies", "", firmen.join(", "))];
    let event = AdminEvent::new(AdminAction::Angelegt, Art::Zugang).id(id).name(name.trim());
    event.changing(granted.into_iter().flatten())
}

pub fn name_of(id: i64, people: &[Person]) -> String {
    let person = people.iter().find(|person| person.id == id);
    person.map_or_else(|| format!("Person {id}"), |person| person.name.clone())
}

pub const FIRST_PERSON_NAME: &str = "Leitung";

/// Makes the link with which the first person begins, if nobody has a password yet. Returns the person and
/// the secret, or no secret if an earlier link is still valid.
pub fn first_link(connection: &Connection, now: Instant) -> Result<Option<(Person, Option<String>)>> {
    if connection.prepare("select 1 from person where hash is not null limit 1")?.exists([])? {
        return Ok(None);
    }
    if !is_anybody(connection)? {
        create(connection, FIRST_PERSON_NAME, Rolle::Verwalten, None, now)?;
    }
    let person = list(connection)?.into_iter().find(|person| person.aktiv && person.manages_installation());
    let Some(person) = person else { return Ok(None) };
    let holds = "select 1 from person_link where person_id = ?1 and bis > ?2";
    if connection.prepare(holds)?.exists(params![person.id, now.millis()])? {
        return Ok(Some((person, None)));
    }
    let secret = secret()?;
    store_link(connection, person.id, &secret, now)?;
    Ok(Some((person, Some(secret))))
}

/// Activates or deactivates a person. Deactivation ends their sessions and their link at once.
pub fn set_active(connection: &Connection, id: i64, active: bool) -> Result<()> {
    connection.execute("update person set aktiv = ?2 where id = ?1", params![id, active])?;
    if active { Ok(()) } else { lock_out(connection, id) }
}

fn lock_out(connection: &Connection, id: i64) -> Result<()> {
    connection.execute("delete from person_link where person_id = ?1", [id])?;
    connection.execute("delete from person_sitzung where person_id = ?1", [id])?;
    Ok(())
}

/// A secret of 256 random bits in hex, for links and cookies.
pub fn secret() -> Result<String> {
    Ok(hex(&random::<32>()?))
}

pub fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// Stores the link of a person, replacing an earlier one.
pub fn store_link(connection: &Connection, id: i64, secret: &str, now: Instant) -> Result<()> {
    connection.execute(
        "insert into person_link (person_id, digest, bis) values (?1, ?2, ?3)
         on conflict (person_id) do update set digest = excluded.digest, bis = excluded.bis",
        params![id, digest(secret), now.millis() + LINK_MILLIS],
    )?;
    Ok(())
}

/// The link of a person, if any: until when it is valid, and a value that differs for each link.
pub fn link_of(connection: &Connection, id: i64) -> Result<Option<(Instant, String)>> {
    let mut statement =
        connection.prepare_cached("select bis, lower(hex(digest)) from person_link where person_id = ?1")?;
    let link = statement.query_row([id], |row| Ok((row.get(0)?, row.get::<_, String>(1)?))).optional()?;
    Ok(link.map(|(until, stored)| (until, hex(&digest(&stored)))))
}

/// The person of a link while it is valid.
pub fn of_link(connection: &Connection, secret: &str, now: Instant) -> Result<Option<Person>> {
    let sql = format!(
        "{SELECT_PERSON} join person_link l on l.person_id = p.id where l.digest = ?1 and l.bis > ?2 and p.aktiv = 1"
    );
    first(connection, &sql, params![digest(secret), now])
}

/// Sets a password and ends the person's sessions and link.
pub fn set_password(connection: &Connection, id: i64, hash: &str) -> Result<()> {
    connection.execute("update person set hash = ?2 where id = ?1", params![id, hash])?;
    lock_out(connection, id)
}

pub fn hash_of(connection: &Connection, name: &str) -> Result<Option<(i64, String)>> {
    let mut statement = connection
        .prepare_cached("select id, hash from person where name = ?1 and aktiv = 1 and hash is not null")?;
    Ok(statement.query_row([name.trim()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Begins a session with a new cookie, and deletes expired sessions and links.
pub fn begin_session(connection: &Connection, id: i64, cookie: &str, now: Instant) -> Result<()> {
    connection.execute("delete from person_sitzung where bis <= ?1", [now])?;
    connection.execute("delete from person_link where bis <= ?1", [now])?;
    connection.execute(
        "delete from person_sitzung where person_id = ?1 and digest not in (
           select digest from person_sitzung where person_id = ?1 order by bis desc limit ?2)",
        params![id, SESSIONS_OF_PERSON_MAX - 1],
    )?;
    connection.execute(
        "insert into person_sitzung (digest, person_id, bis) values (?1, ?2, ?3) on conflict do nothing",
        params![digest(cookie), id, now.millis() + SESSION_MILLIS],
    )?;
    Ok(())
}

pub fn of_session(connection: &Connection, cookie: &str, now: Instant) -> Result<Option<Person>> {
    let sql = format!(
        "{SELECT_PERSON} join person_sitzung s on s.person_id = p.id where s.digest = ?1 and s.bis > ?2 and p.aktiv = 1"
    );
    first(connection, &sql, params![digest(cookie), now])
}

/// When the newest session of a person began; ended and deleted ones do not count.
pub fn newest_session(connection: &Connection, id: i64) -> Result<Option<Instant>> {
    let mut statement =
        connection.prepare_cached("select max(bis) from person_sitzung where person_id = ?1")?;
    let until: Option<Instant> = statement.query_row([id], |row| row.get(0))?;
    Ok(until.map(|until| Instant::from_millis(until.millis() - SESSION_MILLIS)))
}

pub fn end_session(connection: &Connection, cookie: &str) -> Result<()> {
    connection.execute("delete from person_sitzung where digest = ?1", [digest(cookie)])?;
    Ok(())
}
