//! SQL statements for weighings.

use rusqlite::named_params;
use uuid::Uuid;

use super::model::{Auswahl, Wiegung};
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::Part;
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::PageOf;
use crate::rules::day::Day;

const LIST: ListSql<'_> = ListSql {
    columns: Wiegung::COLUMNS,
    from: "from wiegung w
    join kunde k on k.tenant_id = w.tenant_id and k.id = w.partner_id
    left join artikel a on a.tenant_id = w.tenant_id and a.id = w.artikel_id",
    count: "select count(*) from wiegung w",
    ids_first: Some("w"),
    order: "order by w.ts_erst desc, w.id desc",
};

/// Sort orders of the list; weighings without a net weight come last.
const ORDERS: [Order; 4] = [
    ("-ts_erst", LIST.order),
    ("ts_erst", "order by w.ts_erst, w.id"),
    ("gewicht_netto_kg", "order by w.gewicht_netto_kg nulls last, w.id"),
    ("-gewicht_netto_kg", "order by w.gewicht_netto_kg desc nulls last, w.id desc"),
];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

/// SQL for a plate in upper case without blanks and hyphens, as in the index `wiegung_kennzeichen`.
fn plate(text: &str) -> String {
    format!(
        "replace(replace(replace(replace(replace(upper({text}), ' ', ''), '-', ''), 'ä', 'Ä'), 'ö', 'Ö'), 'ü', 'Ü')"
    )
}

pub fn list<P: PageOf<Wiegung>>(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<P> {
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
    tx.list(&LIST.in_order(&ORDERS, auswahl.sortierung, &mut filter), &filter, page)
}

/// Finds a weighing by id, with the number of its batch.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Wiegung>> {
    let statement = format!(
        "select {}, c.charge_nr as charge_nr {}
           left join charge c on c.tenant_id = w.tenant_id and c.id = w.charge_id
         where w.tenant_id = :tenant and w.id = :id",
        LIST.columns, LIST.from
    );
    tx.optional(&statement, named_params! {":id": id}, |row| {
        Ok(Wiegung { charge_nr: Some(row.get("charge_nr")?), ..Wiegung::read(row)? })
    })
}

/// Returns the numbers of the live documents that reference a weighing: one of each type at most (D12).
pub fn belege_of(tx: &Tx<'_>, wiegung: Uuid) -> Result<Vec<String>> {
    let statement = "select distinct b.beleg_nummer from beleg_position p
          join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
        where p.tenant_id = :tenant and p.wiegung_id = :wiegung and b.status <> 'storniert' order by b.id";
    tx.all(statement, named_params! {":wiegung": wiegung}, |row| row.get(0))
}

/// Returns the number of the live goods receipt that references a weighing, other than `own`.
pub fn annahmeschein_of(tx: &Tx<'_>, wiegung: Uuid, own: Option<Uuid>) -> Result<Option<String>> {
    let statement = "select belegnummer from annahmeschein
        where tenant_id = :tenant and wiegung_id = :wiegung and status <> 'storniert' and id is not :own";
    tx.optional(statement, named_params! {":wiegung": wiegung, ":own": own}, |row| row.get(0))
}

pub fn insert(tx: &WriteTx<'_>, wiegung: &Wiegung) -> Result<()> {
    tx.insert("wiegung", &wiegung.values(Part::All))
}

pub fn update(tx: &WriteTx<'_>, wiegung: &Wiegung) -> Result<()> {
    tx.update("wiegung", wiegung.id, &wiegung.values(Part::Mutable))
}

pub const RETENTION: Retention = Retention {
    records: "Wiegungen",
    years: 8,
    of_partner:
        "select count(*) as anzahl, count(*) filter (where status = 'offen') as offen, 0 as undatiert, null as tag,
          max(coalesce(ts_zweit, ts_erst)) as zeit
        from wiegung where tenant_id = :tenant and partner_id = :partner",
};
