//! SQL statements for schemes and Merkmale.

use rusqlite::named_params;
use uuid::Uuid;

use super::model::{Auswahl, Kopf, SchemaVersion};
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::columns;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::Records;
use crate::rules::day::Day;
use crate::rules::settlement::Merkmal;

columns! {
    Merkmal in merkmal as m {
        code = fixed,
        bezeichnung = mutable,
        einheit = fixed,
        stellen = fixed,
        mittel = mutable,
    }
}

const LIST: ListSql<'_> = ListSql {
    columns: Kopf::COLUMNS,
    from: "from abrechnungsschema_version v
        join abrechnungsschema s on s.tenant_id = v.tenant_id and s.id = v.schema_id",
    count: "select count(*) from abrechnungsschema_version v",
    ids_first: None,
    order: "order by s.nummer, v.version desc",
};

pub fn list(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<Records<Kopf>> {
    let mut filter = Filter::of("v");
    match auswahl.am {
        Some(am) => {
            filter.when("v.gueltig_von <= :am", ":am", Some(am));
            filter.and("(v.gueltig_bis is null or v.gueltig_bis >= :am)");
        }
        None => filter.and(
            "v.version = (select max(n.version) from abrechnungsschema_version n
               where n.tenant_id = v.tenant_id and n.schema_id = v.schema_id)",
        ),
    }
    filter.when(
        "exists (select 1 from abrechnungsschema_artikel x where x.tenant_id = v.tenant_id
           and x.schema_id = v.schema_id and x.version = v.version and x.artikel_id = :artikel)",
        ":artikel",
        auswahl.artikel,
    );
    with_articles(tx, tx.list(&LIST, &filter, page)?)
}

fn with_articles(tx: &Tx<'_>, found: Records<Kopf>) -> Result<Records<Kopf>> {
    let Records { mut rows, count } = found;
    for kopf in &mut rows {
        kopf.artikel = articles(tx, kopf)?.into_iter().map(|(_, nummer)| nummer).collect();
    }
    Ok(Records { rows, count })
}

/// Returns the articles of a version with their numbers.
pub fn articles(tx: &Tx<'_>, kopf: &Kopf) -> Result<Vec<(Uuid, String)>> {
    let statement = "select a.id, a.artikelnummer from abrechnungsschema_artikel x
        join artikel a on a.tenant_id = x.tenant_id and a.id = x.artikel_id
        where x.tenant_id = :tenant and x.schema_id = :id and x.version = :version order by a.artikelnummer";
    let key = named_params! {":id": kopf.id, ":version": kopf.version};
    tx.all(statement, key, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Finds a version of a scheme, the newest by default.
pub fn find(tx: &Tx<'_>, id: Uuid, version: Option<i64>) -> Result<Option<Kopf>> {
    let mut filter = Filter::equal("v", "schema_id", id);
    filter.when("v.version = :version", ":version", version);
    newest(tx, &filter)
}

/// Finds the version of a scheme that is valid on a day.
pub fn find_valid(tx: &Tx<'_>, id: Uuid, am: Day) -> Result<Option<Kopf>> {
    let mut filter = Filter::equal("v", "schema_id", id);
    filter.when("v.gueltig_von <= :am", ":am", Some(am));
    filter.and("(v.gueltig_bis is null or v.gueltig_bis >= :am)");
    newest(tx, &filter)
}

/// Whether a version of a scheme covers an article (any article if `None`) on some day of a period.
pub fn holds_within(
    tx: &Tx<'_>,
    id: Uuid,
    artikel: Option<Uuid>,
    von: Option<Day>,
    bis: Option<Day>,
) -> Result<bool> {
    let statement = "select 1 from abrechnungsschema_version v where v.tenant_id = :tenant and v.schema_id = :id
          and (v.gueltig_bis is null or v.gueltig_bis >= max(v.gueltig_von, coalesce(:von, v.gueltig_von)))
          and (:bis is null or v.gueltig_von <= :bis)
          and (:artikel is null or exists (select 1 from abrechnungsschema_artikel x where x.tenant_id = v.tenant_id
            and x.schema_id = v.schema_id and x.version = v.version and x.artikel_id = :artikel))";
    tx.exists(statement, named_params! {":id": id, ":artikel": artikel, ":von": von, ":bis": bis})
}

fn newest(tx: &Tx<'_>, filter: &Filter<'_>) -> Result<Option<Kopf>> {
    let page = Page { limit: Some(1), offset: 0 };
    Ok(with_articles(tx, tx.list(&LIST, filter, page)?)?.rows.pop())
}

pub fn id_of(tx: &Tx<'_>, nummer: &str) -> Result<Option<Uuid>> {
    let statement = "select id from abrechnungsschema where tenant_id = :tenant and nummer = :nummer";
    tx.optional(statement, named_params! {":nummer": nummer}, |row| row.get(0))
}

/// Returns the computation of a version as stored.
pub fn inhalt(tx: &Tx<'_>, kopf: &Kopf) -> Result<String> {
    let statement = "select inhalt from abrechnungsschema_version
        where tenant_id = :tenant and schema_id = :id and version = :version";
    tx.one(statement, named_params! {":id": kopf.id, ":version": kopf.version}, |row| row.get(0))
}

/// Returns the last day of delivery that a live final settlement computed by a version, and its number.
pub fn last_settled(tx: &Tx<'_>, kopf: &Kopf, version: i64) -> Result<Option<(Day, String)>> {
    let statement = "select coalesce(x.inhalt ->> 'lieferdatum', d.beleg_datum) as tag, d.beleg_nummer
        from abrechnung_annahme x
        join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id and a.art = 'end'
        join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id and d.status <> 'storniert'
        where x.tenant_id = :tenant and x.inhalt ->> 'schema' = :nummer and x.inhalt ->> 'schema_version' = :version
        order by tag desc limit 1";
    let params = named_params! {":nummer": kopf.nummer, ":version": version};
    tx.optional(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Lists all versions, newest first.
pub fn versions(tx: &Tx<'_>, id: Uuid) -> Result<Vec<SchemaVersion>> {
    let statement = format!(
        "select {} from abrechnungsschema_version v where v.tenant_id = :tenant and v.schema_id = :id
         order by v.version desc",
        SchemaVersion::COLUMNS
    );
    tx.all(&statement, named_params! {":id": id}, SchemaVersion::read)
}

pub fn insert(tx: &WriteTx<'_>, id: Uuid, nummer: &str) -> Result<()> {
    tx.insert("abrechnungsschema", named_params! {":id": id, ":nummer": nummer})
}

pub fn insert_version(
    tx: &WriteTx<'_>,
    kopf: &Kopf,
    inhalt: &str,
    sha256: [u8; 32],
    artikel: &[Uuid],
) -> Result<()> {
    let columns: Params<'_> = named_params! {
        ":schema_id": kopf.id,
        ":version": kopf.version,
        ":bezeichnung": kopf.bezeichnung,
        ":erntejahr": kopf.erntejahr,
        ":gueltig_von": kopf.gueltig_von,
        ":gueltig_bis": kopf.gueltig_bis,
        ":inhalt": inhalt,
        ":sha256": sha256,
        ":angelegt_am": kopf.angelegt_am,
        ":key_id": tx.key_id(),
    };
    tx.insert("abrechnungsschema_version", columns)?;
    tx.changed("abrechnungsschema", kopf.id);
    for artikel_id in artikel {
        let columns: Params<'_> =
            named_params! {":schema_id": kopf.id, ":version": kopf.version, ":artikel_id": artikel_id};
        tx.insert("abrechnungsschema_artikel", columns)?;
    }
    Ok(())
}

/// Sets an earlier end for a version.
pub fn end(tx: &WriteTx<'_>, id: Uuid, version: i64, bis: Day) -> Result<()> {
    let statement = "update abrechnungsschema_version set gueltig_bis = :bis
        where tenant_id = :tenant and schema_id = :id and version = :version";
    tx.execute(statement, named_params! {":id": id, ":version": version, ":bis": bis}).map(drop)
}

/// Returns the Merkmale that the company added to the built-in ones.
pub fn merkmale(tx: &Tx<'_>) -> Result<Vec<Merkmal>> {
    let statement =
        format!("select {} from merkmal m where m.tenant_id = :tenant order by m.code", Merkmal::COLUMNS);
    tx.all(&statement, &[], Merkmal::read)
}

pub fn store_merkmal(tx: &WriteTx<'_>, merkmal: &Merkmal) -> Result<()> {
    tx.upsert("merkmal", &["code"], &merkmal.values(crate::platform::db::record::Part::All))
}
