//! Batches and stock: the only module that writes movements.

mod change;
mod checks;
mod handlers;
mod import;
mod inventur;
mod model;
mod moved;
mod sql;
mod stock;
mod verfuegbar;
mod verlauf;

pub use checks::CHECKS;
pub use handlers::found;
pub use inventur::{hint_counted_since, hint_outdated};
pub use model::{ANGABEN, Auswahl, Charge, Inventur, Lagerposten, NewCharge};
pub use moved::{Bewegt, Wovon, moved_by_day, moved_by_order};
pub use sql::{
    COUNTED, Lagernd, Numbered, RETENTION, SORTIERUNG, Vorrat, expiring, find, had_partner, has_locked_stock,
    in_stock, lager, last_without_stock, list, numbered, update_master_data, with_stock,
};
pub use stock::{
    Bewegung, Buchung, Gebucht, Ursache, book, check_charge_nr, check_named, check_not_negative, create,
    hint_expired, hint_negative, locked, set_receipt,
};
pub use verlauf::{Berichtigt, corrections};

use crate::platform::http::list_file;
use crate::platform::http::param::Param;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::change::Geaendert;
use crate::rules::error::Code;
use crate::rules::repeat::Wiederholt;
use crate::rules::scope::Scope;
use model::{
    ChargeAngelegt, ChargeChange, ChargeVerlaufseintrag, InventurBestaetigung, InventurZeile, NewInventur,
};
use verfuegbar::VerfuegbareCharge;

const READ: Access = Access::Scope(Scope::ChargenRead);

pub const IMPORTS: &[Import] = &[
    Import::of::<model::ChargeZeile>("chargen", &[&["artikelnummer", "charge_nr"]], import::charge),
    Import::of::<InventurZeile>("inventur", &[&["artikelnummer", "charge_nr"]], import::inventur),
];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/chargen", READ, "Chargen mit Bestand", handlers::list)
        .with_query(&[
            Param::text("suche", "Teil der Nummer, der eigenen oder der des Lieferanten"),
            Param::uuid("artikel_id", "nur Chargen dieses Artikels"),
            Param::uuid("partner_id", "nur Chargen dieses Lieferanten"),
            Param::flag("mit_bestand", "true: nur Chargen mit Bestand über 0"),
            Param::sortierung(sql::SORTIERUNG),
            Param::limit(Some(200)),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::array::<Charge>(), Answer::other("text/csv")]),
    Route::get(
        "/api/v1/chargen/verfuegbar",
        READ,
        "Chargen eines Artikels mit Bestand, mit Vorschlag nach Haltbarkeit",
        handlers::available,
    )
    .with_query(handlers::AVAILABLE)
    .gives(&[Answer::array::<VerfuegbareCharge>().with(&["x-total-count", "x-limit", "x-fehlmenge"])])
    .refuses(&[verfuegbar::REFUSALS]),
    // After /chargen/verfuegbar: the first matching route wins.
    Route::get("/api/v1/chargen/{id}", READ, "Eine Charge lesen", handlers::get)
        .gives(&[Answer::resource::<Charge>()]),
    Route::put(
        "/api/v1/chargen/{id}",
        Scope::ChargenWrite,
        "Eine Charge berichtigen oder sperren",
        handlers::change,
    )
    .takes::<ChargeChange>("ChargeAenderung", &[])
    .with_if_match()
    .gives(&[Answer::ok::<Geaendert<Charge>>()])
    .refuses(&[&[Code::LandUnbekannt, Code::FremdeChargeNrBereitsVergeben]]),
    Route::get("/api/v1/chargen/{id}/verlauf", READ, "Frühere Fassungen einer Charge", handlers::get_verlauf)
        .with_query(&[Param::limit(None), Param::OFFSET])
        .gives(&[Answer::list::<ChargeVerlaufseintrag>()]),
    Route::post(
        "/api/v1/chargen",
        Scope::ChargenWrite,
        "Charge anlegen, ohne Bestand zu buchen",
        handlers::create,
    )
    .takes::<NewCharge>("ChargeNeu", &["artikel_id"])
    .gives(&[Answer::created::<ChargeAngelegt>()])
    .refuses(&[&[
        Code::ArtikelNichtGefunden,
        Code::PartnerNichtGefunden,
        Code::BiozertifikatNichtGefunden,
        Code::LandUnbekannt,
        Code::NummerReserviert,
        Code::ChargeNrBereitsVergeben,
    ]]),
    Route::post(
        "/api/v1/chargen/{id}/inventur",
        Scope::ChargenWrite,
        "Gezählten Bestand einer Charge buchen",
        handlers::count_charge,
    )
    .takes::<NewInventur>("InventurNeu", &["bestand", "grund"])
    .gives(&[Answer::created::<InventurBestaetigung>(), Answer::ok::<Wiederholt<Inventur>>()]),
    Route::post(
        "/api/v1/artikel/{id}/inventur",
        Scope::ChargenWrite,
        "Gezählten Bestand eines Artikels ohne Chargen buchen",
        handlers::count_artikel,
    )
    .takes::<NewInventur>("InventurNeu", &["bestand", "grund"])
    .gives(&[Answer::created::<InventurBestaetigung>(), Answer::ok::<Wiederholt<Inventur>>()])
    .refuses(&[&[Code::ChargeFehlt]]),
];
