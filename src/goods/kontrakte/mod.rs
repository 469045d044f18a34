//! Contracts: written by clients and imports, referenced by documents and weighings.

mod bezug;
mod change;
mod import;
mod lieferstand;
mod model;
mod offen;
mod rest;
mod sql;
mod toleranz;

pub use bezug::{KontraktBezug, agreed_price, of_supplier};
pub use import::put_back;
pub use lieferstand::{Genannt, hint_delivered, sum};
pub use offen::Ungenannt;
pub use rest::{Rest, Wahl, rests, taken};
pub use sql::{
    Menge, RETENTION, VERLAUF, counting_by_counterpart, delete, has_open, named, number, positions,
};
pub use toleranz::Toleranz;

use crate::platform::db::list::Page;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file;
use crate::platform::http::param::Param;
use crate::platform::http::query::Query;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::platform::listing::Records;
use crate::platform::listing::verlauf::StammdatenVerlaufseintrag;
use crate::rules::change::Geaendert;
use crate::rules::error::Code;
use crate::rules::scope::Scope;
use model::KontraktAngelegt;
pub use model::{Auswahl, KOPF, Kontrakt, KontraktChange, NOTIZEN, Position, PositionEingabe};
use uuid::Uuid;

pub const IMPORTS: &[Import] =
    &[Import::of::<model::KontraktZeile>("kontrakte", &[&["kontrakt_nr"]], import::kontrakt)];

const READ: Access = Access::Scope(Scope::KontrakteRead);

const WHAT: &str = "Diesen Kontrakt";

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/kontrakte", READ, "Kontrakte mit offener Menge", list)
        .with_query(&[
            Param::text("kontrakt_typ", "nur dieser Typ"),
            Param::uuid("partner_id", "nur dieser Partner"),
            Param::bool("erledigt", "nur erledigte oder nur offene"),
            Param::int("erntejahr", "nur dieses Erntejahr"),
            Param::day("von", "erstes Erfassungsdatum"),
            Param::day("bis", "letztes Erfassungsdatum"),
            Param::text("suche", "Wörter in Nummer oder Referenz"),
            Param::limit(None),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::list::<Kontrakt>(), Answer::other("text/csv")]),
    Route::post("/api/v1/kontrakte", Scope::KontrakteWrite, "Kontrakt anlegen", post)
        .takes::<KontraktChange>("KontraktNeu", &["kontrakt_nr"])
        .gives(&[Answer::created::<KontraktAngelegt>()])
        .refuses(REFUSES),
    Route::get("/api/v1/kontrakte/{id}", READ, "Einen Kontrakt mit seinen Positionen lesen", get)
        .gives(&[Answer::resource::<Kontrakt>()]),
    Route::put("/api/v1/kontrakte/{id}", Scope::KontrakteWrite, "Kontrakt und Positionen ändern", put)
        .takes::<KontraktChange>("KontraktAenderung", &[])
        .with_if_match()
        .gives(&[Answer::ok::<Geaendert<Kontrakt>>()])
        .refuses(REFUSES),
    Route::get(
        "/api/v1/kontrakte/{id}/verlauf",
        READ,
        "Was an einem Kontrakt und seinen Positionen geändert wurde",
        get_verlauf,
    )
    .with_query(&[Param::limit(None), Param::OFFSET])
    .gives(&[Answer::list::<StammdatenVerlaufseintrag>()]),
];

const REFUSES: &[&[Code]] = &[&[
    Code::FeldWiderspruch,
    Code::PartnerNichtGefunden,
    Code::KontraktNichtGefunden,
    Code::ArtikelNichtGefunden,
    Code::ArtikelWiderspruch,
    Code::ArtikelMehrdeutig,
    Code::SchemaNichtGefunden,
    Code::SchemaPasstNicht,
]];

pub fn complete(tx: &Tx<'_>, id: Uuid) -> Result<Kontrakt> {
    let found = sql::find(tx, id)?.into_iter().collect();
    lieferstand::complete(tx, found)?.pop().ok_or_else(|| Failure::not_found(WHAT))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let kontrakt = complete(tx, call.id(WHAT)?)?;
    Reply::resource(call, VERLAUF.version(tx, kontrakt.id)?, kontrakt.id, &kontrakt)
}

fn get_verlauf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let id = sql::find(tx, call.id(WHAT)?)?.ok_or_else(|| Failure::not_found(WHAT))?.id;
    Ok(Reply::list(VERLAUF.list(tx, id, page)?, cut).about(id))
}

fn post(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<KontraktChange>()?;
    Ok(Box::new(move |tx| {
        let mut hinweise = hinweise.clone();
        let Kontrakt { id, kontrakt_nr, .. } = change::create(tx, change.clone(), &mut hinweise)?;
        Ok(Reply::created(&KontraktAngelegt { id, kontrakt_nr, hinweise })?.about(id))
    }))
}

fn put(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<KontraktChange>()?;
    let (id, if_match, ignored) = (call.id(WHAT)?, call.if_match(), call.ignored(&hinweise)?);
    Ok(Box::new(move |tx| {
        let old = sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))?;
        IfMatch::check(if_match.as_ref(), VERLAUF.version(tx, id)?)?;
        let mut hinweise = hinweise.clone();
        ignored.silence(&mut hinweise, || complete(tx, id))?;
        change::change(tx, old, change.clone(), &mut hinweise)?;
        let record = complete(tx, id)?;
        Ok(Reply::ok(&Geaendert { record, hinweise })?.about(id))
    }))
}

/// Lists the contracts of a partner that are not completed.
pub fn open_of(tx: &Tx<'_>, partner: Uuid, page: Page) -> Result<Vec<Kontrakt>> {
    let auswahl = Auswahl { partner: Some(partner), erledigt: Some(false), ..Auswahl::default() };
    Ok(find_page(tx, &auswahl, page)?.rows)
}

/// Percentage from which a contract is nearly full, and the maximum numbers of document positions and
/// contracts examined.
const NEARLY_FULL_PERCENT: i128 = 90;
const POSITIONS_LOOKED_AT_MAX: i64 = 5_000;
const OPEN_LOOKED_AT_MAX: i64 = 500;

/// Returns the open contracts that are nearly full or overfull, and whether the limits left any unexamined.
pub fn nearly_full(tx: &Tx<'_>) -> Result<(Vec<Kontrakt>, bool)> {
    let named = sql::named_open(tx, OPEN_LOOKED_AT_MAX)?;
    let mut left = POSITIONS_LOOKED_AT_MAX;
    let mut looked_at = Vec::new();
    for (id, positions) in &named {
        if *positions <= left {
            left -= positions;
            looked_at.extend(sql::find(tx, *id)?);
        }
    }
    let is_cut = looked_at.len() < named.len();
    let all = lieferstand::complete(tx, looked_at)?.into_iter();
    let is_full =
        |kontrakt: &Kontrakt| kontrakt.percent().is_some_and(|percent| percent >= NEARLY_FULL_PERCENT);
    Ok((all.filter(is_full).collect(), is_cut))
}

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    if let Some(file) = as_file(tx, &call.query, &auswahl)? {
        return Ok(file);
    }
    let (page, cut) = call.query.page()?;
    Ok(Reply::list(find_page(tx, &auswahl, page)?.listing()?, cut))
}

/// Returns the contracts as a file, if the request asks for one.
pub fn as_file(tx: &Tx<'_>, query: &Query, auswahl: &Auswahl<'_>) -> Result<Option<Reply>> {
    list_file::asked(query, "kontrakte", |page| list_file::Table::of(&find_page(tx, auswahl, page)?.rows))
}

/// Returns contracts with their positions and delivered quantities.
pub fn find_page(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Records<Kontrakt>> {
    let Records { rows, count } = sql::list(tx, auswahl, page)?;
    Ok(Records { rows: lieferstand::complete(tx, rows)?, count })
}
