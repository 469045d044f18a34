//! Goods receipts: weight, analysis, deductions, net; their sheet and their cancellation.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::analyse;
use crate::goods::kontrakte;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields;
use crate::leitstand::kit::lists::{self, List, filter, filter_choice};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{self, amount, facts, number, optional, or_blank};
use crate::leitstand::kit::{frame, storno};
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::receipt::AnnahmescheinStatus;
use crate::trade::annahmescheine::{self, Annahmeschein, Auswahl, Summen};

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/annahmescheine")?;
    let sortierung = lists::sorted(request, annahmescheine::SORTIERUNG);
    let auswahl = Auswahl { sortierung, ..Auswahl::of(&query)? };
    if let Some(file) =
        list_file::asked(&query, "annahmescheine", |page| annahmescheine::list(&db.tx, &auswahl, page))?
    {
        return Ok(file);
    }
    let found = annahmescheine::list(&db.tx, &auswahl, lists::page_of(request))?;
    let states = AnnahmescheinStatus::ALL.iter().map(|status| (status.as_str(), status.as_str()));
    let list = List {
        empty: "Keine Annahmescheine gefunden. Sie entstehen bei der Warenannahme (POST \
         /api/v1/annahmescheine) oder durch den Import.",
        filters: html! {
            (filter_choice(request, "status", "Status", states))
            (filter(request, "von", "Von", "date"))
            (filter(request, "bis", "Bis", "date"))
            (filter_choice(request, "gesperrt", "Gesperrt", [("true", "nur gesperrte"), ("false", "nur freie")]))
        },
        above: above(request, &annahmescheine::sums(&db.tx, &auswahl)?),
        order: "-lieferdatum",
        ..List::of("annahme", "Annahmescheine", |schein: &Annahmeschein| schein.id, &found)
    };
    let body = lists::body(request, db, list, |table| {
        table
            .text("Annahmeschein", |schein| schein.belegnummer.clone())
            .text("Lieferdatum", |schein| optional(schein.lieferdatum, |day| day.0.german()))
            .sorts("lieferdatum")
            .text("Partner", |schein| or_blank(&schein.partner_name))
            .text("Artikel", |schein| or_blank(&schein.artikel_bezeichnung))
            .text("Status", |schein| {
                if schein.gesperrt { "gesperrt".to_owned() } else { schein.status.as_str().to_owned() }
            })
            .numbers("Netto (kg)", |schein| optional(schein.netto_menge_kg, amount))
    })?;
    Ok(frame::page(request, "Annahme", body))
}

fn above(request: &PageRequest, sums: &Summen) -> Markup {
    let kg = |menge| BTreeMap::from([("kg".to_owned(), menge)]);
    let of = format!("Zusammen ohne stornierte ({})", number(sums.count));
    html! {
        p.actions {
            a.button href=(request.of_firma("annahme/abrechnen")) { "Abrechnen" }
            a.button href=(request.of_firma("annahme/rechner")) { "Probeweise rechnen" }
            a.button href=(request.of_firma("annahme/schemata")) { "Abrechnungsschemata" }
        }
        @if sums.count > 0 {
            (parts::sums(&of, [("angeliefert", kg(sums.anliefermenge_kg)), ("netto", kg(sums.netto_menge_kg))]))
        }
    }
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, request.uuid(0)?)?;
    let here = request.page_of("annahme", schein.id);
    let links = [
        (schein.partner_id, "partner", "Zum Partner"),
        (schein.wiegung_id, "wiegungen", "Zur Wiegung"),
        (schein.el_id, "belege", "Zum Lieferschein"),
        (schein.charge_id, "chargen", "Zur Charge"),
        (schein.kontrakt_id, "kontrakte", "Zum Kontrakt"),
        (schein.schema_id, "annahme/schemata", "Zum Schema"),
        (schein.abrechnung_beleg_id, "belege", "Zur Gutschrift"),
    ];
    let body = html! {
        (facts(&facts_of(db, &schein)?))
        (analyse::of_note(db, &schein)?)
        p.actions {
            a.button href=(format!("{here}/pdf")) { "Annahmeschein (PDF)" }
            (request.links(links))
            @if request.may_change() && schein.status != AnnahmescheinStatus::Storniert {
                a.button href=(format!("{here}/analyse")) { "Analyse eintragen" }
            }
            @if request.may_change() && schein.status == AnnahmescheinStatus::Offen {
                a.button href=(format!("{here}/freigabe")) {
                    @if schein.gesperrt { "Freigeben" } @else { "Anderes Schema" }
                }
                @if let (Some(partner), false) = (schein.partner_id, schein.gesperrt) {
                    a.button href=(request.of_firma(&format!("annahme/abrechnen?partner_id={partner}"))) { "Abrechnen" }
                }
            }
            @if request.may_change() && schein.abrechnung_id.is_some() {
                a.button href=(format!("{here}/korrektur")) { "Abrechnung korrigieren" }
            }
            @if request.may_change() && schein.status == AnnahmescheinStatus::Offen {
                a.button.danger href=(format!("{here}/storno")) { "Stornieren" }
            }
        }
    };
    Ok(frame::page(request, &schein.belegnummer, body))
}

fn facts_of(db: &Snapshot<'_>, schein: &Annahmeschein) -> Result<Vec<(&'static str, String)>> {
    let named = |id| kontrakte::named(&db.tx, id, schein.kontrakt_position_id);
    let kontrakt = schein.kontrakt_id.map(named).transpose()?.flatten();
    let of_scheme = schein.schema.as_ref().zip(schein.schema_version);
    let scheme = optional(of_scheme, |(nummer, version)| format!("{nummer}, Version {version}"));
    let unused = if schein.schema.is_some() { &["schwundfaktor", "sonstige_abzuege_kg"][..] } else { &[] };
    let plain = ["belegnummer", "schema_version", "gesperrt", "vorlaeufig", "external_ref", "created_at"];
    let elsewhere = plain.iter().chain(unused).map(|name| (*name, String::new()));
    let own = [
        ("status", schein.status.as_str().to_owned()),
        ("partner_name", or_blank(&schein.partner_name)),
        ("artikel_bezeichnung", or_blank(&schein.artikel_bezeichnung)),
        ("schema", scheme),
    ];
    let own_count = own.len();
    let mut facts = fields::facts_of(schein, &own.into_iter().chain(elsewhere).collect::<Vec<_>>());
    facts.insert(own_count, ("Kontrakt", kontrakt.unwrap_or_default()));
    Ok(facts)
}

pub fn show_cancel(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, request.uuid(0)?)?;
    let what = html! {
        (schein.belegnummer)
        " zählt dann nicht mehr, und seine Wiegung ist wieder frei. Rückgängig machen lässt sich das nicht."
    };
    storno::show(request, "Annahmeschein stornieren", None, what)
}

pub fn cancel(request: &PageRequest) -> Result<FirmaChange> {
    storno::send(request, Method::Put, "annahmescheine", "annahme", "Der Annahmeschein ist storniert.")
}
