//! Partners: customers, suppliers, carriers, and their attachments.

mod bezug;
mod change;
mod checks;
mod datev;
mod handlers;
mod import;
mod model;
mod personenkonten;
mod sql;
mod steuer;
mod suche;
mod vergessen;
mod verlauf;

pub use bezug::{by_id, contradiction, find_by_verweis, missing, named, of_filter};
pub use change::preset;
pub use change::{give_konto, personenkonto};
pub use checks::CHECKS;
pub use handlers::found;
pub use import::put_back;
pub use model::{Auswahl, GESCHAEFT, GRUPPEN, Kunde, KundeChange, KundenId};
pub use sql::{Merkmal, count, find, find_by_kundennr, list, must_have_number, with};
pub use steuer::{Abweichend, abweichende};
pub use vergessen::{Erased, forget};
pub use verlauf::{altered_content, changes, digest, forgotten_attachments, without_evidence};

use crate::master::anhaenge::{self, Anhang, AnhangAngelegt, NewAnhang};
use crate::platform::http::list_file;
use crate::platform::http::param::Param;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::change::Geaendert;
use crate::rules::error::Code;
use crate::rules::scope::Scope;
use model::{KundeAngelegt, KundeVerlaufseintrag};

const READ: Access = Access::Scope(Scope::KundenRead);

pub const IMPORTS: &[Import] = &[Import::of::<model::KundeChange>(
    "kunden",
    &[&["kundennr"], &["nachname_firma", "plz", "ort"], &["name", "plz", "ort"]],
    import::kunde,
)
.with_foreign(&datev::DATEV)];

const NAMES: &[Code] = &[
    Code::NameFehlt,
    Code::FeldFehlt,
    Code::FeldWiderspruch,
    Code::LandUnbekannt,
    Code::PersonenkontoUngueltig,
];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/kunden", READ, "Kunden und Lieferanten", handlers::list)
        .with_query(&[
            Param::text("suche", "Wörter in Name, E-Mail, Nummer oder Ort"),
            Param::text("kundennr", "nur der Partner mit genau dieser Nummer, gleich in welcher Schreibung"),
            Param::one_of(
                "partner_typ",
                &["kunde", "lieferant", "spediteur"],
                "nur Partner mit dieser Rolle",
            ),
            Param::sortierung(sql::SORTIERUNG),
            Param::limit(Some(100)),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::list::<Kunde>(), Answer::other("text/csv")]),
    Route::post("/api/v1/kunden", Scope::KundenWrite, "Kunden anlegen", handlers::create)
        .takes::<KundeChange>("KundeNeu", &["nachname_firma"])
        .ignores(&["kunden_id"])
        .gives(&[Answer::created::<KundeAngelegt>()])
        .refuses(&[NAMES, &[Code::KundennrBereitsVergeben]]),
    Route::each("/api/v1/kunden/stapel", Scope::KundenWrite, "Viele Kunden anlegen", "/api/v1/kunden"),
    Route::get("/api/v1/kunden/{id}", READ, "Einen Kunden lesen", handlers::get)
        .gives(&[Answer::resource::<Kunde>()]),
    Route::put("/api/v1/kunden/{id}", Scope::KundenWrite, "Kunden ändern", handlers::change)
        .takes::<KundeChange>("KundeAenderung", &[])
        .ignores(&["kunden_id", "kundennr"])
        .with_if_match()
        .gives(&[Answer::ok::<Geaendert<Kunde>>()])
        .refuses(&[NAMES]),
    Route::get(
        "/api/v1/kunden/{id}/verlauf",
        READ,
        "Wer an einem Kunden was geändert hat",
        handlers::get_verlauf,
    )
    .with_query(&[Param::limit(None), Param::OFFSET])
    .gives(&[Answer::list::<KundeVerlaufseintrag>()]),
    Route::post(
        "/api/v1/kunden/{id}/dokumente",
        Scope::DokumenteWrite,
        "Datei an einen Kunden anhängen",
        anhaenge::attach::<Kunde>,
    )
    .with_upload()
    .takes::<NewAnhang>("AnhangNeu", &["dateiname", "inhalt_base64"])
    .gives(&[Answer::created::<AnhangAngelegt>()]),
    Route::get("/api/v1/kunden/{id}/dokumente", READ, "Anhänge eines Kunden", anhaenge::list::<Kunde>)
        .with_query(&[Param::limit(None), Param::OFFSET])
        .gives(&[Answer::array::<Anhang>()]),
    Route::get(
        "/api/v1/kunden/{id}/dokumente/{dok_id}",
        READ,
        "Einen Anhang eines Kunden mit Inhalt lesen",
        anhaenge::get::<Kunde>,
    )
    .heavy()
    .gives(&[Answer::resource::<Anhang>()]),
];
