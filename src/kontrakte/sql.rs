//! Statements on contracts.

use rusqlite::named_params;
use serde_json::json;
use uuid::Uuid;

use super::model::{Kontrakt, Position};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::record::Part;
use crate::db::retention::Retention;
use crate::db::tx::{Params, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::Records;
use crate::rules::fixed::Quantity;
use crate::rules::text::searchable;

const LIST: ListSql<'_> = ListSql {
    columns: Kontrakt::COLUMNS,
    from: "from kontrakt v left join kunde k on k.tenant_id = v.tenant_id and k.id = v.partner_id",
    count: "select count(*) from kontrakt v",
    ids_first: None,
    order: "order by v.erfassungsdatum desc, v.id",
};

pub fn list(tx: &Tx<'_>, filter: &Filter<'_>, page: Page) -> Result<Records<Kontrakt>> {
    tx.list(&LIST, filter, page)
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Kontrakt>> {
    tx.find_by(&LIST, "v.id", &id)
}

pub fn number(tx: &Tx<'_>, id: Uuid) -> Result<Option<String>> {
    let statement = "select kontrakt_nr from kontrakt where tenant_id = :tenant and id = :id";
    tx.optional(statement, named_params! {":id": id}, |row| row.get(0))
}

pub fn find_by_nr(tx: &Tx<'_>, kontrakt_nr: &str) -> Result<Option<Kontrakt>> {
    tx.find_by(&LIST, "v.kontrakt_nr", &kontrakt_nr)
}

pub struct Menge {
    pub kontrakt_id: Uuid,
    /// The quantity, in this unit.
    pub menge: Quantity,
    pub einheit: Option<String>,
}

/// What was delivered on some contracts: quantities to be summed, each of an article and in its unit. Goods count where
/// they moved (D21g): deliveries less returns, invoices for what they moved themselves and no delivery has met, credits
/// for what they moved and no return has met. Positions without an article and those with a negative price never count
/// (D8).
pub fn quantities(tx: &Tx<'_>, kontrakte: &[Uuid]) -> Result<Vec<Menge>> {
    tx.all(
        "select p.kontrakt_id, sum(iif(t.lagerrolle = 'lieferung', p.lager_menge,
             (select coalesce(sum(o.menge), 0) from lager_offen o where o.tenant_id = b.tenant_id
               and o.kunde_id = b.kunde_id and o.beleg_typ = b.beleg_typ and o.artikel_id = p.artikel_id
               and o.ist_genannt in (0, 1) and o.beleg_id = p.beleg_id and o.position = p.position)
             + (select coalesce(sum(l.menge), 0) from lager_paar l where l.tenant_id = p.tenant_id
               and l.rechnung_id = p.beleg_id and l.rechnung_position = p.position and l.bewegt_von = 'rechnung'
               and l.lieferung_id is null)
             - (select coalesce(sum(l.menge), 0) from lager_paar l where l.tenant_id = p.tenant_id
               and l.gutschrift_id = p.beleg_id and l.gutschrift_position = p.position
               and l.zurueck_von = 'gutschrift' and l.rueckgabe_id is null))),
           coalesce(a.einheit, p.einheit)
         from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
           join belegtyp t on t.typ = b.beleg_typ
           join artikel a on a.tenant_id = p.tenant_id and a.id = p.artikel_id
         where p.tenant_id = :tenant and p.kontrakt_id in (select unhex(value) from json_each(:kontrakte))
           and p.ep_netto >= 0 and t.lagerrolle is not null
           and b.status <> 'storniert' and b.storno_von_beleg_id is null
         group by 1, p.artikel_id, 3",
        named_params! {":kontrakte": hex(kontrakte)},
        |row| Ok(Menge { kontrakt_id: row.get(0)?, menge: row.get(1)?, einheit: row.get(2)? }),
    )
}

/// Ids as a list that `json_each` and `unhex` read.
fn hex(ids: &[Uuid]) -> String {
    json!(ids.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>()).to_string()
}

pub fn upsert(tx: &WriteTx<'_>, kontrakt: &Kontrakt, is_new: bool) -> Result<()> {
    let fields = [Some(&kontrakt.kontrakt_nr), kontrakt.referenz.as_ref()];
    let such_text = searchable(fields.into_iter().flatten().map(String::as_str));
    let own: Params<'_> = named_params! {":such_text": such_text};
    match is_new {
        true => tx.insert("kontrakt", &[&kontrakt.values(Part::All)[..], own].concat()),
        false => tx.update("kontrakt", kontrakt.id, &[&kontrakt.values(Part::Mutable)[..], own].concat()),
    }
}

pub fn positions(tx: &Tx<'_>, kontrakt: Uuid) -> Result<Vec<Position>> {
    let found = positions_of(tx, &[kontrakt])?;
    Ok(found.into_iter().map(|(_, position)| position).collect())
}

/// The positions of some contracts, each with its contract, in their order.
pub fn positions_of(tx: &Tx<'_>, kontrakte: &[Uuid]) -> Result<Vec<(Uuid, Position)>> {
    let statement = format!(
        "select {}, p.kontrakt_id from kontrakt_position p
         where p.tenant_id = :tenant and p.kontrakt_id in (select unhex(value) from json_each(:kontrakte))
         order by p.position, p.id",
        Position::COLUMNS
    );
    tx.all(&statement, named_params! {":kontrakte": hex(kontrakte)}, |row| {
        Ok((row.get("kontrakt_id")?, Position::read(row)?))
    })
}

/// Adds a position or stores a changed one; others may refer to it, so none is ever deleted.
pub fn upsert_position(tx: &WriteTx<'_>, kontrakt: Uuid, position: &Position, is_new: bool) -> Result<()> {
    tx.changed("kontrakt", kontrakt);
    if !is_new {
        return tx.update("kontrakt_position", position.id, &position.values(Part::Mutable));
    }
    let own: Params<'_> = named_params! {":kontrakt_id": kontrakt};
    tx.insert("kontrakt_position", &[&position.values(Part::All)[..], own].concat())
}

pub const RETENTION: Retention = Retention {
    records: "Kontrakte",
    years: 8,
    of_partner: "select count(*) as anzahl, count(*) filter (where erledigt = 0) as offen,
          count(*) filter (where coalesce(gueltig_bis, erfassungsdatum, gueltig_von) is null) as undatiert,
          max(coalesce(gueltig_bis, erfassungsdatum, gueltig_von)) as tag, null as zeit
        from kontrakt where tenant_id = :tenant and partner_id = :partner",
};
