//! Statements on weighings.

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::Wiegung;
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::Listing;
use crate::rules::day::Day;

const SELECT: &str = "select w.id, w.wiegeschein_nr, w.status, w.richtung, w.kennzeichen, w.fahrer,
    w.gewicht_erst_kg, w.gewicht_zweit_kg, w.gewicht_netto_kg, w.ts_erst, w.ts_zweit, w.waage_id, w.partner_id,
    w.artikel_id, w.charge_id, w.niederlassung_id, w.lagerhalle_id, w.kontrakt_id, w.kontrakt_position_id,
    (select b.id from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
     where p.tenant_id = w.tenant_id and p.wiegung_id = w.id and b.status <> 'storniert'
     order by b.id limit 1),
    w.fremdwiegung, w.bemerkung, w.storno_grund, k.name, a.bezeichnung, w.version, c.charge_nr
  from wiegung w
    join kunde k on k.tenant_id = w.tenant_id and k.id = w.partner_id
    left join artikel a on a.tenant_id = w.tenant_id and a.id = w.artikel_id
    left join charge c on c.tenant_id = w.tenant_id and c.id = w.charge_id";

const LIST: ListSql = ListSql {
    select: SELECT,
    count: "select count(*) from wiegung w",
    ids_first: Some("w"),
    order: "order by w.ts_erst desc, w.id desc",
};

fn wiegung(row: &Row<'_>) -> rusqlite::Result<Wiegung> {
    let mut columns = Columns::of(row);
    Ok(Wiegung {
        id: columns.take()?,
        wiegeschein_nr: columns.take()?,
        status: columns.take()?,
        richtung: columns.take()?,
        kennzeichen: columns.take()?,
        fahrer: columns.take()?,
        gewicht_erst_kg: columns.take()?,
        gewicht_zweit_kg: columns.take()?,
        gewicht_netto_kg: columns.take()?,
        ts_erst: columns.take()?,
        ts_zweit: columns.take()?,
        waage_id: columns.take()?,
        partner_id: columns.take()?,
        artikel_id: columns.take()?,
        charge_id: columns.take()?,
        niederlassung_id: columns.take()?,
        lagerhalle_id: columns.take()?,
        kontrakt_id: columns.take()?,
        kontrakt_position_id: columns.take()?,
        beleg_id: columns.take()?,
        fremdwiegung: columns.take()?,
        bemerkung: columns.take()?,
        storno_grund: columns.take()?,
        partner_name: columns.take()?,
        artikel_bezeichnung: columns.take()?,
        version: columns.take()?,
        charge_nr: Some(columns.take()?),
    })
}

/// What a list of weighings is filtered by.
#[allow(missing_docs)]
pub struct Auswahl<'a> {
    pub status: Option<&'static str>,
    pub von: Option<Day>,
    pub bis: Option<Day>,
    pub partner: Option<Uuid>,
    pub artikel: Option<Uuid>,
    /// Whatever its case, blanks and hyphens.
    pub kennzeichen: Option<&'a str>,
    pub wiegeschein_nr: Option<String>,
}

/// A plate in upper case without blanks and hyphens, as the index `wiegung_kennzeichen` has it.
fn plate(text: &str) -> String {
    format!(
        "replace(replace(replace(replace(replace(upper({text}), ' ', ''), '-', ''), 'ä', 'Ä'), 'ö', 'Ö'), 'ü', 'Ü')"
    )
}

/// One page of weighings; von and bis are Berlin days of the first weighing (D12).
pub fn list(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Listing> {
    let mut filter = Filter::of("w");
    filter.when("w.status = :status", ":status", auswahl.status);
    filter.when("w.ts_erst >= :von", ":von", auswahl.von.map(Day::begin_in_berlin));
    filter.when("w.ts_erst < :bis", ":bis", auswahl.bis.map(|bis| bis.tomorrow().begin_in_berlin()));
    filter.when("w.partner_id = :partner", ":partner", auswahl.partner);
    filter.when("w.artikel_id = :artikel", ":artikel", auswahl.artikel);
    filter.when("w.wiegeschein_nr = :nummer", ":nummer", auswahl.wiegeschein_nr.as_deref());
    if let Some(kennzeichen) = auswahl.kennzeichen {
        filter.and(&format!(
            "w.kennzeichen is not null and {} = {}",
            plate("w.kennzeichen"),
            plate(":kennzeichen")
        ));
        filter.with(":kennzeichen", kennzeichen);
    }
    // charge_nr stands in the answer about a single weighing only.
    tx.list(&LIST, &filter, page, |row, rows| rows.push(&Wiegung { charge_nr: None, ..wiegung(row)? }))
}

/// A weighing by id.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Wiegung>> {
    let statement = format!("{SELECT} where w.tenant_id = :tenant and w.id = :id");
    tx.optional(&statement, named_params! {":id": id}, wiegung)
}

/// The numbers of the live documents that refer to a weighing: one of each type at most (D12).
pub fn belege_of(tx: &Tx<'_>, wiegung: Uuid) -> Result<Vec<String>> {
    let statement = "select distinct b.beleg_nummer from beleg_position p
          join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
        where p.tenant_id = :tenant and p.wiegung_id = :wiegung and b.status <> 'storniert' order by b.id";
    tx.all(statement, named_params! {":wiegung": wiegung}, |row| row.get(0))
}

/// The number of the live goods-receipt note that refers to a weighing, other than `own`.
pub fn annahmeschein_of(tx: &Tx<'_>, wiegung: Uuid, own: Option<Uuid>) -> Result<Option<String>> {
    let statement = "select belegnummer from annahmeschein
        where tenant_id = :tenant and wiegung_id = :wiegung and status <> 'storniert' and id is not :own";
    tx.optional(statement, named_params! {":wiegung": wiegung, ":own": own}, |row| row.get(0))
}

/// Adds a weighing.
pub fn insert(tx: &WriteTx<'_>, wiegung: &Wiegung) -> Result<()> {
    tx.insert(
        "wiegung",
        named_params! {
            ":id": wiegung.id,
            ":wiegeschein_nr": wiegung.wiegeschein_nr,
            ":status": wiegung.status,
            ":richtung": wiegung.richtung,
            ":kennzeichen": wiegung.kennzeichen,
            ":fahrer": wiegung.fahrer,
            ":gewicht_erst_kg": wiegung.gewicht_erst_kg,
            ":ts_erst": wiegung.ts_erst,
            ":waage_id": wiegung.waage_id,
            ":partner_id": wiegung.partner_id,
            ":artikel_id": wiegung.artikel_id,
            ":charge_id": wiegung.charge_id,
            ":kontrakt_id": wiegung.kontrakt_id,
            ":kontrakt_position_id": wiegung.kontrakt_position_id,
            ":niederlassung_id": wiegung.niederlassung_id,
            ":lagerhalle_id": wiegung.lagerhalle_id,
            ":fremdwiegung": wiegung.fremdwiegung,
            ":bemerkung": wiegung.bemerkung,
        },
    )
}

/// Stores what a second weighing or a storno changed.
pub fn update(tx: &WriteTx<'_>, wiegung: &Wiegung) -> Result<()> {
    tx.update(
        "wiegung",
        wiegung.id,
        named_params! {
            ":status": wiegung.status,
            ":richtung": wiegung.richtung,
            ":gewicht_zweit_kg": wiegung.gewicht_zweit_kg,
            ":gewicht_netto_kg": wiegung.gewicht_netto_kg,
            ":ts_zweit": wiegung.ts_zweit,
            ":charge_id": wiegung.charge_id,
            ":kontrakt_id": wiegung.kontrakt_id,
            ":kontrakt_position_id": wiegung.kontrakt_position_id,
            ":niederlassung_id": wiegung.niederlassung_id,
            ":lagerhalle_id": wiegung.lagerhalle_id,
            ":storno_grund": wiegung.storno_grund,
            ":version": wiegung.version,
        },
    )
}
