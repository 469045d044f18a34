//! Documents: the list with its search, a record with positions and history, its sheet and e-invoice, and its
//! cancellation.

use std::collections::BTreeSet;

use maud::{Markup, Render, html};
use uuid::Uuid;

use super::beleg_formular::WRITTEN_HERE;
use super::{abschluss, belegfluss, sammelrechnung, versendet};
use crate::goods::{kontrakte, waage};
use crate::leitstand::kit::akteure::named;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields::{self, elsewhere};
use crate::leitstand::kit::lists::{self, List, filter, filter_choice};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::pager::pager;
use crate::leitstand::kit::parts::{
    ROWS, Table, amount, facts, linked, moment, number, optional, or_blank, price, signed, table, typed_money,
};
use crate::leitstand::kit::{anhaenge, frame, storno};
use crate::master::anhaenge::Besitzer;
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::Records;
use crate::rules::choice::Choice;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::trade::annahmescheine;
use crate::trade::belege::{self, Beleg, BelegPosition, Kettenglied, Papiere};
use crate::trade::herkunft::{self, Umschlag};

pub fn columns<'t>(table: Table<'t, Beleg>) -> Table<'t, Beleg> {
    table
        .text("Nummer", |beleg| beleg.beleg_nummer.clone())
        .sorts("beleg_nummer")
        .text("Art", |beleg| art_of(beleg).to_owned())
        .text("Datum", |beleg| beleg.datum().german())
        .sorts("beleg_datum")
        .text("Partner", |beleg| beleg.kunden_name.clone())
        .text("Status", |beleg| beleg.status.as_str().to_owned())
        .numbers("Brutto (EUR)", |beleg| number(beleg.summe_brutto))
        .sorts("summe_brutto")
}

/// The lists of what is left that have a name: the type, the title, and the type of the invoice for several of them.
const LEFT: [(BelegTyp, &str, Option<BelegTyp>); 4] = [
    (BelegTyp::Au, "Offene Aufträge", None),
    (BelegTyp::Ls, "Noch nicht berechnete Lieferungen", Some(BelegTyp::Re)),
    (BelegTyp::Bs, "Offene Bestellungen", None),
    (BelegTyp::El, "Noch nicht berechnete Einkaufslieferungen", Some(BelegTyp::Er)),
];

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/belege")?;
    let typed = request.filled_param("betrag");
    let betrag = typed.and_then(typed_money);
    let auswahl = belege::Auswahl { betrag, ..belege::Auswahl::of(&db.tx, &query)? };
    if let Some(file) = list_file::asked(&query, "belege", |page| belege::list(&db.tx, &auswahl, page))? {
        return Ok(file);
    }
    let found = belege::list(&db.tx, &auswahl, lists::page_of(request))?;
    let (title, invoice) =
        named_list(&auswahl).map_or(("Belege", None), |(_, title, invoice)| (title, invoice));
    let list = List {
        empty: "Keine Belege gefunden. Belege legen die angeschlossenen Programme an, oder man schreibt sie \
         hier; vielleicht ist auch die Suche zu eng.",
        filters: filters(request),
        keeps: &[("kunden_id", "zu", "partner"), ("artikel_id", "zu", "artikel")],
        order: "-beleg_datum",
        above: html! {
            @if let (Some(typed), None) = (typed, betrag) {
                p.refused role="alert" { "„" (typed) "“ ist kein Betrag. Erwartet wird etwa 1.234,50." }
            }
            p { "Listen: " @for (at, (typ, title, _)) in LEFT.iter().enumerate() {
                @if at > 0 { ", " }
                a href=(request.of_firma(&format!("belege?typ={}&offen=true", typ.as_str()))) { (title) }
            } }
            @if request.may_change() { p.actions {
                a.button href=(request.of_firma("belege/neu")) { "Neuer Beleg" }
                @if let Some(invoice) = invoice {
                    a.button href=(sammelrechnung::address(request, invoice, auswahl.kunde)) { "Sammelrechnung" }
                }
            } }
        },
        ..List::of("belege", "Belege", |beleg: &Beleg| beleg.id, &found)
    };
    Ok(frame::page(request, title, lists::body(request, db, list, columns)?))
}

/// The list of what is left that a selection asks for, if it has a name.
fn named_list(auswahl: &belege::Auswahl<'_>) -> Option<(BelegTyp, &'static str, Option<BelegTyp>)> {
    LEFT.into_iter().find(|(typ, ..)| auswahl.offen && auswahl.typen == [typ.as_str()])
}

fn filters(request: &PageRequest) -> Markup {
    let typen = BelegTyp::ALL.iter().map(|typ| (typ.as_str(), typ.bezeichnung()));
    let states = BelegStatus::ALL.iter().map(|status| (status.as_str(), status.as_str()));
    let betrag = format!("Betrag (neueste {})", number(belege::AMOUNTS_LOOKED_AT_MAX));
    html! {
        (filter(request, "suche", "Suche", "search"))
        (filter_choice(request, "typ", "Art", typen))
        (filter(request, "von", "Von", "date"))
        (filter(request, "bis", "Bis", "date"))
        (filter_choice(request, "status", "Status", states))
        (filter_choice(request, "offen", "Offene Menge", [("true", "vorhanden")]))
        (filter(request, "betrag", &betrag, "text"))
    }
}

pub fn art_of(beleg: &Beleg) -> &'static str {
    let is_storno = beleg.storno_von_beleg_id.is_some();
    beleg.beleg_typ.art(beleg.rechnungsart, is_storno, beleg.summe_netto.is_negative())
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::with_positions(&db.tx, request.uuid(0)?)?;
    let here = request.page_of("belege", beleg.id);
    let papiere = belege::papiere(&db.tx, beleg.id)?;
    let (is_open, is_cancelled) =
        (beleg.status == BelegStatus::Offen, beleg.status == BelegStatus::Storniert);
    let body = html! {
        (facts(&facts_of(&beleg)))
        div.actions {
            @if papiere.pdf.is_ok() {
                a.button href=(format!("{here}/pdf")) { @if is_open { "Vorschau (PDF)" } @else { "Blatt (PDF)" } }
            }
            @if papiere.erechnung.is_ok() { a.button href=(format!("{here}/erechnung")) { "E-Rechnung (XML)" } }
            (request.links([(Some(beleg.kunde_id), "partner", "Partner")]))
            @if request.may_change() {
                @if papiere.pdf.is_ok() { (versendet::button(&beleg, &here)) }
                @if is_open {
                    a.button href=(format!("{here}/aendern")) { "Ändern" } (abschluss::button(request, &beleg, &here))
                }
                @if beleg.status == BelegStatus::Abgeschlossen {
                    a.button href=(format!("{here}/erledigen")) { "Erledigt" }
                }
                @for (query, words) in next_documents(db, &beleg)? {
                    a.button href=(request.of_firma(&format!("belege/neu?aus={}&{query}", beleg.id))) { (words) }
                }
                @if !is_cancelled && beleg.storno_von_beleg_id.is_none() {
                    a.button.danger href=(format!("{here}/storno")) { "Stornieren" }
                }
            }
        }
        (missing_of(&beleg, &papiere))
        h2 { "Positionen" } (positions(&beleg))
        (belegfluss::section(request, db, &beleg)?) (chain(request, db, &beleg)?)
        (movements(request, db, beleg.id)?)
        (anhaenge::original(db, Besitzer::Beleg(beleg.id), &here)?)
        (versendet::sent(request, db, beleg.id)?)
        (history(request, db, beleg.id, &here)?)
    };
    Ok(frame::page(request, &beleg.beleg_nummer, body))
}

/// The documents for which something is left of a valid one: the query of each form, and its label.
fn next_documents(db: &Snapshot<'_>, beleg: &Beleg) -> Result<Vec<(&'static str, &'static str)>> {
    if beleg.status == BelegStatus::Storniert || beleg.storno_von_beleg_id.is_some() {
        return Ok(Vec::new());
    }
    let next: &[_] = match (beleg.beleg_typ, beleg.ist_gutschrift) {
        (BelegTyp::An, _) => &[("typ=AU", "Auftrag daraus"), ("typ=LS", "Lieferschein daraus")],
        (BelegTyp::Au, _) => &[("typ=LS", "Lieferschein daraus"), ("typ=RE", "Rechnung daraus")],
        (BelegTyp::Ls, _) => &[("typ=RE", "Rechnung daraus")],
        (BelegTyp::Re, false) => &[("typ=RE&art=korrektur", "Gutschrift dazu")],
        (BelegTyp::Bs, _) => &[("typ=EL", "Lieferung daraus")],
        (BelegTyp::El, _) => {
            &[("typ=ER", "Eingangsrechnung daraus"), ("typ=GS", "Gutschrift an den Lieferanten")]
        }
        (BelegTyp::Er, false) if beleg.is_written_for_supplier() => {
            &[("typ=GS&art=korrektur", "Berichtigung dazu")]
        }
        (BelegTyp::Er, false) => &[("typ=ER&art=korrektur", "Gutschrift dazu")],
        _ => &[],
    };
    let positions = beleg.positionen.as_deref().unwrap_or_default();
    let (typ, takes_back) = (beleg.beleg_typ.gegenstueck(), beleg.beleg_typ.ist_rechnung());
    let typ = typ.filter(|_| !takes_back).unwrap_or(beleg.beleg_typ);
    let left = belege::left_for(&db.tx, beleg, positions, typ, takes_back)?;
    Ok(if belege::is_left(&left) { next.to_vec() } else { Vec::new() })
}

fn missing_of(beleg: &Beleg, papiere: &Papiere) -> Markup {
    let is_invoice =
        [BelegTyp::Re, BelegTyp::Er].contains(&beleg.beleg_typ) && beleg.status != BelegStatus::Offen;
    let erechnung = papiere.erechnung.as_ref().err().filter(|_| is_invoice);
    html! {
        @if let Err(why) = &papiere.pdf { p { "Kein Blatt: " (why) } }
        @if let Some(why) = erechnung { p { "Keine E-Rechnung: " (why) } }
    }
}

fn facts_of(beleg: &Beleg) -> Vec<(&'static str, String)> {
    let foreign = beleg.external_ref.clone().filter(|id| !id.starts_with(WRITTEN_HERE));
    let own = [
        ("beleg_typ", art_of(beleg).to_owned()),
        ("kunden_name", beleg.kunden_name.clone()),
        ("status", beleg.status.as_str().to_owned()),
    ];
    let last = [("external_ref", foreign.unwrap_or_default())];
    let elsewhere = elsewhere([
        "beleg_nummer",
        "ist_gutschrift",
        "rechnungsart",
        "ohne_gegenbeleg",
        "created_at",
        "updated_at",
    ]);
    fields::facts_of(beleg, &[&own[..], &elsewhere, &last].concat())
}

fn positions(beleg: &Beleg) -> Markup {
    let discount = |position: &BelegPosition| match position.rabatt_prozent.is_zero() {
        true => String::new(),
        false => amount(position.rabatt_prozent),
    };
    let positions = beleg.positionen.as_deref().unwrap_or_default();
    let table = table("Positionen", "Dieser Beleg hat keine Positionen.", positions)
        .text("Bezeichnung", |position| or_blank(&position.bezeichnung))
        .numbers("Menge", |position| amount(position.menge))
        .text("Einheit", |position| or_blank(&position.einheit));
    let goes_on = !beleg.beleg_typ.ist_rechnung() && !beleg.ohne_gegenbeleg && beleg.is_live();
    let table = match goes_on {
        true => table.numbers("Offen", |position| optional(position.offen.flatten(), amount)),
        false => table,
    };
    table
        .numbers("Preis netto", |position| price(position.ep_netto))
        .numbers("Rabatt (%)", discount)
        .numbers("Steuer (%)", |position| amount(position.mwst_satz))
        .numbers("Gesamt netto", |position| number(position.gesamtpreis))
        .render()
}

/// The predecessors and successors of a document: documents, weighings, receipts, contracts (D8).
fn chain(request: &PageRequest, db: &Snapshot<'_>, beleg: &Beleg) -> Result<Markup> {
    let glied = |what: &'static str, glied: &Kettenglied| {
        let is = format!("{}, {}", glied.beleg_typ.bezeichnung(), glied.status.as_str());
        [request.page_of("belege", glied.id), glied.beleg_nummer.clone(), what.to_owned(), is]
    };
    let before = beleg.vorgaenger.iter().map(|before| glied("Vorgänger", before));
    let mut rows: Vec<_> =
        before.chain(beleg.nachfolger.iter().flatten().map(|after| glied("Nachfolger", after))).collect();
    let named = |id: fn(&BelegPosition) -> Option<Uuid>| {
        beleg.positionen.iter().flatten().filter_map(id).collect::<BTreeSet<_>>()
    };
    for id in named(|position| position.wiegung_id) {
        let wiegung = waage::found(&db.tx, id)?;
        let net = optional(wiegung.gewicht_netto_kg, |net| format!("{} kg", amount(net)));
        rows.push([request.page_of("wiegungen", id), wiegung.wiegeschein_nr, "Wiegung".to_owned(), net]);
    }
    for id in named(|position| position.kontrakt_id) {
        let number = kontrakte::number(&db.tx, id)?.unwrap_or_default();
        rows.push([request.page_of("kontrakte", id), number, "Kontrakt".to_owned(), String::new()]);
    }
    if let Some(schein) = annahmescheine::find_by_delivery(&db.tx, beleg.id)? {
        let status = schein.status.as_str().to_owned();
        rows.push([
            request.page_of("annahme", schein.id),
            schein.belegnummer,
            "Annahmeschein".to_owned(),
            status,
        ]);
    }
    Ok(html! { @if !rows.is_empty() {
        h2 { "Zusammenhang" }
        (linked("Zusammenhang", "", &rows, |[to, ..]: &[String; 4]| to.clone())
            .text("Nummer", |[_, number, ..]| number.clone())
            .text("Was", |[_, _, what, _]| what.clone())
            .text("Stand", |[.., is]| is.clone()))
    } })
}

fn movements(request: &PageRequest, db: &Snapshot<'_>, id: Uuid) -> Result<Markup> {
    let moved = herkunft::moved_by_document(&db.tx, id)?;
    let to = |moved: &Umschlag| optional(moved.charge.as_ref(), |(id, _)| request.page_of("chargen", id));
    let number = |moved: &Umschlag| {
        moved.charge.as_ref().map_or_else(|| "ohne Charge".to_owned(), |(_, number)| number.clone())
    };
    Ok(html! { @if !moved.is_empty() {
        h2 { "Lagerbewegungen" }
        (linked("Lagerbewegungen", "", &moved, to)
            .text("Charge", number)
            .text("Artikel", |moved| moved.artikel.clone())
            .numbers("Menge", |moved| signed(moved.menge))
            .text("Einheit", |moved| or_blank(&moved.einheit)))
    } })
}

fn history(request: &PageRequest, db: &Snapshot<'_>, id: Uuid, here: &str) -> Result<Markup> {
    let Records { rows, count } = belege::steps(&db.tx, id, lists::page_of(request))?;
    let named = named(request, db, rows, |step| step.key_id.as_deref())?;
    Ok(html! {
        h2 { "Verlauf" }
        (table("Was geschah, das Neueste zuerst", "Seit dem Anlegen ist nichts geändert worden.", &named)
            .text("Wann", |(step, _)| moment(step.am))
            .text("Was geschah", |(step, _)| step.aktion.in_words().to_owned())
            .text("Wer", |(_, who)| who.clone()))
        @if count > i64::from(ROWS) { (pager(request, here, count)) }
    })
}

pub fn pdf(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let is_open = belege::found(&db.tx, request.uuid(0)?)?.status == BelegStatus::Offen;
    request.file_of(db, if is_open { "belege/{id}/pdf?vorschau=true" } else { "belege/{id}/pdf" })
}

pub fn attachment(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    anhaenge::download(request, db, Besitzer::Beleg(belege::found(&db.tx, request.uuid(0)?)?.id))
}

pub fn show_cancel(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::found(&db.tx, request.uuid(0)?)?;
    let what = html! {
        "Was " (beleg.beleg_nummer) " im Lager gebucht hat, wird zurückgebucht. Eine abgeschlossene Rechnung "
        "bekommt einen Stornobeleg mit eigener Nummer. Rückgängig machen lässt sich das nicht."
    };
    storno::show(request, "Beleg stornieren", Some(beleg.version), what)
}

pub fn cancel(request: &PageRequest) -> Result<FirmaChange> {
    storno::send(request, Method::Post, "belege", "belege", "Der Beleg ist storniert.")
}
