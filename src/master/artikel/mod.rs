//! Articles, article groups and tiered prices.

mod bezug;
mod change;
mod import;
mod model;
mod put_back;
mod sql;

pub use bezug::{by_id, must_have, named};
pub use change::gruppe_named;
pub use import::by_artikelnummer;
pub use model::{
    Artikel, ArtikelChange, ArtikelZeile, Artikelgruppe, Auswahl, PREISE, STAMM, Staffel, StaffelEingabe,
    TEXT,
};
use model::{ArtikelAngelegt, ArtikelBestand, ArtikelMitStaffeln};
pub use put_back::put_back;
pub use sql::{
    VERLAUF, find, find_by_artikelnummer, find_by_ean, find_by_number, gruppen_satz, list, list_gruppen,
    list_in_stock, stock, tiers, units,
};

use std::sync::Arc;

use uuid::Uuid;

use crate::master::anhaenge::{self, Anhang, AnhangAngelegt, Besitzer, NewAnhang, Owner};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file::{self, listed};
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::platform::listing::verlauf::StammdatenVerlaufseintrag;
use crate::rules::change::Geaendert;
use crate::rules::error::Code;
use crate::rules::scope::Scope;

const READ: Access = Access::Scope(Scope::ArtikelRead);

pub const WHAT: &str = "Diesen Artikel";

pub const IMPORTS: &[Import] = &[
    Import::of::<model::GruppeZeile>("artikelgruppen", &[&["kuerzel"], &["name"]], import::gruppe),
    Import::of::<ArtikelChange>("artikel", &[&["artikelnummer"]], import::artikel),
    Import::of_groups::<import::StaffelZeile>(
        "staffelpreise",
        &[&["artikelnummer", "ab_menge"]],
        import::by_article,
        import::staffelpreise,
    ),
];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/artikel", READ, "Artikel mit Status aktiv", get_list)
        .with_query(&[
            Param::text("suche", "Wörter in Bezeichnung, Nummer oder EAN"),
            Param::text(
                "artikelnummer",
                "nur der Artikel mit genau dieser Nummer, gleich in welcher Schreibung",
            ),
            Param::int("gruppe_id", "nur diese Artikelgruppe"),
            Param::flag("bestand", "true: mit dem Bestand jedes Artikels"),
            Param::sortierung(sql::SORTIERUNG),
            Param::limit(Some(100)),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::list::<ArtikelZeile>(), Answer::other("text/csv")]),
    Route::post("/api/v1/artikel", Scope::ArtikelWrite, "Artikel anlegen", post)
        .takes::<ArtikelChange>("ArtikelNeu", &["artikelnummer", "bezeichnung"])
        .gives(&[Answer::created::<ArtikelAngelegt>()])
        .refuses(&[&[Code::FeldWiderspruch]]),
    Route::get("/api/v1/artikel/{id}", READ, "Einen Artikel mit seinen Staffelpreisen lesen", get)
        .gives(&[Answer::resource::<ArtikelMitStaffeln>()]),
    Route::put("/api/v1/artikel/{id}", Scope::ArtikelWrite, "Artikel und Staffelpreise ändern", put)
        .takes::<ArtikelChange>("ArtikelAenderung", &[])
        .with_if_match()
        .gives(&[Answer::ok::<Geaendert<ArtikelMitStaffeln>>()])
        .refuses(&[&[Code::FeldWiderspruch]]),
    Route::get("/api/v1/artikel/{id}/bestand", READ, "Bestand eines Artikels über alle Chargen", get_stock)
        .gives(&[Answer::resource::<ArtikelBestand>()]),
    Route::get(
        "/api/v1/artikel/{id}/verlauf",
        READ,
        "Was an einem Artikel und seinen Staffelpreisen geändert wurde",
        get_verlauf,
    )
    .with_query(&[Param::limit(None), Param::OFFSET])
    .gives(&[Answer::list::<StammdatenVerlaufseintrag>()]),
    Route::get(
        "/api/v1/artikelgruppen",
        Access::Scope(Scope::ArtikelgruppenRead),
        "Artikelgruppen",
        get_gruppen,
    )
    .with_query(&[Param::limit(None), Param::OFFSET, list_file::FORMAT])
    .gives(&[Answer::list::<Artikelgruppe>().with(&["x-limit", "etag"]), Answer::other("text/csv")]),
    Route::post(
        "/api/v1/artikel/{id}/dokumente",
        Scope::DokumenteWrite,
        "Datei an einen Artikel anhängen",
        anhaenge::attach::<Artikel>,
    )
    .with_upload()
    .takes::<NewAnhang>("AnhangNeu", &["dateiname", "inhalt_base64"])
    .gives(&[Answer::created::<AnhangAngelegt>()]),
    Route::get("/api/v1/artikel/{id}/dokumente", READ, "Anhänge eines Artikels", anhaenge::list::<Artikel>)
        .with_query(&[Param::limit(None), Param::OFFSET])
        .gives(&[Answer::array::<Anhang>()]),
    Route::get(
        "/api/v1/artikel/{id}/dokumente/{dok_id}",
        READ,
        "Einen Anhang eines Artikels mit Inhalt lesen",
        anhaenge::get::<Artikel>,
    )
    .heavy()
    .gives(&[Answer::resource::<Anhang>()]),
];

fn get_list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    listed!(call, "artikel", Reply::list, |page| list(tx, &auswahl, page))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let artikel = found(tx, call.id(WHAT)?)?;
    let version = VERLAUF.version(tx, artikel.id)?;
    Reply::resource(call, version, artikel.id, &with_tiers(tx, artikel.as_ref().clone())?)
}

fn with_tiers(tx: &Tx<'_>, artikel: Artikel) -> Result<ArtikelMitStaffeln> {
    let staffelpreise = tiers(tx, artikel.id)?.as_ref().clone();
    Ok(ArtikelMitStaffeln { artikel, staffelpreise })
}

fn post(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<ArtikelChange>()?;
    Ok(Box::new(move |tx| {
        let mut hinweise = hinweise.clone();
        let Artikel { id, artikelnummer, .. } = change::create(tx, change.clone(), &mut hinweise)?;
        Ok(Reply::created(&ArtikelAngelegt { id, artikelnummer, hinweise })?.about(id))
    }))
}

fn put(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<ArtikelChange>()?;
    let (id, if_match, ignored) = (call.id(WHAT)?, call.if_match(), call.ignored(&hinweise)?);
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), VERLAUF.version(tx, id)?)?;
        let mut hinweise = hinweise.clone();
        ignored.silence(&mut hinweise, || Ok(old.as_ref()))?;
        let (artikel, _) = change::change(tx, &old, change.clone(), &mut hinweise)?;
        let record = with_tiers(tx, artikel)?;
        Ok(Reply::ok(&Geaendert { record, hinweise })?.about(id))
    }))
}

fn get_stock(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let artikel = found(tx, call.id(WHAT)?)?;
    let bestand = ArtikelBestand {
        artikel_id: artikel.id,
        artikelnummer: artikel.artikelnummer.clone(),
        einheit: artikel.einheit.clone(),
        bestand: stock(tx, artikel.id)?,
    };
    Ok(Reply::ok(&bestand)?.with_weak_etag(call).about(artikel.id))
}

fn get_verlauf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let artikel = found(tx, call.id(WHAT)?)?;
    Ok(Reply::list(VERLAUF.list(tx, artikel.id, page)?, cut).about(artikel.id))
}

fn get_gruppen(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let reply: Result<Reply> =
        listed!(call, "artikelgruppen", Reply::list, |page| sql::list_gruppen(tx, page));
    Ok(reply?.with_weak_etag(call))
}

impl Owner for Artikel {
    const WHAT: &str = WHAT;

    fn owner(tx: &Tx<'_>, id: Uuid) -> Result<Besitzer> {
        found(tx, id)?;
        Ok(Besitzer::Artikel(id))
    }
}

/// Returns the article with this id, or a "not found" refusal.
pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Arc<Artikel>> {
    find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}
