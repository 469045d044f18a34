//! Puts open goods into the compartment in which they are found, by how far their position has come (D38).

use rusqlite::named_params;

use super::change::Gruppe;
use super::sql::{NOT_BEYOND, OFFEN, column, compartment};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{PositionKey, Role, Stage};
use crate::trade::belege::genannt::position_names;

/// Puts the open goods of a position where they belong by what has been met of it by now, and notes how much is open.
/// Returns what is left of it, and whether that was closed before; `None` if it is not closed now.
pub fn settle_open(
    tx: &WriteTx<'_>,
    gruppe: Gruppe,
    role: Role,
    place: PositionKey,
) -> Result<Option<(Quantity, bool)>> {
    let statement = format!(
        "select o.fach, o.nr, o.menge from {OFFEN} where o.tenant_id = :tenant and o.kunde_id = :kunde
           and o.beleg_typ = :typ and o.artikel_id = :artikel and o.beleg_id = :beleg and o.position = :position"
    );
    let typ = gruppe.typ(role);
    let of_position = named_params! {
        ":kunde": gruppe.kunde,
        ":typ": typ,
        ":artikel": gruppe.artikel,
        ":beleg": place.beleg,
        ":position": place.position,
    };
    let rows: Vec<(i64, i64, Quantity)> =
        tx.all(&statement, of_position, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if rows.is_empty() {
        return Ok(None);
    }
    let gesamt = rows.iter().try_fold(Quantity::ZERO, |sum, (.., menge)| sum.plus(*menge))?;
    let stage = stage(tx, role, place, gesamt)?;
    let was_closed = rows.iter().all(|(fach, ..)| fach / 2 == Stage::Closed as i64);
    for (fach, nr, _) in rows {
        let update = "update lager_offen set fach = :neu, gesamt = :gesamt
            where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ and artikel_id = :artikel
              and fach = :fach and beleg_id = :beleg and position = :position and nr = :nr
              and (fach <> :neu or gesamt <> :gesamt)";
        let neu = compartment(fach % 2 == 1, stage);
        let own = named_params! {":neu": neu, ":gesamt": gesamt, ":fach": fach, ":nr": nr};
        tx.execute(update, &[of_position, own].concat())?;
    }
    Ok((stage == Stage::Closed).then_some((gesamt, was_closed)))
}

/// How far the open goods of a position have come, `gesamt` of which is left: what an invoice that names its delivery
/// leaves of it, up to 1 %, is closed (D38).
fn stage(tx: &Tx<'_>, role: Role, place: PositionKey, gesamt: Quantity) -> Result<Stage> {
    let (name, place_params) =
        (column(role), named_params! {":beleg": place.beleg, ":position": place.position});
    let met = format!(
        "select 1 from lager_paar where tenant_id = :tenant and {name}_id = :beleg and {name}_position = :position
           and {NOT_BEYOND}"
    );
    if !tx.exists(&met, place_params)? {
        return Ok(Stage::Untouched);
    }
    if role != Role::Delivery {
        return Ok(Stage::Begun);
    }
    let closed = format!(
        "select 1 from beleg_position d
           cross join lager_paar l on l.tenant_id = d.tenant_id and l.lieferung_id = d.beleg_id
             and l.lieferung_position = d.position and l.rechnung_id is not null
           cross join beleg_position i on i.tenant_id = l.tenant_id and i.beleg_id = l.rechnung_id
             and i.position = l.rechnung_position
         where d.tenant_id = :tenant and d.beleg_id = :beleg and d.position = :position
           and d.lager_menge >= :gesamt * 100 and {}",
        position_names!("i", "d")
    );
    let params = [place_params, named_params! {":gesamt": gesamt}].concat();
    Ok(if tx.exists(&closed, &params)? { Stage::Closed } else { Stage::Begun })
}
