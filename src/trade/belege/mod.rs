//! Documents: quotes, orders, delivery notes, invoices and their purchase counterparts.
//!
//! A request passes through: `eingabe` (parsing) → `create` or `change` (the order of the rules) → `header`,
//! `partner`, `items`, `anteile`, `steuer`, `summen`, `chargenpflicht` (its meaning) → `lager` (its effect on
//! the stock) → `lieferpreis`, `satzdatum` (price and tax rates of the deliveries), `steuerausweis` (tax
//! shown without right) → `sql`.
//! `lifecycle` finalises and cancels, `tagesende` finalises without a request, `pdf` is the archive,
//! `verlauf` the history, `nachweis` adds final documents, versions and PDFs to the chain of evidence,
//! `dokumente` is the polling list, `offen` lists unpaid documents.
//! `einlesen` turns a supplier's e-invoice into a proposal or an ER; `lieferanten_nr` learns the supplier's
//! article numbers from it.
//! `wareneingang` creates a document for a goods receipt.

mod checks;
mod create;
mod credited;
mod eingabe;
mod einlesen;
mod fluss;
mod genannt;
mod handlers;
mod lager;
mod lifecycle;
mod model;
mod nummer;
mod offen;
mod out;
mod sql;

pub use checks::CHECKS;
pub use create::wareneingang::{Geliefert, bill, delivered, is_live, receive, tax_of_delivery};
pub use eingabe::{Auswahl, NewBeleg, NewItem};
pub use fluss::{Flow, Step, flows, is_left, left_for};
pub(crate) use genannt::{of_same_order, position_names};
pub use handlers::{found, with_positions};
pub use lager::price_batches;
pub use lifecycle::abrechnung::update_receipts;
pub use lifecycle::cancel;
pub use lifecycle::tagesende::{ResumePosition, finalise_past_days, waiting};
pub use lifecycle::verlauf::{Verlaufsschritt, steps};
pub use model::{Beleg, BelegPosition, Gegenbeleg, Kettenglied};
pub use nummer::{erechnung_of_number, finalise_number, missing_of_number, pdf_of_number, settle_number};
pub use offen::{Offen, OffenerPosten, Unberechnet, newest, of_day, open_of, open_sums, uninvoiced, unpaid};
pub use out::ausfertigung::altered as altered_erechnung;
pub use out::ausfertigung::{Papiere, draft, missing, missing_of_partner, papiere};
pub use out::nachweis::{altered_pdf, digest, without_evidence};
pub use out::packen::{deflated, digest as content_digest, inflated};
pub use out::pdf::{outgoing, outgoing_xml};
pub use sql::{AMOUNTS_LOOKED_AT_MAX, RETENTION, find_by_external_ref, list};

use crate::goods::waage::Storno;
use crate::master::anhaenge::{self, Anhang};
use crate::platform::http::list_file;
use crate::platform::http::param::{Param, ParamKind};
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::http::wire::Leer;
use crate::rules::choice::Choice;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::Code;
use crate::rules::repeat::Wiederholt;
use crate::rules::scope::Scope;
use eingabe::{BelegChange, Erledigung, NewEinlesen, NewPdf};
use einlesen::model::Eingelesen;
use model::{
    BelegBestaetigung, BelegPdf, Dokument, PdfBestaetigung, StatusBestaetigung, StornoBestaetigung,
    Verlaufseintrag,
};

const READ: Access = Access::Scope(Scope::BelegeRead);
const WRITE: Scope = Scope::BelegeWrite;

pub const PARTNER: &[Code] =
    &[Code::KundeFehlt, Code::KundeNichtGefunden, Code::KundeWiderspruch, Code::KundeGesperrt];

pub const DATE_AND_ARTICLE: &[Code] = &[
    Code::ZeitraumGesperrt,
    Code::ArtikelFehlt,
    Code::ArtikelNichtGefunden,
    Code::ArtikelMehrdeutig,
    Code::ArtikelWiderspruch,
    Code::ArtikelInaktiv,
];

/// Reasons to refuse the items of a document, besides their articles.
const ITEMS: &[Code] = &[
    Code::PreisFehlt,
    Code::MengeUngueltig,
    Code::BezugMehrdeutig,
    Code::BezugOhneMenge,
    Code::EinheitNichtUmrechenbar,
    Code::BetragZuGross,
    Code::ChargeFehlt,
    Code::ChargeNichtGefunden,
    Code::ChargePasstNicht,
    Code::ChargeWiderspruch,
    Code::ZuVieleGegenbelege,
    Code::ChargeBereitsVerwendet,
    Code::ChargeGesperrt,
    Code::BestandNichtAusreichend,
    Code::LandUnbekannt,
    Code::BiozertifikatNichtGefunden,
    Code::KontraktNichtGefunden,
    Code::WiegungNichtGefunden,
    Code::WiegungNichtFertig,
    Code::WiegungPasstNicht,
    Code::WiegungBereitsVerwendet,
    Code::BelegNichtGefunden,
    Code::BezugPasstNicht,
    Code::SteuerKategoriePasstNicht,
    Code::FeldWiderspruch,
];

/// Reason to refuse finalising if the company requires an e-invoice (D26).
const INCOMPLETE: &[Code] = &[Code::ErechnungUnvollstaendig];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/belege", READ, "Belege, der neueste zuerst", handlers::list)
        .with_query(&[
            Param::list_of("typ", BelegTyp::TEXTS, "{typen}, mit Komma getrennt"),
            Param::list_of("status", BelegStatus::TEXTS, "nur diese Status, mit Komma getrennt"),
            Param::day("von", "erstes Belegdatum"),
            Param::day("bis", "letztes Belegdatum"),
            Param::new("kunden_id", ParamKind::Partner, "kunden_id (Zahl) oder id (UUID) des Partners"),
            Param::text("beleg_nummer", "nur der Beleg mit dieser Nummer"),
            Param::text("external_ref", "nur der Beleg mit dieser Kennung des Senders"),
            Param::text("suche", "Wörter in Nummer, external_ref, fremdbelegnummer oder beim Partner"),
            Param::uuid("artikel_id", "nur Belege mit einer Position dieses Artikels"),
            Param::uuid("kontrakt_id", "nur Belege mit einer Position auf diesen Kontrakt"),
            Param::flag("offen", "true: nur was vor der Rechnung kommt und wovon noch etwas übrig ist"),
            Param::sortierung(sql::SORTIERUNG),
            Param::limit(Some(50)),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::list::<Beleg>(), Answer::other("text/csv")]),
    Route::post("/api/v1/belege", WRITE, "Beleg anlegen", handlers::create)
        .takes::<NewBeleg>("BelegNeu", &["beleg_typ", "items"])
        .gives(&[Answer::created::<BelegBestaetigung>(), Answer::ok::<Wiederholt<Beleg>>()])
        .refuses(&[PARTNER, DATE_AND_ARTICLE, ITEMS, INCOMPLETE]),
    Route::post(
        "/api/v1/belege/einlesen",
        WRITE,
        "E-Rechnung eines Lieferanten lesen; auf Wunsch die Eingangsrechnung anlegen",
        handlers::einlesen,
    )
    .with_upload()
    .heavy()
    .takes::<NewEinlesen>("ERechnungEinlesen", &["datei_base64"])
    .gives(&[Answer::created::<Eingelesen>(), Answer::ok::<Eingelesen>()])
    .refuses(&[
        PARTNER,
        DATE_AND_ARTICLE,
        ITEMS,
        &[Code::DateiNichtLesbar, Code::KeineRechnung, Code::VorzeichenFehlt],
    ]),
    Route::each("/api/v1/belege/stapel", Scope::BelegeWrite, "Viele Belege anlegen", "/api/v1/belege"),
    Route::get("/api/v1/belege/{id}", READ, "Einen Beleg mit Positionen lesen", handlers::get)
        .gives(&[Answer::resource::<Beleg>()]),
    Route::put("/api/v1/belege/{id}", WRITE, "Offenen Beleg ändern", handlers::change)
        .takes::<BelegChange>("BelegAenderung", &[])
        .with_if_match()
        .gives(&[Answer::ok::<BelegBestaetigung>()])
        .refuses(&[
            PARTNER,
            DATE_AND_ARTICLE,
            ITEMS,
            &[
                Code::BelegAbgeschlossen,
                Code::BelegTypNichtAenderbar,
                Code::AbrechnungNichtAenderbar,
                Code::AnnahmescheinAbgerechnet,
            ],
        ]),
    Route::post("/api/v1/belege/{id}/abschliessen", WRITE, "Beleg abschließen", handlers::finalise)
        .with_query(&[Param::trial(
            "true: nur sagen, welche Hinweise und Ablehnungen das Abschließen hätte; geändert wird nichts",
        )])
        .may_take::<Leer>("Leer")
        .with_if_match()
        .gives(&[Answer::ok::<StatusBestaetigung>()])
        .refuses(&[&[Code::BelegStorniert], INCOMPLETE]),
    Route::post("/api/v1/belege/{id}/erledigen", WRITE, "Beleg erledigen (bezahlt)", handlers::settle)
        .may_take::<Erledigung>("Erledigung")
        .with_if_match()
        .gives(&[Answer::ok::<StatusBestaetigung>()])
        .refuses(&[&[Code::BelegNichtAbgeschlossen]]),
    Route::post("/api/v1/belege/{id}/storno", WRITE, "Beleg stornieren", handlers::cancel)
        .takes::<Storno>("Storno", &["grund"])
        .with_if_match()
        .gives(&[Answer::ok::<StornoBestaetigung>()])
        .refuses(&[&[
            Code::BelegNichtStornierbar,
            Code::AbrechnungHatFolge,
            Code::AnnahmescheinAbgerechnet,
            Code::BestandNichtAusreichend,
            Code::BetragZuGross,
            Code::ChargeBereitsVerwendet,
            Code::ZeitraumGesperrt,
        ]]),
    Route::get("/api/v1/belege/{id}/verlauf", READ, "Frühere Fassungen eines Belegs", handlers::get_verlauf)
        .with_query(&[Param::limit(None), Param::OFFSET])
        .gives(&[Answer::list::<Verlaufseintrag>()]),
    Route::get(
        "/api/v1/belege/{id}/pdf",
        READ,
        "Neuestes archiviertes PDF, sonst das gezeichnete",
        handlers::get_pdf,
    )
    .heavy()
    .with_query(&[Param::flag("vorschau", "true: von einem offenen Beleg den Entwurf")])
    .gives(&[
        Answer::resource::<BelegPdf>(),
        Answer::other("application/pdf").with(&["etag", "content-disposition"]),
    ])
    .refuses(&[&[Code::KeinPdf]]),
    Route::get(
        "/api/v1/belege/{id}/erechnung",
        READ,
        "E-Rechnung (EN 16931) als XML",
        handlers::get_erechnung,
    )
    .heavy()
    .gives(&[Answer::other("application/xml").with(&["etag", "content-disposition"])])
    .refuses(&[&[Code::KeineErechnung]]),
    Route::post(
        "/api/v1/belege/{id}/pdf",
        WRITE,
        "PDF archivieren; das erste schließt den Beleg ab",
        handlers::archive_pdf,
    )
    .with_upload()
    .takes::<NewPdf>("BelegPdfNeu", &[])
    .gives(&[Answer::created::<PdfBestaetigung>(), Answer::ok::<PdfBestaetigung>()])
    .refuses(&[INCOMPLETE]),
    Route::get(
        "/api/v1/belege/{id}/dokumente",
        READ,
        "Datei, aus der ein Beleg gemacht wurde",
        anhaenge::list::<Beleg>,
    )
    .with_query(&[Param::limit(None), Param::OFFSET])
    .gives(&[Answer::array::<Anhang>()]),
    Route::get(
        "/api/v1/belege/{id}/dokumente/{dok_id}",
        READ,
        "Diese Datei mit Inhalt lesen",
        anhaenge::get::<Beleg>,
    )
    .heavy()
    .gives(&[Answer::resource::<Anhang>()]),
    Route::get("/api/v1/dokumente", READ, "Abgeschlossene Belege seit einem Tag", handlers::poll)
        .with_query(&[
            Param::new("since", ParamKind::Since, "Tag oder Zeitpunkt, ab dem gesucht wird").required(),
            Param::list_of("typen", BelegTyp::TEXTS, "Belegtypen, mit Komma getrennt"),
            Param::list_of("status", BelegStatus::TEXTS, "nur diese Status, mit Komma getrennt"),
            Param::limit(None),
            Param::OFFSET,
        ])
        .gives(&[Answer::array::<Dokument>().with(&["x-total-count", "x-limit", "x-next-since", "etag"])]),
];
