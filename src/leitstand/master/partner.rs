//! Partners: the list with its search, and a record with the data that its e-invoices lack, its attachments
//! and its history.

use maud::{Markup, html};
use serde_json::Value;

use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields::{self, elsewhere, wording};
use crate::leitstand::kit::lists::{self, List, filter, filter_choice, new_button};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{Table, facts, joined, number, optional, or_blank};
use crate::leitstand::kit::verlauf::{self, Lesart};
use crate::leitstand::kit::{anhaenge, frame};
use crate::master::anhaenge::Besitzer;
use crate::master::kunden::{self, Kunde};
use crate::papers::blatt::numbers::iban;
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::rules::besteuerung::Besteuerungen;
use crate::rules::choice::Choice;
use crate::rules::kennnummer::grouped_steuernummer;
use crate::rules::stammdaten::PartnerTyp;
use crate::trade::belege;

const ROLLEN: [(&str, &str); 3] =
    [("kunde", "Kunden"), ("lieferant", "Lieferanten"), ("spediteur", "Spediteure")];

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/kunden")?;
    let auswahl = kunden::Auswahl::of(&query)?;
    if let Some(file) = list_file::asked(&query, "partner", |page| kunden::list(&db.tx, &auswahl, page))? {
        return Ok(file);
    }
    let found = kunden::list(&db.tx, &auswahl, lists::page_of(request))?;
    let list = List {
        empty: "Keine Partner gefunden. Partner kommen mit „Neuer Partner“ herein, mit einem Import oder aus \
         den angeschlossenen Programmen (POST /api/v1/kunden); vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(request, "suche", "Name, Nummer, Ort oder E-Mail", "search"))
            (filter_choice(request, "partner_typ", "Rolle", ROLLEN))
        },
        order: "kundennr",
        above: new_button(request, "partner/neu", "Neuer Partner"),
        ..List::of("partner", "Partner", |kunde: &Kunde| kunde.id, &found)
    };
    lists::page(request, db, list, columns)
}

pub fn columns<'t>(table: Table<'t, Kunde>) -> Table<'t, Kunde> {
    table
        .text("Name", |kunde| kunde.name.clone())
        .sorts("name")
        .text("Nummer", |kunde| kunde.kundennr.clone())
        .sorts("kundennr")
        .text("Ort", |kunde| joined([&kunde.plz, &kunde.ort], " "))
        .text("Telefon", |kunde| or_blank(&kunde.telefon))
        .text("Rollen", |kunde| rollen(kunde.partner_typen.each()))
        .text("Status", |kunde| kunde.status.as_str().to_owned())
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kunde = kunden::found(&db.tx, request.uuid(0)?)?;
    let (id, here) = (kunde.id, request.page_of("partner", kunde.id));
    let changes = kunden::changes(&db.tx, id, lists::page_of(request))?;
    let body = html! {
        (facts_of(&kunde, false))
        p.actions {
            @if request.may_change() { a.button href=(format!("{here}/aendern")) { "Ändern" } }
            @if request.may_change() {
                a.button href=(request.of_firma(&format!("wiegungen/neu?partner_id={id}"))) {
                    "Fahrzeug wiegen"
                }
            }
            @for (page, name) in [
                ("belege?kunden_id", "Belege"),
                ("wiegungen?partner_id", "Wiegungen"),
                ("kontrakte?partner_id", "Kontrakte")
            ] {
                a.button href=(request.of_firma(&format!("{page}={id}"))) { (name) }
            }
        }
        h2 { "Zahlung und Steuer" }
        (facts_of(&kunde, true))
        (wrongly_taxed(request, db, &kunde)?)
        h2 { "E-Rechnung" }
        (missing(request, db, &kunde, &here))
        (anhaenge::section(request, db, Besitzer::Kunde(id), &here)?)
        (verlauf::section(request, db, &here, changes, LESART)?)
        @if request.may_manage() {
            p.ask {
                "Verlangt diese Person, dass ihre Daten gelöscht werden: "
                a href=(format!("{here}/vergessen")) { "Vergessen" }
            }
        }
    };
    Ok(frame::page(request, &kunde.name, body))
}

const LESART: Lesart = (fields::label_of::<Kunde>, words_of);

/// A value in a history, as people read it.
fn words_of(name: &str, value: &Value) -> String {
    match (name, value) {
        ("besteuerungen", by_day) => {
            serde_json::from_value(by_day.clone()).map(|all| besteuerungen(&all)).unwrap_or_default()
        }
        (_, Value::Array(found)) => {
            rollen(found.iter().filter_map(|rolle| PartnerTyp::parse(rolle.as_str()?)))
        }
        _ => fields::words_of::<Kunde>(name, value),
    }
}

fn besteuerungen(all: &Besteuerungen) -> String {
    all.in_words(|steuerart| wording(steuerart.as_str()).to_owned())
}

/// Final Gutschriften whose tax is not that of the partner's Besteuerung on the days of the goods, with the way to correct them.
fn wrongly_taxed(request: &PageRequest, db: &Snapshot<'_>, kunde: &Kunde) -> Result<Markup> {
    let found = kunden::abweichende(&db.tx, kunde)?;
    Ok(html! {
        @if !found.is_empty() {
            div.refused {
                p { "Nach der Besteuerung vom Tag der Ware gehört zu diesen Gutschriften eine andere Steuer:" }
                ul { @for one in &found { li {
                    a href=(request.page_of("belege", one.beleg_id)) { (one.beleg_nummer) }
                    " (" (number(one.differenz)) " EUR)"
                    @if let (true, Some(schein)) = (request.may_change(), one.annahmeschein_id) {
                        " " a href=(format!("{}/korrektur", request.page_of("annahme", schein))) { "Korrektur" }
                    }
                } } }
            }
        }
    })
}

fn rollen(rollen: impl IntoIterator<Item = PartnerTyp>) -> String {
    rollen.into_iter().map(|rolle| wording(rolle.as_str())).collect::<Vec<_>>().join(", ")
}

/// The fields that concern payment, tax and books, or the others.
fn facts_of(kunde: &Kunde, is_business: bool) -> Markup {
    // Left out if the heading says it already.
    let name = Some(kunde.nachname_firma.clone()).filter(|name| *name != kunde.name);
    let own = [
        ("nachname_firma", name.unwrap_or_default()),
        ("partner_typen", rollen(kunde.partner_typen.each())),
        ("steuerart", besteuerungen(&kunde.besteuerungen)),
        ("steuernummer", optional(kunde.steuernummer.as_deref(), grouped_steuernummer)),
        ("iban", optional(kunde.iban.as_deref(), |text| iban(text, " "))),
    ];
    let own = [&own[..], &elsewhere(["name", "vb_id", "besteuerungen"])].concat();
    let is_of = |group: Option<&str>| group.is_some_and(|group| kunden::GESCHAEFT.contains(&group));
    facts(&fields::facts_within(kunde, &own, |group| is_of(group) == is_business))
}

fn missing(request: &PageRequest, db: &Snapshot<'_>, kunde: &Kunde, here: &str) -> Markup {
    let missing = belege::missing_of_partner(&db.tx, kunde);
    html! {
        @if missing.is_empty() {
            p { "Für E-Rechnungen fehlt nichts an den Stammdaten dieses Partners." }
        } @else {
            div.refused {
                p { "Für E-Rechnungen fehlt:" }
                ul { @for fehlt in &missing { li {
                    @if request.may_change() { a href=(format!("{here}/aendern#feld-{}", fehlt.feld)) { (fehlt.was) } }
                    @else { (fehlt.was) }
                } } }
            }
        }
    }
}

pub fn show_attach(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let kunde = kunden::found(&db.tx, request.uuid(0)?)?;
    Ok(anhaenge::show_form(request, &kunde.name, &request.page_of("partner", kunde.id)))
}

pub fn attach(request: &PageRequest) -> Result<FirmaChange> {
    anhaenge::attach(request, "kunden", "partner")
}

pub fn attachment(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    anhaenge::download(request, db, Besitzer::Kunde(kunden::found(&db.tx, request.uuid(0)?)?.id))
}
