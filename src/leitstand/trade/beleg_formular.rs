//! The form of a document: a new one, one made from another or from a weighing, and the change of one that is open.
//!
//! It works in steps, each of which shows it again: what is meant is chosen, a position taken out, the whole tried. Where
//! the browser runs scripts it is tried while one types, and only what came of it is put in place.

use std::collections::BTreeSet;
use std::sync::Arc;

use maud::{Markup, html};
use serde_json::json;
use uuid::Uuid;

use super::beleg_zeile::{CHOICES, FOUND, Row, articles_found, hints, meant_by, outcome, row, text_of};
use super::entwurf::{self, ARTIKEL, HEAD_NUMBERS, PARTNER, ROWS_MAX, name};
use super::vorlage::{self, Fields};
use crate::goods::kontrakte;
use crate::leitstand::kit::done::{Done, FirmaChange, PREVIEW, TRY, tried_with};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{Ask, Snapshot};
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

/// What a new document is called in the address: its type, or GS, the Gutschrift that the company writes for its supplier.
const GUTSCHRIFT: &str = "GS";

/// The field of a new document by which a form that is sent twice is known again, and its external_ref.
const ONCE: &str = "einmal";
pub const WRITTEN_HERE: &str = "leitstand-";

fn typ_in(ask: &Ask) -> Option<BelegTyp> {
    match ask.param("typ") {
        GUTSCHRIFT => Some(BelegTyp::Er),
        typ => BelegTyp::parse(typ),
    }
}

pub fn show_new(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let Some(typ) = typ_in(ask) else { return Ok(frame::page(ask, "Neuer Beleg", kinds(ask))) };
    let is_gutschrift = ask.param("typ") == GUTSCHRIFT;
    let title = match (is_gutschrift, typ.seite(), typ.lagerrolle()) {
        (true, ..) => "Gutschrift schreiben".to_owned(),
        (_, Seite::Einkauf, Lagerrolle::Lieferung | Lagerrolle::Rechnung) => {
            format!("{} erfassen", typ.bezeichnung())
        }
        _ => format!("{} schreiben", typ.bezeichnung()),
    };
    let ask = match ask.is_sent("token") {
        true => stepped(ask, db)?,
        false => filled_in(ask, vorlage::of_query(ask, db, typ)?),
    };
    let inside = html! { (made_from(&ask, ONCE, Uuid::now_v7())) (inside(&ask, db, typ, typ != BelegTyp::Er || is_gutschrift)?) };
    let form = form(&ask, inside, "Speichern", false);
    Ok(frame::steps_page(&ask, &title, with_way_back(form, ask.of_firma("belege"))))
}

/// The kinds of documents, each with its form.
fn kinds(ask: &Ask) -> Markup {
    let to = |typ: &str| ask.of_firma(&format!("belege/neu?typ={typ}"));
    let of = |seite: Seite| BelegTyp::ALL.iter().filter(move |typ| typ.seite() == seite);
    html! {
        @for (title, seite) in [("Verkauf", Seite::Verkauf), ("Einkauf", Seite::Einkauf)] {
            h2 { (title) }
            p.actions {
                @for typ in of(seite) { a.button href=(to(typ.as_str())) { (typ.bezeichnung()) } }
                @if seite == Seite::Einkauf { a.button href=(to(GUTSCHRIFT)) { "Gutschrift an einen Lieferanten" } }
            }
        }
        p { "Was aus einem anderen Beleg folgt, die Rechnung zum Lieferschein etwa, beginnt am besten auf dessen Seite, und was gewogen wurde, auf der Seite der Wiegung: Dann steht schon alles da." }
    }
}

pub fn create(ask: &Ask) -> Result<FirmaChange> {
    let ask = ask.clone();
    Ok(Box::new(move |tx| write(&ask, tx, None)))
}

pub fn show_change(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let beleg = belege::with_positions(&db.tx, ask.uuid(0)?)?;
    let back = ask.page_of("belege", beleg.id);
    let title = format!("{} ändern", beleg.beleg_nummer);
    let positions = beleg.positionen.as_ref().map_or(0, Vec::len);
    if beleg.status != BelegStatus::Offen || positions > ROWS_MAX {
        let why = match beleg.status {
            BelegStatus::Offen => format!(
                "{positions} Positionen sind für diese Seite zu viele ({ROWS_MAX} gehen). Ihn ändert das Programm, das ihn geschrieben hat."
            ),
            status => format!("Der Beleg ist {}; ändern geht nur, solange er offen ist.", status.as_str()),
        };
        return Ok(frame::page(
            ask,
            &title,
            html! { p.refused role="alert" { (why) } p { a href=(back) { "Zum Beleg" } } },
        ));
    }
    let ask = match ask.is_sent("token") {
        true => stepped(ask, db)?,
        false => filled_in(ask, vorlage::of_beleg(db, &beleg)?),
    };
    let has_sheet = beleg.beleg_typ != BelegTyp::Er || beleg.is_written_for_supplier();
    let inside = inside(&ask, db, beleg.beleg_typ, has_sheet)?;
    let inside = html! { (made_from(&ask, "version", beleg.version)) (inside) };
    let form = form(&ask, inside, "Speichern", false);
    Ok(frame::steps_page(&ask, &title, with_way_back(form, back)))
}

pub fn change(ask: &Ask) -> Result<FirmaChange> {
    let (id, ask) = (ask.uuid(0)?, ask.clone());
    Ok(Box::new(move |tx| write(&ask, tx, Some(id))))
}

/// Writes what the form says, or only tries it.
fn write(ask: &Ask, tx: &WriteTx<'_>, id: Option<Uuid>) -> Result<Done> {
    let Some(step) = ask.step() else { return stored(ask, tx, id) };
    tried_with(tx, || {
        let done = stored(ask, tx, id)?;
        let beleg = belege::with_positions(tx, done.subject.unwrap_or_default())?;
        let sheet = match step == PREVIEW {
            true => Some(
                belege::draft(tx, &beleg, id.is_some()).map_err(|failure| entwurf::refused(ask, failure))?,
            ),
            false => None,
        };
        let sheet = sheet.map(Box::new);
        Ok((json!({"beleg": beleg, "hinweise": done.answer["hinweise"]}), sheet))
    })
}

fn stored(ask: &Ask, tx: &WriteTx<'_>, id: Option<Uuid>) -> Result<Done> {
    let old = id.map(|id| belege::with_positions(tx, id)).transpose()?;
    let mut body = entwurf::body(ask, tx, old.as_ref())?;
    let (method, path, note) = match id {
        Some(id) => (Method::Put, format!("/api/v1/belege/{id}"), "Der Beleg ist geändert."),
        None => (Method::Post, "/api/v1/belege".to_owned(), "Der Beleg ist gespeichert; er ist noch offen."),
    };
    if let (None, Some(typ)) = (id, typ_in(ask)) {
        // The same form twice is one document; what is only tried is another one.
        let nummer = ask.filled(ONCE).and_then(parse_uuid).filter(|_| ask.step().is_none());
        body["external_ref"] = json!(nummer.map(|nummer| format!("{WRITTEN_HERE}{nummer}")));
        body["beleg_typ"] = json!(typ.as_str());
        body["gutschrift"] = json!(ask.param("typ") == GUTSCHRIFT);
    }
    let in_form = |failure| entwurf::refused(ask, failure);
    let write = ask.change(method, &path, &body, ask.of_firma("belege/{id}"), note).map_err(in_form)?;
    write(tx).map_err(in_form)
}

fn filled_in(ask: &Ask, fields: Fields) -> Ask {
    let mut ask = ask.clone();
    ask.form.fields = fields;
    ask
}

/// The form as it stands after the step that was asked for, and with what can only be meant.
fn stepped(ask: &Ask, db: &Snapshot<'_>) -> Result<Ask> {
    let mut ask = ask.clone();
    let step = ask.step().unwrap_or_default().to_owned();
    let (what, value) = step.split_once('=').unwrap_or((&step, ""));
    match (what, value.split_once('=')) {
        ("weg", _) => take_out(&mut ask, value),
        (PARTNER, _) => choose_partner(
            &mut ask,
            parse_uuid(value).map(|id| kunden::find(&db.tx, id)).transpose()?.flatten(),
        ),
        (ARTIKEL, Some((at, id))) => {
            let found = parse_uuid(id).map(|id| artikel::find(&db.tx, id)).transpose()?.flatten();
            choose_artikel(&mut ask, at.parse().unwrap_or(ROWS_MAX), found.as_deref());
        }
        _ => {}
    }
    let meant = match entwurf::partner(&ask, &db.tx)? {
        Some(known) => Some(known),
        None => only(partners_found(&ask, db)?.rows),
    };
    choose_partner(&mut ask, meant);
    for at in entwurf::rows(&ask) {
        let meant = match entwurf::artikel(&ask, &db.tx, at)? {
            Some(known) => Some(known),
            None => only(articles_found(&ask, db, at)?.rows).map(|row| Arc::new(row.artikel)),
        };
        choose_artikel(&mut ask, at, meant.as_deref());
    }
    Ok(ask)
}

fn only<T>(mut found: Vec<T>) -> Option<T> {
    found.pop().filter(|_| found.is_empty())
}

fn set(ask: &mut Ask, fields: Option<Fields>) {
    for field in fields.into_iter().flatten() {
        ask.form.fields.retain(|(known, _)| *known != field.0);
        ask.form.fields.push(field);
    }
}

fn choose_partner(ask: &mut Ask, kunde: Option<Kunde>) {
    set(ask, kunde.map(|kunde| vorlage::partner(&kunde)));
}

fn choose_artikel(ask: &mut Ask, at: usize, artikel: Option<&Artikel>) {
    set(ask, artikel.map(|artikel| vorlage::artikel(at, artikel)));
}

/// Takes a row out; those behind it move up.
fn take_out(ask: &mut Ask, at: &str) {
    let Ok(gone) = at.parse::<usize>() else { return };
    let fields = std::mem::take(&mut ask.form.fields);
    let moved = fields.into_iter().filter_map(|(field, value)| match entwurf::parts(&field) {
        Some((at, _)) if at == gone => None,
        Some((at, rest)) if at > gone => Some((name(at - 1, rest), value)),
        _ => Some((field, value)),
    });
    ask.form.fields = moved.collect();
}

fn partners_found(ask: &Ask, db: &Snapshot<'_>) -> Result<Records<Kunde>> {
    match ask.filled(PARTNER) {
        Some(typed) => kunden::list(&db.tx, &kunden::Auswahl::of_search(Some(typed)), FOUND),
        None => Ok(Records::empty(0)),
    }
}

/// All that the form shows, the fields and what came of them where it was tried.
fn inside(ask: &Ask, db: &Snapshot<'_>, typ: BelegTyp, has_sheet: bool) -> Result<Markup> {
    let filled: Vec<_> = entwurf::rows(ask).into_iter().collect();
    let shown = filled.last().map_or(1, |last| last + 2).min(ROWS_MAX);
    let partner = entwurf::partner(ask, &db.tx)?;
    let kontrakte = match &partner {
        Some(partner) => kontrakte::open_of(&db.tx, partner.id, CHOICES)?,
        None => Vec::new(),
    };
    let wanted = wanted_rows(ask);
    let one = |at| {
        let is_whole = !filled.contains(&at) || wanted.as_ref().is_none_or(|wanted| wanted.contains(&at));
        let of = Row { at, typ, kontrakte: &kontrakte, filled: &filled };
        if is_whole { row(ask, db, &of) } else { outcome(ask, db, &of) }
    };
    let rows = (0..shown).map(one).collect::<Result<Vec<_>>>()?;
    let names: Vec<&str> = ask.form.fields.iter().map(|(name, _)| name.as_str()).collect();
    Ok(html! {
        // What the key Enter presses.
        button.unseen type="submit" name="schritt" value=(TRY) tabindex="-1" aria-hidden="true" { "Prüfen" }
        (refusal(ask, &names))
        (head(ask, db, typ, partner.as_ref())?)
        p.soft { "Partner und Artikel findet man mit Nummer oder Name, Artikel auch mit der EAN. Was leer bleibt (Einheit, Preis, Steuer), kommt von selbst." }
        @for row in &rows { (row) }
        @if shown == filled.len() { p { "Mehr als " (ROWS_MAX) " Positionen gehen hier nicht. Bitte auf mehrere Belege verteilen." } }
        details { summary { "Zahlungsziel, Skonto, Notizen" }
            div.fields {
                @for (name, label) in HEAD_NUMBERS.into_iter().zip(["Zahlungsziel (Tage)", "Skonto (Tage)", "Skonto (%)"]) { (field(ask, name, label, "text", "", "off")) }
                (field(ask, "kontaktperson", "Ansprechpartner", "text", "", "off"))
            }
            (lines(ask, "notizen", "Notizen", ""))
        }
        @if let Some(id) = ask.filled("vorgaenger_beleg_id") { input type="hidden" name="vorgaenger_beleg_id" value=(id); }
        (sums(ask, &filled))
        p { button.second type="submit" name="schritt" value=(TRY) { "Prüfen" } " rechnet und zeigt Hinweise, ohne zu speichern." }
        @if has_sheet {
            p { button.second type="submit" name="schritt" value=(PREVIEW) formtarget="_blank" { "Vorschau des Blatts" } " zeigt es als Entwurf in einem neuen Fenster, ohne zu speichern." }
        }
    })
}

/// The rows that a script wants whole, which says in `zeilen` where something was typed since it last asked; those that are
/// refused besides. Of the others it is told what they come to: with all that can be chosen in each, a hundred rows would be
/// hundreds of KB at each pause. None: all of them.
fn wanted_rows(ask: &Ask) -> Option<BTreeSet<usize>> {
    if !ask.is_sent("zeilen") {
        return None;
    }
    let typed = ask.field("zeilen").split(',').filter_map(|at| at.parse().ok());
    let refused = ask.refusal.iter().flat_map(|refusal| {
        let fields =
            refusal.fehler.iter().map(|mistake| mistake.feld.as_str()).chain(refusal.feld.as_deref());
        fields.filter_map(entwurf::parts).map(|(at, _)| at)
    });
    Some(typed.chain(refused).collect())
}

/// Partner and days.
fn head(ask: &Ask, db: &Snapshot<'_>, typ: BelegTyp, partner: Option<&Kunde>) -> Result<Markup> {
    let label = if typ.seite() == Seite::Verkauf { "Kunde" } else { "Lieferant" };
    let found = if partner.is_some() { Records::empty(0) } else { partners_found(ask, db)? };
    let one = |kunde: &Kunde| {
        let town = joined([&kunde.plz, &kunde.ort], " ");
        (format!("{PARTNER}={}", kunde.id), joined([&Some(vorlage::label_of(kunde)), &Some(town)], ", "))
    };
    let meant = partner.map(|partner| (partner.id, partner.name.as_str()));
    Ok(html! {
        fieldset.fields.head { legend { "Kopf" }
            div { (field(ask, PARTNER, label, "text", "", "off")) (meant_by(ask, PARTNER, meant, &found, one)) }
            (field(ask, "beleg_datum", "Belegdatum", "date", "", "off"))
            @if typ.lagerrolle() == Lagerrolle::Keine { (field(ask, "liefertermin", "Liefertermin", "date", "", "off")) }
            @else { (field(ask, "lieferdatum", "Lieferdatum", "date", "", "off")) }
            @if typ == BelegTyp::An { (field(ask, "gueltig_bis", "Gültig bis", "date", "", "off")) }
            @if typ == BelegTyp::Er { (field(ask, "fremdbelegnummer", "Nummer des Lieferanten", "text", "", "off")) }
        }
    })
}

/// What the document comes to, and what there is to say of it as a whole.
fn sums(ask: &Ask, filled: &[usize]) -> Markup {
    let tried = ask.tried.as_ref().map(|tried| &tried["beleg"]);
    html! {
        div id="summe" data-rechnet-teil aria-live="polite" {
            @if let Some(beleg) = tried {
                dl { @for (label, field) in [("Netto (EUR)", "summe_netto"), ("Steuer (EUR)", "summe_mwst"), ("Brutto (EUR)", "summe_brutto")] {
                    div { dt { (label) } dd { strong { (number(text_of(beleg, field))) } } }
                } }
            } @else if let Some(refusal) = &ask.refusal {
                @let row = refusal.feld.as_deref().and_then(entwurf::parts).map(|(at, _)| format!("Position {}: ", at + 1));
                p.soft { "Noch nicht vollständig. " (row.unwrap_or_default()) (refusal.message) }
            }
            @else { p.soft { "Die Summen stehen hier nach „Prüfen“." } }
            @for (_, message) in hints(ask, filled).filter(|(field, _)| !field.starts_with("items[")) { p.hinweis { (message) } }
        }
    }
}
