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
use crate::rules::fixed::{Price, Quantity};
use crate::rules::verweis::Verweis;

pub struct Wareneingang {
    pub partner_id: Uuid,
    pub artikel_id: Uuid,
    pub lieferdatum: Day,
    /// In t.
    pub menge: Quantity,
    /// Net, per t; none takes the purchase price of the article.
    pub preis: Option<Price>,
    pub wiegung_id: Option<Uuid>,
    pub kontrakt_id: Option<Uuid>,
    pub charge_id: Option<Uuid>,
    pub fremde_charge_nr: Option<String>,
    pub herkunftsland: Option<String>,
    pub biozertifikat_id: Option<i64>,
    pub niederlassung_id: Option<i64>,
    pub lagerhalle_id: Option<i64>,
}

/// Books goods that came in by one EL; the document with its position, and the movements. What is said about the
/// position names fields of the request that brought the goods.
pub fn receive(tx: &WriteTx<'_>, eingang: Wareneingang, hints: &mut Hints) -> Result<(Beleg, Vec<Bewegung>)> {
    let item = NewItem {
        menge: Some(eingang.menge),
        einheit: Some("t".to_owned()),
        ep_netto: eingang.preis,
        artikel_id: Some(eingang.artikel_id),
        wiegung_id: eingang.wiegung_id,
        kontrakt_id: eingang.kontrakt_id,
        charge_id: eingang.charge_id,
        fremde_charge_nr: eingang.fremde_charge_nr,
        herkunftsland: eingang.herkunftsland,
        biozertifikat_id: eingang.biozertifikat_id,
        niederlassung_id: eingang.niederlassung_id,
        lagerhalle_id: eingang.lagerhalle_id,
        ..NewItem::default()
    };
    let new = NewBeleg {
        beleg_typ: Some(BelegTyp::El),
        kunden_id: Some(Verweis::Id(eingang.partner_id)),
        lieferdatum: Some(eingang.lieferdatum),
        items: Some(vec![item]),
        ..NewBeleg::default()
    };
    let (beleg, bewegungen) = create::add(tx, &new, Source::Fields, hints)?;
    Ok((sql::with_positions(tx, beleg)?, bewegungen))
}

pub fn is_live(tx: &Tx<'_>, beleg: Uuid) -> Result<bool> {
    Ok(sql::find(tx, beleg)?.is_some_and(|beleg| beleg.status != BelegStatus::Storniert))
}
