//! Settlements of raw goods (D29g to D29j): a partner's receipts become one Gutschrift, less advances already
//! paid.
//!
//! `scheine` selects the receipts, `rechnen` computes the value of each, with its prices from `kontrakt`;
//! `positionen` creates the items and `anlegen` the document. A settlement is cancelled by cancelling its
//! document.

mod anlegen;
mod kontrakt;
mod model;
mod positionen;
mod rechnen;
mod scheine;
mod sql;
mod veraltet;
mod ware;

pub use anlegen::{previewed, settle};
pub use model::AbrechnungsVorschau;
pub use sql::{Geschuldet, owed};
pub use ware::without_goods;

use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::rules::choice::Choice;
use crate::rules::error::{Code, required};
use crate::rules::repeat::{Angelegt, Wiederholt};
use crate::rules::scope::Scope;
use crate::rules::settlement::Abrechnungsart;
use crate::trade::belege;
use model::{Abrechnung, AbrechnungAngelegt, AbrechnungMitPosten, Auswahl, Korrektur, NewAbrechnung};

const READ: Access = Access::Scope(Scope::AbrechnungRead);

const WHAT: &str = "Diese Abrechnung";

/// Reasons to refuse a settlement.
const REFUSALS: &[Code] = &[
    Code::FeldWiderspruch,
    Code::AnnahmescheinNichtGefunden,
    Code::AnnahmescheinStorniert,
    Code::AnnahmescheinGesperrt,
    Code::AnnahmescheinAbgerechnet,
    Code::AnnahmescheinNichtAbgerechnet,
    Code::AnnahmescheinBerechnet,
    Code::BezugPasstNicht,
    Code::PartnerGemischt,
    Code::PartnerNichtGefunden,
    Code::SchemaMehrdeutig,
    Code::SchemaPasstNicht,
    Code::PreisFehlt,
    Code::KontraktUeberliefert,
    Code::ZuVielePositionen,
    Code::AbrechnungLeer,
    Code::AbrechnungNegativ,
    Code::NettoNegativ,
    Code::PreisNegativ,
    Code::BetragZuGross,
];

/// Reasons to refuse its document.
const OF_DOCUMENT: &[Code] = &[
    Code::EinheitNichtUmrechenbar,
    Code::ChargeFehlt,
    Code::ChargeWiderspruch,
    Code::ZuVieleGegenbelege,
    Code::WiegungBereitsVerwendet,
    Code::ErechnungUnvollstaendig,
];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/abrechnungen", READ, "Abrechnungen, die neueste zuerst", list)
        .with_query(&[
            Param::list_of("art", Abrechnungsart::TEXTS, "nur diese Arten, mit Komma getrennt"),
            Param::uuid("partner_id", "nur von diesem Partner"),
            Param::uuid("annahmeschein_id", "nur mit diesem Annahmeschein"),
            Param::day("von", "erstes Belegdatum"),
            Param::day("bis", "letztes Belegdatum"),
            Param::limit(Some(50)),
            Param::OFFSET,
        ])
        .gives(&[Answer::list::<Abrechnung>()]),
    Route::post(
        "/api/v1/abrechnungen",
        Scope::AbrechnungWrite,
        "Annahmescheine abrechnen: eine Gutschrift",
        post,
    )
    .takes::<NewAbrechnung>("AbrechnungNeu", &["art"])
    .gives(&[Answer::created::<AbrechnungAngelegt>(), Answer::ok::<Wiederholt<AbrechnungMitPosten>>()])
    .refuses(&[belege::PARTNER, belege::DATE_AND_ARTICLE, REFUSALS, OF_DOCUMENT]),
    Route::post(
        "/api/v1/abrechnungen/vorschau",
        Scope::AbrechnungRead,
        "Was eine Abrechnung ergäbe, mit allen Zeilen; gespeichert wird nichts",
        preview,
    )
    .takes::<NewAbrechnung>("AbrechnungNeu", &["art"])
    .gives(&[Answer::ok::<AbrechnungsVorschau>()])
    .refuses(&[belege::PARTNER, belege::DATE_AND_ARTICLE, REFUSALS, OF_DOCUMENT]),
    Route::get("/api/v1/abrechnungen/{id}", READ, "Eine Abrechnung mit allen Zeilen lesen", get)
        .gives(&[Answer::ok::<AbrechnungMitPosten>()]),
    Route::post(
        "/api/v1/abrechnungen/{id}/korrektur",
        Scope::AbrechnungWrite,
        "Abrechnung stornieren und mit den neuesten Messwerten neu anlegen",
        correct,
    )
    .takes::<Korrektur>("Korrektur", &["grund"])
    .gives(&[Answer::created::<AbrechnungAngelegt>()])
    .refuses(&[
        REFUSALS,
        OF_DOCUMENT,
        &[Code::AbrechnungHatFolge, Code::BelegNichtStornierbar, Code::ZeitraumGesperrt],
    ]),
];

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    Ok(Reply::list(veraltet::list(tx, &Auswahl::of(&call.query)?, page)?.listing()?, cut))
}

fn found(tx: &Tx<'_>, id: uuid::Uuid) -> Result<Abrechnung> {
    veraltet::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let abrechnung = found(tx, call.id(WHAT)?)?;
    let id = abrechnung.id;
    Ok(Reply::ok(&anlegen::with_notes(tx, abrechnung)?)?.about(id))
}

fn preview(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewAbrechnung>()?;
    Ok(Box::new(move |tx| Reply::ok(&anlegen::preview(tx, &new, &hinweise)?)))
}

fn post(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewAbrechnung>()?;
    Ok(Box::new(move |tx| match anlegen::create(tx, &new, hinweise.clone())? {
        Angelegt::Neu(made) => Ok(Reply::created(&made)?.about(made.id)),
        Angelegt::Wiederholt(answer) => Ok(Reply::ok(&answer)?.about(answer.record.abrechnung.id)),
    }))
}

fn correct(call: &Call<'_>) -> Result<Write> {
    let (korrektur, hinweise) = call.body::<Korrektur>()?;
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        let grund = required(korrektur.grund.clone(), "grund")?;
        let made = anlegen::correct(tx, &old, grund, &korrektur, hinweise.clone())?;
        Ok(Reply::created(&made)?.about(made.id))
    }))
}
