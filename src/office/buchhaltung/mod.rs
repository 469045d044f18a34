//! What the tax adviser receives (D31 to D34): accounts, and batches of final invoices in DATEV's format.
//!
//! [`konten`] are the accounts and what DATEV computes on them. [`belege`] reads invoices as they are booked,
//! [`buchen`] turns them into lines, [`stamm`] writes the records of their partners. [`stapel`] is a batch of
//! these, [`dateien`] its files, [`extf`] their format. [`umsaetze`] is what the reports count.

mod belege;
mod buchen;
mod checks;
mod dateien;
mod extf;
mod import;
mod konten;
mod model;
mod sql;
mod stamm;
mod stapel;
mod umsaetze;

pub use belege::Rechnung;
pub use buchen::{Luecke, luecken};
pub use checks::{CHECKS, altered_datei, not_handed_over};
pub use konten::{Gezeigt, enter, feld, missing_proposed, of_feld, proposal, shown};
pub use model::{Datei, KontoSumme, KontoZeile, Monat, NewStapel, Stapel, StapelAngelegt};
pub use sql::{InvoiceFilter, all, delete_konto, list as list_stapel, monate, newest, open_numbers};
pub use stapel::{
    Entwurf, LOCKED_UNTIL, Vorjahr, create, discard, found, listed, with_files, with_number, zip,
};
pub use umsaetze::umsaetze;

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::admin_event::AdminAction;
use crate::rules::error::{Code, required};
use crate::rules::scope::Scope;
use model::{FunktionZeile, KontoAuskunft, SchluesselZeile, StapelMitDateien, Verwerfen};

const READ: Access = Access::Scope(Scope::BuchhaltungRead);

/// The kind of import for accounts.
pub const KONTEN: &str = "konten";

const ZIP: &str = "application/zip";

pub const IMPORTS: &[Import] = &[
    Import::of::<KontoZeile>(KONTEN, &[&["fall", "satz", "artikelgruppe"]], import::konto),
    Import::of::<SchluesselZeile>("bu_schluessel", &[&["art", "seite", "satz", "von"]], import::schluessel),
    Import::of::<FunktionZeile>(
        "kontenfunktionen",
        &[&["rahmen", "von", "bis", "ab_jahr"]],
        import::funktion,
    ),
];

/// Why an account is refused.
const OF_KONTO: &[Code] = &[
    Code::FeldWiderspruch,
    Code::KontoUngueltig,
    Code::KontoSatzPasstNicht,
    Code::BuAufAutomatikkonto,
    Code::BuFehlt,
];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/datev/konten", READ, "Konten, auf die gebucht wird", list_konten)
        .gives(&[Answer::ok::<Vec<KontoAuskunft>>()]),
    Route::put(
        "/api/v1/datev/konten",
        Scope::BuchhaltungWrite,
        "Das Konto eines Falls, Satzes und einer Artikelgruppe setzen",
        put_konto,
    )
    .takes::<KontoZeile>("DatevKontoSetzen", &["fall", "konto"])
    .gives(&[Answer::ok::<KontoAuskunft>()])
    .refuses(&[OF_KONTO]),
    Route::get("/api/v1/datev/stapel", READ, "Stapel für den Steuerberater, der neueste zuerst", list)
        .with_query(&[Param::limit(Some(50)), Param::OFFSET])
        .gives(&[Answer::list::<Stapel>()]),
    Route::draft(
        "/api/v1/datev/stapel",
        Scope::BuchhaltungWrite,
        "Stapel anlegen: alle neuen Rechnungen bis zu einem Tag, oder nur prüfen",
        post,
    )
    .takes::<NewStapel>("BuchungsstapelNeu", &["bis"])
    .gives(&[Answer::created::<StapelAngelegt>(), Answer::ok::<StapelAngelegt>()])
    .refuses(&[
        &[
            Code::DatevEinstellungFehlt,
            Code::ZeitraumUngueltig,
            Code::OffeneBelege,
            Code::DatevUnvollstaendig,
            Code::PersonenkontoUngueltig,
            Code::BetragZuGross,
            // These stand in details.fehler.
            Code::KontoFehlt,
            Code::UstIdFehlt,
        ],
        OF_KONTO,
    ]),
    Route::get(
        "/api/v1/datev/stapel/{id}",
        READ,
        "Einen Stapel lesen; mit Accept: application/zip die Dateien, wie sie hinausgingen",
        get,
    )
    .heavy()
    .gives(&[Answer::ok::<StapelMitDateien>(), Answer::other(ZIP)]),
    Route::post(
        "/api/v1/datev/stapel/{id}/verwerfen",
        Scope::BuchhaltungWrite,
        "Den neuesten Stapel verwerfen: Seine Belege sind wieder neu",
        discard_one,
    )
    .takes::<Verwerfen>("Verwerfen", &["grund"])
    .gives(&[Answer::ok::<Stapel>()])
    .refuses(&[&[Code::StapelNichtVerwerfbar]]),
];

fn list_konten(_: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    Reply::ok(&sql::shown_konten(tx)?)
}

fn put_konto(call: &Call<'_>) -> Result<Write> {
    let (zeile, hinweise) = call.body::<KontoZeile>()?;
    Ok(Box::new(move |tx| {
        let mut hinweise = hinweise.clone();
        let (konto, _) = konten::enter(tx, zeile.clone(), &mut hinweise)?;
        Ok(Reply::ok(&konto)?.with_notes(&hinweise))
    }))
}

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    Ok(Reply::list(sql::list(tx, page)?.listing()?, cut))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let found = stapel::found(tx, call.id(stapel::WHAT)?)?;
    let id = found.id;
    let reply = if call.prefers(ZIP) {
        let (name, bytes) = stapel::zip(tx, &found)?;
        Reply::attachment(ZIP, &name, bytes)
    } else {
        Reply::ok(&stapel::with_files(tx, found)?)?
    };
    Ok(reply.with("vary", "accept").about(id))
}

fn post(call: &Call<'_>, tx: &Tx<'_>) -> Result<Write> {
    let (wish, hinweise) = call.body::<NewStapel>()?;
    let entwurf = Entwurf::of(tx, wish, hinweise)?;
    Ok(Box::new(move |tx| {
        let made = stapel::create(tx, &entwurf)?;
        let reply = match made.id {
            Some(id) => Reply::created(&made)?.about(id),
            None => Reply::ok(&made)?,
        };
        Ok(Reply { event: made.event.map(Box::new), ..reply })
    }))
}

fn discard_one(call: &Call<'_>) -> Result<Write> {
    let (body, _) = call.body::<Verwerfen>()?;
    let id = call.id(stapel::WHAT)?;
    Ok(Box::new(move |tx| {
        let grund = required(body.grund.clone(), "grund")?;
        let found = stapel::found(tx, id)?;
        let event = Some(Box::new(found.event(AdminAction::Verworfen)));
        Ok(Reply { event, ..Reply::ok(&stapel::discard(tx, &found, &grund)?)?.about(id) })
    }))
}
