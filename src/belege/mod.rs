//! Documents: quotes, orders, delivery notes, invoices and their purchase counterparts.
//!
//! The way of a request: `eingabe` (what was sent) → `create` or `change` (the order of the
//! rules) → `partner`, `items` (what it means) → `lager` (what it does to the stock) → `sql`.
//! `lifecycle` finalises and cancels, `tagesende` does so without a request, `pruefsumme` chains
//! what is final, `pdf` keeps the archive, `verlauf` the history, `dokumente` is the polling list.
//! `wareneingang` is how a goods-receipt note makes a document.

mod change;
mod create;
mod dokumente;
mod eingabe;
mod handlers;
mod items;
mod lager;
mod lifecycle;
mod model;
mod partner;
mod pdf;
mod pruefsumme;
mod sql;
mod tagesende;
mod verlauf;
mod wareneingang;

pub use pruefsumme::broken_links;
pub use tagesende::{finalise_number, finalise_past_days, settle_number};
pub use wareneingang::{Wareneingang, is_live, receive};

use crate::http::route::{Access, Method, Param, ParamKind, Route};
use crate::rules::scope::Scope;

const READ: Access = Access::Scope(Scope::BelegeRead);
const WRITE: Scope = Scope::BelegeWrite;

/// Routes of this slice.
pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/belege", READ, "Belege, der neueste zuerst", handlers::list).with_query(&[
        Param {
            name: "typ",
            kind: ParamKind::Text,
            summary: "AN, AU, LS, RE, BS, EL, ER, mit Komma getrennt",
        },
        Param { name: "status", kind: ParamKind::Text, summary: "nur dieser Status" },
        Param { name: "von", kind: ParamKind::Day, summary: "erstes Belegdatum" },
        Param { name: "bis", kind: ParamKind::Day, summary: "letztes Belegdatum" },
        Param {
            name: "kunden_id",
            kind: ParamKind::Text,
            summary: "kunden_id (Zahl) oder id (UUID) des Partners",
        },
        Param::limit(Some(50)),
        Param::OFFSET,
    ]),
    Route::write(Method::Post, "/api/v1/belege", WRITE, "Beleg anlegen", handlers::create),
    Route::get("/api/v1/belege/{id}", READ, "Einen Beleg mit Positionen lesen", handlers::get),
    Route::write(Method::Put, "/api/v1/belege/{id}", WRITE, "Offenen Beleg ändern", handlers::change),
    Route::write(
        Method::Post,
        "/api/v1/belege/{id}/abschliessen",
        WRITE,
        "Beleg abschließen",
        handlers::finalise,
    ),
    Route::write(Method::Post, "/api/v1/belege/{id}/storno", WRITE, "Beleg stornieren", handlers::cancel),
    Route::get("/api/v1/belege/{id}/verlauf", READ, "Frühere Fassungen eines Belegs", handlers::get_verlauf)
        .with_query(&[Param::limit(None), Param::OFFSET]),
    Route::get("/api/v1/belege/{id}/pdf", READ, "Neuestes archiviertes PDF", handlers::get_pdf),
    Route::write(
        Method::Post,
        "/api/v1/belege/{id}/pdf",
        WRITE,
        "PDF archivieren; das erste schließt den Beleg ab",
        handlers::archive_pdf,
    )
    .with_upload(),
    Route::get("/api/v1/dokumente", READ, "Abgeschlossene Belege seit einem Tag", handlers::poll).with_query(
        &[
            Param {
                name: "since",
                kind: ParamKind::Text,
                summary: "Tag oder Zeitpunkt, ab dem gesucht wird (Pflicht)",
            },
            Param { name: "typen", kind: ParamKind::Text, summary: "Belegtypen, mit Komma getrennt" },
            Param { name: "status", kind: ParamKind::Text, summary: "nur dieser Status" },
            Param::limit(None),
            Param::OFFSET,
        ],
    ),
];
