//! SQL statements for open quantities and pairs (`lager_offen`, `lager_paar`).

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::named_params;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use uuid::Uuid;

use super::change::{Gruppe, roles};
use crate::platform::db::record::{columns, record};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::document::Seite;
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Portion, PortionKind, PositionKey, Role, SentPosition, Stage};
use crate::trade::belege::model::Beleg;

/// Returns the name of a role in the columns of these tables.
pub fn column(role: Role) -> &'static str {
    match role {
        Role::Delivery => "lieferung",
        Role::Invoice => "rechnung",
        Role::Return => "rueckgabe",
        Role::Credit => "gutschrift",
    }
}

/// What an invoice says beyond its delivery lies in no batch.
pub const NOT_BEYOND: &str = "art <> 'mehr' and art <> 'mehr_aufgehoben'";

/// Returns the name of a kind in the column `art`, and the role by whose position its portions are sorted.
pub fn art(kind: PortionKind) -> (&'static str, Role) {
    match kind {
        PortionKind::OpenDelivery => ("lieferung", Role::Delivery),
        PortionKind::OpenInvoice => ("rechnung", Role::Invoice),
        PortionKind::Pair => ("paar", Role::Invoice),
        PortionKind::Returned => ("zurueckgenommen", Role::Delivery),
        PortionKind::InvoiceReturned => ("rechnung_zurueck", Role::Return),
        PortionKind::WaitingReturn => ("rueckgabe", Role::Return),
        PortionKind::WaitingCredit => ("gutschrift", Role::Credit),
        PortionKind::Settled => ("erledigt", Role::Credit),
        PortionKind::Credited => ("aufgehoben", Role::Invoice),
        PortionKind::Excess => ("mehr", Role::Invoice),
        PortionKind::ExcessCredited => ("mehr_aufgehoben", Role::Invoice),
    }
}

/// Whether portions of this kind are stored in `lager_offen`.
pub fn is_open(kind: PortionKind) -> bool {
    matches!(kind, PortionKind::OpenDelivery | PortionKind::OpenInvoice)
}

/// Open goods of each compartment, which the key separates. `in (0, 1, 2, 3)` would create a temporary table of them in
/// every statement.
pub const OFFEN: &str = "(select 0 as fach union all select 1 union all select 2 union all select 3 union all select 4 \
    union all select 5) g cross join lager_offen o on o.fach = g.fach";

/// The compartment of goods that name a batch or none, and whose position has come so far.
pub fn compartment(is_named: bool, stage: Stage) -> i64 {
    i64::from(is_named) + 2 * stage as i64
}

columns! {
    Portion from lager_paar as l {
        id,
        nr,
        menge,
        charge = "l.charge_id",
        named = "l.genannt_id",
        moved_by = "l.bewegt_von",
        returned_by = "l.zurueck_von",
        is_beyond = "l.art = 'mehr' or l.art = 'mehr_aufgehoben'",
        stage = { Stage::Untouched },
        whole = { Quantity::ZERO },
        places = |lieferung_id, lieferung_position, rechnung_id, rechnung_position, rueckgabe_id, rueckgabe_position,
                  gutschrift_id, gutschrift_position| {
            [
                place(lieferung_id, lieferung_position),
                place(rechnung_id, rechnung_position),
                place(rueckgabe_id, rueckgabe_position),
                place(gutschrift_id, gutschrift_position),
            ]
        },
    } with {
        lieferung_id,
        lieferung_position,
        rechnung_id,
        rechnung_position,
        rueckgabe_id,
        rueckgabe_position,
        gutschrift_id,
        gutschrift_position,
    }
}

fn place(beleg: Option<Uuid>, position: Option<i64>) -> Option<PositionKey> {
    beleg.zip(position).map(|(beleg, position)| PositionKey { beleg, position })
}

impl FromSql for Role {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Role> {
        let name = value.as_str()?;
        Role::ALL.into_iter().find(|role| column(*role) == name).ok_or(FromSqlError::InvalidType)
    }
}

record! {
    /// Unpaired goods of a position.
    pub struct OpenGoods from lager_offen as o {
        beleg_id: Uuid,
        position: i64,
        nr: i64,
        charge_id: Option<Uuid>,
        genannt_id: Option<Uuid>,
        menge: Quantity,
        fach: i64,
        gesamt: Quantity,
    }
}

impl OpenGoods {
    pub fn portion(self, role: Role) -> Portion {
        let place = PositionKey { beleg: self.beleg_id, position: self.position };
        let portion = Portion::new(role, place, self.menge).moved(role, self.charge_id);
        Portion {
            nr: Some(self.nr),
            named: self.genannt_id,
            stage: Stage::ALL[(self.fach / 2).clamp(0, 2) as usize],
            whole: self.gesamt,
            ..portion
        }
    }
}

/// Returns all portions of a document's positions, for these articles.
pub fn portions_of(
    tx: &Tx<'_>,
    beleg: &Beleg,
    articles: BTreeSet<Uuid>,
) -> Result<BTreeMap<Uuid, Vec<Portion>>> {
    let mut found: BTreeMap<Uuid, Vec<Portion>> = BTreeMap::new();
    let [forward, back] = roles(beleg.beleg_typ);
    for artikel in articles {
        found.entry(artikel).or_default().extend(open_portions_of(tx, beleg, artikel, forward)?);
    }
    // A delivery taken back by a return of the same document is found twice.
    let mut seen = BTreeSet::new();
    for role in [forward, back] {
        let role = column(role);
        let statement = format!(
            "select {}, l.artikel_id from lager_paar l where l.tenant_id = :tenant and l.{role}_id = :beleg",
            Portion::COLUMNS
        );
        tx.each(&statement, named_params! {":beleg": beleg.id}, |row| {
            let (artikel, portion) = (row.get("artikel_id")?, Portion::read(row)?);
            if seen.insert(portion.id) {
                found.entry(artikel).or_default().push(portion);
            }
            Ok(())
        })?;
    }
    // Goods freed from pairs come first, then the rest, each in order of creation.
    for portions in found.values_mut() {
        portions.sort_by_key(|portion| (portion.kind() != PortionKind::Pair, portion.id));
    }
    Ok(found)
}

/// Returns the unpaired goods of an article in a document.
pub fn open_portions_of(tx: &Tx<'_>, beleg: &Beleg, artikel: Uuid, role: Role) -> Result<Vec<Portion>> {
    let statement = format!(
        "select {} from {OFFEN} where tenant_id = :tenant and kunde_id = :kunde
           and beleg_typ = :typ and artikel_id = :artikel and beleg_id = :beleg",
        OpenGoods::COLUMNS
    );
    let params = named_params! {
        ":kunde": beleg.kunde_id,
        ":typ": beleg.beleg_typ,
        ":artikel": artikel,
        ":beleg": beleg.id,
    };
    tx.all(&statement, params, |row| Ok(OpenGoods::read(row)?.portion(role)))
}

/// Returns a column of a position's portions: of its pairs for which `pairs` holds, and of everything open.
fn of_position<T: FromSql>(
    tx: &Tx<'_>,
    gruppe: Gruppe,
    role: Role,
    place: PositionKey,
    wanted: &str,
    pairs: &str,
) -> Result<Vec<T>> {
    let name = column(role);
    let statement = format!(
        "select {wanted} from lager_paar
           where tenant_id = :tenant and {name}_id = :beleg and {name}_position = :position and {pairs}
         union all
         select {wanted} from {OFFEN} where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ
           and artikel_id = :artikel and beleg_id = :beleg and position = :position"
    );
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":typ": gruppe.typ(role),
        ":artikel": gruppe.artikel,
        ":beleg": place.beleg,
        ":position": place.position,
    };
    tx.all(&statement, params, |row| row.get(0))
}

pub fn batches_of(tx: &Tx<'_>, gruppe: Gruppe, role: Role, place: PositionKey) -> Result<Vec<Option<Uuid>>> {
    of_position(tx, gruppe, role, place, "charge_id", NOT_BEYOND)
}

/// Returns the batches of goods that an invoice moved itself, whether paired with a delivery later or still
/// open.
pub fn moved_by_invoice(tx: &Tx<'_>, gruppe: Gruppe, place: PositionKey) -> Result<Vec<Option<Uuid>>> {
    of_position(tx, gruppe, Role::Invoice, place, "charge_id", "bewegt_von = 'rechnung'")
}

/// Returns the quantity of a position paired with each document.
pub fn met(tx: &Tx<'_>, role: Role, place: PositionKey) -> Result<BTreeMap<Uuid, Quantity>> {
    let own = column(role);
    let others = Role::ALL.into_iter().filter(|other| *other != role).map(column);
    let met = others.map(|other| {
        format!(
            "select {other}_id as beleg, menge from lager_paar
             where tenant_id = :tenant and {own}_id = :beleg and {own}_position = :position
               and {other}_id is not null"
        )
    });
    let statement = format!(
        "select beleg, sum(menge) from ({}) group by beleg",
        met.collect::<Vec<_>>().join(" union all ")
    );
    let params = named_params! {":beleg": place.beleg, ":position": place.position};
    Ok(tx.all(&statement, params, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
}

/// Whether part of a position is open, or is a credit that moved nothing.
pub fn is_left(tx: &Tx<'_>, gruppe: Gruppe, role: Role, place: PositionKey) -> Result<bool> {
    let statement = format!(
        "select 1 from {OFFEN} where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ
           and artikel_id = :artikel and beleg_id = :beleg and position = :position
         union all
         select 1 from lager_paar where tenant_id = :tenant and gutschrift_id = :beleg
           and gutschrift_position = :position and art = 'gutschrift' and zurueck_von is null
         union all
         select 1 from lager_paar where tenant_id = :tenant and rechnung_id = :beleg
           and rechnung_position = :position and art = 'mehr'"
    );
    tx.exists(
        &statement,
        named_params! {
            ":kunde": gruppe.kunde,
            ":typ": gruppe.typ(role),
            ":artikel": gruppe.artikel,
            ":beleg": place.beleg,
            ":position": place.position,
        },
    )
}

/// Counts the goods that a document shares with others, up to `most`.
pub fn shared(tx: &Tx<'_>, beleg: Uuid, most: usize) -> Result<usize> {
    let of = |role| {
        let role = column(role);
        format!("select 1 from lager_paar where tenant_id = :tenant and {role}_id = :beleg")
    };
    let of_all = Role::ALL.map(of).join(" union all ");
    let statement = format!("select count(*) from (select * from ({of_all}) limit {most})");
    let count: i64 = tx.one(&statement, named_params! {":beleg": beleg}, |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(most))
}

/// Counts the other documents that a document shares goods with.
pub fn shared_with(tx: &Tx<'_>, beleg: Uuid) -> Result<usize> {
    let of = |role| format!("select * from lager_paar where tenant_id = :tenant and {role}_id = :beleg");
    let of_all = Role::ALL.map(column).map(of).join(" union all ");
    let each =
        Role::ALL.map(column).map(|role| format!("select {role}_id as beleg from goods")).join(" union ");
    let statement = format!("with goods as ({of_all}) select count(*) from ({each}) where beleg <> :beleg");
    let count: i64 = tx.one(&statement, named_params! {":beleg": beleg}, |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Returns the highest number among the goods of a position.
pub fn last_nr(tx: &Tx<'_>, gruppe: Gruppe, role: Role, place: PositionKey) -> Result<Option<i64>> {
    let highest: Vec<Option<i64>> = of_position(tx, gruppe, role, place, "max(nr)", "true")?;
    Ok(highest.into_iter().flatten().max())
}

pub fn take(tx: &WriteTx<'_>, gruppe: Gruppe, portion: &Portion, menge: Quantity) -> Result<()> {
    if is_open(portion.kind()) {
        return take_open(tx, gruppe, portion, menge);
    }
    let rest = portion.menge.minus(menge)?;
    if rest.is_zero() {
        let delete = "delete from lager_paar where tenant_id = :tenant and id = :id";
        return tx.execute(delete, named_params! {":id": portion.id}).map(drop);
    }
    let update = "update lager_paar set menge = :menge where tenant_id = :tenant and id = :id";
    tx.execute(update, named_params! {":id": portion.id, ":menge": rest}).map(drop)
}

/// Takes open goods, which may be in another compartment by now than when they were found.
fn take_open(tx: &WriteTx<'_>, gruppe: Gruppe, portion: &Portion, menge: Quantity) -> Result<()> {
    let rest = portion.menge.minus(menge)?;
    let (role, place) = portion.leading();
    let which = "kunde_id = :kunde and beleg_typ = :typ and artikel_id = :artikel and fach = :fach \
        and beleg_id = :beleg and position = :position and nr = :nr";
    let statement = match rest.is_zero() {
        true => format!("delete from lager_offen where tenant_id = :tenant and {which}"),
        false => format!(
            "update lager_offen set menge = menge - :weg, gesamt = gesamt - :weg
             where tenant_id = :tenant and {which}"
        ),
    };
    let others = Stage::ALL.into_iter().filter(|stage| *stage != portion.stage);
    for stage in [portion.stage].into_iter().chain(others) {
        let (typ, fach) = (gruppe.typ(role), compartment(portion.named.is_some(), stage));
        let mut params = named_params! {
            ":kunde": gruppe.kunde,
            ":typ": typ,
            ":artikel": gruppe.artikel,
            ":fach": fach,
            ":beleg": place.beleg,
            ":position": place.position,
            ":nr": portion.nr,
        }
        .to_vec();
        if !rest.is_zero() {
            params.push((":weg", &menge));
        }
        if tx.execute(&statement, &params)? > 0 {
            return Ok(());
        }
    }
    Err(Failure::Broken(format!("open goods of {place:?} that were met are gone")))
}

/// Adds a portion; open goods of a position that moved together are merged again.
pub fn add(tx: &WriteTx<'_>, gruppe: Gruppe, portion: &Portion) -> Result<()> {
    let nr = match portion.nr {
        Some(nr) => nr,
        None => {
            let (role, place) = portion.movers().last().unwrap_or(portion.leading());
            last_nr(tx, gruppe, role, place)?.map_or(0, |last| last + 1)
        }
    };
    if is_open(portion.kind()) {
        return add_open(tx, gruppe, portion, nr);
    }
    let beleg = |role| portion.place(role).map(|place| place.beleg);
    let position = |role| portion.place(role).map(|place| place.position);
    tx.insert(
        "lager_paar",
        named_params! {
            ":kunde_id": gruppe.kunde,
            ":einkauf": gruppe.seite == Seite::Einkauf,
            ":artikel_id": gruppe.artikel,
            ":art": art(portion.kind()).0,
            ":lieferung_id": beleg(Role::Delivery),
            ":lieferung_position": position(Role::Delivery),
            ":rechnung_id": beleg(Role::Invoice),
            ":rechnung_position": position(Role::Invoice),
            ":rueckgabe_id": beleg(Role::Return),
            ":rueckgabe_position": position(Role::Return),
            ":gutschrift_id": beleg(Role::Credit),
            ":gutschrift_position": position(Role::Credit),
            ":nr": nr,
            ":charge_id": portion.charge,
            ":genannt_id": portion.named,
            ":menge": portion.menge,
            ":bewegt_von": portion.moved_by.map(column),
            ":zurueck_von": portion.returned_by.map(column),
        },
    )
}

/// Merges open goods with those of the same number, or adds them.
fn add_open(tx: &WriteTx<'_>, gruppe: Gruppe, portion: &Portion, nr: i64) -> Result<()> {
    let (role, place) = portion.leading();
    let typ = gruppe.typ(role);
    let merge = "update lager_offen set menge = menge + :menge, gesamt = gesamt + :menge
        where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ and artikel_id = :artikel
          and fach = :fach and beleg_id = :beleg and position = :position and nr = :nr and charge_id is :charge";
    for stage in Stage::ALL {
        let own = named_params! {
            ":menge": portion.menge,
            ":kunde": gruppe.kunde,
            ":typ": typ,
            ":artikel": gruppe.artikel,
            ":fach": compartment(portion.named.is_some(), stage),
            ":beleg": place.beleg,
            ":position": place.position,
            ":nr": nr,
            ":charge": portion.charge,
        };
        if tx.execute(merge, own)? > 0 {
            return Ok(());
        }
    }
    insert_open(tx, &[(gruppe, Portion { nr: Some(nr), whole: portion.menge, ..portion.clone() })])
}

/// Adds open goods.
pub fn insert_open(tx: &WriteTx<'_>, portions: &[(Gruppe, Portion)]) -> Result<()> {
    tx.insert_all("lager_offen", portions, |(gruppe, portion), store| {
        let (role, place) = portion.leading();
        store(named_params! {
            ":kunde_id": gruppe.kunde,
            ":beleg_typ": gruppe.typ(role),
            ":artikel_id": gruppe.artikel,
            ":fach": compartment(portion.named.is_some(), portion.stage),
            ":beleg_id": place.beleg,
            ":position": place.position,
            ":nr": portion.nr,
            ":charge_id": portion.charge,
            ":genannt_id": portion.named,
            ":menge": portion.menge,
            ":gesamt": portion.whole,
        })
    })
}

/// Whether a position that was just entered is paired with this document, or names it without goods being paired.
pub fn has_met(tx: &Tx<'_>, entry: &SentPosition, beleg: Uuid) -> Result<bool> {
    let role = column(entry.role);
    let statement = format!(
        "select 1 from lager_paar where tenant_id = :tenant and {role}_id = :own and {role}_position = :position
           and :beleg in (lieferung_id, rechnung_id, rueckgabe_id, gutschrift_id)
         union all
         select 1 from beleg_position p
           cross join beleg_fluss f on f.tenant_id = p.tenant_id and f.beleg_id = p.beleg_id and f.position_id = p.id
         where p.tenant_id = :tenant and p.beleg_id = :own and p.position = :position and f.von_beleg_id = :beleg"
    );
    let PositionKey { beleg: own, position } = entry.place;
    tx.exists(&statement, named_params! {":own": own, ":position": position, ":beleg": beleg})
}
