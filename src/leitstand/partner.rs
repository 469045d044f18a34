//! Partners: the list with its search, one with what its e-invoices lack, its attachments, who changed it.

use maud::{Markup, html};
use serde_json::Value;

use super::lists::{self, Sorting, kept_order};
use super::page::{Ask, Change, Seen, encoded};
use super::partner_felder::{self, rollen, wert};
use super::parts::{Cells, Column, ROWS, choice, facts, field, pager, text};
use super::{anhaenge, frame, verlauf};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::rules::verweis::parse_uuid;
use crate::{belege, kunden};

const COLUMNS: [Column; 6] = [
    Column("Name", false),
    Column("Nummer", false),
    Column("Ort", false),
    Column("Telefon", false),
    Column("Rollen", false),
    Column("Status", false),
];

const ROLLEN: [(&str, &str); 4] =
    [("", "alle"), ("kunde", "Kunden"), ("lieferant", "Lieferanten"), ("spediteur", "Spediteure")];

/// GET /leitstand/f/{firma}/partner
pub fn list(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let mut path = format!("/api/v1/kunden?limit={ROWS}&offset={}", ask.list_page() * ROWS);
    for name in ["suche", "partner_typ", "sortierung"] {
        if !ask.param(name).is_empty() {
            path.push_str(&format!("&{name}={}", encoded(ask.param(name))));
        }
    }
    let found = ask.get(seen, &path)?;
    let rows: Vec<_> = found["data"].as_array().into_iter().flatten().map(|kunde| row(ask, kunde)).collect();
    let here = &ask.of_firma("partner");
    let sorting = Sorting { path: here, keys: &["name", "kundennr"], default: "kundennr" };
    let empty = "Keine Partner gefunden. Partner kommen mit „Neuer Partner“ herein, mit einem Import oder aus den angeschlossenen Programmen (POST /api/v1/kunden); vielleicht ist auch die Suche zu eng.";
    let body = html! {
        form.filter method="get" {
            (field(ask, "suche", "Name, Nummer, Ort oder E-Mail", "search", ask.param("suche"), "off"))
            (choice(ask, "partner_typ", "Rolle", &ROLLEN, ask.param("partner_typ")))
            (kept_order(ask))
            button type="submit" { "Suchen" }
        }
        @if ask.may_change() { p.actions { a.button href=(ask.of_firma("partner/neu")) { "Neuer Partner" } } }
        (lists::table(ask, "Partner", &sorting, &COLUMNS, &rows, empty))
        (pager(ask, here, found["count"].as_i64().unwrap_or(0)))
    };
    Ok(frame::page(ask, "Partner", body))
}

fn row(ask: &Ask, kunde: &Value) -> Cells {
    let [name, number, phone, status] =
        ["name", "kundennr", "telefon", "status"].map(|name| text(kunde, name).to_owned());
    let to = ask.of_firma(&format!("partner/{}", text(kunde, "id")));
    Cells(to, vec![name, number, town(kunde), phone, rollen(kunde), status])
}

/// Postcode and place.
pub fn town(kunde: &Value) -> String {
    let parts = ["plz", "ort"].map(|name| text(kunde, name));
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The partner in the path, as the interface names it.
fn path_of(ask: &Ask) -> Result<String> {
    Ok(format!("/api/v1/kunden/{}", ask.id(0)?))
}

/// The page of the partner in the path.
fn here(ask: &Ask) -> Result<String> {
    Ok(ask.of_firma(&format!("partner/{}", ask.id(0)?)))
}

/// GET /leitstand/f/{firma}/partner/{id}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let path = path_of(ask)?;
    let kunde = ask.get(seen, &path)?;
    let (id, here) = (text(&kunde, "id"), here(ask)?);
    let body = html! {
        (facts(&head_of(&kunde)))
        p.actions {
            @if ask.may_change() { a.button href=(format!("{here}/aendern")) { "Ändern" } }
            @for (page, name) in [("belege?kunden_id", "Belege"), ("wiegungen?partner_id", "Wiegungen"), ("kontrakte?partner_id", "Kontrakte")] {
                a.button href=(ask.of_firma(&format!("{page}={id}"))) { (name) }
            }
        }
        h2 { "Zahlung und Steuer" }
        (facts(&terms_of(&kunde)))
        h2 { "E-Rechnung" }
        (missing(ask, seen, &here)?)
        (anhaenge::section(ask, seen, &path, &here)?)
        (verlauf::section(ask, seen, &path, &here, &partner_felder::LESART)?)
        @if ask.may_change() { p.ask { "Verlangt diese Person, dass ihre Daten gelöscht werden: " a href=(format!("{here}/vergessen")) { "Vergessen" } } }
    };
    Ok(frame::page(ask, text(&kunde, "name"), body))
}

fn head_of(kunde: &Value) -> Vec<(&'static str, String)> {
    let plain = |name: &str| text(kunde, name).to_owned();
    // What stands above all is not said twice.
    let own = Some(plain("nachname_firma")).filter(|name| name != text(kunde, "name"));
    vec![
        ("Nummer", plain("kundennr")),
        ("Anrede", plain("anrede")),
        ("Vorname", plain("vorname")),
        ("Nachname oder Firma", own.unwrap_or_default()),
        ("Rollen", rollen(kunde)),
        ("Status", plain("status")),
        ("Straße", plain("strasse")),
        ("Ort", town(kunde)),
        ("Land", wert(kunde, "staat")),
        ("E-Mail", plain("email")),
        ("Telefon", plain("telefon")),
        ("Zweites Telefon", plain("telefon2")),
        ("Notizen", plain("notizen")),
    ]
}

fn terms_of(kunde: &Value) -> Vec<(&'static str, String)> {
    let days = |name: &str| Some(wert(kunde, name)).filter(|days| !days.is_empty());
    let target = days("zahlungsziel_tage").map(|days| match days.as_str() {
        "0" => "sofort".to_owned(),
        days => format!("{days} Tage"),
    });
    let skonto = days("skonto_prozent").zip(days("skonto_tage"));
    vec![
        ("USt-IdNr.", wert(kunde, "ust_id")),
        ("Steuernummer", wert(kunde, "steuernummer")),
        ("Besteuerung", wert(kunde, "steuerart")),
        ("Betriebsnummer", wert(kunde, "betriebsnummer")),
        ("Zahlungsziel", target.unwrap_or_default()),
        ("Skonto", skonto.map(|(share, days)| format!("{share} % in {days} Tagen")).unwrap_or_default()),
        ("IBAN", in_fours(text(kunde, "iban"))),
        ("BIC", wert(kunde, "bic")),
        ("E-Rechnung als", wert(kunde, "e_rechnung")),
        ("Leitweg-ID oder Referenz", wert(kunde, "kaeuferreferenz")),
        ("Elektronische Adresse", wert(kunde, "e_adresse")),
        ("Gutschriften vereinbart am", wert(kunde, "gutschrift_vereinbart_am")),
    ]
}

/// An IBAN as it is printed: in groups of four.
fn in_fours(iban: &str) -> String {
    let letters: Vec<char> = iban.chars().filter(|letter| !letter.is_whitespace()).collect();
    letters.chunks(4).map(String::from_iter).collect::<Vec<_>>().join(" ")
}

/// What e-invoices lack of this partner.
fn missing(ask: &Ask, seen: &Seen<'_>, here: &str) -> Result<Markup> {
    let kunde = parse_uuid(ask.id(0)?).map(|id| kunden::find(&seen.tx, id)).transpose()?.flatten();
    let kunde = kunde.ok_or_else(|| Failure::not_found("Diesen Kunden"))?;
    let missing = belege::missing_of_partner(&seen.tx, &kunde);
    Ok(html! {
        @if missing.is_empty() {
            p { "Für E-Rechnungen fehlt nichts an den Stammdaten dieses Partners." }
        } @else {
            div.refused {
                p { "Für E-Rechnungen fehlt:" }
                ul { @for fehlt in &missing { li {
                    @if ask.may_change() { a href=(format!("{here}/aendern#feld-{}", fehlt.feld)) { (fehlt.was) } }
                    @else { (fehlt.was) }
                } } }
            }
        }
    })
}

/// GET /leitstand/f/{firma}/partner/{id}/anhaenge
pub fn show_attach(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let kunde = ask.get(seen, &path_of(ask)?)?;
    Ok(anhaenge::show_form(ask, text(&kunde, "name"), &here(ask)?))
}

/// POST /leitstand/f/{firma}/partner/{id}/anhaenge
pub fn attach(ask: &Ask) -> Result<Change> {
    anhaenge::attach(ask, &path_of(ask)?, here(ask)?)
}

/// GET /leitstand/f/{firma}/partner/{id}/anhaenge/{id}
pub fn attachment(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    anhaenge::download(ask, seen, &path_of(ask)?)
}
