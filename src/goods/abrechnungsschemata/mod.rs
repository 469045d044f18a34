//! Settlement schemes (D29): what is measured, deducted, added and charged for a delivery, and from which day
//! on.
//!
//! `gueltig` reads versions and Merkmale, `create` stores versions, `import` reads them from files, `blatt`
//! draws the printed table.

mod blatt;
mod create;
mod gueltig;
mod import;
mod model;
mod sql;

pub use blatt::{notes, tables};
pub use gueltig::{Gueltig, measured, merkmale, named, of_delivery, of_version, on_day};
pub use model::{Auswahl, Kopf, SchemaVersion, WertEingabe};
pub use sql::{holds_within, list, versions};

use uuid::Uuid;

use crate::platform::db::list::Page;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::list_file::{self, Table};
use crate::platform::http::param::Param;
use crate::platform::http::query::Query;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::day::Day;
use crate::rules::error::{Code, Refusal, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::scope::Scope;
use crate::rules::settlement::{Lieferung, compute};
use model::{AbrechnungsProbeErgebnis, Abrechnungsschema, Gespeichert, Probe, SchemaEingabe};

const READ: Access = Access::Scope(Scope::AbrechnungRead);

const WHAT: &str = "Dieses Abrechnungsschema";

pub const IMPORTS: &[Import] = &[
    Import::of::<model::MerkmalZeile>("merkmale", &[&["code"]], import::merkmal),
    Import::of::<SchemaEingabe>("abrechnungsschemata", &[&["nummer"]], import::schema),
    Import::of_groups::<model::TabellenZeile>(
        "abrechnungstabellen",
        &[&["nummer", "schritt", "bis"]],
        import::by_scheme,
        import::tables,
    ),
];

pub const ROUTES: &[Route] = &[
    Route::get(
        "/api/v1/abrechnungsschemata",
        READ,
        "Abrechnungsschemata, in der Fassung eines Tages",
        get_list,
    )
    .with_query(&[
        Param::day("gueltig_am", "was an diesem Tag gilt; ohne Angabe die neueste Version"),
        Param::uuid("artikel_id", "nur für diesen Artikel"),
        Param::limit(None),
        Param::OFFSET,
        list_file::FORMAT,
    ])
    .gives(&[Answer::list::<Kopf>(), Answer::other("text/csv")]),
    Route::post("/api/v1/abrechnungsschemata", Scope::AbrechnungWrite, "Abrechnungsschema anlegen", post)
        .takes::<SchemaEingabe>("AbrechnungsschemaNeu", &["nummer", "bezeichnung", "artikel", "gueltig_von"])
        .gives(&[Answer::created::<Gespeichert>()])
        .refuses(&[create::REFUSALS]),
    Route::get(
        "/api/v1/abrechnungsschemata/{id}",
        READ,
        "Ein Abrechnungsschema mit seinen Schritten lesen",
        get,
    )
    .with_query(&[Param::int("version", "diese Version; ohne Angabe die neueste")])
    .gives(&[Answer::resource::<Abrechnungsschema>()]),
    Route::post(
        "/api/v1/abrechnungsschemata/{id}/versionen",
        Scope::AbrechnungWrite,
        "Neue Version eines Abrechnungsschemas; die bisherige endet am Tag davor",
        post_version,
    )
    .takes::<SchemaEingabe>("AbrechnungsschemaVersionNeu", &["bezeichnung", "artikel", "gueltig_von"])
    .gives(&[Answer::created::<Gespeichert>(), Answer::ok::<Gespeichert>()])
    .refuses(&[create::REFUSALS]),
    Route::ask(
        "/api/v1/abrechnungsschemata/{id}/probe",
        READ,
        "Probeweise rechnen: Gewicht, Preis und Messwerte hinein, alle Zeilen heraus",
        probe,
    )
    .takes::<Probe>("AbrechnungsProbe", &["menge_kg"])
    .gives(&[Answer::ok::<AbrechnungsProbeErgebnis>()])
    .refuses(&[&[
        Code::MerkmalNichtGefunden,
        Code::FeldWiderspruch,
        Code::NettoNegativ,
        Code::PreisNegativ,
        Code::BetragZuGross,
    ]]),
    Route::get("/api/v1/abrechnungsschemata/{id}/pdf", READ, "Die Tabelle zum Aushändigen als PDF", get_pdf)
        .with_query(&[Param::int("version", "diese Version; ohne Angabe die neueste")])
        .heavy()
        .gives(&[Answer::other("application/pdf").with(&["etag", "content-disposition"])])
        .refuses(&[&[Code::KeinPdf]]),
];

fn get_list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    if let Some(file) = as_file(tx, &call.query, &auswahl)? {
        return Ok(file);
    }
    let (page, cut) = call.query.page()?;
    Ok(Reply::list(sql::list(tx, &auswahl, page)?.listing()?, cut))
}

/// Returns the schemes as a file if the request asks for one.
pub fn as_file(tx: &Tx<'_>, query: &Query, auswahl: &Auswahl) -> Result<Option<Reply>> {
    list_file::asked(query, "abrechnungsschemata", |page| Table::of(&sql::list(tx, auswahl, page)?.rows))
}

/// Returns a version of a scheme, the newest by default, or a "not found" refusal.
pub fn found(tx: &Tx<'_>, id: Uuid, version: Option<i64>) -> Result<Gueltig> {
    Gueltig::read(tx, sql::find(tx, id, version)?.ok_or_else(|| Failure::not_found(WHAT))?)
}

/// Maximum number of schemes offered in a choice.
const CHOICE_MAX: u32 = 100;

/// Returns the schemes valid on a day, or the newest version of each without a day; only those of `artikel`,
/// if given.
pub fn choice(tx: &Tx<'_>, am: Option<Day>, artikel: Option<Uuid>) -> Result<Vec<Kopf>> {
    Ok(sql::list(tx, &Auswahl { am, artikel }, Page { limit: Some(CHOICE_MAX), offset: 0 })?.rows)
}

/// Returns the version that a request names, the newest by default.
fn asked(call: &Call<'_>, tx: &Tx<'_>) -> Result<Gueltig> {
    found(tx, call.id(WHAT)?, call.query.int("version")?)
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let Gueltig { kopf, schema } = asked(call, tx)?;
    let versionen = sql::versions(tx, kopf.id)?;
    let (id, newest) = (kopf.id, versionen.first().map_or(kopf.version, |newest| newest.version));
    Reply::resource(call, newest, id, &Abrechnungsschema { kopf, inhalt: schema, versionen })
}

fn get_pdf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let gueltig = asked(call, tx)?;
    let blatt = blatt::schema(tx, &gueltig)?;
    let name = format!("Schema-{}-{}", gueltig.kopf.nummer, gueltig.kopf.version);
    Ok(Reply::sheet(call, &name, &blatt)?.about(gueltig.kopf.id))
}

fn post(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<SchemaEingabe>()?;
    Ok(Box::new(move |tx| {
        let stored = create::create(tx, new.clone(), hinweise.clone())?;
        Ok(Reply::created(&stored)?.about(stored.id))
    }))
}

fn post_version(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<SchemaEingabe>()?;
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let last = sql::find(tx, id, None)?.ok_or_else(|| Failure::not_found(WHAT))?;
        let (stored, is_new) = create::next(tx, &last, new.clone(), hinweise.clone())?;
        Ok(if is_new { Reply::created(&stored)? } else { Reply::ok(&stored)? }.about(id))
    }))
}

/// POST …/probe: computes the settlement of a delivery without storing anything.
fn probe(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (probe, mut hinweise) = call.body::<Probe>()?;
    let id = call.id(WHAT)?;
    let newest = sql::find(tx, id, None)?.ok_or_else(|| Failure::not_found(WHAT))?;
    let menge = required(probe.menge_kg, "menge_kg")?;
    refuse_if(menge <= Quantity::ZERO, Code::WertUngueltig, "menge_kg", "Das Gewicht muss über 0 sein.")?;
    let kopf = match (probe.version, probe.lieferdatum) {
        (Some(version), _) => {
            let missing =
                || Refusal::field(Code::WertUngueltig, "version", "Diese Version hat das Schema nicht.");
            sql::find(tx, id, Some(version))?.ok_or_else(missing)?
        }
        (None, None) => sql::find_valid(tx, id, tx.today())?.unwrap_or(newest),
        (None, Some(day)) => sql::find_valid(tx, id, day)?.ok_or_else(|| not_valid(day))?,
    };
    let Gueltig { kopf, schema } = Gueltig::read(tx, kopf)?;
    let werte = measured(tx, probe.werte.as_deref().unwrap_or_default(), &mut hinweise)?;
    let rechnung = compute(&schema, &Lieferung { menge, grundpreis: probe.preis_je_t, werte: &werte })?;
    let answer =
        AbrechnungsProbeErgebnis { id, nummer: kopf.nummer, version: kopf.version, rechnung, hinweise };
    Ok(Reply::ok(&answer)?.about(id))
}

fn not_valid(day: Day) -> Box<Refusal> {
    let message =
        (format_args!("Am {day} gilt keine Version dieses Schemas."), "Bitte das Lieferdatum prüfen.");
    Refusal::field(Code::WertUngueltig, "lieferdatum", message)
}
