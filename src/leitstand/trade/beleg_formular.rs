//! The form of a document: a new one, one made from another or from a weighing, and the change of an open
//! one.
//!
//! It works in steps, each of which shows the form again: choosing what is meant, removing a position, trying
//! the whole. If the browser runs scripts, the form is tried while the person types, and only the results are
//! replaced.

use std::collections::BTreeSet;
use std::sync::Arc;

use maud::{Markup, html};
use serde_json::json;
use uuid::Uuid;

use super::beleg_zeile::{CHOICES, FOUND, Row, articles_found, hints, meant_by, outcome, row, text_of};
use super::entwurf::{self, ARTIKEL, HEAD_NUMBERS, PARTNER, ROWS_MAX, name};
use super::sammelrechnung;
use super::vorlage::{self, Fields, LEFT_OUT};
use crate::goods::kontrakte;
use crate::leitstand::kit::done::{Done, FirmaChange, PREVIEW, Response, TRY, tried_with};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{field, form, joined, lines, made_from, number, refusal, with_way_back};
use crate::master::artikel::{self, Artikel};
use crate::master::kunden::{self, Kunde};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::{PageOf, Records};
use crate::rules::choice::Choice;
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle, Seite};
use crate::rules::verweis::parse_uuid;
use crate::trade::belege;

/// The `typ` in the address of a new Gutschrift, which the company writes for its supplier; other documents
/// use their type.
const GUTSCHRIFT: &str = "GS";

/// The field that identifies the form of a new document, so that sending it twice creates one document; and
/// the prefix of its external_ref.
const ONCE: &str = "einmal";
pub const WRITTEN_HERE: &str = "leitstand-";

fn typ_in(request: &PageRequest) -> Option<BelegTyp> {
    match request.param("typ") {
        GUTSCHRIFT => Some(BelegTyp::Er),
        typ => BelegTyp::parse(typ),
    }
}

pub fn show_new(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let Some(typ) = typ_in(request) else { return Ok(frame::page(request, "Neuer Beleg", kinds(request))) };
    let is_gutschrift = request.param("typ") == GUTSCHRIFT;
    let title = match (is_gutschrift, typ.seite(), typ.lagerrolle()) {
        (true, ..) => "Gutschrift schreiben".to_owned(),
        (_, Seite::Einkauf, Lagerrolle::Lieferung | Lagerrolle::Rechnung) => {
            format!("{} erfassen", typ.bezeichnung())
        }
        _ => format!("{} schreiben", typ.bezeichnung()),
    };
    let request = match request.is_sent("token") {
        true => stepped(request, db)?,
        false => filled_in(request, vorlage::of_query(request, db, typ)?),
    };
    let inside = html! {
        (made_from(&request, ONCE, Uuid::now_v7()))
        (inside(&request, db, typ, typ != BelegTyp::Er || is_gutschrift)?)
    };
    let form = form(&request, inside, "Speichern", false);
    Ok(frame::steps_page(&request, &title, with_way_back(form, request.of_firma("belege"))))
}

/// The kinds of documents, each with a link to its form.
fn kinds(request: &PageRequest) -> Markup {
    let to = |typ: &str| request.of_firma(&format!("belege/neu?typ={typ}"));
    let of = |seite: Seite| BelegTyp::ALL.iter().filter(move |typ| typ.seite() == seite);
    html! {
        @for (title, seite) in [("Verkauf", Seite::Verkauf), ("Einkauf", Seite::Einkauf)] {
            h2 { (title) }
            p.actions {
                @for typ in of(seite) { a.button href=(to(typ.as_str())) { (typ.bezeichnung()) } }
                @if seite == Seite::Einkauf { a.button href=(to(GUTSCHRIFT)) { "Gutschrift an einen Lieferanten" } }
            }
        }
        p {
            "Was aus einem anderen Beleg folgt, die Rechnung zum Lieferschein etwa, beginnt am besten auf \
             dessen Seite, und was gewogen wurde, auf der Seite der Wiegung: Dann steht schon alles da. Mehrere \
             Lieferungen auf einer Rechnung: "
            a href=(sammelrechnung::address(request, BelegTyp::Re, None)) { "an einen Kunden" } ", "
            a href=(sammelrechnung::address(request, BelegTyp::Er, None)) { "von einem Lieferanten" } "."
        }
    }
}

pub fn create(request: &PageRequest) -> Result<FirmaChange> {
    let request = request.clone();
    Ok(Box::new(move |tx| write(&request, tx, None)))
}

pub fn show_change(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::with_positions(&db.tx, request.uuid(0)?)?;
    let back = request.page_of("belege", beleg.id);
    let title = format!("{} ändern", beleg.beleg_nummer);
    let positions = beleg.positionen.as_ref().map_or(0, Vec::len);
    if beleg.status != BelegStatus::Offen || positions > ROWS_MAX {
        let why = match beleg.status {
            BelegStatus::Offen => format!(
                "{positions} Positionen sind für diese Seite zu viele ({ROWS_MAX} gehen). Ihn ändert das \
                 Programm, das ihn geschrieben hat."
            ),
            status => format!("Der Beleg ist {}; ändern geht nur, solange er offen ist.", status.as_str()),
        };
        return Ok(frame::page(
            request,
            &title,
            html! { p.refused role="alert" { (why) } p { a href=(back) { "Zum Beleg" } } },
        ));
    }
    let request = match request.is_sent("token") {
        true => stepped(request, db)?,
        false => filled_in(request, vorlage::of_beleg(db, &beleg)?),
    };
    let has_sheet = beleg.beleg_typ != BelegTyp::Er || beleg.is_written_for_supplier();
    let inside = inside(&request, db, beleg.beleg_typ, has_sheet)?;
    let inside = html! { (made_from(&request, "version", beleg.version)) (inside) };
    let form = form(&request, inside, "Speichern", false);
    Ok(frame::steps_page(&request, &title, with_way_back(form, back)))
}

pub fn change(request: &PageRequest) -> Result<FirmaChange> {
    let (id, request) = (request.uuid(0)?, request.clone());
    Ok(Box::new(move |tx| write(&request, tx, Some(id))))
}

/// Writes the document of the form, or only tries it.
fn write(request: &PageRequest, tx: &WriteTx<'_>, id: Option<Uuid>) -> Result<Done> {
    let Some(step) = request.step() else { return stored(request, tx, id) };
    tried_with(tx, || {
        let done = stored(request, tx, id)?;
        let beleg = belege::with_positions(tx, done.subject.unwrap_or_default())?;
        if step == PREVIEW {
            let sheet = belege::draft(tx, &beleg, id.is_some());
            return Ok(Response::Sheet(Box::new(
                sheet.map_err(|failure| entwurf::refused(request, failure))?,
            )));
        }
        Ok(Response::Tried(Ok(json!({"beleg": beleg, "hinweise": done.answer["hinweise"]}))))
    })
}

fn stored(request: &PageRequest, tx: &WriteTx<'_>, id: Option<Uuid>) -> Result<Done> {
    let old = id.map(|id| belege::with_positions(tx, id)).transpose()?;
    let mut body = entwurf::body(request, tx, old.as_ref())?;
    let (method, path, note) = match id {
        Some(id) => (Method::Put, format!("/api/v1/belege/{id}"), "Der Beleg ist geändert."),
        None => (Method::Post, "/api/v1/belege".to_owned(), "Der Beleg ist gespeichert; er ist noch offen."),
    };
    if let (None, Some(typ)) = (id, typ_in(request)) {
        // A form sent twice makes one document; a trial has no external_ref, so that it is never taken for
        // the document.
        let nummer = request.filled(ONCE).and_then(parse_uuid).filter(|_| request.step().is_none());
        body["external_ref"] = json!(nummer.map(|nummer| format!("{WRITTEN_HERE}{nummer}")));
        body["beleg_typ"] = json!(typ.as_str());
        body["gutschrift"] = json!(request.param("typ") == GUTSCHRIFT);
    }
    let in_form = |failure| entwurf::refused(request, failure);
    let write =
        request.change(method, &path, &body, request.of_firma("belege/{id}"), note).map_err(in_form)?;
    write(tx).map_err(in_form)
}

fn filled_in(request: &PageRequest, fields: Fields) -> PageRequest {
    let mut request = request.clone();
    request.form.fields = fields;
    request
}

/// The form after the requested step, with partner and articles chosen if only one record matches the typed
/// words.
fn stepped(request: &PageRequest, db: &Snapshot<'_>) -> Result<PageRequest> {
    let mut request = request.clone();
    let step = request.step().unwrap_or_default().to_owned();
    let (what, value) = step.split_once('=').unwrap_or((&step, ""));
    match (what, value.split_once('=')) {
        ("weg", _) => take_out(&mut request, value),
        (PARTNER, _) => choose_partner(
            &mut request,
            parse_uuid(value).map(|id| kunden::find(&db.tx, id)).transpose()?.flatten(),
        ),
        (ARTIKEL, Some((at, id))) => {
            let found = parse_uuid(id).map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
            choose_artikel(&mut request, at.parse().unwrap_or(ROWS_MAX), found.as_deref());
        }
        _ => {}
    }
    let meant = match entwurf::partner(&request, &db.tx)? {
        Some(known) => Some(known),
        None => only(partners_found(&request, db)?.rows),
    };
    choose_partner(&mut request, meant);
    for at in entwurf::rows(&request) {
        let meant = match entwurf::artikel(&request, &db.tx, at)? {
            Some(known) => Some(known),
            None => only(articles_found(&request, db, at)?.rows).map(|row| Arc::new(row.artikel)),
        };
        choose_artikel(&mut request, at, meant.as_deref());
    }
    Ok(request)
}

fn only<T>(mut found: Vec<T>) -> Option<T> {
    found.pop().filter(|_| found.is_empty())
}

fn set(request: &mut PageRequest, fields: Option<Fields>) {
    for field in fields.into_iter().flatten() {
        request.form.fields.retain(|(known, _)| *known != field.0);
        request.form.fields.push(field);
    }
}

fn choose_partner(request: &mut PageRequest, kunde: Option<Kunde>) {
    set(request, kunde.map(|kunde| vorlage::partner(&kunde)));
}

fn choose_artikel(request: &mut PageRequest, at: usize, artikel: Option<&Artikel>) {
    set(request, artikel.map(|artikel| vorlage::artikel(at, artikel)));
}

/// Removes a row; those after it move up.
fn take_out(request: &mut PageRequest, at: &str) {
    let Ok(gone) = at.parse::<usize>() else { return };
    let fields = std::mem::take(&mut request.form.fields);
    let moved = fields.into_iter().filter_map(|(field, value)| match entwurf::parts(&field) {
        Some((at, _)) if at == gone => None,
        Some((at, rest)) if at > gone => Some((name(at - 1, rest), value)),
        _ => Some((field, value)),
    });
    request.form.fields = moved.collect();
}

fn partners_found(request: &PageRequest, db: &Snapshot<'_>) -> Result<Records<Kunde>> {
    let auswahl = kunden::Auswahl { suche: request.filled(PARTNER), ..kunden::Auswahl::default() };
    if auswahl.suche.is_some() { kunden::list(&db.tx, &auswahl, FOUND) } else { Ok(Records::empty(0)) }
}

/// The content of the form: its fields, and their results if it was tried. The first button is the one that the
/// Enter key presses.
fn inside(request: &PageRequest, db: &Snapshot<'_>, typ: BelegTyp, has_sheet: bool) -> Result<Markup> {
    let filled: Vec<_> = entwurf::rows(request).into_iter().collect();
    let shown = filled.last().map_or(1, |last| last + 2).min(ROWS_MAX);
    let partner = entwurf::partner(request, &db.tx)?;
    let kontrakte = match &partner {
        Some(partner) => kontrakte::open_of(&db.tx, partner.id, CHOICES)?,
        None => Vec::new(),
    };
    let wanted = wanted_rows(request);
    let one = |at| {
        let is_whole = !filled.contains(&at) || wanted.as_ref().is_none_or(|wanted| wanted.contains(&at));
        let of = Row { at, typ, kontrakte: &kontrakte, filled: &filled };
        if is_whole { row(request, db, &of) } else { outcome(request, db, &of) }
    };
    let rows = (0..shown).map(one).collect::<Result<Vec<_>>>()?;
    let names: Vec<&str> = request.form.fields.iter().map(|(name, _)| name.as_str()).collect();
    Ok(html! {
        button.unseen type="submit" name="schritt" value=(TRY) tabindex="-1" aria-hidden="true" { "Prüfen" }
        (refusal(request, &names)) (head(request, db, typ, partner.as_ref())?)
        p.soft { "Partner und Artikel findet man mit Nummer oder Name, Artikel auch mit der EAN. Was leer bleibt \
             (Einheit, Preis, Steuer), kommt von selbst." }
        @for row in &rows { (row) } @if shown == filled.len() { p { "Mehr als " (ROWS_MAX)
            " Positionen gehen hier nicht. Bitte auf mehrere Belege verteilen." } }
        details { summary { "Zahlungsziel, Skonto, Notizen" } div.fields {
            @for (name, label) in
                HEAD_NUMBERS.into_iter().zip(["Zahlungsziel (Tage)", "Skonto (Tage)", "Skonto (%)"])
            { (field(request, name, label, "text", "", "off")) }
            (field(request, "kontaktperson", "Ansprechpartner", "text", "", "off"))
        } (lines(request, "notizen", "Notizen", "")) }
        (origin(request))
        (sums(request, &filled))
        p { button.second type="submit" name="schritt" value=(TRY) { "Prüfen" }
            " rechnet und zeigt Hinweise, ohne zu speichern." }
        @if has_sheet { p {
            button.second type="submit" name="schritt" value=(PREVIEW) formtarget="_blank" { "Vorschau des Blatts" }
            " zeigt es als Entwurf in einem neuen Fenster, ohne zu speichern."
        } }
    })
}

/// What the document was made from, and the documents in the address of which the form has no rows.
fn origin(request: &PageRequest) -> Markup {
    html! {
        @if let Some(numbers) = request.filled(LEFT_OUT) {
            input type="hidden" name=(LEFT_OUT) value=(numbers);
            p.hinweis { "Hier passen " (ROWS_MAX) " Positionen eines Partners. Nicht dabei: " (numbers) "." }
        }
        @if let Some(id) = request.filled("vorgaenger_beleg_id") {
            input type="hidden" name="vorgaenger_beleg_id" value=(id);
        }
    }
}

/// The rows that a script needs in full: those typed in since its last request, listed in `zeilen`, and the
/// refused ones. The others send only results: with all options, a hundred rows would be hundreds of KB each time
/// the typing pauses. `None`: all rows.
fn wanted_rows(request: &PageRequest) -> Option<BTreeSet<usize>> {
    if !request.is_sent("zeilen") {
        return None;
    }
    let typed = request.field("zeilen").split(',').filter_map(|at| at.parse().ok());
    let refused = request.refusal.iter().flat_map(|refusal| {
        let fields =
            refusal.fehler.iter().map(|mistake| mistake.feld.as_str()).chain(refusal.feld.as_deref());
        fields.filter_map(entwurf::parts).map(|(at, _)| at)
    });
    Some(typed.chain(refused).collect())
}

/// Partner and dates.
fn head(request: &PageRequest, db: &Snapshot<'_>, typ: BelegTyp, partner: Option<&Kunde>) -> Result<Markup> {
    let label = if typ.seite() == Seite::Verkauf { "Kunde" } else { "Lieferant" };
    let found = if partner.is_some() { Records::empty(0) } else { partners_found(request, db)? };
    let one = |kunde: &Kunde| {
        let town = joined([&kunde.plz, &kunde.ort], " ");
        (format!("{PARTNER}={}", kunde.id), joined([&Some(vorlage::label_of(kunde)), &Some(town)], ", "))
    };
    let meant = partner.map(|partner| (partner.id, partner.name.as_str()));
    Ok(html! {
        fieldset.fields.head { legend { "Kopf" }
            div { (field(request, PARTNER, label, "text", "", "off")) (meant_by(request, PARTNER, meant, &found, one)) }
            (field(request, "beleg_datum", "Belegdatum", "date", "", "off"))
            @if typ.lagerrolle() == Lagerrolle::Keine {
                (field(request, "liefertermin", "Liefertermin", "date", "", "off"))
            }
            @else { (field(request, "lieferdatum", "Lieferdatum", "date", "", "off")) }
            @if typ == BelegTyp::An { (field(request, "gueltig_bis", "Gültig bis", "date", "", "off")) }
            @if typ == BelegTyp::Er {
                (field(request, "fremdbelegnummer", "Nummer des Lieferanten", "text", "", "off"))
            }
        }
    })
}

/// The sums of the document, and the hints about it as a whole.
fn sums(request: &PageRequest, filled: &[usize]) -> Markup {
    let tried = request.tried.as_ref().map(|tried| &tried["beleg"]);
    html! {
        div id="summe" data-rechnet-teil aria-live="polite" {
            @if let Some(beleg) = tried {
                dl {
                    @for (label, field) in [
                        ("Netto (EUR)", "summe_netto"),
                        ("Steuer (EUR)", "summe_mwst"),
                        ("Brutto (EUR)", "summe_brutto")
                    ] {
                        div { dt { (label) } dd { strong { (number(text_of(beleg, field))) } } }
                    }
                }
            } @else if let Some(refusal) = &request.refusal {
                @let row = refusal
                    .feld
                    .as_deref()
                    .and_then(entwurf::parts)
                    .map(|(at, _)| format!("Position {}: ", at + 1));
                p.soft { "Noch nicht vollständig. " (row.unwrap_or_default()) (refusal.message) }
            }
            @else { p.soft { "Die Summen stehen hier nach „Prüfen“." } }
            @for (_, message) in hints(request, filled).filter(|(field, _)| !field.starts_with("items[")) {
                p.hinweis { (message) }
            }
        }
    }
}
