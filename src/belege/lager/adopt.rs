//! Writing down the pairs of a database from before pairs were kept (`src/db/migrate/before/V13__lager_paare.sql`).

use std::collections::BTreeMap;

use rusqlite::{Connection, named_params};
use uuid::Uuid;

use super::change::Gruppe;
use super::portions::Said;
use super::sql;
use crate::db::record::columns;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::day::Instant;
use crate::rules::document::BelegTyp;
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Place, Portion, PortionKind, Role};
use crate::tenants;

/// Writes down the pairs of all companies as they stand: their documents were paired in the order of creation, those
/// that came first moved, and returns lowered what the oldest delivery of their batch had open. No movement changes.
pub fn adopt(connection: &Connection, now: Instant) -> Result<()> {
    for tenant in tenants::ids(connection)? {
        WriteTx::carry_out(Tx::new(connection, tenant, now), None, adopt_of_company)?;
    }
    Ok(())
}

fn adopt_of_company(tx: &WriteTx<'_>) -> Result<()> {
    for gruppe in groups(tx)? {
        let mut replay = Replay { booked: booked(tx, gruppe)?, portions: Vec::new() };
        for position in positions(tx, gruppe)? {
            replay.enter(tx, gruppe, &position)?;
        }
        replay.portions.iter().try_for_each(|portion| sql::add(tx, gruppe, portion))?;
    }
    Ok(())
}

fn groups(tx: &Tx<'_>) -> Result<Vec<Gruppe>> {
    tx.all(
        "select b.kunde_id, p.artikel_id, b.beleg_typ from beleg b
           cross join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
         where b.tenant_id = :tenant and b.beleg_typ in ('LS', 'RE', 'EL', 'ER') and b.status <> 'storniert'
           and p.lager_buchen = 1 and p.artikel_id is not null
         group by b.kunde_id, p.artikel_id, b.beleg_typ in ('EL', 'ER')",
        &[],
        |row| {
            let typ: BelegTyp = row.get(2)?;
            Ok(Gruppe { kunde: row.get(0)?, artikel: row.get(1)?, seite: typ.seite() })
        },
    )
}

/// A live position of a group.
struct Position {
    place: Place,
    is_invoice: bool,
    menge: Quantity,
    said: Said,
}

columns! {
    Position from beleg as b {
        is_invoice: "b.beleg_typ in ('RE', 'ER')",
        menge: "p.lager_menge",
    } with {
        id,
        position: "p.position",
        charge_id: "p.charge_id",
        charge_gesendet: "p.charge_gesendet",
        fremde_charge_nr: "p.fremde_charge_nr",
        mhd: "p.mhd",
        bezug: "p.bezug_beleg_id",
    } => {
        place: Place { beleg: id, position },
        said: Said { charge_id, charge_gesendet, fremde_charge_nr, mhd, bezug },
    }
}

fn positions(tx: &Tx<'_>, gruppe: Gruppe) -> Result<Vec<Position>> {
    let statement = format!(
        "select {}
         from beleg b cross join beleg_position p on p.tenant_id = b.tenant_id and p.beleg_id = b.id
         where b.tenant_id = :tenant and b.kunde_id = :kunde and p.artikel_id = :artikel and p.lager_buchen = 1
           and b.beleg_typ in (:lieferung, :rechnung) and b.status <> 'storniert' and b.storno_von_beleg_id is null
         order by b.id, p.position",
        Position::COLUMNS
    );
    let params = named_params! {
        ":kunde": gruppe.kunde,
        ":artikel": gruppe.artikel,
        ":lieferung": gruppe.typ(Role::Delivery),
        ":rechnung": gruppe.typ(Role::Invoice),
    };
    tx.all(&statement, params, Position::read)
}

/// What each document of a group has moved, by batch and without signs.
type Booked = BTreeMap<Uuid, Vec<(Option<Uuid>, Quantity)>>;

fn booked(tx: &Tx<'_>, gruppe: Gruppe) -> Result<Booked> {
    let mut booked = Booked::new();
    tx.each(
        "select m.beleg_id, m.charge_id, sum(m.menge) from beleg b
           cross join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id and m.artikel_id = :artikel
         where b.tenant_id = :tenant and b.kunde_id = :kunde and b.beleg_typ in (:lieferung, :rechnung)
         group by 1, 2 having sum(m.menge) <> 0",
        named_params! {
            ":kunde": gruppe.kunde,
            ":artikel": gruppe.artikel,
            ":lieferung": gruppe.typ(Role::Delivery),
            ":rechnung": gruppe.typ(Role::Invoice),
        },
        |row| {
            let menge: Quantity = row.get(2)?;
            booked.entry(row.get(0)?).or_default().push((row.get(1)?, menge.abs()));
            Ok(())
        },
    )?;
    Ok(booked)
}

/// The pairing of one group as it was done before.
struct Replay {
    booked: Booked,
    portions: Vec<Portion>,
}

impl Replay {
    fn enter(&mut self, tx: &Tx<'_>, gruppe: Gruppe, position: &Position) -> Result<()> {
        let role = match (position.is_invoice, position.menge.is_negative()) {
            (_, true) => Role::Return,
            (true, false) => Role::Invoice,
            (false, false) => Role::Delivery,
        };
        let named = position.said.named(tx, gruppe)?;
        let mut own =
            Portion { named: named.id(), ..Portion::new(role, position.place, position.menge.abs()) };
        if role == Role::Return {
            let charge = position.said.charge_id;
            let deliveries =
                |open: &Portion| open.kind() == PortionKind::OpenDelivery && open.charge == charge;
            while let Some(open) = self.take(&mut own, deliveries)? {
                let returned = open.with(Role::Return, Some(position.place));
                self.portions.push(returned.moved(Role::Return, charge));
            }
            if !own.menge.is_zero() {
                self.portions.push(own.moved(Role::Return, charge));
            }
            return Ok(());
        }
        let counterpart =
            if position.is_invoice { PortionKind::OpenDelivery } else { PortionKind::OpenInvoice };
        let fits = |open: &Portion| {
            let (_, place) = open.leading();
            open.kind() == counterpart
                && named.fits(open.named)
                && position.said.bezug.is_none_or(|bezug| bezug == place.beleg)
        };
        while let Some(open) = self.take(&mut own, fits)? {
            let named = own.named.or(open.named);
            self.portions.push(Portion { named, ..open }.with(role, Some(position.place)));
        }
        for (charge, menge) in self.take_booked(position, own.menge)? {
            self.portions.push(Portion { menge, ..own.clone() }.moved(role, charge));
        }
        Ok(())
    }

    /// What `own` can meet of the first portion that fits.
    fn take(&mut self, own: &mut Portion, fits: impl Fn(&Portion) -> bool) -> Result<Option<Portion>> {
        let Some(at) = self.portions.iter().position(fits).filter(|_| !own.menge.is_zero()) else {
            return Ok(None);
        };
        let open = &mut self.portions[at];
        let menge = open.menge.min(own.menge);
        let taken = Portion { menge, ..open.clone() };
        open.menge = open.menge.minus(menge)?;
        own.menge = own.menge.minus(menge)?;
        if open.menge.is_zero() {
            self.portions.remove(at);
        }
        Ok(Some(taken))
    }

    /// The batches in which a position moved a quantity: the one it names first. What its document has not moved, because
    /// a return of the same document was booked against it, is in its own.
    fn take_booked(
        &mut self,
        position: &Position,
        mut rest: Quantity,
    ) -> Result<Vec<(Option<Uuid>, Quantity)>> {
        let mut parts = Vec::new();
        let pool = self.booked.entry(position.place.beleg).or_default();
        if !position.said.charge_gesendet {
            pool.sort_by_key(|(charge, _)| *charge != position.said.charge_id);
            for (charge, left) in pool.iter_mut() {
                let menge = rest.min(*left);
                *left = left.minus(menge)?;
                rest = rest.minus(menge)?;
                parts.push((*charge, menge));
            }
            parts.retain(|(_, menge)| !menge.is_zero());
        }
        if !rest.is_zero() {
            parts.push((position.said.charge_id, rest));
        }
        Ok(parts)
    }
}
