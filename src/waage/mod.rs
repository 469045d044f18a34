//! Weighings: first weight, second weight, storno.

mod bezug;
mod handlers;
mod model;
mod sql;

pub use bezug::{FertigeWiegung, finished};
pub use model::StornoEingabe;
pub use sql::annahmeschein_of;

use crate::http::route::{Access, Method, Param, ParamKind, Route};
use crate::rules::scope::Scope;

const READ: Access = Access::Scope(Scope::WaageRead);

/// Routes of this slice.
pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/wiegungen", READ, "Wiegungen, die neueste zuerst", handlers::list).with_query(&[
        Param {
            name: "status",
            kind: ParamKind::OneOf(&["offen", "fertig", "storno"]),
            summary: "nur dieser Status",
        },
        Param { name: "von", kind: ParamKind::Day, summary: "erster Tag der Erstwiegung" },
        Param { name: "bis", kind: ParamKind::Day, summary: "letzter Tag der Erstwiegung" },
        Param { name: "partner_id", kind: ParamKind::Uuid, summary: "nur dieser Partner" },
        Param::limit(Some(100)),
        Param::OFFSET,
    ]),
    Route::write(
        Method::Post,
        "/api/v1/wiegungen",
        Scope::WaageWrite,
        "Erstwiegung anlegen",
        handlers::create,
    ),
    Route::get("/api/v1/wiegungen/{id}", READ, "Eine Wiegung lesen", handlers::get),
    Route::write(
        Method::Put,
        "/api/v1/wiegungen/{id}/zweitwiegung",
        Scope::WaageWrite,
        "Zweitwiegung: Nettogewicht und Richtung",
        handlers::second,
    ),
    Route::write(
        Method::Put,
        "/api/v1/wiegungen/{id}/storno",
        Scope::WaageWrite,
        "Wiegung stornieren",
        handlers::cancel,
    ),
];
