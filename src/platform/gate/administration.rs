//! The administration log (D27): what people and the command line did, kept ten years. Its rows are a chain; the audit
//! log beside it holds requests alone.

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use serde::{Deserialize, Serialize};

use crate::platform::db::columns::Json;
use crate::platform::db::seals::chain::Chain;
use crate::platform::db::tx::Tx;
use crate::platform::db::{TenantId, all};
use crate::platform::failure::Result;
use crate::rules::admin_event::{AdminEvent, Felder, Gegenstand};
use crate::rules::day::{Day, Instant};

const YEARS_KEPT: i16 = 10;

/// Days whose rows are dropped at once: a clock that is years ahead for a moment costs two days of the log, not all of
/// it.
const DAYS_AT_ONCE: i64 = 2;

/// The columns of an entry, in the order in which the chain covers them.
macro_rules! covered {
    () => {
        "am, akteur, tat, gegenstand, vorher, nachher"
    };
}

pub const CHAIN: Chain = Chain {
    table: "verwaltung",
    name: "Kette der Änderungen",
    insert: concat!(
        "insert into verwaltung (nr, pruefsumme, mac, ",
        covered!(),
        ") values (?1, ?2, kurzsiegel('verwaltung', ?1, ?2), ?3, ?4, ?5, ?6, ?7, ?8)"
    ),
    rows: concat!(
        "select nr, pruefsumme, mac is kurzsiegel('verwaltung', nr, pruefsumme), am / 86400000, ",
        covered!(),
        " from verwaltung order by nr"
    ),
};

/// What [`entry`] reads, in its order.
const SELECT: &str = concat!("select ", covered!(), ", nr, lower(hex(pruefsumme)) from verwaltung");

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Akteur {
    /// A person with a browser: the number.
    Person(i64),
    /// A program: the public part of its key.
    Schluessel(String),
    /// The command line: the command, and the account it ran under.
    Befehl { name: String, konto: String },
}

/// Writes down what was done, within the transaction that does it. `firma` is the company that it concerns.
pub fn note(
    connection: &Connection,
    now: Instant,
    akteur: &Akteur,
    firma: Option<TenantId>,
    event: &AdminEvent,
) -> Result<()> {
    let felder = |felder: &Felder| (!felder.is_empty()).then(|| Json(felder.clone()));
    let gegenstand = Json(Gegenstand { firma, ..event.gegenstand.clone() });
    let (vorher, nachher) = (felder(&event.vorher), felder(&event.nachher));
    CHAIN.append(connection, &[&now, &Json(akteur), &event.tat, &gegenstand, &vorher, &nachher])
}

/// What stands for a person in histories, where a key has its id.
pub const PERSON_PREFIX: &str = "person ";

impl Akteur {
    /// As histories name who did something; none is the command line.
    pub fn key_id(&self) -> Option<String> {
        match self {
            Akteur::Person(id) => Some(format!("{PERSON_PREFIX}{id}")),
            Akteur::Schluessel(id) => Some(id.clone()),
            Akteur::Befehl { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub nr: i64,
    pub am: Instant,
    pub akteur: Akteur,
    #[serde(flatten)]
    pub event: AdminEvent,
    pub pruefsumme: String,
}

#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub firma: Option<TenantId>,
    /// What this key did, and what was done to it.
    pub key_id: Option<String>,
    /// The kind of [`Akteur`] as it is stored: `person`, `schluessel` or `befehl`.
    pub by: Option<&'static str>,
    pub person: Option<i64>,
    pub from: Option<Instant>,
    pub until: Option<Instant>,
    /// Only rows from before this one.
    pub before: Option<i64>,
    /// So many rows are looked at.
    pub looked_at: Option<i64>,
    pub limit: Option<i64>,
}

/// An import of a company, or that one was taken back.
const IMPORT: &str = "gegenstand ->> 'firma' = :tenant and gegenstand ->> 'art' = 'import'";

/// The field that says which import was taken back.
pub const TAKEN_BACK: &str = "import";

/// Rows that are looked at to find imports, at most.
const LOOKED_AT: i64 = 50_000;

pub fn entries(connection: &Connection, selection: &Selection) -> Result<Vec<Entry>> {
    let Selection { firma, key_id, by, person, .. } = selection;
    let params: [&dyn ToSql; 9] = [
        &selection.before.unwrap_or(i64::MAX),
        &selection.looked_at.unwrap_or(i64::MAX),
        firma,
        key_id,
        by,
        person,
        &selection.from.map_or(i64::MIN, Instant::millis),
        &selection.until.map_or(i64::MAX, Instant::millis),
        &selection.limit.unwrap_or(i64::MAX),
    ];
    let statement = format!(
        "{SELECT} where nr < ?1 and nr >= ?1 - ?2 and (?3 is null or gegenstand ->> 'firma' = ?3)
           and (?4 is null or akteur ->> 'schluessel' = ?4
             or gegenstand ->> 'art' = 'schluessel' and gegenstand ->> 'id' = ?4)
           and (?5 is null or akteur -> ?5 is not null) and (?6 is null or akteur ->> 'person' = ?6)
           and am >= ?7 and am < ?8
         order by nr desc limit ?9"
    );
    Ok(all(connection, &statement, params, entry)?)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let felder = |at| {
        row.get(at).map(|felder: Option<Json<Felder>>| felder.map_or_else(Felder::new, |Json(felder)| felder))
    };
    let (Json(akteur), Json(gegenstand)) = (row.get(1)?, row.get(3)?);
    let event = AdminEvent { tat: row.get(2)?, gegenstand, vorher: felder(4)?, nachher: felder(5)? };
    Ok(Entry { am: row.get(0)?, akteur, event, nr: row.get(6)?, pruefsumme: row.get(7)? })
}

/// The import of this company with a number.
pub fn import(tx: &Tx<'_>, nr: i64) -> Result<Option<Entry>> {
    let statement = format!("{SELECT} where nr = :nr and {IMPORT} and tat = 'importiert'");
    tx.optional(&statement, named_params! {":nr": nr}, entry)
}

/// When an import was taken back.
pub fn taken_back(tx: &Tx<'_>, nr: i64) -> Result<Option<Instant>> {
    let statement = format!(
        "select am from verwaltung where nr > :nr and {IMPORT} and nachher ->> '{TAKEN_BACK}' = cast(:nr as text)"
    );
    tx.optional(&statement, named_params! {":nr": nr}, |row| row.get(0))
}

/// The newest imports of this company, and those that were taken back.
pub fn imports(tx: &Tx<'_>, at_most: i64) -> Result<Vec<Entry>> {
    let statement = format!(
        "{SELECT} where nr > (select max(nr) from verwaltung) - {LOOKED_AT} and {IMPORT} order by nr desc \
             limit :at_most"
    );
    tx.all(&statement, named_params! {":at_most": at_most}, entry)
}

/// Drops some of the oldest rows that are older than they must be kept. As the law does, years count from the
/// end of one.
pub fn drop_old(connection: &Connection, now: Instant) -> Result<()> {
    let oldest = "select am from verwaltung order by nr limit 1";
    let oldest: Option<Instant> = connection.query_row(oldest, [], |row| row.get(0)).optional()?;
    let Some(oldest) = oldest else { return Ok(()) };
    let first_kept = Day::in_berlin(now).end_of_year_after(-YEARS_KEPT - 1).tomorrow().begin_in_berlin();
    let at_once = oldest.millis() + DAYS_AT_ONCE * Instant::MILLIS_PER_DAY;
    let kept_from = first_kept.millis().min(at_once);
    let last = "select coalesce((select nr - 1 from verwaltung where am >= ?1 order by nr limit 1),
        (select max(nr) from verwaltung))";
    let last: i64 = connection.query_row(last, [kept_from], |row| row.get(0))?;
    CHAIN.drop_some(connection, last, Instant::from_millis(kept_from - 1).utc_day()).map(drop)
}
