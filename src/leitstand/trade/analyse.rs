//! Measurements of a receipt entered by hand, and its release.

use maud::{Markup, html};
use serde_json::json;

use crate::goods::abrechnungsschemata;
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    choice, field, in_unit, json_number, moment, optional, or_blank, settled,
};
use crate::papers::blatt::numbers::german;
use crate::papers::blatt::settled as rows;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::error::{Code, refuse_if};
use crate::rules::settlement::{Merkmal, Messwert, SHIPPED};
use crate::trade::annahmescheine::{self, Analyse, Annahmeschein};

/// Prefix of the field of a Merkmal, before its code.
const WERT: &str = "wert-";

/// Who measured: the values that a person may choose, with their labels.
const QUELLEN: [(&str, &str); 3] =
    [("labor", "Labor"), ("nachanalyse", "Nachanalyse"), ("annahme", "bei der Annahme")];

/// The settlement of a receipt, its measurements and why it waits, as a section of its page.
pub fn of_note(db: &Snapshot<'_>, schein: &Annahmeschein) -> Result<Markup> {
    let rechnung = annahmescheine::rechnung(&db.tx, schein)?;
    let analysen = annahmescheine::analysen(&db.tx, schein.id)?;
    let ware = schein.artikel_bezeichnung.clone().unwrap_or_else(|| "Rohware".to_owned());
    let merkmale = abrechnungsschemata::merkmale(&db.tx)?;
    let value = |one: &Messwert| {
        let merkmal = merkmale.get(&one.merkmal);
        let name = merkmal.map_or(&one.merkmal, |merkmal| &merkmal.bezeichnung);
        format!("{name} {}", in_unit(german(one.wert, 0), merkmal.map(|merkmal| merkmal.einheit.as_str())))
    };
    let said = |analyse: &Analyse| match &analyse.grund {
        Some(grund) => format!("Freigabe: {grund}"),
        None => {
            let quelle = analyse.quelle.map(|quelle| quelle.as_str());
            let quelle = QUELLEN.iter().find(|(name, _)| Some(*name) == quelle).map_or("", |(_, word)| word);
            let werte: Vec<_> = analyse.werte.0.iter().map(value).collect();
            format!("{quelle}: {}", werte.join(", "))
        }
    };
    Ok(html! {
        @if let Some(reasons) = annahmescheine::locks(schein) { p.refused { "Gesperrt: " (reasons) } }
        @if let Some(rechnung) = &rechnung { (settled(&rows::note(ware, rechnung))) }
        @if !analysen.is_empty() {
            h2 { "Analysen und Freigaben" }
            ul { @for analyse in &analysen { li {
                (moment(analyse.am)) ", " (said(analyse))
                @if let Some(geraet) = &analyse.geraet { ", Gerät " (geraet) }
                @if let Some(probe) = &analyse.probe_nr { ", Probe " (probe) }
                @if let Some(schema) = &analyse.schema { ", Schema " (schema) }
            } } }
        }
    })
}

/// The Merkmale that the receipt's scheme asks for, or all shipped ones without a scheme.
fn asked(db: &Snapshot<'_>, schein: &Annahmeschein) -> Result<Vec<Merkmal>> {
    let merkmale = abrechnungsschemata::merkmale(&db.tx)?;
    let codes = match annahmescheine::scheme_of(&db.tx, schein)? {
        Some(gueltig) => gueltig.schema.asked(),
        None => SHIPPED.iter().map(|(code, ..)| (*code).to_owned()).collect(),
    };
    Ok(codes.iter().filter_map(|code| merkmale.get(code).cloned()).collect())
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, request.uuid(0)?)?;
    let merkmale = asked(db, &schein)?;
    let known = annahmescheine::values_of(&db.tx, &schein)?;
    let inside = html! {
        p { (schein.belegnummer) ", " (or_blank(&schein.partner_name)) ", " (or_blank(&schein.artikel_bezeichnung))
            ". Leer bleibt, was nicht gemessen wurde; 0 ist ein Messwert. Der neueste Wert gilt." }
        (choice(request, "quelle", "Woher", QUELLEN, "labor"))
        @for merkmal in &merkmale {
            @let before = optional(known.get(&merkmal.code), |wert| format!(", bisher {}", german(*wert, 0)));
            (field(
                request,
                &format!("{WERT}{}", merkmal.code),
                &format!("{} ({}){before}", merkmal.bezeichnung, merkmal.einheit),
                "text",
                "",
                "off"
            ))
        }
        (field(request, "geraet", "Gerät", "text", "", "off"))
        (field(request, "probe_nr", "Nummer der Probe", "text", "", "off"))
    };
    let names: Vec<String> = merkmale.iter().map(|merkmal| format!("{WERT}{}", merkmal.code)).collect();
    let fields: Vec<&str> =
        names.iter().map(String::as_str).chain(["quelle", "geraet", "probe_nr"]).collect();
    frame::form_page(request, "Analyse eintragen", &fields, inside, "Speichern", false)
}

pub fn add(request: &PageRequest) -> Result<FirmaChange> {
    let typed = request.form.fields.iter().filter(|(_, typed)| !typed.trim().is_empty());
    let typed: Vec<(String, &str)> =
        typed.filter_map(|(name, typed)| Some((name.strip_prefix(WERT)?.to_owned(), typed.trim()))).collect();
    let message = "Bitte mindestens einen Messwert eintragen.";
    refuse_if(typed.is_empty(), Code::FeldFehlt, "werte", message)?;
    let werte = typed.iter().map(|(code, typed)| json!({"merkmal": code, "wert": json_number(typed)}));
    let body = json!({
        "quelle": request.filled("quelle"),
        "geraet": request.filled("geraet"),
        "probe_nr": request.filled("probe_nr"),
        "werte": werte.collect::<Vec<_>>(),
    });
    let codes: Vec<String> = typed.into_iter().map(|(code, _)| code).collect();
    let (path, note) = ("annahmescheine/{id}/analysen", "Die Analyse ist gespeichert.");
    let change = request.change_record(Method::Post, path, &body, "annahme", note);
    let change = change.map_err(|failure| at_fields(failure, &codes))?;
    Ok(Box::new(move |tx| change(tx).map_err(|failure| at_fields(failure, &codes))))
}

/// Moves a refusal of values to the fields in which they were typed.
fn at_fields(failure: Failure, codes: &[String]) -> Failure {
    let Failure::Refused(mut refusal) = failure else { return failure };
    let named = |feld: &str| {
        let at = feld.strip_prefix("werte[")?.split(']').next()?.parse::<usize>().ok()?;
        Some(format!("{WERT}{}", codes.get(at)?))
    };
    let own = refusal.feld.iter_mut();
    for feld in own.chain(refusal.fehler.iter_mut().map(|mistake| &mut mistake.feld)) {
        if let Some(name) = named(feld) {
            *feld = name;
        }
    }
    Failure::Refused(refusal)
}

pub fn show_release(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let schein = annahmescheine::found(&db.tx, request.uuid(0)?)?;
    let same =
        schein.schema.as_ref().map_or_else(|| "wie bisher".to_owned(), |same| format!("wie bisher ({same})"));
    let day = annahmescheine::day_of(&db.tx, &schein);
    let schemes = abrechnungsschemata::choice(&db.tx, Some(day), schein.artikel_id)?;
    let options = std::iter::once((String::new(), same)).chain(
        schemes
            .into_iter()
            .map(|kopf| (kopf.nummer.clone(), format!("{} – {}", kopf.nummer, kopf.bezeichnung))),
    );
    let inside = html! {
        @if let Some(reasons) = annahmescheine::locks(&schein) {
            p { "Gesperrt ist " (schein.belegnummer) ": " (reasons) }
        }
        (choice(request, "schema", "Abrechnen nach", options, ""))
        (field(request, "grund", "Grund", "text", "", "off"))
    };
    let (title, button) = match schein.gesperrt {
        true => ("Annahmeschein freigeben", "Freigeben"),
        false => ("Nach einem anderen Schema abrechnen", "Speichern"),
    };
    frame::form_page(request, title, &["grund", "schema"], inside, button, false)
}

pub fn release(request: &PageRequest) -> Result<FirmaChange> {
    let body = json!({"grund": request.filled("grund"), "schema": request.filled("schema")});
    let note = match request.filled("schema") {
        Some(_) => "Der Annahmeschein wird nach diesem Schema abgerechnet.",
        None => "Der Annahmeschein ist freigegeben.",
    };
    request.change_record(Method::Put, "annahmescheine/{id}/freigabe", &body, "annahme", note)
}
