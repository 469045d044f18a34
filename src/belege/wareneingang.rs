//! Goods that come in over the scale: a purchase delivery note from a goods-receipt note (D21a).

use uuid::Uuid;

use super::create;
use super::eingabe::{NewBeleg, NewItem};
use super::model::{Beleg, Source};
use super::sql;
use crate::chargen::Bewegung;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::Hints;
use crate::rules::verweis::Verweis;

/// Books goods that came in by one EL; the document with its position, and the movements. What is said about the
/// position names fields of the request that brought the goods.
pub fn receive(
    tx: &WriteTx<'_>,
    partner: Uuid,
    lieferdatum: Day,
    item: NewItem,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<Bewegung>)> {
    let new = NewBeleg {
        beleg_typ: Some(BelegTyp::El),
        kunden_id: Some(Verweis::Id(partner)),
        lieferdatum: Some(lieferdatum),
        items: Some(vec![item]),
        ..NewBeleg::default()
    };
    let (beleg, bewegungen) = create::add(tx, &new, Source::Fields, hints)?;
    Ok((sql::with_positions(tx, beleg)?, bewegungen))
}

pub fn is_live(tx: &Tx<'_>, beleg: Uuid) -> Result<bool> {
    Ok(sql::find(tx, beleg)?.is_some_and(|beleg| beleg.status != BelegStatus::Storniert))
}
