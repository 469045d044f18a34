//! SQL statements for goods receipts.

use rusqlite::named_params;
use uuid::Uuid;

use super::model::{Analyse, Annahmeschein, Auswahl};
use crate::platform::db::columns::Json;
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::Part;
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::listing::{PageOf, Records};
use crate::rules::fixed::{Money, Quantity};
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::settlement::Messwert;

const LIST: ListSql<'_> = ListSql {
    columns: Annahmeschein::COLUMNS,
    from: "from annahmeschein s
        left join beleg b on b.tenant_id = s.tenant_id and b.id = s.el_beleg_id
        left join beleg_position p on p.tenant_id = s.tenant_id and p.beleg_id = s.el_beleg_id and p.position = 1
        left join kunde k on k.tenant_id = s.tenant_id and k.id = s.partner_id
        left join artikel a on a.tenant_id = s.tenant_id and a.id = s.artikel_id
        left join abrechnungsschema sc on sc.tenant_id = s.tenant_id and sc.id = s.schema_id
        left join abrechnung ab on ab.tenant_id = s.tenant_id and ab.id = s.abrechnung_id
        left join beleg er on er.tenant_id = ab.tenant_id and er.id = ab.beleg_id and er.status <> 'storniert'
        left join abrechnung_annahme ap
          on ap.tenant_id = s.tenant_id and er.id is not null and ap.abrechnung_id = s.abrechnung_id
          and ap.annahmeschein_id = s.id",
    count: "select count(*) from annahmeschein s",
    ids_first: None,
    order: "order by s.lieferdatum desc, s.id",
};

/// The orders of its page; the interface has the first alone (D16).
const ORDERS: [Order; 2] =
    [("-lieferdatum", LIST.order), ("lieferdatum", "order by s.lieferdatum, s.id desc")];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

pub fn list<P: PageOf<Annahmeschein>>(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<P> {
    let mut filter = filter(auswahl);
    tx.list(&LIST.in_order(&ORDERS, auswahl.sortierung, &mut filter), &filter, page)
}

fn filter(auswahl: &Auswahl) -> Filter<'_> {
    let mut filter = Filter::of("s");
    filter.one_of("s.status", &auswahl.status);
    filter.when("s.lieferdatum >= :von", ":von", auswahl.von);
    filter.when("s.lieferdatum <= :bis", ":bis", auswahl.bis);
    filter.when("s.partner_id = :partner", ":partner", auswahl.partner);
    filter.when("s.artikel_id = :artikel", ":artikel", auswahl.artikel);
    filter.when("s.kontrakt_id = :kontrakt", ":kontrakt", auswahl.kontrakt);
    match auswahl.gesperrt {
        Some(true) => filter.and("s.sperrgruende is not null"),
        Some(false) => filter.and("s.sperrgruende is null"),
        None => {}
    }
    filter
}

pub struct Summen {
    pub count: i64,
    pub anliefermenge_kg: Quantity,
    pub netto_menge_kg: Quantity,
    pub netto_betrag: Money,
}

/// Sums receipts, without cancelled ones.
pub fn sums(tx: &Tx<'_>, auswahl: &Auswahl) -> Result<Summen> {
    let mut filter = filter(auswahl);
    filter.and("s.status <> 'storniert'");
    let select = "select count(*), coalesce(sum(s.anliefermenge_kg), 0), coalesce(sum(s.netto_menge_kg), 0),
        coalesce(sum(s.netto_betrag), 0) from annahmeschein s";
    let sums = tx.filtered(select, &filter, "", |row| {
        let (count, anliefermenge_kg, netto_menge_kg) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Summen { count, anliefermenge_kg, netto_menge_kg, netto_betrag: row.get(3)? })
    })?;
    sums.into_iter().next().ok_or_else(|| Failure::Broken("sums have no row".into()))
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Annahmeschein>> {
    tx.find_by(&LIST, "s.id", &id)
}

/// Finds the receipt of a purchase delivery.
pub fn find_by_delivery(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Annahmeschein>> {
    tx.find_by(&LIST, "s.el_beleg_id", &beleg)
}

pub fn cancel(tx: &WriteTx<'_>, id: Uuid, grund: &str) -> Result<()> {
    let status = AnnahmescheinStatus::Storniert;
    tx.update("annahmeschein", id, named_params! {":status": status, ":storno_grund": grund})
}

pub fn find_by_nummer(tx: &Tx<'_>, belegnummer: &str) -> Result<Option<Annahmeschein>> {
    tx.find_by(&LIST, "s.belegnummer", &belegnummer)
}

pub fn find_by_external_ref(tx: &Tx<'_>, external_ref: &str) -> Result<Option<Annahmeschein>> {
    tx.find_by(&LIST, "s.external_ref", &external_ref)
}

pub fn request_digest(tx: &Tx<'_>, id: Uuid) -> Result<Option<[u8; 32]>> {
    let statement = "select anfrage_sha256 from annahmeschein where tenant_id = :tenant and id = :id";
    Ok(tx.optional(statement, named_params! {":id": id}, |row| row.get(0))?.flatten())
}

pub fn insert(tx: &WriteTx<'_>, schein: &Annahmeschein, digest: [u8; 32]) -> Result<()> {
    let own = named_params! {":anfrage_sha256": digest};
    tx.insert("annahmeschein", &[&schein.values(Part::All)[..], own].concat())
}

/// Lists the analyses and releases of a receipt, newest first.
pub fn analysen(tx: &Tx<'_>, schein: Uuid, page: Page) -> Result<Records<Analyse>> {
    tx.list(&ANALYSEN, &Filter::equal("q", "annahmeschein_id", schein), page)
}

const ANALYSEN: ListSql<'_> = ListSql {
    columns: Analyse::COLUMNS,
    from: "from annahme_analyse q
        left join abrechnungsschema sc on sc.tenant_id = q.tenant_id and sc.id = q.schema_id",
    count: "select count(*) from annahme_analyse q",
    ids_first: None,
    order: "order by q.version desc",
};

/// Returns the values and device of each analysis and release of a receipt, in order, with their versions.
pub fn measurements(tx: &Tx<'_>, schein: Uuid) -> Result<Vec<Messung>> {
    let statement = "select version, geraet, werte from annahme_analyse
        where tenant_id = :tenant and annahmeschein_id = :id order by version";
    tx.all(statement, named_params! {":id": schein}, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// The version of an analysis or release, the device, and the measured values.
type Messung = (i64, Option<String>, Json<Vec<Messwert>>);

pub fn last_analyse(tx: &Tx<'_>, schein: Uuid) -> Result<i64> {
    let statement = "select coalesce(max(version), 0) from annahme_analyse
        where tenant_id = :tenant and annahmeschein_id = :id";
    tx.one(statement, named_params! {":id": schein}, |row| row.get(0))
}

/// Whether a receipt uses a scheme, in one version of it or (`None`) in any.
pub fn follows(tx: &Tx<'_>, schema: Uuid, version: Option<i64>) -> Result<bool> {
    let statement = "select 1 from annahmeschein s where s.tenant_id = :tenant and s.schema_id = :schema
        and s.schema_version = coalesce(:version, s.schema_version) limit 1";
    tx.exists(statement, named_params! {":schema": schema, ":version": version})
}

/// Returns the live document that pays for a receipt, or paid an advance on it.
pub fn paid_by(tx: &Tx<'_>, schein: Uuid) -> Result<Option<String>> {
    let statement = "select b.beleg_nummer from abrechnung_annahme x
        join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id
        join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
        where x.tenant_id = :tenant and x.annahmeschein_id = :id and b.status <> 'storniert'
        order by b.id desc limit 1";
    tx.optional(statement, named_params! {":id": schein}, |row| row.get(0))
}

/// Stores the EL that was created for a receipt.
pub fn note_delivery(tx: &WriteTx<'_>, schein: &Annahmeschein) -> Result<()> {
    tx.update("annahmeschein", schein.id, named_params! {":el_beleg_id": schein.el_id})
}

/// Assigns a receipt to a final settlement; cancelling that document frees it again.
pub fn settle(tx: &WriteTx<'_>, id: Uuid, abrechnung: Uuid) -> Result<()> {
    tx.update("annahmeschein", id, named_params! {":abrechnung_id": abrechnung})
}

pub fn insert_analyse(tx: &WriteTx<'_>, schein: Uuid, analyse: &Analyse) -> Result<()> {
    let own = named_params! {":annahmeschein_id": schein};
    tx.insert("annahme_analyse", &[&analyse.values(Part::All)[..], own].concat())
}

pub fn upsert(tx: &WriteTx<'_>, schein: &Annahmeschein, is_new: bool) -> Result<()> {
    match is_new {
        true => tx.insert("annahmeschein", &schein.values(Part::All)),
        false => tx.update("annahmeschein", schein.id, &schein.values(Part::Mutable)),
    }
}

pub const RETENTION: Retention = Retention {
    records: "Annahmescheine",
    years: 8,
    of_partner:
        "select count(*) as anzahl, count(*) filter (where status = 'offen') as offen, 0 as undatiert, null as tag,
          max(angelegt_am) as zeit
        from annahmeschein where tenant_id = :tenant and partner_id = :partner",
};
