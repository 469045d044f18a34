//! Goods receipts: the goods of one delivery, the deductions and the quantity to pay (D21a, D23).
//!
//! A receipt books nothing itself; with `el_erzeugen` it creates the purchase delivery note (EL) that does.

mod blatt;
mod checks;
mod create;
mod import;
mod model;
mod qualitaet;
mod sql;
mod storno;

pub use checks::CHECKS;
pub use create::deliver;
pub use model::{Analyse, Annahmeschein, Auswahl};
pub use qualitaet::{Gemessen, day_of, gemessen, locks, rechnung, said, scheme_of, values_of};
pub use sql::{RETENTION, SORTIERUNG, Summen, find, find_by_delivery, follows, list, settle, sums};

use uuid::Uuid;

use crate::goods::waage::{self, Storno};
use crate::platform::db::list::Page;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::list_file::{self, listed};
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::choice::Choice;
use crate::rules::error::{Code, required};
use crate::rules::receipt::AnnahmescheinStatus;
use crate::rules::repeat::{Angelegt, Wiederholt};
use crate::rules::scope::Scope;
use crate::trade::belege;
use model::{
    AnalyseBestaetigung, AnnahmescheinBestaetigung, Freigabe, NewAnalyse, NewAnnahmeschein,
    StornoBestaetigung,
};

const READ: Access = Access::Scope(Scope::RohwarenRead);

const WHAT: &str = "Diesen Annahmeschein";

pub const IMPORTS: &[Import] =
    &[Import::of::<model::AnnahmescheinZeile>("annahmescheine", &[&["belegnummer"]], import::annahmeschein)];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/annahmescheine", READ, "Annahmescheine, die neueste Lieferung zuerst", get_list)
        .with_query(&[
            Param::list_of("status", AnnahmescheinStatus::TEXTS, "nur diese Status, mit Komma getrennt"),
            Param::day("von", "erstes Lieferdatum"),
            Param::day("bis", "letztes Lieferdatum"),
            Param::uuid("partner_id", "nur von diesem Partner"),
            Param::uuid("artikel_id", "nur dieser Artikel"),
            Param::uuid("kontrakt_id", "nur auf diesen Kontrakt"),
            Param::bool("gesperrt", "nur gesperrte oder nur freie"),
            Param::limit(None),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::list::<Annahmeschein>(), Answer::other("text/csv")]),
    Route::post(
        "/api/v1/annahmescheine",
        Scope::RohwarenWrite,
        "Annahmeschein anlegen, auf Wunsch mit Lieferschein (EL)",
        post,
    )
    .takes::<NewAnnahmeschein>("AnnahmescheinNeu", &[])
    .gives(&[Answer::created::<AnnahmescheinBestaetigung>(), Answer::ok::<Wiederholt<Annahmeschein>>()])
    .refuses(&[belege::PARTNER, belege::DATE_AND_ARTICLE, create::REFUSALS, qualitaet::OF_INTAKE]),
    Route::each(
        "/api/v1/annahmescheine/stapel",
        Scope::RohwarenWrite,
        "Viele Annahmescheine anlegen",
        "/api/v1/annahmescheine",
    ),
    Route::get("/api/v1/annahmescheine/{id}", READ, "Einen Annahmeschein lesen", get)
        .gives(&[Answer::ok::<Annahmeschein>()]),
    Route::get(
        "/api/v1/annahmescheine/{id}/analysen",
        READ,
        "Was gemessen wurde, und Freigaben; die neueste zuerst",
        get_analysen,
    )
    .with_query(&[Param::limit(None), Param::OFFSET])
    .gives(&[Answer::list::<Analyse>()]),
    Route::post(
        "/api/v1/annahmescheine/{id}/analysen",
        Scope::RohwarenWrite,
        "Analyse nachtragen; der neueste Wert gilt",
        post_analyse,
    )
    .takes::<NewAnalyse>("AnalyseNeu", &["werte"])
    .gives(&[Answer::created::<AnalyseBestaetigung>()])
    .refuses(&[qualitaet::REFUSALS]),
    Route::put(
        "/api/v1/annahmescheine/{id}/freigabe",
        Scope::RohwarenWrite,
        "Sperre beenden, auf Wunsch mit einem anderen Schema",
        put_freigabe,
    )
    .takes::<Freigabe>("Freigabe", &["grund"])
    .gives(&[Answer::ok::<AnalyseBestaetigung>()])
    .refuses(&[
        qualitaet::REFUSALS,
        &[
            Code::SchemaNichtGefunden,
            Code::AnnahmescheinNichtGesperrt,
            Code::AnnahmescheinAbgerechnet,
            Code::FreigabeUnvollstaendig,
        ],
    ]),
    Route::get("/api/v1/annahmescheine/{id}/pdf", READ, "Annahmeschein mit seinen Abzügen als PDF", get_pdf)
        .heavy()
        .gives(&[Answer::other("application/pdf").with(&["etag", "content-disposition"])])
        .refuses(&[&[Code::KeinPdf]]),
    Route::put(
        "/api/v1/annahmescheine/{id}/storno",
        Scope::RohwarenWrite,
        "Annahmeschein stornieren; seine Wiegung ist wieder frei",
        cancel,
    )
    .takes::<Storno>("Storno", &["grund"])
    .gives(&[Answer::ok::<StornoBestaetigung>()])
    .refuses(&[&[Code::AnnahmescheinNichtStornierbar]]),
];

fn get_list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    listed!(call, "annahmescheine", Reply::list, |page| list(tx, &auswahl, page))
}

pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Annahmeschein> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

/// Returns the number of its weighing.
pub fn weighing_slip(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Option<String>> {
    let wiegung = schein.wiegung_id.map(|id| waage::find(tx, id)).transpose()?.flatten();
    Ok(wiegung.map(|wiegung| wiegung.wiegeschein_nr))
}

fn post(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewAnnahmeschein>()?;
    Ok(Box::new(move |tx| match create::create(tx, new.clone(), hinweise.clone())? {
        Angelegt::Neu(bestaetigung) => Ok(Reply::created(&bestaetigung)?.about(bestaetigung.id)),
        Angelegt::Wiederholt(antwort) => Ok(Reply::ok(&antwort)?.about(antwort.record.id)),
    }))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let schein = found(tx, call.id(WHAT)?)?;
    Ok(Reply::ok(&schein)?.about(schein.id))
}

/// Returns the analyses and releases of a receipt shown on a page, newest first.
pub fn analysen(tx: &Tx<'_>, schein: Uuid) -> Result<Vec<Analyse>> {
    Ok(sql::analysen(tx, schein, Page { limit: Some(ANALYSEN_SHOWN), offset: 0 })?.rows)
}

const ANALYSEN_SHOWN: u32 = 20;

fn get_analysen(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let id = found(tx, call.id(WHAT)?)?.id;
    Ok(Reply::list(sql::analysen(tx, id, page)?.listing()?, cut).about(id))
}

fn post_analyse(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewAnalyse>()?;
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let stored = qualitaet::add(tx, found(tx, id)?, new.clone(), hinweise.clone())?;
        Ok(Reply::created(&stored)?.about(id))
    }))
}

fn put_freigabe(call: &Call<'_>) -> Result<Write> {
    let (freigabe, hinweise) = call.body::<Freigabe>()?;
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let stored = qualitaet::release(tx, found(tx, id)?, &freigabe, hinweise.clone())?;
        Ok(Reply::ok(&stored)?.about(id))
    }))
}

fn get_pdf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let id = call.id(WHAT)?;
    let schein = found(tx, id)?;
    let blatt = blatt::annahmeschein(tx, &schein)?;
    Ok(Reply::sheet(call, &schein.belegnummer, &blatt)?.about(id))
}

fn cancel(call: &Call<'_>) -> Result<Write> {
    let (storno, hinweise) = call.body::<Storno>()?;
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let schein = found(tx, id)?;
        let grund = required(storno.grund.as_deref(), "grund")?;
        Ok(Reply::ok(&storno::cancel(tx, schein, grund, hinweise.clone())?)?.about(id))
    }))
}
