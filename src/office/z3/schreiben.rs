//! Writes a hand-over: rows of one snapshot go line by line into the zip.

use std::path::Path;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{FromSqlError, ToSql};
use rusqlite::{Connection, OpenFlags, Statement};
use uuid::Uuid;

use super::archiv::Archiv;
use super::bericht::Bericht;
use super::model::Ergebnis;
use super::sql::{ATTACHMENTS, DOCUMENTS, NAMED, NAMED_TABLES, NOTE_FILE, REGISTERS};
use super::tabelle::Tabelle;
use super::tabellen::TABELLEN;
use super::verzeichnis::{DTD, DTD_NAME, Lieferant, index};
use super::zeile::{self, Geschrieben};
use super::zeitraum::Zeitraum;
use crate::master::tenants::firma;
use crate::platform::db::TenantId;
use crate::platform::db::file::connection::prepare_reader;
use crate::platform::db::seals::chain::Chain;
use crate::platform::db::seals::evidence;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Result, or_refusal};
use crate::platform::gate::{administration, audit};
use crate::rules::day::Instant;
use crate::rules::document::BelegStatus;
use crate::rules::error::Hints;
use crate::rules::fixed::{Money, Percent};
use crate::rules::tax::share;
use crate::trade::belege;

/// Characters that are kept from the beginning and from the end of a long attachment name.
const NAME_CHARS_MAX: usize = 150;
const END_CHARS: usize = 20;

/// Bytes of rows that are buffered before they go into the zip.
const LINES_BYTES: usize = 64 << 10;

/// Opens a copy of a database for a hand-over. The copy is not changed; statements also use temporary tables,
/// which go to the disk if they are large.
pub fn open(copy: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    prepare_reader(&connection)?;
    connection.execute_batch("pragma temp_store = file; pragma query_only = off")?;
    add_functions(&connection)?;
    connection.execute_batch(NAMED_TABLES)?;
    Ok(connection)
}

/// Adds SQL functions: the tax of a group as documents compute it, decimals of JSON as the integers used
/// elsewhere, uuids as texts.
fn add_functions(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("z3_steuer", 2, flags, |context| {
        let (basis, satz) = (Money::from_units(context.get(0)?), Percent::from_units(context.get(1)?));
        Ok(share(basis, satz).units())
    })?;
    connection.create_scalar_function("z3_ganzzahl", 2, flags, |context| {
        let text: Option<String> = context.get(0)?;
        let stellen = context.get::<u32>(1)? as usize;
        text.map(|text| units(&text, stellen)).transpose()
    })?;
    connection.create_scalar_function("z3_uuid", 1, flags, |context| {
        let bytes: Option<Uuid> = context.get(0)?;
        Ok(bytes.map(|id| id.to_string()))
    })?;
    Ok(())
}

/// Parses a decimal number with a dot into its smallest units.
fn units(text: &str, stellen: usize) -> rusqlite::Result<i64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{rest:0<stellen$}");
    let parsed = (rest.len() <= stellen).then(|| digits.parse().ok()).flatten();
    parsed.ok_or_else(|| FromSqlError::InvalidType.into())
}

/// Called with the current step, repeatedly during a long one; an error ends the work.
pub type Began<'b> = &'b dyn Fn(&str) -> Result<()>;

/// Writes the hand-over of a company into an empty file, from one snapshot of a connection returned by
/// [`open`].
pub fn schreiben(
    connection: &mut Connection,
    (tenant, now): (TenantId, Instant),
    zeitraum: Zeitraum,
    mit_belegen: bool,
    target: &Path,
    began: Began<'_>,
) -> Result<Ergebnis> {
    let snapshot = connection.transaction()?;
    let quelle = Quelle { connection: &snapshot, tx: Tx::new(&snapshot, tenant, now), zeitraum };
    zeitraum.check(&quelle.tx)?;
    let mut archiv = Archiv::begin(target)?;
    began("Belege")?;
    for statement in NAMED {
        quelle.bound(statement)?.raw_execute()?;
    }
    let mut ohne_pdf = Vec::new();
    if mit_belegen {
        ohne_pdf = quelle.add_documents(&mut archiv, began)?;
        quelle.add_registers(&mut archiv, began)?;
    }
    let mut tabellen = Vec::new();
    for tabelle in TABELLEN {
        began(tabelle.titel)?;
        tabellen.push((tabelle, quelle.add_table(tabelle, &mut archiv, began)?));
    }
    quelle.add_index(&tabellen, &ohne_pdf, &mut archiv)?;
    let zeilen = tabellen.iter().map(|(_, stand)| stand.zeilen).sum();
    let (bytes, sha256) = archiv.end()?;
    Ok(Ergebnis { zeilen, bytes, sha256 })
}

/// The source of a hand-over: a company and a period in a snapshot.
struct Quelle<'c> {
    connection: &'c Connection,
    tx: Tx<'c>,
    zeitraum: Zeitraum,
}

impl<'c> Quelle<'c> {
    /// Prepares a statement and binds those of these parameters that it has: the company `:tenant`, the period as
    /// days from `:von` to `:bis`, and as instants from `:ab` to before `:vor`.
    fn bound(&self, sql: &str) -> Result<Statement<'c>> {
        let Zeitraum { von, bis } = self.zeitraum;
        let (ab, vor) = (von.begin_in_berlin(), bis.tomorrow().begin_in_berlin());
        let tenant = self.tx.tenant();
        let params: [(&str, &dyn ToSql); 5] =
            [(":tenant", &tenant), (":von", &von), (":bis", &bis), (":ab", &ab), (":vor", &vor)];
        let mut statement = self.connection.prepare(sql)?;
        for (name, value) in params {
            if let Some(at) = statement.parameter_index(name)? {
                statement.raw_bind_parameter(at, value)?;
            }
        }
        Ok(statement)
    }

    fn add_table(&self, tabelle: &Tabelle, archiv: &mut Archiv, began: Began<'_>) -> Result<Geschrieben> {
        archiv.begin_file(&tabelle.csv())?;
        let (mut stand, mut lines) = (Geschrieben::new(tabelle), zeile::kopf(tabelle));
        let mut statement = self.bound(&tabelle.statement())?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            zeile::add(tabelle, row, &mut lines, &mut stand)?;
            if lines.len() >= LINES_BYTES {
                began(tabelle.titel)?;
                archiv.write(lines.as_bytes())?;
                lines.clear();
            }
        }
        archiv.write(lines.as_bytes())?;
        archiv.end_file();
        Ok(stand)
    }

    /// Adds the PDF, the e-invoice and the attachments of each document; returns the documents that lack
    /// their PDF, with the reason.
    fn add_documents(&self, archiv: &mut Archiv, began: Began<'_>) -> Result<Vec<String>> {
        let mut ohne_pdf = Vec::new();
        let mut statement = self.bound(DOCUMENTS)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let (id, nummer): (Uuid, String) = (row.get(0)?, row.get(1)?);
            began("Belege")?;
            let beleg = belege::found(&self.tx, id)?;
            match or_refusal(belege::outgoing(&self.tx, &beleg))? {
                Ok(pdf) => self.add_document(archiv, id, "pdf", &format!("{nummer}.pdf"), &pdf.inhalt)?,
                Err(why) if beleg.status != BelegStatus::Offen => {
                    ohne_pdf.push(format!("{nummer}: {}", why.message));
                }
                Err(_) => {}
            }
            let xml = belege::erechnung_of_number(&self.tx, &nummer, &mut Hints::default());
            if let Ok(xml) = or_refusal(xml)? {
                self.add_document(archiv, id, "erechnung", &format!("{nummer}.xml"), &xml)?;
            }
            self.add_attachments(archiv, id, &nummer)?;
        }
        Ok(ohne_pdf)
    }

    /// Adds the exports of the registers, byte for byte.
    fn add_registers(&self, archiv: &mut Archiv, began: Began<'_>) -> Result<()> {
        let mut statement = self.bound(REGISTERS)?;
        each_file(&mut statement, |name, inhalt| {
            began("Belege")?;
            archiv.add(&format!("kasse/{}", plain(name)), inhalt)
        })
    }

    fn add_attachments(&self, archiv: &mut Archiv, beleg: Uuid, nummer: &str) -> Result<()> {
        let mut statement = self.bound(ATTACHMENTS)?;
        if let Some(at) = statement.parameter_index(":beleg")? {
            statement.raw_bind_parameter(at, beleg)?;
        }
        each_file(&mut statement, |name, inhalt| {
            self.add_document(archiv, beleg, "anhang", &format!("{nummer}-{name}"), inhalt)
        })
    }

    /// Adds a file of a document to a folder, and records its name for the row of the document.
    fn add_document(
        &self,
        archiv: &mut Archiv,
        beleg: Uuid,
        ordner: &str,
        name: &str,
        inhalt: &[u8],
    ) -> Result<()> {
        let name = format!("{ordner}/{}", plain(name));
        archiv.add(&name, inhalt)?;
        self.connection.prepare_cached(NOTE_FILE)?.execute((beleg, ordner, name))?;
        Ok(())
    }

    /// Returns the ends of the chains of the log, of changes and of the evidence.
    fn chains(&self) -> Result<Vec<String>> {
        let chains = [audit::CHAIN, administration::CHAIN, evidence::CHAIN].into_iter();
        let end = |chain: Chain| {
            let end = chain.end_in_words(self.connection)?;
            Ok(end.unwrap_or_else(|| format!("{}: leer", chain.name)))
        };
        chains.map(end).collect()
    }

    fn add_index(
        &self,
        tabellen: &[(&'static Tabelle, Geschrieben)],
        ohne_pdf: &[String],
        archiv: &mut Archiv,
    ) -> Result<()> {
        let firma = firma::load(&self.tx)?;
        let plz = firma.plz.as_ref().map(|plz| format!("{plz} ")).unwrap_or_default();
        let ort = firma.ort.as_ref().map(|ort| format!("{plz}{ort}"));
        let anschrift = [firma.strasse.clone(), ort, firma.staat.clone()];
        let lieferant = Lieferant {
            name: firma.firma.clone().unwrap_or_default(),
            ort: anschrift.into_iter().flatten().collect::<Vec<_>>().join(", "),
            stand: format!("partnerd {}, Stand {}", env!("CARGO_PKG_VERSION"), self.tx.now()),
        };
        archiv.add("index.xml", index(&lieferant, self.zeitraum, tabellen).as_bytes())?;
        archiv.add(DTD_NAME, DTD)?;
        let ketten = self.chains()?;
        let bericht = Bericht {
            lieferant: &lieferant,
            zeitraum: self.zeitraum,
            tabellen,
            ketten: &ketten,
            ohne_pdf,
            dateien: &archiv.dateien,
        };
        archiv.add("bericht.txt", bericht.text().as_bytes())
    }
}

/// Calls `add` with the name and the content of each row of a statement. Names begin with the number of the
/// row, from 1, so that they are unique.
fn each_file(statement: &mut Statement<'_>, mut add: impl FnMut(&str, &[u8]) -> Result<()>) -> Result<()> {
    let mut rows = statement.raw_query();
    let mut nr = 0;
    while let Some(row) = rows.next()? {
        nr += 1;
        let dateiname: String = row.get(0)?;
        let inhalt = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        add(&format!("{nr}-{}", shortened(&dateiname)), inhalt)?;
    }
    Ok(())
}

/// Shortens the name of an attachment: a long name keeps its beginning and its end, which tells the kind of
/// file. An unpacked file may have a name of 255 bytes, and the number of the document stands before it.
fn shortened(name: &str) -> String {
    let letters = name.chars().count();
    if letters <= NAME_CHARS_MAX + END_CHARS {
        return name.to_owned();
    }
    name.chars().take(NAME_CHARS_MAX).chain(name.chars().skip(letters - END_CHARS)).collect()
}

/// Makes a file name that every program can write: everything but ASCII letters, digits, `.`, `-` and `_`
/// becomes `_`.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}
