//! Goods that come in over the scale: a purchase delivery note from a goods-receipt note (D21a).

use uuid::Uuid;

use super::create;
use super::eingabe::{BelegEingabe, ItemEingabe, Items, Typ};
use super::items::Source;
use super::model::Beleg;
use super::sql;
use crate::chargen::Bewegung;
use crate::db::error::Result;
use crate::db::tx::{Tx, WriteTx};
use crate::http::wire::{Int, Sent, Text};
use crate::kunden::KundenId;
use crate::laender::Staat;
use crate::rules::day::Day;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::Hints;
use crate::rules::fixed::{Price, Quantity};
use crate::rules::verweis::Verweis;

/// What came in, from whom, and what it costs.
#[allow(missing_docs)]
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
    let item = ItemEingabe {
        menge: Sent::Value(eingang.menge),
        einheit: Sent::Value(Text("t".to_owned())),
        ep_netto: sent(eingang.preis),
        artikel_id: Sent::Value(eingang.artikel_id),
        wiegung_id: sent(eingang.wiegung_id),
        kontrakt_id: sent(eingang.kontrakt_id),
        charge_id: sent(eingang.charge_id),
        fremde_charge_nr: sent(eingang.fremde_charge_nr.map(Text)),
        herkunftsland: sent(eingang.herkunftsland.map(Staat)),
        biozertifikat_id: sent(eingang.biozertifikat_id.map(Int)),
        niederlassung_id: sent(eingang.niederlassung_id.map(Int)),
        lagerhalle_id: sent(eingang.lagerhalle_id.map(Int)),
        ..ItemEingabe::default()
    };
    let eingabe = BelegEingabe {
        beleg_typ: Sent::Value(Typ(BelegTyp::El)),
        kunden_id: Sent::Value(KundenId(Verweis::Id(eingang.partner_id))),
        lieferdatum: Sent::Value(eingang.lieferdatum),
        items: Sent::Value(Items(vec![item])),
        ..BelegEingabe::default()
    };
    let (beleg, bewegungen) = create::add(tx, eingabe, Source::Fields, hints)?;
    Ok((sql::with_positions(tx, beleg)?, bewegungen))
}

/// Whether a document still counts.
pub fn is_live(tx: &Tx<'_>, beleg: Uuid) -> Result<bool> {
    Ok(sql::find(tx, beleg)?.is_some_and(|beleg| beleg.status != BelegStatus::Storniert))
}

fn sent<T>(value: Option<T>) -> Sent<T> {
    value.map_or(Sent::Absent, Sent::Value)
}
