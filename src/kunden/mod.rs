//! Partners: customers, suppliers, carriers, and their attachments.

mod bezug;
mod change;
mod handlers;
mod model;
mod sql;

pub use bezug::{KundenId, contradiction, find_by_verweis, missing, named};
pub use model::Kunde;
pub use sql::{find, find_by_kundennr, must_have_number};

use crate::http::route::{Access, Method, Param, ParamKind, Route};
use crate::import::{Import, check};
use crate::rules::scope::Scope;

const READ: Access = Access::Scope(Scope::KundenRead);

/// What can be imported into this slice.
pub const IMPORTS: &[Import] =
    &[Import { kind: "kunden", check: check::<model::KundeEingabe>, run: change::import }];

/// Routes of this slice.
pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/kunden", READ, "Kunden und Lieferanten", handlers::list).with_query(&[
        Param { name: "suche", kind: ParamKind::Text, summary: "Wörter in Name, E-Mail, Nummer oder Ort" },
        Param {
            name: "partner_typ",
            kind: ParamKind::OneOf(&["kunde", "lieferant", "spediteur"]),
            summary: "nur Partner mit dieser Rolle",
        },
        Param::limit(Some(100)),
        Param::OFFSET,
    ]),
    Route::write(Method::Post, "/api/v1/kunden", Scope::KundenWrite, "Kunden anlegen", handlers::create),
    Route::get("/api/v1/kunden/{id}", READ, "Einen Kunden lesen", handlers::get),
    Route::write(Method::Put, "/api/v1/kunden/{id}", Scope::KundenWrite, "Kunden ändern", handlers::change),
    Route::write(
        Method::Post,
        "/api/v1/kunden/{id}/dokumente",
        Scope::DokumenteWrite,
        "Datei an einen Kunden anhängen",
        handlers::attach,
    )
    .with_upload(),
    Route::get("/api/v1/kunden/{id}/dokumente", READ, "Anhänge eines Kunden", handlers::list_attachments)
        .with_query(&[Param::limit(None), Param::OFFSET]),
    Route::get(
        "/api/v1/kunden/{id}/dokumente/{dok_id}",
        READ,
        "Einen Anhang eines Kunden mit Inhalt lesen",
        handlers::get_attachment,
    ),
];
