//! Weighings: first weight, second weight, cancellation.

mod bezug;
mod blatt;
mod checks;
mod handlers;
mod model;
mod sql;

pub use bezug::{FertigeWiegung, finished};
pub use checks::CHECKS;
pub use handlers::found;
pub use model::{Auswahl, Storno, Wiegung};
pub use sql::{RETENTION, annahmeschein_of, find, list};

use crate::platform::http::list_file;
use crate::platform::http::param::Param;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::rules::choice::Choice;
use crate::rules::error::Code;
use crate::rules::scope::Scope;
use crate::rules::weighing::WiegungStatus;
use model::{NewWiegung, WiegungBestaetigung, Zweitwiegung};

const READ: Access = Access::Scope(Scope::WaageRead);

const REFERENCES: &[Code] = &[Code::ChargeNichtGefunden, Code::KontraktNichtGefunden];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/wiegungen", READ, "Wiegungen, die neueste zuerst", handlers::list)
        .with_query(&[
            Param::one_of("status", WiegungStatus::TEXTS, "nur dieser Status"),
            Param::day("von", "erster Tag der Erstwiegung"),
            Param::day("bis", "letzter Tag der Erstwiegung"),
            Param::uuid("partner_id", "nur dieser Partner"),
            Param::uuid("artikel_id", "nur dieser Artikel"),
            Param::text(
                "kennzeichen",
                "nur dieses Fahrzeug; Groß- und Kleinschreibung, Leerzeichen, Bindestriche egal",
            ),
            Param::text("wiegeschein_nr", "nur der Wiegeschein mit dieser Nummer"),
            Param::sortierung(sql::SORTIERUNG),
            Param::limit(Some(100)),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::array::<Wiegung>(), Answer::other("text/csv")]),
    Route::post("/api/v1/wiegungen", Scope::WaageWrite, "Erstwiegung anlegen", handlers::create)
        .takes::<NewWiegung>("WiegungNeu", &["waage_id", "gewicht_erst_kg", "partner_id"])
        .gives(&[Answer::created::<WiegungBestaetigung>()])
        .refuses(&[REFERENCES, &[Code::PartnerNichtGefunden, Code::ArtikelNichtGefunden]]),
    Route::each(
        "/api/v1/wiegungen/stapel",
        Scope::WaageWrite,
        "Viele Erstwiegungen anlegen",
        "/api/v1/wiegungen",
    ),
    Route::get("/api/v1/wiegungen/{id}", READ, "Eine Wiegung lesen", handlers::get)
        .gives(&[Answer::resource::<Wiegung>()]),
    Route::get("/api/v1/wiegungen/{id}/pdf", READ, "Wiegeschein als PDF", handlers::get_pdf)
        .heavy()
        .gives(&[Answer::other("application/pdf").with(&["etag", "content-disposition"])])
        .refuses(&[&[Code::KeinPdf]]),
    Route::put(
        "/api/v1/wiegungen/{id}/zweitwiegung",
        Scope::WaageWrite,
        "Zweitwiegung: Nettogewicht und Richtung",
        handlers::second,
    )
    .takes::<Zweitwiegung>("Zweitwiegung", &["gewicht_zweit_kg"])
    .with_if_match()
    .gives(&[Answer::ok::<WiegungBestaetigung>()])
    .refuses(&[REFERENCES, &[Code::WiegungNichtOffen, Code::NettoNull]]),
    Route::put("/api/v1/wiegungen/{id}/storno", Scope::WaageWrite, "Wiegung stornieren", handlers::cancel)
        .takes::<Storno>("Storno", &["grund"])
        .with_if_match()
        .gives(&[Answer::ok::<WiegungBestaetigung>()])
        .refuses(&[&[Code::WiegungNichtStornierbar, Code::WiegungAbgerechnet]]),
];
