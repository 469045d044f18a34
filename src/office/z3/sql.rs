//! Statements on hand-overs, and on what the documents of a period refer to.

use rusqlite::named_params;
use uuid::Uuid;

use super::model::{Ergebnis, Ueberlassung};
use super::zeitraum::Zeitraum;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;

/// Most hand-overs shown on a page.
const SHOWN_MAX: u32 = 50;

pub fn insert(tx: &WriteTx<'_>, id: Uuid, zeitraum: Zeitraum, mit_belegen: bool) -> Result<()> {
    tx.insert(
        "z3",
        named_params! {
            ":id": id,
            ":von": zeitraum.von,
            ":bis": zeitraum.bis,
            ":mit_belegen": mit_belegen,
            ":angelegt_am": tx.now(),
            ":key_id": tx.key_id(),
        },
    )
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Ueberlassung>> {
    let statement =
        format!("select {} from z3 z where z.tenant_id = :tenant and z.id = :id", Ueberlassung::COLUMNS);
    tx.optional(&statement, named_params! {":id": id}, Ueberlassung::read)
}

/// Returns the newest hand-overs of a company.
pub fn newest(tx: &Tx<'_>) -> Result<Vec<Ueberlassung>> {
    let statement = format!(
        "select {} from z3 z where z.tenant_id = :tenant order by z.id desc limit :most",
        Ueberlassung::COLUMNS
    );
    tx.all(&statement, named_params! {":most": SHOWN_MAX}, Ueberlassung::read)
}

/// Returns the hand-overs that wait or are being made, the oldest first.
pub fn waiting(tx: &Tx<'_>) -> Result<Vec<Ueberlassung>> {
    let statement = format!(
        "select {} from z3 z where z.tenant_id = :tenant and z.beendet_am is null order by z.id",
        Ueberlassung::COLUMNS
    );
    tx.all(&statement, &[], Ueberlassung::read)
}

/// Returns the ids of the hand-overs that have a file, without the newest `kept`.
pub fn with_old_file(tx: &Tx<'_>, kept: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "select z.id from z3 z where z.tenant_id = :tenant and z.sha256 is not null
         order by z.id desc limit -1 offset :kept",
        named_params! {":kept": kept},
        |row| row.get(0),
    )
}

pub fn set_step(tx: &WriteTx<'_>, id: Uuid, schritt: usize) -> Result<()> {
    let statement =
        "update z3 set schritt = :schritt where tenant_id = :tenant and id = :id and beendet_am is null";
    tx.execute(statement, named_params! {":schritt": schritt as i64, ":id": id}).map(drop)
}

/// Records the result of a hand-over: its file, or why there is none.
pub fn end(tx: &WriteTx<'_>, id: Uuid, ended: &std::result::Result<Ergebnis, String>) -> Result<()> {
    let file = ended.as_ref().ok();
    tx.execute(
        "update z3 set beendet_am = :am, zeilen = :zeilen, bytes = :bytes, sha256 = :sha256, fehler = :fehler
         where tenant_id = :tenant and id = :id and beendet_am is null",
        named_params! {
            ":am": tx.now(),
            ":zeilen": file.map(|file| file.zeilen as i64),
            ":bytes": file.map(|file| file.bytes as i64),
            ":sha256": file.map(|file| file.sha256),
            ":fehler": ended.as_ref().err(),
            ":id": id,
        },
    )
    .map(drop)
}

/// Temporary tables that the statements of the tables use: what the period refers to, and the files of
/// documents.
pub const NAMED_TABLES: &str =
    "create temp table z3_genannt (art text not null, id blob not null, primary key (art, id)) without rowid;
    create temp table z3_datei (beleg_id blob not null, ordner text not null, name text not null,
      primary key (beleg_id, ordner, name)) without rowid;";

/// Statements that fill z3_genannt in this order: documents of the period, what depends on them, and the
/// master data that all of these refer to.
pub const NAMED: &[&str] = &[
    "insert or ignore into z3_genannt select 'beleg', b.id from beleg b
     where b.tenant_id = :tenant and b.beleg_datum between :von and :bis",
    "insert or ignore into z3_genannt select 'bon', b.id from bon b
     where b.tenant_id = :tenant and b.datum between :von and :bis",
    "insert or ignore into z3_genannt select 'pa', p.id from produktionsauftrag p
     where p.tenant_id = :tenant and (p.produktions_datum between :von and :bis
       or p.produktions_datum is null and p.angelegt_am >= :ab and p.angelegt_am < :vor)",
    "insert or ignore into z3_genannt select 'pa', l.pa_id from lagerbewegung l
     where l.tenant_id = :tenant and l.am >= :ab and l.am < :vor and l.pa_id is not null",
    "insert or ignore into z3_genannt select 'annahme', s.id from annahmeschein s
     where s.tenant_id = :tenant and (s.lieferdatum between :von and :bis
       or s.lieferdatum is null and s.angelegt_am >= :ab and s.angelegt_am < :vor)",
    "insert or ignore into z3_genannt select 'annahme', n.annahmeschein_id from abrechnung_annahme n
       join abrechnung a on a.tenant_id = n.tenant_id and a.id = n.abrechnung_id
     where n.tenant_id = :tenant and a.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')",
    "insert or ignore into z3_genannt select 'wiegung', w.id from wiegung w
     where w.tenant_id = :tenant and w.ts_erst >= :ab and w.ts_erst < :vor",
    "insert or ignore into z3_genannt select 'wiegung', s.wiegung_id from annahmeschein s
     where s.tenant_id = :tenant and s.wiegung_id is not null
       and s.id in (select g.id from z3_genannt g where g.art = 'annahme')",
    "insert or ignore into z3_genannt select 'wiegung', p.wiegung_id from beleg_position p
     where p.tenant_id = :tenant and p.wiegung_id is not null
       and p.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')",
    "insert or ignore into z3_genannt select 'kontrakt', p.kontrakt_id from beleg_position p
     where p.tenant_id = :tenant and p.kontrakt_id is not null
       and p.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')",
    "insert or ignore into z3_genannt select 'kontrakt', w.kontrakt_id from wiegung w
     where w.tenant_id = :tenant and w.kontrakt_id is not null
       and w.id in (select g.id from z3_genannt g where g.art = 'wiegung')",
    "insert or ignore into z3_genannt select 'kontrakt', s.kontrakt_id from annahmeschein s
     where s.tenant_id = :tenant and s.kontrakt_id is not null
       and s.id in (select g.id from z3_genannt g where g.art = 'annahme')",
    "insert or ignore into z3_genannt select 'charge', p.charge_id from beleg_position p
     where p.tenant_id = :tenant and p.charge_id is not null
       and p.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')",
    "insert or ignore into z3_genannt select 'charge', w.charge_id from wiegung w
     where w.tenant_id = :tenant and w.charge_id is not null
       and w.id in (select g.id from z3_genannt g where g.art = 'wiegung')",
    "insert or ignore into z3_genannt select 'charge', l.charge_id from lagerbewegung l
     where l.tenant_id = :tenant and l.am >= :ab and l.am < :vor and l.charge_id is not null",
    "insert or ignore into z3_genannt select 'charge', i.charge_id from pa_input i
     where i.tenant_id = :tenant and i.charge_id is not null
       and i.pa_id in (select g.id from z3_genannt g where g.art = 'pa')",
    "insert or ignore into z3_genannt select 'charge', o.charge_id from pa_output o
     where o.tenant_id = :tenant and o.charge_id is not null
       and o.pa_id in (select g.id from z3_genannt g where g.art = 'pa')",
    "insert or ignore into z3_genannt select 'artikel', p.artikel_id from beleg_position p
     where p.tenant_id = :tenant and p.artikel_id is not null
       and p.beleg_id in (select g.id from z3_genannt g where g.art = 'beleg')",
    "insert or ignore into z3_genannt select 'artikel', z.artikel_id from barverkauf z
     where z.tenant_id = :tenant and z.artikel_id is not null
       and z.bon_id in (select g.id from z3_genannt g where g.art = 'bon')",
    "insert or ignore into z3_genannt select 'artikel', c.artikel_id from charge c
     where c.tenant_id = :tenant and c.id in (select g.id from z3_genannt g where g.art = 'charge')",
    "insert or ignore into z3_genannt select 'artikel', w.artikel_id from wiegung w
     where w.tenant_id = :tenant and w.artikel_id is not null
       and w.id in (select g.id from z3_genannt g where g.art = 'wiegung')",
    "insert or ignore into z3_genannt select 'artikel', s.artikel_id from annahmeschein s
     where s.tenant_id = :tenant and s.artikel_id is not null
       and s.id in (select g.id from z3_genannt g where g.art = 'annahme')",
    "insert or ignore into z3_genannt select 'artikel', k.artikel_id from kontrakt_position k
     where k.tenant_id = :tenant and k.artikel_id is not null
       and k.kontrakt_id in (select g.id from z3_genannt g where g.art = 'kontrakt')",
    "insert or ignore into z3_genannt select 'artikel', l.artikel_id from lagerbewegung l
     where l.tenant_id = :tenant and l.am >= :ab and l.am < :vor",
    "insert or ignore into z3_genannt select 'artikel', i.artikel_id from pa_input i
     where i.tenant_id = :tenant and i.pa_id in (select g.id from z3_genannt g where g.art = 'pa')",
    "insert or ignore into z3_genannt select 'artikel', o.artikel_id from pa_output o
     where o.tenant_id = :tenant and o.pa_id in (select g.id from z3_genannt g where g.art = 'pa')",
    "insert or ignore into z3_genannt select 'kunde', b.kunde_id from beleg b
     where b.tenant_id = :tenant and b.id in (select g.id from z3_genannt g where g.art = 'beleg')",
    "insert or ignore into z3_genannt select 'kunde', b.kunde_id from bon b
     where b.tenant_id = :tenant and b.kunde_id is not null
       and b.id in (select g.id from z3_genannt g where g.art = 'bon')",
    "insert or ignore into z3_genannt select 'kunde', c.partner_id from charge c
     where c.tenant_id = :tenant and c.partner_id is not null
       and c.id in (select g.id from z3_genannt g where g.art = 'charge')",
    "insert or ignore into z3_genannt select 'kunde', w.partner_id from wiegung w
     where w.tenant_id = :tenant and w.id in (select g.id from z3_genannt g where g.art = 'wiegung')",
    "insert or ignore into z3_genannt select 'kunde', s.partner_id from annahmeschein s
     where s.tenant_id = :tenant and s.partner_id is not null
       and s.id in (select g.id from z3_genannt g where g.art = 'annahme')",
    "insert or ignore into z3_genannt select 'kunde', k.partner_id from kontrakt k
     where k.tenant_id = :tenant and k.partner_id is not null
       and k.id in (select g.id from z3_genannt g where g.art = 'kontrakt')",
];

/// The documents of the period, with their numbers.
pub const DOCUMENTS: &str = "select b.id, b.beleg_nummer from beleg b where b.tenant_id = :tenant
    and b.id in (select g.id from z3_genannt g where g.art = 'beleg') order by b.id";

/// The attachments of a document: name and content.
pub const ATTACHMENTS: &str = "select a.dateiname, a.inhalt from anhang a
    where a.tenant_id = :tenant and a.beleg_id = :beleg order by a.id";

/// Exports of registers for days of the period: name and content.
pub const REGISTERS: &str = "select k.dateiname, k.inhalt from kassendatei k
    where k.tenant_id = :tenant and k.bis >= :von and k.von <= :bis order by k.von, k.bis, k.id";

pub const NOTE_FILE: &str = "insert into z3_datei (beleg_id, ordner, name) values (?1, ?2, ?3)";
