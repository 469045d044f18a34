//! Documents: the list with its search, one with positions and history, its sheet and e-invoice, and its end.

use maud::{Markup, html};
use serde_json::{Value, json};
use uuid::Uuid;

use super::akteure::Akteure;
use super::lists::{self, Sorting};
use super::page::{Ask, Change, Seen, VERSION, encoded};
use super::parts::{
    Cells, Column, ROWS, amount_of, choice, day_of, facts, field, form, made_from, moment, number_of, pager,
    price_of, refusal, signed, table, text,
};
use super::{anhaenge, frame};
use crate::artikel;
use crate::belege::{self, Papiere, Schritt};
use crate::failure::{Failure, Result};
use crate::herkunft::{self, Umschlag};
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::choice::Choice;
use crate::rules::document::{BelegStatus, BelegTyp, Rechnungsart};
use crate::rules::verweis::parse_uuid;

/// The columns of a list of documents.
pub const COLUMNS: [Column; 6] = [
    Column("Nummer", false),
    Column("Art", false),
    Column("Datum", false),
    Column("Partner", false),
    Column("Status", false),
    Column("Brutto (EUR)", true),
];

/// GET /leitstand/f/{firma}/belege
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/belege?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["suche", "typ", "status", "von", "bis", "artikel_id", "kunden_id", "sortierung"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let found = ask.get(seen, &path)?;
    let row = |beleg: &Value| Cells(ask.of_firma(&format!("belege/{}", text(beleg, "id"))), cells_of(beleg));
    let rows: Vec<_> = found["data"].as_array().into_iter().flatten().map(row).collect();
    let here = &ask.of_firma("belege");
    let keys = &["beleg_nummer", "", "beleg_datum", "", "", "summe_brutto"];
    let sorting = Sorting { path: here, keys, default: "-beleg_datum" };
    let empty = "Keine Belege gefunden. Belege legen die angeschlossenen Programme an (POST /api/v1/belege); vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Suche", "search", ask.param("suche"), "off"))
            (choice(ask, "typ", "Art", &types(), ask.param("typ")))
            (field(ask, "von", "Von", "date", ask.param("von"), "off"))
            (field(ask, "bis", "Bis", "date", ask.param("bis"), "off"))
            (choice(ask, "status", "Status", &states(), ask.param("status")))
            (lists::kept(ask, &["kunden_id", "artikel_id", "sortierung"]))
            button type="submit" { "Suchen" }
        }
        (restriction(ask, seen)?)
        (lists::table(ask, "Belege", &sorting, &COLUMNS, &rows, empty))
        (pager(ask, here, found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, "Belege", body))
}

/// A document in a list.
pub fn cells_of(beleg: &Value) -> Vec<String> {
    let [number, partner, status] =
        ["beleg_nummer", "kunden_name", "status"].map(|name| text(beleg, name).to_owned());
    let (date, sum) = (day_of(beleg, "beleg_datum"), number_of(beleg, "summe_brutto"));
    vec![number, art_of(beleg).to_owned(), date, partner, status, sum]
}

/// What people call a document.
fn art_of(beleg: &Value) -> &'static str {
    let art = Rechnungsart::parse(text(beleg, "rechnungsart"));
    let is_storno = !text(beleg, "storno_von_beleg_id").is_empty();
    let is_negative = text(beleg, "summe_netto").starts_with('-');
    BelegTyp::parse(text(beleg, "beleg_typ")).map_or("", |typ| typ.art(art, is_storno, is_negative))
}

/// The types that a list is filtered by.
fn types() -> Vec<(&'static str, &'static str)> {
    let types = BelegTyp::ALL.iter().map(|typ| (typ.as_str(), typ.bezeichnung()));
    [("", "alle")].into_iter().chain(types).collect()
}

/// The states that a list is filtered by.
fn states() -> Vec<(&'static str, &'static str)> {
    let states = BelegStatus::ALL.iter().map(|status| (status.as_str(), status.as_str()));
    [("", "alle")].into_iter().chain(states).collect()
}

/// Whose documents, and of which article, are shown alone.
fn restriction(ask: &Ask, seen: &Seen<'_>) -> Result<Markup> {
    let id = parse_uuid(ask.param("artikel_id"));
    let artikel = id.map(|id| artikel::find(&seen.tx, id)).transpose()?.flatten();
    let artikel = artikel.map(|artikel| (format!("artikel/{}", artikel.id), artikel.bezeichnung.clone()));
    Ok(html! {
        (lists::only_partner(ask, seen, "kunden_id", "belege", "Belege")?)
        @if let Some(of) = &artikel { (lists::only(ask, of, "belege", "Belege")) }
    })
}

/// The document in the path, as the interface names it.
fn path_of(ask: &Ask) -> Result<String> {
    Ok(format!("/api/v1/belege/{}", ask.id(0)?))
}

fn one(ask: &Ask, seen: &Seen<'_>) -> Result<Value> {
    ask.get(seen, &path_of(ask)?)
}

/// GET /leitstand/f/{firma}/belege/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let beleg = one(ask, seen)?;
    let id = parse_uuid(text(&beleg, "id")).ok_or_else(|| Failure::not_found("Diesen Beleg"))?;
    let here = ask.of_firma(&format!("belege/{id}"));
    let papiere = belege::papiere(&seen.tx, id)?;
    let (is_open, is_cancelled) = (text(&beleg, "status") == "offen", text(&beleg, "status") == "storniert");
    let body = html! {
        (facts(&facts_of(&beleg)))
        p.actions {
            @if papiere.pdf.is_ok() { a.button href=(format!("{here}/pdf")) { @if is_open { "Vorschau (PDF)" } @else { "Blatt (PDF)" } } }
            @if papiere.erechnung.is_ok() { a.button href=(format!("{here}/erechnung")) { "E-Rechnung (XML)" } }
            a.button href=(ask.of_firma(&format!("partner/{}", text(&beleg, "kunde_id")))) { "Partner" }
            @if ask.may_change() && is_open { a.button href=(format!("{here}/abschliessen")) { "Abschließen" } }
            @if ask.may_change() && !is_cancelled { a.button.danger href=(format!("{here}/storno")) { "Stornieren" } }
        }
        (missing_of(&beleg, &papiere))
        h2 { "Positionen" }
        (positions(&beleg))
        (movements(ask, seen, id)?)
        (anhaenge::original(ask, seen, &path_of(ask)?, &here)?)
        (history(ask, seen, id, &here)?)
    };
    Ok(frame::page(ask, text(&beleg, "beleg_nummer"), body))
}

/// Why there is no sheet, and why an invoice that is not open has no e-invoice.
fn missing_of(beleg: &Value, papiere: &Papiere) -> Markup {
    let is_invoice = ["RE", "ER"].contains(&text(beleg, "beleg_typ")) && text(beleg, "status") != "offen";
    let erechnung = papiere.erechnung.as_ref().err().filter(|_| is_invoice);
    html! {
        @if let Err(why) = &papiere.pdf { p { "Kein Blatt: " (why) } }
        @if let Some(why) = erechnung { p { "Keine E-Rechnung: " (why) } }
    }
}

fn facts_of(beleg: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(beleg, name).to_owned();
    vec![
        ("Art", art_of(beleg).to_owned()),
        ("Partner", plain("kunden_name")),
        ("Datum", day_of(beleg, "beleg_datum")),
        ("Lieferdatum", day_of(beleg, "lieferdatum")),
        ("Liefertermin", day_of(beleg, "liefertermin")),
        ("Status", plain("status")),
        ("Netto (EUR)", number_of(beleg, "summe_netto")),
        ("Steuer (EUR)", number_of(beleg, "summe_mwst")),
        ("Brutto (EUR)", number_of(beleg, "summe_brutto")),
        ("Fremde Nummer", plain("external_ref")),
        ("Grund des Stornos", plain("storno_grund")),
    ]
}

const POSITION: [Column; 7] = [
    Column("Bezeichnung", false),
    Column("Menge", true),
    Column("Einheit", false),
    Column("Preis netto", true),
    Column("Rabatt (%)", true),
    Column("Steuer (%)", true),
    Column("Gesamt netto", true),
];

fn positions(beleg: &Value) -> Markup {
    let row = |position: &Value| {
        let [name, unit] = ["bezeichnung", "einheit"].map(|name| text(position, name).to_owned());
        let [amount, discount, rate] =
            ["menge", "rabatt_prozent", "mwst_satz"].map(|name| amount_of(position, name));
        let (price, sum) = (price_of(position, "ep_netto"), number_of(position, "gesamtpreis"));
        let discount = if discount == "0" { String::new() } else { discount };
        Cells(String::new(), vec![name, amount, unit, price, discount, rate, sum])
    };
    let rows: Vec<_> = beleg["positionen"].as_array().into_iter().flatten().map(row).collect();
    table("Positionen", &POSITION, &rows, "Dieser Beleg hat keine Positionen.")
}

const MOVEMENT: [Column; 4] =
    [Column("Charge", false), Column("Artikel", false), Column("Menge", true), Column("Einheit", false)];

/// What the document moved in the stock.
fn movements(ask: &Ask, seen: &Seen<'_>, id: Uuid) -> Result<Markup> {
    let moved = herkunft::moved_by_document(&seen.tx, id)?;
    let row = |moved: &Umschlag| {
        let (to, number) = match &moved.charge {
            Some((id, number)) => (ask.of_firma(&format!("chargen/{id}")), number.clone()),
            None => (String::new(), "ohne Charge".to_owned()),
        };
        let unit = moved.einheit.clone().unwrap_or_default();
        Cells(to, vec![number, moved.artikel.clone(), signed(moved.menge), unit])
    };
    let rows: Vec<_> = moved.iter().map(row).collect();
    Ok(html! { @if !rows.is_empty() {
        h2 { "Lagerbewegungen" }
        (table("Lagerbewegungen", &MOVEMENT, &rows, ""))
    } })
}

const HISTORY: [Column; 3] = [Column("Wann", false), Column("Was geschah", false), Column("Wer", false)];

/// What happened to it, a page at a time.
fn history(ask: &Ask, seen: &Seen<'_>, id: Uuid, here: &str) -> Result<Markup> {
    let akteure = Akteure::of(ask, seen)?;
    let row = |schritt: &Schritt| {
        let who = akteure.name(schritt.key_id.as_deref().unwrap_or_default())?;
        Ok(Cells(String::new(), vec![moment(schritt.am), schritt.aktion.in_words().to_owned(), who]))
    };
    let count = belege::count_steps(&seen.tx, id)?;
    let steps = belege::steps(&seen.tx, id, ROWS, ask.list_page() * ROWS)?;
    let rows: Vec<_> = steps.iter().map(row).collect::<Result<_>>()?;
    Ok(html! {
        h2 { "Verlauf" }
        (table("Was geschah, das Neueste zuerst", &HISTORY, &rows, "Seit dem Anlegen ist nichts geändert worden."))
        @if count > i64::from(ROWS) { (pager(ask, here, count)) }
    })
}

/// GET /leitstand/f/{firma}/belege/{id}/pdf
pub fn pdf(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let draft = if text(&one(ask, seen)?, "status") == "offen" { "?vorschau=true" } else { "" };
    let path = format!("/api/v1/belege/{}/pdf{draft}", ask.id(0)?);
    let reply = ask.get_reply(seen, &path, &[("accept", "application/pdf")])?;
    Ok(file(reply))
}

/// GET /leitstand/f/{firma}/belege/{id}/erechnung
pub fn erechnung(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let reply = ask.get_reply(seen, &format!("/api/v1/belege/{}/erechnung", ask.id(0)?), &[])?;
    Ok(file(reply))
}

/// A file of the interface. The policy of pages would keep browsers from showing a PDF.
pub fn file(reply: Reply) -> Reply {
    reply.with("content-security-policy", "frame-ancestors 'none'").with("referrer-policy", "same-origin")
}

/// GET /leitstand/f/{firma}/belege/{id}/anhaenge/{id}
pub fn attachment(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    anhaenge::download(ask, seen, &path_of(ask)?)
}

/// GET /leitstand/f/{firma}/belege/{id}/abschliessen
pub fn show_finalise(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let beleg = one(ask, seen)?;
    let inside = html! {
        (refusal(ask, &[]))
        (made_from(ask, "version", text(&beleg, VERSION)))
        p { "Danach lässt sich " (text(&beleg, "beleg_nummer")) " nicht mehr ändern, nur noch stornieren. "
            "Die angeschlossenen Programme sehen ihn, und Blatt und E-Rechnung stehen fest." }
    };
    Ok(frame::page(ask, "Beleg abschließen", form(ask, inside, "Abschließen", false)))
}

/// POST /leitstand/f/{firma}/belege/{id}/abschliessen
pub fn finalise(ask: &Ask) -> Result<Change> {
    let path = format!("/api/v1/belege/{}/abschliessen", ask.id(0)?);
    let to = ask.of_firma(&format!("belege/{}", ask.id(0)?));
    ask.change(
        Method::Post,
        &path,
        &json!({}),
        Some(ask.field("version")),
        to,
        "Der Beleg ist abgeschlossen.",
    )
}

/// GET /leitstand/f/{firma}/belege/{id}/storno
pub fn show_cancel(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let beleg = one(ask, seen)?;
    let inside = html! {
        (refusal(ask, &["grund"]))
        (made_from(ask, "version", text(&beleg, VERSION)))
        p { "Was " (text(&beleg, "beleg_nummer")) " im Lager gebucht hat, wird zurückgebucht. Eine abgeschlossene Rechnung "
            "bekommt einen Stornobeleg mit eigener Nummer. Rückgängig machen lässt sich das nicht." }
        (field(ask, "grund", "Grund", "text", "", "off"))
    };
    Ok(frame::page(ask, "Beleg stornieren", form(ask, inside, "Stornieren", true)))
}

/// POST /leitstand/f/{firma}/belege/{id}/storno
pub fn cancel(ask: &Ask) -> Result<Change> {
    let path = format!("/api/v1/belege/{}/storno", ask.id(0)?);
    let to = ask.of_firma(&format!("belege/{}", ask.id(0)?));
    let grund = Some(ask.field("grund")).filter(|grund| !grund.is_empty());
    ask.change(
        Method::Post,
        &path,
        &json!({"grund": grund}),
        Some(ask.field("version")),
        to,
        "Der Beleg ist storniert.",
    )
}
