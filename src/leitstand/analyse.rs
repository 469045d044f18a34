//! What was measured of a note, entered by hand, and the end of a lock.

use maud::{Markup, html};
use serde_json::json;

use super::done::FirmaChange;
use super::frame;
use super::page::{Ask, Snapshot};
use super::parts::{choice, field, json_number, moment, optional, or_blank, refusal, settled};
use crate::abrechnungsschemata;
use crate::annahmescheine::{self, Analyse, Annahmeschein};
use crate::blatt::numbers::german;
use crate::blatt::settled as rows;
use crate::failure::Result;
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::settlement::{Merkmal, SHIPPED};

/// Before the code of what is measured in the name of a field.
const WERT: &str = "wert-";

/// Who measured, as a person may say it.
const QUELLEN: [(&str, &str); 3] =
    [("labor", "Labor"), ("nachanalyse", "Nachanalyse"), ("annahme", "bei der Annahme")];

/// How a note is settled, what was measured and why it waits: part of its page.
pub fn of_note(db: &Snapshot<'_>, schein: &Annahmeschein) -> Result<Markup> {
    let rechnung = annahmescheine::rechnung(&db.tx, schein)?;
    let analysen = annahmescheine::analysen(&db.tx, schein.id)?;
    let ware = schein.artikel_bezeichnung.clone().unwrap_or_else(|| "Rohware".to_owned());
    let said = |analyse: &Analyse| match &analyse.grund {
        Some(grund) => format!("Freigabe: {grund}"),
        None => {
            let werte = analyse.werte.0.iter();
            werte.map(|one| format!("{} {}", one.merkmal, german(one.wert, 0))).collect::<Vec<_>>().join(", ")
        }
    };
    Ok(html! {
        @if let Some(reasons) = annahmescheine::locks(schein) { p.refused { "Gesperrt: " (reasons) } }
        @if let Some(rechnung) = &rechnung { (settled(&rows::note(ware, rechnung))) }
        @if !analysen.is_empty() {
            h2 { "Analysen und Freigaben" }
            ul { @for analyse in &analysen { li {
                (moment(analyse.am)) " "
                @if let Some(quelle) = analyse.quelle { "(" (quelle.as_str()) ") " }
                (said(analyse))
                @if let Some(geraet) = &analyse.geraet { ", Gerät " (geraet) }
                @if let Some(probe) = &analyse.probe_nr { ", Probe " (probe) }
                @if let Some(schema) = &analyse.schema { ", Schema " (schema) }
            } } }
        }
    })
}

/// What the scheme of a note asks for, or all that is shipped.
fn asked(db: &Snapshot<'_>, schein: &Annahmeschein) -> Result<Vec<Merkmal>> {
    let merkmale = abrechnungsschemata::merkmale(&db.tx)?;
    let codes = match annahmescheine::scheme_of(&db.tx, schein)? {
        Some(gueltig) => gueltig.schema.asked(),
        None => SHIPPED.iter().map(|(code, ..)| (*code).to_owned()).collect(),
    };
    Ok(codes.iter().filter_map(|code| merkmale.get(code).cloned()).collect())
}

pub fn show(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, ask.uuid(0)?)?;
    let merkmale = asked(db, &schein)?;
    let known = annahmescheine::values_of(&db.tx, &schein)?;
    let inside = html! {
        p { (schein.belegnummer) ", " (or_blank(&schein.partner_name)) ", " (or_blank(&schein.artikel_bezeichnung))
            ". Leer bleibt, was nicht gemessen wurde; 0 ist ein Messwert. Der neueste Wert gilt." }
        (choice(ask, "quelle", "Woher", QUELLEN, "labor"))
        @for merkmal in &merkmale {
            @let before = optional(known.get(&merkmal.code), |wert| format!(", bisher {}", german(*wert, 0)));
            (field(ask, &format!("{WERT}{}", merkmal.code), &format!("{} ({}){before}", merkmal.bezeichnung, merkmal.einheit), "text", "", "off"))
        }
        (field(ask, "geraet", "Gerät", "text", "", "off"))
        (field(ask, "probe_nr", "Nummer der Probe", "text", "", "off"))
    };
    frame::form_page(ask, "Analyse eintragen", &["geraet", "probe_nr"], inside, "Speichern", false)
}

pub fn add(ask: &Ask) -> Result<FirmaChange> {
    let id = ask.id(0)?;
    let typed = ask.form.fields.iter().filter(|(_, typed)| !typed.trim().is_empty());
    let werte = typed.filter_map(|(name, typed)| {
        Some(json!({"merkmal": name.strip_prefix(WERT)?, "wert": json_number(typed)}))
    });
    let body = json!({
        "quelle": ask.filled("quelle"),
        "geraet": ask.filled("geraet"),
        "probe_nr": ask.filled("probe_nr"),
        "werte": werte.collect::<Vec<_>>(),
    });
    let (path, to) = (format!("/api/v1/annahmescheine/{id}/analysen"), ask.page_of("annahme", id));
    ask.change(Method::Post, &path, &body, to, "Die Analyse ist gespeichert.")
}

pub fn show_release(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, ask.uuid(0)?)?;
    let same = schein.schema.clone().unwrap_or_default();
    let day = schein.lieferdatum.map_or_else(|| db.tx.today(), |day| day.0);
    let schemes = abrechnungsschemata::choice(&db.tx, Some(day), schein.artikel_id)?;
    let options = std::iter::once((String::new(), format!("wie bisher ({same})"))).chain(
        schemes
            .into_iter()
            .map(|kopf| (kopf.nummer.clone(), format!("{} – {}", kopf.nummer, kopf.bezeichnung))),
    );
    let inside = html! {
        (refusal(ask, &[]))
        @if let Some(reasons) = annahmescheine::locks(&schein) { p { "Gesperrt ist " (schein.belegnummer) ": " (reasons) } }
        (choice(ask, "schema", "Abrechnen nach", options, ""))
        (field(ask, "grund", "Grund", "text", "", "off"))
    };
    frame::form_page(ask, "Annahmeschein freigeben", &["grund", "schema"], inside, "Freigeben", false)
}

pub fn release(ask: &Ask) -> Result<FirmaChange> {
    let id = ask.id(0)?;
    let body = json!({"grund": ask.filled("grund"), "schema": ask.filled("schema")});
    let (path, to) = (format!("/api/v1/annahmescheine/{id}/freigabe"), ask.page_of("annahme", id));
    ask.change(Method::Put, &path, &body, to, "Der Annahmeschein ist freigegeben.")
}
